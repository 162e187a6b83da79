//! Sessions that outlive their process: their records in a [`Store`], their files in [`Blobs`].
//!
//! Modules:
//! - `session_id`, `record_key`, `record`, `record_status`: names, keys and records;
//! - `session_lock`, `termination`: who may change a session, and how its runs are stopped when it is removed;
//! - `shared_budgets`: budgets that several sessions share;
//! - `session_log`: the log and the ledger, and the one way to commit;
//! - `open_session`: a session that is in use; `run_journal`: its runs that are suspended, and resumed;
//!   `call_decisions`: decisions of humans about their calls; `edited_cost`: what calls with other arguments cost;
//!   `calls_in_doubt`: calls that were interrupted; `run_replay`: its runs call by call;
//!   `recorded_run`: a run with all that is needed to run it again; `file_origin`: where a file comes from;
//! - `create`, `fork`, `query`, `change`: creating sessions, forking them, reading them, changing them without a run;
//!   `fork_point`: what a fork in the middle of a run takes over;
//! - `notifications`: who was told of suspended runs;
//! - `revision`: which files of a session are meant;
//! - `gc_roots`, `record_check`, `verify`: the blobs that records name, and the checks of records and whole sessions;
//! - `export`, `import`: moving a session to another store; `import_decision`: its budgets there.
//!
//! **Invariant:** whoever changes a session holds its lock, and each commit carries its epoch.
//!
//! **Invariant:** a commit that names a blob comes after the blob is durable.

mod call_counts;
mod call_decisions;
mod calls_in_doubt;
mod change;
mod create;
mod edited_cost;
mod export;
mod file_origin;
mod fork;
mod fork_point;
mod gc;
mod gc_roots;
mod hand_over;
mod import;
mod import_decision;
mod notifications;
mod open_session;
mod query;
mod record;
mod record_check;
mod record_key;
mod record_status;
mod recorded_run;
mod revision;
mod run_journal;
mod run_replay;
mod session_id;
mod session_lock;
mod session_log;
mod shared_budgets;
mod termination;
mod verify;

use std::path::Path;
use std::sync::Arc;

pub(super) use call_counts::CallCounts;
pub use call_decisions::{Answered, PendingCall, PendingState};
pub use calls_in_doubt::{CallInDoubt, CallsForHumans};
pub use change::Removed;
pub(in crate::session) use create::is_same_but_for_limits;
pub use create::{OpenOptions, Overrides};
pub use export::Exported;
pub use file_origin::{FileOrigin, FileWriter, OriginCall};
pub use fork::MiddleFork;
pub use gc::Salvaged;
pub use hand_over::HandOver;
pub use import::{ImportBudget, ImportOptions, Imported, ImportedBudget};
pub(super) use open_session::{PersistentSession, StartedRun, error_for_log};
pub use query::{LogLine, Shown};
pub(super) use record::{Balance, LogPosition};
pub use record::{Created, ForkedRun, Head, Origin, RunRecord, States};
pub use record_status::RecordStatus;
pub(super) use recorded_run::RecordedRun;
pub use revision::{At, Point, PointError};
pub(super) use run_journal::ResumedRun;
pub use run_replay::{CallDecision, ChangedFile, HumanAnswer, ReplayedCall, ReplayedRun};
pub use session_id::{SessionId, SessionIdError};
pub use session_lock::Waiting;
pub(super) use session_log::JudgedOperation;
pub(super) use shared_budgets::SpendingObserver;
pub use verify::Checked;

use self::session_lock::SessionLocks;
pub(super) use self::termination::CancelRegistration;
use self::termination::TerminationRequests;
use super::journal::ReplayError;
use crate::gate::AuditError;
use crate::store::{
    self, ArchiveError, Backend, BlobError, BlobFiles, BlobId, Blobs, MemoryBlobs, MemoryStore, Store, StoreError,
};
use crate::vfs::{Malformed, OpenError};

/// Store of sessions. Cheap to clone.
#[derive(Clone)]
pub struct Sessions(Arc<SessionsState>);

struct SessionsState {
    records: Arc<dyn Store>,
    blobs: Arc<dyn Blobs>,
    /// Same as `blobs`, if they are files.
    files: Option<Arc<BlobFiles>>,
    locks: SessionLocks,
    /// Requests to terminate the runs of sessions.
    demands: TerminationRequests,
}

/// Reason why a session cannot be opened, read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionsError {
    /// There is no session with this name.
    #[error("there is no session `{session}`")]
    Unknown {
        /// Name that was asked for.
        session: SessionId,
        /// Existing name that is similar.
        nearest: Option<String>,
    },
    /// A session with this name already exists.
    #[error("a session `{0}` already exists")]
    Exists(SessionId),
    /// The session that was opened was removed, and another now has its name.
    #[error("the session `{0}` was removed, and another one with its name was created")]
    Replaced(SessionId),
    /// Another run has the session.
    #[error("the session `{0}` has a run that has not ended")]
    Busy(SessionId),
    /// A run of the session is suspended, so that no other may change its files.
    #[error("run {run} of the session `{session}` is suspended")]
    Suspended {
        /// Name of the session.
        session: SessionId,
        /// Number of the run.
        run: u64,
    },
    /// The session was handed over, and goes on elsewhere.
    #[error("the session `{0}` was handed over, and has no further run here")]
    HandedOver(SessionId),
    /// The session was imported from this hand-over before.
    #[error("this hand-over of a session, or a later one, was imported before, as `{0}`")]
    ImportedBefore(String),
    /// The unfinished run cannot be resumed here.
    #[error("run {run} of the session `{session}` cannot be resumed")]
    Replay {
        /// Name of the session.
        session: SessionId,
        /// Number of the run.
        run: u64,
        /// Reason.
        #[source]
        source: ReplayError,
    },
    /// The approval of the call has to be signed.
    #[error("call {seq} of the session `{session}` has to be approved with a signature")]
    Unsigned {
        /// Name of the session.
        session: SessionId,
        /// Number of the call in its run.
        seq: u64,
        /// Names of those who can approve it.
        approvers: Vec<String>,
    },
    /// The journal of the run is not kept.
    #[error("the journal of run {run} of the session `{session}` is not kept")]
    NoJournal {
        /// Name of the session.
        session: SessionId,
        /// Number of the run.
        run: u64,
    },
    /// A path of the session's files cannot be read.
    #[error("cannot read `{path}` of the session `{session}`")]
    Path {
        /// Name of the session.
        session: SessionId,
        /// Path of the file.
        path: String,
        /// Reason.
        #[source]
        source: crate::vfs::Errno,
    },
    /// The run goes on, or waits to be resumed.
    #[error("run {run} of the session `{session}` has not ended")]
    NotEnded {
        /// Name of the session.
        session: SessionId,
        /// Number of the run.
        run: u64,
    },
    /// The run cannot be forked before this call.
    #[error("run {run} of the session `{session}` cannot be forked at call {seq}: {why}")]
    NotForkable {
        /// Name of the session.
        session: SessionId,
        /// Number of the run.
        run: u64,
        /// Number of the call.
        seq: u64,
        /// Reason, and what to do instead.
        why: String,
    },
    /// Several calls wait for a decision, and it was not said which one is meant.
    #[error("several calls of the session `{0}` wait for a decision")]
    Several(SessionId),
    /// The call was decided about before.
    #[error("call {seq} of the session `{session}` was decided by {by}")]
    Decided {
        /// Name of the session.
        session: SessionId,
        /// Number of the call in its run.
        seq: u64,
        /// Who decided.
        by: String,
    },
    /// The question about the call was not answered in time.
    #[error("call {seq} of the session `{session}` was to be approved earlier: it is denied when the run is resumed")]
    Expired {
        /// Name of the session.
        session: SessionId,
        /// Number of the call in its run.
        seq: u64,
    },
    /// The session was written to without its lock.
    #[error("the session is not open for a run")]
    NotTaken,
    /// The session's lock cannot be acquired.
    #[error("cannot lock the session `{session}`")]
    Lock {
        /// Name of the session.
        session: SessionId,
        /// Error of the system.
        #[source]
        source: std::io::Error,
    },
    /// The session was created with something else than asked for.
    #[error("the session `{session}` was created with different {what}")]
    Differs {
        /// Name of the session.
        session: SessionId,
        /// Property that differs.
        what: &'static str,
    },
    /// The policy has grants that expire, or narrow others: the saved policy would be wider.
    #[error("the policy comes from a token, which a session cannot keep")]
    Token,
    /// There is no such run or label.
    #[error("the session `{session}` has no {what}")]
    NoPoint {
        /// Name of the session.
        session: SessionId,
        /// Description of the missing run or label.
        what: String,
    },
    /// The files cannot be changed.
    #[error("cannot change `{path}`")]
    File {
        /// Path of the file.
        path: String,
        /// Error of the file system.
        #[source]
        source: crate::vfs::Errno,
    },
    /// Files of this machine cannot be copied in.
    #[error(transparent)]
    Import(#[from] crate::vfs::MountError),
    /// The session's records are not valid.
    #[error("the session `{session}` is damaged: {what}")]
    Damaged {
        /// Name of the session.
        session: SessionId,
        /// Part that is not valid.
        what: String,
    },
    /// A budget is used up: another session that shares it was faster.
    #[error("the budget `{account}` is used up by sessions that share it")]
    Spent {
        /// Account of the budget.
        account: String,
    },
    /// The system provided no random numbers.
    #[error("cannot draw random numbers")]
    Random(#[source] std::io::Error),
    /// The blobs are not files, so they cannot be collected or checked.
    #[error("the blobs of this store are not files in its directory")]
    NoFiles,
    /// The file does not contain a session.
    #[error("it is not a `session export` archive")]
    NoArchive,
    /// The file contains a damaged session, or cannot be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// A blob that should be a directory is not one.
    #[error("the blob {blob} is not part of a snapshot")]
    Node {
        /// Name of the blob.
        blob: BlobId,
        /// Problem with the blob.
        #[source]
        source: Malformed,
    },
    /// The session's files cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The records cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The blobs cannot be read or written.
    #[error(transparent)]
    Blob(#[from] BlobError),
}

impl From<SessionsError> for AuditError {
    fn from(error: SessionsError) -> Self {
        match error {
            SessionsError::Spent { account } => Self::Spent { account },
            error => Self::Kept(Box::new(error)),
        }
    }
}

impl Sessions {
    /// Creates sessions that end with their process.
    #[must_use]
    pub fn in_memory() -> Self {
        let locks = SessionLocks::Memory(Arc::default());
        let (records, blobs) = (Arc::<MemoryStore>::default(), Arc::<MemoryBlobs>::default());
        Self(Arc::new(SessionsState { records, blobs, files: None, locks, demands: TerminationRequests::default() }))
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
        let (locks, files) = (SessionLocks::Files(directory.join("turns")), Some(Arc::clone(&blobs)));
        Ok(Self(Arc::new(SessionsState { records, blobs, files, locks, demands: TerminationRequests::default() })))
    }

    /// Creates sessions in a custom store; `locks` is a directory that all processes share which use it.
    #[must_use]
    pub fn new(records: Arc<dyn Store>, blobs: Arc<dyn Blobs>, locks: &Path) -> Self {
        Self(Arc::new(SessionsState {
            records,
            blobs,
            files: None,
            locks: SessionLocks::Files(locks.to_owned()),
            demands: TerminationRequests::default(),
        }))
    }

    /// Returns true if the store may still open sockets: see [`Store::may_open_sockets`].
    pub(super) fn may_open_sockets(&self) -> bool {
        self.records().may_open_sockets()
    }

    fn records(&self) -> &dyn Store {
        &*self.0.records
    }

    fn blobs(&self) -> &dyn Blobs {
        &*self.0.blobs
    }
}
