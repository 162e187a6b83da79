//! OCI registry for tests, which stores what is pushed, and gives wrong answers on request.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tollhouse_registry::Digest;

/// Request that the registry received.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// Method, such as `GET`.
    pub method: String,
    /// Path `/v2/…`, with its query.
    pub path: String,
    /// Header lines of the request.
    pub head: String,
    body: Vec<u8>,
}

impl ReceivedRequest {
    /// Returns the value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
    }
}

/// Response of the registry.
pub struct RegistryResponse {
    /// Status line, such as `200 OK`.
    pub status: &'static str,
    /// Header lines, without the length.
    pub headers: Vec<String>,
    /// Body of the answer.
    pub body: Vec<u8>,
    /// True to repeat the body endlessly, without a length.
    pub endless: bool,
}

impl RegistryResponse {
    /// Creates a response from a status, a header line, and a body.
    #[must_use]
    pub fn new(status: &'static str, header: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = if header.is_empty() { Vec::new() } else { vec![header.to_owned()] };
        Self { status, headers, body: body.into(), endless: false }
    }
}

/// Callback that may give a wrong answer in place of the registry; with `None`, the registry answers honestly.
type FalseResponse = dyn Fn(&ReceivedRequest) -> Option<RegistryResponse> + Send + Sync;

/// Registry on a port of its own, which runs until it is stopped or the process ends.
pub struct OciRegistry {
    port: u16,
    state: Arc<RegistryState>,
}

#[derive(Default)]
struct RegistryState {
    /// Contents by path, such as `/v2/acme/stats/manifests/1.0.0` or `/v2/acme/stats/blobs/sha256:…`.
    kept: Mutex<BTreeMap<String, Vec<u8>>>,
    seen: Mutex<Vec<ReceivedRequest>>,
    stopped: AtomicBool,
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for OciRegistry {
    fn default() -> Self {
        Self::start(|_| None)
    }
}

impl OciRegistry {
    /// Starts a registry that answers with `lie` where it returns something.
    #[must_use]
    pub fn start(lie: impl Fn(&ReceivedRequest) -> Option<RegistryResponse> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let state: Arc<RegistryState> = Arc::default();
        let (own, lie): (_, Arc<FalseResponse>) = (Arc::clone(&state), Arc::new(lie));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if own.stopped.load(Ordering::Relaxed) {
                    return;
                }
                let (own, lie) = (Arc::clone(&own), Arc::clone(&lie));
                // A client that disconnects is not an error of the registry.
                std::thread::spawn(move || drop(own.serve(stream, &*lie)));
            }
        });
        Self { port, state }
    }

    /// Returns `localhost:PORT`.
    #[must_use]
    pub fn host(&self) -> String {
        format!("localhost:{}", self.port)
    }

    /// Stops the registry: later connections are refused.
    pub fn stop(&self) {
        self.state.stopped.store(true, Ordering::Relaxed);
        // The registry checks whether it was stopped after the next connection.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        while TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
            std::thread::yield_now();
        }
    }

    /// Returns all requests so far.
    #[must_use]
    pub fn seen(&self) -> Vec<ReceivedRequest> {
        held(&self.state.seen).clone()
    }

    /// Returns the contents under a path such as `acme/stats/manifests/1.0.0`.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<Vec<u8>> {
        held(&self.state.kept).get(&format!("/v2/{path}")).cloned()
    }

    /// Stores a manifest under a tag and its digest, unchanged.
    pub fn put_manifest(&self, repository: &str, tag: &str, bytes: &[u8]) -> Digest {
        let digest = Digest::of(bytes);
        for which in [tag.to_owned(), digest.to_string()] {
            held(&self.state.kept).insert(format!("/v2/{repository}/manifests/{which}"), bytes.to_vec());
        }
        digest
    }

    /// Stores a blob under a digest, whether it matches or not.
    pub fn put_blob(&self, repository: &str, digest: &str, bytes: &[u8]) {
        held(&self.state.kept).insert(format!("/v2/{repository}/blobs/{digest}"), bytes.to_vec());
    }
}

impl RegistryState {
    fn serve(&self, stream: TcpStream, lie: &FalseResponse) -> std::io::Result<()> {
        let mut stream = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if stream.read_line(&mut head)? == 0 {
                return Ok(());
            }
        }
        let mut words = head.split(' ').map(str::to_owned);
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut asked = ReceivedRequest { method, path, head, body: Vec::new() };
        let length = asked.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
        asked.body.resize(length, 0);
        stream.read_exact(&mut asked.body)?;
        held(&self.seen).push(asked.clone());
        let answer = lie(&asked).unwrap_or_else(|| self.answer(&asked));
        let stream = stream.get_mut();
        write!(stream, "HTTP/1.1 {}\r\nconnection: close\r\n", answer.status)?;
        for header in &answer.headers {
            write!(stream, "{header}\r\n")?;
        }
        if answer.endless {
            stream.write_all(b"\r\n")?;
            loop {
                stream.write_all(&answer.body)?;
            }
        }
        let said = answer.headers.iter().any(|header| header.starts_with("content-length"));
        if !said {
            write!(stream, "content-length: {}\r\n", answer.body.len())?;
        }
        stream.write_all(b"\r\n")?;
        if asked.method != "HEAD" {
            stream.write_all(&answer.body)?;
        }
        stream.flush()
    }

    /// Returns the response of an honest registry.
    fn answer(&self, asked: &ReceivedRequest) -> RegistryResponse {
        let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
        let mut kept = held(&self.kept);
        match asked.method.as_str() {
            "POST" => RegistryResponse::new("202 Accepted", &format!("location: {path}1?state=x"), ""),
            "PUT" if path.contains("/blobs/uploads/") => {
                let digest = query.split("digest=").nth(1).unwrap_or_default().replace("%3A", ":");
                if digest != Digest::of(&asked.body).to_string() {
                    return RegistryResponse::new(
                        "400 Bad Request",
                        "",
                        "{\"errors\":[{\"code\":\"DIGEST_INVALID\"}]}",
                    );
                }
                let repository = path.split("uploads/").next().unwrap_or_default();
                kept.insert(format!("{repository}{digest}"), asked.body.clone());
                RegistryResponse::new("201 Created", "", "")
            }
            "PUT" => {
                let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
                kept.insert(format!("{directory}/{}", Digest::of(&asked.body)), asked.body.clone());
                kept.insert(path.to_owned(), asked.body.clone());
                RegistryResponse::new("201 Created", "", "")
            }
            _ => match kept.get(path).filter(|bytes| is_accepted(asked, bytes)) {
                Some(bytes) => RegistryResponse::new(
                    "200 OK",
                    "content-type: application/vnd.oci.image.manifest.v1+json",
                    bytes.clone(),
                ),
                None => RegistryResponse::new("404 Not Found", "", "{\"errors\":[{\"code\":\"NAME_UNKNOWN\"}]}"),
            },
        }
    }
}

/// Returns true if the client accepts the manifest's media type. Like Docker's registry, this one hides a manifest from
/// clients that do not ask for its type.
fn is_accepted(asked: &ReceivedRequest, bytes: &[u8]) -> bool {
    let manifest = serde_json::from_slice::<serde_json::Value>(bytes).unwrap_or_default();
    let accepted = asked.header("accept").unwrap_or_default();
    !asked.path.contains("/manifests/") || manifest["mediaType"].as_str().is_none_or(|it| accepted.contains(it))
}
