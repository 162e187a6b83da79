//! Numbers that `seq` prints.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::builtins::Context;
use bashkit::builtins::limits::{SEQ_MAX_LINES, SEQ_MAX_OUTPUT_BYTES, cap_exceeded};
use bashkit::{ExecResult, Result, bytes_of};

use super::operand::NumberFormat;

/// Bytes of one write into a pipe, the pipe's capacity.
const PIPE_CHUNK: usize = 4 * 1024;

/// Status of a command that writes where nobody reads, as SIGPIPE ends it.
const BROKEN_PIPE_STATUS: i32 = 141;

/// Numbers from the first to the last, and how they are printed.
pub(super) struct NumberSequence {
    pub(super) first: f64,
    /// Step from a number to the next, which is not 0.
    pub(super) step: f64,
    pub(super) last: f64,
    pub(super) separator: String,
    pub(super) format: NumberFormat,
}

impl NumberSequence {
    /// Returns the number at a place, unless it is beyond the last. Each is computed from the first, so that errors of
    /// rounding do not add up.
    fn number_at(&self, place: usize) -> Option<f64> {
        let number = self.first + place as f64 * self.step;
        let is_beyond = if self.step > 0.0 { number > self.last } else { number < self.last };
        (!is_beyond).then_some(number)
    }

    /// Prints the numbers, into a pipe as they are made, so that `seq 1000000 | head -1` ends early.
    pub(super) async fn write(&self, ctx: &Context<'_>) -> Result<ExecResult> {
        let pipe = ctx.stdout_stream();
        let mut output = String::new();
        let mut written = 0;
        let mut place = 0;
        let mut limit = None;
        while let Some(number) = self.number_at(place) {
            if let Some(pipe) = &pipe
                && output.len() >= PIPE_CHUNK
                && place < SEQ_MAX_LINES
            {
                ctx.consume_budget_work(1)?;
                if !pipe.write(&bytes_of(&output)).await? {
                    return Ok(ExecResult::with_code("", BROKEN_PIPE_STATUS));
                }
                written += output.len();
                output.clear();
            }
            limit = exceeded_limit(place, written + output.len());
            if limit.is_some() {
                break;
            }
            if place > 0 {
                output += &self.separator;
            }
            match self.format.render(number) {
                Ok(text) => output += &text,
                Err(message) => return Ok(ExecResult::err(message, 1)),
            }
            place += 1;
            if !number.is_finite() {
                break;
            }
        }
        if place > 0 {
            output.push('\n');
        }
        if let Some(pipe) = &pipe {
            if !output.is_empty() && !pipe.write(&bytes_of(&output)).await? {
                return Ok(ExecResult::with_code("", BROKEN_PIPE_STATUS));
            }
            output.clear();
        }
        Ok(match limit {
            Some((what, most)) => cap_exceeded("seq", output, what, most),
            None => ExecResult::ok(output),
        })
    }
}

/// Returns the limit that a number of lines and bytes exceeds, and what it counts. The output would exhaust memory
/// (THREAT[TM-DOS-058], THREAT[TM-DOS-109]).
fn exceeded_limit(lines: usize, bytes: usize) -> Option<(&'static str, usize)> {
    if lines >= SEQ_MAX_LINES {
        Some(("line", SEQ_MAX_LINES))
    } else if bytes > SEQ_MAX_OUTPUT_BYTES {
        Some(("output byte", SEQ_MAX_OUTPUT_BYTES))
    } else {
        None
    }
}
