//! HTTP requests of the protocol. A connection whose response was read is used again for the next request, for as long as
//! no server would have closed it. No redirect is followed: it could lead the values of secrets to another host.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, DiscoverRequestMethod, ErrorData, JsonRpcMessage, JsonRpcRequest,
    ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use sse_stream::{Sse, SseStream};
use tokio_stream::{Stream, StreamExt as _};
use tollhouse::capability::ServerUrl;
use tollhouse::json;
use tollhouse::tool::{DialError, Network};

use super::super::login::{LoginError, LoginSession};
use super::super::transport::{MAX_MESSAGE, MAX_VALUES};
use super::super::unreadable_answer;
use super::bounded_body::BoundedEvents;

/// Most bytes of a response's head.
const MAX_HEAD: usize = 64 << 10;

/// Longest time for which an idle connection is used again. Servers close idle ones after five seconds or more, and a
/// request that a server closes its connection on fails.
const MAX_IDLE: Duration = Duration::from_secs(2);

const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

type Sender = http1::SendRequest<Full<Bytes>>;
type Events = std::pin::Pin<Box<dyn Stream<Item = Result<Sse, SseError>> + Send>>;
type PostError = StreamableHttpError<RemoteError>;

/// Reason why a request has no usable response. It holds no text of the server.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RemoteError {
    #[error("{}", chain(.0))]
    Dial(#[from] DialError),
    #[error("the server ended the connection, or does not speak HTTP")]
    Broken,
    #[error("the server redirects (HTTP {0}), which is not followed: put the address where it leads in the policy")]
    Redirect(u16),
    #[error(
        "the server refuses the request (HTTP {0}): it wants a header with a secret, or another one, or a login \
         (`tollhouse mcp login NAME --policy FILE`)"
    )]
    Unauthorized(u16),
    #[error("the server refuses the request (HTTP {0}), although you are logged in there: the login lacks a scope")]
    Insufficient(u16),
    #[error("{0}")]
    LoginServer(String),
    #[error("{0}: log in again with `tollhouse mcp login NAME --policy FILE`")]
    Login(String),
    #[error("the server answered with HTTP {0}")]
    Status(u16),
    #[error("the server has not answered within {0} seconds")]
    Late(u64),
    #[error("the server sent a message of more than {0} bytes")]
    TooLarge(usize),
    #[error("the server sent a message whose values take more than {0} bytes")]
    TooWide(u64),
    #[error("the server's answer cannot be read: {0}")]
    Unreadable(String),
    #[error("the server does not speak the Model Context Protocol there")]
    NoProtocol,
}

/// Formats an error and its causes on one line.
fn chain(error: &DialError) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    causes.fold(error.to_string(), |told, cause| format!("{told}: {cause}"))
}

/// Creates a request to a URL.
pub(crate) fn request_to(url: &ServerUrl, method: Method, body: Vec<u8>) -> Result<Request<Full<Bytes>>, RemoteError> {
    let uri: Uri = url.as_str().parse().map_err(|_| RemoteError::NoProtocol)?;
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let host = HeaderValue::from_str(authority).map_err(|_| RemoteError::NoProtocol)?;
    // Requests to a server have only path and query; the host is in its header.
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let mut request = Request::new(Full::new(Bytes::from(body)));
    *request.method_mut() = method;
    *request.uri_mut() = path.parse().map_err(|_| RemoteError::NoProtocol)?;
    request.headers_mut().insert(HOST, host);
    Ok(request)
}

/// Connects with a host. The connection ends with the sender and the responses to what it has sent.
async fn connect(network: &Network, url: &ServerUrl) -> Result<Sender, RemoteError> {
    let stream = network.dial(url.host(), url.port(), url.is_secure()).await?;
    let handshake = http1::Builder::new().max_buf_size(MAX_HEAD).handshake(TokioIo::new(stream)).await;
    let (sender, connection) = handshake.map_err(|_| RemoteError::Broken)?;
    tokio::spawn(connection);
    Ok(sender)
}

/// Sends a request on a connection of its own, which ends with the body of the response.
pub(super) async fn exchange(
    network: &Network,
    url: &ServerUrl,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, RemoteError> {
    let response = connect(network, url).await?.send_request(request).await;
    not_redirected(response.map_err(|_| RemoteError::Broken)?)
}

/// Adds an access token to a request.
fn authorized(mut request: Request<Full<Bytes>>, token: &str) -> Result<Request<Full<Bytes>>, RemoteError> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| RemoteError::NoProtocol)?;
    value.set_sensitive(true);
    request.headers_mut().insert(AUTHORIZATION, value);
    Ok(request)
}

fn not_redirected(response: Response<Incoming>) -> Result<Response<Incoming>, RemoteError> {
    let status = response.status();
    if status.is_redirection() { Err(RemoteError::Redirect(status.as_u16())) } else { Ok(response) }
}

/// Client of one server. Clones share it.
#[derive(Clone)]
pub(super) struct RemoteClient(Arc<RemoteState>);

struct RemoteState {
    url: ServerUrl,
    headers: HeaderMap,
    network: Network,
    /// Login whose access token each request has.
    login: Option<Arc<LoginSession>>,
    failure: Mutex<Option<String>>,
    /// Connection on which nothing is sent, and when it last was.
    idle: Mutex<Option<(Sender, Instant)>>,
}

impl RemoteClient {
    pub(super) fn new(url: ServerUrl, headers: HeaderMap, network: Network, login: Option<Arc<LoginSession>>) -> Self {
        Self(Arc::new(RemoteState { url, headers, network, login, failure: Mutex::default(), idle: Mutex::default() }))
    }

    /// Returns a description of the last failure.
    pub(super) fn last_failure(&self) -> Option<String> {
        self.0.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn failed(&self, error: RemoteError) -> RemoteError {
        *self.0.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
        error
    }

    /// Creates a request with the headers of the policy, and of the protocol.
    fn request(
        &self,
        method: Method,
        session: Option<&str>,
        headers: HashMap<HeaderName, HeaderValue>,
        body: Vec<u8>,
    ) -> Result<Request<Full<Bytes>>, RemoteError> {
        let mut request = request_to(&self.0.url, method, body)?;
        let all = request.headers_mut();
        let host = all.remove(HOST).ok_or(RemoteError::NoProtocol)?;
        all.extend(self.0.headers.clone());
        all.extend(headers);
        all.insert(HOST, host);
        if let Some(session) = session {
            all.insert(SESSION, HeaderValue::from_str(session).map_err(|_| RemoteError::NoProtocol)?);
        }
        Ok(request)
    }

    /// Sends a request, on the idle connection if there is one. Whoever has read the whole response can keep the
    /// connection.
    async fn send(&self, request: Request<Full<Bytes>>) -> Result<(Response<Incoming>, Sender), RemoteError> {
        let Some(login) = &self.0.login else { return self.admitted(request).await };
        let failed = |error: LoginError| match error {
            LoginError::Unreachable(_) | LoginError::Status(_) => RemoteError::LoginServer(error.to_string()),
            error => RemoteError::Login(error.to_string()),
        };
        let token = login.token(&self.0.network).await.map_err(failed)?;
        match self.admitted(authorized(request.clone(), &token)?).await {
            // A request that is refused has not taken effect, and is sent once more with another token.
            Err(RemoteError::Unauthorized(401)) => {}
            Err(RemoteError::Unauthorized(status)) => return Err(RemoteError::Insufficient(status)),
            answered => return answered,
        }
        let token = login.other_token(&self.0.network, &token).await.map_err(failed)?;
        match self.admitted(authorized(request, &token)?).await {
            Err(RemoteError::Unauthorized(401)) => Err(failed(LoginError::Refused)),
            Err(RemoteError::Unauthorized(status)) => Err(RemoteError::Insufficient(status)),
            answered => answered,
        }
    }

    /// Sends a request, and returns the response unless it leads elsewhere or refuses the request.
    async fn admitted(&self, request: Request<Full<Bytes>>) -> Result<(Response<Incoming>, Sender), RemoteError> {
        let (response, sender) = self.sent(request).await?;
        let response = not_redirected(response)?;
        match response.status() {
            status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
                Err(RemoteError::Unauthorized(status.as_u16()))
            }
            _ => Ok((response, sender)),
        }
    }

    async fn sent(&self, mut request: Request<Full<Bytes>>) -> Result<(Response<Incoming>, Sender), RemoteError> {
        if let Some(mut sender) = self.take_idle().await {
            match sender.try_send_request(request).await {
                Ok(response) => return Ok((response, sender)),
                // What was sent may have taken effect, and is not sent again.
                Err(mut error) => request = error.take_message().ok_or(RemoteError::Broken)?,
            }
        }
        let mut sender = connect(&self.0.network, &self.0.url).await?;
        let response = sender.send_request(request).await.map_err(|_| RemoteError::Broken)?;
        Ok((response, sender))
    }

    /// Returns the idle connection, unless a server may have closed it.
    async fn take_idle(&self) -> Option<Sender> {
        let (mut sender, since) = self.idle().take()?;
        let is_recent = since.elapsed() < MAX_IDLE;
        // Its last response was read, so it is ready, or closed.
        (is_recent && sender.ready().await.is_ok()).then_some(sender)
    }

    /// Keeps the connection of a response that was read.
    fn keep(&self, sender: Sender) {
        *self.idle() = Some((sender, Instant::now()));
    }

    fn idle(&self) -> MutexGuard<'_, Option<(Sender, Instant)>> {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn post(
        &self,
        message: ClientJsonRpcMessage,
        session: Option<&str>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, PostError> {
        let client = |error| StreamableHttpError::Client(self.failed(error));
        let mut request =
            self.request(Method::POST, session, headers, serde_json::to_vec(&message)?).map_err(client)?;
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        let (response, sender) = self.send(request).await.map_err(client)?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            if response.body().is_end_stream() {
                self.keep(sender);
            }
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && session.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        let given = response.headers().get(&SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
        if status.is_success() && is_of(&response, EVENTS) {
            return Ok(StreamableHttpPostResponse::Sse(events(response), given));
        }
        let is_json = is_of(&response, JSON);
        let found = if is_json {
            let found = message_of(response).await.map_err(client)?;
            self.keep(sender);
            Some(found)
        } else {
            None
        };
        answered(found.flatten(), &message, status, session.is_some(), given).map_err(client)
    }

    async fn get(
        &self,
        session: Option<&str>,
        last_event: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Events, PostError> {
        let client = |error| StreamableHttpError::Client(error);
        let mut request = self.request(Method::GET, session, headers, Vec::new()).map_err(client)?;
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static(EVENTS));
        if let Some(last) = last_event {
            let last = HeaderValue::from_str(&last).map_err(|_| client(RemoteError::NoProtocol))?;
            request.headers_mut().insert(LAST_EVENT, last);
        }
        let (response, _) = self.send(request).await.map_err(client)?;
        match response.status() {
            status if status.is_success() && is_of(&response, EVENTS) => Ok(events(response)),
            // The stream is an offer that a server need not make.
            status if status.is_client_error() => Err(StreamableHttpError::ServerDoesNotSupportSse),
            status if status.is_success() => Err(client(RemoteError::NoProtocol)),
            status => Err(client(RemoteError::Status(status.as_u16()))),
        }
    }
}

/// Decides what a response to a message is, by the message that it has and by its status. `given` is the session that it
/// starts.
fn answered(
    found: Option<ServerJsonRpcMessage>,
    message: &ClientJsonRpcMessage,
    status: StatusCode,
    has_session: bool,
    given: Option<String>,
) -> Result<StreamableHttpPostResponse, RemoteError> {
    match (found, message) {
        // Some servers answer every method, if with nothing.
        (Some(JsonRpcMessage::Response(response)), JsonRpcMessage::Request(request))
            if is_discovery(request) && !matches!(response.result, ServerResult::DiscoverResult(_)) =>
        {
            let error = ErrorData::method_not_found::<DiscoverRequestMethod>();
            let error = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
            Ok(StreamableHttpPostResponse::Json(error, None))
        }
        (Some(found), _) if status.is_success() => Ok(StreamableHttpPostResponse::Json(found, given)),
        (Some(JsonRpcMessage::Error(error)), JsonRpcMessage::Request(request)) => {
            // Errors of middleware do not repeat the id.
            let error = ServerJsonRpcMessage::error(error.error, Some(request.id.clone()));
            Ok(StreamableHttpPostResponse::Json(error, None))
        }
        // Servers of earlier versions refuse what they do not know: then they are initialized.
        (_, JsonRpcMessage::Request(request)) if status.is_client_error() && !has_session && is_discovery(request) => {
            let error = ErrorData::invalid_request(RemoteError::Status(status.as_u16()).to_string(), None);
            let error = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
            Ok(StreamableHttpPostResponse::Json(error, None))
        }
        (_, JsonRpcMessage::Request(_)) if status.is_success() => Err(RemoteError::NoProtocol),
        _ if status.is_success() => Ok(StreamableHttpPostResponse::Accepted),
        _ => Err(RemoteError::Status(status.as_u16())),
    }
}

/// Returns true if a request asks what a server is. Servers before the latest revision do not know it.
fn is_discovery(request: &JsonRpcRequest<ClientRequest>) -> bool {
    matches!(request.request, ClientRequest::DiscoverRequest(_))
}

/// Returns true if a response has this media type.
fn is_of(response: &Response<Incoming>, media_type: &str) -> bool {
    let found = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    found.split(';').next().is_some_and(|found| found.trim().eq_ignore_ascii_case(media_type))
}

/// Returns why a message cannot be read although it is JSON.
fn rounded(message: &serde_json::Value, text: &str) -> Option<String> {
    message.as_object().and_then(|message| unreadable_answer::rounded(message, text))
}

/// Returns the events of a response, each bounded.
fn events(response: Response<Incoming>) -> Events {
    let events = SseStream::new(BoundedEvents::new(response.into_body(), MAX_MESSAGE));
    Box::pin(events.map(|event| {
        let event = event?;
        let text = event.data.as_deref().unwrap_or_default();
        match json::parse(text, MAX_VALUES) {
            Err(json::JsonError::TooLarge(bytes)) => Err(SseError::Body(Box::new(RemoteError::TooWide(bytes)))),
            Ok(message) => match rounded(&message, text) {
                Some(why) => Err(SseError::Body(Box::new(RemoteError::Unreadable(why)))),
                None => Ok(event),
            },
            Err(json::JsonError::Malformed(_)) => Ok(event),
        }
    }))
}

/// Reads the message of a response. Returns `None` if it is none of the protocol.
async fn message_of(response: Response<Incoming>) -> Result<Option<ServerJsonRpcMessage>, RemoteError> {
    let body = Limited::new(response.into_body(), MAX_MESSAGE).collect().await;
    let body = body.map_err(|error| {
        let is_long = error.is::<http_body_util::LengthLimitError>();
        if is_long { RemoteError::TooLarge(MAX_MESSAGE) } else { RemoteError::Broken }
    })?;
    let body = body.to_bytes();
    let Ok(text) = std::str::from_utf8(&body) else { return Ok(None) };
    match json::parse(text, MAX_VALUES) {
        Ok(message) => match rounded(&message, text) {
            Some(why) => Err(RemoteError::Unreadable(why)),
            None => Ok(serde_json::from_value(message).ok()),
        },
        Err(json::JsonError::TooLarge(bytes)) => Err(RemoteError::TooWide(bytes)),
        Err(json::JsonError::Malformed(_)) => Ok(None),
    }
}

impl StreamableHttpClient for RemoteClient {
    type Error = RemoteError;

    async fn post_message(
        &self,
        _: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, PostError> {
        self.post(message, session_id.as_deref(), custom_headers).await
    }

    async fn post_message_with_response_limits(
        &self,
        _: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        _: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, PostError> {
        self.post(message, session_id.as_deref(), custom_headers).await
    }

    async fn delete_session(
        &self,
        _: Arc<str>,
        session_id: Arc<str>,
        _: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), PostError> {
        let request = self.request(Method::DELETE, Some(&session_id), custom_headers, Vec::new());
        let sent = self.send(request.map_err(StreamableHttpError::Client)?).await;
        sent.map(drop).map_err(StreamableHttpError::Client)
    }

    async fn get_stream(
        &self,
        _: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Events, PostError> {
        self.get(session_id.as_deref(), last_event_id, custom_headers).await
    }
}
