//! `sleep`, as an operation of the host, and the operation that wakes a script at the deadline of `timeout`.
//!
//! bashkit's own `sleep` polls the clock, which does not advance within a step, and the timer of its `timeout` fires
//! only when it is polled.

use std::any::Any;
use std::time::Duration;

use bashkit::{Builtin, BuiltinContext, ExecResult, Result, async_trait};

use crate::bindings::types::ErrorKind;
use crate::commands::timeout::{duration, interval};
use crate::operations;

/// Status of a cancelled command: 128 + SIGINT.
const CANCELLED: i32 = 130;

const SLEEP_HELP: &str = "\
Usage: sleep NUMBER[SUFFIX]...
Pause for NUMBER seconds, which may be a fraction. SUFFIX is s (seconds), m (minutes), h (hours) or d (days).
With several arguments, pause for their sum.
";

/// Returns the error of `sleep` for invalid arguments.
fn refused(messages: &str) -> ExecResult {
    ExecResult::err(format!("{messages}Try 'sleep --help' for more information.\n"), 1)
}

/// Command that waits, as `sleep`.
pub(crate) struct Sleep;

#[async_trait]
impl Builtin for Sleep {
    async fn execute(&self, context: BuiltinContext<'_>) -> Result<ExecResult> {
        let mut words = context.args;
        match words.first().map(String::as_str) {
            Some("--help") => return Ok(ExecResult::ok(SLEEP_HELP)),
            Some("--") => words = &words[1..],
            Some(word) if word.starts_with("--") => {
                return Ok(refused(&format!("sleep: unrecognized option '{word}'\n")));
            }
            Some(word) if word.len() > 1 && word.starts_with('-') => {
                let letter: String = word.chars().skip(1).take(1).collect();
                return Ok(refused(&format!("sleep: invalid option -- '{letter}'\n")));
            }
            _ => {}
        }
        if words.is_empty() {
            return Ok(refused("sleep: missing operand\n"));
        }
        let mut seconds = 0.0;
        let mut wrong = String::new();
        for word in words {
            match interval(word) {
                Some(more) => seconds += more,
                None => wrong.push_str(&format!("sleep: invalid time interval ‘{word}’\n")),
            }
        }
        if !wrong.is_empty() {
            return Ok(refused(&wrong));
        }
        if seconds == 0.0 {
            return Ok(ExecResult::ok(""));
        }
        Ok(match operations::sleep(duration(seconds)).await {
            Ok(_) => ExecResult::ok(""),
            Err(failure) => {
                let status = if failure.kind == ErrorKind::Cancelled { CANCELLED } else { 1 };
                ExecResult::err(format!("sleep: {}\n", failure.message), status)
            }
        })
    }
}

/// Begins an operation that wakes the script after a time, and ends when it is dropped.
pub(crate) fn alarm(duration: Duration) -> Option<Box<dyn Any + Send + Sync>> {
    Some(Box::new(operations::sleep(duration)))
}
