//! Revocation: the blocks that are no longer good.
//!
//! Every block has an identifier, its signature. To revoke a block is to revoke every token that was made from it. The
//! list is the opener's own; how it is brought to all who open tokens is not for this module.

use std::collections::HashSet;
use std::path::Path;

use tollhouse_registry::untrusted_file;

use super::TokenError;

/// Longest file of a list in bytes: half a million identifiers.
const MAX_FILE: u64 = 64 << 20;

/// The hex digits of an identifier: an Ed25519 signature has 64 bytes.
pub(super) const DIGITS: usize = 128;

/// Identifiers of blocks that are no longer good.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RevocationList(HashSet<String>);

impl RevocationList {
    /// Reads a list: one identifier a line, in hex; `#` begins a comment.
    ///
    /// # Errors
    /// If a line is none. A list that is half understood would let tokens pass.
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

    /// Reads the list in a file. Without the file there is no list: that is an error, not an empty one.
    ///
    /// # Errors
    /// If it cannot be read, or a line is no identifier.
    pub fn load(path: &Path) -> Result<Self, TokenError> {
        let text = untrusted_file::read_named_text(path, MAX_FILE)
            .map_err(|error| TokenError::RevocationFile { path: path.to_owned(), source: error.into() })?;
        Self::parse(&text)
    }

    /// Adds an identifier. False if it is none.
    pub fn insert(&mut self, id: &str) -> bool {
        let valid = id.len() == DIGITS && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if valid {
            self.0.insert(id.to_ascii_lowercase());
        }
        valid
    }

    /// Whether a block is revoked; the identifier in lower case, as [`super::BlockInspection::revocation_id`] is.
    #[must_use]
    pub fn contains(&self, id: &str) -> bool {
        self.0.contains(id)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
