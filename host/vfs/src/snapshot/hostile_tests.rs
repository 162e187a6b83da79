//! Tests with random trees and with wrong blobs: missing, flipped, truncated, lying. Whatever a source returns, nothing
//! panics, and a failed operation leaves the tree unchanged.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use proptest::prelude::*;

use super::super::node::SubtreeSums;
use super::super::{Errno, Kind, Limits, Usage, WriteMode, changed_paths};
use super::record::{EntryRecord, PageRecord};
use super::tests::{blobs_of, open, seal, tree};
use super::*;
use tollhouse_store::MemoryBlobs;

/// A source that returns wrong blobs.
#[derive(Debug)]
struct BrokenSource {
    blobs: Arc<MemoryBlobs>,
    /// Replacements of blobs; `None` if the blob is reported as missing.
    instead: HashMap<BlobId, Option<Bytes>>,
}

impl BlobSource for BrokenSource {
    fn get(&self, id: &BlobId) -> Result<Bytes, BlobError> {
        match self.instead.get(id) {
            Some(bytes) => bytes.clone().ok_or(BlobError::Missing(*id)),
            None => self.blobs.get(id),
        }
    }

    fn place(&self) -> u64 {
        BlobSource::place(&*self.blobs)
    }
}

fn broken(
    id: SnapshotId,
    blobs: &Arc<MemoryBlobs>,
    instead: HashMap<BlobId, Option<Bytes>>,
) -> Result<Tree, OpenError> {
    Tree::open(id, Arc::new(BrokenSource { blobs: Arc::clone(blobs), instead }), Limits::default())
}

/// Reads everything below a path; returns its usage, or the first error.
fn walk(tree: &Tree, path: &str) -> Result<Usage, Errno> {
    let mut sum = Usage::default();
    for entry in tree.read_directory(path)? {
        let path = format!("{}/{}", path.trim_end_matches('/'), entry.name);
        let stat = tree.stat(&path, false)?;
        let below = match stat.kind {
            Kind::Directory => walk(tree, &path)?,
            Kind::File => Usage { bytes: tree.read_file(&path)?.len() as u64, entries: 0 },
            Kind::Link => Usage { bytes: tree.read_link(&path)?.len() as u64, entries: 0 },
        };
        sum = Usage { bytes: sum.bytes + below.bytes, entries: sum.entries + below.entries + 1 };
    }
    Ok(sum)
}

/// Returns true if the readable parts are as large as claimed, or there is an error.
fn sound(id: SnapshotId, blobs: &Arc<MemoryBlobs>, blob: BlobId, bytes: Vec<u8>) -> bool {
    let Ok(tree) = broken(id, blobs, HashMap::from([(blob, Some(bytes.into()))])) else { return true };
    match walk(&tree, "/") {
        Ok(usage) => usage == tree.usage(),
        Err(errno) => errno == Errno::Io,
    }
}

#[test]
fn flipped_and_cut_blobs_give_errors_or_another_sound_tree() {
    let blobs = Arc::new(MemoryBlobs::default());
    let id = seal(&tree(), &blobs);
    for (blob, kind) in blobs_of(id, &blobs) {
        let bytes = blobs.get(&blob).expect("there").to_vec();
        let flipped = |at: usize| {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            flipped
        };
        for at in (0..bytes.len()).filter(|_| kind == ReferenceKind::Node) {
            let rewritten = rewrite(&flipped(at));
            assert!(rewritten.is_err() || rewritten == Ok(flipped(at)), "two spellings");
        }
        // Not for each bit, since walking a tree takes long.
        for at in (0..bytes.len()).step_by(bytes.len().div_ceil(5)) {
            assert!(sound(id, &blobs, blob, flipped(at)), "{blob} flipped at {at}");
            assert!(sound(id, &blobs, blob, bytes[..at].to_vec()), "{blob} cut at {at}");
        }
    }
}

/// Changes to the claims of a node about the nodes that it refers to.
fn lies<'a>(record: &NodeRecord<'a>) -> Vec<NodeRecord<'a>> {
    let twist: [fn(&mut SubtreeSums); 5] = [
        |sums| sums.entries += 1,
        |sums| sums.usage.entries += 1,
        |sums| sums.usage.bytes ^= 1,
        |sums| sums.reach.levels += 1,
        |sums| sums.reach.bytes += 1,
    ];
    let mut lies = Vec::new();
    let mut add = |record: NodeRecord<'a>| lies.push(record);
    match record {
        NodeRecord::Snapshot(snapshot) => twist.iter().for_each(|twist| {
            let mut snapshot = snapshot.clone();
            twist(&mut snapshot.sums);
            add(NodeRecord::Snapshot(snapshot));
        }),
        NodeRecord::Pages(pages) => twist.iter().for_each(|twist| {
            for at in 0..pages.len() {
                let mut pages: Vec<PageRecord> = pages.clone();
                twist(&mut pages[at].sums);
                add(NodeRecord::Pages(pages));
            }
        }),
        NodeRecord::Page(entries) => twist.iter().for_each(|twist| {
            for at in 0..entries.len() {
                let mut entries: Vec<EntryRecord<'a>> = entries.clone();
                match &mut entries[at].body {
                    BodyRecord::Directory { sums, .. } => twist(sums),
                    BodyRecord::Stored { len, .. } => *len ^= 1,
                    BodyRecord::Inline(_) | BodyRecord::Link(_) => continue,
                }
                add(NodeRecord::Page(entries));
            }
        }),
        NodeRecord::Lists(parts) | NodeRecord::Chunks(parts) => {
            for at in 0..parts.len() {
                let mut parts = parts.clone();
                parts[at].len += 1;
                add(if matches!(record, NodeRecord::Lists(_)) {
                    NodeRecord::Lists(parts)
                } else {
                    NodeRecord::Chunks(parts)
                });
            }
        }
    }
    lies
}

#[test]
fn snapshot_with_false_sums_is_an_error_when_walked() {
    let blobs = Arc::new(MemoryBlobs::default());
    let id = seal(&tree(), &blobs);
    let mut tried = 0;
    for (blob, kind) in blobs_of(id, &blobs) {
        if kind == ReferenceKind::Plain {
            continue;
        }
        let bytes = blobs.get(&blob).expect("there");
        for lie in lies(&decode(&bytes).expect("a node")) {
            tried += 1;
            let opened = broken(id, &blobs, HashMap::from([(blob, Some(encode(&lie).into()))]));
            let told = opened.map_err(|_| Errno::Io).and_then(|tree| walk(&tree, "/"));
            assert_eq!(told, Err(Errno::Io), "{lie:?}");
        }
    }
    assert!(tried > 200, "{tried}");
}

/// Comparing trees detects missing and lying blobs too, on either side, with loaded and with unloaded parts: all pages
/// are different.
#[test]
fn comparison_of_damaged_snapshots_is_an_error() {
    let blobs = Arc::new(MemoryBlobs::default());
    let (id, mut touched) = (seal(&tree(), &blobs), tree());
    for path in (0..50).map(|n| format!("/workspace/d/file{n}")).chain(["/tmp/a/b/c/d/e".to_owned()]) {
        touched.set_modified(&path, 1_000).expect("writable");
    }
    let other = seal(&touched, &blobs);
    let mut tried = 0;
    for (blob, _) in blobs_of(id, &blobs) {
        let bytes = blobs.get(&blob).expect("there");
        let Ok(record @ (NodeRecord::Snapshot(_) | NodeRecord::Pages(_) | NodeRecord::Page(_))) = decode(&bytes) else {
            continue;
        };
        let shared = blobs_of(other, &blobs).iter().any(|(known, _)| *known == blob);
        let lies = lies(&record).into_iter().map(|lie| Some(encode(&lie).into()));
        for instead in lies.chain([None]).filter(|_| !shared) {
            tried += 1;
            let Ok(wrong) = broken(id, &blobs, HashMap::from([(blob, instead)])) else { continue };
            for right in [open(other, &blobs), touched.clone()] {
                assert_eq!(changed_paths(&wrong, &right), Err(Errno::Io), "{record:?}");
                assert_eq!(changed_paths(&right, &wrong), Err(Errno::Io), "{record:?}");
                assert_eq!(right.changes_since(&wrong), Err(Errno::Io), "{record:?}");
            }
        }
    }
    assert!(tried > 200, "{tried}");
}

#[test]
fn snapshot_page_replaced_by_another_is_refused() {
    let blobs = Arc::new(MemoryBlobs::default());
    let id = seal(&tree(), &blobs);
    let nodes: Vec<_> = blobs_of(id, &blobs).into_iter().filter(|(_, kind)| *kind == ReferenceKind::Node).collect();
    for (blob, _) in &nodes {
        for (other, _) in nodes.iter().filter(|(other, _)| other != blob) {
            let bytes = blobs.get(other).expect("there").to_vec();
            assert!(sound(id, &blobs, *blob, bytes), "{other} for {blob}");
        }
    }
}

fn path(n: u8) -> String {
    match n % 32 {
        n @ 0..20 => format!("/workspace/d/file{n}"),
        n @ 20..28 => format!("/workspace/n/{n}"),
        28 => "/workspace/d".to_owned(),
        29 => "/tmp/a/b/c".to_owned(),
        30 => "/tmp/a/b/c/d/e".to_owned(),
        _ => "/workspace/n".to_owned(),
    }
}

/// Performs one of all operations of a guest.
fn act(tree: &mut Tree, (kind, a, b, size): (u8, u8, u8, u16), now: u64) -> Result<Vec<u8>, Errno> {
    let (path, other) = (path(a), path(b));
    let bytes: Vec<u8> = (0..size % 2_000).flat_map(|at| at.wrapping_mul(size).to_le_bytes()).collect();
    let done = match kind % 12 {
        0 => tree.write(&path, &bytes, WriteMode::Replace, now),
        1 | 2 => tree.write(&path, &bytes, WriteMode::Append, now),
        3 => tree.write_at(&path, u64::from(size % 3_000), &bytes, now),
        4 => tree.truncate(&path, u64::from(size % 6_000), now),
        5 => tree.create_directory(&path, true, now),
        6 => tree.remove(&path, size % 2 == 0, now),
        7 => tree.rename(&path, &other, now),
        8 => tree.create_link(&other, &path, now),
        9 => tree.copy(&path, &other, now),
        10 => tree.set_mode(&path, u32::from(size % 0o1000)),
        _ => return tree.read(&path, u64::from(size), 500),
    };
    done.map(|()| Vec::new())
}

type Acts = Vec<(u8, u8, u8, u16)>;

fn acts(most: usize) -> impl Strategy<Value = Acts> {
    prop::collection::vec((any::<u8>(), any::<u8>(), any::<u8>(), any::<u16>()), 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// The same operations, on a tree that is sealed and opened at random points and on one that never is, result in
    /// the same tree, judged by everything visible and by its name.
    #[test]
    fn sealing_and_opening_change_nothing(work in acts(40), points in any::<u64>()) {
        let blobs = Arc::new(MemoryBlobs::default());
        let (mut plain, mut stored) = (tree(), tree());
        let mut kept = Vec::new();
        for (at, work) in work.iter().enumerate() {
            if points >> (at % 64) & 1 == 1 {
                let id = seal(&stored, &blobs);
                prop_assert_eq!(seal(&plain, &MemoryBlobs::default()), id);
                kept.push((id, stored.clone()));
                if at % 2 == 1 {
                    stored = open(id, &blobs);
                }
            }
            prop_assert_eq!(act(&mut plain, *work, 100 + at as u64), act(&mut stored, *work, 100 + at as u64));
        }
        let id = seal(&stored, &blobs);
        prop_assert_eq!(seal(&plain, &MemoryBlobs::default()), id);
        prop_assert_eq!(changed_paths(&plain, &open(id, &blobs)), Ok(vec![]));
        prop_assert_eq!(walk(&open(id, &blobs), "/"), Ok(plain.usage()));
        for ((old, was), (new, is)) in kept.iter().zip(kept.iter().skip(1)).take(2) {
            let loaded = |id| {
                let tree = open(id, &blobs);
                walk(&tree, "/").map(|_| tree)
            };
            let (changes, edits) = (changed_paths(was, is), is.changes_since(was));
            for old in [open(*old, &blobs), loaded(*old).expect("all is there")] {
                for new in [open(*new, &blobs), loaded(*new).expect("all is there")] {
                    prop_assert_eq!(&changed_paths(&old, &new), &changes);
                    prop_assert_eq!(&new.changes_since(&old), &edits);
                }
            }
        }
        for (id, then) in kept {
            prop_assert_eq!(seal(&then, &MemoryBlobs::default()), id, "a snapshot never changes");
            // The differences of separately opened trees equal those of trees in memory, and as edits they turn one
            // into the other.
            let edits = open(id, &blobs).changes_since(&plain).expect("all is there");
            let mut made = plain.clone();
            prop_assert_eq!(made.apply(&edits), Ok(()));
            prop_assert_eq!(seal(&made, &blobs), id);
        }
    }

    /// With blobs missing, an operation fails with `Io` and changes nothing, or has its normal effect. When the tree is
    /// sealed, only the chunks beside changed ones may be missing.
    #[test]
    fn tree_on_failing_store_fails_or_has_its_normal_effect(work in acts(30), gone in prop::collection::vec(any::<prop::sample::Index>(), 1..6)) {
        let blobs = Arc::new(MemoryBlobs::default());
        let id = seal(&tree(), &blobs);
        let all: Vec<_> = blobs_of(id, &blobs).into_iter().skip(1).collect();
        let instead: HashMap<_, _> = gone.iter().map(|index| (index.get(&all).0, None)).collect();
        let mut broken = broken(id, &blobs, instead).expect("the head is there");
        let mut whole = open(id, &blobs);
        for (work, now) in work.iter().zip(100..) {
            let before = seal(&broken, &blobs);
            let done = act(&mut broken, *work, now);
            let after = broken.seal(&mut &*blobs);
            if done == Err(Errno::Io) {
                prop_assert_eq!(after.ok(), Some(before));
                prop_assert_eq!(broken.usage(), whole.usage());
            } else {
                prop_assert_eq!(done, act(&mut whole, *work, now));
                let Ok(after) = after else {
                    let paths = [path(work.1), path(work.2)];
                    let long = |path: &String| whole.stat(path, true).is_ok_and(|stat| stat.size > WHOLE_BYTES);
                    prop_assert!(paths.iter().any(long), "{:?}", work);
                    return Ok(());
                };
                prop_assert_eq!(after, seal(&whole, &blobs));
            }
        }
    }

    #[test]
    fn snapshot_decoder_with_arbitrary_bytes_does_not_panic(kind in prop::sample::select(b"SDPLC".to_vec()), rest in prop::collection::vec(any::<u8>(), 0..200)) {
        let bytes = [&MAGIC[..], &[kind], &rest].concat();
        prop_assert!(rewrite(&bytes).is_err() || rewrite(&bytes) == Ok(bytes.clone()));
        prop_assert_eq!(references(&bytes).is_ok(), decode(&bytes).is_ok());
    }
}
