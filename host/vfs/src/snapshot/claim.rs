//! What a node blob claims of the blobs that it names, and whether they are that. `load` compares a part of a tree when it is
//! read; whoever takes a snapshot from elsewhere compares all of it at once, and each blob once.

use super::super::directory::begins_page;
use super::super::format_params::{LIST_CHUNKS, MIN_CHUNK_BYTES, WHOLE_BYTES, ends_part};
use super::super::node::{Name, SubtreeSums, Usage};
use super::Malformed;
use super::decode::decode;
use super::record::{BodyRecord, EntryRecord, NodeRecord, PageRecord, PartRecord, total};
use tollhouse_store::BlobId;

const OTHER: Malformed = Malformed("it is not what is claimed where it is named");

/// A blob of a snapshot, and what is claimed of it where it is named.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Claimed {
    /// The blob.
    pub id: BlobId,
    holds: Holds,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Holds {
    /// So many bytes of a file.
    Bytes(u64),
    /// The parts of a file that has so many bytes.
    File(u64),
    /// A list of chunks with so many bytes; not the last of its file.
    List(u64),
    /// The same, and the last.
    LastList(u64),
    /// All entries of a directory.
    Directory(SubtreeSums),
    /// A page of a directory: its first name, and that of the next page.
    Page(SubtreeSums, Name, Option<Name>),
}

impl Claimed {
    /// The root directory of a snapshot, from the snapshot's blob.
    ///
    /// # Errors
    /// [`Malformed`], if it is no snapshot.
    pub fn root(snapshot: &[u8]) -> Result<(Self, Usage), Malformed> {
        match decode(snapshot)? {
            NodeRecord::Snapshot(record) => {
                Ok((Self { id: record.root, holds: Holds::Directory(record.sums) }, record.sums.usage))
            }
            _ => Err(OTHER),
        }
    }

    /// Compares a blob with what is claimed of it, and gives what it claims of others.
    ///
    /// # Errors
    /// [`Malformed`], if it is something else.
    pub fn compare(&self, blob: &[u8]) -> Result<Vec<Self>, Malformed> {
        // No `usize` is wider than 64 bits.
        let length = blob.len() as u64;
        match &self.holds {
            Holds::Bytes(claimed) => {
                if length == *claimed {
                    Ok(Vec::new())
                } else {
                    Err(OTHER)
                }
            }
            Holds::File(claimed) => match decode(blob)? {
                NodeRecord::Chunks(parts) if length_of(&parts) == *claimed => Ok(chunks(&parts)),
                NodeRecord::Lists(parts) if length_of(&parts) == *claimed => Ok(lists(&parts)),
                _ => Err(OTHER),
            },
            Holds::List(claimed) | Holds::LastList(claimed) => match decode(blob)? {
                NodeRecord::Chunks(parts) if length_of(&parts) == *claimed && self.may_end(&parts) => {
                    Ok(chunks(&parts))
                }
                _ => Err(OTHER),
            },
            Holds::Directory(sums) => match decode(blob)? {
                NodeRecord::Page(page) => entries(&page, *sums, "", None),
                NodeRecord::Pages(records) if total(records.iter().map(|page| page.sums)) == Some(*sums) => {
                    Ok(pages(&records))
                }
                _ => Err(OTHER),
            },
            Holds::Page(sums, first, end) => match decode(blob)? {
                NodeRecord::Page(page) => entries(&page, *sums, first, end.as_deref()),
                _ => Err(OTHER),
            },
        }
    }

    /// Returns true if a list may end with the last of these chunks.
    fn may_end(&self, parts: &[PartRecord]) -> bool {
        let ends = |last: &PartRecord| ends_part(last.id.as_bytes(), LIST_CHUNKS) && last.len >= MIN_CHUNK_BYTES as u64;
        matches!(self.holds, Holds::LastList(_)) || parts.last().is_some_and(ends)
    }
}

/// Decoding has seen to it that the sum is one.
fn length_of(parts: &[PartRecord]) -> u64 {
    parts.iter().map(|part| part.len).sum()
}

fn chunks(parts: &[PartRecord]) -> Vec<Claimed> {
    parts.iter().map(|part| Claimed { id: part.id, holds: Holds::Bytes(part.len) }).collect()
}

fn lists(parts: &[PartRecord]) -> Vec<Claimed> {
    let holds = |at, len| if at + 1 == parts.len() { Holds::LastList(len) } else { Holds::List(len) };
    parts.iter().enumerate().map(|(at, part)| Claimed { id: part.id, holds: holds(at, part.len) }).collect()
}

fn pages(records: &[PageRecord]) -> Vec<Claimed> {
    let ends = records.iter().skip(1).map(|next| Some(next.first.clone())).chain([None]);
    let claimed =
        |(page, end): (&PageRecord, _)| Claimed { id: page.id, holds: Holds::Page(page.sums, page.first.clone(), end) };
    records.iter().zip(ends).map(claimed).collect()
}

/// What the entries of a page claim, if the page is the one that is claimed.
fn entries(
    page: &[EntryRecord<'_>],
    sums: SubtreeSums,
    first: &str,
    end: Option<&str>,
) -> Result<Vec<Claimed>, Malformed> {
    let begins = match page.first() {
        None => first.is_empty(),
        Some(entry) if first.is_empty() => !begins_page(entry.name),
        Some(entry) => entry.name == first,
    };
    let ends = page.last().zip(end).is_none_or(|(last, end)| last.name < end);
    if !begins || !ends || total(page.iter().map(EntryRecord::sums)) != Some(sums) {
        return Err(OTHER);
    }
    let claimed = |entry: &EntryRecord<'_>| match entry.body {
        BodyRecord::Inline(_) | BodyRecord::Link(_) => None,
        BodyRecord::Stored { len, id } if len <= WHOLE_BYTES => Some(Claimed { id, holds: Holds::Bytes(len) }),
        BodyRecord::Stored { len, id } => Some(Claimed { id, holds: Holds::File(len) }),
        BodyRecord::Directory { sums, id } => Some(Claimed { id, holds: Holds::Directory(sums) }),
    };
    Ok(page.iter().filter_map(claimed).collect())
}

#[cfg(test)]
mod tests {
    use super::super::encode::encode;
    use super::*;
    use crate::{Limits, Tree, WriteMode};
    use tollhouse_store::{BlobError, BlobSource as _, MemoryBlobs};

    /// Compares all that is claimed from a snapshot on.
    fn compare(snapshot: BlobId, blobs: &MemoryBlobs) -> Result<Usage, String> {
        let get = |id| blobs.get(&id).map_err(|error: BlobError| error.to_string());
        let text = |error: Malformed| error.to_string();
        let (root, usage) = Claimed::root(&get(snapshot)?).map_err(text)?;
        let mut next = vec![root];
        while let Some(claimed) = next.pop() {
            next.extend(claimed.compare(&get(claimed.id)?).map_err(text)?);
        }
        Ok(usage)
    }

    #[test]
    fn snapshot_sealed_has_the_usage_it_claims() {
        let mut tree = Tree::new(Limits::default(), 0);
        for number in 0..40_u32 {
            tree.create_directory(&format!("/workspace/d{number}"), false, 0).expect("there is room");
            let bytes: Vec<u8> = (0..number * number * 20).map(|at| (at * number % 251) as u8).collect();
            tree.write(&format!("/workspace/d{number}/f"), &bytes, WriteMode::Create, 1).expect("there is room");
            tree.write(&format!("/workspace/g{number}"), &bytes, WriteMode::Create, 1).expect("there is room");
            tree.create_link("/etc/passwd", &format!("/workspace/l{number}"), 1).expect("there is room");
        }
        let blobs = MemoryBlobs::default();
        let snapshot = tree.seal(&mut &blobs).expect("it is sealed");
        assert_eq!(compare(snapshot.blob(), &blobs), Ok(tree.usage()));
    }

    #[test]
    fn file_that_is_longer_or_shorter_than_its_directory_says_is_refused() {
        let text = |len: usize| vec![b'x'; len];
        // More than a record holds itself, and no more than one blob holds, by the sizes of the format and by those of tests.
        for (len, stored) in [(200_u64, 200_usize), (200, 199), (200, 201), (200, 0)] {
            let blobs = MemoryBlobs::default();
            let put = |bytes: Vec<u8>| tollhouse_store::BlobSink::put(&mut &blobs, bytes).expect("there is room");
            let body = BodyRecord::Stored { len, id: put(text(stored)) };
            let entry = EntryRecord { name: "f", mode: 0o644, modified: 0, body };
            let sums = entry.sums();
            let root = put(encode(&NodeRecord::Page(vec![entry])));
            let record = super::super::SnapshotRecord { write_rules: Vec::new(), mode: 0o755, modified: 0, sums, root };
            let snapshot = put(encode(&NodeRecord::Snapshot(record)));
            assert_eq!(compare(snapshot, &blobs).is_ok(), stored == 200, "{stored}");
        }
    }
}
