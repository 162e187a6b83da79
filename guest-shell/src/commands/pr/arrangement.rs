//! Lines of `pr` in rows and columns.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::Result;
use bashkit::limits::{BudgetedString, BudgetedVec, ExecutionBudget};

use super::budget::consume_work;
use super::input::PrInput;
use super::options::PrOptions;
use super::row::{CellLine, RowCell};

/// Rows of cells.
pub(super) type CellRows<'a> = BudgetedVec<BudgetedVec<RowCell<'a>>>;

/// Arranges the lines of a file, page by page.
pub(super) fn arrange<'a>(
    options: &PrOptions,
    lines: &'a [BudgetedString],
    budget: Option<&ExecutionBudget>,
) -> Result<CellRows<'a>> {
    let columns = options.columns.max(1);
    let page_lines = options.rows_per_page().saturating_mul(columns);
    let mut rows = BudgetedVec::new(budget)?;
    for (page, lines) in lines.chunks(page_lines).enumerate() {
        consume_work(budget, 1)?;
        let first_number = options.first_number + (page * page_lines) as i64;
        for row in 0..lines.len().div_ceil(columns) {
            let mut cells = BudgetedVec::new(budget)?;
            for column in 0..columns {
                consume_work(budget, 1)?;
                let at = place(options, lines.len(), row, column);
                cells.try_push(at.map(|at| CellLine {
                    text: &lines[at],
                    number: options.numbering.is_some().then_some(first_number + at as i64),
                }))?;
            }
            rows.try_push(cells)?;
        }
    }
    Ok(rows)
}

/// Returns the index of a cell's line among the lines of a page, if there is one.
///
/// When columns are filled downwards, the last page is balanced: the first columns take the extra lines.
fn place(options: &PrOptions, lines: usize, row: usize, column: usize) -> Option<usize> {
    if options.across {
        return Some(row * options.columns + column).filter(|at| *at < lines);
    }
    let columns = options.columns.max(1);
    let (base, extra) = (lines / columns, lines % columns);
    let height = base + usize::from(column < extra);
    (row < height).then(|| column * base + column.min(extra) + row)
}

/// Arranges several files side by side.
pub(super) fn merge<'a>(
    options: &PrOptions,
    inputs: &'a [PrInput<'_>],
    budget: Option<&ExecutionBudget>,
) -> Result<CellRows<'a>> {
    let height = inputs.iter().map(|input| input.lines.len()).max().unwrap_or(0);
    let mut rows = BudgetedVec::new(budget)?;
    for row in 0..height {
        let number = options.numbering.is_some().then_some(options.first_number + row as i64);
        let mut cells = BudgetedVec::new(budget)?;
        for (column, input) in inputs.iter().enumerate() {
            let text = input.lines.get(row).map(|line| &**line).unwrap_or_default();
            cells.try_push(Some(CellLine { text, number: number.filter(|_| column == 0) }))?;
        }
        rows.try_push(cells)?;
    }
    Ok(rows)
}
