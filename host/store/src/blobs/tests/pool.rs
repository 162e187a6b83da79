//! Tests of what uploads of one process owe each other: a tree remembers that a part of it is at a place, and does not
//! give that part to the next upload of the same place.

use std::sync::atomic::AtomicUsize;

use super::*;

fn next_place(files: &BlobFiles) -> u64 {
    let place = files.begin().expect("it begins").place();
    assert_eq!(BlobSource::place(files), place);
    place
}

#[test]
fn sync_of_one_upload_syncs_all() {
    let (_home, files) = home();
    let mut one = files.begin().expect("it begins");
    let ids = [content(1), vec![1; 100_000]].map(|content| one.put(content).expect("it is put"));
    let mut other = files.begin().expect("it begins");
    assert_eq!(one.place(), other.place());
    other.sync().expect("it is synced");
    assert!(ids.iter().all(|id| files.get(id).is_ok()));
    let place = one.place();
    drop((one, other));
    assert_eq!(next_place(&files), place, "nothing was lost");
}

#[test]
fn upload_abandoned_ends_its_place() {
    let (_home, files) = home();
    for content in [content(1), vec![1; 100_000]] {
        let mut one = files.begin().expect("it begins");
        let mut other = files.begin().expect("it begins");
        let id = one.put(content).expect("it is put");
        let place = one.place();
        drop(one);
        assert_eq!((leftovers(&files), files.stat(&id).expect("it can be asked")), (0, None));
        assert!(matches!(other.sync(), Err(BlobError::Abandoned)), "it may have relied on that");
        assert!(matches!(other.put(b"more".to_vec()), Err(BlobError::Abandoned)));
        assert!(matches!(other.has(&id), Err(BlobError::Abandoned)));
        drop(other);
        assert_ne!(next_place(&files), place);
    }
}

#[test]
fn upload_that_fails_ends_its_place() {
    let (_home, files) = home();
    let mut one = files.begin().expect("it begins");
    let mut other = files.begin().expect("it begins");
    let first = other.put(content(1)).expect("it is put");
    let id = one.put(content(3)).expect("it is put");
    // A directory where the file would have to be.
    fs::create_dir_all(files.path(&id)).expect("it is made");
    let error = one.sync().expect_err("it cannot be renamed");
    assert!(matches!(&error, BlobError::Io { path, .. } if *path == files.path(&id)), "{error:?}");
    assert_eq!(other.sync().expect_err("it failed for all").to_string(), error.to_string());
    assert_eq!(leftovers(&files), 0);
    let place = one.place();
    drop((one, other));
    assert_ne!(next_place(&files), place);
    fs::remove_dir(files.path(&id)).expect("it is empty");
    put(&files, [content(1), content(3)]);
    assert!([first, id].iter().all(|id| files.get(id).is_ok()));
}

#[test]
fn removal_of_blobs_ends_the_place_in_every_process() {
    let (home, files) = home();
    let other = BlobFiles::open(home.path()).expect("it opens twice");
    let [id] = put(&files, [content(1)])[..] else { panic!("one was put") };
    let places = [&files, &other].map(next_place);
    drop(files.lock_exclusive(PATIENCE).expect("it locks").expect("nobody uploads"));
    assert_eq!([&files, &other].map(next_place), places, "nothing was removed");
    let alone = files.lock_exclusive(PATIENCE).expect("it locks").expect("nobody uploads");
    alone.remove(&BlobId::of(b"absent")).expect("it is not there");
    drop(alone);
    assert_eq!([&files, &other].map(next_place), places, "nothing was removed");
    let alone = files.lock_exclusive(PATIENCE).expect("it locks").expect("nobody uploads");
    alone.remove(&id).expect("it is removed");
    drop(alone);
    let later = [&files, &other].map(next_place);
    assert!(later[0] != places[0] && later[1] != places[1]);
    assert_eq!([&files, &other].map(next_place), later);
}

#[test]
fn shared_uploads_with_some_abandoned_store_the_others() {
    let (_home, files) = home();
    let (done, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for thread in 0..8_u64 {
            let (files, done, failed) = (&files, &done, &failed);
            scope.spawn(move || {
                for round in 0..12 {
                    let contents: Vec<_> = (0..3).map(|n| content(thread * 1_000 + round * 3 + n)).collect();
                    let mut upload = files.begin().expect("it begins");
                    let ids: Result<Vec<_>, _> = contents.into_iter().map(|content| upload.put(content)).collect();
                    if thread == 0 && round % 4 == 0 {
                        continue;
                    }
                    match ids.and_then(|ids| upload.sync().map(|()| ids)) {
                        Ok(ids) => {
                            done.fetch_add(1, Ordering::Relaxed);
                            assert!(ids.iter().all(|id| files.read(id).is_ok()), "it was acknowledged");
                        }
                        Err(BlobError::Abandoned) => drop(failed.fetch_add(1, Ordering::Relaxed)),
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    let (done, failed) = (done.into_inner(), failed.into_inner());
    assert_eq!(done + failed, 8 * 12 - 3);
    assert!(failed <= 3 * 7, "{failed} failed, where three were given up");
    assert_eq!((leftovers(&files), files.verify().expect("it is verified").faults.len()), (0, 0));
}
