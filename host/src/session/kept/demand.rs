//! Termination of a session's runs when the session is removed, in whatever process they run.
//!
//! Whoever removes a session holds a lock on a separate file meanwhile; the system releases the lock if the process
//! ends. A process that runs sessions polls for such files: a file that nobody has locked is ignored.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::turn::{Locks, make_directory, open};
use super::{SessionId, Sessions, SessionsError};

/// Interval at which a process with active runs polls: a run must have stopped within 50 ms.
const LOOK: Duration = Duration::from_millis(20);

/// Callback that stops a run.
type Stop = Box<dyn Fn() + Send>;

/// Active runs of a process, and sessions in memory that are being removed.
#[derive(Default)]
pub(super) struct Demands(Mutex<State>);

#[derive(Default)]
struct State {
    runs: Vec<(u64, SessionId, Stop)>,
    last: u64,
    /// True while the polling thread runs.
    looking: bool,
    wanted: HashSet<SessionId>,
}

impl Demands {
    /// Locks the state. No change can be seen half done, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Registration of a run that is stopped when its session is removed, until this is dropped.
pub(in crate::session) struct Stoppable {
    place: Sessions,
    number: u64,
}

impl Drop for Stoppable {
    fn drop(&mut self) {
        self.place.0.demands.lock().runs.retain(|(number, ..)| *number != self.number);
    }
}

/// Request to terminate the runs of a session. It is in force until this is dropped.
pub(super) struct Demand {
    place: Sessions,
    id: SessionId,
    /// Locked file and its path; `None` if sessions are in memory, or another process has locked the file already.
    file: Option<(File, PathBuf)>,
}

impl Drop for Demand {
    fn drop(&mut self) {
        self.place.0.demands.lock().wanted.remove(&self.id);
        if let Some((_, path)) = &self.file {
            // A file that stays is ignored: nobody has locked it.
            let _ = fs::remove_file(path);
        }
    }
}

impl Sessions {
    /// Requests that the runs of a session stop.
    pub(super) fn demand(&self, id: &SessionId) -> Result<Demand, SessionsError> {
        let mut demand = Demand { place: self.clone(), id: id.clone(), file: None };
        match &self.0.locks {
            Locks::Memory(_) => {
                self.0.demands.lock().wanted.insert(id.clone());
            }
            Locks::Files(directory) => {
                let path = name(directory, id);
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
    pub(super) fn stoppable(&self, id: &SessionId, stop: Stop) -> Stoppable {
        let mut state = self.0.demands.lock();
        state.last += 1;
        let number = state.last;
        state.runs.push((number, id.clone(), stop));
        if !state.looking {
            let place = self.clone();
            // Without the thread, a removal waits for the run's end; nothing else changes.
            let look = thread::Builder::new().name("tollhouse-demands".into()).spawn(move || place.look());
            state.looking = look.is_ok();
        }
        Stoppable { place: self.clone(), number }
    }

    /// Polls as long as there are active runs.
    fn look(&self) {
        loop {
            thread::sleep(LOOK);
            let mut state = self.0.demands.lock();
            if state.runs.is_empty() {
                state.looking = false;
                return;
            }
            for (_, id, stop) in &state.runs {
                let wanted = match &self.0.locks {
                    Locks::Memory(_) => state.wanted.contains(id),
                    Locks::Files(directory) => is_held(&name(directory, id)),
                };
                if wanted {
                    stop();
                }
            }
        }
    }
}

/// Path of the file that requests termination: no session has such a name.
fn name(directory: &Path, id: &SessionId) -> PathBuf {
    directory.join(format!("{id}!"))
}

fn is_held(path: &Path) -> bool {
    tollhouse_registry::untrusted_file::open_regular(path)
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}
