//! Handle of a session: what embedding programs do with it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use super::call_run::CallRun;
use super::catalog::GateCatalog;
use super::component_run::ComponentRun;
use super::host::{HostError, HostState, file_limits};
use super::options::{HeapUse, RunOptions};
use super::persistence::{SessionId, SessionsError};
use super::recording::SessionCalls;
use super::run::Run;
use super::saved_session;
use super::session_state::SessionState;
use super::session_storage::SessionStorage;
use crate::agent::Program;
use crate::capability::Policy;
use crate::code::MemoryAccount;
use crate::error::{Failure, Payload, error_chain};
use crate::gate::Gate;
use crate::guest::{Language, Script};
use crate::tool::{ToolServices, Warm};
use crate::vfs::Tree;

/// Files, grants and budgets that outlive a run. Cheap to clone; clones are the same session.
#[derive(Clone)]
pub struct Session(pub(super) Arc<SessionState>);

/// Number of sessions that this process has created.
static CREATED: AtomicU64 = AtomicU64::new(0);

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
            number: CREATED.fetch_add(1, Ordering::Relaxed),
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
        // A replay writes the output again.
        let uses_heap = options.heap != HeapUse::Never && !options.replay_output;
        let resumed = self.0.resume(uses_heap, options.calls);
        let resumed = resumed.inspect_err(|_| self.0.busy.store(false, Ordering::Release))?;
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

    /// Returns the number of the session, which no other session of this process has, not even one delegated from it. A host
    /// function is told the number of the session that calls it ([`HostCall::session`](crate::tool::HostCall::session)).
    #[must_use]
    pub fn number(&self) -> u64 {
        self.0.number
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
