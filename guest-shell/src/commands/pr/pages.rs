//! Output of rows on pages.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::Result;
use bashkit::limits::{BudgetedString, ExecutionBudget};

use super::budget::{BoundedText, consume_work};
use super::options::{PrOptions, TRAILER_LINES};

/// Writer of pages.
pub(super) struct PageWriter<'a> {
    options: &'a PrOptions,
    budget: Option<&'a ExecutionBudget>,
    output: BoundedText,
}

impl<'a> PageWriter<'a> {
    /// Returns a writer without pages.
    pub(super) fn new(options: &'a PrOptions, budget: Option<&'a ExecutionBudget>) -> Result<Self> {
        Ok(Self { options, budget, output: BoundedText::new(budget)? })
    }

    /// Returns the length of the pages so far.
    pub(super) fn written(&self) -> usize {
        self.output.len()
    }

    /// Returns all pages.
    pub(super) fn finish(self) -> String {
        self.output.into_budgeted().into_inner()
    }

    /// Writes the pages of a file.
    pub(super) fn write(&mut self, rows: &[BudgetedString], title: &str, date: &str) -> Result<()> {
        for (at, page_rows) in rows.chunks(self.options.rows_per_page()).enumerate() {
            consume_work(self.budget, 1)?;
            let page = at + 1;
            if !self.options.prints_page(page) {
                continue;
            }
            if self.options.has_headers() {
                consume_work(self.budget, 1 + title.len() / 1024 + date.len() / 1024)?;
                self.write_header(title, date, page)?;
            }
            let written = self.write_body(page_rows)?;
            if self.options.has_headers() {
                self.write_trailer(written)?;
            }
        }
        Ok(())
    }

    /// Writes the date, title and number of a page. The title is centred between the others.
    fn write_header(&mut self, title: &str, date: &str, page: usize) -> Result<()> {
        let page = format!("Page {page}");
        let title_width = title.chars().count();
        let room = self.options.line_width().saturating_sub(date.chars().count() + page.len());
        let (left, right) = match room.checked_sub(title_width) {
            Some(blanks) if blanks >= 2 => (blanks / 2, blanks - blanks / 2),
            _ => (1, 1),
        };
        let indent = self.options.indent;
        self.output.repeat(' ', indent)?;
        self.output.append("\n\n")?;
        self.output.repeat(' ', indent)?;
        self.output.append(date)?;
        self.output.repeat(' ', left)?;
        self.output.append(title)?;
        self.output.repeat(' ', right)?;
        self.output.append(&page)?;
        self.output.append("\n\n\n")
    }

    /// Writes rows, and returns the number of their lines.
    fn write_body(&mut self, rows: &[BudgetedString]) -> Result<usize> {
        let mut lines = 0;
        for (at, row) in rows.iter().enumerate() {
            self.output.append(row)?;
            self.output.push('\n')?;
            lines += 1;
            // With several columns, no empty line follows the last row.
            if self.options.double_space && (self.options.columns <= 1 || at + 1 < rows.len()) {
                self.output.push('\n')?;
                lines += 1;
            }
        }
        Ok(lines)
    }

    /// Ends a page after a number of lines of its body.
    fn write_trailer(&mut self, lines: usize) -> Result<()> {
        if self.options.form_feed {
            return self.output.push('\x0c');
        }
        self.output.repeat('\n', self.options.body_lines().saturating_sub(lines) + TRAILER_LINES)
    }
}
