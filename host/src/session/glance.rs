//! Looking for a moment before sleeping: to be woken takes as long as many a call, and what a call or a script waits for is
//! often there before that.

use std::num::NonZero;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long it takes at most: about as long as a thread takes to sleep and to wake.
const MOMENT: Duration = Duration::from_micros(40);

/// The best luck there is, what a look in vain costs of it, and how often nobody looks when it is used up.
const BEST: i32 = 8;
const PRICE: i32 = 4;
const REST: i32 = 32;

/// The runs of this process, and the threads that look.
static RUNS: AtomicUsize = AtomicUsize::new(0);
static LOOKING: AtomicUsize = AtomicUsize::new(0);

/// A run goes on until this is dropped.
pub(super) struct Going(());

impl Going {
    pub(super) fn begin() -> Self {
        RUNS.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        RUNS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What is looked for, and with what luck lately: what takes long is not looked for, nor anything where a core of this machine
/// is a share of one.
pub(super) struct Glance(AtomicI32);

impl Glance {
    pub(super) const fn new() -> Self {
        Self(AtomicI32::new(BEST))
    }

    /// Looks until something is found, for a moment at most; only once where it is not worth it, or runs need the cores.
    pub(super) fn at<T>(&self, mut look: impl FnMut() -> Option<T>) -> Option<T> {
        static CORES: LazyLock<usize> = LazyLock::new(|| std::thread::available_parallelism().map_or(1, NonZero::get));
        let mut found = look();
        if found.is_none() && self.is_worth_it() {
            let free = CORES.saturating_sub(RUNS.load(Ordering::Relaxed));
            if LOOKING.fetch_add(1, Ordering::Relaxed) < free {
                let until = Instant::now() + MOMENT;
                while found.is_none() && Instant::now() < until {
                    std::hint::spin_loop();
                    found = look();
                }
                self.learn(found.is_some());
            }
            LOOKING.fetch_sub(1, Ordering::Relaxed);
        }
        found
    }

    /// Others may change it meanwhile, and then it is not exact, nor need it be.
    fn is_worth_it(&self) -> bool {
        let luck = self.0.load(Ordering::Relaxed);
        if luck <= 0 {
            self.0.store(luck + 1, Ordering::Relaxed);
        }
        luck > 0
    }

    fn learn(&self, found: bool) {
        let luck = self.0.load(Ordering::Relaxed);
        let next = match luck - PRICE {
            _ if found => (luck + 1).min(BEST),
            left if left > 0 => left,
            _ => -REST,
        };
        self.0.store(next, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_found_is_looked_for_less() {
        let glance = Glance::new();
        let looks = |times: i32| (0..times).filter(|_| glance.is_worth_it()).count();
        assert_eq!(looks(100), 100, "as long as nothing is known");
        glance.learn(false);
        assert_eq!(looks(100), 100, "once is nothing");
        glance.learn(false);
        assert_eq!(looks(REST + 1), 0);
        assert_eq!(looks(1), 1, "another try");
        glance.learn(false);
        assert_eq!(looks(REST), 0, "in vain");
        assert_eq!(looks(2), 1);
        (0..BEST).for_each(|_| glance.learn(true));
        glance.learn(false);
        assert_eq!(looks(100), 100);
        assert_eq!(glance.at(|| Some(1)), Some(1));
    }
}
