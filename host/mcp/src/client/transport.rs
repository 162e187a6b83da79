//! Transport to a server's standard input and output, which bounds what is read.
//!
//! A server that exceeds a bound is not spoken with any more: what it sent cannot be attributed to a call, and it would
//! send more.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Instant;

use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::Mutex;
use tollhouse::json::{self, JsonError};
use tollhouse::tool::Secrets;

use super::late_discovery::{AnswerKind, Discovery};
use super::relay::{self, MessageRelay};
use super::unreadable_answer;

/// Longest message, in bytes: what the SDK accepts by default.
pub(super) const MAX_MESSAGE: usize = 16 << 20;

/// Most memory of the values of a message, in bytes.
pub(super) const MAX_VALUES: u64 = 64 << 20;

/// Messages that nobody asked for, a second: notifications, requests, lines that are no messages.
const NOISE_PER_SECOND: f64 = 1000.0;

/// Most replies to a server that wait until it reads them.
const MAX_REPLIES: usize = 64;

/// Most bytes of messages that wait until the server reads them.
const MAX_UNREAD: usize = 64 << 20;

/// Longest id of a request, as JSON: its reply repeats it.
const MAX_ID: usize = 256;

/// The only notification that this client acts upon.
const TOOLS_CHANGED: &str = "notifications/tools/list_changed";

/// Reason why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EndReason {
    /// The server closed its output, or ended.
    Closed,
    /// The server exceeded a bound; with a description.
    Limit(String),
    /// The server cannot be read or written; with a description.
    Broken(String),
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("it closed its output"),
            Self::Limit(what) | Self::Broken(what) => f.write_str(what),
        }
    }
}

/// Reason why a connection ended, once it has.
pub(super) type Ended = Arc<OnceLock<EndReason>>;

/// Transport to one server.
pub(super) struct BoundedTransport<R, W> {
    read: BufReader<R>,
    /// Line as far as it was read: reading may be cancelled and resumed.
    line: Vec<u8>,
    write: Arc<Mutex<Option<W>>>,
    ended: Ended,
    noise: NoiseBudget,
    notes: ServerNotes,
    /// Replies that are not written yet.
    replies: Arc<AtomicUsize>,
    /// Bytes of the messages that are not written yet.
    unread: Arc<AtomicUsize>,
    /// Ids of the requests that the server has not answered, as JSON.
    asked: std::sync::Mutex<HashSet<String>>,
    discovery: Discovery,
}

/// Notifications of a server, as far as they are handed on.
pub(super) struct ServerNotes {
    server: String,
    relay: MessageRelay,
    secrets: Secrets,
    budget: NoiseBudget,
}

impl ServerNotes {
    pub(super) fn new(server: &str, relay: MessageRelay, secrets: Secrets) -> Self {
        Self { server: server.to_owned(), relay, secrets, budget: NoiseBudget::new(relay::PER_SECOND) }
    }

    /// Hands a notification of so many bytes on, within bounds of size and rate.
    fn notified(&mut self, method: &str, params: Option<&Value>, bytes: usize) {
        if self.relay.is_heard() && bytes <= relay::MAX_MESSAGE && self.budget.take() {
            self.relay.notified(&self.server, method, params, &self.secrets);
        }
    }
}

/// Budget of messages that nobody asked for, which refills with time.
struct NoiseBudget {
    per_second: f64,
    left: f64,
    at: Instant,
}

impl NoiseBudget {
    fn new(per_second: f64) -> Self {
        Self { per_second, left: per_second, at: Instant::now() }
    }

    /// Takes one message. Returns false if there were too many.
    fn take(&mut self) -> bool {
        let now = Instant::now();
        let refilled = (self.left + now.duration_since(self.at).as_secs_f64() * self.per_second).min(self.per_second);
        self.at = now;
        let is_left = refilled >= 1.0;
        self.left = if is_left { refilled - 1.0 } else { refilled };
        is_left
    }
}

/// Message that waits to be written, whether or not its sender still waits for that.
struct QueuedMessage {
    line: Vec<u8>,
    unread: Arc<AtomicUsize>,
}

impl Drop for QueuedMessage {
    fn drop(&mut self) {
        self.unread.fetch_sub(self.line.len(), Ordering::Relaxed);
    }
}

/// Fate of a message.
enum Judged {
    Deliver(Box<RxJsonRpcMessage<RoleClient>>),
    Drop,
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> BoundedTransport<R, W> {
    pub(super) fn new(read: R, write: W, ended: Ended, notes: ServerNotes) -> Self {
        Self {
            read: BufReader::with_capacity(64 << 10, read),
            line: Vec::new(),
            write: Arc::new(Mutex::new(Some(write))),
            ended,
            noise: NoiseBudget::new(NOISE_PER_SECOND),
            notes,
            replies: Arc::default(),
            unread: Arc::default(),
            asked: std::sync::Mutex::default(),
            discovery: Discovery::default(),
        }
    }

    /// Reads a line into `self.line`, without its end. If this is cancelled, the next call goes on with the line.
    async fn read_line(&mut self) -> Result<(), EndReason> {
        loop {
            let broken = |error: std::io::Error| EndReason::Broken(format!("it cannot be read: {error}"));
            let there = self.read.fill_buf().await.map_err(broken)?;
            if there.is_empty() {
                return Err(EndReason::Closed);
            }
            let end = there.iter().position(|byte| *byte == b'\n');
            let part = &there[..end.unwrap_or(there.len())];
            if self.line.len() + part.len() > MAX_MESSAGE {
                return Err(EndReason::Limit(format!("it sent a message of more than {MAX_MESSAGE} bytes")));
            }
            self.line.extend_from_slice(part);
            let taken = end.map_or(there.len(), |end| end + 1);
            self.read.consume(taken);
            if end.is_some() {
                return Ok(());
            }
        }
    }

    /// Queues a message, unless the server has left too much unread.
    fn queue(&self, item: &TxJsonRpcMessage<RoleClient>) -> std::io::Result<QueuedMessage> {
        let mut line = serde_json::to_vec(item)?;
        line.push(b'\n');
        let before = self.unread.fetch_add(line.len(), Ordering::Relaxed);
        let queued = QueuedMessage { line, unread: Arc::clone(&self.unread) };
        if before + queued.line.len() > MAX_UNREAD {
            // The first reason counts.
            let _ = self.ended.set(EndReason::Limit(format!("it has left {MAX_UNREAD} bytes unread")));
            return Err(std::io::ErrorKind::BrokenPipe.into());
        }
        Ok(queued)
    }

    /// Locks the ids. No change can be seen half done, so a poisoned lock is still good.
    fn asked(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn noise(&mut self) -> Result<Judged, EndReason> {
        if self.noise.take() {
            return Ok(Judged::Drop);
        }
        Err(EndReason::Limit(format!("it sent more than {NOISE_PER_SECOND} messages a second that nobody asked for")))
    }

    /// Decides about the line that was read.
    fn judge(&mut self, line: &[u8]) -> Result<Judged, EndReason> {
        // Programs write other lines too, by mistake.
        let Ok(text) = std::str::from_utf8(line) else { return self.noise() };
        let mut message = match json::parse(text, MAX_VALUES) {
            Ok(Value::Object(message)) => match unreadable_answer::rounded(&message, text) {
                Some(why) => {
                    let request = unreadable_answer::request_of_line(text, &self.asked());
                    return self.unreadable(request, &why);
                }
                None => message,
            },
            Ok(_) => return self.noise(),
            Err(JsonError::Malformed(why)) => {
                let request = unreadable_answer::request_of_line(text, &self.asked());
                return self.unreadable(request, &why);
            }
            Err(JsonError::TooLarge(bytes)) => {
                return Err(EndReason::Limit(format!("it sent a message whose values take more than {bytes} bytes")));
            }
        };
        let mut request = None;
        match (message.get("method"), message.get("id")) {
            (Some(_), Some(id)) => {
                if id.to_string().len() > MAX_ID {
                    return Err(EndReason::Limit(format!("it sent a request with an id of more than {MAX_ID} bytes")));
                }
                if self.replies.load(Ordering::Relaxed) >= MAX_REPLIES {
                    return Err(EndReason::Limit("it sends requests and does not read the replies".to_owned()));
                }
                self.noise()?;
            }
            (Some(method), None) => {
                self.noise()?;
                if *method != TOOLS_CHANGED {
                    // Here, so that they are handed on in their order, and before the answer that they come before.
                    self.notes.notified(method.as_str().unwrap_or_default(), message.get("params"), line.len());
                    return Ok(Judged::Drop);
                }
            }
            (None, None) => return self.noise(),
            (None, Some(id)) => {
                let written = id.to_string();
                if !self.asked().remove(&written) {
                    let request = unreadable_answer::request_of_id(id, &self.asked());
                    return self.unreadable(request, "its id is not the number that it answers");
                }
                match self.discovery.answered(&written, &mut message) {
                    AnswerKind::Awaited => request = Some(written),
                    AnswerKind::Refusal => return Ok(Judged::Drop),
                    AnswerKind::Initialization(id) => {
                        // Its own answer is one too many then.
                        self.asked().remove(&id);
                        request = Some(id);
                    }
                }
            }
        }
        match serde_json::from_value::<RxJsonRpcMessage<RoleClient>>(Value::Object(message)) {
            Ok(message) => {
                if matches!(message, JsonRpcMessage::Request(_)) {
                    self.replies.fetch_add(1, Ordering::Relaxed);
                }
                Ok(Judged::Deliver(Box::new(message)))
            }
            Err(_) => self.unreadable(request, "it is no message of the protocol"),
        }
    }

    /// Answers a request with an error in place of a message that cannot be read, if the message is its answer: a call that
    /// waited for another one would wait for its whole time.
    fn unreadable(&mut self, request: Option<String>, why: &str) -> Result<Judged, EndReason> {
        let Some(id) = request else { return self.noise() };
        self.asked().remove(&id);
        match unreadable_answer::answer(&id, why) {
            Some(error) => Ok(Judged::Deliver(Box::new(error))),
            None => self.noise(),
        }
    }
}

impl<R, W> Transport<RoleClient> for BoundedTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let write = Arc::clone(&self.write);
        let queued = self.queue(&item);
        let replies = Arc::clone(&self.replies);
        let is_reply = matches!(item, ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_));
        if let ClientJsonRpcMessage::Request(request) = &item
            && let Ok(id) = serde_json::to_string(&request.id)
        {
            self.discovery.sent(&item, &id);
            self.asked().insert(id);
        }
        async move {
            let queued = queued?;
            let mut write = write.lock().await;
            let closed = || std::io::Error::from(std::io::ErrorKind::NotConnected);
            let writer = write.as_mut().ok_or_else(closed)?;
            let written = async {
                writer.write_all(&queued.line).await?;
                writer.flush().await
            };
            let written = written.await;
            if is_reply {
                replies.fetch_sub(1, Ordering::Relaxed);
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let judged = match self.read_line().await {
                Ok(()) => {
                    let line = std::mem::take(&mut self.line);
                    self.judge(&line)
                }
                Err(ended) => Err(ended),
            };
            match judged {
                Ok(Judged::Deliver(message)) => return Some(*message),
                Ok(Judged::Drop) => {}
                Err(reason) => {
                    // The first reason counts.
                    let _ = self.ended.set(reason);
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        // The program is told by the end of its input.
        drop(self.write.lock().await.take());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;

    use super::*;

    fn notes() -> ServerNotes {
        ServerNotes::new("s", MessageRelay::default(), Secrets::default())
    }

    /// Returns the messages that are delivered of these bytes, and why the connection ended.
    fn received(bytes: &[u8]) -> (usize, EndReason) {
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let ended = Ended::default();
            let mut transport = BoundedTransport::new(bytes, tokio::io::sink(), Arc::clone(&ended), notes());
            transport.asked().insert("1".to_owned());
            let mut delivered = 0;
            while transport.receive().await.is_some() {
                delivered += 1;
            }
            (delivered, ended.get().expect("it ended").clone())
        })
    }

    const PONG: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";

    #[test]
    fn answers_that_were_asked_for_are_delivered_and_nothing_else_is() {
        let log =
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n";
        let changed = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n";
        let text = format!("starting…\n[1]\n\n{log}{changed}{PONG}{PONG}\u{1b}[2J\n");
        assert_eq!(received(text.as_bytes()), (2, EndReason::Closed), "the change and one answer");
        assert_eq!(received(b"\xff\xfe\n{\"id\":"), (0, EndReason::Closed));
    }

    #[test]
    fn answer_that_cannot_be_read_is_an_error_of_its_request() {
        let deep = format!("{{\"id\":1,\"result\":{}{}}}\n", "[".repeat(200), "]".repeat(200));
        for line in [
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":1e400}}\n",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[],\"structuredContent\":{\"n\":18446744073709551616}}}\n",
            "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{}}\n",
            "{\"jsonrpc\":\"2.0\",\"id\":1.0,\"result\":{}}\n",
            "{\"jsonrpc\":\"2.0\",\"id\":1}\n",
            &deep,
        ] {
            assert_eq!(received(line.as_bytes()), (1, EndReason::Closed), "{line}");
            // The request is answered by then.
            assert_eq!(received(format!("{line}{PONG}").as_bytes()), (1, EndReason::Closed), "{line}");
        }
        // The twin: what answers no request is no answer of any.
        for line in ["{\"id\":2,\"result\":1e400}\n", "{\"id\":\"2\",\"result\":{}}\n", "{\"note\":1e400}\n"] {
            assert_eq!(received(line.as_bytes()), (0, EndReason::Closed), "{line}");
        }
    }

    #[test]
    fn server_that_exceeds_a_bound_is_not_heard_any_more() {
        let limit = |bytes: &[u8], told: &str| {
            let (delivered, reason) = received(bytes);
            let is_told = matches!(&reason, EndReason::Limit(what) if what.contains(told));
            assert!(delivered <= MAX_REPLIES && is_told, "{delivered} {reason}");
        };
        limit(&vec![b'x'; MAX_MESSAGE + 1], "a message of more than 16777216 bytes");
        let wide = format!("{{\"id\":1,\"result\":{{\"structuredContent\":[{}0]}}}}\n", "0,".repeat(2_000_000));
        limit(wide.as_bytes(), "values take more than");
        limit("noise\n".repeat(1_000_000).as_bytes(), "nobody asked for");
        limit(PONG.repeat(1_000_000).as_bytes(), "nobody asked for");
        let ping = |id: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"method\":\"ping\"}}\n");
        limit(ping("a").repeat(MAX_REPLIES + 1).as_bytes(), "does not read the replies");
        limit(ping(&"a".repeat(MAX_ID)).as_bytes(), "id of more than");
    }

    /// Returns a message of this length.
    fn message(length: usize) -> TxJsonRpcMessage<RoleClient> {
        let error = rmcp::ErrorData::invalid_request("x".repeat(length), None);
        ClientJsonRpcMessage::error(error, Some(rmcp::model::NumberOrString::Number(1)))
    }

    #[test]
    fn server_that_leaves_too_much_unread_is_sent_nothing_more() {
        let ended = Ended::default();
        let transport = BoundedTransport::new(tokio::io::empty(), tokio::io::sink(), Arc::clone(&ended), notes());
        let queued: Vec<QueuedMessage> =
            (0..3).map(|_| transport.queue(&message(20 << 20)).expect("there is room")).collect();
        assert!(ended.get().is_none());
        assert!(transport.queue(&message(20 << 20)).is_err());
        assert!(matches!(ended.get(), Some(EndReason::Limit(_))), "{ended:?}");
        // What is written, or given up by its sender, is not kept.
        drop(queued);
        assert_eq!(transport.unread.load(Ordering::Relaxed), 0);
    }
}
