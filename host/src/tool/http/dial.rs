//! Connections of the host: to addresses that were judged, with TLS where it is asked for.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::address::is_public;
use super::network::{CertificateError, Network};

/// Longest time until a connection is made, with the look-up of the name and the handshake of TLS.
const PATIENCE: Duration = Duration::from_secs(30);

/// Reason why a host cannot be connected with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DialError {
    /// The name has no address.
    #[error("its host `{host}` is not found")]
    NotFound {
        /// Name of the host.
        host: String,
        /// Error of the resolver.
        #[source]
        source: io::Error,
    },
    /// No address of the name may be connected with.
    #[error("its host `{host}` has no address that may be connected with: a name stands for public addresses")]
    Prohibited {
        /// Name of the host.
        host: String,
    },
    /// The host did not answer in time.
    #[error("no connection was made within {limit} seconds", limit = PATIENCE.as_secs())]
    Late,
    /// No address answers.
    #[error("no connection can be made")]
    Connect(#[source] io::Error),
    /// The name cannot be that of a certificate.
    #[error("its host has no name that a certificate could have")]
    Name,
    /// The host could not prove that it has its name.
    #[error("the connection cannot be secured")]
    Tls(#[source] io::Error),
    /// The trusted certificates cannot be read.
    #[error("this host's certificates (SSL_CERT_FILE) cannot be read: {0}")]
    Certificates(CertificateError),
}

/// Connection with a host.
pub trait DialedStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> DialedStream for T {}

impl Network {
    /// Connects with a host that the operator has named. Names stand for public addresses, and `localhost` for this
    /// machine; another address is reached if it is written as such. Without TLS, only this machine is.
    ///
    /// # Errors
    /// If the host is not found, is not where it may be, does not answer, or cannot prove its name.
    pub async fn dial(&self, host: &str, port: u16, secure: bool) -> Result<Box<dyn DialedStream>, DialError> {
        let dialed = async {
            let (found, is_address) = match host.parse::<IpAddr>() {
                Ok(address) => (vec![address], true),
                Err(_) => {
                    let failed = |source| DialError::NotFound { host: host.to_owned(), source };
                    (self.resolve(host).await.map_err(failed)?, false)
                }
            };
            let is_local = host.eq_ignore_ascii_case("localhost");
            let may = |address: &IpAddr| {
                let address = address.to_canonical();
                match (secure, is_local) {
                    (false, _) | (_, true) => address.is_loopback(),
                    (true, false) => is_address || is_public(address),
                }
            };
            let allowed: Vec<IpAddr> = found.into_iter().filter(may).collect();
            if allowed.is_empty() {
                return Err(DialError::Prohibited { host: host.to_owned() });
            }
            self.connect(host, port, secure, allowed).await
        };
        timeout(PATIENCE, dialed).await.unwrap_or(Err(DialError::Late))
    }

    /// Connects with the first address that answers. All of them were judged.
    pub(super) async fn connect(
        &self,
        host: &str,
        port: u16,
        secure: bool,
        addresses: Vec<IpAddr>,
    ) -> Result<Box<dyn DialedStream>, DialError> {
        let stream = reach(addresses, port).await?;
        // Small requests are sent at once.
        stream.set_nodelay(true).map_err(DialError::Connect)?;
        if !secure {
            return Ok(Box::new(stream));
        }
        let name = ServerName::try_from(host.to_owned()).map_err(|_| DialError::Name)?;
        let tls = self.tls().map_err(DialError::Certificates)?;
        let secured = tokio_rustls::TlsConnector::from(tls).connect(name, stream).await;
        Ok(Box::new(secured.map_err(DialError::Tls)?))
    }
}

async fn reach(addresses: Vec<IpAddr>, port: u16) -> Result<TcpStream, DialError> {
    let mut last = io::Error::from(io::ErrorKind::ConnectionRefused);
    for address in addresses {
        match TcpStream::connect(SocketAddr::new(address, port)).await {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(DialError::Connect(last))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::tool::Resolver;

    /// Resolver for which each name has the same addresses.
    struct Everywhere(&'static [&'static str]);

    #[async_trait::async_trait]
    impl Resolver for Everywhere {
        async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
            Ok(self.0.iter().map(|address| address.parse().expect("an address")).collect())
        }
    }

    /// Dials a host whose name has these addresses, at the port of a listener on loopback, and says how that went.
    fn dialed(host: &str, addresses: &'static [&'static str], secure: bool) -> String {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("there is room");
        let port = listener.local_addr().expect("it is bound").port();
        // Whoever comes gets no handshake.
        std::thread::spawn(move || listener.incoming().flatten().for_each(drop));
        let network = Network::default().with_resolver(Arc::new(Everywhere(addresses)));
        match runtime.block_on(network.dial(host, port, secure)) {
            Ok(_) => "connected".to_owned(),
            Err(DialError::Prohibited { .. }) => "prohibited".to_owned(),
            Err(DialError::Tls(_)) => "reached, without TLS".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn name_that_stands_for_a_private_address_is_not_connected_with() {
        for private in [
            &["127.0.0.1"][..],
            &["::1"],
            &["10.0.0.1"],
            &["192.168.1.1", "172.16.0.1"],
            &["169.254.169.254"],
            &["::ffff:127.0.0.1"],
            &["fd00::1"],
            &["0.0.0.0"],
        ] {
            assert_eq!(dialed("hub.example", private, true), "prohibited", "{private:?}");
        }
        // A name leads nowhere without TLS, and `localhost` nowhere else.
        assert_eq!(
            dialed("hub.example", &["127.0.0.1"], false),
            "connected",
            "its scheme was refused where it was written"
        );
        assert_eq!(dialed("hub.example", &["93.184.215.14"], false), "prohibited");
        for secure in [false, true] {
            assert_eq!(dialed("localhost", &["93.184.215.14"], secure), "prohibited");
            assert_eq!(dialed("LOCALHOST", &["10.0.0.1"], secure), "prohibited");
        }
        assert_eq!(dialed("localhost", &["93.184.215.14", "127.0.0.1"], false), "connected");
        assert_eq!(dialed("localhost", &["127.0.0.1"], true), "reached, without TLS");
        // An address that the operator has written is where he wants to go, with TLS.
        assert_eq!(dialed("127.0.0.1", &[], true), "reached, without TLS");
        assert_eq!(dialed("127.0.0.1", &[], false), "connected");
        assert_eq!(dialed("10.255.255.1", &[], false), "prohibited");
    }
}
