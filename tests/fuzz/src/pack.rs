//! A pack of small blobs that somebody has changed.

use std::path::Path;

use arbitrary::Unstructured;
use tempfile::TempDir;
use tollhouse::store::{BlobFiles, BlobId, BlobSource, Named, SweepOptions};

/// Size of the head of a pack, of which the last four bytes are the checksum.
const HEAD_BYTES: usize = 16;

/// Maximum number of blobs in an input.
const MOST: usize = 40;

thread_local! {
    /// Store of all inputs, in memory where that can be had: syncing a disk would take most of the time.
    static STORE: TempDir = {
        let store = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a temporary directory");
        drop(BlobFiles::open(store.path()).expect("it opens"));
        store
    };
}

/// Reads data as a pack whose head is corrected first. Each blob that is read must match its name, whatever is damaged
/// must be reported, and garbage collection must keep what can be read.
///
/// # Panics
///
/// Panics if that does not hold.
pub fn pack(data: &[u8]) {
    STORE.with(|store| pack_in(store.path(), data));
}

fn pack_in(store: &Path, data: &[u8]) {
    let packs = store.join("blobs/packs");
    // Whatever an earlier input has left.
    let _ = std::fs::remove_dir_all(&packs);
    std::fs::create_dir(&packs).expect("it is made");
    let name = BlobId::of(data).to_string();
    std::fs::write(packs.join(name), pack_of(data)).expect("it is written");
    let files = BlobFiles::open(store).expect("it opens");
    let listed: Vec<BlobId> = files.list().map(|listed| listed.expect("it is listed").0).collect();
    let mut intact = Vec::new();
    for id in &listed {
        if let Ok(bytes) = files.get(id) {
            assert_eq!(BlobId::of(&bytes), *id);
            intact.push(*id);
        }
    }
    let verified = files.verify().expect("it is verified");
    assert_eq!(verified.blobs, intact.len() as u64);
    assert!(verified.faults.len() >= listed.len() - intact.len());
    collect_garbage(&files, &intact);
}

/// Removes all blobs but every second one that can be read.
fn collect_garbage(files: &BlobFiles, intact: &[BlobId]) {
    let kept: Vec<Named> = intact.iter().step_by(2).map(|id| Named { id: *id, node: false }).collect();
    let options = SweepOptions { dry_run: false, patience: std::time::Duration::ZERO, skip_unreadable: false };
    let roots = || Ok::<_, tollhouse::store::BlobError>(kept.clone());
    files.sweep(&options, roots, |_| None).expect("it is swept");
    assert_eq!(files.list().count(), kept.len());
    assert!(kept.iter().all(|named| files.get(&named.id).is_ok()));
}

/// Makes a pack of the data: of its bytes, or of choices of blobs and of what is false about them.
fn pack_of(data: &[u8]) -> Vec<u8> {
    match data.split_first() {
        Some((0, bytes)) => corrected(bytes.to_vec()),
        _ => chosen(data),
    }
}

/// Corrects the checksum of the head, which a fuzzer does not guess.
fn corrected(mut pack: Vec<u8>) -> Vec<u8> {
    if pack.len() >= HEAD_BYTES {
        let check = BlobId::of(&pack[..HEAD_BYTES - 4]);
        pack[HEAD_BYTES - 4..HEAD_BYTES].copy_from_slice(&check.as_bytes()[..4]);
    }
    pack
}

fn chosen(data: &[u8]) -> Vec<u8> {
    let mut choices = Unstructured::new(data);
    let (mut index, mut contents) = (Vec::new(), Vec::new());
    let count = usize::from(choices.arbitrary::<u8>().unwrap_or(0)) % MOST;
    for n in 0..count {
        let plain = vec![u8::try_from(n).unwrap_or(0); usize::from(choices.arbitrary::<u8>().unwrap_or(0))];
        let mut id = *BlobId::of(&plain).as_bytes();
        let begin = HEAD_BYTES + count * 40 + contents.len();
        let mut range = [begin, plain.len() + 1].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        contents.push(0);
        contents.extend(plain);
        match choices.arbitrary::<u8>().unwrap_or(0) % 8 {
            0 => id[31] ^= 1,
            1 => range[0] = choices.arbitrary().unwrap_or(0),
            2 => range[1] = choices.arbitrary().unwrap_or(0),
            3 => drop(contents.pop()),
            4 => index.extend_from_within(index.len().saturating_sub(40)..),
            _ => {}
        }
        index.extend(id);
        range.iter().for_each(|number| index.extend(number.to_le_bytes()));
    }
    let count = u32::try_from(index.len() / 40).unwrap_or(0);
    corrected([&b"thpack1\n"[..], &count.to_le_bytes(), &[0; 4], &index, &contents].concat())
}
