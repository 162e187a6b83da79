//! Responses without the values of secrets: a server that sends back its request does not reveal a secret to the tool.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING};
use hyper::body::{Body, Frame, SizeHint};
use wasmtime_wasi_http::Error;

use crate::tool::secret::StreamRedactor;

/// Content codings that messages name.
const CODINGS: [&str; 6] = ["gzip", "x-gzip", "compress", "deflate", "br", "zstd"];

/// Refuses a response to a request with secrets that cannot be searched for them, although the request asked for no
/// compression.
///
/// # Errors
/// If the body is compressed.
pub(super) fn refuse_unreadable(headers: &HeaderMap) -> Result<(), Error> {
    for (name, plain) in [(CONTENT_ENCODING, "identity"), (TRANSFER_ENCODING, "chunked")] {
        for value in headers.get_all(name) {
            let codings = value.to_str().unwrap_or("?").split(',').map(str::trim);
            if let Some(coding) = codings.into_iter().find(|coding| !coding.eq_ignore_ascii_case(plain)) {
                // The tool sees the message, and an unknown name may be the secret.
                let known = CODINGS.into_iter().find(|known| coding.eq_ignore_ascii_case(known));
                return Err(Error::HttpResponseContentCoding(Some(known.unwrap_or("another").to_owned())));
            }
        }
    }
    Ok(())
}

/// Redacts headers, body and trailers.
pub(super) fn response<B>(response: http::Response<B>, redaction: StreamRedactor) -> http::Response<RedactedBody<B>>
where
    B: Body<Data = Bytes, Error = Error> + Unpin,
{
    let (mut head, body) = response.into_parts();
    redact_headers(&mut head.headers, &redaction);
    if !body.is_end_stream() {
        // Placeholders differ in length from the values.
        head.headers.remove(CONTENT_LENGTH);
    }
    http::Response::from_parts(head, RedactedBody { body, redaction, trailers: None, ended: false })
}

fn redact_headers(headers: &mut HeaderMap, redaction: &StreamRedactor) {
    // After redaction the name would be of no use to anybody.
    let named: Vec<HeaderName> =
        headers.keys().filter(|name| redaction.is_in_name(name.as_str().as_bytes())).cloned().collect();
    for name in named {
        headers.remove(name);
    }
    for value in headers.values_mut() {
        if let Some(redacted) = redaction.whole(value.as_bytes()) {
            // A redacted header is a valid header, and so is a name.
            *value = HeaderValue::from_bytes(&redacted).unwrap_or(HeaderValue::from_static(""));
        }
    }
}

/// Response body without secrets.
pub(super) struct RedactedBody<B> {
    body: B,
    redaction: StreamRedactor,
    /// Trailers, which follow the body.
    trailers: Option<HeaderMap>,
    /// True once the whole body was read.
    ended: bool,
}

impl<B: Body<Data = Bytes, Error = Error> + Unpin> RedactedBody<B> {
    /// Returns the bytes that were held back until the end. Returns `None` if there are none.
    fn rest(&mut self) -> Option<Frame<Bytes>> {
        self.ended = true;
        let mut rest = Vec::new();
        self.redaction.finish(&mut rest);
        (!rest.is_empty()).then(|| Frame::data(rest.into()))
    }
}

impl<B: Body<Data = Bytes, Error = Error> + Unpin> Body for RedactedBody<B> {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        loop {
            if self.ended {
                return Poll::Ready(self.trailers.take().map(|trailers| Ok(Frame::trailers(trailers))));
            }
            let frame = match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                Poll::Ready(Some(Ok(frame))) => frame,
                Poll::Ready(None) => match self.rest() {
                    Some(rest) => return Poll::Ready(Some(Ok(rest))),
                    None => continue,
                },
            };
            match frame.into_data() {
                Ok(data) => {
                    let mut redacted = Vec::with_capacity(data.len());
                    self.redaction.push(&data, &mut redacted);
                    // All of it may be held back until more arrives.
                    if !redacted.is_empty() {
                        return Poll::Ready(Some(Ok(Frame::data(redacted.into()))));
                    }
                }
                Err(frame) => {
                    let Ok(mut trailers) = frame.into_trailers() else { continue };
                    redact_headers(&mut trailers, &self.redaction);
                    self.trailers = Some(trailers);
                    if let Some(rest) = self.rest() {
                        return Poll::Ready(Some(Ok(rest)));
                    }
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.trailers.is_none() && (self.ended || (self.body.is_end_stream() && !self.redaction.is_holding()))
    }

    fn size_hint(&self) -> SizeHint {
        // The size is unknown before the body is read.
        SizeHint::default()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;
    use crate::tool::Secrets;

    type Frames = Vec<Result<Frame<Bytes>, Error>>;

    /// Body whose frames are all ready.
    struct ReadyBody(std::collections::VecDeque<Result<Frame<Bytes>, Error>>);

    impl Body for ReadyBody {
        type Data = Bytes;
        type Error = Error;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
            Poll::Ready(self.0.pop_front())
        }
    }

    fn redacted(head: &[(&'static str, &'static str)], frames: Frames) -> http::Response<RedactedBody<ReadyBody>> {
        let secrets = Secrets::default().with("KEY", "s3cr3t-value").expect("a secret");
        let mut builder = http::Response::builder();
        for (name, value) in head {
            builder = builder.header(*name, *value);
        }
        let whole = builder.body(ReadyBody(frames.into())).expect("a response");
        response(whole, secrets.stream(|_| false).expect("there is a secret"))
    }

    fn read(response: http::Response<RedactedBody<ReadyBody>>) -> (String, Option<HeaderMap>) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let collected = runtime.block_on(response.into_body().collect()).expect("it is whole");
        let trailers = collected.trailers().cloned();
        (String::from_utf8(collected.to_bytes().to_vec()).expect("it is text"), trailers)
    }

    fn data(text: &'static str) -> Result<Frame<Bytes>, Error> {
        Ok(Frame::data(Bytes::from_static(text.as_bytes())))
    }

    #[test]
    fn head_body_and_trailers_tell_no_secret() {
        let mut trailers = HeaderMap::new();
        trailers.insert("x-sum", HeaderValue::from_static("s3cr3t%2Dvalue"));
        let frames = vec![data("<s3cr"), data("3t"), data("-value> s3c"), Ok(Frame::trailers(trailers))];
        let response = redacted(&[("x-echo", "Bearer s3cr3t-value"), ("content-length", "22")], frames);
        assert_eq!(response.headers()["x-echo"], "Bearer {{secret:KEY}}");
        assert!(!response.headers().contains_key(CONTENT_LENGTH));
        let (text, trailers) = read(response);
        assert_eq!(text, "<{{secret:KEY}}> s3c");
        assert_eq!(trailers.expect("they follow")["x-sum"], "{{secret:KEY}}");
    }

    #[test]
    fn names_of_headers_tell_no_secret_in_whichever_case() {
        let mut trailers = HeaderMap::new();
        trailers.insert("x-s3cr3t-value", HeaderValue::from_static("1"));
        trailers.insert("x-other", HeaderValue::from_static("2"));
        let response =
            redacted(&[("s3cr3t-value", "1"), ("x-echo", "2")], vec![data("x"), Ok(Frame::trailers(trailers))]);
        assert_eq!(response.headers().keys().collect::<Vec<_>>(), ["x-echo"]);
        let trailers = read(response).1.expect("they follow");
        assert_eq!(trailers.keys().collect::<Vec<_>>(), ["x-other"]);
        let secrets = Secrets::default().with("KEY", "S3cr3t-VALUE").expect("a secret");
        let redaction = secrets.stream(|_| false).expect("there is a secret");
        assert!(redaction.is_in_name(b"x-s3cr3t-value-y") && !redaction.is_in_name(b"x-s3cr3t"));
    }

    #[test]
    fn content_coding_that_is_unknown_is_not_named_in_the_error() {
        let headers = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static("s3cr3t-value"))]);
        let error = refuse_unreadable(&headers).expect_err("it is no coding");
        assert!(matches!(&error, Error::HttpResponseContentCoding(Some(coding)) if coding == "another"), "{error:?}");
    }

    #[test]
    fn response_without_secret_is_unchanged() {
        let (text, trailers) = read(redacted(&[("x-a", "b")], vec![data("plain s3cr3t"), data(" text"), data("")]));
        assert_eq!((text.as_str(), trailers), ("plain s3cr3t text", None));
        assert_eq!(read(redacted(&[], Vec::new())).0, "");
    }

    #[test]
    fn compressed_response_to_request_with_secret_is_refused() {
        let headers = |name: &'static str, value: &'static str| {
            HeaderMap::from_iter([(http::HeaderName::from_static(name), HeaderValue::from_static(value))])
        };
        for (name, value, fits) in [
            ("content-encoding", "identity", true),
            ("transfer-encoding", "Chunked", true),
            ("content-type", "gzip", true),
            ("content-encoding", "gzip", false),
            ("content-encoding", "identity, br", false),
            ("content-encoding", "", false),
            ("transfer-encoding", "gzip, chunked", false),
        ] {
            assert_eq!(refuse_unreadable(&headers(name, value)).is_ok(), fits, "{name}: {value}");
        }
    }
}
