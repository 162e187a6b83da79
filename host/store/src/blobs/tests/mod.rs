//! Tests of blobs on disk through the public interface. Crashes and full disks have their own files.

mod crash;
mod full;
mod packs;
mod pool;
mod sweep;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tempfile::TempDir;

use super::*;
use crate::{BlobError, BlobId, BlobSink, BlobSource, MAX_BLOB_BYTES};

const PATIENCE: Duration = Duration::from_secs(20);

fn home() -> (TempDir, BlobFiles) {
    let home = tempfile::tempdir().expect("a temporary directory");
    let files = BlobFiles::open(home.path()).expect("it opens");
    (home, files)
}

/// Content that is unique to a number; every second one can be compressed.
fn content(n: u64) -> Vec<u8> {
    let length = 100 + usize::try_from(n % 7).expect("it is small") * 1_500;
    match n % 2 {
        0 => format!("line {n}\n").repeat(length / 8 + 1).into_bytes(),
        _ => {
            let mut noise = vec![0; length];
            blake3::Hasher::new().update(&n.to_le_bytes()).finalize_xof().fill(&mut noise);
            noise
        }
    }
}

fn put(files: &BlobFiles, contents: impl IntoIterator<Item = Vec<u8>>) -> Vec<BlobId> {
    let mut upload = files.begin().expect("it begins");
    let ids = contents.into_iter().map(|content| upload.put(content).expect("it is put")).collect();
    upload.sync().expect("it is synced");
    ids
}

/// Lists all files below a directory.
fn walk(directory: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(directory).expect("it is there").map(|entry| entry.expect("it is listed").path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

fn leftovers(files: &BlobFiles) -> usize {
    walk(&files.temporary()).len()
}

#[test]
fn blobs_synced_in_any_number_are_readable() {
    let (home, files) = home();
    for count in [0, 1, 2, 8, 9, 300] {
        let ids = put(&files, (0..count).map(content));
        assert_eq!(ids, (0..count).map(|n| BlobId::of(&content(n))).collect::<Vec<_>>());
        let fresh = BlobFiles::open(home.path()).expect("it opens twice");
        for (n, id) in (0..).zip(&ids) {
            assert_eq!(fresh.get(id).expect("it is there"), content(n));
        }
        let mut listed: Vec<BlobId> = ids.clone();
        listed.sort_unstable();
        assert!(files.list().map(|listed| listed.expect("it is listed").0).eq(listed));
        assert_eq!(leftovers(&files), 0);
    }
    assert_eq!(files.stat(&BlobId::of(&content(7))).expect("it is there"), Some(101));
    assert!(files.stat(&BlobId::of(&content(12))).expect("it is there").is_some_and(|bytes| bytes < 200));
}

#[cfg(unix)]
#[test]
fn blob_files_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let (home, files) = home();
    put(&files, [content(1)]);
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    for path in walk(home.path()) {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    let shelf = files.shelf(BlobId::of(&content(1)).as_bytes()[0]);
    assert_eq!([mode(&files.blobs()), mode(&shelf), mode(&files.temporary())], [0o700; 3]);
}

#[test]
fn blob_is_not_visible_before_it_is_durable() {
    let (_home, files) = home();
    let mut upload = files.begin().expect("it begins");
    let id = upload.put(content(1)).expect("it is put");
    assert!(matches!(files.get(&id), Err(BlobError::Missing(missing)) if missing == id));
    assert_eq!(leftovers(&files), 1);
    drop(upload);
    assert_eq!((leftovers(&files), files.stat(&id).expect("it can be asked")), (0, None));
    let mut upload = files.begin().expect("it begins");
    upload.put(content(1)).expect("it is put");
    upload.sync().expect("it is synced");
    upload.put(content(2)).expect("an upload goes on");
    upload.sync().expect("it is synced");
    drop(upload);
    assert_eq!(files.list().count(), 2);
}

#[test]
fn blob_already_stored_is_not_written_again() {
    let (home, files) = home();
    let ids = put(&files, (0..20).map(content));
    let before = |id| fs::metadata(files.path(id)).and_then(|metadata| metadata.modified()).expect("it is there");
    let times: Vec<_> = ids.iter().map(before).collect();
    let mut upload = files.begin().expect("it begins");
    for n in (0..20).chain(0..20) {
        upload.put(content(n)).expect("it is put");
    }
    assert_eq!(leftovers(&files), 0);
    assert!(upload.has(&ids[3]).expect("it can be asked"));
    assert!(!upload.has(&BlobId::of(b"absent")).expect("it can be asked"));
    upload.sync().expect("it is synced");
    assert_eq!(ids.iter().map(before).collect::<Vec<_>>(), times);
    drop((upload, home));
}

#[test]
fn blob_that_is_too_large_is_refused_and_upload_continues() {
    let (_home, files) = home();
    let mut upload = files.begin().expect("it begins");
    assert!(matches!(upload.put(vec![0; MAX_BLOB_BYTES + 1]), Err(BlobError::TooLarge(_))));
    let id = upload.put(vec![0; MAX_BLOB_BYTES]).expect("the largest is put");
    upload.sync().expect("it is synced");
    assert_eq!(files.get(&id).expect("it is read").len(), MAX_BLOB_BYTES);
    let path = files.path(&BlobId::of(b"huge"));
    fs::create_dir_all(path.parent().expect("it has one")).expect("it is made");
    fs::File::create(&path).and_then(|file| file.set_len(1 << 40)).expect("a sparse file");
    assert!(matches!(files.get(&BlobId::of(b"huge")), Err(BlobError::Damaged(_))));
}

#[test]
fn blob_with_any_byte_flipped_is_reported_and_not_served() {
    let (home, files) = home();
    for plain in [b"a raw blob".to_vec(), content(2 * 6), b"".to_vec(), vec![1; 9_000]] {
        let [id] = put(&files, [plain.clone()])[..] else { panic!("one was put") };
        let path = files.path(&id);
        let whole = fs::read(&path).expect("it is there");
        let mut bad: Vec<Vec<u8>> = (0..whole.len()).map(|at| flipped(&whole, at)).collect();
        bad.extend([whole[..whole.len() - 1].to_vec(), [&whole[..], b"\0"].concat(), Vec::new()]);
        for bad in bad {
            fs::write(&path, bad).expect("it can be written");
            let fresh = BlobFiles::open(home.path()).expect("it opens");
            assert!(matches!(fresh.get(&id), Err(BlobError::Damaged(named)) if named == id));
            assert_eq!(fresh.faults().iter().map(|fault| fault.blob).collect::<Vec<_>>(), [id]);
            let verified = fresh.verify().expect("it is verified");
            assert_eq!(verified.faults.iter().map(|fault| fault.blob).collect::<Vec<_>>(), [id]);
        }
        fs::write(&path, &whole).expect("it can be written");
        assert_eq!(files.get(&id).expect("it is whole"), plain);
    }
    let verified = files.verify().expect("it is verified");
    assert_eq!((verified.blobs, verified.faults.len()), (4, 0));
}

fn flipped(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 1 << (at % 8);
    bytes
}

#[test]
fn damaged_blob_is_replaced_by_an_upload_of_its_bytes() {
    let (home, files) = home();
    let [id] = put(&files, [content(1)])[..] else { panic!("one was put") };
    let bad = flipped(&fs::read(files.path(&id)).expect("it is there"), 1);
    fs::write(files.path(&id), &bad).expect("it can be written");
    assert!(files.get(&id).is_err());
    put(&files, [content(1)]);
    assert_eq!((files.get(&id).expect("it is whole"), files.faults().len()), (content(1).into(), 0));
    // This is what a power failure leaves on some file systems.
    fs::write(files.path(&id), b"").expect("it can be written");
    let fresh = BlobFiles::open(home.path()).expect("it opens");
    put(&fresh, [content(1)]);
    assert_eq!(fresh.get(&id).expect("it is whole"), content(1));
}

#[test]
fn damaged_blob_set_aside_can_be_stored_again() {
    let (home, files) = home();
    let ids = put(&files, [content(1), content(3)]);
    let bad = flipped(&fs::read(files.path(&ids[0])).expect("it is there"), 1);
    fs::write(files.path(&ids[0]), &bad).expect("it can be written");
    let alone = files.lock_exclusive(PATIENCE).expect("it locks").expect("nobody uploads");
    let aside = alone.set_aside(&ids[0]).expect("it is moved").expect("it is damaged");
    assert_eq!(aside, home.path().join("damaged").join(ids[0].to_string()));
    assert_eq!(fs::read(aside).expect("it is there"), bad);
    assert_eq!(alone.set_aside(&ids[1]).expect("it is read"), None);
    assert_eq!(alone.set_aside(&BlobId::of(b"absent")).expect("it is read"), None);
    drop(alone);
    put(&files, [content(1)]);
    assert_eq!(files.get(&ids[0]).expect("it is whole"), content(1));
}

#[test]
fn blob_faults_are_recorded_once_and_bounded() {
    let (_home, files) = home();
    for n in 0..200_u64 {
        for _ in 0..2 {
            assert!(files.get(&BlobId::of(&n.to_le_bytes())).is_err());
        }
    }
    let faults = files.faults();
    assert_eq!((faults.len(), faults.last().map(|fault| fault.blob)), (64, Some(BlobId::of(&199_u64.to_le_bytes()))));
}

#[test]
fn blob_read_before_is_served_from_memory() {
    let (_home, files) = home();
    let [id] = put(&files, [content(1)])[..] else { panic!("one was put") };
    let first = files.get(&id).expect("it is there");
    fs::remove_file(files.path(&id)).expect("it is there");
    let again = files.get(&id).expect("it is in memory");
    assert_eq!(first.as_ptr(), again.as_ptr());
    let alone = files.lock_exclusive(PATIENCE).expect("it locks").expect("nobody uploads");
    assert_eq!(alone.remove(&id).expect("it is gone"), None);
}

#[test]
fn directories_that_a_copy_left_out_are_made() {
    let (_home, files) = home();
    fs::remove_dir(files.temporary()).expect("it is empty");
    assert_eq!(files.list().count(), 0);
    for round in 0..2 {
        let ids = put(&files, (round..20).map(content));
        assert!(ids.iter().all(|id| files.get(id).is_ok()));
        fs::remove_dir_all(files.blobs()).and_then(|()| fs::create_dir(files.blobs())).expect("they are removed");
    }
}

#[test]
fn blobs_of_another_version_are_left_alone() {
    let (home, files) = home();
    fs::write(files.blobs().join("format"), "tollhouse blobs 3\n").expect("it can be written");
    let error = BlobFiles::open(home.path()).expect_err("another version");
    assert!(error.to_string().contains("blobs/format"), "{error}");
}

#[test]
fn blob_listing_skips_files_that_are_no_blobs() {
    let (_home, files) = home();
    let [id] = put(&files, [content(1)])[..] else { panic!("one was put") };
    let upper = files.path(&id).with_file_name(id.to_string()[2..].to_uppercase());
    fs::write(&upper, "").expect("it can be written");
    fs::write(upper.with_file_name("README"), "").expect("it can be written");
    assert_eq!(files.list().map(|listed| listed.expect("it is listed").0).collect::<Vec<_>>(), [id]);
}

#[test]
fn removal_waits_while_an_upload_is_alive() {
    let (home, files) = home();
    let other = BlobFiles::open(home.path()).expect("it opens twice");
    let mut upload = files.begin().expect("it begins");
    let id = upload.put(content(1)).expect("it is put");
    upload.sync().expect("it is synced");
    let since = Instant::now();
    assert!(other.lock_exclusive(Duration::from_millis(50)).expect("it tries").is_none());
    assert!(since.elapsed() >= Duration::from_millis(50));
    // A remover that timed out does not block others.
    drop(other.begin().expect("it begins"));
    drop(upload);
    let alone = other.lock_exclusive(PATIENCE).expect("it locks").expect("nobody uploads");
    let begun = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            drop(files.begin().expect("it begins"));
            begun.store(true, Ordering::SeqCst);
        });
        thread::sleep(Duration::from_millis(50));
        assert!(!begun.load(Ordering::SeqCst), "an upload began while blobs are removed");
        assert_eq!(alone.remove(&id).expect("it is removed"), Some(1_601));
        drop(alone);
    });
    assert!(begun.into_inner());
    assert!(matches!(files.get(&id), Err(BlobError::Missing(_))));
}

#[test]
fn removal_gets_its_turn_among_continuous_uploads() {
    let (_home, files) = home();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while !stop.load(Ordering::SeqCst) {
                    let _upload = files.begin().expect("it begins");
                    thread::sleep(Duration::from_millis(5));
                }
            });
        }
        for _ in 0..5 {
            assert!(files.lock_exclusive(PATIENCE).expect("it locks").is_some());
        }
        stop.store(true, Ordering::SeqCst);
    });
}

#[test]
fn leftovers_of_dead_uploads_are_cleared_and_live_ones_kept() {
    let (_home, files) = home();
    let mut upload = files.begin().expect("it begins");
    upload.put(content(1)).expect("it is put");
    assert!(files.lock_exclusive(Duration::ZERO).expect("it tries").is_none());
    upload.sync().expect("its file is still there");
    drop(upload);
    fs::write(files.temporary().join("0123456789abcdef-4"), "left").expect("it can be written");
    let alone = files.lock_exclusive(PATIENCE).expect("it locks").expect("nobody uploads");
    assert_eq!(alone.clear_leftovers().expect("it is cleared"), (1, 4));
    assert_eq!((leftovers(&files), files.list().count()), (0, 1));
}

/// Only names that this program gives are swept: what somebody put beside them, or a link in the place of the directory
/// leads to, stays.
#[test]
fn files_with_other_names_beside_temporary_ones_are_not_cleared() {
    let (_home, files) = home();
    let foreign = ["letter.txt", "0123-4", "0123456789abcdef-", "0123456789abcdeg-1", ".tmpabc", ".profile"];
    let own = ["0123456789abcdef-0", ".tmpAbc123"];
    foreign.iter().chain(&own).for_each(|name| fs::write(files.temporary().join(name), "x").expect("it is written"));
    fs::create_dir(files.temporary().join("mail")).expect("it is made");
    let alone = files.lock_exclusive(PATIENCE).expect("it locks").expect("nobody uploads");
    assert_eq!(alone.clear_leftovers().expect("it is cleared"), (2, 2));
    assert!(foreign.iter().chain(&["mail"]).all(|name| files.temporary().join(name).exists()));
    assert!(!own.iter().any(|name| files.temporary().join(name).exists()));
}

#[test]
fn blobs_stored_and_read_by_many_threads_are_whole() {
    let (home, files) = home();
    let contents: Vec<Vec<u8>> = (0..60).map(content).collect();
    thread::scope(|scope| {
        for at in 0..8 {
            let (contents, home) = (&contents, &home);
            scope.spawn(move || {
                let files = BlobFiles::open(home.path()).expect("it opens");
                for chunk in contents.chunks(1 + at) {
                    for (id, content) in put(&files, chunk.to_vec()).iter().zip(chunk) {
                        assert_eq!(files.get(id).expect("it is there"), Bytes::from(content.clone()));
                    }
                }
            });
        }
    });
    let verified = files.verify().expect("it is verified");
    assert_eq!((verified.blobs, verified.faults.len(), leftovers(&files)), (60, 0, 0));
}
