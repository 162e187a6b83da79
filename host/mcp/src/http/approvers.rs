//! Clients that decide about calls of other clients, and do nothing else. Their tokens grant nothing: they are sealed by a key
//! of its own, or are access tokens with the scope for it.

use std::fmt;
use std::time::SystemTime;

use tollhouse::token::{PublicKey, RevocationList, Token, TokenError};

use super::clients::ClientName;
use crate::approvals::visible;
use crate::tool_error::chain;

/// Issuer of the tokens of clients that decide.
pub struct ApproverIssuer {
    /// Public key of the issuer, which issues no other tokens.
    pub key: PublicKey,
    /// Tokens that are not accepted any more.
    pub revoked: RevocationList,
}

/// Client that decides, as an extension of its requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ApproverIdentity {
    /// Holder of a sealed token.
    Sealed {
        /// Revocation id of the token.
        id: String,
        /// Revocation id of its first block, which tokens that holders made narrower have too.
        first: String,
    },
    /// Subject of an access token.
    Subject(String),
}

/// Reason why a token is not one of a client that decides.
pub(super) enum NotApprover {
    /// Another key has sealed it.
    OtherKey(String),
    /// It is refused, for this reason.
    Refused(String),
}

impl ApproverIdentity {
    /// Returns the name of the client.
    pub(super) fn name(&self) -> ClientName {
        let account = match self {
            Self::Sealed { first, .. } => first,
            Self::Subject(subject) => subject,
        };
        // A subject that decides is counted apart from one that runs scripts.
        ClientName { own: format!("approver {self}"), account: format!("approver {account}") }
    }

    /// Returns the subject of its access tokens, if it has such.
    pub(crate) fn subject(&self) -> Option<&str> {
        match self {
            Self::Sealed { .. } => None,
            Self::Subject(subject) => Some(subject),
        }
    }
}

/// Words for the log.
impl fmt::Display for ApproverIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sealed { id, .. } => write!(f, "the token {id}"),
            Self::Subject(subject) => write!(f, "the subject {}", visible(subject)),
        }
    }
}

impl ApproverIssuer {
    /// Judges a token.
    pub(super) fn judge(&self, text: &str) -> Result<ApproverIdentity, NotApprover> {
        let refused = |error: TokenError| match error {
            TokenError::Signature(_) => NotApprover::OtherKey(chain(&error)),
            error => NotApprover::Refused(chain(&error)),
        };
        let token = Token::parse(text).map_err(refused)?;
        let stages = token.stages(&self.key, &self.revoked, SystemTime::now()).map_err(refused)?;
        if stages.iter().any(|stage| !stage.policy.grants.is_empty() || !stage.policy.permissions.is_empty()) {
            let why = "it grants something, and a token that decides about calls grants nothing";
            return Err(NotApprover::Refused(why.to_owned()));
        }
        let empty = || NotApprover::Refused("it is empty".to_owned());
        let (first, last) = stages.first().zip(stages.last()).ok_or_else(empty)?;
        Ok(ApproverIdentity::Sealed { id: last.id.clone(), first: first.id.clone() })
    }
}
