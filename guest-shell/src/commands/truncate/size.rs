//! Sizes of `truncate`. Errors are messages.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

/// Target size of a file, which may depend on its current size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TargetSize {
    Absolute(u64),
    ExtendBy(u64),
    ReduceBy(u64),
    AtMost(u64),
    AtLeast(u64),
    RoundDownTo(u64),
    RoundUpTo(u64),
}

/// Function from a number of bytes to a size, for the sign before the number.
type SizeOfBytes = fn(u64) -> TargetSize;

impl TargetSize {
    /// Parses a number with a unit after it, and before it an optional sign for a size relative to the current one.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let signs: [(char, SizeOfBytes); 6] = [
            ('+', Self::ExtendBy),
            ('-', Self::ReduceBy),
            ('<', Self::AtMost),
            ('>', Self::AtLeast),
            ('/', Self::RoundDownTo),
            ('%', Self::RoundUpTo),
        ];
        let signed = signs.iter().find_map(|(sign, size)| Some((*size, text.strip_prefix(*sign)?)));
        let (size, number) = signed.unwrap_or((Self::Absolute, text));
        let bytes = parse_bytes(number).ok_or_else(|| format!("Invalid number: '{text}'"))?;
        Ok(size(bytes))
    }

    /// Returns the new size of a file, given its current size.
    pub(super) fn resolve(self, current: u64) -> Result<u64, String> {
        let sum = |bytes: u64| current.checked_add(bytes).ok_or_else(|| "size overflow".to_owned());
        match self {
            Self::Absolute(bytes) => Ok(bytes),
            Self::ExtendBy(bytes) => sum(bytes),
            Self::ReduceBy(bytes) => Ok(current.saturating_sub(bytes)),
            Self::AtMost(bytes) => Ok(current.min(bytes)),
            Self::AtLeast(bytes) => Ok(current.max(bytes)),
            Self::RoundDownTo(0) => Err("round-down multiple cannot be zero".to_owned()),
            Self::RoundDownTo(multiple) => Ok(current / multiple * multiple),
            Self::RoundUpTo(0) => Err("round-up multiple cannot be zero".to_owned()),
            Self::RoundUpTo(multiple) => match current % multiple {
                0 => Ok(current),
                rest => sum(multiple - rest),
            },
        }
    }
}

/// Parses a number of bytes: `2`, `2K` and `2KiB` (of 1024 bytes), `2KB` (of 1000 bytes).
fn parse_bytes(text: &str) -> Option<u64> {
    let digits_end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(digits_end);
    let number: u64 = digits.parse().ok()?;
    let (letter, base): (&str, u64) = match (unit.strip_suffix("iB"), unit.strip_suffix('B')) {
        (Some(letter), _) if !letter.is_empty() => (letter, 1024),
        (_, Some(letter)) => (letter, 1000),
        _ => (unit, 1024),
    };
    let power = match letter {
        "" => 0,
        "K" | "k" => 1,
        "M" | "m" => 2,
        "G" | "g" => 3,
        "T" | "t" => 4,
        "P" => 5,
        "E" => 6,
        _ => return None,
    };
    number.checked_mul(base.pow(power))
}
