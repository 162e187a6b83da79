//! Policies: mounts, grants and limits of a session.
//!
//! Nothing fails open: unknown contents of a file are an error, and are not skipped.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;

use tollhouse_types::key::is_key_name;
use tollhouse_types::quantity::{LEAST_WITHOUT_UNIT, QuantityError};
use tollhouse_types::remedy::Remedy;

use super::attenuate::bypassed_approval;
use super::grant::{Approve, Grant, Spend};
use super::journal_retention::{self, JournalRetention};
use super::limits::Limits;
use super::mcp_server::{self, McpServer};
use super::number::{Amount, Number};
use super::permission::{self, Permissions};
use super::policy_parser::{self, TableReader};
use super::required_signers::{self, Signed, Signer};
use super::span::Span;
use super::spanned_value::{DocumentValue, SpannedKey, SpannedValue};

/// A policy: mounts, grants and limits of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    /// Packages to mount: alias to requirement (`acme:payments@^1`); `None` for all packages of the default registry.
    pub tools: Option<BTreeMap<String, String>>,
    /// Signers required of mounted packages; by default none.
    pub signed: Signed,
    /// Grants, tried in this order; if empty, nothing may be called.
    pub grants: Vec<Grant>,
    /// MCP servers whose tools are mounted, by name; by default none.
    pub mcp: BTreeMap<String, McpServer>,
    /// Permissions of tools by alias; by default none.
    pub permissions: BTreeMap<String, Permissions>,
    /// Limits on a run.
    pub limits: Limits,
    /// How long journals of runs that have ended are kept; by default not at all.
    pub journal: JournalRetention,
}

/// The reason why a text is not a valid policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PolicyError {
    /// Description of what is wrong.
    pub message: String,
    /// Position, in bytes of the text.
    pub span: Option<Range<usize>>,
    /// Advice on how to fix it.
    pub hint: Option<String>,
}

impl PolicyError {
    /// Creates an error at a position.
    #[must_use]
    pub fn new(message: impl Into<String>, span: Option<Range<usize>>) -> Self {
        Self { message: message.into(), span, hint: None }
    }

    /// Creates the error for a duplicate name of a grant.
    #[doc(hidden)]
    #[must_use]
    pub fn twice(grant: &Grant) -> Self {
        let message = format!("two grants are named `{}`: budgets are counted by name", grant.name);
        Self::new(message, grant.span.0.clone())
    }

    /// Adds advice on how to fix the error.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Keys of a policy, and of its entries.
const POLICY_KEYS: [&str; 7] = ["tools", "require_signature", "mcp", "grant", "tool", "limits", "journal"];
const TOOL_KEYS: [&str; 2] = ["package", "require_signature"];
/// Limits that are sizes in bytes.
const SIZE_KEYS: [&str; 6] = ["memory", "output", "argument", "result", "files", "log"];
const GRANT_KEYS: [&str; 8] = ["name", "method", "where", "calls", "spend", "approve", "approve_within", "approved_by"];

impl Policy {
    /// Parses a policy file in TOML.
    ///
    /// # Errors
    /// A description of what is wrong, and where.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        policy(SpannedValue::toml(text)?)
    }

    /// Parses a policy in JSON: the same keys, with `grant` as a list.
    ///
    /// # Errors
    /// A description of what is wrong.
    pub fn parse_json(text: &str) -> Result<Self, PolicyError> {
        policy(SpannedValue::json(text)?)
    }

    /// Adds a grant after the existing ones. An unnamed grant gets the name `METHOD#INDEX`.
    #[must_use]
    pub fn with(mut self, grant: Grant) -> Self {
        self.push(grant);
        self
    }

    /// Adds a grant like [`Policy::with`].
    pub fn push(&mut self, mut grant: Grant) {
        if grant.name.is_empty() {
            grant.name = format!("{}#{}", grant.method, self.grants.len());
        }
        self.grants.push(grant);
    }

    /// Returns true if this policy allows nothing that `other` does not, and requires approval wherever `other` does:
    /// grants are tried in order, so each must be a subset of a grant of `other`, and must not bypass an earlier one
    /// that requires approval. Sound but not complete, like [`Grant::is_subset_of`]. Budgets of several grants are not
    /// added up: two grants within one grant of `other` each count as a subset of it.
    #[must_use]
    pub fn is_subset_of(&self, other: &Self) -> bool {
        let is_within = |(at, own): (usize, &Grant)| {
            other.grants.iter().enumerate().any(|(place, wider)| {
                own.is_subset_of(wider) && bypassed_approval(own, &self.grants[..at], &other.grants[..place]).is_none()
            })
        };
        self.grants.iter().enumerate().all(is_within)
            && permission::attenuate(&other.permissions, self.permissions.clone()).is_ok()
            && self.signed.demands(&other.signed)
    }
}

fn policy(node: SpannedValue) -> Result<Policy, PolicyError> {
    let mut table = TableReader::new(node, "the policy")?;
    let mut signed = Signed::default();
    let tools = table.read("tools", |node, what| tools(node, what, &mut signed.tools))?;
    signed.all = table.read("require_signature", required_signers::lists)?.unwrap_or_default();
    let limits = table.read("limits", |node, _| limits(node, Limits::default()))?.unwrap_or_default();
    let permissions = table.read("tool", permission::all)?.unwrap_or_default();
    let mcp = table.read("mcp", mcp_server::all)?.unwrap_or_default();
    let journal = table.read("journal", journal_retention::table)?.unwrap_or_default();
    let mut policy = Policy { tools, signed, grants: Vec::new(), mcp, permissions, limits, journal };
    for node in table.read("grant", policy_parser::list)?.unwrap_or_default() {
        let span = node.span.clone();
        policy.push(grant(node)?);
        let (last, earlier) = policy.grants.split_last().expect("one was just pushed");
        if earlier.iter().any(|other| other.name == last.name) {
            return Err(PolicyError { span, ..PolicyError::twice(last) });
        }
    }
    table.end("the policy", &POLICY_KEYS)?;
    Ok(policy)
}

/// Reads the packages to mount; their required signers are added to `signed`.
fn tools(
    node: SpannedValue,
    what: &str,
    signed: &mut BTreeMap<String, Vec<Vec<Signer>>>,
) -> Result<BTreeMap<String, String>, PolicyError> {
    const REQUIREMENT: &str = "a requirement such as acme:payments@^1";
    let mut tools = BTreeMap::new();
    for (alias, node) in TableReader::new(node, what)?.rest() {
        let requirement = if matches!(node.value, DocumentValue::Table(_)) {
            let what = format!("`tools.{}`", alias.name);
            let mut table = TableReader::new(node, &what)?;
            let package = table.need("package", &what)?;
            if let Some(lists) = table.read("require_signature", required_signers::lists)? {
                signed.insert(alias.name.clone(), lists);
            }
            table.end(&what, &TOOL_KEYS)?;
            package
        } else {
            node
        };
        tools.insert(alias.name, policy_parser::string(requirement, REQUIREMENT)?);
    }
    Ok(tools)
}

pub(super) fn grant(node: SpannedValue) -> Result<Grant, PolicyError> {
    let mut table = TableReader::new(node, "a grant")?;
    // Checked first: a misspelled `method` is better reported as such than as a missing one.
    table.check("a grant", &GRANT_KEYS)?;
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

/// Returns limits with one of them changed: to a number, or to a text as in a policy.
pub(super) fn with_limit(others: &Limits, name: &str, value: &str) -> Result<Limits, PolicyError> {
    let value = match value.parse() {
        // A size is read as text: without a unit it is refused if it is small.
        Ok(number) if !SIZE_KEYS.contains(&name) => DocumentValue::Number(Number::Integer(number)),
        _ => DocumentValue::String(value.to_owned()),
    };
    let plain = |value| SpannedValue { value, span: None };
    let key = SpannedKey { name: name.to_owned(), span: None };
    limits(plain(DocumentValue::Table(vec![(key, plain(value))])), others.clone())
}

/// Reads limits; omitted ones stay as in `limits`.
fn limits(node: SpannedValue, mut limits: Limits) -> Result<Limits, PolicyError> {
    let mut table = TableReader::new(node, "`limits`")?;
    for (name, limit) in [("wall", &mut limits.wall), ("tool_wall", &mut limits.tool_wall)] {
        if let Some(time) = table.read(name, duration)? {
            *limit = time;
        }
    }
    for (name, limit) in [("fuel", &mut limits.fuel), ("calls", &mut limits.calls)] {
        if let Some(count) = table.read(name, policy_parser::count)? {
            *limit = count;
        }
    }
    let sizes = [
        ("memory", &mut limits.memory),
        ("output", &mut limits.output),
        ("argument", &mut limits.argument),
        ("result", &mut limits.result),
        ("files", &mut limits.files),
        ("log", &mut limits.log),
    ];
    for (name, limit) in sizes {
        if let Some(size) = table.read(name, size)? {
            *limit = size;
        }
    }
    let numbers = [
        ("concurrency", &mut limits.concurrency, 1, "with 0 no call could ever run"),
        ("pending", &mut limits.pending, 1, "with 0 no script could wait for anything"),
        ("processes", &mut limits.processes, 1, "the run's own counts"),
        ("depth", &mut limits.depth, 0, "0 lets no script run another"),
    ];
    for (name, limit, least, why) in numbers {
        if let Some(node) = table.take(name) {
            let span = node.span.clone();
            let number = u32::try_from(policy_parser::count(node, name)?).ok().filter(|&number| number >= least);
            let message = || format!("`{name}` must be from {least} to 2^32 - 1: {why}");
            *limit = number.ok_or_else(|| PolicyError::new(message(), span))?;
        }
    }
    table.end("`limits`", &Limits::KEYS)?;
    Ok(limits)
}

fn duration(node: SpannedValue, what: &str) -> Result<Duration, PolicyError> {
    let span = node.span.clone();
    super::parse_duration(&policy_parser::string(node, what)?)
        .map_err(|error| PolicyError::new(error.to_string(), span))
}

/// Reads either `"256MiB"` or a plain number of bytes.
fn size(node: SpannedValue, what: &str) -> Result<u64, PolicyError> {
    let span = node.span.clone();
    if matches!(node.value, DocumentValue::Number(_)) {
        let size = policy_parser::count(node, what)?;
        // A program that writes JSON means bytes, whereas an author of TOML may have forgotten the unit.
        return match span {
            Some(_) if size > 0 && size < LEAST_WITHOUT_UNIT => {
                Err(PolicyError::new(format!("{what}: {}", QuantityError::without_unit(size)), span))
            }
            _ => Ok(size),
        };
    }
    super::parse_bytes(&policy_parser::string(node, what)?).map_err(|error| PolicyError::new(error.to_string(), span))
}
