//! Requests that a worker answers, and its answers. A worker may be in the hands of whoever escaped from its sandbox: of an
//! answer the front process takes the status, a few headers and the body, and hands them to the client whose worker it is.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderMap, HeaderName, ORIGIN, USER_AGENT,
};
use http::request::Parts;
use http::{HeaderValue, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Frame, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::AdmittedClient;
use super::process::{WorkerError, WorkerProcess, WorkerUse};
use super::receiver::write_client;
use crate::http::PATH;
use crate::http::connections::{MAX_HEAD, NO_SESSION, SESSION};
use crate::http::refusals::{Answer, header};

/// Headers of a request that its worker gets, besides those that begin with [`OF_PROTOCOL`].
const OF_REQUEST: [HeaderName; 6] = [ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HOST, ORIGIN, USER_AGENT];

/// Headers of an answer that its client gets. That of the protocol session is not among them: it is named anew. Nor is that of
/// caches: a worker could have a proxy in front of the server keep its answer for other clients.
const OF_ANSWER: [HeaderName; 2] = [ALLOW, CONTENT_TYPE];

/// Header of a client that continues a stream.
const LAST_EVENT: &str = "last-event-id";

/// Beginning of the protocol's own headers.
const OF_PROTOCOL: &str = "mcp-";

/// Content type of a stream of messages.
const EVENTS: &str = "text/event-stream";

/// Longest id of a request that an error repeats, as JSON.
const MAX_ID: usize = 256;

/// Code of an internal error, in JSON-RPC.
const INTERNAL_ERROR: i32 = -32603;

/// Answer of a worker, as far as the front process takes it.
pub(super) struct RelayedAnswer {
    pub(super) answer: Answer,
    /// The worker's name of a protocol session that the answer begins.
    pub(super) begun: Option<String>,
    /// True if the worker says that it could open no session.
    pub(super) has_no_session: bool,
}

/// Sends a request to a worker, and returns its answer. `session` is the worker's name of the protocol session.
pub(super) async fn relay(
    worker: &Arc<WorkerProcess>,
    client: &AdmittedClient,
    parts: &Parts,
    session: Option<&str>,
    body: Bytes,
) -> Result<RelayedAnswer, WorkerError> {
    let error_event = error_event(&body);
    let request = request(parts, session, body).ok_or(WorkerError::Strange)?;
    let (mut stream, in_use) = worker.connect().await?;
    let ended = |error: &dyn std::fmt::Display| WorkerError::Ended(error.to_string());
    write_client(&mut stream, client).await.map_err(|error| ended(&error))?;
    let handshake = http1::Builder::new().max_buf_size(MAX_HEAD).handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(|error| ended(&error))?;
    // What ends it, the answer says too.
    let connection = ConnectionTask(tokio::spawn(async move { drop(connection.await) }));
    let answered = sender.send_request(request).await.map_err(|error| match error.is_parse() {
        true => WorkerError::Strange,
        false => ended(&error),
    })?;
    let (head, body) = answered.into_parts();
    // It could not be handed on: the connection is no longer one of HTTP then.
    if head.status.is_informational() {
        return Err(WorkerError::Strange);
    }
    let is_stream = head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(EVENTS.as_bytes()));
    let error_event = error_event.filter(|_| is_stream);
    let relayed = RelayedBody { body, error_event, has_ended: false, _connection: connection, _in_use: in_use };
    let mut answer = Response::new(relayed.boxed_unsync());
    *answer.status_mut() = head.status;
    copy(&head.headers, answer.headers_mut(), |name| OF_ANSWER.contains(name));
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let (begun, has_no_session) = (header(&head.headers, SESSION), head.headers.contains_key(NO_SESSION));
    Ok(RelayedAnswer { answer, begun, has_no_session })
}

/// Returns the request for a worker. Nothing in it is of the client's authorization.
fn request(parts: &Parts, session: Option<&str>, body: Bytes) -> Option<Request<Full<Bytes>>> {
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = parts.method.clone();
    *request.uri_mut() = PATH.parse().ok()?;
    let headers = request.headers_mut();
    let is_handed = |name: &HeaderName| {
        OF_REQUEST.contains(name) || name.as_str() == LAST_EVENT || name.as_str().starts_with(OF_PROTOCOL)
    };
    copy(&parts.headers, headers, is_handed);
    headers.remove(SESSION);
    if let Some(session) = session {
        headers.insert(SESSION, session.parse().ok()?);
    }
    Some(request)
}

fn copy(from: &HeaderMap, to: &mut HeaderMap, is_handed: impl Fn(&HeaderName) -> bool) {
    for (name, value) in from.iter().filter(|(name, _)| is_handed(name)) {
        to.append(name.clone(), value.clone());
    }
}

/// Returns the message that ends a stream whose worker ends before it has answered this request.
fn error_event(body: &[u8]) -> Option<Bytes> {
    #[derive(Deserialize)]
    struct Message {
        id: Value,
    }
    let Message { id } = serde_json::from_slice(body).ok()?;
    let is_id = (id.is_string() || id.is_number()) && id.to_string().len() <= MAX_ID;
    let text = "the process of this client has ended before it answered: its runs and what it had in memory are gone";
    let message = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": INTERNAL_ERROR, "message": text } });
    // It may come in the middle of another message.
    is_id.then(|| Bytes::from(format!("\n\ndata: {message}\n\n")))
}

/// Connection with a worker, which is closed when this is dropped.
struct ConnectionTask(JoinHandle<()>);

impl Drop for ConnectionTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Body of an answer, as it comes from a worker. It is read no faster than the client takes it.
struct RelayedBody {
    body: Incoming,
    /// Message in place of an answer that does not come.
    error_event: Option<Bytes>,
    has_ended: bool,
    _connection: ConnectionTask,
    _in_use: WorkerUse,
}

impl Body for RelayedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.has_ended {
            return Poll::Ready(None);
        }
        let frame = match ready!(Pin::new(&mut self.body).poll_frame(context)) {
            Some(Ok(frame)) => Some(Ok(frame)),
            None => {
                self.has_ended = true;
                None
            }
            Some(Err(error)) => {
                self.has_ended = true;
                Some(self.error_event.take().map(Frame::data).ok_or_else(|| io::Error::other(error)))
            }
        };
        Poll::Ready(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_for_a_worker_has_no_authorization() {
        let request_of_client = Request::post("/mcp?x=1")
            .header("authorization", "Bearer secret")
            .header("cookie", "secret")
            .header("mcp-session-id", "theirs.tag")
            .header("mcp-protocol-version", "2025-11-25")
            .header("transfer-encoding", "chunked")
            .body(())
            .expect("it is a request");
        let (parts, ()) = request_of_client.into_parts();
        let request = request(&parts, Some("own"), Bytes::from_static(b"{}")).expect("it can be handed on");
        let names: Vec<&str> = request.headers().keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["mcp-protocol-version", "mcp-session-id"]);
        assert_eq!((request.uri().path(), request.uri().query()), ("/mcp", None));
        assert_eq!(request.headers()["mcp-session-id"], "own");
    }

    #[test]
    fn error_of_a_stream_answers_the_request_that_was_made() {
        let event = error_event(br#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#).expect("it has an id");
        let event = std::str::from_utf8(&event).expect("it is text");
        let message: Value = serde_json::from_str(event.trim().trim_start_matches("data: ")).expect("it is JSON");
        assert_eq!((&message["id"], &message["error"]["code"]), (&json!("a"), &json!(INTERNAL_ERROR)));
        assert_eq!(error_event(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#), None);
        assert_eq!(error_event(br#"{"id":{},"method":"ping"}"#), None);
    }
}
