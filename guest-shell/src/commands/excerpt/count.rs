//! Numbers of lines and bytes, with a sign and a multiplier.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

/// Sign before a number, which changes what it selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum CountSign {
    None,
    Plus,
    Minus,
}

/// Reads a number such as `10`, `-3`, `+2`, `1k`, `2MiB` or `5KB`. One that no machine counts to is the largest.
pub(super) fn parse_count(text: &str) -> Option<(CountSign, usize)> {
    let (sign, unsigned) = match text.as_bytes().first() {
        Some(b'+') => (CountSign::Plus, &text[1..]),
        Some(b'-') => (CountSign::Minus, &text[1..]),
        _ => (CountSign::None, text),
    };
    let digits_end = unsigned.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(unsigned.len());
    if digits_end == 0 {
        return None;
    }
    let (digits, suffix) = unsigned.split_at(digits_end);
    let multiplier = count_multiplier(suffix)?;
    Some((sign, digits.parse::<usize>().unwrap_or(usize::MAX).saturating_mul(multiplier)))
}

/// Returns what a suffix multiplies by: `K` by 1024, `KB` by 1000, `KiB` by 1024.
pub(in crate::commands) fn count_multiplier(suffix: &str) -> Option<usize> {
    if suffix.is_empty() {
        return Some(1);
    }
    if suffix == "b" {
        return Some(512);
    }
    let mut letters = suffix.chars();
    let power = match letters.next()? {
        'k' | 'K' => 1,
        'M' => 2,
        'G' => 3,
        'T' => 4,
        'P' => 5,
        'E' => 6,
        _ => return None,
    };
    let base: usize = match letters.as_str() {
        "" | "iB" => 1024,
        "B" => 1000,
        _ => return None,
    };
    Some(base.saturating_pow(power))
}
