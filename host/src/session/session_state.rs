//! Session state that its runs share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use tracing::debug;
use wasmtime::component::Component;

use super::guest_seed::GuestSeed;
use super::heap::{Heap, HeapConditions, HeapScope};
use super::host::{HostError, HostState, file_limits};
use super::journal::{JournalEntry, ReplayError, RunStart};
use super::options::CallListing;
use super::persistence::{PersistentSession, ResumedRun, SessionId, SessionsError, StartedRun, error_for_log};
use super::recording::SessionCalls;
use super::result::EndedRun;
use super::run::{RestoredEntries, RestoredHeap, RunJournal, TakenHeap};
use super::session_storage::{RunSlot, SessionStorage};
use super::suspended_run::SuspensionObserver;
use super::thread_pool::ThreadPool;
use super::tool_pool::ToolPool;
use super::{RunEffects, RunResult, Status};
use crate::capability::Limits;
use crate::code::{CodeError, MemoryAccount};
use crate::gate::{CallList, Event, Gate};
use crate::guest::{Catalog, Guests, Language, Script};
use crate::tool::{ToolServices, Warm};
use crate::vfs::{ApplyError, Edit, Tree};

/// State that the runs of a session share.
pub(super) struct SessionState {
    /// Number of the session in this process. Delegated sessions have numbers of their own.
    pub(super) number: u64,
    pub(super) host: Arc<HostState>,
    pub(super) storage: SessionStorage,
    /// Recording of the calls, or the recording that answers them. Delegated sessions have the same.
    pub(super) calls: Arc<SessionCalls>,
    pub(super) gate: Arc<Gate>,
    pub(super) catalog: Arc<dyn Catalog>,
    pub(super) head: Mutex<Tree>,
    /// State that the last script of each language left, for a session whose files are in memory.
    pub(super) states: Mutex<HashMap<Language, Vec<u8>>>,
    pub(super) warm: Arc<Warm>,
    /// Memory of the host that its runs may take, one after the other.
    pub(super) memory: MemoryAccount,
    pub(super) services: Arc<ToolServices>,
    /// Secret that a tool is granted and whose value was not given.
    pub(super) missing: Option<String>,
    pub(super) busy: AtomicBool,
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
    /// Heap that stands for the beginning of the journal.
    pub(super) heap: Option<RestoredHeap>,
    /// Calls that the run had made.
    pub(super) calls: CallList,
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
    pub(super) fn states(&self) -> MutexGuard<'_, HashMap<Language, Vec<u8>>> {
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
    pub(super) fn check_unrecorded(&self) -> Result<(), HostError> {
        if self.calls.are_plain() { Ok(()) } else { Err(HostError::Unrecordable) }
    }

    /// Reserves the session for a run.
    pub(super) fn begin_run(
        &self,
        name: &str,
        source: &[u8],
        start: Option<&JournalEntry>,
    ) -> Result<RunSlot, HostError> {
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
    pub(super) fn mark_busy(&self) -> Result<(), HostError> {
        if self.busy.swap(true, Ordering::AcqRel) { Err(HostError::Busy) } else { Ok(()) }
    }

    pub(super) fn change_files(
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
                if persistent.interrupt(started_run, &result.calls) {
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
    pub(super) fn journal_start(
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
    pub(super) fn guest_seed(&self, start: Option<&JournalEntry>, run: u64) -> Result<GuestSeed, ReplayError> {
        let of_journal = match start {
            Some(JournalEntry::Started(start)) => start.seed()?,
            _ => None,
        };
        Ok(of_journal.map_or_else(|| GuestSeed::of_session(*self.storage.secret(), run), GuestSeed::of_run))
    }

    /// Starts the unfinished run again: from its heap, if that is wanted and it has one that fits.
    pub(super) fn resume(&self, uses_heap: bool, listing: CallListing) -> Result<ResumableRun, HostError> {
        let persistent = self.storage.main().ok_or(HostError::NotResumable)?;
        if let Some(name) = &self.missing {
            return Err(HostError::Secret(name.clone()));
        }
        if self.gate.lacks_signature_check() {
            return Err(HostError::UncheckedApprovals);
        }
        let (run, first) = persistent.unfinished()?;
        let failed = |source| SessionsError::Replay { session: persistent.id().clone(), run, source };
        let seed = self.guest_seed(first.as_ref(), run).map_err(failed)?;
        let start = match first {
            Some(JournalEntry::Started(start)) => start,
            Some(_) => return Err(failed(ReplayError::Unreadable("it has no start".to_owned())).into()),
            None => return Err(failed(ReplayError::Unreadable("it is empty".to_owned())).into()),
        };
        let (language, script) = start.script(self.gate.rules_digest()).map_err(failed)?;
        let keep_state = start.keep_state;
        let heap = if uses_heap { self.restore_heap(persistent, language, run) } else { None };
        let known = persistent.stored_journal(run, heap.as_ref().map(|(_, scope)| scope))?;
        RunJournal::check(&known.entries).map_err(failed)?;
        let ResumedRun { files, started_run, journal, calls } = {
            let position = heap.as_ref().zip(known.restored);
            let position = position.map(|((heap, scope), entries)| heap.position(scope, entries, listing));
            persistent.reenter(file_limits(self.limits()), known, position.as_ref())?
        };
        self.commit(files.into());
        let slot = RunSlot::Disk(started_run);
        if let Some(error) = self.missing_server(&calls) {
            self.put_back(&slot);
            return Err(error);
        }
        if slot.number() != run {
            // Another process has come between.
            self.put_back(&slot);
            return Err(HostError::Busy);
        }
        // What another process has added since is not what the heap was compared with.
        let heap = heap.zip(journal.restored);
        debug!(target: "tollhouse::run", run, from_heap = heap.is_some(), "resumed");
        let (heap, restored) = heap.map_or((None, None), |((heap, scope), entries)| {
            (Some(heap), Some(RestoredEntries { count: entries, scope }))
        });
        let journal = RunJournal::resumed(journal.entries, restored.as_ref()).map_err(failed);
        let journal = journal.inspect_err(|_| self.put_back(&slot))?;
        Ok(ResumableRun { slot, language, script, seed, keep_state, journal, heap, calls })
    }

    /// Restores the heap of a run, and returns it with the part of the run's records that it stands for, which is not
    /// compared with them yet. Returns `None` if there is none that fits: then the run is replayed, to the same effect.
    fn restore_heap(
        &self,
        persistent: &PersistentSession,
        language: Language,
        run: u64,
    ) -> Option<(RestoredHeap, HeapScope)> {
        let conditions = HeapConditions::new(self.guests(), language, run, self.limits())?;
        let (bytes, files) = persistent.heap(run, file_limits(self.limits()))?;
        match Heap::decode(&bytes, &conditions, self.limits()) {
            Ok((heap, scope)) => Some((RestoredHeap::new(self, language, heap, files)?, scope)),
            Err(error) => {
                debug!(target: "tollhouse::run", run, %error, "the heap of the run is not used");
                None
            }
        }
    }

    /// Finds a server that a run needs, because it has called its tools or waits for a call, and that is not started. The
    /// script would be told so, and could never make the calls that were approved.
    fn missing_server(&self, calls: &CallList) -> Option<HostError> {
        let tools = self.gate.tools();
        let method = calls.find_method(|method| tools.unserved(method).is_some())?.to_owned();
        let server = tools.unserved(&method)?.to_owned();
        Some(HostError::ServerNotStarted { server, method })
    }

    /// Commits a run that has neither ended nor continues here, with its heap if it has one, and frees the session.
    pub(super) fn suspend(&self, slot: &RunSlot, mut result: RunResult, heap: Option<&TakenHeap>) -> RunResult {
        if let Some((persistent, started_run)) = self.storage.on_disk(slot) {
            // A replay that failed leaves the run as it was before.
            let waits = matches!(result.status, Status::Suspended | Status::InDoubt);
            let status = waits.then(|| result.status.into());
            if let Err(error) = persistent.suspend(started_run, Some(&result.calls), status, heap) {
                result.mark_unsaved(&error);
                if persistent.interrupt(started_run, &result.calls) {
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
        let Some(audit) = self.storage.audit_of_ends(self.gate.audit()) else { return };
        let error = result.error.as_ref().map(|error| error_for_log(&error.message));
        let ended = Event::Ended { run: slot.number(), status: result.status.word(), error: error.as_deref() };
        if let Err(error) = audit.write(&ended) {
            result.mark_unlogged(&error);
        }
    }

    /// Frees the session after a run that could not be resumed, and still can be.
    pub(super) fn put_back(&self, slot: &RunSlot) {
        if let Some((persistent, started_run)) = self.storage.on_disk(slot) {
            // If that cannot be committed now, the run counts as interrupted, and can be resumed as well.
            let _ = persistent.suspend(started_run, None, None, None);
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
    pub(super) fn compile_agent(&self, digest: &str, bytes: &[u8]) -> Result<Component, CodeError> {
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
