//! Selected part of a pipe or of a file without an end. No more is read and held than necessary.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::builtins::{Context, InputChunks};
use bashkit::limits::BudgetedVec;
use bashkit::{ExecResult, Result};

use super::output::ExcerptOutput;
use super::selection::{Selection, SelectionUnit, select, take_units};

/// Number of bytes beyond the necessary ones that are held before any are dropped, so that searching for the boundary
/// costs no more than reading.
const SLACK: usize = 64 * 1024;

/// Status of a command whose reader has closed the pipe, as after SIGPIPE.
const BROKEN_PIPE_STATUS: i32 = 141;

/// Copies the selected part of an input.
pub(super) async fn stream(
    ctx: &Context<'_>,
    input: InputChunks<'_>,
    selection: Selection,
    unit: SelectionUnit,
) -> Result<ExecResult> {
    let mut excerpt = ExcerptStream { input, output: ExcerptOutput::new(ctx), unit };
    let is_read = match selection {
        Selection::First(count) => excerpt.copy_first(count).await?,
        Selection::From(count) => excerpt.copy_behind(count.saturating_sub(1)).await?,
        Selection::Last(count) | Selection::AllButLast(count) => excerpt.hold_last(selection, count).await?,
    };
    let mut result = ExecResult::ok_bytes(excerpt.output.kept);
    if !is_read {
        result.exit_code = BROKEN_PIPE_STATUS;
    }
    Ok(result)
}

/// Input and output of a copy. The functions return false once the reader has closed the pipe.
struct ExcerptStream<'a> {
    input: InputChunks<'a>,
    output: ExcerptOutput,
    unit: SelectionUnit,
}

impl ExcerptStream<'_> {
    async fn next(&mut self) -> Result<Option<BudgetedVec<u8>>> {
        self.input.next(|data: &[u8]| data.len()).await
    }

    /// Copies the first units, and reads no further.
    async fn copy_first(&mut self, count: usize) -> Result<bool> {
        let mut left = count;
        while left > 0 {
            let Some(piece) = self.next().await? else { break };
            let taken = take_units(&piece, &mut left, self.unit);
            if left == 0 && (self.unit == SelectionUnit::Bytes || self.input.is_seekable()) {
                // The rest is left for other readers, except after lines of a pipe, which is read in blocks.
                self.input.put_back(&piece[taken.len()..]);
            }
            if !self.output.write(taken).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Copies everything after the first units.
    async fn copy_behind(&mut self, count: usize) -> Result<bool> {
        let mut left = count;
        while let Some(piece) = self.next().await? {
            let skipped = take_units(&piece, &mut left, self.unit).len();
            if !self.output.write(&piece[skipped..]).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Holds back the last units, and copies either everything before them or, at the end, the held ones.
    async fn hold_last(&mut self, selection: Selection, count: usize) -> Result<bool> {
        let copies_others = matches!(selection, Selection::AllButLast(_));
        // One more unit, because the last line may be incomplete.
        let kept_selection = Selection::Last(count.saturating_add(1));
        let mut held: Vec<u8> = Vec::new();
        let mut cut_at = SLACK;
        while let Some(piece) = self.next().await? {
            held.extend_from_slice(&piece);
            if held.len() < cut_at {
                continue;
            }
            let kept = select(&held, kept_selection, self.unit).len();
            let gone = held.len() - kept;
            if copies_others && !self.output.write(&held[..gone]).await? {
                return Ok(false);
            }
            held.drain(..gone);
            cut_at = 2 * kept + SLACK;
        }
        let selected = select(&held, selection, self.unit);
        if copies_others && self.input.is_seekable() {
            self.input.put_back(&held[selected.len()..]);
        }
        self.output.write(selected).await
    }
}
