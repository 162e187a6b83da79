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

/// Largest count of GNU's.
const LARGEST_COUNT: u128 = u64::MAX as u128;

/// Text that is no count.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CountError {
    NotANumber,
    TooLarge,
}

/// Reads a number such as `10`, `-3`, `+2`, `1k`, `2MiB` or `5KB`. One that this machine does not count to is the
/// largest.
pub(super) fn parse_count(text: &str) -> Result<(CountSign, usize), CountError> {
    let (sign, unsigned) = match text.as_bytes().first() {
        Some(b'+') => (CountSign::Plus, &text[1..]),
        Some(b'-') => (CountSign::Minus, &text[1..]),
        _ => (CountSign::None, text),
    };
    let digits_end = unsigned.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(unsigned.len());
    if digits_end == 0 {
        return Err(CountError::NotANumber);
    }
    let (digits, suffix) = unsigned.split_at(digits_end);
    let multiplier = exact_multiplier(suffix).ok_or(CountError::NotANumber)?;
    let count = digits.parse::<u128>().unwrap_or(u128::MAX).saturating_mul(multiplier);
    if count > LARGEST_COUNT {
        return Err(CountError::TooLarge);
    }
    Ok((sign, usize::try_from(count).unwrap_or(usize::MAX)))
}

/// Returns what a suffix multiplies by: `K` by 1024, `KB` by 1000, `KiB` by 1024.
pub(in crate::commands) fn count_multiplier(suffix: &str) -> Option<usize> {
    exact_multiplier(suffix).map(|multiplier| usize::try_from(multiplier).unwrap_or(usize::MAX))
}

fn exact_multiplier(suffix: &str) -> Option<u128> {
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
        'Z' => 7,
        'Y' => 8,
        _ => return None,
    };
    let base: u128 = match letters.as_str() {
        "" | "iB" => 1024,
        "B" => 1000,
        _ => return None,
    };
    Some(base.saturating_pow(power))
}
