//! `wasi:http` for tools: each request is judged before its name is resolved, and its addresses before a connection is
//! made.
//!
//! **Invariant:** connections go to addresses that were judged: a name is resolved once, by the host, so it cannot lead
//! elsewhere after the judgement. The host follows no redirect; a tool that follows one makes a new request.
//!
//! **Invariant:** the value of a secret is inserted into a header here and nowhere else, after the request was judged,
//! and the audit log records that before anything is sent. Responses are searched for values before the tool sees them
//! (`redacted_response`).

mod address;
mod connection;
mod dial;
mod lookups;
mod network;
mod redacted_response;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::header::{ACCEPT_ENCODING, HeaderName, HeaderValue};
use http::uri::Scheme;
use http::{Method, Request, Uri};
use tollhouse_audit::CallAudit;
use tollhouse_registry::HttpRequest;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};
use zeroize::Zeroizing;

pub(super) use self::address::is_public;
use self::connection::{ConnectionDriver, HttpExchange, ToolResponse};
pub use self::dial::{DialError, DialedStream};
pub(crate) use self::lookups::NameLookups;
pub use self::network::{CertificateError, Network, Resolver};
use super::CallContext;
use super::authority::Authority;
use super::secret::{CLOSE, OPEN, Secrets, StreamRedactor};
use crate::code::Interrupt;

/// Most concurrent requests of one call.
const MAX_OPEN: u32 = 64;

/// Bytes of a request's body that the host takes from a tool at once. It holds two such chunks, and sends one.
const BODY_CHUNK: usize = 16 << 10;

/// Outgoing requests of one call.
pub(super) struct OutgoingRequests {
    authority: Arc<Authority>,
    secrets: Secrets,
    network: Network,
    lookups: NameLookups,
    interrupt: Interrupt,
    log: RequestLog,
    open: RequestCounter,
}

/// Audit log of the requests. Clones share it.
#[derive(Clone)]
struct RequestLog {
    call_audit: CallAudit,
    /// The last refused request, with the reason: for messages about the tool's failure.
    refused: Arc<Mutex<Option<String>>>,
}

impl RequestLog {
    fn refuse(&self, method: &Method, url: &str, why: &str) {
        self.call_audit.requested(method.as_str(), url, Some(why));
        *self.last() = Some(format!("`{method} {url}` was refused: {why}"));
    }

    /// Records an allowed request. Returns false if that fails: then nothing is sent.
    fn allow(&self, method: &Method, url: &str) -> bool {
        self.call_audit.requested(method.as_str(), url, None)
    }

    /// Records that values of secrets are sent. Returns false if that fails: then nothing is sent.
    fn send(&self, secrets: &[String], tool: &str, target: &RequestTarget) -> bool {
        secrets.iter().all(|secret| self.call_audit.secret_used(secret, tool, Some(&target.origin())).is_ok())
    }

    /// Locks the last refusal. It is replaced as a whole, so a poisoned lock is still good.
    fn last(&self) -> MutexGuard<'_, Option<String>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counter of the requests in progress.
#[derive(Clone, Default)]
struct RequestCounter(Arc<AtomicU32>);

/// Guard of a request in progress, which frees its slot when it is dropped.
struct RequestGuard(RequestCounter);

impl RequestCounter {
    fn enter(&self) -> Option<RequestGuard> {
        let room = |open: u32| (open < MAX_OPEN).then_some(open + 1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room).ok().map(|_| RequestGuard(self.clone()))
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Target of a request.
#[derive(Clone, Debug)]
struct RequestTarget {
    method: Method,
    secure: bool,
    /// Name or address, without brackets.
    host: String,
    port: u16,
    path: String,
}

impl RequestTarget {
    /// Returns the target. Returns `None` if the request names no host, or some reader may take it for another host.
    fn of(method: &Method, uri: &Uri) -> Option<Self> {
        let authority = uri.authority()?;
        let host = authority.host();
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let secure = *uri.scheme()? == Scheme::HTTPS;
        let port = match (authority.port_u16(), authority.as_str().ends_with(':')) {
            (Some(port), false) => port,
            (None, false) => {
                if secure {
                    443
                } else {
                    80
                }
            }
            _ => return None,
        };
        let odd = authority.as_str().contains('@') || host.is_empty() || port == 0;
        let path = uri.path().to_owned();
        (!odd).then(|| Self { method: method.clone(), secure, host: host.to_owned(), port, path })
    }

    fn request(&self) -> HttpRequest<'_> {
        let scheme = if self.secure { "https" } else { "http" };
        HttpRequest { method: self.method.as_str(), scheme, host: &self.host, port: self.port, path: &self.path }
    }

    /// Returns the URL for the log, without the query, which may be confidential.
    fn url(&self) -> String {
        format!("{}{}", self.origin(), self.path)
    }

    /// Returns scheme, host and port.
    fn origin(&self) -> String {
        let HttpRequest { scheme, host, port, .. } = self.request();
        if host.contains(':') { format!("{scheme}://[{host}]:{port}") } else { format!("{scheme}://{host}:{port}") }
    }

    /// Returns true if the method makes the server send back the request: a tool would read a secret there.
    fn echoes(&self) -> bool {
        // Servers may accept methods in any case, and one of them has another name for `TRACE`.
        ["TRACE", "TRACK"].iter().any(|method| self.method.as_str().eq_ignore_ascii_case(method))
    }
}

impl OutgoingRequests {
    pub(super) fn new(context: &CallContext) -> Self {
        Self {
            authority: Arc::clone(&context.authority),
            secrets: context.services.secrets.clone(),
            network: context.services.network.clone(),
            lookups: context.services.lookups.clone(),
            interrupt: context.interrupt.child(),
            log: RequestLog { call_audit: context.call_audit.clone(), refused: Arc::default() },
            open: RequestCounter::default(),
        }
    }

    /// Ends the call and its requests: an instance that is kept must not continue them.
    pub(super) fn end(&self) {
        self.interrupt.cancel();
    }

    /// Returns the last refused request of the call, with the reason.
    pub(super) fn refused(&self) -> Option<String> {
        self.log.last().clone()
    }

    /// Judges a request and inserts the values of secrets. Returns the target and the secrets. The error is the reason
    /// of a refusal.
    fn judge(&self, request: &mut Request<WasiBody>) -> Result<(RequestTarget, Vec<String>), (String, String)> {
        let Some(target) = RequestTarget::of(request.method(), request.uri()) else {
            return Err((request.uri().to_string(), "it names no host, or an ambiguous one".to_owned()));
        };
        let refused = |why: &str| Err((target.url(), why.to_owned()));
        if target.method == Method::CONNECT || !self.authority.allows(&target.request()) {
            return refused("no rule that is both requested and granted covers it");
        }
        if target.echoes() && self.carries_value(request) {
            return refused("a method that makes a server send back the request would reveal its secrets");
        }
        let mut used = Vec::new();
        for (header, value) in request.headers_mut() {
            match self.substitute(header, value, &target, &mut used) {
                Ok(None) => {}
                Ok(Some(whole)) => *value = whole,
                Err(why) => return refused(&why),
            }
        }
        if !used.is_empty() {
            if target.echoes() {
                return refused("a method that makes a server send back the request would reveal its secrets");
            }
            // A compressed answer cannot be searched for a secret that the server sends back.
            request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        Ok((target, used))
    }

    /// Returns true if a request already holds the value of a secret that the tool sees.
    fn carries_value(&self, request: &Request<WasiBody>) -> bool {
        let holds = |bytes: &[u8]| self.secrets.redact_bytes(bytes).is_some();
        holds(request.uri().to_string().as_bytes()) || request.headers().values().any(|value| holds(value.as_bytes()))
    }

    /// Returns a header with the values of the secrets that it names, and adds these to `used`. The error says why a
    /// secret may not be sent there.
    fn substitute(
        &self,
        header: &HeaderName,
        value: &HeaderValue,
        target: &RequestTarget,
        used: &mut Vec<String>,
    ) -> Result<Option<HeaderValue>, String> {
        let text = value.as_bytes();
        if !text.windows(OPEN.len()).any(|part| part == OPEN.as_bytes()) {
            return Ok(None);
        }
        let refused = |name: &str| format!("the secret `{name}` is not granted for it, or has no value");
        let text = std::str::from_utf8(text).map_err(|_| refused("…"))?;
        let mut whole = Zeroizing::new(String::new());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(OPEN) {
            let (name, after) = after.split_once(CLOSE).ok_or_else(|| refused("…"))?;
            let granted = self.authority.sends(name, &target.request());
            let secret = self.secrets.get(name).filter(|_| granted).ok_or_else(|| refused(name))?;
            if let Some(only) = self.authority.header_of(name).filter(|only| *only != header.as_str()) {
                return Err(format!("the secret `{name}` is granted for the header `{only}`, but used in `{header}`"));
            }
            if !used.iter().any(|used| used == name) {
                used.push(name.to_owned());
            }
            whole.push_str(before);
            whole.push_str(secret);
            rest = after;
        }
        whole.push_str(rest);
        let mut header = HeaderValue::from_str(&whole).map_err(|_| refused("…"))?;
        header.set_sensitive(true);
        Ok(Some(header))
    }

    /// Returns the redactor of responses. Returns `None` if there is nothing to redact. Secrets that the tool may see
    /// are not redacted.
    fn redaction(&self) -> Option<StreamRedactor> {
        let sees = |name: &str| self.authority.secrets().any(|(secret, sees)| sees && secret == name);
        self.secrets.stream(sees)
    }
}

impl WasiHttpHooks for OutgoingRequests {
    fn send_request(
        &mut self,
        mut request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _sent: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Box<dyn Future<Output = Result<(ToolResponse, ConnectionDriver), Error>> + Send> {
        let method = request.method().clone();
        match self.judge(&mut request) {
            Err((url, why)) => {
                self.log.refuse(&method, &url, &why);
                Box::new(std::future::ready(Err(Error::HttpRequestDenied)))
            }
            Ok((target, secrets)) => match self.open.enter() {
                None => Box::new(std::future::ready(Err(Error::ConnectionLimitReached))),
                Some(opened) => {
                    let exchange = HttpExchange {
                        authority: Arc::clone(&self.authority),
                        network: self.network.clone(),
                        lookups: self.lookups.clone(),
                        interrupt: self.interrupt.clone(),
                        log: self.log.clone(),
                        target,
                        secrets,
                        redaction: self.redaction(),
                        options: options.unwrap_or_default(),
                        opened,
                    };
                    Box::new(exchange.run(request))
                }
            },
        }
    }

    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        BODY_CHUNK
    }
}

#[cfg(test)]
mod tests;
