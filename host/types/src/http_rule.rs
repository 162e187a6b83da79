//! Rules for HTTP requests: requested by a manifest, granted by a policy. Text and comparison only: must not resolve
//! names or connect.
//!
//! **Invariant:** a rule covers only what it names: never another scheme, port, method or path.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use crate::excerpt;
use crate::http_path::is_ambiguous;

/// Set of HTTP requests: `[METHOD[,METHOD] ][scheme://]host[:port][/path]`.
///
/// The scheme is `https` unless it is written, the port the scheme's unless it is written, `*` any port. The host is a
/// name, `*.example.com` (every name below it, not itself), an IP address (IPv6 in brackets), or `*`: any host.
/// Addresses that are not public are reached only by a rule that names them, which the host enforces. The path covers
/// itself and what is below it. Without methods, every method; without a path, every path.
///
/// ```
/// use tollhouse_types::http_rule::{HttpRequest, HttpRule};
/// let rule: HttpRule = "GET,HEAD https://api.acme.example/v1".parse()?;
/// let ask = |method, path| HttpRequest { method, scheme: "https", host: "api.acme.example", port: 443, path };
/// assert!(rule.covers(&ask("GET", "/v1/charges")));
/// assert!(!rule.covers(&ask("POST", "/v1/charges")));
/// assert!(!rule.covers(&ask("GET", "/v10")));
/// # Ok::<(), tollhouse_types::http_rule::HttpRuleError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRule {
    /// Sorted list of methods. An empty list means every method.
    methods: Vec<String>,
    secure: bool,
    host: HostPattern,
    /// `None` means every port.
    port: Option<u16>,
    /// Path without a trailing `/`. An empty path means every path.
    path: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum HostPattern {
    Any,
    /// Any name below this one.
    Under(String),
    Name(String),
    Address(IpAddr),
}

/// HTTP request, as it is sent.
#[derive(Debug, Clone, Copy)]
pub struct HttpRequest<'a> {
    /// Method, in capitals if it is a standard one.
    pub method: &'a str,
    /// Scheme: `http` or `https`.
    pub scheme: &'a str,
    /// Host: a name or an address in any spelling; IPv6 with or without brackets.
    pub host: &'a str,
    /// Port of the connection.
    pub port: u16,
    /// Path without the query.
    pub path: &'a str,
}

/// Error of a text that is not an HTTP rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an HTTP rule: {problem}")]
pub struct HttpRuleError {
    text: String,
    problem: &'static str,
}

impl HttpRuleError {
    /// Returns a hint on the syntax of rules.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        "write `[METHOD,… ][https://]host[:port][/path]`, for example `GET https://api.example.com/v1`"
    }
}

impl HttpRule {
    /// Returns true if the set contains a request. A path that some server may read as another never matches a rule
    /// with a path: one with `.`, `..`, a separator in disguise, control characters, or bytes other than escaped UTF-8.
    #[must_use]
    pub fn covers(&self, request: &HttpRequest<'_>) -> bool {
        (self.methods.is_empty() || self.methods.iter().any(|method| method == request.method))
            && request.scheme == self.scheme()
            && self.port.is_none_or(|port| port == request.port)
            && self.host.covers(&HostPattern::of(request.host))
            && self.covers_path(request.path)
    }

    /// Returns true if some request is in both sets.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let methods = self.methods.is_empty()
            || other.methods.is_empty()
            || self.methods.iter().any(|method| other.methods.contains(method));
        let ports = self.port.is_none() || other.port.is_none() || self.port == other.port;
        let paths = is_below(&self.path, &other.path) || is_below(&other.path, &self.path);
        let hosts = self.host.covers(&other.host) || other.host.covers(&self.host);
        methods && ports && paths && hosts && self.secure == other.secure
    }

    /// Returns true if the other set contains every request of this one.
    #[must_use]
    pub fn is_subset_of(&self, other: &Self) -> bool {
        let methods = other.methods.is_empty()
            || (!self.methods.is_empty() && self.methods.iter().all(|method| other.methods.contains(method)));
        let ports = other.port.is_none() || self.port == other.port;
        methods
            && ports
            && self.secure == other.secure
            && other.host.covers(&self.host)
            && is_below(&self.path, &other.path)
    }

    /// Returns true if the rule names exactly one host, so that no other host can receive its requests.
    #[must_use]
    pub fn names_one_host(&self) -> bool {
        matches!(self.host, HostPattern::Name(_) | HostPattern::Address(_))
    }

    /// Returns true if the rule names exactly this address. Only such a rule permits requests to an address that is not
    /// public.
    #[must_use]
    pub fn names_address(&self, address: IpAddr) -> bool {
        self.host == HostPattern::Address(address.to_canonical())
    }

    /// Returns true if the rule permits requests over a network without TLS: by `http`, and not to this machine.
    #[must_use]
    pub fn is_open(&self) -> bool {
        let own = match &self.host {
            HostPattern::Address(address) => address.is_loopback(),
            HostPattern::Name(name) => name == "localhost",
            HostPattern::Any | HostPattern::Under(_) => false,
        };
        !self.secure && !own
    }

    fn scheme(&self) -> &'static str {
        if self.secure { "https" } else { "http" }
    }

    fn covers_path(&self, path: &str) -> bool {
        self.path.is_empty() || (is_below(path, &self.path) && !is_ambiguous(path))
    }
}

impl HostPattern {
    /// Parses the host of a request.
    fn of(text: &str) -> Self {
        let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        match bare.parse::<IpAddr>() {
            Ok(address) => Self::Address(address.to_canonical()),
            Err(_) => Self::Name(canonical_name(bare)),
        }
    }

    fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) => true,
            (Self::Under(base), Self::Under(name) | Self::Name(name)) => {
                name == base && matches!(other, Self::Under(_))
                    || name.strip_suffix(base.as_str()).is_some_and(|head| head.len() > 1 && head.ends_with('.'))
            }
            (own, other) => own == other,
        }
    }
}

/// Normalizes a host name for comparison: lower case, and without the trailing dot of an absolute name.
fn canonical_name(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

/// Returns true if a path is `base` or below it.
fn is_below(path: &str, base: &str) -> bool {
    path.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || base.is_empty())
}

impl FromStr for HttpRule {
    type Err = HttpRuleError;

    fn from_str(text: &str) -> Result<Self, HttpRuleError> {
        parse(text).map_err(|problem| HttpRuleError { text: excerpt(text), problem })
    }
}

/// Longest rule in bytes. Real paths are shorter.
const MAX_RULE: usize = 2048;

fn parse(text: &str) -> Result<HttpRule, &'static str> {
    if text.len() > MAX_RULE {
        return Err("it is too long");
    }
    let (methods, target) = match text.split_once(' ') {
        Some((methods, target)) => (parse_methods(methods)?, target),
        None => (Vec::new(), text),
    };
    let (secure, rest) = match target.split_once("://") {
        Some(("https", rest)) => (true, rest),
        Some(("http", rest)) => (false, rest),
        Some(_) => return Err("the scheme must be `https` or `http`"),
        None => (true, target),
    };
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let (host, port) = split_port(authority)?;
    let port = match port {
        None => Some(if secure { 443 } else { 80 }),
        Some("*") => None,
        Some(port) => Some(port.parse().ok().filter(|&port| port > 0).ok_or("the port must be 1 to 65535, or `*`")?),
    };
    let path = path.trim_end_matches('/');
    if path.bytes().any(|byte| !byte.is_ascii_graphic() || b"*?#".contains(&byte)) || is_ambiguous(path) {
        return Err("the path must not have `*`, `?`, `#` or `..`; it covers all paths below it");
    }
    Ok(HttpRule { methods, secure, host: parse_host(host)?, port, path: path.to_owned() })
}

fn parse_methods(text: &str) -> Result<Vec<String>, &'static str> {
    let mut methods: Vec<String> = text.split(',').map(str::to_owned).collect();
    let fits =
        |method: &String| !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-');
    if !methods.iter().all(fits) {
        return Err("methods must be in capitals, separated by commas: `GET,HEAD`");
    }
    methods.sort();
    methods.dedup();
    Ok(methods)
}

fn split_port(authority: &str) -> Result<(&str, Option<&str>), &'static str> {
    if authority.starts_with('[') {
        let end = authority.find(']').ok_or("the bracket is not closed")?;
        let (host, rest) = authority.split_at(end + 1);
        return match rest.strip_prefix(':') {
            None if rest.is_empty() => Ok((host, None)),
            None => Err("only `:port` may follow the bracket"),
            port => Ok((host, port)),
        };
    }
    Ok(authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port))))
}

fn parse_host(text: &str) -> Result<HostPattern, &'static str> {
    if text == "*" {
        return Ok(HostPattern::Any);
    }
    if let Some(inner) = text.strip_prefix('[') {
        let address: Ipv6Addr =
            inner.trim_end_matches(']').parse().map_err(|_| "brackets must hold an IPv6 address")?;
        return Ok(HostPattern::Address(IpAddr::V6(address).to_canonical()));
    }
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok(HostPattern::Address(address));
    }
    let (under, name) = text.strip_prefix("*.").map_or((false, text), |name| (true, name));
    let name = canonical_name(name);
    let label = |label: &str| {
        let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        (1..=63).contains(&label.len()) && label.bytes().all(inner)
    };
    if name.len() > 253 || !name.split('.').all(label) {
        return Err("the host must be an ASCII name (an international one in its `xn--` form), an address, or `*`");
    }
    // `127.1`, `0x7f.1`: numbers that resolvers read as addresses.
    if name
        .rsplit('.')
        .next()
        .is_some_and(|last| last.starts_with("0x") || last.bytes().all(|byte| byte.is_ascii_digit()))
    {
        return Err("an address must have four parts, or be IPv6 in brackets");
    }
    Ok(if under { HostPattern::Under(name) } else { HostPattern::Name(name) })
}

impl fmt::Display for HttpRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.methods.is_empty() {
            write!(f, "{} ", self.methods.join(","))?;
        }
        write!(f, "{}://", self.scheme())?;
        match &self.host {
            HostPattern::Any => f.write_str("*")?,
            HostPattern::Under(name) => write!(f, "*.{name}")?,
            HostPattern::Name(name) => f.write_str(name)?,
            HostPattern::Address(IpAddr::V4(address)) => write!(f, "{address}")?,
            HostPattern::Address(IpAddr::V6(address)) => write!(f, "[{address}]")?,
        }
        match self.port {
            None => f.write_str(":*")?,
            Some(port) if port == if self.secure { 443 } else { 80 } => {}
            Some(port) => write!(f, ":{port}")?,
        }
        f.write_str(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rule(text: &str) -> HttpRule {
        text.parse().expect("a rule")
    }

    /// Checks a request given as `METHOD URL`, split as a URL is.
    fn covers(rule_text: &str, request: &str) -> bool {
        let (method, url) = request.split_once(' ').expect("a method");
        let (scheme, rest) = url.split_once("://").expect("a scheme");
        let (authority, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
        let (host, port) = split_port(authority).expect("an authority");
        let default = if scheme == "https" { 443 } else { 80 };
        let port = port.map_or(default, |port| port.parse().expect("a port"));
        rule(rule_text).covers(&HttpRequest { method, scheme, host, port, path })
    }

    #[test]
    fn http_rule_covers_exactly_the_requests_it_names() {
        for (rule, request, expected) in [
            ("api.example", "GET https://api.example/x", true),
            ("api.example", "GET http://api.example/x", false),
            ("api.example:443", "DELETE https://API.example./", true),
            ("api.example", "GET https://api.example:8443/", false),
            ("api.example:*", "GET https://api.example:8443/", true),
            ("http://api.example", "GET http://api.example/", true),
            ("api.example", "GET https://api.example.evil.example/", false),
            ("api.example", "GET https://evil-api.example/", false),
            ("*.example", "GET https://api.example/", true),
            ("*.example", "GET https://a.b.example/", true),
            ("*.example", "GET https://example/", false),
            ("*.example", "GET https://badexample/", false),
            ("*", "GET https://anything.test/", true),
            ("*", "GET https://10.0.0.1/", true),
            ("10.0.0.1", "GET https://10.0.0.1/", true),
            ("10.0.0.1", "GET https://[::ffff:10.0.0.1]/", true),
            ("http://[::1]:8080", "GET http://[0:0:0:0:0:0:0:1]:8080/", true),
            ("GET,HEAD api.example", "HEAD https://api.example/", true),
            ("GET,HEAD api.example", "POST https://api.example/", false),
            ("GET,HEAD api.example", "get https://api.example/", false),
            ("api.example/v1/", "GET https://api.example/v1", true),
            ("api.example/v1", "GET https://api.example/v1/x", true),
            ("api.example/v1", "GET https://api.example/v10", false),
            ("api.example/v1", "GET https://api.example/V1", false),
            ("api.example/v1", "GET https://api.example/", false),
            ("api.example/v1", "GET https://api.example/v1/../admin", false),
            ("api.example/v1", "GET https://api.example/v1/%2e%2E/admin", false),
            ("api.example/v1", "GET https://api.example/v1/caf%C3%A9%20x%", true),
            ("api.example/v1", "GET https://api.example/v1/..%00/admin", false),
            ("api.example/v1", "GET https://api.example/v1/\u{ff0e}\u{ff0e}/admin", false),
            ("api.example/v1", "GET https://api.example/v1/%ef%bc%8e%ef%bc%8e/admin", false),
            ("api.example/v1", "GET https://api.example/v1/caf\u{e9}", false),
            ("api.example/v1", "GET https://api.example/v1/%ef%b8%b0/admin", false),
            ("api.example/v1", "GET https://api.example/v1/..%ef%b8%94x/admin", false),
            ("api.example/v1", "GET https://api.example/v1/..%c2%a5../admin", false),
            ("api.example/v1", "GET https://api.example/v1/..%e2%82%a9../admin", false),
            ("api.example/v1", "GET https://api.example/v1/%u002e%u002e/admin", false),
            ("api.example/v1", "GET https://api.example/v1/100%25/%7Eme/%5Bx%5D", true),
            // A rule without a path places no condition on paths.
            ("api.example", "GET https://api.example/..%00/caf%e9", true),
        ] {
            assert_eq!(covers(rule, request), expected, "{rule} {request}");
        }
    }

    #[test]
    fn http_rule_that_is_malformed_is_refused() {
        for text in [
            "",
            " ",
            "/",
            "https://",
            "ftp://x",
            "x:0",
            "x:65536",
            "x:y",
            "get x",
            "GET,, x",
            "GET  x",
            "a b c",
            "x?q",
            "x/*",
            "x/a/../b",
            "x/%2e%2e",
            "x/%00",
            "x/%c0%ae",
            "x y",
            "*.",
            "*.*",
            "a..b",
            "ex*mple",
            "user@x",
            "münchen.example",
            "[::1",
            "[::1]x",
            "[10.0.0.1]",
            "127.1",
            "0x7f.1",
            "2130706433",
            "x\n",
            "x/\u{e9}",
        ] {
            assert!(text.parse::<HttpRule>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn http_rule_for_plain_http_beyond_loopback_is_open() {
        for (text, open) in [
            ("http://api.example", true),
            ("http://10.0.0.7:8080", true),
            ("http://*", true),
            ("http://*.localhost", true),
            ("http://localhost.example", true),
            ("http://0.0.0.0", true),
            ("http://127.0.0.1:8765", false),
            ("http://127.9.9.9/x", false),
            ("http://[::1]:*", false),
            ("http://[::ffff:127.0.0.1]", false),
            ("http://localhost:8080", false),
            ("api.example", false),
            ("https://10.0.0.7", false),
        ] {
            assert_eq!(rule(text).is_open(), open, "{text}");
        }
    }

    #[test]
    fn http_rules_that_overlap_are_detected() {
        for (a, b, expected) in [
            ("*", "api.example", true),
            ("*.example", "api.example/v1", true),
            ("GET *", "POST *", false),
            ("*", "10.0.0.1", true),
            ("x", "http://x", false),
            ("x:*", "x:8080", true),
            ("x/a", "x/b", false),
            ("x/a", "x/a/b", true),
            ("*.a.example", "*.example", true),
        ] {
            assert_eq!((rule(a).overlaps(&rule(b)), rule(b).overlaps(&rule(a))), (expected, expected), "{a} {b}");
        }
    }

    proptest! {
        #[test]
        fn http_rule_displayed_parses_back_equal(text in "(GET |GET,PUT )?(https?://)?([*]|[*]\\.)?[a-z0-9.\\[\\]:]{0,12}(:[0-9*]{1,5})?(/[a-z%./]{0,8})?") {
            if let Ok(rule) = text.parse::<HttpRule>() {
                prop_assert_eq!(rule.to_string().parse::<HttpRule>(), Ok(rule));
            }
        }
    }
}
