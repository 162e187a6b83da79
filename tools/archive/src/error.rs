//! What can go wrong, and in which words it is told.

use tollhouse_tool_files as files;

/// The reason of an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The file is not granted.
    Denied,
    /// There is no such file or entry.
    NotFound,
    /// There is such a file already.
    Exists,
    /// A parameter that cannot be so.
    Parameter,
    /// No format that is known here.
    Format,
    /// Damaged or truncated archive.
    Damaged,
    /// A name that leads out, or is none.
    UnsafeName,
    /// Entry that is a link.
    Link,
    /// Neither file nor directory.
    Unsupported,
    /// More than is allowed.
    TooLarge,
    /// Something else about a file.
    File,
}

/// Failure of an operation on an archive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Reason for the failure.
    pub kind: Kind,
    /// The reason in words.
    pub message: String,
    /// The entry at fault.
    pub entry: Option<String>,
    /// The path at fault.
    pub path: Option<String>,
}

impl Error {
    /// Creates an error that is about no entry.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), entry: None, path: None }
    }

    /// Creates an error about an entry: `why` follows its name.
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
