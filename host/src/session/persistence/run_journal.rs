//! Journals of runs in the store: runs that are suspended or were interrupted, and how they continue or end.

use std::collections::BTreeMap;

use tracing::debug;

use super::call_counts::CallCounts;
use super::call_decisions::pending;
use super::calls_in_doubt::unresolved;
use super::heaps::EncodedHeap;
use super::open_session::{PersistentSession, StartedRun};
use super::pending_journal::PendingJournal;
use super::record::{Head, LedgerEntry, LedgerOutcome, RunRecord};
use super::record_reader::{damaged, parse_record};
use super::session_lock::Waiting;
use super::session_log::{JudgedOperation, OpenLog, json};
use super::stored_journal::StoredJournal;
use super::{RecordStatus, SessionId, Sessions, SessionsError, record_key};
use crate::capability::{JournalRetention, Limits};
use crate::gate::{CallList, CallOutcome, Calls, Event};
use crate::guest::OperationId;
use crate::ledger::Used;
use crate::session::Status;
use crate::session::heap::{HeapPosition, HeapScope, WaitingCall};
use crate::session::journal::{self, JournalEntry, Resolution};
use crate::session::run::TakenHeap;
use crate::vfs::{self, Tree};

/// Run that is resumed.
pub(in crate::session) struct ResumedRun {
    pub(in crate::session) files: Tree,
    pub(in crate::session) started_run: StartedRun,
    pub(in crate::session) journal: StoredJournal,
    /// Calls that the run had made.
    pub(in crate::session) calls: CallList,
}

/// Heap with which a run is resumed, as far as the run's records depend on it.
pub(in crate::session) struct RunHeapPosition<'h> {
    /// Number of entries of the journal, as it was read, that the heap stands for.
    pub(in crate::session) entries: usize,
    /// Calls that the script waited for.
    pub(in crate::session) waiting: &'h [WaitingCall],
    /// Position from which the log has to be read; `None` if the calls before it are wanted too.
    pub(in crate::session) log: Option<&'h HeapPosition>,
}

impl RunHeapPosition<'_> {
    /// Returns true if an entry of the journal at this index is about an operation that had ended when the heap was taken.
    fn has_ended(&self, index: usize, id: OperationId) -> bool {
        index < self.entries && !self.is_waiting(id)
    }

    /// Returns true if the script waited for this operation.
    pub(super) fn is_waiting(&self, id: OperationId) -> bool {
        self.waiting.iter().any(|call| call.id == id)
    }
}

/// Runs that can be resumed: suspended ones, and those whose process died.
#[derive(Clone, Copy)]
pub struct UnfinishedRuns<'s> {
    pub(super) sessions: &'s Sessions,
}

impl UnfinishedRuns<'_> {
    /// Says what became of a call that had started when its process ended. Nothing is run: the run continues when it is
    /// resumed. The word is in the session's log.
    ///
    /// # Errors
    /// If there is no such call, or its fate is known.
    pub fn resolve(
        &self,
        id: &SessionId,
        run: Option<u64>,
        seq: u64,
        resolution: &Resolution,
        by: &str,
        waiting: Waiting,
    ) -> Result<u64, SessionsError> {
        self.sessions.live(id, Some(waiting))?.resolve(run, seq, resolution, by)
    }

    /// Ends a run that waits to be resumed: it does not continue, and its files are dropped.
    ///
    /// # Errors
    /// If there is no such session or run, or the end cannot be committed.
    pub fn abandon(&self, id: &SessionId, waiting: Waiting) -> Result<u64, SessionsError> {
        self.sessions.live(id, Some(waiting))?.abandon()
    }

    /// Returns the run of a session that can be resumed, if there is one: it is suspended, or was interrupted.
    ///
    /// # Errors
    /// If there is no such session, or it cannot be read.
    pub fn run_of(&self, id: &SessionId) -> Result<Option<u64>, SessionsError> {
        self.sessions.record_reader().created(id)?;
        self.run_of_known(id)
    }

    /// Returns the run of a session that is known to exist, like [`UnfinishedRuns::run_of`].
    pub(super) fn run_of_known(&self, id: &SessionId) -> Result<Option<u64>, SessionsError> {
        self.run_of_head(id, self.sessions.record_reader().head(id)?)
    }

    /// Returns the run that can be resumed of a session with this head, like [`UnfinishedRuns::run_of`].
    pub(super) fn run_of_head(&self, id: &SessionId, head: Head) -> Result<Option<u64>, SessionsError> {
        if head.handed_over.is_some() {
            return Ok(None);
        }
        if head.unfinished.is_some() || head.running.is_empty() || self.sessions.locks().is_taken(id)? {
            return Ok(head.unfinished);
        }
        // A process died, and no other has noticed yet.
        for run in head.running {
            if !self.sessions.records().scan(&record_key::numbered(b'J', id, run), None, 1)?.is_empty() {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }

    /// Returns the limits with which the run that can be resumed was started, if there is one.
    ///
    /// # Errors
    /// If there is no such session, or its journal cannot be read.
    pub fn limits_of(&self, id: &SessionId) -> Result<Option<Limits>, SessionsError> {
        let Some(run) = self.run_of(id)? else { return Ok(None) };
        let failed = |source| SessionsError::Replay { session: id.clone(), run, source };
        // The first entry says it, and a journal may be long.
        match self.sessions.journals().first(id, run)? {
            Some(JournalEntry::Started(start)) => Ok(Some(start.limits().map_err(failed)?)),
            _ => Ok(None),
        }
    }

    /// Returns true if a run waits for a human, also where the process died that resumed it: no other run may begin.
    pub(super) fn waits(&self, id: &SessionId, run: u64) -> Result<bool, SessionsError> {
        Ok(self.sessions.record_reader().run(id, run)?.status.waits()
            || !pending(id, run, self.sessions.journals().without_values(id, run)?)?.is_empty())
    }
}

/// Marks the calls as pending whose result the script was never given, though they had ended, or had been refused: they
/// are judged again, or a human says what became of them. Those that the script gave up before its heap was taken stay as
/// they are.
fn without_results_pending(mut calls: CallList, journal: &[JournalEntry], heap: Option<&RunHeapPosition>) -> CallList {
    let mut open = BTreeMap::new();
    let is_given_up = |at: usize, id: &OperationId| heap.is_some_and(|heap| heap.has_ended(at, *id));
    for (at, entry) in journal.iter().enumerate() {
        match entry {
            JournalEntry::Admitted { id, .. } | JournalEntry::Deferred { id, .. } if is_given_up(at, id) => {}
            JournalEntry::Admitted { id, seq, .. } => drop(open.insert(*id, *seq)),
            JournalEntry::Deferred { id, call } => drop(open.insert(*id, call.seq)),
            JournalEntry::Delivered { id, .. } => drop(open.remove(id)),
            _ => {}
        }
    }
    for seq in open.into_values() {
        if let Some(call) = calls.get_mut(seq) {
            call.outcome = CallOutcome::Pending;
        }
    }
    calls
}

impl PersistentSession {
    /// Adds an entry to the journal of the active run. The next commit makes it durable.
    pub(in crate::session) fn journal(&self, entry: &JournalEntry) {
        if let Some(journal) = self.log.lock().as_mut().and_then(|open| open.journal.as_mut()) {
            journal.add(entry);
        }
    }

    /// Sets the operation whose call the gate is about to judge: if it is admitted, that is in the journal before any
    /// commit.
    pub(in crate::session) fn judging(&self, operation: Option<JudgedOperation>) {
        if let Some(journal) = self.log.lock().as_mut().and_then(|open| open.journal.as_mut()) {
            journal.judged = operation;
        }
    }

    /// Returns the number of bytes of the journal that no commit has written yet, and of the whole journal.
    pub(in crate::session) fn journal_bytes(&self) -> (usize, u64) {
        let open = self.log.lock();
        let journal = open.as_ref().and_then(|open| open.journal.as_ref());
        journal.map_or((0, 0), |journal| (journal.bytes.len(), journal.written + journal.bytes.len() as u64))
    }

    /// Commits a run that neither continues here nor has ended; without a status, with the one that it had before it was
    /// resumed. The files stay as they were before it. If its heap cannot be committed, it has none.
    pub(in crate::session) fn suspend(
        &self,
        started_run: &StartedRun,
        calls: Option<&Calls>,
        status: Option<RecordStatus>,
        heap: Option<&TakenHeap>,
    ) -> Result<(), SessionsError> {
        let mut open = self.log.lock();
        let open = open.as_mut().ok_or(SessionsError::NotTaken)?;
        let status = status.unwrap_or(match started_run.record.status {
            RecordStatus::Running => RecordStatus::Interrupted,
            before => before,
        });
        let mut record = RunRecord { status, ..started_run.record.clone() };
        if let Some(CallCounts { admitted, denied }) = calls.map(CallCounts::of) {
            (record.calls, record.denied) = (admitted, denied);
        }
        let heap = heap
            .zip(open.journal.as_ref())
            .and_then(|(heap, journal)| EncodedHeap::new(heap, &journal.position(heap, &open.chain)?));
        if heap.is_some() {
            debug!(target: "tollhouse::run", run = started_run.number, "the run is suspended with a heap");
        }
        match self.commit_suspension(open, started_run, &record, heap.as_ref()) {
            Err(_) if heap.is_some() => self.commit_suspension(open, started_run, &record, None)?,
            committed => committed?,
        }
        open.journal = None;
        Ok(())
    }

    /// Commits the suspension of a run, with its heap if it has one.
    fn commit_suspension(
        &self,
        open: &mut OpenLog,
        started_run: &StartedRun,
        record: &RunRecord,
        heap: Option<&EncodedHeap<'_>>,
    ) -> Result<(), SessionsError> {
        let event = Event::Ended { run: started_run.number, status: record.status.word(), error: None };
        open.commit_with_line(&self.id, &event, |open| {
            self.log.commit(open, |commit| {
                commit.head.running.retain(|run| *run != started_run.number);
                commit.head.unfinished = Some(started_run.number);
                commit.batch.put(record_key::numbered(b'R', &self.id, started_run.number), json(record));
                heap.map_or(Ok(()), |heap| heap.put(&self.id, started_run.number, commit))
            })
        })
    }

    /// Keeps a run that has ended, and whose end could not be committed, as interrupted: it can be resumed. Returns false
    /// if it cannot.
    pub(in crate::session) fn interrupt(&self, started_run: &StartedRun, calls: &Calls) -> bool {
        let replayable = self
            .log
            .lock()
            .as_ref()
            .and_then(|open| open.journal.as_ref())
            .is_some_and(|journal| journal.run == started_run.number && !journal.is_broken);
        // The commit that failed may have been made in spite of that: then the run has ended.
        let first = record_key::journal(&self.id, started_run.number, 0);
        let is_there = || {
            let record = self.sessions.record_reader().run(&self.id, started_run.number);
            record.is_ok_and(|record| record.ended.is_none())
                && matches!(self.sessions.records().get(&first), Ok(Some(_)))
        };
        if !replayable || !is_there() {
            return false;
        }
        if self.suspend(started_run, Some(calls), Some(RecordStatus::Interrupted), None).is_err() {
            self.interrupt_later(started_run);
        }
        true
    }

    /// Marks a run as interrupted, in a record that the next commit writes. Until then the store has it as running, by a
    /// process that is gone.
    fn interrupt_later(&self, started_run: &StartedRun) {
        if let Some(open) = self.log.lock().as_mut() {
            open.head.running.retain(|run| *run != started_run.number);
            open.head.unfinished = Some(started_run.number);
            // The line is short.
            let (run, status) = (started_run.number, RecordStatus::Interrupted);
            let _ = open.line(&self.id, &Event::Ended { run, status: status.word(), error: None });
            let record = RunRecord { status, ..started_run.record.clone() };
            open.put(record_key::numbered(b'R', &self.id, started_run.number), json(&record));
        }
    }

    /// Returns the number of the run that can be resumed, and the first entry of its journal.
    pub(in crate::session) fn unfinished(&self) -> Result<(u64, Option<JournalEntry>), SessionsError> {
        self.sessions.record_reader().refuse_handed_over(&self.id)?;
        let run = self.sessions.unfinished_runs().run_of(&self.id)?.ok_or_else(|| self.nothing_to_resume())?;
        Ok((run, self.sessions.journals().first(&self.id, run)?))
    }

    /// Returns the journal of a run, or what is needed of it beside the run's heap.
    pub(in crate::session) fn stored_journal(
        &self,
        run: u64,
        heap: Option<&HeapScope>,
    ) -> Result<StoredJournal, SessionsError> {
        self.sessions.journals().stored(&self.id, run, heap)
    }

    fn nothing_to_resume(&self) -> SessionsError {
        SessionsError::NoPoint { session: self.id.clone(), what: "run to resume".to_owned() }
    }

    /// Starts the session's unfinished run again. Its journal is `known`, unless another process has changed it meanwhile.
    /// Its heap, if it has one, stands for a part of that.
    pub(in crate::session) fn reenter(
        &self,
        limits: vfs::Limits,
        known: StoredJournal,
        heap: Option<&RunHeapPosition<'_>>,
    ) -> Result<ResumedRun, SessionsError> {
        self.locked(|| {
            let number = self.unfinished_run()?;
            let next_chunk = record_key::journal(&self.id, number, known.mark.chunks);
            let (journal, heap) = match known.run == number && self.sessions.records().get(&next_chunk)?.is_none() {
                true => (known, heap),
                false => (self.sessions.journals().stored(&self.id, number, None)?, None),
            };
            let calls = without_results_pending(self.calls_of(&journal, heap)?, &journal.entries, heap);
            let files = self.head(limits)?;
            let mut open = self.log.lock();
            let open = open.as_mut().ok_or(SessionsError::NotTaken)?;
            let record = self.sessions.record_reader().run(&self.id, number)?;
            if record.base != open.head.snapshot {
                return Err(damaged(&self.id, "its files are not those that the unfinished run started with"));
            }
            open.journal = Some(PendingJournal::stored(&journal));
            open.head.unfinished = None;
            open.head.running.push(number);
            let running = RunRecord { status: RecordStatus::Running, ..record.clone() };
            open.put(record_key::numbered(b'R', &self.id, number), json(&running));
            Ok(ResumedRun { files, started_run: StartedRun { number, record }, journal, calls })
        })
    }

    /// Returns the calls of a run that is resumed: from its heap on, if that is enough.
    fn calls_of(&self, journal: &StoredJournal, heap: Option<&RunHeapPosition<'_>>) -> Result<CallList, SessionsError> {
        let history = self.sessions.history();
        if let Some((heap, position)) = heap.and_then(|heap| Some((heap, heap.log?))) {
            match history.calls_behind(&self.id, journal.run, &journal.entries, heap, position) {
                Ok(Some(calls)) => return Ok(calls),
                Ok(None) => {}
                // The whole log says whether it is damaged.
                Err(error) => debug!(target: "tollhouse::run", %error, "the log of the run is read whole"),
            }
        }
        history.calls_of_journal(&self.id, journal.run, &journal.entries)
    }

    /// Gives back what a call of a resumed run had reserved, because it is judged again.
    pub(in crate::session) fn give_back(&self, run: u64, seq: u64) -> Result<(), SessionsError> {
        let mut open = self.log.lock();
        let open = open.as_mut().ok_or(SessionsError::NotTaken)?;
        let Some(value) = self.sessions.records().get(&record_key::entry(&self.id, run, seq))? else { return Ok(()) };
        let entry: LedgerEntry =
            parse_record(&self.id, "an entry", &self.sessions.record_reader().value(&self.id, &value)?)?;
        if entry.outcome == LedgerOutcome::Released {
            return Ok(());
        }
        let accounts: Vec<String> = entry.debits.iter().map(|(account, _)| account.clone()).collect();
        let used = |open: &OpenLog| -> Vec<Used> {
            accounts.iter().map(|account| open.balances.get(account).copied().unwrap_or_default()).collect()
        };
        let before = used(open);
        open.resume_pending((run, seq), entry);
        open.line(&self.id, &Event::Released { run, seq })?;
        open.released(&self.id, (run, seq));
        if let Some(spending) = self.log.spending() {
            for ((account, before), after) in accounts.iter().zip(before).zip(used(open)) {
                spending.shift(account, before, after);
            }
        }
        Ok(())
    }

    /// Returns the number of the run that can be resumed, if there is one.
    pub(in crate::session) fn unfinished_run_number(&self) -> Result<Option<u64>, SessionsError> {
        self.sessions.unfinished_runs().run_of(&self.id)
    }

    /// Returns the number of the run that can be resumed.
    fn unfinished_run(&self) -> Result<u64, SessionsError> {
        self.sessions.record_reader().refuse_handed_over(&self.id)?;
        let unfinished = self.log.lock().as_ref().and_then(|open| open.head.unfinished);
        unfinished.ok_or_else(|| self.nothing_to_resume())
    }

    /// Returns the number of the run that can be resumed, which is this one if it is named.
    pub(super) fn unfinished_run_named(&self, run: Option<u64>) -> Result<u64, SessionsError> {
        let number = self.unfinished_run()?;
        match run {
            Some(run) if run != number => {
                let what = format!("suspended or interrupted run {run}");
                Err(SessionsError::NoPoint { session: self.id.clone(), what })
            }
            _ => Ok(number),
        }
    }

    fn resolve(&self, run: Option<u64>, seq: u64, resolution: &Resolution, by: &str) -> Result<u64, SessionsError> {
        let resolved = self.locked(|| {
            let number = self.unfinished_run_named(run)?;
            if !unresolved(&self.sessions.journals().without_values(&self.id, number)?).contains_key(&seq) {
                let what = format!("call {seq} in doubt");
                return Err(SessionsError::NoPoint { session: self.id.clone(), what });
            }
            let entry = JournalEntry::Resolved { seq, resolution: resolution.clone(), by: by.to_owned() };
            // Nobody knows here which secrets the message or the result contains.
            let event = Event::Resolved { run: number, seq, word: resolution.word(), by };
            self.append_entry(number, &entry, &event)?;
            Ok(number)
        });
        if resolved.is_ok() {
            self.leave();
        }
        resolved
    }

    /// Appends an entry to the journal of a run that is not active, and an event to the log.
    pub(super) fn append_entry(&self, run: u64, entry: &JournalEntry, event: &Event<'_>) -> Result<(), SessionsError> {
        let chunks = self.sessions.journals().chunks(&self.id, run)?;
        let mut open = self.log.lock();
        let open = open.as_mut().ok_or(SessionsError::NotTaken)?;
        let bytes = journal::encode(entry);
        open.commit_with_line(&self.id, event, |open| {
            open.journal = Some(PendingJournal::appended(run, chunks, bytes.clone()));
            self.log.commit(open, |_| Ok(()))
        })?;
        open.journal = None;
        Ok(())
    }

    fn abandon(&self) -> Result<u64, SessionsError> {
        let abandoned = self.locked(|| {
            let number = self.unfinished_run()?;
            let is_kept = self.retention()? != JournalRetention::Suspended;
            let status = RecordStatus::from(Status::Cancelled);
            let record =
                RunRecord { status, ended: Some(vfs::now()), ..self.sessions.record_reader().run(&self.id, number)? };
            let mut open = self.log.lock();
            let open = open.as_mut().ok_or(SessionsError::NotTaken)?;
            let event = Event::Ended { run: number, status: status.word(), error: None };
            open.commit_with_line(&self.id, &event, |open| {
                self.log.commit(open, |commit| {
                    commit.head.unfinished = None;
                    commit.batch.put(record_key::numbered(b'R', &self.id, number), json(&record));
                    commit.batch.remove(record_key::numbered(b'I', &self.id, number));
                    if is_kept {
                        return Ok(());
                    }
                    self.sessions.record_reader().for_each_record(
                        &record_key::numbered(b'J', &self.id, number),
                        |(key, _)| {
                            commit.batch.remove(key);
                            Ok(())
                        },
                    )
                })
            })?;
            Ok(number)
        });
        if abandoned.is_ok() {
            self.leave();
        }
        abandoned
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::history::unknown_call;
    use super::*;
    use crate::gate::{LoggedDecision, LoggedEvent};

    fn admitted(id: OperationId, seq: u64) -> JournalEntry {
        JournalEntry::Admitted { id, seq, effect: None }
    }

    /// Takes an event of a log, to which is added what is the same in all of them.
    fn replay(event: serde_json::Value, calls: &mut CallList) {
        let mut line = json!({
            "run": 1, "method": "m", "arguments": {}, "grant": "g", "debits": [], "kind": "capability", "reason": "r",
            "micros": 1, "error": null,
        });
        line.as_object_mut().expect("an object").extend(event.as_object().expect("an object").clone());
        assert!(calls.replay(LoggedEvent::read(&line).expect("it is complete")));
    }

    /// A search for each entry would take some 10^10 steps, that is, minutes.
    #[test]
    fn journal_of_a_hundred_thousand_calls_is_compared_with_the_log() {
        const CALLS: u64 = 100_000;
        let mut calls = CallList::default();
        for seq in 1..=CALLS {
            let decision = LoggedDecision {
                run: 1,
                seq,
                caller: None,
                time: String::new(),
                method: "m".to_owned(),
                arguments: json!({}),
                grant: None,
                reason: None,
            };
            assert!(calls.replay(LoggedEvent::Asked { decision }));
        }
        let mut journal: Vec<JournalEntry> = (1..=CALLS).map(|seq| admitted(CALLS - seq, seq)).collect();
        assert_eq!(unknown_call(&calls, &journal), None);
        assert_eq!(without_results_pending(calls.clone(), &journal, None).count(), calls.count());
        journal.push(admitted(CALLS, CALLS + 1));
        assert_eq!(unknown_call(&calls, &journal), Some(CALLS + 1));
        journal[0] = admitted(CALLS, 0);
        assert_eq!(unknown_call(&calls, &journal), Some(0));
    }

    /// A call whose refusal was in the log, and was not delivered before the process ended, can be judged again.
    #[test]
    fn call_without_delivered_result_is_pending_again_whatever_its_outcome() {
        let mut calls = CallList::default();
        for (seq, outcome) in [(1, "ok"), (2, "cancelled"), (3, "ok")] {
            replay(json!({ "event": "admitted", "seq": seq }), &mut calls);
            replay(json!({ "event": "settled", "seq": seq, "outcome": outcome }), &mut calls);
        }
        replay(json!({ "event": "asked", "seq": 4 }), &mut calls);
        replay(json!({ "event": "denied", "seq": 4 }), &mut calls);
        let asked = json!({
            "seq": 4, "method": "m", "arguments": {}, "grant": "g", "reason": "r", "cost": [], "asked": 1, "digest": "d",
        });
        let journal = [
            admitted(10, 1),
            admitted(11, 2),
            admitted(12, 3),
            JournalEntry::Delivered { id: 12, now: 1, answer: None },
            JournalEntry::Deferred { id: 13, call: serde_json::from_value(asked).expect("a call") },
        ];
        let outcomes: Vec<CallOutcome> =
            without_results_pending(calls, &journal, None).iter().map(|call| call.outcome).collect();
        let pending = CallOutcome::Pending;
        assert_eq!(outcomes, [pending, pending, CallOutcome::Ok, pending]);
    }
}
