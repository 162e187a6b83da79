//! Lists of names of members or files (`-T`), one name a line, or with null bytes between them (`--null`).
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::result::Result as StdResult;

use bashkit::builtins::{Context, resolve_path};
use bashkit::limits::{BudgetedString, BudgetedVec};
use bashkit::{Error, ExecResult, Result};

use crate::commands::budget::{budgeted_string, budgeted_vec, consume_pass};

/// Reads the names in some lists. Lines without a name do not count.
pub(super) async fn read_name_lists(
    ctx: &Context<'_>,
    lists: &[&str],
    null_names: bool,
) -> Result<StdResult<BudgetedVec<BudgetedString>, ExecResult>> {
    let mut names = budgeted_vec(ctx)?;
    for list in lists {
        if *list == "-" {
            push_names(ctx, ctx.stdin_to_end().await?.as_bytes(), null_names, &mut names)?;
        } else if let Err(result) = read_name_list(ctx, list, null_names, &mut names).await? {
            return Ok(Err(result));
        }
    }
    Ok(Ok(names))
}

async fn read_name_list(
    ctx: &Context<'_>,
    list: &str,
    null_names: bool,
    names: &mut BudgetedVec<BudgetedString>,
) -> Result<StdResult<(), ExecResult>> {
    let path = resolve_path(ctx.cwd, list);
    let Some(metadata) = unless_exhausted(ctx.fs.stat(&path).await)? else {
        return Ok(Err(missing_list(list)));
    };
    let size = usize::try_from(metadata.size).unwrap_or(usize::MAX);
    ctx.consume_budget_input(size)?;
    let _lease = ctx.lease_budget_bytes(size)?;
    let Some(bytes) = unless_exhausted(ctx.fs.read_file(&path).await)? else {
        return Ok(Err(missing_list(list)));
    };
    // A file may have grown since its size was read.
    ctx.consume_budget_input(bytes.len().saturating_sub(size))?;
    let _lease_of_rest = ctx.lease_budget_bytes(bytes.capacity().saturating_sub(size))?;
    push_names(ctx, &bytes, null_names, names)?;
    Ok(Ok(()))
}

/// Returns what was read, or none if it cannot be read. Limits and cancellations stay errors.
fn unless_exhausted<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error @ (Error::ResourceLimit(_) | Error::Cancelled)) => Err(error),
        Err(_) => Ok(None),
    }
}

fn missing_list(list: &str) -> ExecResult {
    let message =
        format!("tar: {list}: Cannot stat: No such file or directory\ntar: Error is not recoverable: exiting now\n");
    ExecResult::err(message, 2)
}

fn push_names(
    ctx: &Context<'_>,
    content: &[u8],
    null_names: bool,
    names: &mut BudgetedVec<BudgetedString>,
) -> Result<()> {
    consume_pass(ctx, content.len())?;
    let end = if null_names { 0 } else { b'\n' };
    for line in content.split_inclusive(|byte| *byte == end) {
        ctx.consume_budget_work(1)?;
        let line = if null_names { line.strip_suffix(b"\0").unwrap_or(line) } else { line };
        // As in `str::lines`, a carriage return belongs to the end of a line only.
        let line = match line.strip_suffix(b"\n") {
            Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
            None => line,
        };
        if !line.is_empty() {
            names.try_push(lossy_text(ctx, line)?)?;
        }
    }
    Ok(())
}

/// Returns bytes as text, as `String::from_utf8_lossy` does, whose memory nothing would count.
fn lossy_text(ctx: &Context<'_>, bytes: &[u8]) -> Result<BudgetedString> {
    let mut text = budgeted_string(ctx)?;
    for chunk in bytes.utf8_chunks() {
        ctx.consume_budget_work(1)?;
        text.try_push_str(chunk.valid())?;
        if !chunk.invalid().is_empty() {
            text.try_push(char::REPLACEMENT_CHARACTER)?;
        }
    }
    Ok(text)
}
