//! Requests to one repository, each answer bounded, each told who asks if it must be.
//!
//! **Invariant:** credentials and tokens go to the registry's own origin, and credentials to the issuer of tokens that it names
//! over a connection that is as safe; never to where a redirect leads.

use std::cell::RefCell;
use std::io::Read;
use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;
use ureq::http::header::{AUTHORIZATION, CONTENT_LENGTH, LOCATION, WWW_AUTHENTICATE};
use ureq::http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body, Proxy, SendBody};

use super::challenge::Challenge;
use super::{OciError, Remote, Repository};
use crate::error::excerpt;
use crate::store::{Blob, length};

/// How long a host may take to be found and to answer a connection.
const CONNECT: Duration = Duration::from_secs(30);

/// How long an answer may take to begin.
const ANSWER: Duration = Duration::from_secs(120);

/// How long a body may take: the largest component over a slow line.
const BODY: Duration = Duration::from_secs(3600);

/// Most redirects of one request: registries use one, to where they keep their blobs.
const MAX_REDIRECTS: usize = 5;

/// Largest text that says what went wrong, and largest token, in bytes.
const MAX_TEXT: u64 = 64 << 10;

/// What is asked for.
pub(super) struct Ask<'a> {
    pub(super) method: Method,
    /// For messages: a verb and its object.
    pub(super) what: &'a str,
    pub(super) headers: &'a [(&'a str, &'a str)],
    pub(super) body: Option<&'a [u8]>,
}

impl<'a> Ask<'a> {
    pub(super) fn new(method: Method, what: &'a str) -> Self {
        Self { method, what, headers: &[], body: None }
    }
}

/// The way to one repository.
pub(super) struct Wire<'a> {
    remote: &'a Remote<'a>,
    repository: &'a Repository,
    agent: Agent,
    base: Uri,
    scope: &'static str,
    authorization: RefCell<Option<HeaderValue>>,
}

impl<'a> Wire<'a> {
    /// `scope` is what is to be done there: `pull`, or `pull,push`. Never more is asked for.
    pub(super) fn new(
        remote: &'a Remote<'a>,
        repository: &'a Repository,
        scope: &'static str,
    ) -> Result<Self, OciError> {
        let scheme = if remote.plain_http || repository.is_local() { "http" } else { "https" };
        // Docker's own registry answers under another name than its images have.
        let host = if repository.host() == "docker.io" { "registry-1.docker.io" } else { repository.host() };
        let unreachable = |problem: String| OciError::Unreachable { host: repository.host().to_owned(), problem };
        let base = format!("{scheme}://{host}/").parse().map_err(|error| unreachable(format!("{error}")))?;
        let mut tls = TlsConfig::builder();
        if let Some(pem) = &remote.certificates {
            let certificates: Result<Vec<Certificate<'static>>, _> = parse_pem(pem)
                .filter_map(|item| match item {
                    Ok(PemItem::Certificate(certificate)) => Some(Ok(certificate)),
                    Ok(_) => None,
                    Err(error) => Some(Err(error)),
                })
                .collect();
            tls = tls.root_certs(RootCerts::from(certificates.map_err(|error| unreachable(error.to_string()))?));
        }
        let proxy = (remote.proxy && !repository.is_local()).then(Proxy::try_from_env).flatten();
        let config = Agent::config_builder()
            .tls_config(tls.build())
            .proxy(proxy)
            .http_status_as_error(false)
            .max_redirects(0)
            .user_agent(concat!("tollhouse/", env!("CARGO_PKG_VERSION")))
            .timeout_resolve(Some(CONNECT))
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(ANSWER))
            .timeout_send_body(Some(BODY))
            .timeout_recv_body(Some(BODY))
            .build();
        Ok(Self { remote, repository, agent: config.into(), base, scope, authorization: RefCell::default() })
    }

    /// The address of something of the repository: `manifests/1.0.0`.
    pub(super) fn uri(&self, rest: &str) -> Uri {
        let text = format!("{}v2/{}/{rest}", self.base, self.repository.path());
        text.parse().expect("hosts, paths, tags and digests hold nothing that a URI does not")
    }

    /// Where a `Location` leads.
    pub(super) fn location(&self, from: &Uri, headers: &HeaderMap) -> Result<Uri, OciError> {
        let text = headers.get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let refused = || OciError::Redirected { host: self.host(), to: excerpt(text) };
        let to = if text.starts_with('/') && !text.starts_with("//") {
            let authority = from.authority().ok_or_else(refused)?;
            format!("{}://{authority}{text}", from.scheme_str().unwrap_or("https"))
        } else {
            text.to_owned()
        };
        let to: Uri = to.parse().map_err(|_| refused())?;
        self.is_safe(&to).then_some(to).ok_or_else(refused)
    }

    /// Whether something may be asked of it: over TLS; or without, if the registry itself is asked so, of its own host, and of
    /// others only if the user wants that.
    fn is_safe(&self, uri: &Uri) -> bool {
        let is_named = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
        let is_as_plain = uri.scheme_str() == self.base.scheme_str();
        is_named
            && (uri.scheme_str() == Some("https") || is_as_plain && (self.remote.plain_http || self.is_own_host(uri)))
    }

    /// Whether credentials may go there for a token: over TLS, or, to a registry that is asked plainly, to its own host.
    fn is_issuer(&self, uri: &Uri) -> bool {
        self.is_safe(uri) && (uri.scheme_str() == Some("https") || self.is_own_host(uri))
    }

    fn is_own_host(&self, uri: &Uri) -> bool {
        uri.host().is_some_and(|host| self.base.host().is_some_and(|own| own.eq_ignore_ascii_case(host)))
    }

    /// Asks, once more if the registry wants to know who does, and follows where it sends.
    pub(super) fn ask(&self, ask: &Ask<'_>, uri: Uri) -> Result<Response<Body>, OciError> {
        let mut uri = uri;
        let (mut asked, mut redirects) = (false, 0);
        loop {
            let ours = is_same_origin(&uri, &self.base);
            let authorization = self.authorization.borrow().clone().filter(|_| ours);
            let response = self.send(ask, &uri, authorization)?;
            let status = response.status();
            if status == StatusCode::UNAUTHORIZED && ours && !asked {
                asked = true;
                self.authenticate(ask.what, response.headers())?;
            } else if status.is_redirection() && ask.method == Method::GET && redirects < MAX_REDIRECTS {
                redirects += 1;
                uri = self.location(&uri, response.headers())?;
            } else {
                return Ok(response);
            }
        }
    }

    fn send(&self, ask: &Ask<'_>, uri: &Uri, authorization: Option<HeaderValue>) -> Result<Response<Body>, OciError> {
        let mut request = Request::builder().method(ask.method.clone()).uri(uri);
        for (name, value) in ask.headers {
            request = request.header(*name, *value);
        }
        if let Some(value) = authorization {
            request = request.header(AUTHORIZATION, value);
        }
        let sent = match ask.body {
            None => request.body(()).map_err(ureq::Error::from).and_then(|request| self.agent.run(request)),
            Some(bytes) => {
                let mut reader = Watched { bytes, all: length(bytes), what: ask.what, remote: self.remote };
                let request = request.header(CONTENT_LENGTH, length(bytes)).body(SendBody::from_reader(&mut reader));
                request.map_err(ureq::Error::from).and_then(|request| self.agent.run(request))
            }
        };
        sent.map_err(|error| OciError::Unreachable {
            host: uri.authority().map_or_else(|| self.host(), ToString::to_string),
            problem: error.to_string(),
        })
    }

    pub(super) fn host(&self) -> String {
        self.repository.host().to_owned()
    }

    /// Finds out what to say of who asks.
    fn authenticate(&self, what: &str, headers: &HeaderMap) -> Result<(), OciError> {
        let texts = headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        let challenges: Vec<Challenge> = texts.filter_map(Challenge::read).collect();
        let credentials = (self.remote.credentials)(self.repository.host())
            .map_err(|problem| OciError::Credentials { host: self.host(), problem })?;
        let basic = credentials.map(|it| format!("Basic {}", STANDARD.encode(format!("{}:{}", it.name, it.password))));
        let known = basic.is_some();
        let value = match (challenges.first(), basic) {
            (Some(Challenge::Bearer { realm, service }), basic) => {
                Some(format!("Bearer {}", self.token(what, realm, service.as_deref(), basic)?))
            }
            (Some(Challenge::Basic), basic) => basic,
            (None, _) => None,
        };
        let value = value.and_then(|value| HeaderValue::from_str(&value).ok());
        let mut value =
            value.ok_or_else(|| OciError::Unauthorized { host: self.host(), what: what.to_owned(), known })?;
        value.set_sensitive(true);
        *self.authorization.borrow_mut() = Some(value);
        Ok(())
    }

    /// A token for this repository and what is to be done there. No redirect is followed on the way.
    fn token(&self, what: &str, realm: &str, service: Option<&str>, basic: Option<String>) -> Result<String, OciError> {
        #[derive(Deserialize)]
        struct Answer {
            token: Option<String>,
            access_token: Option<String>,
        }
        let refused = |problem: String| OciError::Refused { host: self.host(), what: what.to_owned(), problem };
        let separator = if realm.contains('?') { '&' } else { '?' };
        let scope = format!("repository:{}:{}", self.repository.path(), self.scope);
        let service = service.map(|service| format!("&service={}", percent(service))).unwrap_or_default();
        let uri = format!("{realm}{separator}scope={}{service}", percent(&scope)).parse::<Uri>();
        let uri = uri.ok().filter(|uri| self.is_issuer(uri));
        let uri =
            uri.ok_or_else(|| refused(format!("it wants a token of `{}`, which is not asked", excerpt(realm))))?;
        let known = basic.is_some();
        let basic = basic.and_then(|basic| HeaderValue::from_str(&basic).ok());
        let response = self.send(&Ask::new(Method::GET, what), &uri, basic)?;
        if matches!(response.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(OciError::Unauthorized { host: self.host(), what: what.to_owned(), known });
        }
        if response.status() != StatusCode::OK {
            return Err(refused(format!("who gives tokens answers {}", response.status())));
        }
        let bytes = self.read(response, "token", MAX_TEXT)?;
        let answer: Option<Answer> = serde_json::from_slice(&bytes).ok();
        let token = answer.and_then(|answer| answer.token.or(answer.access_token));
        token.ok_or_else(|| refused("who gives tokens gives none".into()))
    }

    /// What the registry says when it does not do what was asked: its status, and the first of its errors.
    pub(super) fn refusal(&self, ask: &Ask<'_>, response: Response<Body>) -> OciError {
        #[derive(Deserialize)]
        struct Answer {
            errors: Vec<Problem>,
        }
        #[derive(Deserialize)]
        struct Problem {
            code: String,
            #[serde(default)]
            message: String,
        }
        let (status, what) = (response.status(), ask.what.to_owned());
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            let known = self.authorization.borrow().is_some();
            return OciError::Unauthorized { host: self.host(), what, known };
        }
        let said = self.read(response, "answer", MAX_TEXT).ok();
        let said: Option<Answer> = said.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let said = said.and_then(|answer| answer.errors.into_iter().next());
        let said = said.map(|problem| format!(": {} {}", excerpt(&problem.code), excerpt(&problem.message)));
        OciError::Refused { host: self.host(), what, problem: format!("{status}{}", said.unwrap_or_default()) }
    }

    /// A body, if it is no longer than that.
    pub(super) fn read(&self, response: Response<Body>, what: &str, limit: u64) -> Result<Vec<u8>, OciError> {
        let too_large = || OciError::TooLarge { what: what.to_owned(), limit };
        let mut body = response.into_body();
        let claimed = body.content_length();
        if claimed.is_some_and(|claimed| claimed > limit) {
            return Err(too_large());
        }
        let mut reader = body.as_reader();
        // What it claims is not believed: room is made as bytes come.
        let (mut bytes, mut piece) = (Vec::new(), vec![0; 64 << 10]);
        loop {
            let count = reader
                .read(&mut piece)
                .map_err(|error| OciError::Unreachable { host: self.host(), problem: error.to_string() })?;
            if count == 0 {
                return Ok(bytes);
            }
            bytes.extend_from_slice(&piece[..count]);
            if length(&bytes) > limit {
                return Err(too_large());
            }
            (self.remote.watch)(what, length(&bytes), claimed.unwrap_or(limit));
        }
    }

    /// A blob, checked. `limit` is what such a part may have.
    pub(super) fn blob(&self, blob: Blob, what: &str, limit: u64) -> Result<Vec<u8>, OciError> {
        if blob.size > limit {
            return Err(OciError::TooLarge { what: what.to_owned(), limit });
        }
        let give = format!("give the {what}");
        let ask = Ask::new(Method::GET, &give);
        let response = self.ask(&ask, self.uri(&format!("blobs/{}", blob.digest)))?;
        if response.status() != StatusCode::OK {
            return Err(self.refusal(&ask, response));
        }
        let bytes = self.read(response, what, blob.size)?;
        let found = Blob::of(&bytes);
        if found != blob {
            return Err(OciError::Altered { what: what.to_owned(), expected: blob.digest, found: found.digest });
        }
        Ok(bytes)
    }
}

/// A body whose bytes are told as they go.
struct Watched<'a> {
    bytes: &'a [u8],
    all: u64,
    what: &'a str,
    remote: &'a Remote<'a>,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        (self.remote.watch)(self.what, self.all - length(self.bytes), self.all);
        Ok(count)
    }
}

/// Whether two addresses are of one scheme, host and port.
fn is_same_origin(one: &Uri, other: &Uri) -> bool {
    let origin = |uri: &Uri| {
        let secure = uri.scheme_str() == Some("https");
        let host = uri.host().map(str::to_ascii_lowercase);
        (secure, host, uri.port_u16().unwrap_or(if secure { 443 } else { 80 }))
    };
    origin(one) == origin(other)
}

/// A text as a part of a query.
pub(super) fn percent(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let write = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(write).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(text: &str) -> Uri {
        text.parse().expect(text)
    }

    #[test]
    fn origins_are_compared_by_scheme_host_and_port() {
        let ours = uri("https://ghcr.io/v2/");
        for (other, same) in [
            ("https://GHCR.io:443/x", true),
            ("https://ghcr.io:444/x", false),
            ("http://ghcr.io:443/x", false),
            ("https://ghcr.io.evil/x", false),
        ] {
            assert_eq!(is_same_origin(&ours, &uri(other)), same, "{other}");
        }
    }

    #[test]
    fn what_is_sent_elsewhere_goes_by_tls_or_not_at_all() {
        let credentials = |_: &str| Ok(None);
        let remote = Remote::new(&credentials);
        let repository: Repository = "ghcr.io/a/b".parse().expect("a repository");
        let wire = Wire::new(&remote, &repository, "pull").expect("a way");
        let from = wire.uri("blobs/x");
        assert_eq!(from, uri("https://ghcr.io/v2/a/b/blobs/x"));
        let to = |text: &str| {
            let headers = HeaderMap::from_iter([(LOCATION, text.parse().expect("a header"))]);
            wire.location(&from, &headers).map(|uri| uri.to_string()).ok()
        };
        assert_eq!(to("/v2/x?y=1").as_deref(), Some("https://ghcr.io/v2/x?y=1"));
        assert_eq!(to("https://cdn.example/x").as_deref(), Some("https://cdn.example/x"));
        for text in ["http://ghcr.io/x", "//evil/x", "x", "file:///etc/passwd", "https://u:p@ghcr.io/x", ""] {
            assert_eq!(to(text), None, "{text}");
        }
    }

    #[test]
    fn credentials_go_plainly_to_no_other_host() {
        let credentials = |_: &str| Ok(None);
        let remote = Remote::new(&credentials);
        let issues = |host: &str, realm: &str| {
            let repository: Repository = format!("{host}/a").parse().expect("a repository");
            Wire::new(&remote, &repository, "pull").expect("a way").is_issuer(&uri(realm))
        };
        for (host, realm, expected) in [
            ("ghcr.io", "https://auth.example/token", true),
            ("ghcr.io", "http://ghcr.io/token", false),
            ("localhost:5000", "http://localhost:5001/token", true),
            ("localhost:5000", "http://evil.example/token", false),
            ("localhost:5000", "https://auth.example/token", true),
        ] {
            assert_eq!(issues(host, realm), expected, "{host} {realm}");
        }
    }

    #[test]
    fn only_this_machine_is_reached_plainly_unasked() {
        let credentials = |_: &str| Ok(None);
        let mut remote = Remote::new(&credentials);
        let scheme = |remote: &Remote<'_>, host: &str| {
            let repository: Repository = format!("{host}/a").parse().expect("a repository");
            let wire = Wire::new(remote, &repository, "pull").expect("a way");
            wire.uri("x").scheme_str().map(str::to_owned).expect("it has one")
        };
        for (host, expected) in [("localhost:5000", "http"), ("10.0.0.1:5000", "https"), ("docker.io", "https")] {
            assert_eq!(scheme(&remote, host), expected, "{host}");
        }
        remote.plain_http = true;
        assert_eq!(scheme(&remote, "10.0.0.1:5000"), "http");
    }

    #[test]
    fn queries_are_written() {
        assert_eq!(percent("repository:a/b:pull,push é"), "repository%3Aa%2Fb%3Apull%2Cpush%20%C3%A9");
    }
}
