//! Network access: name resolution and trusted certificates. Made once a process.

use std::fmt;
use std::io;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::{Arc, OnceLock};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio::sync::Semaphore;

/// Resolver of host names. An embedder may provide its own: a cache, a resolver over TLS, one for tests.
#[async_trait::async_trait]
pub trait Resolver: Send + Sync {
    /// Returns all addresses of a name.
    ///
    /// # Errors
    /// If the name has none, or cannot be resolved.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// Network access of a process. Cheap to clone.
#[derive(Clone)]
pub struct Network(Arc<NetworkState>);

struct NetworkState {
    resolver: Arc<dyn Resolver>,
    /// Trusted certificates besides the web's own.
    roots: Vec<CertificateDer<'static>>,
    /// Further certificates in PEM that are not parsed yet.
    unread: Vec<u8>,
    tls: OnceLock<Result<Arc<ClientConfig>, CertificateError>>,
}

/// Reason why a text holds no certificates.
#[derive(Clone, Debug, thiserror::Error)]
#[error("cannot read PEM certificates: {0}")]
pub struct CertificateError(String);

impl Default for Network {
    /// Uses the system's resolver, and the certificates that browsers trust.
    fn default() -> Self {
        Self::new(Arc::new(SystemResolver), Vec::new(), Vec::new())
    }
}

impl Network {
    fn new(resolver: Arc<dyn Resolver>, roots: Vec<CertificateDer<'static>>, unread: Vec<u8>) -> Self {
        Self(Arc::new(NetworkState { resolver, roots, unread, tls: OnceLock::new() }))
    }

    /// Replaces the resolver.
    #[must_use]
    pub fn with_resolver(self, resolver: Arc<dyn Resolver>) -> Self {
        Self::new(resolver, self.0.roots.clone(), self.0.unread.clone())
    }

    /// Adds trusted certificates in PEM, for example of a company's own authority.
    ///
    /// # Errors
    /// If the text contains none, or one is damaged.
    pub fn with_certificates(self, pem: &[u8]) -> Result<Self, CertificateError> {
        let roots = self.0.roots.iter().cloned().chain(certificates(pem)?).collect();
        Ok(Self::new(Arc::clone(&self.0.resolver), roots, self.0.unread.clone()))
    }

    /// As [`Self::with_certificates`], for a process that may never make a secure request: they are parsed at the first
    /// one. If one is damaged, each such request fails.
    #[must_use]
    pub fn with_unread_certificates(self, pem: &[u8]) -> Self {
        let unread = [&self.0.unread, &b"\n"[..], pem].concat();
        Self::new(Arc::clone(&self.0.resolver), self.0.roots.clone(), unread)
    }

    pub(super) async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        self.0.resolver.resolve(host).await
    }

    /// Returns the TLS configuration, built at the first secure connection.
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

/// Parses the certificates of a text, and checks that each can be trusted.
fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let read = read.map_err(|error| CertificateError(error.to_string()))?;
    if read.is_empty() {
        return Err(CertificateError("it contains none".to_owned()));
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

/// Limit on concurrent look-ups by the process's system resolver: each takes a thread until the system answers.
static LOOKUPS: Semaphore = Semaphore::const_new(128);

/// Resolver of the system.
struct SystemResolver;

#[async_trait::async_trait]
impl Resolver for SystemResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let permit = LOOKUPS.acquire().await.map_err(io::Error::other)?;
        let host = host.to_owned();
        let (sender, receiver) = tokio::sync::oneshot::channel();
        // A separate thread: those of the pool may all be in use by tools that wait for this.
        std::thread::Builder::new().name("tollhouse-dns".into()).spawn(move || {
            let found = (host.as_str(), 0).to_socket_addrs().map(|all| all.map(|address| address.ip()).collect());
            drop(permit);
            // Nobody receives it if the call was stopped.
            let _ = sender.send(found);
        })?;
        receiver.await.unwrap_or_else(|_| Err(io::Error::other("the resolver gave up")))
    }
}
