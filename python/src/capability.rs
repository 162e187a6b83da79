//! Patterns, clauses and grants, as the policy engine defines them, and policy files.

use std::io;
use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use tollhouse::capability::{Clause, Grant, MAX_POLICY, Param, Pattern, Policy, Test, implies};
use tollhouse_registry::untrusted_file;

use crate::errors::{policy_told, told};

fn pattern(text: &str) -> PyResult<Pattern> {
    text.parse().map_err(|error| PyValueError::new_err(told(&error)))
}

fn grant(grant: &Value) -> PyResult<Grant> {
    let policy = Policy::parse_json(&json!({ "grant": [grant] }).to_string());
    let mut policy = policy.map_err(|error| PyValueError::new_err(policy_told(&error, None)))?;
    policy.grants.pop().ok_or_else(|| PyValueError::new_err("there is no grant"))
}

fn parsed(text: &str) -> PyResult<Value> {
    serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn clauses(text: &str) -> PyResult<Vec<Clause>> {
    Ok(grant(&json!({ "method": "x", "where": parsed(text)? }))?.clauses)
}

/// Reads a policy file. Raises `OSError` if it cannot be read, or is longer than a policy may be.
#[pyfunction]
pub(crate) fn read_policy(py: Python<'_>, file: PathBuf) -> PyResult<String> {
    py.detach(|| untrusted_file::read_named_text(&file, MAX_POLICY as u64)).map_err(|error| {
        let error = io::Error::from(error);
        io::Error::new(error.kind(), format!("cannot read the policy `{}`: {error}", file.display())).into()
    })
}

/// Returns true if a pattern covers a method.
#[pyfunction]
pub(crate) fn matches(method: &str, pattern: &str) -> PyResult<bool> {
    Ok(self::pattern(pattern)?.matches(method))
}

/// Returns true if `parent` covers every method that `child` covers.
#[pyfunction]
pub(crate) fn pattern_is_subset(child: &str, parent: &str) -> PyResult<bool> {
    Ok(pattern(child)?.is_subset_of(&pattern(parent)?))
}

/// Checks clauses against arguments. Returns `None` if they hold; otherwise JSON that describes the first that does
/// not: `param`, `clause`, `actual`, `missing`, `mismatch`.
#[pyfunction]
pub(crate) fn check_clauses(clauses: &str, arguments: &str) -> PyResult<Option<String>> {
    let arguments = parsed(arguments)?;
    let failed = self::clauses(clauses)?.iter().find_map(|clause| {
        let failed = clause.failed(&arguments)?;
        let actual = failed.actual(&arguments);
        let param = failed.params().first().map(|param| param.path.to_string());
        let mismatch = match failed {
            Clause::Param(param) => actual.and_then(|actual| mismatch(param, actual)),
            _ => None,
        };
        let told = json!({
            "param": param,
            "clause": failed.to_string(),
            "actual": actual,
            "missing": actual.is_none(),
            "mismatch": mismatch,
        });
        Some(told.to_string())
    });
    Ok(failed)
}

/// Returns the type that a test requires, if the value has another.
fn mismatch(param: &Param, actual: &Value) -> Option<&'static str> {
    let failed = param.tests.iter().find(|test| !test.holds(Some(actual), param.wide))?;
    match failed {
        Test::Lt(_) | Test::Le(_) | Test::Gt(_) | Test::Ge(_) => (!actual.is_number()).then_some("number"),
        Test::StartsWith(_) | Test::EndsWith(_) | Test::Within(_) => (!actual.is_string()).then_some("string"),
        Test::Contains(_) => (!actual.is_string() && !actual.is_array()).then_some("string or list"),
        _ => None,
    }
}

/// Returns true if the parent's clauses hold wherever the child's do.
#[pyfunction]
pub(crate) fn clauses_subsume(parent: &str, child: &str) -> PyResult<bool> {
    let child = clauses(child)?;
    Ok(clauses(parent)?.iter().all(|wanted| implies(&child, wanted)))
}

/// Returns true if the child allows nothing that the parent does not.
#[pyfunction]
pub(crate) fn grant_is_subset(parent: &str, child: &str) -> PyResult<bool> {
    Ok(grant(&parsed(child)?)?.is_subset_of(&grant(&parsed(parent)?)?))
}
