//! Content as it is stored: one blob if it is short, else chunks that are cut where the content itself says, so that an
//! edit moves few of the cuts (FastCDC, version of 2020).

use std::sync::OnceLock;

use fastcdc::v2020::{Normalization, cut, select_masks};

use super::scale::{CHUNK_BYTES, MAX_CHUNK_BYTES, MIN_CHUNK_BYTES, WHOLE_BYTES};
use super::snapshot::load;
use super::stored::{Origin, Place};
use crate::store::{BlobError, BlobId};

/// So far behind a cut FastCDC looks at the most: it goes by twos.
const LOOKAHEAD: u64 = 2;

/// A part of a content that is one blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunk {
    pub(super) start: u64,
    pub(super) len: u64,
    pub(super) id: BlobId,
}

impl Chunk {
    pub(super) fn end(&self) -> u64 {
        self.start + self.len
    }

    /// The bytes that decided where the chunk ends, if that did not depend on how long the content is: it was `old` bytes
    /// long, and is `new` bytes now.
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

/// A content in a store.
#[derive(Debug)]
pub(super) struct Stored {
    /// The blob, or the list of the chunks.
    pub(super) id: BlobId,
    pub(super) len: u64,
    pub(super) place: Place,
    chunks: OnceLock<Vec<Chunk>>,
}

impl Stored {
    /// A content of which no more is known yet.
    pub(super) fn unloaded(id: BlobId, len: u64, place: u64) -> Stored {
        let stored = Stored { id, len, place: Place::new(place), chunks: OnceLock::new() };
        if len <= WHOLE_BYTES {
            stored.chunks.get_or_init(|| vec![Chunk { start: 0, len, id }]);
        }
        stored
    }

    /// A content that is these chunks.
    pub(super) fn new(id: BlobId, len: u64, chunks: Vec<Chunk>, place: u64) -> Stored {
        Stored { id, len, place: Place::new(place), chunks: OnceLock::from(chunks) }
    }

    /// The chunks, in order and without gaps.
    pub(super) fn chunks(&self, origin: Option<&Origin>) -> Result<&[Chunk], BlobError> {
        if let Some(chunks) = self.chunks.get() {
            return Ok(chunks);
        }
        let chunks = load::chunks(&self.id, self.len, origin.ok_or(BlobError::Missing(self.id))?)?;
        Ok(self.chunks.get_or_init(|| chunks))
    }

    /// Adds the bytes from `start` up to `end`, which is no further than the content's, to `bytes`.
    pub(super) fn read(&self, origin: &Origin, start: u64, end: u64, bytes: &mut Vec<u8>) -> Result<(), BlobError> {
        let chunks = self.chunks(Some(origin))?;
        let first = chunks.partition_point(|chunk| chunk.end() <= start);
        for chunk in chunks.iter().skip(first).take_while(|chunk| chunk.start < end) {
            let blob = origin.get(&chunk.id)?;
            // A blob of another length than the list says, which may be hostile, is the wrong one.
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

/// Where the chunk ends that begins where these bytes begin: they are all that follows, or at least
/// [`MAX_CHUNK_BYTES`](super::scale::MAX_CHUNK_BYTES).
pub(super) fn cut_first(bytes: &[u8]) -> usize {
    let (strict, loose) = select_masks(CHUNK_BYTES, Normalization::Level1);
    cut(bytes, MIN_CHUNK_BYTES, CHUNK_BYTES, MAX_CHUNK_BYTES, strict, loose, strict << 1, loose << 1).1
}
