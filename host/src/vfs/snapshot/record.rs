//! What a node blob says, as plain values. Names and bytes are borrowed from the blob: of a page that is read, a few entries
//! are kept at times.

use std::borrow::Cow;

use super::super::node::{Name, Reach, Sums, Usage};
use crate::store::BlobId;

/// A node blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Record<'a> {
    Snapshot(SnapshotRecord),
    /// The pages of a directory that has more than one.
    Pages(Vec<PageRecord>),
    /// Entries of a directory: a page, or all.
    Page(Vec<EntryRecord<'a>>),
    /// The lists of a file's chunks, if there is more than one.
    Lists(Vec<PartRecord>),
    /// Chunks of a file: a list, or all.
    Chunks(Vec<PartRecord>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SnapshotRecord {
    /// Sorted by path.
    pub(super) places: Vec<(Vec<Name>, bool)>,
    pub(super) mode: u32,
    pub(super) modified: u64,
    pub(super) sums: Sums,
    pub(super) root: BlobId,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageRecord {
    pub(super) first: Name,
    pub(super) sums: Sums,
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
    /// A file, with its bytes.
    Inline(Cow<'a, [u8]>),
    /// A file that is a blob, or chunks.
    Stored {
        len: u64,
        id: BlobId,
    },
    Directory {
        sums: Sums,
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
    /// What it adds to its directory.
    pub(super) fn sums(&self) -> Sums {
        self.body.sums(self.name.len())
    }
}

impl BodyRecord<'_> {
    /// What an entry with a name of so many bytes adds to its directory.
    #[inline]
    pub(super) fn sums(&self, name: usize) -> Sums {
        let (bytes, below, reach) = match self {
            // Lengths in memory: no platform has a `usize` wider than 64 bits.
            BodyRecord::Inline(bytes) => (bytes.len() as u64, 0, Reach::default()),
            BodyRecord::Link(target) => (target.len() as u64, 0, Reach::default()),
            BodyRecord::Stored { len, .. } => (*len, 0, Reach::default()),
            BodyRecord::Directory { sums, .. } => (sums.usage.bytes, sums.usage.entries, sums.reach),
        };
        let usage = Usage { bytes, entries: below.saturating_add(1) };
        Sums { entries: 1, usage, reach: reach.above(name) }
    }
}

/// All sums together; none if that is more than a tree may claim.
pub(super) fn total(sums: impl IntoIterator<Item = Sums>) -> Option<Sums> {
    sums.into_iter().try_fold(Sums::default(), Sums::and)
}
