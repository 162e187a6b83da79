//! Client of MCP servers whose tools are mounted in sessions.
//!
//! Everything that a server sends is hostile:
//! - `transport` bounds what is read of it: the length of a message, the memory of its values, and the rate of messages
//!   that nobody asked for;
//! - `late_discovery` is about servers that take long to start;
//! - `requests` refuses what a server asks for: sampling and roots, and questions for the user unless a gateway has one;
//! - `relay` hands log messages, progress and questions on to the client of a gateway;
//! - `connection` bounds how long it may take, and how many tools it may list, and compares those with the pinned ones;
//! - `results` converts results, and errors of the server, to those of a tool.
//!
//! Values of secrets are replaced in all of it, and a definition that contains one is refused: it would be pinned.
//!
//! Descriptions come to a model as documentation of tools, once they are pinned. Instructions of a server come to nobody.
//!
//! `slot` connects with servers while clients are served, and again when one has ended.
//!
//! `program` starts the programs of servers that the operator has named; `connection` takes the pipes of any program.
//! `remote` is what such a program is for a server at a URL; `login` is the operator's login there.

mod connection;
mod late_discovery;
mod login;
mod program;
mod relay;
mod remote;
mod requests;
mod results;
mod slot;
mod transport;
mod unreadable_answer;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use tokio::runtime::Builder;
use tollhouse::error::{Failure, Payload};
use tollhouse::gate::{Audit, Event};
use tollhouse::tool::{HostCall, McpCalls, SecretUse, Secrets, not_started};

use self::connection::{ClientThreads, OnChange};

pub(crate) use self::relay::{RelayedCall, ServerMessage};
pub(crate) use self::remote::{RemoteError, fetch_document};
pub(crate) use self::results::blocks;

pub use self::connection::{ConnectError, LastWords, ServerConnection, ServerPipes};
pub use self::login::{LoginError, LoginPage, LoginPlace, LoginSession, SignIn, SignInError, sign_in};
pub use self::program::{SERVER_VARIABLE, ServerLauncher, StartError, StartedServer};
pub use self::relay::MessageRelay;
pub use self::remote::{RelayError, relay_stdio};
pub use self::slot::{OnFailure, ServerSlot};

/// Connections to the MCP servers of a session. They end when this is dropped.
pub struct McpClient {
    servers: BTreeMap<String, ServerConnection>,
    threads: Arc<ClientThreads>,
    slots: BTreeMap<String, ServerSlot>,
    relay: MessageRelay,
    on_change: OnChange,
    secrets: Secrets,
    /// Log of the uses of secrets.
    audit: Option<Arc<dyn Audit>>,
}

impl McpClient {
    /// Starts the thread of the connections.
    ///
    /// # Errors
    /// If the system has no thread left.
    pub fn new() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("tollhouse-mcp")
            .enable_io()
            .enable_time()
            .build()?;
        Ok(Self {
            servers: BTreeMap::new(),
            slots: BTreeMap::new(),
            threads: Arc::new(ClientThreads::new(runtime)),
            relay: MessageRelay::default(),
            on_change: Arc::new(|_, _| {}),
            secrets: Secrets::default(),
            audit: None,
        })
    }

    /// Hands messages of servers on that are connected with from now on.
    #[must_use]
    pub fn relaying(self, relay: MessageRelay) -> Self {
        Self { relay, ..self }
    }

    /// Has changes of tools told while sessions call them: the name of a server, and the difference from the pinned
    /// definitions, which are words of a stranger. Scripts are told which tools have changed.
    #[must_use]
    pub fn telling_changes(self, on_change: impl Fn(&str, &str) + Send + Sync + 'static) -> Self {
        Self { on_change: Arc::new(on_change), ..self }
    }

    /// Replaces the values of these secrets in everything that servers send besides results, which sessions replace
    /// them in: messages for the user, and reasons why a server cannot be used. A server whose definitions contain one
    /// is not used.
    #[must_use]
    pub fn withholding(self, secrets: Secrets) -> Self {
        Self { secrets, ..self }
    }

    /// Logs each use of a secret by a server that starts from now on.
    #[must_use]
    pub fn recording(self, audit: Option<Arc<dyn Audit>>) -> Self {
        Self { audit, ..self }
    }

    /// Logs that a server is given these secrets, before it starts.
    pub(super) fn record_use(&self, server: &str, secrets: &[SecretUse]) -> Result<(), ConnectError> {
        let Some(audit) = self.audit.as_ref().filter(|_| !secrets.is_empty()) else { return Ok(()) };
        let uses = secrets.iter().try_for_each(|used| {
            let (secret, to) = (&*used.secret, used.to.as_deref());
            audit.write(&Event::SecretUsed { run: 0, seq: 0, secret, tool: server, to })
        });
        uses.and_then(|()| audit.sync()).map_err(ConnectError::Unrecorded)
    }

    /// Connects with a server.
    ///
    /// # Errors
    /// If it does not speak the protocol, does not answer in time, or lists no usable tools.
    pub fn connect(&self, name: &str, pipes: ServerPipes) -> Result<ServerConnection, ConnectError> {
        let (threads, on_change) = (Arc::clone(&self.threads), Arc::clone(&self.on_change));
        ServerConnection::new(threads, name, pipes, &self.relay, on_change, &self.secrets)
    }

    /// Adds a connection, whose tools sessions then call.
    #[must_use]
    pub fn with(mut self, connection: ServerConnection) -> Self {
        self.servers.insert(connection.name().to_owned(), connection);
        self
    }

    /// Adds a server whose connection may come later.
    #[must_use]
    pub fn with_slot(mut self, slot: ServerSlot) -> Self {
        self.slots.insert(slot.name().to_owned(), slot);
        self
    }
}

impl McpCalls for McpClient {
    fn call(&self, server: &str, tool: &str, call: &HostCall<'_>) -> Result<Payload, Failure> {
        if let Some(slot) = self.slots.get(server) {
            return slot.call(tool, call);
        }
        self.servers.get(server).ok_or_else(|| not_started(server))?.call(tool, call)
    }

    fn unavailability(&self, server: &str) -> Option<Failure> {
        if let Some(slot) = self.slots.get(server) {
            return slot.unavailability();
        }
        match self.servers.get(server) {
            Some(connection) => connection.has_ended().then(|| connection.gone()),
            None => Some(not_started(server)),
        }
    }

    fn secrets(&self, server: &str) -> Vec<SecretUse> {
        let of_slot = self.slots.get(server).map(ServerSlot::secrets);
        of_slot.or_else(|| Some(self.servers.get(server)?.secrets())).unwrap_or_default().to_vec()
    }
}
