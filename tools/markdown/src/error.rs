//! What can be wrong with tables, records and HTML; any Markdown is right.

/// Why there is no result. Rows count from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A table without columns.
    #[error("a table needs at least one column")]
    NoColumns,
    /// A row has another number of cells than there are headers.
    #[error("row {row} has {found} cells where there are {expected} headers")]
    RowLength {
        /// The row.
        row: usize,
        /// Cells in it.
        found: usize,
        /// Headers.
        expected: usize,
    },
    /// There are more alignments than columns.
    #[error("there are {found} alignments for {columns} columns")]
    Alignments {
        /// Alignments.
        found: usize,
        /// Columns.
        columns: usize,
    },
    /// What should be records is not JSON.
    #[error("the records are not JSON: {0}")]
    NotJson(String),
    /// JSON, but no array.
    #[error("the records are not a JSON array")]
    NotArray,
    /// JSON, but no array of objects.
    #[error("record {row} is not a JSON object")]
    NotObject {
        /// The record.
        row: usize,
    },
    /// The HTML is nested too deeply.
    #[error("elements of the HTML are nested more than {limit} deep")]
    TooDeep {
        /// How deep they may be.
        limit: usize,
    },
}
