//! `sleep` and `timeout`, as operations of the host.
//!
//! bashkit's own `sleep` spins on the clock, which stands still within a step, and the timer of its `timeout` fires
//! only when somebody polls it. So `sleep` here is an operation, and `timeout` adds one that wakes the script at its
//! deadline; the rest of it (running the command, dropping it, status 124) is bashkit's.

use std::time::Duration;

use bashkit::{Builtin, BuiltinContext, ExecResult, ExecutionPlan, Result, SubCommand, async_trait};

use crate::bindings::types::ErrorKind;
use crate::operations;

/// Longest wait in seconds: what does not end within a hundred years does not end.
const FOREVER: f64 = 100.0 * 365.0 * 86_400.0;

/// Status of a cancelled command: 128 + SIGINT.
const CANCELLED: i32 = 130;

/// A number of seconds with an optional unit, as GNU has it: `0.5`, `2m`, `infinity`.
fn interval(word: &str) -> Option<f64> {
    let (number, unit) = match word.char_indices().last() {
        Some((at, 's')) => (&word[..at], 1.0),
        Some((at, 'm')) => (&word[..at], 60.0),
        Some((at, 'h')) => (&word[..at], 3_600.0),
        Some((at, 'd')) => (&word[..at], 86_400.0),
        _ => (word, 1.0),
    };
    let number: f64 = number.trim().parse().ok()?;
    (number >= 0.0).then_some(number * unit)
}

/// A duration of whole microseconds, rounded up: that is how finely bashkit reads the clock.
fn duration(seconds: f64) -> Duration {
    let exact = Duration::from_secs_f64(seconds.clamp(0.0, FOREVER));
    let rest = exact.subsec_nanos() % 1_000;
    if rest == 0 { exact } else { exact + Duration::from_nanos(u64::from(1_000 - rest)) }
}

const SLEEP_HELP: &str = "\
Usage: sleep NUMBER[SUFFIX]...
Pause for NUMBER seconds, which may be a fraction. SUFFIX is s (seconds), m (minutes), h (hours) or d (days).
With several arguments, pause for their sum.
";

/// Returns the error of `sleep` for arguments that it does not take.
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

const TIMEOUT_HELP: &str = "\
Usage: timeout [OPTION] DURATION COMMAND [ARG]...
Start COMMAND, and stop it if it is still running after DURATION (a number of seconds, or with s, m, h, d).
DURATION 0 is no limit.

      --preserve-status  exit with 137 instead of 124 when COMMAND was stopped
  -k, --kill-after=D     taken and ignored: a stopped command is gone at once
  -s, --signal=SIGNAL    KILL makes the status 137; COMMAND is stopped in the same way by any
";

/// The status of `timeout` when it cannot do its work itself.
const TIMEOUT_FAILED: i32 = 125;

/// Command that ends another after a time, as `timeout`.
pub(crate) struct Timeout;

/// Request of a user to `timeout`.
struct Request {
    seconds: f64,
    preserve_status: bool,
    /// The command and its arguments: at least one.
    command: Vec<String>,
}

/// Reason why the words of `timeout` ask for nothing to be run.
enum Refusal {
    /// Words that ask for help.
    Help,
    /// Words that are wrong, with the message.
    Wrong(String),
}

fn parse(words: &[String]) -> std::result::Result<Request, Refusal> {
    let wrong = |message: &str| Refusal::Wrong(format!("timeout: {message}\n"));
    let mut preserve_status = false;
    // The status of what is killed is the same without `--preserve-status`.
    let kills = |signal: &str| {
        let name = signal.to_ascii_uppercase();
        matches!(name.trim_start_matches("SIG"), "KILL" | "9")
    };
    let mut words = words.iter();
    let seconds = loop {
        let Some(word) = words.next() else { return Err(wrong("missing operand")) };
        match word.as_str() {
            "--help" => return Err(Refusal::Help),
            "-p" | "--preserve-status" => preserve_status = true,
            "-f" | "--foreground" | "-v" | "--verbose" | "--" => {}
            "-k" | "--kill-after" => {
                words.next();
            }
            "-s" | "--signal" => preserve_status |= words.next().is_some_and(|signal| kills(signal)),
            option if option.starts_with("--kill-after=") || option.starts_with("-k") => {}
            option if option.starts_with("--signal=") || option.starts_with("-s") => {
                let signal = option.strip_prefix("--signal=").unwrap_or(option.trim_start_matches("-s"));
                preserve_status |= kills(signal);
            }
            option if option.starts_with('-') => return Err(wrong(&format!("unrecognized option '{option}'"))),
            number => match interval(number) {
                Some(seconds) => break seconds,
                None => return Err(wrong(&format!("invalid time interval '{number}'"))),
            },
        }
    };
    let command: Vec<String> = words.cloned().collect();
    if command.is_empty() {
        return Err(wrong("missing command"));
    }
    Ok(Request { seconds, preserve_status, command })
}

#[async_trait]
impl Builtin for Timeout {
    async fn execute(&self, context: BuiltinContext<'_>) -> Result<ExecResult> {
        // Reached only when there is no plan: the words are wrong, or ask for help.
        Ok(match parse(context.args) {
            Err(Refusal::Help) => ExecResult::ok(TIMEOUT_HELP),
            Err(Refusal::Wrong(message)) => ExecResult::err(message, TIMEOUT_FAILED),
            Ok(_) => ExecResult::default(),
        })
    }

    async fn execution_plan(&self, context: &BuiltinContext<'_>) -> Result<Option<ExecutionPlan>> {
        let Ok(Request { seconds, preserve_status, command }) = parse(context.args) else { return Ok(None) };
        let mut words = command.into_iter();
        let name = words.next().unwrap_or_default();
        let command = SubCommand { name, args: words.collect(), stdin: None, assignments: Vec::new() };
        // Zero is no limit.
        let duration = duration(if seconds == 0.0 { FOREVER } else { seconds });
        // bashkit keeps the timer exactly as long as the command runs.
        let alarm = (seconds != 0.0).then(|| Box::new(operations::sleep(duration)) as Box<_>);
        Ok(Some(ExecutionPlan::Timeout { duration, preserve_status, command, alarm }))
    }
}
