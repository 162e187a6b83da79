//! Servers at a URL: what they say comes through a process of Tollhouse's own, `tollhouse mcp-remote`, which speaks HTTP
//! with the server, and lines on its standard input and output, as the program of a server does.
//!
//! So everything that holds for programs holds here too: the process starts before the wall of a run stands, has a wall
//! of its own with one port, and is ended with the run; and what a server sends is bounded again where it is read
//! (`transport`).
//!
//! - `http_client` sends requests, and bounds responses;
//! - `bounded_body` bounds one event of a stream;
//! - `document` fetches a document, for the server of access tokens.

mod bounded_body;
mod document;
mod http_client;

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use rmcp::model::{ClientJsonRpcMessage, ErrorData, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport as _;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig, StreamableHttpError,
};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tollhouse::capability::ServerUrl;
use tollhouse::tool::Network;

pub(crate) use self::document::{answer_to, fetch_document};
pub(crate) use self::http_client::{RemoteError, request_to};

use self::http_client::RemoteClient;
use super::login::LoginSession;
use super::transport::MAX_MESSAGE;

/// Longest time for telling a server that its session is over.
const FAREWELL: Duration = Duration::from_secs(2);

/// Answers to requests that could not be sent, which wait to be written.
const PENDING_FAILURES: usize = 64;

/// Code of the error that a request gets which could not be sent: the first that the protocol leaves to servers.
const NOT_SENT: i32 = -32_000;

/// Reason why the exchange with a server ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RelayError {
    /// The process that wants to speak with the server cannot be read or written.
    #[error("cannot read or write the messages for the server")]
    Pipe(#[from] io::Error),
    /// That process sent something that is no message of a client.
    #[error("the messages for the server cannot be read")]
    Message(#[source] serde_json::Error),
    /// A header cannot be sent: its value, which is a secret's, is not one line of text.
    #[error("the value of the header `{name}` cannot be sent: it has to be one line of printable ASCII")]
    Header {
        /// Name of the header.
        name: String,
    },
    /// The server cannot be spoken with.
    #[error("`{url}` cannot be used: {reason}")]
    Server {
        /// Its address.
        url: String,
        /// Description of the problem.
        reason: String,
    },
}

/// Hands messages on between standard input and output and a server at a URL, until the input ends. With a login, its
/// access token is in each request, and in nothing that comes of the server.
///
/// # Errors
/// If the server cannot be spoken with, the pipes break, or the values of headers are none.
pub fn relay_stdio(
    url: &ServerUrl,
    headers: &[(String, String)],
    network: Network,
    login: Option<LoginSession>,
) -> Result<(), RelayError> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let refused = || RelayError::Header { name: name.clone() };
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| refused())?;
        value.set_sensitive(true);
        map.insert(name, value);
    }
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_io().enable_time().build()?;
    let (input, output) = (BufReader::new(tokio::io::stdin()), tokio::io::stdout());
    let login = login.map(Arc::new);
    let client = RemoteClient::new(url.clone(), map, network, login.clone());
    let ended = runtime.block_on(relay(url, client, login, input, output));
    // The thread that still reads the input is not waited for.
    runtime.shutdown_background();
    ended
}

/// Hands messages on between two pipes and a server at a URL, until the input ends.
async fn relay(
    url: &ServerUrl,
    client: RemoteClient,
    login: Option<Arc<LoginSession>>,
    input: impl AsyncBufRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
) -> Result<(), RelayError> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
    config = config.custom_headers(HashMap::new()).max_json_response_size(MAX_MESSAGE).max_sse_event_size(MAX_MESSAGE);
    // What another session offers nobody has compared with the pins.
    config = config.reinit_on_expired_session(false);
    let mut transport = StreamableHttpClientTransport::with_client(client.clone(), config);
    let (failed, mut failures) = mpsc::channel::<ServerJsonRpcMessage>(PENDING_FAILURES);
    let mut lines = input.split(b'\n');
    let ended = loop {
        tokio::select! {
            line = lines.next_segment() => {
                let Some(line) = line? else { break Ok(()) };
                let message: ClientJsonRpcMessage = serde_json::from_slice(&line).map_err(RelayError::Message)?;
                let id = match &message {
                    JsonRpcMessage::Request(request) => Some(request.id.clone()),
                    _ => None,
                };
                let (sent, failed) = (transport.send(message), failed.clone());
                tokio::spawn(async move {
                    if let (Err(error), Some(id)) = (sent.await, id) {
                        let error = ErrorData::new(rmcp::model::ErrorCode(NOT_SENT), told(&error), None);
                        // Nobody receives it if the exchange has ended.
                        let _ = failed.send(ServerJsonRpcMessage::error(error, Some(id))).await;
                    }
                });
            }
            message = transport.receive() => match message {
                Some(message) => write(&mut output, &message, login.as_deref()).await?,
                None => {
                    let reason = client.last_failure().unwrap_or_else(|| "it has ended the connection".to_owned());
                    break Err(RelayError::Server { url: url.to_string(), reason });
                }
            },
            Some(message) = failures.recv() => write(&mut output, &message, login.as_deref()).await?,
        }
    };
    // A server that does not take leave is left without.
    let _ = timeout(FAREWELL, transport.close()).await;
    ended
}

/// Describes a failure, without text of the server.
fn told(error: &StreamableHttpError<RemoteError>) -> String {
    match error {
        StreamableHttpError::Client(error) => error.to_string(),
        StreamableHttpError::SessionExpired => {
            "the server has ended the session; the next run starts another".to_owned()
        }
        StreamableHttpError::ResponseBodyTooLarge { max_size } => {
            format!("the server sent a response of more than {max_size} bytes")
        }
        StreamableHttpError::Sse(_) => RemoteError::Broken.to_string(),
        _ => RemoteError::NoProtocol.to_string(),
    }
}

async fn write(
    output: &mut (impl AsyncWrite + Unpin),
    message: &ServerJsonRpcMessage,
    login: Option<&LoginSession>,
) -> io::Result<()> {
    let line = serde_json::to_string(message)?;
    let line = match login {
        Some(login) => login.withheld(line).await,
        None => line,
    };
    let mut line = line.into_bytes();
    line.push(b'\n');
    output.write_all(&line).await?;
    output.flush().await
}
