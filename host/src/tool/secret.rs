//! Secrets: values that tools use and nobody else sees.
//!
//! They come from the embedder, at each start, and are in no policy, store, log, snapshot or export. By default a tool
//! does not see them either: it writes [`placeholder`] into a header, and the host puts the value there on the wire.
//! [`Secrets::redact`] is a second line behind that: where a value turns up in what a tool says, its name stands instead.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use tollhouse_registry::is_secret_name;

use crate::error::{Failure, Payload};

/// What a placeholder begins with.
pub(super) const OPEN: &str = "{{secret:";

/// What a placeholder ends with.
pub(super) const CLOSE: &str = "}}";

/// The shortest value that is redacted: shorter ones are in every other word.
const REDACTED: usize = 6;

/// Secrets by name. Cheap to clone.
#[derive(Clone, Default)]
pub struct Secrets(Arc<BTreeMap<String, String>>);

/// Why a secret cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// Its name is none.
    #[error("`{0}` is no name of a secret: letters, digits and `_`")]
    Name(String),
    /// It is empty, or has control characters, which no header can carry.
    #[error("the value of the secret `{0}` is empty, or has a line break or another control character")]
    Value(String),
}

impl Secrets {
    /// Adds a secret, or replaces the one of that name.
    ///
    /// # Errors
    /// If the name is none, or the value cannot stand in a header.
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Result<Self, SecretError> {
        let value = value.into();
        if !is_secret_name(name) {
            return Err(SecretError::Name(name.to_owned()));
        }
        if value.is_empty() || value.chars().any(char::is_control) {
            return Err(SecretError::Value(name.to_owned()));
        }
        Arc::make_mut(&mut self.0).insert(name.to_owned(), value);
        Ok(self)
    }

    /// The value of a secret.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Whether there is a value.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Puts names where values stand.
    pub(crate) fn redact(&self, text: &mut String) {
        for (name, value) in self.0.iter().filter(|(_, value)| value.len() >= REDACTED) {
            if text.contains(value.as_str()) {
                *text = text.replace(value.as_str(), &placeholder(name));
            }
        }
    }

    /// As [`Secrets::redact`], in what a tool returned. The places that stand for something else stay what they were: a
    /// value inside bytes is not found.
    pub(crate) fn redact_payload(&self, payload: &mut Payload) {
        if !self.0.is_empty() {
            self.redact_value(&mut payload.value);
        }
    }

    /// As [`Secrets::redact`], in what is told of a failure.
    pub(crate) fn redact_failure(&self, failure: &mut Failure) {
        self.redact(&mut failure.message);
        if let Some(hint) = &mut failure.hint {
            self.redact(hint);
        }
        if let Some(payload) = &mut failure.payload {
            self.redact_payload(payload);
        }
    }

    fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.redact(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value(item)),
            Value::Object(fields) => {
                for (mut key, mut value) in std::mem::take(fields) {
                    self.redact(&mut key);
                    self.redact_value(&mut value);
                    fields.insert(key, value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

impl fmt::Debug for Secrets {
    /// Names only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// What stands for a secret's value.
pub(crate) fn placeholder(name: &str) -> String {
    format!("{OPEN}{name}{CLOSE}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_show_nowhere() {
        let secrets = Secrets::default().with("KEY", "s3cr3t-value").expect("a secret");
        assert_eq!(format!("{secrets:?}"), "{\"KEY\"}");
        let mut payload =
            Payload { value: json!({"a": ["x s3cr3t-value y", 1], "s3cr3t-value": null}), ..Payload::default() };
        secrets.redact_payload(&mut payload);
        assert_eq!(payload.value, json!({"a": ["x {{secret:KEY}} y", 1], "{{secret:KEY}}": null}));
        let mut failure = Failure::tool("s3cr3t-value")
            .with_hint("s3cr3t-value")
            .with_payload(Payload { value: json!("s3cr3t-value"), ..Payload::default() });
        secrets.redact_failure(&mut failure);
        assert!(!format!("{failure:?}").contains("s3cr3t-value"));
    }

    #[test]
    fn what_no_header_can_carry_is_refused() {
        for value in ["", "a\nb", "a\r\nX-Evil: 1", "a\0"] {
            assert!(Secrets::default().with("KEY", value).is_err(), "{value:?}");
        }
        for name in ["", "a b", "1A", "a-b", "}}"] {
            assert!(Secrets::default().with(name, "value").is_err(), "{name:?}");
        }
    }
}
