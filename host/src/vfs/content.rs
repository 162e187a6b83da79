//! The bytes of a file, in pieces that versions of it share. Knows nothing of paths, limits or time.
//!
//! A piece is held in memory, or it is where the content came from: an edit loads the pieces that it touches in part, and
//! no other. How content is put into a store is in `rechunk`.

use std::sync::{Arc, OnceLock};

use imbl::Vector;

use super::chunk::Stored;
use super::errno::Errno;
use super::scale::WHOLE_BYTES;
use super::stored::Origin;
use crate::store::{BlobError, BlobId};

/// Bytes in a piece. A change to a piece that another version still holds copies this much, so it is small; a gigabyte
/// is still only 16,384 of them.
const PIECE_BYTES: usize = 64 * 1024;

/// The bytes of a file. A clone shares them; a change copies only the pieces that it touches.
pub type Content = Pieces<PIECE_BYTES>;

/// Bytes in pieces of `SIZE`: all are full but the last, which is not empty. So a byte's place is a division away, and
/// nothing ever shifts, since files are only overwritten, extended and cut.
#[derive(Clone)]
pub struct Pieces<const SIZE: usize> {
    /// What is not held here, and what would be behind the last, is as in `origin`.
    held: Vector<Option<Arc<Vec<u8>>>>,
    len: u64,
    origin: Option<Arc<Base>>,
    /// Which blobs these very bytes are, once that is known.
    pub(super) seal: OnceLock<Arc<Stored>>,
    /// What they were when that was last known, if it was chunks.
    pub(super) before: Option<Arc<Before>>,
}

/// A content in a store, and the store.
#[derive(Debug)]
struct Base {
    stored: Arc<Stored>,
    origin: Arc<Origin>,
}

/// A content as it was sealed, before it was changed.
#[derive(Debug)]
pub(super) struct Before {
    pub(super) stored: Arc<Stored>,
    held: Vector<Option<Arc<Vec<u8>>>>,
}

impl<const SIZE: usize> Pieces<SIZE> {
    /// The size of a piece, as a part of a file's size. Exact: no platform has a `usize` wider than 64 bits.
    const WIDTH: u64 = SIZE as u64;

    /// No bytes.
    #[must_use]
    pub fn new() -> Self {
        Self { held: Vector::new(), len: 0, origin: None, seal: OnceLock::new(), before: None }
    }

    /// What a store has.
    pub(super) fn stored(id: BlobId, len: u64, origin: &Arc<Origin>) -> Self {
        let stored = Arc::new(Stored::unloaded(id, len, origin.place()));
        let seal = OnceLock::from(Arc::clone(&stored));
        let origin = Some(Arc::new(Base { stored, origin: Arc::clone(origin) }));
        Self { len, origin, seal, ..Self::new() }
    }

    /// How many bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// At most `length` bytes from `offset`; fewer at the end.
    ///
    /// # Errors
    /// `Io` if the store does not have them, `TooLarge` for more than there is memory.
    pub fn read(&self, offset: u64, length: u64) -> Result<Vec<u8>, Errno> {
        let end = offset.saturating_add(length).min(self.len);
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(index(end.saturating_sub(offset))).map_err(|_| Errno::TooLarge)?;
        self.read_to(offset, end, &mut bytes)?;
        Ok(bytes)
    }

    /// All of it.
    ///
    /// # Errors
    /// As [`Pieces::read`].
    pub fn to_vec(&self) -> Result<Vec<u8>, Errno> {
        self.read(0, self.len)
    }

    /// Adds the bytes from `start` up to `end`, which is not behind the end, to `bytes`.
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

    /// Writes behind the end. Costs what it adds, however long the file is.
    ///
    /// # Errors
    /// `Io` if the last piece is not full, and the store does not have it. Nothing is written then.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        let end = self.len.saturating_add(bytes.len() as u64);
        self.begin(self.len, end, end)?;
        self.extend(bytes);
        Ok(())
    }

    /// Writes over what is at `offset`, and behind the end if it reaches so far; a gap is filled with zeros.
    ///
    /// # Errors
    /// `Io` if a piece must be read that the store does not have. Nothing is written then.
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

    /// Cuts it to `len` bytes, or adds zeros up to there. Whole pieces of zeros are one piece, shared.
    ///
    /// # Errors
    /// `Io` if the last piece is not full, and the store does not have it. Nothing is changed then.
    pub fn resize(&mut self, len: u64) -> Result<(), Errno> {
        self.begin(self.len, len, len)?;
        if len < self.len {
            self.cut(len);
        } else {
            self.extend_zeros(len - self.len);
        }
        Ok(())
    }

    /// Whether both are the same bytes. Costs what differs, and no more than is not known already.
    ///
    /// # Errors
    /// `Io` if the store does not have what must be compared.
    pub(super) fn same(&self, other: &Self) -> Result<bool, Errno> {
        if self.len != other.len {
            return Ok(false);
        }
        // What is equally long and stored is cut alike, so it is the same exactly if it has the same name.
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

    /// Whether both are the same bytes, as far as that can be seen at once: if not, they may be all the same.
    pub(super) fn evidently_same(&self, other: &Self) -> bool {
        let held = match (self.piece(0), other.piece(0)) {
            (Some(a), Some(b)) => self.len <= Self::WIDTH && a == b,
            _ => self.len == 0,
        };
        self.len == other.len && (held || (self.seal_id().is_some() && self.seal_id() == other.seal_id()))
    }

    /// Which blob these bytes are, or the list of their chunks, if that is known.
    fn seal_id(&self) -> Option<BlobId> {
        self.seal.get().map(|stored| stored.id)
    }

    /// Where pieces that are not held are read.
    pub(super) fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref().map(|base| &*base.origin)
    }

    /// Whether the bytes from `start` up to `end` are for certain what they were before.
    pub(super) fn unchanged(&self, before: &Before, start: u64, end: u64) -> bool {
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

    /// Makes ready for a change that writes from `start` up to `end`, or moves the end, which leaves `len` bytes: loads
    /// pieces that are changed in part only. If that fails, the bytes are as they were.
    fn begin(&mut self, start: u64, end: u64, len: u64) -> Result<(), Errno> {
        if len <= WHOLE_BYTES {
            // All of it will be stored anew. What is missing is told to who changes the file, and not to who seals the tree.
            for at in 0..index(len.min(self.len).div_ceil(Self::WIDTH)) {
                self.hold(at)?;
            }
        }
        let grows = end > self.len;
        let edges = [
            (start < self.len).then_some(start),
            (end < self.len && start < end).then(|| end - 1),
            (grows && !self.len.is_multiple_of(Self::WIDTH)).then(|| self.len - 1),
        ];
        for edge in edges.into_iter().flatten() {
            self.hold(place::<SIZE>(edge).0)?;
        }
        if grows || start < end {
            // Up to the last piece that is touched; with what is behind the end, all.
            let touched = index(end.min(self.len).div_ceil(Self::WIDTH));
            self.fill(touched);
        }
        if let Some(stored) = self.seal.take() {
            // One blob is put anew whatever was changed in it.
            let chunked = stored.len > WHOLE_BYTES;
            self.before = chunked.then(|| Arc::new(Before { stored, held: self.held.clone() }));
        }
        Ok(())
    }

    /// Loads a piece.
    fn hold(&mut self, at: usize) -> Result<(), Errno> {
        if self.piece(at).is_some() {
            return Ok(());
        }
        let bytes = self.read(at as u64 * Self::WIDTH, Self::WIDTH)?;
        self.fill(at + 1);
        self.held.set(at, Some(Arc::new(bytes)));
        Ok(())
    }

    /// Gives each of the first `count` pieces a place.
    fn fill(&mut self, count: usize) {
        while self.held.len() < count {
            self.held.push_back(None);
        }
    }

    /// Writes behind the end, where the last piece is held or full.
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

    /// Writes within what is there. The pieces at the edges are held.
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
            // A fresh piece, so that what was cut away is not kept allocated, out of the quota's sight.
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

    /// Bytes that still fit in the last piece, which is held if there are any.
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
    /// Compares bytes, and skips the pieces that both share. What cannot be read is not equal.
    fn eq(&self, other: &Self) -> bool {
        self.same(other).unwrap_or(false)
    }
}

impl<const SIZE: usize> std::fmt::Debug for Pieces<SIZE> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Content({} bytes)", self.len)
    }
}

/// The piece that holds the byte at `offset`, and where in that piece.
fn place<const SIZE: usize>(offset: u64) -> (usize, usize) {
    let size = SIZE as u64;
    (index(offset / size), index(offset % size))
}

/// A position in memory. What is beyond is past every end.
fn index(position: u64) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}

/// Makes a piece ours alone, with room for `more` bytes. It doubles up to `size`, so that many small appends cost one
/// copy between them.
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

    /// Small pieces, so that a few hundred bytes already make a deep vector.
    type Small = Pieces<4>;

    #[derive(Debug, Clone)]
    enum Edit {
        Append(Vec<u8>),
        WriteAt(u64, Vec<u8>),
        Resize(u64),
        Fork,
    }

    fn edit() -> impl Strategy<Value = Edit> {
        let bytes = || prop::collection::vec(any::<u8>(), 0..300);
        prop_oneof![
            3 => bytes().prop_map(Edit::Append),
            2 => (0..900_u64, bytes()).prop_map(|(at, bytes)| Edit::WriteAt(at, bytes)),
            2 => (0..900_u64).prop_map(Edit::Resize),
            1 => Just(Edit::Fork),
        ]
    }

    fn apply(model: &mut Vec<u8>, edit: &Edit) {
        match edit {
            Edit::Append(bytes) => model.extend(bytes),
            Edit::WriteAt(at, bytes) => {
                let at = index(*at);
                let end = at + bytes.len();
                model.resize(model.len().max(at), 0);
                model.resize(model.len().max(end), 0);
                model[at..end].copy_from_slice(bytes);
            }
            Edit::Resize(len) => model.resize(index(*len), 0),
            Edit::Fork => {}
        }
    }

    proptest! {
        #[test]
        fn behaves_as_a_plain_vector_and_forks_never_change(
            edits in prop::collection::vec(edit(), 1..40),
            (offset, length) in (0..1_000_u64, 0..1_000_u64),
        ) {
            let (mut content, mut model) = (Small::new(), Vec::new());
            let mut forks = Vec::new();
            for edit in &edits {
                apply(&mut model, edit);
                match edit {
                    Edit::Append(bytes) => content.append(bytes).expect("all is held"),
                    Edit::WriteAt(at, bytes) => content.write_at(*at, bytes).expect("all is held"),
                    Edit::Resize(len) => content.resize(*len).expect("all is held"),
                    Edit::Fork => forks.push((content.clone(), model.clone())),
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

    /// What `Pieces` promises of its pieces.
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
    fn a_long_run_of_zeros_is_one_piece() {
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
    fn what_is_cut_away_is_not_kept_allocated() {
        let mut content = Content::from(vec![1; PIECE_BYTES].as_slice());
        content.resize(1).expect("all is held");
        assert_eq!(content.piece(0).map(|piece| piece.capacity()), Some(1));
    }

    #[test]
    fn a_clone_shares_every_piece_that_is_not_touched() {
        let mut content = Content::from(vec![7; 4 * PIECE_BYTES].as_slice());
        let before = content.clone();
        content.write_at(PIECE_BYTES as u64 + 1, b"x").expect("all is held");
        let pieces = content.held.iter().flatten().zip(before.held.iter().flatten());
        let shared = pieces.map(|(a, b)| Arc::ptr_eq(a, b)).collect::<Vec<_>>();
        assert_eq!(shared, [true, false, true, true]);
        assert_ne!(content, before);
    }
}
