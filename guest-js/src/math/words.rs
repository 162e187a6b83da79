//! Access to the two 32-bit halves of a double, which the algorithms of fdlibm inspect and change.

/// Returns the half with the sign, the exponent and the upper bits of the fraction.
pub(super) fn high(x: f64) -> i32 {
    ((x.to_bits() >> 32) as u32).cast_signed()
}

/// Replaces the upper half of a number.
pub(super) fn with_high(x: f64, high: i32) -> f64 {
    f64::from_bits((x.to_bits() & 0xffff_ffff) | (u64::from(high.cast_unsigned()) << 32))
}

/// Clears the lower half of a number, which makes it short enough for exact products.
pub(super) fn shortened(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & 0xffff_ffff_0000_0000)
}
