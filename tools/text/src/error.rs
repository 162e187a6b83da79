//! What can be wrong with parameters; any text is right.

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
    /// Says what is wrong with a parameter.
    pub fn new(parameter: &'static str, reason: impl Into<String>) -> Self {
        Self { parameter, reason: reason.into() }
    }
}
