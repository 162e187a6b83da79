//! MCP servers of a policy: their programs, started before the second wall, and the connections behind it.
//!
//! **Invariant:** a program starts, and a URL is connected with, only if the operator names its server on the command
//! line (`--allow-exec`): a policy may come from a stranger.

mod command;
mod edit;
mod login;
mod pin;
mod program;
mod remote;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tollhouse::capability::{McpServer, Policy};
use tollhouse::gate::Audit;
use tollhouse::tool::{McpCalls, PinnedServer, Secrets, nearest};
use tollhouse_mcp::{
    McpClient, MessageRelay, OnFailure, ServerConnection, ServerLauncher, ServerSlot, StartError, StartedServer,
};

pub(crate) use command::McpServerCommand;
pub(crate) use program::McpProgramCommand;
pub(crate) use remote::McpRemoteCommand;

use super::confine::ConfineArgs;
use super::error::USAGE;
use super::locations::Locations;
use super::policy_file::PolicyFile;
use super::{CliError, Result};

/// Number of times that a server of a process that serves for long is started again.
const RESTARTS: usize = 3;

/// Started programs of servers, and the connections with them.
#[derive(Default)]
pub(crate) struct StartedServers {
    started: Mutex<Vec<StartedServer>>,
    /// True if a server that cannot be used keeps nothing else from working, and one that ends is started again.
    are_lasting: bool,
    connected: OnceLock<Arc<dyn McpCalls>>,
    relay: MessageRelay,
    /// Secrets whose values nothing that comes of the servers shows.
    secrets: Secrets,
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
        Self::prepare(names, policy, locations, secrets, confine, 1)
    }

    /// Starts the named servers for a process that serves for long: what cannot be used, or ends, leaves the others
    /// alone. Programs that take the place of those that end are prepared.
    pub(crate) fn start_lasting(
        names: &[String],
        policy: &Path,
        locations: &Locations,
        secrets: &Secrets,
        confine: ConfineArgs,
    ) -> Result<Self> {
        let started = Self::prepare(names, policy, locations, secrets, confine, 1 + RESTARTS)?;
        Ok(Self { are_lasting: true, ..started })
    }

    /// Starts so many processes for each of the named servers.
    fn prepare(
        names: &[String],
        policy: &Path,
        locations: &Locations,
        secrets: &Secrets,
        confine: ConfineArgs,
        number: usize,
    ) -> Result<Self> {
        if names.is_empty() {
            return Ok(Self::default());
        }
        if policy == Path::new("-") {
            return Err(CliError::usage("`--allow-exec` and a policy on standard input: it would be read twice")
                .hint("name a file in its place"));
        }
        let policy = PolicyFile::read(policy)?.parse()?;
        let launcher = launcher(locations, confine);
        let mut started = Vec::new();
        for name in names {
            let settings = policy.mcp.get(name).ok_or_else(|| unknown(name, &policy))?;
            if started.iter().all(|other: &StartedServer| other.name() != name) {
                for _ in 0..number {
                    started.push(start(&launcher, name, settings, secrets)?);
                }
            }
        }
        Ok(Self { started: Mutex::new(started), secrets: secrets.clone(), ..Self::default() })
    }

    /// Connects with the servers, once, and compares their tools with the pinned ones. The use of their secrets is in
    /// the log before they start.
    pub(crate) fn connect(
        &self,
        pinned: &BTreeMap<String, PinnedServer>,
        audit: Option<&Arc<dyn Audit>>,
    ) -> Result<Option<Arc<dyn McpCalls>>> {
        let started = std::mem::take(&mut *self.started.lock().unwrap_or_else(PoisonError::into_inner));
        if started.is_empty() {
            return Ok(self.calls());
        }
        let client = client()?.withholding(self.secrets.clone()).recording(audit.map(Arc::clone));
        let mut client = client.relaying(self.relay.clone()).telling_changes(|name, lines| {
            note!("the MCP server `{name}` has changed its tools: no tool of it is called. The pinned (-) and the present definitions (+):\n{lines}");
        });
        if self.are_lasting {
            let _ = self.connected.set(Arc::new(lasting(client, started, pinned)?));
            return Ok(self.calls());
        }
        for server in started {
            // A session that exists has pins of its own, with which nothing here could compare the server.
            let pins = pinned.get(server.name()).ok_or_else(|| unpinned(server.name()))?;
            let connection = connect(server, &client)?;
            if let Some(lines) = pins.difference(connection.name(), connection.tools()) {
                return Err(changed(connection.name(), &lines));
            }
            client = client.with(connection);
        }
        // Nobody else has connected: the programs were taken above.
        let _ = self.connected.set(Arc::new(client));
        Ok(self.calls())
    }

    /// Returns the relay of what the servers say besides answers.
    pub(crate) fn relay(&self) -> &MessageRelay {
        &self.relay
    }

    /// Returns the connections, if there are any.
    pub(crate) fn calls(&self) -> Option<Arc<dyn McpCalls>> {
        self.connected.get().cloned()
    }

    /// Connects with the servers one by one, whatever their tools are.
    fn connect_each(self) -> Result<Vec<(String, Result<ServerConnection>)>> {
        let client = client()?.withholding(self.secrets);
        let started = self.started.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(started.into_iter().map(|server| (server.name().to_owned(), connect(server, &client))).collect())
    }
}

/// Connects with servers while clients are served already. Errors of a server are its own.
fn lasting(
    connector: McpClient,
    started: Vec<StartedServer>,
    pinned: &BTreeMap<String, PinnedServer>,
) -> Result<McpClient> {
    let mut programs = BTreeMap::<String, Vec<StartedServer>>::new();
    for program in started {
        programs.entry(program.name().to_owned()).or_default().push(program);
    }
    let connector = Arc::new(connector);
    let on_failure: OnFailure =
        Arc::new(|name, why| note!("the MCP server `{name}` cannot be used, and calls of it fail: {why}"));
    let mut served = client()?;
    for (name, programs) in programs {
        let pins = pinned.get(&name).ok_or_else(|| unpinned(&name))?.clone();
        let slot = ServerSlot::new(&name, programs, pins, Arc::clone(&connector), Arc::clone(&on_failure));
        served = served.with_slot(slot);
    }
    Ok(served)
}

/// Returns what starts the programs of servers.
fn launcher(locations: &Locations, confine: ConfineArgs) -> ServerLauncher {
    ServerLauncher {
        executable: locations.program.executable.clone(),
        before: locations.program.before.clone(),
        flags: confine.flags().map(Into::into).collect(),
        environment: std::env::vars_os().collect(),
        logins: Some(locations.logins()),
    }
}

fn start(launcher: &ServerLauncher, name: &str, settings: &McpServer, secrets: &Secrets) -> Result<StartedServer> {
    launcher.start(name, settings, secrets).map_err(|error| match &error {
        StartError::Secret { secret, .. } => CliError::usage(error.to_string())
            .hint(format!("give it with `--secret {secret}=env:VARIABLE`, `file:PATH` or `cmd:PROGRAM ARGS`")),
        StartError::Process { source, .. } => CliError::because(error.to_string(), source).status(USAGE),
        _ => CliError::usage(error.to_string()),
    })
}

fn connect(mut server: StartedServer, client: &McpClient) -> Result<ServerConnection> {
    let connected = server.connect(client);
    connected.map_err(|error| CliError::because(format!("the MCP server `{}` cannot be used", server.name()), &error))
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
