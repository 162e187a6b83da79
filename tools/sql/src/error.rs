//! Errors of the tool, and their messages.

use rusqlite::ErrorCode;
use tollhouse_tool_files as files;

/// Reason of an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// SQLite refuses the statement.
    Sql,
    /// A constraint is violated.
    Constraint,
    /// The statement is not permitted here.
    Forbidden,
    /// A parameter is invalid.
    Parameter,
    /// The file is not a database.
    Damaged,
    /// A limit on sizes is exceeded.
    TooLarge,
    /// The policy does not grant the file.
    Denied,
    /// The file does not exist.
    NotFound,
    /// Another failure of a file operation.
    File,
}

/// Failure of a statement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Reason for the failure.
    pub kind: Kind,
    /// Message that describes the failure.
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
        // The message omits the statement, which may be long and is known to the caller.
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
