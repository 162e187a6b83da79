//! Inputs from a pipe: each is run when it is complete, and answered as at a terminal.

use std::io::{self, BufRead as _, Read as _};

use super::super::signals::CANCELLED;
use super::super::{CliError, Result, stdio};
use super::command::{self, InputOutcome};
use super::context::ReplContext;

/// Most bytes of one input, and of one line.
const MAX_INPUT: usize = 1 << 20;

/// Runs all inputs, and returns the status of the last.
pub(super) fn follow(context: &mut ReplContext) -> Result<u8> {
    let mut status = 0;
    let mut input = String::new();
    let mut stdin = io::stdin().lock();
    loop {
        let at_end = match read_line(&mut stdin, &mut input) {
            Ok(more) => !more,
            Err(error) => {
                error.show();
                return Ok(super::super::error::USAGE);
            }
        };
        if input.trim().is_empty() {
            input.clear();
        } else if at_end || command::is_one(&input) || !context.is_open(&input) {
            match answer(context, input.trim_end_matches('\n')) {
                InputOutcome::Continue(done) => status = done,
                InputOutcome::Exit(done) => return Ok(done.unwrap_or(status)),
            }
            if context.interrupt.is_ended() || status == CANCELLED && context.interrupt.pressed() {
                return Ok(CANCELLED);
            }
            if stdio::has_failed() {
                return Ok(status);
            }
            input.clear();
        }
        if at_end {
            return Ok(status);
        }
    }
}

/// Executes one input, and shows its error.
pub(super) fn answer(context: &mut ReplContext, input: &str) -> InputOutcome {
    let done = if command::is_one(input) {
        command::execute(context, input)
    } else {
        context.run(input).map(InputOutcome::Continue)
    };
    done.unwrap_or_else(|error| InputOutcome::Continue(error.show_status()))
}

/// Reads a line into the input; returns false at the end.
fn read_line(stdin: &mut io::StdinLock<'_>, input: &mut String) -> Result<bool> {
    let context = u64::try_from(MAX_INPUT.saturating_sub(input.len())).unwrap_or(u64::MAX);
    let mut line = Vec::new();
    let read = stdin.take(context).read_until(b'\n', &mut line);
    read.map_err(|error| CliError::because("cannot read standard input", &error))?;
    if line.len() as u64 == context {
        return Err(CliError::usage(format!("an input has at most {} KiB", MAX_INPUT >> 10))
            .hint("put it into a file: `tollhouse run FILE`"));
    }
    let text = String::from_utf8(line).map_err(|_| CliError::usage("an input is not UTF-8 text"))?;
    input.push_str(&text);
    Ok(!text.is_empty())
}
