//! Stored file contents: one blob for a short file, else chunks. Chunk boundaries depend on the content (FastCDC,
//! version of 2020), so that an edit moves few of them.

use std::sync::OnceLock;

use fastcdc::v2020::{Normalization, cut, select_masks};

use super::blob_ref::{BlobOrigin, StorePlace};
use super::format_params::{CHUNK_BYTES, MAX_CHUNK_BYTES, MIN_CHUNK_BYTES, WHOLE_BYTES};
use super::snapshot::load;
use tollhouse_store::{BlobError, BlobId};

/// Maximum number of bytes after a boundary that FastCDC looks at: it advances by two.
const LOOKAHEAD: u64 = 2;

/// A part of a file's content that is one blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileChunk {
    pub(super) start: u64,
    pub(super) len: u64,
    pub(super) id: BlobId,
}

impl FileChunk {
    pub(super) fn end(&self) -> u64 {
        self.start + self.len
    }

    /// Returns the range of bytes that determined the end of the chunk, provided that it did not depend on the length
    /// of the content, which was `old` bytes and is now `new` bytes.
    pub(super) fn evidence(&self, old: u64, new: u64) -> Option<std::ops::Range<u64>> {
        let end = self.end() + LOOKAHEAD;
        if end <= old.min(new) {
            Some(self.start..end)
        } else if old == new {
            Some(self.start..end.min(new))
        } else {
            None
        }
    }
}

/// A content in a blob store.
#[derive(Debug)]
pub(super) struct StoredContent {
    /// Name of the blob, or of the list of chunks.
    pub(super) id: BlobId,
    pub(super) len: u64,
    pub(super) place: StorePlace,
    chunks: OnceLock<Vec<FileChunk>>,
}

impl StoredContent {
    /// Creates a stored content whose chunks are not known yet.
    pub(super) fn unloaded(id: BlobId, len: u64, place: u64) -> StoredContent {
        let stored = StoredContent { id, len, place: StorePlace::new(place), chunks: OnceLock::new() };
        if len <= WHOLE_BYTES {
            stored.chunks.get_or_init(|| vec![FileChunk { start: 0, len, id }]);
        }
        stored
    }

    /// Creates a stored content with known chunks.
    pub(super) fn new(id: BlobId, len: u64, chunks: Vec<FileChunk>, place: u64) -> StoredContent {
        StoredContent { id, len, place: StorePlace::new(place), chunks: OnceLock::from(chunks) }
    }

    /// Returns the chunks, in order and without gaps.
    pub(super) fn chunks(&self, origin: Option<&BlobOrigin>) -> Result<&[FileChunk], BlobError> {
        if let Some(chunks) = self.chunks.get() {
            return Ok(chunks);
        }
        let chunks = load::chunks(&self.id, self.len, origin.ok_or(BlobError::Missing(self.id))?)?;
        Ok(self.chunks.get_or_init(|| chunks))
    }

    /// Appends the bytes from `start` to `end` to `bytes`; `end` is at most the length of the content.
    pub(super) fn read(&self, origin: &BlobOrigin, start: u64, end: u64, bytes: &mut Vec<u8>) -> Result<(), BlobError> {
        let chunks = self.chunks(Some(origin))?;
        let first = chunks.partition_point(|chunk| chunk.end() <= start);
        for chunk in chunks.iter().skip(first).take_while(|chunk| chunk.start < end) {
            let blob = origin.get(&chunk.id)?;
            // A blob whose length differs from the list's claim is the wrong one; the list may be hostile.
            let damaged = BlobError::Damaged(chunk.id);
            if blob.len() as u64 != chunk.len {
                return Err(damaged);
            }
            let from = usize::try_from(start.saturating_sub(chunk.start)).map_err(|_| BlobError::Damaged(chunk.id))?;
            let to = usize::try_from(end.min(chunk.end()) - chunk.start).map_err(|_| BlobError::Damaged(chunk.id))?;
            bytes.extend_from_slice(blob.get(from..to).ok_or(damaged)?);
        }
        Ok(())
    }
}

/// Returns the length of the first chunk of these bytes: they are the whole rest of the content, or at least
/// [`MAX_CHUNK_BYTES`](super::format_params::MAX_CHUNK_BYTES).
pub(super) fn cut_first(bytes: &[u8]) -> usize {
    let (strict, loose) = select_masks(CHUNK_BYTES, Normalization::Level1);
    cut(bytes, MIN_CHUNK_BYTES, CHUNK_BYTES, MAX_CHUNK_BYTES, strict, loose, strict << 1, loose << 1).1
}
