//! What a store keeps of a session, as JSON. Times are nanoseconds since the Unix epoch.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::family::FamilyId;
use super::{SessionId, SessionsError};
use crate::capability::Amount;
use crate::gate::CallOutcome;
use crate::ledger::Used;
use crate::store::BlobId;
use crate::vfs::SnapshotId;

/// What is fixed when a session is made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Created {
    /// When.
    pub created: u64,
    /// What its random numbers are drawn from, in hexadecimal.
    pub(super) seed: String,
    /// What it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Origin>,
    /// The sessions with which it shares its budgets, in hexadecimal. None: those that were forked from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) family: Option<String>,
}

impl Created {
    /// A seed that nobody knows.
    pub(super) fn new_seed() -> Result<String, SessionsError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| SessionsError::Random(error.into()))?;
        Ok(blake3::Hash::from(seed).to_string())
    }

    /// The same of a session with another seed: whoever has the one cannot tell the random numbers of the other.
    pub(super) fn reseeded(&self, family: FamilyId) -> Result<Self, SessionsError> {
        Ok(Self { seed: Self::new_seed()?, family: Some(family.text()), ..self.clone() })
    }
}

/// Where a fork began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The session.
    pub session: SessionId,
    /// The run that left the files; 0 for those it was made with.
    pub run: u64,
}

/// What scripts have left for the next one besides files, by the word of their language: each a blob.
pub type States = BTreeMap<String, BlobId>;

/// Where a session stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Its files.
    pub snapshot: SnapshotId,
    /// The run that left them; 0 for those it was made with.
    pub left_by: u64,
    /// How many runs there have been.
    pub runs: u64,
    /// The runs that have not ended. If no process has the session's turn, they were interrupted.
    pub running: Vec<u64>,
    /// Lines of the log, and the hash of the last, in hexadecimal.
    pub lines: u64,
    /// See `lines`.
    pub hash: String,
    /// How many commits there have been: if it is the same, nothing has changed.
    pub commits: u64,
    /// When its files last changed.
    pub changed: u64,
    /// Bytes of all its files.
    pub bytes: u64,
    /// How many files, directories and links.
    pub entries: u64,
    /// What the run that left its files has left besides, and runs before it.
    #[serde(default, skip_serializing_if = "States::is_empty")]
    pub states: States,
}

/// One run, or another change of a session's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// `running`, `interrupted`, or how it ended: as in the result of a run. `changed` is a change without a run.
    pub status: String,
    /// The script's name; of a change, what was done.
    pub script: String,
    /// blake3 of the script, in hexadecimal.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hash: String,
    /// When it began.
    pub started: u64,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<u64>,
    /// The files that it began with.
    pub base: SnapshotId,
    /// The files that it left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotId>,
    /// What there was besides then.
    #[serde(default, skip_serializing_if = "States::is_empty")]
    pub states: States,
    /// Why it failed, shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How many calls the gate admitted, and how many it denied.
    pub calls: u64,
    /// See `calls`.
    pub denied: u64,
}

/// What was spent of an account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::session) struct Balance {
    /// Its name.
    pub account: String,
    /// Calls.
    pub calls: u64,
    /// The sum, in millionths, in decimals.
    pub spend: String,
}

impl Balance {
    pub(in crate::session) fn of(account: &str, used: Used) -> Self {
        Self { account: account.to_owned(), calls: used.calls, spend: used.spend.millionths().to_string() }
    }

    /// What was spent; none if that is no amount.
    pub(in crate::session) fn used(&self) -> Option<Used> {
        Some(Used { calls: self.calls, spend: Amount::from_millionths(self.spend.parse().ok()?) })
    }
}

/// An entry of the ledger: one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The canonical method.
    pub method: String,
    /// What was reserved: account, and the amount in millionths of one that sums.
    pub debits: Vec<(String, Option<String>)>,
    /// How it ended; `pending` until then, and for good if the process died.
    pub outcome: Outcome,
}

/// How a call of the ledger ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    /// It has not, as far as is known.
    Pending,
    /// The tool returned.
    Ok,
    /// The tool failed.
    Failed,
    /// Nobody waited for the end.
    Cancelled,
    /// It never started, and what was reserved was given back.
    Released,
}

impl From<CallOutcome> for Outcome {
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
