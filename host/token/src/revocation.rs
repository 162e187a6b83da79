//! Revocation lists: the blocks that are no longer valid.
//!
//! Every block has an identifier, its signature. Revoking a block revokes every token that was derived from it. Each
//! opener has its own list; distributing it is not the task of this module.

use std::collections::HashSet;
use std::path::Path;

use tollhouse_types::untrusted_file;

use super::TokenError;

/// Maximum size of a list file in bytes: half a million identifiers.
const MAX_FILE: u64 = 64 << 20;

/// Number of hex digits of an identifier: an Ed25519 signature has 64 bytes.
pub(super) const DIGITS: usize = 128;

/// A set of identifiers of revoked blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RevocationList(HashSet<String>);

impl RevocationList {
    /// Parses a list: one identifier per line, in hex; `#` begins a comment.
    ///
    /// # Errors
    /// If a line is invalid. A partially understood list would let revoked tokens pass.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let mut list = Self::default();
        for (at, line) in text.lines().enumerate() {
            let id = line.split('#').next().unwrap_or_default().trim();
            if !id.is_empty() && !list.insert(id) {
                return Err(TokenError::Revocation { line: at + 1 });
            }
        }
        Ok(list)
    }

    /// Reads the list in a file. A missing file is an error, and not an empty list.
    ///
    /// # Errors
    /// If it cannot be read, or a line is not an identifier.
    pub fn load(path: &Path) -> Result<Self, TokenError> {
        let text = untrusted_file::read_named_text(path, MAX_FILE)
            .map_err(|error| TokenError::RevocationFile { path: path.to_owned(), source: error.into() })?;
        Self::parse(&text)
    }

    /// Adds an identifier. Returns false if it is invalid.
    pub fn insert(&mut self, id: &str) -> bool {
        let valid = id.len() == DIGITS && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if valid {
            self.0.insert(id.to_ascii_lowercase());
        }
        valid
    }

    /// Returns true if a block is revoked; the identifier is in lower case, like
    /// [`super::BlockInspection::revocation_id`].
    #[must_use]
    pub fn contains(&self, id: &str) -> bool {
        self.0.contains(id)
    }

    /// Number of identifiers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
