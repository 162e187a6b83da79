//! Requests that are read within limits, and refusals.

use std::borrow::Cow;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use serde::Deserialize;
use tollhouse::json::{self, JsonError};

use super::clients::Unauthorized;
use super::oauth::AccessTokenJudge;

/// Answer to a request. An error ends its connection, so that its client does not take it for complete.
pub(super) type Answer = Response<UnsyncBoxBody<Bytes, io::Error>>;

/// Time for the body of a request.
const BODY: Duration = Duration::from_secs(30);

/// Most memory of the values of a message, in bytes, beside that of its longest text: a quarter of a million numbers.
const MAX_VALUES: u64 = 8 << 20;

/// Most bytes of a refused body that are read, and the longest time for that.
const MAX_DISCARDED: usize = 8 << 20;
const DISCARDING: Duration = Duration::from_secs(2);

/// Refuses a request, in words.
pub(super) fn refuse(status: StatusCode, why: &str) -> Answer {
    let mut answer = Response::new(whole(format!("{why}\n")));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    answer
}

/// Refuses a protocol session that the client does not have, as one that does not exist.
pub(super) fn no_session() -> Answer {
    refuse(StatusCode::NOT_FOUND, "there is no such session")
}

/// Refuses a request of a client that has as many in progress as it may.
pub(super) fn too_many() -> Answer {
    refuse(StatusCode::TOO_MANY_REQUESTS, "this client has too many requests in progress")
}

/// Returns the answer with something that is dropped when its body has been sent, or is given up.
pub(super) fn holding<T: Send + Unpin + 'static>(answer: Answer, held: T) -> Answer {
    answer.map(|body| HoldingBody { body, _held: held }.boxed_unsync())
}

/// Body that holds something for as long as it is there.
struct HoldingBody<T> {
    body: UnsyncBoxBody<Bytes, io::Error>,
    _held: T,
}

impl<T: Unpin> Body for HoldingBody<T> {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Returns the body of an answer that is there in whole.
fn whole(text: String) -> UnsyncBoxBody<Bytes, io::Error> {
    Full::new(Bytes::from(text)).map_err(|never| match never {}).boxed_unsync()
}

/// Answers a request for the metadata of a protected resource. It is public, and needs no token.
pub(super) fn metadata(oauth: Option<&AccessTokenJudge>, parts: &Parts) -> Option<Answer> {
    let oauth = oauth.filter(|_| parts.method == Method::GET)?;
    let document = oauth.metadata(parts.uri.path())?;
    let mut answer = Response::new(whole(document.to_string()));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Some(answer)
}

/// Creates the answer to a request that is of nobody. It says where to get a token.
pub(super) fn unauthorized_answer(oauth: Option<&AccessTokenJudge>, unauthorized: Unauthorized) -> Answer {
    let (status, error, text) = match unauthorized {
        Unauthorized::Missing => {
            (StatusCode::UNAUTHORIZED, None, "a token is needed: `Authorization: Bearer TOKEN`".to_owned())
        }
        Unauthorized::Refused(why) => {
            (StatusCode::UNAUTHORIZED, Some("invalid_token"), format!("the token is not accepted: {why}"))
        }
        Unauthorized::Insufficient => {
            let text = "the token has no scope that grants something here".to_owned();
            (StatusCode::FORBIDDEN, Some("insufficient_scope"), text)
        }
        Unauthorized::InAddress => {
            let text = "a token in an address is not accepted, since logs keep it: send it in `Authorization`";
            (StatusCode::BAD_REQUEST, Some("invalid_request"), text.to_owned())
        }
        Unauthorized::Unavailable(why) => return refuse(StatusCode::SERVICE_UNAVAILABLE, &why),
    };
    let error = error.map(|error| format!("error=\"{error}\""));
    let parameters: Vec<String> = error.into_iter().chain(oauth.map(AccessTokenJudge::challenge)).collect();
    let challenge = format!("Bearer {}", parameters.join(", "));
    let mut answer = refuse(status, &text);
    let challenge = HeaderValue::from_str(challenge.trim_end()).unwrap_or(HeaderValue::from_static("Bearer"));
    answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    answer
}

/// Reads the body of a request, within limits of size and time.
pub(super) async fn read_body(headers: &HeaderMap, body: &mut Incoming, most: usize) -> Result<Bytes, Answer> {
    let too_large = || refuse(StatusCode::PAYLOAD_TOO_LARGE, &format!("a request has at most {most} bytes"));
    let declared = header(headers, CONTENT_LENGTH.as_str()).and_then(|length| length.parse::<u64>().ok());
    if declared.is_some_and(|length| usize::try_from(length).map_or(true, |length| length > most)) {
        return Err(too_large());
    }
    match tokio::time::timeout(BODY, Limited::new(body, most).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(refuse(StatusCode::BAD_REQUEST, "the request is not complete")),
        Err(_) => Err(refuse(StatusCode::REQUEST_TIMEOUT, "the request takes too long")),
    }
}

/// Checks that the values of a message take bounded memory, and that it can be read: the SDK makes several copies of each value, of
/// some 200 bytes together, before anybody can look at them.
pub(super) fn check_values(body: &[u8], max_body: usize) -> Result<(), Answer> {
    // A text may be as long as a body, and is copied once.
    let most = u64::try_from(max_body).unwrap_or(u64::MAX).saturating_mul(2).saturating_add(MAX_VALUES);
    let text = std::str::from_utf8(body).map_err(|_| refuse(StatusCode::BAD_REQUEST, "the message is not UTF-8"))?;
    match json::parse(text, most) {
        Ok(_) => Ok(()),
        Err(JsonError::TooLarge(_)) => {
            let what = "the values of the message take too much memory: send fewer of them";
            Err(refuse(StatusCode::PAYLOAD_TOO_LARGE, what))
        }
        Err(JsonError::Malformed(what)) => {
            Err(refuse(StatusCode::BAD_REQUEST, &format!("the message cannot be read as JSON: {what}")))
        }
    }
}

/// Reads what is left of a body that was refused, up to a limit: a connection that is closed before that is reset, and
/// its client would not see the answer.
pub(super) async fn discard(mut body: Incoming) {
    let mut left = MAX_DISCARDED;
    let read = async {
        while let Some(Ok(frame)) = body.frame().await {
            left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
            if left == 0 {
                return;
            }
        }
    };
    // The answer is sent either way.
    let _ = tokio::time::timeout(DISCARDING, read).await;
}

/// Returns true if a request begins a protocol session. Requests of clients of 2026-07-28 have none.
pub(super) fn is_initialize(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        method: Cow<'a, str>,
    }
    serde_json::from_slice::<Message<'_>>(body).is_ok_and(|message| message.method == "initialize")
}

/// Returns the value of a header, if it is a text.
pub(super) fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// Returns true if a query has a token, whatever it is.
pub(super) fn has_token(query: &str) -> bool {
    query.split('&').any(|pair| {
        let name = pair.split('=').next().unwrap_or_default();
        percent_encoding::percent_decode_str(name).decode_utf8_lossy().eq_ignore_ascii_case("access_token")
    })
}

/// Returns the bearer token of a request. Of several authorizations none counts.
pub(super) fn bearer(headers: &HeaderMap) -> Option<String> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let (one, None) = (all.next()?, all.next()) else { return None };
    let (scheme, token) = one.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
}
