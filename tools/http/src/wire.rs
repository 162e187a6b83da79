//! Requests over `wasi:http`, with one time limit for all. This module must not follow, check or retry anything.

use wasip2::clocks::monotonic_clock;
use wasip2::http::outgoing_handler;
use wasip2::http::types::{
    ErrorCode, Fields, FutureIncomingResponse, HeaderError, IncomingBody, Method, OutgoingBody, OutgoingRequest,
    RequestOptions, Scheme as WasiScheme, http_error_code,
};
use wasip2::io::poll::{self, Pollable};
use wasip2::io::streams::{InputStream, OutputStream, StreamError};

use crate::address::Scheme;
use crate::error::Failure;
use crate::fetch::{Head, Rest, Wire};
use crate::request::Request;

/// Largest number of bytes of a body that are read at once.
const CHUNK: u64 = 64 << 10;

const NANOS_PER_MILLI: u64 = 1_000_000;

/// Network as the host offers it.
pub(crate) struct Network {
    deadline: Pollable,
    /// Timeout in nanoseconds.
    timeout: u64,
}

impl Network {
    /// Starts the time limit.
    pub(crate) fn new(timeout_ms: u32) -> Self {
        let timeout = u64::from(timeout_ms) * NANOS_PER_MILLI;
        // A subscription, because the clock of a tool stands still during a call, while waiting does not.
        Self { deadline: monotonic_clock::subscribe_duration(timeout), timeout }
    }

    fn options(&self) -> RequestOptions {
        let options = RequestOptions::new();
        // A host that does not support these options refuses them; the overall time limit holds anyway.
        let _ = options.set_connect_timeout(Some(self.timeout));
        let _ = options.set_first_byte_timeout(Some(self.timeout));
        let _ = options.set_between_bytes_timeout(Some(self.timeout));
        options
    }

    /// Waits for an event until the time limit.
    fn wait(&self, pollable: &Pollable) -> Result<(), Failure> {
        let ready = poll::poll(&[pollable, &self.deadline]);
        if ready.contains(&0) { Ok(()) } else { Err(Failure::Timeout) }
    }

    fn write(&self, body: OutgoingBody, bytes: &[u8]) -> Result<(), Failure> {
        let stream = body.write().map_err(|()| unexpected("the body of a request cannot be written"))?;
        let written = self.write_all(&stream, bytes);
        drop(stream);
        match written {
            Ok(()) => OutgoingBody::finish(body, None).map_err(Failure::from),
            // The server has stopped reading. If it responds, the response tells more.
            Err(None) => Ok(()),
            Err(Some(failure)) => Err(failure),
        }
    }

    /// Writes all bytes to a stream. The error `None` means that the other side has closed it.
    fn write_all(&self, stream: &OutputStream, mut bytes: &[u8]) -> Result<(), Option<Failure>> {
        let writable = stream.subscribe();
        while !bytes.is_empty() {
            let room = stream.check_write().map_err(outgoing)?;
            if room == 0 {
                self.wait(&writable)?;
                continue;
            }
            let (now, later) = bytes.split_at(usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len()));
            stream.write(now).map_err(outgoing)?;
            bytes = later;
        }
        stream.flush().map_err(outgoing)
    }

    fn answer(&self, future: &FutureIncomingResponse) -> Result<Head<Incoming<'_>>, Failure> {
        self.wait(&future.subscribe())?;
        let response = match future.get() {
            Some(Ok(response)) => response?,
            Some(Err(())) | None => return Err(unexpected("its answer was not there")),
        };
        let headers = response.headers().entries();
        let headers = headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), text(value))).collect();
        let body = response.consume().map_err(|()| unexpected("the body of its answer cannot be read"))?;
        let stream = body.stream().map_err(|()| unexpected("the body of its answer cannot be read"))?;
        Ok(Head { status: response.status(), headers, rest: Incoming { stream, _body: body, network: self } })
    }
}

impl<'n> Wire for &'n Network {
    type Rest = Incoming<'n>;

    fn send(&mut self, request: &Request) -> Result<Head<Incoming<'n>>, Failure> {
        let outgoing = outgoing_request(request)?;
        let body = match &request.body {
            Some(bytes) => Some((outgoing.body().map_err(|()| unexpected("a request has no body"))?, bytes)),
            None => None,
        };
        let future = outgoing_handler::handle(outgoing, Some(self.options()))?;
        if let Some((body, bytes)) = body {
            self.write(body, bytes)?;
        }
        self.answer(&future)
    }
}

fn outgoing_request(request: &Request) -> Result<OutgoingRequest, Failure> {
    let headers = Fields::new();
    for (name, value) in &request.headers {
        headers.append(name, value.as_bytes()).map_err(|error| refused(name, &error))?;
    }
    if let Some(body) = &request.body {
        // Many servers require the length before the body.
        let length = body.len().to_string();
        headers.append("content-length", length.as_bytes()).map_err(|error| refused("content-length", &error))?;
    }
    let outgoing = OutgoingRequest::new(headers);
    let scheme = match request.address.scheme() {
        Scheme::Http => WasiScheme::Http,
        Scheme::Https => WasiScheme::Https,
    };
    outgoing
        .set_method(&method(&request.method))
        .and_then(|()| outgoing.set_scheme(Some(&scheme)))
        .and_then(|()| outgoing.set_authority(Some(request.address.authority())))
        .and_then(|()| outgoing.set_path_with_query(Some(request.address.path())))
        .map_err(|()| unexpected("the host takes no such address or method"))?;
    Ok(outgoing)
}

fn method(name: &str) -> Method {
    match name {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "DELETE" => Method::Delete,
        "OPTIONS" => Method::Options,
        "PATCH" => Method::Patch,
        other => Method::Other(other.to_owned()),
    }
}

/// Body of a response. The fields are dropped in this order: the stream is a child of the body.
pub(crate) struct Incoming<'n> {
    stream: InputStream,
    _body: IncomingBody,
    network: &'n Network,
}

impl Rest for Incoming<'_> {
    fn next(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        loop {
            // Checked even if data is available at each read: an endless body must end with the time limit.
            if self.network.deadline.ready() {
                return Err(Failure::Timeout);
            }
            match self.stream.read(CHUNK) {
                Ok(chunk) if chunk.is_empty() => self.network.wait(&self.stream.subscribe())?,
                Ok(chunk) => return Ok(Some(chunk)),
                Err(StreamError::Closed) => return Ok(None),
                Err(StreamError::LastOperationFailed(error)) => {
                    let other = || Failure::Other(error.to_debug_string());
                    return Err(http_error_code(&error).map_or_else(other, Failure::from));
                }
            }
        }
    }
}

/// Returns the value of a header: as UTF-8 if it is valid, and otherwise as Latin-1, which HTTP used to prescribe.
fn text(value: Vec<u8>) -> String {
    String::from_utf8(value).unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect())
}

fn outgoing(error: StreamError) -> Option<Failure> {
    match error {
        StreamError::Closed => None,
        StreamError::LastOperationFailed(error) => http_error_code(&error).map(Failure::from),
    }
}

fn refused(name: &str, error: &HeaderError) -> Failure {
    let reason = match error {
        HeaderError::InvalidSyntax => "is not well-formed",
        HeaderError::Forbidden => "is not for a tool to set",
        _ => "is too much",
    };
    unexpected(&format!("the host says that the header `{name}` {reason}"))
}

fn unexpected(reason: &str) -> Failure {
    Failure::Other(reason.to_owned())
}

impl From<ErrorCode> for Failure {
    fn from(code: ErrorCode) -> Self {
        match code {
            ErrorCode::HttpRequestDenied => Self::Denied,
            ErrorCode::DestinationIpProhibited => Self::ForbiddenAddress,
            ErrorCode::DnsTimeout => Self::Dns(Some("no answer in time".to_owned())),
            ErrorCode::DnsError(payload) => Self::Dns(payload.rcode),
            ErrorCode::DestinationNotFound => Self::Dns(None),
            ErrorCode::DestinationUnavailable | ErrorCode::DestinationIpUnroutable | ErrorCode::ConnectionRefused => {
                Self::Unreachable
            }
            ErrorCode::ConnectionTerminated | ErrorCode::HttpResponseIncomplete => Self::Interrupted,
            ErrorCode::ConnectionLimitReached => Self::Busy,
            ErrorCode::TlsCertificateError => Self::Certificate,
            ErrorCode::TlsProtocolError | ErrorCode::TlsAlertReceived(_) => Self::Tls,
            ErrorCode::ConnectionTimeout
            | ErrorCode::ConnectionReadTimeout
            | ErrorCode::ConnectionWriteTimeout
            | ErrorCode::HttpResponseTimeout => Self::Timeout,
            ErrorCode::HttpRequestBodySize(_) => Self::RequestTooLarge("body"),
            ErrorCode::HttpRequestUriTooLong => Self::RequestTooLarge("address"),
            ErrorCode::HttpRequestHeaderSectionSize(_) | ErrorCode::HttpRequestHeaderSize(_) => {
                Self::RequestTooLarge("header")
            }
            ErrorCode::HttpResponseBodySize(_) => Self::ResponseTooLarge("body"),
            ErrorCode::HttpResponseHeaderSectionSize(_) | ErrorCode::HttpResponseHeaderSize(_) => {
                Self::ResponseTooLarge("header")
            }
            ErrorCode::HttpProtocolError
            | ErrorCode::HttpResponseTransferCoding(_)
            | ErrorCode::HttpResponseTrailerSectionSize(_)
            | ErrorCode::HttpResponseTrailerSize(_)
            | ErrorCode::HttpResponseContentCoding(_) => Self::Protocol,
            ErrorCode::HttpRequestMethodInvalid => unexpected("the host takes no such method"),
            ErrorCode::HttpRequestUriInvalid => unexpected("the host takes no such address"),
            ErrorCode::LoopDetected => unexpected("it would go round in a circle"),
            ErrorCode::ConfigurationError => unexpected("the host is not set up for it"),
            ErrorCode::InternalError(Some(reason)) => Self::Other(reason),
            // The remaining codes concern trailers and upgrades, which requests here do not use.
            _ => unexpected("the host does not say why"),
        }
    }
}
