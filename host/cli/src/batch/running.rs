//! Running jobs, so that a signal can cancel them.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Running jobs: each from the time when a thread takes its line until its result is written.
#[derive(Default)]
pub(super) struct Running {
    state: Mutex<State>,
    changed: Condvar,
}

/// Callback that cancels a job.
type Cancel = Box<dyn Fn() + Send>;

#[derive(Default)]
struct State {
    stopped: bool,
    /// Key of the next job.
    next: u64,
    /// Jobs by key, with their callbacks once they can be cancelled.
    jobs: HashMap<u64, Option<Cancel>>,
}

/// Registration of one running job, until it is dropped.
pub(super) struct Job<'a> {
    running: &'a Running,
    key: u64,
}

impl Running {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a job. Returns `None` once a signal has stopped the batch.
    pub(super) fn begin(&self) -> Option<Job<'_>> {
        let mut state = self.state();
        if state.stopped {
            return None;
        }
        let key = state.next;
        state.next += 1;
        state.jobs.insert(key, None);
        Some(Job { running: self, key })
    }

    /// Cancels all jobs, starts no further ones, and waits until their results are written.
    pub(super) fn stop(&self) {
        let mut state = self.state();
        state.stopped = true;
        state.jobs.values().flatten().for_each(|cancel| cancel());
        while !state.jobs.is_empty() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns true once a signal has stopped the batch.
    pub(super) fn is_stopped(&self) -> bool {
        self.state().stopped
    }
}

impl Job<'_> {
    /// Sets the callback that cancels the job when a signal comes, and calls it at once if one already came.
    pub(super) fn cancelled_by(&self, cancel: impl Fn() + Send + 'static) {
        let mut state = self.running.state();
        if state.stopped {
            cancel();
        }
        state.jobs.insert(self.key, Some(Box::new(cancel)));
    }
}

impl Drop for Job<'_> {
    fn drop(&mut self) {
        self.running.state().jobs.remove(&self.key);
        self.running.changed.notify_all();
    }
}
