//! The server as a protected resource of OAuth 2.1: clients come with access tokens of an authorization server that the
//! operator has named, and have what the operator's configuration gives the scopes of their tokens.
//!
//! - `access_token` judges a token, for [`AccessTokenJudge`];
//! - `key_set` verifies signatures, `keys` fetches the keys;
//! - `subjects` has the sessions of those whose tokens are accepted.
//!
//! **Invariant:** a token grants nothing by itself. What a scope grants is in the operator's configuration, and a scope
//! without an entry there grants nothing.

mod access_token;
mod key_set;
mod keys;
mod subjects;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::runtime::Builder;
use tollhouse::capability::{Grant, ServerUrl};
use tollhouse::session::HostError;

pub use self::key_set::{Algorithm, KeySetError};
pub use self::keys::{KeySource, KeysError};
pub use self::subjects::SubjectSessions;

use self::access_token::{Expected, ParsedToken, Verified};
use self::keys::Keys;
use super::approvers::ApproverIdentity;
use super::clients::Unauthorized;
use super::{OpenSession, PATH};

/// Path of the metadata, to which the path of the resource may be appended (RFC 9728).
const METADATA: &str = "/.well-known/oauth-protected-resource";

/// What a server accepts access tokens by, and what their scopes grant.
pub struct OAuthOptions {
    /// Issuer of access tokens, as their `iss` names it.
    pub issuer: ServerUrl,
    /// Address of this server, as clients know it.
    pub resource: ServerUrl,
    /// Name of this server in tokens for it (`aud`); by RFC 8707 its address.
    pub audience: String,
    /// Source of the issuer's keys.
    pub keys: KeySource,
    /// Algorithms that are accepted.
    pub algorithms: Vec<Algorithm>,
    /// Difference that clocks may have.
    pub leeway: Duration,
    /// Grants of each scope.
    pub scopes: BTreeMap<String, Vec<Grant>>,
    /// Scope of clients that decide about calls of others, and do nothing else.
    pub approve: Option<String>,
}

/// Reason why a server cannot be a protected resource.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OAuthError {
    /// There are no keys.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// The grants of the scopes cannot be used with what is mounted.
    #[error("the grants of the scopes cannot be used")]
    Grants(#[source] Box<HostError>),
    /// The grants of a scope would take back an approval that another scope asks for.
    #[error("the grants of the scope `{scope}` cannot be used alone")]
    Scope {
        /// Name of the scope.
        scope: String,
        /// What is wrong with it.
        #[source]
        source: Box<HostError>,
    },
    /// The system has no thread left.
    #[error("cannot start a thread")]
    Start(#[source] std::io::Error),
}

/// Judge of access tokens. It opens no sessions.
pub struct AccessTokenJudge {
    expected: Expected,
    resource: String,
    keys: Keys,
    scopes: BTreeSet<String>,
    /// Scope of clients that decide.
    approve: Option<String>,
    /// True if a scope has a grant with a budget.
    has_budgets: bool,
    /// Address of the metadata, as clients are told.
    metadata_url: String,
}

/// Server whose clients have access tokens of an authorization server.
pub struct ProtectedResource {
    pub(super) judge: AccessTokenJudge,
    pub(super) subjects: SubjectSessions,
}

impl ProtectedResource {
    /// Reads or fetches the keys, and checks that a session can be opened with the grants of all scopes, and of each.
    ///
    /// # Errors
    /// If there are no keys, or the grants cannot be used.
    pub fn new(options: OAuthOptions, open: OpenSession) -> Result<Self, OAuthError> {
        let subjects = SubjectSessions::new(options.scopes.clone(), open);
        let judge = AccessTokenJudge::new(options)?;
        subjects.check()?;
        Ok(Self { judge, subjects })
    }

    /// Returns the TCP port at which keys are fetched again; `None` if they are those of a file.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        self.judge.port()
    }
}

impl AccessTokenJudge {
    /// Reads or fetches the keys.
    ///
    /// # Errors
    /// If there are no keys.
    pub fn new(options: OAuthOptions) -> Result<Self, OAuthError> {
        let OAuthOptions { issuer, resource, audience, keys, algorithms, leeway, scopes, approve } = options;
        let runtime = Builder::new_current_thread().enable_all().build().map_err(OAuthError::Start)?;
        let keys = runtime.block_on(Keys::new(keys, &issuer))?;
        let metadata_url = metadata_url(resource.as_str());
        let expected = Expected { issuer: issuer.as_str().to_owned(), audience, algorithms, leeway };
        let has_budgets = scopes.values().flatten().any(|grant| grant.calls.is_some() || grant.spend.is_some());
        let (resource, scopes) = (resource.as_str().to_owned(), scopes.into_keys().collect());
        Ok(Self { expected, resource, keys, scopes, approve, has_budgets, metadata_url })
    }

    /// Returns the TCP port at which keys are fetched again; `None` if they are those of a file.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        self.keys.port()
    }

    /// Returns true if what is spent by a subject has to be remembered.
    pub(super) fn has_budgets(&self) -> bool {
        self.has_budgets
    }

    /// Judges a token, and returns whose it is.
    pub(super) async fn judge(&self, token: &str) -> Result<JudgedToken, Unauthorized> {
        let refused = |error: access_token::TokenError| Unauthorized::Refused(error.to_string());
        let parsed = ParsedToken::parse(token, &self.expected).map_err(refused)?;
        let keys = self.keys.get(|keys| parsed.has_key(keys)).await;
        let keys = keys.map_err(|error| Unauthorized::Unavailable(crate::tool_error::chain(&error)))?;
        let verified = parsed.verify(&keys, &self.expected, SystemTime::now()).map_err(refused)?;
        self.judge_scopes(verified)
    }

    /// Returns whose a token is. One that decides and grants something is of nobody: who has it could allow its own calls.
    fn judge_scopes(&self, verified: Verified) -> Result<JudgedToken, Unauthorized> {
        let Verified { subject, scopes } = verified;
        let decides = self.approve.as_ref().is_some_and(|approve| scopes.contains(approve));
        let scopes: BTreeSet<String> = scopes.into_iter().filter(|scope| self.scopes.contains(scope)).collect();
        match (decides, scopes.is_empty()) {
            (false, false) => Ok(JudgedToken::Client(Identity { subject, scopes })),
            (false, true) => Err(Unauthorized::Insufficient),
            (true, true) => Ok(JudgedToken::Approver(ApproverIdentity::Subject(subject))),
            (true, false) => {
                let why = "it has the scope of those who decide about calls, and scopes that grant something: ask for them in \
                           two tokens, of two subjects";
                Err(Unauthorized::Refused(why.to_owned()))
            }
        }
    }

    /// Returns the document that says which authorization server the clients have to ask (RFC 9728), if it is at this
    /// path.
    pub(super) fn metadata(&self, path: &str) -> Option<Value> {
        let below = path.strip_prefix(METADATA)?;
        // A proxy in front may hand requests on by their paths, changed or not.
        let is_told = self.metadata_url.ends_with(path) && !below.is_empty();
        (below.is_empty() || below == PATH || is_told).then(|| {
            json!({
                "resource": self.resource,
                "resource_name": "Tollhouse",
                "authorization_servers": [self.expected.issuer],
                "scopes_supported": self.scopes,
                "bearer_methods_supported": ["header"],
            })
        })
    }

    /// Returns the parameters by which a refused client finds the authorization server, and learns what to ask it for.
    pub(super) fn challenge(&self) -> String {
        let scopes: Vec<&str> = self.scopes.iter().map(String::as_str).collect();
        format!("resource_metadata=\"{}\", scope=\"{}\"", self.metadata_url, scopes.join(" "))
    }
}

/// Client whose token is accepted.
#[derive(Debug)]
pub(super) enum JudgedToken {
    /// One that has what its scopes grant.
    Client(Identity),
    /// One that decides about calls of others.
    Approver(ApproverIdentity),
}

/// Subject of an accepted token, with the scopes of the token that grant something.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Identity {
    subject: String,
    scopes: BTreeSet<String>,
}

impl Identity {
    /// Returns the name of the subject, whatever its scopes. Names of sealed tokens are hexadecimal and begin otherwise.
    pub(super) fn subject_name(&self) -> String {
        self.subject.bytes().fold("subject-".to_owned(), |name, byte| format!("{name}{byte:02x}"))
    }

    /// Returns the name of the subject with its scopes, which no client of another one has.
    pub(super) fn name(&self) -> String {
        self.scopes.iter().fold(self.subject_name(), |name, scope| format!("{name} {scope}"))
    }
}

/// Returns true if a token is a JSON Web Token, or nothing else that is known. Sealed tokens have no dots.
pub(super) fn is_jwt(token: &str) -> bool {
    token.contains('.')
}

/// Returns the address of a resource's metadata: the well-known path before its own.
fn metadata_url(resource: &str) -> String {
    let authority = resource.find("://").map_or(0, |scheme| scheme + 3);
    let path = resource[authority..].find('/').map_or(resource.len(), |path| authority + path);
    let (origin, path) = resource.split_at(path);
    format!("{origin}{METADATA}{}", if path == "/" { "" } else { path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_between_host_and_path_of_the_resource() {
        let at = |resource: &str| metadata_url(resource);
        assert_eq!(at("https://box.example/mcp"), "https://box.example/.well-known/oauth-protected-resource/mcp");
        assert_eq!(
            at("https://box.example:8443/a/mcp"),
            "https://box.example:8443/.well-known/oauth-protected-resource/a/mcp"
        );
        assert_eq!(at("https://box.example/"), "https://box.example/.well-known/oauth-protected-resource");
        assert_eq!(at("https://box.example"), "https://box.example/.well-known/oauth-protected-resource");
    }
}
