//! Locks of sessions: one holder at a time may change a session, across all processes.
//!
//! A lock is a locked file, which the system releases when its process ends, for whatever reason. A write by a process
//! that has lost its lock without noticing is refused by the epoch: see [`Owner`](crate::store::Owner).
//!
//! A query whether a session is locked must not get in the way of whoever locks it. So there is a second file, which
//! the holder locks too: queries try that one.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tollhouse_registry::untrusted_file;

use super::{SessionId, SessionsError};

/// Longest pause before checking again whether a session is free.
const PAUSE: Duration = Duration::from_millis(50);

/// Most attempts to lock the second file, a millisecond apart: a query holds it for microseconds. If it cannot be
/// locked, the run goes ahead, and is not shown as active.
const TRIES: u32 = 20;

/// Callback that is called repeatedly while another run has the session. Returns true to go on waiting.
pub type Waiting = Arc<dyn Fn() -> bool + Send + Sync>;

/// Locks of a store of sessions.
#[derive(Clone)]
pub(super) enum SessionLocks {
    /// Files in a directory, for several processes.
    Files(PathBuf),
    /// Set of locked names, for one process.
    Memory(Arc<Mutex<HashSet<SessionId>>>),
}

/// Lock of a session, which permits changing it. Released when dropped.
pub(super) enum SessionLock {
    /// Locked files; the second is released first.
    File { _shown: File, _locked: File },
    /// Name in the set of locked names.
    Memory(SessionId, Arc<Mutex<HashSet<SessionId>>>),
}

impl Drop for SessionLock {
    fn drop(&mut self) {
        if let Self::Memory(id, taken) = self {
            taken.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        }
    }
}

impl SessionLocks {
    /// Locks a session when it is free.
    ///
    /// # Errors
    /// [`SessionsError::Busy`] if `waiting` says to give up.
    pub(super) fn take(&self, id: &SessionId, waiting: &Waiting) -> Result<SessionLock, SessionsError> {
        when_free(id, waiting, || self.try_take(id))
    }

    /// Locks a session if it is free.
    pub(super) fn try_take(&self, id: &SessionId) -> Result<Option<SessionLock>, SessionsError> {
        match self {
            Self::Memory(taken) => {
                let free = taken.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone());
                Ok(free.then(|| SessionLock::Memory(id.clone(), Arc::clone(taken))))
            }
            Self::Files(directory) => {
                let failed = |source| SessionsError::Lock { session: id.clone(), source };
                make_directory(directory).map_err(failed)?;
                let file = open(&directory.join(id.as_str())).map_err(failed)?;
                match file.try_lock() {
                    Ok(()) => {
                        Ok(Some(SessionLock::File { _shown: show(directory, id).map_err(failed)?, _locked: file }))
                    }
                    Err(TryLockError::WouldBlock) => Ok(None),
                    Err(TryLockError::Error(source)) => Err(failed(source)),
                }
            }
        }
    }

    /// Returns true if a session is locked. The query delays and refuses nobody.
    pub(super) fn is_taken(&self, id: &SessionId) -> Result<bool, SessionsError> {
        match self {
            Self::Memory(taken) => Ok(taken.lock().unwrap_or_else(PoisonError::into_inner).contains(id)),
            Self::Files(directory) => {
                let tried = match untrusted_file::open_regular(&shown(directory, id)).map_err(io::Error::from) {
                    Ok(file) => file.try_lock_shared(),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
                    Err(error) => Err(TryLockError::Error(error)),
                };
                match tried {
                    Ok(()) => Ok(false),
                    Err(TryLockError::WouldBlock) => Ok(true),
                    Err(TryLockError::Error(source)) => Err(SessionsError::Lock { session: id.clone(), source }),
                }
            }
        }
    }
}

/// Repeats an attempt to use a session until it succeeds. An attempt holds no mutex when it returns: `waiting` may use the
/// session too, and another process may keep it for long.
///
/// # Errors
/// [`SessionsError::Busy`] if `waiting` says to give up.
pub(super) fn when_free<T>(
    id: &SessionId,
    waiting: &Waiting,
    mut attempt: impl FnMut() -> Result<Option<T>, SessionsError>,
) -> Result<T, SessionsError> {
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(taken) = attempt()? {
            return Ok(taken);
        }
        if !waiting() {
            return Err(SessionsError::Busy(id.clone()));
        }
        std::thread::sleep(pause);
        pause = PAUSE.min(pause * 2);
    }
}

/// Path of the file that shows that a session is locked: no session has such a name.
fn shown(directory: &Path, id: &SessionId) -> PathBuf {
    directory.join(format!("{id}~"))
}

/// Shows that a session is locked.
fn show(directory: &Path, id: &SessionId) -> io::Result<File> {
    let file = open(&shown(directory, id))?;
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => break,
            // A query holds the file right now.
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(file)
}

/// Opens or creates a lock file. A special file in its place is not waited for, and a link is not followed.
pub(super) fn open(path: &Path) -> io::Result<File> {
    if path.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
        return Err(io::Error::other("it is a symbolic link, which a store must not contain"));
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    Ok(untrusted_file::open_regular_with(path, &options)?)
}

/// Creates the directory of the locks, if it is missing, for its owner alone, whatever the umask: a store that others
/// can write to is refused.
pub(super) fn make_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_lock_queried_does_not_block_takers() {
        let directory = tempfile::tempdir().expect("a directory");
        let id: SessionId = "s".parse().expect("a name");
        for locks in [SessionLocks::Files(directory.path().to_owned()), SessionLocks::Memory(Arc::default())] {
            assert!(!locks.is_taken(&id).expect("it can be looked at"));
            std::thread::scope(|scope| {
                let looking = scope.spawn(|| {
                    let mut seen = [0, 0];
                    while seen.contains(&0) {
                        seen[usize::from(locks.is_taken(&id).expect("it can be looked at"))] += 1;
                    }
                });
                // Locking must succeed at the first attempt.
                while !looking.is_finished() {
                    let session_lock = locks.try_take(&id).expect("it can be locked").expect("nobody else takes it");
                    assert!(locks.is_taken(&id).expect("it can be looked at"));
                    drop(session_lock);
                }
            });
        }
    }

    /// Simulates a query that is suspended while it holds the file.
    #[test]
    fn session_lock_query_that_is_suspended_does_not_block_takers() {
        let directory = tempfile::tempdir().expect("a directory");
        let id: SessionId = "s".parse().expect("a name");
        let locks = SessionLocks::Files(directory.path().to_owned());
        drop(locks.try_take(&id).expect("it can be locked"));
        let looking = File::open(shown(directory.path(), &id)).expect("it is there");
        looking.lock_shared().expect("it is free");
        assert!(locks.try_take(&id).expect("it can be locked").is_some());
    }
}
