//! The way to the network: names to addresses, and trust in certificates. Made once a process.

use std::fmt;
use std::io;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::{Arc, OnceLock};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio::sync::Semaphore;

/// Finds the addresses of a name. An embedder may bring its own: a cache, a resolver over TLS, a test's.
#[async_trait::async_trait]
pub trait Resolver: Send + Sync {
    /// All addresses of a name.
    ///
    /// # Errors
    /// If it has none, or nobody can say.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The way to the network. Cheap to clone.
#[derive(Clone)]
pub struct Network(Arc<State>);

struct State {
    resolver: Arc<dyn Resolver>,
    /// Trusted besides the web's own.
    roots: Vec<CertificateDer<'static>>,
    /// PEM of more, which nobody has read yet.
    unread: Vec<u8>,
    tls: OnceLock<Result<Arc<ClientConfig>, CertificateError>>,
}

/// Why a text holds no certificates.
#[derive(Clone, Debug, thiserror::Error)]
#[error("these are no PEM certificates: {0}")]
pub struct CertificateError(String);

impl Default for Network {
    /// The system's resolver, and the certificates that browsers trust.
    fn default() -> Self {
        Self::new(Arc::new(System), Vec::new(), Vec::new())
    }
}

impl Network {
    fn new(resolver: Arc<dyn Resolver>, roots: Vec<CertificateDer<'static>>, unread: Vec<u8>) -> Self {
        Self(Arc::new(State { resolver, roots, unread, tls: OnceLock::new() }))
    }

    /// Resolves names so.
    #[must_use]
    pub fn with_resolver(self, resolver: Arc<dyn Resolver>) -> Self {
        Self::new(resolver, self.0.roots.clone(), self.0.unread.clone())
    }

    /// Trusts these certificates too: PEM, for example of a company's own authority.
    ///
    /// # Errors
    /// If there is none in the text, or one is damaged.
    pub fn with_certificates(self, pem: &[u8]) -> Result<Self, CertificateError> {
        let roots = self.0.roots.iter().cloned().chain(certificates(pem)?).collect();
        Ok(Self::new(Arc::clone(&self.0.resolver), roots, self.0.unread.clone()))
    }

    /// As [`Self::with_certificates`], for a process that may never make a secure request: they are read when the first is
    /// made. If one is damaged, each such request fails.
    #[must_use]
    pub fn with_unread_certificates(self, pem: &[u8]) -> Self {
        let unread = [&self.0.unread, &b"\n"[..], pem].concat();
        Self::new(Arc::clone(&self.0.resolver), self.0.roots.clone(), unread)
    }

    pub(super) async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        self.0.resolver.resolve(host).await
    }

    /// How connections are secured. Made when the first one is.
    pub(super) fn tls(&self) -> Result<Arc<ClientConfig>, CertificateError> {
        let tls = self.0.tls.get_or_init(|| {
            let unread = if self.0.unread.is_empty() { Vec::new() } else { certificates(&self.0.unread)? };
            let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
            roots.add_parsable_certificates(self.0.roots.iter().cloned().chain(unread));
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
            let builder = builder.expect("ring has the suites of TLS 1.2 and 1.3");
            let mut config = builder.with_root_certificates(roots).with_no_client_auth();
            config.alpn_protocols = vec![b"http/1.1".to_vec()];
            Ok(Arc::new(config))
        });
        tls.clone()
    }
}

/// The certificates of a text, each of which can be trusted.
fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let read = read.map_err(|error| CertificateError(error.to_string()))?;
    if read.is_empty() {
        return Err(CertificateError("there is none".to_owned()));
    }
    let mut probe = RootCertStore::empty();
    for certificate in &read {
        probe.add(certificate.clone()).map_err(|error| CertificateError(error.to_string()))?;
    }
    Ok(read)
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").field("certificates", &self.0.roots.len()).finish_non_exhaustive()
    }
}

/// The most names that the process asks the system for at once: each takes a thread until the system answers.
static LOOKUPS: Semaphore = Semaphore::const_new(128);

/// The system's resolver.
struct System;

#[async_trait::async_trait]
impl Resolver for System {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let permit = LOOKUPS.acquire().await.map_err(io::Error::other)?;
        let host = host.to_owned();
        let (sender, receiver) = tokio::sync::oneshot::channel();
        // A thread of its own: those of the pool may all be taken by tools that wait for this.
        std::thread::Builder::new().name("tollhouse-dns".into()).spawn(move || {
            let found = (host.as_str(), 0).to_socket_addrs().map(|all| all.map(|address| address.ip()).collect());
            drop(permit);
            // Nobody waits any more if the call was stopped.
            let _ = sender.send(found);
        })?;
        receiver.await.unwrap_or_else(|_| Err(io::Error::other("the resolver gave up")))
    }
}
