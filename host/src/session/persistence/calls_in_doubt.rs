//! Calls that had started when their process ended, and of which nobody knows whether they took effect.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value as Json;
use tollhouse_registry::Effect;

use super::call_decisions::PendingCall;
use super::{RecordStatus, SessionId, SessionsError, UnfinishedRuns};
use crate::gate::CallOutcome;
use crate::session::Status;
use crate::session::journal::JournalEntry;

/// Call of an unfinished run that is in doubt: a human says what became of it ([`UnfinishedRuns::resolve`]).
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct CallInDoubt {
    /// Session of the run.
    pub session: SessionId,
    /// Number of the run.
    pub run: u64,
    /// Number of the call in its run.
    pub seq: u64,
    /// The canonical method.
    pub method: String,
    /// The canonical arguments, as the tool got them.
    pub arguments: Json,
    /// Outcome in the session's log. [`CallOutcome::Pending`] if the call had not ended as far as the log knows; otherwise it
    /// had, and its result is lost.
    pub outcome: CallOutcome,
}

/// Session whose calls cannot be listed.
#[derive(Debug)]
#[non_exhaustive]
pub struct UnreadableSession {
    /// Name of the session.
    pub session: SessionId,
    /// First problem that was found.
    pub error: SessionsError,
}

/// Calls of unfinished runs for which a human is needed.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct CallsForHumans {
    /// Calls that wait for a decision, or whose decision has had no effect yet.
    pub pending: Vec<PendingCall>,
    /// Calls in doubt.
    pub in_doubt: Vec<CallInDoubt>,
    /// Sessions of which this is not known, because they are damaged. Where one session is asked about, that is an error instead.
    pub unreadable: Vec<UnreadableSession>,
}

impl UnfinishedRuns<'_> {
    /// Lists the calls of a session's unfinished run that are in doubt. Some of them may turn out not to be when the run is
    /// resumed: the script may have given them up just before its process ended.
    ///
    /// # Errors
    /// If there is no such session, or it cannot be read.
    pub fn calls_in_doubt(&self, id: &SessionId) -> Result<Vec<CallInDoubt>, SessionsError> {
        self.sessions.record_reader().created(id)?;
        match self.run_of(id)? {
            Some(run) => self.in_doubt_of(id, run, &self.sessions.journals().without_values(id, run)?),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the calls of a run that are in doubt, by its journal and the session's log.
    pub(super) fn in_doubt_of(
        &self,
        id: &SessionId,
        run: u64,
        journal: &[JournalEntry],
    ) -> Result<Vec<CallInDoubt>, SessionsError> {
        let mut open = unresolved(journal);
        open.retain(|_, effect| !matches!(effect, Some(Effect::Pure | Effect::Idempotent)));
        // A run is suspended only when no call is in progress.
        if open.is_empty()
            || self.sessions.record_reader().run(id, run)?.status == RecordStatus::from(Status::Suspended)
        {
            return Ok(Vec::new());
        }
        let calls = self.sessions.history().calls_of(id, run)?;
        let found = open.into_keys().filter_map(|seq| Some((seq, calls.get(seq)?)));
        // The script did not wait for a call that was cancelled.
        let found = found.filter(|(_, call)| call.outcome != CallOutcome::Cancelled);
        let in_doubt = found.map(|(seq, call)| CallInDoubt {
            session: id.clone(),
            run,
            seq,
            method: call.method.clone(),
            arguments: call.arguments.clone(),
            outcome: call.outcome,
        });
        Ok(in_doubt.collect())
    }
}

/// Returns the numbers of the calls that had started, and have neither a result nor a word of what became of them, with their
/// effects as far as the journal has them.
pub(super) fn unresolved(journal: &[JournalEntry]) -> BTreeMap<u64, Option<Effect>> {
    let mut open = BTreeMap::new();
    for entry in journal {
        match entry {
            JournalEntry::Admitted { id, seq, effect } => drop(open.insert(*id, (*seq, *effect))),
            JournalEntry::Delivered { id, .. } | JournalEntry::Deferred { id, .. } => drop(open.remove(id)),
            JournalEntry::Resolved { seq, .. } => open.retain(|_, (other, _)| other != seq),
            _ => {}
        }
    }
    open.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::journal::Resolution;

    #[test]
    fn call_is_unresolved_until_it_is_delivered_deferred_or_resolved() {
        let admitted = |id, seq, effect| JournalEntry::Admitted { id, seq, effect };
        let resolved = |seq| JournalEntry::Resolved { seq, resolution: Resolution::Retry, by: "me".to_owned() };
        let mut journal = vec![
            admitted(10, 1, Some(Effect::Once)),
            admitted(11, 2, Some(Effect::Pure)),
            admitted(12, 3, None),
            JournalEntry::Delivered { id: 11, now: 1, answer: None },
        ];
        assert_eq!(unresolved(&journal), BTreeMap::from([(1, Some(Effect::Once)), (3, None)]));
        journal.push(resolved(1));
        assert_eq!(unresolved(&journal), BTreeMap::from([(3, None)]));
        journal.push(admitted(10, 1, Some(Effect::Once)));
        assert!(unresolved(&journal).contains_key(&1), "it was made again, and interrupted again");
    }
}
