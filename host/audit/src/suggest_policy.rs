//! Derives the smallest policy that would have allowed the events of a log.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::{AuditError, AuditFile};
use tollhouse_gate::{LoggedDecision, LoggedEvent};
use tollhouse_policy::capability::{Clause, Grant, Number, Param, Permissions, Policy, Scalar, Test, param};

/// Maximum number of texts that a clause lists, and their maximum length: beyond that they are data, not a choice.
const MAX_TEXTS: usize = 8;
const MAX_TEXT: usize = 64;

/// Observed calls of one method.
#[derive(Default)]
struct ObservedCalls {
    calls: u64,
    params: BTreeMap<String, Vec<Value>>,
}

/// Observed requests and calls of one tool.
#[derive(Default)]
struct ObservedReach {
    http: BTreeSet<String>,
    tools: BTreeSet<String>,
}

/// The smallest policy that would have allowed the events of a log.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Suggestion {
    /// Policy for the calls that were allowed.
    pub policy: Policy,
    /// Refused calls and requests with their number: a line each, escaped. They may come from hostile code: a human
    /// must decide.
    pub refused: Vec<String>,
}

/// Maximum number of distinct refusals that are listed: a script can invent as many as it likes.
const MAX_REFUSED: usize = 100;

/// Maximum number of characters of a listed refusal.
const MAX_REFUSED_TEXT: usize = 200;

impl Suggestion {
    /// Formats the policy as TOML, with the refusals as comments.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = self.policy.to_toml();
        if !self.refused.is_empty() {
            text.push_str("\n# Refused, and not suggested:\n");
        }
        let comments = self.refused.iter().map(|line| format!("# {line}\n"));
        text.extend(comments.take(MAX_REFUSED));
        if let Some(more) = self.refused.len().checked_sub(MAX_REFUSED).filter(|more| *more > 0) {
            text.push_str(&format!("# and {more} more\n"));
        }
        text
    }
}

/// Suggests a policy from a log: the packages that were called, in their versions; each called method, limited to the
/// observed number of calls and to arguments no wider than the observed ones; and the tools' requests and calls. Refusals
/// are listed beside it. Logs contain no secrets and buckets. A human must review the policy before use.
///
/// # Errors
/// If the log cannot be read, or was altered.
pub fn suggest(log: &Path) -> Result<Suggestion, AuditError> {
    let mut events = LogSummary::default();
    let (mut line, mut unreadable) = (0, None);
    AuditFile::read(log, &mut |event| {
        line += 1;
        match LoggedEvent::read(event) {
            Ok(event) => events.take(event),
            Err(source) => drop(unreadable.get_or_insert((line, source))),
        }
    })?;
    match unreadable {
        None => Ok(events.suggestion()),
        Some((line, source)) => Err(AuditError::Unreadable { path: log.to_owned(), line, source }),
    }
}

/// The contents of a log's events.
#[derive(Default)]
struct LogSummary {
    methods: BTreeMap<String, ObservedCalls>,
    tools: BTreeMap<String, ObservedReach>,
    /// The package that was mounted, by alias; the last one if there were several.
    packages: BTreeMap<String, String>,
    refused: BTreeMap<String, u64>,
    /// Aliases of the tools called in the current run, by number of the call.
    aliases: BTreeMap<u64, String>,
}

impl LogSummary {
    fn take(&mut self, event: LoggedEvent) {
        match event {
            LoggedEvent::Started { .. } => self.aliases.clear(),
            LoggedEvent::Requested { seq, method, url, refused, .. } => {
                self.requested(seq, &method, &url, refused.is_some());
            }
            LoggedEvent::Admitted { decision, package, .. } => self.admitted(decision, package.as_deref()),
            LoggedEvent::Denied { decision, kind } if matches!(kind.as_str(), "capability" | "approval") => {
                self.refuse(&format!("method = {:?}", decision.method));
            }
            _ => {}
        }
    }

    fn admitted(&mut self, decision: LoggedDecision, package: Option<&str>) {
        let LoggedDecision { seq, caller, method, arguments, .. } = decision;
        if let Value::Object(arguments) = arguments {
            let seen = self.methods.entry(method.clone()).or_default();
            seen.calls += 1;
            for (name, value) in arguments {
                seen.params.entry(name).or_default().push(value);
            }
        }
        let alias = method.split('/').next().unwrap_or_default().to_owned();
        if let Some(caller) = caller.and_then(|caller| self.aliases.get(&caller)) {
            self.tools.entry(caller.clone()).or_default().tools.insert(method);
        }
        if let Some(package) = package.and_then(exactly) {
            self.packages.insert(alias.clone(), package);
        }
        self.aliases.insert(seq, alias);
    }

    fn requested(&mut self, seq: u64, method: &str, url: &str, is_refused: bool) {
        let (Some(alias), Some(origin)) = (self.aliases.get(&seq), origin(url)) else { return };
        let rule = format!("{method} {origin}");
        if is_refused {
            self.refuse(&format!("tool.{}: http = [{rule:?}]", alias.escape_debug()));
        } else {
            self.tools.entry(alias.clone()).or_default().http.insert(rule);
        }
    }

    fn refuse(&mut self, what: &str) {
        let clipped = what.chars().take(MAX_REFUSED_TEXT).collect();
        *self.refused.entry(clipped).or_default() += 1;
    }

    fn suggestion(self) -> Suggestion {
        let grants = self.methods.iter().filter_map(|(method, seen)| {
            let mut grant = Grant::allow(method).ok()?.named(method).calls(seen.calls);
            grant.clauses = seen.params.iter().filter_map(|(name, values)| clause(name, values)).collect();
            Some(grant)
        });
        let mut policy = grants.fold(Policy::default(), Policy::with);
        // Logs that name no packages leave open what was mounted, as a policy without the table does.
        policy.tools = Some(self.packages).filter(|packages| !packages.is_empty());
        for (alias, reached) in self.tools {
            let http = reached.http.iter().filter_map(|rule| rule.parse().ok()).collect();
            let grants = reached.tools.iter().filter_map(|method| Grant::allow(method).ok());
            let tools = grants.fold(Policy::default(), Policy::with).grants;
            policy.permissions.insert(alias, Permissions { http, tools, ..Permissions::default() });
        }
        let refused = self.refused.into_iter().map(|(what, times)| format!("{times} × {what}")).collect();
        Suggestion { policy, refused }
    }
}

/// Returns the requirement that matches exactly this release (`acme:payments@1.2.0`), or `None` for other texts.
fn exactly(release: &str) -> Option<String> {
    let (name, version) = release.split_once('@')?;
    let requirement = format!("{name}@={version}");
    requirement.parse::<tollhouse_types::name::Requirement>().ok().map(|_| requirement)
}

/// Returns scheme, host and port of a URL.
fn origin(url: &str) -> Option<&str> {
    let host = url.find("://")? + 3;
    Some(url[host..].find('/').map_or(url, |path| &url[..host + path]))
}

/// Returns the narrowest clause on one parameter that all values pass; `None` if they have nothing in common.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what is suggested for these events of a run; what is the same in all of them is added.
    fn suggested(events: &[&str]) -> Suggestion {
        let mut read = LogSummary::default();
        for event in events {
            let mut line = serde_json::json!({ "run": 1, "grant": "g", "debits": [], "reason": "r" });
            let own: serde_json::Map<String, Value> = serde_json::from_str(event).expect("JSON");
            line.as_object_mut().expect("an object").extend(own);
            read.take(LoggedEvent::read(&line).expect("it is complete"));
        }
        read.suggestion()
    }

    #[test]
    fn log_with_an_unreadable_event_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("log");
        let mut text = Vec::new();
        let mut chain = crate::Chain::default();
        for outcome in [tollhouse_gate::CallOutcome::Ok, tollhouse_gate::CallOutcome::Failed] {
            let settled = tollhouse_gate::Event::Settled { run: 1, seq: 1, outcome, micros: 1, error: None };
            let (line, next) = chain.follow(&settled, std::time::SystemTime::now());
            text.extend(line);
            text.push(b'\n');
            chain = next;
        }
        std::fs::write(&path, &text).expect("it is written");
        suggest(&path).expect("it is whole");
        // Nothing follows the last line, so that its hash is nowhere.
        let text = String::from_utf8(text).expect("JSON").replace("\"failed\"", "\"perhaps\"");
        std::fs::write(&path, text).expect("it is written");
        assert!(matches!(suggest(&path), Err(AuditError::Unreadable { line: 2, .. })));
    }

    #[test]
    fn suggested_policy_lists_refused_calls_only_as_comments() {
        let suggestion = suggested(&[
            r#"{"event":"admitted","seq":1,"method":"http/get","arguments":{"url":"https://a.example/"}}"#,
            r#"{"event":"requested","seq":1,"method":"GET","url":"https://a.example:443/","refused":null}"#,
            r#"{"event":"requested","seq":1,"method":"GET","url":"http://0.0.0.0:8765/","refused":"no rule"}"#,
            r#"{"event":"requested","seq":1,"method":"GET","url":"http://0.0.0.0:8765/x","refused":"no rule"}"#,
            r#"{"event":"denied","seq":2,"kind":"capability","method":"pay/create","arguments":{"amount":1}}"#,
            r#"{"event":"denied","seq":3,"kind":"approval","method":"http/get","arguments":{"url":"https://evil/"}}"#,
            r#"{"event":"denied","seq":4,"caller":1,"kind":"capability","method":"kv/set","arguments":{}}"#,
            r#"{"event":"denied","seq":5,"kind":"capability","method":"a\n[[grant]]\nmethod = \"**\"","arguments":{}}"#,
        ]);
        let text = suggestion.to_toml();
        let policy = Policy::parse(&text).expect("it is a policy");
        assert_eq!(policy.grants.len(), 1, "{text}");
        assert_eq!(policy.grants[0].calls, Some(1));
        let http = &policy.permissions["http"];
        assert_eq!(http.http.iter().map(ToString::to_string).collect::<Vec<_>>(), ["GET https://a.example"]);
        assert!(http.tools.is_empty(), "{text}");
        assert!(
            !text.lines().any(|line| !line.starts_with('#') && (line.contains("evil") || line.contains("0.0.0.0")))
        );
        for comment in ["2 × tool.http: http", "0.0.0.0:8765", "1 × method = ", "pay/create", "kv/set"] {
            assert!(text.lines().any(|line| line.starts_with("# ") && line.contains(comment)), "{comment}: {text}");
        }
    }

    #[test]
    fn packages_that_were_called_are_mounted_in_their_versions_and_nothing_else() {
        let suggestion = suggested(&[
            r#"{"event":"admitted","seq":1,"method":"pay/create","package":"acme:payments@1.2.0","arguments":{}}"#,
            r#"{"event":"admitted","seq":2,"method":"own","arguments":{}}"#,
            r#"{"event":"admitted","seq":3,"method":"a/b","package":"x'\n[[grant]]","arguments":{}}"#,
        ]);
        let policy = Policy::parse(&suggestion.to_toml()).expect("it is a policy");
        let tools: Vec<_> = policy.tools.iter().flatten().collect();
        assert_eq!(tools, [(&"pay".to_owned(), &"acme:payments@=1.2.0".to_owned())]);
        let before = suggested(&[r#"{"event":"admitted","seq":1,"method":"a/b","arguments":{}}"#]);
        assert_eq!(before.policy.tools, None, "a log that names none is of an earlier version");
    }

    #[test]
    fn suggested_policy_of_log_without_refusals_has_no_comments() {
        let suggestion = suggested(&[r#"{"event":"admitted","seq":1,"method":"a/b","arguments":{"n":1}}"#]);
        assert_eq!((suggestion.refused.len(), suggestion.policy.grants.len()), (0, 1));
        assert!(!suggestion.to_toml().contains('#'));
    }
}
