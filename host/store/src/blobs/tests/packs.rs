//! Tests of packs: small blobs that are stored together.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// Number of blobs in an upload of which some are packed.
const MANY: u64 = 200;

fn small(n: u64) -> Vec<u8> {
    format!("small {n}").into_bytes()
}

/// Stores many small blobs, and returns the ids in the order of their numbers.
fn put_many(files: &BlobFiles) -> Vec<BlobId> {
    put(files, (0..MANY).map(small))
}

fn packs(files: &BlobFiles) -> Vec<std::path::PathBuf> {
    if files.packs_directory().exists() { walk(&files.packs_directory()) } else { Vec::new() }
}

/// Returns the only pack.
fn pack(files: &BlobFiles) -> std::path::PathBuf {
    let [pack] = &packs(files)[..] else { panic!("there is one pack") };
    pack.clone()
}

/// Ids of the blobs in packs.
fn packed(files: &BlobFiles) -> BTreeSet<BlobId> {
    let packs = files.find_packs().expect("they are read");
    packs.packs().flat_map(|pack| pack.entries()).map(|entry| entry.id).collect()
}

fn alone(files: &BlobFiles) -> Exclusive<'_> {
    files.lock_exclusive(PATIENCE).expect("it locks").expect("nobody uploads")
}

fn faults(files: &BlobFiles) -> Vec<BlobId> {
    files.verify().expect("it is verified").faults.iter().map(|fault| fault.blob).collect()
}

#[test]
fn many_small_blobs_are_stored_in_few_files_and_read_by_others() {
    let (home, files) = home();
    let ids = put_many(&files);
    let count = walk(&files.blobs()).len();
    assert!(count < 80, "{count} files");
    let other = BlobFiles::open(home.path()).expect("it opens twice");
    for files in [&files, &other] {
        for (n, id) in (0..).zip(&ids) {
            assert_eq!(files.get(id).expect("it is there"), small(n));
            assert_eq!(files.stat(id).expect("it can be asked"), Some(small(n).len() as u64 + 1));
        }
        let listed: BTreeSet<BlobId> = files.list().map(|listed| listed.expect("it is listed").0).collect();
        assert_eq!((listed.len(), listed), (ids.len(), ids.iter().copied().collect()));
        assert!(matches!(files.get(&BlobId::of(b"absent")), Err(BlobError::Missing(_))));
    }
    assert_eq!((files.verify().expect("it is verified").blobs, faults(&files), leftovers(&files)), (MANY, vec![], 0));
}

#[test]
fn few_or_large_blobs_are_not_packed() {
    let (_home, files) = home();
    for n in 0..10 {
        put(&files, (n * 70..n * 70 + 70).map(small));
    }
    put(&files, (0..100_u64).map(|n| n.to_le_bytes().repeat(3_000)));
    assert_eq!(packs(&files), Vec::<std::path::PathBuf>::new());
    assert_eq!(fs::read(files.blobs().join("format")).expect("it is there"), b"tollhouse blobs 1\n");
}

#[test]
fn store_with_packs_states_that_it_has_them() {
    let (home, files) = home();
    put_many(&files);
    assert_eq!(fs::read(files.blobs().join("format")).expect("it is there"), b"tollhouse blobs 2\n");
    BlobFiles::open(home.path()).expect("this version knows them");
}

#[test]
fn packed_blobs_are_not_stored_again() {
    let (home, files) = home();
    put_many(&files);
    let before = packed(&files);
    let other = BlobFiles::open(home.path()).expect("it opens twice");
    for files in [&files, &other] {
        let mut upload = files.begin().expect("it begins");
        for id in &before {
            assert!(upload.has(id).expect("it can be asked"));
        }
        drop(upload);
        put_many(files);
        assert_eq!(packs(files).len(), 1);
    }
}

#[test]
fn packed_blobs_of_an_abandoned_upload_are_gone() {
    let (_home, files) = home();
    let mut upload = files.begin().expect("it begins");
    // More than one pack, of which the first is written before the sync.
    let large = |n: u64| small(n).repeat(600);
    let ids: Vec<BlobId> = (0..1_500).map(|n| upload.put(large(n)).expect("it is put")).collect();
    assert_eq!(packs(&files).len(), 0);
    let mut other = files.begin().expect("it begins");
    drop(upload);
    assert!(matches!(other.sync(), Err(BlobError::Abandoned)), "it may have relied on them");
    drop(other);
    assert_eq!((leftovers(&files), files.list().count()), (0, 0));
    let mut upload = files.begin().expect("it begins");
    for n in 0..1_500 {
        upload.put(large(n)).expect("it is put");
    }
    files.begin().and_then(|mut other| other.sync()).expect("it syncs all");
    assert!(ids.iter().all(|id| files.get(id).is_ok()));
    assert!(packs(&files).len() > 1);
    drop(upload);
    assert_eq!(files.list().count(), ids.len(), "nothing was lost");
}

#[test]
fn pack_with_any_byte_flipped_is_reported_and_serves_the_other_blobs() {
    let (home, files) = home();
    let ids = put(&files, (0..64 + 20).map(small));
    let path = pack(&files);
    let whole = fs::read(&path).expect("it is there");
    for at in 0..whole.len() {
        fs::write(&path, flipped(&whole, at)).expect("it can be written");
        let fresh = BlobFiles::open(home.path()).expect("it opens");
        let lost = (0..).zip(&ids).filter(|(n, id)| match fresh.get(id) {
            Ok(bytes) => {
                assert_eq!(bytes, small(*n), "byte {at}");
                false
            }
            Err(_) => true,
        });
        assert!(lost.count() <= if at < 16 { 20 } else { 1 }, "byte {at}");
        assert!(!faults(&fresh).is_empty(), "byte {at}");
    }
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).expect("it can be written");
        let fresh = BlobFiles::open(home.path()).expect("it opens");
        assert!(!faults(&fresh).is_empty(), "{length} bytes");
        let gone = ids.iter().filter_map(|id| fresh.get(id).err());
        assert!(gone.into_iter().all(|error| matches!(error, BlobError::Damaged(_))), "{length} bytes");
    }
}

#[test]
fn damaged_packed_blob_is_set_aside_or_replaced() {
    let (home, files) = home();
    let ids = put_many(&files);
    let path = pack(&files);
    let mut bytes = fs::read(&path).expect("it is there");
    let end = bytes.len() - 1;
    bytes[end] ^= 1;
    fs::write(&path, &bytes).expect("it can be written");
    let fresh = BlobFiles::open(home.path()).expect("it opens");
    let [damaged] = faults(&fresh)[..] else { panic!("one is damaged") };
    let aside = alone(&fresh).set_aside(&damaged).expect("it is moved").expect("it is damaged");
    assert_eq!(aside, home.path().join("damaged").join(damaged.to_string()));
    assert!(fs::read(aside).expect("it is there").starts_with(b"\0small "));
    assert!(matches!(fresh.get(&damaged), Err(BlobError::Missing(_))));
    assert!(ids.iter().all(|id| *id == damaged || fresh.get(id).is_ok()), "the others are there");
    assert!(!packed(&fresh).contains(&damaged));
    put_many(&fresh);
    assert!(ids.iter().all(|id| fresh.get(id).is_ok()));
    assert_eq!(faults(&fresh), []);
}

#[test]
fn damaged_packed_blob_is_replaced_by_an_upload_of_its_bytes() {
    let (home, files) = home();
    let ids = put_many(&files);
    let path = pack(&files);
    let mut bytes = fs::read(&path).expect("it is there");
    let end = bytes.len() - 1;
    bytes[end] ^= 1;
    fs::write(&path, &bytes).expect("it can be written");
    let fresh = BlobFiles::open(home.path()).expect("it opens");
    assert_eq!(ids.iter().filter(|id| fresh.get(id).is_err()).count(), 1);
    put_many(&fresh);
    assert!(ids.iter().all(|id| fresh.get(id).is_ok()));
}

#[test]
fn pack_with_damaged_index_is_set_aside_whole() {
    let (home, files) = home();
    let ids = put_many(&files);
    let path = pack(&files);
    fs::write(&path, b"no pack").expect("it can be written");
    let fresh = BlobFiles::open(home.path()).expect("it opens");
    let lost = ids.iter().find(|id| fresh.get(id).is_err()).expect("some were packed");
    assert!(matches!(fresh.get(lost), Err(BlobError::Damaged(named)) if named == *lost));
    let name = path.file_name().and_then(|name| name.to_str()).expect("it has a name");
    let [fault] = faults(&fresh)[..] else { panic!("the pack is named") };
    assert_eq!(fault.to_string(), name);
    assert_eq!(alone(&fresh).set_aside(lost).expect("nothing is moved"), None, "it may be in no pack");
    let aside = alone(&fresh).set_aside(&fault).expect("it is moved").expect("it is damaged");
    assert_eq!(fs::read(aside).expect("it is there"), b"no pack");
    assert!(matches!(fresh.get(lost), Err(BlobError::Missing(_))));
    put_many(&fresh);
    assert!(ids.iter().all(|id| fresh.get(id).is_ok()));
}

#[test]
fn pack_rewritten_by_another_process_is_found() {
    let (home, files) = home();
    let ids = put_many(&files);
    let reader = BlobFiles::open(home.path()).expect("it opens twice");
    let of_pack: Vec<BlobId> = packed(&reader).into_iter().collect();
    let before = pack(&files);
    assert_eq!(alone(&files).remove(&of_pack[0]).expect("it is removed"), files_size(&ids, of_pack[0]));
    assert_ne!(pack(&files), before);
    assert!(matches!(reader.get(&of_pack[0]), Err(BlobError::Missing(_))));
    assert!(of_pack[1..].iter().all(|id| reader.get(id).is_ok()));
    // An upload of the reader's process must not rely on what it knew.
    put_many(&reader);
    assert!(ids.iter().all(|id| reader.get(id).is_ok()));
}

/// Size on disk of one of the blobs of [`put_many`].
fn files_size(ids: &[BlobId], id: BlobId) -> Option<u64> {
    (0..).zip(ids).find(|(_, other)| **other == id).map(|(n, _)| small(n).len() as u64 + 1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn sweep_leaves_exactly_the_reachable_blobs_of_packs(kept in prop::collection::btree_set(0..MANY, 0..200)) {
        let (home, files) = home();
        let ids = put_many(&files);
        let kept: BTreeSet<BlobId> = kept.iter().map(|n| ids[usize::try_from(*n).expect("it is small")]).collect();
        let roots = || Ok::<_, BlobError>(kept.iter().map(|id| Named { id: *id, node: false }).collect());
        let mut options = SweepOptions { dry_run: true, patience: PATIENCE, skip_unreadable: false };
        let told = files.sweep(&options, roots, |_| None).expect("it is told");
        options.dry_run = false;
        let swept = files.sweep(&options, roots, |_| None).expect("it is swept");
        prop_assert_eq!((told.kept, told.removed), (swept.kept, swept.removed));
        prop_assert_eq!((swept.kept.files, swept.removed.files), (kept.len() as u64, MANY - kept.len() as u64));
        for files in [&files, &BlobFiles::open(home.path()).expect("it opens twice")] {
            let listed: BTreeSet<BlobId> = files.list().map(|listed| listed.expect("it is listed").0).collect();
            prop_assert_eq!(&listed, &kept);
            prop_assert!(ids.iter().all(|id| files.get(id).is_ok() == kept.contains(id)));
        }
        prop_assert_eq!(leftovers(&files), 0);
    }
}
