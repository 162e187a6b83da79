//! Conversion of the end of a script to an `outcome`.

use bashkit::{Error, ExecResult, LimitExceeded};

use crate::bindings::types::{ErrorKind, Failure, Limits, Location, Outcome, Script};
use crate::{clock, limits, shell};

/// Status of a cancelled script: 128 + SIGINT.
const CANCELLED_STATUS: u8 = 130;

/// Returns the outcome of a script, including the state of the shell if it is preserved.
pub(crate) fn of(result: Result<ExecResult, Error>, script: &Script, left: Option<Result<Vec<u8>, String>>) -> Outcome {
    let (mut exit_code, mut error) = match result {
        Ok(result) => of_status(&result, &script.name),
        Err(error) => of_error(&error, &script.source, &script.name, &script.limits),
    };
    let state = match left.transpose() {
        Ok(state) => state,
        Err(why) => {
            let message = format!("the state of the shell cannot be kept: {why}");
            error = error.or_else(|| Some(failure(ErrorKind::Host, "InternalError", message)));
            exit_code = exit_code.max(1);
            None
        }
    };
    Outcome { value: None, exit_code, error, fuel: clock::fuel_used(), state }
}

/// Returns the outcome of a script that cannot start, because the state of an earlier script is invalid.
pub(crate) fn unreadable_state(why: &str) -> Outcome {
    let message = format!("the state that an earlier script left cannot be read: {why}");
    let mut error = failure(ErrorKind::Host, "InternalError", message);
    error.hint = Some("roll the session back to a run before, or run without its state".to_owned());
    Outcome { value: None, exit_code: 1, error: Some(error), fuel: clock::fuel_used(), state: None }
}

/// Returns status and failure of a script that ended normally, or by a syntax error after commands that ran.
fn of_status(result: &ExecResult, name: &str) -> (u8, Option<Failure>) {
    // The low eight bits, as for a process.
    let status = u8::try_from(result.exit_code.rem_euclid(256)).expect("a remainder of 256");
    let error = match &result.syntax_error {
        // A syntax error counts even if the status is 0: the rest of the script did not run.
        Some(report) => Some(syntax_failure(report, name)),
        None if status == 0 => None,
        None => Some(failure(ErrorKind::Exit, "ExitError", format!("exit status {status}"))),
    };
    (status, error)
}

/// Returns status and failure of a script that the interpreter ended. The message of bash goes to standard error.
fn of_error(error: &Error, source: &str, name: &str, limits: &Limits) -> (u8, Option<Failure>) {
    match error {
        Error::Parse { .. } => {
            let report = error.syntax_report(name, source).unwrap_or_else(|| format!("{name}: {error}\n"));
            shell::complain(&report);
            let status = error.syntax_status(0).rem_euclid(256);
            let status = u8::try_from(status).expect("a remainder of 256");
            (status, Some(syntax_failure(&report, name)))
        }
        Error::ResourceLimit(exceeded) => (limits::LIMIT_STATUS, Some(limits::failure(exceeded, limits))),
        _ if clock::out_of_fuel() => {
            // All errors for lack of fuel are treated alike.
            let exceeded = LimitExceeded::MaxCommands(0);
            (limits::LIMIT_STATUS, Some(limits::failure(&exceeded, limits)))
        }
        Error::Cancelled => {
            let message = "the script was cancelled".to_owned();
            (CANCELLED_STATUS, Some(failure(ErrorKind::Cancelled, "CancelledError", message)))
        }
        other => {
            shell::complain(&format!("{name}: {other}\n"));
            (1, Some(failure(ErrorKind::Exception, "ShellError", other.to_string())))
        }
    }
}

/// Returns the failure of a syntax error. Its message is the report of bash, without the name of the script and the
/// quoted line: `line 3: syntax error near unexpected token `done'`.
fn syntax_failure(report: &str, name: &str) -> Failure {
    let first = report.lines().next().unwrap_or_default();
    let message = first.strip_prefix(name).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(first);
    let line = message.strip_prefix("line ").and_then(|rest| rest.split_once(": ")?.0.parse().ok());
    let location = line.map(|line| Location { file: name.to_owned(), line, column: 0 });
    Failure { location, ..failure(ErrorKind::Syntax, "SyntaxError", message.to_owned()) }
}

fn failure(kind: ErrorKind, name: &str, message: String) -> Failure {
    Failure { kind, name: name.to_owned(), message, hint: None, stack: None, location: None, payload: None }
}
