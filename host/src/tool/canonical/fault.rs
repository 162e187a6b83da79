//! Why a value does not fit, and where: built only when it does not.

use serde_json::Value;

use crate::tool::types::Type;

/// So much of a value is quoted in an error.
pub(super) const QUOTED: usize = 60;

/// Why arguments do not fit. Paths are written as in JavaScript: `charge.items[2].price`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// The arguments are not one object.
    #[error("expected one object, {form}, got {got}")]
    NotAnObject {
        /// What the object looks like: `{values, mode?}`.
        form: String,
        /// What was given.
        got: String,
    },
    /// A value of another type, or out of range.
    #[error("{path}: expected {expected}, got {got}")]
    Mismatch {
        /// Where.
        path: String,
        /// What fits there.
        expected: String,
        /// What was given.
        got: String,
    },
    /// A value that must be given is not.
    #[error("{path}: missing, expected {expected}")]
    Missing {
        /// Where.
        path: String,
        /// What fits there.
        expected: String,
    },
    /// A key that is not part of the type.
    #[error("{path}: unknown key{}{}", nearest.as_ref().map_or_else(String::new, |near| format!(", did you mean `{near}`?")), listed(known))]
    UnknownKey {
        /// Where, with the key.
        path: String,
        /// The key that it was perhaps meant to be.
        nearest: Option<String>,
        /// The keys that there are, if no one is near.
        known: Vec<String>,
    },
    /// What is left out takes too much memory.
    #[error("{path}: the options that are left out take more memory than is left for the arguments")]
    TooLarge {
        /// Where.
        path: String,
    },
    /// Two keys that mean one field, or one entry of a map.
    #[error("{path}: given twice, as `{first}` and as `{second}`")]
    Twice {
        /// Where, with the canonical key.
        path: String,
        /// One spelling.
        first: String,
        /// The other.
        second: String,
    },
}

impl ArgumentError {
    /// Where the arguments do not fit; empty when it is the whole.
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

/// A fault, with its path still upside down: segments are added while unwinding, so that a value that fits pays nothing.
pub(super) struct Fault {
    path: Vec<Segment>,
    what: What,
}

enum Segment {
    Key(String),
    Index(usize),
}

pub(super) enum What {
    Mismatch { expected: String, got: String },
    Missing { expected: String },
    Unknown { nearest: Option<String>, known: Vec<String> },
    Twice { first: String, second: String },
    TooLarge,
}

/// Boxed, because nearly every value fits.
pub(super) type Checked = Result<(), Box<Fault>>;

impl Fault {
    pub(super) fn new(what: What) -> Box<Self> {
        Box::new(Self { path: Vec::new(), what })
    }

    pub(super) fn mismatch(ty: &Type, value: &Value) -> Box<Self> {
        Self::expected(ty.describe(), value)
    }

    pub(super) fn expected(expected: impl Into<String>, value: &Value) -> Box<Self> {
        Self::new(What::Mismatch { expected: expected.into(), got: show(value) })
    }

    pub(super) fn under_key(mut self: Box<Self>, key: &str) -> Box<Self> {
        self.path.push(Segment::Key(shorten(key)));
        self
    }

    pub(super) fn under_index(mut self: Box<Self>, index: usize) -> Box<Self> {
        self.path.push(Segment::Index(index));
        self
    }

    pub(super) fn into_error(self) -> ArgumentError {
        let mut path = String::new();
        for segment in self.path.iter().rev() {
            match segment {
                Segment::Index(index) => path.push_str(&format!("[{index}]")),
                Segment::Key(key) if is_identifier(key) || (path.is_empty() && *key == on_one_line(key)) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(key);
                }
                Segment::Key(key) => path.push_str(&format!("[{}]", quote(key))),
            }
        }
        match self.what {
            What::Mismatch { expected, got } => ArgumentError::Mismatch { path, expected, got },
            What::Missing { expected } => ArgumentError::Missing { path, expected },
            What::TooLarge => ArgumentError::TooLarge { path },
            What::Unknown { nearest, known } => ArgumentError::UnknownKey { path, nearest, known },
            What::Twice { first, second } => {
                ArgumentError::Twice { path, first: on_one_line(&first), second: on_one_line(&second) }
            }
        }
    }
}

fn is_identifier(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b == b'-')
}

/// A value as an error shows it: short, on one line.
pub(in crate::tool) fn show(value: &Value) -> String {
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

/// A name that a stranger made up, as an error shows it outside of quotes: its control characters escaped.
pub(in crate::tool) fn on_one_line(text: &str) -> String {
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

pub(in crate::tool) fn shorten(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
