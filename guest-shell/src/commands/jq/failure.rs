//! Errors of programs, and jq's way of quoting values in them.

use super::value::Val;
use super::writer::compact;

/// The end of an evaluation other than by a result.
#[derive(Clone)]
pub(crate) enum Failure {
    /// An error that `try` catches, with its value.
    Error(Val),
    /// An error about a query that is no path, with its message. `?` behind an access does not catch it.
    NoPath(String),
    /// End by `halt` or `halt_error`, with the exit status and the value that is printed.
    Halt(i32, Option<Val>),
    /// An end that the program cannot prevent: a limit is reached.
    Fatal(String),
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Error(Val::string(message.into()))
    }

    /// An error about one value: its kind, the value, the rest of the message.
    pub(crate) fn about(value: &Val, rest: &str) -> Self {
        Self::new(format!("{} ({}) {rest}", value.kind(), excerpt(value, SHORT)))
    }

    /// An error about two values.
    pub(crate) fn between(left: &Val, right: &Val, rest: &str) -> Self {
        let (left_text, right_text) = (excerpt(left, SHORT), excerpt(right, SHORT));
        Self::new(format!("{} ({left_text}) and {} ({right_text}) {rest}", left.kind(), right.kind()))
    }
}

/// Bytes of a value that most messages quote, with jq's terminator.
pub(crate) const SHORT: usize = 15;
/// Bytes of a value that messages about paths quote.
pub(crate) const LONG: usize = 30;

/// Quotes a value; one that does not fit ends with three points.
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
