//! Commands of `tollhouse mcp` for the MCP servers of a policy: `ls` and `test` are here.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use tollhouse::capability::{EnvironmentValue, HeaderText, McpServer, ServerUrl};
use tollhouse::tool::{PinnedServer, RefusedTool};

use super::StartedServers;
use super::edit::{AddServerCommand, RemoveServerCommand};
use super::login::{LoginCommand, LogoutCommand};
use super::pin::LockServersCommand;
use crate::confine::{ConfineArgs, Confinement};
use crate::locations::Locations;
use crate::policy_file::PolicyFile;
use crate::session_args::pair;
use crate::show::plain;
use crate::{CliError, Exit, Result, lock, secret, show};

/// Commands for the servers whose tools a policy mounts.
#[derive(Subcommand)]
pub(crate) enum McpServerCommand {
    Add(AddServerCommand),
    Rm(RemoveServerCommand),
    Lock(LockServersCommand),
    Ls(ListServersCommand),
    Login(LoginCommand),
    Logout(LogoutCommand),
    Test(TestServerCommand),
}

impl McpServerCommand {
    /// Executes the command.
    pub(crate) fn execute(self, locations: &Locations) -> Result {
        match self {
            Self::Add(add) => add.execute(locations),
            Self::Rm(remove) => remove.execute(locations),
            Self::Lock(lock) => lock.execute(locations),
            Self::Ls(list) => list.execute(locations),
            Self::Login(login) => login.execute(locations),
            Self::Logout(logout) => logout.execute(locations),
            Self::Test(test) => test.execute(locations),
        }
    }
}

/// List the MCP servers of a policy: what they run or where they are, what they may reach, and whether their tools are pinned
///
/// Nothing is started or connected with.
#[derive(Args)]
#[command(after_help = "Example:\n  tollhouse mcp ls --policy agent.toml")]
pub(crate) struct ListServersCommand {
    /// The policy
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
    /// The lock, if it is not the one beside the policy
    #[arg(long, value_name = "FILE")]
    locked: Option<PathBuf>,
    #[command(flatten)]
    confine: ConfineArgs,
    /// Print an array of {server, command, url, headers, login, env, read, write, ports, tools}; `tools` is null if it is not pinned
    #[arg(long)]
    json: bool,
}

impl ListServersCommand {
    fn execute(self, locations: &Locations) -> Result {
        let logins = locations.logins().directory;
        self.confine.seal(|| touched(locations, &self.policy, self.locked.as_ref()).reading([logins]))?;
        let policy = PolicyFile::read(&self.policy)?.parse()?;
        let pins = lock::pins(&self.policy, self.locked.as_deref())?;
        let pinned = |name: &String| pins.servers.get(name);
        if self.json {
            let listed: Vec<Value> = policy
                .mcp
                .iter()
                .map(|(name, server)| described(name, server, pinned(name), is_logged_in(locations, server)))
                .collect();
            show::json_pretty(&listed);
            return Ok(Exit::SUCCESS);
        }
        for (name, server) in &policy.mcp {
            let state = pinned(name).map_or("not pinned".to_owned(), |pins| format!("{} tools", pins.names().count()));
            show::line(format_args!("{name:<20} {state:<12} {}", plain(&place(server))));
            let paths = [("reads", &server.read), ("writes", &server.write)];
            for (what, paths) in paths.into_iter().filter(|(_, paths)| !paths.is_empty()) {
                show::line(format_args!("  {what} {}", plain(&words(paths))));
            }
            if !server.ports.is_empty() {
                show::line(format_args!("  connects to {}", numbers(&server.ports)));
            }
            let variables = literal_variables(server);
            if !variables.is_empty() {
                show::line(format_args!("  has the variables {}", plain(&words(&variables))));
            }
            let of_variables = server.environment.values().filter_map(|value| match value {
                EnvironmentValue::Secret(name) => Some(name.as_str()),
                EnvironmentValue::Literal(_) => None,
            });
            let of_headers = server.headers.values().filter_map(|value| value.secret.as_deref());
            let secrets: Vec<&str> = of_variables.chain(of_headers).collect();
            if !secrets.is_empty() {
                show::line(format_args!("  has the secrets {}", secrets.join(" ")));
            }
            if is_logged_in(locations, server) {
                show::line("  has your login");
            }
        }
        Ok(Exit::SUCCESS)
    }
}

/// Start an MCP server of a policy, and list its tools: which are mounted, which are refused, and what differs from the
/// lock
///
/// Exit status 1 if the lock pins other tools, or none.
#[derive(Args)]
#[command(after_help = "Example:\n  tollhouse mcp test git --policy agent.toml")]
pub(crate) struct TestServerCommand {
    /// The server, which this command starts
    #[arg(value_name = "NAME")]
    name: String,
    /// The policy
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
    /// The lock, if it is not the one beside the policy
    #[arg(long, value_name = "FILE")]
    locked: Option<PathBuf>,
    /// Give the value of a secret: `KEY=env:VARIABLE`, `KEY=file:PATH`, `KEY=cmd:PROGRAM ARGS`
    #[arg(long = "secret", value_name = "NAME=SOURCE", value_parser = pair)]
    secrets: Vec<(String, String)>,
    #[command(flatten)]
    confine: ConfineArgs,
    /// Print {server, tools, refused: [{name, reason}], pinned, difference}
    #[arg(long)]
    json: bool,
}

impl TestServerCommand {
    fn execute(self, locations: &Locations) -> Result {
        let secrets = secret::read(&self.secrets)?;
        let names = [self.name.clone()];
        let servers = StartedServers::start(&names, &self.policy, locations, &secrets, self.confine)?;
        self.confine.seal(|| touched(locations, &self.policy, self.locked.as_ref()))?;
        let pins = lock::pins(&self.policy, self.locked.as_deref())?;
        let connected = servers.connect_each()?.pop().ok_or_else(|| CliError::usage("no server was started"))?;
        let server = connected.1?;
        let (name, found) = (&self.name, server.tools());
        let refused = found.refused(name);
        let pinned = pins.servers.get(name);
        let difference = pinned.and_then(|pins| pins.difference(name, found));
        if self.json {
            let tools: Vec<&str> = found.names().collect();
            show::json_pretty(&json!({
                "server": name, "tools": tools, "refused": refused.iter().map(told).collect::<Vec<_>>(),
                "pinned": pinned.is_some(), "difference": difference,
            }));
        } else {
            for tool in found.names() {
                let reason = refused.iter().find(|refused| refused.name == tool);
                let state = reason.map_or("mounted".to_owned(), |refused| format!("refused: {}", refused.reason));
                show::line(format_args!("{:<40} {}", plain(&format!("{name}/{tool}")), plain(&state)));
            }
            if let Some(lines) = &difference {
                show::line(format_args!("the pinned (-) and the present definitions (+):\n{lines}"));
            }
            if pinned.is_none() {
                note!(
                    "`{name}` is not pinned: `tollhouse mcp lock --policy FILE --allow-exec {name}` pins these tools"
                );
            }
        }
        Ok(if pinned.is_some() && difference.is_none() { Exit::SUCCESS } else { Exit::FAILURE })
    }
}

/// Returns the files that a command accesses which reads a policy and its lock.
pub(super) fn touched(locations: &Locations, policy: &PathBuf, locked: Option<&PathBuf>) -> Confinement {
    let beside = lock::candidates(policy);
    Confinement::of(locations, false).reading([policy].into_iter().chain(locked).chain(&beside))
}

/// Returns true if a server is given the login at its address.
fn is_logged_in(locations: &Locations, server: &McpServer) -> bool {
    let is_at = |url: &ServerUrl| locations.logins().contains(url);
    server.url.as_ref().is_some_and(is_at) && !server.headers.contains_key("authorization")
}

fn described(name: &str, server: &McpServer, pinned: Option<&PinnedServer>, login: bool) -> Value {
    let variable = |(name, value): (&String, &EnvironmentValue)| {
        let text = match value {
            EnvironmentValue::Literal(text) => text.clone(),
            EnvironmentValue::Secret(secret) => format!("secret:{secret}"),
        };
        (name.clone(), json!(text))
    };
    let environment: serde_json::Map<String, Value> = server.environment.iter().map(variable).collect();
    let header = |(name, value): (&String, &HeaderText)| (name.clone(), json!(value.text()));
    let headers: serde_json::Map<String, Value> = server.headers.iter().map(header).collect();
    json!({
        "server": name, "command": server.command, "url": server.url.as_ref().map(ServerUrl::as_str),
        "headers": headers, "login": login, "env": environment, "read": server.read, "write": server.write,
        "ports": server.ports, "tools": pinned.map(|pins| pins.names().collect::<Vec<_>>()),
    })
}

/// Describes a refused tool in JSON.
pub(super) fn told(refused: &RefusedTool) -> Value {
    json!({ "name": refused.name, "reason": refused.reason })
}

/// Lists the variables of a server's environment that are no secrets, with their values: some make a program run other code.
fn literal_variables(server: &McpServer) -> Vec<String> {
    let literal = |(name, value): (&String, &EnvironmentValue)| match value {
        EnvironmentValue::Literal(text) => Some(format!("{name}={text}")),
        EnvironmentValue::Secret(_) => None,
    };
    server.environment.iter().filter_map(literal).collect()
}

/// Formats the command of a server, or its address.
fn place(server: &McpServer) -> String {
    server.url.as_ref().map_or_else(|| words(&server.command), ToString::to_string)
}

/// Formats a command for people: words that a shell would split are quoted.
fn words(command: &[String]) -> String {
    shlex::try_join(command.iter().map(String::as_str)).unwrap_or_else(|_| command.join(" "))
}

fn numbers(ports: &[u16]) -> String {
    ports.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
