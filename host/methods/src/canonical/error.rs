//! Errors of values that do not fit, with their place. Paths are built only when a value does not fit.

use serde_json::Value;

use crate::types::Type;

/// Most characters of a value that an error quotes.
pub(super) const QUOTED: usize = 60;

/// Reason why arguments do not fit. Paths are written as in JavaScript: `charge.items[2].price`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// The arguments are not one object.
    #[error("expected one object, {form}, got {got}")]
    NotAnObject {
        /// Expected form of the object: `{values, mode?}`.
        form: String,
        /// Value that was given.
        got: String,
    },
    /// A value has another type, or is out of range.
    #[error("{path}: expected {expected}, got {got}")]
    Mismatch {
        /// Path of the value.
        path: String,
        /// Description of valid values.
        expected: String,
        /// Value that was given.
        got: String,
    },
    /// A required value is missing.
    #[error("{path}: missing, expected {expected}")]
    Missing {
        /// Path of the value.
        path: String,
        /// Description of valid values.
        expected: String,
    },
    /// A key is not part of the type.
    #[error("{path}: unknown key{}{}", nearest.as_ref().map_or_else(String::new, |near| format!(", did you mean `{near}`?")), listed(known))]
    UnknownKey {
        /// Path with the key.
        path: String,
        /// The most similar key of the type.
        nearest: Option<String>,
        /// Known keys of the type, if none is similar.
        known: Vec<String>,
    },
    /// The omitted values take too much memory.
    #[error("{path}: the options that are left out take more memory than is left for the arguments")]
    TooLarge {
        /// Path of the value.
        path: String,
    },
    /// Two keys name the same field, or the same entry of a map.
    #[error("{path}: given twice, as `{first}` and as `{second}`")]
    Twice {
        /// Path with the canonical key.
        path: String,
        /// First of the two spellings.
        first: String,
        /// Second of the two spellings.
        second: String,
    },
}

impl ArgumentError {
    /// Returns the path of the value that does not fit; empty for the whole.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::NotAnObject { .. } => "",
            Self::Mismatch { path, .. }
            | Self::Missing { path, .. }
            | Self::UnknownKey { path, .. }
            | Self::TooLarge { path }
            | Self::Twice { path, .. } => path,
        }
    }
}

fn listed(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!(", expected one of `{}`", known.join("`, `")) }
}

/// Error whose path is still in reverse: segments are added while unwinding, so that a value that fits costs nothing.
pub(super) struct ValueFault {
    path: Vec<PathSegment>,
    what: FaultKind,
}

enum PathSegment {
    Key(String),
    Index(usize),
}

pub(super) enum FaultKind {
    Mismatch { expected: String, got: String },
    Missing { expected: String },
    Unknown { nearest: Option<String>, known: Vec<String> },
    Twice { first: String, second: String },
    TooLarge,
}

/// Result of a check, with a boxed error because nearly every value fits.
pub(super) type CheckResult = Result<(), Box<ValueFault>>;

impl ValueFault {
    pub(super) fn new(what: FaultKind) -> Box<Self> {
        Box::new(Self { path: Vec::new(), what })
    }

    pub(super) fn mismatch(ty: &Type, value: &Value) -> Box<Self> {
        Self::expected(ty.describe(), value)
    }

    pub(super) fn expected(expected: impl Into<String>, value: &Value) -> Box<Self> {
        Self::new(FaultKind::Mismatch { expected: expected.into(), got: show(value) })
    }

    pub(super) fn under_key(mut self: Box<Self>, key: &str) -> Box<Self> {
        self.path.push(PathSegment::Key(shorten(key)));
        self
    }

    pub(super) fn under_index(mut self: Box<Self>, index: usize) -> Box<Self> {
        self.path.push(PathSegment::Index(index));
        self
    }

    pub(super) fn into_error(self) -> ArgumentError {
        let mut path = String::new();
        for segment in self.path.iter().rev() {
            match segment {
                PathSegment::Index(index) => path.push_str(&format!("[{index}]")),
                PathSegment::Key(key) if is_identifier(key) || (path.is_empty() && *key == on_one_line(key)) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(key);
                }
                PathSegment::Key(key) => path.push_str(&format!("[{}]", quote(key))),
            }
        }
        match self.what {
            FaultKind::Mismatch { expected, got } => ArgumentError::Mismatch { path, expected, got },
            FaultKind::Missing { expected } => ArgumentError::Missing { path, expected },
            FaultKind::TooLarge => ArgumentError::TooLarge { path },
            FaultKind::Unknown { nearest, known } => ArgumentError::UnknownKey { path, nearest, known },
            FaultKind::Twice { first, second } => {
                ArgumentError::Twice { path, first: on_one_line(&first), second: on_one_line(&second) }
            }
        }
    }
}

fn is_identifier(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b == b'-')
}

/// Formats a value for an error: short, on one line.
pub(crate) fn show(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => quote(text),
        Value::Array(items) if items.is_empty() => "[]".to_owned(),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(_) => "an object".to_owned(),
    }
}

fn quote(text: &str) -> String {
    let short = shorten(text);
    Value::String(short).to_string()
}

/// Formats a stranger's name for an error outside of quotes, with control characters escaped.
pub(crate) fn on_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

pub(crate) fn shorten(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
