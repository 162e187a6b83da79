//! Records of a session in its store, as JSON. Times are nanoseconds since the Unix epoch.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::RecordStatus;
use super::hand_over::HandOver;
use super::shared_budgets::FamilyId;
use super::{SessionId, SessionsError};
use crate::capability::Amount;
use crate::gate::CallOutcome;
use crate::ledger::Used;
use crate::store::BlobId;
use crate::vfs::SnapshotId;

/// Properties that are fixed when a session is created.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Created {
    /// Time of creation.
    pub created: u64,
    /// Seed of the session's random numbers, in hexadecimal.
    pub(super) seed: String,
    /// Origin, if the session is a fork.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Origin>,
    /// Family of sessions that share the budgets, in hexadecimal. With `None`, the family that the session founds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) family: Option<String>,
    /// Identifiers of the hand-overs by which the session has come here, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) hand_overs: Vec<String>,
    /// Random number of the import by which the session has come here, in hexadecimal, if its unfinished run came along:
    /// signatures made for the session elsewhere are not valid here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) import: Option<String>,
}

impl Created {
    /// Generates a secret seed, or a random number.
    pub(super) fn new_seed() -> Result<String, SessionsError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| SessionsError::Random(error.into()))?;
        Ok(blake3::Hash::from(seed).to_string())
    }

    /// Copies the record with the family that the session has.
    pub(super) fn in_family(&self, family: FamilyId) -> Self {
        Self { family: Some(family.text()), ..self.clone() }
    }

    /// Copies the record for a copy of the session, with a new seed: whoever knows one session's seed cannot tell the random numbers of the other.
    pub(super) fn reseeded(&self, family: FamilyId) -> Result<Self, SessionsError> {
        Ok(Self { seed: Self::new_seed()?, hand_overs: Vec::new(), import: None, ..self.in_family(family) })
    }
}

/// Origin of a fork.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Session that was forked.
    pub session: SessionId,
    /// Run that left the files; 0 for the files that the session was created with.
    pub run: u64,
    /// Run in whose middle the fork starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<ForkedRun>,
}

/// Run in whose middle a fork starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkedRun {
    /// Number of the run.
    pub run: u64,
    /// Number of the call before which the fork starts.
    pub seq: u64,
}

/// Blobs of the states that scripts have left for the next one besides files, by the short name of their language.
pub type States = BTreeMap<String, BlobId>;

/// Current state of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Snapshot of the files.
    pub snapshot: SnapshotId,
    /// Run that left the files; 0 for those that the session was created with.
    pub left_by: u64,
    /// Number of runs so far.
    pub runs: u64,
    /// Runs that have not ended. If no process holds the session's lock, they were interrupted.
    pub running: Vec<u64>,
    /// Run that can be resumed: it is suspended, or was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<u64>,
    /// Hand-over of the session, after which it has no further run here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed_over: Option<HandOver>,
    /// Number of lines in the log; `hash` is that of the last line.
    pub lines: u64,
    /// Hash of the last line of the log, in hexadecimal.
    pub hash: String,
    /// Number of commits so far: if it is unchanged, nothing has changed.
    pub commits: u64,
    /// Time of the last change of the files.
    pub changed: u64,
    /// Total bytes of the files.
    pub bytes: u64,
    /// Number of files, directories and links.
    pub entries: u64,
    /// States that scripts have left besides the files.
    #[serde(default, skip_serializing_if = "States::is_empty")]
    pub states: States,
}

impl Head {
    /// Returns true if the journal of a run is needed, since the run goes on or can be resumed.
    pub(super) fn needs_journal(&self, run: u64) -> bool {
        self.unfinished == Some(run) || self.running.contains(&run)
    }
}

/// Record of a run, or of another change of a session's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Status of the run, or of the change.
    pub status: RecordStatus,
    /// Name of the script, or description of the change.
    pub script: String,
    /// blake3 of the script, in hexadecimal.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hash: String,
    /// End of the log when the run started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<LogPosition>,
    /// Time of the start.
    pub started: u64,
    /// Time of the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<u64>,
    /// Files that the run started with.
    pub base: SnapshotId,
    /// Files that the run left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotId>,
    /// States that scripts had left besides the files.
    #[serde(default, skip_serializing_if = "States::is_empty")]
    pub states: States,
    /// Error of a run that failed, shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Number of calls that the gate admitted.
    pub calls: u64,
    /// Number of calls that the gate denied.
    pub denied: u64,
}

/// Position in the log of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPosition {
    /// Number of lines before it.
    pub lines: u64,
    /// Hash of the last of them, in hexadecimal.
    pub hash: String,
}

/// Spent amount of an account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::session) struct Balance {
    /// Name of the account.
    pub account: String,
    /// Number of calls.
    pub calls: u64,
    /// Sum in millionths, as a decimal number.
    pub spend: String,
}

impl Balance {
    pub(in crate::session) fn of(account: &str, used: Used) -> Self {
        Self { account: account.to_owned(), calls: used.calls, spend: used.spend.millionths().to_string() }
    }

    /// Parses the spent amount; `None` if it is not a number.
    pub(in crate::session) fn used(&self) -> Option<Used> {
        Some(Used { calls: self.calls, spend: Amount::from_millionths(self.spend.parse().ok()?) })
    }
}

/// Entry of the ledger: one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LedgerEntry {
    /// Canonical method.
    pub method: String,
    /// Reservations: accounts, with the amount in millionths where the account sums amounts.
    pub debits: Vec<(String, Option<String>)>,
    /// Outcome of the call; `pending` until its end, and for good if the process died.
    pub outcome: LedgerOutcome,
}

/// Outcome of a call in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LedgerOutcome {
    /// The call has not ended, as far as is known.
    Pending,
    /// The tool returned.
    Ok,
    /// The tool failed.
    Failed,
    /// The call was cancelled.
    Cancelled,
    /// The call never started, and its reservation was released.
    Released,
}

impl From<CallOutcome> for LedgerOutcome {
    fn from(outcome: CallOutcome) -> Self {
        match outcome {
            CallOutcome::Ok => Self::Ok,
            CallOutcome::Failed => Self::Failed,
            CallOutcome::Cancelled => Self::Cancelled,
            CallOutcome::Denied => Self::Released,
            CallOutcome::Pending => Self::Pending,
        }
    }
}
