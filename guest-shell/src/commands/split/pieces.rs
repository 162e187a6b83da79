//! Cutting of contents into pieces, and the suffixes of their names.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::borrow::Cow;

use super::MOST_FILES;
use super::options::{Chunks, Pieces, SplitOptions};

impl SplitOptions {
    /// Cuts the data into pieces, in their order.
    pub(super) fn cut<'d>(&self, data: &'d [u8]) -> Vec<Cow<'d, [u8]>> {
        match &self.pieces {
            // No more than are written, and one to tell that there were more.
            Pieces::Bytes(size) => data.chunks(*size).take(MOST_FILES + 1).map(Into::into).collect(),
            Pieces::Lines(count) => self.line_counts(data, *count),
            Pieces::LineBytes(size) => self.line_bytes(data, *size),
            Pieces::Chunks(Chunks::Bytes, _, count) => {
                // The last one has what does not divide evenly; of fewer bytes than pieces, the first ones have one each.
                let size = (data.len() / count).max(1);
                let start = |index: usize| if index == *count { data.len() } else { data.len().min(index * size) };
                (0..*count).map(|index| data[start(index)..start(index + 1)].into()).collect()
            }
            Pieces::Chunks(Chunks::Lines, _, count) => self.line_chunks(data, *count),
            Pieces::Chunks(Chunks::RoundRobin, _, count) => {
                let mut pieces = vec![Vec::new(); *count];
                for (index, line) in self.lines(data).enumerate() {
                    pieces[index % count].extend_from_slice(line);
                }
                pieces.into_iter().map(Into::into).collect()
            }
        }
    }

    fn lines<'d>(&self, data: &'d [u8]) -> impl Iterator<Item = &'d [u8]> {
        let separator = self.separator();
        data.split_inclusive(move |byte| *byte == separator)
    }

    /// A number of lines for each piece.
    fn line_counts<'d>(&self, data: &'d [u8], count: usize) -> Vec<Cow<'d, [u8]>> {
        let mut pieces = Vec::new();
        let (mut start, mut end, mut taken) = (0, 0, 0);
        for line in self.lines(data) {
            end += line.len();
            taken += 1;
            if taken == count && pieces.len() <= MOST_FILES {
                pieces.push(data[start..end].into());
                (start, taken) = (end, 0);
            }
        }
        if start < end {
            pieces.push(data[start..end].into());
        }
        pieces
    }

    /// A number of pieces of whole lines. A line is in the piece that its first byte would be in.
    fn line_chunks<'d>(&self, data: &'d [u8], count: usize) -> Vec<Cow<'d, [u8]>> {
        let size = data.len() / count;
        let end = |index: usize| if index + 1 == count { data.len() } else { (index + 1) * size };
        let mut pieces = Vec::with_capacity(count);
        let mut at = 0;
        let mut lines = self.lines(data).peekable();
        for index in 0..count {
            let start = at;
            while let Some(line) = lines.next_if(|_| at < end(index)) {
                at += line.len();
            }
            pieces.push(data[start..at].into());
        }
        pieces
    }

    /// Whole lines up to a size; a line that is longer is cut.
    fn line_bytes<'d>(&self, data: &'d [u8], size: usize) -> Vec<Cow<'d, [u8]>> {
        let mut pieces = Vec::new();
        let mut start = 0;
        while start < data.len() && pieces.len() <= MOST_FILES {
            let window = &data[start..data.len().min(start.saturating_add(size))];
            let whole = window.iter().rposition(|byte| *byte == self.separator());
            let length = match whole {
                _ if start + window.len() == data.len() => window.len(),
                Some(at) => at + 1,
                None => window.len(),
            };
            pieces.push(window[..length].into());
            start += length;
        }
        pieces
    }

    /// The name of a piece; nothing if the suffixes are exhausted.
    pub(super) fn suffix(&self, index: usize) -> Option<String> {
        let base = self.alphabet.len();
        // Without a length that is given, the last letter of the first place is left for longer suffixes.
        let open = self.suffix_length.is_none_or(|length| length == 0) && self.from == 0;
        let (mut length, mut number) = (self.length(), index.saturating_add(self.from));
        let mut prefix = 0;
        if open {
            loop {
                let room = base.checked_pow(u32::try_from(length).ok()?)? / base * (base - 1);
                if number < room {
                    break;
                }
                number -= room;
                prefix += 1;
                length += 1;
            }
        }
        let mut suffix = vec![self.alphabet[0]; length];
        for place in suffix.iter_mut().rev() {
            *place = self.alphabet[number % base];
            number /= base;
        }
        let last = char::from(self.alphabet[base - 1]).to_string().repeat(prefix);
        (number == 0).then(|| last + &bashkit::text_of(&suffix))
    }

    /// Places of the suffixes: given, or what the number of pieces needs, or 2.
    fn length(&self) -> usize {
        let given = self.suffix_length.filter(|length| *length > 0);
        let needed = match self.pieces {
            Pieces::Chunks(_, _, count) => {
                let mut largest = count - 1;
                if self.from < count {
                    largest += self.from;
                }
                let mut places = 1;
                while largest >= self.alphabet.len() {
                    largest /= self.alphabet.len();
                    places += 1;
                }
                places
            }
            _ => 0,
        };
        given.unwrap_or(needed.max(2))
    }
}
