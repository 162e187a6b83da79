//! Names of sessions.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Length of the longest name, in bytes.
const MAX_BYTES: usize = 64;

/// Name of a session in its store: 1 to 64 ASCII letters, digits, `-`, `_` and `.`, of which the first is a letter or a
/// digit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(Arc<str>);

/// Error for a text that is not a session name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a session name: use 1 to {MAX_BYTES} letters, digits, `-`, `_` and `.`, the first a letter or digit"
)]
pub struct SessionIdError(String);

impl SessionId {
    /// Returns the name as a string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SessionId {
    type Err = SessionIdError;

    fn from_str(text: &str) -> Result<Self, SessionIdError> {
        let fits = (1..=MAX_BYTES).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
            && text.starts_with(|first: char| first.is_ascii_alphanumeric());
        if fits { Ok(Self(text.into())) } else { Err(SessionIdError(text.chars().take(80).collect())) }
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for SessionId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for SessionId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::SessionId;

    #[test]
    fn session_id_is_safe_in_paths_keys_and_shells() {
        for good in ["a", "2026-11-21", "report.v2_final", &"x".repeat(64)] {
            assert_eq!(good.parse::<SessionId>().map(|id| id.to_string()).as_deref(), Ok(good));
        }
        for bad in ["", ".", "..", "-rf", "_x", "a/b", "a b", "é", "a\0", "a@1", &"x".repeat(65)] {
            assert!(bad.parse::<SessionId>().is_err(), "{bad:?}");
        }
    }
}
