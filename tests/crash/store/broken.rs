//! A disk that breaks: it takes what is written, and when that is to be made durable, says that it cannot. The system then
//! holds what the disk does not have, and says so once.

use std::io::ErrorKind;

use tollhouse::store::{Batch, Store, StoreError, open};
use tollhouse_tests::disk::Disk;

use super::writer::Kind;

/// Size of the disk, and of the part that works: what a store makes at first, and then some.
const DISK_BYTES: u64 = 256 << 20;
const WORKING_BYTES: u64 = 24 << 20;

/// Number of commits that are tried while the disk fails, and of those that are made after that.
const TRIES: u32 = 20;

fn key(number: u32) -> Vec<u8> {
    format!("k/{number:08}").into_bytes()
}

fn value(number: u32) -> Vec<u8> {
    (0..1000_u32).flat_map(|at| (at ^ number).wrapping_mul(0x9e37_79b9).to_le_bytes()).collect()
}

/// Commits numbered records until one is refused, or so many are made; those that were acknowledged.
fn commit(store: &dyn Store, numbers: &mut u32, most: u32, acknowledged: &mut Vec<u32>) -> Option<StoreError> {
    for _ in 0..most {
        *numbers += 1;
        let mut batch = Batch::default();
        batch.put(key(*numbers), value(*numbers));
        match store.commit(batch) {
            Ok(()) => acknowledged.push(*numbers),
            Err(error) => return Some(error),
        }
    }
    None
}

/// Commits until the disk breaks, and while it is broken, and when it is well again; then the power fails.
pub(super) fn survives_a_disk_that_breaks(kind: Kind) {
    let mut disk = Disk::failing_after(WORKING_BYTES, DISK_BYTES);
    let directory = disk.path().join("store");
    let store = open(&directory, kind.backend()).expect("it opens");
    let (mut numbers, mut acknowledged) = (0, Vec::new());
    let error = commit(&store, &mut numbers, u32::MAX, &mut acknowledged).expect("it breaks");
    assert!(matches!(error, StoreError::Io(_) | StoreError::Full(_)), "{error:?}");
    let before = acknowledged.len();
    for _ in 0..TRIES {
        drop(commit(&store, &mut numbers, 1, &mut acknowledged));
    }
    let while_broken = acknowledged.len() - before;
    disk.heal().expect("it has a medium of its own");
    // The system has said once what it could not write, and takes it for written: the store writes all of it anew. Unless
    // the file system has given up: then it takes nothing until it is mounted again.
    match commit(&store, &mut numbers, TRIES, &mut acknowledged) {
        None => {}
        Some(StoreError::Io(error)) if error.kind() == ErrorKind::ReadOnlyFilesystem => println!("it is read-only now"),
        Some(error) => panic!("it is well again: {error:?}"),
    }
    let after = acknowledged.len() - before - while_broken;
    drop(store);
    disk.cut_the_power().expect("the image can be copied and mounted");
    let store = open(&directory, kind.backend()).expect("it opens");
    for number in &acknowledged {
        let found = store.get(&key(*number)).expect("it reads");
        assert!(found == Some(value(*number)), "commit {number} was acknowledged");
    }
    assert!(commit(&store, &mut numbers, 1, &mut acknowledged).is_none(), "and it goes on");
    println!(
        "{kind:?}: acknowledged {before}, {while_broken} while it was broken, {after} after that: none lost ({error})"
    );
}
