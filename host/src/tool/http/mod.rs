//! `wasi:http` for tools: each request is judged before anything is resolved, and its addresses before anything connects.
//!
//! **Invariant:** what connects is an address that was judged: a name is resolved once, by the host, and never again, so
//! it cannot lead elsewhere after the judgement. The host follows no redirect; a tool that follows one makes a new request.
//!
//! **Invariant:** the value of a secret is put into a header here and nowhere else, after the request was judged.

mod address;
mod network;
mod wire;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::header::HeaderValue;
use http::uri::Scheme;
use http::{Method, Request, Uri};
use tollhouse_registry::HttpRequest;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};

pub(super) use self::address::is_public;
pub use self::network::{CertificateError, Network, Resolver};
use self::wire::{Exchange, Io, Response};
use super::CallContext;
use super::authority::Authority;
use super::secret::{CLOSE, OPEN, Secrets};
use crate::code::Interrupt;
use crate::gate::Witness;

/// The most requests of one call that are under way at once.
const MAX_OPEN: u32 = 64;

/// The way out of one call.
pub(super) struct Outgoing {
    authority: Arc<Authority>,
    secrets: Secrets,
    network: Network,
    interrupt: Interrupt,
    log: Log,
    open: Open,
}

/// Where it is written down what became of each request. Clones share it.
#[derive(Clone)]
struct Log {
    witness: Witness,
    /// The last request that was refused, and why: for the one who reads why the tool failed.
    refused: Arc<Mutex<Option<String>>>,
}

impl Log {
    fn refuse(&self, method: &Method, url: &str, why: &str) {
        self.witness.requested(method.as_str(), url, Some(why));
        *self.last() = Some(format!("`{method} {url}` was refused: {why}"));
    }

    /// False if it cannot be written: then nothing is sent.
    fn allow(&self, method: &Method, url: &str) -> bool {
        self.witness.requested(method.as_str(), url, None)
    }

    /// It is replaced as a whole, so a poisoned lock is still good.
    fn last(&self) -> MutexGuard<'_, Option<String>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many requests are under way.
#[derive(Clone, Default)]
struct Open(Arc<AtomicU32>);

/// One of them. Dropping it makes room for another.
struct Opened(Open);

impl Open {
    fn enter(&self) -> Option<Opened> {
        let room = |open: u32| (open < MAX_OPEN).then_some(open + 1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room).ok().map(|_| Opened(self.clone()))
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Where a request goes.
#[derive(Clone)]
struct Target {
    method: Method,
    secure: bool,
    /// A name or an address, without brackets.
    host: String,
    port: u16,
    path: String,
}

impl Target {
    /// None if the request names no host, or names it in a way that one reader may take for another host.
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

    /// For the log: without the query, which may hold what is nobody's business.
    fn url(&self) -> String {
        let HttpRequest { scheme, host, port, path, .. } = self.request();
        if host.contains(':') {
            format!("{scheme}://[{host}]:{port}{path}")
        } else {
            format!("{scheme}://{host}:{port}{path}")
        }
    }
}

impl Outgoing {
    pub(super) fn new(context: &CallContext) -> Self {
        Self {
            authority: Arc::clone(&context.authority),
            secrets: context.services.secrets.clone(),
            network: context.services.network.clone(),
            interrupt: context.interrupt.child(),
            log: Log { witness: context.witness.clone(), refused: Arc::default() },
            open: Open::default(),
        }
    }

    /// The call is over, and so are its requests: an instance that is kept must not go on with them.
    pub(super) fn end(&self) {
        self.interrupt.cancel();
    }

    /// The last request of the call that was refused, and why.
    pub(super) fn refused(&self) -> Option<String> {
        self.log.last().clone()
    }

    /// Judges a request and puts the values of secrets in. The error says why not.
    fn judge(&self, request: &mut Request<WasiBody>) -> Result<Target, (String, String)> {
        let Some(target) = Target::of(request.method(), request.uri()) else {
            return Err((request.uri().to_string(), "it names no host, or not plainly".to_owned()));
        };
        let refused = |why: &str| Err((target.url(), why.to_owned()));
        if target.method == Method::CONNECT || !self.authority.allows(&target.request()) {
            return refused("no rule that is both asked for and granted covers it");
        }
        for value in request.headers_mut().values_mut() {
            match self.substitute(value, &target) {
                Ok(None) => {}
                Ok(Some(whole)) => *value = whole,
                Err(name) => {
                    return refused(&format!("the secret `{name}` is not granted for it, or has no value"));
                }
            }
        }
        Ok(target)
    }

    /// A header with the values of the secrets that it names; the error is the name of one that may not go there.
    fn substitute(&self, value: &HeaderValue, target: &Target) -> Result<Option<HeaderValue>, String> {
        let Ok(text) = std::str::from_utf8(value.as_bytes()) else { return Ok(None) };
        let mut whole = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(OPEN) {
            let (name, after) = after.split_once(CLOSE).ok_or("…")?;
            let granted = self.authority.sends(name, &target.request());
            let secret = self.secrets.get(name).filter(|_| granted).ok_or(name)?;
            whole.push_str(before);
            whole.push_str(secret);
            rest = after;
        }
        if whole.is_empty() && rest.len() == text.len() {
            return Ok(None);
        }
        whole.push_str(rest);
        let mut header = HeaderValue::from_str(&whole).map_err(|_| "…".to_owned())?;
        header.set_sensitive(true);
        Ok(Some(header))
    }
}

impl WasiHttpHooks for Outgoing {
    fn send_request(
        &mut self,
        mut request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _sent: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Box<dyn Future<Output = Result<(Response, Io), Error>> + Send> {
        let method = request.method().clone();
        match self.judge(&mut request) {
            Err((url, why)) => {
                self.log.refuse(&method, &url, &why);
                Box::new(std::future::ready(Err(Error::HttpRequestDenied)))
            }
            Ok(target) => match self.open.enter() {
                None => Box::new(std::future::ready(Err(Error::ConnectionLimitReached))),
                Some(opened) => {
                    let exchange = Exchange {
                        authority: Arc::clone(&self.authority),
                        network: self.network.clone(),
                        interrupt: self.interrupt.clone(),
                        log: self.log.clone(),
                        target,
                        options: options.unwrap_or_default(),
                        opened,
                    };
                    Box::new(exchange.run(request))
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(uri: &str) -> Option<Target> {
        Target::of(&Method::GET, &uri.parse().expect("a URI"))
    }

    #[test]
    fn a_target_is_plain_or_none() {
        for (uri, host, port) in [
            ("https://api.example/x", "api.example", 443),
            ("http://api.example/x", "api.example", 80),
            ("https://[::1]:8443/", "::1", 8443),
            ("https://10.0.0.1:1/", "10.0.0.1", 1),
        ] {
            let found = target(uri).expect(uri);
            assert_eq!((found.host.as_str(), found.port), (host, port), "{uri}");
        }
        for uri in
            ["https://good.example@evil.example/", "https://x:0/", "https://x:/", "/only/a/path", "https://u:p@x/"]
        {
            assert!(target(uri).is_none(), "{uri}");
        }
    }

    #[test]
    fn so_many_and_no_more() {
        let open = Open::default();
        let held: Vec<_> = (0..MAX_OPEN).map(|_| open.enter().expect("there is room")).collect();
        assert!(open.enter().is_none());
        drop(held);
        assert!(open.enter().is_some());
    }
}
