//! Errors of the tool, and their messages.

use tollhouse_tool_files as files;

/// Reason of an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The policy does not grant the file.
    Denied,
    /// The file or entry does not exist.
    NotFound,
    /// The file exists already.
    Exists,
    /// A parameter is invalid.
    Parameter,
    /// The format is unknown.
    Format,
    /// The archive is damaged or truncated.
    Damaged,
    /// The name of an entry is invalid, or leads out of the directory.
    UnsafeName,
    /// The entry is a link.
    Link,
    /// The entry is neither a file nor a directory.
    Unsupported,
    /// A limit on sizes is exceeded.
    TooLarge,
    /// Another failure of a file operation.
    File,
}

/// Failure of an operation on an archive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Reason for the failure.
    pub kind: Kind,
    /// Message that describes the failure.
    pub message: String,
    /// Entry that caused the failure.
    pub entry: Option<String>,
    /// Path that caused the failure.
    pub path: Option<String>,
}

impl Error {
    /// Creates an error that does not concern an entry.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), entry: None, path: None }
    }

    /// Creates an error about an entry: `why` follows the entry's name.
    pub fn of(entry: &str, kind: Kind, why: &str) -> Self {
        let shown: String = entry.chars().take(200).collect();
        Self { entry: Some(shown.clone()), ..Self::new(kind, format!("entry `{shown}` {why}")) }
    }
}

impl From<files::Error> for Error {
    fn from(files::Error { kind, message, path }: files::Error) -> Self {
        let kind = match kind {
            files::Kind::Denied => Kind::Denied,
            files::Kind::NotFound => Kind::NotFound,
            files::Kind::Exists => Kind::Exists,
            files::Kind::TooLarge => Kind::TooLarge,
            files::Kind::Parameter => Kind::Parameter,
            files::Kind::Other => Kind::File,
        };
        Self { kind, message, entry: None, path }
    }
}
