//! MCP servers of a policy: their programs, started before the second wall, and the connections behind it.
//!
//! **Invariant:** a program starts only if the operator names its server on the command line (`--allow-exec`): a policy
//! may come from a stranger.

mod command;
mod edit;
mod pin;
mod program;

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tollhouse::capability::{EnvironmentValue, McpServer, Policy};
use tollhouse::tool::{McpCalls, PinnedServer, Secrets, nearest};
use tollhouse_mcp::{McpClient, ServerConnection, ServerPipes};

pub(crate) use command::McpServerCommand;
pub(crate) use program::McpProgramCommand;

use super::confine::ConfineArgs;
use super::error::USAGE;
use super::locations::Locations;
use super::policy_file::PolicyFile;
use super::{CliError, Result};

/// Started programs of servers, and the connections with them.
#[derive(Default)]
pub(crate) struct StartedServers {
    started: Mutex<Vec<StartedServer>>,
    connected: OnceLock<Arc<dyn McpCalls>>,
}

/// Started program of a server.
struct StartedServer {
    name: String,
    settings: McpServer,
    child: Child,
}

impl StartedServers {
    /// Starts the named servers of a policy. It comes before this process is confined, and reads the policy and nothing
    /// of the servers.
    pub(crate) fn start(
        names: &[String],
        policy: &Path,
        locations: &Locations,
        secrets: &Secrets,
        confine: ConfineArgs,
    ) -> Result<Self> {
        if names.is_empty() {
            return Ok(Self::default());
        }
        if policy == Path::new("-") {
            return Err(CliError::usage("`--allow-exec` and a policy on standard input: it would be read twice")
                .hint("name a file in its place"));
        }
        let policy = PolicyFile::read(policy)?.parse()?;
        let mut started = Vec::new();
        for name in names {
            let settings = policy.mcp.get(name).ok_or_else(|| unknown(name, &policy))?;
            if started.iter().all(|other: &StartedServer| other.name != *name) {
                started.push(StartedServer::start(name, settings, locations, secrets, confine)?);
            }
        }
        Ok(Self { started: Mutex::new(started), connected: OnceLock::new() })
    }

    /// Connects with the servers, once, and compares their tools with the pinned ones.
    pub(crate) fn connect(&self, pinned: &BTreeMap<String, PinnedServer>) -> Result<Option<Arc<dyn McpCalls>>> {
        let started = std::mem::take(&mut *self.started.lock().unwrap_or_else(PoisonError::into_inner));
        if started.is_empty() {
            return Ok(self.calls());
        }
        let mut client = client()?;
        for server in started {
            // A session that exists has pins of its own, with which nothing here could compare the server.
            let pins = pinned.get(&server.name).ok_or_else(|| unpinned(&server.name))?;
            let connection = server.connect(&client)?;
            if let Some(lines) = pins.difference(connection.name(), connection.tools()) {
                return Err(changed(connection.name(), &lines));
            }
            client = client.with(connection);
        }
        // Nobody else has connected: the programs were taken above.
        let _ = self.connected.set(Arc::new(client));
        Ok(self.calls())
    }

    /// Returns the connections, if there are any.
    pub(crate) fn calls(&self) -> Option<Arc<dyn McpCalls>> {
        self.connected.get().cloned()
    }

    /// Connects with the servers one by one, whatever their tools are.
    fn connect_each(self) -> Result<Vec<ServerConnection>> {
        let client = client()?;
        let started = self.started.into_inner().unwrap_or_else(PoisonError::into_inner);
        started.into_iter().map(|server| server.connect(&client)).collect()
    }
}

impl StartedServer {
    fn start(
        name: &str,
        settings: &McpServer,
        locations: &Locations,
        secrets: &Secrets,
        confine: ConfineArgs,
    ) -> Result<Self> {
        let mut command = Command::new(&locations.program.executable);
        command.args(&locations.program.before).arg("mcp-program").args(confine.flags());
        for (option, paths) in [("--read", &settings.read), ("--write", &settings.write)] {
            command.args(paths.iter().flat_map(|path| [option, path]));
        }
        command.args(settings.ports.iter().flat_map(|port| ["--port".to_owned(), port.to_string()]));
        command.arg("--").args(&settings.command);
        // Those of this program's own environment are not the server's.
        let ours = std::env::vars_os().map(|(name, _)| name);
        ours.filter(|name| name.to_string_lossy().starts_with(program::VARIABLE)).for_each(|name| {
            command.env_remove(name);
        });
        for (variable, value) in &settings.environment {
            let value = match value {
                EnvironmentValue::Literal(value) => value,
                EnvironmentValue::Secret(secret) => secrets.value(secret).ok_or_else(|| {
                    CliError::usage(format!(
                        "the MCP server `{name}` needs the secret `{secret}`, but no value was given for it"
                    ))
                    .hint(format!("give it with `--secret {secret}=env:VARIABLE`, `file:PATH` or `cmd:PROGRAM ARGS`"))
                })?,
            };
            command.env(format!("{}{variable}", program::VARIABLE), value);
        }
        // Ctrl-C is for this program, which ends the server in its own way.
        command.process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|error| {
            CliError::because(format!("cannot start the MCP server `{name}`"), &error).status(USAGE)
        })?;
        Ok(Self { name: name.to_owned(), settings: settings.clone(), child })
    }

    fn connect(mut self, client: &McpClient) -> Result<ServerConnection> {
        let (input, output, errors) = (self.child.stdin.take(), self.child.stdout.take(), self.child.stderr.take());
        let pipes = ServerPipes {
            input: input.expect("it is piped").into(),
            output: output.expect("it is piped").into(),
            diagnostics: errors.expect("it is piped").into(),
        };
        let connection = client
            .connect(&self.name, pipes)
            .map_err(|error| CliError::because(format!("the MCP server `{}` cannot be used", self.name), &error))?;
        Ok(match self.settings.timeout {
            Some(timeout) => connection.with_timeout(timeout),
            None => connection,
        })
    }
}

fn client() -> Result<McpClient> {
    McpClient::new().map_err(|error| CliError::because("cannot start a thread for MCP servers", &error))
}

fn unknown(name: &str, policy: &Policy) -> CliError {
    let error = CliError::usage(format!("`--allow-exec {name}`: the policy has no MCP server `{name}`"));
    match nearest(name, policy.mcp.keys().map(String::as_str)) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error.hint("servers are the tables `[mcp.NAME]` of a policy"),
    }
}

/// Creates the error of a server whose tools are not pinned beside the policy.
fn unpinned(name: &str) -> CliError {
    CliError::usage(format!("the MCP server `{name}` is not pinned, so its tools are not known"))
        .of_policy()
        .hint(format!("`tollhouse mcp lock --policy FILE --allow-exec {name}` pins them"))
}

/// Creates the error of a server whose tools are not the pinned ones.
fn changed(name: &str, lines: &str) -> CliError {
    CliError::usage(format!("the tools of the MCP server `{name}` differ from the pinned ones")).of_policy().hint(
        format!(
            "nothing was run. The pinned (-) and the present definitions (+):\n{lines}\nif that is right, \
             `tollhouse mcp lock --policy FILE --allow-exec {name}` pins the present ones"
        ),
    )
}
