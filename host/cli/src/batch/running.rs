//! Running jobs, so that a signal can cancel them.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Running jobs: each from the time when a thread takes its line until its result is written.
#[derive(Default)]
pub(super) struct RunningJobs {
    state: Mutex<RunningState>,
    changed: Condvar,
}

/// Callback that cancels a job.
type Cancel = Box<dyn Fn() + Send>;

#[derive(Default)]
struct RunningState {
    stopped: bool,
    /// Key of the next job.
    next: u64,
    /// Jobs by key, with their callbacks once they can be cancelled.
    jobs: HashMap<u64, Option<Cancel>>,
}

/// Registration of one running job, until it is dropped.
pub(super) struct RunningJob<'a> {
    running: &'a RunningJobs,
    key: u64,
}

impl RunningJobs {
    fn state(&self) -> MutexGuard<'_, RunningState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a job. Returns `None` once a signal has stopped the batch.
    pub(super) fn begin(&self) -> Option<RunningJob<'_>> {
        let mut state = self.state();
        if state.stopped {
            return None;
        }
        let key = state.next;
        state.next += 1;
        state.jobs.insert(key, None);
        Some(RunningJob { running: self, key })
    }

    /// Cancels all jobs, and starts no further ones.
    pub(super) fn stop(&self) {
        let mut state = self.state();
        state.stopped = true;
        state.jobs.values().flatten().for_each(|cancel| cancel());
    }

    /// Waits until the results of all jobs are written.
    pub(super) fn wait(&self) {
        let mut state = self.state();
        while !state.jobs.is_empty() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns true once a signal has stopped the batch.
    pub(super) fn is_stopped(&self) -> bool {
        self.state().stopped
    }
}

impl RunningJob<'_> {
    /// Sets the callback that cancels the job when a signal comes, and calls it at once if one already came.
    pub(super) fn cancelled_by(&self, cancel: impl Fn() + Send + 'static) {
        let mut state = self.running.state();
        if state.stopped {
            cancel();
        }
        state.jobs.insert(self.key, Some(Box::new(cancel)));
    }
}

impl Drop for RunningJob<'_> {
    fn drop(&mut self) {
        self.running.state().jobs.remove(&self.key);
        self.running.changed.notify_all();
    }
}
