//! Journals of runs in the store, and decisions about the calls in them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value as Json;

use super::call_counts::CallCounts;
use super::open_session::{PersistentSession, StartedRun};
use super::query::damaged;
use super::record::{Head, LedgerEntry, LedgerOutcome, RunRecord};
use super::session_lock::Waiting;
use super::session_log::{OpenLog, PendingJournal, json};
use super::{SessionId, Sessions, SessionsError, record_key};
use crate::capability::{JournalRetention, Limits};
use crate::gate::{ApprovalStatement, Call, CallOutcome, Decision, DeferredCall, Event, SignedSession};
use crate::guest::OperationId;
use crate::ledger::Used;
use crate::session::journal::{self, JournalEntry, Resolution};
use crate::vfs::{self, Tree, now};

/// Statuses of runs that can be resumed.
pub(super) const SUSPENDED: &str = "suspended";
pub(super) const IN_DOUBT: &str = "in_doubt";
pub(super) const INTERRUPTED: &str = "interrupted";

/// Call of a suspended run that waits for the decision of a human.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PendingCall {
    /// Session of the run.
    pub session: SessionId,
    /// Number of the run.
    pub run: u64,
    /// The call.
    #[serde(flatten)]
    pub call: DeferredCall,
    /// Decision, if there is one already: the run was not resumed since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// What the signature of an approval is about, besides the call: the session, and the digest of what the run may do.
    #[serde(skip)]
    signed: Option<(SignedSession, String)>,
}

impl PendingCall {
    /// Returns what has to be signed to approve the call, with other arguments if they are given; `None` if anyone can
    /// approve it.
    #[must_use]
    pub fn approval_statement(&self, arguments: Option<&Json>) -> Option<ApprovalStatement> {
        let (session, authority) = self.signed.as_ref()?;
        let edited = arguments.map(|arguments| self.call.edited_digest(self.run, arguments));
        let digest = edited.as_ref().unwrap_or(&self.call.digest);
        Some(ApprovalStatement::new(session, authority, digest, self.call.expires))
    }
}

/// Answer to the question whether a call may be made.
#[derive(Clone, Debug)]
pub struct Answered {
    /// True if the call may be made.
    pub allowed: bool,
    /// Person or system that decided, for the log.
    pub by: String,
    /// Reason of a refusal, which the script sees.
    pub reason: Option<String>,
    /// Digest of the call that is meant: any other call is not decided about. `None` for whichever it is.
    pub digest: Option<String>,
    /// Arguments in place of the script's, with which the call is approved. The gate judges them when the run is
    /// resumed.
    pub arguments: Option<Json>,
    /// Signature of [`PendingCall::approval_statement`], where the grant wants one. Whether it is right is seen when the
    /// run is resumed, by whoever has the approvers' keys.
    pub signature: Option<String>,
}

/// Run that is resumed.
pub(in crate::session) struct ResumedRun {
    pub(in crate::session) files: Tree,
    pub(in crate::session) started_run: StartedRun,
    pub(in crate::session) journal: Vec<JournalEntry>,
    /// Calls that the run had made.
    pub(in crate::session) calls: Vec<Call>,
}

impl Sessions {
    /// Lists the calls of a session's suspended run that wait for a decision, or whose decision has had no effect yet.
    ///
    /// # Errors
    /// If there is no such session, or it cannot be read.
    pub fn pending_calls(&self, id: &SessionId) -> Result<Vec<PendingCall>, SessionsError> {
        self.created(id)?;
        let Some(run) = self.unfinished(id)? else { return Ok(Vec::new()) };
        self.pending(id, run, self.journal(id, run)?)
    }

    /// Lists the calls of all sessions that wait, like [`Sessions::pending_calls`]: sessions without a journal cost nothing.
    ///
    /// # Errors
    /// If a session cannot be read.
    pub fn all_pending_calls(&self) -> Result<Vec<PendingCall>, SessionsError> {
        // Of runs that have ended, journals may be kept. They are not read.
        let mut journals: Vec<(SessionId, u64, Option<Vec<u8>>)> = Vec::new();
        self.for_each_record(b"J", |(name, value)| {
            let Some((id, run)) = record_key::read_journal(&name) else { return Ok(()) };
            if !journals.last().is_some_and(|(last, number, _)| *last == id && *number == run) {
                let waits = match self.unfinished(&id) {
                    Ok(unfinished) => unfinished == Some(run),
                    // The session was removed since its journal was read.
                    Err(SessionsError::Unknown { .. }) => false,
                    Err(error) => return Err(error),
                };
                journals.push((id.clone(), run, waits.then(Vec::new)));
            }
            if let Some((_, _, Some(journal))) = journals.last_mut() {
                journal.extend(self.value(&id, &value)?);
            }
            Ok(())
        })?;
        let mut calls = Vec::new();
        for (id, run, bytes) in journals {
            let Some(bytes) = bytes else { continue };
            match self.pending(&id, run, self.decoded(&id, run, &bytes)?) {
                Ok(pending) => calls.extend(pending),
                // It was removed since its journal was read.
                Err(SessionsError::Unknown { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(calls)
    }

    /// Decides about a call that waits for approval; with `seq` of `None`, about the only one. Nothing is run: the run
    /// continues when it is resumed. The decision is in the session's log.
    ///
    /// # Errors
    /// If there is no such call, or it was decided already.
    pub fn decide(
        &self,
        id: &SessionId,
        run: Option<u64>,
        seq: Option<u64>,
        answered: &Answered,
        waiting: Waiting,
    ) -> Result<PendingCall, SessionsError> {
        self.live(id, Some(waiting))?.decide(run, seq, answered)
    }

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
        self.live(id, Some(waiting))?.resolve(run, seq, resolution, by)
    }

    /// Ends a run that waits to be resumed: it does not continue, and its files are dropped.
    ///
    /// # Errors
    /// If there is no such session or run, or the end cannot be committed.
    pub fn abandon(&self, id: &SessionId, waiting: Waiting) -> Result<u64, SessionsError> {
        self.live(id, Some(waiting))?.abandon()
    }

    /// Returns the run of a session that can be resumed, if there is one: it is suspended, or was interrupted.
    ///
    /// # Errors
    /// If there is no such session, or it cannot be read.
    pub fn unfinished(&self, id: &SessionId) -> Result<Option<u64>, SessionsError> {
        self.created(id)?;
        let head = self.head(id)?;
        if head.handed_over.is_some() {
            return Ok(None);
        }
        if head.unfinished.is_some() || head.running.is_empty() || self.0.locks.is_taken(id)? {
            return Ok(head.unfinished);
        }
        // A process died, and no other has noticed yet.
        for run in head.running {
            if !self.records().scan(&record_key::numbered(b'J', id, run), None, 1)?.is_empty() {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }

    /// Returns the limits with which the run that can be resumed was started, if there is one.
    ///
    /// # Errors
    /// If there is no such session, or its journal cannot be read.
    pub fn unfinished_limits(&self, id: &SessionId) -> Result<Option<Limits>, SessionsError> {
        let Some(run) = self.unfinished(id)? else { return Ok(None) };
        let failed = |source| SessionsError::Replay { session: id.clone(), run, source };
        // The first entry says it, and a journal may be long.
        let Some(chunk) = self.records().get(&record_key::journal(id, run, 0))? else { return Ok(None) };
        match self.decoded(id, run, &self.value(id, &chunk)?)?.first() {
            Some(JournalEntry::Started(start)) => Ok(Some(start.limits().map_err(failed)?)),
            _ => Ok(None),
        }
    }

    /// Returns true if a run waits for a human, also where the process died that resumed it: no other run may begin.
    pub(super) fn waits(&self, id: &SessionId, run: u64) -> Result<bool, SessionsError> {
        let waits = matches!(self.run(id, run)?.status.as_str(), SUSPENDED | IN_DOUBT);
        Ok(waits || !pending(id, run, self.journal(id, run)?).is_empty())
    }

    /// Returns the calls of a journal that wait for a decision, with what their signatures are about.
    fn pending(&self, id: &SessionId, run: u64, journal: Vec<JournalEntry>) -> Result<Vec<PendingCall>, SessionsError> {
        let authority = match journal.first() {
            Some(JournalEntry::Started(start)) => start.authority().to_owned(),
            _ => String::new(),
        };
        let mut calls = pending(id, run, journal);
        if calls.iter().any(|pending| pending.call.approved_by.is_some()) {
            let session = self.signed_session(id)?;
            for pending in calls.iter_mut().filter(|pending| pending.call.approved_by.is_some()) {
                pending.signed = Some((session.clone(), authority.clone()));
            }
        }
        Ok(calls)
    }

    /// Returns the keys of the journals that are kept no longer, of runs that have ended: of at most so many runs, the
    /// oldest first.
    pub(super) fn outdated_journals(
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
            let Some((key, _)) = self.records().scan(&prefix, after.as_deref(), 1)?.pop() else { break };
            let (_, run) = record_key::read_journal(&key).ok_or_else(|| damaged(id, "the key of a journal"))?;
            if !head.needs_journal(run) {
                let record = self.run(id, run)?;
                if record.ended.unwrap_or(record.started) >= oldest {
                    // Later runs have ended later.
                    break;
                }
                self.for_each_record(&record_key::numbered(b'J', id, run), |(key, _)| {
                    keys.push(key);
                    Ok(())
                })?;
            }
            after = Some(record_key::journal(id, run, u64::MAX));
        }
        Ok(keys)
    }

    /// Returns the number of chunks of a run's journal.
    fn journal_chunks(&self, id: &SessionId, run: u64) -> Result<u64, SessionsError> {
        let mut chunks = 0;
        self.for_each_record(&record_key::numbered(b'J', id, run), |_| {
            chunks += 1;
            Ok(())
        })?;
        Ok(chunks)
    }

    /// Reads the journal of a run; empty if it has none.
    pub(super) fn journal(&self, id: &SessionId, run: u64) -> Result<Vec<JournalEntry>, SessionsError> {
        let mut bytes = Vec::new();
        self.for_each_record(&record_key::numbered(b'J', id, run), |(_, value)| {
            bytes.extend_from_slice(&self.value(id, &value)?);
            Ok(())
        })?;
        self.decoded(id, run, &bytes)
    }

    fn decoded(&self, id: &SessionId, run: u64, bytes: &[u8]) -> Result<Vec<JournalEntry>, SessionsError> {
        journal::decode(bytes).map_err(|source| SessionsError::Replay { session: id.clone(), run, source })
    }

    /// Returns the calls that a run had made, from the session's log.
    fn calls_of(&self, id: &SessionId, run: u64) -> Result<Vec<Call>, SessionsError> {
        let mut calls = Vec::new();
        let mut complete = true;
        let record = self.run(id, run)?;
        self.log_after(id, record.log.as_ref(), &mut |line| {
            if line.event["run"].as_u64() == Some(run) {
                complete &= Call::replay(&line.event, &mut calls);
            }
        })?;
        if complete { Ok(calls) } else { Err(damaged(id, "its log lacks a call")) }
    }
}

/// Returns the numbers of the calls that had started, and have neither a result nor a word of what became of them.
fn in_doubt(journal: &[JournalEntry]) -> BTreeSet<u64> {
    let mut open = BTreeMap::new();
    for entry in journal {
        match entry {
            JournalEntry::Admitted { id, seq } => drop(open.insert(*id, *seq)),
            JournalEntry::Delivered { id, .. } | JournalEntry::Deferred { id, .. } => drop(open.remove(id)),
            JournalEntry::Resolved { seq, .. } => open.retain(|_, other| other != seq),
            _ => {}
        }
    }
    open.into_values().collect()
}

/// Marks the calls as pending whose result the script was never given, though they had ended, or had been refused: they
/// are judged again, or a human says what became of them.
fn without_results_pending(mut calls: Vec<Call>, journal: &[JournalEntry]) -> Vec<Call> {
    let mut open = BTreeMap::new();
    for entry in journal {
        match entry {
            JournalEntry::Admitted { id, seq } => drop(open.insert(*id, *seq)),
            JournalEntry::Deferred { id, call } => drop(open.insert(*id, call.seq)),
            JournalEntry::Delivered { id, .. } => drop(open.remove(id)),
            _ => {}
        }
    }
    for seq in open.into_values() {
        if let Some(call) = calls.iter_mut().find(|call| call.seq == seq) {
            call.outcome = CallOutcome::Pending;
        }
    }
    calls
}

/// Returns the calls of a journal that wait for a decision.
fn pending(id: &SessionId, run: u64, journal: Vec<JournalEntry>) -> Vec<PendingCall> {
    let mut calls: Vec<(u64, PendingCall)> = Vec::new();
    for entry in journal {
        match entry {
            JournalEntry::Deferred { id: operation, call } => {
                calls.retain(|(other, _)| *other != operation);
                let call = PendingCall { session: id.clone(), run, call: *call, decision: None, signed: None };
                calls.push((operation, call));
            }
            JournalEntry::Decided { seq, decision } => {
                let decided = calls.iter_mut().find(|(_, pending)| pending.call.seq == seq);
                if let Some((_, pending)) = decided {
                    pending.decision = Some(decision);
                }
            }
            JournalEntry::Delivered { id: operation, .. } | JournalEntry::Admitted { id: operation, .. } => {
                calls.retain(|(other, _)| *other != operation);
            }
            _ => {}
        }
    }
    calls.into_iter().map(|(_, pending)| pending).collect()
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
    pub(in crate::session) fn judging(&self, operation: Option<OperationId>) {
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
    /// resumed. The files stay as they were before it.
    pub(in crate::session) fn suspend(
        &self,
        started_run: &StartedRun,
        calls: Option<&[Call]>,
        status: Option<&str>,
    ) -> Result<(), SessionsError> {
        let mut open = self.log.lock();
        let open = open.as_mut().ok_or(SessionsError::NotTaken)?;
        let status = status.unwrap_or(match started_run.record.status.as_str() {
            "running" => INTERRUPTED,
            before => before,
        });
        let mut record = RunRecord { status: status.to_owned(), ..started_run.record.clone() };
        if let Some(CallCounts { admitted, denied }) = calls.map(CallCounts::of) {
            (record.calls, record.denied) = (admitted, denied);
        }
        let event = Event::Ended { run: started_run.number, status, error: None };
        open.telling(&self.id, &event, |open| {
            self.log.commit(open, |commit| {
                commit.head.running.retain(|run| *run != started_run.number);
                commit.head.unfinished = Some(started_run.number);
                commit.batch.put(record_key::numbered(b'R', &self.id, started_run.number), json(&record));
                Ok(())
            })
        })?;
        open.journal = None;
        Ok(())
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
            let record = self.sessions.run(&self.id, started_run.number);
            record.is_ok_and(|record| record.ended.is_none())
                && matches!(self.sessions.records().get(&first), Ok(Some(_)))
        };
        if !replayable || !is_there() {
            return false;
        }
        if self.suspend(started_run, Some(calls), Some(INTERRUPTED)).is_err() {
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
            let _ = open.line(&self.id, &Event::Ended { run: started_run.number, status: INTERRUPTED, error: None });
            let record = RunRecord { status: INTERRUPTED.to_owned(), ..started_run.record.clone() };
            open.put(record_key::numbered(b'R', &self.id, started_run.number), json(&record));
        }
    }

    /// Returns the number and the journal of the run that can be resumed.
    pub(in crate::session) fn unfinished(&self) -> Result<(u64, Vec<JournalEntry>), SessionsError> {
        self.sessions.refuse_handed_over(&self.id)?;
        let run = self.sessions.unfinished(&self.id)?.ok_or_else(|| self.nothing_to_resume())?;
        Ok((run, self.sessions.journal(&self.id, run)?))
    }

    fn nothing_to_resume(&self) -> SessionsError {
        SessionsError::NoPoint { session: self.id.clone(), what: "run to resume".to_owned() }
    }

    /// Starts the session's unfinished run again.
    pub(in crate::session) fn reenter(&self, limits: vfs::Limits) -> Result<ResumedRun, SessionsError> {
        self.locked(|| {
            let number = self.unfinished_run()?;
            let journal = self.sessions.journal(&self.id, number)?;
            let calls = self.sessions.calls_of(&self.id, number)?;
            let calls = without_results_pending(calls, &journal);
            let files = self.head(limits)?;
            let mut open = self.log.lock();
            let open = open.as_mut().ok_or(SessionsError::NotTaken)?;
            let record = self.sessions.run(&self.id, number)?;
            if record.base != open.head.snapshot {
                return Err(damaged(&self.id, "its files are not those that the unfinished run started with"));
            }
            let chunks = self.sessions.journal_chunks(&self.id, number)?;
            open.journal = Some(PendingJournal::new(number, chunks, Vec::new()));
            open.head.unfinished = None;
            open.head.running.push(number);
            let running = RunRecord { status: "running".to_owned(), ..record.clone() };
            open.put(record_key::numbered(b'R', &self.id, number), json(&running));
            Ok(ResumedRun { files, started_run: StartedRun { number, record }, journal, calls })
        })
    }

    /// Gives back what a call of a resumed run had reserved, because it is judged again.
    pub(in crate::session) fn give_back(&self, run: u64, seq: u64) -> Result<(), SessionsError> {
        let mut open = self.log.lock();
        let open = open.as_mut().ok_or(SessionsError::NotTaken)?;
        let Some(value) = self.sessions.records().get(&record_key::entry(&self.id, run, seq))? else { return Ok(()) };
        let entry: LedgerEntry = self.sessions.read(&self.id, "an entry", &self.sessions.value(&self.id, &value)?)?;
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

    /// Returns the number of the run that can be resumed.
    fn unfinished_run(&self) -> Result<u64, SessionsError> {
        self.sessions.refuse_handed_over(&self.id)?;
        let unfinished = self.log.lock().as_ref().and_then(|open| open.head.unfinished);
        unfinished.ok_or_else(|| self.nothing_to_resume())
    }

    fn decide(&self, run: Option<u64>, seq: Option<u64>, answered: &Answered) -> Result<PendingCall, SessionsError> {
        let decided = self.locked(|| {
            let number = self.unfinished_run_named(run)?;
            let none = |what: String| SessionsError::NoPoint { session: self.id.clone(), what };
            let calls = pending(&self.id, number, self.sessions.journal(&self.id, number)?);
            let mut call = match (seq, calls.as_slice()) {
                (Some(seq), calls) => calls.iter().find(|pending| pending.call.seq == seq).cloned(),
                (None, calls) => {
                    let mut open = calls.iter().filter(|pending| pending.decision.is_none());
                    match (open.next(), open.next()) {
                        (Some(_), Some(_)) => return Err(SessionsError::Several(self.id.clone())),
                        (only, _) => only.cloned(),
                    }
                }
            }
            .ok_or_else(|| none("call that waits for a decision".to_owned()))?;
            if let Some(earlier) = call.decision {
                return Err(SessionsError::Decided { session: self.id.clone(), seq: call.call.seq, by: earlier.by });
            }
            let digest = call.call.digest.clone();
            if answered.digest.as_ref().is_some_and(|wanted| *wanted != digest) {
                return Err(none("call with this digest that waits for a decision".to_owned()));
            }
            if call.call.has_expired(now()) {
                return Err(SessionsError::Expired { session: self.id.clone(), seq: call.call.seq });
            }
            let Answered { allowed, by, reason, arguments, signature, .. } = answered.clone();
            if let (true, Some(approvers), None) = (allowed, &call.call.approved_by, &signature) {
                let (session, seq) = (self.id.clone(), call.call.seq);
                return Err(SessionsError::Unsigned { session, seq, approvers: approvers.iter().cloned().collect() });
            }
            let decision = match arguments.filter(|_| allowed) {
                Some(arguments) => Decision::edited(&call.call, number, arguments, by, now()),
                None => Decision::new(allowed, by, reason, now(), digest),
            };
            let decision = decision.signed(signature.filter(|_| call.call.approved_by.is_some() && allowed));
            self.record_decision(number, call.call.seq, &decision)?;
            call.decision = Some(decision);
            Ok(call)
        });
        if decided.is_ok() {
            self.leave();
        }
        decided
    }

    /// Returns the number of the run that can be resumed, which is this one if it is named.
    fn unfinished_run_named(&self, run: Option<u64>) -> Result<u64, SessionsError> {
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
            if !in_doubt(&self.sessions.journal(&self.id, number)?).contains(&seq) {
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

    fn record_decision(&self, run: u64, seq: u64, decision: &Decision) -> Result<(), SessionsError> {
        let entry = JournalEntry::Decided { seq, decision: decision.clone() };
        let (allowed, by, shown) = (decision.allowed, decision.by.as_str(), decision.digest.as_str());
        // The arguments are in the log when the call is admitted: nobody knows here which secrets they contain.
        let edited = decision.arguments.is_some();
        let signature = decision.signature.as_deref();
        self.append_entry(run, &entry, &Event::Answered { run, seq, allowed, by, shown, edited, signature })
    }

    /// Appends an entry to the journal of a run that is not active, and an event to the log.
    fn append_entry(&self, run: u64, entry: &JournalEntry, event: &Event<'_>) -> Result<(), SessionsError> {
        let chunks = self.sessions.journal_chunks(&self.id, run)?;
        let mut open = self.log.lock();
        let open = open.as_mut().ok_or(SessionsError::NotTaken)?;
        let bytes = journal::encode(entry);
        open.telling(&self.id, event, |open| {
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
            let record = RunRecord {
                status: "cancelled".to_owned(),
                ended: Some(vfs::now()),
                ..self.sessions.run(&self.id, number)?
            };
            let mut open = self.log.lock();
            let open = open.as_mut().ok_or(SessionsError::NotTaken)?;
            let event = Event::Ended { run: number, status: "cancelled", error: None };
            open.telling(&self.id, &event, |open| {
                self.log.commit(open, |commit| {
                    commit.head.unfinished = None;
                    commit.batch.put(record_key::numbered(b'R', &self.id, number), json(&record));
                    if is_kept {
                        return Ok(());
                    }
                    self.sessions.for_each_record(&record_key::numbered(b'J', &self.id, number), |(key, _)| {
                        commit.batch.remove(key);
                        Ok(())
                    })
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

    use super::*;

    /// A call whose refusal was in the log, and was not delivered before the process ended, can be judged again.
    #[test]
    fn call_without_delivered_result_is_pending_again_whatever_its_outcome() {
        let mut calls = Vec::new();
        for (seq, outcome) in [(1, "ok"), (2, "cancelled"), (3, "ok")] {
            assert!(Call::replay(&json!({ "event": "admitted", "seq": seq, "method": "m", "grant": "g" }), &mut calls));
            assert!(Call::replay(&json!({ "event": "settled", "seq": seq, "outcome": outcome }), &mut calls));
        }
        assert!(Call::replay(&json!({ "event": "asked", "seq": 4, "method": "m", "grant": "g" }), &mut calls));
        assert!(Call::replay(&json!({ "event": "denied", "seq": 4, "method": "m", "grant": "g" }), &mut calls));
        let asked = json!({
            "seq": 4, "method": "m", "arguments": {}, "grant": "g", "reason": "r", "cost": [], "asked": 1, "digest": "d",
        });
        let journal = [
            JournalEntry::Admitted { id: 10, seq: 1 },
            JournalEntry::Admitted { id: 11, seq: 2 },
            JournalEntry::Admitted { id: 12, seq: 3 },
            JournalEntry::Delivered { id: 12, now: 1, answer: None },
            JournalEntry::Deferred { id: 13, call: serde_json::from_value(asked).expect("a call") },
        ];
        let outcomes: Vec<CallOutcome> =
            without_results_pending(calls, &journal).iter().map(|call| call.outcome).collect();
        let pending = CallOutcome::Pending;
        assert_eq!(outcomes, [pending, pending, CallOutcome::Ok, pending]);
    }
}
