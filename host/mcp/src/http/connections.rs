//! The listener, and limits on connections and requests.

use std::borrow::Cow;
use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::tower::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::clients::{ClientOfRequest, HttpClients, Sender, Unauthorized};
use super::cors::{self, NamedOrigins};
use super::oauth::is_jwt;
use super::protocol_sessions::Reservation;
use super::{HttpOptions, PATH};
use crate::server::{Clients, Connection, Server};
use crate::stdio::GRACE;

/// Header of the protocol session.
const SESSION: &str = "mcp-session-id";

/// Time for the head of a request, which is also how long a connection may be idle.
const HEAD: Duration = Duration::from_secs(60);

/// Time for the body of a request.
const BODY: Duration = Duration::from_secs(30);

/// Most bytes of a head.
const MAX_HEAD: usize = 128 << 10;

/// Most bytes of a refused body that are read, and the longest time for that.
const MAX_DISCARDED: usize = 8 << 20;
const DISCARDING: Duration = Duration::from_secs(2);

/// Time between two looks for clients that have left.
const TIDYING: Duration = Duration::from_secs(30);

/// Pause after the system had no room for a connection.
const PAUSE: Duration = Duration::from_millis(50);

/// Time that answers have to reach their clients once the calls have ended, and that streams have to end once they are
/// told to.
const FAREWELL: Duration = Duration::from_secs(1);

type Service = StreamableHttpService<Connection, LocalSessionManager>;
type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Request of a client that is known.
struct Admitted {
    sender: Sender,
    /// Place of the protocol session that the request begins.
    begins: Option<Reservation>,
    body: Bytes,
}

/// What all connections share.
struct Shared {
    service: Service,
    sessions: Arc<LocalSessionManager>,
    clients: HttpClients,
    max_body: usize,
    origins: NamedOrigins,
    /// Cancelled when all calls have ended: connections answer what they have begun to, and end.
    closing: CancellationToken,
}

/// Serves connections until the token is cancelled.
pub(super) async fn serve(
    server: &Server,
    listener: std::net::TcpListener,
    options: HttpOptions,
    stop: CancellationToken,
) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    let port = listener.local_addr()?.port();
    let most = options.max_connections;
    let permits = Arc::new(Semaphore::new(most));
    let streams = CancellationToken::new();
    let shared = Arc::new(Shared::new(server, options, port, streams.clone()));
    let mut tidying = tokio::time::interval(TIDYING);
    let mut accepts = true;
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    accepts = true;
                    // Of a connection too many, the client sees that it is closed, and nobody waits for it.
                    if let Ok(permit) = Arc::clone(&permits).try_acquire_owned() {
                        let shared = Arc::clone(&shared);
                        tokio::spawn(async move {
                            connection(stream, shared).await;
                            drop(permit);
                        });
                    }
                }
                Err(error) => {
                    // Once, and not for each attempt: the next one may be as futile.
                    if std::mem::take(&mut accepts) {
                        warn!(target: "tollhouse::mcp", %error, "the server accepts no connection");
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            },
            _ = tidying.tick() => shared.tidy().await,
            () = stop.cancelled() => break,
        }
    }
    drop(listener);
    server.end(GRACE).await;
    shared.closing.cancel();
    let all = || permits.acquire_many(u32::try_from(most).unwrap_or(u32::MAX));
    if tokio::time::timeout(FAREWELL, all()).await.is_err() {
        // Streams that wait for messages do not end of themselves.
        streams.cancel();
        let _ = tokio::time::timeout(FAREWELL, all()).await;
    }
    Ok(())
}

/// Serves the requests of a connection.
async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    let closing = shared.closing.clone();
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(shared.answer(request).await) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(MAX_HEAD);
    let mut served = pin!(builder.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        // Whatever ended the connection: its client has noticed.
        _ = served.as_mut() => {}
        () = closing.cancelled() => {
            served.as_mut().graceful_shutdown();
            // As above.
            let _ = served.await;
        }
    }
}

impl Shared {
    fn new(server: &Server, options: HttpOptions, port: u16, streams: CancellationToken) -> Self {
        let sessions = Arc::<LocalSessionManager>::default();
        let loopback = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        // A page of this server itself could send requests, and there is none. Clients state such an origin.
        let own = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:{port}"));
        let origins = NamedOrigins::new(&options.origins);
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(loopback.into_iter().chain(options.hosts))
            .with_allowed_origins(own.into_iter().chain(options.origins))
            .enforce_origin_validation()
            .with_max_request_body_bytes(options.max_body)
            .with_cancellation_token(streams);
        let own = server.clone();
        let factory = move || Ok(Connection::new(own.clone(), Clients::OfRequest));
        let service = StreamableHttpService::new(factory, Arc::clone(&sessions), config);
        let clients = HttpClients::new(server.clone(), options.issuer, options.oauth, options.approvers);
        let (max_body, closing) = (options.max_body, CancellationToken::new());
        Self { service, sessions, clients, max_body, origins, closing }
    }

    /// Removes clients that have left.
    async fn tidy(self: &Arc<Self>) {
        // Before those that are open: one that begins in between is not known, and not taken for one that has ended.
        let mut ended = self.clients.known();
        for id in self.sessions.sessions.read().await.keys() {
            ended.remove(id.as_ref());
        }
        let shared = Arc::clone(self);
        // Removing a session waits for its run.
        tokio::task::spawn_blocking(move || shared.clients.remove(&ended));
    }

    /// Answers a request, also to a web page whose origin is named.
    async fn answer(self: &Arc<Self>, request: Request<Incoming>) -> Answer {
        let Some(origin) = self.origins.of(request.headers()) else { return self.answer_client(request).await };
        let (parts, body) = request.into_parts();
        let mut answer = match cors::preflight(&parts) {
            Some(allowed) => allowed,
            None => self.answer_client(Request::from_parts(parts, body)).await,
        };
        cors::allow(answer.headers_mut(), origin);
        answer
    }

    async fn answer_client(self: &Arc<Self>, request: Request<Incoming>) -> Answer {
        let (mut parts, mut body) = request.into_parts();
        if let Some(document) = self.metadata(&parts) {
            return document;
        }
        let judged = self.judge(&parts, &mut body).await;
        let Admitted { sender, begins, body } = match judged {
            Ok(admitted) => admitted,
            Err(refused) => {
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
        answer
    }

    /// Answers a request for the metadata of a protected resource. It is public, and needs no token.
    fn metadata(&self, parts: &Parts) -> Option<Answer> {
        let oauth = self.clients.oauth().filter(|_| parts.method == Method::GET)?;
        let document = oauth.metadata(parts.uri.path())?;
        let mut answer = Response::new(Full::new(Bytes::from(document.to_string())).boxed());
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Some(answer)
    }

    /// Decides who sent a request, and reads its body.
    async fn judge(self: &Arc<Self>, parts: &Parts, body: &mut Incoming) -> Result<Admitted, Answer> {
        if parts.uri.path() != PATH {
            return Err(refuse(StatusCode::NOT_FOUND, &format!("the endpoint is {PATH}")));
        }
        let protocol_session = header(&parts.headers, SESSION);
        let authorized = self.authorize(parts, protocol_session.clone()).await;
        let (sender, token) = authorized.map_err(|unauthorized| self.unauthorized_answer(unauthorized))?;
        if protocol_session.as_deref().is_some_and(|id| !self.clients.owns(id, &token)) {
            // As for one that does not exist.
            return Err(refuse(StatusCode::NOT_FOUND, "there is no such session"));
        }
        let may_begin = protocol_session.is_none() && parts.method == Method::POST;
        let body = self.body(&parts.headers, body).await?;
        let begins = if may_begin && is_initialize(&body) { Some(self.reserve(&token).await?) } else { None };
        Ok(Admitted { sender, begins, body })
    }

    /// Reserves a place for a protocol session of a token.
    async fn reserve(&self, token: &str) -> Result<Reservation, Answer> {
        let refused = |why| refuse(StatusCode::SERVICE_UNAVAILABLE, why);
        let reservation =
            self.clients.reserve(token).ok_or_else(|| refused("there are too many clients with this token"))?;
        let open = self.sessions.sessions.read().await.len();
        if reservation.has_room(open) { Ok(reservation) } else { Err(refused("there are too many clients")) }
    }

    async fn authorize(
        self: &Arc<Self>,
        parts: &Parts,
        protocol_session: Option<String>,
    ) -> Result<(Sender, String), Unauthorized> {
        if self.clients.asks_tokens() && has_token(parts.uri.query().unwrap_or_default()) {
            return Err(Unauthorized::InAddress);
        }
        let token = bearer(&parts.headers);
        let identity = match (self.clients.oauth(), &token) {
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
            shared.clients.authorize(identity.as_ref(), token.as_deref(), protocol_session.as_deref())
        });
        authorized.await.unwrap_or_else(|error| Err(Unauthorized::Unavailable(error.to_string())))
    }

    /// Creates the answer to a request that is of nobody. It says where to get a token.
    fn unauthorized_answer(&self, unauthorized: Unauthorized) -> Answer {
        let (status, error, text) = match unauthorized {
            Unauthorized::Missing => {
                (StatusCode::UNAUTHORIZED, None, "a token is needed: `Authorization: Bearer TOKEN`".to_owned())
            }
            Unauthorized::Refused(why) => {
                (StatusCode::UNAUTHORIZED, Some("invalid_token"), format!("the token is not accepted: {why}"))
            }
            Unauthorized::Insufficient => {
                let text = "the token has no scope that grants something here".to_owned();
                (StatusCode::FORBIDDEN, Some("insufficient_scope"), text)
            }
            Unauthorized::InAddress => {
                let text = "a token in an address is not accepted, since logs keep it: send it in `Authorization`";
                (StatusCode::BAD_REQUEST, Some("invalid_request"), text.to_owned())
            }
            Unauthorized::Unavailable(why) => return refuse(StatusCode::SERVICE_UNAVAILABLE, &why),
        };
        let error = error.map(|error| format!("error=\"{error}\""));
        let parameters: Vec<String> =
            error.into_iter().chain(self.clients.oauth().map(|oauth| oauth.challenge())).collect();
        let challenge = format!("Bearer {}", parameters.join(", "));
        let mut answer = refuse(status, &text);
        let challenge = HeaderValue::from_str(challenge.trim_end()).unwrap_or(HeaderValue::from_static("Bearer"));
        answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        answer
    }

    /// Reads the body of a request, within limits of size and time.
    async fn body(&self, headers: &HeaderMap, body: &mut Incoming) -> Result<Bytes, Answer> {
        let too_large =
            || refuse(StatusCode::PAYLOAD_TOO_LARGE, &format!("a request has at most {} bytes", self.max_body));
        let declared = header(headers, CONTENT_LENGTH.as_str()).and_then(|length| length.parse::<u64>().ok());
        if declared.is_some_and(|length| usize::try_from(length).map_or(true, |length| length > self.max_body)) {
            return Err(too_large());
        }
        match tokio::time::timeout(BODY, Limited::new(body, self.max_body).collect()).await {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
            Ok(Err(_)) => Err(refuse(StatusCode::BAD_REQUEST, "the request is not complete")),
            Err(_) => Err(refuse(StatusCode::REQUEST_TIMEOUT, "the request takes too long")),
        }
    }
}

/// Names the content types of the protocol for a client that accepts any, as curl does: the protocol wants both named.
fn name_accepted(headers: &mut HeaderMap) {
    let is_any = |range: &str| range.split(';').next().is_some_and(|kind| kind.trim() == "*/*");
    let takes_any = |value: &HeaderValue| value.to_str().is_ok_and(|value| value.split(',').any(is_any));
    if headers.get_all(ACCEPT).iter().any(takes_any) {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    }
}

/// Returns true if a request begins a protocol session. Requests of clients of 2026-07-28 have none.
fn is_initialize(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        method: Cow<'a, str>,
    }
    serde_json::from_slice::<Message<'_>>(body).is_ok_and(|message| message.method == "initialize")
}

/// Reads what is left of a body that was refused, up to a limit: a connection that is closed before that is reset, and
/// its client would not see the answer.
async fn discard(mut body: Incoming) {
    let mut left = MAX_DISCARDED;
    let read = async {
        while let Some(Ok(frame)) = body.frame().await {
            left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
            if left == 0 {
                return;
            }
        }
    };
    // The answer is sent either way.
    let _ = tokio::time::timeout(DISCARDING, read).await;
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// Returns true if a query has a token, whatever it is.
fn has_token(query: &str) -> bool {
    query.split('&').any(|pair| {
        let name = pair.split('=').next().unwrap_or_default();
        percent_encoding::percent_decode_str(name).decode_utf8_lossy().eq_ignore_ascii_case("access_token")
    })
}

/// Returns the bearer token of a request. Of several authorizations none counts.
fn bearer(headers: &HeaderMap) -> Option<String> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let (one, None) = (all.next()?, all.next()) else { return None };
    let (scheme, token) = one.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
}

fn refuse(status: StatusCode, why: &str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(format!("{why}\n"))).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    answer
}
