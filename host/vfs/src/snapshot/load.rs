//! Loads parts of a tree from blobs on demand. The contents of a blob must match the claims where it is referred to, so
//! that no tree is deeper or larger than its root claims, whoever created the blobs.

use std::cmp::Ordering;
use std::mem;
use std::sync::Arc;

use super::super::blob_ref::BlobOrigin;
use super::super::chunk::FileChunk;
use super::super::compare::EntryDifference;
use super::super::content::Content;
use super::super::directory::{DirectoryNode, DirectoryPage, Entries, PageSlot, UnloadedPart, begins_page};
use super::super::errno::Errno;
use super::super::format_params::{LIST_CHUNKS, MIN_CHUNK_BYTES, ends_part};
use super::super::node::{EntryMeta, Name, SubtreeSums, TreeNode};
use super::decode::{PageReader, decode, is_page};
use super::record::{BodyRecord, EntryRecord, NodeRecord, PageRecord, PartRecord, total};
use tollhouse_store::{BlobError, BlobId};

/// The claims about a page at the place where it is referred to.
pub(in super::super) struct PageClaim<'a> {
    pub(in super::super) id: BlobId,
    pub(in super::super) unloaded: &'a UnloadedPart,
    /// Lower bound of the names in the page. The page contains this name, unless it is the empty one.
    pub(in super::super) first: &'a str,
    /// First name of the next page.
    pub(in super::super) end: Option<&'a str>,
    pub(in super::super) sums: SubtreeSums,
}

/// Loads the list of pages of a directory, but not their entries.
pub(in super::super) fn pages(id: &BlobId, unloaded: &UnloadedPart, sums: SubtreeSums) -> Result<Vec<PageSlot>, Errno> {
    let blob = unloaded.origin.get(id)?;
    let page = |first, sums, id, first_id| {
        let unloaded = UnloadedPart { origin: Arc::clone(&unloaded.origin), first_id };
        PageSlot { first, sums, page: DirectoryPage::stored(id, unloaded) }
    };
    if is_page(&blob) {
        return Ok(vec![page(Name::from(""), sums, *id, unloaded.first_id)]);
    }
    let Ok(NodeRecord::Pages(records)) = decode(&blob) else { return Err(Errno::Io) };
    if total(records.iter().map(|page| page.sums)) != Some(sums) {
        return Err(Errno::Io);
    }
    let mut next_id = unloaded.first_id;
    let slot = |PageRecord { first, sums, id }| {
        let first_id = next_id;
        next_id += sums.usage.entries;
        page(first, sums, id, first_id)
    };
    Ok(records.into_iter().map(slot).collect())
}

/// Loads the entries of a page.
pub(in super::super) fn page(claim: &PageClaim<'_>) -> Result<Entries, Errno> {
    let blob = claim.unloaded.origin.get(&claim.id)?;
    let mut cursor = PageCursor::new(claim, &blob)?;
    let mut entries = Entries::new();
    while let Some(entry) = cursor.next()? {
        if !entries.is_empty() && begins_page(entry.record.name) {
            return Err(Errno::Io);
        }
        let node = cursor.node(&entry);
        entries.insert(Name::from(entry.record.name), node);
    }
    Ok(entries)
}

/// Finds the differences between two pages. Of common entries only the sums are computed, so that comparing pages with
/// a few changes costs little more than reading them.
///
/// A page that is split in the wrong place, and an invalid entry that both pages contain, go unnoticed: they do not
/// affect the differences.
pub(in super::super) fn differences(old: &PageClaim<'_>, new: &PageClaim<'_>) -> Result<Vec<EntryDifference>, Errno> {
    let (left, right) = (old.unloaded.origin.get(&old.id)?, new.unloaded.origin.get(&new.id)?);
    let (mut left, mut right) = (PageCursor::new(old, &left)?, PageCursor::new(new, &right)?);
    let (mut before, mut after) = (left.next()?, right.next()?);
    let mut found = Vec::new();
    loop {
        let order = match (&before, &after) {
            (Some(before), Some(after)) => before.record.name.cmp(after.record.name),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return Ok(found),
        };
        let (old, new) = match order {
            Ordering::Less => (mem::replace(&mut before, left.next()?), None),
            Ordering::Greater => (None, mem::replace(&mut after, right.next()?)),
            Ordering::Equal => {
                let (old, new) = (before, after);
                left.page.pass_same(&mut right.page).map_err(|_| Errno::Io)?;
                (before, after) = (left.next()?, right.next()?);
                (old, new)
            }
        };
        let same = old.as_ref().zip(new.as_ref()).is_some_and(|(old, new)| old.record == new.record);
        if let Some(entry) = old.as_ref().or(new.as_ref()).filter(|_| !same) {
            let name = Name::from(entry.record.name);
            let (old, new) = (old.map(|entry| left.node(&entry)), new.map(|entry| right.node(&entry)));
            found.push(EntryDifference { name, old, new });
        }
    }
}

/// Reads a page and compares it with the claims about it.
struct PageCursor<'a> {
    claim: &'a PageClaim<'a>,
    page: PageReader<'a>,
}

/// An entry of a page, not yet part of a tree.
struct PageEntry<'a> {
    id: u64,
    record: EntryRecord<'a>,
}

impl<'a> PageCursor<'a> {
    fn new(claim: &'a PageClaim<'a>, blob: &'a [u8]) -> Result<PageCursor<'a>, Errno> {
        Ok(PageCursor { claim, page: PageReader::new(blob).map_err(|_| Errno::Io)? })
    }

    /// Reads the next entry. Returns `None` only if the page matches the claims about it.
    fn next(&mut self) -> Result<Option<PageEntry<'a>>, Errno> {
        let PageClaim { unloaded, first, end, sums, .. } = *self.claim;
        let (before, last) = (self.page.sums, self.page.last);
        let record = self.page.next().map_err(|_| Errno::Io)?;
        let right = match (&record, last) {
            (Some(_), Some(_)) => true,
            (Some(record), None) if first.is_empty() => !begins_page(record.name),
            (Some(record), None) => record.name == first,
            // Only the first of several pages may be empty, or the only page of an empty directory.
            (None, None) => first.is_empty() && before == sums,
            (None, Some(last)) => end.is_none_or(|end| last < end) && before == sums,
        };
        // No overflow: both are below the maximum that a tree may claim.
        let id = unloaded.first_id + before.usage.entries;
        if right { Ok(record.map(|record| PageEntry { id, record })) } else { Err(Errno::Io) }
    }

    fn node(&self, PageEntry { id, record }: &PageEntry<'_>) -> TreeNode {
        let origin = &self.claim.unloaded.origin;
        let meta = EntryMeta { id: *id, mode: record.mode, modified: record.modified };
        match &record.body {
            BodyRecord::Inline(bytes) => TreeNode::file(meta, Content::from(bytes.to_vec())),
            BodyRecord::Stored { len, id } => TreeNode::file(meta, Content::stored(*id, *len, origin)),
            BodyRecord::Directory { sums, id } => {
                TreeNode::Directory(Arc::new(DirectoryNode::stored(meta, *sums, *id, origin)))
            }
            BodyRecord::Link(target) => TreeNode::link(meta, target),
        }
    }
}

/// Loads the list of chunks of a file with this length.
pub(in super::super) fn chunks(id: &BlobId, len: u64, origin: &BlobOrigin) -> Result<Vec<FileChunk>, BlobError> {
    let sum = |parts: &[PartRecord]| parts.iter().map(|part| part.len).sum::<u64>();
    let mut chunks = Vec::new();
    match parts(id, origin)? {
        NodeRecord::Chunks(parts) if sum(&parts) == len => add_chunks(&mut chunks, &parts),
        NodeRecord::Lists(lists) if sum(&lists) == len => {
            for (at, list) in lists.iter().enumerate() {
                let parts = match parts(&list.id, origin)? {
                    NodeRecord::Chunks(parts) if sum(&parts) == list.len => parts,
                    _ => return Err(BlobError::Damaged(list.id)),
                };
                let last = parts.last().filter(|last| ends_part(last.id.as_bytes(), LIST_CHUNKS));
                let complete = last.is_some_and(|last| last.len >= MIN_CHUNK_BYTES as u64);
                if !complete && at + 1 < lists.len() {
                    return Err(BlobError::Damaged(list.id));
                }
                add_chunks(&mut chunks, &parts);
            }
        }
        _ => return Err(BlobError::Damaged(*id)),
    }
    Ok(chunks)
}

fn add_chunks(chunks: &mut Vec<FileChunk>, parts: &[PartRecord]) {
    let mut start = chunks.last().map_or(0, FileChunk::end);
    for part in parts {
        chunks.push(FileChunk { start, len: part.len, id: part.id });
        start += part.len;
    }
}

/// Loads a list of parts, or a list of lists. Any other content is reported as damage of the blob.
fn parts(id: &BlobId, origin: &BlobOrigin) -> Result<NodeRecord<'static>, BlobError> {
    match decode(&origin.get(id)?) {
        Ok(NodeRecord::Lists(lists)) => Ok(NodeRecord::Lists(lists)),
        Ok(NodeRecord::Chunks(parts)) => Ok(NodeRecord::Chunks(parts)),
        _ => Err(BlobError::Damaged(*id)),
    }
}
