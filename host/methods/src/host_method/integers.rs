//! Integers in arguments: exact, or refused.
//!
//! A JSON number is an exact integer within 64 bits. Beyond them it is read as a float, and so is a number that a script
//! in JavaScript gives from 2^53 on: its digits may have been rounded. JavaScript states such an integer as a BigInt,
//! which arrives as its decimal digits in a string.

use serde_json::Value;

use crate::canonical::{MAX_SAFE, decimal, integer_number};
use crate::types::{Field, Members, Shape, Type};

/// Limit from which on a float is next to integers that are rounded to it: 2^53.
const ROUNDED: f64 = 9_007_199_254_740_992.0;

/// Longest path that a message shows, in characters.
const MAX_PLACE: usize = 200;

/// Converts integers beyond ±(2^53 - 1) that are decimal digits to numbers, where the schema declares an integer and
/// nothing else. Other values are left to the schema.
///
/// # Errors
/// A description of the first number that may have been rounded.
pub(super) fn canonicalize(params: &Members<Field>, arguments: &mut Value) -> Result<(), String> {
    fields(params, arguments).map_err(|InexactInteger { place, shown }| {
        let place: Vec<&str> = place.iter().rev().map(String::as_str).collect();
        // A schema chooses how long names are.
        let place: String = place.join(".").chars().take(MAX_PLACE).collect();
        format!(
            "{place}: {shown} is no exact integer: give one of at most 64 bits by its digits, in JavaScript beyond \
             2^53 - 1 as a BigInt such as 9007199254740993n"
        )
    })
}

/// Number that may have been rounded.
struct InexactInteger {
    /// Segments of its path, the last one first.
    place: Vec<String>,
    shown: String,
}

impl InexactInteger {
    fn under(mut self, segment: &str) -> Self {
        self.place.push(segment.to_owned());
        self
    }
}

fn fields(members: &Members<Field>, value: &mut Value) -> Result<(), InexactInteger> {
    let Value::Object(object) = value else { return Ok(()) };
    for (name, value) in object {
        // The names of a schema have no other spelling.
        if let Some(field) = members.find(name).filter(|field| field.name == *name) {
            part(&field.ty, value).map_err(|inexact| inexact.under(name))?;
        }
    }
    Ok(())
}

fn part(ty: &Type, value: &mut Value) -> Result<(), InexactInteger> {
    match (&ty.shape, &mut *value) {
        (Shape::S64, _) => integer(value),
        (Shape::Option(inner), _) => part(inner, value),
        (Shape::Record(members), _) => fields(members, value),
        (Shape::List(inner), Value::Array(items)) => items
            .iter_mut()
            .enumerate()
            .try_for_each(|(at, item)| part(inner, item).map_err(|inexact| inexact.under(&at.to_string()))),
        _ => Ok(()),
    }
}

fn integer(value: &mut Value) -> Result<(), InexactInteger> {
    match value {
        Value::Number(number) if number.is_f64() && number.as_f64().is_some_and(|float| float.abs() >= ROUNDED) => {
            Err(InexactInteger { place: Vec::new(), shown: number.to_string() })
        }
        Value::String(text) => {
            // Shorter digits are a text: one integer has one spelling.
            if let Some(number) = decimal(text).filter(|number| number.unsigned_abs() > MAX_SAFE.into()) {
                *value = integer_number(number);
            }
            Ok(())
        }
        _ => Ok(()),
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
        for text in ["5", "9007199254740991", "09007199254740993", "+9007199254740993", "18446744073709551616", ""] {
            assert_eq!(canonical(json!({ "id": text })), Ok(json!({ "id": text })), "{text}");
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
