//! Mathematical functions, with the names of the C library.

use super::failure::Failure;
use super::term::NativeFn;
use super::value::Val;

type Given = Result<Val, Failure>;

/// Name, number of arguments, and implementation of each function.
pub(crate) const TABLE: &[(&str, usize, NativeFn)] = &[
    ("nan", 0, |_, _, _| Ok(Val::from(f64::NAN))),
    ("infinite", 0, |_, _, _| Ok(Val::from(f64::INFINITY))),
    ("isnan", 0, |_, input, _| Ok(Val::Bool(input.as_f64().is_some_and(|it| it.is_nan())))),
    ("isinfinite", 0, |_, input, _| Ok(Val::Bool(input.as_f64().is_some_and(|it| it.is_infinite())))),
    ("isfinite", 0, |_, input, _| Ok(Val::Bool(input.as_f64().is_some_and(|it| !it.is_infinite())))),
    ("isnormal", 0, |_, input, _| Ok(Val::Bool(input.as_f64().is_some_and(|it| it.is_normal())))),
    ("sin", 0, |_, input, _| Ok(Val::from(libm::sin(of(&input)?)))),
    ("cos", 0, |_, input, _| Ok(Val::from(libm::cos(of(&input)?)))),
    ("tan", 0, |_, input, _| Ok(Val::from(libm::tan(of(&input)?)))),
    ("asin", 0, |_, input, _| Ok(Val::from(libm::asin(of(&input)?)))),
    ("acos", 0, |_, input, _| Ok(Val::from(libm::acos(of(&input)?)))),
    ("atan", 0, |_, input, _| Ok(Val::from(libm::atan(of(&input)?)))),
    ("sinh", 0, |_, input, _| Ok(Val::from(libm::sinh(of(&input)?)))),
    ("cosh", 0, |_, input, _| Ok(Val::from(libm::cosh(of(&input)?)))),
    ("tanh", 0, |_, input, _| Ok(Val::from(libm::tanh(of(&input)?)))),
    ("asinh", 0, |_, input, _| Ok(Val::from(libm::asinh(of(&input)?)))),
    ("acosh", 0, |_, input, _| Ok(Val::from(libm::acosh(of(&input)?)))),
    ("atanh", 0, |_, input, _| Ok(Val::from(libm::atanh(of(&input)?)))),
    ("floor", 0, |_, input, _| Ok(Val::from(libm::floor(of(&input)?)))),
    ("ceil", 0, |_, input, _| Ok(Val::from(libm::ceil(of(&input)?)))),
    ("sqrt", 0, |_, input, _| Ok(Val::from(libm::sqrt(of(&input)?)))),
    ("cbrt", 0, |_, input, _| Ok(Val::from(libm::cbrt(of(&input)?)))),
    ("exp", 0, |_, input, _| Ok(Val::from(exponential(of(&input)?)))),
    ("exp2", 0, |_, input, _| Ok(Val::from(libm::exp2(of(&input)?)))),
    ("exp10", 0, |_, input, _| Ok(Val::from(libm::pow(10.0, of(&input)?)))),
    ("expm1", 0, |_, input, _| Ok(Val::from(libm::expm1(of(&input)?)))),
    ("log", 0, |_, input, _| Ok(Val::from(libm::log(of(&input)?)))),
    ("log2", 0, |_, input, _| Ok(Val::from(libm::log2(of(&input)?)))),
    ("log10", 0, |_, input, _| Ok(Val::from(libm::log10(of(&input)?)))),
    ("log1p", 0, |_, input, _| Ok(Val::from(libm::log1p(of(&input)?)))),
    ("trunc", 0, |_, input, _| Ok(Val::from(libm::trunc(of(&input)?)))),
    ("round", 0, |_, input, _| Ok(Val::from(libm::round(of(&input)?)))),
    ("rint", 0, |_, input, _| Ok(Val::from(libm::rint(of(&input)?)))),
    ("nearbyint", 0, |_, input, _| Ok(Val::from(libm::rint(of(&input)?)))),
    ("fabs", 0, |_, input, _| Ok(Val::from(libm::fabs(of(&input)?)))),
    ("j0", 0, |_, input, _| Ok(Val::from(libm::j0(of(&input)?)))),
    ("j1", 0, |_, input, _| Ok(Val::from(libm::j1(of(&input)?)))),
    ("y0", 0, |_, input, _| Ok(Val::from(libm::y0(of(&input)?)))),
    ("y1", 0, |_, input, _| Ok(Val::from(libm::y1(of(&input)?)))),
    ("erf", 0, |_, input, _| Ok(Val::from(libm::erf(of(&input)?)))),
    ("erfc", 0, |_, input, _| Ok(Val::from(libm::erfc(of(&input)?)))),
    ("tgamma", 0, |_, input, _| Ok(Val::from(libm::tgamma(of(&input)?)))),
    ("lgamma", 0, |_, input, _| Ok(Val::from(libm::lgamma(of(&input)?)))),
    ("gamma", 0, |_, input, _| Ok(Val::from(libm::lgamma(of(&input)?)))),
    ("pow", 2, |_, _, arguments| both(arguments, libm::pow)),
    ("atan2", 2, |_, _, arguments| both(arguments, libm::atan2)),
    ("fmod", 2, |_, _, arguments| both(arguments, libm::fmod)),
    ("copysign", 2, |_, _, arguments| both(arguments, libm::copysign)),
    ("fmin", 2, |_, _, arguments| both(arguments, libm::fmin)),
    ("fmax", 2, |_, _, arguments| both(arguments, libm::fmax)),
    ("fdim", 2, |_, _, arguments| both(arguments, libm::fdim)),
    ("hypot", 2, |_, _, arguments| both(arguments, libm::hypot)),
    ("nextafter", 2, |_, _, arguments| both(arguments, libm::nextafter)),
    ("nexttoward", 2, |_, _, arguments| both(arguments, libm::nextafter)),
    ("remainder", 2, |_, _, arguments| both(arguments, libm::remainder)),
    ("drem", 2, |_, _, arguments| both(arguments, libm::remainder)),
    ("fma", 3, |_, _, arguments| {
        let (first, second, third) = (of(&arguments[0])?, of(&arguments[1])?, of(&arguments[2])?);
        Ok(Val::from(libm::fma(first, second, third)))
    }),
    ("ldexp", 2, |_, _, arguments| both(arguments, scaled)),
    ("scalb", 2, |_, _, arguments| both(arguments, scaled)),
    ("scalbln", 2, |_, _, arguments| both(arguments, scaled)),
    ("jn", 2, |_, _, arguments| both(arguments, |order, value| libm::jn(order as i32, value))),
    ("yn", 2, |_, _, arguments| both(arguments, |order, value| libm::yn(order as i32, value))),
    ("logb", 0, |_, input, _| Ok(Val::from(exponent(of(&input)?)))),
    ("significand", 0, |_, input, _| {
        let value = of(&input)?;
        let odd = value == 0.0 || !value.is_finite();
        Ok(Val::from(if odd { value } else { scaled(value, -exponent(value)) }))
    }),
    ("frexp", 0, |_, input, _| {
        let value = of(&input)?;
        let (fraction, exponent) = if value.is_finite() { libm::frexp(value) } else { (value, 0) };
        Ok([Val::from(fraction), Val::from(f64::from(exponent))].into_iter().collect())
    }),
    ("modf", 0, |_, input, _| {
        let value = of(&input)?;
        let (fraction, whole) = if value.is_infinite() { (0.0, value) } else { libm::modf(value) };
        Ok([Val::from(fraction), Val::from(whole)].into_iter().collect())
    }),
    ("lgamma_r", 0, |_, input, _| {
        let (value, sign) = libm::lgamma_r(of(&input)?);
        Ok([Val::from(value), Val::from(f64::from(sign))].into_iter().collect())
    }),
];

fn of(value: &Val) -> Result<f64, Failure> {
    value.as_f64().ok_or_else(|| Failure::about(value, "number required"))
}

fn both(arguments: &[Val], function: fn(f64, f64) -> f64) -> Given {
    Ok(Val::from(function(of(&arguments[0])?, of(&arguments[1])?)))
}

/// Multiplies by a power of two.
fn scaled(value: f64, exponent: f64) -> f64 {
    // Beyond this range every result is zero or infinite.
    libm::scalbn(value, exponent.clamp(-5_000.0, 5_000.0) as i32)
}

fn exponent(value: f64) -> f64 {
    match value {
        0.0 => f64::NEG_INFINITY,
        _ if value.is_infinite() => f64::INFINITY,
        _ if value.is_nan() => value,
        _ => f64::from(libm::ilogb(value)),
    }
}

/// Returns e to the power of a number. `libm` is off by one ulp for e itself, the value that is most often looked at.
fn exponential(value: f64) -> f64 {
    if value == 1.0 { std::f64::consts::E } else { libm::exp(value) }
}
