//! Journals of runs in the store: runs that are suspended or were interrupted, and how they continue or end.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::call_counts::CallCounts;
use super::call_decisions::pending;
use super::calls_in_doubt::unresolved;
use super::heaps::EncodedHeap;
use super::open_session::{PersistentSession, StartedRun};
use super::record::{Head, LedgerEntry, LedgerOutcome, RunRecord};
use super::record_reader::{damaged, parse_record};
use super::session_lock::Waiting;
use super::session_log::{JudgedOperation, OpenLog, PendingJournal, json};
use super::{RecordStatus, SessionId, Sessions, SessionsError, record_key};
use crate::capability::{JournalRetention, Limits};
use crate::gate::{Call, CallOutcome, Event};
use crate::ledger::Used;
use crate::session::Status;
use crate::session::journal::{self, JournalEntry, JournalReader, Resolution};
use crate::session::run::TakenHeap;
use crate::vfs::{self, Tree, now};

/// Run that is resumed.
pub(in crate::session) struct ResumedRun {
    pub(in crate::session) files: Tree,
    pub(in crate::session) started_run: StartedRun,
    pub(in crate::session) journal: StoredJournal,
    /// Calls that the run had made.
    pub(in crate::session) calls: Vec<Call>,
}

/// Journal of a run as it is in the store.
pub(in crate::session) struct StoredJournal {
    pub(in crate::session) run: u64,
    /// Number of chunks. Chunks are added, and never changed.
    chunks: u64,
    pub(in crate::session) bytes: Bytes,
    pub(in crate::session) entries: Vec<JournalEntry>,
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
        let head = self.sessions.record_reader().head(id)?;
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
        let Some(chunk) = self.sessions.records().get(&record_key::journal(id, run, 0))? else { return Ok(None) };
        let chunk = self.sessions.record_reader().value(id, &chunk)?.into();
        match decoded(id, run, &chunk, &mut JournalReader::default())?.first() {
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

/// Journals of runs in the store.
#[derive(Clone, Copy)]
pub(super) struct RunJournals<'s> {
    pub(super) sessions: &'s Sessions,
}

impl RunJournals<'_> {
    /// Returns the keys of the journals that are kept no longer, of runs that have ended: of at most so many runs, the
    /// oldest first.
    pub(super) fn outdated(
        &self,
        id: &SessionId,
        retention: JournalRetention,
        head: &Head,
        max_runs: usize,
    ) -> Result<Vec<Vec<u8>>, SessionsError> {
        let JournalRetention::For(time) = retention else { return Ok(Vec::new()) };
        let oldest = now().saturating_sub(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        let prefix = record_key::prefix(b'J', id);
        let (mut keys, mut after) = (Vec::new(), None);
        for _ in 0..max_runs {
            let Some((key, _)) = self.sessions.records().scan(&prefix, after.as_deref(), 1)?.pop() else { break };
            let (_, run) = record_key::read_journal(&key).ok_or_else(|| damaged(id, "the key of a journal"))?;
            if !head.needs_journal(run) {
                let record = self.sessions.record_reader().run(id, run)?;
                if record.ended.unwrap_or(record.started) >= oldest {
                    // Later runs have ended later.
                    break;
                }
                self.sessions.record_reader().for_each_record(&record_key::numbered(b'J', id, run), |(key, _)| {
                    keys.push(key);
                    Ok(())
                })?;
            }
            after = Some(record_key::journal(id, run, u64::MAX));
        }
        Ok(keys)
    }

    /// Returns the number of chunks of a run's journal.
    pub(super) fn chunks(&self, id: &SessionId, run: u64) -> Result<u64, SessionsError> {
        let mut chunks = 0;
        self.sessions.record_reader().for_each_record(&record_key::numbered(b'J', id, run), |_| {
            chunks += 1;
            Ok(())
        })?;
        Ok(chunks)
    }

    /// Reads the journal of a run; empty if it has none.
    pub(super) fn journal(&self, id: &SessionId, run: u64) -> Result<Vec<JournalEntry>, SessionsError> {
        Ok(self.stored(id, run)?.entries)
    }

    /// Reads the journal of a run, with its bytes.
    fn stored(&self, id: &SessionId, run: u64) -> Result<StoredJournal, SessionsError> {
        let (mut bytes, mut chunks) = (Vec::new(), 0);
        self.sessions.record_reader().for_each_record(&record_key::numbered(b'J', id, run), |(_, value)| {
            bytes.extend_from_slice(&self.sessions.record_reader().value(id, &value)?);
            chunks += 1;
            Ok(())
        })?;
        let bytes = Bytes::from(bytes);
        let entries = decoded(id, run, &bytes, &mut JournalReader::default())?;
        Ok(StoredJournal { run, chunks, bytes, entries })
    }

    /// Reads the journal of a run without the values that its guests were given: what waits and what is in doubt is seen
    /// without them, and they may take much memory. Each of its records, which has whole entries, is read by itself.
    pub(super) fn without_values(&self, id: &SessionId, run: u64) -> Result<Vec<JournalEntry>, SessionsError> {
        let (mut entries, mut reader) = (Vec::new(), JournalReader::default());
        self.sessions.record_reader().for_each_record(&record_key::numbered(b'J', id, run), |(_, value)| {
            let read = decoded(id, run, &self.sessions.record_reader().value(id, &value)?.into(), &mut reader)?;
            entries.extend(read.into_iter().map(JournalEntry::without_values));
            Ok(())
        })?;
        Ok(entries)
    }
}

/// Decodes a part of a run's journal.
fn decoded(
    id: &SessionId,
    run: u64,
    part: &Bytes,
    reader: &mut JournalReader,
) -> Result<Vec<JournalEntry>, SessionsError> {
    reader.read(part).map_err(|source| SessionsError::Replay { session: id.clone(), run, source })
}

/// Marks the calls as pending whose result the script was never given, though they had ended, or had been refused: they
/// are judged again, or a human says what became of them.
fn without_results_pending(mut calls: Vec<Call>, journal: &[JournalEntry]) -> Vec<Call> {
    let mut open = BTreeMap::new();
    for entry in journal {
        match entry {
            JournalEntry::Admitted { id, seq, .. } => drop(open.insert(*id, *seq)),
            JournalEntry::Deferred { id, call } => drop(open.insert(*id, call.seq)),
            JournalEntry::Delivered { id, .. } => drop(open.remove(id)),
            _ => {}
        }
    }
    for seq in open.into_values() {
        if let Some(call) = Call::index_of(seq).and_then(|index| calls.get_mut(index)) {
            call.outcome = CallOutcome::Pending;
        }
    }
    calls
}

impl PersistentSession {
    /// Adds an entry to the journal of the active run. The next commit makes it durable.
    pub(in crate::session) fn journal(&self, entry: &JournalEntry) {
        if let Some(journal) = self.log.lock().as_mut().and_then(|open| open.journal.as_mut()) {
            journal.bytes.extend(journal::encode(entry));
            journal.is_broken |= matches!(entry, JournalEntry::Unreplayable { .. });
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
        calls: Option<&[Call]>,
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
        let prefix = open.journal.as_ref().map(PendingJournal::prefix);
        let heap = heap.zip(prefix).and_then(|(heap, prefix)| EncodedHeap::new(heap, &prefix));
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
    pub(in crate::session) fn interrupt(&self, started_run: &StartedRun, calls: &[Call]) -> bool {
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

    /// Returns the journal of the run that can be resumed.
    pub(in crate::session) fn unfinished(&self) -> Result<StoredJournal, SessionsError> {
        self.sessions.record_reader().refuse_handed_over(&self.id)?;
        let run = self.sessions.unfinished_runs().run_of(&self.id)?.ok_or_else(|| self.nothing_to_resume())?;
        self.sessions.journals().stored(&self.id, run)
    }

    fn nothing_to_resume(&self) -> SessionsError {
        SessionsError::NoPoint { session: self.id.clone(), what: "run to resume".to_owned() }
    }

    /// Starts the session's unfinished run again. Its journal is `known`, unless another process has changed it meanwhile.
    pub(in crate::session) fn reenter(
        &self,
        limits: vfs::Limits,
        known: StoredJournal,
    ) -> Result<ResumedRun, SessionsError> {
        self.locked(|| {
            let number = self.unfinished_run()?;
            let next_chunk = record_key::journal(&self.id, number, known.chunks);
            let journal = match known.run == number && self.sessions.records().get(&next_chunk)?.is_none() {
                true => known,
                false => self.sessions.journals().stored(&self.id, number)?,
            };
            let calls = self.sessions.history().calls_of_journal(&self.id, number, &journal.entries)?;
            let calls = without_results_pending(calls, &journal.entries);
            let files = self.head(limits)?;
            let mut open = self.log.lock();
            let open = open.as_mut().ok_or(SessionsError::NotTaken)?;
            let record = self.sessions.record_reader().run(&self.id, number)?;
            if record.base != open.head.snapshot {
                return Err(damaged(&self.id, "its files are not those that the unfinished run started with"));
            }
            open.journal = Some(PendingJournal::stored(number, journal.chunks, &journal.bytes));
            open.head.unfinished = None;
            open.head.running.push(number);
            let running = RunRecord { status: RecordStatus::Running, ..record.clone() };
            open.put(record_key::numbered(b'R', &self.id, number), json(&running));
            Ok(ResumedRun { files, started_run: StartedRun { number, record }, journal, calls })
        })
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
            open.journal = Some(PendingJournal::new(run, chunks, bytes.clone()));
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
    use crate::guest::OperationId;

    fn admitted(id: OperationId, seq: u64) -> JournalEntry {
        JournalEntry::Admitted { id, seq, effect: None }
    }

    /// Takes an event of a log, to which is added what is the same in all of them.
    fn replay(event: serde_json::Value, calls: &mut Vec<Call>) {
        let mut line = json!({
            "run": 1, "method": "m", "arguments": {}, "grant": "g", "debits": [], "kind": "capability", "reason": "r",
            "micros": 1, "error": null,
        });
        line.as_object_mut().expect("an object").extend(event.as_object().expect("an object").clone());
        assert!(Call::replay(LoggedEvent::read(&line).expect("it is complete"), calls));
    }

    /// A search for each entry would take some 10^10 steps, that is, minutes.
    #[test]
    fn journal_of_a_hundred_thousand_calls_is_compared_with_the_log() {
        const CALLS: u64 = 100_000;
        let mut calls = Vec::new();
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
            assert!(Call::replay(LoggedEvent::Asked { decision }, &mut calls));
        }
        let mut journal: Vec<JournalEntry> = (1..=CALLS).map(|seq| admitted(CALLS - seq, seq)).collect();
        assert_eq!(unknown_call(&calls, &journal), None);
        assert_eq!(without_results_pending(calls.clone(), &journal).len(), calls.len());
        journal.push(admitted(CALLS, CALLS + 1));
        assert_eq!(unknown_call(&calls, &journal), Some(CALLS + 1));
        journal[0] = admitted(CALLS, 0);
        assert_eq!(unknown_call(&calls, &journal), Some(0));
    }

    /// A call whose refusal was in the log, and was not delivered before the process ended, can be judged again.
    #[test]
    fn call_without_delivered_result_is_pending_again_whatever_its_outcome() {
        let mut calls = Vec::new();
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
            without_results_pending(calls, &journal).iter().map(|call| call.outcome).collect();
        let pending = CallOutcome::Pending;
        assert_eq!(outcomes, [pending, pending, CallOutcome::Ok, pending]);
    }
}
