//! Errors of programs, and excerpts of values in their messages.

use super::value::Val;
use super::writer::compact;

/// End of an evaluation without a result.
#[derive(Clone)]
pub(crate) enum Failure {
    /// An error that `try` catches, with its value.
    Error(Val),
    /// An error about a query that is not a path, with its message. `?` after an access does not catch it.
    NoPath(String),
    /// An end by `halt` or `halt_error`, with the exit status and the value to print.
    Halt(i32, Option<Val>),
    /// An end that the program cannot prevent, because a limit was reached.
    Fatal(String),
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Error(Val::string(message.into()))
    }

    /// Returns an error about one value: its type, an excerpt, and the rest of the message.
    pub(crate) fn about(value: &Val, rest: &str) -> Self {
        Self::new(format!("{} ({}) {rest}", value.kind(), excerpt(value, SHORT)))
    }

    /// Returns an error about two values.
    pub(crate) fn between(left: &Val, right: &Val, rest: &str) -> Self {
        let (left_text, right_text) = (excerpt(left, SHORT), excerpt(right, SHORT));
        Self::new(format!("{} ({left_text}) and {} ({right_text}) {rest}", left.kind(), right.kind()))
    }
}

/// Length of excerpts in most messages, including jq's terminator.
pub(crate) const SHORT: usize = 15;
/// Length of excerpts in messages about paths.
pub(crate) const LONG: usize = 30;

/// Returns an excerpt of a value, which ends with three points if it does not fit.
pub(crate) fn excerpt(value: &Val, size: usize) -> String {
    let text = compact(value);
    if text.len() < size {
        return text;
    }
    let mut end = size - 4;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}...", &text[..end])
}
