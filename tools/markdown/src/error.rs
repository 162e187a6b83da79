//! What can be wrong with tables, records and HTML; any Markdown is right.

/// Reason why Markdown cannot be made or read. Rows count from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A table without columns.
    #[error("a table needs at least one column")]
    NoColumns,
    /// A row has another number of cells than there are headers.
    #[error("row {row} has {found} cells where there are {expected} headers")]
    RowLength {
        /// Number of the row.
        row: usize,
        /// Number of cells in the row.
        found: usize,
        /// Number of headers.
        expected: usize,
    },
    /// There are more alignments than columns.
    #[error("there are {found} alignments for {columns} columns")]
    Alignments {
        /// Number of alignments.
        found: usize,
        /// Number of columns.
        columns: usize,
    },
    /// Records that are not valid JSON.
    #[error("the records are not JSON: {0}")]
    NotJson(String),
    /// JSON, but no array.
    #[error("the records are not a JSON array")]
    NotArray,
    /// JSON, but no array of objects.
    #[error("record {row} is not a JSON object")]
    NotObject {
        /// Number of the record.
        row: usize,
    },
    /// The HTML is nested too deeply.
    #[error("elements of the HTML are nested more than {limit} deep")]
    TooDeep {
        /// Greatest depth allowed.
        limit: usize,
    },
}
