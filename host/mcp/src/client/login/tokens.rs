//! Requests to the token endpoint: for a code, and for a refresh token.

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Method, StatusCode};
use serde::Deserialize;
use tollhouse::capability::ServerUrl;
use tollhouse::tool::Network;

use super::login_file::{LoginError, StoredLogin, seconds};
use super::{MAX_ANSWER, encoded, form};
use crate::client::remote::{answer_to, request_to};

/// Ways in which a client names itself at the token endpoint, as OAuth calls them.
pub(super) const PUBLIC: &str = "none";
pub(super) const BY_FORM: &str = "client_secret_post";
pub(super) const BY_HEADER: &str = "client_secret_basic";

/// Shortest access token that is accepted, in bytes.
const MIN_TOKEN: usize = 8;

/// Longest token that is accepted, in bytes: a server would refuse the header of a longer one.
const MAX_TOKEN: usize = 16 << 10;

/// Longest lifetime of a token that is believed.
const MAX_LIFE: Duration = Duration::from_secs(366 * 24 * 3600);

/// Answer of the token endpoint.
#[derive(Deserialize)]
struct TokenAnswer {
    access_token: String,
    token_type: String,
    expires_in: Option<u64>,
    refresh_token: Option<String>,
}

/// Error of the token endpoint.
#[derive(Deserialize)]
struct TokenRefusal {
    error: String,
}

/// Asks for tokens with these fields besides those of the client, and puts them in place of those of the login. A server
/// that issues no other refresh token lets the present one stay.
pub(super) async fn ask(network: &Network, login: &mut StoredLogin, fields: &[(&str, &str)]) -> Result<(), LoginError> {
    let url = ServerUrl::parse(&login.token_endpoint).map_err(|_| LoginError::Damaged)?;
    let mut all = fields.to_vec();
    all.extend([("client_id", login.client_id.as_str()), ("resource", login.resource.as_str())]);
    let secret = login.client_secret.as_deref();
    all.extend(secret.filter(|_| !login.by_header).map(|secret| ("client_secret", secret)));
    let mut request = request_to(&url, Method::POST, form(&all).into_bytes()).map_err(unreachable)?;
    if let Some(secret) = secret.filter(|_| login.by_header) {
        let pair = format!("{}:{}", encoded(&login.client_id), encoded(secret));
        let mut value =
            HeaderValue::try_from(format!("Basic {}", STANDARD.encode(pair))).map_err(|_| LoginError::Damaged)?;
        value.set_sensitive(true);
        request.headers_mut().insert(AUTHORIZATION, value);
    }
    request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
    let (head, body) = answer_to(network, &url, request, MAX_ANSWER).await.map_err(unreachable)?;
    if head.status != StatusCode::OK {
        let refusal = serde_json::from_slice::<TokenRefusal>(&body).map(|refusal| refusal.error).unwrap_or_default();
        let is_refused = matches!(refusal.as_str(), "invalid_grant" | "invalid_client" | "unauthorized_client");
        return Err(if is_refused { LoginError::Refused } else { LoginError::Status(head.status.as_u16()) });
    }
    let answer: TokenAnswer = serde_json::from_slice(&body).map_err(|_| LoginError::NoToken)?;
    if !answer.token_type.eq_ignore_ascii_case("bearer") || !is_bearer(&answer.access_token) {
        return Err(LoginError::NoToken);
    }
    let life = answer.expires_in.map(Duration::from_secs).map(|life| life.min(MAX_LIFE));
    login.expires = life.map(|life| seconds(SystemTime::now() + life));
    login.access_token = answer.access_token;
    if let Some(refresh) = answer.refresh_token.filter(|token| token.len() <= MAX_TOKEN && !token.is_empty()) {
        login.refresh_token = Some(refresh);
    }
    Ok(())
}

/// Returns true if a text is a bearer token as RFC 6750 has it, and neither so short that it would be found by accident in
/// what a server says, nor too long.
fn is_bearer(token: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    (MIN_TOKEN..=MAX_TOKEN).contains(&token.len()) && token.bytes().all(is_allowed)
}

fn unreachable(error: crate::client::RemoteError) -> LoginError {
    LoginError::Unreachable(error.to_string())
}
