//! The server of many clients, by streamable HTTP.
//!
//! - `connections`: the listener, and requests; `open_connections`, `request_places`: limits on both; `refusals`: requests that are
//!   read and refused;
//! - `workers`: a process for each client;
//! - `cors`: answers for web pages of named origins;
//! - `clients`: which sessions a request reaches: those of its token, or of its protocol session;
//! - `approvers`: clients that decide about calls of others;
//! - `protocol_sessions`: owners of protocol sessions, and limits; `opened_once`: values that are opened once;
//! - `oauth`: access tokens of an authorization server.
//!
//! Without an issuer of tokens the server binds loopback addresses only. With one, each request has a token of that
//! issuer (`Authorization: Bearer`), and the client has what its token grants, or what the operator's configuration gives
//! its scopes. Requests of web pages are refused unless
//! their origin is named, and so are requests for another host than the server's.

mod approvers;
mod clients;
mod connections;
mod cors;
mod oauth;
mod open_connections;
mod opened_once;
mod protocol_sessions;
mod refusals;
mod request_places;
mod workers;

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs as _};
use std::sync::Arc;

use rmcp::model::Extensions;
use tokio::runtime::Builder;
use tollhouse::capability::Policy;
use tollhouse::code::processor_count;
use tollhouse::session::{HostError, Session};
use tollhouse::token::{PublicKey, RevocationList};

pub use self::approvers::ApproverIssuer;
pub use self::oauth::{
    AccessTokenJudge, Algorithm, KeySetError, KeySource, KeysError, OAuthError, OAuthOptions, ProtectedResource,
    SubjectSessions,
};
pub use self::workers::{WorkerLimits, WorkerSessions, serve_front, serve_worker, start_workers};

pub(crate) use self::approvers::ApproverIdentity;

use self::clients::{ClientOfRequest, HttpClients};
use crate::server::Server;
use crate::sessions::ClientSessions;
use crate::stdio::{ServeError, Stopper};
use crate::waiting_calls::TokenClient;

/// Time after which a connection ends whose client does not read what it is sent, in milliseconds.
#[cfg(target_os = "linux")]
const UNREAD: u32 = 30_000;

/// Path of the endpoint.
pub(crate) const PATH: &str = "/mcp";

/// Reason why the server does not listen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// The text is not an address.
    #[error("`{0}` is not an address: write HOST:PORT, for example 127.0.0.1:8080")]
    Address(String),
    /// Others could reach the server, and nothing authenticates them.
    #[error("`{0}` is not a loopback address, and no tokens are asked for")]
    Open(SocketAddr),
    /// The address cannot be used.
    #[error("cannot listen on {address}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Error of the system.
        #[source]
        source: io::Error,
    },
}

/// Opens a session in memory of a client, with a policy.
pub type OpenSession = Box<dyn Fn(&TokenClient, Policy) -> Result<Session, HostError> + Send + Sync>;

/// Key that verifies sealed tokens.
pub struct TokenKey {
    /// Public key of the issuer.
    pub key: PublicKey,
    /// Tokens that are not accepted any more.
    pub revoked: RevocationList,
}

/// Issuer of the sealed tokens that clients have.
pub struct TokenIssuer {
    /// Key of the issuer.
    pub key: TokenKey,
    /// Opens the session of a token.
    pub open: OpenSession,
}

/// Tokens by which a server knows its clients.
#[derive(Default)]
pub struct AcceptedTokens {
    /// Key that verifies sealed tokens.
    pub issuer: Option<TokenKey>,
    /// Judge of access tokens.
    pub oauth: Option<AccessTokenJudge>,
}

/// Clients of a server. With neither kind of tokens, whoever can connect is the operator.
#[derive(Default)]
pub struct HttpAccess {
    /// Issuer of sealed tokens, one of which clients must have, or an access token.
    pub issuer: Option<TokenIssuer>,
    /// Protected resource, for clients with access tokens.
    pub oauth: Option<ProtectedResource>,
    /// Issuer of the tokens of clients that decide about calls of the others, and do nothing else.
    pub approvers: Option<ApproverIssuer>,
}

/// Options of the HTTP server.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Names of this host that requests may have besides those of loopback, each with or without a port.
    pub hosts: Vec<String>,
    /// Origins of web pages that may send requests.
    pub origins: Vec<String>,
    /// Most connections at a time, of which a client has a part. One that answers no request gives way to a new one.
    pub max_connections: usize,
    /// Most bytes of a request.
    pub max_body: usize,
}

/// Binds a listener, before the process is confined.
///
/// # Errors
/// If the address cannot be used, or is not a loopback address although no tokens are asked for.
pub fn bind(address: &str, asks_tokens: bool) -> Result<TcpListener, ListenError> {
    let unknown = || ListenError::Address(address.to_owned());
    let all: Vec<SocketAddr> = address.to_socket_addrs().map_err(|_| unknown())?.collect();
    if let Some(open) = all.iter().find(|address| !is_loopback(address.ip()) && !asks_tokens) {
        return Err(ListenError::Open(*open));
    }
    let first = *all.first().ok_or_else(unknown)?;
    let failed = |source| ListenError::Bind { address: first, source };
    let listener = TcpListener::bind(first).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    // Connections inherit it. Behind the second wall it could not be set.
    let set = |result: rustix::io::Result<()>| result.map_err(|error| failed(error.into()));
    set(rustix::net::sockopt::set_tcp_nodelay(&listener, true))?;
    // A client that sends requests and reads no answers would keep its connection.
    #[cfg(target_os = "linux")]
    set(rustix::net::sockopt::set_tcp_user_timeout(&listener, UNREAD))?;
    Ok(listener)
}

fn is_loopback(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

/// Serves clients until `stop` is called. Active runs are cancelled then.
///
/// # Errors
/// If the server cannot start.
pub fn serve_http(
    server: &Server,
    listener: TcpListener,
    options: HttpOptions,
    access: HttpAccess,
    stop: &Stopper,
) -> Result<(), ServeError> {
    block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let port = listener.local_addr()?.port();
        let HttpAccess { issuer, oauth, approvers } = access;
        let (key, open) = issuer.map(|issuer| (issuer.key, issuer.open)).unzip();
        let (oauth, subjects) = oauth.map(|oauth| (oauth.judge, oauth.subjects)).unzip();
        let accepted = AcceptedTokens { issuer: key, oauth };
        let clients = HttpClients::new(server.clone(), accepted, open, subjects, approvers);
        connections::serve(server, listener, clients, options, port, &stop.0).await;
        Ok(())
    })
}

/// Does something on threads of its own.
fn block_on(work: impl Future<Output = Result<(), ServeError>>) -> Result<(), ServeError> {
    let runtime = Builder::new_multi_thread().worker_threads(processor_count()).enable_all().build()?;
    let done = runtime.block_on(work);
    runtime.shutdown_background();
    done
}

/// Returns the sessions that a request reaches.
pub(crate) fn client_of(extensions: &Extensions) -> Option<Arc<ClientSessions>> {
    let parts = extensions.get::<http::request::Parts>()?;
    parts.extensions.get::<ClientOfRequest>().map(|client| Arc::clone(&client.0))
}

/// Returns the client that sent a request, if it decides about calls of others.
pub(crate) fn approver_of(extensions: &Extensions) -> Option<ApproverIdentity> {
    extensions.get::<http::request::Parts>()?.extensions.get::<ApproverIdentity>().cloned()
}
