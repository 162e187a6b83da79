//! Operations that a guest waits for, and their completions: the types of `wit/guest.wit`, without wasmtime.

use std::time::Duration;

use super::Language;
use super::bindings::types as wit;
use crate::error::{ErrorKind, Failure, Location, Payload, Special, SpecialKind};
use crate::json::{self, JsonError};
use crate::remedy::Remedy;

/// Most bytes of state that a script may leave for the next one besides its files, in its guest's encoding.
pub(crate) const MAX_STATE_BYTES: usize = 16 << 20;

/// Number of an operation within a run. The guest counts from 1.
pub type OperationId = u64;

/// Request of a guest that takes time.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Operation {
    /// Calls a tool.
    Call {
        /// Method, as the script's guest spells it.
        method: String,
        /// Arguments as JSON text.
        arguments: String,
        /// Place in the script that makes the call, as the guest tells it: a hint for readers.
        location: Option<Location>,
    },
    /// Reads from a stream.
    Read {
        /// Number of the stream; 0 is the standard input of the script.
        stream: u32,
        /// Most bytes to read.
        limit: u32,
    },
    /// Sleeps for a duration.
    Sleep(Duration),
    /// Runs a program or a script.
    Run(ProgramRun),
    /// Writes bytes to a program's standard input.
    Write {
        /// Number of the stream.
        stream: u32,
        /// Bytes to write.
        bytes: Vec<u8>,
        /// True if nothing follows.
        end: bool,
    },
}

/// Program or script that a script can run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Runnable {
    /// Mounted program, by its method, which is its alias.
    Program(String),
    /// Script, in a guest of its own.
    Script {
        /// Language of the script.
        language: Language,
        /// Source text of the script.
        source: String,
        /// Name in stack traces and messages: the path, if the script is a file.
        name: String,
    },
}

/// Run of a program or script by a script, with its streams.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramRun {
    /// Program or script to run.
    pub what: Runnable,
    /// Arguments, without the program's name.
    pub arguments: Vec<String>,
    /// Environment variables.
    pub environment: Vec<(String, String)>,
    /// Working directory.
    pub directory: String,
    /// Number of the stream that is standard input.
    pub stdin: u32,
    /// Number of the stream that is standard output.
    pub stdout: u32,
    /// Number of the stream that is standard error.
    pub stderr: u32,
}

/// Operation that the guest has started.
#[derive(Clone, Debug, PartialEq)]
pub struct Pending {
    /// Number that the operation's [`Completion`] repeats.
    pub id: OperationId,
    /// The operation itself.
    pub operation: Operation,
}

/// Operations that were started and cancelled in one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Waiting {
    /// Operations that were started, in the order in which the script started them.
    pub started: Vec<Pending>,
    /// Operations whose completion is no longer needed.
    pub cancelled: Vec<OperationId>,
}

/// Result of an operation that succeeded.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// Result of a call.
    Json(Payload),
    /// Bytes that were read; empty at the end of the stream.
    Bytes(Vec<u8>),
    /// No value, as of a sleep or a write.
    Nothing,
    /// Exit status of a program.
    Exited(u8),
}

/// Result of an operation, delivered to the guest.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// Number of the operation.
    pub id: OperationId,
    /// Value of the operation, or its failure.
    pub result: Result<Value, Failure>,
}

/// Outcome of a script.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Value that the script returned, if any.
    pub value: Option<serde_json::Value>,
    /// Exit code, 0 to 255.
    pub exit_code: u8,
    /// Failure of the script, if it failed.
    pub error: Option<Failure>,
    /// Units of fuel that the script used.
    pub fuel: u64,
    /// State for the next script of the same language, in the guest's own encoding; empty for no state. `None` if no
    /// state was asked for, or the previous state stays.
    pub state: Option<Vec<u8>>,
}

impl Outcome {
    /// Outcome of a script that failed and whose fuel is not known.
    #[must_use]
    pub fn failed(failure: Failure) -> Self {
        Self { value: None, exit_code: 1, error: Some(failure), fuel: 0, state: None }
    }

    /// Drops a state that was not asked for, and fails the script if its state is too large.
    pub(super) fn with_state_limit(self, asked: bool) -> Self {
        match &self.state {
            Some(_) if !asked => Self { state: None, ..self },
            Some(state) if state.len() > MAX_STATE_BYTES => Self { fuel: self.fuel, ..Self::failed(state_too_large()) },
            _ => self,
        }
    }
}

/// State of a guest that returned control.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The guest waits for operations.
    Blocked(Waiting),
    /// The script has ended.
    Finished(Outcome),
}

impl Step {
    /// Converts what a guest returned. A returned value takes at most `memory` bytes.
    pub(super) fn read(step: wit::Step, memory: u64) -> Self {
        match step {
            wit::Step::Blocked(waiting) => Self::Blocked(Waiting {
                started: waiting.started.into_iter().map(Pending::from).collect(),
                cancelled: waiting.cancelled,
            }),
            wit::Step::Finished(outcome) => Self::Finished(Outcome::read(outcome, memory)),
        }
    }
}

impl From<wit::Pending> for Pending {
    fn from(pending: wit::Pending) -> Self {
        let operation = match pending.operation {
            wit::Operation::Call(call) => Operation::Call {
                method: call.method,
                arguments: call.arguments,
                location: call.location.map(|location| location_of(location).cut()),
            },
            wit::Operation::Read(read) => Operation::Read { stream: read.stream, limit: read.limit },
            wit::Operation::Sleep(nanoseconds) => Operation::Sleep(Duration::from_nanos(nanoseconds)),
            wit::Operation::Run(run) => Operation::Run(run.into()),
            wit::Operation::Write(write) => {
                Operation::Write { stream: write.stream, bytes: write.bytes, end: write.end }
            }
        };
        Self { id: pending.id, operation }
    }
}

/// Converts a place that a guest tells.
fn location_of(location: wit::Location) -> Location {
    let column = (location.column > 0).then_some(location.column);
    Location { file: location.file, line: location.line, column, source: None }
}

impl From<wit::Language> for Language {
    fn from(language: wit::Language) -> Self {
        match language {
            wit::Language::Javascript => Self::JavaScript,
            wit::Language::Shell => Self::Shell,
        }
    }
}

impl From<wit::ProgramRun> for ProgramRun {
    fn from(run: wit::ProgramRun) -> Self {
        let wit::ProgramRun { what, arguments, environment, directory, stdin, stdout, stderr } = run;
        let what = match what {
            wit::Runnable::Program(method) => Runnable::Program(method),
            wit::Runnable::Script(script) => {
                let language = script.language.into();
                Runnable::Script { language, source: script.source, name: script.name }
            }
        };
        Self { what, arguments, environment, directory, stdin, stdout, stderr }
    }
}

impl Outcome {
    fn read(outcome: wit::Outcome, memory: u64) -> Self {
        let left = memory.max(SMALL_VALUE);
        let parsed = outcome.value.as_deref().map(|text| json::parse(text, left)).transpose();
        let (value, broken) = match parsed {
            Ok(value) => (value, None),
            Err(JsonError::Malformed(error)) => {
                (None, Some(Failure::host(format!("the guest returned a value that is not JSON: {error}"))))
            }
            Err(JsonError::TooLarge(memory)) => {
                let message = format!("the script returned a value of more than {memory} bytes of memory");
                let hint = format!("write it to a file and return its name, or {}", Remedy::RaiseLimit("memory"));
                (None, Some(Failure::limit(message, hint)))
            }
        };
        Self {
            value,
            exit_code: outcome.exit_code,
            error: outcome.error.map(|failure| convert_failure(failure, memory)).or(broken),
            fuel: outcome.fuel,
            state: outcome.state,
        }
    }
}

/// Bytes of memory that the value of a script may have although its guest has taken all of the run's: a guest that has
/// freed most of that says what came of it.
const SMALL_VALUE: u64 = 64 << 10;

/// Most bytes of each text of a failure: its message, its stack, its hint. They count against no limit of the run, and
/// JSON may take six bytes for each.
const FAILURE_TEXT: usize = 256 << 10;

/// Truncates a text to that size, and appends how many bytes are missing.
fn truncated(mut text: String) -> String {
    if text.len() > FAILURE_TEXT {
        let kept = text.floor_char_boundary(FAILURE_TEXT);
        let missing = text.len() - kept;
        text.truncate(kept);
        text.push_str(&format!("… ({missing} more bytes)"));
        text.shrink_to_fit();
    }
    text
}

/// Converts the failure that a guest reported. A payload that is not JSON or too large is dropped, and long texts are
/// truncated.
fn convert_failure(failure: wit::Failure, memory: u64) -> Failure {
    let payload = failure.payload.and_then(|payload| json::parse(&payload.text, memory).ok());
    Failure {
        kind: failure.kind.into(),
        name: truncated(failure.name),
        message: truncated(failure.message),
        hint: failure.hint.map(truncated),
        stack: failure.stack.map(truncated),
        location: failure
            .location
            .map(|location| location_of(wit::Location { file: truncated(location.file), ..location })),
        payload: payload.map(|value| Payload { value, specials: Vec::new() }),
    }
}

impl From<Completion> for wit::Completion {
    fn from(completion: Completion) -> Self {
        let result = match completion.result {
            Ok(Value::Json(payload)) => Ok(wit::Value::Json(payload.into())),
            Ok(Value::Bytes(bytes)) => Ok(wit::Value::Bytes(bytes)),
            Ok(Value::Nothing) => Ok(wit::Value::Nothing),
            Ok(Value::Exited(status)) => Ok(wit::Value::Exited(status)),
            Err(failure) => Err(failure.into()),
        };
        Self { id: completion.id, result }
    }
}

impl From<Failure> for wit::Failure {
    fn from(failure: Failure) -> Self {
        Self {
            kind: failure.kind.into(),
            name: failure.name,
            message: failure.message,
            hint: failure.hint,
            stack: failure.stack,
            location: None,
            payload: failure.payload.map(wit::Json::from),
        }
    }
}

impl From<Payload> for wit::Json {
    fn from(payload: Payload) -> Self {
        Self {
            text: payload.value.to_string(),
            specials: payload.specials.into_iter().map(wit::Special::from).collect(),
        }
    }
}

impl From<Special> for wit::Special {
    fn from(special: Special) -> Self {
        let kind = match special.kind {
            SpecialKind::Bytes => wit::SpecialKind::Bytes,
            SpecialKind::Integer => wit::SpecialKind::Integer,
            SpecialKind::Float => wit::SpecialKind::Float,
        };
        Self { pointer: special.pointer, kind }
    }
}

/// The two lists of kinds are the same; this macro generates both conversions.
macro_rules! kinds {
    ($($name:ident),+) => {
        impl From<wit::ErrorKind> for ErrorKind {
            fn from(kind: wit::ErrorKind) -> Self {
                match kind { $(wit::ErrorKind::$name => Self::$name),+ }
            }
        }

        impl From<ErrorKind> for wit::ErrorKind {
            fn from(kind: ErrorKind) -> Self {
                match kind { $(ErrorKind::$name => Self::$name),+ }
            }
        }
    };
}
kinds!(Syntax, Exception, Exit, Tool, Argument, Capability, Approval, Limit, Cancelled, Policy, Deadlock, Host);

fn state_too_large() -> Failure {
    Failure::limit(
        format!(
            "the state that the script leaves for the next one is too large: at most {} MiB are kept",
            MAX_STATE_BYTES >> 20
        ),
        "keep large data in files; the previous state stays",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guest_state_is_kept_if_requested_and_within_limit() {
        let left = |bytes: usize, asked: bool| {
            let outcome = Outcome { value: None, exit_code: 0, error: None, fuel: 7, state: Some(vec![0; bytes]) };
            outcome.with_state_limit(asked)
        };
        assert_eq!(left(5, true).state.map(|state| state.len()), Some(5));
        assert_eq!(left(5, false), Outcome { state: None, ..left(5, true) });
        assert_eq!(left(MAX_STATE_BYTES + 1, false).error, None, "nobody wants it");
        let large = left(MAX_STATE_BYTES + 1, true);
        assert_eq!((large.state, large.exit_code, large.fuel), (None, 1, 7));
        assert!(large.error.is_some_and(|failure| failure.kind == ErrorKind::Limit));
    }

    #[test]
    fn small_value_is_kept_although_the_guest_has_all_memory() {
        let read = |value: String| {
            let outcome = wit::Outcome { value: Some(value), exit_code: 0, error: None, fuel: 0, state: None };
            Outcome::read(outcome, 0)
        };
        assert_eq!(read("\"60000000\"".to_owned()).value, Some(serde_json::json!("60000000")));
        let large = read(format!("\"{}\"", "x".repeat(64 << 10)));
        assert!(large.value.is_none() && large.error.is_some_and(|failure| failure.kind == ErrorKind::Limit));
    }
}
