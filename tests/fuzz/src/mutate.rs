//! Deterministic mutations of a corpus: fuzzing without coverage, as far as tests have time for it.

/// Largest mutation, in bytes, so that spliced files are read quickly.
const LONGEST: usize = 8 << 10;

/// Texts that replace parts of a file, chosen because parsers often mishandle them.
const WORDS: [&[u8]; 24] = [
    b"",
    b"\n",
    b"\0",
    b"\"",
    b"[",
    b"{",
    b"]}",
    b"//",
    b"**",
    b"-0",
    b"-0.0",
    b"1e4",
    b"1e400",
    b"NaN",
    b"null",
    b"9007199254740993",
    b"18446744073709551616",
    b"170141183460469231731687303715884105728",
    b"\xff",
    b"\xef\xbb\xbf",
    "\u{e9}".as_bytes(),
    "e\u{301}".as_bytes(),
    "\u{202e}".as_bytes(),
    "\u{1f4a1}".as_bytes(),
];

/// Pseudorandom numbers from a seed (SplitMix64).
pub(crate) struct Numbers(u64);

impl From<u64> for Numbers {
    fn from(seed: u64) -> Self {
        Self(seed)
    }
}

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, or 0 if `end` is 0.
    fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX);
        usize::try_from(self.next().checked_rem(end).unwrap_or(0)).unwrap_or(0)
    }
}

/// Returns `count` mutations of some files. The same files give the same mutations.
pub fn mutations(files: &[Vec<u8>], count: usize) -> impl Iterator<Item = Vec<u8>> {
    let mut numbers = Numbers(0);
    (0..count).filter_map(move |at| {
        let mut data = files.get(at.checked_rem(files.len())?)?.clone();
        for _ in 0..=numbers.below(3) {
            mutate(&mut data, files, &mut numbers);
        }
        data.truncate(LONGEST);
        Some(data)
    })
}

/// Changes one part of the data.
fn mutate(data: &mut Vec<u8>, files: &[Vec<u8>], numbers: &mut Numbers) {
    let at = numbers.below(data.len());
    let end = at.saturating_add(1 + numbers.below(16)).min(data.len());
    match numbers.below(7) {
        0 => {
            let bit = 1_u8 << numbers.below(8);
            data.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= bit);
        }
        1 => drop(data.drain(at..end)),
        2 => {
            let again = data.get(at..end).unwrap_or_default().to_vec();
            data.splice(at..at, again);
        }
        3 => {
            let word = WORDS.get(numbers.below(WORDS.len())).copied().unwrap_or_default();
            data.splice(at..at, word.iter().copied());
        }
        4 => {
            let word = WORDS.get(numbers.below(WORDS.len())).copied().unwrap_or_default();
            data.splice(at..end, word.iter().copied());
        }
        5 => {
            let to = numbers.below(data.len());
            if !data.is_empty() {
                data.swap(at, to);
            }
        }
        _ => {
            let other = files.get(numbers.below(files.len())).map_or(&[][..], Vec::as_slice);
            let from = numbers.below(other.len());
            data.truncate(at);
            data.extend_from_slice(other.get(from..).unwrap_or_default());
        }
    }
}
