//! File contents in pieces, which versions of a file share. Independent of paths, limits and time.
//!
//! A piece is held in memory, or read from where the content was stored: an edit loads only the pieces that it changes
//! in part. `chunked_upload` puts contents into a store.

use std::sync::{Arc, OnceLock};

use imbl::Vector;

use super::blob_ref::BlobOrigin;
use super::chunk::StoredContent;
use super::errno::Errno;
use super::format_params::WHOLE_BYTES;
use tollhouse_store::{BlobError, BlobId};

/// Size of a piece. Changing a piece that another version shares copies it, so it is small; a gigabyte is still only
/// 16,384 pieces.
const PIECE_BYTES: usize = 64 * 1024;

/// The content of a file. Clones share it; a change copies only the pieces that it touches.
pub type Content = Pieces<PIECE_BYTES>;

/// Bytes in pieces of `SIZE`: all pieces are full except the last, which is not empty. So the position of a byte takes
/// one division, and bytes never shift, since files are only overwritten, extended and cut.
#[derive(Clone)]
pub struct Pieces<const SIZE: usize> {
    /// Pieces in memory. Those that are `None`, or beyond the end of this vector, are read from `origin`.
    held: Vector<Option<Arc<Vec<u8>>>>,
    len: u64,
    origin: Option<Arc<ContentOrigin>>,
    /// Blobs of exactly these bytes, once known.
    pub(super) seal: OnceLock<Arc<StoredContent>>,
    /// The content as it was last stored, if it was in chunks.
    pub(super) before: Option<Arc<PriorContent>>,
}

/// A stored content and the store that it was read from.
#[derive(Debug)]
struct ContentOrigin {
    stored: Arc<StoredContent>,
    origin: Arc<BlobOrigin>,
}

/// A content as it was sealed, before it was changed.
#[derive(Debug)]
pub(super) struct PriorContent {
    pub(super) stored: Arc<StoredContent>,
    held: Vector<Option<Arc<Vec<u8>>>>,
}

impl<const SIZE: usize> Pieces<SIZE> {
    /// Size of a piece as a part of a file's size. Exact: no platform has a `usize` wider than 64 bits.
    const WIDTH: u64 = SIZE as u64;

    /// Creates an empty content.
    #[must_use]
    pub fn new() -> Self {
        Self { held: Vector::new(), len: 0, origin: None, seal: OnceLock::new(), before: None }
    }

    /// Creates a content that is read from a store.
    pub(super) fn stored(id: BlobId, len: u64, origin: &Arc<BlobOrigin>) -> Self {
        let stored = Arc::new(StoredContent::unloaded(id, len, origin.place()));
        let seal = OnceLock::from(Arc::clone(&stored));
        let origin = Some(Arc::new(ContentOrigin { stored, origin: Arc::clone(origin) }));
        Self { len, origin, seal, ..Self::new() }
    }

    /// Number of bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns true if there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads at most `length` bytes from `offset`; fewer at the end.
    ///
    /// # Errors
    /// `Io` if the store does not have them, `TooLarge` if they do not fit into memory.
    pub fn read(&self, offset: u64, length: u64) -> Result<Vec<u8>, Errno> {
        let end = offset.saturating_add(length).min(self.len);
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(index(end.saturating_sub(offset))).map_err(|_| Errno::TooLarge)?;
        self.read_to(offset, end, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads the whole content.
    ///
    /// # Errors
    /// Those of [`Pieces::read`].
    pub fn to_vec(&self) -> Result<Vec<u8>, Errno> {
        self.read(0, self.len)
    }

    /// Appends the bytes from `start` to `end` to `bytes`; `end` is at most the length.
    pub(super) fn read_to(&self, start: u64, end: u64, bytes: &mut Vec<u8>) -> Result<(), BlobError> {
        let mut at = start;
        while at < end {
            let (piece, from) = place::<SIZE>(at);
            if let Some(piece) = self.piece(piece) {
                let stop = index(end - at).saturating_add(from).min(piece.len());
                let Some(part) = piece.get(from..stop).filter(|part| !part.is_empty()) else { break };
                bytes.extend_from_slice(part);
                at += part.len() as u64;
            } else {
                let stop = self.next_held(piece).map_or(end, |next| (next as u64 * Self::WIDTH).min(end));
                if let Some(base) = &self.origin {
                    base.stored.read(&base.origin, at, stop, bytes)?;
                }
                at = stop;
            }
        }
        Ok(())
    }

    /// Appends bytes at the end. The cost depends on their number, not on the length of the file.
    ///
    /// # Errors
    /// `Io` if the last piece is not full, and the store does not have it. Nothing is then written.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        let end = self.len.saturating_add(bytes.len() as u64);
        self.begin(self.len, end, end)?;
        self.extend(bytes);
        Ok(())
    }

    /// Overwrites the bytes at `offset`, extending the content if necessary; a gap is filled with zeros.
    ///
    /// # Errors
    /// `Io` if a piece must be read that the store does not have. Nothing is then written.
    pub fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Errno> {
        let end = offset.saturating_add(bytes.len() as u64);
        self.begin(offset, end, end.max(self.len))?;
        if offset > self.len {
            self.extend_zeros(offset - self.len);
        }
        let (over, behind) = bytes.split_at(bytes.len().min(index(self.len - offset)));
        self.overwrite(offset, over);
        self.extend(behind);
        Ok(())
    }

    /// Cuts the content to `len` bytes, or extends it to that length with zeros. All whole pieces of zeros share one
    /// piece.
    ///
    /// # Errors
    /// `Io` if the last piece is not full, and the store does not have it. Nothing is then changed.
    pub fn resize(&mut self, len: u64) -> Result<(), Errno> {
        self.begin(self.len, len, len)?;
        if len < self.len {
            self.cut(len);
        } else {
            self.extend_zeros(len - self.len);
        }
        Ok(())
    }

    /// Returns true if both contents are the same bytes. Compares only what differs in memory and is not already known
    /// to be equal.
    ///
    /// # Errors
    /// `Io` if the store does not have what must be compared.
    pub(super) fn same(&self, other: &Self) -> Result<bool, Errno> {
        if self.len != other.len {
            return Ok(false);
        }
        // Stored contents of equal length are cut in the same way, so they are equal exactly if they have the same
        // name.
        if let (Some(a), Some(b)) = (self.seal_id(), other.seal_id()) {
            return Ok(a == b);
        }
        let one_origin = match (&self.origin, &other.origin) {
            (Some(a), Some(b)) => a.stored.id == b.stored.id,
            _ => false,
        };
        for at in 0..index(self.len.div_ceil(Self::WIDTH)) {
            let shared = match (self.piece(at), other.piece(at)) {
                (Some(a), Some(b)) => Arc::ptr_eq(a, b),
                (None, None) => one_origin,
                _ => false,
            };
            let start = at as u64 * Self::WIDTH;
            let same = match (self.piece(at), other.piece(at)) {
                _ if shared => true,
                (Some(a), Some(b)) => a == b,
                _ => self.read(start, Self::WIDTH)? == other.read(start, Self::WIDTH)?,
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns true if both contents are evidently the same, without reading from a store; if it returns false, they
    /// may still be the same.
    pub(super) fn evidently_same(&self, other: &Self) -> bool {
        let held = match (self.piece(0), other.piece(0)) {
            (Some(a), Some(b)) => self.len <= Self::WIDTH && a == b,
            _ => self.len == 0,
        };
        self.len == other.len && (held || (self.seal_id().is_some() && self.seal_id() == other.seal_id()))
    }

    /// Name of the blob of these bytes, or of the list of their chunks, if it is known.
    fn seal_id(&self) -> Option<BlobId> {
        self.seal.get().map(|stored| stored.id)
    }

    /// The store that pieces not in memory are read from.
    pub(super) fn origin(&self) -> Option<&BlobOrigin> {
        self.origin.as_ref().map(|base| &*base.origin)
    }

    /// Returns true if the bytes from `start` to `end` are certainly the same as before.
    pub(super) fn unchanged(&self, before: &PriorContent, start: u64, end: u64) -> bool {
        let (first, _) = place::<SIZE>(start);
        (first..index(end.div_ceil(Self::WIDTH))).all(|at| match (self.piece(at), before.held.get(at)) {
            (Some(now), Some(Some(then))) => Arc::ptr_eq(now, then),
            (None, None | Some(None)) => true,
            _ => false,
        })
    }

    fn piece(&self, at: usize) -> Option<&Arc<Vec<u8>>> {
        self.held.get(at)?.as_ref()
    }

    fn next_held(&self, after: usize) -> Option<usize> {
        (after + 1..self.held.len()).find(|at| self.piece(*at).is_some())
    }

    /// Prepares a change that writes from `start` to `end`, or moves the end, and leaves `len` bytes: loads the pieces
    /// that are changed only in part. If that fails, the content is unchanged.
    fn begin(&mut self, start: u64, end: u64, len: u64) -> Result<(), Errno> {
        if len <= WHOLE_BYTES {
            // The whole content will be stored again. Reading it now reports missing blobs to the caller that changes
            // the file, not to the one that seals the tree.
            for at in 0..index(len.min(self.len).div_ceil(Self::WIDTH)) {
                self.load_piece(at)?;
            }
        }
        let grows = end > self.len;
        let edges = [
            (start < self.len).then_some(start),
            (end < self.len && start < end).then(|| end - 1),
            (grows && !self.len.is_multiple_of(Self::WIDTH)).then(|| self.len - 1),
        ];
        for edge in edges.into_iter().flatten() {
            self.load_piece(place::<SIZE>(edge).0)?;
        }
        if grows || start < end {
            // Up to the last piece that is touched; all of them if the content grows.
            let touched = index(end.min(self.len).div_ceil(Self::WIDTH));
            self.extend_pieces(touched);
        }
        if let Some(stored) = self.seal.take() {
            // A content of one blob is stored again completely, whatever was changed.
            let chunked = stored.len > WHOLE_BYTES;
            self.before = chunked.then(|| Arc::new(PriorContent { stored, held: self.held.clone() }));
        }
        Ok(())
    }

    /// Loads a piece into memory.
    fn load_piece(&mut self, at: usize) -> Result<(), Errno> {
        if self.piece(at).is_some() {
            return Ok(());
        }
        let bytes = self.read(at as u64 * Self::WIDTH, Self::WIDTH)?;
        self.extend_pieces(at + 1);
        self.held.set(at, Some(Arc::new(bytes)));
        Ok(())
    }

    /// Extends the vector of pieces to at least `count`.
    fn extend_pieces(&mut self, count: usize) {
        while self.held.len() < count {
            self.held.push_back(None);
        }
    }

    /// Appends bytes at the end; the last piece is in memory or full.
    fn extend(&mut self, mut bytes: &[u8]) {
        self.len += bytes.len() as u64;
        while !bytes.is_empty() {
            let room = self.room();
            let (part, later) = bytes.split_at(bytes.len().min(if room == 0 { SIZE } else { room }));
            match self.held.back_mut() {
                Some(Some(tail)) if room > 0 => reserve(tail, part.len(), SIZE).extend_from_slice(part),
                _ => self.held.push_back(Some(Arc::new(part.to_vec()))),
            }
            bytes = later;
        }
    }

    /// Overwrites existing bytes. The first and last piece touched are in memory.
    fn overwrite(&mut self, offset: u64, bytes: &[u8]) {
        let (mut at, mut rest) = (offset, bytes);
        while !rest.is_empty() {
            let (place, start) = place::<SIZE>(at);
            let Some(slot) = self.held.get_mut(place) else { break };
            let room = slot.as_ref().map_or(SIZE, |piece| piece.len()) - start;
            let (part, later) = rest.split_at(rest.len().min(room));
            match slot {
                Some(piece) => Arc::make_mut(piece)[start..start + part.len()].copy_from_slice(part),
                None => *slot = Some(Arc::new(part.to_vec())),
            }
            at += part.len() as u64;
            rest = later;
        }
    }

    fn cut(&mut self, len: u64) {
        self.len = len;
        let count = index(len.div_ceil(Self::WIDTH));
        self.held.truncate(count.min(self.held.len()));
        let (at, end) = place::<SIZE>(len);
        if end > 0
            && let Some(Some(tail)) = self.held.get_mut(at)
        {
            // A new piece, so that the removed bytes do not stay allocated without counting towards the quota.
            *tail = Arc::new(tail[..end].to_vec());
        }
    }

    fn extend_zeros(&mut self, count: u64) {
        let part = index(count).min(self.room());
        self.len += count;
        if part > 0
            && let Some(Some(tail)) = self.held.back_mut()
        {
            let filled = tail.len() + part;
            reserve(tail, part, SIZE).resize(filled, 0);
        }
        let rest = count - part as u64;
        if rest >= Self::WIDTH {
            let zeros = Arc::new(vec![0; SIZE]);
            for _ in 0..rest / Self::WIDTH {
                self.held.push_back(Some(Arc::clone(&zeros)));
            }
        }
        let (_, tail) = place::<SIZE>(rest);
        if tail > 0 {
            self.held.push_back(Some(Arc::new(vec![0; tail])));
        }
    }

    /// Number of bytes that still fit into the last piece; if there are any, it is in memory.
    fn room(&self) -> usize {
        match self.held.last() {
            Some(Some(tail)) => SIZE - tail.len(),
            Some(None) | None => 0,
        }
    }
}

impl<const SIZE: usize> Default for Pieces<SIZE> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const SIZE: usize> From<&[u8]> for Pieces<SIZE> {
    fn from(bytes: &[u8]) -> Self {
        let mut content = Self { len: 0, ..Self::new() };
        content.extend(bytes);
        content
    }
}

impl<const SIZE: usize> From<Vec<u8>> for Pieces<SIZE> {
    fn from(bytes: Vec<u8>) -> Self {
        if bytes.is_empty() || bytes.len() > SIZE {
            return Self::from(bytes.as_slice());
        }
        Self { len: bytes.len() as u64, held: Vector::unit(Some(Arc::new(bytes))), ..Self::new() }
    }
}

impl<const SIZE: usize> PartialEq for Pieces<SIZE> {
    /// Compares the bytes, skipping shared pieces. Contents that cannot be read are not equal.
    fn eq(&self, other: &Self) -> bool {
        self.same(other).unwrap_or(false)
    }
}

impl<const SIZE: usize> std::fmt::Debug for Pieces<SIZE> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Content({} bytes)", self.len)
    }
}

/// Returns the index of the piece that holds the byte at `offset`, and the position within it.
fn place<const SIZE: usize>(offset: u64) -> (usize, usize) {
    let size = SIZE as u64;
    (index(offset / size), index(offset % size))
}

/// Converts a position to an index in memory. A position beyond memory is past every end.
fn index(position: u64) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}

/// Makes a piece exclusively owned, with room for `more` bytes. Its capacity doubles up to `size`, so that many small
/// appends copy it only a few times.
fn reserve(piece: &mut Arc<Vec<u8>>, more: usize, size: usize) -> &mut Vec<u8> {
    let needed = piece.len() + more;
    if Arc::get_mut(piece).is_none_or(|bytes| bytes.capacity() < needed) {
        let mut bytes = Vec::with_capacity(needed.next_power_of_two().min(size));
        bytes.extend_from_slice(piece);
        *piece = Arc::new(bytes);
    }
    Arc::make_mut(piece)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Small pieces, so that a few hundred bytes make a deep vector.
    type Small = Pieces<4>;

    #[derive(Debug, Clone)]
    enum ContentEdit {
        Append(Vec<u8>),
        WriteAt(u64, Vec<u8>),
        Resize(u64),
        Fork,
    }

    fn edit() -> impl Strategy<Value = ContentEdit> {
        let bytes = || prop::collection::vec(any::<u8>(), 0..300);
        prop_oneof![
            3 => bytes().prop_map(ContentEdit::Append),
            2 => (0..900_u64, bytes()).prop_map(|(at, bytes)| ContentEdit::WriteAt(at, bytes)),
            2 => (0..900_u64).prop_map(ContentEdit::Resize),
            1 => Just(ContentEdit::Fork),
        ]
    }

    fn apply(model: &mut Vec<u8>, edit: &ContentEdit) {
        match edit {
            ContentEdit::Append(bytes) => model.extend(bytes),
            ContentEdit::WriteAt(at, bytes) => {
                let at = index(*at);
                let end = at + bytes.len();
                model.resize(model.len().max(at), 0);
                model.resize(model.len().max(end), 0);
                model[at..end].copy_from_slice(bytes);
            }
            ContentEdit::Resize(len) => model.resize(index(*len), 0),
            ContentEdit::Fork => {}
        }
    }

    proptest! {
        #[test]
        fn content_edited_matches_a_plain_vector_and_forks_do_not_change(
            edits in prop::collection::vec(edit(), 1..40),
            (offset, length) in (0..1_000_u64, 0..1_000_u64),
        ) {
            let (mut content, mut model) = (Small::new(), Vec::new());
            let mut forks = Vec::new();
            for edit in &edits {
                apply(&mut model, edit);
                match edit {
                    ContentEdit::Append(bytes) => content.append(bytes).expect("all is held"),
                    ContentEdit::WriteAt(at, bytes) => content.write_at(*at, bytes).expect("all is held"),
                    ContentEdit::Resize(len) => content.resize(*len).expect("all is held"),
                    ContentEdit::Fork => forks.push((content.clone(), model.clone())),
                }
                prop_assert_eq!(content.len(), model.len() as u64);
                prop_assert!(all_full(&content));
            }
            let start = index(offset).min(model.len());
            let end = index(offset + length).min(model.len());
            prop_assert_eq!(content.read(offset, length), Ok(model[start..end].to_vec()));
            prop_assert_eq!(&content, &Small::from(model.as_slice()));
            for (fork, model) in forks {
                prop_assert_eq!(fork.to_vec(), Ok(model));
            }
        }
    }

    /// Checks the invariants of `Pieces`.
    fn all_full(content: &Small) -> bool {
        let sizes: Vec<usize> = content.held.iter().flatten().map(|piece| piece.len()).collect();
        sizes.split_last().is_none_or(|(last, full)| (1..=4).contains(last) && full.iter().all(|len| *len == 4))
    }

    #[test]
    fn reading_past_the_end_gives_nothing() {
        let content = Content::from(b"abc".as_slice());
        assert_eq!(content.read(3, 10).as_deref(), Ok(b"".as_slice()));
        assert_eq!(content.read(u64::MAX, u64::MAX).as_deref(), Ok(b"".as_slice()));
        assert_eq!(content.read(1, u64::MAX).as_deref(), Ok(b"bc".as_slice()));
        assert!(!content.is_empty());
        assert!(Content::default().is_empty());
    }

    #[test]
    fn content_of_zeros_shares_one_piece() {
        let mut content = Content::new();
        content.resize(1 << 30).expect("all is held");
        let first = content.piece(0).expect("a gigabyte has pieces");
        assert!(content.held.iter().flatten().all(|piece| Arc::ptr_eq(piece, first)));
    }

    #[test]
    fn small_appends_copy_a_piece_a_few_times_only() {
        let mut content = Content::new();
        let mut moved = 0;
        let mut address = std::ptr::null();
        for _ in 0..PIECE_BYTES {
            content.append(b"x").expect("all is held");
            let now = content.piece(0).expect("not empty").as_ptr();
            moved += usize::from(now != address);
            address = now;
        }
        assert!(moved <= 20, "a piece that doubles moves at most 17 times, not {moved}");
    }

    #[test]
    fn content_truncated_releases_its_memory() {
        let mut content = Content::from(vec![1; PIECE_BYTES].as_slice());
        content.resize(1).expect("all is held");
        assert_eq!(content.piece(0).map(|piece| piece.capacity()), Some(1));
    }

    #[test]
    fn content_clone_shares_untouched_pieces() {
        let mut content = Content::from(vec![7; 4 * PIECE_BYTES].as_slice());
        let before = content.clone();
        content.write_at(PIECE_BYTES as u64 + 1, b"x").expect("all is held");
        let pieces = content.held.iter().flatten().zip(before.held.iter().flatten());
        let shared = pieces.map(|(a, b)| Arc::ptr_eq(a, b)).collect::<Vec<_>>();
        assert_eq!(shared, [true, false, true, true]);
        assert_ne!(content, before);
    }
}
