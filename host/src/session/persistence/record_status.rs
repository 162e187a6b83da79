//! Statuses of runs in their records.

use std::borrow::Cow;
use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::session::Status;

/// Status of a run, or of another change of a session's files, as its record has it. In records and as JSON it is one word:
/// [`RecordStatus::word`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordStatus {
    /// The files with which the session was created.
    Created,
    /// A change without a run.
    Changed,
    /// The run has not ended. If no process has the session's lock, it was interrupted.
    Running,
    /// The process of the run died.
    Interrupted,
    /// The run does not continue here, or has ended, with this result.
    Result(Status),
}

impl RecordStatus {
    /// All statuses.
    const ALL: [Self; 11] = [
        Self::Created,
        Self::Changed,
        Self::Running,
        Self::Interrupted,
        Self::Result(Status::Suspended),
        Self::Result(Status::InDoubt),
        Self::Result(Status::Completed),
        Self::Result(Status::Failed),
        Self::Result(Status::Denied),
        Self::Result(Status::Limited),
        Self::Result(Status::Cancelled),
    ];

    /// Returns the word for the status.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Result(status) => status.word(),
        }
    }

    /// Returns true for a run that waits for a human.
    pub(in crate::session) fn waits(self) -> bool {
        matches!(self, Self::Result(Status::Suspended | Status::InDoubt))
    }

    /// Returns true for a run that has ended, and cannot be resumed.
    pub(in crate::session) fn is_final(self) -> bool {
        matches!(self, Self::Result(_)) && !self.waits()
    }

    /// Returns true for a run that may have been ended from outside, where its script waited.
    pub(in crate::session) fn may_end_from_outside(self) -> bool {
        matches!(self, Self::Result(Status::Cancelled | Status::Limited))
    }
}

impl From<Status> for RecordStatus {
    fn from(status: Status) -> Self {
        Self::Result(status)
    }
}

impl fmt::Display for RecordStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl Serialize for RecordStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for RecordStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = Cow::<str>::deserialize(deserializer)?;
        // The word is not in the error: it may come from a stranger.
        Self::ALL.into_iter().find(|status| status.word() == word).ok_or_else(|| D::Error::custom("invalid status"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_the_words_that_records_have_and_no_others() {
        let words = [
            "created",
            "changed",
            "running",
            "interrupted",
            "suspended",
            "in_doubt",
            "completed",
            "failed",
            "denied",
            "limited",
            "cancelled",
        ];
        assert_eq!(RecordStatus::ALL.map(RecordStatus::word), words);
        for status in RecordStatus::ALL {
            let text = serde_json::to_string(&status).expect("it is a word");
            assert_eq!(text, format!("\"{}\"", status.word()));
            assert_eq!(serde_json::from_str::<RecordStatus>(&text).expect("it is one"), status);
        }
        let unknown = serde_json::from_str::<RecordStatus>("\"\\u001b[2J\"").expect_err("there is no such status");
        assert!(!unknown.to_string().contains("[2J"), "{unknown}");
    }

    #[test]
    fn status_is_final_or_waits_or_is_of_no_result() {
        let of = |is: fn(RecordStatus) -> bool| -> Vec<&str> {
            RecordStatus::ALL.into_iter().filter(|status| is(*status)).map(RecordStatus::word).collect()
        };
        assert_eq!(of(RecordStatus::waits), ["suspended", "in_doubt"]);
        assert_eq!(of(RecordStatus::is_final), ["completed", "failed", "denied", "limited", "cancelled"]);
        assert_eq!(of(RecordStatus::may_end_from_outside), ["limited", "cancelled"]);
    }
}
