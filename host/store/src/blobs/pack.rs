//! The format of a pack: many small blobs in one file.
//!
//! | bytes | contents |
//! | --- | --- |
//! | 0..8 | `thpack1` and a line feed |
//! | 8..12 | number of blobs |
//! | 12..16 | the first four bytes of the blake3 of all that precedes |
//! | 16.. | the index: 40 bytes for each blob, in order of their ids |
//! | then | the blobs, each encoded like the file of a blob: see `encoding` |
//!
//! An entry of the index:
//!
//! | bytes | contents |
//! | --- | --- |
//! | 0..32 | id of the blob |
//! | 32..36 | its offset in the file |
//! | 36..40 | its length, encoded |
//!
//! Numbers are little-endian. A pack is named by the blake3 of its head and its index.
//!
//! Every entry stands alone: if some bytes of the index or of a blob are damaged, the other blobs can be read. A reader
//! verifies each blob against its id, so that a false entry is found when it is used.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use tollhouse_types::untrusted_file::{self, ReadError};

use crate::BlobId;

/// Maximum size of the plain bytes of a blob in a pack. Larger ones have files of their own, where what a file costs is
/// less than what they cost.
pub(super) const MAX_PACKED_BYTES: usize = 16 << 10;

/// Maximum number of blobs in a pack.
pub(super) const MAX_PACK_BLOBS: usize = 1 << 14;

/// Number of plain bytes with which a pack is full. A pack file then has at most 1.7 MiB: removing one of its blobs writes
/// a new file, which must fit into the space that `tollhouse session gc` reserves for a full disk.
pub(super) const FULL_PACK_BYTES: usize = 1 << 20;

const MAGIC: &[u8; 8] = b"thpack1\n";
const HEAD_BYTES: usize = 16;
const ENTRY_BYTES: usize = 40;

/// Place of a blob in a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PackEntry {
    pub(super) id: BlobId,
    offset: u32,
    /// Length of the encoded blob.
    pub(super) length: u32,
}

impl PackEntry {
    /// Reads the encoded blob from the file of the pack: see [`Pack::read`].
    pub(super) fn read(self, mut file: &File) -> io::Result<Vec<u8>> {
        let length = u64::from(self.length);
        let end = u64::from(self.offset) + length;
        if length > MAX_PACKED_BYTES as u64 + 1 || end > file.metadata()?.len() {
            return Ok(Vec::new());
        }
        file.seek(SeekFrom::Start(self.offset.into()))?;
        let mut bytes = Vec::with_capacity(self.length as usize);
        file.take(length).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// A pack on disk and its index.
#[derive(Debug)]
pub(super) struct Pack {
    /// Name of the pack: the hash of its head and index.
    pub(super) name: BlobId,
    pub(super) path: PathBuf,
    /// Blobs in order of their ids, each once.
    entries: Vec<PackEntry>,
}

impl Pack {
    /// Reads the head and the index. Returns `None` if they are damaged.
    pub(super) fn open(name: BlobId, path: PathBuf) -> io::Result<Option<Self>> {
        let mut file = match untrusted_file::open_regular(&path) {
            Ok(file) => file,
            Err(ReadError::Io(error)) => return Err(error),
            // Not a file.
            Err(_) => return Ok(None),
        };
        let mut head = Vec::with_capacity(HEAD_BYTES);
        (&mut file).take(HEAD_BYTES as u64).read_to_end(&mut head)?;
        let Some(count) = parse_head(&head) else { return Ok(None) };
        let mut index = Vec::with_capacity(count * ENTRY_BYTES);
        file.take((count * ENTRY_BYTES) as u64).read_to_end(&mut index)?;
        Ok((index.len() == count * ENTRY_BYTES).then(|| Self { name, path, entries: parse_index(&index) }))
    }

    /// Blobs in order of their ids.
    pub(super) fn entries(&self) -> &[PackEntry] {
        &self.entries
    }

    pub(super) fn find(&self, id: &BlobId) -> Option<PackEntry> {
        self.entries.binary_search_by(|entry| entry.id.cmp(id)).ok().map(|at| self.entries[at])
    }

    /// Blobs whose ids begin with this byte.
    pub(super) fn entries_of(&self, first: u8) -> &[PackEntry] {
        let begin = self.entries.partition_point(|entry| entry.id.as_bytes()[0] < first);
        let length = self.entries[begin..].partition_point(|entry| entry.id.as_bytes()[0] == first);
        &self.entries[begin..begin + length]
    }

    /// Reads an encoded blob. Returns no bytes, which is not an encoded blob, if the file does not have what the entry
    /// claims.
    pub(super) fn read(&self, entry: PackEntry) -> io::Result<Vec<u8>> {
        entry.read(&self.file()?)
    }

    /// Opens the file.
    pub(super) fn file(&self) -> io::Result<File> {
        Ok(untrusted_file::open_regular(&self.path)?)
    }
}

/// A pack in memory, to which blobs are added.
#[derive(Debug, Default)]
pub(super) struct PackBuilder {
    /// Ids of the blobs, and where in `contents` they are.
    blobs: Vec<(BlobId, Range<usize>)>,
    contents: Vec<u8>,
}

impl PackBuilder {
    /// Adds a blob, encoded in parts. The caller adds each one once, and at most [`MAX_PACK_BLOBS`].
    pub(super) fn add(&mut self, id: BlobId, encoded: &[&[u8]]) {
        let begin = self.contents.len();
        encoded.iter().for_each(|part| self.contents.extend_from_slice(part));
        self.blobs.push((id, begin..self.contents.len()));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.blobs.is_empty()
    }

    /// Returns the pack, to be stored in `directory`, and the bytes of its file.
    pub(super) fn finish(mut self, directory: &Path) -> (Pack, Vec<u8>) {
        // Blobs stay in the order in which they were put, which is likely to be that in which they are read.
        self.blobs.sort_unstable_by_key(|(id, _)| *id);
        let begin = HEAD_BYTES + self.blobs.len() * ENTRY_BYTES;
        let small = |number: usize| u32::try_from(number).expect("a pack is small");
        let entry = |(id, range): (BlobId, Range<usize>)| PackEntry {
            id,
            offset: small(begin + range.start),
            length: small(range.len()),
        };
        let entries: Vec<PackEntry> = self.blobs.into_iter().map(entry).collect();
        let mut file = Vec::with_capacity(begin + self.contents.len());
        file.extend_from_slice(MAGIC);
        file.extend_from_slice(&small(entries.len()).to_le_bytes());
        file.extend_from_slice(&check(&file));
        for entry in &entries {
            file.extend_from_slice(entry.id.as_bytes());
            file.extend_from_slice(&entry.offset.to_le_bytes());
            file.extend_from_slice(&entry.length.to_le_bytes());
        }
        let name = BlobId::of(&file);
        file.append(&mut self.contents);
        (Pack { name, path: directory.join(name.to_string()), entries }, file)
    }
}

/// Returns the number of blobs, or `None` if the head is damaged.
fn parse_head(head: &[u8]) -> Option<usize> {
    let (claimed, found) = head.split_at_checked(HEAD_BYTES - 4)?;
    if found != check(claimed) {
        return None;
    }
    let count = u32::from_le_bytes(claimed.strip_prefix(MAGIC)?.try_into().ok()?);
    usize::try_from(count).ok().filter(|count| *count <= MAX_PACK_BLOBS)
}

fn parse_index(index: &[u8]) -> Vec<PackEntry> {
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
    let entry = |entry: &[u8; ENTRY_BYTES]| PackEntry {
        id: BlobId::from(*entry.first_chunk::<32>().expect("an entry is longer")),
        offset: number(&entry[32..36]),
        length: number(&entry[36..]),
    };
    let mut entries: Vec<PackEntry> = index.as_chunks().0.iter().map(entry).collect();
    // They are in order, unless some are damaged.
    entries.sort_by_key(|entry| entry.id);
    entries.dedup_by_key(|entry| entry.id);
    entries
}

fn check(bytes: &[u8]) -> [u8; 4] {
    *blake3::hash(bytes).as_bytes().first_chunk().expect("a hash has 32 bytes")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn open(bytes: &[u8]) -> Option<Pack> {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), bytes).expect("it is written");
        Pack::open(BlobId::of(b"name"), file.path().to_owned()).expect("it is read")
    }

    #[test]
    fn pack_written_is_read_back_equal() {
        let blobs: Vec<_> = (0..300_u32).map(|n| (BlobId::of(&n.to_le_bytes()), vec![1; n as usize])).collect();
        let mut builder = PackBuilder::default();
        assert!(builder.is_empty());
        blobs.iter().for_each(|(id, bytes)| builder.add(*id, &[&bytes[..bytes.len() / 2], &bytes[bytes.len() / 2..]]));
        let home = tempfile::tempdir().expect("a temporary directory");
        let (written, bytes) = builder.finish(home.path());
        std::fs::write(&written.path, &bytes).expect("it is written");
        let read = Pack::open(written.name, written.path.clone()).expect("it is read").expect("it is a pack");
        assert_eq!(read.entries(), written.entries());
        for (id, bytes) in &blobs {
            let entry = read.find(id).expect("it is there");
            assert_eq!(read.read(entry).expect("it is read"), *bytes);
            assert!(read.entries_of(id.as_bytes()[0]).contains(&entry));
        }
        assert_eq!((0..=u8::MAX).map(|first| read.entries_of(first).len()).sum::<usize>(), blobs.len());
        assert_eq!(read.find(&BlobId::of(b"absent")), None);
    }

    #[test]
    fn pack_with_false_head_is_refused_before_the_index_is_read() {
        let head = |magic: &[u8], count: u32| {
            let claimed = [magic, &count.to_le_bytes()].concat();
            [&claimed[..], &check(&claimed)].concat()
        };
        assert!(open(&head(MAGIC, 0)).is_some_and(|pack| pack.entries().is_empty()));
        assert!(open(&head(MAGIC, 1)).is_none(), "the index is missing");
        assert!(open(&head(MAGIC, u32::MAX)).is_none());
        assert!(open(&head(b"thpack2\n", 0)).is_none());
        assert!(open(&[head(MAGIC, 1), vec![0; ENTRY_BYTES]].concat()).is_some());
    }

    proptest! {
        #[test]
        fn pack_reader_with_arbitrary_index_does_not_panic(index in prop::collection::vec(any::<u8>(), 0..400)) {
            let count = u32::try_from(index.len() / ENTRY_BYTES).expect("it is small");
            let claimed = [&MAGIC[..], &count.to_le_bytes()].concat();
            let file = tempfile::NamedTempFile::new().expect("a temporary file");
            std::fs::write(file.path(), [&claimed[..], &check(&claimed), &index].concat()).expect("it is written");
            let pack = Pack::open(BlobId::of(b"name"), file.path().to_owned()).expect("it is read").expect("it is a pack");
            for entry in pack.entries() {
                prop_assert!(pack.read(*entry).expect("it is read").len() <= index.len() + HEAD_BYTES);
                prop_assert_eq!(pack.find(&entry.id), Some(*entry));
            }
        }
    }
}
