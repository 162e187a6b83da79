//! Web server for tests, which answers with a function and remembers the requests.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Certificate of the authority that signed the server's certificate, in PEM. The server's certificate is for
/// `api.test`.
pub const AUTHORITY: &str = include_str!("tls/authority.pem");

/// Response to a request's head: the end of its status line, further headers, and the body.
pub type Answer = (&'static str, Vec<String>, Vec<u8>);

/// Server on a port of its own. It lives as long as the process.
pub struct Server {
    port: u16,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts a server that answers each request's head with this function.
    #[must_use]
    pub fn start(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Self {
        Self::start_reading(move |head, _| answer(head))
    }

    /// Starts a server that answers each request's head and body with this function.
    #[must_use]
    pub fn start_reading(answer: impl Fn(&str, &[u8]) -> Answer + Send + Sync + 'static) -> Self {
        Self::serve(answer, |stream| Box::new(stream))
    }

    /// Starts a server like [`Server::start`], over TLS.
    #[must_use]
    pub fn start_tls(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Self {
        let chain = CertificateDer::from_pem_slice(include_bytes!("tls/server.pem")).expect("a certificate");
        let key = PrivateKeyDer::from_pem_slice(include_bytes!("tls/server.key")).expect("a key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.expect("ring has the suites").with_no_client_auth().with_single_cert(vec![chain], key);
        let config = Arc::new(config.expect("the key belongs to the certificate"));
        let answer = move |head: &str, _: &[u8]| answer(head);
        Self::serve(answer, move |stream| {
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).expect("the configuration is whole");
            Box::new(rustls::StreamOwned::new(connection, stream))
        })
    }

    fn serve(
        answer: impl Fn(&str, &[u8]) -> Answer + Send + Sync + 'static,
        wrap: impl Fn(TcpStream) -> Box<dyn ReadWrite> + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let (answer, all) = (Arc::new(answer), Arc::clone(&seen));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, all, stream) = (Arc::clone(&answer), Arc::clone(&all), wrap(stream));
                // A client that disconnects or does not trust the server is not an error of the server.
                std::thread::spawn(move || drop(exchange(stream, &*answer, &all)));
            }
        });
        Self { port, seen }
    }

    /// Returns the port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the heads of all requests so far.
    #[must_use]
    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

trait ReadWrite: Read + Write + Send {}

impl<T: Read + Write + Send> ReadWrite for T {}

fn exchange(
    stream: Box<dyn ReadWrite>,
    answer: &dyn Fn(&str, &[u8]) -> Answer,
    seen: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head)? == 0 {
            return Ok(());
        }
    }
    let lower = head.to_ascii_lowercase();
    if lower.contains("\r\nexpect: 100-continue") {
        stream.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let length = lower.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    let mut sent = vec![0; length.unwrap_or_default()];
    let whole = stream.read_exact(&mut sent);
    // Tests kill the client as soon as its request is seen, and expect that the server has all of it.
    seen.lock().unwrap_or_else(PoisonError::into_inner).push(head.clone());
    whole?;
    let (status, headers, body) = answer(&head, &sent);
    let stream = stream.get_mut();
    write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n", body.len())?;
    for header in headers {
        write!(stream, "{header}\r\n")?;
    }
    stream.write_all(b"\r\n")?;
    stream.write_all(&body)?;
    stream.flush()
}
