//! Encodes records as bytes. The documentation of the parent module describes the format.

use super::super::chunk::FileChunk;
use super::super::format_params::{LIST_CHUNKS, ends_part};
use super::super::node::SubtreeSums;
use super::codec::{put_number, put_text};
use super::record::{BodyRecord, EntryRecord, NodeRecord, PageRecord, PartRecord, SnapshotRecord};
use super::{MAGIC, tag};
use tollhouse_store::{BlobError, BlobId, BlobSink};

/// Encodes a node blob.
pub(super) fn encode(record: &NodeRecord<'_>) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    match record {
        NodeRecord::Snapshot(snapshot) => {
            bytes.push(tag::SNAPSHOT);
            put_snapshot(&mut bytes, snapshot);
        }
        NodeRecord::Pages(pages) => {
            bytes.push(tag::PAGES);
            put_list(&mut bytes, pages, put_page);
        }
        NodeRecord::Page(entries) => {
            bytes.push(tag::PAGE);
            put_list(&mut bytes, entries, put_entry);
        }
        NodeRecord::Lists(parts) => {
            bytes.push(tag::LISTS);
            put_list(&mut bytes, parts, put_part);
        }
        NodeRecord::Chunks(parts) => {
            bytes.push(tag::CHUNKS);
            put_list(&mut bytes, parts, put_part);
        }
    }
    bytes
}

/// Stores the list of a file's chunks, in several lists if there are many, and returns its blob.
pub(in super::super) fn put_chunk_lists(chunks: &[FileChunk], sink: &mut dyn BlobSink) -> Result<BlobId, BlobError> {
    let ends = |chunk: &FileChunk| ends_part(chunk.id.as_bytes(), LIST_CHUNKS);
    let mut lists = Vec::new();
    for chunks in chunks.split_inclusive(ends) {
        let parts = chunks.iter().map(|chunk| PartRecord { len: chunk.len, id: chunk.id }).collect();
        let len = chunks.iter().map(|chunk| chunk.len).sum();
        lists.push(PartRecord { len, id: sink.put(encode(&NodeRecord::Chunks(parts)))? });
    }
    match lists.as_slice() {
        [list] => Ok(list.id),
        _ => sink.put(encode(&NodeRecord::Lists(lists))),
    }
}

fn put_list<T>(bytes: &mut Vec<u8>, list: &[T], put: impl Fn(&mut Vec<u8>, &T)) {
    put_number(bytes, list.len() as u64);
    for item in list {
        put(bytes, item);
    }
}

fn put_snapshot(bytes: &mut Vec<u8>, snapshot: &SnapshotRecord) {
    put_list(bytes, &snapshot.write_rules, |bytes, (names, writable)| {
        put_list(bytes, names, |bytes, name| put_text(bytes, name));
        bytes.push(u8::from(*writable));
    });
    put_meta(bytes, snapshot.mode, snapshot.modified);
    put_sums(bytes, &snapshot.sums);
    bytes.extend_from_slice(snapshot.root.as_bytes());
}

fn put_page(bytes: &mut Vec<u8>, page: &PageRecord) {
    put_text(bytes, &page.first);
    put_sums(bytes, &page.sums);
    bytes.extend_from_slice(page.id.as_bytes());
}

fn put_entry(bytes: &mut Vec<u8>, entry: &EntryRecord<'_>) {
    put_text(bytes, entry.name);
    bytes.push(match &entry.body {
        BodyRecord::Inline(_) | BodyRecord::Stored { .. } => tag::FILE,
        BodyRecord::Directory { .. } => tag::DIRECTORY,
        BodyRecord::Link(_) => tag::LINK,
    });
    put_meta(bytes, entry.mode, entry.modified);
    match &entry.body {
        BodyRecord::Inline(content) => {
            put_number(bytes, content.len() as u64);
            bytes.extend_from_slice(content);
        }
        BodyRecord::Stored { len, id } => put_part(bytes, &PartRecord { len: *len, id: *id }),
        BodyRecord::Directory { sums, id } => {
            put_sums(bytes, sums);
            bytes.extend_from_slice(id.as_bytes());
        }
        BodyRecord::Link(target) => put_text(bytes, target),
    }
}

fn put_part(bytes: &mut Vec<u8>, part: &PartRecord) {
    put_number(bytes, part.len);
    bytes.extend_from_slice(part.id.as_bytes());
}

fn put_meta(bytes: &mut Vec<u8>, mode: u32, modified: u64) {
    put_number(bytes, mode.into());
    bytes.extend_from_slice(&modified.to_le_bytes());
}

fn put_sums(bytes: &mut Vec<u8>, sums: &SubtreeSums) {
    // The levels and bytes of a path are `usize`s of at most 4,096.
    let reach = [sums.reach.levels as u64, sums.reach.bytes as u64];
    for number in [sums.entries, sums.usage.entries, sums.usage.bytes, reach[0], reach[1]] {
        put_number(bytes, number);
    }
}
