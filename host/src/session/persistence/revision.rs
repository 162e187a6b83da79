//! Revisions of a session's files: the current ones, or those that a run left.

use std::fmt;
use std::str::FromStr;

use super::{SessionId, SessionIdError};

/// A session and a revision of its files: `report`, `report@3` for those that run 3 left, `report@0` for those that it
/// was created with, `report@good` for those that carry a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The session.
    pub session: SessionId,
    /// Revision of the files.
    pub at: At,
}

/// Revision of a session's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum At {
    /// Current files.
    Head,
    /// Files that this run left.
    Run(u64),
    /// Files that carry this label.
    Label(String),
}

/// Error for a text that is not a revision.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PointError {
    /// The session's name is not valid.
    #[error(transparent)]
    Session(#[from] SessionIdError),
    /// The label is not valid.
    #[error("`{0}` is not a label: use 1 to 64 letters, digits, `-`, `_` and `.`, the first a letter")]
    Label(String),
}

/// Returns true if a text is a valid label.
pub(super) fn is_label(text: &str) -> bool {
    SessionId::from_str(text).is_ok() && !text.starts_with(|first: char| first.is_ascii_digit())
}

impl FromStr for Point {
    type Err = PointError;

    fn from_str(text: &str) -> Result<Self, PointError> {
        let Some((session, at)) = text.split_once('@') else {
            return Ok(Self { session: text.parse()?, at: At::Head });
        };
        let at = match at.parse::<u64>() {
            Ok(run) => At::Run(run),
            Err(_) if is_label(at) => At::Label(at.to_owned()),
            Err(_) => return Err(PointError::Label(at.chars().take(80).collect())),
        };
        Ok(Self { session: session.parse()?, at })
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            At::Head => write!(f, "{}", self.session),
            At::Run(run) => write!(f, "{}@{run}", self.session),
            At::Label(label) => write!(f, "{}@{label}", self.session),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_point_displayed_parses_back_and_invalid_is_refused() {
        for good in ["a", "a@0", "a@12", "a.b@good-one"] {
            assert_eq!(good.parse::<Point>().map(|point| point.to_string()).as_deref(), Ok(good));
        }
        for bad in ["", "@", "a@", "a@-1", "a@1x", "a@b/c", "@1", "a@b@c"] {
            assert!(bad.parse::<Point>().is_err(), "{bad}");
        }
    }
}
