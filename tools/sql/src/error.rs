//! What can go wrong, and in which words it is told.

use rusqlite::ErrorCode;
use tollhouse_tool_files as files;

/// The reason of an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Statement that SQLite refuses.
    Sql,
    /// A constraint that does not hold.
    Constraint,
    /// Statement that is not allowed here.
    Forbidden,
    /// A parameter that cannot be so.
    Parameter,
    /// File that is no database.
    Damaged,
    /// More than is allowed.
    TooLarge,
    /// The file is not granted.
    Denied,
    /// There is no such file.
    NotFound,
    /// Something else about a file.
    File,
}

/// Failure of a statement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Reason for the failure.
    pub kind: Kind,
    /// The reason in words.
    pub message: String,
}

impl Error {
    /// Creates an error with a message.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl From<files::Error> for Error {
    fn from(error: files::Error) -> Self {
        let kind = match error.kind {
            files::Kind::Denied => Kind::Denied,
            files::Kind::NotFound => Kind::NotFound,
            files::Kind::TooLarge => Kind::TooLarge,
            files::Kind::Parameter => Kind::Parameter,
            files::Kind::Exists | files::Kind::Other => Kind::File,
        };
        Self::new(kind, error.message)
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::Error as Sqlite;
        let kind = match &error {
            Sqlite::InvalidParameterCount(..) | Sqlite::InvalidParameterName(_) => Kind::Parameter,
            Sqlite::MultipleStatement => Kind::Sql,
            _ => match error.sqlite_error_code() {
                Some(ErrorCode::ConstraintViolation) => Kind::Constraint,
                Some(ErrorCode::AuthorizationForStatementDenied | ErrorCode::ReadOnly) => Kind::Forbidden,
                Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt | ErrorCode::CannotOpen) => Kind::Damaged,
                Some(ErrorCode::TooBig | ErrorCode::OutOfMemory | ErrorCode::DiskFull) => Kind::TooLarge,
                _ => Kind::Sql,
            },
        };
        // The statement itself, which may be long, is the caller's own.
        let error = match &error {
            Sqlite::SqlInputError { msg, offset, .. } => format!("{msg}, at byte {offset}"),
            _ => error.to_string(),
        };
        let message = match kind {
            Kind::Forbidden => format!(
                "{error}: `ATTACH`, `VACUUM`, extensions, transactions, most pragmas, and with `query` \
                 every change are refused here"
            ),
            Kind::TooLarge => format!("{error}: a call has so much memory, and a value so many bytes; select less"),
            _ => error,
        };
        Self::new(kind, message)
    }
}
