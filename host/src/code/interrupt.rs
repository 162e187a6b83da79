//! Stopping what runs: one switch for a run and everything it started.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use wasmtime::{Store, UpdateDeadline};

/// The switch. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<State>);

#[derive(Debug, Default)]
struct State {
    cancelled: AtomicBool,
    deadline: OnceLock<Instant>,
    /// A run's switch also stops the calls that it made.
    parent: Option<Interrupt>,
}

/// Why an instance was stopped. The error of the call into wasm that was running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Stopped {
    /// Somebody cancelled it.
    #[error("cancelled")]
    Cancelled,
    /// Its time was up.
    #[error("out of time")]
    Deadline,
}

impl Interrupt {
    /// A switch that this one also throws.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(Arc::new(State { parent: Some(self.clone()), ..State::default() }))
    }

    /// Stops what runs, soon.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }

    /// Sets the time at which everything stops. The first call counts.
    pub fn set_deadline(&self, deadline: Instant) {
        let _ = self.0.deadline.set(deadline);
    }

    /// When everything stops, if anybody said.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let parent = self.0.parent.as_ref().and_then(Self::deadline);
        match (self.0.deadline.get().copied(), parent) {
            (Some(own), Some(parent)) => Some(own.min(parent)),
            (own, parent) => own.or(parent),
        }
    }

    /// Whether it is time to stop, and why.
    #[must_use]
    pub fn stopped(&self) -> Option<Stopped> {
        if self.0.cancelled.load(Ordering::Relaxed) {
            return Some(Stopped::Cancelled);
        }
        if self.0.deadline.get().is_some_and(|deadline| Instant::now() >= *deadline) {
            return Some(Stopped::Deadline);
        }
        self.0.parent.as_ref().and_then(Self::stopped)
    }

    /// Makes a store look at this switch at every tick of its engine's clock.
    pub fn watch<T>(&self, store: &mut Store<T>) {
        let interrupt = self.clone();
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(move |_| match interrupt.stopped() {
            Some(stopped) => Err(stopped.into()),
            None => Ok(UpdateDeadline::Continue(1)),
        });
    }
}
