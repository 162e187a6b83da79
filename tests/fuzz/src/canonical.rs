//! Arguments of calls, in JSON, for functions of every type.

use serde_json::Value;
use tollhouse::tool::canonical::canonicalize;
use tollhouse::tool::types::{Function, Shape};
use tollhouse::tool::value::{NoHandles, ValueError, lift, lower_arguments};

use crate::shape;

/// Checks JSON arguments against a function whose types the first line describes (see `shape`). Arguments that fit must
/// have one canonical form. Making that form canonical again must not change it, and lowering it to component values
/// and lifting those must give it back.
///
/// # Panics
///
/// Panics if that does not hold.
pub fn canonical(data: &[u8]) {
    let (function, json) = shape::function(data);
    let Ok(arguments) = serde_json::from_slice::<Value>(json) else { return };
    match canonicalize(&function, arguments, u64::MAX) {
        Ok(canonical) => holds(&function, &canonical),
        Err(error) => assert!(!error.to_string().is_empty(), "an error says something"),
    }
}

/// Checks the properties of canonical arguments.
pub(crate) fn holds(function: &Function, canonical: &Value) {
    // Compared as text, because `2` and `2.0` are equal numbers with different spellings.
    let text = canonical.to_string();
    let again = canonicalize(function, canonical.clone(), u64::MAX).expect("what is canonical fits");
    assert_eq!(again.to_string(), text, "what is canonical is its own canonical form");
    let respelled = respell(function, canonical);
    let again = canonicalize(function, respelled, u64::MAX).expect("another spelling of the keys fits");
    assert_eq!(again.to_string(), text, "however its keys are spelled");
    match lower_arguments(function, canonical.clone(), &mut NoHandles) {
        Ok(values) => {
            for (field, value) in function.params.iter().zip(values) {
                let lifted = lift(value, &field.ty, &mut NoHandles).expect("what was lowered lifts");
                let there = canonical.get(&field.camel).expect("every parameter has its key");
                assert_eq!(lifted.value.to_string(), there.to_string(), "`{}`, lowered and lifted", field.name);
            }
        }
        Err(ValueError::Handle(_)) => {}
        Err(error) => panic!("what is canonical does not lower: {error}"),
    }
}

/// Returns the same arguments in another order, with the keys of parameters and records in snake_case.
fn respell(function: &Function, canonical: &Value) -> Value {
    let fields = function.params.iter().rev().map(|field| {
        let value = canonical.get(&field.camel).cloned().unwrap_or_default();
        let value = match (&field.ty.shape, value) {
            (Shape::Record(fields), Value::Object(object)) => {
                let spelled = |(key, value): (String, Value)| match fields.find(&key) {
                    Some(field) => (field.name.replace('-', "_"), value),
                    None => (key, value),
                };
                Value::Object(object.into_iter().map(spelled).collect())
            }
            (_, value) => value,
        };
        (field.name.replace('-', "_"), value)
    });
    Value::Object(fields.collect())
}
