//! Fatal errors, and limits that end a program.
//!
//! - Errors that gawk reports (`division by zero attempted`) carry gawk's prefix `awk: cmd. line:N: fatal:`; limits of
//!   the sandbox have the plain form `awk: fatal: ...` (TM-DOS-109).
//! - THREAT[TM-DOS-110]: each string is checked against `MAX_STRING_BYTES` before it is built; bytes of variables,
//!   elements and call frames are counted and checked before each statement, so they grow past the limit by one
//!   statement's worth at most.
//! - THREAT[TM-DOS-033]: iterations are counted per loop and per run; evaluations within each other are capped by
//!   [`MAX_EVALUATION_DEPTH`], and so is the recursion of functions.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::ast::special;
use super::{Evaluation, Interpreter, Slot, Unwind};
use crate::commands::awk::bounds::{MAX_CALL_DEPTH, MAX_STRING_BYTES, VARIABLE_OVERHEAD_BYTES};

/// Most evaluations that may go on within each other: of statements, and of expressions that are more than a constant
/// or a variable. The stack grows with these, not with calls alone: a call may have one operator around it or a
/// thousand. Each takes up to 0.75 KiB of stack in an optimized build, so all take less than 6 MiB, and a call of a
/// plain recursive function is four of them, so there may be about two thousand.
const MAX_EVALUATION_DEPTH: usize = 128 * MAX_CALL_DEPTH;

/// Longest message of a fatal error, in bytes: it may quote what the program computed.
const MAX_MESSAGE_BYTES: usize = 1000;

/// Limits of loops and memory that the shell gives to one run.
pub(crate) struct RunLimits {
    pub(crate) max_loop: usize,
    pub(crate) max_total_loop: usize,
    pub(crate) max_memory: usize,
}

impl Interpreter {
    /// Reports that a limit of the sandbox is exceeded.
    pub(crate) fn limit_reached(&mut self, message: &str) -> Unwind {
        self.report_fatal("fatal: ", message)
    }

    /// Reports a fatal error of gawk's with its source location.
    pub(crate) fn fatal_error(&mut self, message: &str) -> Unwind {
        let prefix = format!("{}{}fatal: ", self.location(), self.record_place());
        self.report_fatal(&prefix, message)
    }

    /// Reports a fatal error whose message is printed as it is behind `awk: `.
    pub(crate) fn fatal_message(&mut self, message: &str) -> Unwind {
        self.report_fatal("", message)
    }

    /// Writes the message of the first fatal error; those that follow from it are not told.
    fn report_fatal(&mut self, prefix: &str, message: &str) -> Unwind {
        if !self.ending.fatal {
            self.ending.fatal = true;
            self.write_error_line(&format!("awk: {prefix}{}", truncate(message, MAX_MESSAGE_BYTES)));
        }
        Unwind::Fatal
    }

    /// Ends the program because the shared request budget is exhausted, which the shell reports.
    pub(crate) fn budget_exhausted(&mut self, limit: bashkit::limits::LimitExceeded) -> Unwind {
        self.ending.fatal = true;
        self.ending.budget_error.get_or_insert(limit);
        Unwind::Fatal
    }

    /// Ends the program because of an error of a pipe or of the budget.
    pub(crate) fn fail_with(&mut self, error: bashkit::Error) -> Unwind {
        match error {
            bashkit::Error::ResourceLimit(limit) => self.budget_exhausted(limit),
            error => {
                self.ending.fatal = true;
                self.ending.failure.get_or_insert(error);
                Unwind::Fatal
            }
        }
    }

    /// Returns the source location of the current statement, as a prefix of messages.
    pub(crate) fn location(&self) -> String {
        match self.location_index.and_then(|index| self.program.locs.get(index as usize)) {
            Some((name, line)) => format!("{name}:{line}: "),
            None => String::new(),
        }
    }

    /// Returns the file and the number of the current record, if there is one, as a prefix of messages.
    fn record_place(&self) -> String {
        if self.settings.fnr <= 0.0 {
            return String::new();
        }
        let name = match &self.globals[special::FILENAME as usize] {
            Slot::Scalar(name) => self.text_of(name),
            Slot::Array(_) => String::new(),
        };
        let name = if name.is_empty() { "-" } else { &name };
        format!("(FILENAME={name} FNR={:.0}) ", self.settings.fnr.trunc())
    }

    /// Writes a warning with the place in the program and in the input.
    pub(crate) fn warn(&mut self, message: &str) {
        let (location, record) = (self.location(), self.record_place());
        self.write_error_line(&format!("awk: {location}{record}warning: {message}"));
    }

    /// Writes a line to standard error.
    pub(crate) fn write_error_line(&mut self, line: &str) {
        self.io.report(&format!("{line}\n"));
    }

    /// Charges one unit of work to the request budget.
    pub(crate) fn charge_work(&mut self) -> Evaluation<()> {
        match self.io.host.budget.as_ref().map(|budget| budget.consume_work(1)) {
            Some(Err(limit)) => Err(self.budget_exhausted(limit)),
            _ => Ok(()),
        }
    }

    /// Charges input that was read to the request budget.
    pub(crate) fn charge_input(&mut self, byte_count: usize) -> Evaluation<()> {
        match self.io.host.budget.as_ref().map(|budget| budget.consume_input(byte_count)) {
            Some(Err(limit)) => Err(self.budget_exhausted(limit)),
            _ => Ok(()),
        }
    }

    /// Goes deeper by some evaluations; the caller comes back up.
    pub(super) fn descend(&mut self, evaluations: usize) -> Evaluation<()> {
        if self.evaluation_depth + evaluations > MAX_EVALUATION_DEPTH {
            let message = format!("evaluation depth limit ({MAX_EVALUATION_DEPTH}) exceeded");
            return Err(self.limit_reached(&message));
        }
        self.evaluation_depth += evaluations;
        Ok(())
    }

    /// Counts an iteration of a loop, which is the loop's `iteration`-th.
    pub(super) fn count_iteration(&mut self, iteration: usize) -> Evaluation<()> {
        self.loop_count += 1;
        if iteration > self.limits.max_loop {
            let message = format!("loop iteration limit ({}) exceeded", self.limits.max_loop);
            return Err(self.limit_reached(&message));
        }
        if self.loop_count > self.limits.max_total_loop {
            let message = format!("total loop iteration limit ({}) exceeded", self.limits.max_total_loop);
            return Err(self.limit_reached(&message));
        }
        Ok(())
    }

    /// Fails if a string of that length may not be built.
    pub(crate) fn string_fits(&mut self, byte_count: usize) -> Evaluation<()> {
        if byte_count > MAX_STRING_BYTES {
            return Err(self.limit_reached(&format!("string size limit ({MAX_STRING_BYTES} bytes) exceeded")));
        }
        Ok(())
    }

    /// Fails if variables and elements hold more than they may.
    pub(super) fn check_memory(&mut self) -> Evaluation<()> {
        if self.live_bytes > self.limits.max_memory {
            return Err(self.memory_exceeded());
        }
        Ok(())
    }

    /// Reports that the program holds more memory than it may.
    pub(super) fn memory_exceeded(&mut self) -> Unwind {
        let message = format!("memory limit ({} bytes) exceeded", self.limits.max_memory);
        self.limit_reached(&message)
    }

    /// Returns how many more elements or fields fit in memory.
    pub(super) fn split_budget(&self) -> usize {
        self.limits.max_memory.saturating_sub(self.live_bytes) / VARIABLE_OVERHEAD_BYTES + 1
    }
}

/// Returns the start of a text, of at most so many bytes.
pub(crate) fn truncate(text: &str, max_bytes: usize) -> &str {
    if text.len() <= max_bytes {
        return text;
    }
    let mut end = max_bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
