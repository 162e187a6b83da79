//! MCP servers whose tools a policy mounts: the tables `[mcp.NAME]` of a policy.
//!
//! Nothing here starts a program or makes a connection. A policy may come from a stranger: whether a server is used is
//! the operator's decision at each start, and not that of the policy.

use std::collections::BTreeMap;
use std::time::Duration;

use tollhouse_types::permission::{MAX_PERMISSIONS, is_secret_name};

use super::policy::PolicyError;
use super::policy_parser::{self, TableReader};
use super::server_url::{HeaderText, ServerUrl, headers, url};
use super::span::Span;
use super::spanned_value::{SpannedKey, SpannedValue};

/// Most servers of a policy: each is a program that runs beside a session.
const MAX_SERVERS: usize = 64;

/// Longest word of a command, path or value of the environment, in bytes.
const MAX_TEXT: usize = 4096;

/// Prefix of a value that comes from a secret: `secret:GITHUB_TOKEN`.
pub(super) const SECRET: &str = "secret:";

/// Keys of a server.
const SERVER_KEYS: [&str; 8] = ["command", "url", "headers", "env", "timeout", "read", "write", "ports"];

/// Keys that only a server with a program has.
const PROGRAM_KEYS: [&str; 4] = ["env", "read", "write", "ports"];

/// MCP server: a program of this machine, or a service at a URL.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct McpServer {
    /// Program and its arguments. Empty if, and only if, the server is at a URL.
    pub command: Vec<String>,
    /// Address of a server that is reached by HTTP.
    pub url: Option<ServerUrl>,
    /// Headers of requests to the URL, by name in lower case.
    pub headers: BTreeMap<String, HeaderText>,
    /// Variables of the program's environment besides `PATH` and `HOME`.
    pub environment: BTreeMap<String, EnvironmentValue>,
    /// Longest time of one call; `None` for the default.
    pub timeout: Option<Duration>,
    /// Absolute paths that the program may read and execute besides the system's, with everything below them.
    pub read: Vec<String>,
    /// Absolute paths that the program may also write.
    pub write: Vec<String>,
    /// TCP ports that the program may connect to; without any, it has no network.
    pub ports: Vec<u16>,
    /// Position in the policy's text.
    pub span: Span,
}

/// Value of a variable of a server's environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvironmentValue {
    /// The value itself.
    Literal(String),
    /// Name of a secret, whose value the operator gives at each start.
    Secret(String),
}

impl EnvironmentValue {
    /// Formats the value as a policy has it.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Literal(text) => text.clone(),
            Self::Secret(name) => format!("{SECRET}{name}"),
        }
    }
}

/// Reads the tables `[mcp.*]`.
pub(super) fn all(node: SpannedValue, what: &str) -> Result<BTreeMap<String, McpServer>, PolicyError> {
    let span = node.span.clone();
    let entries = TableReader::new(node, what)?.rest();
    if entries.len() > MAX_SERVERS {
        let message = format!("`{what}` has {} servers: at most {MAX_SERVERS} are allowed", entries.len());
        return Err(PolicyError::new(message, span));
    }
    entries.into_iter().map(|(name, node)| Ok((name.name.clone(), server(&name, node)?))).collect()
}

fn server(name: &SpannedKey, node: SpannedValue) -> Result<McpServer, PolicyError> {
    if !is_server_name(&name.name) {
        let message = format!("`{}` is not a name of a server", name.name);
        return Err(PolicyError::new(message, name.span.clone()).hint(
            "a name has lower-case letters, digits and `-`, begins with a letter, and has at most 64 characters",
        ));
    }
    let what = format!("`mcp.{}`", name.name);
    let span = node.span.clone();
    let mut table = TableReader::new(node, &what)?;
    table.check(&what, &SERVER_KEYS)?;
    let address = table.read("url", url)?;
    if address.is_some() {
        if table.take("command").is_some() {
            return Err(PolicyError::new(format!("{what} has both a `command` and a `url`"), span)
                .hint("a server is a program of this machine, or is reached at a URL"));
        }
        if let Some(key) = PROGRAM_KEYS.into_iter().find(|key| table.take(key).is_some()) {
            return Err(PolicyError::new(format!("`{key}` is for programs, and {what} has a `url`"), span)
                .hint("a server at a URL has `headers` and `timeout`"));
        }
    } else if table.take("headers").is_some() {
        return Err(PolicyError::new(format!("{what} has `headers`, but no `url`"), span));
    }
    let server = McpServer {
        command: if address.is_some() { Vec::new() } else { command(table.need("command", &what)?)? },
        headers: table.read("headers", headers)?.unwrap_or_default(),
        url: address,
        environment: table.read("env", environment)?.unwrap_or_default(),
        timeout: table.read("timeout", timeout)?,
        read: table.read("read", paths)?.unwrap_or_default(),
        write: table.read("write", paths)?.unwrap_or_default(),
        ports: table.read("ports", ports)?.unwrap_or_default(),
        span: Span(span),
    };
    Ok(server)
}

/// Returns true if a text can be the first segment of methods, and part of the name of a file.
fn is_server_name(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    name.len() <= 64 && name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(is_part)
}

/// Reads a program and its arguments. A program is found by its name in `PATH`, or by its absolute path: a relative
/// one would depend on where the operator is.
fn command(node: SpannedValue) -> Result<Vec<String>, PolicyError> {
    let span = node.span.clone();
    let words = texts(node, "command")?;
    let Some(program) = words.first().filter(|program| !program.is_empty()) else {
        return Err(PolicyError::new("`command` names no program", span)
            .hint("for example `command = [\"uvx\", \"mcp-server-git\"]`"));
    };
    if program.contains('/') && !program.starts_with('/') {
        let message = format!("the program `{program}` is neither a name nor an absolute path");
        return Err(PolicyError::new(message, span));
    }
    Ok(words)
}

fn environment(node: SpannedValue, what: &str) -> Result<BTreeMap<String, EnvironmentValue>, PolicyError> {
    let mut variables = BTreeMap::new();
    for (name, node) in TableReader::new(node, &format!("`{what}`"))?.rest() {
        // The rules are those of a secret's name.
        if !is_secret_name(&name.name) {
            let message = format!("`{}` is not a name of a variable: letters, digits and `_`", name.name);
            return Err(PolicyError::new(message, name.span));
        }
        let span = node.span.clone();
        let text = text(node, &name.name)?;
        let value = match text.strip_prefix(SECRET) {
            Some(secret) if is_secret_name(secret) => EnvironmentValue::Secret(secret.to_owned()),
            Some(secret) => {
                let message = format!("`{secret}` is not a name of a secret: letters, digits and `_`");
                return Err(PolicyError::new(message, span));
            }
            None => EnvironmentValue::Literal(text),
        };
        variables.insert(name.name, value);
    }
    if variables.len() > MAX_PERMISSIONS {
        let message = format!("`{what}` has {} variables: at most {MAX_PERMISSIONS} are allowed", variables.len());
        return Err(PolicyError::new(message, None));
    }
    Ok(variables)
}

fn timeout(node: SpannedValue, what: &str) -> Result<Duration, PolicyError> {
    let span = node.span.clone();
    let time = super::parse_duration(&policy_parser::string(node, what)?)
        .map_err(|error| PolicyError::new(error.to_string(), span.clone()))?;
    if time.is_zero() {
        return Err(PolicyError::new("with a `timeout` of 0 no call could ever be answered", span));
    }
    Ok(time)
}

fn paths(node: SpannedValue, what: &str) -> Result<Vec<String>, PolicyError> {
    let span = node.span.clone();
    let paths = texts(node, what)?;
    let is_plain = |path: &String| path.starts_with('/') && path.split('/').all(|part| part != ".." && part != ".");
    match paths.iter().find(|path| !is_plain(path)) {
        Some(path) => Err(PolicyError::new(format!("`{what}`: `{path}` is not an absolute path without `..`"), span)),
        None => Ok(paths),
    }
}

fn ports(node: SpannedValue, what: &str) -> Result<Vec<u16>, PolicyError> {
    let port = |node: SpannedValue| {
        let span = node.span.clone();
        let port = u16::try_from(policy_parser::count(node, what)?).ok().filter(|port| *port > 0);
        port.ok_or_else(|| PolicyError::new("a port is a number from 1 to 65535", span))
    };
    bounded(node, what)?.into_iter().map(port).collect()
}

fn texts(node: SpannedValue, what: &str) -> Result<Vec<String>, PolicyError> {
    bounded(node, what)?.into_iter().map(|node| text(node, what)).collect()
}

/// Reads a text that a program or the kernel takes: it has no NUL.
pub(super) fn text(node: SpannedValue, what: &str) -> Result<String, PolicyError> {
    let span = node.span.clone();
    let text = policy_parser::string(node, what)?;
    if text.contains('\0') || text.len() > MAX_TEXT {
        return Err(PolicyError::new(format!("`{what}` has a NUL, or more than {MAX_TEXT} bytes"), span));
    }
    Ok(text)
}

fn bounded(node: SpannedValue, what: &str) -> Result<Vec<SpannedValue>, PolicyError> {
    let span = node.span.clone();
    let entries = policy_parser::list(node, what)?;
    if entries.len() > MAX_PERMISSIONS {
        let message = format!("`{what}` has {} entries: at most {MAX_PERMISSIONS} are allowed", entries.len());
        return Err(PolicyError::new(message, span));
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::super::Policy;
    use super::*;

    const GITHUB: &str = r#"
        [mcp.github]
        command = ["npx", "-y", "@modelcontextprotocol/server-github"]
        timeout = "20s"
        read = ["/opt/node"]
        write = ["/var/cache/github"]
        ports = [443]
        [mcp.github.env]
        TOKEN = "secret:GITHUB"
        MODE = "quiet"
    "#;

    #[test]
    fn mcp_server_keys_are_read_and_written_back() {
        let policy = Policy::parse(GITHUB).expect("a policy");
        let github = &policy.mcp["github"];
        assert_eq!(github.command[2], "@modelcontextprotocol/server-github");
        assert_eq!(github.environment["TOKEN"], EnvironmentValue::Secret("GITHUB".to_owned()));
        assert_eq!(github.environment["MODE"], EnvironmentValue::Literal("quiet".to_owned()));
        assert_eq!((github.timeout, github.ports.as_slice()), (Some(Duration::from_secs(20)), &[443][..]));
        assert_eq!(Policy::parse(&policy.to_toml()).expect("it is TOML").to_json(), policy.to_json());
        let back = Policy::parse_json(&policy.to_json().to_string()).expect("it is JSON");
        assert_eq!(McpServer { span: github.span.clone(), ..back.mcp["github"].clone() }, *github);
        let narrowed = policy.attenuate(Policy::default()).expect("nothing is added");
        assert_eq!(narrowed.mcp, policy.mcp, "mounts stay those of the wider policy");
        let other = Policy::parse("[mcp.other]\ncommand = [\"x\"]").expect("a policy");
        assert_eq!(policy.attenuate(other).expect("nothing is granted").mcp, policy.mcp, "none is added");
    }

    #[test]
    fn mcp_server_with_invalid_settings_is_refused_with_span() {
        let server = |rest: &str| format!("[mcp.s]\ncommand = [\"x\"]\n{rest}");
        for (text, expected) in [
            ("[mcp.s]".to_owned(), "has no `command`"),
            ("[mcp.s]\ncommand = []".to_owned(), "names no program"),
            ("[mcp.s]\ncommand = [\"\"]".to_owned(), "names no program"),
            ("[mcp.s]\ncommand = \"npx server\"".to_owned(), "a list belongs here"),
            ("[mcp.s]\ncommand = [\"./x\"]".to_owned(), "neither a name nor an absolute path"),
            ("[mcp.s]\ncommand = [\"a\\u0000b\"]".to_owned(), "has a NUL"),
            ("[mcp.S]\ncommand = [\"x\"]".to_owned(), "not a name of a server"),
            ("[mcp.\"a/b\"]\ncommand = [\"x\"]".to_owned(), "not a name of a server"),
            ("mcp = 1".to_owned(), "a table belongs here"),
            (server("comand = [\"y\"]"), "unknown key `comand`"),
            (server("timeout = \"0s\""), "no call could ever be answered"),
            (server("timeout = \"5\""), "60s"),
            (server("read = [\"home\"]"), "not an absolute path"),
            (server("write = [\"/a/../b\"]"), "not an absolute path"),
            (server("ports = [0]"), "from 1 to 65535"),
            (server("ports = [65536]"), "from 1 to 65535"),
            (server("env = { \"A B\" = \"x\" }"), "not a name of a variable"),
            (server("env = { A = 1 }"), "a string belongs here"),
            (server("env = { A = \"secret:a b\" }"), "not a name of a secret"),
        ] {
            let error = Policy::parse(&text).expect_err(&text);
            assert!(error.message.contains(expected), "{text}: {error}");
            assert!(error.span.is_some(), "{text}");
        }
    }
}
