//! Who wants a session gone does not wait for its run: the run is stopped, in whichever process it is.
//!
//! Who removes a session locks a file of its own, for as long as that takes; the system lets go of it if the process ends.
//! A process that runs sessions looks whether there are such files, from time to time: what nobody holds asks for nothing.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::turn::{Locks, make_directory, open};
use super::{SessionId, Sessions, SessionsError};

/// How often a process looks that runs sessions: a run must have stopped within 50 ms.
const LOOK: Duration = Duration::from_millis(20);

/// Stops a run.
type Stop = Box<dyn Fn() + Send>;

/// The runs of a process, and the sessions in memory that somebody wants gone.
#[derive(Default)]
pub(super) struct Demands(Mutex<State>);

#[derive(Default)]
struct State {
    runs: Vec<(u64, SessionId, Stop)>,
    last: u64,
    /// Whether a thread looks.
    looking: bool,
    wanted: HashSet<SessionId>,
}

impl Demands {
    /// Every change is whole, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run that is stopped when somebody wants its session gone, until this is dropped.
pub(in crate::session) struct Stoppable {
    place: Sessions,
    number: u64,
}

impl Drop for Stoppable {
    fn drop(&mut self) {
        self.place.0.demands.lock().runs.retain(|(number, ..)| *number != self.number);
    }
}

/// That a session is to be gone. Until this is dropped its runs are stopped.
pub(super) struct Demand {
    place: Sessions,
    id: SessionId,
    /// The locked file, and where it is; none if sessions are in memory, or somebody else demands it already.
    file: Option<(File, PathBuf)>,
}

impl Drop for Demand {
    fn drop(&mut self) {
        self.place.0.demands.lock().wanted.remove(&self.id);
        if let Some((_, path)) = &self.file {
            // One that stays asks for nothing: nobody holds it.
            let _ = fs::remove_file(path);
        }
    }
}

impl Sessions {
    /// Stops the runs of a session from now on.
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

    /// Lets a run be stopped when somebody wants its session gone.
    pub(super) fn stoppable(&self, id: &SessionId, stop: Stop) -> Stoppable {
        let mut state = self.0.demands.lock();
        state.last += 1;
        let number = state.last;
        state.runs.push((number, id.clone(), stop));
        if !state.looking {
            let place = self.clone();
            // Without the thread a removal waits for the run's end, and nothing else is amiss.
            let look = thread::Builder::new().name("tollhouse-demands".into()).spawn(move || place.look());
            state.looking = look.is_ok();
        }
        Stoppable { place: self.clone(), number }
    }

    /// Looks as long as there are runs.
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

/// The file that asks for a session to be gone: no session has such a name.
fn name(directory: &Path, id: &SessionId) -> PathBuf {
    directory.join(format!("{id}!"))
}

fn is_held(path: &Path) -> bool {
    tollhouse_registry::untrusted_file::open_regular(path)
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}
