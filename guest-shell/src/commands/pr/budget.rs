//! Text with a bounded length and capacity.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::Result;
use bashkit::limits::{BudgetedString, ExecutionBudget, LimitExceeded};

/// Largest number of bytes of output.
pub(super) const MAX_OUTPUT: usize = 16 * 1024 * 1024;

fn output_limit() -> bashkit::Error {
    LimitExceeded::Memory(format!("pr: output exceeds {MAX_OUTPUT} bytes")).into()
}

/// Text with the maximum length of an output. Each growth is accounted, and fails once the run is cancelled.
pub(super) struct BoundedText(BudgetedString);

impl BoundedText {
    /// Returns an empty text.
    pub(super) fn new(budget: Option<&ExecutionBudget>) -> Result<Self> {
        Ok(Self(BudgetedString::new(budget)?))
    }

    /// Returns the number of bytes.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Appends a text.
    pub(super) fn append(&mut self, text: &str) -> Result<()> {
        if self.0.len().checked_add(text.len()).is_none_or(|length| length > MAX_OUTPUT) {
            return Err(output_limit());
        }
        self.0.try_push_str_with_limit(text, MAX_OUTPUT)?;
        Ok(())
    }

    /// Appends a character.
    pub(super) fn push(&mut self, letter: char) -> Result<()> {
        self.append(letter.encode_utf8(&mut [0; 4]))
    }

    /// Appends a character several times.
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

    /// Returns the text with the accounting of its capacity.
    pub(super) fn into_budgeted(self) -> BudgetedString {
        self.0
    }
}

/// Accounts for units of work.
pub(super) fn consume_work(budget: Option<&ExecutionBudget>, units: usize) -> Result<()> {
    if let Some(budget) = budget {
        budget.consume_work(units as u64)?;
    }
    Ok(())
}

/// Adds the bytes of a row and its newline to a sum. Fails above the maximum of an output.
pub(super) fn add_row_bytes(bytes: usize, row: usize) -> Result<usize> {
    let sum = bytes.checked_add(row).and_then(|sum| sum.checked_add(1));
    sum.filter(|sum| *sum <= MAX_OUTPUT).ok_or_else(output_limit)
}
