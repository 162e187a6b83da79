//! Addresses of MCP servers that are reached by HTTP, and the headers of requests to them.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;

use http::Uri;
use http::header::{self, HeaderName, HeaderValue};
use http::uri::Scheme;
use tollhouse_types::permission::{MAX_PERMISSIONS, is_secret_name};

use super::mcp_server::{SECRET, text};
use super::policy::PolicyError;
use super::policy_parser::TableReader;
use super::spanned_value::SpannedValue;

/// Longest host name that the system resolves, in bytes.
const MAX_HOST: usize = 253;

/// Headers whose values are confidential: a policy names a secret in their place.
const CONFIDENTIAL: [HeaderName; 3] = [header::AUTHORIZATION, header::COOKIE, header::PROXY_AUTHORIZATION];

/// Headers that the client sends itself.
const OWN: [HeaderName; 10] = [
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::CONTENT_TYPE,
    header::HOST,
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("last-event-id"),
];

/// Address of an MCP server: `https`, or `http` to this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerUrl {
    text: String,
    host: String,
    port: u16,
    secure: bool,
}

/// Reason why a text is not the address of a server.
#[derive(Clone, Debug, thiserror::Error)]
#[error("`{url}` is not an address of a server: {reason}")]
pub struct ServerUrlError {
    url: String,
    reason: &'static str,
}

impl ServerUrl {
    /// Parses an address.
    ///
    /// # Errors
    /// If it is no URL, names no host or carries a password, or has a scheme that would show requests to the network.
    pub fn parse(text: &str) -> Result<Self, ServerUrlError> {
        let refused = |reason| ServerUrlError { url: text.to_owned(), reason };
        let uri: Uri = text.parse().map_err(|_| refused("it is no URL"))?;
        let authority = uri.authority().ok_or_else(|| refused("it names no host"))?;
        let host = authority.host();
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        if authority.as_str().contains('@') {
            return Err(refused("it carries a name or a password; those belong in a header, as a secret"));
        }
        // `Uri` drops a fragment in silence.
        if host.is_empty() || host.len() > MAX_HOST || text.contains('#') {
            return Err(refused("it names no host, or has a fragment"));
        }
        let secure = uri.scheme() == Some(&Scheme::HTTPS);
        if !secure && (uri.scheme() != Some(&Scheme::HTTP) || !is_loopback(host)) {
            return Err(refused("it must begin with `https://`; `http://` is for `localhost` and loopback addresses"));
        }
        let brackets = if text.contains('[') { 2 } else { 0 };
        let port = match authority.port_u16() {
            Some(port @ 1..) => port,
            // Without a port, an authority is its host: a port that is no number is not taken for none.
            None if authority.as_str().len() == host.len() + brackets => {
                if secure {
                    443
                } else {
                    80
                }
            }
            _ => return Err(refused("its port is not a number from 1 to 65535")),
        };
        Ok(Self { text: text.to_owned(), host: host.to_ascii_lowercase(), port, secure })
    }

    /// Returns the address as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the name or address of the host, without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns scheme, host and port: `https://mcp.example.com:443`.
    #[must_use]
    pub fn origin(&self) -> String {
        let scheme = if self.secure { "https" } else { "http" };
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        format!("{scheme}://{host}:{}", self.port)
    }

    /// Returns the TCP port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns true if the address is one of this machine, as far as it says so itself.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.host)
    }

    /// Returns true if connections are secured by TLS.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.secure
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Returns true if a host is this machine, whatever a resolver says.
fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Value of a header, which may end with that of a secret: `Bearer secret:GITHUB`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderText {
    /// Text before the secret, or all of it.
    pub before: String,
    /// Name of the secret, whose value the operator gives at each start.
    pub secret: Option<String>,
}

impl HeaderText {
    /// Formats the value as a policy has it.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.secret {
            Some(secret) => format!("{}{SECRET}{secret}", self.before),
            None => self.before.clone(),
        }
    }
}

/// Reads an address.
pub(super) fn url(node: SpannedValue, what: &str) -> Result<ServerUrl, PolicyError> {
    let span = node.span.clone();
    let address = ServerUrl::parse(&text(node, what)?);
    address.map_err(|error| {
        PolicyError::new(error.to_string(), span).hint("for example `url = \"https://mcp.example.com/mcp\"`")
    })
}

/// Reads headers.
pub(super) fn headers(node: SpannedValue, what: &str) -> Result<BTreeMap<String, HeaderText>, PolicyError> {
    let mut headers = BTreeMap::new();
    let table = node.span.clone();
    for (name, node) in TableReader::new(node, &format!("`{what}`"))?.rest() {
        let refused = |message: String| PolicyError::new(message, name.span.clone());
        let header = HeaderName::from_bytes(name.name.as_bytes())
            .map_err(|_| refused(format!("`{}` is not a name of a header", name.name)))?;
        if OWN.contains(&header) || header.as_str().starts_with("mcp-") {
            return Err(refused(format!("`{header}` is a header that the client sends itself")));
        }
        let span = node.span.clone();
        let value = value(&text(node, &name.name)?).map_err(|message| PolicyError::new(message, span.clone()))?;
        if value.secret.is_none() && CONFIDENTIAL.contains(&header) {
            return Err(PolicyError::new(
                format!("`{header}` is written in the policy, where everybody reads it"),
                span,
            )
            .hint("name a secret: `Authorization = \"Bearer secret:NAME\"`, and give its value with `--secret`"));
        }
        if headers.insert(header.as_str().to_owned(), value).is_some() {
            return Err(refused(format!("the header `{header}` is given twice")));
        }
    }
    if headers.len() > MAX_PERMISSIONS {
        let message = format!("`{what}` has {} headers: at most {MAX_PERMISSIONS} are allowed", headers.len());
        return Err(PolicyError::new(message, table));
    }
    Ok(headers)
}

/// Parses the value of a header.
fn value(text: &str) -> Result<HeaderText, String> {
    if HeaderValue::from_str(text).is_err() {
        return Err("the value of a header is one line of printable ASCII".to_owned());
    }
    match text.split_once(SECRET) {
        Some((before, secret)) if before.is_empty() || before.ends_with(' ') => {
            if !is_secret_name(secret) {
                return Err(format!("`{secret}` is not a name of a secret: letters, digits and `_`"));
            }
            Ok(HeaderText { before: before.to_owned(), secret: Some(secret.to_owned()) })
        }
        _ => Ok(HeaderText { before: text.to_owned(), secret: None }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Policy;
    use super::*;

    #[test]
    fn server_url_with_tls_or_to_this_machine_is_read() {
        for (text, host, port, secure) in [
            ("https://mcp.example.com/mcp", "mcp.example.com", 443, true),
            ("https://MCP.example.com:8443/a?b=c", "mcp.example.com", 8443, true),
            ("http://127.0.0.1:8000/mcp", "127.0.0.1", 8000, false),
            ("http://localhost", "localhost", 80, false),
            ("http://[::1]:9/", "::1", 9, false),
            ("https://[2001:db8::1]", "2001:db8::1", 443, true),
        ] {
            let url = ServerUrl::parse(text).expect(text);
            assert_eq!((url.host(), url.port(), url.is_secure()), (host, port, secure), "{text}");
        }
    }

    #[test]
    fn server_url_that_would_reveal_requests_is_refused() {
        for text in [
            "http://mcp.example.com/",
            "http://localhost.example.com/",
            "http://10.0.0.1/",
            "ftp://127.0.0.1/",
            "https://user:password@example.com/",
            "https://example.com/#a",
            "https://example.com:0/",
            "https://example.com:/",
            "https://example.com:65536/",
            "https:///mcp",
            "/mcp",
            "mcp.example.com",
            "",
        ] {
            assert!(ServerUrl::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn remote_server_is_read_and_written() {
        let text = "[mcp.hub]\nurl = \"https://mcp.example.com/mcp\"\ntimeout = \"20s\"\n\
                    headers = { Authorization = \"Bearer secret:HUB\", X-Team = \"blue\" }";
        let policy = Policy::parse(text).expect("a policy");
        let hub = &policy.mcp["hub"];
        assert_eq!(hub.url.as_ref().map(ServerUrl::as_str), Some("https://mcp.example.com/mcp"));
        let bearer = HeaderText { before: "Bearer ".to_owned(), secret: Some("HUB".to_owned()) };
        assert_eq!(hub.headers["authorization"], bearer);
        assert_eq!(hub.headers["x-team"].text(), "blue");
        assert_eq!(Policy::parse(&policy.to_toml()).expect("it is TOML").to_json(), policy.to_json());
        Policy::parse_json(&policy.to_json().to_string()).expect("it is JSON");
    }

    #[test]
    fn remote_server_that_makes_no_sense_is_refused() {
        let server = |rest: &str| format!("[mcp.s]\nurl = \"https://example.com/\"\n{rest}");
        for (text, expected) in [
            (server("command = [\"x\"]"), "both a `command` and a `url`"),
            (server("env = { A = \"b\" }"), "`env` is for programs"),
            (server("ports = [443]"), "`ports` is for programs"),
            ("[mcp.s]\ncommand = [\"x\"]\nheaders = { A = \"b\" }".to_owned(), "no `url`"),
            ("[mcp.s]\nurl = \"http://example.com/\"".to_owned(), "must begin with `https://`"),
            (server("headers = { Authorization = \"Bearer abc\" }"), "where everybody reads it"),
            (server("headers = { Authorization = \"secret:a b\" }"), "not a name of a secret"),
            (server("headers = { Host = \"other\" }"), "sends itself"),
            (server("headers = { Mcp-Session-Id = \"x\" }"), "sends itself"),
            (server("headers = { A = \"x\", a = \"y\" }"), "given twice"),
            (server("headers = { A = \"x\\ny\" }"), "one line"),
            (server("headers = { \"A B\" = \"x\" }"), "not a name of a header"),
        ] {
            let error = Policy::parse(&text).expect_err(&text);
            assert!(error.message.contains(expected), "{text}: {error}");
            assert!(error.span.is_some(), "{text}");
        }
    }
}
