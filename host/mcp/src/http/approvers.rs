//! Clients that decide about calls of other clients, and do nothing else. Their tokens are sealed by a key of its own, and
//! grant nothing.

use std::time::SystemTime;

use tollhouse::token::{PublicKey, RevocationList, Token};

use crate::tool_error::chain;

/// Issuer of the tokens of clients that decide.
pub struct ApproverIssuer {
    /// Public key of the issuer, which issues no other tokens.
    pub key: PublicKey,
    /// Tokens that are not accepted any more.
    pub revoked: RevocationList,
}

/// Client that decides, as an extension of its requests.
#[derive(Clone, Debug)]
pub(crate) struct ApproverIdentity(String);

impl ApproverIdentity {
    /// Returns the revocation id of the token, for the log.
    pub(crate) fn id(&self) -> &str {
        &self.0
    }
}

impl ApproverIssuer {
    /// Judges a token. The error says why it is not accepted.
    pub(super) fn judge(&self, text: &str) -> Result<ApproverIdentity, String> {
        let token = Token::parse(text).map_err(|error| chain(&error))?;
        let stages = token.stages(&self.key, &self.revoked, SystemTime::now()).map_err(|error| chain(&error))?;
        if stages.iter().any(|stage| !stage.policy.grants.is_empty() || !stage.policy.permissions.is_empty()) {
            return Err("it grants something, and a token that decides about calls grants nothing".to_owned());
        }
        let last = stages.into_iter().next_back().ok_or_else(|| "it is empty".to_owned())?;
        Ok(ApproverIdentity(last.id))
    }
}
