//! Errors in tables, records and HTML. Any text is valid Markdown.

/// Reason why Markdown cannot be generated, or HTML not be converted. Rows count from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The table has no columns.
    #[error("a table needs at least one column")]
    NoColumns,
    /// A row and the header have different numbers of cells.
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
    /// The records are not valid JSON.
    #[error("the records are not JSON: {0}")]
    NotJson(String),
    /// The JSON is not an array.
    #[error("the records are not a JSON array")]
    NotArray,
    /// An element of the array is not an object.
    #[error("record {row} is not a JSON object")]
    NotObject {
        /// Number of the record.
        row: usize,
    },
    /// The HTML is nested too deeply.
    #[error("elements of the HTML are nested more than {limit} deep")]
    TooDeep {
        /// Largest permitted depth.
        limit: usize,
    },
}
