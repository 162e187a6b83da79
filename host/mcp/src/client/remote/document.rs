//! Documents of a server at a URL: fetched as requests of the protocol are sent, and bounded.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, HeaderValue};
use http::{Method, StatusCode};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use tokio::time::timeout;
use tollhouse::capability::ServerUrl;
use tollhouse::tool::Network;

use super::http_client::{RemoteError, exchange, request_to};

/// Longest time that a document may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Fetches a document of at most `most` bytes. No redirect is followed.
pub(crate) async fn fetch_document(network: &Network, url: &ServerUrl, most: usize) -> Result<Bytes, RemoteError> {
    let fetched = async {
        let mut request = request_to(url, Method::GET, Vec::new())?;
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
        let response = exchange(network, url, request).await?;
        if response.status() != StatusCode::OK {
            return Err(RemoteError::Status(response.status().as_u16()));
        }
        let body = Limited::new(response.into_body(), most).collect().await.map_err(|error| {
            if error.is::<LengthLimitError>() { RemoteError::TooLarge(most) } else { RemoteError::Broken }
        })?;
        Ok(body.to_bytes())
    };
    timeout(PATIENCE, fetched).await.unwrap_or(Err(RemoteError::Late(PATIENCE.as_secs())))
}
