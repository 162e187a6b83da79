//! Session on disk that is in use in this process.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::count::Counts;
use super::demand::Stoppable;
use super::family::{FamilyId, Sharing, Spending};
use super::log::{Commit, Open, SessionLog, json};
use super::look::damaged;
use super::record::{Head, RunRecord, States};
use super::turn::{Turn, Waiting};
use super::{SessionId, Sessions, SessionsError, key};
use crate::capability::Policy;
use crate::error::error_chain;
use crate::gate::{Audit, Chain, Event};
use crate::guest::Language;
use crate::ledger::Used;
use crate::session::{Left, RunResult};
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

/// Session on disk that is in use.
pub(in crate::session) struct Kept {
    place: Sessions,
    id: SessionId,
    log: Arc<SessionLog>,
    held: Mutex<Held>,
    waiting: Waiting,
    /// Identity of the session, which distinguishes it from others with the same name.
    identity: Vec<u8>,
}

/// State of the session's lock in this process.
#[derive(Default)]
struct Held {
    turn: Option<Turn>,
    /// Number of active runs of the session, and of its delegated sessions.
    users: u32,
    /// Epoch that this process held last: if it is unchanged, no other process came between.
    epoch: Option<u64>,
}

/// Run that has started.
pub(in crate::session) struct Begun {
    /// Number of the run.
    pub(in crate::session) number: u64,
    record: RunRecord,
}

impl Kept {
    pub(super) fn new(place: Sessions, id: SessionId, identity: Vec<u8>, waiting: Waiting) -> Self {
        let log = Arc::new(SessionLog::new(place.clone(), id.clone()));
        Self { place, id, log, held: Mutex::default(), waiting, identity }
    }

    /// Returns true if the store may still open sockets.
    pub(in crate::session) fn may_open_sockets(&self) -> bool {
        self.place.may_open_sockets()
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
        Arc::new(Entries { place: self.place.clone(), id: self.id.clone(), log: Arc::clone(&self.log) })
    }

    /// Registers the observer of amounts that other processes, and sessions that share the budgets, have spent.
    pub(in crate::session) fn on_spending(&self, spending: impl Spending + 'static) {
        self.log.on_spending(Box::new(spending));
    }

    /// Reloads the spent amounts, unless a run is active here, which knows them.
    pub(in crate::session) fn refresh_spending(&self) -> Result<(), SessionsError> {
        let held = self.held();
        if held.users == 0
            && let Some(spending) = self.log.spending()
        {
            spending.restore(&self.place.spent(&self.id)?);
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
    ) -> Result<(Tree, Begun), SessionsError> {
        let mut held = self.held();
        if held.users > 0 {
            let entered = (self.head(limits)?, self.begin(script, hash)?);
            held.users += 1;
            return Ok(entered);
        }
        let turn = self.place.0.locks.take(&self.id, &self.waiting)?;
        let epoch = self.open(held.epoch)?;
        let entered = self.begin(script, hash).and_then(|begun| {
            self.own(epoch)?;
            Ok((self.head(limits)?, begun))
        });
        match &entered {
            Ok(_) => *held = Held { turn: Some(turn), users: 1, epoch: Some(epoch) },
            Err(_) => *self.log.lock() = None,
        }
        entered
    }

    /// Registers a run to be stopped when the session is removed.
    pub(in crate::session) fn stoppable(&self, stop: impl Fn() + Send + 'static) -> Stoppable {
        self.place.stoppable(&self.id, Box::new(stop))
    }

    /// Returns the files as the last commit left them.
    pub(in crate::session) fn head(&self, limits: Limits) -> Result<Tree, SessionsError> {
        let known = self.log.lock().as_ref().map(|open| open.head.snapshot);
        let snapshot = known.map_or_else(|| self.place.head(&self.id).map(|head| head.snapshot), Ok)?;
        Ok(Tree::open(snapshot, self.place.source(), limits)?)
    }

    /// Returns the state that the last script of a language left besides its files; empty for none.
    pub(in crate::session) fn state(&self, language: Language) -> Result<Vec<u8>, SessionsError> {
        let states = self.log.lock().as_ref().map(|open| open.head.states.clone());
        let states = states.map_or_else(|| self.place.head(&self.id).map(|head| head.states), Ok)?;
        states.get(language.word()).map_or(Ok(Vec::new()), |blob| Ok(self.place.blobs().get(blob)?.to_vec()))
    }

    /// Loads the state of the session, and returns the next epoch.
    fn open(&self, known: Option<u64>) -> Result<u64, SessionsError> {
        let (place, id) = (&self.place, &self.id);
        if place.identity(id)? != self.identity {
            return Err(SessionsError::Replaced(id.clone()));
        }
        let epoch = place.epoch(id)?;
        let mut head = place.head(id)?;
        let balances = place.balances(id)?;
        let chain = Chain::resume(head.lines, place.hash(id, &head)?);
        let family = FamilyId::of(id, &place.created(id)?)?;
        let shared = place.founded(id, family)?.map(|_| place.spent(id)).transpose()?;
        self.restore(known != Some(epoch), &balances, shared.as_ref());
        let interrupted = std::mem::take(&mut head.running);
        let owner = Owner { key: key::one(b'O', id), epoch };
        let mut open = Open::new(owner, head, chain, balances, Sharing::new(family, shared));
        for run in interrupted {
            let record = RunRecord { status: "interrupted".to_owned(), ..place.run(id, run)? };
            open.put(key::numbered(b'R', id, run), json(&record));
            open.line(id, &Event::Ended { run, status: "interrupted", error: None })?;
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
    fn own(&self, epoch: u64) -> Result<(), SessionsError> {
        let mut open = self.log.lock();
        let open = open.as_mut().ok_or(SessionsError::NotTaken)?;
        open.put(key::one(b'O', &self.id), epoch.to_be_bytes().to_vec());
        self.log.commit(open, |commit| {
            // If another session has taken this name meanwhile, it is not overwritten.
            commit.batch.expect(key::one(b'S', &self.id), Some(self.identity.clone()));
            Ok(())
        })?;
        open.owner.epoch = epoch;
        Ok(())
    }

    /// Records the start of a run.
    fn begin(&self, script: &str, hash: &str) -> Result<Begun, SessionsError> {
        let mut open = self.log.lock();
        let open = open.as_mut().ok_or(SessionsError::NotTaken)?;
        if open.head.running.len() >= MAX_RUNNING {
            return Err(SessionsError::Busy(self.id.clone()));
        }
        let number = open.head.runs.checked_add(1).ok_or_else(|| damaged(&self.id, "its runs"))?;
        open.head.runs = number;
        let record = RunRecord {
            status: "running".to_owned(),
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
        open.put(key::numbered(b'R', &self.id, number), json(&record));
        Ok(Begun { number, record })
    }

    /// Commits the end of a run: its record, its part of the log, and its effects as the new head. A run of a delegated
    /// session has no effects here.
    pub(in crate::session) fn conclude(
        &self,
        begun: &Begun,
        result: &RunResult,
        left: Option<&Left>,
    ) -> Result<Option<SnapshotId>, SessionsError> {
        let Counts { admitted, denied } = Counts::of(result.calls.as_slice());
        let whole = result.error.as_ref().map(|error| error.message.as_str());
        let error = whole.map(|error| shortened(error, MAX_ERROR));
        let status = result.status.word();
        let told = whole.map(told_in_log);
        let event = Event::Ended { run: begun.number, status, error: told.as_deref() };
        let (status, error) = (status.to_owned(), error.clone());
        let record = RunRecord { status, error, calls: admitted, denied, ..begun.record.clone() };
        self.commit(begun, record, left.map(|left| &left.files), &event, |commit| {
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
        let (mut files, begun) = self.enter(limits, what, "")?;
        let changed = change(&mut files).and_then(|()| self.changed(&begun, what, &files, states));
        if changed.is_err() {
            self.withdraw(&begun, None);
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
        let (files, begun) = self.enter(limits, what, "")?;
        let widened = self.widened(&begun, what, &files, widen);
        if widened.is_err() {
            self.withdraw(&begun, None);
        }
        self.leave();
        widened
    }

    fn widened<E: From<SessionsError>>(
        &self,
        begun: &Begun,
        what: &str,
        files: &Tree,
        widen: impl FnOnce(Policy, Lock) -> Result<(Policy, Lock), E>,
    ) -> Result<Policy, E> {
        let (policy, lock) = widen(self.place.policy(&self.id)?, self.place.lock(&self.id)?)?;
        let values = [(b'P', policy.to_json().to_string().into_bytes()), (b'M', json(&lock))];
        let record = RunRecord { status: "changed".to_owned(), ..begun.record.clone() };
        let event = Event::Changed { run: begun.number, what };
        self.commit(begun, record, Some(files), &event, |commit| {
            values.iter().try_for_each(|(kind, value)| commit.long(key::one(*kind, &self.id), value))
        })?;
        Ok(policy)
    }

    /// Commits a change of the files that is not a run; with `states`, also of the script state.
    fn changed(
        &self,
        begun: &Begun,
        what: &str,
        files: &Tree,
        states: Option<&States>,
    ) -> Result<SnapshotId, SessionsError> {
        let record = RunRecord { status: "changed".to_owned(), ..begun.record.clone() };
        let event = Event::Changed { run: begun.number, what };
        let committed = self.commit(begun, record, Some(files), &event, |commit| {
            if let Some(states) = states {
                commit.head.states.clone_from(states);
            }
            Ok(())
        });
        Ok(committed?.expect("files were given"))
    }

    /// Marks a started run as failed, in a record that the next commit writes; for a run that ended, with the reason
    /// why its effects are not saved.
    pub(in crate::session) fn withdraw(&self, begun: &Begun, lost: Option<&RunResult>) {
        if let Some(open) = self.log.lock().as_mut() {
            open.head.running.retain(|run| *run != begun.number);
            let Counts { admitted, denied } = lost.map(|lost| Counts::of(lost.calls.as_slice())).unwrap_or_default();
            let error = lost.and_then(|lost| lost.error.as_ref()).map(|error| error.message.as_str());
            if error.is_some() {
                // If the line is too long, the run's record still shows the failure.
                let _ = open.line(&self.id, &Event::Ended { run: begun.number, status: "failed", error });
            }
            let error = error.map(|error| shortened(error, MAX_ERROR));
            let (status, ended) = ("failed".to_owned(), Some(now()));
            let record = RunRecord { status, ended, error, calls: admitted, denied, ..begun.record.clone() };
            open.put(key::numbered(b'R', &self.id, begun.number), json(&record));
        }
    }

    fn commit(
        &self,
        begun: &Begun,
        record: RunRecord,
        files: Option<&Tree>,
        event: &Event<'_>,
        restate: impl Fn(&mut Commit<'_>) -> Result<(), SessionsError>,
    ) -> Result<Option<SnapshotId>, SessionsError> {
        let mut open = self.log.lock();
        let open = open.as_mut().ok_or(SessionsError::NotTaken)?;
        let mut left = None;
        let make = |commit: &mut Commit<'_>| {
            if let Some(files) = files {
                let snapshot = files.seal(commit.upload()?)?;
                let usage = files.usage();
                let head = &mut commit.head;
                (head.snapshot, head.left_by, head.changed) = (snapshot, begun.number, now());
                (head.bytes, head.entries) = (usage.bytes, usage.entries);
                left = Some(snapshot);
                restate(commit)?;
            }
            commit.head.running.retain(|run| *run != begun.number);
            let states = if left.is_some() { commit.head.states.clone() } else { States::new() };
            let record = RunRecord { ended: Some(now()), snapshot: left, states, ..record.clone() };
            commit.batch.put(key::numbered(b'R', &self.id, begun.number), json(&record));
            Ok(())
        };
        open.telling(&self.id, event, |open| self.log.commit(open, make))?;
        Ok(left)
    }

    /// Releases the session's lock when the last run that uses it ends.
    pub(in crate::session) fn leave(&self) {
        let mut held = self.held();
        held.users = held.users.saturating_sub(1);
        if held.users == 0 {
            // Pending records belong to no run that ended, so nothing that was promised is lost.
            let _ = self.log.sync();
            *self.log.lock() = None;
            held.turn = None;
        }
    }

    /// Locks the state. The mutex is held only while the session is locked and released, so a poisoned one is still
    /// good.
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the error of a run for the log; an error that would fill the log is shortened.
pub(in crate::session) fn told_in_log(error: &str) -> Cow<'_, str> {
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
struct Entries {
    place: Sessions,
    id: SessionId,
    log: Arc<SessionLog>,
}

impl KeyValueBacking for Entries {
    fn load(&self) -> Result<Vec<(EntryKey, Bytes)>, String> {
        self.place.keyvalue(&self.id).map_err(|error| error_chain(&error))
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
        lines: 0,
        hash,
        commits: 0,
        changed: now(),
        bytes,
        entries,
        states,
    }
}
