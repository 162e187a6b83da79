//! Documents of a server at a URL: fetched as requests of the protocol are sent, and bounded.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, HeaderValue};
use http::response::Parts;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use tokio::time::timeout;
use tollhouse::capability::ServerUrl;
use tollhouse::tool::Network;

use super::http_client::{RemoteError, exchange, request_to};

/// Longest time that a document may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Fetches a document of at most `most` bytes. No redirect is followed.
pub(crate) async fn fetch_document(network: &Network, url: &ServerUrl, most: usize) -> Result<Bytes, RemoteError> {
    let mut request = request_to(url, Method::GET, Vec::new())?;
    request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
    let (head, body) = answer_to(network, url, request, most).await?;
    if head.status != StatusCode::OK {
        return Err(RemoteError::Status(head.status.as_u16()));
    }
    Ok(body)
}

/// Sends a request, and reads an answer of at most `most` bytes, whatever its status is. No redirect is followed.
pub(crate) async fn answer_to(
    network: &Network,
    url: &ServerUrl,
    request: Request<Full<Bytes>>,
    most: usize,
) -> Result<(Parts, Bytes), RemoteError> {
    let answered = async {
        let (head, body) = exchange(network, url, request).await?.into_parts();
        let body = Limited::new(body, most).collect().await.map_err(|error| {
            if error.is::<LengthLimitError>() { RemoteError::TooLarge(most) } else { RemoteError::Broken }
        })?;
        Ok((head, body.to_bytes()))
    };
    timeout(PATIENCE, answered).await.unwrap_or(Err(RemoteError::Late(PATIENCE.as_secs())))
}
