//! Integers in arguments: exact, or refused.
//!
//! A JSON number is an exact integer within 64 bits. Beyond them it is read as a float, and so is a number that a script
//! in JavaScript gives from 2^53 on: its digits may have been rounded. JavaScript states such an integer as a BigInt,
//! which arrives as its decimal digits in a string.

use serde_json::{Number, Value};

use crate::canonical::{MAX_SAFE, decimal, integer_number};
use crate::types::{Field, Members, Shape, Type};

/// Limit from which on a float is next to integers that are rounded to it: 2^53.
const ROUNDED: f64 = 9_007_199_254_740_992.0;

/// Digits of the smallest integers that do not fit 64 bits, signed (2^63 is 9223372036854775808).
const MIN_DIGITS_BEYOND: usize = 19;

/// Most digits of an integer that a message shows.
const MAX_DIGITS: usize = 40;

/// Longest path that a message shows, in characters.
const MAX_PLACE: usize = 200;

/// Converts integers beyond ±(2^53 - 1) that are decimal digits to numbers, where the schema declares an integer and
/// nothing else. Other values are left to the schema.
///
/// # Errors
/// A description of the first number that may have been rounded, and of the first digits in a text that are no integer
/// of 64 bits beyond 2^53 - 1.
pub(super) fn canonicalize(params: &Members<Field>, arguments: &mut Value) -> Result<(), String> {
    fields(params, arguments).map_err(|RefusedInteger { place, problem }| {
        let place: Vec<&str> = place.iter().rev().map(String::as_str).collect();
        // A schema chooses how long names are.
        let place: String = place.join(".").chars().take(MAX_PLACE).collect();
        format!("{place}: {problem}")
    })
}

/// Argument that is no exact integer, where the schema declares one.
struct RefusedInteger {
    /// Segments of its path, the last one first.
    place: Vec<String>,
    problem: String,
}

impl RefusedInteger {
    fn new(problem: String) -> Self {
        Self { place: Vec::new(), problem }
    }

    fn under(mut self, segment: &str) -> Self {
        self.place.push(segment.to_owned());
        self
    }
}

fn fields(members: &Members<Field>, value: &mut Value) -> Result<(), RefusedInteger> {
    let Value::Object(object) = value else { return Ok(()) };
    for (name, value) in object {
        // The names of a schema have no other spelling.
        if let Some(field) = members.find(name).filter(|field| field.name == *name) {
            part(&field.ty, value).map_err(|refused| refused.under(name))?;
        }
    }
    Ok(())
}

fn part(ty: &Type, value: &mut Value) -> Result<(), RefusedInteger> {
    match (&ty.shape, &mut *value) {
        (Shape::S64, _) => integer(value),
        (Shape::Option(inner), _) => part(inner, value),
        (Shape::Record(members), _) => fields(members, value),
        (Shape::List(inner), Value::Array(items)) => items
            .iter_mut()
            .enumerate()
            .try_for_each(|(at, item)| part(inner, item).map_err(|refused| refused.under(&at.to_string()))),
        _ => Ok(()),
    }
}

fn integer(value: &mut Value) -> Result<(), RefusedInteger> {
    match value {
        Value::Number(number) if number.is_f64() && number.as_f64().is_some_and(|float| float.abs() >= ROUNDED) => {
            Err(RefusedInteger::new(format!(
                "{number} is no exact integer: give one of at most 64 bits by its digits, in JavaScript beyond 2^53 - 1 \
                 as a BigInt such as 9007199254740993n"
            )))
        }
        Value::String(text) => {
            match decimal(text).map(integer_number) {
                // Shorter digits are a text: one integer has one spelling.
                Some(Value::Number(number)) if is_safe(&number) => Err(RefusedInteger::new(format!(
                    "\"{text}\" is a text and no integer: give {text} itself, in JavaScript Number({text}n) for a BigInt"
                ))),
                Some(number @ Value::Number(_)) => {
                    *value = number;
                    Ok(())
                }
                _ if is_beyond_64_bits(text) => Err(RefusedInteger::new(format!(
                    "{} has more than 64 bits, and an integer has at most 64: give it as a text to a tool that takes one",
                    shortened(text)
                ))),
                _ => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// Returns true if JavaScript gives the integer as a number.
fn is_safe(number: &Number) -> bool {
    number.as_i64().is_some_and(|number| number.unsigned_abs() <= MAX_SAFE)
}

/// Returns true for decimal digits that are too many for 64 bits, or just beyond them.
fn is_beyond_64_bits(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.len() >= MIN_DIGITS_BEYOND && !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the first digits of a long integer.
fn shortened(digits: &str) -> String {
    match digits.get(..MAX_DIGITS) {
        Some(first) if digits.len() > MAX_DIGITS => format!("{first}… ({} digits)", digits.len()),
        _ => digits.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::HostMethod;
    use super::*;

    fn canonical(mut arguments: Value) -> Result<Value, String> {
        let item = json!({ "type": "object", "properties": { "id": { "type": "integer" } } });
        let schema = json!({
            "type": "object",
            "properties": {
                "id": { "type": "integer" },
                "perhaps": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
                "either": { "anyOf": [{ "type": "integer" }, { "type": "string" }] },
                "name": { "type": "string" },
                "ratio": { "type": "number" },
                "ids": { "type": "array", "items": { "type": "integer" } },
                "items": { "type": "array", "items": item },
            },
        });
        let method = HostMethod::new("take", "", schema).expect("a method");
        canonicalize(&method.function().params, &mut arguments).map(|()| arguments)
    }

    #[test]
    fn integer_in_decimal_digits_becomes_a_number_where_the_schema_has_an_integer_only() {
        let large = "9007199254740993";
        let given = json!({
            "id": large, "perhaps": "-9223372036854775808", "either": large, "name": large, "ratio": large,
            "ids": ["18446744073709551615", 5], "items": [{ "id": large, "other": large }], "unknown": large,
        });
        let made = json!({
            "id": 9_007_199_254_740_993_u64, "perhaps": i64::MIN, "either": large, "name": large, "ratio": large,
            "ids": [u64::MAX, 5], "items": [{ "id": 9_007_199_254_740_993_u64, "other": large }], "unknown": large,
        });
        assert_eq!(canonical(given), Ok(made.clone()));
        assert_eq!(canonical(made.clone()), Ok(made), "idempotent");
    }

    #[test]
    fn text_that_is_no_large_integer_of_64_bits_is_left_to_the_schema() {
        for text in ["05", "five", "09007199254740993", "+9007199254740993", "-0", "1e30", ""] {
            assert_eq!(canonical(json!({ "id": text })), Ok(json!({ "id": text })), "{text}");
        }
    }

    #[test]
    fn big_integer_that_is_too_short_or_too_long_is_refused_with_what_to_give() {
        for (text, said) in [
            ("5", "items.0.id: \"5\" is a text and no integer: give 5 itself, in JavaScript Number(5n) for a BigInt"),
            ("-9007199254740991", "Number(-9007199254740991n)"),
            ("18446744073709551616", "items.0.id: 18446744073709551616 has more than 64 bits"),
            ("-9223372036854775809", "-9223372036854775809 has more than 64 bits"),
            (&"7".repeat(100_000), "7… (100000 digits) has more than 64 bits"),
        ] {
            let problem = canonical(json!({ "items": [{ "id": text }] })).expect_err("it is refused");
            assert!(problem.contains(said) && problem.len() < 300, "{problem}");
            for name in ["either", "name", "ratio"] {
                assert_eq!(canonical(json!({ name: text })), Ok(json!({ name: text })), "{name}");
            }
        }
    }

    #[test]
    fn number_that_may_have_been_rounded_is_no_integer() {
        for (arguments, place) in [
            (json!({ "id": 9_007_199_254_740_992.0 }), "id: "),
            (json!({ "perhaps": -1e18 }), "perhaps: "),
            (json!({ "ids": [1, 1e300] }), "ids.1: "),
            (json!({ "items": [{ "id": 1e30 }] }), "items.0.id: "),
        ] {
            let problem = canonical(arguments).expect_err("it is inexact");
            assert!(problem.starts_with(place) && problem.contains("is no exact integer"), "{problem}");
        }
        for exact in [json!({ "id": 5.0 }), json!({ "id": u64::MAX }), json!({ "ratio": 1e300, "either": 1e300 })] {
            assert_eq!(canonical(exact.clone()), Ok(exact));
        }
    }
}
