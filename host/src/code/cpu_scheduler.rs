//! CPU scheduler: of the runs that compute for long, as many execute at once as there are cores.
//!
//! An operating system shares the cores among threads in slices: behind two hundred threads that loop, each waits a
//! second for its next slice. So a run that has computed for some milliseconds, which is measured when the engine's
//! clock ticks, must take one of few slots or wait for one. Short runs execute without a slot and find the cores nearly
//! free. The run with the least CPU time goes first, so that a session that loops takes nothing from one that does not.
//!
//! **Invariant:** a slot is not a lock. A holder that misses two ticks is waiting for something (a tool for its
//! network, for example) and loses the slot; so nobody can wait for a holder that itself waits for a slot. On a system
//! without a clock of a thread's CPU time no run asks for a slot, and the system alone schedules.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use super::{Interrupt, TICK, poll_hook, processor_count};

/// CPU time below which a run does not ask for a slot: most runs, and most calls of tools, are shorter.
const SHORT: Duration = Duration::from_millis(2);

/// CPU time by which a new run starts ahead of the others, so that shorter runs do not wait behind long ones.
const AHEAD: Duration = Duration::from_millis(100);

/// Time without a tick, two and a half of them, after which the holder of a slot is treated as blocked.
const STALE: Duration = Duration::from_millis(25);

/// Minimum CPU-time lead over a waiting run before the holder of a slot is preempted. Switching is expensive: the woken
/// thread may have to wait for a core that another one has, while the core of the preempted thread idles.
const SLICE: Duration = Duration::from_millis(20);

/// Every `ELDEST`-th slot goes to the longest waiter regardless of its CPU time, so that a stream of short runs cannot
/// starve a long one.
const ELDEST: u64 = 2;

/// CPU time of a run in nanoseconds, starting from the level of the other runs when it first asked for a slot.
#[derive(Debug, Default)]
pub(super) struct CpuAccount {
    had: AtomicU64,
    begun: AtomicBool,
}

impl CpuAccount {
    /// Adds to the account and returns its new value.
    fn charge(&self, burned: Duration) -> u64 {
        // The thread may have computed something else before, so no more is charged than can lie between two ticks.
        let burned = nanoseconds(burned.min(TICK * 2));
        self.had.fetch_add(burned, Ordering::Relaxed).saturating_add(burned)
    }

    /// Raises the account to at least `least` and returns its value.
    fn at_least(&self, least: u64) -> u64 {
        self.had.fetch_max(least, Ordering::Relaxed).max(least)
    }
}

/// Thread that waits for a slot.
struct SlotWaiter {
    id: u64,
    had: u64,
    interrupt: Interrupt,
    thread: Thread,
    state: AtomicU8,
}

/// States of a [`SlotWaiter`].
const WAITS: u8 = 0;
const HOLDS: u8 = 1;
const STOPPED: u8 = 2;

impl SlotWaiter {
    fn decide(&self, state: u8) {
        self.state.store(state, Ordering::Release);
        self.thread.unpark();
    }

    /// Waits for a decision and returns it.
    fn decision(&self) -> u8 {
        loop {
            match self.state.load(Ordering::Acquire) {
                WAITS => match poll_hook::max_sleep() {
                    None => thread::park(),
                    Some(most) => {
                        thread::park_timeout(most);
                        poll_hook::poll();
                    }
                },
                decision => return decision,
            }
        }
    }
}

/// Holder of a slot.
struct SlotHolder {
    id: u64,
    seen: Instant,
}

/// Scheduler of a process: its slots, their holders, and the queue of waiting threads.
#[derive(Default)]
struct CpuScheduler {
    slots: usize,
    holders: Vec<SlotHolder>,
    /// In the order of arrival.
    waiting: Vec<Arc<SlotWaiter>>,
    last: u64,
    given: u64,
    /// CPU time of the run that last got a slot for having the least: new runs start near it.
    least: u64,
}

static SCHEDULER: LazyLock<Mutex<CpuScheduler>> =
    LazyLock::new(|| Mutex::new(CpuScheduler { slots: processor_count(), ..CpuScheduler::default() }));

/// Number of waiting threads, read without the lock.
static WAITING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Number of the slot that this thread holds, or 0.
    static SLOT: Cell<u64> = const { Cell::new(0) };
    /// CPU time of this thread at its last tick.
    static LAST_TICK: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Marks the start of a run on this thread, so that CPU time from before is not charged to it.
pub(super) fn start(interrupt: &Interrupt) {
    let begun = &interrupt.account().begun;
    if !begun.load(Ordering::Relaxed)
        && !begun.swap(true, Ordering::Relaxed)
        && let Some(now) = cpu_time()
    {
        LAST_TICK.set(now);
    }
}

/// Charges the run at a tick of the engine's clock. Returns at once while its time slice lasts or it is to stop, else
/// waits for the next slot.
pub(super) fn charge_tick(interrupt: &Interrupt) {
    let Some(now) = cpu_time() else { return };
    let burned = now.saturating_sub(LAST_TICK.get());
    if SLOT.get() == 0 && burned < SHORT {
        return;
    }
    LAST_TICK.set(now);
    let had = interrupt.account().charge(burned);
    let waiter = {
        let mut scheduler = lock();
        if scheduler.may_continue(SLOT.get(), had) {
            return;
        }
        scheduler.release(SLOT.take());
        let waiter = scheduler.enqueue(interrupt);
        scheduler.hand_out();
        waiter
    };
    if waiter.decision() == HOLDS {
        SLOT.set(waiter.id);
    }
}

/// Frees the slot of this thread, whose run has ended or waits for something.
pub(super) fn release() {
    let slot = SLOT.take();
    if slot != 0 {
        let mut scheduler = lock();
        scheduler.release(slot);
        scheduler.hand_out();
    }
}

/// Frees slots whose holders are blocked, and wakes waiters that are to stop. Called at every tick of an engine.
pub(super) fn tick() {
    if WAITING.load(Ordering::Relaxed) > 0 {
        let mut scheduler = lock();
        scheduler.holders.retain(|holder| holder.seen.elapsed() < STALE);
        scheduler.hand_out();
        scheduler.wake_stopped();
    }
}

impl CpuScheduler {
    /// Returns true while no waiter is more than `SLICE` behind this holder.
    fn may_continue(&mut self, id: u64, had: u64) -> bool {
        let holder = self.holders.iter_mut().find(|holder| holder.id == id);
        let over = self.waiting.iter().any(|waiter| waiter.had.saturating_add(nanoseconds(SLICE)) <= had);
        holder.filter(|_| !over).is_some_and(|holder| {
            holder.seen = Instant::now();
            true
        })
    }

    fn release(&mut self, id: u64) {
        self.holders.retain(|holder| holder.id != id);
    }

    /// Queues this thread for a slot.
    fn enqueue(&mut self, interrupt: &Interrupt) -> Arc<SlotWaiter> {
        self.last += 1;
        let waiter = Arc::new(SlotWaiter {
            id: self.last,
            had: interrupt.account().at_least(self.least.saturating_sub(nanoseconds(AHEAD))),
            interrupt: interrupt.clone(),
            thread: thread::current(),
            state: AtomicU8::new(WAITS),
        });
        self.waiting.push(Arc::clone(&waiter));
        self.count();
        waiter
    }

    /// Hands out free slots.
    fn hand_out(&mut self) {
        while self.holders.len() < self.slots && !self.waiting.is_empty() {
            self.given += 1;
            let least = self.waiting.iter().enumerate().min_by_key(|(_, waiter)| waiter.had);
            let next = least.filter(|_| !self.given.is_multiple_of(ELDEST)).map_or(0, |(index, _)| index);
            let waiter = self.waiting.remove(next);
            if !self.given.is_multiple_of(ELDEST) {
                self.least = self.least.max(waiter.had);
            }
            self.holders.push(SlotHolder { id: waiter.id, seen: Instant::now() });
            waiter.decide(HOLDS);
        }
        self.count();
    }

    /// Wakes the waiters that are to stop.
    fn wake_stopped(&mut self) {
        self.waiting.retain(|waiter| {
            let stopped = waiter.interrupt.is_thrown().is_some();
            if stopped {
                waiter.decide(STOPPED);
            }
            !stopped
        });
        self.count();
    }

    fn count(&self) {
        WAITING.store(self.waiting.len(), Ordering::Relaxed);
    }
}

/// Locks the scheduler. No change can be seen half done, so a poisoned lock is still good.
fn lock() -> MutexGuard<'static, CpuScheduler> {
    SCHEDULER.lock().unwrap_or_else(PoisonError::into_inner)
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns the CPU time of this thread.
#[cfg(unix)]
fn cpu_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

#[cfg(not(unix))]
fn cpu_time() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a scheduler of its own for a test: other tests use that of the process.
    fn scheduler(slots: usize) -> CpuScheduler {
        CpuScheduler { slots, ..CpuScheduler::default() }
    }

    fn run(had: u64) -> Interrupt {
        let interrupt = Interrupt::default();
        interrupt.account().charge(Duration::from_nanos(had));
        interrupt
    }

    #[test]
    fn scheduler_favors_least_cpu_and_charges_children_to_their_run() {
        let mut scheduler = scheduler(1);
        let (much, little) = (run(5_000), run(10));
        let first = scheduler.enqueue(&much);
        scheduler.hand_out();
        assert_eq!(first.decision(), HOLDS);
        let (again, other) = (scheduler.enqueue(&much), scheduler.enqueue(&little.child()));
        scheduler.release(first.id);
        // Makes the next slot one that does not go to the longest waiter.
        scheduler.given = 0;
        scheduler.hand_out();
        assert_eq!((other.decision(), again.state.load(Ordering::Relaxed)), (HOLDS, WAITS));
        scheduler.release(other.id);
        scheduler.hand_out();
        assert_eq!(again.decision(), HOLDS);
    }

    #[test]
    fn scheduler_slice_ends_when_waiter_had_that_much_less() {
        let mut scheduler = scheduler(1);
        let slice = nanoseconds(SLICE);
        let holder = scheduler.enqueue(&run(0));
        scheduler.hand_out();
        assert!(scheduler.may_continue(holder.id, u64::MAX), "nobody waits");
        let _waiter = scheduler.enqueue(&run(7));
        assert!(scheduler.may_continue(holder.id, slice + 6));
        assert!(!scheduler.may_continue(holder.id, slice + 7));
        scheduler.release(holder.id);
        assert!(!scheduler.may_continue(holder.id, 0), "it lost its place");
    }

    #[test]
    fn scheduler_waiter_is_served_despite_newcomers_with_less_cpu() {
        let mut scheduler = scheduler(1);
        let old = scheduler.enqueue(&run(1_000_000));
        let mut slots = 0;
        while old.state.load(Ordering::Relaxed) == WAITS {
            let new = scheduler.enqueue(&run(1));
            scheduler.hand_out();
            slots += 1;
            scheduler.holders.clear();
            drop(new);
        }
        assert!(slots <= ELDEST, "{slots}");
    }

    #[test]
    fn scheduler_newcomer_is_ahead_by_a_bounded_amount() {
        let mut scheduler = scheduler(1);
        scheduler.least = u64::MAX / 2;
        assert_eq!(scheduler.enqueue(&run(3)).had, scheduler.least - nanoseconds(AHEAD));
    }

    #[test]
    fn scheduler_waiter_that_is_cancelled_is_woken() {
        let mut scheduler = scheduler(1);
        scheduler.holders.push(SlotHolder { id: 0, seen: Instant::now() });
        let (one, other) = (run(1), run(1));
        let waiters = [scheduler.enqueue(&one), scheduler.enqueue(&other.child())];
        other.cancel();
        scheduler.wake_stopped();
        assert_eq!((waiters[0].state.load(Ordering::Relaxed), waiters[1].decision()), (WAITS, STOPPED));
        assert_eq!(scheduler.waiting.len(), 1);
    }
}
