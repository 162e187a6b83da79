//! Where the keys of an authorization server come from, and how long they count.
//!
//! Keys of a file are those of the start. Keys that are fetched are fetched again when they are old, and when a token
//! names one that is not known; how often, tokens of strangers do not decide.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;
use tollhouse::capability::ServerUrl;
use tollhouse::tool::Network;

use super::key_set::{KeySet, KeySetError, MAX_BYTES};
use crate::client::{RemoteError, fetch_document};

/// Age at which fetched keys are fetched again: a key that the server has withdrawn counts no longer.
const FRESH: Duration = Duration::from_secs(10 * 60);

/// Age at which fetched keys count no longer, if the server cannot be asked.
const STALE: Duration = Duration::from_secs(60 * 60);

/// Least time between two attempts.
const PAUSE: Duration = Duration::from_secs(30);

/// Source of the keys of an authorization server.
pub enum KeySource {
    /// A JSON Web Key Set, as a text.
    Text(Vec<u8>),
    /// The address of a set.
    Url(ServerUrl, Network),
    /// What the metadata of the issuer names, at the well-known addresses of OAuth and OpenID Connect.
    Discovery(Network),
}

/// Reason why there are no keys.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeysError {
    /// The keys are none that can be used.
    #[error("the keys of the issuer cannot be used")]
    Set(#[from] KeySetError),
    /// A document cannot be fetched.
    #[error("`{url}` cannot be fetched: {reason}")]
    Fetch {
        /// Address of the document.
        url: String,
        /// Description of the problem.
        reason: String,
    },
    /// The issuer's metadata is that of another one, or names no keys.
    #[error("the metadata of the issuer (`{url}`) cannot be used: {reason}")]
    Metadata {
        /// Address of the metadata.
        url: String,
        /// Description of the problem.
        reason: &'static str,
    },
}

/// Keys of an authorization server.
pub(super) struct Keys {
    /// Address of the keys and the network, unless they are those of a file.
    remote: Option<(ServerUrl, Network)>,
    state: Mutex<KeyState>,
    /// Held by the request that fetches the keys.
    fetching: tokio::sync::Mutex<()>,
}

struct KeyState {
    set: Arc<KeySet>,
    fetched: Instant,
    /// Time of the last attempt to fetch them again.
    tried: Option<Instant>,
}

impl Keys {
    /// Reads or fetches the keys.
    pub(super) async fn new(source: KeySource, issuer: &ServerUrl) -> Result<Self, KeysError> {
        let (set, remote) = match source {
            KeySource::Text(text) => (KeySet::parse(&text)?, None),
            KeySource::Url(url, network) => (fetch(&network, &url).await?, Some((url, network))),
            KeySource::Discovery(network) => {
                let url = discover(&network, issuer).await?;
                (fetch(&network, &url).await?, Some((url, network)))
            }
        };
        let state = Mutex::new(KeyState { set: Arc::new(set), fetched: Instant::now(), tried: None });
        Ok(Self { remote, state, fetching: tokio::sync::Mutex::default() })
    }

    /// Returns the port at which the keys are fetched again.
    pub(super) fn port(&self) -> Option<u16> {
        self.remote.as_ref().map(|(url, _)| url.port())
    }

    /// Returns the keys for a token, of which `suits` tells whether its key is among them.
    pub(super) async fn get(&self, suits: impl Fn(&KeySet) -> bool) -> Result<Arc<KeySet>, KeysError> {
        let Some((url, network)) = &self.remote else { return Ok(Arc::clone(&self.state().set)) };
        if let Some(set) = self.current(&suits) {
            return Ok(set);
        }
        let _fetching = self.fetching.lock().await;
        // Another request may have fetched them meanwhile.
        if let Some(set) = self.current(&suits) {
            return Ok(set);
        }
        if self.state().was_tried() {
            let reason = format!("that failed less than {} seconds ago", PAUSE.as_secs());
            return Err(KeysError::Fetch { url: url.to_string(), reason });
        }
        self.state().tried = Some(Instant::now());
        let fetched = fetch(network, url).await;
        let mut state = self.state();
        match fetched {
            Ok(set) => {
                state.set = Arc::new(set);
                state.fetched = Instant::now();
            }
            Err(error) if state.fetched.elapsed() > STALE => return Err(error),
            // The server is asked again later.
            Err(_) => {}
        }
        Ok(Arc::clone(&state.set))
    }

    /// Returns the present keys, unless they have to be fetched first.
    fn current(&self, suits: impl Fn(&KeySet) -> bool) -> Option<Arc<KeySet>> {
        let state = self.state();
        let age = state.fetched.elapsed();
        let is_good = age < FRESH && suits(&state.set);
        let waits = state.was_tried() && age < STALE;
        (is_good || waits).then(|| Arc::clone(&state.set))
    }

    /// Locks the state. No change can be seen half done, so a poisoned lock is still good.
    fn state(&self) -> std::sync::MutexGuard<'_, KeyState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeyState {
    /// Returns true if the last attempt to fetch the keys is too recent for another one.
    fn was_tried(&self) -> bool {
        self.tried.is_some_and(|tried| tried.elapsed() < PAUSE)
    }
}

async fn fetch(network: &Network, url: &ServerUrl) -> Result<KeySet, KeysError> {
    Ok(KeySet::parse(&document(network, url).await?)?)
}

async fn document(network: &Network, url: &ServerUrl) -> Result<bytes::Bytes, KeysError> {
    let failed = |error: RemoteError| KeysError::Fetch { url: url.to_string(), reason: error.to_string() };
    fetch_document(network, url, MAX_BYTES).await.map_err(failed)
}

/// Finds the address of an issuer's keys, by RFC 8414 or OpenID Connect Discovery.
async fn discover(network: &Network, issuer: &ServerUrl) -> Result<ServerUrl, KeysError> {
    #[derive(Deserialize)]
    struct Metadata {
        issuer: String,
        jwks_uri: String,
    }
    let mut last = None;
    for address in well_known(issuer.as_str()) {
        let unusable = |reason| KeysError::Metadata { url: address.clone(), reason };
        let url = ServerUrl::parse(&address).map_err(|_| unusable("it is not an address"))?;
        let text = match document(network, &url).await {
            Ok(text) => text,
            Err(error) => {
                last = Some(error);
                continue;
            }
        };
        let metadata: Metadata =
            serde_json::from_slice(&text).map_err(|_| unusable("it has no `issuer` and `jwks_uri`"))?;
        // Otherwise the metadata of one issuer could be that of another one on the same host (RFC 8414, section 3.3).
        if metadata.issuer != issuer.as_str() {
            return Err(unusable("its `issuer` is another one"));
        }
        return ServerUrl::parse(&metadata.jwks_uri).map_err(|_| {
            unusable("its `jwks_uri` does not begin with `https://`, or with `http://` and a loopback address")
        });
    }
    Err(last.expect("there are two addresses, and each was tried"))
}

/// Returns the addresses at which an issuer's metadata may be: inserted before its path, and appended to it.
fn well_known(issuer: &str) -> [String; 2] {
    let issuer = issuer.trim_end_matches('/');
    let authority = issuer.find("://").map_or(0, |scheme| scheme + 3);
    let path = issuer[authority..].find('/').map_or(issuer.len(), |path| authority + path);
    let (origin, path) = issuer.split_at(path);
    [
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}{path}/.well-known/openid-configuration"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_metadata_have_the_path_of_the_issuer() {
        assert_eq!(
            well_known("https://login.example/realms/one"),
            [
                "https://login.example/.well-known/oauth-authorization-server/realms/one",
                "https://login.example/realms/one/.well-known/openid-configuration",
            ]
        );
        assert_eq!(
            well_known("https://login.example/"),
            [
                "https://login.example/.well-known/oauth-authorization-server",
                "https://login.example/.well-known/openid-configuration",
            ]
        );
    }
}
