//! Binding of the logic to WIT: converts arguments and results. This module does not parse CSV.

use bindings::exports::tollhouse::csv::csv as wit;

use crate::columns::{Cell, Table};
use crate::error::Error;
use crate::infer::Kind;
use crate::read::Options;
use crate::write;

mod bindings {
    //! Generated from `wit/`.
    #![expect(unsafe_code, reason = "generated")]
    wit_bindgen::generate!({ world: "tool", path: "wit" });
    export!(Tool with_types_in self);
    use super::Tool;
}

struct Tool;

impl wit::Guest for Tool {
    fn records(text: String, options: Option<wit::Options>) -> Result<String, wit::Error> {
        Ok(table(&text, options)?.records())
    }

    fn numbers(text: String, columns: Vec<String>, options: Option<wit::Options>) -> Result<wit::Series, wit::Error> {
        let (values, skipped) = table(&text, options)?.numbers(&columns)?;
        Ok(wit::Series { values, skipped })
    }

    fn columns(text: String, options: Option<wit::Options>) -> Result<Vec<wit::Column>, wit::Error> {
        let table = table(&text, options)?;
        let column = |(place, (name, kind)): (usize, (&str, Kind))| wit::Column {
            name: name.to_owned(),
            cells: cells(kind, table.column(place)),
        };
        Ok(table.columns().enumerate().map(column).collect())
    }

    fn parse(text: String, options: Option<wit::Options>) -> Result<wit::Table, wit::Error> {
        let table = table(&text, options)?;
        let heading = |(name, kind): (&str, Kind)| wit::Heading { name: name.to_owned(), kind: kind.into() };
        let rows = table.rows().map(|row| row.map(Into::into).collect()).collect();
        Ok(wit::Table { columns: table.columns().map(heading).collect(), rows })
    }

    fn write(headers: Vec<String>, rows: Vec<Vec<String>>, delimiter: Option<char>) -> Result<String, wit::Error> {
        Ok(write::write(&headers, rows, delimiter.unwrap_or(','))?)
    }

    fn write_records(
        records: String,
        columns: Option<Vec<String>>,
        delimiter: Option<char>,
    ) -> Result<String, wit::Error> {
        Ok(write::write_records(&records, columns, delimiter.unwrap_or(','))?)
    }
}

fn table(text: &str, options: Option<wit::Options>) -> Result<Table, Error> {
    let default = Options::default();
    let options = options.map_or_else(Options::default, |given| Options {
        delimiter: given.delimiter.unwrap_or(default.delimiter),
        header: given.header.unwrap_or(default.header),
        comment: given.comment.or(default.comment),
        trim: given.trim.unwrap_or(default.trim),
        infer: given.infer.unwrap_or(default.infer),
        missing: given.missing.unwrap_or(default.missing),
    });
    Table::parse(text, &options)
}

fn cells<'a>(kind: Kind, cells: impl Iterator<Item = Cell<'a>>) -> wit::Cells {
    match kind {
        Kind::Number => wit::Cells::Number(
            cells.map(|cell| if let Cell::Number(value) = cell { Some(value) } else { None }).collect(),
        ),
        Kind::Boolean => wit::Cells::Boolean(
            cells.map(|cell| if let Cell::Boolean(value) = cell { Some(value) } else { None }).collect(),
        ),
        Kind::Text | Kind::Empty => wit::Cells::Text(
            cells.map(|cell| if let Cell::Text(text) = cell { Some(text.to_owned()) } else { None }).collect(),
        ),
    }
}

impl From<Kind> for wit::Kind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Number => Self::Number,
            Kind::Boolean => Self::Boolean,
            Kind::Text => Self::Text,
            Kind::Empty => Self::Empty,
        }
    }
}

impl From<Cell<'_>> for wit::Cell {
    fn from(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Number(value) => Self::Number(value),
            Cell::Boolean(value) => Self::Boolean(value),
            Cell::Text(text) => Self::Text(text.to_owned()),
            Cell::Empty => Self::Empty,
        }
    }
}

impl From<Error> for wit::Error {
    fn from(error: Error) -> Self {
        use wit::ErrorKind as Kind;
        let message = error.to_string();
        let (kind, line, column) = match error {
            Error::NoHeader => (Kind::Shape, None, None),
            Error::Ragged { line, .. } => (Kind::Shape, Some(line), None),
            Error::UnclosedQuote { line } => (Kind::UnclosedQuote, Some(line), None),
            Error::NoColumn { name, .. } => (Kind::NoColumn, None, Some(name)),
            Error::NotNumber { line, column, .. } => (Kind::NotNumber, Some(line), Some(column)),
            Error::Option { .. } => (Kind::BadOption, None, None),
            Error::RowLength { row, .. } => (Kind::Shape, Some(row), None),
            Error::NotJson { line, .. } => (Kind::Json, Some(line), None),
            Error::NotRecords { row, column, .. } => (Kind::Json, row, column),
        };
        Self { kind, message, line, column }
    }
}
