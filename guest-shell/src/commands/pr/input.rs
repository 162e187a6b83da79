//! Input files of `pr`, and their lines.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::builtins::{Context, resolve_path};
use bashkit::error::io_error_reason;
use bashkit::limits::{BudgetedString, BudgetedVec, ExecutionBudget, ExecutionBudgetLease, LimitExceeded};
use bashkit::time_compat::to_chrono_utc;
use bashkit::{Result, text_of};

use super::budget::{BoundedText, consume_work};
use crate::commands::operands::NO_SUCH_FILE;

/// Lines of a file, and the contents of its header.
pub(super) struct PrInput<'a> {
    pub(super) lines: BudgetedVec<BudgetedString>,
    pub(super) title: &'a str,
    /// Time of modification, in seconds since the epoch; `None` for standard input.
    pub(super) modified: Option<i64>,
}

/// Contents of a file, with the accounting of its memory.
struct FileContents {
    bytes: Vec<u8>,
    modified: Option<i64>,
    _leases: [Option<ExecutionBudgetLease>; 2],
}

/// Reads a file, or returns the reason why it cannot be read.
pub(super) async fn read_input<'a>(
    ctx: &Context<'_>,
    file: &'a str,
    budget: Option<&ExecutionBudget>,
) -> Result<std::result::Result<PrInput<'a>, String>> {
    let contents = if file == "-" {
        let bytes = ctx.stdin_to_end().await?.as_bytes().to_vec();
        FileContents { bytes, modified: None, _leases: [None, None] }
    } else {
        if file.is_empty() {
            return Ok(Err(NO_SUCH_FILE.to_owned()));
        }
        match read_file(ctx, file).await? {
            Ok(contents) => contents,
            Err(reason) => return Ok(Err(reason)),
        }
    };
    let title = if file == "-" { "" } else { file };
    let lines = split_lines(ctx, &contents.bytes, budget)?;
    Ok(Ok(PrInput { lines, title, modified: contents.modified }))
}

async fn read_file(ctx: &Context<'_>, file: &str) -> Result<std::result::Result<FileContents, String>> {
    let path = resolve_path(ctx.cwd, file);
    let status = ctx.fs.stat(&path).await.ok();
    let size = status.as_ref().map_or(Ok(0), |status| usize::try_from(status.size)).map_err(|_| input_overflow())?;
    let size_lease = ctx.lease_budget_bytes(size)?;
    let bytes = match ctx.fs.read_file(&path).await {
        Ok(bytes) => bytes,
        Err(error) => return Ok(Err(io_error_reason(&error))),
    };
    let capacity_lease = ctx.lease_budget_bytes(bytes.capacity().saturating_sub(size))?;
    let modified = status.map(|status| to_chrono_utc(status.modified).timestamp());
    Ok(Ok(FileContents { bytes, modified, _leases: [size_lease, capacity_lease] }))
}

fn input_overflow() -> bashkit::Error {
    LimitExceeded::Memory("pr: input size overflow".into()).into()
}

fn split_lines(
    ctx: &Context<'_>,
    bytes: &[u8],
    budget: Option<&ExecutionBudget>,
) -> Result<BudgetedVec<BudgetedString>> {
    ctx.consume_budget_input(bytes.len())?;
    ctx.consume_budget_work(1 + (bytes.len() / 1024) as u64)?;
    let _decoded_lease = match std::str::from_utf8(bytes) {
        Ok(_) => None,
        // An invalid byte of UTF-8 takes four bytes as text.
        Err(_) => ctx.lease_budget_bytes(bytes.len().checked_mul(4).ok_or_else(input_overflow)?)?,
    };
    let text = text_of(bytes);
    let mut lines = BudgetedVec::new(budget)?;
    for line in text.split('\n') {
        consume_work(budget, 1)?;
        let mut owned = BoundedText::new(budget)?;
        owned.append(line)?;
        lines.try_push(owned.into_budgeted())?;
    }
    if text.ends_with('\n') || text.is_empty() {
        lines.pop();
    }
    Ok(lines)
}
