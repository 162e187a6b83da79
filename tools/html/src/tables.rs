//! Tables as rows of text.

use scraper::ElementRef;

use crate::document::{Error, Room, known, parse, selector};
use crate::text::text;

/// Table of a page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    /// Caption of the table.
    pub caption: Option<String>,
    /// Names of the columns, if the first row has them.
    pub headers: Vec<String>,
    /// Rows below the header.
    pub rows: Vec<Vec<String>>,
}

/// Largest number of columns that a cell may span, as in the HTML standard.
const MAX_COLUMNS: usize = 1000;
/// Largest number of rows that a cell may span, as in the HTML standard.
const MAX_ROWS: usize = 65_534;

/// Cell that spans into later rows.
struct Spanning {
    column: usize,
    rows: usize,
    text: String,
}

/// Returns the tables of a document, or only those that a selector matches.
///
/// # Errors
///
/// `Document`, `Selector`, `Result`.
pub fn tables(html: &str, wanted: Option<&str>) -> Result<Vec<Table>, Error> {
    let (document, mut room) = (parse(html)?, Room::default());
    let wanted = wanted.map_or_else(|| Ok(known("table")), selector)?;
    let elements = document.select(&wanted).filter(|element| element.value().name() == "table");
    elements.map(|element| table(element, &mut room)).collect()
}

fn table(element: ElementRef<'_>, room: &mut Room) -> Result<Table, Error> {
    let mut table = Table::default();
    let mut rows = Vec::new();
    for child in element.child_elements() {
        match child.value().name() {
            "caption" => table.caption = Some(text(child, room)?),
            "tr" => rows.push((child, false)),
            section @ ("thead" | "tbody" | "tfoot") => {
                let inner = child.child_elements().filter(|row| row.value().name() == "tr");
                rows.extend(inner.map(|row| (row, section == "thead")));
            }
            _ => {}
        }
    }
    let (mut spanning, mut first_is_names) = (Vec::new(), false);
    for (place, (row, in_head)) in rows.into_iter().enumerate() {
        let cells: Vec<_> = row.child_elements().filter(|cell| matches!(cell.value().name(), "td" | "th")).collect();
        if place == 0 {
            first_is_names = in_head || (!cells.is_empty() && cells.iter().all(|cell| cell.value().name() == "th"));
        }
        table.rows.push(row_of(&cells, &mut spanning, room)?);
    }
    let width = table.rows.iter().map(Vec::len).max().unwrap_or(0);
    for row in &mut table.rows {
        for _ in row.len()..width {
            room.take(0)?;
            row.push(String::new());
        }
    }
    if first_is_names && !table.rows.is_empty() {
        table.headers = table.rows.remove(0);
    }
    Ok(table)
}

/// Returns the texts of a row: its own cells, and those of earlier rows that span into it.
fn row_of(cells: &[ElementRef<'_>], spanning: &mut Vec<Spanning>, room: &mut Room) -> Result<Vec<String>, Error> {
    let mut row = Vec::new();
    let mut below = Vec::new();
    let mut above = std::mem::take(spanning);
    above.sort_by_key(|cell| cell.column);
    let mut above = above.into_iter().peekable();
    let mut fill = |row: &mut Vec<String>, below: &mut Vec<Spanning>, room: &mut Room, all: bool| {
        while let Some(cell) = above.next_if(|cell| all || cell.column <= row.len()) {
            row.resize(row.len().max(cell.column), String::new());
            room.take(cell.text.len())?;
            row.push(cell.text.clone());
            if cell.rows > 1 {
                below.push(Spanning { rows: cell.rows - 1, ..cell });
            }
        }
        Ok::<_, Error>(())
    };
    for cell in cells {
        fill(&mut row, &mut below, room, false)?;
        let text = text(*cell, room)?;
        let rows = span(*cell, "rowspan", MAX_ROWS);
        for _ in 0..span(*cell, "colspan", MAX_COLUMNS) {
            room.take(text.len())?;
            if rows > 1 {
                below.push(Spanning { column: row.len(), rows: rows - 1, text: text.clone() });
            }
            row.push(text.clone());
        }
    }
    fill(&mut row, &mut below, room, true)?;
    *spanning = below;
    Ok(row)
}

/// Returns the number of columns or rows that a cell spans. The value 0 (the rest of the table) counts as 1, because it
/// is not used in practice.
fn span(cell: ElementRef<'_>, name: &str, most: usize) -> usize {
    cell.attr(name).and_then(|text| text.trim().parse().ok()).unwrap_or(1_usize).clamp(1, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(html: &str) -> Table {
        tables(html, None).expect("tables").remove(0)
    }

    #[test]
    fn table_has_caption_headers_and_rows() {
        let table = only(
            "<table><caption>Cars</caption><thead><tr><th>Name<th>Mpg</thead>
             <tbody><tr><td> VW <td>26<tr><td>Saab</tbody></table>",
        );
        assert_eq!(table.caption.as_deref(), Some("Cars"));
        assert_eq!(table.headers, ["Name", "Mpg"]);
        assert_eq!(table.rows, [["VW", "26"], ["Saab", ""]]);
        assert_eq!(only("<table><tr><td>a<td>b</table>").headers, [""; 0]);
        assert_eq!(only("<table></table>"), Table::default());
    }

    #[test]
    fn cells_that_span_are_in_each() {
        let table = only("<table><tr><td rowspan=3>a<td colspan=2>b<tr><td>c<td rowspan=2>d<tr><td>e</table>");
        assert_eq!(table.rows, [["a", "b", "b"], ["a", "c", "d"], ["a", "e", "d"]]);
    }

    #[test]
    fn tables_nested_or_selected_are_found() {
        let html = "<table id=x><tr><td>1<table><tr><td>2</table></table>";
        assert_eq!(tables(html, None).expect("tables").len(), 2);
        let found = tables(html, Some("#x")).expect("tables");
        assert_eq!((found.len(), found[0].rows.len()), (1, 1));
        assert!(matches!(tables(html, Some("[")), Err(Error::Selector { .. })));
    }

    #[test]
    fn table_with_huge_spans_is_refused() {
        let text = "x".repeat(1000);
        let html = format!("<table>{}</table>", format!("<tr><td colspan=1000 rowspan=65534>{text}").repeat(60));
        assert_eq!(tables(&html, None), Err(Error::Result));
    }
}
