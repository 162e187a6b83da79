//! Putting the content of a file into a store. What was cut before and has not changed since is neither read nor cut again;
//! the chunks are the same as if all had been.

use std::sync::Arc;

use super::chunk::{Chunk, Stored, cut_first};
use super::content::Pieces;
use super::scale::{MAX_CHUNK_BYTES, WHOLE_BYTES};
use super::snapshot::encode;
use crate::store::{BlobError, BlobId, BlobSink};

/// Bytes that are read ahead of the cutting: a multiple of the longest chunk, so that each is read about once.
const WINDOW_BYTES: u64 = 4 * MAX_CHUNK_BYTES as u64;

impl<const SIZE: usize> Pieces<SIZE> {
    /// Puts the content at the sink's place, if it is not there already, and says which blob it is, or the list of its
    /// chunks.
    pub(super) fn seal(&self, sink: &mut dyn BlobSink) -> Result<Arc<Stored>, BlobError> {
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

    fn put(&self, sink: &mut dyn BlobSink) -> Result<Stored, BlobError> {
        let (len, place) = (self.len(), sink.place());
        let (id, chunks) = if len <= WHOLE_BYTES {
            let mut bytes = Vec::new();
            self.read_to(0, len, &mut bytes)?;
            let id = sink.put(bytes)?;
            (id, vec![Chunk { start: 0, len, id }])
        } else {
            let chunks = self.put_chunks(sink)?;
            (encode::put_chunk_lists(&chunks, sink)?, chunks)
        };
        Ok(Stored::new(id, len, chunks, place))
    }

    fn put_chunks(&self, sink: &mut dyn BlobSink) -> Result<Vec<Chunk>, BlobError> {
        let before = self.before.as_deref().filter(|before| before.stored.len > WHOLE_BYTES);
        let known = before.map_or(Ok(&[][..]), |before| before.stored.chunks(self.origin()))?;
        let there = before.is_some_and(|before| before.stored.place.is(sink.place()));
        let mut window = Window { start: 0, bytes: Vec::new() };
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

    /// Puts the chunk that begins at `start`, and finds its end if that is not known.
    fn put_chunk(
        &self,
        start: u64,
        len: Option<u64>,
        window: &mut Window,
        sink: &mut dyn BlobSink,
    ) -> Result<Chunk, BlobError> {
        let bytes = window.at(start, self)?;
        let len = len.and_then(|len| usize::try_from(len).ok()).unwrap_or_else(|| cut_first(bytes)).min(bytes.len());
        let id = sink.put(bytes[..len].to_vec())?;
        Ok(Chunk { start, len: len as u64, id })
    }
}

/// A part of a content that has been read.
struct Window {
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// The bytes from `start`: as many as a chunk can have, or all.
    fn at<const SIZE: usize>(&mut self, start: u64, content: &Pieces<SIZE>) -> Result<&[u8], BlobError> {
        let end = self.start + self.bytes.len() as u64;
        let needed = content.len().min(start + MAX_CHUNK_BYTES as u64);
        if start < self.start || end < needed {
            let stop = content.len().min(start + WINDOW_BYTES);
            let mut bytes = Vec::new();
            content.read_to(start, stop, &mut bytes)?;
            *self = Window { start, bytes };
        }
        let skip = usize::try_from(start - self.start).unwrap_or(usize::MAX);
        let bytes = self.bytes.get(skip..).unwrap_or_default();
        // It cannot be empty: a content has as many bytes as its length says. If it were, the cutting would not end.
        if bytes.is_empty() { Err(BlobError::Damaged(BlobId::of(bytes))) } else { Ok(bytes) }
    }
}
