//! Network access: name resolution and trusted certificates. Made once a process.

use std::fmt;
use std::io::{self, Read};
use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::{Arc, LazyLock, OnceLock};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio::sync::Semaphore;
use tollhouse_types::untrusted_file;

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
    /// Further certificates, read when they are first needed.
    lazy: Vec<Arc<LazyCertificates>>,
    tls: OnceLock<Result<Arc<ClientConfig>, CertificateError>>,
}

type ReadCertificates = Result<Vec<CertificateDer<'static>>, CertificateError>;
type LazyCertificates = LazyLock<ReadCertificates, Box<dyn FnOnce() -> ReadCertificates + Send>>;

/// Maximum size of the certificates that are read when they are needed, in bytes.
const MAX_CERTIFICATES: u64 = 16 << 20;

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
    fn new(resolver: Arc<dyn Resolver>, roots: Vec<CertificateDer<'static>>, lazy: Vec<Arc<LazyCertificates>>) -> Self {
        Self(Arc::new(NetworkState { resolver, roots, lazy, tls: OnceLock::new() }))
    }

    /// Replaces the resolver.
    #[must_use]
    pub fn with_resolver(self, resolver: Arc<dyn Resolver>) -> Self {
        Self::new(resolver, self.0.roots.clone(), self.0.lazy.clone())
    }

    /// Adds trusted certificates in PEM, for example of a company's own authority.
    ///
    /// # Errors
    /// If the text contains none, or one is damaged.
    pub fn with_certificates(self, pem: &[u8]) -> Result<Self, CertificateError> {
        let roots = self.0.roots.iter().cloned().chain(certificates(pem)?).collect();
        Ok(Self::new(Arc::clone(&self.0.resolver), roots, self.0.lazy.clone()))
    }

    /// As [`Self::with_certificates`], for a process that may never make a secure request: they are read at the first
    /// one, at most 16 MiB. If they cannot be read, each such request fails.
    #[must_use]
    pub fn with_unread_certificates(self, pem: impl Read + Send + 'static) -> Self {
        let read = move || {
            let pem = untrusted_file::read_limited(pem, MAX_CERTIFICATES);
            certificates(&pem.map_err(|error| CertificateError(io::Error::from(error).to_string()))?)
        };
        let mut lazy = self.0.lazy.clone();
        lazy.push(Arc::new(LazyLock::new(Box::new(read))));
        Self::new(Arc::clone(&self.0.resolver), self.0.roots.clone(), lazy)
    }

    pub(super) async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        self.0.resolver.resolve(host).await
    }

    /// Returns the TLS configuration, built at the first secure connection.
    pub(super) fn tls(&self) -> Result<Arc<ClientConfig>, CertificateError> {
        let tls = self.0.tls.get_or_init(|| {
            let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
            roots.add_parsable_certificates(self.0.roots.iter().cloned());
            for certificates in &self.0.lazy {
                roots.add_parsable_certificates((***certificates).clone()?);
            }
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
fn certificates(pem: &[u8]) -> ReadCertificates {
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
