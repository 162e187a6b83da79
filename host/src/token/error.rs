//! Why a token, a key or a revocation list was refused.

use crate::capability::{AttenuateError, PolicyError};

use super::narrow::{MAX_GRANTS, MAX_SEGMENTS};
use super::revocation::DIGITS;
use super::{MAX_BLOCKS, MAX_TEXT};

/// Why a token, a key or a revocation list was refused. Blocks count from 0, the issuer's.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The text is too long.
    #[error("the token has {bytes} bytes: at most {MAX_TEXT} are read")]
    TooLarge {
        /// How long it is.
        bytes: usize,
    },
    /// It was passed on too often.
    #[error("the token has {blocks} blocks: at most {MAX_BLOCKS} are read")]
    TooManyBlocks {
        /// How many there are.
        blocks: usize,
    },
    /// It is no URL-safe base64 with padding.
    #[error("the token is no base64")]
    Text(#[source] base64::DecodeError),
    /// It is no biscuit.
    #[error("the token is no biscuit: {0}")]
    Form(&'static str),
    /// It is a biscuit, and holds what a token does not.
    #[error("block {block} of the token holds {what}: only a policy and its end belong there")]
    Foreign {
        /// Which block.
        block: usize,
        /// What it holds.
        what: &'static str,
    },
    /// What a block carries is no policy.
    #[error("the policy in block {block} of the token is none")]
    Policy {
        /// Which block.
        block: usize,
        /// What is wrong with it.
        source: PolicyError,
    },
    /// A policy has what only a policy file may have.
    #[error("the policy in block {block} of the token has `{key}`, which does not belong in a token")]
    Key {
        /// Which block.
        block: usize,
        /// What it has.
        key: String,
    },
    /// Mounts are the issuer's to choose.
    #[error(
        "the policy in block {block} of the token has `tools`: only the issuer's, block 0, may choose what is mounted"
    )]
    Tools {
        /// Which block.
        block: usize,
    },
    /// Too many grants.
    #[error("the policy in block {block} of the token has {grants} grants: at most {MAX_GRANTS} are read")]
    TooManyGrants {
        /// Which block.
        block: usize,
        /// How many there are.
        grants: usize,
    },
    /// A method pattern that costs too much to compare.
    #[error("the method pattern `{pattern}` in block {block} of the token has more than {MAX_SEGMENTS} segments")]
    TooManySegments {
        /// Which block.
        block: usize,
        /// The pattern.
        pattern: String,
    },
    /// Many grants that narrow many others, or inherit long clauses: a short text, and long work.
    #[error(
        "block {block} of the token has too many grants for what it narrows: fewer grants, or shorter clauses above"
    )]
    TooMuch {
        /// Which block.
        block: usize,
    },
    /// A block grants what the ones above it do not.
    #[error("block {block} of the token is wider than what it narrows")]
    Wider {
        /// Which block.
        block: usize,
        /// In which way.
        source: AttenuateError,
    },
    /// A block raises a limit.
    #[error("block {block} of the token raises the limit `{limit}`")]
    Limit {
        /// Which block.
        block: usize,
        /// Which limit.
        limit: &'static str,
    },
    /// A block ends after those above it.
    #[error("block {block} of the token ends later than what it narrows")]
    Later {
        /// Which block.
        block: usize,
    },
    /// The end is no time that a token holds.
    #[error("a token ends between the years 1970 and 9999")]
    End,
    /// A signature does not fit: another root key, or a token that was changed.
    #[error("the token was not issued with this root key, or was changed since")]
    Signature(#[source] biscuit_auth::error::Token),
    /// A block is on the revocation list.
    #[error("block {block} of the token was revoked: {id}")]
    Revoked {
        /// Which block.
        block: usize,
        /// Its revocation identifier.
        id: String,
    },
    /// Its time is over.
    #[error("the token expired: block {block} says when")]
    Expired {
        /// The first block whose end has passed.
        block: usize,
    },
    /// A check failed, and it is not the end that was read.
    #[error("a check of the token fails")]
    Check(#[source] biscuit_auth::error::Token),
    /// It is closed: nothing can be added, and it cannot be closed again.
    #[error("the token is closed: nothing can be added to it")]
    Closed,
    /// The text of a key is none. It is not repeated here, since it may be a private one.
    #[error("no key: {0}")]
    NoKey(&'static str),
    /// A line of a revocation list is none.
    #[error("line {line} of the revocation list is no revocation identifier: {DIGITS} hex digits belong there")]
    Revocation {
        /// Which line, from 1.
        line: usize,
    },
    /// The file of a revocation list cannot be read.
    #[error("cannot read the revocation list `{path}`")]
    RevocationFile {
        /// Which file.
        path: std::path::PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The biscuit library refused what was asked of it.
    #[error("the token cannot be made")]
    Biscuit(#[source] biscuit_auth::error::Token),
}
