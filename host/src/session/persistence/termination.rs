//! Termination of a session's runs when the session is removed, in whatever process they run.
//!
//! Whoever removes a session holds a lock on a separate file meanwhile; the system releases the lock if the process
//! ends. A process that runs sessions polls for such files: a file that nobody has locked is ignored.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::session_lock::{SessionLocks, make_directory, open};
use super::{SessionId, SessionsError};

/// Interval at which a process with active runs polls: a run must have stopped within 50 ms.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Callback that stops a run.
type Stop = Arc<dyn Fn() + Send + Sync>;

/// Active runs of a process, and sessions in memory that are being removed. Cheap to clone.
#[derive(Clone)]
pub(super) struct TerminationRequests {
    state: Arc<Mutex<TerminationState>>,
    /// Place of the locks, which is also that of the files of requests.
    locks: SessionLocks,
}

#[derive(Default)]
struct TerminationState {
    runs: Vec<(u64, SessionId, Stop)>,
    last: u64,
    /// True while the polling thread runs.
    polling: bool,
    requested: HashSet<SessionId>,
}

impl TerminationState {
    /// Returns the callbacks of the runs of these sessions.
    fn stops_of(&self, sessions: &HashSet<SessionId>) -> Vec<Stop> {
        let runs = self.runs.iter().filter(|(_, id, _)| sessions.contains(id));
        runs.map(|(.., stop)| Arc::clone(stop)).collect()
    }
}

impl TerminationRequests {
    /// Creates the requests of sessions with these locks.
    pub(super) fn new(locks: SessionLocks) -> Self {
        Self { state: Arc::default(), locks }
    }

    /// Locks the state. No change can be seen half done, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, TerminationState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests that the runs of a session stop.
    pub(super) fn demand(&self, id: &SessionId) -> Result<TerminationRequest, SessionsError> {
        let mut demand = TerminationRequest { requests: self.clone(), id: id.clone(), file: None };
        match &self.locks {
            SessionLocks::Memory(_) => {
                self.lock().requested.insert(id.clone());
            }
            SessionLocks::Files(directory) => {
                let path = request_path(directory, id);
                let failed = |source| SessionsError::Lock { session: id.clone(), source };
                let file = make_directory(directory).and_then(|()| open(&path)).map_err(failed)?;
                match file.try_lock() {
                    Ok(()) => demand.file = Some((file, path)),
                    Err(TryLockError::WouldBlock) => {}
                    Err(TryLockError::Error(source)) => return Err(failed(source)),
                }
            }
        }
        Ok(demand)
    }

    /// Registers a run that is stopped when its session is removed.
    pub(super) fn stoppable(&self, id: &SessionId, stop: Stop) -> CancelRegistration {
        let mut state = self.lock();
        state.last += 1;
        let number = state.last;
        state.runs.push((number, id.clone(), stop));
        if !state.polling {
            let requests = self.clone();
            // Without the thread, a removal waits for the run's end; nothing else changes.
            let poller = thread::Builder::new().name("tollhouse-demands".into()).spawn(move || requests.poll());
            state.polling = poller.is_ok();
        }
        CancelRegistration { requests: self.clone(), number }
    }

    /// Polls as long as there are active runs. Files are looked at, and runs are stopped, while nothing is locked: runs
    /// begin and end meanwhile.
    fn poll(&self) {
        loop {
            thread::sleep(POLL_INTERVAL);
            let Some(active) = self.active_or_end() else { return };
            let requested: HashSet<SessionId> = match &self.locks {
                SessionLocks::Memory(_) => self.lock().requested.clone(),
                SessionLocks::Files(directory) => {
                    active.into_iter().filter(|id| is_held(&request_path(directory, id))).collect()
                }
            };
            if requested.is_empty() {
                continue;
            }
            let stops = self.lock().stops_of(&requested);
            stops.iter().for_each(|stop| stop());
        }
    }

    /// Returns the sessions with active runs; without any, notes that the polling thread ends.
    fn active_or_end(&self) -> Option<BTreeSet<SessionId>> {
        let mut state = self.lock();
        state.polling = !state.runs.is_empty();
        state.polling.then(|| state.runs.iter().map(|(_, id, _)| id.clone()).collect())
    }
}

/// Registration of a run that is stopped when its session is removed, until this is dropped.
pub(in crate::session) struct CancelRegistration {
    requests: TerminationRequests,
    number: u64,
}

impl Drop for CancelRegistration {
    fn drop(&mut self) {
        self.requests.lock().runs.retain(|(number, ..)| *number != self.number);
    }
}

/// Request to terminate the runs of a session. It is in force until this is dropped.
pub(super) struct TerminationRequest {
    requests: TerminationRequests,
    id: SessionId,
    /// Locked file and its path; `None` if sessions are in memory, or another process has locked the file already.
    file: Option<(File, PathBuf)>,
}

impl Drop for TerminationRequest {
    fn drop(&mut self) {
        self.requests.lock().requested.remove(&self.id);
        if let Some((_, path)) = &self.file {
            // A file that stays is ignored: nobody has locked it.
            let _ = fs::remove_file(path);
        }
    }
}

/// Path of the file that requests termination: no session has such a name.
fn request_path(directory: &Path, id: &SessionId) -> PathBuf {
    directory.join(format!("{id}!"))
}

fn is_held(path: &Path) -> bool {
    tollhouse_registry::untrusted_file::open_regular(path)
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::session::Sessions;

    /// A callback may run code of the embedding program, which may begin and end runs.
    #[test]
    fn removal_of_a_session_stops_its_runs_while_others_begin_and_end() {
        let directory = tempfile::tempdir().expect("a directory");
        let blobs = Arc::<crate::store::MemoryBlobs>::default();
        let on_disk = Sessions::new(Arc::<crate::store::MemoryStore>::default(), blobs, directory.path());
        for sessions in [on_disk, Sessions::in_memory()] {
            let id: SessionId = "s".parse().expect("a name");
            let other: SessionId = "t".parse().expect("a name");
            let (stopped, stops) = channel();
            let registered = (sessions.clone(), other.clone());
            let _other = sessions.terminations().stoppable(&other, Arc::new(|| panic!("nobody removes this session")));
            let _run = sessions.terminations().stoppable(
                &id,
                Arc::new(move || {
                    drop(registered.0.terminations().stoppable(&registered.1, Arc::new(|| {})));
                    // The receiver is gone once the test has ended.
                    let _ = stopped.send(());
                }),
            );
            let _request = sessions.terminations().demand(&id).expect("it can be requested");
            stops.recv_timeout(Duration::from_secs(60)).expect("the run is stopped");
        }
    }
}
