//! What a guest waits for, and what it is told: the types of `wit/guest.wit`, free of wasmtime.

use std::time::Duration;

use super::Language;
use super::bindings::types as wit;
use crate::error::{ErrorKind, Failure, Location, Payload, Special, SpecialKind, how_to_raise};
use crate::json::{self, JsonError};

/// The most bytes that a script leaves for the next one besides its files, as its guest writes them.
pub(crate) const MAX_STATE_BYTES: usize = 16 << 20;

/// Names an operation within a run. The guest counts from 1.
pub type OperationId = u64;

/// Something that takes time.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Operation {
    /// Calls a tool.
    Call {
        /// The method, as the script's guest spells it.
        method: String,
        /// JSON text.
        arguments: String,
    },
    /// Waits for input.
    Read {
        /// Which stream; 0 is the standard input of the script.
        stream: u32,
        /// At most so many bytes.
        limit: u32,
    },
    /// Waits so long.
    Sleep(Duration),
    /// Runs a program or a script.
    Run(ProgramRun),
    /// Gives bytes to a program.
    Write {
        /// Which stream.
        stream: u32,
        /// What.
        bytes: Vec<u8>,
        /// Nothing follows.
        end: bool,
    },
}

/// What a script can run beside itself.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Runnable {
    /// A program that is mounted, by its method: its alias.
    Program(String),
    /// A script, in a guest of its own.
    Script {
        /// Its language.
        language: Language,
        /// Its text.
        source: String,
        /// What stack traces and messages call it; its path, if it is a file.
        name: String,
    },
}

/// A program or script that a script runs, with streams.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramRun {
    /// What.
    pub what: Runnable,
    /// Its arguments, without its name.
    pub arguments: Vec<String>,
    /// Its environment.
    pub environment: Vec<(String, String)>,
    /// The directory that it works in.
    pub directory: String,
    /// The number of the stream that it reads.
    pub stdin: u32,
    /// The number of the stream that it writes.
    pub stdout: u32,
    /// The number of the stream that it writes about that.
    pub stderr: u32,
}

/// An operation that the guest has begun to wait for.
#[derive(Clone, Debug, PartialEq)]
pub struct Pending {
    /// Its name in a [`Completion`].
    pub id: OperationId,
    /// What to do.
    pub operation: Operation,
}

/// What changed in one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Waiting {
    /// Operations that began, in the order in which the script began them.
    pub started: Vec<Pending>,
    /// Operations whose completion is no longer wanted.
    pub cancelled: Vec<OperationId>,
}

/// What came of an operation that worked.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// The result of a call.
    Json(Payload),
    /// What was read; empty at the end.
    Bytes(Vec<u8>),
    /// It is over.
    Nothing,
    /// The exit status of a program.
    Exited(u8),
}

/// How an operation ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// Which one.
    pub id: OperationId,
    /// What came of it.
    pub result: Result<Value, Failure>,
}

/// How a script ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What it returned; none for nothing.
    pub value: Option<serde_json::Value>,
    /// 0 to 255.
    pub exit_code: u8,
    /// Why it failed, if it did.
    pub error: Option<Failure>,
    /// How much fuel it used.
    pub fuel: u64,
    /// What it leaves for the next script of its language, in the guest's own notation; empty for nothing. None if it
    /// was not asked for a state, or what was left before stays.
    pub state: Option<Vec<u8>>,
}

impl Outcome {
    /// The end of a script that failed, and used no fuel that is known.
    #[must_use]
    pub fn failed(failure: Failure) -> Self {
        Self { value: None, exit_code: 1, error: Some(failure), fuel: 0, state: None }
    }

    /// Without a state that nobody asked for; failed, if it is larger than may be kept.
    pub(super) fn keeping(self, asked: bool) -> Self {
        match &self.state {
            Some(_) if !asked => Self { state: None, ..self },
            Some(state) if state.len() > MAX_STATE_BYTES => Self { fuel: self.fuel, ..Self::failed(state_too_large()) },
            _ => self,
        }
    }
}

/// Where a guest stands when it hands control back.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// It waits.
    Blocked(Waiting),
    /// It is done.
    Finished(Outcome),
}

impl Step {
    /// Reads what a guest said. Values that it returns take at most so many bytes of memory.
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
            wit::Operation::Call(call) => Operation::Call { method: call.method, arguments: call.arguments },
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
        let parsed = outcome.value.as_deref().map(|text| json::parse(text, memory)).transpose();
        let (value, broken) = match parsed {
            Ok(value) => (value, None),
            Err(JsonError::Malformed(error)) => {
                (None, Some(Failure::host(format!("the guest returned a value that is no JSON: {error}"))))
            }
            Err(JsonError::TooLarge(memory)) => {
                let message = format!("the script returned a value of more than {memory} bytes of memory");
                let hint = format!("write it to a file and return its name, or {}", how_to_raise("memory"));
                (None, Some(Failure::limit(message, hint)))
            }
        };
        Self {
            value,
            exit_code: outcome.exit_code,
            error: outcome.error.map(|failure| told(failure, memory)).or(broken),
            fuel: outcome.fuel,
            state: outcome.state,
        }
    }
}

/// The most bytes of each text of a failure: its message, its stack, its hint. They count against no limit of the run, and
/// JSON may take six bytes for each.
const FAILURE_TEXT: usize = 256 << 10;

/// A text of at most so many bytes; the end of a longer one says how much is missing.
fn cut(mut text: String) -> String {
    if text.len() > FAILURE_TEXT {
        let kept = text.floor_char_boundary(FAILURE_TEXT);
        let missing = text.len() - kept;
        text.truncate(kept);
        text.push_str(&format!("… ({missing} more bytes)"));
        text.shrink_to_fit();
    }
    text
}

/// Reads the failure that a guest told. A payload that is no JSON or too large is left out, and long texts are cut.
fn told(failure: wit::Failure, memory: u64) -> Failure {
    let payload = failure.payload.and_then(|payload| json::parse(&payload.text, memory).ok());
    Failure {
        kind: failure.kind.into(),
        name: cut(failure.name),
        message: cut(failure.message),
        hint: failure.hint.map(cut),
        stack: failure.stack.map(cut),
        location: failure.location.map(|location| Location {
            file: cut(location.file),
            line: location.line,
            column: (location.column > 0).then_some(location.column),
            source: None,
        }),
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

/// The two lists of kinds are one; this macro keeps them so, both ways.
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
        format!("what the script leaves for the next one is too large: at most {} MiB are kept", MAX_STATE_BYTES >> 20),
        "keep large data in files; what was left before stays",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_kept_if_it_was_asked_for_and_is_not_too_large() {
        let left = |bytes: usize, asked: bool| {
            let outcome = Outcome { value: None, exit_code: 0, error: None, fuel: 7, state: Some(vec![0; bytes]) };
            outcome.keeping(asked)
        };
        assert_eq!(left(5, true).state.map(|state| state.len()), Some(5));
        assert_eq!(left(5, false), Outcome { state: None, ..left(5, true) });
        assert_eq!(left(MAX_STATE_BYTES + 1, false).error, None, "nobody wants it");
        let large = left(MAX_STATE_BYTES + 1, true);
        assert_eq!((large.state, large.exit_code, large.fuel), (None, 1, 7));
        assert!(large.error.is_some_and(|failure| failure.kind == ErrorKind::Limit));
    }
}
