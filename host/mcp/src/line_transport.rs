//! Transport of standard input and output: a message a line. Each request gets an answer, also one that cannot be read:
//! a client would wait for it without end.

use std::cell::RefCell;
use std::fmt;
use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::de::{DeserializeSeed, Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{Mutex, Semaphore};
use tokio_util::sync::CancellationToken;
use tollhouse::json::{self, JsonError};

/// Longest message, in bytes.
const MAX_MESSAGE: usize = 16 << 20;

/// Most memory of the values of a message, in bytes: those of the longest one that is a text.
const MAX_VALUES: u64 = 64 << 20;

/// Bytes of the end of a message that are searched for its id: some clients write it last.
const END: usize = 512;

/// Longest id that an error repeats, as JSON.
const MAX_ID: usize = 256;

/// Most errors that wait until the client reads them.
const MAX_ERRORS: u32 = 64;

/// Codes of JSON-RPC.
const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;

/// Transport of the server of one client.
pub(crate) struct LineTransport<R, W> {
    read: BufReader<R>,
    /// Line as far as it was read: reading may be cancelled and resumed.
    line: Vec<u8>,
    /// End of a line that is too long, once its beginning is in `line`.
    overflow: Option<Vec<u8>>,
    has_ended: bool,
    /// Error that is to be written next.
    refusal: Option<Value>,
    write: Arc<Mutex<Option<W>>>,
    errors: Arc<Semaphore>,
    /// Told once, when the first line is no message.
    on_prose: Option<fn()>,
    end: InputEnd,
}

/// End of the input, which is told before the transport ends: what is in progress is answered meanwhile.
#[derive(Clone, Default)]
pub(crate) struct InputEnd {
    /// Cancelled when the input has ended.
    pub(crate) reached: CancellationToken,
    /// Cancelled when the transport may end.
    pub(crate) released: CancellationToken,
}

/// Line that was read, or the end of the input.
enum Read {
    Line,
    TooLong(Vec<u8>),
    End,
}

/// Fate of a line.
#[derive(Debug)]
enum Judged {
    Deliver(Box<RxJsonRpcMessage<RoleServer>>),
    Refuse(Value),
    /// Text that somebody typed, perhaps.
    Prose(Value),
    Ignore,
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> LineTransport<R, W> {
    /// Creates a transport. `on_prose` is called once if a line is no JSON at all.
    pub(crate) fn new(read: R, write: W, on_prose: fn()) -> Self {
        Self {
            read: BufReader::with_capacity(64 << 10, read),
            line: Vec::new(),
            overflow: None,
            has_ended: false,
            refusal: None,
            write: Arc::new(Mutex::new(Some(write))),
            errors: Arc::new(Semaphore::new(MAX_ERRORS as usize)),
            on_prose: Some(on_prose),
            end: InputEnd { released: released(), ..InputEnd::default() },
        }
    }

    /// Tells the end of the input, and waits there until the transport may end.
    pub(crate) fn telling_end(self, end: InputEnd) -> Self {
        Self { end, ..self }
    }

    /// Reads a line into `self.line`, without its end. If this is cancelled, the next call goes on with the line. The
    /// last line needs no end.
    async fn read_line(&mut self) -> Read {
        loop {
            // What cannot be read has ended.
            let there = self.read.fill_buf().await.unwrap_or_default();
            if there.is_empty() {
                self.has_ended = true;
                self.end.reached.cancel();
                return match self.overflow.take() {
                    Some(end) => Read::TooLong(end),
                    None if self.line.is_empty() => Read::End,
                    None => Read::Line,
                };
            }
            let end = there.iter().position(|byte| *byte == b'\n');
            let part = &there[..end.unwrap_or(there.len())];
            if self.overflow.is_none() && self.line.len() + part.len() > MAX_MESSAGE {
                self.overflow = Some(Vec::new());
            }
            match &mut self.overflow {
                Some(overflow) => {
                    overflow.extend_from_slice(part);
                    overflow.drain(..overflow.len().saturating_sub(END));
                }
                None => self.line.extend_from_slice(part),
            }
            let taken = end.map_or(there.len(), |end| end + 1);
            self.read.consume(taken);
            if end.is_some() {
                return self.overflow.take().map_or(Read::Line, Read::TooLong);
            }
        }
    }

    /// Writes the error that is due, on a task of its own: a write must not be cancelled half way.
    async fn refuse(&mut self) -> Option<()> {
        if self.refusal.is_none() {
            return Some(());
        }
        let permit = Arc::clone(&self.errors).acquire_owned().await.ok()?;
        let line = self.refusal.take().map(|refusal| format!("{refusal}\n"))?;
        let write = Arc::clone(&self.write);
        tokio::spawn(async move {
            if let Some(writer) = &mut *write.lock().await {
                // A client that has left reads nothing.
                let _ = async { (writer.write_all(line.as_bytes()).await, writer.flush().await) }.await;
            }
            drop(permit);
        });
        Some(())
    }
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let write = Arc::clone(&self.write);
        async move {
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            let mut write = write.lock().await;
            let writer = write.as_mut().ok_or_else(|| io::Error::from(io::ErrorKind::NotConnected))?;
            writer.write_all(&line).await?;
            writer.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            self.refuse().await?;
            if self.has_ended {
                // What was written last is read before the end.
                let _ = self.errors.acquire_many(MAX_ERRORS).await;
                self.end.released.cancelled().await;
                return None;
            }
            let judged = match self.read_line().await {
                Read::End => continue,
                Read::Line => judge(&std::mem::take(&mut self.line)),
                Read::TooLong(end) => too_long(&std::mem::take(&mut self.line), &end),
            };
            match judged {
                Judged::Deliver(message) => return Some(*message),
                Judged::Refuse(refusal) => self.refusal = Some(refusal),
                Judged::Prose(refusal) => {
                    self.refusal = Some(refusal);
                    if let Some(tell) = self.on_prose.take() {
                        tell();
                    }
                }
                Judged::Ignore => {}
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        drop(self.write.lock().await.take());
        Ok(())
    }
}

/// Returns a token that is cancelled already.
fn released() -> CancellationToken {
    let token = CancellationToken::new();
    token.cancel();
    token
}

/// Decides about a line.
fn judge(line: &[u8]) -> Judged {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Judged::Ignore;
    }
    let refuse = |code, what: &str| Judged::Refuse(refusal(code, what, id_of(line)));
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => return refuse(PARSE_ERROR, &format!("the message is not UTF-8: byte {}", error.valid_up_to())),
    };
    let message = match json::parse(text, MAX_VALUES) {
        Ok(Value::Object(message)) => message,
        Ok(_) => return refuse(INVALID_REQUEST, "a message is one JSON object on one line"),
        Err(JsonError::TooLarge(_)) => {
            return refuse(INVALID_REQUEST, "the values of the message take too much memory: send fewer of them");
        }
        Err(JsonError::Malformed(what)) => {
            let what = format!("the message cannot be read as JSON: {what}");
            return match line.first() {
                Some(b'{' | b'[' | b'"') => refuse(PARSE_ERROR, &what),
                _ => Judged::Prose(refusal(PARSE_ERROR, &what, Value::Null)),
            };
        }
    };
    let (is_call, id) = (message.contains_key("method"), message.get("id").cloned());
    let is_answer = message.contains_key("result") || message.contains_key("error");
    match serde_json::from_value::<RxJsonRpcMessage<RoleServer>>(Value::Object(message)) {
        Ok(message) => Judged::Deliver(Box::new(message)),
        // An error about a notification, or about an answer, would be an answer to nothing.
        Err(_) if (is_call && id.is_none()) || (is_answer && !is_call) => Judged::Ignore,
        Err(_) => {
            let what = "the message is none of JSON-RPC 2.0: a request has `jsonrpc`, `id`, `method` and an object as `params`";
            Judged::Refuse(refusal(INVALID_REQUEST, what, id.unwrap_or_default()))
        }
    }
}

/// Refuses a line that is too long, of which this is the beginning and the end.
fn too_long(beginning: &[u8], end: &[u8]) -> Judged {
    let id = match id_of(beginning) {
        Value::Null => last_id(end),
        id => id,
    };
    let what = format!("a message has at most {MAX_MESSAGE} bytes: write large files in parts, by scripts");
    Judged::Refuse(refusal(INVALID_REQUEST, &what, id))
}

/// Builds the answer to what cannot be read. Ids are texts or numbers.
fn refusal(code: i32, what: &str, id: Value) -> Value {
    let is_id = (id.is_string() || id.is_number()) && id.to_string().len() <= MAX_ID;
    json!({ "jsonrpc": "2.0", "id": if is_id { id } else { Value::Null }, "error": { "code": code, "message": what } })
}

/// Returns the id of a message that cannot be read, if it can be found: before what is wrong, or at the end.
fn id_of(line: &[u8]) -> Value {
    let text = String::from_utf8_lossy(line);
    let found = RefCell::new(Value::Null);
    // Whatever is wrong comes after what was found.
    let _ = serde_json::Deserializer::from_str(&text).deserialize_map(IdVisitor(&found));
    match found.into_inner() {
        Value::Null => last_id(line),
        id => id,
    }
}

/// Returns the id that is the last member of a message: `…,"id":1}`.
fn last_id(line: &[u8]) -> Value {
    let end = String::from_utf8_lossy(&line[line.len().saturating_sub(END)..]).into_owned();
    let Some((_, id)) = end.rsplit_once("\"id\"") else { return Value::Null };
    let id = id.trim_start().strip_prefix(':').and_then(|id| id.trim_end().strip_suffix('}'));
    id.and_then(|id| serde_json::from_str(id).ok()).unwrap_or_default()
}

/// Finds the member `id` of an object, without looking into other values.
struct IdVisitor<'a>(&'a RefCell<Value>);

impl<'de> Visitor<'de> for IdVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "id" {
                *self.0.borrow_mut() = map.next_value_seed(ScalarSeed)?;
                return Ok(());
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

/// Reads a text or a number: an id. Nothing else is kept, whatever its size.
pub(crate) struct ScalarSeed;

impl<'de> DeserializeSeed<'de> for ScalarSeed {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for ScalarSeed {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a number")
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the code and the id of the answer to a line that is refused.
    fn refused(line: &[u8]) -> (i64, Value) {
        match judge(line) {
            Judged::Refuse(refusal) | Judged::Prose(refusal) => {
                (refusal["error"]["code"].as_i64().expect("a code"), refusal["id"].clone())
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn message_that_cannot_be_parsed_is_refused_with_its_id() {
        let parse = i64::from(PARSE_ERROR);
        let request = i64::from(INVALID_REQUEST);
        let deep = format!("{{\"params\":{}{},\"id\":\"a\"}}", "[".repeat(200), "]".repeat(200));
        assert_eq!(refused(deep.as_bytes()), (parse, json!("a")));
        assert_eq!(refused(b"{\"id\":7,\"method\":\"\xff\"}"), (parse, json!(7)));
        assert_eq!(refused(b"{\"id\":7,\"method\":oh}"), (parse, json!(7)));
        assert_eq!(refused(b"{\"method\":oh,\"id\": 8 }"), (parse, json!(8)));
        assert_eq!(refused(b"{\"method\":\"x\",\"id\":9"), (parse, json!(9)));
        assert_eq!(refused(b"hello"), (parse, Value::Null));
        assert_eq!(refused(b"[]"), (request, Value::Null));
        assert_eq!(refused(b"{\"jsonrpc\":\"1.0\",\"id\":50,\"method\":\"ping\"}"), (request, json!(50)));
        assert_eq!(refused(b"{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"ping\"}"), (request, Value::Null));
        let Judged::Refuse(refusal) =
            too_long(b"{\"jsonrpc\":\"2.0\",\"params\":{\"id\":3,\"x\":\"", b"aaa\"},\"id\":5}")
        else {
            panic!("it is refused")
        };
        assert_eq!(refusal["id"], 5);
    }

    #[test]
    fn lone_surrogates_are_replaced_and_invalid_notifications_ignored() {
        let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x/y\",\"params\":{\"text\":\"\\ud800\"}}";
        let Judged::Deliver(message) = judge(line) else { panic!("it is delivered") };
        assert!(format!("{message:?}").contains('\u{fffd}'), "{message:?}");
        for line in ["", "  ", "{\"jsonrpc\":\"2.0\",\"method\":5}", "{\"jsonrpc\":\"2.0\",\"id\":[],\"result\":{}}"] {
            assert!(matches!(judge(line.as_bytes()), Judged::Ignore), "{line}");
        }
    }
}
