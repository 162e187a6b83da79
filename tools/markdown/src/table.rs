//! Markdown tables, whose source is aligned as well.

use unicode_width::UnicodeWidthStr;

use crate::error::Error;

/// Alignment of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alignment {
    /// Default alignment of the renderer.
    None,
    /// Alignment to the left.
    Left,
    /// Alignment in the centre.
    Center,
    /// Alignment to the right.
    Right,
}

/// Largest width to which cells are padded: one long cell must not make a thousand others as long.
const MAX_PADDED: usize = 80;

/// Makes a table from `headers` and `rows`. Missing alignments are `None`.
///
/// # Errors
///
/// `NoColumns`, `RowLength`, `Alignments`.
pub fn table(headers: &[String], rows: &[Vec<String>], alignments: &[Alignment]) -> Result<String, Error> {
    let columns = headers.len();
    if columns == 0 {
        return Err(Error::NoColumns);
    }
    if alignments.len() > columns {
        return Err(Error::Alignments { found: alignments.len(), columns });
    }
    if let Some((row, cells)) = rows.iter().enumerate().find(|(_, cells)| cells.len() != columns) {
        return Err(Error::RowLength { row, found: cells.len(), expected: columns });
    }
    let lines: Vec<Vec<String>> = std::iter::once(headers)
        .chain(rows.iter().map(Vec::as_slice))
        .map(|cells| cells.iter().map(|cell| escape(cell)).collect())
        .collect();
    let alignment = |column: usize| alignments.get(column).copied().unwrap_or(Alignment::None);
    let widths: Vec<usize> = (0..columns).map(|column| width(&lines, column)).collect();
    let rule: Vec<String> = widths.iter().enumerate().map(|(column, &width)| rule(alignment(column), width)).collect();
    let mut text = String::new();
    for (place, line) in lines.iter().enumerate() {
        let cells = line.iter().zip(&widths).enumerate();
        push_line(&mut text, cells.map(|(column, (cell, &width))| pad(cell, width, alignment(column))));
        if place == 0 {
            push_line(&mut text, rule.iter().cloned());
        }
    }
    Ok(text)
}

/// Escapes line ends, which would end the row, and pipes, which would end the cell. A backslash before a pipe is
/// escaped too, since it would cancel the escape of the pipe.
fn escape(cell: &str) -> String {
    let mut escaped = String::with_capacity(cell.len());
    let mut backslashes = 0;
    for character in cell.trim().replace("\r\n", "\n").chars() {
        match character {
            '|' => {
                escaped.extend(std::iter::repeat_n('\\', backslashes + 1));
                escaped.push('|');
            }
            '\n' | '\r' => escaped.push_str("<br>"),
            other => escaped.push(other),
        }
        backslashes = if character == '\\' { backslashes + 1 } else { 0 };
    }
    // A backslash at the end would escape the blank before the next pipe, which is harmless.
    escaped
}

fn width(lines: &[Vec<String>], column: usize) -> usize {
    // A delimiter row has at least three dashes per column.
    lines.iter().map(|cells| cells[column].width()).max().unwrap_or(0).clamp(3, MAX_PADDED)
}

fn rule(alignment: Alignment, width: usize) -> String {
    match alignment {
        Alignment::None => "-".repeat(width),
        Alignment::Left => format!(":{}", "-".repeat(width - 1)),
        Alignment::Center => format!(":{}:", "-".repeat(width - 2)),
        Alignment::Right => format!("{}:", "-".repeat(width - 1)),
    }
}

fn pad(cell: &str, width: usize, alignment: Alignment) -> String {
    let room = width.saturating_sub(cell.width());
    let before = match alignment {
        Alignment::None | Alignment::Left => 0,
        Alignment::Center => room / 2,
        Alignment::Right => room,
    };
    format!("{}{cell}{}", " ".repeat(before), " ".repeat(room - before))
}

fn push_line(text: &mut String, cells: impl Iterator<Item = String>) {
    text.push('|');
    for cell in cells {
        text.push(' ');
        text.push_str(&cell);
        text.push_str(" |");
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::document::{Extensions, to_html};

    fn owned(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|&cell| cell.to_owned()).collect()
    }

    #[test]
    fn columns_are_aligned() {
        let rows = [owned(&["VW", "26", "x", ""]), owned(&["漢字", "5.5", "long", "y"])];
        let alignments = [Alignment::Left, Alignment::Right, Alignment::Center];
        let table = table(&owned(&["name", "mpg", "c", "d"]), &rows, &alignments).expect("a table");
        assert_eq!(
            table,
            "| name | mpg |  c   | d   |\n\
             | :--- | --: | :--: | --- |\n\
             | VW   |  26 |  x   |     |\n\
             | 漢字 | 5.5 | long | y   |\n"
        );
    }

    #[test]
    fn table_with_one_long_cell_does_not_widen_the_others() {
        let rows = [owned(&["short"]), vec!["x".repeat(1000)]];
        let table = table(&owned(&["h"]), &rows, &[]).expect("a table");
        assert_eq!(table.lines().next().expect("a header").len(), MAX_PADDED + 4);
    }

    #[test]
    fn table_without_columns_or_of_wrong_length_is_refused() {
        assert_eq!(table(&[], &[], &[]), Err(Error::NoColumns));
        let short = table(&owned(&["a", "b"]), &[owned(&["1", "2"]), owned(&["1"])], &[]);
        assert_eq!(short, Err(Error::RowLength { row: 1, found: 1, expected: 2 }));
        let many = table(&owned(&["a"]), &[], &[Alignment::Left; 2]);
        assert_eq!(many, Err(Error::Alignments { found: 2, columns: 1 }));
    }

    proptest! {
        #[test]
        fn table_cells_with_markup_stay_in_their_columns(cells in proptest::collection::vec("[a|\\\\\n\r `<]{0,8}", 4)) {
            let text = table(&owned(&["p", "q"]), &[cells[..2].to_vec(), cells[2..].to_vec()], &[]).expect("a table");
            let html = to_html(&text, Extensions::ALL, false);
            prop_assert_eq!(html.matches("<tr>").count(), 3, "{}{}", text, html);
            // A row with more cells than the header would lose them, so the remaining literal pipes are counted.
            let pipes: usize = cells.iter().map(|cell| cell.trim().matches('|').count()).sum();
            prop_assert_eq!(html.matches('|').count(), pipes, "{}{}", text, html);
        }
    }
}
