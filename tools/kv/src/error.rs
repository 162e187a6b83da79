//! Errors of the tool, and their messages.

/// Reason of an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The policy does not grant a store.
    Denied,
    /// The store does not exist.
    NoStore,
    /// The key is invalid.
    Key,
    /// The value is not text.
    NotText,
    /// The store failed.
    Store,
}

/// Failure of an operation on the store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Reason for the failure.
    pub kind: Kind,
    /// Message that describes the failure.
    pub message: String,
    /// Key that caused the failure.
    pub key: Option<String>,
}

impl Error {
    /// Creates an error about a key.
    pub fn of(key: &str, kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), key: Some(key.to_owned()) }
    }

    /// Returns the error with this key, unless it has one already.
    #[must_use]
    pub fn or_of(self, key: &str) -> Self {
        Self { key: self.key.or_else(|| Some(key.to_owned())), ..self }
    }
}

/// Failure of a store, as `wasi:keyvalue` reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The tool has no access to the store.
    AccessDenied,
    /// The host does not have the store.
    NoSuchStore,
    /// Any other failure, with the message of the store.
    Other(String),
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        let (kind, message) = match failure {
            Failure::AccessDenied => (
                Kind::Denied,
                "the policy does not give this tool a store: it takes `keyvalue = [\"default\"]` under `[tool.kv]`, or \
                 the name that the tool is mounted under"
                    .to_owned(),
            ),
            Failure::NoSuchStore => (Kind::NoStore, "there is no store `default` here".to_owned()),
            Failure::Other(message) => (Kind::Store, message),
        };
        Self { kind, message, key: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keyvalue_denial_names_the_missing_grant() {
        let error = Error::from(Failure::AccessDenied);
        assert_eq!(error.kind, Kind::Denied);
        assert!(error.message.contains("`keyvalue = [\"default\"]` under `[tool.kv]`"), "{error}");
    }

    #[test]
    fn keyvalue_store_error_keeps_its_message_and_key() {
        let error = Error::from(Failure::Other("the store is full".into())).or_of("a");
        assert_eq!((error.kind, error.key.as_deref()), (Kind::Store, Some("a")));
        assert_eq!(error.to_string(), "the store is full");
        assert_eq!(error.or_of("b").key.as_deref(), Some("a"));
        assert_eq!(Error::from(Failure::NoSuchStore).kind, Kind::NoStore);
    }
}
