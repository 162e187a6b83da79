//! Whose turn it is: of those that compute for long, as many go on at once as there are cores.
//!
//! An operating system shares the cores out among threads, in slices: behind two hundred that loop, each waits a second
//! for its next one. So whoever has computed for some milliseconds, which it says when the engine's clock ticks, takes
//! one of few places or waits for one; what is short goes on without asking, and finds the cores nearly free. Who has had
//! least of them goes first, so that a session that loops takes nothing from one that does not.
//!
//! **Invariant:** a place is no lock. Who holds one and is not seen at two ticks waits for something (a tool does, for its
//! network), and loses it; so nobody can wait for who waits for a place. Without a clock of its own CPU time a thread
//! never asks, and the system alone decides.

use std::cell::Cell;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use super::{Interrupt, TICK, attend};

/// What is too short to ask: most runs, and most calls of tools.
const SHORT: Duration = Duration::from_millis(2);

/// How far ahead of the others a run begins, in CPU time: what takes less than that does not wait behind what takes long.
const AHEAD: Duration = Duration::from_millis(100);

/// When who holds a place, and was not seen for two ticks and some, is taken to wait for something else.
const STALE: Duration = Duration::from_millis(25);

/// By how much a holder is to have had more than who waits before its turn is over. Each change of turns costs: the thread that
/// is woken may wait for a core that another one has, while that of who went to sleep lies idle.
const SLICE: Duration = Duration::from_millis(20);

/// One in so many places goes to who has waited longest, however much it has had: runs that begin and begin again must not
/// keep one for ever that goes on for long.
const ELDEST: u64 = 2;

/// The CPU time that a run has had, in nanoseconds, counted from where the others were when it first asked.
#[derive(Debug, Default)]
pub(super) struct Account {
    had: AtomicU64,
    begun: AtomicBool,
}

impl Account {
    /// What it has had, with this.
    fn charge(&self, burned: Duration) -> u64 {
        // A thread may have computed something else before: no more than what can lie between two looks.
        let burned = nanoseconds(burned.min(TICK * 2));
        self.had.fetch_add(burned, Ordering::Relaxed).saturating_add(burned)
    }

    /// What it has had, but no less than so much.
    fn at_least(&self, least: u64) -> u64 {
        self.had.fetch_max(least, Ordering::Relaxed).max(least)
    }
}

/// One thread that waits.
struct Waiter {
    id: u64,
    had: u64,
    interrupt: Interrupt,
    thread: Thread,
    state: AtomicU8,
}

/// What becomes of a [`Waiter`].
const WAITS: u8 = 0;
const HOLDS: u8 = 1;
const STOPPED: u8 = 2;

impl Waiter {
    fn tell(&self, state: u8) {
        self.state.store(state, Ordering::Release);
        self.thread.unpark();
    }

    /// Waits until it is told.
    fn told(&self) -> u8 {
        loop {
            match self.state.load(Ordering::Acquire) {
                WAITS => match attend::sleeps_at_most() {
                    None => thread::park(),
                    Some(most) => {
                        thread::park_timeout(most);
                        attend::see();
                    }
                },
                told => return told,
            }
        }
    }
}

/// Who goes on.
struct Holder {
    id: u64,
    seen: Instant,
}

/// The places of a process, and who waits for one.
#[derive(Default)]
struct Turns {
    places: usize,
    holders: Vec<Holder>,
    /// In the order in which they came.
    waiting: Vec<Arc<Waiter>>,
    last: u64,
    given: u64,
    /// What the one had that went first, the last time: where others begin.
    least: u64,
}

static TURNS: LazyLock<Mutex<Turns>> = LazyLock::new(|| {
    let places = thread::available_parallelism().map_or(1, NonZero::get);
    Mutex::new(Turns { places, ..Turns::default() })
});

/// How many wait: looked at without the lock.
static WAITING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The place that this thread holds; 0 for none.
    static MINE: Cell<u64> = const { Cell::new(0) };
    /// Its CPU time when it last asked.
    static ASKED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Called before something executes. What this thread computed before a run began is not that run's.
pub(super) fn begin(interrupt: &Interrupt) {
    let begun = &interrupt.account().begun;
    if !begun.load(Ordering::Relaxed)
        && !begun.swap(true, Ordering::Relaxed)
        && let Some(now) = cpu_time()
    {
        ASKED.set(now);
    }
}

/// Called at every tick by what executes: goes on if its turn is not over, else waits for the next. When the switch says
/// stop it returns at once.
pub(super) fn next(interrupt: &Interrupt) {
    let Some(now) = cpu_time() else { return };
    let burned = now.saturating_sub(ASKED.get());
    if MINE.get() == 0 && burned < SHORT {
        return;
    }
    ASKED.set(now);
    let had = interrupt.account().charge(burned);
    let waiter = {
        let mut turns = lock();
        if turns.goes_on(MINE.get(), had) {
            return;
        }
        turns.release(MINE.take());
        let waiter = turns.wait(interrupt);
        turns.give();
        waiter
    };
    if waiter.told() == HOLDS {
        MINE.set(waiter.id);
    }
}

/// What executed has ended, or waits: its place is free.
pub(super) fn leave() {
    let mine = MINE.take();
    if mine != 0 {
        let mut turns = lock();
        turns.release(mine);
        turns.give();
    }
}

/// Takes places from those that do not use them, and wakes those that are to stop. Called at every tick of an engine.
pub(super) fn tick() {
    if WAITING.load(Ordering::Relaxed) > 0 {
        let mut turns = lock();
        turns.holders.retain(|holder| holder.seen.elapsed() < STALE);
        turns.give();
        turns.stop();
    }
}

impl Turns {
    /// Whether the turn of who holds this place is not over: nobody waits who has had so much less.
    fn goes_on(&mut self, id: u64, had: u64) -> bool {
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

    /// Adds this thread to those that wait.
    fn wait(&mut self, interrupt: &Interrupt) -> Arc<Waiter> {
        self.last += 1;
        let waiter = Arc::new(Waiter {
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

    /// Gives the places that are free.
    fn give(&mut self) {
        while self.holders.len() < self.places && !self.waiting.is_empty() {
            self.given += 1;
            let least = self.waiting.iter().enumerate().min_by_key(|(_, waiter)| waiter.had);
            let next = least.filter(|_| !self.given.is_multiple_of(ELDEST)).map_or(0, |(index, _)| index);
            let waiter = self.waiting.remove(next);
            if !self.given.is_multiple_of(ELDEST) {
                self.least = self.least.max(waiter.had);
            }
            self.holders.push(Holder { id: waiter.id, seen: Instant::now() });
            waiter.tell(HOLDS);
        }
        self.count();
    }

    /// Wakes those that are to stop.
    fn stop(&mut self) {
        self.waiting.retain(|waiter| {
            let stopped = waiter.interrupt.is_thrown().is_some();
            if stopped {
                waiter.tell(STOPPED);
            }
            !stopped
        });
        self.count();
    }

    fn count(&self) {
        WAITING.store(self.waiting.len(), Ordering::Relaxed);
    }
}

/// Every change is whole, so a poisoned lock is still good.
fn lock() -> MutexGuard<'static, Turns> {
    TURNS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The CPU time of this thread.
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

    /// Places of their own: those of the process are others' too.
    fn turns(places: usize) -> Turns {
        Turns { places, ..Turns::default() }
    }

    fn run(had: u64) -> Interrupt {
        let interrupt = Interrupt::default();
        interrupt.account().charge(Duration::from_nanos(had));
        interrupt
    }

    #[test]
    fn who_had_least_goes_first_and_a_child_counts_for_its_run() {
        let mut turns = turns(1);
        let (much, little) = (run(5_000), run(10));
        let first = turns.wait(&much);
        turns.give();
        assert_eq!(first.told(), HOLDS);
        let (again, other) = (turns.wait(&much), turns.wait(&little.child()));
        turns.release(first.id);
        // The next place is not for who has waited longest.
        turns.given = 0;
        turns.give();
        assert_eq!((other.told(), again.state.load(Ordering::Relaxed)), (HOLDS, WAITS));
        turns.release(other.id);
        turns.give();
        assert_eq!(again.told(), HOLDS);
    }

    #[test]
    fn a_turn_is_over_when_somebody_waits_who_had_so_much_less() {
        let mut turns = turns(1);
        let slice = nanoseconds(SLICE);
        let holder = turns.wait(&run(0));
        turns.give();
        assert!(turns.goes_on(holder.id, u64::MAX), "nobody waits");
        let _waiter = turns.wait(&run(7));
        assert!(turns.goes_on(holder.id, slice + 6));
        assert!(!turns.goes_on(holder.id, slice + 7));
        turns.release(holder.id);
        assert!(!turns.goes_on(holder.id, 0), "it lost its place");
    }

    #[test]
    fn nobody_waits_for_ever() {
        let mut turns = turns(1);
        let old = turns.wait(&run(1_000_000));
        let mut places = 0;
        while old.state.load(Ordering::Relaxed) == WAITS {
            let new = turns.wait(&run(1));
            turns.give();
            places += 1;
            turns.holders.clear();
            drop(new);
        }
        assert!(places <= ELDEST, "{places}");
    }

    #[test]
    fn who_begins_is_ahead_and_no_further() {
        let mut turns = turns(1);
        turns.least = u64::MAX / 2;
        assert_eq!(turns.wait(&run(3)).had, turns.least - nanoseconds(AHEAD));
    }

    #[test]
    fn who_is_to_stop_is_told() {
        let mut turns = turns(1);
        turns.holders.push(Holder { id: 0, seen: Instant::now() });
        let (one, other) = (run(1), run(1));
        let waiters = [turns.wait(&one), turns.wait(&other.child())];
        other.cancel();
        turns.stop();
        assert_eq!((waiters[0].state.load(Ordering::Relaxed), waiters[1].told()), (WAITS, STOPPED));
        assert_eq!(turns.waiting.len(), 1);
    }
}
