//! What can be wrong with CSV, with records, and with how they are to be read.

/// Reason why CSV cannot be read or written. Lines and rows count from 1.
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
        /// Start of the row, by which it can be recognised.
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
        /// Name of the requested column.
        name: String,
        /// Names of the columns that exist.
        known: String,
    },
    /// A cell is not a number.
    #[error("line {line}: `{text}` in column `{column}` is not a number")]
    NotNumber {
        /// The line where the row begins.
        line: u64,
        /// Name of the column.
        column: String,
        /// Content of the cell.
        text: String,
    },
    /// An option that cannot be.
    #[error("`{option}` {reason}")]
    Option {
        /// Name of the option.
        option: &'static str,
        /// Problem with the option, in words.
        reason: &'static str,
    },
    /// A row to write has another number of fields than there are names.
    #[error("row {row} has {found} fields where there are {expected} columns")]
    RowLength {
        /// Number of the row.
        row: u64,
        /// Fields in the row.
        found: usize,
        /// Names, or fields in the first row if there are no names.
        expected: usize,
    },
    /// Records that are not valid JSON.
    #[error("the records are not JSON: {reason}")]
    NotJson {
        /// The line in the JSON text.
        line: u64,
        /// Message of the JSON parser.
        reason: String,
    },
    /// JSON, but no array of flat objects.
    #[error("{reason}")]
    NotRecords {
        /// Problem in words.
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
