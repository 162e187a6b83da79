//! From a log to the least policy that would have allowed what it holds.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::audit::{self, AuditError};
use crate::capability::{Clause, Grant, Number, Param, Policy, Scalar, Test, param};

/// The most texts that a clause lists, and the longest of them: beyond that they are data, not a choice.
const MAX_TEXTS: usize = 8;
const MAX_TEXT: usize = 64;

/// What was seen of one method.
#[derive(Default)]
struct Seen {
    calls: u64,
    params: BTreeMap<String, Vec<Value>>,
}

/// Reads a log and suggests a policy: each method that was called, or denied for want of a grant, with as many calls and
/// with arguments no wider than were seen. To be read by a human before it is used.
///
/// # Errors
/// If the log cannot be read, or was altered.
pub fn suggest(log: &Path) -> Result<Policy, AuditError> {
    let mut methods: BTreeMap<String, Seen> = BTreeMap::new();
    audit::events(log, &mut |event| {
        let wanted = match event["event"].as_str() {
            Some("admitted") => true,
            Some("denied") => matches!(event["kind"].as_str(), Some("capability" | "approval")),
            _ => false,
        };
        if let (true, Some(method), Some(arguments)) =
            (wanted, event["method"].as_str(), event["arguments"].as_object())
        {
            let seen = methods.entry(method.to_owned()).or_default();
            seen.calls += 1;
            for (name, value) in arguments {
                seen.params.entry(name.clone()).or_default().push(value.clone());
            }
        }
    })?;
    let grants = methods.iter().filter_map(|(method, seen)| {
        let mut grant = Grant::allow(method).ok()?.named(method).calls(seen.calls);
        grant.clauses = seen.params.iter().filter_map(|(name, values)| clause(name, values)).collect();
        Some(grant)
    });
    Ok(grants.fold(Policy::default(), Policy::with))
}

/// The narrowest clause on one parameter that all values pass; none if they have nothing in common.
fn clause(name: &str, values: &[Value]) -> Option<Clause> {
    let on = |test: Test| -> Option<Clause> { Some(Clause::Param(param(name).ok()?.test(test))) };
    if values.iter().all(Value::is_null) {
        return on(Test::NotExists);
    }
    let numbers: Option<Vec<Number>> = values.iter().map(|value| Number::from_json(value, false)).collect();
    if let Some(numbers) = numbers {
        let (least, most) = (numbers.iter().min()?, numbers.iter().max()?);
        let between: Param = param(name).ok()?.test(Test::Ge(*least)).test(Test::Le(*most));
        return if least == most { on(Test::Eq(Scalar::Number(*least))) } else { Some(Clause::Param(between)) };
    }
    if let Some(truths) = values.iter().map(Value::as_bool).collect::<Option<Vec<bool>>>() {
        return truths.iter().all(|truth| *truth == truths[0]).then(|| on(Test::Eq(Scalar::Bool(truths[0]))))?;
    }
    let texts: std::collections::BTreeSet<&str> = values.iter().map(Value::as_str).collect::<Option<_>>()?;
    if texts.len() > MAX_TEXTS || texts.iter().any(|text| text.len() > MAX_TEXT) {
        return None;
    }
    let mut scalars: Vec<Scalar> = texts.into_iter().map(|text| Scalar::String(text.to_owned())).collect();
    on(if scalars.len() == 1 { Test::Eq(scalars.pop()?) } else { Test::In(scalars) })
}
