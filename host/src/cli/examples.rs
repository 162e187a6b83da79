//! The examples of a manifest, run as tests before it is published: through the gate, in the sandbox that a call has later.

use serde_json::Value;
use tollhouse::capability::{Grant, Permissions, Policy};
use tollhouse::session::{Host, HostOptions, Session, SessionOptions};
use tollhouse_registry::{Example, Manifest, PublishRequest, Registry};

use super::places::Places;
use super::{CliError, Result};

/// What the package is mounted as. Its own name might hide something.
const ALIAS: &str = "example";

/// Runs them all, each in a session of its own. How many there were.
///
/// They have the files and the key-value store that the manifest asks for, which are the session's and begin empty; no
/// network, no secrets, no other tools.
pub(crate) fn run(places: &Places, request: &PublishRequest, manifest: &Manifest) -> Result<usize> {
    let unpublished = |error: &dyn std::error::Error| CliError::because("cannot run the examples", error);
    let directory = tempfile::tempdir().map_err(|error| unpublished(&error))?;
    let registry = Registry::open(directory.path()).map_err(|error| unpublished(&error))?;
    let published = registry.publish(request.clone()).map_err(|error| unpublished(&error))?;
    // What is compiled here is compiled for the runs to come.
    let options = HostOptions {
        cache: places.cache.clone(),
        registry: Some(directory.path().to_owned()),
        ..HostOptions::default()
    };
    let host = Host::new(&options)?;
    let requirement = format!("{}@={}", published.release.name, published.release.version);
    for (at, example) in manifest.examples.iter().enumerate() {
        let session = session(&host, manifest, &requirement)?;
        try_one(&session, example).map_err(|problem| {
            CliError::usage(format!("example {} of `tool.toml`, `{}`, {problem}", at + 1, example.method)).status(1)
        })?;
    }
    Ok(manifest.examples.len())
}

fn session(host: &Host, manifest: &Manifest, requirement: &str) -> Result<Session> {
    let asked = &manifest.permissions;
    let own = Permissions { files: asked.files.clone(), keyvalue: asked.keyvalue.clone(), ..Permissions::default() };
    let mut policy = Policy {
        tools: Some([(ALIAS.to_owned(), requirement.to_owned())].into()),
        permissions: [(ALIAS.to_owned(), own)].into(),
        ..Policy::default()
    };
    policy.push(Grant::allow("**").map_err(|error| CliError::usage(error.to_string()))?);
    Ok(host.session(SessionOptions { policy, ..SessionOptions::default() })?)
}

/// Why an example does not come out as it says.
fn try_one(session: &Session, example: &Example) -> std::result::Result<(), String> {
    let method = format!("{ALIAS}/{}", example.method);
    let tools = session.gate().tools();
    let Some(tool) = tools.find(&method) else {
        let near = tools.nearest(&method).and_then(|near| near.strip_prefix("example/"));
        let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        return Err(format!("is of no function{hint}"));
    };
    let arguments = Value::Object(example.arguments.clone()).to_string();
    let returned = session.call(tool.method(), &arguments).map_err(|failure| format!("fails: {}", failure.message))?;
    match &example.result {
        Some(expected) if !is_same(expected, &returned.value) => {
            Err(format!("returns {} instead of {expected}", returned.value))
        }
        _ => Ok(()),
    }
}

/// Whether a result is the one that is expected: a whole number is the same with and without a decimal point, and what is
/// null can be left out, since TOML has no word for it.
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
    fn what_is_null_can_be_left_out() {
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
}
