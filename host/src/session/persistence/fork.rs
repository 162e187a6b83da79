//! Forks of sessions: from the files that a run left, or in the middle of a run.

use std::collections::HashSet;
use std::time::SystemTime;

use serde::Serialize;

use super::fork_point::{LoggedCalls, taken_over};
use super::open_session::first_head;
use super::record::{Balance, Created, ForkedRun, LogPosition, Origin, RunRecord, States};
use super::record_reader::damaged;
use super::session_log::{json, retried};
use super::shared_budgets::LoadedFamily;
use super::{Point, RecordStatus, SessionId, Sessions, SessionsError, record_key};
use crate::gate::{CallOutcome, Chain, Event, limited_accounts};
use crate::session::Status;
use crate::session::journal::{self, JournalEntry};
use crate::store::{Batch, Record, StoreError, Upload};
use crate::vfs::{SnapshotId, Tree, now};

/// Most attempts to fork a session that changes meanwhile.
const FORK_ATTEMPTS: u32 = 100;

/// Number of the run that a fork in the middle begins with.
const FIRST_RUN: u64 = 1;

/// Bytes after which another chunk of a journal begins.
const CHUNK: usize = 1 << 20;

/// Fork in the middle of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MiddleFork {
    /// Number of the run that was forked.
    pub run: u64,
    /// Number of the call before which it was forked: the first that the fork makes anew.
    pub seq: u64,
    /// Number of the fork's own run, which can be resumed.
    pub forked: u64,
    /// Snapshot of the files with which both runs start.
    pub snapshot: String,
}

/// State with which a fork starts, besides policy, tools, entries and budgets.
struct ForkStart {
    snapshot: SnapshotId,
    files: Tree,
    states: States,
    origin: Origin,
    /// Run in whose middle the fork starts.
    middle: Option<MiddleOfRun>,
}

/// What a fork takes over of a run.
struct MiddleOfRun {
    record: RunRecord,
    journal: Vec<JournalEntry>,
    calls: LoggedCalls,
}

/// Forks a session at one of its points.
pub(super) fn fork(sessions: &Sessions, from: &Point, to: &SessionId) -> Result<(), SessionsError> {
    Fork { sessions, from: &from.session, to }.make(|| {
        let (snapshot, run) = sessions.reader().snapshot(from)?;
        let origin = Origin { session: from.session.clone(), run, at: None };
        let states = sessions.record_reader().run(&from.session, run)?.states;
        Ok(ForkStart { snapshot, files: sessions.reader().files(from)?, states, origin, middle: None })
    })
}

/// Forks a session in the middle of one of its runs, just before a call.
pub(super) fn fork_before(
    sessions: &Sessions,
    from: &Point,
    seq: u64,
    to: &SessionId,
) -> Result<MiddleFork, SessionsError> {
    let (run, record) = sessions.history().script_run(from)?;
    let snapshot = record.base.to_string();
    Fork { sessions, from: &from.session, to }.make(|| middle_of(sessions, &from.session, run, seq))?;
    Ok(MiddleFork { run, seq, forked: FIRST_RUN, snapshot })
}

/// Session that is being created as a fork of another.
#[derive(Clone, Copy)]
struct Fork<'s> {
    sessions: &'s Sessions,
    from: &'s SessionId,
    to: &'s SessionId,
}

impl Fork<'_> {
    /// Makes the fork, which starts with what `start` returns.
    fn make(&self, start: impl Fn() -> Result<ForkStart, SessionsError>) -> Result<(), SessionsError> {
        // Before anything is changed for it.
        start()?;
        let (from, to) = (self.from, self.to);
        if self.sessions.contains(to)? {
            return Err(SessionsError::Exists(to.clone()));
        }
        for _ in 0..FORK_ATTEMPTS {
            let family = self.sessions.families().share(from)?;
            // Garbage collection may have removed a blob meanwhile that the fork relies on.
            match retried(|| self.attempt(&family, &start)) {
                Ok(true) => return Ok(()),
                // A session with the new name exists now, as the next attempt reports; or the source was forked
                // meanwhile.
                Ok(false) | Err(SessionsError::Store(StoreError::Conflict { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        Err(SessionsError::Busy(from.clone()))
    }

    /// Makes a fork. Returns false if the source changed while it was read; a change after that, before the commit, does
    /// no harm.
    fn attempt(
        &self,
        family: &LoadedFamily,
        start: impl Fn() -> Result<ForkStart, SessionsError>,
    ) -> Result<bool, SessionsError> {
        let (from, to) = (self.from, self.to);
        // While an upload is open, garbage collection removes nothing: the blobs that records name are durable.
        let mut upload = self.sessions.blobs().begin()?;
        let head = record_key::single(b'H', from);
        let stands = self.sessions.records().get(&head)?;
        let ForkStart { snapshot, files, states, origin, middle } = start()?;
        let at = origin.at.clone();
        let mut batch =
            self.sessions.creator().first(to, Some((origin, family.id)), snapshot, &files, states.clone())?;
        let mut copied = self.copied(family, &mut batch)?;
        if let (Some(middle), Some(at)) = (middle, at) {
            let mut own = first_head(snapshot, &files, states);
            let chain = logged(from, to, &at, &middle.calls, &mut *upload, &mut copied)?;
            (own.runs, own.unfinished) = (FIRST_RUN, Some(FIRST_RUN));
            (own.lines, own.hash) = (chain.lines(), chain.hash().to_string());
            batch.put(record_key::single(b'H', to), json(&own));
            batch.put(record_key::numbered(b'R', to, FIRST_RUN), json(&suspended(&middle)));
            journaled(to, &middle.journal, &mut *upload, &mut copied)?;
            upload.sync()?;
        }
        if self.sessions.records().get(&head)? != stands {
            return Ok(false);
        }
        family.join(&mut batch);
        self.sessions.creator().establish(to, copied, batch)?;
        Ok(true)
    }

    /// Copies policy and lock into a batch, and returns copies of the multiple records.
    fn copied(&self, family: &LoadedFamily, batch: &mut Batch) -> Result<Vec<Record>, SessionsError> {
        let (source, to) = (self.from, self.to);
        for kind in [b'P', b'M'] {
            let value = self.sessions.records().get(&record_key::single(kind, source))?;
            batch.put(record_key::single(kind, to), value.ok_or_else(|| damaged(source, "a record is missing"))?);
        }
        let mut copied = Vec::new();
        for (kind, becomes) in [(b'L', b"LC".as_slice()), (b'K', b"K")] {
            let old = record_key::prefix(kind, source);
            self.sessions.record_reader().for_each_record(&old, |(name, value)| {
                let copy = |kind: &u8| {
                    ([record_key::prefix(*kind, to).as_slice(), &name[old.len()..]].concat(), value.clone())
                };
                copied.extend(becomes.iter().map(copy));
                Ok(())
            })?;
        }
        let exhausted = self.balances_handed_over(family)?;
        let replaced: HashSet<&[u8]> = exhausted.iter().map(|(name, _)| name.as_slice()).collect();
        copied.retain(|(name, _)| !replaced.contains(name.as_slice()));
        copied.extend(exhausted);
        Ok(copied)
    }

    /// Returns the balances of a fork whose family's budgets went along with a hand-over: nothing is left of them.
    fn balances_handed_over(&self, family: &LoadedFamily) -> Result<Vec<Record>, SessionsError> {
        let (from, to) = (self.from, self.to);
        if !family.is_handed_over() {
            return Ok(Vec::new());
        }
        let mut records = Vec::new();
        for (account, allowance) in limited_accounts(&self.sessions.reader().policy(from)?) {
            let name = record_key::account(to, &account);
            let balance = json(&Balance::of(&account, allowance.whole()));
            // The name of an account that is too long for a record is as long in the policy: such a fork is refused.
            let value = record_key::inline_value(&balance).ok_or_else(|| damaged(from, "the name of a budget"))?;
            records.extend([b'L', b'C'].map(|kind| ([&[kind], &name[1..]].concat(), value.clone())));
        }
        Ok(records)
    }
}

/// Returns what a fork before a call of a run starts with.
fn middle_of(sessions: &Sessions, id: &SessionId, run: u64, seq: u64) -> Result<ForkStart, SessionsError> {
    let point = Point { session: id.clone(), at: super::At::Run(run) };
    let (_, record) = sessions.history().script_run(&point)?;
    if record.status == RecordStatus::Running {
        return Err(SessionsError::Busy(id.clone()));
    }
    let journal = sessions.journals().journal(id, run)?;
    if journal.is_empty() {
        return Err(SessionsError::NoJournal { session: id.clone(), run });
    }
    let replay = |source| SessionsError::Replay { session: id.clone(), run, source };
    let mut calls = LoggedCalls::default();
    sessions.reader().logged_events(id, record.log.as_ref(), Some(run), &mut |event| calls.take(event))?;
    let seed = Created::new_seed()?;
    let forked = JournalEntry::Forked { session: id.clone(), run, seq, seed };
    let journal = taken_over(journal, &calls, seq, forked)
        .map_err(replay)?
        .map_err(|why| SessionsError::NotForkable { session: id.clone(), run, seq, why })?;
    calls.keep_before(seq);
    let (left_by, states) = sessions.history().before(id, run, record.base)?;
    let origin = Origin { session: id.clone(), run: left_by, at: Some(ForkedRun { run, seq }) };
    let files = sessions.reader().tree(record.base)?;
    Ok(ForkStart { snapshot: record.base, files, states, origin, middle: Some(MiddleOfRun { record, journal, calls }) })
}

/// Returns the record of a fork's run.
fn suspended(middle: &MiddleOfRun) -> RunRecord {
    let denied = middle.calls.iter().filter(|call| call.outcome == CallOutcome::Denied).count() as u64;
    let calls = middle.calls.iter().count() as u64 - denied;
    let log = LogPosition { lines: 0, hash: Chain::default().hash().to_string() };
    RunRecord {
        status: Status::Suspended.into(),
        log: Some(log),
        started: now(),
        ended: None,
        snapshot: None,
        states: States::new(),
        error: None,
        calls,
        denied,
        ..middle.record.clone()
    }
}

/// Adds the log of a fork in the middle of a run to its records: where it comes from, and the calls that it takes over.
fn logged(
    from: &SessionId,
    to: &SessionId,
    at: &ForkedRun,
    calls: &LoggedCalls,
    upload: &mut dyn Upload,
    records: &mut Vec<Record>,
) -> Result<Chain, SessionsError> {
    let forked = Event::Forked { run: FIRST_RUN, from: from.as_str(), of: at.run, before: at.seq };
    let (text, mut chain) = Chain::default().follow(&forked, SystemTime::now());
    records.push((record_key::numbered(b'A', to, chain.lines()), long(text, upload)?));
    for call in calls.iter() {
        let (text, next) = chain.follow(&call.event(FIRST_RUN), SystemTime::now());
        chain = next;
        records.push((record_key::numbered(b'A', to, chain.lines()), long(text, upload)?));
    }
    Ok(chain)
}

/// Adds the journal of a fork's run to its records.
fn journaled(
    to: &SessionId,
    entries: &[JournalEntry],
    upload: &mut dyn Upload,
    records: &mut Vec<Record>,
) -> Result<(), SessionsError> {
    let (mut chunk, mut bytes) = (0, Vec::new());
    let mut flush = |bytes: Vec<u8>, upload: &mut dyn Upload| -> Result<(), SessionsError> {
        records.push((record_key::journal(to, FIRST_RUN, chunk), long(bytes, upload)?));
        chunk += 1;
        Ok(())
    };
    for entry in entries {
        let line = journal::encode(entry);
        if !bytes.is_empty() && bytes.len() + line.len() > CHUNK {
            flush(std::mem::take(&mut bytes), upload)?;
        }
        bytes.extend(line);
    }
    flush(bytes, upload)
}

/// Encodes a value that may be long, for a record.
fn long(value: Vec<u8>, upload: &mut dyn Upload) -> Result<Vec<u8>, SessionsError> {
    match record_key::inline_value(&value) {
        Some(inline) => Ok(inline),
        None => Ok(record_key::blob_value(&upload.put(value)?)),
    }
}
