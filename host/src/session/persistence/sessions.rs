//! Store of sessions: lists, shows, changes, forks and removes them. Everything else that is done with sessions belongs
//! to a collaborator, which the accessors at the end return.

use std::path::Path;
use std::sync::Arc;

use super::gc_roots::BlobReferences;
use super::record::{Created, Head, States};
use super::record_reader::RecordReader;
use super::removal::Removed;
use super::session_lock::{SessionLocks, Waiting};
use super::shared_budgets::{BudgetFamilies, FamilyId};
use super::stored_journal::RunJournals;
use super::termination::TerminationRequests;
use super::{
    At, CallDecisions, GarbageCollector, MiddleFork, PersistentSession, Point, PointError, RunHistory, SessionCreator,
    SessionId, SessionReader, SessionTransfer, SessionVerifier, SessionsError, UnfinishedRuns, fork, gc, record_key,
    removal, revision,
};
use crate::store::{
    self, Backend, Batch, BlobFiles, BlobId, Blobs, Compacted, MemoryBlobs, MemoryStore, Repaired, Store, StoreError,
};
use crate::vfs::{Limits, SnapshotId, Tree};

/// Store of sessions. Cheap to clone.
#[derive(Clone)]
pub struct Sessions(Arc<SessionsState>);

struct SessionsState {
    records: Arc<dyn Store>,
    blobs: Arc<dyn Blobs>,
    /// Same as `blobs`, if they are files.
    files: Option<Arc<BlobFiles>>,
    locks: SessionLocks,
    terminations: TerminationRequests,
}

/// Summary of a session.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Shown {
    /// Name of the session.
    pub session: SessionId,
    /// Properties that were fixed at its creation.
    pub created: Created,
    /// Current state.
    pub head: Head,
    /// True if a run of the session is active, in whatever process.
    pub busy: bool,
    /// Number of other sessions that share its budgets.
    pub shared_with: u64,
}

/// Result of repairing a damaged store of sessions.
#[derive(Clone, Debug)]
pub struct Salvaged {
    /// Repaired records.
    pub records: Repaired,
    /// Blobs that were set aside.
    pub blobs: Vec<BlobId>,
}

impl Sessions {
    /// Creates sessions that end with their process.
    #[must_use]
    pub fn in_memory() -> Self {
        let (records, blobs) = (Arc::<MemoryStore>::default(), Arc::<MemoryBlobs>::default());
        Self::with(records, blobs, None, SessionLocks::Memory(Arc::default()))
    }

    /// Opens the sessions of a directory, which any number of processes may use at once. Creates the directory if it
    /// does not exist:
    ///
    /// ```text
    /// DIR/records/    the records, by the backend
    /// DIR/blobs/      the bytes of files, by their hash
    /// DIR/turns/      a lock for each session
    /// ```
    ///
    /// # Errors
    /// If the directory cannot be used, other users can write to it, or it belongs to another backend.
    pub fn open(directory: &Path, backend: Backend) -> Result<Self, SessionsError> {
        Self::open_shared(directory, backend, false)
    }

    /// Opens a directory like [`open`](Self::open); with `trust_writers`, even if other users can write to it. They can
    /// give its sessions other policies.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn open_shared(directory: &Path, backend: Backend, trust_writers: bool) -> Result<Self, SessionsError> {
        store::refuse_strangers(directory, trust_writers)?;
        let records = Arc::new(store::open(&directory.join("records"), backend)?);
        let blobs = Arc::new(BlobFiles::open(directory)?);
        let files = Some(Arc::clone(&blobs));
        Ok(Self::with(records, blobs, files, SessionLocks::Files(directory.join("turns"))))
    }

    /// Creates sessions in a custom store; `locks` is a directory that all processes share which use it.
    #[must_use]
    pub fn new(records: Arc<dyn Store>, blobs: Arc<dyn Blobs>, locks: &Path) -> Self {
        Self::with(records, blobs, None, SessionLocks::Files(locks.to_owned()))
    }

    /// Returns a view of a store, of which nobody else can see the sessions that are locked.
    pub(super) fn view(records: Arc<dyn Store>, blobs: Arc<dyn Blobs>) -> Self {
        Self::with(records, blobs, None, SessionLocks::Memory(Arc::default()))
    }

    fn with(
        records: Arc<dyn Store>,
        blobs: Arc<dyn Blobs>,
        files: Option<Arc<BlobFiles>>,
        locks: SessionLocks,
    ) -> Self {
        let terminations = TerminationRequests::new(locks.clone());
        Self(Arc::new(SessionsState { records, blobs, files, locks, terminations }))
    }

    /// Saves the readable part of a damaged store of sessions, and sets the rest aside.
    ///
    /// # Errors
    /// If a process uses the store, or the system reports an error.
    pub fn repair(directory: &Path, backend: Backend) -> Result<Salvaged, SessionsError> {
        let records = store::repair(&directory.join("records"), backend)?;
        let files = BlobFiles::open(directory)?;
        let mut blobs = Vec::new();
        for fault in files.verify()?.faults {
            if let Some(exclusive) = files.lock_exclusive(gc::PATIENCE)?
                && exclusive.set_aside(&fault.blob)?.is_some()
            {
                blobs.push(fault.blob);
            }
        }
        Ok(Salvaged { records, blobs })
    }

    /// Compacts the records. Commits wait meanwhile.
    ///
    /// # Errors
    /// Those of the system.
    pub fn compact(&self) -> Result<Compacted, SessionsError> {
        Ok(self.records().compact()?)
    }

    /// Lists the names of all sessions, in order.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn list(&self) -> Result<Vec<SessionId>, SessionsError> {
        let mut found = Vec::new();
        self.record_reader().for_each_record(b"S", |(name, _)| {
            let id = std::str::from_utf8(&name[1..]).ok().and_then(|name| name.parse().ok());
            found.push(id.ok_or_else(|| StoreError::Damaged("a session has no name".to_owned()))?);
            Ok(())
        })?;
        Ok(found)
    }

    /// Returns true if there is a session with this name.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn contains(&self, id: &SessionId) -> Result<bool, SessionsError> {
        Ok(self.records().get(&record_key::single(b'S', id))?.is_some())
    }

    /// Returns the summary of a session.
    ///
    /// # Errors
    /// If there is no such session, or it cannot be read.
    pub fn show(&self, id: &SessionId) -> Result<Shown, SessionsError> {
        let (created, head) = (self.record_reader().created(id)?, self.record_reader().head(id)?);
        let busy = !head.running.is_empty() && self.locks().is_taken(id)?;
        let family = FamilyId::of(id, &created)?;
        let shared_with = self.families().record(id, family)?.map_or(0, |founded| founded.others());
        Ok(Shown { session: id.clone(), created, head, busy, shared_with })
    }

    /// Returns a handle to a session for use in this process.
    pub(in crate::session) fn live(
        &self,
        id: &SessionId,
        waiting: Option<Waiting>,
    ) -> Result<PersistentSession, SessionsError> {
        let identity = self.record_reader().identity(id)?;
        Ok(PersistentSession::new(self.clone(), id.clone(), identity, waiting.unwrap_or_else(|| Arc::new(|| true))))
    }

    /// Creates a session that starts with the files, states, policy, tools, `wasi:keyvalue` entries and spent amounts
    /// of another. From then on they share what was left of each budget.
    ///
    /// # Errors
    /// If there is no such point, or a session with the new name already exists.
    pub fn fork(&self, from: &Point, to: &SessionId) -> Result<(), SessionsError> {
        fork::fork(self, from, to)
    }

    /// Creates a session in the middle of a run of another: the run of the fork is suspended just before the call `seq`,
    /// with the results of all calls before it, and [`Session::resume`](crate::session::Session::resume) continues it.
    /// A point without a run is the session's last one.
    ///
    /// The fork has the policy, tools, entries and spent amounts that the session has now; they share what is left of each
    /// budget. Calls before `seq` are not made and not paid again. No approval is taken over, nor a call without a result.
    ///
    /// # Errors
    /// If there is no such run or call, the run goes on, its journal is not kept, a call before `seq` has no result, or a
    /// session with the new name already exists.
    pub fn fork_before(&self, from: &Point, seq: u64, to: &SessionId) -> Result<MiddleFork, SessionsError> {
        fork::fork_before(self, from, seq, to)
    }

    /// Changes the files of a session, and commits the change like a run: it has a number, and can be rolled back.
    ///
    /// # Errors
    /// If there is no such session, `change` fails, or the change cannot be committed: then the files are as they were.
    pub fn change(
        &self,
        id: &SessionId,
        what: &str,
        waiting: Waiting,
        change: impl FnOnce(&mut Tree) -> Result<(), SessionsError>,
    ) -> Result<SnapshotId, SessionsError> {
        self.change_all(id, what, waiting, None, change)
    }

    /// Changes the files like [`Sessions::change`]; with `states`, also replaces the state that scripts left besides
    /// files.
    fn change_all(
        &self,
        id: &SessionId,
        what: &str,
        waiting: Waiting,
        states: Option<&States>,
        change: impl FnOnce(&mut Tree) -> Result<(), SessionsError>,
    ) -> Result<SnapshotId, SessionsError> {
        let bytes = self.reader().policy(id)?.limits.files;
        let live = self.live(id, Some(waiting))?;
        let limits = Limits { bytes, file_bytes: u64::MAX, ..Limits::default() };
        live.change(limits, what, states, change).map(|(snapshot, _)| snapshot)
    }

    /// Restores the files and script state of a session at one of its points. Spent amounts stay spent.
    ///
    /// # Errors
    /// If there is no such point, or it cannot be committed.
    pub fn rollback(&self, to: &Point, waiting: Waiting) -> Result<SnapshotId, SessionsError> {
        let (then, states) = (self.reader().files(to)?, self.reader().states(to)?);
        let at = match &to.at {
            At::Head => "where it is".to_owned(),
            At::Run(run) => format!("run {run}"),
            At::Label(label) => format!("`{label}`"),
        };
        self.change_all(&to.session, &format!("rolled back to {at}"), waiting, Some(&states), |files| {
            let limits = files.limits();
            *files = then;
            files.set_limits(limits);
            Ok(())
        })
    }

    /// Labels the files that a run left; without a run, removes the label.
    ///
    /// # Errors
    /// If there is no such session or run, the run left no files, or the label is not valid;
    /// [`SessionsError::HandedOver`].
    pub fn label(&self, id: &SessionId, label: &str, run: Option<u64>) -> Result<(), SessionsError> {
        let none = |what: String| SessionsError::NoPoint { session: id.clone(), what };
        if !revision::is_label(label) {
            return Err(PointError::Label(label.to_owned()).into());
        }
        self.record_reader().refuse_handed_over(id)?;
        let name = record_key::named(b'T', id, label);
        let mut batch = Batch::default();
        batch.expect(record_key::single(b'S', id), Some(self.record_reader().identity(id)?));
        match run {
            Some(run) => {
                self.reader().snapshot(&Point { session: id.clone(), at: At::Run(run) })?;
                batch.put(name, run.to_be_bytes());
            }
            None if self.records().get(&name)?.is_none() => return Err(none(format!("label `{label}`"))),
            None => batch.remove(name),
        }
        Ok(self.records().commit(batch)?)
    }

    /// Removes a session: its files, budgets, runs and log. An active run is cancelled, in whatever process it runs.
    ///
    /// # Errors
    /// If there is no such session, or it cannot be removed. A session of which only a part could be removed no longer
    /// exists either.
    pub fn remove(&self, id: &SessionId, waiting: &Waiting) -> Result<Removed, SessionsError> {
        removal::remove(self, id, waiting)
    }

    /// Returns true if the store may still open sockets: see [`Store::may_open_sockets`].
    pub(in crate::session) fn may_open_sockets(&self) -> bool {
        self.records().may_open_sockets()
    }

    /// Returns the store of records.
    pub(super) fn records(&self) -> &dyn Store {
        &*self.0.records
    }

    /// Returns the store of records, to be shared.
    pub(super) fn shared_records(&self) -> &Arc<dyn Store> {
        &self.0.records
    }

    /// Returns the blobs.
    pub(super) fn blobs(&self) -> &dyn Blobs {
        &*self.0.blobs
    }

    /// Returns the blobs, to be shared.
    pub(super) fn shared_blobs(&self) -> &Arc<dyn Blobs> {
        &self.0.blobs
    }

    /// Returns the blobs, which must be files.
    pub(super) fn blob_files(&self) -> Result<&BlobFiles, SessionsError> {
        self.0.files.as_deref().ok_or(SessionsError::NoFiles)
    }

    /// Returns the locks of sessions.
    pub(super) fn locks(&self) -> &SessionLocks {
        &self.0.locks
    }

    /// Returns the requests to terminate the runs of sessions.
    pub(super) fn terminations(&self) -> &TerminationRequests {
        &self.0.terminations
    }

    /// Returns the reader of runs, files, policies and logs.
    #[must_use]
    pub fn reader(&self) -> SessionReader<'_> {
        SessionReader { sessions: self }
    }

    /// Returns the history: runs call by call, and where files come from.
    #[must_use]
    pub fn history(&self) -> RunHistory<'_> {
        RunHistory { sessions: self }
    }

    /// Returns the calls that wait for the decision of a human.
    #[must_use]
    pub fn call_decisions(&self) -> CallDecisions<'_> {
        CallDecisions { sessions: self }
    }

    /// Returns the runs that can be resumed.
    #[must_use]
    pub fn unfinished_runs(&self) -> UnfinishedRuns<'_> {
        UnfinishedRuns { sessions: self }
    }

    /// Returns the transfer of sessions to and from other stores.
    #[must_use]
    pub fn transfer(&self) -> SessionTransfer<'_> {
        SessionTransfer { sessions: self }
    }

    /// Returns the garbage collector.
    #[must_use]
    pub fn garbage_collector(&self) -> GarbageCollector<'_> {
        GarbageCollector { sessions: self }
    }

    /// Returns the verifier of sessions.
    #[must_use]
    pub fn verifier(&self) -> SessionVerifier<'_> {
        SessionVerifier { sessions: self }
    }

    /// Returns the creator of sessions.
    pub(in crate::session) fn creator(&self) -> SessionCreator<'_> {
        SessionCreator { sessions: self }
    }

    /// Returns the reader of single records.
    pub(in crate::session) fn record_reader(&self) -> RecordReader<'_> {
        RecordReader { sessions: self }
    }

    /// Returns the journals of runs.
    pub(super) fn journals(&self) -> RunJournals<'_> {
        RunJournals { sessions: self }
    }

    /// Returns the references between blobs.
    pub(super) fn blob_references(&self) -> BlobReferences<'_> {
        BlobReferences { sessions: self }
    }

    /// Returns the budgets that sessions share.
    pub(super) fn families(&self) -> BudgetFamilies<'_> {
        BudgetFamilies { sessions: self }
    }
}
