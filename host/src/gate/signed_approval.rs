//! Approvals that are signed: whoever can write to the store of a session can record a decision, and cannot approve what a
//! grant lets certain people approve alone.
//!
//! The keys come from the host that resumes the run. What is signed names the session, the call with its arguments, and
//! the policy with the releases of its tools, so that a signature is valid nowhere else.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use tollhouse_gate::Decision;
use tollhouse_types::key::{PrivateKey, PublicKey};

/// Purpose of the signatures.
const PURPOSE: &str = "tollhouse approval, version 1";

/// Keys of those who can approve calls, by the names that policies have for them. They are the host's: no session, store
/// or policy brings its own.
pub type ApproverKeys = BTreeMap<String, PublicKey>;

/// A session, so that no other one is taken for it: not one of the same name, nor a copy of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SignedSession {
    /// Its name.
    pub(crate) name: String,
    /// Digest of what its store has recorded about its creation or its last import, in hexadecimal.
    pub(crate) origin: String,
}

/// What an approver signs: that a call may be made, in this session, under this policy.
#[derive(Clone, Debug)]
pub struct ApprovalStatement {
    text: String,
}

impl ApprovalStatement {
    /// Creates the statement about the call with this digest. `rules` is the digest of the policy and the releases,
    /// `expires` the end of the time for an answer, in nanoseconds since the Unix epoch.
    pub(crate) fn new(session: &SignedSession, rules: &str, digest: &str, expires: Option<u64>) -> Self {
        Self { text: json!([session.name, session.origin, rules, digest, expires]).to_string() }
    }

    /// Returns the signature of the statement by a key, in base64.
    #[must_use]
    pub fn sign(&self, key: &PrivateKey) -> String {
        STANDARD.encode(key.sign(PURPOSE, &self.text))
    }

    /// Returns true if the key made this signature of the statement.
    fn is_signed_by(&self, key: &PublicKey, signature: &str) -> bool {
        STANDARD.decode(signature).is_ok_and(|signature| key.has_signed(PURPOSE, &self.text, &signature))
    }
}

/// Check of the signatures of a session's approvals.
#[derive(Clone)]
pub(crate) struct SignatureCheck {
    pub(crate) keys: ApproverKeys,
    pub(crate) session: SignedSession,
}

impl SignatureCheck {
    /// Checks that one of the approvers has signed an approval.
    ///
    /// # Errors
    /// Why it does not count, as the end of a sentence.
    pub(crate) fn verify(
        &self,
        approvers: &BTreeSet<String>,
        rules: &str,
        decision: &Decision,
        expires: Option<u64>,
    ) -> Result<(), String> {
        let signature = decision.signature.as_deref().ok_or("it is not signed")?;
        let statement = ApprovalStatement::new(&self.session, rules, &decision.digest, expires);
        let known: Vec<&PublicKey> = approvers.iter().filter_map(|name| self.keys.get(name)).collect();
        if known.is_empty() {
            return Err("this machine knows the key of none of its approvers".to_owned());
        }
        let signed = known.iter().any(|key| statement.is_signed_by(key, signature));
        signed.then_some(()).ok_or_else(|| "it is not signed by one of its approvers, for this call".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(name: &str, origin: &str) -> SignedSession {
        SignedSession { name: name.to_owned(), origin: origin.to_owned() }
    }

    /// A signature that was moved to another session, import, policy, call or time, or is another's, approves nothing.
    #[test]
    fn signature_holds_for_exactly_the_statement_that_was_signed() {
        let (cfo, other) = (PrivateKey::generate().expect("random"), PrivateKey::generate().expect("random"));
        let check = SignatureCheck {
            keys: [("cfo".to_owned(), cfo.public()), ("ceo".to_owned(), other.public())].into(),
            session: session("a", "1"),
        };
        let approvers = BTreeSet::from(["cfo".to_owned()]);
        let decision = |signature| Decision::new(true, "x".to_owned(), None, 5, "d".to_owned()).signed(signature);
        let verified = |statement: ApprovalStatement, key: &PrivateKey| {
            check.verify(&approvers, "p", &decision(Some(statement.sign(key))), Some(9))
        };
        let own = session("a", "1");
        assert_eq!(verified(ApprovalStatement::new(&own, "p", "d", Some(9)), &cfo), Ok(()));
        for moved in [
            ApprovalStatement::new(&session("b", "1"), "p", "d", Some(9)),
            ApprovalStatement::new(&session("a", "2"), "p", "d", Some(9)),
            ApprovalStatement::new(&own, "q", "d", Some(9)),
            ApprovalStatement::new(&own, "p", "e", Some(9)),
            ApprovalStatement::new(&own, "p", "d", Some(10)),
            ApprovalStatement::new(&own, "p", "d", None),
        ] {
            verified(moved, &cfo).expect_err("it was moved");
        }
        verified(ApprovalStatement::new(&own, "p", "d", Some(9)), &other).expect_err("another one signed");
        for unsigned in [None, Some(String::new()), Some("AAAA".to_owned()), Some("?".to_owned())] {
            check.verify(&approvers, "p", &decision(unsigned), Some(9)).expect_err("it is not signed");
        }
        let nobody = check.verify(&BTreeSet::new(), "p", &decision(None), Some(9));
        nobody.expect_err("nobody can approve");
    }
}
