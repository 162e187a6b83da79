//! Messages of mounted servers that are no answers: log messages, progress, and questions for the user. A gateway hands
//! them on to the client whose call is in progress; otherwise nobody gets them.
//!
//! Values of secrets are replaced in all that is handed on: the user's client shows it to a model, or keeps it.
//!
//! A message does not say which call it belongs to. So it is handed on only while one call is in progress, of all
//! clients: nobody gets what another one's call brought about.
#![expect(deprecated, reason = "log messages are what servers of earlier revisions of the protocol send")]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::ErrorData;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationCreateRequestMethod, ElicitationSchema, LoggingLevel};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tollhouse::tool::Secrets;
use tollhouse_types::is_hidden;

use crate::approvals::visible;

/// Messages that wait for a slow client. More are dropped.
const MAX_WAITING: usize = 100;

/// Longest message that is handed on, as JSON, in bytes. Longer ones are dropped.
pub(super) const MAX_MESSAGE: usize = 16 << 10;

/// Messages that are handed on, a second. More are dropped.
pub(super) const PER_SECOND: f64 = 100.0;

/// Most characters of a logger's name, and of the text of progress.
const MAX_NAME: usize = 100;
const MAX_TEXT: usize = 1000;

/// Most characters of the text of a question, and bytes of the form that answers it.
const MAX_QUESTION: usize = 2000;
const MAX_FORM: usize = 16 << 10;

/// Message of a server, for the client whose call is in progress. Its texts show what is hidden in them, and are bounded.
pub(crate) enum ServerMessage {
    /// Log message, with the server's name and that of its logger.
    Log { level: LoggingLevel, logger: String, data: Value },
    /// Progress of the call.
    Progress { progress: f64, total: Option<f64>, message: Option<String> },
    /// Question for the user.
    Question { message: String, form: Box<ElicitationSchema>, answer: oneshot::Sender<Result<ElicitResult, ErrorData>> },
}

/// Relay between the servers of a process and the calls of a gateway's clients. Clones are one relay.
#[derive(Clone, Default)]
pub struct MessageRelay(Arc<RelayState>);

#[derive(Default)]
struct RelayState {
    /// Calls in progress.
    calls: Mutex<Vec<(u64, mpsc::Sender<ServerMessage>)>>,
    next: AtomicU64,
    /// True if servers are told that they can ask the user.
    asks: AtomicBool,
}

/// Call in progress, until this is dropped.
pub(crate) struct RelayedCall {
    relay: MessageRelay,
    id: u64,
}

impl Drop for RelayedCall {
    fn drop(&mut self) {
        self.relay.calls().retain(|(id, _)| *id != self.id);
    }
}

impl MessageRelay {
    /// Says whether servers that start from now on are told that they can ask the user.
    pub fn set_asks(&self, asks: bool) {
        self.0.asks.store(asks, Ordering::Relaxed);
    }

    /// Returns true if servers are told that they can ask the user.
    pub(super) fn asks(&self) -> bool {
        self.0.asks.load(Ordering::Relaxed)
    }

    /// Begins a call, which gets the messages of servers while it is the only one.
    pub(crate) fn begin(&self) -> (RelayedCall, mpsc::Receiver<ServerMessage>) {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = mpsc::channel(MAX_WAITING);
        self.calls().push((id, sender));
        (RelayedCall { relay: self.clone(), id }, receiver)
    }

    /// Returns true if somebody gets messages now.
    pub(super) fn is_heard(&self) -> bool {
        self.calls().len() == 1
    }

    /// Hands a notification on, if it is one that clients get.
    pub(super) fn notified(&self, server: &str, method: &str, params: Option<&Value>, secrets: &Secrets) {
        let Some(params) = params else { return };
        let message = match method {
            "notifications/message" => log(server, params, secrets),
            "notifications/progress" => progress(params, secrets),
            _ => None,
        };
        if let (Some(message), Some(call)) = (message, self.only()) {
            // A client that is slow loses messages, and the call goes on.
            let _ = call.try_send(message);
        }
    }

    /// Asks the user of the client whose call is in progress.
    ///
    /// # Errors
    /// If there is none, the question is not one that can be shown, or the client cannot ask.
    pub(super) async fn ask(
        &self,
        server: &str,
        question: ElicitRequestParams,
        secrets: &Secrets,
    ) -> Result<ElicitResult, ErrorData> {
        let refused = |why: &'static str| ErrorData::invalid_request(why, None);
        if !self.asks() {
            return Err(ErrorData::method_not_found::<ElicitationCreateRequestMethod>());
        }
        let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = question else {
            return Err(refused("addresses are not handed on to the user: ask by a form"));
        };
        let form = serde_json::to_value(&requested_schema).unwrap_or(Value::Null);
        if message.chars().count() > MAX_QUESTION || form.to_string().len() > MAX_FORM || has_hidden(&form) {
            return Err(refused("the question is too long, or its form has characters that are not seen"));
        }
        // An answer repeats names and values of the form, so the form cannot be shown in another way.
        if secrets.redact_json(&form).is_some() {
            return Err(refused("the form of the question has the value of a secret"));
        }
        let message = secrets.redact_text(&message).unwrap_or(message);
        let message =
            format!("The MCP server `{server}` asks (this is its text, not Tollhouse's):\n{}", visible(&message));
        let call = self
            .only()
            .ok_or_else(|| refused("no call, or more than one, is in progress whose user could be asked"))?;
        let (answer, answered) = oneshot::channel();
        let question = ServerMessage::Question { message, form: Box::new(requested_schema), answer };
        call.send(question).await.map_err(|_| refused("the call has ended"))?;
        answered.await.unwrap_or_else(|_| Err(refused("the call has ended")))
    }

    /// Returns the way to the only call in progress.
    fn only(&self) -> Option<mpsc::Sender<ServerMessage>> {
        match &self.calls()[..] {
            [(_, call)] => Some(call.clone()),
            _ => None,
        }
    }

    /// Locks the calls. No change can be seen half done, so a poisoned lock is still good.
    fn calls(&self) -> MutexGuard<'_, Vec<(u64, mpsc::Sender<ServerMessage>)>> {
        self.0.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn log(server: &str, params: &Value, secrets: &Secrets) -> Option<ServerMessage> {
    let level = serde_json::from_value(params["level"].clone()).ok()?;
    let logger = match params["logger"].as_str() {
        Some(logger) => format!("{server}/{}", withheld(logger, MAX_NAME, secrets)),
        None => server.to_owned(),
    };
    let data = secrets.redact_json(&params["data"]);
    Some(ServerMessage::Log { level, logger, data: shown(data.as_ref().unwrap_or(&params["data"])) })
}

fn progress(params: &Value, secrets: &Secrets) -> Option<ServerMessage> {
    let message = params["message"].as_str().map(|text| withheld(text, MAX_TEXT, secrets));
    Some(ServerMessage::Progress { progress: params["progress"].as_f64()?, total: params["total"].as_f64(), message })
}

/// Returns the beginning of a text, without values of secrets. They are looked for in the whole: a part of one would not
/// be found.
fn withheld(text: &str, most: usize, secrets: &Secrets) -> String {
    let redacted = secrets.redact_text(text);
    visible(&shortened(redacted.as_deref().unwrap_or(text), most))
}

fn shortened(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// Returns a value in whose texts hidden characters are shown as their codes. JSON is parsed with a bound on its depth.
fn shown(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(visible(text)),
        Value::Array(all) => all.iter().map(shown).collect(),
        Value::Object(all) => all.iter().map(|(key, value)| (visible(key), shown(value))).collect(),
        other => other.clone(),
    }
}

/// Returns true if a text of the value has characters that are not seen. Those of a form are not changed: answers repeat
/// them.
fn has_hidden(value: &Value) -> bool {
    match value {
        Value::String(text) => text.chars().any(is_hidden),
        Value::Array(all) => all.iter().any(has_hidden),
        Value::Object(all) => all.iter().any(|(key, value)| key.chars().any(is_hidden) || has_hidden(value)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn message_is_handed_on_only_while_one_call_is_in_progress() {
        let relay = MessageRelay::default();
        let say = |text: &str| {
            let params = json!({ "level": "info", "data": text });
            relay.notified("git", "notifications/message", Some(&params), &Secrets::default());
        };
        say("nobody hears it");
        let (one, mut messages) = relay.begin();
        say("a\u{1b}[2J");
        let (other, mut others) = relay.begin();
        say("whose is it?");
        drop(other);
        say("b");
        let heard: Vec<String> = std::iter::from_fn(|| messages.try_recv().ok())
            .map(|message| match message {
                ServerMessage::Log { logger, data, .. } => format!("{logger} {data}"),
                _ => panic!("another message"),
            })
            .collect();
        assert_eq!(heard, ["git \"a\\\\u{1b}[2J\"", "git \"b\""]);
        assert!(others.try_recv().is_err());
        (0..1000).for_each(|_| say("flood"));
        assert_eq!(std::iter::from_fn(|| messages.try_recv().ok()).count(), MAX_WAITING);
        drop(one);
        assert!(!relay.is_heard());
    }
}
