//! Exponentials and logarithms as V8 computes them, to the last digit, for `Math` and `**`.
//!
//! These are the algorithms of fdlibm, as in V8. The C library of the guest has others of the same accuracy, which
//! differ in the last digit of up to a tenth of the results; and that digit is printed. The crate `libm` has fdlibm by
//! way of FreeBSD and musl, which rearranged some of the logarithms and the functions based on them, so those are
//! implemented here. QuickJS calls the functions named `tollhouse_math_…` (`patches/07-math.patch`).
#![expect(unsafe_code, reason = "functions that C calls by their names")]

mod power;
mod words;

use std::f64::consts::{E, LN_2, LOG10_E};

use words::{high, with_high};

/// Logarithm of 2 in two parts: the first has few enough digits for its product with an exponent to be exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Decimal logarithm of 2, in the same way.
const LOG10_2_HIGH: f64 = 0.301_029_995_663_611_77;
const LOG10_2_LOW: f64 = 3.694_239_077_158_931e-13;

/// Coefficients of the series of the logarithm of 1 + f in s = f / (2 + f): of s^2, s^4 and so on.
const SERIES: [f64; 7] = [
    0.666_666_666_666_673_5,
    0.399_999_999_994_094_2,
    0.285_714_287_436_623_9,
    0.222_221_984_321_497_84,
    0.181_835_721_616_180_5,
    0.153_138_376_992_093_73,
    0.147_981_986_051_165_86,
];

/// Factor that makes the smallest numbers normal ones: 2^54.
const TWO_54: f64 = 18_014_398_509_481_984.0;

/// Computes `x ** y`, except for an infinite `y` with `x` = 1 or -1.
#[unsafe(no_mangle)]
extern "C" fn tollhouse_math_pow(x: f64, y: f64) -> f64 {
    power::pow(x, y)
}

/// Exponential function, as `Math.exp`.
#[unsafe(no_mangle)]
extern "C" fn tollhouse_math_exp(x: f64) -> f64 {
    // The algorithm gives e itself with a wrong last digit, unlike V8.
    if x == 1.0 { E } else { libm::exp(x) }
}

/// Logarithm to base 2, as `Math.log2`.
#[unsafe(no_mangle)]
extern "C" fn tollhouse_math_log2(x: f64) -> f64 {
    libm::log2(x)
}

/// Natural logarithm, as `Math.log`.
#[unsafe(no_mangle)]
extern "C" fn tollhouse_math_log(x: f64) -> f64 {
    if x <= 0.0 || !x.is_finite() {
        return logarithm_without_digits(x);
    }
    let (x, exponent) = if x < f64::MIN_POSITIVE { (x * TWO_54, -54) } else { (x, 0) };
    let fraction_bits = high(x) & 0x000f_ffff;
    // A fraction above the square root of 2 is halved.
    let halve = (fraction_bits + 0x0009_5f64) & 0x0010_0000;
    let exponent = f64::from(exponent + (high(x) >> 20) - 1023 + (halve >> 20));
    let f = with_high(x, fraction_bits | (halve ^ 0x3ff0_0000)) - 1.0;
    if (0x000f_ffff & (2 + fraction_bits)) < 3 {
        return logarithm_near_one(f, exponent);
    }
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let odd = w * (SERIES[1] + w * (SERIES[3] + w * SERIES[5]));
    let even = z * (SERIES[0] + w * (SERIES[2] + w * (SERIES[4] + w * SERIES[6])));
    let rest = even + odd;
    let is_middle = ((fraction_bits - 0x0006_147a) | (0x0006_b851 - fraction_bits)) > 0;
    match (is_middle, exponent == 0.0) {
        (true, true) => {
            let half_square = 0.5 * f * f;
            f - (half_square - s * (half_square + rest))
        }
        (true, false) => {
            let half_square = 0.5 * f * f;
            exponent * LN_2_HIGH - ((half_square - (s * (half_square + rest) + exponent * LN_2_LOW)) - f)
        }
        (false, true) => f - s * (f - rest),
        (false, false) => exponent * LN_2_HIGH - ((s * (f - rest) - exponent * LN_2_LOW) - f),
    }
}

/// Computes the logarithm of 2 ^ `exponent` * (1 + `f`), where `f` is below 2^-20.
fn logarithm_near_one(f: f64, exponent: f64) -> f64 {
    let rest = f * f * (0.5 - 0.333_333_333_333_333_3 * f);
    if f == 0.0 {
        exponent * LN_2_HIGH + exponent * LN_2_LOW
    } else if exponent == 0.0 {
        f - rest
    } else {
        exponent * LN_2_HIGH - ((rest - exponent * LN_2_LOW) - f)
    }
}

/// Returns the logarithm, in any base, of zero, a negative number, infinity or NaN.
fn logarithm_without_digits(x: f64) -> f64 {
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if x < 0.0 {
        f64::NAN
    } else {
        x
    }
}

/// Logarithm to base 10, as `Math.log10`.
#[unsafe(no_mangle)]
extern "C" fn tollhouse_math_log10(x: f64) -> f64 {
    if x <= 0.0 || !x.is_finite() {
        return logarithm_without_digits(x);
    }
    let (x, exponent) = if x < f64::MIN_POSITIVE { (x * TWO_54, -54) } else { (x, 0) };
    let exponent = exponent + (high(x) >> 20) - 1023;
    // Numbers below 1 are doubled, so that both terms have one sign.
    let doubled = i32::from(exponent < 0);
    let fraction = with_high(x, (high(x) & 0x000f_ffff) | ((0x3ff - doubled) << 20));
    let exponent = f64::from(exponent + doubled);
    exponent * LOG10_2_HIGH + (exponent * LOG10_2_LOW + LOG10_E * tollhouse_math_log(fraction))
}

/// Natural logarithm of `1 + x`, as `Math.log1p`.
#[unsafe(no_mangle)]
extern "C" fn tollhouse_math_log1p(x: f64) -> f64 {
    if x <= -1.0 || !x.is_finite() {
        return logarithm_without_digits(1.0 + x);
    }
    let word = high(x.abs());
    if word < 0x3e20_0000 {
        return if word < 0x3c90_0000 { x } else { x - x * x * 0.5 };
    }
    // From -0.29 to 0.41, `x` itself is f, with the exponent 0.
    let is_fraction = word < if x > 0.0 { 0x3fda_827a } else { 0x3fd2_bec5 };
    let (f, fraction_bits, exponent, lost) = if is_fraction { (x, 1, 0.0, 0.0) } else { fraction_of_successor(x) };
    let half_square = 0.5 * f * f;
    if fraction_bits == 0 {
        let rest = half_square * (1.0 - 0.666_666_666_666_666_6 * f);
        return if f == 0.0 {
            exponent * LN_2_HIGH + (lost + exponent * LN_2_LOW)
        } else if exponent == 0.0 {
            f - rest
        } else {
            exponent * LN_2_HIGH - ((rest - (exponent * LN_2_LOW + lost)) - f)
        };
    }
    let s = f / (2.0 + f);
    let z = s * s;
    let rest = z * SERIES.iter().rev().skip(1).fold(SERIES[6], |sum, coefficient| coefficient + z * sum);
    if exponent == 0.0 {
        return f - (half_square - s * (half_square + rest));
    }
    exponent * LN_2_HIGH - ((half_square - (s * (half_square + rest) + (exponent * LN_2_LOW + lost))) - f)
}

/// Splits 1 + `x` into 2 ^ exponent * (1 + f). Returns f, its upper bits (zero if f is tiny), the exponent, and the
/// relative rounding error of the sum 1 + `x`.
fn fraction_of_successor(x: f64) -> (f64, i32, f64, f64) {
    let is_large = high(x) >= 0x4340_0000;
    let sum = if is_large { x } else { 1.0 + x };
    let exponent = (high(sum) >> 20) - 1023;
    let lost = match (is_large, exponent > 0) {
        (true, _) => 0.0,
        (false, true) => (1.0 - (sum - x)) / sum,
        (false, false) => (x - (sum - 1.0)) / sum,
    };
    let bits = high(sum) & 0x000f_ffff;
    // A fraction above the square root of 2 is halved.
    if bits < 0x0006_a09e {
        (with_high(sum, bits | 0x3ff0_0000) - 1.0, bits, f64::from(exponent), lost)
    } else {
        (with_high(sum, bits | 0x3fe0_0000) - 1.0, (0x0010_0000 - bits) >> 2, f64::from(exponent + 1), lost)
    }
}

/// Inverse hyperbolic tangent, as `Math.atanh`.
#[unsafe(no_mangle)]
extern "C" fn tollhouse_math_atanh(x: f64) -> f64 {
    let size = x.abs();
    let twice = size + size;
    let result = if high(size) < 0x3e30_0000 {
        return x;
    } else if high(size) < 0x3fe0_0000 {
        0.5 * tollhouse_math_log1p(twice + twice * size / (1.0 - size))
    } else if size > 1.0 || size.is_nan() {
        return f64::NAN;
    } else {
        0.5 * tollhouse_math_log1p(twice / (1.0 - size))
    };
    result.copysign(x)
}

/// Hyperbolic cosine, as `Math.cosh`.
#[unsafe(no_mangle)]
extern "C" fn tollhouse_math_cosh(x: f64) -> f64 {
    /// Upper half of a number above which the exponential overflows, while the hyperbolic cosine does not yet.
    const EXPONENTIAL_ENDS: i32 = 0x4086_2e42;
    let size = x.abs();
    let word = high(size);
    if word < 0x3fd6_2e43 {
        let t = libm::expm1(size);
        let w = 1.0 + t;
        return 1.0 + (t * t) / (w + w);
    }
    if word < 0x4036_0000 {
        let t = tollhouse_math_exp(size);
        return 0.5 * t + 0.5 / t;
    }
    if word < EXPONENTIAL_ENDS {
        return 0.5 * libm::exp(size);
    }
    let root = libm::exp(0.5 * size);
    (0.5 * root) * root
}

/// Inverse hyperbolic sine, as `Math.asinh`.
#[unsafe(no_mangle)]
extern "C" fn tollhouse_math_asinh(x: f64) -> f64 {
    let size = x.abs();
    let word = high(size);
    // NaN, infinity and numbers below 2^-28 are returned unchanged.
    if !(0x3e30_0000..0x7ff0_0000).contains(&word) {
        return x;
    }
    let result = if word > 0x41b0_0000 {
        tollhouse_math_log(size) + LN_2
    } else if word > 0x4000_0000 {
        tollhouse_math_log(2.0 * size + 1.0 / ((size * size + 1.0).sqrt() + size))
    } else {
        let square = size * size;
        tollhouse_math_log1p(size + square / (1.0 + (1.0 + square).sqrt()))
    };
    result.copysign(x)
}

/// Inverse hyperbolic cosine, as `Math.acosh`.
#[unsafe(no_mangle)]
extern "C" fn tollhouse_math_acosh(x: f64) -> f64 {
    let word = high(x);
    if x < 1.0 || x.is_nan() {
        f64::NAN
    } else if x.is_infinite() {
        x
    } else if word >= 0x41b0_0000 {
        tollhouse_math_log(x) + LN_2
    } else if word > 0x4000_0000 {
        tollhouse_math_log(2.0 * x - 1.0 / (x + (x * x - 1.0).sqrt()))
    } else {
        let t = x - 1.0;
        tollhouse_math_log1p(t + (2.0 * t + t * t).sqrt())
    }
}
