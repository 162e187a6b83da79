//! Binding of the logic to WIT: converts arguments and results. This module does not parse Markdown.

use bindings::exports::tollhouse::markdown::markdown as wit;

use crate::document::{self, Extensions};
use crate::error::Error;
use crate::table::Alignment;
use crate::{from_html, records, table};

mod bindings {
    //! Generated from `wit/`.
    #![expect(unsafe_code, reason = "generated")]
    wit_bindgen::generate!({ world: "tool", path: "wit" });
    export!(Tool with_types_in self);
    use super::Tool;
}

struct Tool;

impl wit::Guest for Tool {
    fn to_html(text: String, extensions: Option<wit::Extensions>, raw_html: Option<bool>) -> String {
        let extensions = extensions.map_or(Extensions::ALL, Into::into);
        document::to_html(&text, extensions, raw_html.unwrap_or(false))
    }

    fn from_html(html: String) -> Result<String, wit::Error> {
        Ok(from_html::from_html(&html)?)
    }

    fn table(
        headers: Vec<String>,
        rows: Vec<Vec<String>>,
        alignments: Option<Vec<wit::Alignment>>,
    ) -> Result<String, wit::Error> {
        let alignments: Vec<Alignment> = alignments.unwrap_or_default().into_iter().map(Into::into).collect();
        Ok(table::table(&headers, &rows, &alignments)?)
    }

    fn table_from_records(records: String, columns: Option<Vec<String>>) -> Result<String, wit::Error> {
        Ok(records::table_from_records(&records, columns)?)
    }

    fn headings(text: String) -> Vec<wit::Heading> {
        let give = |document::Heading { level, text, anchor, line }| wit::Heading {
            level,
            text,
            anchor,
            line: u32::try_from(line).unwrap_or(u32::MAX),
        };
        document::headings(&text).into_iter().map(give).collect()
    }
}

impl From<wit::Extensions> for Extensions {
    fn from(extensions: wit::Extensions) -> Self {
        Self {
            tables: extensions.contains(wit::Extensions::TABLES),
            strikethrough: extensions.contains(wit::Extensions::STRIKETHROUGH),
            footnotes: extensions.contains(wit::Extensions::FOOTNOTES),
            task_lists: extensions.contains(wit::Extensions::TASK_LISTS),
            autolinks: extensions.contains(wit::Extensions::AUTOLINKS),
        }
    }
}

impl From<wit::Alignment> for Alignment {
    fn from(alignment: wit::Alignment) -> Self {
        match alignment {
            wit::Alignment::None => Self::None,
            wit::Alignment::Left => Self::Left,
            wit::Alignment::Center => Self::Center,
            wit::Alignment::Right => Self::Right,
        }
    }
}

impl From<Error> for wit::Error {
    fn from(error: Error) -> Self {
        use wit::ErrorKind as Kind;
        let (kind, row) = match error {
            Error::NoColumns => (Kind::Shape, None),
            Error::RowLength { row, .. } => (Kind::Shape, Some(row)),
            Error::Alignments { .. } => (Kind::Alignment, None),
            Error::NotJson(_) | Error::NotArray => (Kind::Json, None),
            Error::NotObject { row } => (Kind::Json, Some(row)),
            Error::TooDeep { .. } => (Kind::TooDeep, None),
        };
        Self { kind, message: error.to_string(), row: row.and_then(|row| u32::try_from(row).ok()) }
    }
}
