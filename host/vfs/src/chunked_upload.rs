//! Storing file contents in chunks. Parts that were cut before and have not changed since are neither read nor cut
//! again; the chunks are the same as if the whole content were cut.

use std::sync::Arc;

use super::chunk::{FileChunk, StoredContent, cut_first};
use super::content::Pieces;
use super::format_params::{MAX_CHUNK_BYTES, WHOLE_BYTES};
use super::snapshot::encode;
use tollhouse_store::{BlobError, BlobId, BlobSink};

/// Number of bytes read ahead of the cutting: a multiple of the maximum chunk size, so that each byte is read about
/// once.
const WINDOW_BYTES: u64 = 4 * MAX_CHUNK_BYTES as u64;

impl<const SIZE: usize> Pieces<SIZE> {
    /// Stores the content at the sink's place, if it is not there already, and returns its blob, or the list of its
    /// chunks.
    pub(super) fn seal(&self, sink: &mut dyn BlobSink) -> Result<Arc<StoredContent>, BlobError> {
        let place = sink.place();
        if let Some(stored) = self.seal.get() {
            if !stored.place.is(place) {
                self.put(sink)?;
                stored.place.set(place);
            }
            return Ok(Arc::clone(stored));
        }
        let stored = Arc::new(self.put(sink)?);
        Ok(Arc::clone(self.seal.get_or_init(|| stored)))
    }

    fn put(&self, sink: &mut dyn BlobSink) -> Result<StoredContent, BlobError> {
        let (len, place) = (self.len(), sink.place());
        let (id, chunks) = if len <= WHOLE_BYTES {
            let mut bytes = Vec::new();
            self.read_to(0, len, &mut bytes)?;
            let id = sink.put(bytes)?;
            (id, vec![FileChunk { start: 0, len, id }])
        } else {
            let chunks = self.put_chunks(sink)?;
            (encode::put_chunk_lists(&chunks, sink)?, chunks)
        };
        Ok(StoredContent::new(id, len, chunks, place))
    }

    fn put_chunks(&self, sink: &mut dyn BlobSink) -> Result<Vec<FileChunk>, BlobError> {
        let before = self.before.as_deref();
        let known = before.map_or(Ok(&[][..]), |before| before.stored.chunks(self.origin()))?;
        let there = before.is_some_and(|before| before.stored.place.is(sink.place()));
        let mut window = ReadWindow { start: 0, bytes: Vec::new() };
        let (mut chunks, mut at) = (Vec::new(), 0);
        while at < self.len() {
            let same = known.binary_search_by_key(&at, |chunk| chunk.start).ok().and_then(|found| known.get(found));
            let same = same.filter(|chunk| {
                let evidence = before.and_then(|before| Some((before, chunk.evidence(before.stored.len, self.len())?)));
                evidence.is_some_and(|(before, bytes)| self.unchanged(before, bytes.start, bytes.end))
            });
            let chunk = match same {
                Some(chunk) if there => *chunk,
                Some(chunk) => self.put_chunk(at, Some(chunk.len), &mut window, sink)?,
                None => self.put_chunk(at, None, &mut window, sink)?,
            };
            at = chunk.end();
            chunks.push(chunk);
        }
        Ok(chunks)
    }

    /// Stores the chunk that begins at `start`, finding its end if it is not known.
    fn put_chunk(
        &self,
        start: u64,
        len: Option<u64>,
        window: &mut ReadWindow,
        sink: &mut dyn BlobSink,
    ) -> Result<FileChunk, BlobError> {
        let bytes = window.at(start, self)?;
        let len = len.and_then(|len| usize::try_from(len).ok()).unwrap_or_else(|| cut_first(bytes)).min(bytes.len());
        let id = sink.put(bytes[..len].to_vec())?;
        Ok(FileChunk { start, len: len as u64, id })
    }
}

/// A part of a content that has been read.
struct ReadWindow {
    start: u64,
    bytes: Vec<u8>,
}

impl ReadWindow {
    /// Returns the bytes from `start`: as many as a chunk can have, or all that remain.
    fn at<const SIZE: usize>(&mut self, start: u64, content: &Pieces<SIZE>) -> Result<&[u8], BlobError> {
        let end = self.start + self.bytes.len() as u64;
        let needed = content.len().min(start + MAX_CHUNK_BYTES as u64);
        if start < self.start || end < needed {
            let stop = content.len().min(start + WINDOW_BYTES);
            let mut bytes = Vec::new();
            content.read_to(start, stop, &mut bytes)?;
            *self = ReadWindow { start, bytes };
        }
        let skip = usize::try_from(start - self.start).unwrap_or(usize::MAX);
        let bytes = self.bytes.get(skip..).unwrap_or_default();
        // It cannot be empty, since a content has as many bytes as its length says. If it were, the cutting would never
        // end.
        if bytes.is_empty() { Err(BlobError::Damaged(BlobId::of(bytes))) } else { Ok(bytes) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::blob_ref::BlobOrigin;
    use super::super::errno::Errno;
    use super::*;
    use tollhouse_store::{BlobSource, MemoryBlobs};

    /// Pieces far smaller than chunks.
    type Small = Pieces<16>;

    #[derive(Debug, Clone)]
    enum ContentEdit {
        Append(Vec<u8>),
        WriteAt(u64, Vec<u8>),
        Resize(u64),
        Seal,
        Reopen,
    }

    /// Bytes that are cut in many places, and bytes that are cut only at the maximum size.
    fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![prop::collection::vec(any::<u8>(), 0..most), (0..most).prop_map(|count| vec![0; count])]
    }

    fn edit() -> impl Strategy<Value = ContentEdit> {
        prop_oneof![
            3 => bytes(3_000).prop_map(ContentEdit::Append),
            3 => (0..6_000_u64, bytes(40)).prop_map(|(at, bytes)| ContentEdit::WriteAt(at, bytes)),
            2 => (0..8_000_u64).prop_map(ContentEdit::Resize),
            3 => Just(ContentEdit::Seal),
            2 => Just(ContentEdit::Reopen),
        ]
    }

    fn apply(content: &mut Small, model: &mut Vec<u8>, edit: &ContentEdit) -> Result<(), Errno> {
        let index = |at: u64| usize::try_from(at).expect("small");
        match edit {
            ContentEdit::Append(bytes) => {
                model.extend(bytes);
                content.append(bytes)
            }
            ContentEdit::WriteAt(at, bytes) => {
                let (start, end) = (index(*at), index(*at) + bytes.len());
                model.resize(model.len().max(end), 0);
                model[start..end].copy_from_slice(bytes);
                content.write_at(*at, bytes)
            }
            ContentEdit::Resize(len) => {
                model.resize(index(*len), 0);
                content.resize(*len)
            }
            ContentEdit::Seal | ContentEdit::Reopen => Ok(()),
        }
    }

    fn open(stored: &StoredContent, blobs: &Arc<MemoryBlobs>) -> Small {
        Small::stored(stored.id, stored.len, &BlobOrigin::new(Arc::clone(blobs) as Arc<dyn BlobSource>))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

        /// Whatever the history of a content and of its storage, it is cut as if it were new.
        #[test]
        fn content_sealed_is_chunked_independently_of_its_history(edits in prop::collection::vec(edit(), 1..25)) {
            let blobs = Arc::new(MemoryBlobs::default());
            let (mut content, mut model) = (Small::new(), Vec::new());
            for edit in &edits {
                prop_assert_eq!(apply(&mut content, &mut model, edit), Ok(()));
                prop_assert_eq!(content.len(), model.len() as u64);
                if matches!(edit, ContentEdit::Seal | ContentEdit::Reopen) {
                    let stored = content.seal(&mut &*blobs).expect("all is there");
                    let fresh = Small::from(model.as_slice()).seal(&mut &MemoryBlobs::default()).expect("all is there");
                    prop_assert_eq!(stored.id, fresh.id);
                    if matches!(edit, ContentEdit::Reopen) {
                        content = open(&stored, &blobs);
                    }
                }
            }
            prop_assert_eq!(content.to_vec(), Ok(model.clone()));
            let stored = content.seal(&mut &*blobs).expect("all is there");
            let elsewhere = MemoryBlobs::default();
            let again = content.seal(&mut &elsewhere).expect("all is there");
            prop_assert_eq!(again.id, stored.id);
            prop_assert_eq!(open(&stored, &Arc::new(elsewhere)).to_vec(), Ok(model.clone()));
            let fresh = Small::from(model.as_slice());
            prop_assert_eq!(content.same(&fresh), Ok(true));
            prop_assert_eq!(open(&stored, &blobs).same(&fresh), Ok(true));
            if let Some(last) = model.last_mut() {
                *last ^= 1;
                prop_assert_eq!(content.same(&Small::from(model.as_slice())), Ok(false));
            }
        }
    }

    /// Counts the blobs put and read.
    #[derive(Debug, Default)]
    struct CountingBlobs {
        blobs: MemoryBlobs,
        gets: std::sync::atomic::AtomicUsize,
    }

    impl BlobSource for CountingBlobs {
        fn get(&self, id: &BlobId) -> Result<bytes::Bytes, BlobError> {
            self.gets.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            self.blobs.get(id)
        }

        fn place(&self) -> u64 {
            BlobSource::place(&self.blobs)
        }
    }

    // The counts are those of small parts.
    #[cfg(not(feature = "format-sizes"))]
    #[test]
    fn content_edit_of_long_file_reads_and_stores_only_nearby_chunks() {
        let counted = Arc::new(CountingBlobs::default());
        let bytes: Vec<u8> = (0..40_000_u32).flat_map(|n| n.wrapping_mul(n).to_le_bytes()).collect();
        let stored = Small::from(bytes.as_slice()).seal(&mut &counted.blobs).expect("memory does not fail");
        let all = counted.blobs.len();
        assert!(all > 300, "{all}");
        let origin = BlobOrigin::new(Arc::clone(&counted) as Arc<dyn BlobSource>);
        let mut content = Small::stored(stored.id, stored.len, &origin);
        content.append(b"behind").expect("all is there");
        content.write_at(80_000, b"over").expect("all is there");
        content.seal(&mut &counted.blobs).expect("all is there");
        let lists = all / 4 / 2;
        let (gets, new) = (counted.gets.load(std::sync::atomic::Ordering::Relaxed), counted.blobs.len() - all);
        // Besides the lists, which are read once, only the chunks around two places.
        assert!(gets < lists * 3 + 60, "{gets}");
        assert!(new < 20, "{new}");
    }
}
