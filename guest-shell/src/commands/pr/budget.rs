//! Text of `pr` whose length and capacity are bounded.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::Result;
use bashkit::limits::{BudgetedString, ExecutionBudget, LimitExceeded};

/// Most bytes of output.
pub(super) const MAX_OUTPUT: usize = 16 * 1024 * 1024;

fn output_limit() -> bashkit::Error {
    LimitExceeded::Memory(format!("pr: output exceeds {MAX_OUTPUT} bytes")).into()
}

/// Text that is no longer than an output may be. Each growth is counted, and is an error once the run is cancelled.
pub(super) struct BoundedText(BudgetedString);

impl BoundedText {
    /// Returns an empty text.
    pub(super) fn new(budget: Option<&ExecutionBudget>) -> Result<Self> {
        Ok(Self(BudgetedString::new(budget)?))
    }

    /// Appends a text.
    pub(super) fn append(&mut self, text: &str) -> Result<()> {
        if self.0.len().checked_add(text.len()).is_none_or(|length| length > MAX_OUTPUT) {
            return Err(output_limit());
        }
        self.0.try_push_str_with_limit(text, MAX_OUTPUT)?;
        Ok(())
    }

    /// Appends a letter.
    pub(super) fn push(&mut self, letter: char) -> Result<()> {
        self.append(letter.encode_utf8(&mut [0; 4]))
    }

    /// Appends a letter several times.
    pub(super) fn repeat(&mut self, letter: char, count: usize) -> Result<()> {
        for _ in 0..count {
            self.push(letter)?;
        }
        Ok(())
    }

    /// Returns the text.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text with what its capacity is charged to.
    pub(super) fn into_budgeted(self) -> BudgetedString {
        self.0
    }
}

/// Counts units of work.
pub(super) fn consume_work(budget: Option<&ExecutionBudget>, units: usize) -> Result<()> {
    if let Some(budget) = budget {
        budget.consume_work(units as u64)?;
    }
    Ok(())
}

/// Adds a row and its newline to a number of bytes, of which an output may have so many.
pub(super) fn add_row_bytes(bytes: usize, row: usize) -> Result<usize> {
    let sum = bytes.checked_add(row).and_then(|sum| sum.checked_add(1));
    sum.filter(|sum| *sum <= MAX_OUTPUT).ok_or_else(output_limit)
}
