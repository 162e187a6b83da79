//! Trial of a package before it is published: the examples of its manifest run as tests through the gate, in the
//! sandbox that a call has later.

use std::fmt;
use std::path::PathBuf;

use serde_json::Value;
use similar::{ChangeTag, TextDiff};
use tempfile::TempDir;
use tollhouse::capability::{Grant, Limits, Permissions, Policy};
use tollhouse::error::{ErrorKind, Failure, Payload};
use tollhouse::session::{Host, HostOptions, Session, SessionOptions};
use tollhouse_registry::{Example, Manifest, PublishRequest, Registry};

use super::author::CtrlCHandler;
use super::locations::Locations;
use super::registry::failed;
use super::{CliError, Result};

/// Alias under which the package is mounted. Its own name might clash with something.
const ALIAS: &str = "example";

/// Returns the directory in which a package is tried, if it is not the cache, which may be written anyway.
pub(crate) fn scratch(locations: &Locations) -> Option<PathBuf> {
    locations.cache.is_none().then(std::env::temp_dir)
}

/// Runs all examples, each in a session of its own. Returns their number.
pub(crate) fn run(locations: &Locations, request: &PublishRequest, manifest: &Manifest) -> Result<usize> {
    let trial = PackageTrial::new(locations, request, manifest, None)?;
    if manifest.examples.is_empty() {
        // The settings of its methods must be of methods that it has.
        trial.session(Limits::default())?;
    }
    for (at, example) in manifest.examples.iter().enumerate() {
        trial.example(example)?.map_err(|problem| {
            CliError::usage(format!("example {} of `tool.toml`, `{}`, {problem}", at + 1, example.method)).status(1)
        })?;
    }
    Ok(manifest.examples.len())
}

/// Package that is published in a private registry.
///
/// Each session has the files and the key-value store that the manifest asks for, which are the session's and start
/// empty; no network, no secrets, no other tools.
pub(crate) struct PackageTrial<'a> {
    manifest: &'a Manifest,
    host: Host,
    requirement: String,
    /// Handler that Ctrl-C triggers.
    stop: Option<&'a CtrlCHandler>,
    _registry: TempDir,
}

/// Reason why an example does not produce its expected result.
pub(crate) struct ExampleProblem {
    said: String,
    /// Expected and actual value.
    compared: Option<(Value, Value)>,
}

impl<'a> PackageTrial<'a> {
    /// Publishes the package in the private registry.
    pub(crate) fn new(
        locations: &Locations,
        request: &PublishRequest,
        manifest: &'a Manifest,
        stop: Option<&'a CtrlCHandler>,
    ) -> Result<Self> {
        let untried = |error: &(dyn std::error::Error + 'static)| CliError::because("cannot run the examples", error);
        let place = locations.cache.clone().unwrap_or_else(std::env::temp_dir);
        // A cache that cannot be used is left out.
        let directory =
            tempfile::tempdir_in(place).or_else(|_| tempfile::tempdir()).map_err(|error| untried(&error))?;
        let registry = Registry::open(directory.path()).map_err(|error| untried(&error))?;
        let published = registry.publish(request.clone());
        let published = published.map_err(|error| failed("this could not be published", &error, error.hint()))?;
        // Code that is compiled here serves later runs.
        let options = HostOptions {
            cache: locations.cache.clone(),
            registry: Some(directory.path().to_owned()),
            ..HostOptions::default()
        };
        let requirement = format!("{}@={}", published.release.name, published.release.version);
        Ok(Self { manifest, host: Host::new(&options)?, requirement, stop, _registry: directory })
    }

    /// Creates a session with the package mounted and granted.
    pub(crate) fn session(&self, limits: Limits) -> Result<Session> {
        let asked = &self.manifest.permissions;
        let own =
            Permissions { files: asked.files.clone(), keyvalue: asked.keyvalue.clone(), ..Permissions::default() };
        let mut policy = Policy {
            tools: Some([(ALIAS.to_owned(), self.requirement.clone())].into()),
            permissions: [(ALIAS.to_owned(), own)].into(),
            limits,
            ..Policy::default()
        };
        policy.push(Grant::allow("**").map_err(|error| CliError::usage(error.to_string()))?);
        Ok(self.host.session(SessionOptions { policy, ..SessionOptions::default() })?)
    }

    /// Calls a function of the package.
    pub(crate) fn call(
        &self,
        session: &Session,
        method: &str,
        arguments: &Value,
    ) -> std::result::Result<Payload, Failure> {
        let Some(stop) = self.stop else { return session.call(method, &arguments.to_string()) };
        let call = session.start_call(method, &arguments.to_string());
        let call = call.map_err(|error| Failure::host(error.to_string()))?;
        let interrupt = call.interrupt();
        stop.during(move || interrupt.cancel(), || call.finish())
    }

    /// Runs an example, in a session of its own.
    pub(crate) fn example(&self, example: &Example) -> Result<std::result::Result<(), ExampleProblem>> {
        let session = self.session(Limits::default())?;
        Ok(self.try_one(&session, example))
    }

    fn try_one(&self, session: &Session, example: &Example) -> std::result::Result<(), ExampleProblem> {
        let method = Self::method(&example.method);
        let tools = session.gate().tools();
        let Some(tool) = tools.find(&method) else {
            let near = tools.nearest(&method).and_then(|near| near.strip_prefix("example/"));
            let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            return Err(ExampleProblem::said(format!("names an unknown function{hint}")));
        };
        let called = self.call(session, tool.method(), &Value::Object(example.arguments.clone()));
        let problem = match (&example.error, called) {
            (None, Ok(returned)) => match &example.result {
                Some(expected) if !is_same(expected, &returned.value) => {
                    ExampleProblem::of("returns", expected, &returned.value)
                }
                _ => return Ok(()),
            },
            (None, Err(failure)) => ExampleProblem::said(format!("fails: {}", Self::told(&failure))),
            (Some(expected), Ok(returned)) => {
                ExampleProblem::said(format!("returns {} instead of failing with {expected}", returned.value))
            }
            (Some(expected), Err(failure)) => match &failure.payload {
                Some(payload) if is_same(expected, &payload.value) => return Ok(()),
                Some(payload) => ExampleProblem::of("fails with", expected, &payload.value),
                None => ExampleProblem::said(format!("fails, and not with {expected}: {}", Self::told(&failure))),
            },
        };
        Err(problem)
    }

    /// Returns the message and the hint of a failed call, without the alias, which is internal. The hint of a limit is
    /// left out: it names a flag of `run`, and examples run under limits of their own.
    pub(crate) fn told(failure: &Failure) -> String {
        let hint = failure.hint.as_deref().filter(|_| failure.kind != ErrorKind::Limit);
        let told = hint.map_or_else(|| failure.message.clone(), |hint| format!("{}; {hint}", failure.message));
        told.replace(&format!("`{ALIAS}/"), "`")
    }

    /// Returns a function's method as the package is mounted here.
    pub(crate) fn method(own: &str) -> String {
        format!("{ALIAS}/{own}")
    }
}

impl ExampleProblem {
    fn said(said: String) -> Self {
        Self { said, compared: None }
    }

    fn of(verb: &str, expected: &Value, found: &Value) -> Self {
        let said = format!("{verb} {found} instead of {expected}");
        Self { said, compared: Some((expected.clone(), shown(expected, found))) }
    }

    /// Returns the differing lines of the expected and the actual value, as in a unified diff. Returns `None` if there
    /// is nothing to compare.
    pub(crate) fn diff(&self) -> Option<String> {
        let (expected, found) = self.compared.as_ref()?;
        let [expected, found] =
            [expected, found].map(|value| serde_json::to_string_pretty(value).expect("a JSON value serialises") + "\n");
        let lines = TextDiff::from_lines(&expected, &found);
        let lines = lines.iter_all_changes().map(|change| {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            format!("{sign}{}", change.value())
        });
        Some(lines.collect())
    }
}

impl fmt::Display for ExampleProblem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.said)
    }
}

/// Removes nulls from the actual value that the expected one leaves out: they are no difference.
fn shown(expected: &Value, found: &Value) -> Value {
    match (expected, found) {
        (Value::Object(one), Value::Object(other)) => {
            let kept = other.iter().filter(|(key, value)| !value.is_null() || one.contains_key(*key));
            let with = |key: &String, value: &Value| (key.clone(), shown(one.get(key).unwrap_or(&Value::Null), value));
            // In the order of the expected value, so that order makes no difference.
            let mut kept: Vec<_> = kept.collect();
            kept.sort_by_key(|(key, _)| one.keys().position(|other| other == *key).unwrap_or(usize::MAX));
            Value::Object(kept.into_iter().map(|(key, value)| with(key, value)).collect())
        }
        (Value::Array(one), Value::Array(other)) => {
            let null = Value::Null;
            other.iter().enumerate().map(|(at, value)| shown(one.get(at).unwrap_or(&null), value)).collect()
        }
        _ => found.clone(),
    }
}

/// Returns true if a result is the expected one: a whole number is the same with and without a decimal point, and null
/// may be left out, since TOML has no null.
fn is_same(expected: &Value, returned: &Value) -> bool {
    match (expected, returned) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.keys().all(|key| other.contains_key(key))
                && other.iter().all(|(key, other)| is_same(one.get(key).unwrap_or(&Value::Null), other))
        }
        _ => expected == returned,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn example_comparison_allows_null_fields_to_be_left_out() {
        let returned = json!([{ "a": 1.0, "b": null, "c": [null] }]);
        assert!(is_same(&json!([{ "a": 1, "c": [null] }]), &returned));
        assert!(is_same(&json!([{ "a": 1, "b": null, "c": [null] }]), &returned));
        for other in [
            json!([{ "a": 1, "c": [] }]),
            json!([{ "c": [null] }]),
            json!([{ "a": 1, "b": 2, "c": [null] }]),
            json!([{ "a": 1, "c": [null], "d": 4 }]),
        ] {
            assert!(!is_same(&other, &returned), "{other}");
        }
    }

    #[test]
    fn example_diff_shows_differences_and_omits_optional_nulls() {
        let (expected, found) = (json!({ "a": [{ "b": 1 }] }), json!({ "a": [{ "b": 2, "c": null }] }));
        let diff = ExampleProblem::of("returns", &expected, &found).diff().expect("there are two");
        let changed: Vec<&str> = diff.lines().filter(|line| !line.starts_with(' ')).collect();
        assert_eq!(changed, ["-      \"b\": 1", "+      \"b\": 2"]);
        let (expected, found) = (json!({ "a": 1, "b": 2 }), json!({ "b": 3, "a": 1 }));
        let diff = ExampleProblem::of("returns", &expected, &found).diff().expect("there are two");
        assert_eq!(diff.lines().filter(|line| !line.starts_with(' ')).count(), 2, "the order is no difference: {diff}");
    }
}
