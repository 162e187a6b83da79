//! Sessions that outlive their process: their records in a [`Store`], their files in [`Blobs`].
//!
//! What is inside:
//! - `id`, `key`, `record`: what is kept, and under which name;
//! - `turn`, `demand`: who may change a session, and who wants it gone;
//! - `family`: budgets that several sessions share;
//! - `log`: the log and the ledger, and the one way to commit;
//! - `live`: a session that is in use;
//! - `create`, `look`, `change`: making sessions, looking at them, changing them without a run;
//! - `point`: which files of a session are meant;
//! - `roots`, `check`, `verify`: what they name, what they must be, and whether all of it is whole;
//! - `transfer`, `import`: taking one elsewhere; `arrival`: what it may spend there.
//!
//! **Invariant:** whoever changes a session has its turn, and each commit carries its epoch.
//!
//! **Invariant:** a commit that names a blob comes after the blob is durable.

mod arrival;
mod change;
mod check;
mod count;
mod create;
mod demand;
mod family;
mod id;
mod import;
mod key;
mod live;
mod log;
mod look;
mod point;
mod record;
mod roots;
mod sweep;
mod transfer;
mod turn;
mod verify;

use std::path::Path;
use std::sync::Arc;

pub use change::Removed;
pub use create::{OpenOptions, Overrides};
pub(super) use family::Spending;
pub use id::{SessionId, SessionIdError};
pub use import::{ImportBudget, ImportOptions, Imported, ImportedBudget};
pub(super) use live::{Begun, Kept, told_in_log};
pub use look::{LogLine, Shown};
pub use point::{At, Point, PointError};
pub(super) use record::Balance;
pub use record::{Created, Head, Origin, RunRecord, States};
pub use sweep::Salvaged;
pub use transfer::Exported;
pub use turn::Waiting;
pub use verify::Checked;

use self::demand::Demands;
pub(super) use self::demand::Stoppable;
use self::turn::Locks;
use crate::gate::AuditError;
use crate::store::{
    self, ArchiveError, Backend, BlobError, BlobFiles, BlobId, Blobs, MemoryBlobs, MemoryStore, Store, StoreError,
};
use crate::vfs::{Malformed, OpenError};

/// A place where sessions are kept. Cheap to clone.
#[derive(Clone)]
pub struct Sessions(Arc<State>);

struct State {
    records: Arc<dyn Store>,
    blobs: Arc<dyn Blobs>,
    /// The same, if they are files.
    files: Option<Arc<BlobFiles>>,
    locks: Locks,
    /// Who wants which of them gone.
    demands: Demands,
}

/// Why a session cannot be had, looked at or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionsError {
    /// There is none of this name.
    #[error("there is no session `{session}`")]
    Unknown {
        /// The name.
        session: SessionId,
        /// One that is like it.
        nearest: Option<String>,
    },
    /// There is one already.
    #[error("there is a session `{0}` already")]
    Exists(SessionId),
    /// It is another session now than the one that was opened.
    #[error("the session `{0}` was removed, and another of its name was made")]
    Replaced(SessionId),
    /// Another run has it.
    #[error("the session `{0}` has a run that has not ended")]
    Busy(SessionId),
    /// It was written to without its turn.
    #[error("the session is not open for a run")]
    NotTaken,
    /// Its lock cannot be had.
    #[error("cannot lock the session `{session}`")]
    Lock {
        /// The session.
        session: SessionId,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// What was asked for is not what it was made with.
    #[error("the session `{session}` was made with other {what}")]
    Differs {
        /// The session.
        session: SessionId,
        /// What differs.
        what: &'static str,
    },
    /// A policy whose grants end, or narrow others: what is kept of it would be wider.
    #[error("the policy comes from a token, which a session cannot keep")]
    Token,
    /// There is no such run or label.
    #[error("the session `{session}` has no {what}")]
    NoPoint {
        /// The session.
        session: SessionId,
        /// What it does not have.
        what: String,
    },
    /// A change of files that cannot be made.
    #[error("cannot change `{path}`")]
    File {
        /// Which.
        path: String,
        /// Why not.
        #[source]
        source: crate::vfs::Errno,
    },
    /// Files of this machine that cannot be copied in.
    #[error(transparent)]
    Import(#[from] crate::vfs::MountError),
    /// What is kept makes no sense.
    #[error("the session `{session}` is damaged: {what}")]
    Damaged {
        /// The session.
        session: SessionId,
        /// What makes no sense.
        what: String,
    },
    /// A budget that it shares with other sessions is used up: another one was faster.
    #[error("the budget `{account}` is used up by sessions that share it")]
    Spent {
        /// The budget's account.
        account: String,
    },
    /// The system gave no random numbers.
    #[error("cannot draw random numbers")]
    Random(#[source] std::io::Error),
    /// These blobs are none that this can sweep or check.
    #[error("the blobs of this store are not files in its directory")]
    NoFiles,
    /// A file that holds no session.
    #[error("it is no file that `session export` wrote")]
    NoArchive,
    /// It holds one that is damaged, or cannot be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// A blob that should name others makes no sense.
    #[error("the blob {blob} is no part of a snapshot")]
    Node {
        /// Which.
        blob: BlobId,
        /// Why.
        #[source]
        source: Malformed,
    },
    /// Its files cannot be opened.
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
    /// Sessions that end with their process.
    #[must_use]
    pub fn in_memory() -> Self {
        let locks = Locks::Memory(Arc::default());
        let (records, blobs) = (Arc::<MemoryStore>::default(), Arc::<MemoryBlobs>::default());
        Self(Arc::new(State { records, blobs, files: None, locks, demands: Demands::default() }))
    }

    /// The sessions of a directory, which any number of processes may use at once. Makes it if it is not there:
    ///
    /// ```text
    /// DIR/records/    the records, by the backend
    /// DIR/blobs/      the bytes of files, by their hash
    /// DIR/turns/      a lock for each session
    /// ```
    ///
    /// # Errors
    /// If it cannot be used, other users can write it, or another backend keeps it.
    pub fn open(directory: &Path, backend: Backend) -> Result<Self, SessionsError> {
        Self::open_shared(directory, backend, false)
    }

    /// As [`open`](Self::open); with `trust_writers`, also if other users can write the directory. They can give its sessions
    /// other policies.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_shared(directory: &Path, backend: Backend, trust_writers: bool) -> Result<Self, SessionsError> {
        store::refuse_strangers(directory, trust_writers)?;
        let records = Arc::new(store::open(&directory.join("records"), backend)?);
        let blobs = Arc::new(BlobFiles::open(directory)?);
        let (locks, files) = (Locks::Files(directory.join("turns")), Some(Arc::clone(&blobs)));
        Ok(Self(Arc::new(State { records, blobs, files, locks, demands: Demands::default() })))
    }

    /// Sessions in a store of one's own; `locks` is a directory that all processes share which use it.
    #[must_use]
    pub fn new(records: Arc<dyn Store>, blobs: Arc<dyn Blobs>, locks: &Path) -> Self {
        Self(Arc::new(State {
            records,
            blobs,
            files: None,
            locks: Locks::Files(locks.to_owned()),
            demands: Demands::default(),
        }))
    }

    /// Returns true if its store may yet open sockets: see [`Store::may_open_sockets`].
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
