//! Suspended runs, as whoever embeds Tollhouse is told of them.

use std::sync::Arc;

use super::persistence::SessionId;
use super::session_handle::Session;
use super::session_state::SessionState;
use crate::gate::DeferredCall;

/// Run that was suspended: it is on disk, and waits for decisions about its calls.
#[non_exhaustive]
pub struct SuspendedRun<'a> {
    /// Session of the run.
    pub session: &'a SessionId,
    /// Number of the run.
    pub run: u64,
    /// Calls that wait.
    pub calls: &'a [DeferredCall],
}

/// Whoever is told that a run of a session on disk was suspended.
pub trait SuspensionObserver: Send + Sync {
    /// Takes note of a suspended run. The run's result is returned after this, so this must not wait for anything.
    fn suspended(&self, run: &SuspendedRun<'_>);
}

impl Session {
    /// Sets the observer of suspended runs, of a session that was just made.
    pub(super) fn observed(self, observer: Arc<dyn SuspensionObserver>) -> Self {
        // It has none yet.
        let _ = self.0.on_suspended.set(observer);
        self
    }
}

impl SessionState {
    /// Tells the observer that a run of this session was suspended.
    pub(super) fn tell_suspended(&self, run: u64, calls: &[DeferredCall]) {
        if let (Some(observer), Some(session)) = (self.on_suspended.get(), self.id()) {
            observer.suspended(&SuspendedRun { session, run, calls });
        }
    }
}
