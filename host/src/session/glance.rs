//! Looking for a moment before sleeping: to be woken takes as long as many a call, and what a call or a script waits for is
//! often there before that.

use std::num::NonZero;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long it takes at most: about as long as a thread takes to sleep and to wake.
const MOMENT: Duration = Duration::from_micros(40);

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

/// Looks until something is found, for a moment at most; not at all where runs need the cores.
pub(super) fn glance<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    static CORES: LazyLock<usize> = LazyLock::new(|| std::thread::available_parallelism().map_or(1, NonZero::get));
    let mut found = look();
    if found.is_none() {
        let free = CORES.saturating_sub(RUNS.load(Ordering::Relaxed));
        if LOOKING.fetch_add(1, Ordering::Relaxed) < free {
            let until = Instant::now() + MOMENT;
            while found.is_none() && Instant::now() < until {
                std::hint::spin_loop();
                found = look();
            }
        }
        LOOKING.fetch_sub(1, Ordering::Relaxed);
    }
    found
}
