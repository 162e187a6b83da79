//! Tokens: signed grants of a policy, which another host or process accepts offline, and which their holder can narrow
//! and pass on without asking the issuer.
//!
//! A token is a [biscuit](https://doc.biscuitsec.org/reference/specifications): a chain of signed blocks that can only
//! grow. The first block, signed by the issuer's root key, contains a policy (its JSON text) and optionally an end;
//! each further block contains a narrower policy and optionally an earlier end. Opening a token verifies the chain and
//! narrows the first policy by each block in turn. Everything else that a biscuit may contain (other facts, rules,
//! contexts, blocks signed by third parties) is rejected: the encoding is biscuit's, the decisions are
//! [`Policy::attenuate`]'s.
//!
//! Opening yields a [`Policy`] whose grants include the end of the token, so the gate refuses an expired grant at every
//! call and not only at the start of the session.
//!
//! **Budgets are not in a token.** It contains the maximum number of calls of a grant; the number of calls made is in
//! the ledger of a session. Two holders of the same token each count on their own, and together may spend its budget
//! twice. To prevent that, open a token in one session only, or issue tokens whose budgets add up to the intended
//! total.
//!
//! `docs/formats/token.md` describes the bytes.
//!
//! A token is a bearer token: whoever has its text may use it and, unless it is closed, narrow it. Nothing here stores
//! tokens or keys, or calls a tool.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use tollhouse_token::{Keypair, RevocationList, Token};
//!
//! let root = Keypair::generate();
//! let end = SystemTime::now() + Duration::from_secs(3600);
//! let policy = r#"{ "grant": [{ "method": "payments/**", "calls": 100 }] }"#;
//! let issued = Token::seal(policy, Some(end), &root)?;
//!
//! // Any holder can narrow it, without a key, and pass it on.
//! let narrower = r#"{ "grant": [{ "method": "payments/charges/create", "calls": 5 }] }"#;
//! let passed_on = issued.attenuate(narrower, None)?.to_string();
//!
//! // Another host, which knows only the issuer's public key.
//! let opened = Token::parse(&passed_on)?.open(&root.public(), &RevocationList::default(), SystemTime::now())?;
//! assert_eq!(opened.grants[0].calls, Some(5));
//! # Ok::<(), tollhouse_token::TokenError>(())
//! ```
#![deny(missing_docs)]

mod biscuit_format;
mod block;
mod block_narrowing;
mod error;
mod keys;
mod revocation;

use std::fmt;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE;
use biscuit_auth::builder::{Term, fact};
use biscuit_auth::{AuthorizerBuilder, AuthorizerLimits, Biscuit, UnverifiedBiscuit};
use serde::{Deserialize, Serialize};

use block::BlockContents;
pub use error::TokenError;
pub use keys::{Keypair, PrivateKey, PublicKey};
pub use revocation::RevocationList;
use tollhouse_policy::capability::Policy;

/// Maximum length of a token's text in bytes. A policy of a hundred grants is a tenth of this, and an HTTP header can
/// be a quarter of it.
pub const MAX_TEXT: usize = 64 << 10;

/// Maximum number of blocks of a token: each is one party that passed it on, and costs the verification of a signature.
pub const MAX_BLOCKS: usize = 16;

/// Time limit for the checks of a token. They are sixteen comparisons; biscuit's default of a millisecond would make
/// them fail on a busy machine.
const CHECK_TIME: Duration = Duration::from_secs(10);

/// A signed policy that its holder can narrow. It has the form that [`Token::seal`] and [`Token::attenuate`] write, but
/// is not verified: only [`Token::open`] does that.
#[derive(Clone)]
pub struct Token {
    /// The encoded biscuit.
    bytes: Vec<u8>,
    /// Contents of the blocks, from the issuer's to the last.
    blocks: Vec<BlockContents>,
    /// Revocation identifier of each block: its signature, in hex.
    ids: Vec<String>,
    closed: bool,
}

/// The contents of a token. Nothing of this is verified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Inspection {
    /// True if nobody can narrow it any further.
    pub closed: bool,
    /// Length of its text in bytes.
    pub size: usize,
    /// Blocks from the issuer's to the last.
    pub blocks: Vec<BlockInspection>,
}

/// The contents of one block of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockInspection {
    /// JSON text of its policy, as it was signed. It may be invalid.
    pub policy: String,
    /// Time when it ends, in seconds since 1970-01-01T00:00:00Z.
    pub expires: Option<u64>,
    /// Identifier of the block in a [`RevocationList`].
    pub revocation_id: String,
}

/// Stage in which a token's policy was narrowed: one of its blocks.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TokenStage {
    /// Revocation identifier of the block.
    pub id: String,
    /// Policy of the first block; of a further one, the policy to which it narrows the one above.
    pub policy: Policy,
    /// Time when the token ends at this stage.
    pub expires: Option<SystemTime>,
}

impl TokenStage {
    /// Returns the stages of a token from the contents of its blocks, as [`Token::inspect`] returns them. No signature, end
    /// or revocation is checked: it is for a process that is told of a token by one that has verified it.
    ///
    /// # Errors
    /// If a block is no policy, or does not narrow those above it.
    pub fn of_verified(blocks: &[BlockInspection]) -> Result<Vec<Self>, TokenError> {
        let ids: Vec<String> = blocks.iter().map(|block| block.revocation_id.clone()).collect();
        let contents =
            blocks.iter().map(|block| BlockContents { policy: block.policy.clone(), expires: block.expires });
        stages_of(&contents.collect::<Vec<_>>(), &ids)
    }
}

/// Returns the stages of blocks with these revocation identifiers.
fn stages_of(blocks: &[BlockContents], ids: &[String]) -> Result<Vec<TokenStage>, TokenError> {
    let policies = block_narrowing::parts(blocks)?;
    let mut end: Option<SystemTime> = None;
    let stages = policies.into_iter().zip(blocks).zip(ids).map(|((policy, contents), id)| {
        end = contents.end().or(end);
        TokenStage { id: id.clone(), policy, expires: end }
    });
    Ok(stages.collect())
}

impl Token {
    /// Signs a policy (JSON, in the format of [`Policy::parse_json`]; its text is kept unchanged) as a token's first
    /// block. The end is truncated to whole seconds, the precision of a biscuit.
    ///
    /// # Errors
    /// If the text is not a policy or contains something that is not allowed in a token, if the end is not between the
    /// years 1970 and 9999, or if the token would be too large.
    pub fn seal(policy_json: &str, expires: Option<SystemTime>, key: &Keypair) -> Result<Self, TokenError> {
        let contents = BlockContents::new(policy_json, expires)?;
        block_narrowing::fold(std::slice::from_ref(&contents))?;
        let biscuit =
            Biscuit::builder().merge(contents.write()?).build(&key.to_biscuit()).map_err(TokenError::Biscuit)?;
        Self::from_bytes(biscuit.to_vec().map_err(TokenError::Biscuit)?)
    }

    /// Narrows the token: adds a block with a narrower policy, and optionally an earlier end. Needs no key. Omitted
    /// settings (limits, an end) are unchanged.
    ///
    /// # Errors
    /// If the policy would be wider in any way, with the reason; if the text is not a policy; if the token is closed,
    /// or would be too large or have too many blocks.
    pub fn attenuate(&self, policy_json: &str, expires: Option<SystemTime>) -> Result<Self, TokenError> {
        if self.closed {
            return Err(TokenError::Closed);
        }
        let added = BlockContents::new(policy_json, expires)?;
        let block = added.write()?;
        let mut blocks = self.blocks.clone();
        blocks.push(added);
        block_narrowing::fold(&blocks)?;
        let biscuit = UnverifiedBiscuit::from(&self.bytes).and_then(|biscuit| biscuit.append(block));
        Self::from_bytes(biscuit.and_then(|biscuit| biscuit.to_vec()).map_err(TokenError::Biscuit)?)
    }

    /// Returns the same token in a form that nobody can narrow any further (called sealed in biscuit).
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

    /// Parses the text of a token: URL-safe base64 with padding, in the format of biscuit's tools. Surrounding white
    /// space is ignored.
    ///
    /// # Errors
    /// If it is too large, not a biscuit, or a biscuit with contents that this module does not write.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let text = text.trim_ascii();
        if text.len() > MAX_TEXT {
            return Err(TokenError::TooLarge { bytes: text.len() });
        }
        Self::from_bytes(BASE64_URL_SAFE.decode(text).map_err(TokenError::Text)?)
    }

    /// Verifies the token and returns the policy that it grants: verifies every signature, from `root` on; that no
    /// block is revoked; the checks of all blocks, at `now`; and that each block narrows those above it. Each grant
    /// ends when the first block does.
    ///
    /// # Errors
    /// If any of that fails, with the block.
    pub fn open(&self, root: &PublicKey, revoked: &RevocationList, now: SystemTime) -> Result<Policy, TokenError> {
        let root = root.to_biscuit();
        let biscuit = Biscuit::from(&self.bytes, |_| Ok(root)).map_err(TokenError::Signature)?;
        for (block, id) in self.ids.iter().enumerate() {
            if revoked.contains(id) {
                return Err(TokenError::Revoked { block, id: id.clone() });
            }
        }
        self.check(&biscuit, now)?;
        block_narrowing::fold(&self.blocks)
    }

    /// Verifies the token like [`Token::open`], and returns the stages in which its policy was narrowed: the policy of the
    /// first block, and what each further block makes of the policy above it. A holder of several tokens that were
    /// narrowed from one can so be given sessions that share what they spend.
    ///
    /// # Errors
    /// Those of [`Token::open`].
    pub fn stages(
        &self,
        root: &PublicKey,
        revoked: &RevocationList,
        now: SystemTime,
    ) -> Result<Vec<TokenStage>, TokenError> {
        self.open(root, revoked, now)?;
        stages_of(&self.blocks, &self.ids)
    }

    /// Returns the contents of the token, without verifying anything.
    #[must_use]
    pub fn inspect(&self) -> Inspection {
        let blocks = self.blocks.iter().zip(&self.ids).map(|(contents, id)| BlockInspection {
            policy: contents.policy.clone(),
            expires: contents.expires,
            revocation_id: id.clone(),
        });
        Inspection { closed: self.closed, size: text_size(self.bytes.len()), blocks: blocks.collect() }
    }

    /// Evaluates the checks of all blocks. A block may only have the check that [`BlockContents::write`] writes.
    fn check(&self, biscuit: &Biscuit, now: SystemTime) -> Result<(), TokenError> {
        // A clock before 1970 is broken; for it, nothing has ended yet.
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

    /// Decodes a biscuit.
    fn from_bytes(bytes: Vec<u8>) -> Result<Self, TokenError> {
        let size = text_size(bytes.len());
        if size > MAX_TEXT {
            return Err(TokenError::TooLarge { bytes: size });
        }
        let biscuit_format::DecodedBiscuit { blocks, ids, closed } = biscuit_format::read(&bytes)?;
        Ok(Self { bytes, blocks, ids, closed })
    }
}

/// Length of the base64 encoding of this many bytes.
fn text_size(bytes: usize) -> usize {
    bytes.div_ceil(3).saturating_mul(4)
}

/// Writes the text, which suffices to use the token.
impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64_URL_SAFE.encode(&self.bytes))
    }
}

/// Omits everything that makes the token usable: a token that is not closed ends with a private key.
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
