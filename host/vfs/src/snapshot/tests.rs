//! Tests of snapshots and of hostile blobs. The small tests are here; those with random trees are in `hostile_tests`.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use super::super::format_params::MAX_SUM;
use super::super::node::{PathExtent, SubtreeSums};
use super::super::{Errno, Limits, Usage, WriteMode, changed_paths};
use super::record::{EntryRecord, PageRecord, PartRecord};
use super::*;
use tollhouse_store::MemoryBlobs;

/// A tree with a directory of several pages with contents of all forms, a deep directory, an empty one, and a link.
pub(super) fn tree() -> Tree {
    let mut tree = Tree::new(Limits::default(), 7);
    for n in 0..50_u8 {
        let bytes: Vec<u8> = (0..u32::from(n) * 8).flat_map(|at| (at * at * u32::from(n)).to_le_bytes()).collect();
        tree.place_file(&format!("/workspace/d/file{n}"), &bytes, 0o644, n.into()).expect("within limits");
    }
    tree.place_file("/tmp/a/b/c/d/e", b"inline", 0o600, 8).expect("within limits");
    tree.create_directory("/tmp/empty", false, 9).expect("writable");
    tree.create_link("d", "/workspace/l", 9).expect("writable");
    tree.set_mode("/workspace/d/file7", 0o751).expect("writable");
    tree
}

pub(super) fn seal(tree: &Tree, blobs: &MemoryBlobs) -> SnapshotId {
    tree.seal(&mut &*blobs).expect("all is there")
}

pub(super) fn open(id: SnapshotId, blobs: &Arc<MemoryBlobs>) -> Tree {
    Tree::open(id, Arc::clone(blobs) as Arc<dyn BlobSource>, Limits::default()).expect("it is there")
}

/// Lists every blob of a snapshot, and whether it is a node.
pub(super) fn blobs_of(id: SnapshotId, blobs: &MemoryBlobs) -> Vec<(BlobId, ReferenceKind)> {
    let (mut seen, mut found) = (HashSet::new(), Vec::new());
    let mut todo = vec![Reference { id: id.blob(), kind: ReferenceKind::Node }];
    while let Some(Reference { id, kind }) = todo.pop() {
        if seen.insert(id) {
            found.push((id, kind));
            if kind == ReferenceKind::Node {
                todo.extend(references(&blobs.get(&id).expect("it is there")).expect("a node"));
            }
        }
    }
    found
}

#[test]
fn directory_is_copied_whole_beside_a_file_with_the_bytes_of_its_page() {
    let (mut tree, blobs) = (Tree::new(Limits::default(), 0), Arc::new(MemoryBlobs::default()));
    let content = b"longer than what a page holds itself".repeat(4);
    for name in ["f0", "f1", "f2"] {
        tree.place_file(&format!("/workspace/d/{name}"), &content, 0o644, 1).expect("within limits");
    }
    let has_f0 = |blob: &[u8]| match decode(blob) {
        Ok(NodeRecord::Page(entries)) => entries.iter().any(|entry| entry.name == "f0"),
        _ => false,
    };
    let stored = blobs_of(seal(&tree, &blobs), &blobs);
    let mut pages = stored.iter().map(|(id, _)| blobs.get(id).expect("it is there")).filter(|blob| has_f0(blob));
    tree.place_file("/workspace/z", &pages.next().expect("the directory has it"), 0o644, 1).expect("within limits");
    let other = Arc::new(MemoryBlobs::default());
    let copy = open(seal(&open(seal(&tree, &blobs), &blobs), &other), &other);
    assert_eq!(copy.read_file("/workspace/d/f0"), Ok(content));
}

#[test]
fn snapshot_opened_equals_the_tree_sealed() {
    let (tree, blobs) = (tree(), Arc::new(MemoryBlobs::default()));
    let id = seal(&tree, &blobs);
    let opened = open(id, &blobs);
    assert_eq!(opened.usage(), tree.usage());
    assert_eq!(changed_paths(&tree, &opened), Ok(vec![]));
    assert_eq!(opened.read_file("/workspace/l/file49"), tree.read_file("/workspace/d/file49"));
    assert_eq!(opened.stat("/workspace/d/file7", true).map(|stat| stat.mode), Ok(0o751));
    assert_eq!(id.to_string().parse::<SnapshotId>().ok(), Some(id));
    assert_eq!(serde_json::to_string(&id).ok(), Some(format!("\"{id}\"")));
}

#[test]
fn sealing_puts_what_is_not_there_and_no_more() {
    let (mut tree, blobs) = (tree(), Arc::new(MemoryBlobs::default()));
    let mut sink = CountingSink { blobs: &blobs, puts: 0 };
    let id = tree.seal(&mut sink).expect("all is there");
    let all = std::mem::take(&mut sink.puts);
    assert!(all > 50, "{all}");
    assert_eq!(tree.clone().seal(&mut sink).expect("all is there"), id);
    assert_eq!(std::mem::take(&mut sink.puts), 1, "the head");
    let opened = open(id, &blobs);
    assert_eq!(opened.seal(&mut sink).expect("all is there"), id);
    assert_eq!(std::mem::take(&mut sink.puts), 1, "it came from there");
    tree.write("/workspace/d/file9", b"new", WriteMode::Replace, 10).expect("writable");
    tree.seal(&mut sink).expect("all is there");
    // The page, the list of pages, the two directories above it of one page each, the first blob; `/workspace` may have
    // two.
    assert!(sink.puts <= 7, "{}", sink.puts);
}

#[test]
fn snapshot_sealed_for_another_store_is_stored_there_whole() {
    let (tree, blobs) = (tree(), Arc::new(MemoryBlobs::default()));
    let id = seal(&tree, &blobs);
    for tree in [tree, open(id, &blobs)] {
        let elsewhere = Arc::new(MemoryBlobs::default());
        assert_eq!(seal(&tree, &elsewhere), id);
        assert_eq!(elsewhere.len(), blobs.len());
        assert_eq!(blobs_of(id, &elsewhere).len(), blobs.len(), "and no more");
        assert_eq!(changed_paths(&open(id, &elsewhere), &tree), Ok(vec![]));
    }
}

#[test]
fn snapshot_changes_with_write_permissions() {
    let blobs = MemoryBlobs::default();
    let mut tree = tree();
    let before = seal(&tree, &blobs);
    let names = ["workspace", "d"].map(super::super::node::Name::from);
    tree.set_writable(&names, false);
    let after = seal(&tree, &blobs);
    assert_ne!(before, after);
    let opened = open(after, &Arc::new(blobs));
    assert_eq!(opened.clone().write("/workspace/d/x", b"", WriteMode::Create, 1), Err(Errno::Access));
}

#[test]
fn ids_are_those_of_a_walk_whatever_is_loaded_first() {
    let blobs = Arc::new(MemoryBlobs::default());
    let id = seal(&tree(), &blobs);
    let ids = |tree: &Tree, paths: &[&str]| -> Vec<u64> {
        paths.iter().map(|path| tree.stat(path, false).expect("there").id).collect()
    };
    let mut first = open(id, &blobs);
    let paths = ["/", "/tmp", "/tmp/a", "/tmp/a/b", "/tmp/a/b/c", "/tmp/a/b/c/d", "/tmp/a/b/c/d/e", "/tmp/empty"];
    assert_eq!(ids(&first, &paths), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(ids(&first, &["/workspace", "/workspace/d", "/workspace/d/file0", "/workspace/l"]), [9, 10, 11, 61]);
    let last = "/workspace/d/file9";
    assert_eq!(ids(&open(id, &blobs), &[last]), [60]);
    first.remove("/workspace/d/file0", false, 1).expect("writable");
    first.write("/workspace/d/file", b"", WriteMode::Create, 1).expect("writable");
    assert_eq!(ids(&first, &[last, "/workspace/d/file"]), [60, 62]);
}

#[test]
fn snapshot_with_missing_blob_fails_where_it_is_needed() {
    let blobs = Arc::new(MemoryBlobs::default());
    let id = seal(&tree(), &blobs);
    let none = Arc::new(MemoryBlobs::default());
    assert!(matches!(Tree::open(id, none, Limits::default()), Err(OpenError::Blob(BlobError::Missing(_)))));
    let plain = BlobSink::put(&mut &*blobs, b"no snapshot".to_vec()).expect("memory does not fail");
    let page = BlobSink::put(&mut &*blobs, encode(&NodeRecord::Page(Vec::new()))).expect("memory does not fail");
    for id in [plain, page] {
        let opened = Tree::open(id.into(), Arc::clone(&blobs) as Arc<dyn BlobSource>, Limits::default());
        let error = opened.expect_err("no snapshot").to_string();
        assert_eq!(error, format!("`{id}` is not a snapshot"));
    }
    let only = Arc::new(MemoryBlobs::default());
    BlobSink::put(&mut &*only, blobs.get(&id.blob()).expect("there").to_vec()).expect("memory does not fail");
    let mut opened = open(id, &only);
    assert_eq!(opened.usage(), tree().usage());
    assert_eq!(opened.stat("/", true).map(|stat| stat.size), Ok(2));
    assert_eq!(opened.stat("/tmp", true), Err(Errno::Io));
    assert_eq!(opened.write("/tmp/x", b"", WriteMode::Create, 1), Err(Errno::Io));
    assert_eq!(seal(&opened, &only), id);
}

/// Blobs that cannot be decoded, with the reason.
// The counts are those of small parts.
#[cfg(not(feature = "format-sizes"))]
#[test]
fn snapshot_record_in_another_spelling_is_refused() {
    let begins = (0..).map(|n| format!("n{n}")).find(|name| super::super::directory::begins_page(name)).expect("some");
    let long = "a".repeat(256);
    let entry = |name| EntryRecord { name, mode: 0, modified: 0, body: BodyRecord::Inline(Cow::default()) };
    let link = |target| EntryRecord { body: BodyRecord::Link(target), ..entry("a") };
    let file = |len| EntryRecord { body: BodyRecord::Stored { len, id: BlobId::of(b"") }, ..entry("a") };
    let below = |sums| EntryRecord { body: BodyRecord::Directory { sums, id: BlobId::of(b"") }, ..entry("a") };
    let one =
        SubtreeSums { entries: 1, usage: Usage { bytes: 0, entries: 1 }, reach: PathExtent { levels: 1, bytes: 2 } };
    let page = |first: &str| PageRecord { first: first.into(), sums: one, id: BlobId::of(b"") };
    let part = |len| PartRecord { len, id: BlobId::of(b"part") };
    let deep = PathExtent { levels: 513, bytes: 1_026 };
    let refused = [
        (NodeRecord::Page(vec![entry("b"), entry("a")]), "its entries are not in order"),
        (NodeRecord::Page(vec![entry("a"), entry("a")]), "its entries are not in order"),
        (NodeRecord::Page(vec![entry("a"), entry(&begins)]), "an entry belongs in another page"),
        (NodeRecord::Page(vec![entry("")]), "invalid entry name"),
        (NodeRecord::Page(vec![entry("..")]), "invalid entry name"),
        (NodeRecord::Page(vec![entry("a/b")]), "invalid entry name"),
        (NodeRecord::Page(vec![entry("a\0")]), "invalid entry name"),
        (NodeRecord::Page(vec![entry(&long)]), "invalid entry name"),
        (NodeRecord::Page(vec![EntryRecord { mode: 0o10000, ..entry("a") }]), "invalid mode"),
        (NodeRecord::Page(vec![link("")]), "invalid link target"),
        (NodeRecord::Page(vec![file(u64::MAX)]), "a file is too long"),
        (NodeRecord::Page(vec![below(SubtreeSums { reach: deep, ..one })]), "impossible sums of a directory"),
        (NodeRecord::Page(vec![below(SubtreeSums { entries: 2, ..one })]), "impossible sums of a directory"),
        (NodeRecord::Page(vec![below(SubtreeSums { entries: 0, ..one })]), "impossible sums of a directory"),
        (NodeRecord::Pages(vec![page("")]), "a list of pages needs at least two"),
        (NodeRecord::Pages(vec![page(&begins), page(&begins)]), "a page begins with a name that begins no page"),
        (
            NodeRecord::Pages(vec![page(""), page(&begins), page(&begins)]),
            "a page begins with a name that begins no page",
        ),
        (NodeRecord::Chunks(vec![]), "a list is empty"),
        (NodeRecord::Chunks(vec![part(0)]), "a part is too short or too long"),
        (NodeRecord::Chunks(vec![part(63), part(64)]), "a part is too short or too long"),
        (NodeRecord::Chunks(vec![part(1 << 20)]), "a part is too short or too long"),
        (NodeRecord::Lists(vec![part(1)]), "a list of lists needs at least two"),
        (NodeRecord::Lists(vec![part(MAX_SUM), part(1)]), "its sums are too large"),
    ];
    for (record, reason) in refused {
        assert_eq!(decode(&encode(&record)), Err(Malformed(reason)), "{record:?}");
    }
    let mut longer = encode(&NodeRecord::Page(vec![entry("a")]));
    longer.push(0);
    assert_eq!(decode(&longer), Err(Malformed("data after the end")));
    // A file of 3 bytes as a separate blob: it is read as inline bytes, so the rest is misaligned.
    assert!(decode(&encode(&NodeRecord::Page(vec![file(3)]))).is_err());
}

/// Counts the blobs put.
struct CountingSink<'a> {
    blobs: &'a MemoryBlobs,
    puts: usize,
}

impl BlobSink for CountingSink<'_> {
    fn place(&self) -> u64 {
        BlobSource::place(self.blobs)
    }

    fn put(&mut self, bytes: Vec<u8>) -> Result<BlobId, BlobError> {
        self.puts += 1;
        BlobSink::put(&mut &*self.blobs, bytes)
    }
}
