//! A process for each client, so that whoever escapes from the sandbox finds no other client.
//!
//! ```text
//! clients ──HTTP──▶ front ──a connection for each request──▶ worker of a client: its scripts, files, tools, servers
//!                     └──"start one"──▶ starter ──starts, waits for, kills──▶ ┘
//! ```
//!
//! - `front`: who sent a request, and its limits; `relay`: the request, and the answer of its client's worker;
//! - `table`: workers by client, and what is known of those that ended; `process`: a worker, as the front process sees it;
//! - `starter`: the process that starts workers; `words`: what these say on standard error;
//! - `receiver`: the worker's side: connections that it is handed, each with its client;
//! - `session_names`: names of protocol sessions; `descriptors`: connections as messages.
//!
//! **Invariant:** the front process runs nothing, opens no session and starts no process. A worker answers the request of a
//! connection that it was handed, and reaches nothing else of the front process: not even the token of its client.
//!
//! **Invariant:** what was spent is never forgotten. A client with budgets whose worker ends before its tokens do is refused
//! from then on.

mod descriptors;
mod front;
mod process;
mod receiver;
mod relay;
mod session_names;
mod starter;
mod table;
#[cfg(test)]
mod tests;
mod words;

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tollhouse::token::BlockInspection;

use self::front::Front;
use self::receiver::{HandedConnections, read_client};
use self::session_names::SessionNames;
use self::table::WorkerTable;
use super::clients::HttpClients;
use super::connections::{Connections, Shared, serve_requests};
use super::oauth::{Identity, SubjectSessions};
use super::{AcceptedTokens, HttpOptions, OpenSession, block_on};
use crate::server::Server;
use crate::stdio::{GRACE, ServeError, Stopper};

pub use self::starter::start_workers;

/// Time that a worker has to end after it was told to: its runs have ten seconds, and its answers some more.
const LINGER: Duration = GRACE.saturating_add(Duration::from_secs(4));

/// Most connections of a worker at a time: calls, and streams of its protocol sessions.
const MAX_OF_WORKER: usize = 128;

/// Client that the front process has admitted, as its worker is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum AdmittedClient {
    /// Holder of a sealed token with these blocks, which were verified.
    Sealed(Vec<BlockInspection>),
    /// Subject of an access token.
    Subject(Identity),
}

/// Limits on workers.
#[derive(Clone, Copy, Debug)]
pub struct WorkerLimits {
    /// Most workers at a time.
    pub most: usize,
    /// Time without requests after which a worker ends whose client has no budgets.
    pub idle: Duration,
}

/// Sessions that a worker can open for its client.
#[derive(Default)]
pub struct WorkerSessions {
    /// Opens the session of a sealed token.
    pub sealed: Option<OpenSession>,
    /// Sessions of the subjects of access tokens.
    pub subjects: Option<SubjectSessions>,
}

/// Serves clients until `stop` is called: each request is answered by the worker of its client, which the process at the
/// other end of `starter` starts.
///
/// # Errors
/// If the server cannot start, or the process that starts workers ends.
pub fn serve_front(
    listener: std::net::TcpListener,
    options: &HttpOptions,
    tokens: AcceptedTokens,
    limits: WorkerLimits,
    starter: OwnedFd,
    stop: &Stopper,
) -> Result<(), ServeError> {
    block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let names = SessionNames::new().ok_or_else(|| io::Error::other("the system has no random numbers"))?;
        let workers = Arc::new(WorkerTable::new(starter, limits)?);
        let tidying = tokio::spawn(Arc::clone(&workers).tidy_regularly());
        let connections = Connections::new(options.max_connections);
        let front = Arc::new(Front::new(tokens, options, names, Arc::clone(&workers)));
        let converse = |stream, connection| {
            let (front, closing) = (Arc::clone(&front), connections.closing.clone());
            serve_requests(stream, connection, closing, move |request, in_progress| {
                let front = Arc::clone(&front);
                async move { front.answer(request, in_progress).await }
            })
        };
        let served = tokio::select! {
            () = connections.accept(listener, &stop.0, converse, async || ()) => Ok(()),
            // Workers end with it. Whoever watches this process can start it again.
            ended = workers.starter_end() => Err(ended.map_or_else(ServeError::Start, |()| ServeError::Starter)),
        };
        tidying.abort();
        // They answer what they were asked.
        workers.end().await;
        connections.close(&tokio_util::sync::CancellationToken::new()).await;
        workers.leave_starter().await;
        served
    })
}

/// Serves, as a worker, the connections that the front process hands over by a socket, until that is closed or `stop` is
/// called. `port` is the one at which clients reach the front process.
///
/// # Errors
/// If the server cannot start.
pub fn serve_worker(
    server: &Server,
    handed: OwnedFd,
    sessions: WorkerSessions,
    options: HttpOptions,
    port: u16,
    stop: &Stopper,
) -> Result<(), ServeError> {
    block_on(async {
        let handed = HandedConnections::new(handed)?;
        server.0.runs.leave_undivided();
        let connections = Connections::new(options.max_connections.max(MAX_OF_WORKER));
        let WorkerSessions { sealed, subjects } = sessions;
        let clients = HttpClients::new(server.clone(), AcceptedTokens::default(), sealed, subjects, None);
        let shared = Arc::new(Shared::new(server, clients, options, port));
        let converse = |mut stream, connection| {
            let (shared, closing) = (Arc::clone(&shared), connections.closing.clone());
            async move {
                // A connection that begins otherwise is not of the front process, and there are no others.
                let Ok(client) = read_client(&mut stream).await else { return };
                let client = Arc::new(client);
                let respond = move |request, in_progress| {
                    let (shared, client) = (Arc::clone(&shared), Arc::clone(&client));
                    async move { shared.answer(request, in_progress, Some(client)).await }
                };
                serve_requests(stream, connection, closing, respond).await;
            }
        };
        connections.accept(handed, &stop.0, converse, async || shared.tidy().await).await;
        shared.end(server, &connections).await;
        Ok(())
    })
}
