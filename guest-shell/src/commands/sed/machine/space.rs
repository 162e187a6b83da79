//! Pattern space and hold space.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::limits::{BudgetedString, ExecutionBudget, LimitExceeded};

/// Text that a script works on.
pub(super) struct Space {
    pub(super) text: BudgetedString,
    /// The line of the text was ended in the input. GNU keeps this for the hold space, too, which starts out ended: that
    /// is why `printf ab | sed G` ends its last line.
    pub(super) had_newline: bool,
}

/// Creates an empty text that is charged to a budget. A budget that is used up refuses it.
pub(super) fn empty_text(budget: Option<&ExecutionBudget>) -> Result<BudgetedString, LimitExceeded> {
    if let Some(budget) = budget {
        budget.check()?;
    }
    BudgetedString::new(budget)
}

impl Space {
    pub(super) fn new(budget: Option<&ExecutionBudget>) -> Result<Self, LimitExceeded> {
        Ok(Space { text: empty_text(budget)?, had_newline: true })
    }

    /// Replaces the text by another. The old one is released first, so that a text of the same size fits near the limit.
    pub(super) fn replace(
        &mut self,
        text: &str,
        had_newline: bool,
        budget: Option<&ExecutionBudget>,
    ) -> Result<(), LimitExceeded> {
        self.text = empty_text(budget)?;
        self.text.try_push_str(text)?;
        self.had_newline = had_newline;
        Ok(())
    }

    /// Appends a line to the text.
    pub(super) fn append(&mut self, text: &str, had_newline: bool, separator: char) -> Result<(), LimitExceeded> {
        self.text.try_push(separator)?;
        self.text.try_push_str(text)?;
        self.had_newline = had_newline;
        Ok(())
    }
}
