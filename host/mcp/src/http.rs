//! The server of many clients, by streamable HTTP.
//!
//! - `connections`: the listener, and limits on connections and requests;
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
mod opened_once;
mod protocol_sessions;

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs as _};
use std::sync::Arc;

use rmcp::model::Extensions;
use tokio::runtime::Builder;
use tollhouse::capability::Policy;
use tollhouse::session::{HostError, Session};
use tollhouse::token::{PublicKey, RevocationList};

pub use self::approvers::ApproverIssuer;
pub use self::oauth::{Algorithm, KeySetError, KeySource, KeysError, OAuthError, OAuthOptions, ProtectedResource};

pub(crate) use self::approvers::ApproverIdentity;

use self::clients::ClientOfRequest;
use crate::server::Server;
use crate::sessions::ClientSessions;
use crate::stdio::{ServeError, Stopper};

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

/// Issuer of the tokens that clients have.
pub struct TokenIssuer {
    /// Public key of the issuer.
    pub key: PublicKey,
    /// Tokens that are not accepted any more.
    pub revoked: RevocationList,
    /// Opens a session in memory with a policy.
    pub open: Box<dyn Fn(Policy) -> Result<Session, HostError> + Send + Sync>,
}

/// Options of the HTTP server.
pub struct HttpOptions {
    /// Names of this host that requests may have besides those of loopback, each with or without a port.
    pub hosts: Vec<String>,
    /// Origins of web pages that may send requests.
    pub origins: Vec<String>,
    /// Issuer of sealed tokens, one of which clients must have, or an access token.
    pub issuer: Option<TokenIssuer>,
    /// Protected resource, for clients with access tokens. With neither, whoever can connect is the operator.
    pub oauth: Option<ProtectedResource>,
    /// Issuer of the tokens of clients that decide about calls of the others, and do nothing else.
    pub approvers: Option<ApproverIssuer>,
    /// Most connections at a time. More are closed at once.
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
    stop: &Stopper,
) -> Result<(), ServeError> {
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(ServeError::Start)?;
    let served = runtime.block_on(connections::serve(server, listener, options, stop.0.clone()));
    runtime.shutdown_background();
    served.map_err(ServeError::Start)
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
