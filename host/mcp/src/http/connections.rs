//! Connections and their requests, within limits.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, HeaderMap};
use http::request::Parts;
use http::{HeaderValue, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::tower::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::clients::{ClientName, ClientOfRequest, HttpClients, Sender, Unauthorized};
use super::cors::{self, NamedOrigins};
use super::oauth::is_jwt;
use super::open_connections::{OpenConnection, OpenConnections, RequestInProgress};
use super::protocol_sessions::Reservation;
use super::refusals::{
    Answer, bearer, check_values, discard, has_token, header, holding, is_initialize, metadata, no_session, read_body,
    refuse, too_many, unauthorized_answer,
};
use super::request_places::{RequestPlace, RequestPlaces};
use super::workers::AdmittedClient;
use super::{HttpOptions, PATH};
use crate::server::{Clients, Connection, Server};
use crate::stdio::GRACE;

/// Header of the protocol session.
pub(super) const SESSION: &str = "mcp-session-id";

/// Header of a worker's answer: no session could be opened in it. It does not reach the client.
pub(super) const NO_SESSION: &str = "tollhouse-no-session";

/// Time for the head of a request, which is also how long a connection may be idle.
const HEAD: Duration = Duration::from_secs(60);

/// Most bytes of a head.
pub(super) const MAX_HEAD: usize = 128 << 10;

/// Time between two looks for clients that have left.
const TIDYING: Duration = Duration::from_secs(30);

/// Pause after the system had no room for a connection.
const PAUSE: Duration = Duration::from_millis(50);

/// Time that answers have to reach their clients once the calls have ended, and that streams have to end once they are
/// told to.
const FAREWELL: Duration = Duration::from_secs(1);

type Service = StreamableHttpService<Connection, LocalSessionManager>;

/// Source of connections.
pub(super) trait ConnectionSource {
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Waits for the next connection; `None` once there are no more.
    async fn accept(&mut self) -> io::Result<Option<Self::Stream>>;
}

impl ConnectionSource for TcpListener {
    type Stream = TcpStream;

    async fn accept(&mut self) -> io::Result<Option<TcpStream>> {
        TcpListener::accept(self).await.map(|(stream, _)| Some(stream))
    }
}

/// Connections of a server, up to a number at a time.
pub(super) struct Connections {
    open: Arc<OpenConnections>,
    /// Cancelled when all calls have ended: connections answer what they have begun to, and end.
    pub(super) closing: CancellationToken,
}

impl Connections {
    pub(super) fn new(most: usize) -> Self {
        Self { open: OpenConnections::new(most), closing: CancellationToken::new() }
    }

    /// Accepts connections until `stop` is cancelled or there are no more, and serves each by `converse`, on a task.
    pub(super) async fn accept<S, C>(
        &self,
        mut source: S,
        stop: &CancellationToken,
        converse: impl Fn(S::Stream, OpenConnection) -> C,
        tidy: impl AsyncFn(),
    ) where
        S: ConnectionSource,
        C: Future<Output = ()> + Send + 'static,
    {
        let mut tidying = tokio::time::interval(TIDYING);
        let mut accepts = true;
        loop {
            tokio::select! {
                accepted = source.accept() => match accepted {
                    Ok(Some(stream)) => {
                        accepts = true;
                        // Of a connection too many, the client sees that it is closed, and nobody waits for it.
                        if let Some(connection) = self.open.add() {
                            tokio::spawn(converse(stream, connection));
                        }
                    }
                    Ok(None) => break,
                    Err(error) => {
                        // Once, and not for each attempt: the next one may be as futile.
                        if std::mem::take(&mut accepts) {
                            warn!(target: "tollhouse::mcp", %error, "the server accepts no connection");
                        }
                        tokio::time::sleep(PAUSE).await;
                    }
                },
                _ = tidying.tick() => tidy().await,
                () = stop.cancelled() => break,
            }
        }
    }

    /// Waits until the connections have answered, and cancels the streams of those that wait for messages.
    pub(super) async fn close(&self, streams: &CancellationToken) {
        self.closing.cancel();
        if tokio::time::timeout(FAREWELL, self.open.end()).await.is_err() {
            // Streams that wait for messages do not end of themselves.
            streams.cancel();
            let _ = tokio::time::timeout(FAREWELL, self.open.end()).await;
        }
    }
}

/// Serves the requests of a connection, until another one takes its place.
pub(super) async fn serve_requests<S, F>(
    stream: S,
    connection: OpenConnection,
    closing: CancellationToken,
    respond: impl Fn(Request<Incoming>, RequestInProgress) -> F,
) where
    S: AsyncRead + AsyncWrite + Unpin,
    F: Future<Output = Answer>,
{
    let displaced = connection.displaced.clone();
    let service = service_fn(move |request| {
        let answer = connection.begin_request().map(|in_progress| respond(request, in_progress));
        async move {
            Ok::<_, Infallible>(match answer {
                Some(answer) => answer.await,
                None => refuse(StatusCode::SERVICE_UNAVAILABLE, "another connection has taken the place of this one"),
            })
        }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(MAX_HEAD);
    let mut served = pin!(builder.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        // Whatever ended the connection: its client has noticed.
        _ = served.as_mut() => {}
        () = displaced.cancelled() => {}
        () = closing.cancelled() => {
            served.as_mut().graceful_shutdown();
            // As above.
            let _ = served.await;
        }
    }
}

/// Request of a client that is known.
struct AdmittedRequest {
    sender: Sender,
    /// Place of the protocol session that the request begins.
    begins: Option<Reservation>,
    body: Bytes,
    /// Place among the requests of all clients; `None` for a client that shares it with nobody.
    place: Option<RequestPlace>,
}

/// What all connections share.
pub(super) struct Shared {
    service: Service,
    sessions: Arc<LocalSessionManager>,
    clients: HttpClients,
    places: RequestPlaces,
    max_body: usize,
    origins: NamedOrigins,
    /// Cancelled when streams that wait for messages are to end.
    streams: CancellationToken,
}

/// Serves connections until the token is cancelled.
pub(super) async fn serve(
    server: &Server,
    listener: TcpListener,
    clients: HttpClients,
    options: HttpOptions,
    port: u16,
    stop: &CancellationToken,
) {
    let connections = Connections::new(options.max_connections);
    let shared = Arc::new(Shared::new(server, clients, options, port));
    let converse = |stream, connection| {
        let (shared, closing) = (Arc::clone(&shared), connections.closing.clone());
        serve_requests(stream, connection, closing, move |request, in_progress| {
            let shared = Arc::clone(&shared);
            async move { shared.answer(request, in_progress, None).await }
        })
    };
    connections.accept(listener, stop, converse, async || shared.tidy().await).await;
    shared.end(server, &connections).await;
}

impl Shared {
    /// Creates what connections share, for clients that reach the server at this port.
    pub(super) fn new(server: &Server, clients: HttpClients, options: HttpOptions, port: u16) -> Self {
        let sessions = Arc::<LocalSessionManager>::default();
        let loopback = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        // A page of this server itself could send requests, and there is none. Clients state such an origin.
        let own = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:{port}"));
        let origins = NamedOrigins::new(&options.origins);
        let streams = CancellationToken::new();
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(loopback.into_iter().chain(options.hosts))
            .with_allowed_origins(own.into_iter().chain(options.origins))
            .enforce_origin_validation()
            .with_max_request_body_bytes(options.max_body)
            .with_cancellation_token(streams.clone());
        let own = server.clone();
        let factory = move || Ok(Connection::new(own.clone(), Clients::OfRequest));
        let service = StreamableHttpService::new(factory, Arc::clone(&sessions), config);
        let places = RequestPlaces::new(options.max_connections);
        Self { service, sessions, clients, places, max_body: options.max_body, origins, streams }
    }

    /// Removes clients that have left.
    pub(super) async fn tidy(self: &Arc<Self>) {
        // Before those that are open: one that begins in between is not known, and not taken for one that has ended.
        let mut ended = self.clients.known();
        for id in self.sessions.sessions.read().await.keys() {
            ended.remove(id.as_ref());
        }
        let shared = Arc::clone(self);
        // Removing a session waits for its run.
        tokio::task::spawn_blocking(move || shared.clients.remove(&ended));
    }

    /// Cancels the calls that are in progress, and closes the connections once these are answered.
    pub(super) async fn end(&self, server: &Server, connections: &Connections) {
        server.end(GRACE).await;
        connections.close(&self.streams).await;
    }

    /// Answers a request, also to a web page whose origin is named. In a worker it is of the client that was admitted.
    pub(super) async fn answer(
        self: &Arc<Self>,
        request: Request<Incoming>,
        in_progress: RequestInProgress,
        admitted: Option<Arc<AdmittedClient>>,
    ) -> Answer {
        let origin = self.origins.of(request.headers()).filter(|_| admitted.is_none());
        let Some(origin) = origin else { return self.answer_client(request, in_progress, admitted).await };
        let (parts, body) = request.into_parts();
        let mut answer = match cors::preflight(&parts) {
            Some(allowed) => allowed,
            None => self.answer_client(Request::from_parts(parts, body), in_progress, admitted).await,
        };
        cors::allow(answer.headers_mut(), origin);
        answer
    }

    async fn answer_client(
        self: &Arc<Self>,
        request: Request<Incoming>,
        in_progress: RequestInProgress,
        admitted: Option<Arc<AdmittedClient>>,
    ) -> Answer {
        let (mut parts, mut body) = request.into_parts();
        if let Some(document) = metadata(self.clients.oauth(), &parts) {
            return document;
        }
        let judged = self.judge(&parts, &mut body, admitted).await;
        let AdmittedRequest { sender, begins, body, place } = match judged {
            Ok(admitted) => admitted,
            Err(refused) => {
                drop(in_progress);
                discard(body).await;
                return refused;
            }
        };
        match sender {
            Sender::Client(client) => drop(parts.extensions.insert(ClientOfRequest(client))),
            // It has no sessions, so that nothing but its own tools can be reached.
            Sender::Approver(approver) => drop(parts.extensions.insert(approver)),
        }
        // Nothing behind this needs the token.
        parts.headers.remove(AUTHORIZATION);
        name_accepted(&mut parts.headers);
        let answer = self.service.handle(Request::from_parts(parts, Full::new(body))).await;
        if let (Some(reservation), Some(id)) = (begins, header(answer.headers(), SESSION)) {
            reservation.begun(&id);
        }
        holding(answer.map(|body| body.map_err(|never| match never {}).boxed_unsync()), (in_progress, place))
    }

    /// Decides who sent a request, and reads its body.
    async fn judge(
        self: &Arc<Self>,
        parts: &Parts,
        body: &mut Incoming,
        admitted: Option<Arc<AdmittedClient>>,
    ) -> Result<AdmittedRequest, Answer> {
        check_path(parts)?;
        let protocol_session = header(&parts.headers, SESSION);
        let is_worker = admitted.is_some();
        let authorized = match admitted {
            Some(client) => self.open_admitted(client).await,
            None => self.authorize(parts, protocol_session.clone()).await,
        };
        let refused = |unauthorized| {
            let mut answer = unauthorized_answer(self.clients.oauth(), unauthorized);
            if is_worker && !self.clients.has_sessions() {
                answer.headers_mut().insert(NO_SESSION, HeaderValue::from_static("true"));
            }
            answer
        };
        let (sender, name) = authorized.map_err(refused)?;
        if protocol_session.as_deref().is_some_and(|id| !self.clients.owns(id, &name)) {
            return Err(no_session());
        }
        // Without tokens all are the operator, and the front process has counted those of a worker.
        let is_counted = !is_worker && self.clients.asks_tokens();
        let place = is_counted.then(|| self.places.take(&name.account).ok_or_else(too_many)).transpose()?;
        let may_begin = protocol_session.is_none() && parts.method == Method::POST;
        let body = read_body(&parts.headers, body, self.max_body).await?;
        if parts.method == Method::POST {
            check_values(&body, self.max_body)?;
        }
        let begins = if may_begin && is_initialize(&body) { Some(self.reserve(&name).await?) } else { None };
        Ok(AdmittedRequest { sender, begins, body, place })
    }

    /// Reserves a place for a protocol session of a client.
    async fn reserve(&self, name: &ClientName) -> Result<Reservation, Answer> {
        let refused = |why| refuse(StatusCode::SERVICE_UNAVAILABLE, why);
        let reservation =
            self.clients.reserve(name).ok_or_else(|| refused("there are too many clients with this token"))?;
        let open = self.sessions.sessions.read().await.len();
        if reservation.has_room(open) { Ok(reservation) } else { Err(refused("there are too many clients")) }
    }

    async fn authorize(
        self: &Arc<Self>,
        parts: &Parts,
        protocol_session: Option<String>,
    ) -> Result<(Sender, ClientName), Unauthorized> {
        if self.clients.asks_tokens() && has_token(parts.uri.query().unwrap_or_default()) {
            return Err(Unauthorized::InAddress);
        }
        let token = bearer(&parts.headers);
        let judged = match (self.clients.oauth(), &token) {
            (Some(oauth), Some(token)) if is_jwt(token) => Some(oauth.judge(token).await?),
            _ => None,
        };
        // A session that no longer exists has no client.
        let protocol_session = match protocol_session {
            Some(id) if self.sessions.sessions.read().await.contains_key(id.as_str()) => Some(id),
            _ => None,
        };
        let shared = Arc::clone(self);
        let authorized = tokio::task::spawn_blocking(move || {
            shared.clients.authorize(judged.as_ref(), token.as_deref(), protocol_session.as_deref())
        });
        authorized.await.unwrap_or_else(|error| Err(Unauthorized::Unavailable(error.to_string())))
    }

    /// Opens the sessions of a client that the front process has admitted.
    async fn open_admitted(
        self: &Arc<Self>,
        client: Arc<AdmittedClient>,
    ) -> Result<(Sender, ClientName), Unauthorized> {
        let shared = Arc::clone(self);
        let opened = tokio::task::spawn_blocking(move || shared.clients.admitted(&client));
        let opened = opened.await.unwrap_or_else(|error| Err(Unauthorized::Unavailable(error.to_string())));
        opened.map(|(client, name)| (Sender::Client(client), name))
    }
}

/// Checks that a request is for the endpoint.
pub(super) fn check_path(parts: &Parts) -> Result<(), Answer> {
    if parts.uri.path() == PATH {
        return Ok(());
    }
    Err(refuse(StatusCode::NOT_FOUND, &format!("the endpoint is {PATH}")))
}

/// Names the content types of the protocol for a client that accepts any, as curl does: the protocol wants both named.
fn name_accepted(headers: &mut HeaderMap) {
    let is_any = |range: &str| range.split(';').next().is_some_and(|kind| kind.trim() == "*/*");
    let takes_any = |value: &HeaderValue| value.to_str().is_ok_and(|value| value.split(',').any(is_any));
    if headers.get_all(ACCEPT).iter().any(takes_any) {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    }
}
