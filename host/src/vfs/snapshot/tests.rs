//! What snapshots promise, and what hostile blobs get.

use std::collections::HashSet;
use std::sync::Arc;

use super::super::{Errno, Limits, WriteMode, changed_paths};
use super::*;
use crate::store::MemoryBlobs;

fn tree() -> Tree {
    let mut tree = Tree::new(Limits::default(), 0);
    for n in 0..50_u8 {
        let path = format!("/workspace/d/file{n}");
        tree.write_parents(&path, &vec![n; usize::from(n) * 40], u64::from(n));
    }
    tree.create_link("d", "/workspace/l", 9).expect("writable");
    tree.set_mode("/workspace/d/file7", 0o751).expect("writable");
    tree
}

impl Tree {
    fn write_parents(&mut self, path: &str, bytes: &[u8], now: u64) {
        let (parent, _) = path.rsplit_once('/').expect("absolute");
        self.create_directory(parent, true, now).expect("writable");
        self.write(path, bytes, WriteMode::Replace, now).expect("writable");
    }
}

fn seal(tree: &Tree, blobs: &MemoryBlobs) -> SnapshotId {
    tree.seal(&mut &*blobs).expect("memory does not fail")
}

fn open(id: SnapshotId, blobs: &Arc<MemoryBlobs>) -> Tree {
    Tree::open(id, Arc::clone(blobs) as Arc<dyn BlobSource>, Limits::default()).expect("it is there")
}

#[test]
fn what_is_opened_is_what_was_sealed() {
    let (tree, blobs) = (tree(), Arc::new(MemoryBlobs::default()));
    let id = seal(&tree, &blobs);
    let opened = open(id, &blobs);
    assert_eq!(opened.usage(), tree.usage());
    assert_eq!(changed_paths(&tree, &opened), Ok(vec![]));
    assert_eq!(opened.read_file("/workspace/l/file49"), Ok(vec![49; 49 * 40]));
    assert_eq!(opened.stat("/workspace/d/file7", true).map(|stat| stat.mode), Ok(0o751));
    assert_eq!(seal(&opened, &blobs), id);
    let elsewhere = Arc::new(MemoryBlobs::default());
    assert_eq!(seal(&open(id, &blobs), &elsewhere), id, "all is brought over");
    assert_eq!(elsewhere.len(), blobs.len());
    assert_eq!(changed_paths(&open(id, &elsewhere), &tree), Ok(vec![]));
}

#[test]
fn every_blob_is_referenced() {
    let (tree, blobs) = (tree(), Arc::new(MemoryBlobs::default()));
    let id = seal(&tree, &blobs);
    let mut seen = HashSet::new();
    let mut todo = vec![Reference { id: id.blob(), kind: ReferenceKind::Node }];
    while let Some(reference) = todo.pop() {
        if seen.insert(reference.id) && reference.kind == ReferenceKind::Node {
            todo.extend(references(&blobs.get(&reference.id).expect("it is there")).expect("a node"));
        }
    }
    assert_eq!(seen.len(), blobs.len());
}

#[test]
fn a_missing_blob_is_an_error_of_what_needs_it() {
    let (tree, blobs) = (tree(), Arc::new(MemoryBlobs::default()));
    let id = seal(&tree, &blobs);
    let none = Arc::new(MemoryBlobs::default());
    assert!(matches!(Tree::open(id, none, Limits::default()), Err(OpenError::Blob(BlobError::Missing(_)))));
    let root = BlobSink::put(&mut &*blobs, b"no snapshot".to_vec()).expect("memory does not fail");
    let opened = Tree::open(root.into(), Arc::clone(&blobs) as Arc<dyn BlobSource>, Limits::default());
    assert!(matches!(opened, Err(OpenError::Malformed { .. })));
    let _ = Errno::Io;
}
