//! Numbers of C's `long double` on x86-64, with 64 binary digits. bash's `printf` and GNU's `seq` compute with them.
//!
//! A decimal number is rounded to the nearest of these before it is formatted: `printf %.1f 2.55` prints 2.5, since the
//! nearest number is slightly below 2.55.

use num_bigint::{BigInt, BigUint, Sign};

/// Binary digits of the mantissa.
const PRECISION: i64 = 64;
/// Exponent of the last digit of the smallest number.
const LEAST_EXPONENT: i64 = -16_445;
/// Exponent of the first digit above which numbers are infinite.
const INFINITE_EXPONENT: i64 = 16_384;
/// Number of significant decimal digits that are read. It exceeds the digits of every midpoint of two numbers.
const MOST_DIGITS: usize = 12_000;

/// Number with the value `mantissa * 2^exponent`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LongDouble {
    mantissa: BigInt,
    exponent: i64,
}

impl LongDouble {
    /// Parses a decimal number: digits with a point and an exponent. Returns `None` for another text, and for a number
    /// out of range.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (unsigned, sign) = match text.strip_prefix('-') {
            Some(unsigned) => (unsigned, Sign::Minus),
            None => (text.strip_prefix('+').unwrap_or(text), Sign::Plus),
        };
        let (number, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i64>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let significant = digits.trim_start_matches('0');
        let mut power = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        let mut kept = significant.to_owned();
        if kept.len() > MOST_DIGITS {
            power = power.checked_add(i64::try_from(kept.len() - MOST_DIGITS - 1).ok()?)?;
            let rest_is_zero = kept[MOST_DIGITS..].bytes().all(|digit| digit == b'0');
            kept.truncate(MOST_DIGITS);
            // One more digit marks that the number is not halfway between two.
            kept.push(if rest_is_zero { '0' } else { '1' });
        }
        // Beyond these, a power of ten has more digits than numbers can distinguish.
        if !(-30_000..=10_000).contains(&power) {
            return None;
        }
        let mantissa = BigUint::parse_bytes(kept.as_bytes(), 10).unwrap_or_default();
        let ten = BigUint::from(10_u32);
        let scale = ten.pow(u32::try_from(power.unsigned_abs()).ok()?);
        let (numerator, denominator) =
            if power < 0 { (mantissa, scale) } else { (mantissa * scale, BigUint::from(1_u32)) };
        Self::nearest(sign, &numerator, &denominator)
    }

    /// Returns the number that is nearest to a fraction. Returns `None` if that is infinite.
    fn nearest(sign: Sign, numerator: &BigUint, denominator: &BigUint) -> Option<Self> {
        let zero = BigUint::default();
        if *numerator == zero {
            return Some(Self { mantissa: BigInt::default(), exponent: 0 });
        }
        let bits = |number: &BigUint| i64::try_from(number.bits()).ok();
        let mut exponent = bits(numerator)? - bits(denominator)? - PRECISION;
        let divide = |exponent: i64| {
            let shift = exponent.unsigned_abs();
            let (dividend, divisor) = match exponent < 0 {
                true => (numerator << shift, denominator.clone()),
                false => (numerator.clone(), denominator << shift),
            };
            let quotient = &dividend / &divisor;
            let rest = dividend - &quotient * &divisor;
            (quotient, rest << 1_u32, divisor)
        };
        exponent = exponent.max(LEAST_EXPONENT);
        let mut divided = divide(exponent);
        if bits(&divided.0)? > PRECISION {
            exponent += 1;
            divided = divide(exponent);
        }
        let (mut quotient, twice_the_rest, divisor) = divided;
        if twice_the_rest > divisor || (twice_the_rest == divisor && quotient.bit(0)) {
            quotient += 1_u32;
        }
        if bits(&quotient)? + exponent > INFINITE_EXPONENT {
            return None;
        }
        Some(Self { mantissa: BigInt::from_biguint(sign, quotient), exponent })
    }

    /// Returns the number nearest to `mantissa * 2^exponent`.
    fn rounded(mantissa: BigInt, exponent: i64) -> Option<Self> {
        let (sign, magnitude) = mantissa.into_parts();
        let power = BigUint::from(1_u32) << exponent.unsigned_abs();
        match exponent < 0 {
            true => Self::nearest(sign, &magnitude, &power),
            false => Self::nearest(sign, &(magnitude * power), &BigUint::from(1_u32)),
        }
    }

    /// Returns `self + step * count`, rounded after the multiplication and after the addition.
    pub(super) fn plus_steps(&self, step: &Self, count: u64) -> Option<Self> {
        let product = Self::rounded(&step.mantissa * BigInt::from(count), step.exponent)?;
        let exponent = self.exponent.min(product.exponent);
        let scaled = |number: &Self| &number.mantissa << (number.exponent - exponent).unsigned_abs();
        Self::rounded(scaled(self) + scaled(&product), exponent)
    }

    /// Returns all decimal digits of the number.
    pub(super) fn decimal_text(&self) -> String {
        let sign = if self.mantissa.sign() == Sign::Minus { "-" } else { "" };
        let magnitude = self.mantissa.magnitude();
        let places = match usize::try_from(-self.exponent) {
            Ok(places) if places > 0 => places,
            _ => return format!("{sign}{}", magnitude << self.exponent.unsigned_abs()),
        };
        let shift = u32::try_from(places).unwrap_or(u32::MAX);
        let digits = (magnitude * BigUint::from(5_u32).pow(shift)).to_string();
        let digits = format!("{digits:0>width$}", width = places + 1);
        let (whole, fraction) = digits.split_at(digits.len() - places);
        let fraction = fraction.trim_end_matches('0');
        let point = if fraction.is_empty() { "" } else { "." };
        format!("{sign}{whole}{point}{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use super::LongDouble;

    fn text(number: &str) -> Option<String> {
        LongDouble::parse(number).map(|number| number.decimal_text())
    }

    #[test]
    fn long_double_of_a_fraction_is_the_nearest_with_64_binary_digits() {
        for (number, digits) in [
            ("2.55", "2.5499999999999999999566319131005798226397018879652023315429687500"),
            ("0.1", "0.1000000000000000000013552527156068805425093160010874271392822265625"),
            ("-0.5e1", "-5"),
            ("18446744073709551617", "18446744073709551616"),
            ("36893488147419103233", "36893488147419103232"),
            ("1e20", "100000000000000000000"),
            ("0.000", "0"),
        ] {
            let digits = digits.trim_end_matches(|digit| digit == '0' && digits.contains('.'));
            assert_eq!(text(number).as_deref(), Some(digits), "{number}");
        }
    }

    #[test]
    fn long_double_beyond_the_largest_is_none_and_below_the_smallest_zero() {
        assert_eq!(text("1e4933"), None);
        assert!(text("1.18e4932").is_some_and(|digits| digits.len() == 4933));
        assert_eq!(text("1e-4970").as_deref(), Some("0"));
        assert!(text("4e-4951").is_some_and(|digits| digits != "0"));
        assert_eq!([text(""), text("."), text("1x"), text("inf")], [None, None, None, None]);
    }
}
