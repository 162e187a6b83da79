//! `tollhouse mcp add` and `rm`: the servers of a policy file. Its comments and its order stay.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Deserialize;
use tollhouse::capability::{MAX_POLICY, Policy};
use tollhouse_registry::untrusted_file;
use toml_edit::{Array, DocumentMut, Item, Table, value};

use crate::confine::{ConfineArgs, Confinement};
use crate::error::USAGE;
use crate::locations::Locations;
use crate::session_args::pair;
use crate::{CliError, Exit, Result, lock, show};

/// Largest configuration of another program that is read, in bytes. Some keep whole histories in it.
const MAX_CONFIGURATION: u64 = 64 << 20;

/// Add an MCP server to a policy file, or those of another client's configuration
///
/// Nothing is started, and nothing is granted. With `--from`, the file is one of Claude Desktop, Claude Code, Cursor
/// (`mcpServers`) or VS Code (`servers`); the variables and headers of a server become secrets, since such files hold
/// tokens.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse mcp add git --policy agent.toml --read /srv/repository -- uvx mcp-server-git
  tollhouse mcp add github --policy agent.toml --env GITHUB_TOKEN=secret:GITHUB --port 443 -- npx -y server-github
  tollhouse mcp add hub --policy agent.toml --url https://mcp.example.com/mcp --header 'Authorization=Bearer secret:HUB'
  tollhouse mcp add --policy agent.toml --from ~/.cursor/mcp.json")]
pub(crate) struct AddServerCommand {
    /// The server's name; with `--from`, the only one of the file that is added
    #[arg(value_name = "NAME", required_unless_present = "from")]
    name: Option<String>,
    /// The policy, which is created if it does not exist
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
    /// Add the servers of this configuration
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "environment", "url"])]
    from: Option<PathBuf>,
    /// The address of a server that is no program: `https://…`, or `http://` to this machine
    #[arg(long, value_name = "URL", conflicts_with_all = ["command", "environment", "read", "write", "ports"])]
    url: Option<String>,
    /// A header of the requests to `--url`: a value, `secret:NAME`, or `Bearer secret:NAME`
    #[arg(long = "header", value_name = "NAME=VALUE", value_parser = pair, requires = "url")]
    headers: Vec<(String, String)>,
    /// A variable of its environment: a value, or `secret:NAME`
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = pair)]
    environment: Vec<(String, String)>,
    /// A path that it may read and execute
    #[arg(long, value_name = "PATH")]
    read: Vec<String>,
    /// A path that it may also write
    #[arg(long, value_name = "PATH")]
    write: Vec<String>,
    /// A TCP port that it may connect to
    #[arg(long = "port", value_name = "PORT")]
    ports: Vec<u16>,
    #[command(flatten)]
    confine: ConfineArgs,
    /// The program and its arguments
    #[arg(last = true, value_name = "PROGRAM", required_unless_present_any = ["from", "url"])]
    command: Vec<String>,
}

/// Remove an MCP server from a policy file
#[derive(Args)]
pub(crate) struct RemoveServerCommand {
    /// The server's name
    #[arg(value_name = "NAME")]
    name: String,
    /// The policy
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
    #[command(flatten)]
    confine: ConfineArgs,
}

/// Configuration of another client. Its other members are its own.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Configuration {
    #[serde(default)]
    mcp_servers: BTreeMap<String, ConfiguredServer>,
    #[serde(default)]
    servers: BTreeMap<String, ConfiguredServer>,
    /// Projects of Claude Code, by their directories.
    #[serde(default)]
    projects: BTreeMap<String, ConfiguredProject>,
}

/// Project in such a configuration.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConfiguredProject {
    #[serde(default)]
    mcp_servers: BTreeMap<String, ConfiguredServer>,
}

/// Server in such a configuration.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConfiguredServer {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    disabled: bool,
    env_file: Option<serde::de::IgnoredAny>,
    cwd: Option<serde::de::IgnoredAny>,
    command: Option<String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, serde::de::IgnoredAny>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, serde::de::IgnoredAny>,
}

/// Server to add.
struct NewServer {
    name: String,
    command: Vec<String>,
    url: Option<String>,
    headers: Vec<(String, String)>,
    environment: Vec<(String, String)>,
}

impl AddServerCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        self.confine.seal(|| touched(locations, &self.policy).reading(&self.from))?;
        let servers = match (&self.from, &self.name) {
            (Some(from), only) => configured(from, only.as_deref())?,
            (None, Some(name)) => vec![NewServer {
                name: name.clone(),
                command: self.command.clone(),
                url: self.url.clone(),
                headers: self.headers.clone(),
                environment: self.environment.clone(),
            }],
            (None, None) => return Err(CliError::usage("no server is named")),
        };
        let mut document = if self.policy.exists() { read(&self.policy)? } else { DocumentMut::new() };
        let mut added = Vec::new();
        for server in servers {
            let tables = tables(&mut document)?;
            if tables.contains_key(&server.name) {
                return Err(CliError::usage(format!("the policy already has an MCP server `{}`", server.name))
                    .hint(format!("`tollhouse mcp rm {} --policy FILE` removes it", server.name)));
            }
            tables.insert(&server.name, Item::Table(self.table(&server)));
            added.push(server);
        }
        save(&self.policy, &document)?;
        for NewServer { name, environment, headers, .. } in &added {
            show::line(format_args!("added {name}"));
            let values = environment.iter().chain(headers).filter_map(|(_, value)| value.split_once("secret:"));
            for (_, secret) in values {
                note!("note: `{name}` needs `--secret {secret}=…` when it starts");
            }
            note!("note: `tollhouse mcp lock --policy FILE --allow-exec {name}` starts it and pins its tools");
        }
        Ok(Exit::SUCCESS)
    }

    fn table(&self, server: &NewServer) -> Table {
        let list = |items: &[String]| value(items.iter().map(String::as_str).collect::<Array>());
        let mut table = Table::new();
        match &server.url {
            Some(url) => table.insert("url", value(url.as_str())),
            None => table.insert("command", list(&server.command)),
        };
        for (key, paths) in [("read", &self.read), ("write", &self.write)] {
            if !paths.is_empty() {
                table.insert(key, list(paths));
            }
        }
        if !self.ports.is_empty() {
            table.insert("ports", value(self.ports.iter().map(|port| i64::from(*port)).collect::<Array>()));
        }
        for (key, entries) in [("env", &server.environment), ("headers", &server.headers)] {
            if !entries.is_empty() {
                let mut values = Table::new();
                for (name, text) in entries {
                    values.insert(name, value(text.as_str()));
                }
                table.insert(key, Item::Table(values));
            }
        }
        table
    }
}

impl RemoveServerCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        self.confine.seal(|| touched(locations, &self.policy))?;
        let mut document = read(&self.policy)?;
        if tables(&mut document)?.remove(&self.name).is_none() {
            return Err(CliError::usage(format!("the policy has no MCP server `{}`", self.name))
                .hint("`tollhouse mcp ls --policy FILE` lists them"));
        }
        save(&self.policy, &document)?;
        show::line(format_args!("removed {}", self.name));
        note!("note: `tollhouse lock --policy FILE` takes it out of the lock");
        Ok(Exit::SUCCESS)
    }
}

/// Returns the table of servers, which is made if there is none.
fn tables(document: &mut DocumentMut) -> Result<&mut Table> {
    let mut all = Table::new();
    all.set_implicit(true);
    let found = document.entry("mcp").or_insert(Item::Table(all));
    found.as_table_mut().ok_or_else(|| CliError::usage("`mcp` of the policy is not a table of servers"))
}

/// Reads the servers of a configuration, or one of them.
fn configured(path: &Path, only: Option<&str>) -> Result<Vec<NewServer>> {
    let failed = |error: &(dyn std::error::Error + 'static)| {
        CliError::because(format!("cannot read the configuration `{}`", path.display()), error).status(USAGE)
    };
    let text = untrusted_file::read_named_text(path, MAX_CONFIGURATION)
        .map_err(|error| failed(&std::io::Error::from(error)))?;
    let found: Configuration = serde_json::from_str(&plain_json(&text)).map_err(|error| failed(&error))?;
    let of_projects = found.projects.into_values().flat_map(|project| project.mcp_servers);
    let mut servers = Vec::<NewServer>::new();
    for (name, server) in found.mcp_servers.into_iter().chain(found.servers).chain(of_projects) {
        if only.is_some_and(|only| only != name) {
            continue;
        }
        let spelled = spelled(&name);
        if let Some(why) = server.unusable() {
            note!("note: `{name}` is left out: {why}");
            continue;
        }
        if servers.iter().any(|other| other.name == spelled) {
            note!("note: another `{name}` is left out: a server of this name is in the file before it");
            continue;
        }
        server.note_lost(&name);
        let command = server.command.map(|program| [program].into_iter().chain(server.args).collect());
        // Servers have headers of the same name, and other values.
        let prefix = spelled.replace('-', "_").to_ascii_uppercase();
        let of_header = |header: String| {
            let secret = format!("secret:{prefix}_{}", header.replace('-', "_").to_ascii_uppercase());
            (header, secret)
        };
        let secret = |variable: String| (variable.clone(), format!("secret:{variable}"));
        let environment = if command.is_some() { server.env.into_keys().map(secret).collect() } else { Vec::new() };
        servers.push(NewServer {
            name: spelled,
            url: server.url.filter(|_| command.is_none()),
            headers: if command.is_none() { server.headers.into_keys().map(of_header).collect() } else { Vec::new() },
            command: command.unwrap_or_default(),
            environment,
        });
    }
    if servers.is_empty() {
        return Err(CliError::usage(format!("`{}` configures no such server with a command or a url", path.display()))
            .hint("servers are the members of `mcpServers`, or of `servers` in VS Code"));
    }
    Ok(servers)
}

impl ConfiguredServer {
    /// Explains why the server cannot be taken over; `None` if it can.
    fn unusable(&self) -> Option<String> {
        if self.disabled {
            return Some("it is disabled".to_owned());
        }
        if self.command.is_none() && self.kind.as_deref() == Some("sse") {
            return Some("it speaks the SSE transport of 2024, which was replaced by streamable HTTP: many servers have that at another address (`--url`)".to_owned());
        }
        if self.command.is_none() && self.url.is_none() {
            return Some("it has no command and no url".to_owned());
        }
        let url = self.url.iter().filter(|_| self.command.is_none());
        let texts = self.command.iter().chain(&self.args).chain(url);
        let variable = texts.filter_map(|text| variable(text)).next()?;
        Some(format!(
            "`{variable}` in it is known to that client alone: write the value in its place, or use `mcp add NAME -- PROGRAM …`"
        ))
    }

    /// Tells what is not taken over, or should not be.
    fn note_lost(&self, name: &str) {
        if self.env_file.is_some() {
            note!("note: the `envFile` of `{name}` is not read: name its variables under `env` in the policy");
        }
        if self.cwd.is_some() {
            note!(
                "note: the `cwd` of `{name}` is not taken over: servers start in `/`, so its paths have to be absolute"
            );
        }
        if self.command.is_some() && self.args.iter().any(|argument| is_of_secret(argument)) {
            note!(
                "warning: the arguments of `{name}` seem to have a secret, which is in the policy now: give it by a variable (`env`, `secret:NAME`) if the server takes one"
            );
        }
    }
}

/// Returns the first `${…}` of a text.
fn variable(text: &str) -> Option<&str> {
    let start = text.find("${")?;
    let end = text[start..].find('}')?;
    Some(&text[start..=start + end])
}

/// Returns true for an option that takes a secret, such as `--api-key` or `--token=…`.
fn is_of_secret(argument: &str) -> bool {
    let Some(option) = argument.strip_prefix('-') else { return false };
    let name = option.split('=').next().unwrap_or_default().to_ascii_lowercase().replace(['-', '_'], "");
    ["apikey", "token", "secret", "password", "accesskey"].iter().any(|word| name.ends_with(word))
}

/// Returns JSON without what editors allow besides: a byte order mark, comments, and commas before the end of a list. What
/// is taken out becomes blanks, so that lines in errors are right.
fn plain_json(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut plain = String::with_capacity(text.len());
    // Position in `plain` of the last comma, if nothing but blanks came after it.
    let mut comma = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('"', _) => {
                comma = None;
                plain.push(c);
                while let Some(c) = rest.next() {
                    plain.push(c);
                    match c {
                        '\\' => plain.extend(rest.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            ('/', Some('/')) => {
                plain.push(' ');
                while let Some(c) = rest.next_if(|c| *c != '\n') {
                    plain.push(if c == '\t' { c } else { ' ' });
                }
            }
            ('/', Some('*')) => {
                let mut last = ' ';
                plain.push(' ');
                rest.next();
                for c in rest.by_ref() {
                    plain.push(if c == '\n' { c } else { ' ' });
                    if (last, c) == ('*', '/') {
                        break;
                    }
                    last = c;
                }
            }
            (']' | '}', _) => {
                if let Some(at) = comma.take() {
                    plain.replace_range(at..=at, " ");
                }
                plain.push(c);
            }
            _ => {
                match c {
                    ',' => comma = Some(plain.len()),
                    c if c.is_whitespace() => {}
                    _ => comma = None,
                }
                plain.push(c);
            }
        }
    }
    plain
}

/// Spells a name as policies do: `GitHub (work)` is `github-work`.
fn spelled(name: &str) -> String {
    let letters = name.to_ascii_lowercase();
    let words = letters.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

fn read(policy: &Path) -> Result<DocumentMut> {
    if policy.extension().is_some_and(|extension| extension == "json") {
        return Err(CliError::usage("this command edits policies in TOML"));
    }
    let failed = |error: &(dyn std::error::Error + 'static)| {
        CliError::because(format!("cannot read the policy `{}`", policy.display()), error).status(USAGE)
    };
    let text = untrusted_file::read_named_text(policy, MAX_POLICY as u64)
        .map_err(|error| failed(&std::io::Error::from(error)))?;
    text.parse().map_err(|error: toml_edit::TomlError| failed(&error))
}

/// Writes a policy that is valid.
fn save(policy: &Path, document: &DocumentMut) -> Result<()> {
    let text = document.to_string();
    Policy::parse(&text).map_err(|error| {
        let told = CliError::usage(format!("the policy would not be valid: {error}")).of_policy();
        match error.hint {
            Some(hint) => told.hint(hint),
            None => told,
        }
    })?;
    lock::write(policy, &text)
        .map_err(|error| CliError::because(format!("cannot write the policy `{}`", policy.display()), &error))
}

fn touched(locations: &Locations, policy: &PathBuf) -> Confinement {
    let directory = lock::directory(policy);
    Confinement::of(locations, false)
        .reading([policy])
        .writing_in(Some(directory).filter(|directory| directory.is_dir()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_last_commas_are_taken_out_of_json_and_texts_stay() {
        let text = "\u{feff}{ // one, two\n \"a\": [1, 2, /* ] */ ], \"b\": \"// ,] \\\" /* x */\",\n}";
        let value: serde_json::Value = serde_json::from_str(&plain_json(text)).expect("it is JSON");
        assert_eq!(value, serde_json::json!({ "a": [1, 2], "b": "// ,] \" /* x */" }));
        assert!(serde_json::from_str::<serde_json::Value>(&plain_json("{\"a\": 1,, }")).is_err());
    }

    #[test]
    fn options_with_secrets_and_variables_of_clients_are_found() {
        assert!(is_of_secret("--api-key") && is_of_secret("--token=x") && is_of_secret("--GITHUB_TOKEN"));
        assert!(!is_of_secret("-y") && !is_of_secret("token") && !is_of_secret("--read"));
        assert_eq!(variable("x/${workspaceFolder}/y"), Some("${workspaceFolder}"));
        assert_eq!(variable("$HOME {}"), None);
    }
}
