//! `tollhouse mcp`: the server of the Model Context Protocol.

mod isolated;
mod oauth;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::TcpListener;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tollhouse::capability::{Grant, Policy, parse_bytes, parse_duration};
use tollhouse::gate::{Approver, Gate};
use tollhouse::remedy::set_remedy_wording;
use tollhouse::session::{Host, OpenOptions, Session, SessionId, Sessions};
use tollhouse_mcp::{
    ApproverIssuer, DeferringApprover, ExposeError, HttpAccess, HttpOptions, ListenError, OAuthError, OpenOther,
    OpenSession, ProtectedResource, RootSession, ServeError, Server, ServerOptions, Stopper, StoredRoot,
    SubjectSessions, TokenClient, TokenIssuer, TokenKey, WaitingCalls, serve_http, serve_stdio,
};

use self::isolated::ProcessRole;
use self::oauth::OAuthConfiguration;
use super::audit::AuditArgs;
use super::confine::ConfineArgs;
use super::error::USAGE;
use super::isolation::Isolation;
use super::locations::{Locations, waiting};
use super::notify::NotifyArgs;
use super::remedy::{GatewayWording, ServerWording};
use super::session_args::{OpenParams, OwnArgs, SessionArgs};
use super::{CliError, Result, mcp_servers, signals, token};
use crate::Exit;

/// Name of the default session in memory.
const NAME: &str = "mcp";

/// Most characters of a result's text, unless the operator says otherwise. Clients put it before their models.
const MAX_TEXT: usize = 10_000;

/// Serve scripts, files and sessions to an agent, by the Model Context Protocol
///
/// The client starts this command and speaks with it on standard input and output. The agent gets tools that run JavaScript
/// and bash behind the policy, find and describe the tools that scripts call, and read and write the session's files;
/// resources, which are the session's files; and prompts. It cannot approve calls: the client's user is asked, if the
/// client can do that, else `tollhouse session approve` decides, for a session on disk.
///
/// With `--proxy` the agent gets no scripts and no files: the mounted tools are its tools, each call behind the policy.
///
/// Without `--session` the agent's sessions are in memory and end with the connection. The agent may fork its session, and
/// share its budgets with the forks; it reaches no other session of the store.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse mcp --allow 'stats/*'
  tollhouse mcp --policy agent.toml --session agent
  tollhouse mcp --proxy --policy agent.toml --allow-exec git
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
    /// Be a gateway: offer the mounted tools, or those that `--expose` names, and no scripts
    #[arg(long)]
    proxy: bool,
    /// Most characters of a result's text; what is longer goes into a file of the session, and with `--proxy` is left out
    /// [default: 10000; with `--proxy` none]
    #[arg(long, value_name = "CHARACTERS")]
    max_text: Option<NonZeroUsize>,
    #[command(flatten)]
    notify: NotifyArgs,
    #[command(flatten)]
    http: HttpArgs,
    #[command(flatten)]
    audit: AuditArgs,
}

/// Options for the server of many clients.
#[derive(Args)]
struct HttpArgs {
    /// Serve streamable HTTP at http://ADDRESS/mcp instead of standard input and output. Without `--issuer` or `--oauth`,
    /// loopback addresses only
    #[arg(long = "http", value_name = "ADDRESS", help_heading = "HTTP")]
    address: Option<String>,
    /// Ask each request for a bearer token that this key has sealed (`tollhouse policy seal`): the key or its file. A
    /// client has what its token grants, and a session in memory. A `--policy` says what is mounted, and grants nothing
    #[arg(long, value_name = "KEY", requires = "address", help_heading = "HTTP",
        conflicts_with_all = ["token", "allow", "allow_net", "id"])]
    issuer: Option<String>,
    /// Revoked tokens: one revocation id per line. Read when the server starts
    #[arg(long, value_name = "FILE", requires = "issuer", help_heading = "HTTP")]
    issuer_revoked: Option<PathBuf>,
    /// Accept access tokens (JSON Web Tokens) of an authorization server of OAuth 2.1, as this file says (TOML): the
    /// issuer and its keys, the address of this server, and a policy for each scope. A client has the grants of its
    /// token's scopes, and a session in memory. A `--policy` says what is mounted, and grants nothing
    #[arg(long, value_name = "FILE", requires = "address", help_heading = "HTTP",
        conflicts_with_all = ["token", "allow", "allow_net", "id"])]
    oauth: Option<PathBuf>,
    /// Let clients decide about calls that wait, who have a bearer token that this key has sealed (`tollhouse policy seal`
    /// of a policy without grants): the key or its file, and another one than that of `--issuer`. They can do nothing else,
    /// and clients without such a token run scripts and decide about nothing. With `--oauth`, access tokens with the scope
    /// `approve` of its file decide too
    #[arg(long, value_name = "KEY", requires = "address", help_heading = "HTTP", conflicts_with = "token")]
    approvers: Option<String>,
    /// Revoked tokens of those who decide: one revocation id per line. Read when the server starts
    #[arg(long, value_name = "FILE", requires = "approvers", help_heading = "HTTP")]
    approvers_revoked: Option<PathBuf>,
    /// A name of this host that requests may have, besides localhost and that of `--oauth`
    #[arg(long = "http-host", value_name = "HOST[:PORT]", requires = "address", help_heading = "HTTP")]
    hosts: Vec<String>,
    /// An origin whose web pages may send requests: `https://app.example:443`
    #[arg(long = "http-origin", value_name = "ORIGIN", requires = "address", help_heading = "HTTP")]
    origins: Vec<String>,
    /// Most connections at a time
    #[arg(long, value_name = "NUMBER", default_value_t = 256, requires = "address", help_heading = "HTTP")]
    max_connections: usize,
    /// Most bytes of a request
    #[arg(long, value_name = "SIZE", default_value = "4MiB", value_parser = parse_bytes, requires = "address",
        help_heading = "HTTP")]
    max_body: u64,
    /// Let the clients' users decide about calls that need approval: for clients that are trusted with that
    #[arg(long, requires = "address", conflicts_with_all = ["issuer", "oauth"], help_heading = "HTTP")]
    ask_clients: bool,
    /// How clients with tokens are isolated: a sandbox each in one process, or a process each, so that code that escapes
    /// the sandbox finds no other client. One for each token, with those that its holders made narrower, and for each
    /// subject of `--oauth`; not possible with `--audit`
    #[arg(long, value_enum, default_value_t, value_name = "BY", requires = "address", help_heading = "HTTP")]
    isolate: Isolation,
    /// Most processes of clients at a time
    #[arg(long, value_name = "NUMBER", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..),
        requires = "address", help_heading = "HTTP")]
    max_workers: u16,
    /// Time without requests after which the process of a client ends, and its files with it. That of a client whose
    /// grants have budgets goes on until its token ends
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = parse_duration, requires = "address",
        help_heading = "HTTP")]
    worker_idle: Duration,
    /// Run as one of the processes of a server with `--isolate process`. The starter has its own command line with another role
    #[arg(long, hide = true, value_enum, value_name = "ROLE", overrides_with = "role")]
    role: Option<ProcessRole>,
    /// Port at which clients reach that server
    #[arg(long, hide = true, value_name = "PORT", default_value_t = 0, overrides_with = "front_port")]
    front_port: u16,
    /// Calls of clients with tokens that wait, if other clients decide about them
    #[arg(skip)]
    waiting: Option<WaitingCalls>,
    /// Process that has started this one
    #[arg(long, hide = true, value_name = "ID", default_value_t = 0, overrides_with = "starter")]
    starter: u32,
}

impl HttpArgs {
    /// Binds the listener, before the process is confined; `None` for standard input and output.
    fn bind(&self) -> Result<Option<TcpListener>> {
        let Some(address) = &self.address else { return Ok(None) };
        if self.max_body == 0 {
            return Err(CliError::usage("`--max-body 0`: no request would be read").hint("the default is 4MiB"));
        }
        let bound = tollhouse_mcp::bind(address, self.issuer.is_some() || self.oauth.is_some());
        bound.map(Some).map_err(|error| {
            let told = CliError::because(format!("`--http {address}`"), &error).status(USAGE);
            match error {
                ListenError::Open(_) => {
                    told.hint("ask for tokens (`--issuer KEY`, `--oauth FILE`), or listen on 127.0.0.1")
                }
                _ => told,
            }
        })
    }
}

impl HttpArgs {
    /// Reads the key of those who decide.
    fn approvers(&self) -> Result<Option<ApproverIssuer>> {
        let Some(key) = &self.approvers else { return Ok(None) };
        let revoked = token::revocations(self.approvers_revoked.as_deref())?;
        let public = token::public_key(key)?;
        if let Some(issuer) = &self.issuer
            && token::public_key(issuer)? == public
        {
            return Err(CliError::usage(
                "`--approvers` and `--issuer` are one key: any token without grants would decide",
            )
            .hint("`tollhouse policy keygen` makes another one"));
        }
        Ok(Some(ApproverIssuer { key: public, revoked }))
    }

    /// Reads the key that verifies sealed tokens.
    fn token_key(&self) -> Result<Option<TokenKey>> {
        let Some(key) = &self.issuer else { return Ok(None) };
        let revoked = token::revocations(self.issuer_revoked.as_deref())?;
        Ok(Some(TokenKey { key: token::public_key(key)?, revoked }))
    }

    /// Reads the configuration of an authorization server.
    fn oauth(&self) -> Result<Option<OAuthConfiguration>> {
        self.oauth.as_deref().map(OAuthConfiguration::read).transpose()
    }

    /// Returns the options of a server, which also has the name in the configuration of its authorization server.
    fn options(&self, oauth: Option<&OAuthConfiguration>) -> HttpOptions {
        let named = oauth.map(|oauth| oauth.tokens.resource.host().to_owned());
        HttpOptions {
            hosts: named.into_iter().chain(self.hosts.clone()).collect(),
            origins: self.origins.clone(),
            max_connections: self.max_connections,
            max_body: usize::try_from(self.max_body).unwrap_or(usize::MAX),
        }
    }
}

impl McpCommand {
    /// Serves until the client leaves, or a signal comes. `arguments` are the whole command line, with the program's name.
    pub(crate) fn execute(mut self, locations: &Locations, arguments: Vec<OsString>) -> Result {
        if let Some(command) = self.servers.take() {
            return command.execute(locations);
        }
        if self.http.isolate == Isolation::Process {
            return self.execute_isolated(locations, arguments);
        }
        self.begin(locations)?;
        let listener = self.http.bind()?;
        let (key, oauth, approvers) = (self.http.token_key()?, self.http.oauth()?, self.http.approvers()?);
        let has_approvers = approvers.is_some() || oauth.as_ref().is_some_and(|oauth| oauth.tokens.approve.is_some());
        self.http.waiting = has_approvers.then(WaitingCalls::default);
        self.confine.apply(|| self.session.touched(locations, self.id.is_some(), &self.audit).with_network())?;
        let host = locations.host()?;
        let (server, session) = self.server(locations, &host, listener.is_none() || self.http.ask_clients)?;
        if key.is_none() && oauth.is_none() {
            self.note_ungranted(session.gate());
        }
        let issued = |key| Ok::<_, CliError>(TokenIssuer { key, open: self.opener_of_tokens(locations, &host)? });
        let issuer = key.map(issued).transpose()?;
        let options = self.http.options(oauth.as_ref());
        let oauth = oauth.map(|oauth| self.protected(locations, &host, oauth)).transpose()?;
        self.confine.isolate_but(&session, oauth.as_ref().and_then(ProtectedResource::port))?;
        let stopper = stopper();
        let served = match listener {
            None => serve_stdio(&server, &stopper, explain_stdio),
            Some(listener) => {
                note_listening(&listener);
                serve_http(&server, listener, options, HttpAccess { issuer, oauth, approvers }, &stopper)
            }
        };
        ended(served)
    }

    /// Begins what has to come before the process is confined.
    fn begin(&mut self, locations: &Locations) -> Result<()> {
        self.word_remedies();
        self.own.read_secrets()?;
        self.own.on_suspended = self.notify.start_for(self.id.as_ref(), locations)?;
        self.session.start_lasting_servers(locations, &self.own, self.confine)?;
        self.audit.read_key()
    }

    /// Opens the default session, and creates the server; `may_ask` if a user of a client may be asked.
    fn server(&self, locations: &Locations, host: &Host, may_ask: bool) -> Result<(Server, Session)> {
        let ask_client = self.own.asks() && may_ask;
        // Servers are told when they start, and that is before a client says whether it can ask.
        self.session.relay().set_asks(self.proxy && ask_client);
        let root = self.root(locations, host)?;
        let session = root.session.clone();
        let options = ServerOptions {
            root,
            exposed: self.expose.clone(),
            is_gateway: self.proxy,
            text_limit: self.max_text.map_or(if self.proxy { usize::MAX } else { MAX_TEXT }, NonZeroUsize::get),
            ask_client,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            relay: self.session.relay().clone(),
            waiting: self.http.waiting.clone().unwrap_or_default(),
        };
        Ok((Server::new(options).map_err(|error| unexposed(&error))?, session))
    }

    /// Has errors say what to do in words for the agent of this server.
    fn word_remedies(&self) {
        if self.proxy {
            set_remedy_wording(&GatewayWording);
        } else {
            set_remedy_wording(&ServerWording);
        }
    }

    /// Returns what opens the sessions of tokens: in memory, with the tools, servers, files, limits and log of this command,
    /// and no grants but the token's.
    fn opener_of_tokens(&self, locations: &Locations, host: &Host) -> Result<OpenSession> {
        let prepared = self.session.prepare(locations, &self.own, &self.audit)?;
        let own = &prepared.policy;
        if !own.grants.is_empty() || !own.permissions.is_empty() {
            return Err(CliError::usage("`--issuer`: the policy has `[[grant]]` or `[tool.…]`, which no client would have")
                .hint("seal them into tokens (`tollhouse policy seal`); the policy says what is mounted: `[tools]`, `[mcp.…]`, limits"));
        }
        let (host, waiting) = (host.clone(), self.http.waiting.clone());
        Ok(Box::new(move |client, mut policy: Policy| {
            // The issuer decides what may be called; it does not decide how many resources of this machine that takes.
            policy.limits = policy.limits.at_most(&prepared.policy.limits);
            prepared.session_with(&host, policy, approver_of(waiting.as_ref(), client))
        }))
    }

    /// Returns what opens the sessions of subjects: in memory, with the tools, servers, files, permissions, limits and log of
    /// this command, and no grants but those of their scopes.
    fn opener_of_subjects(&self, locations: &Locations, host: &Host) -> Result<OpenSession> {
        let prepared = self.session.prepare(locations, &self.own, &self.audit)?;
        if !prepared.policy.grants.is_empty() {
            return Err(CliError::usage("`--oauth`: the policy has `[[grant]]`, which no client would have")
                .hint("put them into the policies of scopes (`[scopes]`); the policy says what is mounted"));
        }
        let (host, waiting) = (host.clone(), self.http.waiting.clone());
        Ok(Box::new(move |client, mut policy: Policy| {
            policy.limits = prepared.policy.limits.clone();
            policy.permissions = prepared.policy.permissions.clone();
            prepared.session_with(&host, policy, approver_of(waiting.as_ref(), client))
        }))
    }

    /// Returns what judges access tokens, and opens the sessions of their subjects.
    fn protected(&self, locations: &Locations, host: &Host, oauth: OAuthConfiguration) -> Result<ProtectedResource> {
        let open = self.opener_of_subjects(locations, host)?;
        ProtectedResource::new(oauth.tokens, open).map_err(|error| unaccepted(&error))
    }

    /// Returns the sessions of subjects with the grants of these scopes.
    fn subjects(
        &self,
        locations: &Locations,
        host: &Host,
        scopes: BTreeMap<String, Vec<Grant>>,
    ) -> Result<SubjectSessions> {
        Ok(SubjectSessions::new(scopes, self.opener_of_subjects(locations, host)?))
    }

    /// Notes what the options offer in vain: clients see granted tools only.
    fn note_ungranted(&self, gate: &Gate) {
        let granted: Vec<String> = gate
            .tools()
            .iter()
            .filter(|tool| gate.grants(tool.method()))
            .map(|tool| tool.method().to_owned())
            .collect();
        for exposed in &self.expose {
            let prefix = exposed.replace('.', "/");
            let is_below = |method: &String| {
                method.strip_prefix(&prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            if !granted.iter().any(is_below) {
                note!("note: `--expose {exposed}`: it is not granted, so no client sees it");
            }
        }
        if self.proxy && granted.is_empty() {
            note!(
                "note: no mounted tool is granted: the gateway offers nothing (`--allow`, or `[[grant]]` in a policy)"
            );
        }
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
        let sessions = if on_disk { locations.new_sessions()? } else { Sessions::in_memory() };
        let id = self.id.clone().unwrap_or_else(|| NAME.parse().expect("it is a session's name"));
        let opening = OpenParams {
            own: &self.own,
            audit: &self.audit,
            approver: Some(Arc::clone(&approver) as _),
            waiting: waiting(&id),
            limits: None,
            files: None,
            is_named: false,
            must_create: false,
        };
        let session = self.session.open_kept(locations, host, &sessions, &id, opening)?;
        let (open, has_approvers) = (self.opener(host, &sessions)?, self.http.approvers.is_some());
        Ok(RootSession { session, approver, stored: Some(StoredRoot { sessions, id, on_disk, has_approvers, open }) })
    }

    /// Returns the callback that opens forks of the default session: with its policy, and with this command's limits,
    /// secrets and log.
    fn opener(&self, host: &Host, sessions: &Sessions) -> Result<OpenOther> {
        let (host, sessions) = (host.clone(), sessions.clone());
        let (limits, secrets, audit) = (self.own.limits(), self.own.values.clone(), self.audit.open()?);
        let (mcp, on_suspended) = (self.session.mcp_calls(), self.own.on_suspended.clone());
        Ok(Arc::new(move |id, approver, waiting| {
            let options = OpenOptions {
                limits: limits.clone(),
                secrets: secrets.clone(),
                audit: audit.clone(),
                approver: Some(approver),
                waiting: Some(waiting),
                mcp: mcp.clone(),
                on_suspended: on_suspended.clone(),
                ..OpenOptions::default()
            };
            host.open(&sessions, id, options)
        }))
    }
}

/// Returns the approver of a client with a token: its calls wait if somebody decides about them, else they are refused.
fn approver_of(waiting: Option<&WaitingCalls>, client: &TokenClient) -> Arc<dyn Approver> {
    match waiting {
        Some(waiting) => waiting.approver(client.clone()),
        None => Arc::<DeferringApprover>::default(),
    }
}

/// Returns what ends the server at the first signal.
fn stopper() -> Stopper {
    let stopper = Stopper::default();
    let signalled = stopper.clone();
    signals::on_first(move || signalled.stop());
    stopper
}

/// Says where clients reach the server.
fn note_listening(listener: &TcpListener) {
    if let Ok(address) = listener.local_addr() {
        note!("listening on http://{address}/mcp");
    }
}

/// Returns the exit status of a server that has ended.
fn ended(served: std::result::Result<(), ServeError>) -> Result {
    served.map_err(|error| unserved(&error))?;
    Ok(Exit::from(if signals::received() > 0 { signals::CANCELLED } else { 0 }))
}

/// Says why no access token could be accepted.
fn unaccepted(error: &OAuthError) -> CliError {
    let told = CliError::because("`--oauth`: no token could be accepted", error);
    match error {
        OAuthError::Keys(_) => told
            .status(USAGE)
            .hint("`jwks` is a file or the address of a JSON Web Key Set; without it, the issuer's metadata names one"),
        OAuthError::Scope { .. } => {
            told.status(USAGE).hint("a scope must ask for approval where another one with the same methods does")
        }
        _ => told.status(USAGE),
    }
}

/// Tells somebody who types what this is.
fn explain_stdio() {
    note!(
        "this is an MCP server: it reads messages of JSON-RPC, one a line, that an MCP client sends. `docs/mcp.md` has the configuration of clients; `tollhouse run` runs a script"
    );
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
