//! Session on disk that is in use in this process.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;

use super::call_counts::CallCounts;
use super::pending_journal::PendingJournal;
use super::record::{Head, LogPosition, RunRecord, States};
use super::record_reader::{damaged, log_hash};
use super::session_lock::{SessionLock, Waiting, when_free};
use super::session_log::{CommitBuilder, OpenLog, SessionLog, json};
use super::shared_budgets::{BudgetSharing, FamilyId, SpendingObserver};
use super::termination::CancelRegistration;
use super::{RecordStatus, SessionId, Sessions, SessionsError, record_key};
use crate::capability::{JournalRetention, Policy};
use crate::error::error_chain;
use crate::gate::{Audit, Chain, Event};
use crate::guest::Language;
use crate::ledger::Used;
use crate::session::journal::JournalEntry;
use crate::session::{RunEffects, RunResult, Status};
use crate::store::Owner;
use crate::tool::{EntryChange, EntryKey, KeyValueBacking, Lock};
use crate::vfs::now;
use crate::vfs::{Limits, SnapshotId, Tree};

/// Most bytes of an error, and of a script's name, in a run's record. JSON may lengthen them by up to half.
const MAX_ERROR: usize = 1000;
const MAX_SCRIPT: usize = 200;

/// Length of the longest error that the log keeps unshortened, in bytes.
const MAX_TOLD: usize = 1 << 20;

/// Most active runs of a session and its delegated sessions: the head lists them all.
const MAX_RUNNING: usize = 64;

/// Most runs whose outdated journals the end of a run removes: garbage collection removes the others.
const MAX_TRIMMED: usize = 16;

/// Session on disk that is in use.
pub(in crate::session) struct PersistentSession {
    pub(super) sessions: Sessions,
    pub(super) id: SessionId,
    pub(super) log: Arc<SessionLog>,
    lock_state: Mutex<LockState>,
    waiting: Waiting,
    /// Identity of the session, which distinguishes it from others with the same name.
    identity: Vec<u8>,
    /// How long journals are kept, once it is known: it never changes.
    retention: OnceLock<JournalRetention>,
}

/// State of the session's lock in this process.
#[derive(Default)]
struct LockState {
    session_lock: Option<SessionLock>,
    /// Number of active runs of the session, and of its delegated sessions.
    users: u32,
    /// Epoch that this process held last: if it is unchanged, no other process came between.
    epoch: Option<u64>,
}

/// Run that has started.
pub(in crate::session) struct StartedRun {
    /// Number of the run.
    pub(in crate::session) number: u64,
    pub(super) record: RunRecord,
}

impl PersistentSession {
    pub(super) fn new(sessions: Sessions, id: SessionId, identity: Vec<u8>, waiting: Waiting) -> Self {
        let log = Arc::new(SessionLog::new(sessions.clone(), id.clone()));
        Self { sessions, id, log, lock_state: Mutex::default(), waiting, identity, retention: OnceLock::new() }
    }

    /// Returns true if the store may still open sockets.
    pub(in crate::session) fn may_open_sockets(&self) -> bool {
        self.sessions.may_open_sockets()
    }

    /// Returns the session's name.
    pub(in crate::session) fn id(&self) -> &SessionId {
        &self.id
    }

    /// Returns the log to which the gate writes every decision.
    pub(in crate::session) fn audit(&self) -> Arc<dyn Audit> {
        Arc::clone(&self.log) as Arc<dyn Audit>
    }

    /// Returns the store of the session's `wasi:keyvalue` entries.
    pub(in crate::session) fn keyvalue(&self) -> Arc<dyn KeyValueBacking> {
        Arc::new(KeyValueEntries { sessions: self.sessions.clone(), id: self.id.clone(), log: Arc::clone(&self.log) })
    }

    /// Registers the observer of amounts that other processes, and sessions that share the budgets, have spent.
    pub(in crate::session) fn on_spending(&self, spending: impl SpendingObserver + 'static) {
        self.log.on_spending(Box::new(spending));
    }

    /// Reloads the spent amounts, unless a run is active here, which knows them.
    pub(in crate::session) fn refresh_spending(&self) -> Result<(), SessionsError> {
        let lock_state = self.lock_state();
        if lock_state.users == 0
            && let Some(spending) = self.log.spending()
        {
            spending.restore(&self.sessions.reader().spent(&self.id)?);
        }
        Ok(())
    }

    /// Starts a run when the session is free, and returns the files that it starts with. If this process did not hold
    /// the session's lock yet, the start is durable.
    pub(in crate::session) fn enter(
        &self,
        limits: Limits,
        script: &str,
        hash: &str,
        start: Option<&JournalEntry>,
    ) -> Result<(Tree, StartedRun), SessionsError> {
        let (mut lock_state, session_lock) = self.lock_when_free()?;
        let Some(session_lock) = session_lock else {
            let entered = (self.head(limits)?, self.begin(script, hash, start)?);
            lock_state.users += 1;
            return Ok(entered);
        };
        let started_run = self.use_locked(&mut lock_state, session_lock, || self.begin(script, hash, start))?;
        drop(lock_state);
        match self.head(limits) {
            Ok(files) => Ok((files, started_run)),
            Err(error) => {
                self.withdraw(&started_run, None);
                self.leave();
                Err(error)
            }
        }
    }

    /// Takes the session's lock, does some work, and commits it. After success the session is in use here, until
    /// [`Self::leave`].
    pub(super) fn locked<T>(&self, work: impl FnOnce() -> Result<T, SessionsError>) -> Result<T, SessionsError> {
        let (mut lock_state, session_lock) = self.lock_when_free()?;
        let session_lock = session_lock.ok_or_else(|| SessionsError::Busy(self.id.clone()))?;
        self.use_locked(&mut lock_state, session_lock, work)
    }

    /// Waits until the session is free, and returns its lock; or none, if the session is in use here.
    fn lock_when_free(&self) -> Result<(MutexGuard<'_, LockState>, Option<SessionLock>), SessionsError> {
        when_free(&self.id, &self.waiting, || {
            let lock_state = self.lock_state();
            if lock_state.users > 0 {
                return Ok(Some((lock_state, None)));
            }
            let session_lock = self.sessions.locks().try_take(&self.id)?;
            Ok(session_lock.map(|session_lock| (lock_state, Some(session_lock))))
        })
    }

    /// Does some work in a session that is not in use here, and commits it.
    fn use_locked<T>(
        &self,
        lock_state: &mut LockState,
        session_lock: SessionLock,
        work: impl FnOnce() -> Result<T, SessionsError>,
    ) -> Result<T, SessionsError> {
        let epoch = self.load(lock_state.epoch)?;
        let done = work().and_then(|done| {
            self.acquire_epoch(epoch)?;
            Ok(done)
        });
        match &done {
            Ok(_) => *lock_state = LockState { session_lock: Some(session_lock), users: 1, epoch: Some(epoch) },
            Err(_) => *self.log.lock() = None,
        }
        done
    }

    /// Registers a run to be stopped when the session is removed.
    pub(in crate::session) fn stoppable(&self, stop: impl Fn() + Send + Sync + 'static) -> CancelRegistration {
        self.sessions.terminations().stoppable(&self.id, Arc::new(stop))
    }

    /// Returns the files as the last commit left them.
    pub(in crate::session) fn head(&self, limits: Limits) -> Result<Tree, SessionsError> {
        let known = self.log.lock().as_ref().map(|open| open.head.snapshot);
        let snapshot =
            known.map_or_else(|| self.sessions.record_reader().head(&self.id).map(|head| head.snapshot), Ok)?;
        Ok(Tree::open(snapshot, self.sessions.record_reader().source(), limits)?)
    }

    /// Returns the state that the last script of a language left besides its files; empty for none.
    pub(in crate::session) fn state(&self, language: Language) -> Result<Vec<u8>, SessionsError> {
        let states = self.log.lock().as_ref().map(|open| open.head.states.clone());
        let states = states.map_or_else(|| self.sessions.record_reader().head(&self.id).map(|head| head.states), Ok)?;
        states.get(language.word()).map_or(Ok(Vec::new()), |blob| Ok(self.sessions.blobs().get(blob)?.to_vec()))
    }

    /// Loads the state of the session, and returns the next epoch.
    fn load(&self, known: Option<u64>) -> Result<u64, SessionsError> {
        let (sessions, id) = (&self.sessions, &self.id);
        if sessions.record_reader().identity(id)? != self.identity {
            return Err(SessionsError::Replaced(id.clone()));
        }
        let epoch = sessions.record_reader().epoch(id)?;
        let mut head = sessions.record_reader().head(id)?;
        let balances = sessions.record_reader().balances(id)?;
        let chain = Chain::resume(head.lines, log_hash(id, &head)?);
        let family = FamilyId::of(id, &sessions.record_reader().created(id)?)?;
        let shared = sessions.families().record(id, family)?.map(|_| sessions.reader().spent(id)).transpose()?;
        self.restore(known != Some(epoch), &balances, shared.as_ref());
        let interrupted = std::mem::take(&mut head.running);
        let owner = Owner { key: record_key::single(b'O', id), epoch };
        let mut open = OpenLog::new(owner, head, chain, balances, BudgetSharing::new(family, shared));
        for run in interrupted {
            let status = RecordStatus::Interrupted;
            let record = RunRecord { status, ..sessions.record_reader().run(id, run)? };
            open.put(record_key::numbered(b'R', id, run), json(&record));
            open.line(id, &Event::Ended { run, status: status.word(), error: None })?;
            if !sessions.records().scan(&record_key::numbered(b'J', id, run), None, 1)?.is_empty() {
                open.head.unfinished = Some(run);
            }
        }
        *self.log.lock() = Some(open);
        Ok(epoch.wrapping_add(1))
    }

    /// Updates the in-memory ledger if another process may have spent: one that had the session (`is_stale`), or one
    /// that has a session which shares its budgets.
    fn restore(&self, is_stale: bool, own: &HashMap<String, Used>, shared: Option<&HashMap<String, Used>>) {
        let Some(spending) = self.log.spending() else { return };
        if is_stale || shared.is_some() {
            spending.restore(shared.unwrap_or(own));
        }
        if is_stale {
            spending.forget();
        }
    }

    /// Commits the pending records under the old epoch, and raises it.
    fn acquire_epoch(&self, epoch: u64) -> Result<(), SessionsError> {
        let mut open = self.log.lock();
        let open = open.as_mut().ok_or(SessionsError::NotTaken)?;
        open.put(record_key::single(b'O', &self.id), epoch.to_be_bytes().to_vec());
        self.log.commit(open, |commit| {
            // If another session has taken this name meanwhile, it is not overwritten.
            commit.batch.expect(record_key::single(b'S', &self.id), Some(self.identity.clone()));
            Ok(())
        })?;
        open.owner.epoch = epoch;
        Ok(())
    }

    /// Returns how long the journals of runs that have ended are kept.
    pub(super) fn retention(&self) -> Result<JournalRetention, SessionsError> {
        if let Some(retention) = self.retention.get() {
            return Ok(*retention);
        }
        let retention = self.sessions.reader().policy(&self.id)?.journal;
        Ok(*self.retention.get_or_init(|| retention))
    }

    /// Records the start of a run.
    fn begin(&self, script: &str, hash: &str, start: Option<&JournalEntry>) -> Result<StartedRun, SessionsError> {
        let retention = self.retention()?;
        let mut open = self.log.lock();
        let open = open.as_mut().ok_or(SessionsError::NotTaken)?;
        if open.head.handed_over.is_some() {
            return Err(SessionsError::HandedOver(self.id.clone()));
        }
        if let Some(run) = open.head.unfinished {
            if self.sessions.unfinished_runs().waits(&self.id, run)? {
                return Err(SessionsError::Suspended { session: self.id.clone(), run });
            }
            // An interrupted run cannot be resumed once another one has started.
            open.remove(record_key::numbered(b'I', &self.id, run));
            if retention == JournalRetention::Suspended {
                self.sessions.record_reader().for_each_record(&record_key::prefix(b'J', &self.id), |(key, _)| {
                    open.remove(key);
                    Ok(())
                })?;
            }
            open.head.unfinished = None;
        }
        if open.head.running.len() >= MAX_RUNNING {
            return Err(SessionsError::Busy(self.id.clone()));
        }
        let number = open.head.runs.checked_add(1).ok_or_else(|| damaged(&self.id, "its runs"))?;
        open.head.runs = number;
        let log = LogPosition { lines: open.chain.lines(), hash: open.chain.hash().to_string() };
        let record = RunRecord {
            log: Some(log),
            status: RecordStatus::Running,
            script: shortened(script, MAX_SCRIPT),
            hash: hash.to_owned(),
            started: now(),
            ended: None,
            base: open.head.snapshot,
            snapshot: None,
            states: States::new(),
            error: None,
            calls: 0,
            denied: 0,
        };
        open.head.running.push(number);
        open.put(record_key::numbered(b'R', &self.id, number), json(&record));
        if let Some(start) = start {
            open.journal = Some(PendingJournal::new(number, start));
        }
        Ok(StartedRun { number, record })
    }

    /// Commits the end of a run: its record, its part of the log, and its effects as the new head. A run of a delegated
    /// session has no effects here.
    pub(in crate::session) fn conclude(
        &self,
        started_run: &StartedRun,
        result: &RunResult,
        left: Option<&RunEffects>,
    ) -> Result<Option<SnapshotId>, SessionsError> {
        let CallCounts { admitted, denied } = CallCounts::of(&result.calls);
        let whole = result.error.as_ref().map(|error| error.message.as_str());
        let error = whole.map(|error| shortened(error, MAX_ERROR));
        let logged = whole.map(error_for_log);
        let status = RecordStatus::from(result.status);
        let event = Event::Ended { run: started_run.number, status: status.word(), error: logged.as_deref() };
        let record = RunRecord { status, error, calls: admitted, denied, ..started_run.record.clone() };
        self.commit(started_run, record, left.map(|left| &left.files), &event, |commit| {
            let Some((language, state)) = left.and_then(|left| left.state.as_ref()) else { return Ok(()) };
            let language = language.word().to_owned();
            if state.is_empty() {
                commit.head.states.remove(&language);
            } else {
                let blob = commit.upload()?.put(state.clone())?;
                commit.head.states.insert(language, blob);
            }
            Ok(())
        })
    }

    /// Changes the files when the session is free, and commits the change; with `states`, also replaces the state that
    /// scripts left.
    pub(in crate::session) fn change(
        &self,
        limits: Limits,
        what: &str,
        states: Option<&States>,
        change: impl FnOnce(&mut Tree) -> Result<(), SessionsError>,
    ) -> Result<(SnapshotId, Tree), SessionsError> {
        let (mut files, started_run) = self.enter(limits, what, "", None)?;
        let changed = change(&mut files).and_then(|()| self.changed(&started_run, what, &files, states));
        if changed.is_err() {
            self.withdraw(&started_run, None);
        }
        // As they are on disk, if they can be read: an idle session holds no file contents in memory.
        let changed = changed.map(|snapshot| (snapshot, self.head(limits).unwrap_or(files)));
        self.leave();
        changed
    }

    /// Replaces policy and lock when the session is free, and commits that as a change without effects on the files.
    pub(in crate::session) fn widen<E: From<SessionsError>>(
        &self,
        limits: Limits,
        what: &str,
        widen: impl FnOnce(Policy, Lock) -> Result<(Policy, Lock), E>,
    ) -> Result<Policy, E> {
        let (files, started_run) = self.enter(limits, what, "", None)?;
        let widened = self.widened(&started_run, what, &files, widen);
        if widened.is_err() {
            self.withdraw(&started_run, None);
        }
        self.leave();
        widened
    }

    fn widened<E: From<SessionsError>>(
        &self,
        started_run: &StartedRun,
        what: &str,
        files: &Tree,
        widen: impl FnOnce(Policy, Lock) -> Result<(Policy, Lock), E>,
    ) -> Result<Policy, E> {
        let (policy, lock) = widen(self.sessions.reader().policy(&self.id)?, self.sessions.reader().lock(&self.id)?)?;
        let values = [(b'P', policy.to_json().to_string().into_bytes()), (b'M', json(&lock))];
        let record = RunRecord { status: RecordStatus::Changed, ..started_run.record.clone() };
        let event = Event::Changed { run: started_run.number, what };
        self.commit(started_run, record, Some(files), &event, |commit| {
            values.iter().try_for_each(|(kind, value)| commit.long(record_key::single(*kind, &self.id), value))
        })?;
        Ok(policy)
    }

    /// Commits a change of the files that is not a run; with `states`, also of the script state.
    fn changed(
        &self,
        started_run: &StartedRun,
        what: &str,
        files: &Tree,
        states: Option<&States>,
    ) -> Result<SnapshotId, SessionsError> {
        let record = RunRecord { status: RecordStatus::Changed, ..started_run.record.clone() };
        let event = Event::Changed { run: started_run.number, what };
        let committed = self.commit(started_run, record, Some(files), &event, |commit| {
            if let Some(states) = states {
                commit.head.states.clone_from(states);
            }
            Ok(())
        });
        Ok(committed?.expect("files were given"))
    }

    /// Marks a started run as failed, in a record that the next commit writes; for a run that ended, with the reason
    /// why its effects are not saved.
    pub(in crate::session) fn withdraw(&self, started_run: &StartedRun, lost: Option<&RunResult>) {
        if let Some(open) = self.log.lock().as_mut() {
            open.head.running.retain(|run| *run != started_run.number);
            let CallCounts { admitted, denied } = lost.map(|lost| CallCounts::of(&lost.calls)).unwrap_or_default();
            let error = lost.and_then(|lost| lost.error.as_ref()).map(|error| error.message.as_str());
            let status = RecordStatus::from(Status::Failed);
            if error.is_some() {
                // If the line is too long, the run's record still shows the failure.
                let _ = open.line(&self.id, &Event::Ended { run: started_run.number, status: status.word(), error });
            }
            let error = error.map(|error| shortened(error, MAX_ERROR));
            let ended = Some(now());
            let record = RunRecord { status, ended, error, calls: admitted, denied, ..started_run.record.clone() };
            open.put(record_key::numbered(b'R', &self.id, started_run.number), json(&record));
        }
    }

    fn commit(
        &self,
        started_run: &StartedRun,
        record: RunRecord,
        files: Option<&Tree>,
        event: &Event<'_>,
        add_effects: impl Fn(&mut CommitBuilder<'_>) -> Result<(), SessionsError>,
    ) -> Result<Option<SnapshotId>, SessionsError> {
        let retention = self.retention()?;
        let mut open = self.log.lock();
        let open = open.as_mut().ok_or(SessionsError::NotTaken)?;
        let mut left = None;
        // A run that ends needs no journal. One that is kept is written to its end.
        let ends = |journal: &mut PendingJournal| journal.run == started_run.number;
        let journal = (retention == JournalRetention::Suspended).then(|| open.journal.take_if(ends)).flatten();
        let outdated = self.sessions.journals().outdated(&self.id, retention, &open.head, MAX_TRIMMED)?;
        let make = |commit: &mut CommitBuilder<'_>| {
            if let Some(files) = files {
                let snapshot = files.seal(commit.upload()?)?;
                let usage = files.usage();
                let head = &mut commit.head;
                (head.snapshot, head.left_by, head.changed) = (snapshot, started_run.number, now());
                (head.bytes, head.entries) = (usage.bytes, usage.entries);
                left = Some(snapshot);
                add_effects(commit)?;
            }
            commit.head.running.retain(|run| *run != started_run.number);
            for chunk in 0..journal.as_ref().map_or(0, PendingJournal::chunks) {
                commit.batch.remove(record_key::journal(&self.id, started_run.number, chunk));
            }
            outdated.iter().for_each(|key| commit.batch.remove(key.clone()));
            commit.batch.remove(record_key::numbered(b'I', &self.id, started_run.number));
            let states = if left.is_some() { commit.head.states.clone() } else { States::new() };
            let record = RunRecord { ended: Some(now()), snapshot: left, states, ..record.clone() };
            commit.batch.put(record_key::numbered(b'R', &self.id, started_run.number), json(&record));
            Ok(())
        };
        if let Err(error) = open.commit_with_line(&self.id, event, |open| self.log.commit(open, make)) {
            // The run may be resumed.
            open.journal = journal.or_else(|| open.journal.take());
            return Err(error);
        }
        open.journal.take_if(ends);
        Ok(left)
    }

    /// Releases the session's lock when the last run that uses it ends.
    pub(in crate::session) fn leave(&self) {
        let mut lock_state = self.lock_state();
        lock_state.users = lock_state.users.saturating_sub(1);
        if lock_state.users == 0 {
            // Pending records belong to no run that ended, so nothing that was promised is lost.
            let _ = self.log.sync();
            *self.log.lock() = None;
            lock_state.session_lock = None;
        }
    }

    /// Locks the state. The mutex is held only while the session is locked and released, so a poisoned one is still
    /// good.
    fn lock_state(&self) -> MutexGuard<'_, LockState> {
        self.lock_state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the error of a run for the log; an error that would fill the log is shortened.
pub(in crate::session) fn error_for_log(error: &str) -> Cow<'_, str> {
    if error.len() <= MAX_TOLD { Cow::Borrowed(error) } else { Cow::Owned(shortened(error, MAX_ERROR)) }
}

/// Truncates a text that may be long and chosen by a guest. Control characters are replaced: JSON writes them six times
/// as long, and terminals obey them.
fn shortened(text: &str, most: usize) -> String {
    let mut short = String::new();
    for char in text.chars().map(|char| if char.is_control() { ' ' } else { char }) {
        if short.len() + char.len_utf8() > most {
            short.push('…');
            break;
        }
        short.push(char);
    }
    short
}

/// Entries of a session's `wasi:keyvalue` store.
struct KeyValueEntries {
    sessions: Sessions,
    id: SessionId,
    log: Arc<SessionLog>,
}

impl KeyValueBacking for KeyValueEntries {
    fn load(&self) -> Result<Vec<(EntryKey, Bytes)>, String> {
        self.sessions.record_reader().keyvalue(&self.id).map_err(|error| error_chain(&error))
    }

    fn keep(&self, changes: &[EntryChange]) -> Result<(), String> {
        self.log.keep(changes).map_err(|error| error_chain(&error))
    }
}

/// Creates the head of a session without runs.
pub(super) fn first_head(snapshot: SnapshotId, files: &Tree, states: States) -> Head {
    let usage = files.usage();
    let hash = Chain::default().hash().to_string();
    let (bytes, entries) = (usage.bytes, usage.entries);
    Head {
        snapshot,
        left_by: 0,
        runs: 0,
        running: Vec::new(),
        unfinished: None,
        handed_over: None,
        lines: 0,
        hash,
        commits: 0,
        changed: now(),
        bytes,
        entries,
        states,
    }
}
