//! Arithmetic with the scales that POSIX and GNU prescribe for results.

use std::cmp::Ordering;

use num_bigint::BigUint;

use super::super::effort::{Effort, Refusal};
use super::{Decimal, Fault, digit_bits, power_of_ten};

impl Decimal {
    /// Computes the sum, with the larger of both scales.
    pub(crate) fn add(&self, other: &Self, effort: &mut Effort) -> Result<Self, Refusal> {
        self.sum(other, other.negative, effort)
    }

    /// Computes the difference, with the larger of both scales.
    pub(crate) fn subtract(&self, other: &Self, effort: &mut Effort) -> Result<Self, Refusal> {
        self.sum(other, !other.negative, effort)
    }

    /// Computes the sum with another number, whose sign the caller chooses.
    fn sum(&self, other: &Self, negative: bool, effort: &mut Effort) -> Result<Self, Refusal> {
        let scale = self.scale.max(other.scale);
        let bits = (self.bits() + digit_bits(scale - self.scale)).max(other.bits() + digit_bits(scale - other.scale));
        effort.check_size(bits)?;
        effort.spend(1 + bits / 4_096)?;
        let (one, two) = (self.aligned(scale), other.aligned(scale));
        let (negative, magnitude) = match one.cmp(&two) {
            _ if self.negative == negative => (negative, one + two),
            Ordering::Greater => (self.negative, one - two),
            Ordering::Less => (negative, two - one),
            Ordering::Equal => (false, BigUint::ZERO),
        };
        Ok(Self { negative, magnitude, scale })
    }

    /// Computes the product, truncated to the largest of `scale` and both operands' scales, but not beyond the exact
    /// scale.
    pub(crate) fn multiply(&self, other: &Self, scale: usize, effort: &mut Effort) -> Result<Self, Refusal> {
        effort.spend_product(self.bits(), other.bits())?;
        let exact = self.scale + other.scale;
        let kept = exact.min(scale.max(self.scale).max(other.scale));
        let magnitude = &self.magnitude * &other.magnitude;
        if kept < exact {
            effort
                .spend_product(digit_bits(exact - kept), magnitude.bits().saturating_sub(digit_bits(exact - kept)))?;
        }
        Ok(Self { negative: self.negative != other.negative, magnitude, scale: exact }.truncated(kept))
    }

    /// Computes the quotient, truncated to `scale`.
    pub(crate) fn divide(&self, other: &Self, scale: usize, effort: &mut Effort) -> Result<Self, Fault> {
        if other.is_zero() {
            return Err(Fault::ZeroDivisor);
        }
        // self / other = (a / 10^s) / (b / 10^t), times 10^scale.
        let wanted = scale.saturating_add(other.scale);
        let dividend_bits = self.bits() + digit_bits(wanted.saturating_sub(self.scale));
        let divisor_bits = other.bits() + digit_bits(self.scale.saturating_sub(wanted));
        effort.check_size(dividend_bits.max(divisor_bits))?;
        effort.spend_product(divisor_bits, dividend_bits.saturating_sub(divisor_bits))?;
        let magnitude = match wanted >= self.scale {
            true => self.aligned(wanted) / &other.magnitude,
            false => &self.magnitude / other.aligned(other.scale + (self.scale - wanted)),
        };
        let negative = self.negative != other.negative && magnitude != BigUint::ZERO;
        Ok(Self { negative, magnitude, scale })
    }

    /// Computes the quotient at `scale`, and the remainder.
    pub(crate) fn divide_remainder(
        &self,
        other: &Self,
        scale: usize,
        effort: &mut Effort,
    ) -> Result<(Self, Self), Fault> {
        let quotient = self.divide(other, scale, effort)?;
        let kept = self.scale.max(other.scale.saturating_add(scale));
        let remainder = self.subtract(&quotient.multiply(other, kept, effort)?, effort)?;
        // The scale of the remainder is the larger one, even if the product has fewer digits.
        effort.check_size(remainder.bits() + digit_bits(kept.saturating_sub(remainder.scale)))?;
        let kept = kept.max(remainder.scale);
        let magnitude = remainder.aligned(kept);
        Ok((quotient, Self { magnitude, scale: kept, ..remainder }))
    }

    /// Computes a power, with the integer part of the exponent. A positive power is computed exactly and then
    /// truncated, keeping its sign.
    pub(crate) fn raise(&self, exponent: &Self, scale: usize, effort: &mut Effort) -> Result<Self, Fault> {
        let times = exponent.to_i64().ok_or(Fault::HugeExponent)?;
        if times == 0 {
            return Ok(Self::from(1_u64));
        }
        let count = times.unsigned_abs();
        let power = self.exact_power(count, effort)?;
        if times < 0 {
            return Self::from(1_u64).divide(&power, scale, effort);
        }
        let kept = power.scale.min(scale.max(self.scale));
        let negative = power.negative;
        let cut = power.truncated(kept);
        Ok(Self { negative, ..cut })
    }

    fn exact_power(&self, count: u64, effort: &mut Effort) -> Result<Self, Refusal> {
        let negative = self.negative && count % 2 == 1;
        let places = u64::try_from(self.scale).unwrap_or(u64::MAX).saturating_mul(count);
        let scale = usize::try_from(places).map_err(|_| Refusal::Memory)?;
        effort.check_size(digit_bits(scale))?;
        if self.bits() <= 1 {
            return Ok(Self { negative, magnitude: self.magnitude.clone(), scale });
        }
        let bits = self.bits().saturating_mul(count);
        effort.check_size(bits)?;
        // Squaring doubles the size each time, so the last product costs as much as all previous ones.
        effort.spend_product(bits / 2, bits)?;
        let count = u32::try_from(count).map_err(|_| Refusal::Memory)?;
        Ok(Self { negative, magnitude: self.magnitude.pow(count), scale })
    }

    /// Computes the square root, truncated to the larger of `scale` and the number's own scale. The roots of 0 and 1
    /// have the scale 0.
    pub(crate) fn square_root(&self, scale: usize, effort: &mut Effort) -> Result<Self, Fault> {
        if self.negative {
            return Err(Fault::NegativeRoot);
        }
        let one = Self::from(1_u64);
        if self.is_zero() {
            return Ok(Self::zero());
        }
        if self.compare(&one) == Ordering::Equal {
            return Ok(one);
        }
        let kept = scale.max(self.scale);
        let bits = self.bits() + digit_bits(kept.saturating_mul(2) - self.scale);
        effort.check_size(bits)?;
        // Newton's method needs as many divisions as the size has bits.
        effort.spend_product(bits, bits)?;
        Ok(Self::from_digits(self.aligned(kept * 2).sqrt(), kept))
    }

    /// Returns the digits before the point and those after it, as two numbers.
    pub(super) fn parts(&self) -> (BigUint, BigUint) {
        let unit = power_of_ten(self.scale);
        (&self.magnitude / &unit, &self.magnitude % &unit)
    }
}
