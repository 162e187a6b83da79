//! Snapshots: a tree stored as blobs that are named by their contents, so that equal trees have equal names, and trees
//! share their common parts. [`Tree::seal`] stores missing parts, [`Tree::open`] reads one blob; the others are read on
//! demand.
//!
//! Modules:
//! - `codec`, `record`, `encode`, `decode`: conversion between the bytes of node blobs and plain values;
//! - `seal`: conversion of a tree to blobs;
//! - `load`: conversion of blobs to parts of a tree;
//! - `claim`: checks that all blobs of a snapshot are what is claimed of them.
//!
//! # Format, version 1
//!
//! A **node blob** begins with `54 48 01` (`TH`, and the version) and its kind. *n* is a number in LEB128 in its
//! shortest encoding; *text* is *n* bytes of UTF-8 after that *n*; *id* is the 32 bytes of a blake3 hash; *time* is
//! eight bytes, little-endian, nanoseconds since 1970; *mode* is an *n* of at most 0o7777. *sums* are five *n*: the
//! entries of a directory (or of a page of it); those and everything below them; the bytes of those; the names of the
//! path with the most names from the directory down; and the bytes, with a `/` before each name, of the longest one.
//!
//! | kind | contents |
//! | --- | --- |
//! | `53` snapshot | *n* write rules, sorted by path, each: *n* names, each a *text*; `01` if writable, else `00`. Then of the root: *mode*, *time*, *sums*, *id* |
//! | `44` pages | *n* ≥ 2 pages of a directory, each: its first name, a *text*, empty for the first page; *sums*; *id* of a page |
//! | `50` page | *n* entries, sorted by name (bytewise) |
//! | `4c` lists | *n* ≥ 2 lists of chunks, each: bytes of the file in it, an *n*; *id* of chunks |
//! | `43` chunks | *n* ≥ 1 chunks of a file, each: its bytes, an *n*; *id* of a plain blob |
//!
//! An **entry** is its name, a *text*; its kind; *mode*; *time*; and then
//!
//! | kind | contents |
//! | --- | --- |
//! | `46` file | its length, an *n*; if that is at most 128, its bytes, else *id*: up to 256 KiB of a plain blob, for longer files of lists or chunks |
//! | `44` directory | *sums*; *id*: of its page if it has one page, else of pages |
//! | `4c` link | its target, a *text* |
//!
//! A **plain blob** contains exactly the bytes of a file, or of a chunk of it.
//!
//! The blobs of a tree are determined by the tree: a name begins a page if the first four bytes of its blake3 hash, as
//! a little-endian number, are a multiple of 128; a chunk is the last of its list by the same rule, applied to its
//! *id*; chunks are cut by FastCDC (2020) with 64 KiB, 256 KiB, 1 MiB and normalization 1. Decoding rejects violations
//! of these rules that are visible in a blob, and every alternative encoding.

mod claim;
mod codec;
mod decode;
pub(super) mod encode;
#[cfg(test)]
mod hostile_tests;
pub(super) mod load;
mod record;
mod seal;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use self::claim::Claimed;
use self::decode::decode;
use self::encode::encode;
use self::record::{BodyRecord, NodeRecord, SnapshotRecord};
use self::seal::TreeSealer;
use super::blob_ref::BlobOrigin;
use super::directory::DirectoryNode;
use super::format_params::{INLINE_BYTES, WHOLE_BYTES};
use super::node::{EntryMeta, TreeNode};
use super::tree::{Limits, Tree};
use super::write_rules::WriteRules;
use tollhouse_store::{BlobError, BlobId, BlobSink, BlobSource};

/// The first bytes of every node blob; the last one is the version.
const MAGIC: [u8; 3] = *b"TH\x01";

/// Tags of the kinds of nodes and entries.
mod tag {
    pub(super) const SNAPSHOT: u8 = b'S';
    pub(super) const PAGES: u8 = b'D';
    pub(super) const PAGE: u8 = b'P';
    pub(super) const LISTS: u8 = b'L';
    pub(super) const CHUNKS: u8 = b'C';
    pub(super) const FILE: u8 = b'F';
    pub(super) const DIRECTORY: u8 = b'D';
    pub(super) const LINK: u8 = b'L';
}

/// The name of a snapshot. Equal trees (names, kinds, modes, times, contents, and write rules) have equal names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SnapshotId(BlobId);

impl SnapshotId {
    /// Name of the snapshot's first node blob.
    #[must_use]
    pub fn blob(&self) -> BlobId {
        self.0
    }
}

impl From<BlobId> for SnapshotId {
    fn from(id: BlobId) -> Self {
        Self(id)
    }
}

impl fmt::Display for SnapshotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for SnapshotId {
    type Err = <BlobId as FromStr>::Err;

    /// Parses 64 hexadecimal digits.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// A blob is not a valid node of a snapshot; describes what is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a node of a snapshot: {0}")]
pub struct Malformed(&'static str);

/// An error of opening a snapshot.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The first blob cannot be read.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The blob exists, but is not a snapshot.
    #[error("`{id}` is not a snapshot")]
    Malformed {
        /// Name of the blob.
        id: SnapshotId,
        /// Description of what is wrong.
        #[source]
        source: Malformed,
    },
}

/// The kind of a blob that a node blob refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReferenceKind {
    /// A node blob, which refers to others.
    Node,
    /// Bytes of a file, which never count as references, whatever they look like.
    Plain,
}

/// A reference from a node blob to another blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reference {
    /// Name of the blob.
    pub id: BlobId,
    /// Kind of the blob.
    pub kind: ReferenceKind,
}

/// Lists the references of a node blob; a blob may be listed twice.
///
/// # Errors
/// [`Malformed`], if it is not a node blob.
pub fn references(blob: &[u8]) -> Result<Vec<Reference>, Malformed> {
    let node = |id| Reference { id, kind: ReferenceKind::Node };
    let plain = |id| Reference { id, kind: ReferenceKind::Plain };
    Ok(match decode(blob)? {
        NodeRecord::Snapshot(snapshot) => vec![node(snapshot.root)],
        NodeRecord::Pages(pages) => pages.iter().map(|page| node(page.id)).collect(),
        NodeRecord::Page(entries) => {
            let reference = |body: &BodyRecord<'_>| match body {
                BodyRecord::Inline(_) | BodyRecord::Link(_) => None,
                BodyRecord::Stored { len, id } if *len <= WHOLE_BYTES => Some(plain(*id)),
                BodyRecord::Stored { id, .. } | BodyRecord::Directory { id, .. } => Some(node(*id)),
            };
            entries.iter().filter_map(|entry| reference(&entry.body)).collect()
        }
        NodeRecord::Lists(lists) => lists.iter().map(|list| node(list.id)).collect(),
        NodeRecord::Chunks(chunks) => chunks.iter().map(|chunk| plain(chunk.id)).collect(),
    })
}

/// Decodes a node blob and encodes it again: yields the same bytes or an error. Used by fuzz tests.
///
/// # Errors
/// [`Malformed`], if it is not a node blob.
#[doc(hidden)]
pub fn rewrite(blob: &[u8]) -> Result<Vec<u8>, Malformed> {
    Ok(encode(&decode(blob)?))
}

impl Tree {
    /// Stores the parts of this tree that the sink's place does not have yet, and returns the name of the whole. The
    /// tree remembers which parts are stored, and so do its clones for the parts that they share: sealing again costs only
    /// what has changed since.
    ///
    /// So a place must keep what it was given, for as long as it has that number: after a failure to make blobs
    /// durable, or after unreferenced blobs were removed, the sink must have another place.
    ///
    /// # Errors
    /// Errors of the sink. Errors of the source that the tree was opened from, if that is another place, or if it does
    /// not have the surroundings of a change in a file of more than 256 KiB.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tollhouse_store::MemoryBlobs;
    /// use tollhouse_vfs::{Limits, Tree, WriteMode};
    ///
    /// let blobs = Arc::new(MemoryBlobs::default());
    /// let mut tree = Tree::new(Limits::default(), 0);
    /// tree.write("/workspace/notes.txt", b"hello", WriteMode::Create, 1)?;
    /// let id = tree.seal(&mut &*blobs)?;
    /// // The same tree has the same name, now and in later versions.
    /// assert_eq!(id.to_string(), "7bf975adc4abbab4dadaa010dc1dc9335b341a8482955293b78b6328d783d95b");
    /// let opened = Tree::open(id, blobs, Limits::default())?;
    /// assert_eq!(opened.read_file("/workspace/notes.txt")?, b"hello");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn seal(&self, sink: &mut dyn BlobSink) -> Result<SnapshotId, BlobError> {
        let mut sealer = TreeSealer::new(sink);
        // Cannot happen: the root is a directory.
        let TreeNode::Directory(root) = self.root() else { return Err(BlobError::Missing(BlobId::of(&[]))) };
        let id = sealer.directory(root)?;
        let write_rules = self.write_rules().rules().map(|(names, writable)| (names.to_vec(), writable)).collect();
        let EntryMeta { mode, modified, .. } = root.meta;
        let snapshot = SnapshotRecord { write_rules, mode, modified, sums: root.sums(), root: id };
        sealer.sink.put(encode(&NodeRecord::Snapshot(snapshot))).map(SnapshotId)
    }

    /// Opens the tree of a snapshot, which is read on demand: a failure to read it later is
    /// [`Errno::Io`](super::Errno::Io), as are blobs that are not those of a tree. Its entries are numbered in the
    /// order of a walk.
    ///
    /// An untrusted snapshot may claim any size: compare [`Tree::usage`] with what is allowed before reading all of it.
    ///
    /// # Errors
    /// If the first blob is missing, or is not the first blob of a snapshot.
    pub fn open(id: SnapshotId, source: Arc<dyn BlobSource>, limits: Limits) -> Result<Tree, OpenError> {
        let malformed = |source| OpenError::Malformed { id, source };
        let blob = source.get(&id.0)?;
        let NodeRecord::Snapshot(snapshot) = decode(&blob).map_err(malformed)? else {
            return Err(malformed(Malformed("a node of another kind")));
        };
        let SnapshotRecord { write_rules, mode, modified, sums, root } = snapshot;
        let meta = EntryMeta { id: 1, mode, modified };
        let root = TreeNode::Directory(Arc::new(DirectoryNode::stored(meta, sums, root, &BlobOrigin::new(source))));
        // No overflow: a decoded sum is far below the maximum.
        Ok(Tree::assemble(root, write_rules.into_iter().collect::<WriteRules>(), limits, sums.usage.entries + 2))
    }
}

/// Stores a directory at the sink's place.
#[cfg(test)]
pub(super) fn seal_directory(directory: &DirectoryNode, sink: &mut dyn BlobSink) -> Result<BlobId, BlobError> {
    TreeSealer::new(sink).directory(directory)
}

const _: () = assert!(INLINE_BYTES < WHOLE_BYTES);
