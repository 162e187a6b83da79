//! The error that a script, its user and a program all see: one shape, from every part of the system.
//!
//! Areas have error types of their own (`capability::PolicyError`, `vfs::Errno`, …); they become a [`Failure`] where
//! they reach a run.

use serde::{Deserialize, Serialize};

/// An error with its causes, in one line.
pub(crate) fn told(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// How a limit of a run is raised, from whatever it was started.
pub(crate) fn how_to_raise(limit: &str) -> String {
    let flag = match limit {
        "wall" => "--timeout",
        "memory" => "--memory",
        "fuel" => "--fuel",
        other => return format!("raise `{other}` in `limits`: `--limit {other}=…`, or `[limits]` in a policy"),
    };
    format!("raise `{limit}` in `limits`: `{flag}`, or `[limits]` in a policy")
}

/// How a method is granted, from whatever a run is started.
pub(crate) fn how_to_grant(method: &str, is_program: bool) -> String {
    let option = match method {
        // Without a host that it may ask, a grant for it is none.
        "http/fetch" => "--allow-net HOST".to_owned(),
        // With the session's files, without which most programs are of little use.
        _ if is_program => format!("--allow {method}/run"),
        _ => format!("--allow '{method}'"),
    };
    format!("grant it: `{option}`, `capabilities` in Python, or [[grant]] method = \"{method}\" in a policy")
}

/// The part of the system, or of the script, that a failure came from. In JSON: `error.kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The script does not parse.
    Syntax,
    /// The script threw.
    Exception,
    /// A shell script ended with a status other than 0.
    Exit,
    /// A tool failed: its own error, or a trap.
    Tool,
    /// Arguments do not fit the method, or there is no such method.
    Argument,
    /// No grant allows the call.
    Capability,
    /// A human refused the call, or must be asked first.
    Approval,
    /// A limit was reached.
    Limit,
    /// The run or the operation was cancelled.
    Cancelled,
    /// The policy is at fault.
    Policy,
    /// The script waits for something that cannot happen.
    Deadlock,
    /// The host is at fault.
    Host,
}

/// Why a call, an operation or a whole run failed. In JSON: `error`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{name}: {message}")]
pub struct Failure {
    /// Where it came from.
    pub kind: ErrorKind,
    /// The name of its class, for example `CapabilityError`.
    pub name: String,
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The calls that led to it: functions, files, lines and columns, innermost first.
    pub stack: Option<String>,
    /// Where in a script it happened, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// What the tool said: the error case of its `result`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Payload>,
}

/// A place in a script. In JSON: `error.location`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// What the script, or its file, is called.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in bytes of UTF-8, from 1; none where only the line is known.
    pub column: Option<u32>,
    /// The text of the line, if the place is in the script that was run. At most 512 bytes.
    pub source: Option<String>,
}

impl Location {
    /// Longest text of a line, in bytes.
    const MAX_SOURCE: usize = 512;

    /// Adds the text of the line from the script that was run, if the place is in that.
    pub(crate) fn quote(&mut self, name: &str, script: &str) {
        if self.file != name {
            return;
        }
        let line = usize::try_from(self.line).ok().and_then(|line| script.lines().nth(line.checked_sub(1)?));
        self.source = line.filter(|line| line.len() <= Self::MAX_SOURCE).map(str::to_owned);
    }
}

/// A JSON value, with the places in it that stand for something JSON has no word for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Payload {
    /// The value in its canonical spelling.
    pub value: serde_json::Value,
    /// The places, for a guest whose language has the words.
    #[serde(skip)]
    pub specials: Vec<Special>,
}

/// One place in a [`Payload`] where a JSON string stands for something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Special {
    /// RFC 6901 JSON Pointer; empty for the whole value.
    pub pointer: String,
    /// What stands there.
    pub kind: SpecialKind,
}

/// What a JSON string stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecialKind {
    /// Bytes, as base64.
    Bytes,
    /// An integer beyond ±(2^53 - 1), in decimal.
    Integer,
    /// `NaN`, `Infinity` or `-Infinity`.
    Float,
}

impl From<serde_json::Value> for Payload {
    fn from(value: serde_json::Value) -> Self {
        Self { value, specials: Vec::new() }
    }
}

impl Failure {
    pub(crate) fn new(kind: ErrorKind, name: &str, message: impl Into<String>) -> Self {
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

    /// No grant allows a call.
    #[must_use]
    pub fn capability(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Capability, "CapabilityError", message)
    }

    /// A human refused a call, or there is none to ask.
    #[must_use]
    pub fn approval(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Approval, "CapabilityError", message)
    }

    /// Arguments do not fit, or there is no such method.
    #[must_use]
    pub fn argument(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Argument, "ArgumentError", message)
    }

    /// A tool failed.
    #[must_use]
    pub fn tool(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Tool, "ToolError", message)
    }

    /// A limit was reached: which, its value, and how to raise it.
    #[must_use]
    pub fn limit(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(ErrorKind::Limit, "LimitError", message).with_hint(hint)
    }

    /// The run or the operation was cancelled.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "CancelledError", "cancelled")
    }

    /// The script waits for nothing that can happen.
    #[must_use]
    pub fn deadlock() -> Self {
        Self::new(ErrorKind::Deadlock, "DeadlockError", "the script waits for something that nothing can bring about")
    }

    /// The policy, or what is mounted, does not fit.
    #[must_use]
    pub fn policy(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Policy, "PolicyError", message)
    }

    /// A program ended with a status other than 0.
    #[must_use]
    pub fn exit(status: u8) -> Self {
        Self::new(ErrorKind::Exit, "ExitError", format!("exit status {status}"))
    }

    /// A program trapped.
    #[must_use]
    pub fn trap(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Exception, "Trap", message)
    }

    /// The host is at fault.
    #[must_use]
    pub fn host(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Host, "HostError", message)
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds what the tool said.
    #[must_use]
    pub fn with_payload(mut self, payload: Payload) -> Self {
        self.payload = Some(payload);
        self
    }
}
