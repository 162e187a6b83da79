//! Numbers and their only spelling in JSON. Exact or refused: only values that were floats to begin with are rounded.

use serde_json::{Number, Value};

use crate::types::Shape;

/// Largest integer that a JSON number (a double) holds exactly together with all smaller ones: 2^53 - 1.
pub const MAX_SAFE: u64 = (1 << 53) - 1;

/// Returns the least and the greatest value of an integer type.
#[must_use]
pub fn bounds(shape: &Shape) -> Option<(i128, i128)> {
    Some(match shape {
        Shape::S8 => (i8::MIN.into(), i8::MAX.into()),
        Shape::U8 => (0, u8::MAX.into()),
        Shape::S16 => (i16::MIN.into(), i16::MAX.into()),
        Shape::U16 => (0, u16::MAX.into()),
        Shape::S32 => (i32::MIN.into(), i32::MAX.into()),
        Shape::U32 => (0, u32::MAX.into()),
        Shape::S64 => (i64::MIN.into(), i64::MAX.into()),
        Shape::U64 => (0, u64::MAX.into()),
        _ => return None,
    })
}

/// Converts an integer to canonical JSON: a number up to ±(2^53 - 1), beyond that a decimal string.
#[must_use]
pub fn integer_json(number: i128) -> Value {
    match i64::try_from(number) {
        Ok(small) if small.unsigned_abs() <= MAX_SAFE => Value::Number(small.into()),
        _ => Value::String(number.to_string()),
    }
}

/// Returns the integer value of a JSON number, unless it has a fraction or is a double that other integers round to.
#[must_use]
pub fn exact_integer(number: &Number) -> Option<i128> {
    if let Some(n) = number.as_u64() {
        return Some(n.into());
    }
    if let Some(n) = number.as_i64() {
        return Some(n.into());
    }
    let n = number.as_f64()?;
    whole(n).map(i128::from)
}

/// Value of [`MAX_SAFE`] as a float.
const SAFE_FLOAT: f64 = 9_007_199_254_740_991.0;

/// Converts a whole float up to ±(2^53 - 1) to an integer.
#[expect(clippy::cast_possible_truncation, reason = "whole and far below 2^63, as just checked")]
fn whole(n: f64) -> Option<i64> {
    (n.fract() == 0.0 && n.abs() <= SAFE_FLOAT).then_some(n as i64)
}

/// Parses a decimal integer: digits, perhaps with `-`, without leading zeros.
pub(crate) fn decimal(text: &str) -> Option<i128> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = !digits.is_empty()
        && digits.len() <= 20
        && digits.bytes().all(|b| b.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'))
        && text != "-0";
    plain.then(|| text.parse().ok()).flatten()
}

pub(super) fn is_non_finite(text: &str) -> bool {
    matches!(text, "NaN" | "Infinity" | "-Infinity")
}

/// Returns the nearest 32-bit float, unless a finite number would become infinite.
#[expect(clippy::cast_possible_truncation, reason = "rounding to the nearest 32-bit float is what is meant")]
#[must_use]
pub fn to_f32(number: f64) -> Option<f32> {
    let narrow = number as f32;
    (narrow.is_finite() || !number.is_finite()).then_some(narrow)
}

/// Converts a float to canonical JSON. Whole numbers up to ±(2^53 - 1) have no point, so that `2.0` reads `2`
/// everywhere, as in JavaScript; but minus zero stays `-0.0`.
#[must_use]
pub fn float_json(number: f64) -> Value {
    let minus_zero = number == 0.0 && number.is_sign_negative();
    if let Some(whole) = whole(number).filter(|_| !minus_zero) {
        return Value::Number(whole.into());
    }
    Number::from_f64(number).map_or_else(|| Value::String(non_finite_text(number).to_owned()), Value::Number)
}

fn non_finite_text(number: f64) -> &'static str {
    if number.is_nan() {
        "NaN"
    } else if number > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    }
}

/// Returns the float value of canonical JSON.
#[must_use]
pub fn float_value(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => match text.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

/// Converts an integer of any size to a JSON number where it fits one.
pub(crate) fn integer_number(number: i128) -> Value {
    i64::try_from(number)
        .map(Value::from)
        .or_else(|_| u64::try_from(number).map(Value::from))
        .unwrap_or_else(|_| Value::String(number.to_string()))
}
