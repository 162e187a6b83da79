//! Secrets: values that tools use and nobody else sees.
//!
//! They come from the embedder, at each start, and are in no policy, store, log, snapshot or export. By default a tool
//! does not see them either: it writes [`placeholder`] into a header, and the host inserts the value when it sends the
//! request. Redaction is a second line of defence: a value that occurs in a server's answer or a tool's output, as it
//! is or in a usual encoding, is replaced by its name.
//!
//! Parts of this module:
//! - `encoding`, `decoding`: the forms in which a value may occur;
//! - `redactor`: the search, in whole texts and in streams;
//! - `payload`: the search in results of tools.

mod decoding;
mod encoding;
mod payload;
mod redactor;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use tollhouse_registry::is_secret_name;
use zeroize::Zeroizing;

use self::redactor::Redactor;
pub(super) use self::redactor::StreamRedactor;

/// Beginning of a placeholder.
pub(super) const OPEN: &str = "{{secret:";

/// End of a placeholder.
pub(super) const CLOSE: &str = "}}";

/// Shortest value that is redacted, in bytes. Shorter ones occur in ordinary words, and a reader who sees redactions
/// could find them by trying.
const REDACTED: usize = 6;

/// Longest value, in bytes: servers accept no longer header.
const MAX_VALUE: usize = 16 << 10;

/// Most secrets of a session.
const MAX_SECRETS: usize = 1000;

/// Secrets of a session by name. Cheap to clone.
///
/// Values are zeroised when the last clone is dropped. Copies in the buffers of HTTP and TLS and in the tables of the
/// redactor are not: a process that holds secrets should leave no core dump (the command line disables them; an
/// embedder sets `RLIMIT_CORE` to 0 and `PR_SET_DUMPABLE` to 0).
#[derive(Clone, Default)]
pub struct Secrets(Arc<SecretsState>);

#[derive(Default)]
struct SecretsState {
    values: BTreeMap<String, Zeroizing<String>>,
    /// Redactor, built on first use. `None` if no value is long enough.
    redactor: OnceLock<Option<Arc<Redactor>>>,
}

/// Reason why a secret cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// The name is not valid.
    #[error("`{0}` is not a name of a secret: letters, digits and `_`")]
    Name(String),
    /// The value is empty, or has control characters, which no header can carry.
    #[error("the value of the secret `{0}` is empty, or has a line break or another control character")]
    Value(String),
    /// The value is longer than any header.
    #[error("the value of the secret `{0}` has more than {MAX_VALUE} bytes")]
    Long(String),
    /// The session has too many secrets.
    #[error("there are more than {MAX_SECRETS} secrets")]
    Many,
}

impl Secrets {
    /// Adds a secret, or replaces the one of that name.
    ///
    /// # Errors
    /// If the name is not valid, the value cannot be in a header, or there are too many secrets.
    pub fn with(self, name: &str, value: impl Into<String>) -> Result<Self, SecretError> {
        let value = Zeroizing::new(value.into());
        if !is_secret_name(name) {
            return Err(SecretError::Name(name.to_owned()));
        }
        if value.is_empty() || value.chars().any(char::is_control) {
            return Err(SecretError::Value(name.to_owned()));
        }
        if value.len() > MAX_VALUE {
            return Err(SecretError::Long(name.to_owned()));
        }
        let mut values = match Arc::try_unwrap(self.0) {
            Ok(state) => state.values,
            Err(state) => state.values.clone(),
        };
        values.insert(name.to_owned(), value);
        if values.len() > MAX_SECRETS {
            return Err(SecretError::Many);
        }
        Ok(Self(Arc::new(SecretsState { values, redactor: OnceLock::new() })))
    }

    /// Returns the value of a secret, for the environment of a program that an operator starts.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        self.get(name)
    }

    /// Returns the value of a secret.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.values.get(name).map(|value| value.as_str())
    }

    /// Returns true if the secret has a value.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.values.contains_key(name)
    }

    /// Returns true if nothing is ever redacted.
    pub(crate) fn is_silent(&self) -> bool {
        self.redactor().is_none()
    }

    /// Returns bytes with values replaced by names. Returns `None` if they contain no value.
    pub(crate) fn redact_bytes(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        self.redactor()?.redact(bytes)
    }

    /// Returns a text with values replaced by names. Returns `None` if it contains no value.
    #[must_use]
    pub fn redact_text(&self, text: &str) -> Option<String> {
        let redacted = self.redact_bytes(text.as_bytes())?;
        // A value consists of whole characters, and so does a text without it.
        Some(String::from_utf8_lossy(&redacted).into_owned())
    }

    /// Replaces values by names.
    pub(crate) fn redact(&self, text: &mut String) {
        if let Some(redacted) = self.redact_text(text) {
            *text = redacted;
        }
    }

    /// Returns a redactor of a stream, for all values except those that the reader `sees`. Returns `None` if there is
    /// nothing to redact.
    pub(super) fn stream(&self, sees: impl Fn(&str) -> bool) -> Option<StreamRedactor> {
        let redactor = self.redactor()?;
        let hidden = redactor.hidden(sees);
        hidden.contains(&true).then(|| StreamRedactor::new(Arc::clone(redactor), hidden))
    }

    fn redactor(&self) -> Option<&Arc<Redactor>> {
        let make = || {
            let long = || self.0.values.iter().filter(|(_, value)| value.len() >= REDACTED);
            let secrets = long().map(|(name, value)| (name.as_str(), value.as_bytes()));
            long().next().map(|_| Arc::new(Redactor::new(secrets)))
        };
        self.0.redactor.get_or_init(make).as_ref()
    }
}

impl fmt::Debug for Secrets {
    /// Shows names only, not values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.values.keys()).finish()
    }
}

/// Returns the placeholder of a secret.
pub(crate) fn placeholder(name: &str) -> String {
    format!("{OPEN}{name}{CLOSE}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_values_are_not_shown_in_debug_output() {
        let secrets = Secrets::default().with("KEY", "s3cr3t-value").expect("a secret");
        assert_eq!(format!("{secrets:?}"), "{\"KEY\"}");
        assert_eq!(secrets.redact_text("x s3cr3t-value y").as_deref(), Some("x {{secret:KEY}} y"));
        assert_eq!(secrets.redact_text("x s3cr3t-valu y"), None);
        let more = secrets.clone().with("KEY", "another-value").expect("a secret");
        assert_eq!(more.redact_text("s3cr3t-value another-value").as_deref(), Some("s3cr3t-value {{secret:KEY}}"));
        assert_eq!(secrets.redact_text("s3cr3t-value").as_deref(), Some("{{secret:KEY}}"), "a clone stays what it was");
        assert!(Secrets::default().with("PIN", "1234").expect("a secret").is_silent());
    }

    #[test]
    fn secret_with_invalid_name_or_value_is_refused() {
        let long = "x".repeat(MAX_VALUE + 1);
        for value in ["", "a\nb", "a\r\nX-Evil: 1", "a\0", &long] {
            assert!(Secrets::default().with("KEY", value).is_err(), "{value:?}");
        }
        assert!(Secrets::default().with("KEY", &long[1..]).is_ok());
        for name in ["", "a b", "1A", "a-b", "}}"] {
            assert!(Secrets::default().with(name, "value").is_err(), "{name:?}");
        }
        let many = (0..MAX_SECRETS).try_fold(Secrets::default(), |all, index| all.with(&format!("K{index}"), "v"));
        assert_eq!(many.expect("so many are taken").with("ONE_MORE", "v").err(), Some(SecretError::Many));
    }
}
