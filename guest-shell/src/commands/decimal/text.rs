//! Parsing and formatting of numbers in any base.

use num_bigint::BigUint;

use super::super::effort::{Effort, Refusal};
use super::{Decimal, digit_bits, power_of_ten};

/// Digits of bases up to 16 are single characters; from this base on they are decimal numbers, each after a space.
const FIRST_LETTER_BASE: u32 = 17;

/// Characters of the digits below [`FIRST_LETTER_BASE`].
const CHARACTERS: &[u8; 16] = b"0123456789ABCDEF";

/// Digits of a number as written, before they are interpreted in a base.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Digits {
    /// Values of the digits before the point.
    pub(crate) whole: Vec<u8>,
    /// Values of the digits after the point.
    pub(crate) fraction: Vec<u8>,
}

impl Digits {
    /// Adds a digit before or after the point. Leading zeros before the point are dropped.
    pub(crate) fn push(&mut self, digit: u8, behind_point: bool) {
        if behind_point {
            self.fraction.push(digit);
        } else if digit != 0 || !self.whole.is_empty() {
            self.whole.push(digit);
        }
    }

    /// Returns the value in a base that may be smaller than digits, as for a polynomial.
    pub(crate) fn polynomial(&self, base: u32, effort: &mut Effort) -> Result<Decimal, Refusal> {
        let scale = self.fraction.len();
        let cost = digit_bits(self.whole.len() + scale) * 2;
        effort.spend_product(cost, cost)?;
        let fits = self.largest() < u8::try_from(base).unwrap_or(u8::MAX);
        let digits: Vec<u8> = self.whole.iter().chain(&self.fraction).copied().collect();
        let numerator = match fits {
            true => horner(&digits, base),
            false => digits.iter().fold(BigUint::ZERO, |value, digit| value * base + u32::from(*digit)),
        };
        let magnitude = match base {
            10 => numerator,
            _ => numerator * power_of_ten(scale) / power(base, scale),
        };
        Ok(Decimal::from_digits(magnitude, scale))
    }

    /// Returns the value of the largest digit.
    pub(crate) fn largest(&self) -> u8 {
        self.whole.iter().chain(&self.fraction).copied().max().unwrap_or_default()
    }

    /// Returns the value of a constant in a program. In base 10, a single digit before a fraction is clamped to 9.
    pub(crate) fn constant(&self, base: u32, effort: &mut Effort) -> Result<Decimal, Refusal> {
        if base != 10 || self.fraction.is_empty() {
            return self.value(base, effort);
        }
        let whole = self.whole.iter().map(|digit| (*digit).min(9)).collect();
        Self { whole, fraction: self.fraction.clone() }.value(base, effort)
    }

    /// Returns the value in a base. A digit that the base does not have counts as its largest digit, except in a number
    /// whose integer part is a single digit, which keeps its value.
    pub(crate) fn value(&self, base: u32, effort: &mut Effort) -> Result<Decimal, Refusal> {
        let cost = digit_bits(self.whole.len() + self.fraction.len()) * 2;
        effort.spend_product(cost, cost)?;
        let whole = match self.whole[..] {
            [single] => BigUint::from(single),
            _ => horner(&self.whole, base),
        };
        let whole = Decimal::from_digits(whole, 0);
        if self.fraction.is_empty() {
            return Ok(whole);
        }
        let scale = self.fraction.len();
        let numerator = horner(&self.fraction, base);
        let magnitude = match base {
            10 => numerator,
            _ => numerator * power_of_ten(scale) / power(base, scale),
        };
        whole.add(&Decimal::from_digits(magnitude, scale), effort)
    }
}

fn power(base: u32, exponent: usize) -> BigUint {
    BigUint::from(base).pow(u32::try_from(exponent).unwrap_or(u32::MAX))
}

/// Returns the value of digits, each clamped to the base.
fn horner(digits: &[u8], base: u32) -> BigUint {
    let largest = u8::try_from(base - 1).unwrap_or(u8::MAX);
    let clamped: Vec<u8> = digits.iter().map(|digit| (*digit).min(largest)).collect();
    BigUint::from_radix_be(&clamped, base).unwrap_or_default()
}

impl Decimal {
    /// Formats the number in a base: without a zero before the point, and with all digits of the scale after it.
    pub(crate) fn text(&self, base: u32, effort: &mut Effort) -> Result<String, Refusal> {
        effort.spend_product(self.bits(), self.bits())?;
        let mut text = String::new();
        if self.negative {
            text.push('-');
        }
        if self.is_zero() {
            text.push('0');
        } else if base == 10 {
            self.write_decimal(&mut text);
        } else {
            let (whole, fraction) = self.parts();
            write_whole(&mut text, whole, base);
            if self.scale > 0 {
                text.push('.');
                self.write_fraction(&mut text, fraction, base, effort)?;
            }
        }
        Ok(text)
    }

    fn write_decimal(&self, text: &mut String) {
        let digits = self.decimal_digits();
        let whole = digits.len().saturating_sub(self.scale);
        text.push_str(&digits[..whole]);
        if self.scale > 0 {
            text.push('.');
            text.extend(std::iter::repeat_n('0', self.scale.saturating_sub(digits.len())));
            text.push_str(&digits[whole..]);
        }
    }

    /// Writes digits of a fraction until they are as precise as the decimal digits.
    fn write_fraction(
        &self,
        text: &mut String,
        mut fraction: BigUint,
        base: u32,
        effort: &mut Effort,
    ) -> Result<(), Refusal> {
        let unit = power_of_ten(self.scale);
        let mut reached = BigUint::from(1_u8);
        let mut first = true;
        // As long as the power of the base has no more digits than the scale, that is, is below 10^scale.
        while reached < unit {
            effort.spend(1 + self.bits() / 512)?;
            fraction *= base;
            let digit = u32::try_from(&fraction / &unit).unwrap_or_default();
            fraction -= &unit * digit;
            write_digit(text, digit, base, !first);
            first = false;
            reached *= base;
        }
        Ok(())
    }
}

fn write_whole(text: &mut String, whole: BigUint, base: u32) {
    if whole == BigUint::ZERO {
        return;
    }
    for digit in whole_digits(whole, base).into_iter().rev() {
        write_digit(text, digit, base, true);
    }
}

/// Returns the digits of a number, the lowest first.
fn whole_digits(whole: BigUint, base: u32) -> Vec<u32> {
    if base <= 256 {
        return whole.to_radix_le(base).into_iter().map(u32::from).collect();
    }
    let mut digits = Vec::new();
    split_digits(whole, base, 0, &mut digits);
    while digits.last() == Some(&0) {
        digits.pop();
    }
    digits
}

/// Appends at least `width` digits, splitting the number in halves until it is small.
fn split_digits(number: BigUint, base: u32, width: usize, digits: &mut Vec<u32>) {
    /// Size up to which numbers are divided digit by digit, in bits.
    const SMALL: u64 = 2_048;
    if number.bits() <= SMALL {
        let before = digits.len();
        let mut rest = number;
        while rest != BigUint::ZERO {
            digits.push(u32::try_from(&rest % base).unwrap_or_default());
            rest /= base;
        }
        digits.resize(digits.len().max(before + width), 0);
        return;
    }
    let per_digit = u64::from(base.ilog2()) + 1;
    let low_width = usize::try_from(number.bits() / per_digit / 2).unwrap_or(1).max(1);
    let divisor = power(base, low_width);
    let (high, low) = (&number / &divisor, &number % &divisor);
    split_digits(low, base, low_width, digits);
    split_digits(high, base, width.saturating_sub(low_width), digits);
}

/// Writes a digit: a character, or a decimal number as wide as the largest digit.
fn write_digit(text: &mut String, digit: u32, base: u32, spaced: bool) {
    if base < FIRST_LETTER_BASE {
        text.push(char::from(CHARACTERS[usize::try_from(digit % 16).unwrap_or_default()]));
        return;
    }
    let width = (base - 1).to_string().len();
    if spaced {
        text.push(' ');
    }
    text.push_str(&format!("{digit:0width$}"));
}
