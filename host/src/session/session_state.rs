//! Session state that its runs share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Instant;

use tracing::debug;
use wasmtime::component::Component;

use super::call_run::CallRun;
use super::catalog::GateCatalog;
use super::component_run::ComponentRun;
use super::guest_seed::GuestSeed;
use super::host::{HostError, HostState, file_limits};
use super::journal::{JournalEntry, ReplayError, RunStart};
use super::options::RunOptions;
use super::persistence::{PersistentSession, ResumedRun, SessionId, SessionsError, StartedRun, error_for_log};
use super::recording::SessionCalls;
use super::result::EndedRun;
use super::run::{Run, RunJournal};
use super::saved_session;
use super::session_storage::{RunSlot, SessionStorage};
use super::suspended_run::SuspensionObserver;
use super::thread_pool::ThreadPool;
use super::tool_pool::ToolPool;
use super::{RunEffects, RunResult, Status};
use crate::agent::Program;
use crate::capability::{Limits, Policy};
use crate::code::MemoryAccount;
use crate::error::{Failure, Payload, error_chain};
use crate::gate::{Call, CallOutcome, Event, Gate};
use crate::guest::{Catalog, Guests, Language, Script};
use crate::tool::{ToolServices, Warm};
use crate::vfs::{ApplyError, Edit, Tree};

/// Files, grants and budgets that outlive a run. Cheap to clone; clones are the same session.
#[derive(Clone)]
pub struct Session(pub(super) Arc<SessionState>);

/// State that the runs of a session share.
pub(super) struct SessionState {
    host: Arc<HostState>,
    pub(super) storage: SessionStorage,
    /// Recording of the calls, or the recording that answers them. Delegated sessions have the same.
    pub(super) calls: Arc<SessionCalls>,
    pub(super) gate: Arc<Gate>,
    pub(super) catalog: Arc<dyn Catalog>,
    head: Mutex<Tree>,
    /// State that the last script of each language left, for a session whose files are in memory.
    states: Mutex<HashMap<Language, Vec<u8>>>,
    pub(super) warm: Arc<Warm>,
    /// Memory of the host that its runs may take, one after the other.
    pub(super) memory: MemoryAccount,
    pub(super) services: Arc<ToolServices>,
    /// Secret that a tool is granted and whose value was not given.
    missing: Option<String>,
    busy: AtomicBool,
    /// Observer of suspended runs.
    pub(super) on_suspended: OnceLock<Arc<dyn SuspensionObserver>>,
}

/// Run that is about to be resumed.
pub(super) struct ResumableRun {
    pub(super) slot: RunSlot,
    pub(super) language: Language,
    pub(super) script: Script,
    pub(super) seed: GuestSeed,
    pub(super) keep_state: bool,
    pub(super) journal: RunJournal,
    /// Calls that the run had made.
    pub(super) calls: Vec<Call>,
}

/// Guard that frees a session when it is dropped, whatever the outcome.
struct BusyGuard<'s>(&'s AtomicBool);

impl Drop for BusyGuard<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Session {
    pub(super) fn new(
        host: &Arc<HostState>,
        gate: Gate,
        files: Tree,
        services: ToolServices,
        storage: SessionStorage,
        calls: Arc<SessionCalls>,
    ) -> Self {
        let gate = Arc::new(gate);
        let warm = Arc::new(Warm::default());
        let idle = Arc::downgrade(&warm);
        let reclaim = move || {
            if let Some(idle) = idle.upgrade() {
                idle.clear();
            }
        };
        // Where no tool runs, none uses a secret.
        let runs_tools = !calls.is_replayed() && services.dry_run.is_none();
        let missing = gate.secrets().into_iter().find(|name| runs_tools && !services.secrets.has(name));
        Self(Arc::new(SessionState {
            host: Arc::clone(host),
            storage,
            calls,
            catalog: Arc::new(GateCatalog::new(&gate)),
            head: Mutex::new(files),
            states: Mutex::default(),
            warm,
            memory: MemoryAccount::reclaiming(gate.limits().memory, reclaim),
            missing,
            services: Arc::new(services),
            busy: AtomicBool::new(false),
            on_suspended: OnceLock::new(),
            gate,
        }))
    }

    /// Prepares a run of a script; [`Run::step`] or [`Run::finish`] starts it. For a session on disk, waits until no
    /// other process runs it.
    ///
    /// # Errors
    /// If another run of the session has not ended, or the guest cannot be loaded.
    pub fn start(&self, language: Language, script: Script, options: RunOptions) -> Result<Run, HostError> {
        let start = self.0.journal_start(language, &script, options.keep_state)?;
        let slot = self.0.begin_run(&script.name, script.source.as_bytes(), start.as_ref())?;
        let seed = self.0.guest_seed(start.as_ref(), slot.number()).expect("it was just made");
        Run::new(Arc::clone(&self.0), slot, language, script, seed, options)
    }

    /// Prepares to continue the session's run that is suspended or was interrupted: the script runs again from its
    /// start, is given again what it was given then, and calls no tool and writes no output until it is where it was.
    /// The script and whether it keeps its state are those of that run.
    ///
    /// # Errors
    /// If there is no such run, something that it depends on has changed, or another run of the session has not ended.
    pub fn resume(&self, options: RunOptions) -> Result<Run, HostError> {
        self.0.mark_busy()?;
        let resumed = self.0.resume().inspect_err(|_| self.0.busy.store(false, Ordering::Release))?;
        Run::resumed(Arc::clone(&self.0), resumed, options)
    }

    /// Returns the suspended or interrupted run of a session on disk, which can be resumed until another run has begun;
    /// `None` for a session in memory.
    ///
    /// # Errors
    /// If the session cannot be read.
    pub fn unfinished_run(&self) -> Result<Option<u64>, HostError> {
        let Some(persistent) = self.0.storage.main() else { return Ok(None) };
        Ok(persistent.unfinished_run_number()?)
    }

    /// Prepares a run of an agent that is a component (`wasi:cli/command`) and imports tools by their WIT names.
    ///
    /// # Errors
    /// If another run of the session has not ended; [`HostError::Unrecordable`]. An agent that cannot be linked is a run
    /// that fails.
    pub fn start_component(
        &self,
        component: Vec<u8>,
        program: Program,
        options: RunOptions,
    ) -> Result<ComponentRun, HostError> {
        self.0.check_unrecorded()?;
        let slot = self.0.begin_run(&program.name, &component, None)?;
        Ok(ComponentRun::new(Arc::clone(&self.0), slot, component, program, options))
    }

    /// Prepares a call of one tool, without a script. It is a run of its own.
    ///
    /// # Errors
    /// If another run of the session has not ended; [`HostError::Unrecordable`].
    pub fn start_call(&self, method: &str, arguments: &str) -> Result<CallRun, HostError> {
        self.0.check_unrecorded()?;
        let slot = self.0.begin_run(method, &[], None)?;
        Ok(CallRun::new(Arc::clone(&self.0), slot, method, arguments))
    }

    /// Calls one tool, without a script: [`Session::start_call`] and [`CallRun::finish`].
    ///
    /// # Errors
    /// Those of [`CallRun::finish`]; if another run of the session has not ended.
    pub fn call(&self, method: &str, arguments: &str) -> Result<Payload, Failure> {
        let call = self.start_call(method, arguments).map_err(|error| match error {
            HostError::Secret(_) => Failure::policy(error.to_string()),
            error => Failure::host(error_chain(&error)),
        })?;
        call.finish()
    }

    /// Changes the files between two runs. For a session on disk the change is committed like a run: it has a number,
    /// and can be rolled back. `what` describes it in the log.
    ///
    /// # Errors
    /// If a run of the session has not ended, `change` fails, or the change cannot be committed: then the files are as
    /// they were.
    pub fn change(
        &self,
        what: &str,
        change: impl FnOnce(&mut Tree) -> Result<(), SessionsError>,
    ) -> Result<(), HostError> {
        self.0.mark_busy()?;
        let _busy_guard = BusyGuard(&self.0.busy);
        Ok(self.0.change_files(what, change)?)
    }

    /// Saves the session to bytes, between two runs: its files, the spent part of its budgets, and the state of its
    /// last scripts. Its authority is not included, nor are the entries that tools have stored by `wasi:keyvalue`.
    /// Whoever can change the bytes can change the spent amounts.
    ///
    /// # Errors
    /// If a run of the session has not ended, or its files cannot be read.
    pub fn save(&self) -> Result<Vec<u8>, HostError> {
        self.0.storage.in_memory()?;
        self.0.mark_busy()?;
        let _busy_guard = BusyGuard(&self.0.busy);
        let states = Language::ALL.into_iter().map(|language| Ok((language, self.0.state(language)?)));
        let states = states.collect::<Result<Vec<_>, SessionsError>>()?;
        Ok(saved_session::write(&self.0.head(), &states, &self.0.gate)?)
    }

    /// Loads bytes that [`Session::save`] wrote into this session, which is in memory: its files, and the amounts spent
    /// on accounts of the same name. The authority of this session stays as it is.
    ///
    /// # Errors
    /// If a run of the session has not ended, or the bytes are not a session within its limits: then nothing has
    /// changed.
    pub fn load(&self, bytes: &[u8]) -> Result<(), HostError> {
        self.0.storage.in_memory()?;
        self.0.mark_busy()?;
        let _busy_guard = BusyGuard(&self.0.busy);
        let carried = saved_session::read(bytes, file_limits(self.0.limits()))?;
        *self.0.states() = carried.states;
        self.0.gate.restore(&carried.spent);
        self.0.commit(carried.files.into());
        Ok(())
    }

    /// Reloads files and spent budgets from disk, where another process may have run the session or one that shares its
    /// budgets. Does nothing in memory, or while a run is active here.
    ///
    /// # Errors
    /// If the session cannot be read.
    pub fn refresh(&self) -> Result<(), HostError> {
        let Some(persistent) = self.0.storage.main() else { return Ok(()) };
        if self.0.mark_busy().is_err() {
            return Ok(());
        }
        let _busy_guard = BusyGuard(&self.0.busy);
        self.0.commit(persistent.head(file_limits(self.0.limits()))?.into());
        Ok(persistent.refresh_spending()?)
    }

    /// Creates a session with less authority, for a sub-agent: it starts with these files, its grants narrow those of
    /// this session, and what it spends is spent here too. If this session is on disk, it shares the log; its files are
    /// in memory.
    ///
    /// # Errors
    /// If `narrower` covers more than this session's policy.
    pub fn delegate(&self, narrower: Policy) -> Result<Self, HostError> {
        self.delegated(self.0.gate.attenuate(narrower)?)
    }

    /// Creates a session like [`Self::delegate`] that has the grants with these names alone.
    ///
    /// # Errors
    /// If a grant that is left allows, without approval, calls that one before it asks about.
    pub fn delegate_subset(&self, keeps: impl Fn(&str) -> bool) -> Result<Self, HostError> {
        self.delegated(self.0.gate.subset(keeps)?)
    }

    fn delegated(&self, gate: Gate) -> Result<Self, HostError> {
        // The narrower policy may require more signatures.
        self.0.host.packages().check_signed(gate.tools(), &gate.policy().signed)?;
        let store = self.0.services.store.fork().map_err(HostError::KeyValue)?;
        let services = ToolServices { store, ..ToolServices::clone(&self.0.services) };
        let (storage, calls) = (self.0.storage.delegated()?, Arc::clone(&self.0.calls));
        Ok(Self::new(&self.0.host, gate, self.files(), services, storage, calls))
    }

    /// Returns a weak reference to the gate.
    pub(super) fn weak_gate(&self) -> Weak<Gate> {
        Arc::downgrade(&self.0.gate)
    }

    /// Returns the session's name, or `None` for a session in memory.
    #[must_use]
    pub fn id(&self) -> Option<&SessionId> {
        self.0.id()
    }

    /// Returns the files as the last run left them.
    #[must_use]
    pub fn files(&self) -> Tree {
        self.0.head()
    }

    /// Returns true if this process may still open sockets for the session: another process holds its store, and may
    /// end.
    #[must_use]
    pub fn may_open_sockets(&self) -> bool {
        self.0.storage.may_open_sockets()
    }

    /// Returns the gate in front of the session's tools.
    #[must_use]
    pub fn gate(&self) -> &Gate {
        &self.0.gate
    }
}

impl SessionState {
    pub(super) fn limits(&self) -> &Limits {
        self.gate.limits()
    }

    pub(super) fn id(&self) -> Option<&SessionId> {
        self.storage.id()
    }

    pub(super) fn head(&self) -> Tree {
        self.head.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes the effects of a run visible to the next one.
    pub(super) fn commit(&self, left: RunEffects) {
        *self.head.lock().unwrap_or_else(PoisonError::into_inner) = left.files;
        if let Some((language, state)) = left.state {
            self.states().insert(language, state);
        }
    }

    /// Returns the state that the last script of a language left; empty for none.
    pub(super) fn state(&self, language: Language) -> Result<Vec<u8>, SessionsError> {
        match self.storage.main() {
            Some(persistent) => persistent.state(language),
            None => Ok(self.states().get(&language).cloned().unwrap_or_default()),
        }
    }

    /// Locks the states. No change can be seen half done, so a poisoned lock is still good.
    fn states(&self) -> MutexGuard<'_, HashMap<Language, Vec<u8>>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies edits to the head.
    pub(super) fn change(&self, edits: &[Edit]) -> Result<(), ApplyError> {
        self.head.lock().unwrap_or_else(PoisonError::into_inner).apply(edits)
    }

    /// Returns true if no tool is called.
    pub(super) fn is_dry_run(&self) -> bool {
        self.services.dry_run.is_some()
    }

    /// Checks that the session's calls are neither recorded nor answered from a recording, which is for scripts.
    fn check_unrecorded(&self) -> Result<(), HostError> {
        if self.calls.are_plain() { Ok(()) } else { Err(HostError::Unrecordable) }
    }

    /// Reserves the session for a run.
    fn begin_run(&self, name: &str, source: &[u8], start: Option<&JournalEntry>) -> Result<RunSlot, HostError> {
        if let Some(name) = &self.missing {
            return Err(HostError::Secret(name.clone()));
        }
        self.mark_busy()?;
        let slot = self.enter(name, source, start);
        if slot.is_err() {
            self.busy.store(false, Ordering::Release);
        }
        slot
    }

    /// Marks the session as busy.
    fn mark_busy(&self) -> Result<(), HostError> {
        if self.busy.swap(true, Ordering::AcqRel) { Err(HostError::Busy) } else { Ok(()) }
    }

    fn change_files(
        &self,
        what: &str,
        change: impl FnOnce(&mut Tree) -> Result<(), SessionsError>,
    ) -> Result<(), SessionsError> {
        let files = match self.storage.main() {
            Some(persistent) => persistent.change(file_limits(self.limits()), what, None, change)?.1,
            None => {
                let mut files = self.head();
                change(&mut files)?;
                files
            }
        };
        self.commit(files.into());
        Ok(())
    }

    fn enter(&self, name: &str, source: &[u8], start: Option<&JournalEntry>) -> Result<RunSlot, HostError> {
        let (persistent, main) = match &self.storage {
            SessionStorage::Memory { runs, .. } => return Ok(SessionStorage::next_run(runs)),
            SessionStorage::Disk { persistent, main, .. } => (persistent, *main),
        };
        let hash = blake3::hash(source).to_hex();
        let (files, started_run) = persistent.enter(file_limits(self.limits()), name, &hash, start)?;
        if main {
            self.commit(files.into());
        }
        Ok(RunSlot::Disk(started_run))
    }

    /// Ends a run: commits its effects, records its end in the audit log, and frees the session. Returns the result, which
    /// says so if something of that failed.
    pub(super) fn conclude(&self, slot: RunSlot, ended: EndedRun, left: RunEffects) -> RunResult {
        let mut result = ended.result(self, &slot, left.files.clone());
        match self.storage.on_disk(&slot) {
            Some((persistent, started_run)) => {
                self.commit_on_disk(persistent, started_run, &mut result, left);
                self.log_end(&slot, &mut result);
                persistent.leave();
            }
            None => {
                self.commit(left);
                self.log_end(&slot, &mut result);
            }
        }
        self.busy.store(false, Ordering::Release);
        let (run, wall_micros) = (slot.number(), result.usage.wall_micros);
        debug!(target: "tollhouse::run", run, status = result.status.word(), wall_micros, "ended");
        result
    }

    /// Commits the effects of a run of a session on disk.
    fn commit_on_disk(
        &self,
        persistent: &PersistentSession,
        started_run: &StartedRun,
        result: &mut RunResult,
        left: RunEffects,
    ) {
        // A delegated session's files are its own, and in memory.
        let is_main = self.storage.main().is_some();
        let saved = || is_main.then(|| persistent.head(file_limits(self.limits())));
        match persistent.conclude(started_run, result, is_main.then_some(&left)) {
            Ok(snapshot) => {
                result.snapshot = snapshot.map(|snapshot| snapshot.to_string());
                // As they are on disk: an idle session holds no file contents in memory.
                self.commit(saved().and_then(Result::ok).map_or(left, RunEffects::from));
            }
            Err(error) => {
                result.mark_unsaved(&error);
                if persistent.interrupt(started_run, result.calls.as_slice()) {
                    result.mark_resumable();
                } else {
                    persistent.withdraw(started_run, Some(result));
                }
                match saved() {
                    Some(Ok(files)) => self.commit(files.into()),
                    Some(Err(_)) => {}
                    None => self.commit(left),
                }
            }
        }
    }

    /// Describes the start of a run that can be suspended and resumed; `None` for any other.
    fn journal_start(
        &self,
        language: Language,
        script: &Script,
        keep_state: bool,
    ) -> Result<Option<JournalEntry>, HostError> {
        if self.storage.main().is_none() {
            return Ok(None);
        }
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| HostError::Random(error.into()))?;
        let start = RunStart::new(language, script, self.gate.rules_digest(), self.limits(), keep_state, seed);
        Ok(Some(JournalEntry::Started(Box::new(start))))
    }

    /// Returns the seed of the guests of a run, which is that of its journal if it has one.
    ///
    /// # Errors
    /// If the journal's seed cannot be read.
    fn guest_seed(&self, start: Option<&JournalEntry>, run: u64) -> Result<GuestSeed, ReplayError> {
        let of_journal = match start {
            Some(JournalEntry::Started(start)) => start.seed()?,
            _ => None,
        };
        Ok(of_journal.map_or_else(|| GuestSeed::of_session(*self.storage.secret(), run), GuestSeed::of_run))
    }

    /// Starts the unfinished run again.
    fn resume(&self) -> Result<ResumableRun, HostError> {
        let persistent = self.storage.main().ok_or(HostError::NotResumable)?;
        if let Some(name) = &self.missing {
            return Err(HostError::Secret(name.clone()));
        }
        if self.gate.lacks_signature_check() {
            return Err(HostError::UncheckedApprovals);
        }
        let session = persistent.id();
        let (run, journal) = persistent.unfinished()?;
        let failed = |source| SessionsError::Replay { session: session.clone(), run, source };
        let seed = self.guest_seed(journal.first(), run).map_err(failed)?;
        let start = journal.first().ok_or_else(|| failed(ReplayError::Unreadable("it is empty".to_owned())))?;
        let JournalEntry::Started(start) = start else {
            return Err(failed(ReplayError::Unreadable("it has no start".to_owned())).into());
        };
        let (language, script) = start.script(self.gate.rules_digest()).map_err(failed)?;
        let keep_state = start.keep_state;
        RunJournal::resumed(journal).map_err(failed)?;
        let ResumedRun { files, started_run, journal, calls } = persistent.reenter(file_limits(self.limits()))?;
        self.commit(files.into());
        let slot = RunSlot::Disk(started_run);
        if let Some(error) = self.missing_server(&calls) {
            self.put_back(&slot);
            return Err(error);
        }
        // Another process may have come between.
        let journal = RunJournal::resumed(journal).ok().filter(|_| slot.number() == run);
        let Some(journal) = journal else {
            self.put_back(&slot);
            return Err(HostError::Busy);
        };
        Ok(ResumableRun { slot, language, script, seed, keep_state, journal, calls })
    }

    /// Finds a server that a run needs, because it has called its tools or waits for a call, and that is not started. The
    /// script would be told so, and could never make the calls that were approved.
    fn missing_server(&self, calls: &[Call]) -> Option<HostError> {
        let needed = calls.iter().filter(|call| matches!(call.outcome, CallOutcome::Ok | CallOutcome::Pending));
        let unserved = |call: &Call| Some((self.gate.tools().unserved(&call.method)?.to_owned(), call.method.clone()));
        let (server, method) = needed.filter_map(unserved).next()?;
        Some(HostError::ServerNotStarted { server, method })
    }

    /// Commits a run that has neither ended nor continues here, and frees the session.
    pub(super) fn suspend(&self, slot: &RunSlot, mut result: RunResult) -> RunResult {
        if let Some((persistent, started_run)) = self.storage.on_disk(slot) {
            // A replay that failed leaves the run as it was before.
            let waits = matches!(result.status, Status::Suspended | Status::InDoubt);
            let status = waits.then(|| result.status.into());
            if let Err(error) = persistent.suspend(started_run, Some(result.calls.as_slice()), status) {
                result.mark_unsaved(&error);
                if persistent.interrupt(started_run, result.calls.as_slice()) {
                    result.mark_resumable();
                } else {
                    persistent.withdraw(started_run, Some(&result));
                }
            }
            self.log_end(slot, &mut result);
            persistent.leave();
        }
        self.busy.store(false, Ordering::Release);
        result
    }

    /// Records the end of the run in the audit log; a result that the log lacks is an error.
    fn log_end(&self, slot: &RunSlot, result: &mut RunResult) {
        let error = result.error.as_ref().map(|error| error_for_log(&error.message));
        let ended = Event::Ended { run: slot.number(), status: result.status.word(), error: error.as_deref() };
        if let Err(error) = self.gate.audit().write(&ended) {
            result.mark_unlogged(&error);
        }
    }

    /// Frees the session after a run that could not be resumed, and still can be.
    pub(super) fn put_back(&self, slot: &RunSlot) {
        if let Some((persistent, started_run)) = self.storage.on_disk(slot) {
            // If that cannot be committed now, the run counts as interrupted, and can be resumed as well.
            let _ = persistent.suspend(started_run, None, None);
            persistent.leave();
        }
        self.busy.store(false, Ordering::Release);
    }

    /// Frees the session after a run that could not start.
    pub(super) fn withdraw(&self, slot: &RunSlot) {
        if let Some((persistent, started_run)) = self.storage.on_disk(slot) {
            persistent.withdraw(started_run, None);
            persistent.leave();
        }
        self.busy.store(false, Ordering::Release);
    }

    /// Returns the code of an agent, compiled if no earlier process has done so.
    pub(super) fn compile_agent(&self, digest: &str, bytes: &[u8]) -> Result<Component, String> {
        self.host.compile_agent(digest, bytes)
    }

    pub(super) fn guests(&self) -> &Guests {
        self.host.guests()
    }

    pub(super) fn pool(&self) -> ToolPool {
        self.host.pool()
    }

    pub(super) fn threads(&self) -> ThreadPool {
        self.host.threads()
    }

    pub(super) fn callers(&self) -> ThreadPool {
        self.host.callers()
    }
}

/// Returns the microseconds since an instant.
pub(super) fn micros(started_run: Instant) -> u64 {
    u64::try_from(started_run.elapsed().as_micros()).unwrap_or(u64::MAX)
}
