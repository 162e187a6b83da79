//! Policies: what a session mounts, grants and limits.
//!
//! Nothing fails open: what a file says and this version does not know is an error, not something to skip.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use tollhouse_registry::{LEAST_WITHOUT_UNIT, QuantityError};

use super::attenuate::unasked;
use super::document::{Content, Key, Node};
use super::grant::{Approve, Grant, Spend};
use super::limits::Limits;
use super::number::{Amount, Number};
use super::permission::{self, Permissions};
use super::read::{self, Table};
use super::signed::{self, Signed, Signer};
use super::span::Span;

/// What a session mounts, grants and limits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    /// Packages to mount: alias to requirement (`acme:payments@^1`). None: whatever the default registry holds.
    pub tools: Option<BTreeMap<String, String>>,
    /// Who must have signed what is mounted. Empty: nobody.
    pub signed: Signed,
    /// What may be called, tried in this order. Empty: nothing.
    pub grants: Vec<Grant>,
    /// What tools may touch, by alias. Empty: nothing.
    pub permissions: BTreeMap<String, Permissions>,
    /// What a run may use.
    pub limits: Limits,
}

/// Why a text is no policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PolicyError {
    /// What is wrong.
    pub message: String,
    /// Where, in bytes of the text.
    pub span: Option<Range<usize>>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl PolicyError {
    /// An error at a place.
    #[must_use]
    pub fn new(message: impl Into<String>, span: Option<Range<usize>>) -> Self {
        Self { message: message.into(), span, hint: None }
    }

    /// The error of a name that stands twice.
    pub(crate) fn twice(grant: &Grant) -> Self {
        let message = format!("two grants are named `{}`: budgets are counted by name", grant.name);
        Self::new(message, grant.span.0.clone())
    }

    /// Says what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// The keys of a policy, and of a grant.
const KEYS: [&str; 5] = ["tools", "require_signature", "grant", "tool", "limits"];
const TOOL_KEYS: [&str; 2] = ["package", "require_signature"];
/// Limits that are sizes, in bytes.
const SIZES: [&str; 6] = ["memory", "output", "argument", "result", "files", "log"];
const GRANT_KEYS: [&str; 6] = ["name", "method", "where", "calls", "spend", "approve"];

impl Policy {
    /// Reads a policy file (TOML).
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        policy(Node::toml(text)?)
    }

    /// Reads a policy in JSON: the same keys, `grant` a list.
    ///
    /// # Errors
    /// What is wrong.
    pub fn parse_json(text: &str) -> Result<Self, PolicyError> {
        policy(Node::json(text)?)
    }

    /// Adds a grant, after those that there are. One without a name is called `METHOD#INDEX`.
    #[must_use]
    pub fn with(mut self, grant: Grant) -> Self {
        self.push(grant);
        self
    }

    /// As [`Policy::with`].
    pub fn push(&mut self, mut grant: Grant) {
        if grant.name.is_empty() {
            grant.name = format!("{}#{}", grant.method, self.grants.len());
        }
        self.grants.push(grant);
    }

    /// Returns true if this policy allows nothing that `other` does not, and a human is asked wherever `other` asks one:
    /// grants are tried in order, so each must be a subset of a grant of `other` and pass by none before that one that
    /// asks. Sound as [`Grant::is_subset_of`] is. Budgets of several grants are not added up: two grants within one grant
    /// of `other` are two subsets of it.
    #[must_use]
    pub fn is_subset_of(&self, other: &Self) -> bool {
        let is_within = |(at, own): (usize, &Grant)| {
            other.grants.iter().enumerate().any(|(place, wider)| {
                own.is_subset_of(wider) && unasked(own, &self.grants[..at], &other.grants[..place]).is_none()
            })
        };
        self.grants.iter().enumerate().all(is_within)
            && permission::attenuate(&other.permissions, self.permissions.clone()).is_ok()
            && self.signed.demands(&other.signed)
    }
}

fn policy(node: Node) -> Result<Policy, PolicyError> {
    let mut table = Table::new(node, "the policy")?;
    let mut signed = Signed::default();
    let tools = table.read("tools", |node, what| tools(node, what, &mut signed.tools))?;
    signed.all = table.read("require_signature", signed::lists)?.unwrap_or_default();
    let limits = table.read("limits", |node, _| limits(node, Limits::default()))?.unwrap_or_default();
    let permissions = table.read("tool", permission::all)?.unwrap_or_default();
    let mut policy = Policy { tools, signed, grants: Vec::new(), permissions, limits };
    for node in table.read("grant", read::list)?.unwrap_or_default() {
        let span = node.span.clone();
        policy.push(grant(node)?);
        let (last, earlier) = policy.grants.split_last().expect("one was just pushed");
        if earlier.iter().any(|other| other.name == last.name) {
            return Err(PolicyError { span, ..PolicyError::twice(last) });
        }
    }
    table.end("the policy", &KEYS)?;
    Ok(policy)
}

/// What is mounted; who must have signed it goes into `signed`.
fn tools(
    node: Node,
    what: &str,
    signed: &mut BTreeMap<String, Vec<Vec<Signer>>>,
) -> Result<BTreeMap<String, String>, PolicyError> {
    const REQUIREMENT: &str = "a requirement such as acme:payments@^1";
    let mut tools = BTreeMap::new();
    for (alias, node) in Table::new(node, what)?.rest() {
        let requirement = if matches!(node.value, Content::Table(_)) {
            let what = format!("`tools.{}`", alias.name);
            let mut table = Table::new(node, &what)?;
            let package = table.need("package", &what)?;
            if let Some(lists) = table.read("require_signature", signed::lists)? {
                signed.insert(alias.name.clone(), lists);
            }
            table.end(&what, &TOOL_KEYS)?;
            package
        } else {
            node
        };
        tools.insert(alias.name, read::string(requirement, REQUIREMENT)?);
    }
    Ok(tools)
}

pub(super) fn grant(node: Node) -> Result<Grant, PolicyError> {
    let mut table = Table::new(node, "a grant")?;
    // First: a misspelt `method` is better explained as that than as a missing one.
    table.check("a grant", &GRANT_KEYS)?;
    let method = table.need("method", "a grant")?;
    let span = method.span.clone();
    let grant = Grant {
        method: read::parse(method, "method")?,
        name: table.read("name", name)?.unwrap_or_default(),
        clauses: table.read("where", read::clauses)?.unwrap_or_default(),
        calls: table.read("calls", read::count)?,
        spend: table.read("spend", |node, _| spend(node))?,
        approve: table.read("approve", |node, _| approve(node))?.unwrap_or_default(),
        expires: None,
        parent: None,
        span: Span(span),
    };
    Ok(grant)
}

fn name(node: Node, what: &str) -> Result<String, PolicyError> {
    let span = node.span.clone();
    let name = read::string(node, what)?;
    if name.trim().is_empty() || name.chars().any(char::is_control) || name.len() > 200 {
        return Err(PolicyError::new("a grant's name has 1 to 200 bytes and no control characters", span));
    }
    Ok(name)
}

fn spend(node: Node) -> Result<Spend, PolicyError> {
    let whole = node.span.clone();
    let mut table = Table::new(node, "`spend`")?;
    let param = read::parse(table.need("param", "`spend`")?, "param")?;
    let limit = table.need("limit", "`spend`")?;
    let span = limit.span.clone();
    let limit = Amount::new(read::number(limit, "limit")?)
        .ok_or_else(|| PolicyError::new("`limit` of `spend` must not be negative, nor beyond 10^32", span.clone()))?;
    // Written as JSON it would be another: a greater one, perhaps.
    if Number::from_json(&limit.to_json(), false).and_then(Amount::new) != Some(limit) {
        return Err(PolicyError::new("`limit` of `spend` has more digits than a number in JSON can have", span));
    }
    table.end("`spend`", &["param", "limit"])?;
    Ok(Spend { param, limit, wide: false, span: Span(whole) })
}

fn approve(node: Node) -> Result<Approve, PolicyError> {
    match node.value {
        Content::Bool(true) => Ok(Approve::Always),
        Content::Bool(false) => Ok(Approve::Never),
        _ => read::clause(node).map(Approve::When),
    }
}

/// Limits of which one is another: a number, or a text as in a policy.
pub(super) fn with_limit(others: &Limits, name: &str, value: &str) -> Result<Limits, PolicyError> {
    let value = match value.parse() {
        // A size is read as text: without a unit it is refused if it is small.
        Ok(number) if !SIZES.contains(&name) => Content::Number(Number::Integer(number)),
        _ => Content::String(value.to_owned()),
    };
    let plain = |value| Node { value, span: None };
    let key = Key { name: name.to_owned(), span: None };
    limits(plain(Content::Table(vec![(key, plain(value))])), others.clone())
}

/// What is not said is as in `limits`.
fn limits(node: Node, mut limits: Limits) -> Result<Limits, PolicyError> {
    let mut table = Table::new(node, "`limits`")?;
    for (name, limit) in [("wall", &mut limits.wall), ("tool_wall", &mut limits.tool_wall)] {
        if let Some(time) = table.read(name, duration)? {
            *limit = time;
        }
    }
    for (name, limit) in [("fuel", &mut limits.fuel), ("calls", &mut limits.calls)] {
        if let Some(count) = table.read(name, read::count)? {
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
            let number = u32::try_from(read::count(node, name)?).ok().filter(|&number| number >= least);
            let message = || format!("`{name}` must be from {least} to 2^32 - 1: {why}");
            *limit = number.ok_or_else(|| PolicyError::new(message(), span))?;
        }
    }
    table.end("`limits`", &Limits::KEYS)?;
    Ok(limits)
}

fn duration(node: Node, what: &str) -> Result<Duration, PolicyError> {
    let span = node.span.clone();
    super::parse_duration(&read::string(node, what)?).map_err(|error| PolicyError::new(error.to_string(), span))
}

/// Either `"256MiB"` or a plain number of bytes.
fn size(node: Node, what: &str) -> Result<u64, PolicyError> {
    let span = node.span.clone();
    if matches!(node.value, Content::Number(_)) {
        let size = read::count(node, what)?;
        // A program that writes JSON means bytes. Whoever writes TOML may have forgotten the unit.
        return match span {
            Some(_) if size > 0 && size < LEAST_WITHOUT_UNIT => {
                Err(PolicyError::new(format!("{what}: {}", QuantityError::without_unit(size)), span))
            }
            _ => Ok(size),
        };
    }
    super::parse_bytes(&read::string(node, what)?).map_err(|error| PolicyError::new(error.to_string(), span))
}
