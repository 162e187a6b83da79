//! Errors of tokens, keys and revocation lists.

use tollhouse_policy::capability::{AttenuateError, PolicyError};

use super::block_narrowing::{MAX_GRANTS, MAX_SEGMENTS};
use super::revocation::DIGITS;
use super::{MAX_BLOCKS, MAX_TEXT};

/// An error of a token, a key or a revocation list. Blocks are counted from 0, the issuer's.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The text is too long.
    #[error("the token has {bytes} bytes: at most {MAX_TEXT} are read")]
    TooLarge {
        /// Length of the text in bytes.
        bytes: usize,
    },
    /// The token has been passed on too often.
    #[error("the token has {blocks} blocks: at most {MAX_BLOCKS} are read")]
    TooManyBlocks {
        /// Number of blocks.
        blocks: usize,
    },
    /// The text is not URL-safe base64 with padding.
    #[error("the token is not valid base64")]
    Text(#[source] base64::DecodeError),
    /// The bytes are not a biscuit.
    #[error("the token is not a valid biscuit: {0}")]
    Form(&'static str),
    /// The token is a biscuit with contents that are not allowed in a token.
    #[error("block {block} of the token contains {what}: only a policy and its end are allowed")]
    Foreign {
        /// Number of the block.
        block: usize,
        /// Description of the contents.
        what: &'static str,
    },
    /// The text in a block is not a valid policy.
    #[error("block {block} of the token contains no valid policy")]
    Policy {
        /// Number of the block.
        block: usize,
        /// Error of the policy.
        source: PolicyError,
    },
    /// The policy has a key that is only allowed in policy files.
    #[error("the policy in block {block} of the token has `{key}`, which is not allowed in a token")]
    Key {
        /// Number of the block.
        block: usize,
        /// Name of the key.
        key: String,
    },
    /// Only the issuer may choose the mounts.
    #[error(
        "the policy in block {block} of the token has `tools`: only the issuer's, block 0, may choose what is mounted"
    )]
    Tools {
        /// Number of the block.
        block: usize,
    },
    /// The policy has too many grants.
    #[error("the policy in block {block} of the token has {grants} grants: at most {MAX_GRANTS} are read")]
    TooManyGrants {
        /// Number of the block.
        block: usize,
        /// Number of grants.
        grants: usize,
    },
    /// A method pattern takes too long to compare.
    #[error("the method pattern `{pattern}` in block {block} of the token has more than {MAX_SEGMENTS} segments")]
    TooManySegments {
        /// Number of the block.
        block: usize,
        /// The pattern.
        pattern: String,
    },
    /// Many grants narrow many others, or inherit long clauses: a short text that takes long to process.
    #[error(
        "block {block} of the token has too many grants for what it narrows: fewer grants, or shorter clauses above"
    )]
    TooMuch {
        /// Number of the block.
        block: usize,
    },
    /// A block allows more than the blocks above it.
    #[error("block {block} of the token allows more than the blocks above it")]
    Wider {
        /// Number of the block.
        block: usize,
        /// Description of what is wider.
        source: AttenuateError,
    },
    /// A block raises a limit.
    #[error("block {block} of the token raises the limit `{limit}`")]
    Limit {
        /// Number of the block.
        block: usize,
        /// Name of the limit.
        limit: &'static str,
    },
    /// A block ends later than the blocks above it.
    #[error("block {block} of the token ends later than the blocks above it")]
    Later {
        /// Number of the block.
        block: usize,
    },
    /// The end cannot be represented in a token.
    #[error("a token must end between the years 1970 and 9999")]
    End,
    /// A signature is not valid: another root key, or a modified token.
    #[error("the token was not issued with this root key, or was changed afterwards")]
    Signature(#[source] biscuit_auth::error::Token),
    /// A block is on the revocation list.
    #[error("block {block} of the token was revoked: {id}")]
    Revoked {
        /// Number of the block.
        block: usize,
        /// Revocation identifier of the block.
        id: String,
    },
    /// The token has expired.
    #[error("the token has expired: block {block} has ended")]
    Expired {
        /// Number of the first block that has ended.
        block: usize,
    },
    /// A check other than that of the end failed.
    #[error("a check of the token fails")]
    Check(#[source] biscuit_auth::error::Token),
    /// The token is closed: no block can be added, and it cannot be closed again.
    #[error("the token is closed: nothing can be added to it")]
    Closed,
    /// The text is not a key. It is not repeated here, since it may be a private one.
    #[error("invalid key: {0}")]
    NoKey(&'static str),
    /// A line of a revocation list is invalid.
    #[error("line {line} of the revocation list is not a revocation identifier of {DIGITS} hex digits")]
    Revocation {
        /// Number of the line, from 1.
        line: usize,
    },
    /// The file of a revocation list cannot be read.
    #[error("cannot read the revocation list `{path}`")]
    RevocationFile {
        /// Path of the file.
        path: std::path::PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The biscuit library reported an error.
    #[error("the token cannot be created")]
    Biscuit(#[source] biscuit_auth::error::Token),
}
