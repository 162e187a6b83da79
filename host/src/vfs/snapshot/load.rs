//! From blobs to parts of a tree, when they are needed. What a blob holds must be what was claimed where it is named: so no
//! tree is deeper or larger than its root says, whoever made the blobs.

use std::cmp::Ordering;
use std::mem;
use std::sync::Arc;

use super::super::chunk::Chunk;
use super::super::compare::Difference;
use super::super::content::Content;
use super::super::directory::{Directory, Entries, Page, Slot, Unloaded, begins_page};
use super::super::errno::Errno;
use super::super::node::{Meta, Name, Node, Sums};
use super::super::scale::{LIST_CHUNKS, MIN_CHUNK_BYTES, ends_part};
use super::super::stored::Origin;
use super::decode::{PageReader, decode, is_page};
use super::record::{BodyRecord, EntryRecord, PageRecord, PartRecord, Record, total};
use crate::store::{BlobError, BlobId};

/// What is claimed of a page where it is named.
pub(in super::super) struct Claim<'a> {
    pub(in super::super) id: BlobId,
    pub(in super::super) unloaded: &'a Unloaded,
    /// The least name that it can hold, which it does hold unless it is the empty one.
    pub(in super::super) first: &'a str,
    /// Where the next page begins.
    pub(in super::super) end: Option<&'a str>,
    pub(in super::super) sums: Sums,
}

/// The pages of a directory. What is in them is not loaded.
pub(in super::super) fn pages(id: &BlobId, unloaded: &Unloaded, sums: Sums) -> Result<Vec<Slot>, Errno> {
    let blob = unloaded.origin.get(id)?;
    let page = |first, sums, id, first_id| {
        let unloaded = Unloaded { origin: Arc::clone(&unloaded.origin), first_id };
        Slot { first, sums, page: Page::stored(id, unloaded) }
    };
    if is_page(&blob) {
        return Ok(vec![page(Name::from(""), sums, *id, unloaded.first_id)]);
    }
    let Ok(Record::Pages(records)) = decode(&blob) else { return Err(Errno::Io) };
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

/// The entries of a page.
pub(in super::super) fn page(claim: &Claim<'_>) -> Result<Entries, Errno> {
    let blob = claim.unloaded.origin.get(&claim.id)?;
    let mut cursor = Cursor::new(claim, &blob)?;
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

/// What is different in two pages. Of what is the same in both, nothing is made but the sums: pages of which each has a few
/// changes cost little more than to read them.
///
/// That a page should have been cut at a name, or that both have an entry that no entry can be, goes unnoticed: what differs is
/// the same.
pub(in super::super) fn differences(old: &Claim<'_>, new: &Claim<'_>) -> Result<Vec<Difference>, Errno> {
    let (left, right) = (old.unloaded.origin.get(&old.id)?, new.unloaded.origin.get(&new.id)?);
    let (mut left, mut right) = (Cursor::new(old, &left)?, Cursor::new(new, &right)?);
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
            found.push(Difference { name, old, new });
        }
    }
}

/// Reads a page and compares it with what is claimed of it.
struct Cursor<'a> {
    claim: &'a Claim<'a>,
    page: PageReader<'a>,
}

/// An entry of a page, not yet a part of a tree.
struct Entry<'a> {
    id: u64,
    record: EntryRecord<'a>,
}

impl<'a> Cursor<'a> {
    fn new(claim: &'a Claim<'a>, blob: &'a [u8]) -> Result<Cursor<'a>, Errno> {
        Ok(Cursor { claim, page: PageReader::new(blob).map_err(|_| Errno::Io)? })
    }

    /// The next entry. That there is none is only said of a page that is what is claimed.
    fn next(&mut self) -> Result<Option<Entry<'a>>, Errno> {
        let Claim { unloaded, first, end, sums, .. } = *self.claim;
        let (before, last) = (self.page.sums, self.page.last);
        let record = self.page.next().map_err(|_| Errno::Io)?;
        let right = match (&record, last) {
            (Some(_), Some(_)) => true,
            (Some(record), None) if first.is_empty() => !begins_page(record.name),
            (Some(record), None) => record.name == first,
            // Only the first page of several may be empty, or that of an empty directory.
            (None, None) => first.is_empty() && before == sums,
            (None, Some(last)) => end.is_none_or(|end| last < end) && before == sums,
        };
        // No overflow: both are below what a tree may claim.
        let id = unloaded.first_id + before.usage.entries;
        if right { Ok(record.map(|record| Entry { id, record })) } else { Err(Errno::Io) }
    }

    fn node(&self, Entry { id, record }: &Entry<'_>) -> Node {
        let origin = &self.claim.unloaded.origin;
        let meta = Meta { id: *id, mode: record.mode, modified: record.modified };
        match &record.body {
            BodyRecord::Inline(bytes) => Node::file(meta, Content::from(bytes.to_vec())),
            BodyRecord::Stored { len, id } => Node::file(meta, Content::stored(*id, *len, origin)),
            BodyRecord::Directory { sums, id } => {
                Node::Directory(Arc::new(Directory::stored(meta, *sums, *id, origin)))
            }
            BodyRecord::Link(target) => Node::link(meta, target),
        }
    }
}

/// The chunks of a file that has so many bytes.
pub(in super::super) fn chunks(id: &BlobId, len: u64, origin: &Origin) -> Result<Vec<Chunk>, BlobError> {
    let sum = |parts: &[PartRecord]| parts.iter().map(|part| part.len).sum::<u64>();
    let mut chunks = Vec::new();
    match parts(id, origin)? {
        Record::Chunks(parts) if sum(&parts) == len => add_chunks(&mut chunks, &parts),
        Record::Lists(lists) if sum(&lists) == len => {
            for (at, list) in lists.iter().enumerate() {
                let parts = match parts(&list.id, origin)? {
                    Record::Chunks(parts) if sum(&parts) == list.len => parts,
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

fn add_chunks(chunks: &mut Vec<Chunk>, parts: &[PartRecord]) {
    let mut start = chunks.last().map_or(0, Chunk::end);
    for part in parts {
        chunks.push(Chunk { start, len: part.len, id: part.id });
        start += part.len;
    }
}

/// A list of parts, or a list of lists. What it says is not what a tree says, if it cannot be read.
fn parts(id: &BlobId, origin: &Origin) -> Result<Record<'static>, BlobError> {
    match decode(&origin.get(id)?) {
        Ok(Record::Lists(lists)) => Ok(Record::Lists(lists)),
        Ok(Record::Chunks(parts)) => Ok(Record::Chunks(parts)),
        _ => Err(BlobError::Damaged(*id)),
    }
}
