//! Tokens: a policy's grants, signed, so that another host or process accepts them offline, and whoever holds them can
//! narrow them and pass them on without asking the issuer.
//!
//! A token is a [biscuit](https://doc.biscuitsec.org/reference/specifications): a chain of signed blocks that only
//! grows. The first block, signed by the issuer's root key, carries a policy (its JSON text) and perhaps an end; each
//! further block carries a narrower policy and perhaps an earlier end. To open a token is to verify the chain and to
//! narrow the first policy by each block in turn. Anything else that a biscuit may hold (other facts, rules, contexts,
//! blocks signed by third parties) is refused: the wire is biscuit's, the judgement is [`Policy::attenuate`]'s.
//!
//! What opening yields is a [`Policy`] whose grants carry the end of the token, so the gate refuses an expired grant at
//! every call and not only when its session began.
//!
//! **Budgets are not in a token.** It says how many calls a grant is good for; how many were made is in the ledger of a
//! session. Two parties who hold one token each count on their own: together they may spend its budget twice. Who must
//! not allow that opens a token in one session only, or hands out tokens whose budgets add up to what is meant.
//!
//! A token is a bearer's: whoever has its text may use it, and unless it is closed, narrow it. Nothing here stores
//! tokens or keys, and nothing here calls a tool.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use tollhouse::token::{Keypair, RevocationList, Token};
//!
//! let root = Keypair::generate();
//! let end = SystemTime::now() + Duration::from_secs(3600);
//! let policy = r#"{ "grant": [{ "method": "payments/**", "calls": 100 }] }"#;
//! let issued = Token::seal(policy, Some(end), &root)?;
//!
//! // Whoever holds it narrows it, without a key, and passes it on.
//! let narrower = r#"{ "grant": [{ "method": "payments/charges/create", "calls": 5 }] }"#;
//! let passed_on = issued.attenuate(narrower, None)?.to_string();
//!
//! // Another host, which knows the issuer's public key and nothing else.
//! let opened = Token::parse(&passed_on)?.open(&root.public(), &RevocationList::default(), SystemTime::now())?;
//! assert_eq!(opened.grants[0].calls, Some(5));
//! # Ok::<(), tollhouse::token::TokenError>(())
//! ```

mod block;
mod error;
mod keys;
mod narrow;
mod revocation;
mod wire;

use std::fmt;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE;
use biscuit_auth::builder::{Term, fact};
use biscuit_auth::{AuthorizerBuilder, AuthorizerLimits, Biscuit, UnverifiedBiscuit};
use serde::Serialize;

use crate::capability::Policy;
use block::Contents;
pub use error::TokenError;
pub use keys::{Keypair, PrivateKey, PublicKey};
pub use revocation::RevocationList;

/// The longest text of a token, in bytes. A policy of a hundred grants is a tenth of this, and an HTTP header may be a
/// quarter.
pub const MAX_TEXT: usize = 64 << 10;

/// The most blocks of a token: each is one party who passed it on, and costs a signature to verify.
pub const MAX_BLOCKS: usize = 16;

/// How long the checks of a token may take. They are sixteen comparisons; biscuit's default of a millisecond would fail
/// them on a busy machine.
const CHECK_TIME: Duration = Duration::from_secs(10);

/// A policy, signed, that its holder can narrow. Of the form that [`Token::seal`] and [`Token::attenuate`] write, but
/// not verified: only [`Token::open`] says what it is worth.
#[derive(Clone)]
pub struct Token {
    /// The biscuit.
    bytes: Vec<u8>,
    /// What it says, from the issuer's block to the last.
    blocks: Vec<Contents>,
    /// The revocation identifier of each block: its signature, in hex.
    ids: Vec<String>,
    closed: bool,
}

/// What a token says, whoever wrote it: nothing of this is verified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Inspection {
    /// Whether nobody can narrow it any further.
    pub closed: bool,
    /// The bytes of its text.
    pub size: usize,
    /// From the issuer's block to the last.
    pub blocks: Vec<BlockInspection>,
}

/// What one block of a token says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BlockInspection {
    /// The JSON text of its policy, as it was signed. It need not be one.
    pub policy: String,
    /// When it ends, in seconds since 1970-01-01T00:00:00Z.
    pub expires: Option<u64>,
    /// What a [`RevocationList`] names it by.
    pub revocation_id: String,
}

impl Token {
    /// Signs a policy (JSON, as [`Policy::parse_json`] reads it; its text is kept as it is) as a token's first block.
    /// The end is cut to whole seconds, which is what a biscuit holds.
    ///
    /// # Errors
    /// If the text is no policy or has what does not belong in a token, or if the end is not between the years 1970 and
    /// 9999, or the token would be too large.
    pub fn seal(policy_json: &str, expires: Option<SystemTime>, key: &Keypair) -> Result<Self, TokenError> {
        let contents = Contents::new(policy_json, expires)?;
        narrow::fold(std::slice::from_ref(&contents))?;
        let biscuit =
            Biscuit::builder().merge(contents.write()?).build(&key.to_biscuit()).map_err(TokenError::Biscuit)?;
        Self::from_bytes(biscuit.to_vec().map_err(TokenError::Biscuit)?)
    }

    /// A token for less: adds a block with a narrower policy, and perhaps an earlier end. Needs no key. What a block
    /// does not say (limits, an end) stays as it was.
    ///
    /// # Errors
    /// If it would be wider in any way, with the reason; if the text is no policy; if the token is closed, or would be
    /// too large or have too many blocks.
    pub fn attenuate(&self, policy_json: &str, expires: Option<SystemTime>) -> Result<Self, TokenError> {
        if self.closed {
            return Err(TokenError::Closed);
        }
        let added = Contents::new(policy_json, expires)?;
        let block = added.write()?;
        let mut blocks = self.blocks.clone();
        blocks.push(added);
        narrow::fold(&blocks)?;
        let biscuit = UnverifiedBiscuit::from(&self.bytes).and_then(|biscuit| biscuit.append(block));
        Self::from_bytes(biscuit.and_then(|biscuit| biscuit.to_vec()).map_err(TokenError::Biscuit)?)
    }

    /// The same token, but nobody can narrow it any further (biscuit calls that sealed).
    ///
    /// # Errors
    /// If it is closed already.
    pub fn close(&self) -> Result<Self, TokenError> {
        if self.closed {
            return Err(TokenError::Closed);
        }
        let biscuit = UnverifiedBiscuit::from(&self.bytes).and_then(|biscuit| biscuit.seal());
        Self::from_bytes(biscuit.and_then(|biscuit| biscuit.to_vec()).map_err(TokenError::Biscuit)?)
    }

    /// Reads the text of a token: URL-safe base64 with padding, as biscuit's tools write it. White space around it does
    /// not count.
    ///
    /// # Errors
    /// If it is too large, no biscuit, or a biscuit that holds anything but what this module writes.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let text = text.trim_ascii();
        if text.len() > MAX_TEXT {
            return Err(TokenError::TooLarge { bytes: text.len() });
        }
        Self::from_bytes(BASE64_URL_SAFE.decode(text).map_err(TokenError::Text)?)
    }

    /// Verifies the token and yields what it grants: every signature, from `root` on; no block revoked; the checks of
    /// all blocks, at `now`; and that each block narrows what is above it. Each grant ends when the first block does.
    ///
    /// # Errors
    /// If any of that fails, with the block.
    pub fn open(&self, root: &PublicKey, revoked: &RevocationList, now: SystemTime) -> Result<Policy, TokenError> {
        #[cfg(fuzzing)]
        if tollhouse_seeded::bug("token") {
            return narrow::fold(&self.blocks);
        }
        let root = root.to_biscuit();
        let biscuit = Biscuit::from(&self.bytes, |_| Ok(root)).map_err(TokenError::Signature)?;
        for (block, id) in self.ids.iter().enumerate() {
            if revoked.contains(id) {
                return Err(TokenError::Revoked { block, id: id.clone() });
            }
        }
        self.check(&biscuit, now)?;
        narrow::fold(&self.blocks)
    }

    /// What the token says, without verifying anything.
    #[must_use]
    pub fn inspect(&self) -> Inspection {
        let blocks = self.blocks.iter().zip(&self.ids).map(|(contents, id)| BlockInspection {
            policy: contents.policy.clone(),
            expires: contents.expires,
            revocation_id: id.clone(),
        });
        Inspection { closed: self.closed, size: text_size(self.bytes.len()), blocks: blocks.collect() }
    }

    /// Evaluates the checks of all blocks. That of [`Contents::write`] is the only one that a block may have.
    fn check(&self, biscuit: &Biscuit, now: SystemTime) -> Result<(), TokenError> {
        // A clock before 1970 is a broken one; for it, everything has yet to end.
        let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        if let Some(block) = self.blocks.iter().position(|block| block.expires.is_some_and(|end| end <= now)) {
            return Err(TokenError::Expired { block });
        }
        let limits = AuthorizerLimits { max_time: CHECK_TIME, ..AuthorizerLimits::default() };
        let authorizer = AuthorizerBuilder::new().set_limits(limits).fact(fact("time", &[Term::Date(now)]));
        let authorizer = authorizer.and_then(|authorizer| authorizer.policy("allow if true"));
        let authorized = authorizer.and_then(|authorizer| authorizer.build(biscuit)?.authorize());
        authorized.map(|_| ()).map_err(TokenError::Check)
    }

    /// Reads a biscuit.
    fn from_bytes(bytes: Vec<u8>) -> Result<Self, TokenError> {
        let size = text_size(bytes.len());
        if size > MAX_TEXT {
            return Err(TokenError::TooLarge { bytes: size });
        }
        let wire::Read { blocks, ids, closed } = wire::read(&bytes)?;
        Ok(Self { bytes, blocks, ids, closed })
    }
}

/// How many bytes of base64 so many bytes are.
fn text_size(bytes: usize) -> usize {
    bytes.div_ceil(3).saturating_mul(4)
}

/// The text: whoever reads it can use the token.
impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64_URL_SAFE.encode(&self.bytes))
    }
}

/// Without what makes it usable: a token that is not closed ends in a private key.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("blocks", &self.blocks).field("closed", &self.closed).finish_non_exhaustive()
    }
}

impl std::str::FromStr for Token {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests;
