//! Tests with real databases on disks that are full, that fail, or that lose data.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::group_commit::{GroupCommitStore, StorageEngine};
use crate::record::{Batch, MAX_KEY_BYTES, MAX_VALUE_BYTES, Store, StoreError};
use crate::sled::SledEngine;
use crate::store_dir::{Backend, StoreDirectory};
use crate::{open, repair};

fn record(key: &str, value: &[u8]) -> Batch {
    let mut batch = Batch::default();
    batch.put(key, value);
    batch
}

fn grouped<E: StorageEngine>(dir: &Path) -> Result<GroupCommitStore<E>, StoreError> {
    GroupCommitStore::open(StoreDirectory::new(dir, Backend::Sled))
}

/// Bytes that no file system and no database can compress.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut noise = vec![0; length];
    blake3::Hasher::new().update(&seed.to_be_bytes()).finalize_xof().fill(&mut noise);
    noise
}

#[test]
fn sled_keeps_nothing_outside_its_log() {
    let dir = tempfile::tempdir().expect("a directory");
    let store = grouped::<SledEngine>(dir.path()).expect("it opens");
    for round in 0..3 {
        let mut batch = Batch::default();
        for at in 0..400_u64 {
            // Records of the maximum size, in random order.
            let mut key = noise(at, MAX_KEY_BYTES);
            key[0] |= 1;
            batch.put(key, noise(at + round, MAX_VALUE_BYTES));
            if at % 100 == 99 {
                store.commit(std::mem::take(&mut batch)).expect("it commits");
            }
        }
    }
    drop(store);
    drop(grouped::<SledEngine>(dir.path()).expect("it opens"));
    let blobs = fs::read_dir(dir.path().join("db-1/blobs")).expect("sled makes it").count();
    assert_eq!(blobs, 0, "sled does not sync what it keeps there");
}

/// A tmpfs of a few MiB, which only root may mount.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn new(size: &str) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tollhouse-test"])
            .arg(dir.path())
            .status();
        assert!(mounted.is_ok_and(|status| status.success()), "a file system can be mounted here: it takes root");
        Self(dir)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("--lazy").arg(self.path()).status());
    }
}

/// Fills the disk, expects refusals, frees space, and continues.
fn survives_a_full_disk<E: StorageEngine>(size: &str, ballast: usize) {
    let disk = SmallDisk::new(size);
    fs::write(disk.path().join("ballast"), noise(0, ballast)).expect("there is room");
    let store = grouped::<E>(disk.path()).expect("it opens");
    let mut made = BTreeMap::new();
    let refused = (0..100_000_u64).find_map(|at| {
        let (key, value) = (format!("k/{at:06}"), noise(at, MAX_VALUE_BYTES));
        let outcome = store.commit(record(&key, &value));
        if outcome.is_ok() {
            made.insert(key.into_bytes(), value);
        }
        outcome.err()
    });
    assert!(matches!(refused, Some(StoreError::Full(_))), "{refused:?}");
    assert!(!made.is_empty());
    // Every attempt returns an error.
    for at in 0..3 {
        let again = store.commit(record(&format!("refused/{at}"), &noise(at, MAX_VALUE_BYTES)));
        assert!(matches!(again, Err(StoreError::Full(_))), "{again:?}");
    }
    fs::remove_file(disk.path().join("ballast")).expect("it is there");
    store.commit(record("after", b"there is room again")).expect("it commits again");
    let check = |store: &dyn Store| {
        let found: BTreeMap<_, _> = store.scan(b"k/", None, usize::MAX).expect("it scans").into_iter().collect();
        assert!(made.iter().all(|(key, value)| found.get(key) == Some(value)), "what was acknowledged is there");
        assert!(found.len() <= made.len() + 1, "one may have been made and not acknowledged");
        assert!(store.get(b"after").expect("it reads").is_some());
    };
    check(&store);
    drop(store);
    check(&grouped::<E>(disk.path()).expect("it opens"));
}

#[test]
#[ignore = "mounts a file system: takes root"]
fn sled_survives_a_full_disk() {
    survives_a_full_disk::<SledEngine>("64m", 24 << 20);
}

/// When sled opens, it writes an index of its log. A kill or a full disk may leave half of one.
#[test]
fn store_with_half_a_sled_index_opens_undamaged() {
    let dir = tempfile::tempdir().expect("a directory");
    drop(grouped::<SledEngine>(dir.path()).expect("it opens"));
    for round in 0..3_u64 {
        let store = grouped::<SledEngine>(dir.path()).expect("it opens");
        store.commit(record(&format!("k/{round}"), &noise(round, 100))).expect("it commits");
        drop(store);
        let database = dir.path().join("db-1");
        let names = fs::read_dir(&database).expect("it is there").map(|entry| entry.expect("it reads").file_name());
        let index = names.filter_map(|name| name.into_string().ok()).find(|name| name.starts_with("snap."));
        let index = fs::read(database.join(index.expect("it has made one"))).expect("it reads");
        // Named like the newest index, and longer than any real one: it would also be overwritten only in part.
        let half = [&index[..index.len() / 2], &[7; 100_000][..]].concat();
        fs::write(database.join("snap.7FFFFFFFFFFFFFFF.generating"), half).expect("it is written");
        fs::write(database.join("snap.0000000000000000.generating"), []).expect("it is written");
    }
    let store = grouped::<SledEngine>(dir.path()).expect("it opens");
    assert_eq!(store.scan(b"k/", None, usize::MAX).expect("it scans").len(), 3);
}

/// Flips bytes: what was written is served, or damage is reported; never anything else.
fn reports_what_has_changed<E: StorageEngine>(file: &str) {
    let dir = tempfile::tempdir().expect("a directory");
    let value = |at: u64| noise(at, 700);
    {
        let store = grouped::<E>(dir.path()).expect("it opens");
        for at in 0..200 {
            store.commit(record(&format!("k/{at:04}"), &value(at))).expect("it commits");
        }
    }
    let path = dir.path().join("db-1").join(file);
    let whole = fs::read(&path).expect("it is there");
    let used = whole.iter().rposition(|byte| *byte != 0).expect("something was written");
    let (mut noticed, flips) = (0, 40);
    for flip in 0..flips {
        let copy = tempfile::tempdir().expect("a directory");
        copy_all(dir.path(), copy.path());
        let mut bytes = whole.clone();
        bytes[used / flips * flip + flip] ^= 0x10;
        fs::write(copy.path().join("db-1").join(file), &bytes).expect("it is written");
        noticed += usize::from(!all_is_well::<E>(copy.path(), value));
    }
    println!("{file}: {noticed} of {flips} flips noticed, the others hit what is used no more");
    assert!(noticed > 0);
}

/// Returns true if everything is there, and false if damage was reported.
fn all_is_well<E: StorageEngine>(dir: &Path, value: impl Fn(u64) -> Vec<u8>) -> bool {
    let store = match grouped::<E>(dir) {
        Ok(store) => store,
        Err(StoreError::Damaged(_) | StoreError::Format { .. }) => return false,
        Err(error) => panic!("{error:?}"),
    };
    for at in 0..200 {
        match store.get(format!("k/{at:04}").as_bytes()) {
            Ok(found) => assert_eq!(found, Some(value(at)), "record {at} is not what was written"),
            Err(StoreError::Damaged(_)) => return false,
            Err(error) => panic!("{error:?}"),
        }
    }
    true
}

fn copy_all(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-r").arg(from.join(".")).arg(to).status();
    assert!(copied.is_ok_and(|status| status.success()));
}

#[test]
fn sled_reports_what_has_changed() {
    reports_what_has_changed::<SledEngine>("db");
}

#[test]
fn damaged_store_is_set_aside_and_repaired() {
    let dir = tempfile::tempdir().expect("a directory");
    {
        let store = open(dir.path(), Backend::Sled).expect("it opens");
        let in_use = repair(dir.path(), Backend::Sled);
        assert!(matches!(in_use, Err(StoreError::InUse { pid, .. }) if pid == std::process::id()), "{in_use:?}");
        for at in 0..100_u64 {
            store.commit(record(&format!("k/{at:03}"), &noise(at, 500))).expect("it commits");
        }
    }
    // A truncated log looks like one that ends there.
    let log = dir.path().join("db-1/db");
    let bytes = fs::read(&log).expect("it is there");
    let last = noise(99, 500);
    let at = bytes.windows(500).rposition(|window| window == last).expect("it is in the log");
    let mut cut = bytes.clone();
    cut[at] ^= 1;
    fs::write(&log, &cut).expect("it is written");
    let refused = open(dir.path(), Backend::Sled).map(drop);
    let Err(StoreError::Damaged(what)) = &refused else { panic!("{refused:?}") };
    assert!(what.contains("db-1") && what.contains("repair"), "{what}");
    let repaired = repair(dir.path(), Backend::Sled).expect("it can be repaired");
    assert!(repaired.saved >= 99 && repaired.lost > 0, "{repaired:?}");
    assert!(repaired.aside.join("db").is_file());
    let store = open(dir.path(), Backend::Sled).expect("it opens");
    assert_eq!(store.scan(b"k/", None, usize::MAX).expect("it scans").len(), 99);
    store.commit(record("k/099", b"again")).expect("it commits");
}

#[test]
fn store_of_another_backend_or_version_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    drop(open(dir.path(), Backend::Sled).expect("it opens"));
    let format = dir.path().join("format");
    let text = fs::read_to_string(&format).expect("it is there");
    assert_eq!(text, "tollhouse store 1\nbackend sled\ndatabase 1\n");
    let refused = |text: &str, backend| {
        fs::write(&format, text).expect("it is written");
        open(dir.path(), backend).map(drop).expect_err("it is refused").to_string()
    };
    let reason = refused(&text, Backend::Redb);
    assert!(reason.contains("created with the backend sled") || reason.contains("without the feature"), "{reason}");
    let reason = refused(&text.replace("store 1", "store 2"), Backend::Sled);
    assert!(reason.contains("version 2"), "{reason}");
    assert!(refused("nonsense", Backend::Sled).contains("damaged"));
    assert!(refused(&text.replace("database 1", "database 2"), Backend::Sled).contains("missing"));
    fs::write(&format, &text).expect("it is written");
    let leader = open(dir.path(), Backend::Sled).expect("it opens");
    assert!(open(dir.path(), Backend::Redb).is_err(), "nor may a follower come with another");
    drop(leader);
    fs::remove_file(&format).expect("it is there");
    assert!(open(dir.path(), Backend::Redb).is_err(), "and it is not taken for another's");
    drop(open(dir.path(), Backend::Sled).expect("of one database it is clear which one it is"));
    assert_eq!(fs::read_to_string(&format).expect("it is there"), text);
}

#[test]
fn compacting_that_was_killed_leaves_the_old_one() {
    let dir = tempfile::tempdir().expect("a directory");
    drop(open(dir.path(), Backend::Sled).map(|store| store.commit(record("a", b"1"))));
    // Killed before `format` referred to the new database.
    copy_all(&dir.path().join("db-1"), &make(dir.path().join("db-2")));
    let store = open(dir.path(), Backend::Sled).expect("it opens");
    assert!(!dir.path().join("db-2").exists() && store.get(b"a").expect("it reads").is_some());
    let compacted = store.compact().expect("it compacts");
    assert!(compacted.before > 0 && compacted.after > 0, "{compacted:?}");
    drop(store);
    // Killed after that, and before the old database was removed.
    copy_all(&dir.path().join("db-2"), &make(dir.path().join("db-1")));
    let store = open(dir.path(), Backend::Sled).expect("it opens");
    assert!(!dir.path().join("db-1").exists() && store.get(b"a").expect("it reads").is_some());
}

fn make(dir: PathBuf) -> PathBuf {
    fs::create_dir(&dir).expect("it is new");
    dir
}

#[cfg(feature = "redb")]
mod on_redb {
    use std::io;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::{Arc, Mutex};

    use redb::StorageBackend;
    use redb::backends::FileBackend;

    use super::*;
    use crate::group_commit::Changes;
    use crate::record::Record;
    use crate::redb::RedbEngine;

    #[test]
    #[ignore = "mounts a file system: takes root"]
    fn store_on_a_full_disk_loses_nothing() {
        super::survives_a_full_disk::<RedbEngine>("24m", 8 << 20);
    }

    #[test]
    fn store_with_foreign_changes_is_reported_damaged() {
        super::reports_what_has_changed::<RedbEngine>("records.redb");
    }

    /// A planned fault: after the number of operations in the upper half, the disk fails with the error code in the
    /// lower half; 0 means never.
    type Fault = Arc<(AtomicU32, AtomicU32)>;

    /// Planned faults by the path of their database.
    static FAULTS: Mutex<BTreeMap<PathBuf, Fault>> = Mutex::new(BTreeMap::new());

    #[derive(Debug)]
    struct FaultyBackend(FileBackend, Fault);

    impl FaultyBackend {
        fn go(&self) -> io::Result<()> {
            let (left, code) = &*self.1;
            let code = i32::try_from(code.load(Ordering::SeqCst)).expect("a small number");
            let fails =
                code != 0 && left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_err();
            if fails { Err(io::Error::from_raw_os_error(code)) } else { Ok(()) }
        }
    }

    impl StorageBackend for FaultyBackend {
        fn len(&self) -> io::Result<u64> {
            self.0.len()
        }
        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            self.0.read(offset, out)
        }
        fn set_len(&self, len: u64) -> io::Result<()> {
            self.go()?;
            self.0.set_len(len)
        }
        fn sync_data(&self) -> io::Result<()> {
            self.go()?;
            self.0.sync_data()
        }
        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            self.go()?;
            self.0.write(offset, data)
        }
        fn close(&self) -> io::Result<()> {
            self.0.close()
        }
    }

    struct FaultyEngine(RedbEngine);

    impl StorageEngine for FaultyEngine {
        fn open(path: &Path) -> Result<Self, StoreError> {
            fs::create_dir_all(path)?;
            let file = path.join("records.redb");
            let file = fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(file)?;
            let faults = FAULTS.lock().expect("no panic");
            let fault = faults.get(path).cloned().unwrap_or_default();
            drop(faults);
            RedbEngine::with_backend(path, FaultyBackend(FileBackend::new(file).expect("nobody else has it"), fault))
                .map(Self)
        }
        fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
            self.0.get(key)
        }
        fn range(&self, f: std::ops::Bound<&[u8]>, prefix: &[u8], limit: usize) -> Result<Vec<Record>, StoreError> {
            self.0.range(f, prefix, limit)
        }
        fn apply(&self, changes: &Changes) -> Result<(), StoreError> {
            self.0.apply(changes)
        }
    }

    #[test]
    fn store_on_a_failing_disk_loses_no_acknowledged_commit() {
        let dir = tempfile::tempdir().expect("a directory");
        let fault = Fault::default();
        FAULTS.lock().expect("no panic").insert(dir.path().join("db-1"), Arc::clone(&fault));
        let store = grouped::<FaultyEngine>(dir.path()).expect("it opens");
        let mut made = BTreeMap::new();
        let (enospc, eio) = (28, 5);
        for at in 0..60_u32 {
            let key = format!("k/{at:04}");
            fault.0.store(at % 12, Ordering::SeqCst);
            fault.1.store(if at % 2 == 0 { enospc } else { eio }, Ordering::SeqCst);
            let outcome = store.commit(record(&key, &noise(at.into(), 3000)));
            fault.1.store(0, Ordering::SeqCst);
            match outcome {
                Ok(()) => drop(made.insert(key, true)),
                Err(StoreError::Full(_)) if at % 2 == 0 => drop(made.insert(key, false)),
                Err(StoreError::Io(_)) if at % 2 == 1 => drop(made.insert(key, false)),
                Err(error) => panic!("{error:?}"),
            }
            // The disk works again at once.
            let key = format!("k/{at:04}/after");
            store.commit(record(&key, b"")).expect("the disk is well again");
            made.insert(key, true);
        }
        assert!(made.values().any(|made| !made), "it did fail");
        drop(store);
        let store = grouped::<FaultyEngine>(dir.path()).expect("it opens");
        for (key, made) in made {
            let found = store.get(key.as_bytes()).expect("it reads");
            assert!(found.is_some() || !made, "{key} was acknowledged");
        }
    }
}
