//! HTTP connection of one request and its response.

use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Uri};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::client::conn::http1;
use tokio::time::{Instant, Sleep, sleep, timeout};
use wasmtime_wasi_http::io::TokioIo;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody};

use super::dial::{DialError, DialedStream};
use super::network::Network;
use super::{NameLookups, RequestGuard, RequestLog, RequestTarget, redacted_response};
use crate::code::{Interrupt, TICK};
use crate::tool::authority::Authority;
use crate::tool::secret::StreamRedactor;

/// Timeout of connecting, unless the tool sets one.
const CONNECT: Duration = Duration::from_secs(30);

/// Timeout of a silent response, unless the tool sets one. The limits of call and run apply besides.
const SILENCE: Duration = Duration::from_secs(600);

/// Most bytes of a response that are read at once: its head is smaller.
const READ_BUFFER: usize = 64 << 10;

/// Response in the form of `wasi:http`.
pub(super) type ToolResponse = http::Response<WasiBody>;

/// Future that drives the connection.
pub(super) type ConnectionDriver = Box<dyn Future<Output = Result<(), Error>> + Send>;

/// Request that was judged, with everything that sending it needs.
pub(super) struct HttpExchange {
    pub(super) authority: Arc<Authority>,
    pub(super) network: Network,
    pub(super) lookups: NameLookups,
    pub(super) interrupt: Interrupt,
    pub(super) log: RequestLog,
    pub(super) target: RequestTarget,
    /// Secrets whose values the request carries.
    pub(super) secrets: Vec<String>,
    /// Redactor of the response.
    pub(super) redaction: Option<StreamRedactor>,
    pub(super) options: RequestOptions,
    pub(super) opened: RequestGuard,
}

impl HttpExchange {
    /// Sends the request. Ends early, with an error, when the call is stopped.
    pub(super) async fn run(self, request: Request<WasiBody>) -> Result<(ToolResponse, ConnectionDriver), Error> {
        let interrupt = self.interrupt.clone();
        until_stopped(&interrupt, self.exchange(request)).await
    }

    async fn exchange(self, mut request: Request<WasiBody>) -> Result<(ToolResponse, ConnectionDriver), Error> {
        let patience = self.options.connect_timeout.unwrap_or(CONNECT);
        let connected = timeout(patience, self.connect()).await.map_err(|_| Error::ConnectionTimeout)?;
        let (mut sender, connection) =
            http1::Builder::new().max_buf_size(READ_BUFFER).handshake(TokioIo::new(connected?)).await?;
        // Dropped with the response, which closes the connection.
        let driver = wasmtime_wasi::runtime::spawn(connection);
        // Requests to a server have only path and query; the host is in its header.
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        *request.uri_mut() = path.parse::<Uri>().map_err(|_| Error::HttpRequestUriInvalid)?;
        let silence = self.options.first_byte_timeout.unwrap_or(SILENCE);
        let sent = timeout(silence, sender.send_request(request)).await;
        let response = sent.map_err(|_| Error::HttpResponseTimeout)??;
        if !self.secrets.is_empty() {
            redacted_response::refuse_unreadable(response.headers())?;
        }
        let silence = self.options.between_bytes_timeout.unwrap_or(SILENCE);
        let (interrupt, opened) = (self.interrupt, self.opened);
        let response = response.map(|incoming| ResponseBody::new(incoming, silence, interrupt, opened));
        let response = match self.redaction {
            Some(redaction) => redacted_response::response(response, redaction).map(|body| body.boxed_unsync()),
            None => response.map(|body| body.boxed_unsync()),
        };
        Ok((response, Box::new(async move { Ok(driver.await?) })))
    }

    async fn connect(&self) -> Result<Box<dyn DialedStream>, Error> {
        let addresses = self.addresses().await?;
        let RequestTarget { host, port, secure, .. } = &self.target;
        self.network.connect(host, *port, *secure, addresses).await.map_err(|error| match error {
            DialError::Connect(error) => Error::Connect(error),
            DialError::Tls(error) => Error::Tls(error),
            DialError::Certificates(_) => Error::InternalError(Some(error.to_string())),
            DialError::Name => Error::TlsCertificateError,
            _ => Error::ConnectionRefused,
        })
    }

    /// Resolves the host and judges its addresses. The decision is recorded before a connection is made.
    async fn addresses(&self) -> Result<Vec<IpAddr>, Error> {
        let RequestTarget { method, host, .. } = &self.target;
        let url = self.target.url();
        let found = match host.parse::<IpAddr>() {
            Ok(address) => Ok(vec![address]),
            Err(_) => self.lookups.resolve(&self.network, host).await,
        };
        let found = match found {
            Ok(found) if !found.is_empty() => found,
            found => {
                let why = found.err().map_or("no address".to_owned(), |error| error.to_string());
                self.log.refuse(method, &url, &format!("its host is not found: {why}"));
                return Err(Error::DnsError { rcode: Some(why), info_code: None });
            }
        };
        let request = self.target.request();
        let (allowed, refused): (Vec<IpAddr>, Vec<IpAddr>) =
            found.into_iter().partition(|address| self.authority.allows_address(&request, *address));
        // A name of this machine may resolve to another one, and the request would be readable on the way.
        let sends =
            |address: IpAddr| self.secrets.iter().all(|secret| self.authority.sends_to(secret, &request, address));
        let (allowed, open): (Vec<IpAddr>, Vec<IpAddr>) = allowed.into_iter().partition(|address| sends(*address));
        if allowed.is_empty() {
            let list = |all: &[IpAddr]| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let why = if open.is_empty() {
                format!("its host has no public address, and no rule names {}", list(&refused))
            } else {
                format!("a secret would go to {} without TLS", list(&open))
            };
            self.log.refuse(method, &url, &why);
            return Err(Error::DestinationIpProhibited);
        }
        (self.log.allow(method, &url) && self.log.send(&self.secrets, self.authority.alias(), &self.target))
            .then_some(allowed)
            .ok_or(Error::InternalError(Some("the audit log cannot be written".to_owned())))
    }
}

/// Awaits `work` until the call is stopped.
async fn until_stopped<T>(interrupt: &Interrupt, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let mut work = pin!(work);
    let mut tick = pin!(sleep(TICK));
    std::future::poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Pending => poll_stopped(interrupt, tick.as_mut(), context).map(|()| Err(Error::ConnectionTerminated)),
        done => done,
    })
    .await
}

/// Returns ready when the call is to stop, which is checked at every tick.
fn poll_stopped(interrupt: &Interrupt, mut tick: Pin<&mut Sleep>, context: &mut Context<'_>) -> Poll<()> {
    loop {
        if interrupt.stopped().is_some() {
            return Poll::Ready(());
        }
        match tick.as_mut().poll(context) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(()) => tick.as_mut().reset(Instant::now() + TICK),
        }
    }
}

/// Body of a response, which ends when the call is stopped, or when it is silent for too long.
struct ResponseBody {
    incoming: Incoming,
    silence: Duration,
    until: Instant,
    tick: Pin<Box<Sleep>>,
    interrupt: Interrupt,
    _opened: RequestGuard,
}

impl ResponseBody {
    fn new(incoming: Incoming, silence: Duration, interrupt: Interrupt, opened: RequestGuard) -> Self {
        let until = later(silence);
        Self { incoming, silence, until, tick: Box::pin(sleep(TICK)), interrupt, _opened: opened }
    }
}

/// Returns the time after a duration. Beyond the end of the clock, a day stands for never.
fn later(silence: Duration) -> Instant {
    Instant::now() + silence.min(Duration::from_secs(86_400))
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let this = &mut *self;
        match Pin::new(&mut this.incoming).poll_frame(context) {
            Poll::Ready(frame) => {
                this.until = later(this.silence);
                Poll::Ready(frame.map(|frame| frame.map_err(Error::from)))
            }
            Poll::Pending if Instant::now() >= this.until => Poll::Ready(Some(Err(Error::ConnectionReadTimeout))),
            Poll::Pending => poll_stopped(&this.interrupt, this.tick.as_mut(), context)
                .map(|()| Some(Err(Error::ConnectionTerminated))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}
