//! The two halves of a double, each 32 bits: what fdlibm's algorithms look at and change.

/// The half with sign, exponent and the first digits.
pub(super) fn high(x: f64) -> i32 {
    ((x.to_bits() >> 32) as u32).cast_signed()
}

/// A number with another upper half.
pub(super) fn with_high(x: f64, high: i32) -> f64 {
    f64::from_bits((x.to_bits() & 0xffff_ffff) | (u64::from(high.cast_unsigned()) << 32))
}

/// A number without its lower half: short enough for products that are exact.
pub(super) fn shortened(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & 0xffff_ffff_0000_0000)
}
