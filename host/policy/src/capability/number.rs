//! Numbers that are compared exactly whatever their representation; and amounts, which are added up.

use std::cmp::Ordering;
use std::fmt;

use serde_json::Value;

/// A finite number. Equal numbers have the same representation: whole numbers that fit are integers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole number.
    Integer(i128),
    /// A number with a fraction, or beyond ±2^127.
    Float(f64),
}

/// The limit 2^127: floats from here on do not fit an `i128`.
const INTEGER_END: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;

/// Maximum number of digits of an `i128`.
const MAX_DIGITS: usize = 39;

impl Number {
    /// Converts a float; returns `None` for infinities and NaN.
    #[must_use]
    pub fn from_f64(float: f64) -> Option<Self> {
        if !float.is_finite() {
            return None;
        }
        Some(match floor(float) {
            Some((whole, true)) => Self::Integer(whole),
            _ => Self::Float(float),
        })
    }

    /// Converts a JSON value. `wide` means that the type is a 64-bit integer, whose canonical form beyond ±(2^53 - 1)
    /// is a decimal string. Otherwise strings are not numbers, nor are booleans.
    #[must_use]
    pub fn from_json(value: &Value, wide: bool) -> Option<Self> {
        match value {
            Value::Number(number) => {
                let integer = number.as_u64().map(i128::from).or_else(|| number.as_i64().map(i128::from));
                integer.map(Self::Integer).or_else(|| Self::from_f64(number.as_f64()?))
            }
            Value::String(text) if wide => Self::from_decimal(text),
            _ => None,
        }
    }

    /// Converts to a JSON number, or to a decimal string if no JSON number is exactly equal.
    #[must_use]
    pub fn to_json(self) -> Value {
        match self {
            Self::Float(float) => float.into(),
            Self::Integer(integer) => match (u64::try_from(integer), i64::try_from(integer)) {
                (Ok(integer), _) => integer.into(),
                (_, Ok(integer)) => integer.into(),
                // Beyond 64 bits, JSON only has floats.
                _ => match nearest(integer) {
                    float if Self::from_f64(float) == Some(self) => float.into(),
                    _ => integer.to_string().into(),
                },
            },
        }
    }

    /// Parses a decimal integer: digits, optionally after `-`, without leading zeros.
    #[must_use]
    pub fn from_decimal(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let plain = (1..=MAX_DIGITS).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && (digits == "0" || !digits.starts_with('0'))
            && text != "-0";
        plain.then(|| text.parse().ok()).flatten().map(Self::Integer)
    }
}

/// Returns the largest whole number not above a float, and whether it equals the float; `None` if it does not fit.
#[expect(clippy::cast_possible_truncation, reason = "the floor is whole and, as just checked, fits")]
fn floor(float: f64) -> Option<(i128, bool)> {
    // The fast path of nearly all numbers; converting to 128 bits takes ten times as long.
    let near = float as i64;
    if near.unsigned_abs() < 1 << 53 && near as f64 == float {
        return Some((near.into(), true));
    }
    let floor = float.floor();
    (floor.abs() < INTEGER_END).then_some((floor as i128, floor == float))
}

/// Returns the float nearest to an integer.
#[expect(clippy::cast_precision_loss, reason = "rounding is what is meant")]
fn nearest(integer: i128) -> f64 {
    integer as f64
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        match (*self, *other) {
            (Self::Integer(a), Self::Integer(b)) => a.cmp(&b),
            // Neither is NaN, and neither is a zero of either sign: those are integers.
            (Self::Float(a), Self::Float(b)) => a.total_cmp(&b),
            (Self::Integer(a), Self::Float(b)) => against(a, b),
            (Self::Float(a), Self::Integer(b)) => against(b, a).reverse(),
        }
    }
}

/// Compares an integer with a non-integral float, exactly.
fn against(integer: i128, float: f64) -> Ordering {
    match floor(float) {
        // The float lies above its floor.
        Some((floor, _)) if integer <= floor => Ordering::Less,
        Some(_) => Ordering::Greater,
        None if float > 0.0 => Ordering::Less,
        None => Ordering::Greater,
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(integer) => integer.fmt(f),
            Self::Float(float) => float.fmt(f),
        }
    }
}

/// A sum of money, bytes or whatever else a budget counts: a nonnegative number, in millionths.
///
/// A fraction is taken in its decimal notation (`0.1` is a tenth), and a part below a millionth is rounded up: a budget
/// is never overspent by rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(u128);

/// Number of parts of a unit.
const PARTS_PER_UNIT: u128 = 1_000_000;

/// Number of decimals of an amount.
const DECIMALS: usize = 6;

impl Amount {
    /// Converts a number; returns `None` if it is negative or too large.
    #[must_use]
    pub fn new(number: Number) -> Option<Self> {
        match number {
            Number::Integer(integer) => u128::try_from(integer).ok()?.checked_mul(PARTS_PER_UNIT).map(Self),
            Number::Float(float) => Self::from_text(&float.to_string()),
        }
    }

    /// Creates an amount of whole units.
    #[must_use]
    pub fn whole(count: u64) -> Self {
        Self(u128::from(count) * PARTS_PER_UNIT)
    }

    /// Creates an amount from millionths.
    #[must_use]
    pub fn from_millionths(millionths: u128) -> Self {
        Self(millionths)
    }

    /// The amount in millionths.
    #[must_use]
    pub fn millionths(self) -> u128 {
        self.0
    }

    /// Adds two amounts; returns `None` if the sum is too large.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// Subtracts an amount, resulting in at least zero.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Converts to a JSON number: an integer if it is whole and fits 64 bits, otherwise the nearest float.
    #[must_use]
    pub fn to_json(self) -> Value {
        match u64::try_from(self.0 / PARTS_PER_UNIT) {
            Ok(whole) if self.0.is_multiple_of(PARTS_PER_UNIT) => whole.into(),
            _ => self.to_string().parse::<f64>().map_or(Value::Null, Value::from),
        }
    }

    /// Parses the output of `f64`'s `Display`: digits, optionally with a point, never an exponent.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let (kept, rest) = fraction.split_at(fraction.len().min(DECIMALS));
        let more = rest.bytes().any(|digit| digit != b'0');
        let parts: u128 = format!("{kept:0<DECIMALS$}").parse().ok()?;
        let whole: u128 = whole.parse().ok()?;
        whole.checked_mul(PARTS_PER_UNIT)?.checked_add(parts)?.checked_add(u128::from(more)).map(Self)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, parts) = (self.0 / PARTS_PER_UNIT, self.0 % PARTS_PER_UNIT);
        if parts == 0 {
            return write!(f, "{whole}");
        }
        let parts = format!("{parts:0>DECIMALS$}");
        write!(f, "{whole}.{}", parts.trim_end_matches('0'))
    }
}

impl serde::Serialize for Amount {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn number(value: Value) -> Number {
        Number::from_json(&value, true).expect("it is a number")
    }

    #[test]
    fn number_in_every_spelling_is_equal() {
        for same in [json!(10_000), json!(1e4), json!(10_000.0), json!("10000")] {
            assert_eq!(number(same.clone()), Number::Integer(10_000), "{same}");
        }
        assert_eq!(number(json!(-0.0)), Number::Integer(0));
        for large in [i128::MAX, i128::MIN, 10_i128.pow(38), (1 << 64) + 1] {
            assert_eq!(Number::from_decimal(&large.to_string()), Some(Number::Integer(large)));
        }
        for none in [json!("1e4"), json!("010"), json!("-0"), json!(""), json!("+1"), json!(" 1"), json!(true)] {
            assert_eq!(Number::from_json(&none, true), None, "{none}");
        }
        assert_eq!(Number::from_json(&json!("10000"), false), None, "only 64-bit types are written as strings");
        assert_eq!((Number::from_f64(f64::NAN), Number::from_f64(f64::INFINITY)), (None, None));
    }

    #[test]
    fn number_comparison_at_edges_of_precision_is_exact() {
        let below = [
            (json!(9_007_199_254_740_991_u64), json!(9_007_199_254_740_992_u64)),
            (json!(9_007_199_254_740_992_u64), json!(9_007_199_254_740_993_u64)),
            (json!(9_007_199_254_740_992.0), json!("9007199254740993")),
            (json!(u64::MAX), json!(1.8446744073709552e19)),
            (json!(i64::MIN), json!(-9.223372036854775e18)),
            (json!(0.1), json!(0.2)),
            (json!(0), json!(f64::MIN_POSITIVE)),
            (json!(u64::MAX), json!(1e300)),
            (json!(-1e300), json!(i64::MIN)),
            (json!(-0.5), json!(-0.0)),
        ];
        for (a, b) in below {
            assert!(number(a.clone()) < number(b.clone()), "{a} < {b}");
            assert!(number(b.clone()) > number(a.clone()), "{b} > {a}");
        }
    }

    #[test]
    fn amounts_are_never_rounded_down() {
        let amount = |value: Value| Amount::new(number(value));
        assert_eq!(amount(json!(0.1)), Some(Amount(100_000)));
        assert_eq!(amount(json!(12.5)), Some(Amount(12_500_000)));
        assert_eq!(amount(json!(1e-9)), Some(Amount(1)));
        assert_eq!(amount(json!(0.123_456_7)), Some(Amount(123_457)));
        assert_eq!(amount(json!(u64::MAX)).map(|a| a.to_json()), Some(json!(u64::MAX)));
        for none in [json!(-1), json!(-0.5), json!(1e300)] {
            assert_eq!(amount(none.clone()), None, "{none}");
        }
        assert_eq!(Amount(1_500_000).to_string(), "1.5");
        assert_eq!(Amount(1_500_000).to_json(), json!(1.5));
    }

    /// Integers near the limits of exact floats, and any others.
    fn edges() -> impl Strategy<Value = i128> {
        let near = |middle: i128| (middle - 3..=middle + 3).boxed();
        prop_oneof![
            near(0),
            near(1 << 53),
            near(-(1 << 53)),
            near(i128::from(u64::MAX)),
            near(i128::from(i64::MIN)),
            any::<i64>().prop_map(i128::from).boxed(),
        ]
    }

    proptest! {
        #[test]
        fn integers_compare_as_integers(a in edges(), b in edges()) {
            prop_assert_eq!(Number::Integer(a).cmp(&Number::Integer(b)), a.cmp(&b));
            prop_assert_eq!(Number::from_decimal(&a.to_string()), Some(Number::Integer(a)));
        }

        #[test]
        fn integers_and_floats_compare_as_rationals(a in edges(), b in any::<f64>()) {
            let Some(number) = Number::from_f64(b) else { return Ok(()) };
            let order = Number::Integer(a).cmp(&number);
            prop_assert_eq!(number.cmp(&Number::Integer(a)), order.reverse());
            // Compared with the neighbors of `b`'s whole part, whose order relative to `b` is known.
            if b.abs() < 1e18 {
                let whole = b.trunc() as i128;
                let expected = match a.cmp(&whole) {
                    Ordering::Equal => 0.0_f64.partial_cmp(&(b - b.trunc())).expect("finite"),
                    other => other,
                };
                prop_assert_eq!(order, expected);
            }
        }

        #[test]
        fn float_numbers_compare_as_floats(a in any::<f64>(), b in any::<f64>()) {
            if let (Some(x), Some(y)) = (Number::from_f64(a), Number::from_f64(b)) {
                prop_assert_eq!(Some(x.cmp(&y)), a.partial_cmp(&b));
            }
        }
    }
}
