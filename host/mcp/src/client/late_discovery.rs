//! Answers to `server/discover` that come after the SDK has given it up.
//!
//! A server is asked what it is, as the latest revision of the protocol has it; if it does not answer within ten seconds, the
//! SDK initializes it, as earlier revisions have it. A program that is downloaded when it is started (`npx`, `uvx`) takes
//! longer than that. It then answers both requests, and the SDK takes the first answer for a fault of the server.

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ProtocolVersion};
use serde_json::{Map, Value, json};

/// Member of `_meta` that describes the server, in the latest revision.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Requests with which a connection begins, by their ids as JSON.
#[derive(Default)]
pub(super) struct Discovery {
    /// Request to which there is no answer.
    discover: Option<String>,
    /// Request that was sent when nobody waited for that answer any more.
    initialize: Option<String>,
}

/// Kind of an answer, as far as discovery is concerned.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AnswerKind {
    /// Somebody waits for it.
    Awaited,
    /// It comes late, and the answer to `initialize` follows.
    Refusal,
    /// It comes late, from a server that needs no initialization: it answers the request with this id in its stead.
    Initialization(String),
}

impl Discovery {
    /// Notes that a request is sent.
    pub(super) fn sent(&mut self, message: &ClientJsonRpcMessage, id: &str) {
        let ClientJsonRpcMessage::Request(request) = message else { return };
        match &request.request {
            ClientRequest::DiscoverRequest(_) => self.discover = Some(id.to_owned()),
            ClientRequest::InitializeRequest(_) if self.discover.is_some() => self.initialize = Some(id.to_owned()),
            _ => {}
        }
    }

    /// Judges the answer to the request with this id. The answer in place of that to `initialize` is written for it: the SDK
    /// knows servers that name a revision there which has no initialization.
    pub(super) fn answered(&mut self, id: &str, message: &mut Map<String, Value>) -> AnswerKind {
        if self.discover.as_deref() != Some(id) {
            return AnswerKind::Awaited;
        }
        self.discover = None;
        let Some(initialize) = self.initialize.take() else { return AnswerKind::Awaited };
        match message.get_mut("result").and_then(initialized) {
            Some(result) => {
                message.insert("id".to_owned(), serde_json::from_str(&initialize).unwrap_or(Value::Null));
                message.insert("result".to_owned(), result);
                AnswerKind::Initialization(initialize)
            }
            None => AnswerKind::Refusal,
        }
    }
}

/// Returns the result of an initialization that says what the result of a discovery says. `None` if the server does not
/// have the latest revision: it is initialized.
fn initialized(discovered: &mut Value) -> Option<Value> {
    let versions = discovered.get("supportedVersions")?.as_array()?;
    if !versions.iter().any(|version| version.as_str() == Some(ProtocolVersion::LATEST.as_str())) {
        return None;
    }
    let capabilities = discovered.get_mut("capabilities").map(Value::take).unwrap_or_default();
    let info = discovered.get_mut("_meta").and_then(|meta| meta.get_mut(SERVER_INFO)).map(Value::take);
    let info = info.unwrap_or_else(|| json!({ "name": "", "version": "" }));
    Some(json!({ "protocolVersion": ProtocolVersion::LATEST, "capabilities": capabilities, "serverInfo": info }))
}

#[cfg(test)]
mod tests {
    use rmcp::model::JsonRpcMessage;
    use rmcp::service::{RoleClient, RxJsonRpcMessage};

    use super::*;

    fn request(method: &str, params: &Value) -> ClientJsonRpcMessage {
        let request = json!({ "jsonrpc": "2.0", "id": 0, "method": method, "params": params });
        serde_json::from_value(request).expect("a request")
    }

    /// A connection whose server was asked both, 0 and 1, unless it was initialized at once.
    fn begun(is_discovered: bool) -> Discovery {
        let client = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
        let mut discovery = Discovery::default();
        if is_discovered {
            discovery.sent(&request("server/discover", &json!({})), "0");
        }
        discovery.sent(&request("initialize", &client), "1");
        discovery
    }

    fn message(message: Value) -> Map<String, Value> {
        message.as_object().expect("an object").clone()
    }

    #[test]
    fn late_answer_of_a_server_that_is_initialized_is_dropped() {
        for late in [
            json!({ "jsonrpc": "2.0", "id": 0, "error": { "code": -32601, "message": "Method not found" } }),
            json!({ "jsonrpc": "2.0", "id": 0, "result": { "supportedVersions": ["2025-11-25"], "capabilities": {} } }),
            json!({ "jsonrpc": "2.0", "id": 0, "result": null }),
        ] {
            let mut discovery = begun(true);
            let mut answer = message(json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
            assert_eq!(discovery.answered("0", &mut message(late)), AnswerKind::Refusal);
            assert_eq!(discovery.answered("1", &mut answer), AnswerKind::Awaited);
        }
    }

    #[test]
    fn late_answer_of_a_server_of_the_latest_revision_initializes_it() {
        let result = json!({
            "supportedVersions": ["2025-11-25", "2026-07-28"], "capabilities": { "tools": {} },
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            "_meta": { SERVER_INFO: { "name": "s", "version": "2" } },
        });
        for is_described in [true, false] {
            let mut late = message(json!({ "jsonrpc": "2.0", "id": 0, "result": result }));
            if !is_described {
                late["result"]["_meta"] = json!({});
            }
            assert_eq!(begun(true).answered("0", &mut late), AnswerKind::Initialization("1".to_owned()));
            let answer: RxJsonRpcMessage<RoleClient> = serde_json::from_value(Value::Object(late)).expect("a message");
            let JsonRpcMessage::Response(answer) = answer else { panic!("{answer:?}") };
            let written = serde_json::to_value(answer).expect("it is JSON");
            assert_eq!((&written["id"], &written["result"]["protocolVersion"]), (&json!(1), &json!("2026-07-28")));
            assert_eq!(written["result"]["serverInfo"]["name"], if is_described { "s" } else { "" });
        }
    }

    #[test]
    fn answers_in_time_are_as_they_are() {
        let answer =
            || message(json!({ "jsonrpc": "2.0", "id": 0, "result": { "supportedVersions": ["2026-07-28"] } }));
        let mut discovery = Discovery::default();
        discovery.sent(&request("server/discover", &json!({})), "0");
        let mut given = answer();
        assert_eq!((discovery.answered("0", &mut given), given), (AnswerKind::Awaited, answer()));
        let mut given = answer();
        assert_eq!((begun(false).answered("0", &mut given), given), (AnswerKind::Awaited, answer()));
    }
}
