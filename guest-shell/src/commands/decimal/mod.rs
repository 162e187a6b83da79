//! Decimal numbers of any length with a scale: the numbers of `bc` and `dc`.
//!
//! The scale and truncation of each operation are those of POSIX `bc` ("bc", Tables 8-1 to 8-3) and of GNU's manual.
//! Results are never rounded: digits beyond their scale are truncated.

mod arithmetic;
mod text;

use std::cmp::Ordering;

use num_bigint::BigUint;

pub(crate) use text::Digits;

/// Bits per decimal digit, times 1000, rounded up.
const MILLIBITS_PER_DIGIT: u64 = 3_322;

/// Largest number that is used as an exponent, an index or a setting. GNU's library reads digits as long as the value
/// so far is at most a tenth of 2^31 - 1.
const LARGEST_WHOLE: i64 = 2_147_483_649;

/// Decimal number whose value is `±magnitude / 10^scale`.
///
/// Zero may carry a sign: GNU's `^` keeps that of a negative power that is cut off to zero, and its comparisons see it.
#[derive(Clone, Debug)]
pub(crate) struct Decimal {
    negative: bool,
    magnitude: BigUint,
    scale: usize,
}

/// Reason why an operation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The divisor is zero.
    ZeroDivisor,
    /// The exponent exceeds 31 bits.
    HugeExponent,
    /// The root of a negative number.
    NegativeRoot,
    /// The operation takes too much time or memory.
    Refused(super::effort::Refusal),
}

impl From<super::effort::Refusal> for Fault {
    fn from(refusal: super::effort::Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl Decimal {
    /// The number zero, of scale 0.
    pub(crate) fn zero() -> Self {
        Self { negative: false, magnitude: BigUint::ZERO, scale: 0 }
    }

    /// Creates a number from digits without the point, `scale` of which are after it.
    pub(crate) fn from_digits(magnitude: BigUint, scale: usize) -> Self {
        Self { negative: false, magnitude, scale }
    }

    /// Returns true for zero of either sign.
    pub(crate) fn is_zero(&self) -> bool {
        self.magnitude == BigUint::ZERO
    }

    /// Returns true below zero, and for a zero that carries a minus sign.
    pub(crate) fn is_negative(&self) -> bool {
        self.negative
    }

    /// Returns the number of digits after the point.
    pub(crate) fn scale(&self) -> usize {
        self.scale
    }

    /// Returns the number of bits of the digits.
    pub(crate) fn bits(&self) -> u64 {
        self.magnitude.bits()
    }

    /// Returns the number of digits without leading zeros; 1 for zero.
    pub(crate) fn digits(&self) -> usize {
        self.decimal_digits().len()
    }

    /// Returns the number of significant digits: all of them, or those of the fraction if only a zero precedes the
    /// point.
    pub(crate) fn length(&self) -> usize {
        let digits = self.decimal_digits();
        match digits.len() > self.scale {
            true if digits == "0" => self.scale.max(1),
            true => digits.len(),
            false => self.scale.max(1),
        }
    }

    /// Returns the digits without the point and without leading zeros.
    fn decimal_digits(&self) -> String {
        self.magnitude.to_str_radix(10)
    }

    /// Returns the digits before the point as a number.
    pub(crate) fn whole(&self) -> BigUint {
        if self.scale == 0 { self.magnitude.clone() } else { &self.magnitude / power_of_ten(self.scale) }
    }

    /// Returns the integer part as a machine number, or `None` if it has more than 31 bits by the count of GNU's
    /// library.
    pub(crate) fn to_i64(&self) -> Option<i64> {
        let whole = i64::try_from(self.whole()).ok().filter(|whole| *whole <= LARGEST_WHOLE)?;
        Some(if self.negative { -whole } else { whole })
    }

    /// Returns the value with the opposite sign; zero becomes plain zero of the same scale.
    pub(crate) fn negated(&self) -> Self {
        let negative = !self.negative && !self.is_zero();
        Self { negative, ..self.clone() }
    }

    /// Returns the absolute value.
    pub(crate) fn absolute(&self) -> Self {
        Self { negative: false, ..self.clone() }
    }

    /// Returns the numerator over `10^scale`, for a scale that is not below the number's own.
    fn aligned(&self, scale: usize) -> BigUint {
        if scale == self.scale { self.magnitude.clone() } else { &self.magnitude * power_of_ten(scale - self.scale) }
    }

    /// Truncates the digits beyond `scale`; a result of zero loses its sign.
    fn truncated(mut self, scale: usize) -> Self {
        if self.scale > scale {
            self.magnitude /= power_of_ten(self.scale - scale);
            self.scale = scale;
        }
        self.negative &= !self.is_zero();
        self
    }

    /// Compares values; a negative zero is below zero.
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (negative, _) => {
                let scale = self.scale.max(other.scale);
                let order = self.aligned(scale).cmp(&other.aligned(scale));
                if negative { order.reverse() } else { order }
            }
        }
    }
}

impl From<u64> for Decimal {
    fn from(value: u64) -> Self {
        Self::from_digits(BigUint::from(value), 0)
    }
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Self {
        Self { negative: value < 0, ..Self::from(value.unsigned_abs()) }
    }
}

impl From<bool> for Decimal {
    fn from(value: bool) -> Self {
        Self::from(u64::from(value))
    }
}

/// Returns a power of 10.
fn power_of_ten(exponent: usize) -> BigUint {
    match u32::try_from(exponent) {
        Ok(small @ 0..=19) => BigUint::from(10_u64.pow(small)),
        Ok(exponent) => BigUint::from(10_u8).pow(exponent),
        // Sizes were checked before, so this number is never computed.
        Err(_) => BigUint::ZERO,
    }
}

/// Returns an upper bound of the bits of a number with this many digits.
fn digit_bits(digits: usize) -> u64 {
    u64::try_from(digits).unwrap_or(u64::MAX).saturating_mul(MILLIBITS_PER_DIGIT) / 1_000 + 1
}
