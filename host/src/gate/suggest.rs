//! From a log to the least policy that would have allowed what it holds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::audit::{self, AuditError};
use crate::capability::{Clause, Grant, Number, Param, Permissions, Policy, Scalar, Test, param};

/// The most texts that a clause lists, and the longest of them: beyond that they are data, not a choice.
const MAX_TEXTS: usize = 8;
const MAX_TEXT: usize = 64;

/// What was seen of one method.
#[derive(Default)]
struct Seen {
    calls: u64,
    params: BTreeMap<String, Vec<Value>>,
}

/// What was seen of one tool, besides its arguments.
#[derive(Default)]
struct Reached {
    http: BTreeSet<String>,
    tools: BTreeSet<String>,
}

/// Reads a log and suggests a policy: each method that was called, or denied for want of a grant, with as many calls and
/// with arguments no wider than were seen, and what tools requested and called. Secrets and buckets are not in a log. To be
/// read by a human before it is used.
///
/// # Errors
/// If the log cannot be read, or was altered.
pub fn suggest(log: &Path) -> Result<Policy, AuditError> {
    let mut methods: BTreeMap<String, Seen> = BTreeMap::new();
    let mut tools: BTreeMap<String, Reached> = BTreeMap::new();
    // Whose each call of the run that is being read was.
    let mut aliases: BTreeMap<u64, String> = BTreeMap::new();
    audit::events(log, &mut |event| {
        reached(event, &mut aliases, &mut tools);
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
    let mut policy = grants.fold(Policy::default(), Policy::with);
    for (alias, reached) in tools {
        let http = reached.http.iter().filter_map(|rule| rule.parse().ok()).collect();
        let grants = reached.tools.iter().filter_map(|method| Grant::allow(method).ok());
        let tools = grants.fold(Policy::default(), Policy::with).grants;
        policy.permissions.insert(alias, Permissions { http, tools, ..Permissions::default() });
    }
    Ok(policy)
}

/// What an event says of a tool: a request of its, or a call.
fn reached(event: &Value, aliases: &mut BTreeMap<u64, String>, tools: &mut BTreeMap<String, Reached>) {
    let Some(method) = event["method"].as_str() else {
        if event["event"] == "started" {
            aliases.clear();
        }
        return;
    };
    let seq = event["seq"].as_u64().unwrap_or_default();
    if event["event"] == "requested" {
        if let (Some(alias), Some(origin)) = (aliases.get(&seq), event["url"].as_str().and_then(origin)) {
            tools.entry(alias.clone()).or_default().http.insert(format!("{method} {origin}"));
        }
        return;
    }
    if let Some(caller) = event["caller"].as_u64().and_then(|caller| aliases.get(&caller)) {
        tools.entry(caller.clone()).or_default().tools.insert(method.to_owned());
    }
    aliases.insert(seq, method.split('/').next().unwrap_or_default().to_owned());
}

/// Scheme, host and port of a URL.
fn origin(url: &str) -> Option<&str> {
    let host = url.find("://")? + 3;
    Some(url[host..].find('/').map_or(url, |path| &url[..host + path]))
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
