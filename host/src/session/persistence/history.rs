//! History of sessions: their runs call by call, and where files come from. Nothing is run, and nothing is locked.

use std::collections::BTreeMap;

use super::file_origin::{self, FileOrigin};
use super::record::{LogPosition, RunRecord, States};
use super::record_reader::damaged;
use super::recorded_run::{self, RecordedRun};
use super::run_journal::RunHeapPosition;
use super::run_replay::{CallReader, ReplayedRun};
use super::{At, Point, SessionId, Sessions, SessionsError, record_key};
use crate::gate::{CallList, LoggedEvent, limited_accounts};
use crate::session::heap::HeapPosition;
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
    pub(super) fn calls_of(&self, id: &SessionId, run: u64) -> Result<CallList, SessionsError> {
        let record = self.sessions.record_reader().run(id, run)?;
        self.calls_with(id, run, CallList::default(), record.log.as_ref(), &mut |_| {})
    }

    /// Returns the calls that a run had made: these, and those that the session's log has behind a position, each of whose
    /// events is passed to `observe`.
    fn calls_with(
        &self,
        id: &SessionId,
        run: u64,
        mut calls: CallList,
        after: Option<&LogPosition>,
        observe: &mut dyn FnMut(&LoggedEvent),
    ) -> Result<CallList, SessionsError> {
        let mut complete = true;
        self.sessions.reader().logged_events(id, after, Some(run), &mut |event| {
            observe(&event);
            complete &= calls.replay(event);
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
    ) -> Result<CallList, SessionsError> {
        let record = self.sessions.record_reader().run(id, run)?;
        self.calls_of_entries(id, run, CallList::default(), record.log.as_ref(), journal)
    }

    /// Returns the calls that a run had made, with a summary of those that had ended when its heap was taken: the log is
    /// read from there on. `journal` is what was read of the journal beside the heap. Returns `None` if the whole log is
    /// needed.
    ///
    /// # Errors
    /// Those of [`Self::calls_of_journal`].
    pub(super) fn calls_behind(
        &self,
        id: &SessionId,
        run: u64,
        journal: &[JournalEntry],
        heap: &RunHeapPosition<'_>,
        position: &HeapPosition,
    ) -> Result<Option<CallList>, SessionsError> {
        let (before, behind) = journal.split_at(heap.entries.min(journal.len()));
        let mut questions = BTreeMap::new();
        for entry in before {
            if let JournalEntry::Deferred { id, call } = entry
                && heap.is_waiting(*id)
            {
                questions.insert(*id, &**call);
            }
        }
        // An approval of a call that waits has had no effect yet: the log before the heap must have it.
        let approved = approvals(before);
        if questions.len() != heap.waiting.len() || questions.values().any(|call| approved.contains_key(&call.seq)) {
            return Ok(None);
        }
        let after = LogPosition { lines: position.lines, hash: position.line_hash.clone() };
        let Some(calls) = CallList::resumed(position.calls.clone(), questions.into_values()) else { return Ok(None) };
        let calls = self.calls_of_entries(id, run, calls, Some(&after), behind)?;
        // No call may get the number of one that the heap does not have: the ledger has an entry for each that was
        // admitted, and the run's record the number of all when it was suspended.
        let (last, entries) = (record_key::entry(id, run, calls.count()), record_key::numbered(b'E', id, run));
        let is_last = self.sessions.records().scan(&entries, Some(&last), 1)?.is_empty();
        let record = self.sessions.record_reader().run(id, run)?;
        let is_whole = is_last && record.calls.saturating_add(record.denied) <= calls.count();
        Ok(is_whole.then_some(calls))
    }

    /// Adds the calls that the log has behind a position to these, and compares them with the entries of the journal.
    fn calls_of_entries(
        &self,
        id: &SessionId,
        run: u64,
        calls: CallList,
        after: Option<&LogPosition>,
        journal: &[JournalEntry],
    ) -> Result<CallList, SessionsError> {
        let mut unlogged = approvals(journal);
        let calls = self.calls_with(id, run, calls, after, &mut |event| {
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
pub(super) fn unknown_call(calls: &CallList, journal: &[JournalEntry]) -> Option<u64> {
    journal.iter().find_map(|entry| match entry {
        JournalEntry::Admitted { seq, .. } => calls.get(*seq).is_none().then_some(*seq),
        JournalEntry::Deferred { call, .. } => {
            calls.get(call.seq).is_none_or(|logged| logged.method != call.method).then_some(call.seq)
        }
        _ => None,
    })
}
