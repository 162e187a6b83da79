//! Error that a script, its user and an embedding program all see: one shape, from every part of the system.
//!
//! Crates have error types of their own (`capability::PolicyError`, `vfs::Errno`, …), which become a [`Failure`] where
//! they reach a run.

use serde::{Deserialize, Serialize};

/// Formats an error with its causes, in one line.
#[must_use]
pub fn error_chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Part of the system, or of the script, that a failure came from. In JSON: `error.kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorKind {
    /// The script cannot be parsed.
    Syntax,
    /// The script threw an exception.
    Exception,
    /// A shell script ended with a status other than 0.
    Exit,
    /// A tool failed: its own error, or a trap.
    Tool,
    /// Arguments do not fit the method, or the method does not exist.
    Argument,
    /// No grant allows the call.
    Capability,
    /// A human refused the call, or must be asked first.
    Approval,
    /// A limit was reached.
    Limit,
    /// The run or the operation was cancelled.
    Cancelled,
    /// The policy does not fit, or is not valid.
    Policy,
    /// The script waits for something that cannot happen.
    Deadlock,
    /// An error of the host itself.
    Host,
}

impl ErrorKind {
    /// Returns the word for the kind, as JSON has it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::Exception => "exception",
            Self::Exit => "exit",
            Self::Tool => "tool",
            Self::Argument => "argument",
            Self::Capability => "capability",
            Self::Approval => "approval",
            Self::Limit => "limit",
            Self::Cancelled => "cancelled",
            Self::Policy => "policy",
            Self::Deadlock => "deadlock",
            Self::Host => "host",
        }
    }
}

/// Failure of a call, an operation or a whole run. In JSON: `error`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{name}: {message}")]
pub struct Failure {
    /// Origin of the failure.
    pub kind: ErrorKind,
    /// Name of the error class, for example `CapabilityError`.
    pub name: String,
    /// Description of the failure.
    pub message: String,
    /// Advice on how to fix it.
    pub hint: Option<String>,
    /// Stack trace of the script: functions, files, lines and columns, innermost first.
    pub stack: Option<String>,
    /// Position in a script, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// Error value of the tool: the error case of its `result`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Payload>,
}

/// Position in a script. In JSON: `error.location`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// Name of the script or of its file.
    pub file: String,
    /// Line number, from 1.
    pub line: u32,
    /// Column in bytes of UTF-8, from 1. `None` if only the line is known.
    pub column: Option<u32>,
    /// Text of the line, at most 512 bytes, if the position is in the script that was run.
    pub source: Option<String>,
}

impl Location {
    /// Longest text of a line, in bytes.
    const MAX_SOURCE: usize = 512;

    /// Longest name of a file in the place of a call, in bytes.
    const MAX_FILE: usize = 256;

    /// Returns the place with a name of at most 256 bytes. A guest may name anything.
    #[must_use]
    pub fn cut(mut self) -> Self {
        self.file.truncate(self.file.floor_char_boundary(Self::MAX_FILE));
        self
    }

    /// Adds the text of the line if the position is in the script that was run.
    pub fn quote(&mut self, name: &str, script: &str) {
        if self.file != name {
            return;
        }
        let line = usize::try_from(self.line).ok().and_then(|line| script.lines().nth(line.checked_sub(1)?));
        self.source = line.filter(|line| line.len() <= Self::MAX_SOURCE).map(str::to_owned);
    }
}

/// JSON value, with marks where a JSON string represents a value that JSON cannot express.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Payload {
    /// Value in its canonical spelling.
    pub value: serde_json::Value,
    /// Marked places, for a guest whose language can express the values.
    #[serde(skip)]
    pub specials: Vec<Special>,
}

/// Place in a [`Payload`] where a JSON string represents something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Special {
    /// RFC 6901 JSON Pointer, empty for the whole value.
    pub pointer: String,
    /// Kind of the value at this place.
    pub kind: SpecialKind,
}

/// Kind of value that a JSON string represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecialKind {
    /// Bytes, encoded as base64.
    Bytes,
    /// An integer beyond ±(2^53 - 1), in decimal.
    Integer,
    /// `NaN`, `Infinity` or `-Infinity`, spelled out.
    Float,
}

impl From<serde_json::Value> for Payload {
    fn from(value: serde_json::Value) -> Self {
        Self { value, specials: Vec::new() }
    }
}

impl Failure {
    /// Creates a failure of a class, without a hint.
    #[must_use]
    pub fn new(kind: ErrorKind, name: &str, message: impl Into<String>) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            message: message.into(),
            hint: None,
            stack: None,
            location: None,
            payload: None,
        }
    }

    /// Creates the failure of a call that no grant allows.
    #[must_use]
    pub fn capability(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Capability, "CapabilityError", message)
    }

    /// Creates the failure of a call that a human refused, or that nobody can be asked about.
    #[must_use]
    pub fn approval(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Approval, "CapabilityError", message)
    }

    /// Creates the failure of a call whose arguments do not fit, or whose method does not exist.
    #[must_use]
    pub fn argument(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Argument, "ArgumentError", message)
    }

    /// Creates the failure of a tool.
    #[must_use]
    pub fn tool(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Tool, "ToolError", message)
    }

    /// Creates the failure of a reached limit. The message names it and its value, the hint says how to raise it.
    #[must_use]
    pub fn limit(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(ErrorKind::Limit, "LimitError", message).with_hint(hint)
    }

    /// Creates the failure of a cancelled run or operation.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "CancelledError", "cancelled")
    }

    /// Creates the failure of a script that waits for nothing that can happen.
    #[must_use]
    pub fn deadlock() -> Self {
        Self::new(ErrorKind::Deadlock, "DeadlockError", "the script waits for something that can never happen")
    }

    /// Creates the failure of a policy, or of mounted tools, that do not fit.
    #[must_use]
    pub fn policy(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Policy, "PolicyError", message)
    }

    /// Creates the failure of a program that ended with a status other than 0.
    #[must_use]
    pub fn exit(status: u8) -> Self {
        Self::new(ErrorKind::Exit, "ExitError", format!("exit status {status}"))
    }

    /// Creates the failure of a program that trapped.
    #[must_use]
    pub fn trap(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Exception, "Trap", message)
    }

    /// Creates a failure of the host.
    #[must_use]
    pub fn host(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Host, "HostError", message)
    }

    /// Adds advice on how to fix the failure.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the error value of the tool.
    #[must_use]
    pub fn with_payload(mut self, payload: Payload) -> Self {
        self.payload = Some(payload);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_kinds_are_those_of_json() {
        let words = [
            "syntax",
            "exception",
            "exit",
            "tool",
            "argument",
            "capability",
            "approval",
            "limit",
            "cancelled",
            "policy",
            "deadlock",
            "host",
        ];
        for word in words {
            let kind: ErrorKind = serde_json::from_value(word.into()).expect("it is a kind");
            assert_eq!((kind.word(), serde_json::to_value(kind).expect("it is a word")), (word, word.into()));
        }
    }
}
