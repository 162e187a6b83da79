//! Command `timeout`, which ends another command after a time.
//!
//! The interpreter runs the command, drops it at its deadline and knows the status. Where the runtime has no timers of its
//! own, an alarm polls the script then.

use std::any::Any;
use std::time::Duration;

use bashkit::builtins::arg_parser::OptArg;
use bashkit::{Builtin, BuiltinContext, ExecResult, ExecutionPlan, Result, SubCommand, async_trait};

use super::option_parser::gnu_getopt;

/// Longest wait, in seconds. A wait of a hundred years is as good as endless.
const FOREVER: f64 = 100.0 * 365.0 * 86_400.0;

/// Parses a number of seconds with an optional unit, as GNU does: `0.5`, `2m`, `infinity`.
pub(crate) fn interval(word: &str) -> Option<f64> {
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

/// Returns a duration in whole microseconds, rounded up, which is the resolution of bashkit's clock.
pub(crate) fn duration(seconds: f64) -> Duration {
    let exact = Duration::from_secs_f64(seconds.clamp(0.0, FOREVER));
    let rest = exact.subsec_nanos() % 1_000;
    if rest == 0 { exact } else { exact + Duration::from_nanos(u64::from(1_000 - rest)) }
}

const TIMEOUT_HELP: &str = "\
Usage: timeout [OPTION] DURATION COMMAND [ARG]...
Start COMMAND, and stop it if it is still running after DURATION (a number of seconds, or with s, m, h, d).
DURATION 0 is no limit.

      --preserve-status  exit with 128 and the number of the signal instead of 124 when COMMAND was stopped
  -k, --kill-after=D     taken and ignored: a stopped command is gone at once
  -s, --signal=SIGNAL    signal instead of TERM: KILL always makes the status 137; COMMAND is stopped in the same way
";

const TIMEOUT_OPTIONS: [(&str, OptArg, char); 5] = [
    ("foreground", OptArg::No, 'f'),
    ("kill-after", OptArg::Required, 'k'),
    ("preserve-status", OptArg::No, 'p'),
    ("signal", OptArg::Required, 's'),
    ("verbose", OptArg::No, 'v'),
];

/// Status of `timeout` for a failure of its own.
const TIMEOUT_FAILED: i32 = 125;

/// Function that begins an alarm, which lasts until it is dropped; `None` if the runtime has timers.
pub(crate) type BeginAlarm = fn(Duration) -> Option<Box<dyn Any + Send + Sync>>;

/// Command `timeout` of the shell.
pub(crate) struct Timeout {
    begin_alarm: BeginAlarm,
}

impl Timeout {
    /// Returns the command for a runtime.
    pub(crate) fn new(begin_alarm: BeginAlarm) -> Self {
        Self { begin_alarm }
    }
}

/// Arguments of `timeout`.
struct Request {
    seconds: f64,
    /// Status if the command is stopped.
    expired_status: i32,
    /// Command and its arguments, at least one word.
    command: Vec<String>,
}

/// Reason why `timeout` runs no command.
enum Refusal {
    /// The command line requests help.
    Help,
    /// The command line is invalid; an error message.
    Wrong(String),
}

/// Status of a command that `timeout` stopped, unless the status of the signal is used.
const STOPPED: i32 = 124;
/// SIGTERM, the default signal.
const SIGTERM: i32 = 15;
/// SIGKILL, whose status always remains.
const SIGKILL: i32 = 9;

/// Returns the number of a signal, given by its number or by its name with or without `SIG`.
fn signal_number(name: &str) -> Option<i32> {
    const SIGNALS: [(&str, i32); 12] = [
        ("HUP", 1),
        ("INT", 2),
        ("QUIT", 3),
        ("ABRT", 6),
        ("KILL", 9),
        ("USR1", 10),
        ("USR2", 12),
        ("ALRM", 14),
        ("TERM", 15),
        ("CONT", 18),
        ("STOP", 19),
        ("TSTP", 20),
    ];
    let upper = name.to_ascii_uppercase();
    let plain = upper.strip_prefix("SIG").unwrap_or(&upper);
    let named = SIGNALS.iter().find(|(signal, _)| *signal == plain).map(|(_, number)| *number);
    named.or_else(|| name.parse().ok().filter(|number| (1..=64).contains(number)))
}

fn parse(words: &[String]) -> std::result::Result<Request, Refusal> {
    let wrong =
        |message: &str| Refusal::Wrong(format!("timeout: {message}\nTry 'timeout --help' for more information.\n"));
    if words.first().is_some_and(|word| word == "--help") {
        return Err(Refusal::Help);
    }
    let (given, operands) = gnu_getopt("timeout", words, "fk:ps:v", &TIMEOUT_OPTIONS, false, TIMEOUT_FAILED)
        .map_err(|refusal| Refusal::Wrong(refusal.stderr.to_string()))?;
    let (mut preserve_status, mut signal) = (false, SIGTERM);
    for option in given {
        let value = option.value.unwrap_or_default();
        match option.key {
            'p' => preserve_status = true,
            's' => signal = signal_number(&value).ok_or_else(|| wrong(&format!("'{value}': invalid signal")))?,
            'k' if interval(&value).is_none() => return Err(wrong(&format!("invalid time interval '{value}'"))),
            _ => {}
        }
    }
    let Some((number, command)) = operands.split_first().filter(|(_, command)| !command.is_empty()) else {
        return Err(wrong("missing operand"));
    };
    let seconds = interval(number).ok_or_else(|| wrong(&format!("invalid time interval '{number}'")))?;
    let command = command.to_vec();
    let expired_status = if preserve_status || signal == SIGKILL { 128 + signal } else { STOPPED };
    Ok(Request { seconds, expired_status, command })
}

#[async_trait]
impl Builtin for Timeout {
    async fn execute(&self, context: BuiltinContext<'_>) -> Result<ExecResult> {
        // Reached only if there is no plan: the words are invalid, or request help.
        Ok(match parse(context.args) {
            Err(Refusal::Help) => ExecResult::ok(TIMEOUT_HELP),
            Err(Refusal::Wrong(message)) => ExecResult::err(message, TIMEOUT_FAILED),
            Ok(_) => ExecResult::default(),
        })
    }

    async fn execution_plan(&self, context: &BuiltinContext<'_>) -> Result<Option<ExecutionPlan>> {
        let Ok(Request { seconds, expired_status, command }) = parse(context.args) else { return Ok(None) };
        let mut words = command.into_iter();
        let name = words.next().unwrap_or_default();
        let command = SubCommand { name, args: words.collect(), stdin: None, assignments: Vec::new() };
        // Zero is no limit.
        let duration = duration(if seconds == 0.0 { FOREVER } else { seconds });
        let alarm = (seconds != 0.0).then(|| (self.begin_alarm)(duration)).flatten();
        Ok(Some(ExecutionPlan::Timeout { duration, expired_status, command, alarm }))
    }
}

#[cfg(test)]
mod tests {
    use super::{Refusal, parse};

    fn expired_status(words: &str) -> Option<i32> {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        parse(&words).ok().map(|request| request.expired_status)
    }

    #[test]
    fn timeout_status_is_that_of_the_signal_if_it_is_preserved() {
        for (words, status) in [
            ("1 sleep 2", 124),
            ("-s INT 1 sleep 2", 124),
            ("--preserve-status 1 sleep 2", 143),
            ("--preserve-status -s INT 1 sleep 2", 130),
            ("--preserve-status --signal=SIGHUP 1 sleep 2", 129),
            ("-s9 1 sleep 2", 137),
            ("--signal=kill 1 sleep 2", 137),
        ] {
            assert_eq!(expired_status(words), Some(status), "{words}");
        }
    }

    #[test]
    fn timeout_with_an_unknown_signal_is_refused() {
        let words = ["-s", "NONE", "1", "true"].map(str::to_owned);
        let message = parse(&words).err().map(|refusal| match refusal {
            Refusal::Wrong(message) => message,
            Refusal::Help => String::new(),
        });
        assert_eq!(
            message.as_deref(),
            Some("timeout: 'NONE': invalid signal\nTry 'timeout --help' for more information.\n")
        );
    }
}
