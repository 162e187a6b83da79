//! Errors of sessions on disk.

use super::{PointError, SessionId};
use crate::gate::AuditError;
use crate::session::journal::ReplayError;
use crate::store::{ArchiveError, BlobError, BlobId, StoreError};
use crate::vfs::{Malformed, OpenError};

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
    /// The label is not valid.
    #[error(transparent)]
    Label(#[from] PointError),
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
