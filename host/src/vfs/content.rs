//! The bytes of a file, in pieces that versions of it share. Knows nothing of paths, limits or time.

use std::sync::Arc;

use imbl::Vector;

/// Bytes in a piece. A change to a piece that another version still holds copies this much, so it is small; a gigabyte
/// is still only 16,384 of them.
const PIECE_BYTES: usize = 64 * 1024;

/// The bytes of a file. A clone shares them; a change copies only the pieces that it touches.
pub type Content = Pieces<PIECE_BYTES>;

/// Bytes in pieces of `SIZE`: all are full but the last, which is not empty. So a byte's place is a division away, and
/// nothing ever shifts, since files are only overwritten, extended and cut.
#[derive(Clone)]
pub struct Pieces<const SIZE: usize> {
    pieces: Vector<Arc<Vec<u8>>>,
    len: u64,
}

impl<const SIZE: usize> Pieces<SIZE> {
    /// The size of a piece, as a part of a file's size. Exact: no platform has a `usize` wider than 64 bits.
    const WIDTH: u64 = SIZE as u64;

    /// No bytes.
    #[must_use]
    pub fn new() -> Self {
        Self { pieces: Vector::new(), len: 0 }
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
    #[must_use]
    pub fn read(&self, offset: u64, length: u64) -> Vec<u8> {
        let end = offset.saturating_add(length).min(self.len);
        let mut bytes = Vec::with_capacity(index(end.saturating_sub(offset)));
        let mut at = offset;
        while at < end {
            let (piece, start) = place::<SIZE>(at);
            let Some(piece) = self.pieces.get(piece) else { break };
            let stop = index(end - at).saturating_add(start).min(piece.len());
            let part = &piece[start..stop];
            bytes.extend_from_slice(part);
            at += part.len() as u64;
        }
        bytes
    }

    /// All of it.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        self.read(0, self.len)
    }

    /// Its bytes in order, piece by piece.
    pub fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        self.pieces.iter().map(|piece| piece.as_slice())
    }

    /// Writes behind the end. Costs what it adds, however long the file is.
    pub fn append(&mut self, mut bytes: &[u8]) {
        self.len += bytes.len() as u64;
        while !bytes.is_empty() {
            let room = self.room();
            let (part, later) = bytes.split_at(bytes.len().min(if room == 0 { SIZE } else { room }));
            match self.pieces.back_mut() {
                Some(tail) if room > 0 => reserve(tail, part.len(), SIZE).extend_from_slice(part),
                _ => self.pieces.push_back(Arc::new(part.to_vec())),
            }
            bytes = later;
        }
    }

    /// Writes over what is at `offset`, and behind the end if it reaches so far; a gap is filled with zeros.
    pub fn write_at(&mut self, offset: u64, bytes: &[u8]) {
        if offset > self.len {
            self.resize(offset);
        }
        let (over, behind) = bytes.split_at(bytes.len().min(index(self.len - offset)));
        let mut at = offset;
        let mut rest = over;
        while !rest.is_empty() {
            let (piece, start) = place::<SIZE>(at);
            let Some(piece) = self.pieces.get_mut(piece) else { break };
            let piece = Arc::make_mut(piece);
            let (part, later) = rest.split_at(rest.len().min(piece.len() - start));
            piece[start..start + part.len()].copy_from_slice(part);
            at += part.len() as u64;
            rest = later;
        }
        self.append(behind);
    }

    /// Cuts it to `len` bytes, or adds zeros up to there. Whole pieces of zeros are one piece, shared.
    pub fn resize(&mut self, len: u64) {
        if len < self.len {
            self.cut(len);
        } else {
            self.extend_zeros(len - self.len);
        }
    }

    fn cut(&mut self, len: u64) {
        self.len = len;
        self.pieces.truncate(index(len.div_ceil(Self::WIDTH)));
        let (_, end) = place::<SIZE>(len);
        if end > 0
            && let Some(tail) = self.pieces.back_mut()
        {
            // A fresh piece, so that what was cut away is not kept allocated, out of the quota's sight.
            *tail = Arc::new(tail[..end].to_vec());
        }
    }

    fn extend_zeros(&mut self, count: u64) {
        self.len += count;
        let part = index(count).min(self.room());
        if part > 0
            && let Some(tail) = self.pieces.back_mut()
        {
            let filled = tail.len() + part;
            reserve(tail, part, SIZE).resize(filled, 0);
        }
        let rest = count - part as u64;
        if rest >= Self::WIDTH {
            let zeros = Arc::new(vec![0; SIZE]);
            for _ in 0..rest / Self::WIDTH {
                self.pieces.push_back(Arc::clone(&zeros));
            }
        }
        let (_, tail) = place::<SIZE>(rest);
        if tail > 0 {
            self.pieces.push_back(Arc::new(vec![0; tail]));
        }
    }

    /// Bytes that still fit in the last piece.
    fn room(&self) -> usize {
        self.pieces.last().map_or(0, |tail| SIZE - tail.len())
    }
}

impl<const SIZE: usize> Default for Pieces<SIZE> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const SIZE: usize> From<&[u8]> for Pieces<SIZE> {
    fn from(bytes: &[u8]) -> Self {
        let mut content = Self::new();
        content.append(bytes);
        content
    }
}

impl<const SIZE: usize> PartialEq for Pieces<SIZE> {
    /// Compares bytes, and skips the pieces that both share.
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.pieces.iter().zip(&other.pieces).all(|(a, b)| Arc::ptr_eq(a, b) || a == b)
    }
}

impl<const SIZE: usize> Eq for Pieces<SIZE> {}

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

/// A position in memory. Content is in memory, so its sizes fit; a position beyond is past every end.
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
                    Edit::Append(bytes) => content.append(bytes),
                    Edit::WriteAt(at, bytes) => content.write_at(*at, bytes),
                    Edit::Resize(len) => content.resize(*len),
                    Edit::Fork => forks.push((content.clone(), model.clone())),
                }
                prop_assert_eq!(content.len(), model.len() as u64);
                prop_assert!(content.pieces().rev_all_full());
            }
            let start = index(offset).min(model.len());
            let end = index(offset + length).min(model.len());
            prop_assert_eq!(content.read(offset, length), &model[start..end]);
            prop_assert_eq!(&content, &Small::from(model.as_slice()));
            for (fork, model) in forks {
                prop_assert_eq!(fork.to_vec(), model);
            }
        }
    }

    /// What `Pieces` promises of its pieces.
    trait AllFull {
        fn rev_all_full(self) -> bool;
    }

    impl<'a, I: Iterator<Item = &'a [u8]>> AllFull for I {
        fn rev_all_full(self) -> bool {
            let sizes: Vec<usize> = self.map(<[u8]>::len).collect();
            sizes.split_last().is_none_or(|(last, full)| (1..=4).contains(last) && full.iter().all(|len| *len == 4))
        }
    }

    #[test]
    fn reading_past_the_end_gives_nothing() {
        let content = Content::from(b"abc".as_slice());
        assert_eq!(content.read(3, 10), b"");
        assert_eq!(content.read(u64::MAX, u64::MAX), b"");
        assert_eq!(content.read(1, u64::MAX), b"bc");
        assert!(!content.is_empty());
        assert!(Content::default().is_empty());
    }

    #[test]
    fn a_long_run_of_zeros_is_one_piece() {
        let mut content = Content::new();
        content.resize(1 << 30);
        let first = content.pieces.front().expect("a gigabyte has pieces");
        assert!(content.pieces.iter().all(|piece| Arc::ptr_eq(piece, first)));
    }

    #[test]
    fn small_appends_copy_a_piece_a_few_times_only() {
        let mut content = Content::new();
        let mut moved = 0;
        let mut address = std::ptr::null();
        for _ in 0..PIECE_BYTES {
            content.append(b"x");
            let now = content.pieces.front().expect("not empty").as_ptr();
            moved += usize::from(now != address);
            address = now;
        }
        assert!(moved <= 20, "a piece that doubles moves at most 17 times, not {moved}");
    }

    #[test]
    fn what_is_cut_away_is_not_kept_allocated() {
        let mut content = Content::from(vec![1; PIECE_BYTES].as_slice());
        content.resize(1);
        assert_eq!(content.pieces.front().map(|piece| piece.capacity()), Some(1));
    }

    #[test]
    fn a_clone_shares_every_piece_that_is_not_touched() {
        let mut content = Content::from(vec![7; 4 * PIECE_BYTES].as_slice());
        let before = content.clone();
        content.write_at(PIECE_BYTES as u64 + 1, b"x");
        let shared = content.pieces.iter().zip(&before.pieces).map(|(a, b)| Arc::ptr_eq(a, b)).collect::<Vec<_>>();
        assert_eq!(shared, [true, false, true, true]);
        assert_ne!(content, before);
    }
}
