//! What can be wrong with CSV, with records, and with how they are to be read.

/// Why there is no result. Lines and rows count from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A header was promised and there is no row.
    #[error("there is no row of column names; for CSV without one set `header` to false")]
    NoHeader,
    /// A row has another number of fields than the first.
    #[error("line {line} has {found} fields where the first row has {expected}: `{start}`")]
    Ragged {
        /// The line where the row begins.
        line: u64,
        /// Fields in the row.
        found: usize,
        /// Fields in the first row.
        expected: usize,
        /// How the row begins, to be recognised by.
        start: String,
    },
    /// The text ends within quotes.
    #[error("the row that begins at line {line} has a quoted field without a closing quote")]
    UnclosedQuote {
        /// The line where the row begins.
        line: u64,
    },
    /// There is no such column.
    #[error("there is no column `{name}`; there are: {known}")]
    NoColumn {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A cell is not a number.
    #[error("line {line}: `{text}` in column `{column}` is not a number")]
    NotNumber {
        /// The line where the row begins.
        line: u64,
        /// The column.
        column: String,
        /// What the cell holds.
        text: String,
    },
    /// An option that cannot be.
    #[error("`{option}` {reason}")]
    Option {
        /// Its name.
        option: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A row to write has another number of fields than there are names.
    #[error("row {row} has {found} fields where there are {expected} columns")]
    RowLength {
        /// The row.
        row: u64,
        /// Fields in the row.
        found: usize,
        /// Names, or fields in the first row if there are no names.
        expected: usize,
    },
    /// What should be records is not JSON.
    #[error("the records are not JSON: {reason}")]
    NotJson {
        /// The line in the JSON text.
        line: u64,
        /// What the parser says.
        reason: String,
    },
    /// JSON, but no array of flat objects.
    #[error("{reason}")]
    NotRecords {
        /// What is wrong, in words.
        reason: String,
        /// The record at fault.
        row: Option<u64>,
        /// The key at fault.
        column: Option<String>,
    },
}

/// The beginning of a text that is shown in a message: long enough to be recognised.
pub fn excerpt(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
