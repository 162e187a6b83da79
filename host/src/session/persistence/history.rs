//! History of sessions: their runs call by call, and where files come from. Nothing is run, and nothing is locked.

use std::collections::BTreeMap;

use super::file_origin::{self, FileOrigin};
use super::record::{RunRecord, States};
use super::record_reader::damaged;
use super::recorded_run::{self, RecordedRun};
use super::run_replay::{CallReader, ReplayedRun};
use super::{At, Point, SessionId, Sessions, SessionsError};
use crate::gate::{Call, LoggedEvent, limited_accounts};
use crate::session::journal::JournalEntry;
use crate::vfs::SnapshotId;

/// History of the sessions of a store.
#[derive(Clone, Copy)]
pub struct RunHistory<'s> {
    pub(super) sessions: &'s Sessions,
}

impl RunHistory<'_> {
    /// Returns a run call by call, from the session's log and, if there is one, the journal of the run. A point without a
    /// run is the last one; a label that of the run that it names.
    ///
    /// # Errors
    /// If there is no such session or run, or its log or journal cannot be read.
    pub fn replay(&self, point: &Point) -> Result<ReplayedRun, SessionsError> {
        let id = &point.session;
        let (run, record) = self.script_run(point)?;
        let mut calls = CallReader::new(
            run,
            limited_accounts(&self.sessions.reader().policy(id)?),
            self.sessions.record_reader().carried(id)?,
        );
        self.sessions.reader().logged_events(id, None, None, &mut |event| calls.take(event))?;
        let journal = self.sessions.journals().journal(id, run)?;
        let is_there = !journal.is_empty();
        calls.take_journal(journal).map_err(|source| SessionsError::Replay { session: id.clone(), run, source })?;
        let calls = calls.calls.into_values().collect();
        Ok(ReplayedRun {
            session: id.clone(),
            run,
            status: record.status,
            script: record.script,
            journal: is_there,
            calls,
        })
    }

    /// Returns where a file comes from: the last run, or change, that left it as it is, and the calls of that run.
    ///
    /// Which call a script took the content from cannot be seen: those are named whose results it had by the time of the
    /// file's last change.
    ///
    /// # Errors
    /// If there is no such session or run, or its files, log or journal cannot be read.
    pub fn why(&self, point: &Point, path: &str) -> Result<FileOrigin, SessionsError> {
        file_origin::origin(*self, point, path)
    }

    /// Returns a run that has ended: without a number, the last one of the session.
    ///
    /// # Errors
    /// If there is no such run, it has not ended, its journal is not kept, or a part of it cannot be read.
    pub(in crate::session) fn recorded_run(&self, point: &Point) -> Result<RecordedRun, SessionsError> {
        recorded_run::read(*self, point)
    }

    /// Returns the run of a script that a point names, with its record: without a run, the last one.
    pub(super) fn script_run(&self, point: &Point) -> Result<(u64, RunRecord), SessionsError> {
        let id = &point.session;
        let runs = self.sessions.reader().runs(id)?;
        let number = match point.at {
            At::Run(run) => Some(run),
            At::Label(_) => Some(self.sessions.reader().snapshot(point)?.1),
            At::Head => runs.iter().rev().find(|(_, run)| !run.hash.is_empty()).map(|(number, _)| *number),
        };
        let found = runs.into_iter().find(|(run, record)| Some(*run) == number && !record.hash.is_empty());
        found.ok_or_else(|| SessionsError::NoPoint {
            session: id.clone(),
            what: number.map_or("run yet".to_owned(), |run| format!("run {run} of a script")),
        })
    }

    /// Returns the run that left the files with which a run started, and the states of scripts that it left.
    pub(super) fn before(&self, id: &SessionId, run: u64, base: SnapshotId) -> Result<(u64, States), SessionsError> {
        let runs = self.sessions.reader().runs(id)?;
        let before = runs.into_iter().rev().find(|(number, record)| *number < run && record.snapshot.is_some());
        match before {
            Some((number, record)) if record.snapshot == Some(base) => Ok((number, record.states)),
            _ => Err(damaged(id, "the files with which the run started are of no earlier run")),
        }
    }

    /// Returns the calls that a run had made, from the session's log.
    pub(super) fn calls_of(&self, id: &SessionId, run: u64) -> Result<Vec<Call>, SessionsError> {
        self.calls_with(id, run, &mut |_| {})
    }

    /// Returns the calls that a run had made, from the session's log, each of whose events is passed to `observe`.
    fn calls_with(
        &self,
        id: &SessionId,
        run: u64,
        observe: &mut dyn FnMut(&LoggedEvent),
    ) -> Result<Vec<Call>, SessionsError> {
        let mut calls = Vec::new();
        let mut complete = true;
        let record = self.sessions.record_reader().run(id, run)?;
        self.sessions.reader().logged_events(id, record.log.as_ref(), Some(run), &mut |event| {
            observe(&event);
            complete &= Call::replay(event, &mut calls);
        })?;
        if complete { Ok(calls) } else { Err(damaged(id, "its log lacks a call")) }
    }

    /// Returns the calls that a run had made, from the session's log.
    ///
    /// # Errors
    /// If the log cannot be read, or lacks a call or an approval that the journal has: both are written in one commit.
    pub(super) fn calls_of_journal(
        &self,
        id: &SessionId,
        run: u64,
        journal: &[JournalEntry],
    ) -> Result<Vec<Call>, SessionsError> {
        let mut unlogged = approvals(journal);
        let calls = self.calls_with(id, run, &mut |event| {
            if let LoggedEvent::Answered { seq, allowed: true, .. } = event
                && let Some(left) = unlogged.get_mut(seq)
            {
                *left = left.saturating_sub(1);
            }
        })?;
        if let Some(seq) = unknown_call(&calls, journal) {
            return Err(damaged(id, &format!("its journal has call {seq}, and its log does not")));
        }
        match unlogged.into_iter().find(|(_, left)| *left > 0) {
            Some((seq, _)) => {
                Err(damaged(id, &format!("its journal has an approval of call {seq}, and its log does not")))
            }
            None => Ok(calls),
        }
    }
}

/// Returns the calls that humans approved in a journal, by their numbers, and how often.
fn approvals(journal: &[JournalEntry]) -> BTreeMap<u64, usize> {
    let mut approvals = BTreeMap::new();
    for entry in journal {
        if let JournalEntry::Decided { seq, decision } = entry
            && decision.allowed
        {
            *approvals.entry(*seq).or_default() += 1;
        }
    }
    approvals
}

/// Returns the number of a call of a journal that is not among those of the log, or is another there.
pub(super) fn unknown_call(calls: &[Call], journal: &[JournalEntry]) -> Option<u64> {
    let of_log = |seq: u64| Call::index_of(seq).and_then(|index| calls.get(index));
    journal.iter().find_map(|entry| match entry {
        JournalEntry::Admitted { seq, .. } => of_log(*seq).is_none().then_some(*seq),
        JournalEntry::Deferred { call, .. } => {
            of_log(call.seq).is_none_or(|logged| logged.method != call.method).then_some(call.seq)
        }
        _ => None,
    })
}
