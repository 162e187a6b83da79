//! The form of grants in documents, TOML and JSON: their keys, how they are read and written, and the schema.

use std::collections::BTreeSet;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tollhouse_types::key::is_key_name;
use tollhouse_types::remedy::Remedy;

use super::document_format::{WrittenClause, written_clause};
use super::grant::{Approve, Grant, Spend};
use super::limits::{duration, written_duration};
use super::number::{Amount, Number};
use super::policy::PolicyError;
use super::policy_parser::{self, TableReader};
use super::span::Span;
use super::spanned_value::{DocumentValue, SpannedValue};

/// Keys of a grant.
const KEYS: [&str; 8] = ["name", "method", "where", "calls", "spend", "approve", "approve_within", "approved_by"];

/// A permission to call methods, with which arguments and how often.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenGrant {
    /// Name of the grant in errors, budgets and the audit log; by default METHOD#INDEX.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Pattern of methods: `payments/charges/create`, `payments/*` (one segment), `payments/**` (any number).
    method: String,
    /// Conditions on the arguments, all of which must hold.
    #[serde(rename = "where", skip_serializing_if = "Vec::is_empty", default)]
    clauses: Vec<WrittenClause>,
    /// Budget: maximum number of calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<u64>,
    /// Budget: maximum sum of an argument over all calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    spend: Option<WrittenSpend>,
    /// Asks a human first: always, or unless a clause is known not to hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    approve: Option<WrittenApprove>,
    /// Time within which a call that waits has to be approved, for example `24h`.
    #[serde(skip_serializing_if = "Option::is_none")]
    approve_within: Option<String>,
    /// Names of those who can approve, by a signature: one of them has to. Their keys are those that the machine that
    /// resumes the run trusts by these names.
    #[serde(skip_serializing_if = "Option::is_none")]
    approved_by: Option<BTreeSet<String>>,
}

/// A budget on the sum of a numeric argument.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenSpend {
    /// Path of the argument: `amount`.
    param: String,
    /// Maximum sum over all calls.
    #[schemars(with = "f64", range(min = 0))]
    limit: Value,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum WrittenApprove {
    /// Asks always, or never.
    Flag(bool),
    /// Asks unless this clause is known not to hold.
    When(Box<WrittenClause>),
}

/// Returns the document form of a grant, and of its place among the others of its list.
pub(super) fn written_grant((index, grant): (usize, &Grant)) -> WrittenGrant {
    let method = grant.method.to_string();
    WrittenGrant {
        name: (grant.name != format!("{method}#{index}")).then(|| grant.name.clone()),
        clauses: grant.clauses.iter().map(written_clause).collect(),
        calls: grant.calls,
        spend: grant
            .spend
            .as_ref()
            .map(|spend| WrittenSpend { param: spend.param.to_string(), limit: spend.limit.to_json() }),
        approve: match &grant.approve {
            Approve::Never => None,
            Approve::Always => Some(WrittenApprove::Flag(true)),
            Approve::When(clause) => Some(WrittenApprove::When(Box::new(written_clause(clause)))),
        },
        approve_within: grant.approve_within.map(written_duration),
        approved_by: grant.approved_by.clone(),
        method,
    }
}

/// Reads a grant.
pub(super) fn read_grant(node: SpannedValue) -> Result<Grant, PolicyError> {
    let mut table = TableReader::new(node, "a grant")?;
    // Checked first: a misspelled `method` is better reported as such than as a missing one.
    table.check("a grant", &KEYS)?;
    let method = table.need("method", "a grant")?;
    let span = method.span.clone();
    let approve = table.read("approve", |node, _| approve(node))?.unwrap_or_default();
    let grant = Grant {
        method: policy_parser::parse(method, "method")?,
        name: table.read("name", name)?.unwrap_or_default(),
        clauses: table.read("where", policy_parser::clauses)?.unwrap_or_default(),
        calls: table.read("calls", policy_parser::count)?,
        spend: table.read("spend", |node, _| spend(node))?,
        approve_within: table.read("approve_within", |node, what| approve_within(node, what, &approve))?,
        approved_by: table.read("approved_by", |node, what| approved_by(node, what, &approve))?,
        approve,
        expires: None,
        parent: None,
        span: Span(span),
    };
    Ok(grant)
}

fn name(node: SpannedValue, what: &str) -> Result<String, PolicyError> {
    let span = node.span.clone();
    let name = policy_parser::string(node, what)?;
    if name.trim().is_empty() || name.chars().any(char::is_control) || name.len() > 200 {
        return Err(PolicyError::new("a grant's name has 1 to 200 bytes and no control characters", span));
    }
    Ok(name)
}

fn spend(node: SpannedValue) -> Result<Spend, PolicyError> {
    let whole = node.span.clone();
    let mut table = TableReader::new(node, "`spend`")?;
    let param = policy_parser::parse(table.need("param", "`spend`")?, "param")?;
    let limit = table.need("limit", "`spend`")?;
    let span = limit.span.clone();
    let number = policy_parser::number(limit, "limit")?;
    let limit = Amount::new(number)
        .ok_or_else(|| PolicyError::new("`limit` of `spend` must not be negative, nor beyond 10^32", span.clone()))?;
    // The amount, or the number that JSON has for it, would be another one, possibly a greater one.
    if Number::from_json(&limit.to_json(), false) != Some(number) {
        let digits = "`limit` of `spend` has parts below a millionth, or more digits than a number in JSON can have";
        return Err(PolicyError::new(digits, span));
    }
    table.end("`spend`", &["param", "limit"])?;
    Ok(Spend { param, limit, wide: false, span: Span(whole) })
}

fn approve_within(node: SpannedValue, what: &str, approve: &Approve) -> Result<Duration, PolicyError> {
    let span = node.span.clone();
    if *approve == Approve::Never {
        let error =
            PolicyError::new("`approve_within` limits the wait for an approval, and this grant needs none", span);
        return Err(error.hint("add `approve = true`, or remove it"));
    }
    duration(node, what)
}

/// Maximum number of approvers of one grant: the key of each may be tried.
const MAX_APPROVERS: usize = 100;

fn approved_by(node: SpannedValue, what: &str, approve: &Approve) -> Result<BTreeSet<String>, PolicyError> {
    let span = node.span.clone();
    if *approve == Approve::Never {
        let error =
            PolicyError::new("`approved_by` says who can approve calls, and this grant needs no approval", span);
        return Err(error.hint("add `approve = true`, or remove it"));
    }
    let approver = |node: SpannedValue| {
        let span = node.span.clone();
        let name = policy_parser::string(node, what)?;
        if is_key_name(&name) {
            return Ok(name);
        }
        let error = PolicyError::new("an approver is the name of a key: letters, digits, `-`, `_` and `.`", span);
        Err(error.hint(Remedy::TrustApprover))
    };
    let approvers: BTreeSet<String> =
        policy_parser::list(node, what)?.into_iter().map(approver).collect::<Result<_, _>>()?;
    if approvers.len() > MAX_APPROVERS {
        return Err(PolicyError::new(format!("`approved_by` names more than {MAX_APPROVERS} approvers"), span));
    }
    Ok(approvers)
}

fn approve(node: SpannedValue) -> Result<Approve, PolicyError> {
    match node.value {
        DocumentValue::Bool(true) => Ok(Approve::Always),
        DocumentValue::Bool(false) => Ok(Approve::Never),
        _ => policy_parser::clause(node).map(Approve::When),
    }
}
