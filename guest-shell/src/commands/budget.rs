//! Buffers whose memory the budget of the execution counts before it is allocated.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::Result;
use bashkit::builtins::Context;
use bashkit::limits::{BudgetedBytes, BudgetedString, BudgetedVec, ExecutionBudget, LimitExceeded};

/// Calls a function with the budget of the execution, if it has one.
pub(super) fn with_execution_budget<T>(
    ctx: &Context<'_>,
    use_budget: impl FnOnce(Option<&ExecutionBudget>) -> Result<T>,
) -> Result<T> {
    match ctx.execution_budget() {
        Some(budget) => budget.try_with(|budget| use_budget(Some(budget))).map_err(|_| bashkit::Error::Cancelled)?,
        None => use_budget(None),
    }
}

/// Returns empty bytes.
pub(super) fn budgeted_bytes(ctx: &Context<'_>) -> Result<BudgetedBytes> {
    with_execution_budget(ctx, |budget| BudgetedBytes::new(budget).map_err(Into::into))
}

/// Returns a copy of bytes.
pub(super) fn budgeted_copy(ctx: &Context<'_>, bytes: &[u8]) -> Result<BudgetedBytes> {
    with_execution_budget(ctx, |budget| {
        let mut copy = BudgetedBytes::try_with_capacity(budget, bytes.len())?;
        copy.try_extend_from_slice(bytes)?;
        Ok(copy)
    })
}

/// Returns an empty string.
pub(super) fn budgeted_string(ctx: &Context<'_>) -> Result<BudgetedString> {
    with_execution_budget(ctx, |budget| BudgetedString::new(budget).map_err(Into::into))
}

/// Returns an empty vector.
pub(super) fn budgeted_vec<T>(ctx: &Context<'_>) -> Result<BudgetedVec<T>> {
    with_execution_budget(ctx, |budget| BudgetedVec::new(budget).map_err(Into::into))
}

/// Counts the work of a pass over some bytes.
pub(super) fn consume_pass(ctx: &Context<'_>, length: usize) -> Result<()> {
    ctx.consume_budget_work(u64::try_from(length.div_ceil(64)).unwrap_or(u64::MAX))
}

/// Returns the shell's error for an error of a reader or a writer: a limit that was exceeded inside one is that limit.
pub(super) fn archive_io_error(context: &str, error: std::io::Error) -> bashkit::Error {
    if let Some(limit) = error.get_ref().and_then(|source| source.downcast_ref::<LimitExceeded>()) {
        return bashkit::Error::ResourceLimit(limit.clone());
    }
    bashkit::Error::Execution(format!("{context}: {error}"))
}
