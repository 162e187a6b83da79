//! The selected part of a pipe or of a file without an end, of which no more is read and held than may be wanted.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::builtins::{Context, InputChunks};
use bashkit::limits::BudgetedVec;
use bashkit::{ExecResult, Result};

use super::output::ExcerptOutput;
use super::selection::{Selection, SelectionUnit, select, take_units};

/// Bytes beyond those that must be held before some are given away, so that the search for the place to cut does not
/// cost more than the reading.
const SLACK: usize = 64 * 1024;

/// Status of a command that writes where nobody reads, as SIGPIPE ends it.
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

/// Input and output of a copy. Its functions return false once nobody reads.
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
                // Bytes are counted as they are read; lines of a pipe are not.
                self.input.put_back(&piece[taken.len()..]);
            }
            if !self.output.write(taken).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Copies all behind the first units.
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

    /// Holds the last units back, and copies all before them, or the held ones at the end.
    async fn hold_last(&mut self, selection: Selection, count: usize) -> Result<bool> {
        let copies_others = matches!(selection, Selection::AllButLast(_));
        // One unit more: the last line may go on.
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
