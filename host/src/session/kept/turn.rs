//! Who may change a session: one at a time, in all processes.
//!
//! The lock is a file's, which the system lets go of when its process ends, however it ends. What a process writes that
//! believes to hold a lock which it lost is refused by the epoch: see [`Owner`](crate::store::Owner).

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::{SessionId, SessionsError};

/// How long to wait at most before looking again whether a session is free.
const PAUSE: Duration = Duration::from_millis(50);

/// Asked again and again while another run has the session: whether to wait on.
pub type Waiting = Arc<dyn Fn() -> bool + Send + Sync>;

/// The locks of a place of sessions.
pub(super) enum Locks {
    /// For processes: files in a directory.
    Files(PathBuf),
    /// For one process.
    Memory(Arc<Mutex<HashSet<SessionId>>>),
}

/// The right to change a session. Given up when dropped.
pub(super) enum Turn {
    /// The locked file.
    File { _locked: File },
    /// The name among those that are taken.
    Memory(SessionId, Arc<Mutex<HashSet<SessionId>>>),
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Self::Memory(id, taken) = self {
            taken.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        }
    }
}

impl Locks {
    /// Takes a session, when it is free.
    ///
    /// # Errors
    /// [`SessionsError::Busy`] if `waiting` says to give up.
    pub(super) fn take(&self, id: &SessionId, waiting: &Waiting) -> Result<Turn, SessionsError> {
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(turn) = self.try_take(id)? {
                return Ok(turn);
            }
            if !waiting() {
                return Err(SessionsError::Busy(id.clone()));
            }
            std::thread::sleep(pause);
            pause = PAUSE.min(pause * 2);
        }
    }

    /// Takes a session if it is free.
    pub(super) fn try_take(&self, id: &SessionId) -> Result<Option<Turn>, SessionsError> {
        match self {
            Self::Memory(taken) => {
                let free = taken.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone());
                Ok(free.then(|| Turn::Memory(id.clone(), Arc::clone(taken))))
            }
            Self::Files(directory) => {
                let failed = |source| SessionsError::Lock { session: id.clone(), source };
                fs::create_dir_all(directory).map_err(failed)?;
                let mut options = OpenOptions::new();
                options.write(true).create(true).truncate(false);
                #[cfg(unix)]
                std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
                let file = options.open(directory.join(id.as_str())).map_err(failed)?;
                match file.try_lock() {
                    Ok(()) => Ok(Some(Turn::File { _locked: file })),
                    Err(TryLockError::WouldBlock) => Ok(None),
                    Err(TryLockError::Error(source)) => Err(failed(source)),
                }
            }
        }
    }
}
