//! Interrupts: one switch stops a run and everything that it started.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use wasmtime::{Store, UpdateDeadline};

use super::cpu_scheduler::{self, CpuAccount};
use super::poll_hook;

/// Switch that stops a run. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<SwitchState>);

#[derive(Debug, Default)]
struct SwitchState {
    cancelled: AtomicBool,
    clock: Mutex<DeadlineClock>,
    /// Switch of the run that made this call: it stops the call too.
    parent: Option<Interrupt>,
    /// CPU time of the run and everything that it started.
    account: CpuAccount,
}

/// Deadline of a switch, and its pauses.
#[derive(Debug, Default)]
struct DeadlineClock {
    deadline: Option<Instant>,
    /// Number of pauses in effect, and the time at which the first of them began.
    pauses: u32,
    since: Option<Instant>,
}

impl DeadlineClock {
    /// Returns the deadline as it would be if all pauses ended now.
    fn deadline(&self) -> Option<Instant> {
        let paused = self.since.map(|since| since.elapsed()).unwrap_or_default();
        self.deadline.and_then(|deadline| deadline.checked_add(paused))
    }
}

/// Guard that holds back the deadline of a switch until it is dropped.
#[must_use = "the deadline moves on again when this is dropped"]
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

/// Reason why an instance was stopped: the error of the interrupted call into wasm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Stopped {
    /// The run or the call was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The deadline of the run passed.
    #[error("out of time")]
    Deadline,
}

impl Interrupt {
    /// Creates a switch that this one also throws.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(Arc::new(SwitchState { parent: Some(self.clone()), ..SwitchState::default() }))
    }

    /// Stops the run soon: at the next tick of its engine's clock.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }

    /// Sets the time at which everything stops. If several are set, the earliest counts.
    pub fn set_deadline(&self, deadline: Instant) {
        let mut clock = self.clock();
        clock.deadline = Some(clock.deadline.map_or(deadline, |earlier| earlier.min(deadline)));
    }

    /// Holds back the deadlines of this switch and its parents until the returned guard is dropped. Compiling takes
    /// nobody's time.
    pub fn pause(&self) -> Paused {
        for interrupt in self.chain() {
            let mut clock = interrupt.clock();
            clock.pauses += 1;
            clock.since.get_or_insert_with(Instant::now);
        }
        Paused(self.clone())
    }

    /// Returns the earliest deadline of this switch and its parents, if there is one. A pause moves it.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.chain().filter_map(|interrupt| interrupt.clock().deadline()).min()
    }

    /// Returns the reason to stop now, if there is one. Calls this thread's poll hook: see
    /// [`attended`](super::attended).
    #[must_use]
    pub fn stopped(&self) -> Option<Stopped> {
        poll_hook::poll();
        self.is_thrown()
    }

    /// As [`stopped`](Self::stopped), without calling the hook: for a caller that holds a lock or asks on behalf of
    /// another thread.
    pub(super) fn is_thrown(&self) -> Option<Stopped> {
        if self.chain().any(|interrupt| interrupt.0.cancelled.load(Ordering::Relaxed)) {
            return Some(Stopped::Cancelled);
        }
        self.deadline().is_some_and(|deadline| Instant::now() >= deadline).then_some(Stopped::Deadline)
    }

    /// Returns the CPU account of the run.
    pub(super) fn account(&self) -> &CpuAccount {
        self.chain().last().map_or(&self.0.account, |run| &run.0.account)
    }

    /// Iterates over this switch and its parents.
    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |interrupt| interrupt.0.parent.as_ref())
    }

    /// Locks the clock. No change can be seen half done, so a poisoned lock is still good.
    fn clock(&self) -> MutexGuard<'_, DeadlineClock> {
        self.0.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a store check this switch at every tick of its engine's clock, and yield to other runs if its time slice
    /// is over.
    pub fn watch<T>(&self, store: &mut Store<T>) {
        let interrupt = self.clone();
        cpu_scheduler::start(&interrupt);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(move |_| {
            cpu_scheduler::charge_tick(&interrupt);
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
    fn interrupt_paused_moves_the_deadline_of_all_parents() {
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
    fn interrupt_stops_at_earliest_deadline_and_cancellation_reaches_children() {
        let run = Interrupt::default();
        let call = run.child();
        assert_eq!(call.stopped(), None);
        call.set_deadline(Instant::now());
        assert_eq!((call.stopped(), run.stopped()), (Some(Stopped::Deadline), None));
        run.cancel();
        assert_eq!((call.stopped(), run.stopped()), (Some(Stopped::Cancelled), Some(Stopped::Cancelled)));
    }
}
