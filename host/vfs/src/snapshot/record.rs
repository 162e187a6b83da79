//! Node blobs as plain values. Names and bytes are borrowed from the blob, since sometimes only a few entries of a page
//! are kept.

use std::borrow::Cow;

use super::super::node::{Name, PathExtent, SubtreeSums, Usage};
use tollhouse_store::BlobId;

/// A decoded node blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NodeRecord<'a> {
    Snapshot(SnapshotRecord),
    /// The pages of a directory that has more than one.
    Pages(Vec<PageRecord>),
    /// Entries of a directory: one page, or all of them.
    Page(Vec<EntryRecord<'a>>),
    /// The lists of a file's chunks, if there is more than one.
    Lists(Vec<PartRecord>),
    /// Chunks of a file: one list, or all of them.
    Chunks(Vec<PartRecord>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SnapshotRecord {
    /// Write rules, sorted by path.
    pub(super) write_rules: Vec<(Vec<Name>, bool)>,
    pub(super) mode: u32,
    pub(super) modified: u64,
    pub(super) sums: SubtreeSums,
    pub(super) root: BlobId,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageRecord {
    pub(super) first: Name,
    pub(super) sums: SubtreeSums,
    pub(super) id: BlobId,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EntryRecord<'a> {
    pub(super) name: &'a str,
    pub(super) mode: u32,
    pub(super) modified: u64,
    pub(super) body: BodyRecord<'a>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BodyRecord<'a> {
    /// A file with its bytes.
    Inline(Cow<'a, [u8]>),
    /// A file that is stored as a blob or in chunks.
    Stored {
        len: u64,
        id: BlobId,
    },
    Directory {
        sums: SubtreeSums,
        id: BlobId,
    },
    Link(&'a str),
}

/// A part of a file: a chunk, or a list of chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PartRecord {
    pub(super) len: u64,
    pub(super) id: BlobId,
}

impl EntryRecord<'_> {
    /// The contribution of the entry to the sums of its directory.
    pub(super) fn sums(&self) -> SubtreeSums {
        self.body.sums(self.name.len())
    }
}

impl BodyRecord<'_> {
    /// The contribution of an entry to the sums of its directory, given the length of its name in bytes.
    #[inline]
    pub(super) fn sums(&self, name: usize) -> SubtreeSums {
        let (bytes, below, reach) = match self {
            // The lengths are in memory: no platform has a `usize` wider than 64 bits.
            BodyRecord::Inline(bytes) => (bytes.len() as u64, 0, PathExtent::default()),
            BodyRecord::Link(target) => (target.len() as u64, 0, PathExtent::default()),
            BodyRecord::Stored { len, .. } => (*len, 0, PathExtent::default()),
            BodyRecord::Directory { sums, .. } => (sums.usage.bytes, sums.usage.entries, sums.reach),
        };
        let usage = Usage { bytes, entries: below.saturating_add(1) };
        SubtreeSums { entries: 1, usage, reach: reach.above(name) }
    }
}

/// Adds up sums; returns `None` if the result is more than a tree may claim.
pub(super) fn total(sums: impl IntoIterator<Item = SubtreeSums>) -> Option<SubtreeSums> {
    sums.into_iter().try_fold(SubtreeSums::default(), SubtreeSums::and)
}
