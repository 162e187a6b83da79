//! Validation of arguments against a JSON Schema, in bounded time and memory, since scripts choose the arguments.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, PatternOptions, ValidationError, Validator};
use serde_json::Value;

use super::schema_visits;
use super::step_budget::{BudgetedJson, BudgetedValue, StepBudget, longest_path};

/// Longest text that a message shows, in bytes.
pub(super) const MAX_SHOWN: usize = 60;

/// Longest message about invalid arguments, in characters: a schema may list all it accepts.
const MAX_PROBLEM: usize = 400;

/// Validation steps that small arguments may take: a fraction of a second.
const MAX_STEPS: usize = 1_000_000;

/// Validation steps for the explanation of an error, which needs memory besides: each error on the way is kept, with
/// the names of the fields above it, until the first of them is reported.
const MAX_STEPS_TO_EXPLAIN: usize = 20_000;
const MAX_BYTES_TO_EXPLAIN: usize = 32 << 20;

/// Compiled schema that validates arguments.
pub(super) struct ArgumentValidator(Validator<BudgetedJson>);

impl ArgumentValidator {
    /// Compiles a schema. The error describes what is wrong with it.
    pub(super) fn new(schema: &Value) -> Result<Self, String> {
        // A pattern is matched in linear time, whatever the value.
        let options = jsonschema::options_for::<BudgetedJson>().with_pattern_options(PatternOptions::regex());
        let validator = options.build(schema).map_err(|error| error.to_string())?;
        // Schemas that accept or refuse a value without a look at it spend nothing of the budget.
        schema_visits::check(schema)?;
        Ok(Self(validator))
    }

    /// Validates arguments. The error describes the problem.
    pub(super) fn check(&self, arguments: &Value) -> Result<(), String> {
        let budget = StepBudget::for_value(arguments, MAX_STEPS);
        let fits = self.0.is_valid(BudgetedValue::new(arguments, &budget));
        if budget.is_spent() {
            return Err("checking them against its schema takes too long: nest them less deeply".to_owned());
        }
        if fits { Ok(()) } else { Err(explain(&self.0, arguments)) }
    }
}

/// Describes the problem of invalid arguments.
fn explain(validator: &Validator<BudgetedJson>, arguments: &Value) -> String {
    let budget = StepBudget::new(MAX_STEPS_TO_EXPLAIN.min(MAX_BYTES_TO_EXPLAIN / (1 + longest_path(arguments))));
    let found = validator.validate(BudgetedValue::new(arguments, &budget)).err();
    let Some(error) = found.as_ref().filter(|_| !budget.is_spent()) else {
        return "they do not fit its schema, and are too large to say where".to_owned();
    };
    let error = telling(error);
    let place = error.instance_path().to_string();
    // The value itself is shown if it is short.
    let is_short = match error.instance().as_ref() {
        Value::String(text) => text.len() <= MAX_SHOWN,
        value => !value.is_array() && !value.is_object(),
    };
    let text = if is_short { error.to_string() } else { error.masked().to_string() };
    let text = match place.trim_start_matches('/').replace('/', ".") {
        place if place.is_empty() => text,
        place => format!("{place}: {text}"),
    };
    text.chars().take(MAX_PROBLEM).collect()
}

/// Returns the most informative error: for a choice that of the intended branch, if it can be determined.
fn telling<'e, 'v>(error: &'e ValidationError<'v>) -> &'e ValidationError<'v> {
    let (ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }) = error.kind() else {
        return error;
    };
    let here = error.instance_path().as_str();
    let is_null = |other: &ValidationError<'_>| {
        let null = matches!(other.kind(), ValidationErrorKind::Type { kind: TypeKind::Single(JsonType::Null) });
        null && other.instance_path().as_str() == here
    };
    // The branch is for another type, or a field that gives the kind has another value.
    let is_another = |other: &ValidationError<'_>| {
        let below = other.instance_path().as_str().strip_prefix(here);
        match other.kind() {
            ValidationErrorKind::Type { .. } => below == Some(""),
            ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. } => {
                below.is_some_and(|below| below.rfind('/') == Some(0))
            }
            _ => false,
        }
    };
    let branches: Vec<_> = context.iter().filter(|problems| !problems.iter().any(is_null)).collect();
    let mut meant = branches.clone();
    meant.retain(|problems| !problems.iter().any(is_another));
    match (branches.as_slice(), meant.as_slice()) {
        ([only], _) | (_, [only]) => only.first().map_or(error, telling),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema(schema: Value) -> ArgumentValidator {
        ArgumentValidator::new(&schema).expect("a schema")
    }

    /// Builds `{"left": {"left": … leaf}}`, nested as deep as scripts can.
    fn nested(leaf: Value) -> Value {
        (0..120).fold(leaf, |inner, _| json!({ "left": inner }))
    }

    /// Each of two branches examines the left side, and everything within it: 2^120 steps without a limit.
    #[test]
    fn schema_with_recursive_choice_is_checked_in_bounded_steps() {
        let case = |kind: &str| {
            let left = json!({ "$ref": "#/$defs/Expression" });
            json!({ "type": "object", "properties": { "left": left, "type": { "const": kind } } })
        };
        let cases = json!([case("and"), case("or"), { "type": "number" }]);
        let schema = schema(json!({
            "type": "object",
            "$defs": { "Expression": { "anyOf": cases } },
            "properties": { "left": { "$ref": "#/$defs/Expression" } },
        }));
        assert_eq!(schema.check(&nested(json!(1))), Ok(()));
        let problem = schema.check(&nested(json!("bad"))).expect_err("it does not fit");
        assert!(problem.contains("too large to say where"), "{problem}");
    }

    #[test]
    fn schema_choice_error_names_the_variant_that_was_meant() {
        let kind = |kind: &str, more: Value| {
            let properties = json!({ "kind": { "const": kind }, "inner": { "$ref": "#/$defs/Shape" }, "size": more });
            json!({ "type": "object", "properties": properties, "required": ["kind"] })
        };
        let shape = json!({ "anyOf": [kind("circle", json!({ "type": "number" })), kind("box", json!({ "minItems": 3 })), json!({ "type": "number" })] });
        let schema = schema(json!({
            "type": "object",
            "$defs": { "Shape": shape },
            "properties": {
                "days": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
                "unit": { "anyOf": [{ "properties": { "name": { "enum": ["C", "F"] } } }, { "type": "null" }] },
                "either": { "anyOf": [{ "type": "integer" }, { "type": "string" }] },
                "shape": { "$ref": "#/$defs/Shape" },
            },
        }));
        for (arguments, told) in [
            (json!({ "days": "5" }), "days: \"5\" is not of type \"integer\""),
            (json!({ "unit": { "name": "K" } }), "unit.name: \"K\" is not one of \"C\" or \"F\""),
            (
                json!({ "either": [] }),
                "either: value is not valid under any of the schemas listed in the 'anyOf' keyword",
            ),
            (
                json!({ "shape": { "kind": "star" } }),
                "shape: value is not valid under any of the schemas listed in the 'anyOf' keyword",
            ),
            (
                json!({ "shape": { "kind": "circle", "size": "large" } }),
                "shape.size: \"large\" is not of type \"number\"",
            ),
            (
                json!({ "shape": { "kind": "box", "inner": { "kind": "box", "size": [1] } } }),
                "shape.inner.size: value has less than 3 items",
            ),
        ] {
            assert_eq!(schema.check(&arguments), Err(told.to_owned()));
        }
    }

    /// Each error on the way could keep a copy of the value and of the names above it.
    #[test]
    fn schema_error_about_large_value_is_short() {
        let schema = schema(json!({
            "type": "object",
            "$defs": { "Tree": { "anyOf": [{ "additionalProperties": { "$ref": "#/$defs/Tree" }, "type": "object" }, { "type": "null" }] } },
            "additionalProperties": { "$ref": "#/$defs/Tree" },
        }));
        let name = "n".repeat(100_000);
        let rows: serde_json::Map<String, Value> = (0..1_000).map(|row| (row.to_string(), json!(row))).collect();
        let named = (0..40).fold(json!(rows), |inner, _| json!({ name.clone(): inner }));
        let problem = schema.check(&named).expect_err("it does not fit");
        assert!(problem.contains("too large to say where"), "{problem}");
        let text = "t".repeat(10_000_000);
        let problem = schema.check(&json!({ "a": { "b": text } })).expect_err("it does not fit");
        assert_eq!(problem, "a.b: value is not of type \"object\"");
    }

    /// Nothing here refers to itself, so no result is cached, and the schema alone takes 4^30 steps.
    #[test]
    fn schema_that_takes_too_long_refuses_the_value() {
        let level = |number: usize| {
            let next = json!({ "$ref": format!("#/$defs/{}", number + 1) });
            let case = json!({ "properties": { "left": next }, "minProperties": 1 });
            (number.to_string(), json!({ "anyOf": [case, case, case, case] }))
        };
        let mut levels: serde_json::Map<String, Value> = (0..30).map(level).collect();
        levels.insert("30".into(), json!({ "type": "number" }));
        let properties = json!({ "left": { "$ref": "#/$defs/0" } });
        let schema = schema(json!({ "type": "object", "$defs": levels, "properties": properties }));
        let problem = schema.check(&nested(json!("bad"))).expect_err("nobody knows");
        assert!(problem.contains("too long"), "{problem}");
        assert_eq!(schema.check(&json!({})), Ok(()));
    }

    /// Each definition refers to the one before twice: 2^40 visits of the last one, and no look at the value in the second schema.
    #[test]
    fn schema_whose_definitions_double_each_other_is_refused() {
        for last in [json!({ "type": "string", "minLength": 5 }), json!(false)] {
            let doubled = |levels: usize| {
                let level = |number: usize| {
                    let before = json!({ "$ref": format!("#/$defs/{}", number - 1) });
                    (number.to_string(), json!({ "anyOf": [before, { "allOf": [before, { "minLength": 9 }] }] }))
                };
                let mut levels: serde_json::Map<String, Value> = (1..levels).map(level).collect();
                let first = format!("#/$defs/{}", levels.len());
                levels.insert("0".into(), last.clone());
                json!({ "type": "object", "$defs": levels, "properties": { "a": { "$ref": first } } })
            };
            let problem = ArgumentValidator::new(&doubled(40)).err().expect("it is refused");
            assert!(problem.contains("more than 4096 parts"), "{problem}");
            assert!(schema(doubled(8)).check(&json!({ "a": "q" })).is_err());
        }
    }

    #[test]
    fn schema_check_of_large_value_is_complete() {
        let schema = schema(json!({
            "type": "object",
            "properties": { "rows": { "type": "array", "items": { "type": "integer" }, "uniqueItems": true } },
        }));
        let mut rows: Vec<Value> = (0..200_000).map(|number| json!(number)).collect();
        assert_eq!(schema.check(&json!({ "rows": rows })), Ok(()));
        let fields: serde_json::Map<String, Value> =
            (0..20).map(|n| (format!("{n}{}", "n".repeat(4 << 20)), json!(n))).collect();
        assert_eq!(schema.check(&json!(fields)), Ok(()));
        rows[0] = json!(7.0);
        assert!(schema.check(&json!({ "rows": rows })).is_err(), "7.0 is 7");
        rows[0] = json!("0");
        assert!(schema.check(&json!({ "rows": rows })).is_err());
    }

    #[test]
    fn equal_items_are_found_however_they_are_written() {
        let schema = schema(json!({ "type": "object", "properties": { "set": { "uniqueItems": true } } }));
        for (set, unique) in [
            (json!([1, "1", [1], { "a": 1 }, null, "null", true, "true", 1.5, -1, [], {}, [[]], [[], []], "[]"]), true),
            (json!([{ "a": 1, "b": [2] }, { "b": [2.0], "a": 1 }]), false),
            (json!([0, -0.0]), false),
            (json!([9_007_199_254_740_993_u64, 9_007_199_254_740_992.0]), true),
            (json!([18_446_744_073_709_551_615_u64, -1]), true),
            (json!(["a\",", "a\","]), false),
        ] {
            assert_eq!(schema.check(&json!({ "set": set })).is_ok(), unique, "{set}");
        }
    }
}
