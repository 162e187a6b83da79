//! Tests of garbage collection: reachable blobs stay, whatever happens at the same time; the others go.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use proptest::prelude::*;

use super::*;

const OPTIONS: SweepOptions = SweepOptions { dry_run: false, patience: PATIENCE, skip_unreadable: false };

/// Encodes a node: a letter and, for each reference, a byte that tells if it is a node, and its id.
fn node(children: &[Named]) -> Vec<u8> {
    let child = |named: &Named| [&[u8::from(named.node)], &named.id.as_bytes()[..]].concat();
    [b"N".to_vec(), children.iter().flat_map(child).collect()].concat()
}

fn references(bytes: &[u8]) -> Option<Vec<Named>> {
    let child = |bytes: &[u8]| {
        let (kind, id) = bytes.split_first()?;
        Some(Named { id: BlobId::from(<[u8; 32]>::try_from(id).ok()?), node: *kind == 1 })
    };
    bytes.strip_prefix(b"N")?.chunks(33).map(child).collect()
}

/// Returns the ids of everything below these roots.
fn reachable(files: &BlobFiles, roots: &[Named]) -> BTreeSet<BlobId> {
    let mut todo = roots.to_vec();
    let mut seen = BTreeMap::new();
    while let Some(Named { id, node }) = todo.pop() {
        let expanded = seen.entry(id).or_insert(false);
        let bytes = files.read(&id).expect("what is reachable is there");
        if node && !*expanded {
            *expanded = true;
            todo.extend(references(&bytes).expect("it is a node"));
        }
    }
    seen.into_keys().collect()
}

fn sweep(files: &BlobFiles, roots: &[Named]) -> Result<Swept, BlobError> {
    files.sweep(&OPTIONS, || Ok::<_, BlobError>(roots.to_vec()), references)
}

fn listed(files: &BlobFiles) -> BTreeSet<BlobId> {
    files.list().map(|listed| listed.expect("it is listed").0).collect()
}

#[test]
fn sweep_removes_and_counts_unreferenced_blobs() {
    let (_home, files) = home();
    let ids = put(&files, [content(1), content(3), content(5)]);
    let root = Named { id: put(&files, [node(&[Named { id: ids[0], node: false }])])[0], node: true };
    fs::write(files.temporary().join("0123456789abcdef-4"), "left").expect("it can be written");
    let removed = [1, 2].map(|at: usize| files.stat(&ids[at]).expect("it is there").unwrap_or(0)).iter().sum();
    let dry = SweepOptions { dry_run: true, ..OPTIONS };
    let told = files.sweep(&dry, || Ok::<_, BlobError>(vec![root]), references).expect("it is told");
    assert_eq!((listed(&files).len(), told.kept.files, told.removed), (4, 2, Amount { files: 2, bytes: removed }));
    let swept = sweep(&files, &[root]).expect("it is swept");
    assert_eq!((swept.kept, swept.removed), (told.kept, told.removed));
    assert_eq!(swept.leftovers, Amount { files: 1, bytes: 4 });
    assert_eq!(listed(&files), BTreeSet::from([ids[0], root.id]));
    let again = sweep(&files, &[root]).expect("it is swept");
    assert_eq!((again.removed, again.kept), (Amount::default(), swept.kept));
    assert_eq!(sweep(&files, &[]).expect("it is swept").removed.files, 2);
}

#[test]
fn sweep_with_plain_blob_equal_to_a_node_keeps_node_references() {
    let (_home, files) = home();
    let leaf = put(&files, [content(1)])[0];
    let bytes = node(&[Named { id: leaf, node: false }]);
    let [twin] = put(&files, [bytes])[..] else { panic!("one was put") };
    let (plain, named) = (Named { id: twin, node: false }, Named { id: twin, node: true });
    for roots in [[plain, named], [named, plain]] {
        assert_eq!(sweep(&files, &roots).expect("it is swept").removed.files, 0);
    }
    assert_eq!(sweep(&files, &[plain]).expect("it is swept").removed.files, 1);
}

#[test]
fn sweep_with_unreadable_node_removes_nothing() {
    let (_home, files) = home();
    let ids = put(&files, [content(1), node(&[])]);
    let missing = Named { id: BlobId::of(b"absent"), node: true };
    assert!(matches!(sweep(&files, &[missing]), Err(BlobError::Missing(_))));
    let no_node = Named { id: ids[0], node: true };
    assert!(matches!(sweep(&files, &[no_node]), Err(BlobError::Damaged(_))));
    assert_eq!(listed(&files).len(), 2);
    let error = files.sweep(&OPTIONS, || Err(BlobError::Abandoned), references).expect_err("the caller's");
    assert!(matches!(error, BlobError::Abandoned));
}

#[test]
fn sweep_during_long_upload_gives_up_after_its_time() {
    let (_home, files) = home();
    put(&files, [content(1)]);
    let upload = files.begin().expect("it begins");
    let options = SweepOptions { patience: Duration::from_millis(20), ..OPTIONS };
    let swept = files.sweep(&options, || Ok::<_, BlobError>(Vec::new()), references).expect("it is told");
    assert_eq!((swept.interrupted, swept.removed.files), (true, 0));
    drop(upload);
}

/// The sessions of a store: the blob that the record of each refers to.
#[derive(Default)]
struct SessionRecords(Mutex<BTreeMap<u64, Named>>);

impl SessionRecords {
    fn roots(&self) -> Vec<Named> {
        self.0.lock().expect("nobody panics").values().copied().collect()
    }
}

/// Uploads a tree of old and new blobs, and then commits a record that refers to it.
fn commit(files: &BlobFiles, records: &SessionRecords, session: u64, round: u64) {
    let mut upload = files.begin().expect("it begins");
    // Drawn from a few contents, so that many exist already and are being removed. Some uploads are large enough for
    // packs.
    let (leaves, contents) = if round % 5 == 1 { (120, 200) } else { (4, 40) };
    let leaf = |n: u64| content((session * 7 + round * 3 + n) % contents);
    let mut children: Vec<_> =
        (0..leaves).map(|n| Named { id: upload.put(leaf(n)).expect("it is put"), node: false }).collect();
    let below = upload.put(node(&children[..2])).expect("it is put");
    children[0] = Named { id: below, node: true };
    children.remove(1);
    let root = Named { id: upload.put(node(&children)).expect("it is put"), node: true };
    upload.sync().expect("it is synced");
    let mut records = records.0.lock().expect("nobody panics");
    if round.is_multiple_of(3) {
        records.remove(&session);
    } else {
        records.insert(session, root);
    }
    // The upload ends after the commit.
}

#[test]
fn sweep_beside_running_sessions_keeps_reachable_blobs() {
    let (home, files) = home();
    let records = SessionRecords::default();
    let stop = AtomicBool::new(false);
    let removed = thread::scope(|scope| {
        let sweeping = scope.spawn(|| {
            let files = BlobFiles::open(home.path()).expect("it opens twice");
            let mut removed = 0;
            while !stop.load(Ordering::SeqCst) {
                let roots = || Ok::<_, BlobError>(records.roots());
                removed += files.sweep(&OPTIONS, roots, references).map_or(0, |swept| swept.removed.files);
            }
            removed
        });
        let sessions: Vec<_> = (0..6_u64)
            .map(|session| {
                let (files, records) = (&files, &records);
                scope.spawn(move || {
                    for round in 0..30 {
                        commit(files, records, session, round);
                        // Nobody else replaces this record, so the blobs that it refers to must exist.
                        let root = records.0.lock().expect("nobody panics").get(&session).copied();
                        if let Some(root) = root {
                            reachable(files, &[root]);
                        }
                    }
                })
            })
            .collect();
        for session in sessions {
            session.join().expect("nothing that it needs is missing");
        }
        stop.store(true, Ordering::SeqCst);
        sweeping.join().expect("it sweeps")
    });
    assert!(removed > 0, "there was something to remove");
    sweep(&files, &records.roots()).expect("it is swept");
    assert_eq!(listed(&files), reachable(&files, &records.roots()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn sweep_leaves_exactly_the_reachable_blobs(
        graph in prop::collection::vec(prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..4), 1..30),
        roots in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..4),
    ) {
        let (_home, files) = home();
        let mut ids: Vec<Named> = Vec::new();
        let pick = |ids: &[Named], (index, as_node): &(prop::sample::Index, bool)| {
            let picked = ids[index.index(ids.len())];
            Named { node: picked.node && *as_node, ..picked }
        };
        for (at, children) in graph.iter().enumerate() {
            let children: Vec<Named> = if ids.is_empty() { Vec::new() } else { children.iter().map(|child| pick(&ids, child)).collect() };
            let is_node = !children.is_empty();
            let bytes = if is_node { node(&children) } else { content(u64::try_from(at).expect("it is small")) };
            ids.push(Named { id: put(&files, [bytes])[0], node: is_node });
        }
        let roots: Vec<Named> = roots.iter().map(|root| pick(&ids, root)).collect();
        let expected = reachable(&files, &roots);
        let told = files.sweep(&SweepOptions { dry_run: true, ..OPTIONS }, || Ok::<_, BlobError>(roots.clone()), references);
        let swept = sweep(&files, &roots).expect("it is swept");
        prop_assert_eq!(told.expect("it is told").removed, swept.removed);
        prop_assert_eq!(listed(&files), expected);
    }
}

#[test]
fn unreadable_node_is_skipped_and_counted_if_asked_for() {
    let (_home, files) = home();
    let kept = put(&files, [content(1)])[0];
    let root = Named { id: put(&files, [node(&[Named { id: kept, node: false }])])[0], node: true };
    let unused = put(&files, [content(2)])[0];
    let missing = Named { id: BlobId::of(b"absent"), node: true };
    let options = SweepOptions { skip_unreadable: true, ..OPTIONS };
    let swept = files.sweep(&options, || Ok::<_, BlobError>(vec![root, missing]), references).expect("it is swept");
    assert_eq!((swept.unreadable, swept.removed.files), (1, 1));
    assert_eq!(listed(&files), BTreeSet::from([kept, root.id]));
    assert!(!listed(&files).contains(&unused));
}
