//! The document format of policies: the JSON form, the TOML text, and the JSON Schema of both.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::Value;

use super::HttpRule;
use super::clause::{Clause, Scalar, Test};
use super::grant_format::{WrittenGrant, written_grant};
use super::limits::{WrittenLimits, written_limits};
use super::mcp_server::{EnvironmentValue, McpServer};
use super::permission::{Permissions, SecretGrant};
use super::policy::Policy;
use super::required_signers::Signer;

/// A policy: mounts, grants and limits of a session.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "Tollhouse policy")]
#[serde(deny_unknown_fields)]
struct PolicyDocument {
    /// Signers required of every mounted package: one of each list.
    #[serde(skip_serializing_if = "Option::is_none")]
    require_signature: Option<WrittenSigners>,
    /// Packages to mount: alias to requirement (`acme:payments@^1`). If omitted, all packages of the default registry.
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<BTreeMap<String, WrittenTool>>,
    /// MCP servers whose tools are mounted, by name. Their programs start only if the operator says so.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    mcp: BTreeMap<String, WrittenServer>,
    /// Grants, tried in this order. If omitted, nothing may be called.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    grant: Vec<WrittenGrant>,
    /// Permissions of tools besides their arguments, by alias. Their manifests must request them too.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    tool: BTreeMap<String, WrittenPermissions>,
    /// Limits on a run.
    #[serde(skip_serializing_if = "WrittenLimits::is_empty", default)]
    limits: WrittenLimits,
    /// Journals of runs in sessions on disk.
    #[serde(skip_serializing_if = "WrittenJournal::is_empty", default)]
    journal: WrittenJournal,
}

/// What is kept of runs besides their files and the log.
#[derive(Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct WrittenJournal {
    /// Journals that are kept of runs that have ended: `all`, `suspended` (none; those of runs that can be resumed are always
    /// kept), or for how long after the end of the run: `30d`.
    #[serde(skip_serializing_if = "Option::is_none")]
    keep: Option<String>,
}

impl WrittenJournal {
    fn is_empty(&self) -> bool {
        self.keep.is_none()
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum WrittenTool {
    /// A requirement: `acme:payments@^1`.
    Requirement(String),
    /// A table with further settings.
    Table(WrittenToolTable),
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenToolTable {
    /// A requirement: `acme:payments@^1`.
    package: String,
    /// Signers required in addition to those of every package.
    #[serde(skip_serializing_if = "Option::is_none")]
    require_signature: Option<WrittenSigners>,
}

/// Keys (`ed25519:` and 32 bytes in base64), or their names in `tollhouse registry trust`.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum WrittenSigners {
    /// A list of signers, one of which is required.
    One(Vec<String>),
    /// Several lists, each of which requires one signer.
    Each(Vec<Vec<String>>),
}

/// An MCP server: a program of this machine (`command`), or an address (`url`).
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenServer {
    /// Program and its arguments: `["uvx", "mcp-server-git"]`.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    command: Vec<String>,
    /// Address of a server that is no program, with `https`: `https://mcp.example.com/mcp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// Headers of requests to it: values, or `Bearer secret:NAME`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    headers: BTreeMap<String, String>,
    /// Variables of its environment besides PATH and HOME: values, or `secret:NAME`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    env: BTreeMap<String, String>,
    /// Longest time of one call: `20s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<String>,
    /// Absolute paths that it may read and execute besides the system's.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    read: Vec<String>,
    /// Absolute paths that it may also write.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    write: Vec<String>,
    /// TCP ports that it may connect to. If omitted, it has no network.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    ports: Vec<u16>,
}

/// Permissions of one tool.
#[derive(Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct WrittenPermissions {
    /// Requests that it may make: `[METHOD,… ][https://]host[:port][/path]`; `*.example.com`, `*`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    http: Vec<String>,
    /// Secrets that it may use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    secrets: Vec<WrittenSecret>,
    /// Paths of the session's files: `/workspace/out`, `/workspace/in:ro`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
    /// Buckets of the session's key-value store.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    keyvalue: Vec<String>,
    /// Other tools that it may call: patterns, or grants. Each must narrow a grant of the policy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WrittenCall>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum WrittenSecret {
    /// Name of the secret.
    #[expect(dead_code, reason = "secrets are written as tables and read either way")]
    Name(String),
    /// A table with further settings.
    Table(WrittenSecretTable),
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenSecretTable {
    /// Name of the secret: letters, digits and `_`.
    name: String,
    /// Lets the tool read the value. Otherwise the host inserts it into headers of requests.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    expose: bool,
    /// Destinations that the value may be sent to. If omitted, all that the tool may send requests to.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    http: Vec<String>,
    /// Allows sending the value over a network without TLS, where others can read it.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    insecure: bool,
    /// The only header that may contain the value. If omitted, any header.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    header: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum WrittenCall {
    /// Every call of the methods that a pattern matches.
    #[expect(dead_code, reason = "grants are written as tables and read either way")]
    Pattern(String),
    /// A complete grant.
    Grant(Box<WrittenGrant>),
}

/// A condition: `param` with at least one operator, or `all`, or `any`.
#[derive(Default, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WrittenClause {
    /// Path of the parameter: `amount`, `items/0/price`, `items/*/price` (every element).
    #[serde(skip_serializing_if = "Option::is_none")]
    param: Option<String>,
    /// A number less than this.
    #[schemars(with = "Option<WrittenNumber>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    lt: Option<Value>,
    /// A number less than or equal to this.
    #[schemars(with = "Option<WrittenNumber>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    le: Option<Value>,
    /// A number greater than this.
    #[schemars(with = "Option<WrittenNumber>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    gt: Option<Value>,
    /// A number greater than or equal to this.
    #[schemars(with = "Option<WrittenNumber>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    ge: Option<Value>,
    /// Exactly this value.
    #[schemars(with = "Option<WrittenScalar>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    eq: Option<Value>,
    /// Another value of the same type.
    #[schemars(with = "Option<WrittenScalar>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    ne: Option<Value>,
    /// Exactly one of these values.
    #[schemars(with = "Option<Vec<WrittenScalar>>")]
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    one_of: Option<Vec<Value>>,
    /// A value of the type of one of these, and different from all of them.
    #[schemars(with = "Option<Vec<WrittenScalar>>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    not_in: Option<Vec<Value>>,
    /// A text with this prefix.
    #[serde(skip_serializing_if = "Option::is_none")]
    starts_with: Option<String>,
    /// A text with this suffix.
    #[serde(skip_serializing_if = "Option::is_none")]
    ends_with: Option<String>,
    /// A path that is this directory, or below it, without `.`, `..` and `//`.
    #[serde(skip_serializing_if = "Option::is_none")]
    within: Option<String>,
    /// A text that contains this one, or a list that contains this element.
    #[schemars(with = "Option<WrittenScalar>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    contains: Option<Value>,
    /// If `true`: present and not null.
    #[serde(skip_serializing_if = "Option::is_none")]
    exists: Option<bool>,
    /// If `true`: missing or null.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_exists: Option<bool>,
    /// Clauses that must all hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    all: Option<Vec<WrittenClause>>,
    /// Clauses of which one must hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    any: Option<Vec<WrittenClause>>,
}

/// A number; beyond 2^63 - 1 a decimal string.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum WrittenNumber {
    Number(f64),
    Text(String),
}

/// A value to compare with.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum WrittenScalar {
    Bool(bool),
    Number(f64),
    Text(String),
}

impl Policy {
    /// Converts the policy to JSON, which [`Policy::parse_json`] reads back. The end of a grant, and the grant that it
    /// narrows, are not included.
    #[must_use]
    pub fn to_json(&self) -> Value {
        serde_json::to_value(PolicyDocument::from(self)).expect("a policy is plain data with text for keys")
    }

    /// Converts the policy to TOML, which [`Policy::parse`] reads back, like [`Policy::to_json`].
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string(&PolicyDocument::from(self)).expect("a policy is plain data without nulls")
    }

    /// Returns the JSON Schema (2020-12) of both forms.
    #[must_use]
    pub fn schema() -> Schema {
        schemars::schema_for!(PolicyDocument)
    }
}

impl From<&Policy> for PolicyDocument {
    fn from(policy: &Policy) -> Self {
        Self {
            tools: policy.tools.as_ref().map(|tools| tools.iter().map(|tool| written_tool(tool, policy)).collect()),
            require_signature: written_signers(&policy.signed.all),
            mcp: policy.mcp.iter().map(|(name, server)| (name.clone(), written_server(server))).collect(),
            grant: policy.grants.iter().enumerate().map(written_grant).collect(),
            tool: policy.permissions.iter().map(|(alias, own)| (alias.clone(), written_permissions(own))).collect(),
            limits: written_limits(&policy.limits),
            journal: WrittenJournal { keep: policy.journal.written() },
        }
    }
}

fn written_tool((alias, package): (&String, &String), policy: &Policy) -> (String, WrittenTool) {
    let (alias, package) = (alias.clone(), package.clone());
    let signers = policy.signed.tools.get(&alias).and_then(|lists| written_signers(lists));
    let tool = match signers {
        None => WrittenTool::Requirement(package),
        require_signature => WrittenTool::Table(WrittenToolTable { package, require_signature }),
    };
    (alias, tool)
}

fn written_signers(lists: &[Vec<Signer>]) -> Option<WrittenSigners> {
    let texts = |list: &Vec<Signer>| list.iter().map(ToString::to_string).collect();
    match lists {
        [] => None,
        [one] => Some(WrittenSigners::One(texts(one))),
        each => Some(WrittenSigners::Each(each.iter().map(texts).collect())),
    }
}

fn written_server(server: &McpServer) -> WrittenServer {
    let variable = |(name, value): (&String, &EnvironmentValue)| (name.clone(), value.text());
    WrittenServer {
        command: server.command.clone(),
        url: server.url.as_ref().map(ToString::to_string),
        headers: server.headers.iter().map(|(name, value)| (name.clone(), value.text())).collect(),
        env: server.environment.iter().map(variable).collect(),
        timeout: server.timeout.map(|time| format!("{}ms", time.as_millis())),
        read: server.read.clone(),
        write: server.write.clone(),
        ports: server.ports.clone(),
    }
}

fn written_permissions(permissions: &Permissions) -> WrittenPermissions {
    let rules = |rules: &[HttpRule]| rules.iter().map(ToString::to_string).collect();
    let secret = |secret: &SecretGrant| {
        let (name, expose, http) = (secret.name.clone(), secret.expose, rules(&secret.http));
        let (insecure, header) = (secret.insecure, secret.header.clone());
        WrittenSecret::Table(WrittenSecretTable { name, expose, http, insecure, header })
    };
    let call = |numbered| WrittenCall::Grant(Box::new(written_grant(numbered)));
    WrittenPermissions {
        http: rules(&permissions.http),
        secrets: permissions.secrets.iter().map(secret).collect(),
        files: permissions.files.iter().map(ToString::to_string).collect(),
        keyvalue: permissions.keyvalue.clone(),
        tools: permissions.tools.iter().enumerate().map(call).collect(),
    }
}

/// Returns the document form of a clause.
pub(super) fn written_clause(clause: &Clause) -> WrittenClause {
    let all = |clauses: &[Clause]| Some(clauses.iter().map(written_clause).collect());
    match clause {
        Clause::All(clauses) => WrittenClause { all: all(clauses), ..WrittenClause::default() },
        Clause::Any(clauses) => WrittenClause { any: all(clauses), ..WrittenClause::default() },
        Clause::Param(param) if repeats(&param.tests) => {
            // A table has each key only once, so a second test with the same operator becomes a clause of its own.
            let each = |test: &Test| {
                let mut written = WrittenClause { param: Some(param.path.to_string()), ..WrittenClause::default() };
                write_test(test, &mut written);
                written
            };
            WrittenClause { all: Some(param.tests.iter().map(each).collect()), ..WrittenClause::default() }
        }
        Clause::Param(param) => {
            let mut written = WrittenClause { param: Some(param.path.to_string()), ..WrittenClause::default() };
            param.tests.iter().for_each(|test| write_test(test, &mut written));
            written
        }
    }
}

fn repeats(tests: &[Test]) -> bool {
    tests.iter().enumerate().any(|(at, test)| tests[..at].iter().any(|other| other.operator() == test.operator()))
}

fn write_test(test: &Test, written: &mut WrittenClause) {
    let list = |scalars: &[Scalar]| Some(scalars.iter().map(Scalar::to_json).collect());
    match test {
        Test::Lt(limit) => written.lt = Some(limit.to_json()),
        Test::Le(limit) => written.le = Some(limit.to_json()),
        Test::Gt(limit) => written.gt = Some(limit.to_json()),
        Test::Ge(limit) => written.ge = Some(limit.to_json()),
        Test::Eq(scalar) => written.eq = Some(scalar.to_json()),
        Test::Ne(scalar) => written.ne = Some(scalar.to_json()),
        Test::In(scalars) => written.one_of = list(scalars),
        Test::NotIn(scalars) => written.not_in = list(scalars),
        Test::StartsWith(text) => written.starts_with = Some(text.clone()),
        Test::EndsWith(text) => written.ends_with = Some(text.clone()),
        Test::Within(directory) => written.within = Some(directory.clone()),
        Test::Contains(scalar) => written.contains = Some(scalar.to_json()),
        Test::Exists => written.exists = Some(true),
        Test::NotExists => written.not_exists = Some(true),
    }
}
