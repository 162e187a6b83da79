//! Exchange of one request with the tool `http`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value as Json, json};

use super::reason;
use crate::bindings::types::{self, ErrorKind, Operation, ToolCall, Value};
use crate::catalog::Methods;
use crate::operations;

/// Name of the method that fetches. If the tool has another alias, its name ends with the second part.
const FETCH: &str = "http/fetch";
const FETCH_ENDING: &str = "/fetch";

/// Message if no such tool is mounted.
const NOT_MOUNTED: &str = "requests go through the tool `http`, which is not mounted";
const MOUNT: &str = "`--allow-net HOST`, or in a policy: mount tollhouse:http, grant `http/fetch`, and allow the host: \
                     `[tool.http] http = [\"HOST\"]`";

/// Names and values of headers, in order.
pub(super) type Headers = Vec<(String, String)>;

/// Request that is ready to be sent.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) url: String,
    pub(super) headers: Headers,
    pub(super) body: Option<Vec<u8>>,
    /// Timeout in milliseconds; `None` for the default of the tool.
    pub(super) timeout_ms: Option<u32>,
    /// Largest number of bytes of the response; `None` for the default of the tool.
    pub(super) max_bytes: Option<u32>,
}

/// Response of a server.
#[derive(Clone, Debug, Default)]
pub(super) struct Reply {
    pub(super) status: u16,
    /// Headers, with names in lower case.
    pub(super) headers: Headers,
    pub(super) body: Vec<u8>,
}

/// Beginning of a placeholder for a secret, whose value the host inserts.
const SECRET: &str = "{{secret:";

/// Returns true if a value contains a secret, which must only be sent to the first origin.
pub(super) fn holds_secret(value: &str) -> bool {
    value.contains(SECRET)
}

impl Reply {
    /// Returns the status line and headers in the form of HTTP/1.1, with the standard phrase for the status.
    pub(super) fn head(&self) -> String {
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, reason::phrase(self.status));
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head + "\r\n"
    }

    /// Returns the first value of a header, by its name in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(candidate, _)| candidate == name).map(|(_, value)| value.as_str())
    }

    /// Returns the redirect address of the response, if there is one.
    pub(super) fn location(&self) -> Option<&str> {
        (300..400).contains(&self.status).then(|| self.header("location")).flatten()
    }
}

/// Kind of failure, by its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The tool is not mounted, the call is not granted, or the request is not allowed.
    Denied,
    /// The address, a header or the body is invalid.
    Request,
    Dns,
    /// The server was unreachable, or closed the connection before the end of the headers.
    Connection,
    /// The response ended prematurely.
    Interrupted,
    Tls,
    Timeout,
    TooLarge,
    Protocol,
    Cancelled,
    Other,
}

/// Reason why there is no response.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) kind: Kind,
    /// Sentence that describes the failure.
    pub(super) message: String,
    /// Advice for handling the failure.
    pub(super) hint: Option<String>,
}

impl Failure {
    /// Returns the message, followed by the hint on a separate line.
    pub(super) fn text(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{}\nhint: {hint}\n", self.message),
            None => format!("{}\n", self.message),
        }
    }
}

/// Sends a request, and waits for the complete response.
pub(super) async fn send(methods: &Methods, request: &Request) -> Result<Reply, Failure> {
    let found = methods.iter().find(|method| method.name == FETCH);
    let found = found.or_else(|| methods.iter().find(|method| method.name.ends_with(FETCH_ENDING)));
    let Some(method) = found else {
        let (message, hint) = (NOT_MOUNTED.to_owned(), Some(MOUNT.to_owned()));
        return Err(Failure { kind: Kind::Denied, message, hint });
    };
    let (arguments, location) = (arguments(request).to_string(), operations::location());
    let call = ToolCall { method: method.name.clone(), arguments, location };
    match operations::begin(Operation::Call(call)).await {
        Ok(Value::Json(json)) => reply(&json.text).ok_or_else(|| unexpected("it gave no answer of HTTP")),
        Ok(_) => Err(unexpected("it gave no answer of HTTP")),
        Err(failure) => Err(failed(failure)),
    }
}

fn arguments(request: &Request) -> Json {
    let mut arguments = Map::new();
    arguments.insert("url".to_owned(), json!(request.url));
    arguments.insert("method".to_owned(), json!(request.method));
    arguments.insert("headers".to_owned(), json!(request.headers));
    arguments.insert("redirect".to_owned(), json!("manual"));
    arguments.insert("as".to_owned(), json!("bytes"));
    if let Some(body) = &request.body {
        arguments.insert("bytes".to_owned(), json!(STANDARD.encode(body)));
    }
    if let Some(timeout) = request.timeout_ms {
        arguments.insert("timeoutMs".to_owned(), json!(timeout));
    }
    if let Some(limit) = request.max_bytes {
        arguments.insert("maxBytes".to_owned(), json!(limit));
    }
    Json::Object(arguments)
}

fn reply(text: &str) -> Option<Reply> {
    let answer: Json = serde_json::from_str(text).ok()?;
    let status = u16::try_from(answer.get("status")?.as_u64()?).ok()?;
    let mut headers = Headers::new();
    for header in answer.get("headers")?.as_array()? {
        headers.push((header.get(0)?.as_str()?.to_owned(), header.get(1)?.as_str()?.to_owned()));
    }
    let body = STANDARD.decode(answer.get("bytes")?.as_str()?).ok()?;
    Some(Reply { status, headers, body })
}

/// Returns the failure of a call, which may come from the tool.
fn failed(failure: types::Failure) -> Failure {
    let told = failure.payload.as_ref().and_then(|payload| serde_json::from_str::<Json>(&payload.text).ok());
    if let (ErrorKind::Tool, Some(told)) = (failure.kind, told) {
        let word = |name: &str| told.get(name).and_then(Json::as_str);
        let kind = kind(word("kind").unwrap_or_default(), told.get("status").is_some_and(Json::is_number));
        let message = word("message").unwrap_or(&failure.message).to_owned();
        return Failure { kind, message, hint: failure.hint };
    }
    let kind = match failure.kind {
        ErrorKind::Capability | ErrorKind::Approval | ErrorKind::Policy => Kind::Denied,
        ErrorKind::Argument => Kind::Request,
        ErrorKind::Cancelled => Kind::Cancelled,
        ErrorKind::Limit if failure.name == "TimeoutError" => Kind::Timeout,
        _ => Kind::Other,
    };
    Failure { kind, message: format!("{}: {}", failure.name, failure.message), hint: failure.hint }
}

/// Returns the kind for an error code of the tool. `answered` is true if headers were received.
fn kind(word: &str, answered: bool) -> Kind {
    match word {
        "denied" => Kind::Denied,
        "url" | "parameter" | "header" => Kind::Request,
        "dns" => Kind::Dns,
        "connection" if answered => Kind::Interrupted,
        "connection" => Kind::Connection,
        "tls" => Kind::Tls,
        "timeout" => Kind::Timeout,
        "too-large" => Kind::TooLarge,
        "protocol" => Kind::Protocol,
        _ => Kind::Other,
    }
}

fn unexpected(what: &str) -> Failure {
    Failure { kind: Kind::Other, message: format!("the tool `http` failed: {what}"), hint: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_the_tool_are_read() {
        let text = r#"{"status":200,"ok":true,"headers":[["a","1"],["a","2"]],"text":null,"bytes":"aGk="}"#;
        let reply = reply(text).expect("an answer");
        assert_eq!((reply.status, reply.header("a"), &reply.body[..]), (200, Some("1"), &b"hi"[..]));
        assert!(super::reply(r#"{"status":200,"headers":[],"text":"x","bytes":null}"#).is_none());
    }

    #[test]
    fn only_redirects_lead_elsewhere() {
        let headers = vec![("location".to_owned(), "/x".to_owned())];
        let reply = |status| Reply { status, headers: headers.clone(), body: Vec::new() };
        assert_eq!((reply(302).location(), reply(201).location()), (Some("/x"), None));
    }
}
