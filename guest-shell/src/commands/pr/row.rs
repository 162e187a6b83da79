//! Rows of `pr` as text.
//!
//! A column is `(width - numbers - separators) / columns` wide, and text is cut to it. Padding and runs of two and more
//! blanks are tabs where they reach a tab stop, as in GNU's.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::Result;
use bashkit::limits::{BudgetedString, ExecutionBudget};

use super::budget::{BoundedText, consume_work};
use super::options::PrOptions;

/// Distance of tab stops.
const TAB_STOP: usize = 8;

/// Line in a cell, and its number with `-n`.
#[derive(Clone, Copy)]
pub(super) struct CellLine<'a> {
    pub(super) text: &'a str,
    pub(super) number: Option<i64>,
}

/// Cell of a row; `None` after the last line.
pub(super) type RowCell<'a> = Option<CellLine<'a>>;

/// Format of all rows.
pub(super) struct RowFormat<'a> {
    options: &'a PrOptions,
    pub(super) budget: Option<&'a ExecutionBudget>,
    /// Width of the text of a column. Without a width, text is neither truncated nor padded.
    column_width: Option<usize>,
    separator: &'a str,
    /// Width of the numbers before the first column, with `-m -n`. A tab after a number extends to the next stop.
    number_width: usize,
}

impl<'a> RowFormat<'a> {
    /// Returns the format for these options.
    pub(super) fn new(options: &'a PrOptions, budget: Option<&'a ExecutionBudget>) -> Self {
        let separator = options.separator();
        let number_width = match options.numbering {
            Some(('\t', digits)) if options.merge => (digits / TAB_STOP + 1) * TAB_STOP,
            Some((_, digits)) if options.merge => digits + 1,
            _ => 0,
        };
        let column_width = (options.columns > 1 && options.has_column_width()).then(|| {
            let separators = (options.columns - 1) * separator.chars().count();
            options.line_width().saturating_sub(separators + number_width) / options.columns
        });
        Self { options, budget, column_width, separator, number_width }
    }

    /// Writes a row.
    pub(super) fn render(&self, cells: &[RowCell<'_>]) -> Result<BudgetedString> {
        let kilobytes: usize = cells.iter().flatten().map(|cell| cell.text.len() / 1024).sum();
        consume_work(self.budget, 1 + kilobytes)?;
        let mut row = RowText::new(self.options.indent, self.budget)?;
        if self.options.columns <= 1 {
            if let Some(Some(cell)) = cells.first() {
                self.write_only_cell(&mut row, cell)?;
            }
            return Ok(row.text.into_budgeted());
        }
        let used = cells.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        for (column, cell) in cells[..used].iter().enumerate() {
            if column > 0 {
                self.write_separator(&mut row, column)?;
            }
            if let Some(cell) = cell {
                self.write_cell(&mut row, column, cell)?;
            }
        }
        Ok(row.text.into_budgeted())
    }

    /// Writes the only column unchanged, except that `-W` truncates it.
    fn write_only_cell(&self, row: &mut RowText, cell: &CellLine<'_>) -> Result<()> {
        if let Some(number) = cell.number {
            row.write(self.number(number)?.as_str())?;
        }
        let text = match self.options.cut_width {
            Some(width) => prefix(cell.text, width.saturating_sub(row.column - self.options.indent)),
            None => cell.text,
        };
        row.write(text)
    }

    /// Writes the text before a column: padding, which includes a blank as separator, and the separator.
    fn write_separator(&self, row: &mut RowText, column: usize) -> Result<()> {
        if self.column_width.is_none() {
            return row.write(self.separator);
        }
        let start = self.options.indent + self.column_start(column);
        if self.separator == " " {
            return row.pad_to(start);
        }
        row.pad_to(start - self.separator_width())?;
        row.write(self.separator)
    }

    fn write_cell(&self, row: &mut RowText, column: usize, cell: &CellLine<'_>) -> Result<()> {
        let mut content = BoundedText::new(self.budget)?;
        if let Some(number) = cell.number {
            // The tab after a number is expanded within the field of the number, even in joined columns.
            let number = self.number(number)?;
            content.append(expand_tabs(number.as_str(), 0, self.budget)?.as_str())?;
        }
        content.append(cell.text)?;
        let start = row.column - self.options.indent - self.column_start(column);
        let expanded = expand_tabs(content.as_str(), start, self.budget)?;
        let text = match self.column_width {
            Some(width) => {
                let width = if column == 0 { width + self.number_width } else { width };
                prefix(expanded.as_str(), width.saturating_sub(start))
            }
            None => expanded.as_str(),
        };
        row.write_with_tabs(text)
    }

    /// Returns a number in its field, followed by the separator.
    fn number(&self, number: i64) -> Result<BoundedText> {
        let mut field = BoundedText::new(self.budget)?;
        if let Some((separator, width)) = self.options.numbering {
            let digits = number.to_string();
            field.repeat(' ', width.saturating_sub(digits.len()))?;
            field.append(&digits[digits.len().saturating_sub(width)..])?;
            field.push(separator)?;
        }
        Ok(field)
    }

    fn separator_width(&self) -> usize {
        self.separator.chars().count()
    }

    /// Returns the position after the indent at which a column starts.
    fn column_start(&self, column: usize) -> usize {
        match self.column_width {
            Some(width) if column > 0 => self.number_width + column * (width + self.separator_width()),
            _ => 0,
        }
    }
}

/// Returns the first characters of a text.
fn prefix(text: &str, letters: usize) -> &str {
    text.char_indices().nth(letters).map_or(text, |(end, _)| &text[..end])
}

fn next_tab_stop(column: usize) -> usize {
    (column / TAB_STOP + 1) * TAB_STOP
}

/// Replaces tabs by blanks in a text that starts at a column.
fn expand_tabs(text: &str, start: usize, budget: Option<&ExecutionBudget>) -> Result<BoundedText> {
    let mut expanded = BoundedText::new(budget)?;
    let mut column = start;
    for letter in text.chars() {
        if letter == '\t' {
            let next = next_tab_stop(column);
            expanded.repeat(' ', next - column)?;
            column = next;
        } else {
            expanded.push(letter)?;
            column += 1;
        }
    }
    Ok(expanded)
}

/// Text of a row, and the column where it ends.
struct RowText {
    text: BoundedText,
    column: usize,
}

impl RowText {
    fn new(indent: usize, budget: Option<&ExecutionBudget>) -> Result<Self> {
        let mut text = BoundedText::new(budget)?;
        text.repeat(' ', indent)?;
        Ok(Self { text, column: indent })
    }

    /// Writes a text unchanged.
    fn write(&mut self, text: &str) -> Result<()> {
        self.text.append(text)?;
        self.column += text.chars().count();
        Ok(())
    }

    /// Writes tabs, and blanks after the last tab stop. A single blank before a stop also becomes a tab.
    fn pad_to(&mut self, target: usize) -> Result<()> {
        while self.column < target {
            let next = next_tab_stop(self.column);
            if next <= target {
                self.text.push('\t')?;
                self.column = next;
            } else {
                self.text.push(' ')?;
                self.column += 1;
            }
        }
        Ok(())
    }

    /// Writes a text without tabs. Runs of two and more blanks become tabs where they reach a stop. A single blank
    /// remains. Blanks at the end are left to the padding.
    fn write_with_tabs(&mut self, text: &str) -> Result<()> {
        let mut blanks = 0;
        for letter in text.chars() {
            if letter == ' ' {
                blanks += 1;
                continue;
            }
            if blanks == 1 {
                self.text.push(' ')?;
                self.column += 1;
            } else {
                self.pad_to(self.column + blanks)?;
            }
            blanks = 0;
            self.text.push(letter)?;
            self.column += 1;
        }
        Ok(())
    }
}
