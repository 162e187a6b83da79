//! Discovery of the authorization server of an address: the metadata of the protected resource (RFC 9728), and that of the
//! authorization server (RFC 8414, or OpenID Connect).

use std::net::IpAddr;

use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use http::{Method, StatusCode, Uri};
use http_auth::{ParamValue, parse_challenges};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tollhouse::capability::ServerUrl;
use tollhouse::tool::Network;

use super::MAX_ANSWER;
use super::sign_in::SignInError;
use super::tokens::{BY_FORM, BY_HEADER, PUBLIC};
use crate::client::remote::{RemoteError, answer_to, fetch_document, request_to};

/// Request that a server without a login refuses, and says why.
const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tollhouse","version":"1"}}}"#;

/// Metadata of the protected resource.
#[derive(Deserialize)]
struct ResourceDocument {
    resource: String,
    #[serde(default)]
    authorization_servers: Vec<String>,
    #[serde(default)]
    scopes_supported: Vec<String>,
}

/// Metadata of an authorization server.
#[derive(Deserialize)]
struct ServerDocument {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    registration_endpoint: Option<String>,
    #[serde(default)]
    code_challenge_methods_supported: Vec<String>,
    #[serde(default)]
    scopes_supported: Vec<String>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

/// Authorization server of an address, and what is asked of it.
pub(super) struct Authorization {
    /// Name of the resource, which tokens are for.
    pub(super) resource: String,
    pub(super) issuer: String,
    pub(super) authorize: ServerUrl,
    pub(super) token: ServerUrl,
    pub(super) register: Option<ServerUrl>,
    /// Way in which this client names itself at the token endpoint.
    pub(super) authentication: &'static str,
    /// True if the answer to the browser names the issuer.
    pub(super) names_issuer: bool,
    pub(super) scopes: Vec<String>,
}

/// Finds the authorization server of an address. `scopes` are asked for in place of those that the server names.
pub(super) async fn discover(
    network: &Network,
    url: &ServerUrl,
    scopes: &[String],
) -> Result<Authorization, SignInError> {
    let challenge = challenge(network, url).await?;
    let places = match challenge.parameter("resource_metadata") {
        Some(named) => vec![named.to_owned()],
        None => well_known(url, "oauth-protected-resource"),
    };
    let resource: ResourceDocument = first(network, url, &places).await?.ok_or(SignInError::NoResource)?;
    if !is_for(&resource.resource, url) {
        return Err(SignInError::OtherResource);
    }
    let issuer = resource.authorization_servers.into_iter().next().ok_or(SignInError::NoResource)?;
    let server = server(network, url, &issuer).await?;
    let endpoint = |text: &str| named_by(url, text);
    let mut wanted: Vec<String> = match (scopes, challenge.parameter("scope")) {
        ([], Some(asked)) => asked.split_whitespace().map(str::to_owned).collect(),
        ([], None) => resource.scopes_supported,
        (scopes, _) => scopes.to_vec(),
    };
    // Without it, some servers issue no refresh tokens.
    let offline = "offline_access";
    if server.scopes_supported.iter().any(|scope| scope == offline) && wanted.iter().all(|scope| scope != offline) {
        wanted.push(offline.to_owned());
    }
    Ok(Authorization {
        resource: resource.resource,
        authorize: endpoint(&server.authorization_endpoint)?,
        token: endpoint(&server.token_endpoint)?,
        register: server.registration_endpoint.as_deref().map(endpoint).transpose()?,
        authentication: authentication(server.token_endpoint_auth_methods_supported.as_deref()),
        names_issuer: server.authorization_response_iss_parameter_supported,
        issuer: server.issuer,
        scopes: wanted,
    })
}

/// Asks the server without a token, and returns what it says about tokens.
async fn challenge(network: &Network, url: &ServerUrl) -> Result<BearerChallenge, SignInError> {
    let mut request = request_to(url, Method::POST, HELLO.into())?;
    request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let (head, _) = answer_to(network, url, request, MAX_ANSWER).await?;
    match head.status {
        StatusCode::UNAUTHORIZED => Ok(BearerChallenge::of(&head.headers)),
        status if status.is_success() => Err(SignInError::NotNeeded),
        status => Err(RemoteError::Status(status.as_u16()).into()),
    }
}

/// Parameters of the challenge for bearer tokens: `Bearer error="x", resource_metadata="https://…"` (RFC 9110, 11.6.1).
#[derive(Default)]
struct BearerChallenge(Vec<(String, String)>);

impl BearerChallenge {
    /// Finds the challenge in the headers of an answer. One that cannot be parsed says nothing.
    fn of(headers: &HeaderMap) -> Self {
        let values = headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        let mut all = values.filter_map(|value| parse_challenges(value).ok()).flatten();
        let bearer = all.find(|challenge| challenge.scheme.eq_ignore_ascii_case("bearer"));
        let owned = |(name, value): (&str, ParamValue<'_>)| (name.to_ascii_lowercase(), value.to_unescaped());
        Self(bearer.map(|challenge| challenge.params.into_iter().map(owned).collect()).unwrap_or_default())
    }

    fn parameter(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Returns the well-known addresses of a document about an address: below its path, and of its host.
fn well_known(url: &ServerUrl, name: &str) -> Vec<String> {
    let path = url.as_str().parse::<Uri>().map(|uri| uri.path().trim_end_matches('/').to_owned()).unwrap_or_default();
    let of_host = format!("{}/.well-known/{name}", url.origin());
    if path.is_empty() { vec![of_host] } else { vec![format!("{of_host}{path}"), of_host] }
}

/// Parses an address that a server names. A server elsewhere names neither this machine nor another host by its IP
/// address, which may be of a private network: it would have requests sent there that it cannot send itself. (The network
/// refuses names that stand for such addresses.)
fn named_by(server: &ServerUrl, text: &str) -> Result<ServerUrl, SignInError> {
    let named = ServerUrl::parse(text).map_err(|_| SignInError::Endpoint)?;
    let is_reachable_by_it = server.is_loopback() || named.host() == server.host();
    if is_reachable_by_it || !(named.is_loopback() || named.host().parse::<IpAddr>().is_ok()) {
        Ok(named)
    } else {
        Err(SignInError::Endpoint)
    }
}

/// Fetches the metadata of an authorization server that a server names; they must be its own.
async fn server(network: &Network, by: &ServerUrl, issuer: &str) -> Result<ServerDocument, SignInError> {
    let url = named_by(by, issuer)?;
    let mut places = well_known(&url, "oauth-authorization-server");
    places.truncate(1);
    places.extend(well_known(&url, "openid-configuration").into_iter().take(1));
    places.push(format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/')));
    let server: ServerDocument = first(network, by, &places).await?.ok_or(SignInError::NoServer)?;
    if server.issuer.trim_end_matches('/') != issuer.trim_end_matches('/') {
        return Err(SignInError::OtherServer);
    }
    // Without it, a code that another program sees is enough for a token.
    if !server.code_challenge_methods_supported.iter().any(|method| method == "S256") {
        return Err(SignInError::NoChallenge);
    }
    Ok(server)
}

/// Chooses how this client names itself at the token endpoint: without a secret, if the server lets it.
fn authentication(offered: Option<&[String]>) -> &'static str {
    let offers = |way: &&&str| offered.is_none_or(|offered| offered.iter().any(|known| known == **way));
    [PUBLIC, BY_FORM, BY_HEADER].iter().find(offers).unwrap_or(&PUBLIC)
}

/// Fetches the first of these documents, which a server names, that there is.
async fn first<T: DeserializeOwned>(
    network: &Network,
    by: &ServerUrl,
    places: &[String],
) -> Result<Option<T>, SignInError> {
    for place in places {
        let url = named_by(by, place)?;
        match fetch_document(network, &url, MAX_ANSWER).await {
            Ok(document) => return serde_json::from_slice(&document).map(Some).map_err(|_| SignInError::Document),
            Err(RemoteError::Status(400..500)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

/// Returns true if the metadata of a resource are those of an address: they name it, or a path above it.
fn is_for(resource: &str, url: &ServerUrl) -> bool {
    let Ok(named) = ServerUrl::parse(resource) else { return false };
    let path = |url: &ServerUrl| url.as_str().parse::<Uri>().map(|uri| uri.path().trim_end_matches('/').to_owned());
    let (Ok(above), Ok(own)) = (path(&named), path(url)) else { return false };
    named.origin() == url.origin()
        && own.strip_prefix(&above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenge_for_bearer_tokens_is_found_among_others() {
        let read = |values: &[&'static str], name: &str| {
            let values = values.iter().map(|value| (WWW_AUTHENTICATE, HeaderValue::from_static(value)));
            BearerChallenge::of(&values.collect()).parameter(name).map(str::to_owned)
        };
        let long = "bearer error=\"invalid_token\", Scope=\"a b\", resource_metadata=\"https://x.example/a,b=c\"";
        assert_eq!(read(&[long], "resource_metadata").as_deref(), Some("https://x.example/a,b=c"));
        assert_eq!(read(&[long], "scope").as_deref(), Some("a b"));
        assert_eq!(read(&[long], "metadata"), None);
        assert_eq!(read(&["Basic realm=\"scope=z\", Bearer realm=x, scope=y"], "scope").as_deref(), Some("y"));
        assert_eq!(read(&["Basic realm=x", "Bearer scope=\"a\\\"b\""], "scope").as_deref(), Some("a\"b"));
        assert_eq!(read(&["Bearer"], "scope"), None);
        assert_eq!(read(&["Bearer scope=\"never ends"], "scope"), None);
        assert_eq!(read(&["Basic scope=y"], "scope"), None);
    }

    #[test]
    fn server_elsewhere_names_neither_this_machine_nor_an_ip_address() {
        let (far, near) = ("https://x.example/mcp", "http://127.0.0.1:8080/mcp");
        let private = "https://10.0.0.5/mcp";
        let names = |server: &str, text: &str| named_by(&ServerUrl::parse(server).expect("an address"), text).is_ok();
        for own in ["http://127.0.0.1:9/token", "https://localhost/token", "http://[::1]:9/token"] {
            assert!(names(near, own) && !names(far, own), "{own}");
        }
        for address in ["https://10.0.0.5/token", "https://[fd00::5]/token", "https://169.254.169.254/latest"] {
            assert!(names(near, address) && !names(far, address), "{address}");
        }
        assert!(names(private, "https://10.0.0.5:8443/token") && !names(private, "https://10.0.0.6/token"));
        assert!(names(far, "https://y.example/token") && names(near, "https://y.example/token"));
        assert!(!names(near, "http://y.example/token"), "it would be readable on the way");
    }

    #[test]
    fn resource_of_another_host_or_path_is_not_that_of_the_address() {
        let url = ServerUrl::parse("https://x.example/team/mcp").expect("an address");
        for own in
            ["https://x.example/team/mcp", "https://x.example/team/mcp/", "https://x.example/team", "https://x.example"]
        {
            assert!(is_for(own, &url), "{own}");
        }
        for other in ["https://y.example/team/mcp", "https://x.example/te", "https://x.example:444/team/mcp", "x"] {
            assert!(!is_for(other, &url), "{other}");
        }
    }
}
