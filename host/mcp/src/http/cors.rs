//! Answers for web pages of other origins (CORS), as far as the operator has named these: a browser asks before it sends a
//! request, and shows a page nothing of an answer that does not name its origin.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, HeaderMap, ORIGIN, VARY,
};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Response, StatusCode};
use http_body_util::{BodyExt as _, Empty};

use super::refusals::Answer;

/// Headers that a page may send, besides those that begin with [`OF_PROTOCOL`].
const ALLOWED: [&str; 4] = ["accept", "authorization", "content-type", "last-event-id"];

/// Beginning of the protocol's own headers.
const OF_PROTOCOL: &str = "mcp-";

/// Headers that a page sees in an answer.
const EXPOSED: &str = "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate";

/// Time for which a browser remembers what is allowed, in seconds.
const REMEMBERED: &str = "600";

/// Origins whose pages may send requests.
pub(super) struct NamedOrigins(Vec<String>);

impl NamedOrigins {
    pub(super) fn new(origins: &[String]) -> Self {
        Self(origins.iter().map(|origin| normal(origin)).collect())
    }

    /// Returns the origin of a request, if it is named.
    pub(super) fn of(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let origin = headers.get(ORIGIN)?;
        self.0.contains(&normal(origin.to_str().ok()?)).then(|| origin.clone())
    }
}

/// Returns an origin without what may be left out: the default port, and a slash.
fn normal(origin: &str) -> String {
    let origin = origin.trim_end_matches('/').to_ascii_lowercase();
    for (scheme, port) in [("https://", ":443"), ("http://", ":80")] {
        if let Some(host) = origin.strip_suffix(port).filter(|host| host.starts_with(scheme)) {
            return host.to_owned();
        }
    }
    origin
}

/// Returns the answer to a browser that asks what a page may send; `None` for other requests.
pub(super) fn preflight(parts: &Parts) -> Option<Answer> {
    if parts.method != Method::OPTIONS || !parts.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
        return None;
    }
    let asked = parts.headers.get_all(ACCESS_CONTROL_REQUEST_HEADERS).iter();
    let asked = asked.filter_map(|names| names.to_str().ok()).flat_map(|names| names.split(','));
    let names = asked.map(|name| name.trim().to_ascii_lowercase());
    let allowed: Vec<String> =
        names.filter(|name| ALLOWED.contains(&name.as_str()) || name.starts_with(OF_PROTOCOL)).collect();
    let mut answer = Response::new(Empty::new().map_err(|never| match never {}).boxed_unsync());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    let headers = answer.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(REMEMBERED));
    if let Ok(allowed) = HeaderValue::from_str(&allowed.join(", ")) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    }
    if parts.headers.contains_key("access-control-request-private-network") {
        let name = HeaderName::from_static("access-control-allow-private-network");
        headers.insert(name, HeaderValue::from_static("true"));
    }
    Some(answer)
}

/// Lets a page of this origin see an answer.
pub(super) fn allow(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    headers.append(VARY, HeaderValue::from_static("Origin"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_compared_without_default_ports() {
        let named = NamedOrigins::new(&["https://App.example:443".to_owned(), "http://localhost:8080/".to_owned()]);
        let of = |origin: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(ORIGIN, HeaderValue::from_static(origin));
            named.of(&headers).is_some()
        };
        assert!(of("https://app.example") && of("http://localhost:8080"));
        assert!(!of("http://app.example") && !of("https://app.example.evil.example") && !of("null"));
        assert!(!of("http://localhost") && !of("https://app.example:4433"));
    }
}
