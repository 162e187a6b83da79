//! Errors in CSV, in records and in options.

/// Reason why CSV cannot be read or written. Lines and rows count from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A header is expected, but there are no rows.
    #[error("there is no row of column names; for CSV without one set `header` to false")]
    NoHeader,
    /// A row and the first one have different numbers of fields.
    #[error("line {line} has {found} fields where the first row has {expected}: `{start}`")]
    Ragged {
        /// Line in which the row begins.
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
        /// Line in which the row begins.
        line: u64,
    },
    /// The column does not exist.
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
        /// Line in which the row begins.
        line: u64,
        /// Name of the column.
        column: String,
        /// Content of the cell.
        text: String,
    },
    /// An option is invalid.
    #[error("`{option}` {reason}")]
    Option {
        /// Name of the option.
        option: &'static str,
        /// Problem with the option, in words.
        reason: &'static str,
    },
    /// A row to write and the names have different lengths.
    #[error("row {row} has {found} fields where there are {expected} columns")]
    RowLength {
        /// Number of the row.
        row: u64,
        /// Fields in the row.
        found: usize,
        /// Number of names, or of fields in the first row if there are no names.
        expected: usize,
    },
    /// The records are not valid JSON.
    #[error("the records are not JSON: {reason}")]
    NotJson {
        /// Line in the JSON text.
        line: u64,
        /// Message of the JSON parser.
        reason: String,
    },
    /// The JSON is not an array of flat objects.
    #[error("{reason}")]
    NotRecords {
        /// Description of the problem.
        reason: String,
        /// Record that caused the error.
        row: Option<u64>,
        /// Key that caused the error.
        column: Option<String>,
    },
}

/// Returns the start of a text for a message, long enough to be recognized.
pub fn excerpt(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
