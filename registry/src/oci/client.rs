//! HTTP client of one repository: bounded answers, authentication where the registry requires it.
//!
//! **Invariant:** credentials and tokens are sent to the registry's own origin, and credentials to the issuer of tokens
//! that it names over an equally safe connection; never to the target of a redirect.

use std::cell::RefCell;
use std::io::Read;
use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;
use ureq::http::header::{AUTHORIZATION, CONTENT_LENGTH, LOCATION, WWW_AUTHENTICATE};
use ureq::http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body, Proxy, SendBody};

use super::challenge::AuthChallenge;
use super::{OciError, Remote, Repository};
use crate::error::excerpt;
use crate::store::{Blob, length};

/// Timeout of resolving a host and connecting to it.
const CONNECT: Duration = Duration::from_secs(30);

/// Timeout of an answer's beginning.
const ANSWER: Duration = Duration::from_secs(120);

/// Timeout of a body: the largest component over a slow line.
const BODY: Duration = Duration::from_secs(3600);

/// Timeout of a body of at most a few MiB: a manifest, a token, an error.
const SMALL_BODY: Duration = Duration::from_secs(60);

/// Most redirects of one request: registries use one, to their storage of blobs.
const MAX_REDIRECTS: usize = 5;

/// Largest error text and largest token, in bytes.
const MAX_TEXT: u64 = 64 << 10;

/// Request to the registry.
pub(super) struct RegistryRequest<'a> {
    pub(super) method: Method,
    /// Verb and object, for messages.
    pub(super) what: &'a str,
    pub(super) headers: &'a [(&'a str, &'a str)],
    pub(super) body: Option<&'a [u8]>,
    /// Timeout of the answer's body.
    pub(super) timeout: Duration,
}

impl<'a> RegistryRequest<'a> {
    pub(super) fn new(method: Method, what: &'a str) -> Self {
        Self { method, what, headers: &[], body: None, timeout: SMALL_BODY }
    }
}

/// HTTP client of one repository.
pub(super) struct RepositoryClient<'a> {
    remote: &'a Remote<'a>,
    repository: &'a Repository,
    agent: Agent,
    base: Uri,
    scope: &'static str,
    authorization: RefCell<Option<HeaderValue>>,
}

impl<'a> RepositoryClient<'a> {
    /// Creates a client. `scope` is the requested access: `pull`, or `pull,push`. No more is ever requested.
    pub(super) fn new(
        remote: &'a Remote<'a>,
        repository: &'a Repository,
        scope: &'static str,
    ) -> Result<Self, OciError> {
        let scheme = if remote.plain_http || repository.is_local() { "http" } else { "https" };
        // Docker's own registry has another host name than its images.
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
            .timeout_recv_body(Some(SMALL_BODY))
            .build();
        Ok(Self { remote, repository, agent: config.into(), base, scope, authorization: RefCell::default() })
    }

    /// Returns the URI of a part of the repository: `manifests/1.0.0`.
    pub(super) fn uri(&self, rest: &str) -> Uri {
        let text = format!("{}v2/{}/{rest}", self.base, self.repository.path());
        text.parse().expect("hosts, paths, tags and digests hold nothing that a URI does not")
    }

    /// Resolves the target of a `Location` header.
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

    /// Returns true if a request to this URI is safe: over TLS; or without, if the registry itself is reached so, on
    /// its own host, and on other hosts only if the user wants that.
    fn is_safe(&self, uri: &Uri) -> bool {
        let is_named = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
        let is_as_plain = uri.scheme_str() == self.base.scheme_str();
        is_named
            && (uri.scheme_str() == Some("https") || is_as_plain && (self.remote.plain_http || self.is_own_host(uri)))
    }

    /// Returns true if credentials may be sent to this URI for a token: over TLS, or, for a registry without TLS, on
    /// its own host.
    fn is_issuer(&self, uri: &Uri) -> bool {
        self.is_safe(uri) && (uri.scheme_str() == Some("https") || self.is_own_host(uri))
    }

    fn is_own_host(&self, uri: &Uri) -> bool {
        uri.host().is_some_and(|host| self.base.host().is_some_and(|own| own.eq_ignore_ascii_case(host)))
    }

    /// Sends a request, again with authentication if the registry requires it, and follows redirects.
    pub(super) fn ask(&self, ask: &RegistryRequest<'_>, uri: Uri) -> Result<Response<Body>, OciError> {
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

    fn send(
        &self,
        ask: &RegistryRequest<'_>,
        uri: &Uri,
        authorization: Option<HeaderValue>,
    ) -> Result<Response<Body>, OciError> {
        let mut request = Request::builder().method(ask.method.clone()).uri(uri);
        for (name, value) in ask.headers {
            request = request.header(*name, *value);
        }
        if let Some(value) = authorization {
            request = request.header(AUTHORIZATION, value);
        }
        let sent = match ask.body {
            None => request.body(()).map_err(ureq::Error::from).and_then(|request| {
                let request = self.agent.configure_request(request).timeout_recv_body(Some(ask.timeout)).build();
                self.agent.run(request)
            }),
            Some(bytes) => {
                let mut reader = ProgressBody { bytes, all: length(bytes), what: ask.what, remote: self.remote };
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

    /// Determines the authorization for a challenge.
    fn authenticate(&self, what: &str, headers: &HeaderMap) -> Result<(), OciError> {
        let texts = headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        let challenges: Vec<AuthChallenge> = texts.filter_map(AuthChallenge::read).collect();
        let credentials = (self.remote.credentials)(self.repository.host())
            .map_err(|problem| OciError::Credentials { host: self.host(), problem })?;
        let basic = credentials.map(|it| format!("Basic {}", STANDARD.encode(format!("{}:{}", it.name, it.password))));
        let known = basic.is_some();
        let value = match (challenges.first(), basic) {
            (Some(AuthChallenge::Bearer { realm, service }), basic) => {
                Some(format!("Bearer {}", self.token(what, realm, service.as_deref(), basic)?))
            }
            (Some(AuthChallenge::Basic), basic) => basic,
            (None, _) => None,
        };
        let value = value.and_then(|value| HeaderValue::from_str(&value).ok());
        let mut value =
            value.ok_or_else(|| OciError::Unauthorized { host: self.host(), what: what.to_owned(), known })?;
        value.set_sensitive(true);
        *self.authorization.borrow_mut() = Some(value);
        Ok(())
    }

    /// Fetches a token for this repository and scope. No redirect is followed.
    fn token(&self, what: &str, realm: &str, service: Option<&str>, basic: Option<String>) -> Result<String, OciError> {
        #[derive(Deserialize)]
        struct TokenResponse {
            token: Option<String>,
            access_token: Option<String>,
        }
        let refused = |problem: String| OciError::Refused { host: self.host(), what: what.to_owned(), problem };
        let separator = if realm.contains('?') { '&' } else { '?' };
        let scope = format!("repository:{}:{}", self.repository.path(), self.scope);
        let service = service.map(|service| format!("&service={}", percent(service))).unwrap_or_default();
        let uri = format!("{realm}{separator}scope={}{service}", percent(&scope)).parse::<Uri>();
        let uri = uri.ok().filter(|uri| self.is_issuer(uri));
        let uri = uri
            .ok_or_else(|| refused(format!("its token issuer `{}` is not trusted with credentials", excerpt(realm))))?;
        let known = basic.is_some();
        let basic = basic.and_then(|basic| HeaderValue::from_str(&basic).ok());
        let response = self.send(&RegistryRequest::new(Method::GET, what), &uri, basic)?;
        if matches!(response.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(OciError::Unauthorized { host: self.host(), what: what.to_owned(), known });
        }
        if response.status() != StatusCode::OK {
            return Err(refused(format!("the token issuer answers {}", response.status())));
        }
        let bytes = self.read(response, "token", MAX_TEXT)?;
        let answer: Option<TokenResponse> = serde_json::from_slice(&bytes).ok();
        let token = answer.and_then(|answer| answer.token.or(answer.access_token));
        token.ok_or_else(|| refused("the token issuer returned no token".into()))
    }

    /// Creates the error of a refused request: its status, and the first of the registry's errors.
    pub(super) fn refusal(&self, ask: &RegistryRequest<'_>, response: Response<Body>) -> OciError {
        #[derive(Deserialize)]
        struct ErrorResponse {
            errors: Vec<RegistryProblem>,
        }
        #[derive(Deserialize)]
        struct RegistryProblem {
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
        let said: Option<ErrorResponse> = said.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let said = said.and_then(|answer| answer.errors.into_iter().next());
        let said = said.map(|problem| format!(": {} {}", excerpt(&problem.code), excerpt(&problem.message)));
        OciError::Refused { host: self.host(), what, problem: format!("{status}{}", said.unwrap_or_default()) }
    }

    /// Reads a body within a limit.
    pub(super) fn read(&self, response: Response<Body>, what: &str, limit: u64) -> Result<Vec<u8>, OciError> {
        let too_large = || OciError::TooLarge { what: what.to_owned(), limit };
        let mut body = response.into_body();
        let claimed = body.content_length();
        if claimed.is_some_and(|claimed| claimed > limit) {
            return Err(too_large());
        }
        let mut reader = body.as_reader();
        // The announced length is not trusted: memory is allocated as bytes arrive.
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

    /// Fetches and checks a blob. `limit` is the largest size of such a part.
    pub(super) fn blob(&self, blob: Blob, what: &str, limit: u64) -> Result<Vec<u8>, OciError> {
        if blob.size > limit {
            return Err(OciError::TooLarge { what: what.to_owned(), limit });
        }
        let give = format!("fetch the {what}");
        let ask = RegistryRequest { timeout: BODY, ..RegistryRequest::new(Method::GET, &give) };
        let response = self.ask(&ask, self.uri(&format!("blobs/{}", blob.digest)))?;
        if response.status() != StatusCode::OK {
            return Err(self.refusal(&ask, response));
        }
        let bytes = self.read(response, what, blob.size)?;
        let found = Blob::of(&bytes);
        if found.digest != blob.digest {
            return Err(OciError::Altered { what: what.to_owned(), expected: blob.digest, found: found.digest });
        }
        if found.size != blob.size {
            return Err(OciError::Size { what: what.to_owned(), expected: blob.size, found: found.size });
        }
        Ok(bytes)
    }
}

/// Body that reports its progress.
struct ProgressBody<'a> {
    bytes: &'a [u8],
    all: u64,
    what: &'a str,
    remote: &'a Remote<'a>,
}

impl Read for ProgressBody<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        (self.remote.watch)(self.what, self.all - length(self.bytes), self.all);
        Ok(count)
    }
}

/// Returns true if two URIs have the same scheme, host and port.
fn is_same_origin(one: &Uri, other: &Uri) -> bool {
    let origin = |uri: &Uri| {
        let secure = uri.scheme_str() == Some("https");
        let host = uri.host().map(str::to_ascii_lowercase);
        (secure, host, uri.port_u16().unwrap_or(if secure { 443 } else { 80 }))
    };
    origin(one) == origin(other)
}

/// Percent-encodes a text for a query.
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
    fn upload_location_elsewhere_needs_tls() {
        let credentials = |_: &str| Ok(None);
        let remote = Remote::new(&credentials);
        let repository: Repository = "ghcr.io/a/b".parse().expect("a repository");
        let wire = RepositoryClient::new(&remote, &repository, "pull").expect("a way");
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
            RepositoryClient::new(&remote, &repository, "pull").expect("a way").is_issuer(&uri(realm))
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
    fn plain_http_without_request_is_used_for_this_machine_only() {
        let credentials = |_: &str| Ok(None);
        let mut remote = Remote::new(&credentials);
        let scheme = |remote: &Remote<'_>, host: &str| {
            let repository: Repository = format!("{host}/a").parse().expect("a repository");
            let wire = RepositoryClient::new(remote, &repository, "pull").expect("a way");
            wire.uri("x").scheme_str().map(str::to_owned).expect("it has one")
        };
        for (host, expected) in [("localhost:5000", "http"), ("10.0.0.1:5000", "https"), ("docker.io", "https")] {
            assert_eq!(scheme(&remote, host), expected, "{host}");
        }
        remote.plain_http = true;
        assert_eq!(scheme(&remote, "10.0.0.1:5000"), "http");
    }

    #[test]
    fn query_parameter_is_percent_encoded() {
        assert_eq!(percent("repository:a/b:pull,push é"), "repository%3Aa%2Fb%3Apull%2Cpush%20%C3%A9");
    }
}
