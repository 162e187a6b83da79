//! Powers: the algorithm of fdlibm's `e_pow.c`, of which this is a translation by way of the crate `libm`, with one term as V8
//! has it (see [`two_to_the`]).
//!
//! Copyright (C) 2004 by Sun Microsystems, Inc. All rights reserved. Permission to use, copy, modify, and distribute this
//! software is freely granted, provided that this notice is preserved.

use std::f64::consts::{LN_2, LOG2_E};

use super::words::{high, shortened, with_high};

/// Upper half of 1.
const ONE: i32 = 0x3ff0_0000;

/// Logarithm of 3/2 to the base 2, in two parts.
const LOG2_3_2: (f64, f64) = (0.584_962_487_220_764_2, 1.350_039_202_129_749e-8);

/// 2 / (3 ln 2), and in two parts.
const FACTOR: f64 = 0.961_796_693_925_975_6;
const FACTOR_PARTS: (f64, f64) = (0.961_796_700_954_437_3, -7.028_461_650_952_758e-9);

/// 1 / ln 2, in two parts.
const LOG2_E_PARTS: (f64, f64) = (1.442_695_021_629_333_5, 1.925_962_991_126_617_5e-8);

/// ln 2, in two parts.
const LN_2_PARTS: (f64, f64) = (0.693_147_182_464_599_6, -1.904_654_299_957_768e-9);

/// Amount by which a sum may exceed 1024 and still not overflow after rounding: -(1024 - log2 of the largest number
/// plus half a unit in its last place).
const OVERFLOW_MARGIN: f64 = 8.008_566_259_537_294e-17;

/// Computes `x ** y`, except for an infinite `y` with `x` = 1 or -1.
pub(super) fn pow(x: f64, y: f64) -> f64 {
    if let Some(result) = special(x, y) {
        return result;
    }
    let sign = if x < 0.0 && is_odd(y) { -1.0 } else { 1.0 };
    let size = x.abs();
    // For |y| above 2^31, only numbers near 1 have a power that is neither zero nor infinite.
    let logarithm = if high(y.abs()) > 0x41e0_0000 {
        if let Some(result) = out_of_range(high(size), y) {
            return sign * result;
        }
        log2_near_one(size)
    } else {
        log2(size)
    };
    sign * two_to_the(y, logarithm)
}

/// Returns powers that need no computation.
fn special(x: f64, y: f64) -> Option<f64> {
    if y == 0.0 {
        return Some(1.0);
    }
    if x.is_nan() || y.is_nan() {
        return Some(f64::NAN);
    }
    let size = x.abs();
    if y.is_infinite() {
        return Some(if (size > 1.0) == (y > 0.0) { f64::INFINITY } else { 0.0 });
    }
    if y == 1.0 {
        return Some(x);
    }
    if y == -1.0 {
        return Some(1.0 / x);
    }
    if y == 2.0 {
        return Some(x * x);
    }
    if y == 0.5 && x > 0.0 {
        return Some(x.sqrt());
    }
    if x < 0.0 && x.is_finite() && y.trunc() != y {
        return Some(f64::NAN);
    }
    if x == 0.0 || x.is_infinite() || size == 1.0 {
        let result = if y < 0.0 { 1.0 / size } else { size };
        return Some(if x.is_sign_negative() && is_odd(y) { -result } else { result });
    }
    None
}

/// Returns true for an odd whole number.
fn is_odd(y: f64) -> bool {
    y.trunc() == y && (y * 0.5).trunc() != y * 0.5
}

/// Returns zero or infinity if that is the power of a number with this upper half.
fn out_of_range(word: i32, y: f64) -> Option<f64> {
    let is_huge = high(y.abs()) > 0x43f0_0000;
    let is_far = is_huge || !(ONE - 1..=ONE).contains(&word);
    let grows = (word >= ONE) == (y > 0.0);
    is_far.then_some(if grows { f64::INFINITY } else { 0.0 })
}

/// Computes the logarithm to the base 2, in two parts, of a number that differs from 1 by less than 2^-20.
fn log2_near_one(x: f64) -> (f64, f64) {
    let t = x - 1.0;
    let w = (t * t) * (0.5 - t * (0.333_333_333_333_333_3 - t * 0.25));
    let u = LOG2_E_PARTS.0 * t;
    let v = t * LOG2_E_PARTS.1 - w * LOG2_E;
    let first = shortened(u + v);
    (first, v - (first - u))
}

/// Computes the logarithm to the base 2, in two parts.
fn log2(x: f64) -> (f64, f64) {
    let (x, exponent) = if x < f64::MIN_POSITIVE { (x * super::TWO_54, -54) } else { (x, 0) };
    let fraction_bits = high(x) & 0x000f_ffff;
    // The number is 2 ^ exponent * fraction, and the fraction near 1 or near 3/2.
    let near_one = (1.0, 0, (0.0, 0.0));
    let (centre, mark, (centre_high, centre_low)) = match fraction_bits {
        ..=0x0003_988e => near_one,
        0x0003_988f..0x000b_b67a => (1.5, 1 << 18, LOG2_3_2),
        _ => near_one,
    };
    let halve = i32::from(fraction_bits >= 0x000b_b67a);
    let exponent = f64::from(exponent + (high(x) >> 20) - 0x3ff + halve);
    let word = (fraction_bits | ONE) - (halve << 20);
    let fraction = with_high(x, word);

    // s, in two parts: (fraction - centre) / (fraction + centre)
    let u = fraction - centre;
    let v = 1.0 / (fraction + centre);
    let s = u * v;
    let s_high = shortened(s);
    let sum_high = with_high(0.0, ((word >> 1) | 0x2000_0000) + 0x0008_0000 + mark);
    let sum_low = fraction - (sum_high - centre);
    let s_low = v * ((u - s_high * sum_high) - s_high * sum_low);

    // The series of the logarithm.
    let (series_high, series_low) = series(s, s_high, s_low);
    let u = s_high * series_high;
    let v = s_low * series_high + series_low * s;
    let product_high = shortened(u + v);
    let product_low = v - (product_high - u);
    let z_high = FACTOR_PARTS.0 * product_high;
    let z_low = FACTOR_PARTS.1 * product_high + product_low * FACTOR + centre_low;
    let first = shortened(((z_high + z_low) + centre_high) + exponent);
    (first, z_low - (((first - exponent) - centre_high) - z_high))
}

/// Computes 3/2 * ln((1 + s) / (1 - s)) / s, in two parts; `s` is given in two parts, too.
fn series(s: f64, s_high: f64, s_low: f64) -> (f64, f64) {
    let square = s * s;
    let rest = square
        * square
        * (0.599_999_999_999_994_6
            + square
                * (0.428_571_428_578_550_2
                    + square
                        * (0.333_333_329_818_377_43
                            + square
                                * (0.272_728_123_808_534
                                    + square * (0.230_660_745_775_561_75 + square * 0.206_975_017_800_338_42)))));
    let rest = rest + s_low * (s_high + s);
    let square = s_high * s_high;
    let first = shortened(3.0 + square + rest);
    (first, rest - ((first - 3.0) - square))
}

/// Computes 2 to the power of `y` times a logarithm, which is given in two parts.
fn two_to_the(y: f64, (logarithm, logarithm_rest): (f64, f64)) -> f64 {
    let y_high = shortened(y);
    let low = (y - y_high) * logarithm + y * logarithm_rest;
    let high_part = y_high * logarithm;
    let exponent = low + high_part;
    if exponent > 1024.0 || (exponent == 1024.0 && low + OVERFLOW_MARGIN > exponent - high_part) {
        return f64::INFINITY;
    }
    if exponent < -1075.0 || (exponent == -1075.0 && low <= exponent - high_part) {
        return 0.0;
    }
    // The nearest whole number, halves away from zero, is the exponent of the result.
    let whole =
        if high(exponent.abs()) > 0x3fe0_0000 { (exponent.abs() + 0.5).trunc().copysign(exponent) } else { 0.0 };
    let high_part = high_part - whole;

    let t = shortened(low + high_part);
    let u = t * LN_2_PARTS.0;
    let v = (low - (t - high_part)) * LN_2 + t * LN_2_PARTS.1;
    let z = u + v;
    let w = v - (z - u);
    let t = z * z;
    let t = z - t
        * (0.166_666_666_666_666_02
            + t * (-0.002_777_777_777_701_559_3
                + t * (6.613_756_321_437_934e-5 + t * (-1.653_390_220_546_525_2e-6 + t * 4.138_136_797_057_238_5e-8))));
    // fdlibm divides by the first difference alone and subtracts the second from the quotient. V8 divides by both, which shows
    // in one of twenty results: 10 ** -5 is 0.000009999999999999999 there.
    let quotient = z * t / (t - 2.0 - (w + z * w));
    libm::scalbn(1.0 - (quotient - z), whole_number(whole))
}

/// Converts a whole number below 2^11 to an integer.
fn whole_number(x: f64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "whole, and within range")]
    let number = x as i32;
    number
}
