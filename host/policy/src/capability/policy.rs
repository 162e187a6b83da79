//! Policies: mounts, grants and limits of a session.
//!
//! Nothing fails open: unknown contents of a file are an error, and are not skipped.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use super::attenuate::bypassed_approval;
use super::grant::Grant;
use super::grant_format::read_grant;
use super::journal_retention::{self, JournalRetention};
use super::limits::{Limits, read_limits};
use super::mcp_server::{self, McpServer};
use super::permission::{self, Permissions};
use super::policy_parser::{self, TableReader};
use super::required_signers::{self, Signed, Signer};
use super::spanned_value::{DocumentValue, SpannedValue};

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
    let limits = table.read("limits", |node, _| read_limits(node, Limits::default()))?.unwrap_or_default();
    let permissions = table.read("tool", permission::all)?.unwrap_or_default();
    let mcp = table.read("mcp", mcp_server::all)?.unwrap_or_default();
    let journal = table.read("journal", journal_retention::table)?.unwrap_or_default();
    let mut policy = Policy { tools, signed, grants: Vec::new(), mcp, permissions, limits, journal };
    let mut names = HashSet::new();
    for node in table.read("grant", policy_parser::list)?.unwrap_or_default() {
        let span = node.span.clone();
        policy.push(read_grant(node)?);
        let last = policy.grants.last().expect("one was just pushed");
        if !names.insert(last.name.clone()) {
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
