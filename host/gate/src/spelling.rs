//! Constraints that a second spelling of a value would get round.
//!
//! A host function may take a decimal as `1.5`, `"1.5"` or `"1.50"`, and a time in any zone. The gate compares what was given: a
//! grant that forbids one value, or asks a human about it, would let it through in another spelling. Such a grant is an
//! error before anything runs. One that *allows* a value denies the others, which is safe.

use serde_json::Value;

use super::grant_binding::BindError;
use tollhouse_methods::types::Function;
use tollhouse_policy::capability::{Approve, Clause, Grant, Param, ParamPath, Step, Test};

/// Formats of values that have a text in each zone.
const TIMES: [&str; 2] = ["date-time", "time"];

/// How many parts of a schema are looked at for one step of a path. What has more may have several spellings.
const MAX_PARTS: usize = 1000;

/// Checks that no constraint of a grant can be got round in a function by another spelling.
pub(super) fn check(grant: &Grant, function: &Function) -> Result<(), BindError> {
    let Some(schemas) = &function.schemas else { return Ok(()) };
    let root = &schemas.parameters;
    grant.clauses.iter().try_for_each(|clause| check_clause(root, clause, forbids, "forbids"))?;
    match &grant.approve {
        Approve::When(clause) => check_clause(root, clause, selects, "asks about"),
        Approve::Never | Approve::Always => Ok(()),
    }
}

fn check_clause(root: &Value, clause: &Clause, compares: fn(&Test) -> bool, does: &str) -> Result<(), BindError> {
    match clause {
        Clause::All(clauses) | Clause::Any(clauses) => {
            clauses.iter().try_for_each(|clause| check_clause(root, clause, compares, does))
        }
        Clause::Param(Param { path, tests, span, .. }) => match tests.iter().find(|test| compares(test)) {
            Some(test) if has_several(root, path) => Err(BindError {
                message: format!(
                    "`{}` on `{path}` {does} one of the spellings of a value, and not the others",
                    test.operator()
                ),
                hint: Some(
                    "compare a decimal by `lt` and `gt`; of a time in several zones no text can be forbidden"
                        .to_owned(),
                ),
                span: span.clone(),
            }),
            _ => Ok(()),
        },
    }
}

/// Returns true for a test that every other spelling of a value passes.
fn forbids(test: &Test) -> bool {
    matches!(test, Test::Ne(_) | Test::NotIn(_))
}

/// Returns true for a test that one spelling of a value passes alone.
fn selects(test: &Test) -> bool {
    matches!(
        test,
        Test::Eq(_) | Test::In(_) | Test::StartsWith(_) | Test::EndsWith(_) | Test::Within(_) | Test::Contains(_)
    )
}

/// Returns true if a value there may have several spellings.
fn has_several(root: &Value, path: &ParamPath) -> bool {
    let mut found = vec![root];
    for step in path.steps() {
        found = found.into_iter().flat_map(|schema| below(root, schema, step)).collect();
        if found.len() > MAX_PARTS {
            return true;
        }
    }
    found.into_iter().any(|schema| {
        let cases = cases(root, schema);
        let is_time = |case: &&Value| case["format"].as_str().is_some_and(|format| TIMES.contains(&format));
        let is_number = cases.iter().any(|case| case["type"] == "number");
        let is_decimal = is_number && cases.iter().any(|case| case.get("pattern").is_some());
        cases.len() > MAX_PARTS || cases.iter().any(is_time) || is_decimal
    })
}

/// What a part of a value may be.
fn below<'s>(root: &'s Value, schema: &'s Value, step: &Step) -> Vec<&'s Value> {
    let name = match step {
        Step::Name(name) | Step::Field { name, .. } => Some(name.as_str()),
        Step::Each | Step::Index(_) => None,
    };
    let is_element = name.is_none_or(|name| ParamPath::index(name).is_some());
    let mut found = Vec::new();
    for case in cases(root, schema) {
        let named =
            name.and_then(|name| case.get("properties")?.get(name)).or_else(|| case.get("additionalProperties"));
        let items = is_element.then(|| case.get("items")).flatten();
        let prefix = case.get("prefixItems").filter(|_| is_element).and_then(Value::as_array).into_iter().flatten();
        found.extend(named.into_iter().chain(items).chain(prefix).filter(|inner| inner.is_object()));
    }
    found
}

/// What a schema may be: itself, its alternatives, and what they refer to.
fn cases<'s>(root: &'s Value, schema: &'s Value) -> Vec<&'s Value> {
    let (mut found, mut waiting): (Vec<&'s Value>, _) = (Vec::new(), vec![schema]);
    while let Some(schema) = waiting.pop() {
        if found.len() > MAX_PARTS {
            break;
        }
        if found.iter().any(|known| std::ptr::eq::<Value>(*known, schema)) {
            // It refers to itself.
            continue;
        }
        found.push(schema);
        let pointer = schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'));
        waiting.extend(pointer.and_then(|pointer| root.pointer(pointer)));
        for word in ["anyOf", "oneOf", "allOf"] {
            waiting.extend(schema.get(word).and_then(Value::as_array).into_iter().flatten());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use tollhouse_methods::HostMethod;
    use tollhouse_policy::capability::Policy;

    /// What is wrong with a policy whose only grant covers a host function that takes decimals and times.
    fn problem(grant: &str) -> Option<String> {
        let decimal = json!({ "anyOf": [{ "type": "number" }, { "type": "string", "pattern": "^-?[0-9.]+$" }] });
        let parameters = json!({
            "type": "object",
            "properties": {
                "price": { "$ref": "#/$defs/decimal" },
                "prices": { "type": "array", "items": { "$ref": "#/$defs/decimal" } },
                "at": { "anyOf": [{ "type": "string", "format": "date-time" }, { "type": "null" }] },
                "day": { "type": "string", "format": "date" },
                "chain": { "$ref": "#/$defs/chain" },
                "count": { "type": "integer" },
                "order": { "type": "object", "properties": { "price": { "$ref": "#/$defs/decimal" } } },
            },
            "additionalProperties": false,
            "$defs": {
                "decimal": decimal,
                "chain": { "anyOf": [{ "$ref": "#/$defs/chain" }, { "type": "string" }, { "type": "array", "items": { "$ref": "#/$defs/chain" } }] },
            },
        });
        let tool = HostMethod::new("pay", "Pays.", parameters).expect("it is one");
        let policy = Policy::parse(&format!("[[grant]]\nmethod = '**'\n{grant}")).expect("it is a policy");
        check(&policy.grants[0], tool.function()).err().map(|error| error.message)
    }

    #[test]
    fn grant_that_another_spelling_gets_round_is_refused() {
        for (constraint, does) in [
            ("where = [{ param = 'price', ne = 1.5 }]", "forbids"),
            ("where = [{ param = 'price', not_in = [1.5] }]", "forbids"),
            ("where = [{ param = 'prices/*', ne = 1.5 }]", "forbids"),
            ("where = [{ param = 'prices/0', ne = 1.5 }]", "forbids"),
            ("where = [{ param = 'order/price', ne = 1.5 }]", "forbids"),
            ("where = [{ param = 'at', ne = '2024-01-05T00:00:00Z' }]", "forbids"),
            ("where = [{ any = [{ param = 'count', gt = 1 }, { param = 'price', ne = 1.5 }] }]", "forbids"),
            ("approve = { param = 'price', eq = 1.5 }", "asks about"),
            ("approve = { param = 'at', starts_with = '2024' }", "asks about"),
        ] {
            let told = problem(constraint).unwrap_or_default();
            assert!(told.contains(does), "{constraint}: {told:?}");
        }
    }

    #[test]
    fn grant_that_no_other_spelling_gets_round_is_taken() {
        for constraint in [
            "where = [{ param = 'price', lt = 1.5 }]",
            "where = [{ param = 'price', eq = 1.5 }]",
            "where = [{ param = 'day', ne = '2024-01-05' }]",
            "where = [{ param = 'count', ne = 1 }]",
            "where = [{ param = 'chain', ne = 'x' }]",
            "approve = { param = 'price', gt = 1.5 }",
            "approve = { param = 'count', eq = 1 }",
            "approve = { param = 'price', ne = 1.5 }",
        ] {
            assert_eq!(problem(constraint), None, "{constraint}");
        }
    }
}
