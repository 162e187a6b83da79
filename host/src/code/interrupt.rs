//! Stopping what runs: one switch for a run and everything it started.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use wasmtime::{Store, UpdateDeadline};

use super::attend;
use super::turns::{self, Account};

/// The switch. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<State>);

#[derive(Debug, Default)]
struct State {
    cancelled: AtomicBool,
    clock: Mutex<Clock>,
    /// A run's switch also stops the calls that it made.
    parent: Option<Interrupt>,
    /// What a run has computed, and all that it started.
    account: Account,
}

/// When time is up.
#[derive(Debug, Default)]
struct Clock {
    deadline: Option<Instant>,
    /// How many pauses last, and since when time stands still.
    pauses: u32,
    since: Option<Instant>,
}

impl Clock {
    /// The deadline, if nothing pauses any more.
    fn deadline(&self) -> Option<Instant> {
        let paused = self.since.map(|since| since.elapsed()).unwrap_or_default();
        self.deadline.and_then(|deadline| deadline.checked_add(paused))
    }
}

/// Time stands still until it is dropped.
#[must_use = "time goes on when it is dropped"]
#[derive(Debug)]
pub struct Paused(Interrupt);

impl Drop for Paused {
    fn drop(&mut self) {
        for interrupt in self.0.chain() {
            let mut clock = interrupt.clock();
            clock.pauses = clock.pauses.saturating_sub(1);
            if clock.pauses == 0 {
                clock.deadline = clock.deadline();
                clock.since = None;
            }
        }
    }
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

    /// Sets the time at which everything stops. The earliest counts.
    pub fn set_deadline(&self, deadline: Instant) {
        let mut clock = self.clock();
        clock.deadline = Some(clock.deadline.map_or(deadline, |earlier| earlier.min(deadline)));
    }

    /// Lets no time pass, for this switch and those above it, until the answer is dropped: compiling counts for nobody.
    pub fn pause(&self) -> Paused {
        for interrupt in self.chain() {
            let mut clock = interrupt.clock();
            clock.pauses += 1;
            clock.since.get_or_insert_with(Instant::now);
        }
        Paused(self.clone())
    }

    /// When everything stops, if anybody said. While it is paused, that moves on.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.chain().filter_map(|interrupt| interrupt.clock().deadline()).min()
    }

    /// Whether it is time to stop, and why. This thread sees to what it is to see to: see [`attended`](super::attended).
    #[must_use]
    pub fn stopped(&self) -> Option<Stopped> {
        attend::see();
        self.is_thrown()
    }

    /// The same for who holds a lock, or asks for another thread.
    pub(super) fn is_thrown(&self) -> Option<Stopped> {
        if self.chain().any(|interrupt| interrupt.0.cancelled.load(Ordering::Relaxed)) {
            return Some(Stopped::Cancelled);
        }
        self.deadline().is_some_and(|deadline| Instant::now() >= deadline).then_some(Stopped::Deadline)
    }

    /// That of the run.
    pub(super) fn account(&self) -> &Account {
        self.chain().last().map_or(&self.0.account, |run| &run.0.account)
    }

    /// This switch and those above it.
    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |interrupt| interrupt.0.parent.as_ref())
    }

    /// Every change is whole, so a poisoned lock is still good.
    fn clock(&self) -> MutexGuard<'_, Clock> {
        self.0.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a store look at this switch at every tick of its engine's clock, and whether it is another's turn.
    pub fn watch<T>(&self, store: &mut Store<T>) {
        let interrupt = self.clone();
        turns::begin(&interrupt);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(move |_| {
            turns::next(&interrupt);
            match interrupt.stopped() {
                Some(stopped) => Err(stopped.into()),
                None => Ok(UpdateDeadline::Continue(1)),
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_pause_moves_the_deadline_of_all_above() {
        let run = Interrupt::default();
        let deadline = Instant::now() + Duration::from_secs(60);
        run.set_deadline(deadline);
        let call = run.child();
        let pause = call.pause();
        let other = run.child().pause();
        std::thread::sleep(Duration::from_millis(20));
        drop(pause);
        assert!(run.deadline() > Some(deadline), "another pause lasts");
        drop(other);
        let moved = run.deadline().expect("it was set");
        assert!(moved >= deadline + Duration::from_millis(20));
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!((run.deadline(), call.deadline()), (Some(moved), Some(moved)));
    }

    #[test]
    fn the_earliest_deadline_stops_and_a_cancellation_goes_down() {
        let run = Interrupt::default();
        let call = run.child();
        assert_eq!(call.stopped(), None);
        call.set_deadline(Instant::now());
        assert_eq!((call.stopped(), run.stopped()), (Some(Stopped::Deadline), None));
        run.cancel();
        assert_eq!((call.stopped(), run.stopped()), (Some(Stopped::Cancelled), Some(Stopped::Cancelled)));
    }
}
