//! Numbers: a double, and the decimal literal that it was read from, where printing the double alone would give another
//! text.
//!
//! Like jq, keeps a literal (`100000000000000000001`, `1.10`, `1e1000`) until it is used in a computation.

use std::cmp::Ordering;
use std::rc::Rc;

/// Largest exponent of a decimal with one digit before its point, as in jq's decimal library.
const MAX_EXPONENT: i64 = 999_999_999;

/// Smallest exponent of a decimal's last digit, as in jq's decimal library.
const MIN_EXPONENT: i64 = -1_147_483_646;

/// Bound of the exponents that are parsed: far beyond the limits, and far from overflow.
const EXPONENT_CLAMP: i64 = 1 << 60;

/// Decimal literal with the value `digits` times ten to the power of `exponent`.
#[derive(Debug)]
pub(crate) struct Decimal {
    negative: bool,
    /// Digits without leading zeros; `0` for zero.
    digits: String,
    exponent: i64,
}

/// Number of jq.
#[derive(Clone, Debug)]
pub(crate) struct Number {
    value: f64,
    /// The literal, unless printing the double alone gives the same text.
    literal: Option<Rc<Decimal>>,
    /// True if the number was read and not computed: two such numbers are compared exactly.
    written: bool,
}

impl Number {
    /// Parses a literal, which is digits with an optional point, fraction and exponent, after an optional sign.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        // Most numbers are integers that a double represents exactly.
        if bytes.len() < 16 && !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit) {
            let value = bytes.iter().fold(0.0, |sum, digit| sum * 10.0 + f64::from(digit - b'0'));
            return Some(Self { value, literal: None, written: true });
        }
        let decimal = Decimal::parse(text)?.within_limits();
        let value = text.parse::<f64>().ok()?;
        let Some(decimal) = decimal else { return Some(Self::from(f64::INFINITY.copysign(value))) };
        let literal = (decimal.to_string() != format_double(value)).then(|| Rc::new(decimal));
        Some(Self { value, literal, written: true })
    }

    /// Returns the double nearest to this number.
    pub(crate) fn value(&self) -> f64 {
        self.value
    }

    /// Negates the number and keeps its literal.
    pub(crate) fn negated(&self) -> Self {
        // A zero that was read has no sign afterwards, as in jq's decimal library; one that was computed has.
        let is_signed = !(self.written && self.value == 0.0 && self.decimal().digits == "0");
        let literal = self.literal.as_ref().map(|it| {
            let negative = is_signed && !it.negative;
            Rc::new(Decimal { negative, digits: it.digits.clone(), exponent: it.exponent })
        });
        if !is_signed {
            return Self { value: 0.0, literal, written: true };
        }
        Self { value: -self.value, literal, written: self.written }
    }

    /// Compares two numbers; NaN is less than any number, including itself.
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        if self.written && other.written && self.has_literal_or(other) {
            return self.decimal().compare(&other.decimal());
        }
        self.compare_values(other).unwrap_or(if self.value.is_nan() { Ordering::Less } else { Ordering::Greater })
    }

    /// Compares two numbers in a total order for sorting: NaN equals itself, and a computed number counts as the
    /// decimal that it prints as.
    pub(crate) fn total_order(&self, other: &Self) -> Ordering {
        if self.value.is_nan() || other.value.is_nan() {
            return other.value.is_nan().cmp(&self.value.is_nan());
        }
        if self.has_literal_or(other) {
            return self.decimal().compare(&other.decimal());
        }
        self.compare_values(other).unwrap_or(Ordering::Equal)
    }

    /// Returns true if the two are equal; NaN equals nothing.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        if self.written && other.written && self.has_literal_or(other) {
            return self.decimal().compare(&other.decimal()) == Ordering::Equal;
        }
        self.value == other.value
    }

    fn has_literal_or(&self, other: &Self) -> bool {
        self.literal.is_some() || other.literal.is_some()
    }

    fn compare_values(&self, other: &Self) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }

    /// Returns the number as a decimal: the literal, or the printed form of the double. NaN has none, and gives zero.
    fn decimal(&self) -> Rc<Decimal> {
        self.literal.clone().unwrap_or_else(|| {
            let zero = || Decimal { negative: false, digits: "0".to_owned(), exponent: 0 };
            Rc::new(Decimal::parse(&format_double(self.value)).unwrap_or_else(zero))
        })
    }

    /// Returns true if the two are the same number in the same notation.
    pub(crate) fn identical(&self, other: &Self) -> bool {
        match (&self.literal, &other.literal) {
            (None, None) => self.value.to_bits() == other.value.to_bits() && self.written == other.written,
            (Some(left), Some(right)) => Rc::ptr_eq(left, right),
            _ => false,
        }
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self { value, literal: None, written: false }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.literal {
            Some(literal) => literal.fmt(out),
            None => out.write_str(&format_double(self.value)),
        }
    }
}

impl Decimal {
    fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, clamped_exponent(exponent)?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        let joined = format!("{whole}{fraction}");
        let digits = match joined.trim_start_matches('0') {
            "" => "0",
            digits => digits,
        };
        let exponent = exponent.saturating_sub(i64::try_from(fraction.len()).ok()?);
        Some(Self { negative, digits: digits.to_owned(), exponent })
    }

    /// Returns the decimal as jq stores it, or `None` if it is too large. A decimal that is too small becomes zero.
    fn within_limits(mut self) -> Option<Self> {
        let adjusted = self.exponent.saturating_add(self.digits.len() as i64 - 1);
        if self.digits == "0" {
            self.exponent = self.exponent.min(MAX_EXPONENT);
        } else if adjusted > MAX_EXPONENT {
            return None;
        }
        if self.exponent < MIN_EXPONENT {
            self = Self { digits: "0".to_owned(), exponent: MIN_EXPONENT, ..self };
        }
        Some(self)
    }

    /// Compares two decimals exactly.
    fn compare(&self, other: &Self) -> Ordering {
        let sign = |it: &Self| if it.digits == "0" { 0 } else { 1 - 2 * i32::from(it.negative) };
        match sign(self).cmp(&sign(other)) {
            Ordering::Equal if sign(self) == 0 => Ordering::Equal,
            Ordering::Equal if self.negative => other.compare_magnitude(self),
            Ordering::Equal => self.compare_magnitude(other),
            unequal => unequal,
        }
    }

    fn compare_magnitude(&self, other: &Self) -> Ordering {
        let top = |it: &Self| it.exponent.saturating_add(it.digits.len() as i64);
        let significant = |it: &Self| it.digits.trim_end_matches('0').to_owned();
        top(self).cmp(&top(other)).then_with(|| significant(self).cmp(&significant(other)))
    }
}

/// Parses an exponent, clamped to a bound.
fn clamped_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let magnitude = digits.parse::<i64>().unwrap_or(i64::MAX).min(EXPONENT_CLAMP);
    Some(if text.starts_with('-') { -magnitude } else { magnitude })
}

/// The notation of the General Decimal Arithmetic specification ("to-scientific-string").
impl std::fmt::Display for Decimal {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.negative {
            out.write_str("-")?;
        }
        let count = self.digits.len() as i64;
        let adjusted = self.exponent.saturating_add(count - 1);
        if self.exponent <= 0 && adjusted >= -6 {
            let point = count + self.exponent;
            return match usize::try_from(point) {
                Ok(point) if point > 0 && self.exponent == 0 => out.write_str(&self.digits[..point]),
                Ok(point) if point > 0 => write!(out, "{}.{}", &self.digits[..point], &self.digits[point..]),
                _ => write!(out, "0.{}{}", "0".repeat(point.unsigned_abs() as usize), self.digits),
            };
        }
        out.write_str(&self.digits[..1])?;
        if count > 1 {
            write!(out, ".{}", &self.digits[1..])?;
        }
        write!(out, "E{adjusted:+}")
    }
}

/// Formats a double with the fewest digits that identify it, in jq's notation.
pub(crate) fn format_double(value: f64) -> String {
    if value.is_nan() {
        return "null".to_owned();
    }
    let value = value.clamp(f64::MIN, f64::MAX);
    if value == value.trunc() && value.abs() < 1e15 {
        // A zero keeps its sign.
        return if value == 0.0 && value.is_sign_negative() { "-0".to_owned() } else { (value as i64).to_string() };
    }
    let scientific = format!("{:e}", value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits: String = mantissa.chars().filter(|it| *it != '.').collect();
    let point = exponent.parse::<i64>().unwrap_or(0) + 1;
    let count = digits.len() as i64;
    let sign = if value < 0.0 { "-" } else { "" };
    if point <= -4 || point > count + 15 {
        let fraction = if count > 1 { format!(".{}", &digits[1..]) } else { String::new() };
        let exponent = point - 1;
        let mark = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{}{fraction}e{mark}{:02}", &digits[..1], exponent.abs());
    }
    match usize::try_from(point) {
        Ok(0) | Err(_) => format!("{sign}0.{}{digits}", "0".repeat(point.unsigned_abs() as usize)),
        Ok(point) if point >= digits.len() => format!("{sign}{digits}{}", "0".repeat(point - digits.len())),
        Ok(point) => format!("{sign}{}.{}", &digits[..point], &digits[point..]),
    }
}

#[cfg(test)]
mod tests {
    use super::{Number, format_double};

    #[test]
    fn literal_unchanged_keeps_its_digits() {
        for text in ["100000000000000000001", "1.10", "-0.00001", "1E+1000", "0.0", "1.00E+7"] {
            assert_eq!(Number::parse(text).map(|it| it.to_string()).as_deref(), Some(text));
        }
        assert_eq!(Number::parse("1e3").map(|it| it.to_string()).as_deref(), Some("1E+3"));
    }

    #[test]
    fn literal_out_of_range_is_kept_as_far_as_jq_keeps_it() {
        let printed = |text: &str| Number::parse(text).map(|it| it.to_string());
        assert_eq!(printed("-10E-1000000001").as_deref(), Some("-1.0E-1000000000"));
        assert_eq!(printed("99.9E999999999").as_deref(), Some("1.7976931348623157e+308"));
        assert_eq!(printed("1E-99999999999").as_deref(), Some("0E-1147483646"));
        assert_eq!(printed("0E1000000005").as_deref(), Some("0E+999999999"));
    }

    #[test]
    fn double_computed_prints_shortest() {
        let cases = [(1e17, "1e+17"), (1e-5, "1e-05"), (0.1 + 0.2, "0.30000000000000004"), (1e15, "1000000000000000")];
        for (value, text) in cases {
            assert_eq!(format_double(value), text);
        }
        assert_eq!(format_double(123_456_789_012_345_680.0), "123456789012345680");
        assert_eq!(format_double(f64::INFINITY), "1.7976931348623157e+308");
        assert_eq!(format_double(-0.0), "-0");
        assert_eq!(format_double(0.05), "0.05");
        assert_eq!(format_double(0.5), "0.5");
    }
}
