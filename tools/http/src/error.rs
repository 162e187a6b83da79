//! Errors of the tool, and their messages.

use crate::address::Address;

/// Reason of an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The policy does not permit the request.
    Denied,
    /// The address cannot be fetched.
    Url,
    /// A parameter other than address and headers is wrong.
    Parameter,
    /// A header cannot be sent.
    Header,
    /// The server's name could not be resolved.
    Dns,
    /// The server could not be reached.
    Connection,
    /// The connection could not be made secure.
    Tls,
    /// The time limit was reached.
    Timeout,
    /// A redirect that is not followed.
    Redirect,
    /// The body of the response is too large.
    TooLarge,
    /// The response violates HTTP.
    Protocol,
    /// The status is not a success.
    Status,
    /// The response is not text.
    NotText,
    /// The response is not JSON.
    NotJson,
    /// Another failure on the host's side.
    Other,
}

/// Failure of a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Reason for the failure.
    pub kind: Kind,
    /// Message that describes the failure.
    pub message: String,
    /// Address that caused the failure.
    pub url: Option<String>,
    /// Status that the server gave.
    pub status: Option<u16>,
}

impl Error {
    /// Creates an error about the parameters. No request was sent.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), url: None, status: None }
    }

    /// Creates an error about an address.
    pub fn at(address: &Address, kind: Kind, message: impl Into<String>) -> Self {
        Self { url: Some(address.to_string()), ..Self::new(kind, message) }
    }

    /// Returns the error with the status that the server gave.
    #[must_use]
    pub fn with_status(self, status: u16) -> Self {
        Self { status: Some(status), ..self }
    }
}

/// Failure of an exchange with a server, in the detail that messages need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The host does not allow the request.
    Denied,
    /// The server's name resolves to an address that the host does not connect to.
    ForbiddenAddress,
    /// The name could not be resolved; with a reason if it is known.
    Dns(Option<String>),
    /// The server does not listen, or there is no route to it.
    Unreachable,
    /// The connection ended too early.
    Interrupted,
    /// The host has too many connections.
    Busy,
    /// The certificate is not valid.
    Certificate,
    /// The connection could not be made secure.
    Tls,
    /// The time limit of the tool or of the host was reached.
    Timeout,
    /// A part of the request is larger than the host or the server accepts.
    RequestTooLarge(&'static str),
    /// A part of the response exceeds a limit of the host.
    ResponseTooLarge(&'static str),
    /// The response violates HTTP.
    Protocol,
    /// Anything else, in the host's words.
    Other(String),
}

impl Failure {
    /// Converts the failure to an error with a message. `method` and `address` are those of the failed request.
    pub fn into_error(self, method: &str, address: &Address) -> Error {
        let host = address.host();
        let (kind, message) = match self {
            Self::Denied => (Kind::Denied, denied(method, address)),
            Self::ForbiddenAddress => (
                Kind::Denied,
                format!(
                    "`{host}` stands for an address that tools may not reach, for example one of a private network"
                ),
            ),
            Self::Dns(None) => (Kind::Dns, format!("the name `{host}` could not be resolved")),
            Self::Dns(Some(reason)) => (Kind::Dns, format!("the name `{host}` could not be resolved: {reason}")),
            Self::Unreachable => (Kind::Connection, format!("`{}` does not accept connections", address.authority())),
            Self::Interrupted => {
                (Kind::Connection, format!("`{host}` ended the connection before its answer was complete"))
            }
            Self::Busy => (Kind::Connection, "the host has too many open connections".to_owned()),
            Self::Certificate => (Kind::Tls, format!("the certificate of `{host}` is not valid")),
            Self::Tls => (Kind::Tls, format!("no secure connection to `{host}` could be made")),
            Self::Timeout => (Kind::Timeout, format!("`{host}` did not answer completely in time")),
            Self::RequestTooLarge(part) => (Kind::Parameter, format!("the request's {part} is too large")),
            Self::ResponseTooLarge(part) => {
                (Kind::TooLarge, format!("the answer's {part} is larger than the host allows"))
            }
            Self::Protocol => (Kind::Protocol, format!("the answer of `{host}` breaks the rules of HTTP")),
            Self::Other(reason) => (Kind::Other, format!("the request to `{host}` failed: {reason}")),
        };
        Error::at(address, kind, message)
    }
}

fn denied(method: &str, address: &Address) -> String {
    let rule = address.rule();
    format!(
        "the policy does not let this tool make the request `{method} {address}`: it takes a rule such as \
         `http = [\"{rule}\"]` under `[tool.http]`, or the name that the tool is mounted under"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(failure: Failure, url: &str) -> (Kind, String) {
        let address = Address::parse(url).expect("an address");
        let error = failure.into_error("GET", &address);
        assert_eq!(error.url.as_deref(), Some(address.to_string().as_str()));
        (error.kind, error.message)
    }

    #[test]
    fn http_denial_names_the_missing_rule() {
        for (url, rule) in [
            ("https://api.example.com/v1?x=1", "\"api.example.com\""),
            ("https://api.example.com:8443/", "\"api.example.com:8443\""),
            ("http://localhost:8080/", "\"http://localhost:8080\""),
            ("http://example.com/", "\"http://example.com\""),
        ] {
            let (kind, message) = said(Failure::Denied, url);
            assert_eq!(kind, Kind::Denied);
            assert!(message.contains(rule), "{message}");
        }
        let (_, message) = said(Failure::Denied, "https://api.example.com/v1?x=1");
        assert!(message.contains("`GET https://api.example.com/v1?x=1`"), "{message}");
        assert!(message.contains("the policy does not let this tool"), "{message}");
    }

    #[test]
    fn http_failure_has_its_kind_and_names_the_server() {
        for (failure, kind) in [
            (Failure::ForbiddenAddress, Kind::Denied),
            (Failure::Dns(None), Kind::Dns),
            (Failure::Dns(Some("no such name".into())), Kind::Dns),
            (Failure::Unreachable, Kind::Connection),
            (Failure::Interrupted, Kind::Connection),
            (Failure::Certificate, Kind::Tls),
            (Failure::Tls, Kind::Tls),
            (Failure::Timeout, Kind::Timeout),
            (Failure::Protocol, Kind::Protocol),
            (Failure::Other("it rains".into()), Kind::Other),
        ] {
            let (found, message) = said(failure, "https://a.example/x");
            assert_eq!(found, kind);
            assert!(message.contains("`a.example`") || message.contains("`a.example:443`"), "{message}");
        }
        assert_eq!(said(Failure::RequestTooLarge("body"), "https://a.example").0, Kind::Parameter);
        assert_eq!(said(Failure::ResponseTooLarge("header"), "https://a.example").0, Kind::TooLarge);
    }
}
