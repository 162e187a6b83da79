//! `tollhouse mcp`: the server of the Model Context Protocol.

use std::sync::Arc;

use clap::Args;
use tollhouse::session::{Host, OpenOptions, SessionId, Sessions};
use tollhouse_mcp::{
    DeferringApprover, ExposeError, OpenOther, RootSession, ServeError, Server, ServerOptions, Stopper, StoredRoot,
    serve_stdio,
};

use super::audit::AuditArgs;
use super::confine::ConfineArgs;
use super::error::USAGE;
use super::locations::{Locations, waiting};
use super::session_args::{OpenParams, OwnArgs, SessionArgs};
use super::{CliError, Result, mcp_servers, signals};
use crate::Exit;

/// Name of the default session in memory.
const NAME: &str = "mcp";

/// Serve scripts, files and sessions to an agent, by the Model Context Protocol
///
/// The client starts this command and speaks with it on standard input and output. The agent gets tools that run JavaScript
/// and bash behind the policy, find and describe the tools that scripts call, and read and write the session's files;
/// resources, which are the session's files; and prompts. It cannot approve calls: the client's user is asked, if the
/// client can do that, else `tollhouse session approve` decides, for a session on disk.
///
/// Without `--session` the agent's sessions are in memory and end with the connection. The agent may fork its session, and
/// share its budgets with the forks; it reaches no other session of the store.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse mcp --allow 'stats/*'
  tollhouse mcp --policy agent.toml --session agent
  claude mcp add tollhouse -- tollhouse mcp --policy agent.toml")]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpCommand {
    #[command(subcommand)]
    servers: Option<mcp_servers::McpServerCommand>,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    own: OwnArgs,
    #[command(flatten)]
    confine: ConfineArgs,
    /// Keep the default session in the store under this name, and forks of it under `ID.NAME`
    #[arg(long = "session", value_name = "ID")]
    id: Option<SessionId>,
    /// Offer a mounted tool as a tool of the protocol too: a method, or all below a prefix (`stats`)
    #[arg(long, value_name = "METHOD")]
    expose: Vec<String>,
    /// Most characters of a result's text; what is longer goes into a file of the session
    #[arg(long, value_name = "CHARACTERS", default_value_t = 10_000)]
    max_text: usize,
    #[command(flatten)]
    audit: AuditArgs,
}

impl McpCommand {
    /// Serves until the client leaves, or a signal comes.
    pub(crate) fn execute(mut self, locations: &Locations) -> Result {
        if let Some(command) = self.servers.take() {
            return command.execute(locations);
        }
        self.own.read_secrets()?;
        self.session.start_servers(locations, &self.own, self.confine)?;
        self.audit.read_key()?;
        self.confine.apply(|| self.session.touched(locations, self.id.is_some(), &self.audit).with_network())?;
        let host = locations.host()?;
        let root = self.root(locations, &host)?;
        let session = root.session.clone();
        let options = ServerOptions {
            root,
            exposed: self.expose.clone(),
            text_limit: self.max_text,
            ask_client: self.own.asks(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let server = Server::new(options).map_err(|error| unexposed(&error))?;
        self.confine.isolate(&session)?;
        let stopper = Stopper::default();
        let signalled = stopper.clone();
        signals::on_first(move || signalled.stop());
        serve_stdio(&server, &stopper).map_err(|error| unserved(&error))?;
        Ok(Exit::from(if signals::received() > 0 { signals::CANCELLED } else { 0 }))
    }

    /// Opens the default session.
    fn root(&self, locations: &Locations, host: &Host) -> Result<RootSession> {
        let approver = Arc::<DeferringApprover>::default();
        if self.session.is_of_token() && self.id.is_none() {
            // Grants of a token expire, so no store keeps them.
            let prepared = self.session.prepare(locations, &self.own, &self.audit)?.asking(Arc::clone(&approver) as _);
            let session = prepared.session(host, prepared.files.clone())?;
            return Ok(RootSession { session, approver, stored: None });
        }
        let on_disk = self.id.is_some();
        let sessions = if on_disk { locations.sessions()? } else { Sessions::in_memory() };
        let id = self.id.clone().unwrap_or_else(|| NAME.parse().expect("it is a session's name"));
        let opening = OpenParams {
            own: &self.own,
            audit: &self.audit,
            approver: Some(Arc::clone(&approver) as _),
            waiting: waiting(&id),
            files: None,
            is_named: false,
        };
        let session = self.session.open_kept(locations, host, &sessions, &id, opening)?;
        let open = self.opener(host, &sessions)?;
        Ok(RootSession { session, approver, stored: Some(StoredRoot { sessions, id, on_disk, open }) })
    }

    /// Returns the callback that opens forks of the default session: with its policy, and with this command's limits,
    /// secrets and log.
    fn opener(&self, host: &Host, sessions: &Sessions) -> Result<OpenOther> {
        let (host, sessions) = (host.clone(), sessions.clone());
        let (limits, secrets, audit) = (self.own.limits(), self.own.values.clone(), self.audit.open()?);
        let mcp = self.session.mcp_calls();
        Ok(Arc::new(move |id, approver, waiting| {
            let options = OpenOptions {
                limits: limits.clone(),
                secrets: secrets.clone(),
                audit: audit.clone(),
                approver: Some(approver),
                waiting: Some(waiting),
                mcp: mcp.clone(),
                ..OpenOptions::default()
            };
            host.open(&sessions, id, options)
        }))
    }
}

fn unexposed(error: &ExposeError) -> CliError {
    let told = CliError::usage(format!("`--expose`: {error}"));
    match error {
        ExposeError::Unknown { nearest: Some(near), .. } => told.hint(format!("did you mean `{near}`?")),
        ExposeError::Unknown { .. } => told.hint("`tollhouse tools` lists what is mounted"),
        _ => told,
    }
}

fn unserved(error: &ServeError) -> CliError {
    let told = CliError::because("the server has ended", error);
    match error {
        ServeError::Protocol(_) => told.status(USAGE).hint(
            "this command is started by an MCP client: `docs/mcp.md` has the configuration of Claude, VS Code and others",
        ),
        _ => told,
    }
}
