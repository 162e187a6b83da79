//! Values of keys: decimals, sizes with units, C's floating point numbers, months.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::cmp::Ordering;

/// Compares decimals of any length exactly (`-n`).
pub(super) fn compare_decimals(left: &[u8], right: &[u8]) -> Ordering {
    let (left, right) = (Decimal::read(left), Decimal::read(right));
    match (left.negative, right.negative) {
        (false, false) => left.compare_magnitude(&right),
        (true, true) => right.compare_magnitude(&left),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
    }
}

/// Decimal at the beginning of a text, without redundant zeros.
struct Decimal<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
}

impl<'a> Decimal<'a> {
    /// Parses a decimal, whose only sign is `-`. Text without digits is 0.
    fn read(text: &'a [u8]) -> Self {
        let (negative, text) = split_minus(skip_blanks(text));
        let (whole, fraction, _) = split_decimal(text);
        let leading = whole.iter().take_while(|byte| **byte == b'0').count();
        let trailing = fraction.iter().rev().take_while(|byte| **byte == b'0').count();
        let (whole, fraction) = (&whole[leading..], &fraction[..fraction.len() - trailing]);
        let zero = whole.is_empty() && fraction.is_empty();
        Self { negative: negative && !zero, whole, fraction }
    }

    fn compare_magnitude(&self, other: &Self) -> Ordering {
        let lengths = self.whole.len().cmp(&other.whole.len());
        lengths.then_with(|| self.whole.cmp(other.whole)).then_with(|| self.fraction.cmp(other.fraction))
    }
}

/// Compares sizes by their unit first, then by their number (`-h`).
pub(super) fn compare_sizes(left: &[u8], right: &[u8]) -> Ordering {
    unit_rank(left).cmp(&unit_rank(right)).then_with(|| compare_decimals(left, right))
}

/// Returns the rank of the unit of a size, negative for a negative size, and 0 for zero.
fn unit_rank(text: &[u8]) -> i32 {
    const UNITS: &[u8] = b"KMGTPEZYRQ";
    let (negative, text) = split_minus(skip_blanks(text));
    let (whole, fraction, rest) = split_decimal(text);
    if whole.iter().chain(fraction).all(|byte| *byte == b'0') {
        return 0;
    }
    let unit = rest.first().map(|unit| if *unit == b'k' { b'K' } else { *unit });
    let rank = (1..).zip(UNITS).find_map(|(rank, letter)| (Some(*letter) == unit).then_some(rank)).unwrap_or(0);
    if negative { -rank } else { rank }
}

/// Compares floating point numbers (`-g`). Other text comes first, then NaN, then numbers.
pub(super) fn compare_floats(left: &[u8], right: &[u8]) -> Ordering {
    match (strtod(left), strtod(right)) {
        (Some(left), Some(right)) => {
            let unordered = || right.is_nan().cmp(&left.is_nan());
            left.partial_cmp(&right).unwrap_or_else(unordered)
        }
        (left, right) => left.is_some().cmp(&right.is_some()),
    }
}

/// Returns the number of the month at the beginning of a text (`-M`), or 0.
pub(super) fn month_number(text: &[u8]) -> usize {
    const MONTHS: [&[u8]; 12] =
        [b"JAN", b"FEB", b"MAR", b"APR", b"MAY", b"JUN", b"JUL", b"AUG", b"SEP", b"OCT", b"NOV", b"DEC"];
    let Some(name) = skip_blanks(text).get(..3) else {
        return 0;
    };
    MONTHS.iter().position(|month| name.eq_ignore_ascii_case(month)).map_or(0, |index| index + 1)
}

/// Returns the number at the beginning of a text, parsed like C's `strtod`.
fn strtod(text: &[u8]) -> Option<f64> {
    let space = |byte: &&u8| matches!(**byte, b' ' | b'\t'..=b'\r');
    let text = &text[text.iter().take_while(space).count()..];
    let (negative, text) = match text {
        [sign @ (b'+' | b'-'), rest @ ..] => (*sign == b'-', rest),
        _ => (false, text),
    };
    let magnitude = named_float(text).or_else(|| hexadecimal_float(text)).or_else(|| decimal_float(text))?;
    Some(if negative { -magnitude } else { magnitude })
}

fn named_float(text: &[u8]) -> Option<f64> {
    let name = text.get(..3)?;
    let infinite = name.eq_ignore_ascii_case(b"inf").then_some(f64::INFINITY);
    infinite.or_else(|| name.eq_ignore_ascii_case(b"nan").then_some(f64::NAN))
}

fn hexadecimal_float(text: &[u8]) -> Option<f64> {
    let text = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X"))?;
    let (whole, rest) = split_digits(text, 16);
    let (fraction, rest) = split_fraction(rest, 16);
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let digit = |byte: &u8| f64::from(char::from(*byte).to_digit(16).unwrap_or(0));
    let value = whole.iter().fold(0.0, |value, byte| value * 16.0 + digit(byte));
    let (value, _) =
        fraction.iter().fold((value, 1.0 / 16.0), |(value, scale), byte| (value + digit(byte) * scale, scale / 16.0));
    Some(value * 2f64.powi(binary_exponent(rest)))
}

/// Returns the exponent after a hexadecimal number: `p`, an optional sign, and digits.
fn binary_exponent(text: &[u8]) -> i32 {
    let [b'p' | b'P', text @ ..] = text else {
        return 0;
    };
    let (negative, text) = match text {
        [sign @ (b'+' | b'-'), rest @ ..] => (*sign == b'-', rest),
        _ => (false, text),
    };
    let (digits, _) = split_digits(text, 10);
    if digits.is_empty() {
        return 0;
    }
    let magnitude = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).unwrap_or(i32::MAX);
    if negative { -magnitude } else { magnitude }
}

fn decimal_float(text: &[u8]) -> Option<f64> {
    let (whole, fraction, rest) = split_decimal(text);
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let exponent = match rest {
        [b'e' | b'E', b'+' | b'-', digits @ ..] | [b'e' | b'E', digits @ ..] => digits,
        _ => &[],
    };
    let (digits, behind) = split_digits(exponent, 10);
    let length = text.len() - if digits.is_empty() { rest.len() } else { behind.len() };
    std::str::from_utf8(&text[..length]).ok()?.parse().ok()
}

fn skip_blanks(text: &[u8]) -> &[u8] {
    &text[text.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n')).count()..]
}

fn split_minus(text: &[u8]) -> (bool, &[u8]) {
    text.strip_prefix(b"-").map_or((false, text), |rest| (true, rest))
}

/// Splits a text into digits, digits after a point, and the rest.
fn split_decimal(text: &[u8]) -> (&[u8], &[u8], &[u8]) {
    let (whole, rest) = split_digits(text, 10);
    let (fraction, rest) = split_fraction(rest, 10);
    (whole, fraction, rest)
}

fn split_fraction(text: &[u8], radix: u32) -> (&[u8], &[u8]) {
    text.strip_prefix(b".").map_or((&[], text), |digits| split_digits(digits, radix))
}

fn split_digits(text: &[u8], radix: u32) -> (&[u8], &[u8]) {
    text.split_at(text.iter().take_while(|byte| char::from(**byte).is_digit(radix)).count())
}
