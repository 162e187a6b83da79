//! Logging in: the authorization code flow with PKCE, for a user whose browser runs on this machine.

use std::io;
use std::net::TcpListener;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::Method;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde::Deserialize;
use serde_json::json;
use tokio::runtime::Builder;
use tollhouse::capability::ServerUrl;
use tollhouse::tool::Network;

use super::discovery::{Authorization, discover};
use super::login_file::{LoginError, LoginPlace, StoredLogin};
use super::redirect::{self, Redirected};
use super::{MAX_ANSWER, form, tokens};
use crate::client::remote::{RemoteError, answer_to, request_to};

/// Longest time that a user may take.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// Longest name of a client that is believed, in bytes.
const MAX_CLIENT: usize = 4 << 10;

/// Reason why nobody is logged in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignInError {
    /// The server accepts requests without a login.
    #[error("the server asks for no login")]
    NotNeeded,
    /// The server names no authorization server.
    #[error("the server does not say which authorization server issues its tokens (RFC 9728)")]
    NoResource,
    /// The metadata are those of another server.
    #[error("the server has the metadata of another one: a token for them is not sent here")]
    OtherResource,
    /// The authorization server has no metadata.
    #[error("the authorization server has no metadata (RFC 8414)")]
    NoServer,
    /// The metadata are those of another authorization server.
    #[error("the metadata of the authorization server are those of another one")]
    OtherServer,
    /// The authorization server has no PKCE.
    #[error("the authorization server does not protect codes (PKCE with S256)")]
    NoChallenge,
    /// A document is none of OAuth.
    #[error("a document of the server is not as OAuth has it")]
    Document,
    /// An address cannot be used.
    #[error(
        "an address of the authorization server is none, is not `https`, is one of this machine, or is an IP address"
    )]
    Endpoint,
    /// The authorization endpoint may be that of another authorization server, whose codes the token endpoint would get.
    #[error(
        "users log in at `{authorize}` and tokens come from `{token}`, and the authorization server does not say that its answers \
         name it (RFC 9207): they may be of two servers, one of which would get the login at the other"
    )]
    SeveralHosts {
        /// Host of the authorization endpoint.
        authorize: String,
        /// Host of the token endpoint.
        token: String,
    },
    /// The authorization endpoint is at another host than the user named.
    #[error("users log in at `{0}`, which is not the host that you named")]
    OtherHost(String),
    /// The authorization server registers no clients.
    #[error("the authorization server registers no clients by itself")]
    NoRegistration,
    /// The authorization server, or the user, refused.
    #[error("the authorization server, or you, refused the login")]
    Refused,
    /// The answer is of another authorization server.
    #[error("the answer came from another authorization server")]
    OtherIssuer,
    /// The user took too long.
    #[error("no answer came within {} minutes", PATIENCE.as_secs() / 60)]
    Late,
    /// A server cannot be asked.
    #[error("{0}")]
    Remote(String),
    /// The port of this machine cannot be used.
    #[error("the port for the answer of the browser cannot be used")]
    Port(#[source] io::Error),
    /// The tokens are not issued, or cannot be stored.
    #[error(transparent)]
    Login(#[from] LoginError),
}

impl From<RemoteError> for SignInError {
    fn from(error: RemoteError) -> Self {
        Self::Remote(error.to_string())
    }
}

/// Login that is wanted.
pub struct SignIn<'a> {
    /// Address of the server.
    pub url: &'a ServerUrl,
    /// Scopes to ask for; without any, those that the server names.
    pub scopes: &'a [String],
    /// Name of this client, where the authorization server registers none.
    pub client: Option<&'a str>,
    /// Host of the authorization endpoint, if the user says which one it has to be: that of the token endpoint may be another.
    pub authorization_host: Option<&'a str>,
    /// Access to the network.
    pub network: Network,
    /// Port of this machine for the answer of the browser.
    pub listener: TcpListener,
    /// Place where the login is stored.
    pub place: &'a LoginPlace,
}

/// Address that the user opens to log in, and whose it is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoginPage<'a> {
    /// The address.
    pub address: &'a str,
    /// Host of the address, and its port if it is not that of its scheme: the user gives a password there.
    pub host: &'a str,
    /// Name of the authorization server, which the MCP server names.
    pub issuer: &'a str,
}

/// Answer of the registration of a client.
#[derive(Deserialize)]
struct Registered {
    client_id: String,
    client_secret: Option<String>,
    token_endpoint_auth_method: Option<String>,
}

/// Logs in, and stores the login. `show` is called with the page that the user opens.
///
/// # Errors
/// If a server is not as OAuth has it or refuses, the user does not answer, or the login cannot be stored.
pub fn sign_in(wanted: SignIn<'_>, show: impl FnOnce(LoginPage<'_>)) -> Result<(), SignInError> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(SignInError::Port)?;
    runtime.block_on(wanted.complete(show))
}

impl SignIn<'_> {
    async fn complete(self, show: impl FnOnce(LoginPage<'_>)) -> Result<(), SignInError> {
        self.listener.set_nonblocking(true).map_err(SignInError::Port)?;
        let port = self.listener.local_addr().map_err(SignInError::Port)?.port();
        let redirect = format!("http://127.0.0.1:{port}{}", redirect::PATH);
        let server = discover(&self.network, self.url, self.scopes).await?;
        check_endpoints(&server, self.authorization_host)?;
        let client = self.client(&server, &redirect).await?;
        let (verifier, state) = (random()?, random()?);
        let address = address(&server, &client.client_id, &redirect, &verifier, &state);
        show(LoginPage { address: &address, host: &place(&server.authorize), issuer: &server.issuer });
        let listener = tokio::net::TcpListener::from_std(self.listener).map_err(SignInError::Port)?;
        let answered = tokio::time::timeout(PATIENCE, redirect::wait(&listener, &state)).await;
        let answer = answered.map_err(|_| SignInError::Late)?.map_err(SignInError::Port)?;
        let code = code_of(answer, &server)?;
        let mut login = StoredLogin {
            url: self.url.as_str().to_owned(),
            resource: server.resource,
            token_endpoint: server.token.as_str().to_owned(),
            client_id: client.client_id,
            by_header: client.token_endpoint_auth_method.as_deref() == Some(tokens::BY_HEADER),
            client_secret: client.client_secret,
            access_token: String::new(),
            expires: None,
            refresh_token: None,
        };
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", &code),
            ("redirect_uri", &redirect),
            ("code_verifier", &verifier),
        ];
        tokens::ask(&self.network, &mut login, &fields).await?;
        let file = self.place.open(self.url)?;
        let _lock = file.lock()?;
        Ok(file.write(&login)?)
    }

    /// Returns this client as the authorization server knows it, or registers it.
    async fn client(&self, server: &Authorization, redirect: &str) -> Result<Registered, SignInError> {
        if let Some(client) = self.client {
            return Ok(Registered {
                client_id: client.to_owned(),
                client_secret: None,
                token_endpoint_auth_method: None,
            });
        }
        let url = server.register.as_ref().ok_or(SignInError::NoRegistration)?;
        let asked = json!({
            "client_name": "Tollhouse", "application_type": "native", "redirect_uris": [redirect],
            "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
            "token_endpoint_auth_method": server.authentication, "scope": server.scopes.join(" "),
        });
        let mut request = request_to(url, Method::POST, asked.to_string().into_bytes())?;
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
        let (head, body) = answer_to(&self.network, url, request, MAX_ANSWER).await?;
        if !head.status.is_success() {
            return Err(SignInError::NoRegistration);
        }
        let mut registered: Registered = serde_json::from_slice(&body).map_err(|_| SignInError::Document)?;
        // A server that does not say took what was asked for.
        registered.token_endpoint_auth_method.get_or_insert_with(|| server.authentication.to_owned());
        let is_short = |text: &str| !text.is_empty() && text.len() <= MAX_CLIENT;
        let is_usable = is_short(&registered.client_id) && registered.client_secret.as_deref().is_none_or(is_short);
        if is_usable { Ok(registered) } else { Err(SignInError::Document) }
    }
}

/// Refuses an authorization endpoint at another host than the token endpoint (RFC 9700, 4.4): a hostile authorization server names
/// the authorization endpoint of an honest one, and gets its code. Where answers name their server, that is seen ([`code_of`]), and
/// a user who knows that both are of one server says so.
fn check_endpoints(server: &Authorization, named: Option<&str>) -> Result<(), SignInError> {
    let (authorize, token) = (&server.authorize, &server.token);
    match named {
        Some(host) if host != authorize.host() && host != place(authorize) => {
            Err(SignInError::OtherHost(place(authorize)))
        }
        None if authorize.origin() != token.origin() && !server.names_issuer => {
            Err(SignInError::SeveralHosts { authorize: place(authorize), token: place(token) })
        }
        _ => Ok(()),
    }
}

/// Returns the host of an address, with its port if it is not that of its scheme.
fn place(url: &ServerUrl) -> String {
    let origin = url.origin();
    let place = origin.split_once("://").map_or(origin.as_str(), |(_, place)| place);
    place.strip_suffix(if url.is_secure() { ":443" } else { ":80" }).unwrap_or(place).to_owned()
}

/// Returns the address that the user opens.
fn address(server: &Authorization, client: &str, redirect: &str, verifier: &str, state: &str) -> String {
    let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()));
    let scope = server.scopes.join(" ");
    let mut fields = vec![
        ("response_type", "code"),
        ("client_id", client),
        ("redirect_uri", redirect),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
        ("state", state),
        ("resource", &server.resource),
    ];
    if !scope.is_empty() {
        fields.push(("scope", &scope));
    }
    let address = server.authorize.as_str();
    let joint = if address.contains('?') { '&' } else { '?' };
    format!("{address}{joint}{}", form(&fields))
}

/// Returns the code of an answer of the server that was asked (RFC 9207).
fn code_of(answer: Redirected, server: &Authorization) -> Result<String, SignInError> {
    let is_own = match &answer.issuer {
        Some(issuer) => *issuer == server.issuer,
        None => !server.names_issuer,
    };
    match answer {
        _ if !is_own => Err(SignInError::OtherIssuer),
        Redirected { error: None, code: Some(code), .. } => Ok(code),
        _ => Err(SignInError::Refused),
    }
}

/// Returns a text that nobody can guess.
fn random() -> Result<String, SignInError> {
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes).map_err(|_| LoginError::Random)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(authorize: &str, token: &str, names_issuer: bool) -> Authorization {
        let url = |text| ServerUrl::parse(text).expect("an address");
        Authorization {
            resource: "https://mcp.example/mcp".to_owned(),
            issuer: "https://evil.example".to_owned(),
            authorize: url(authorize),
            token: url(token),
            register: None,
            authentication: tokens::PUBLIC,
            names_issuer,
            scopes: Vec::new(),
        }
    }

    #[test]
    fn login_at_one_host_with_tokens_of_another_needs_an_issuer_or_the_user() {
        let (honest, evil) = ("https://honest.example/authorize", "https://evil.example/token");
        let mixed = server(honest, evil, false);
        let told = check_endpoints(&mixed, None).expect_err("the code would go to another server").to_string();
        assert!(told.contains("`honest.example`") && told.contains("`evil.example`"), "{told}");
        assert!(check_endpoints(&server(honest, "https://honest.example:8443/token", false), None).is_err());
        assert!(check_endpoints(&server(honest, "https://sub.honest.example/token", false), None).is_err());
        // The twins: one host, answers that name their server, and a user who knows better.
        assert!(check_endpoints(&server(honest, "https://honest.example/token", false), None).is_ok());
        assert!(check_endpoints(&server(honest, evil, true), None).is_ok());
        assert!(check_endpoints(&mixed, Some("honest.example")).is_ok());
        assert!(matches!(check_endpoints(&mixed, Some("evil.example")), Err(SignInError::OtherHost(_))));
    }

    #[test]
    fn answer_without_the_issuer_that_was_promised_gives_no_code() {
        let answer = |issuer: Option<&str>| Redirected {
            code: Some("code".to_owned()),
            issuer: issuer.map(str::to_owned),
            ..Redirected::default()
        };
        let (at, of) = ("https://honest.example/authorize", "https://evil.example/token");
        assert!(matches!(code_of(answer(None), &server(at, of, true)), Err(SignInError::OtherIssuer)));
        assert!(code_of(answer(Some("https://honest.example")), &server(at, of, false)).is_err());
        assert!(code_of(answer(Some("https://evil.example")), &server(at, of, true)).is_ok());
    }
}
