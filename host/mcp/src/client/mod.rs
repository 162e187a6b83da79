//! Client of MCP servers whose tools are mounted in sessions.
//!
//! Everything that a server sends is hostile:
//! - `transport` bounds what is read of it: the length of a message, the memory of its values, and the rate of messages
//!   that nobody asked for;
//! - `requests` refuses what a server asks for: sampling and roots, and questions for the user unless a gateway has one;
//! - `relay` hands log messages, progress and questions on to the client of a gateway;
//! - `connection` bounds how long it may take, and how many tools it may list, and compares those with the pinned ones;
//! - `results` converts results, and errors of the server, to those of a tool.
//!
//! Descriptions come to a model as documentation of tools, once they are pinned. Instructions of a server come to nobody.
//!
//! `slot` connects with servers while clients are served, and again when one has ended.
//!
//! `program` starts the programs of servers that the operator has named; `connection` takes the pipes of any program.
//! `remote` is what such a program is for a server at a URL.

mod connection;
mod program;
mod relay;
mod remote;
mod requests;
mod results;
mod slot;
mod transport;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use tokio::runtime::Builder;
use tollhouse::error::{Failure, Payload};
use tollhouse::tool::{HostCall, McpCalls, not_started};

use self::connection::{ClientThreads, OnChange};

pub(crate) use self::relay::{RelayedCall, ServerMessage};
pub(crate) use self::remote::{RemoteError, fetch_document};
pub(crate) use self::results::blocks;

pub use self::connection::{ConnectError, LastWords, ServerConnection, ServerPipes};
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

    /// Connects with a server.
    ///
    /// # Errors
    /// If it does not speak the protocol, does not answer in time, or lists no usable tools.
    pub fn connect(&self, name: &str, pipes: ServerPipes) -> Result<ServerConnection, ConnectError> {
        ServerConnection::new(Arc::clone(&self.threads), name, pipes, &self.relay, Arc::clone(&self.on_change))
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
}
