//! Snapshots: a tree as blobs that are named by what they hold, so that equal trees have equal names, and two trees share
//! what they have in common. [`Tree::seal`] puts what is not there yet, [`Tree::open`] reads one blob; the rest is read when
//! it is needed.
//!
//! What is inside:
//! - `letters`, `record`, `encode`, `decode`: node blobs, between bytes and plain values;
//! - `seal`: from a tree to blobs;
//! - `load`: from blobs to parts of a tree;
//! - `claim`: whether all blobs of a snapshot are what is claimed of them.
//!
//! # Format, version 1
//!
//! A **node blob** begins with `54 48 01` (`TH`, and the version) and its kind. *n* is a number in LEB128, in as few bytes
//! as it can have; *text* is *n* bytes of UTF-8 behind that *n*; *id* is the 32 bytes of a blake3 hash; *time* is eight
//! bytes, little-endian, nanoseconds since 1970; *mode* is an *n* of at most 0o7777. *sums* are five *n*: the entries of a
//! directory (or of a page of it); those and all that is below them; the bytes of those; names, and bytes with a `/` before
//! each name, of the longest path from the directory down.
//!
//! | kind | holds |
//! | --- | --- |
//! | `53` snapshot | *n* places, sorted by path, each: *n* names, each a *text*; `01` if writable, else `00`. Then of the root: *mode*, *time*, *sums*, *id* |
//! | `44` pages | *n* ≥ 2 pages of a directory, each: its first name, a *text*, empty for the first page; *sums*; *id* of a page |
//! | `50` page | *n* entries, sorted by name (bytewise) |
//! | `4c` lists | *n* ≥ 2 lists of chunks, each: bytes of the file in it, an *n*; *id* of chunks |
//! | `43` chunks | *n* ≥ 1 chunks of a file, each: its bytes, an *n*; *id* of a plain blob |
//!
//! An **entry** is its name, a *text*; its kind; *mode*; *time*; and then
//!
//! | kind | holds |
//! | --- | --- |
//! | `46` file | its length, an *n*; if that is at most 128, its bytes, else *id*: up to 256 KiB of a plain blob, beyond of lists or chunks |
//! | `44` directory | *sums*; *id*: if it has one page, of that, else of pages |
//! | `4c` link | its target, a *text* |
//!
//! A **plain blob** is the bytes of a file, or of a chunk of it, and no more.
//!
//! What a tree's blobs are follows from the tree: a name begins a page if the first four bytes of its blake3 hash, as a
//! little-endian number, are a multiple of 128; a chunk is the last of its list by the same rule, applied to its *id*;
//! chunks are cut by FastCDC (2020) with 64 KiB, 256 KiB, 1 MiB and normalization 1. Decoding refuses what breaks a rule
//! that can be seen, and every other spelling.

mod claim;
mod decode;
pub(super) mod encode;
mod letters;
pub(super) mod load;
mod record;
mod seal;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod wild;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub(crate) use self::claim::Claimed;
use self::decode::decode;
use self::encode::encode;
use self::record::{BodyRecord, Record, SnapshotRecord};
use self::seal::Sealer;
use super::directory::Directory;
use super::node::{Meta, Node};
use super::places::Places;
use super::scale::{INLINE_BYTES, WHOLE_BYTES};
use super::stored::Origin;
use super::tree::{Limits, Tree};
use crate::store::{BlobError, BlobId, BlobSink, BlobSource};

/// What every node blob begins with; the last byte is the version.
const HEAD: [u8; 3] = *b"TH\x01";

/// Kinds of nodes and of entries.
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

/// The name of a snapshot. Equal trees (names, kinds, modes, times, contents, and what is writable) have equal ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SnapshotId(BlobId);

impl SnapshotId {
    /// The node blob to begin at.
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

    /// Reads 64 hexadecimal digits.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// Why a blob is no node of a snapshot: what is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a node of a snapshot: {0}")]
pub struct Malformed(&'static str);

/// Why a snapshot could not be opened.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Its blob cannot be had.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The blob is there, and is no snapshot.
    #[error("`{id}` is no snapshot")]
    Malformed {
        /// Which.
        id: SnapshotId,
        /// What is wrong.
        #[source]
        source: Malformed,
    },
}

/// What a blob is that a node blob names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReferenceKind {
    /// A node blob: it names others.
    Node,
    /// Bytes of a file: they name nothing, whatever they look like.
    Plain,
}

/// A blob that a node blob names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reference {
    /// Which.
    pub id: BlobId,
    /// What it is.
    pub kind: ReferenceKind,
}

/// Which blobs a node blob names; one may be named twice.
///
/// # Errors
/// [`Malformed`], if it is no node blob.
pub fn references(blob: &[u8]) -> Result<Vec<Reference>, Malformed> {
    let node = |id| Reference { id, kind: ReferenceKind::Node };
    let plain = |id| Reference { id, kind: ReferenceKind::Plain };
    Ok(match decode(blob)? {
        Record::Snapshot(snapshot) => vec![node(snapshot.root)],
        Record::Pages(pages) => pages.iter().map(|page| node(page.id)).collect(),
        Record::Page(entries) => {
            let reference = |body: &BodyRecord<'_>| match body {
                BodyRecord::Inline(_) | BodyRecord::Link(_) => None,
                BodyRecord::Stored { len, id } if *len <= WHOLE_BYTES => Some(plain(*id)),
                BodyRecord::Stored { id, .. } | BodyRecord::Directory { id, .. } => Some(node(*id)),
            };
            entries.iter().filter_map(|entry| reference(&entry.body)).collect()
        }
        Record::Lists(lists) => lists.iter().map(|list| node(list.id)).collect(),
        Record::Chunks(chunks) => chunks.iter().map(|chunk| plain(chunk.id)).collect(),
    })
}

/// Reads a node blob and writes it again: the same bytes, or none. What a fuzzer holds against this module.
///
/// # Errors
/// [`Malformed`], if it is no node blob.
#[doc(hidden)]
pub fn rewrite(blob: &[u8]) -> Result<Vec<u8>, Malformed> {
    Ok(encode(&decode(blob)?))
}

impl Tree {
    /// Puts what the sink's place does not have of this tree yet, and names the whole. The tree remembers what is there, and
    /// so do its clones, as far as they share it: sealing again costs what has changed since.
    ///
    /// So what a place was given it must keep, for as long as it has that number: after a failure to make blobs durable,
    /// or when some were removed that no snapshot names, the sink must be of another place.
    ///
    /// # Errors
    /// What the sink says. What the source says that the tree was opened from, if that is another place, or if it does not
    /// have what is around a change in a file of more than 256 KiB.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tollhouse::store::MemoryBlobs;
    /// use tollhouse::vfs::{Limits, Tree, WriteMode};
    ///
    /// let blobs = Arc::new(MemoryBlobs::default());
    /// let mut tree = Tree::new(Limits::default(), 0);
    /// tree.write("/workspace/notes.txt", b"hello", WriteMode::Create, 1)?;
    /// let id = tree.seal(&mut &*blobs)?;
    /// // The same tree has the same name, today and in later versions.
    /// assert_eq!(id.to_string(), "7bf975adc4abbab4dadaa010dc1dc9335b341a8482955293b78b6328d783d95b");
    /// let opened = Tree::open(id, blobs, Limits::default())?;
    /// assert_eq!(opened.read_file("/workspace/notes.txt")?, b"hello");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn seal(&self, sink: &mut dyn BlobSink) -> Result<SnapshotId, BlobError> {
        let mut sealer = Sealer::new(sink);
        // What stands for no directory cannot be: the root is one.
        let Node::Directory(root) = self.root() else { return Err(BlobError::Missing(BlobId::of(&[]))) };
        let id = sealer.directory(root)?;
        let places = self.places().rules().map(|(names, writable)| (names.to_vec(), writable)).collect();
        let Meta { mode, modified, .. } = root.meta;
        let snapshot = SnapshotRecord { places, mode, modified, sums: root.sums(), root: id };
        sealer.sink.put(encode(&Record::Snapshot(snapshot))).map(SnapshotId)
    }

    /// The tree of a snapshot, which is read when it is needed: what then fails is [`Errno::Io`](super::Errno::Io), also
    /// if the blobs are not what a tree's are. Its entries are numbered anew, in the order of a walk.
    ///
    /// A snapshot of a stranger may claim any size: compare [`Tree::usage`] with what is allowed before all of it is read.
    ///
    /// # Errors
    /// If the first blob is missing, or is none that a snapshot begins with.
    pub fn open(id: SnapshotId, source: Arc<dyn BlobSource>, limits: Limits) -> Result<Tree, OpenError> {
        let malformed = |source| OpenError::Malformed { id, source };
        let blob = source.get(&id.0)?;
        let Record::Snapshot(snapshot) = decode(&blob).map_err(malformed)? else {
            return Err(malformed(Malformed("it is another node")));
        };
        let SnapshotRecord { places, mode, modified, sums, root } = snapshot;
        let meta = Meta { id: 1, mode, modified };
        let root = Node::Directory(Arc::new(Directory::stored(meta, sums, root, &Origin::new(source))));
        // No overflow: a decoded sum is far below.
        Ok(Tree::assemble(root, places.into_iter().collect::<Places>(), limits, sums.usage.entries + 2))
    }
}

/// Puts a directory at the sink's place.
#[cfg(test)]
pub(super) fn seal_directory(directory: &Directory, sink: &mut dyn BlobSink) -> Result<BlobId, BlobError> {
    Sealer::new(sink).directory(directory)
}

const _: () = assert!(INLINE_BYTES < WHOLE_BYTES);
