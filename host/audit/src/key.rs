//! The key of an audit log, and its derivation from line to line.
//!
//! Each line has a MAC by a key of its own, and each key is derived from the previous one, which is then forgotten. So
//! an attacker who takes over the writing process learns the key of the next line, but not those of written lines, and
//! cannot forge them. The owner of the first key can verify all lines.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use tollhouse_types::untrusted_file;
use zeroize::{Zeroize as _, Zeroizing};

use super::AuditError;

/// Maximum size of a key file in bytes: the key, and surrounding white space.
const MAX_FILE: u64 = 4 << 10;

/// Prefix of a key's text.
const PREFIX: &str = "audit-key/";

/// Purposes of key derivations. Changing what is authenticated needs another version.
const LINE: &str = "tollhouse 2026 audit log 1: MAC of a line";
const HEAD: &str = "tollhouse 2026 audit log 1: MAC of a head";
const NEXT: &str = "tollhouse 2026 audit log 1: next key";

/// The first key of an audit log, kept by its operator: its owner can verify the log, and could forge it. Its text is
/// `audit-key/` and 64 hex digits. Overwritten in memory when it is dropped.
///
/// Boxed, so that moving it leaves no copy behind.
#[derive(Clone)]
pub struct AuditKey(Box<[u8; 32]>);

impl Drop for AuditKey {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// The text is not a key of an audit log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a key of an audit log is `audit-key/` and 64 hex digits; create one with `tollhouse policy keygen --audit FILE`"
)]
pub struct NoAuditKey;

impl AuditKey {
    /// Generates a key from the random numbers of the operating system.
    ///
    /// # Errors
    /// If the operating system has none.
    pub fn generate() -> std::io::Result<Self> {
        let mut key = Self(Box::default());
        getrandom::fill(&mut *key.0)?;
        Ok(key)
    }

    /// Reads a key from its file, and overwrites the file's text in memory.
    ///
    /// # Errors
    /// If it cannot be read, or contains no key.
    pub fn read(path: &Path) -> Result<Self, AuditError> {
        let failed = |source| AuditError::Key { path: path.to_owned(), source };
        let text = untrusted_file::read_named_text(path, MAX_FILE).map(Zeroizing::new);
        let text = text.map_err(|error| failed(Box::new(std::io::Error::from(error))))?;
        text.parse().map_err(|error: NoAuditKey| failed(Box::new(error)))
    }

    /// The key as text, for the file that keeps it.
    #[must_use]
    pub fn to_text(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(String::with_capacity(PREFIX.len() + 2 * self.0.len()));
        text.push_str(PREFIX);
        for byte in *self.0 {
            for digit in [byte >> 4, byte & 15] {
                text.push(char::from_digit(digit.into(), 16).expect("four bits are a hex digit"));
            }
        }
        text
    }
}

impl FromStr for AuditKey {
    type Err = NoAuditKey;

    /// Parses a key, ignoring surrounding white space, since it comes from a file.
    fn from_str(text: &str) -> Result<Self, NoAuditKey> {
        let digits = text.trim_ascii().strip_prefix(PREFIX).ok_or(NoAuditKey)?.as_bytes();
        let mut key = Self(Box::default());
        if digits.len() != 2 * key.0.len() {
            return Err(NoAuditKey);
        }
        let digit =
            |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok()).ok_or(NoAuditKey);
        for (byte, pair) in key.0.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Ok(key)
    }
}

impl fmt::Debug for AuditKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuditKey(…)")
    }
}

/// The key of the next line, from which earlier keys cannot be derived.
#[derive(Debug)]
pub(super) struct LineKey(AuditKey);

impl LineKey {
    /// Returns the key of the first line that has a MAC.
    pub(super) fn first(key: AuditKey) -> Self {
        Self(key)
    }

    /// Computes the MAC of a line, over its JSON without the MAC.
    pub(super) fn line(&self, text: &[u8]) -> blake3::Hash {
        self.mac(LINE, text)
    }

    /// Computes the MAC of a head: it proves the number of lines and the last line.
    pub(super) fn head(&self, lines: u64, last: &blake3::Hash) -> blake3::Hash {
        self.mac(HEAD, &[&lines.to_be_bytes()[..], last.as_bytes()].concat())
    }

    /// Advances to the key of the next line after a line is written, and forgets the previous key.
    pub(super) fn advance(&mut self) {
        self.0 = derived(NEXT, &self.0);
    }

    fn mac(&self, purpose: &str, text: &[u8]) -> blake3::Hash {
        let key = derived(purpose, &self.0);
        let mut hasher = blake3::Hasher::new_keyed(&key.0);
        hasher.update(text);
        let mac = hasher.finalize();
        hasher.zeroize();
        mac
    }
}

/// Derives a key for one purpose.
fn derived(purpose: &str, from: &AuditKey) -> AuditKey {
    let mut hasher = blake3::Hasher::new_derive_key(purpose);
    hasher.update(&*from.0);
    let mut key = AuditKey(Box::default());
    let mut output = hasher.finalize_xof();
    output.fill(&mut *key.0);
    output.zeroize();
    hasher.zeroize();
    key
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_differ_by_line_and_purpose() {
        let mut key = LineKey::first(AuditKey(Box::new([7; 32])));
        let mut seen = std::collections::HashSet::new();
        for _ in 0..100 {
            let text = [&9_u64.to_be_bytes()[..], &[1; 32]].concat();
            assert!(seen.insert(key.line(&text).to_hex()), "each line has its own");
            assert!(seen.insert(key.head(9, &[1; 32].into()).to_hex()), "a line is no head");
            key.advance();
        }
    }

    #[test]
    fn key_shows_nowhere_but_in_its_text() {
        let key = AuditKey::generate().expect("the system has random numbers");
        assert_eq!(format!("{key:?}"), "AuditKey(…)");
        assert_ne!(*key.to_text(), *AuditKey::generate().expect("the system has random numbers").to_text());
    }

    proptest! {
        #[test]
        fn keys_are_read_as_they_are_written(bytes in any::<[u8; 32]>(), around in "[ \n]{0,2}") {
            let text = AuditKey(Box::new(bytes)).to_text();
            let read: AuditKey = format!("{around}{}{around}", *text).parse().expect("it was written");
            prop_assert_eq!(*read.0, bytes);
            for wrong in [&text[1..], &text[..text.len() - 1], &format!("{}0", *text), &text.replace('/', "-")] {
                prop_assert!(wrong.parse::<AuditKey>().is_err());
            }
        }
    }
}
