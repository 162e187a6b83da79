//! Errors in parameters. Any text is valid input.

/// A parameter is outside its range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{parameter}` {reason}")]
pub struct Error {
    /// Name of the parameter.
    pub parameter: &'static str,
    /// Problem with the parameter, in words.
    pub reason: String,
}

impl Error {
    /// Creates an error about a parameter.
    pub fn new(parameter: &'static str, reason: impl Into<String>) -> Self {
        Self { parameter, reason: reason.into() }
    }
}
