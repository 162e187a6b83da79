//! From blobs to parts of a tree, when they are needed. What a blob holds must be what was claimed where it is named: so no
//! tree is deeper or larger than its root says, whoever made the blobs.

use std::sync::Arc;

use super::super::chunk::Chunk;
use super::super::content::Content;
use super::super::directory::{Directory, Entries, Page, Slot, Unloaded, begins_page};
use super::super::errno::Errno;
use super::super::node::{Meta, Name, Node, Sums};
use super::super::scale::{LIST_CHUNKS, MIN_CHUNK_BYTES, ends_part};
use super::super::stored::{Origin, Seal};
use super::decode::decode;
use super::record::{BodyRecord, EntryRecord, PageRecord, PartRecord, Record, total};
use crate::store::{BlobError, BlobId};

/// The pages of a directory; those of a directory with one page are loaded with it.
pub(in super::super) fn pages(id: &BlobId, unloaded: &Unloaded, sums: Sums) -> Result<Vec<Slot>, Errno> {
    match read(id, &unloaded.origin)? {
        Record::Page(records) => {
            let entries = page_entries(records, "", None, sums, unloaded)?;
            let page = Page::loaded(entries, Seal::new(*id, unloaded.origin.place()));
            Ok(vec![Slot { first: Name::from(""), sums, page }])
        }
        Record::Pages(records) => {
            if total(records.iter().map(|page| page.sums)) != Some(sums) {
                return Err(Errno::Io);
            }
            let mut first_id = unloaded.first_id;
            let slot = |PageRecord { first, sums, id }| {
                let unloaded = Unloaded { origin: Arc::clone(&unloaded.origin), first_id };
                first_id += sums.usage.entries;
                Slot { first, sums, page: Page::stored(id, unloaded) }
            };
            Ok(records.into_iter().map(slot).collect())
        }
        _ => Err(Errno::Io),
    }
}

/// The entries of a page; `end` is where the next begins.
pub(in super::super) fn page(
    id: &BlobId,
    unloaded: &Unloaded,
    slot: &Slot,
    end: Option<&str>,
) -> Result<Entries, Errno> {
    match read(id, &unloaded.origin)? {
        Record::Page(records) => page_entries(records, &slot.first, end, slot.sums, unloaded),
        _ => Err(Errno::Io),
    }
}

fn page_entries(
    records: Vec<EntryRecord>,
    first: &str,
    end: Option<&str>,
    sums: Sums,
    unloaded: &Unloaded,
) -> Result<Entries, Errno> {
    let begins = match records.first() {
        // Only the first page of several may be empty, or that of an empty directory.
        None => first.is_empty(),
        Some(entry) if first.is_empty() => !begins_page(&entry.name),
        Some(entry) => *entry.name == *first,
    };
    let ends = end.is_none_or(|end| records.last().is_none_or(|entry| &*entry.name < end));
    if !begins || !ends || total(records.iter().map(EntryRecord::sums)) != Some(sums) {
        return Err(Errno::Io);
    }
    let mut id = unloaded.first_id;
    let entry = |record: EntryRecord| {
        let (name, node) = entry(record, id, &unloaded.origin);
        id += node.usage().entries;
        (name, node)
    };
    Ok(records.into_iter().map(entry).collect())
}

fn entry(record: EntryRecord, id: u64, origin: &Arc<Origin>) -> (Name, Node) {
    let meta = Meta { id, mode: record.mode, modified: record.modified };
    let node = match record.body {
        BodyRecord::Inline(bytes) => Node::file(meta, Content::from(bytes)),
        BodyRecord::Stored { len, id } => Node::file(meta, Content::stored(id, len, origin)),
        BodyRecord::Directory { sums, id } => Node::Directory(Arc::new(Directory::stored(meta, sums, id, origin))),
        BodyRecord::Link(target) => Node::link(meta, &target),
    };
    (record.name, node)
}

/// The chunks of a file that has so many bytes.
pub(in super::super) fn chunks(id: &BlobId, len: u64, origin: &Origin) -> Result<Vec<Chunk>, BlobError> {
    let sum = |parts: &[PartRecord]| parts.iter().map(|part| part.len).sum::<u64>();
    let mut chunks = Vec::new();
    match read(id, origin)? {
        Record::Chunks(parts) if sum(&parts) == len => add_chunks(&mut chunks, &parts),
        Record::Lists(lists) if sum(&lists) == len => {
            for (at, list) in lists.iter().enumerate() {
                let parts = match read(&list.id, origin)? {
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

/// A node blob. What it says is not what a tree says, if it cannot be read.
fn read(id: &BlobId, origin: &Origin) -> Result<Record, BlobError> {
    decode(&origin.get(id)?).map_err(|_| BlobError::Damaged(*id))
}
