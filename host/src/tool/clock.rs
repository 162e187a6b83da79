//! Clocks of a tool: they stand still at the time of the call. A wait can be interrupted, and timers run only while the
//! tool waits: no clock and no timer measures how long the tool, or code that it calls, computes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use wasmtime::Result;
use wasmtime::component::Resource;
pub(super) use wasmtime_wasi::p2::bindings::clocks::monotonic_clock::add_to_linker;
use wasmtime_wasi::p2::bindings::clocks::monotonic_clock::{self, Duration as Nanoseconds, Instant as Moment};
use wasmtime_wasi::p2::{DynPollable, Pollable, subscribe};
use wasmtime_wasi::{HostMonotonicClock, HostWallClock};

use super::tool_state::ToolState;
use crate::code::{Interrupt, TICK};

/// Resolution of every clock of a guest in nanoseconds: a millisecond, as in browsers that do not isolate their pages.
pub(crate) const RESOLUTION: u64 = 1_000_000;

/// Clock at a fixed time in nanoseconds since the Unix epoch. Clones show the same time.
#[derive(Clone, Default)]
pub(super) struct FixedClock {
    now: Arc<AtomicU64>,
    waiting: WaitTime,
}

impl FixedClock {
    /// Sets the time.
    pub(super) fn set(&self, now: u64) {
        self.now.store(now, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }
}

impl HostWallClock for FixedClock {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(RESOLUTION)
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.get())
    }
}

impl HostMonotonicClock for FixedClock {
    fn resolution(&self) -> u64 {
        RESOLUTION
    }

    fn now(&self) -> u64 {
        self.get()
    }
}

impl monotonic_clock::Host for ToolState {
    fn now(&mut self) -> Result<Moment> {
        Ok(self.clock.get())
    }

    fn resolution(&mut self) -> Result<Moment> {
        Ok(RESOLUTION)
    }

    fn subscribe_instant(&mut self, when: Moment) -> Result<Resource<DynPollable>> {
        self.subscribe_duration(when.saturating_sub(self.clock.get()))
    }

    fn subscribe_duration(&mut self, duration: Nanoseconds) -> Result<Resource<DynPollable>> {
        let waiting = self.clock.waiting.clone();
        let until = waiting.so_far().checked_add(Duration::from_nanos(duration));
        let wait = self.handles.with_room().push(TimerWait { until, waiting, interrupt: self.interrupt.clone() })?;
        subscribe(self.handles.with_room(), wait)
    }
}

/// Total time that a tool has waited for timers, which is the time base of its timers. Clones share it.
///
/// A timer by the machine's clock would tell a tool how long it computed between setting the timer and checking it: as
/// precise a clock as the machine's.
#[derive(Clone, Default)]
struct WaitTime(Arc<Mutex<WaitSpans>>);

#[derive(Default)]
struct WaitSpans {
    /// Duration of the waits that are over.
    over: Duration,
    /// Number of timers that are waited for now, and the time since which there is one.
    timers: usize,
    since: Option<Instant>,
}

impl WaitSpans {
    fn so_far(&self) -> Duration {
        self.over + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

impl WaitTime {
    fn spans(&self) -> MutexGuard<'_, WaitSpans> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn so_far(&self) -> Duration {
        self.spans().so_far()
    }

    /// Counts a wait for a timer until the returned guard is dropped.
    fn begin(&self) -> WaitGuard<'_> {
        let mut spans = self.spans();
        spans.timers += 1;
        spans.since.get_or_insert_with(Instant::now);
        WaitGuard(self)
    }
}

/// Guard of a wait for a timer.
struct WaitGuard<'w>(&'w WaitTime);

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        let mut spans = self.0.spans();
        spans.timers -= 1;
        if spans.timers == 0 {
            spans.over = spans.so_far();
            spans.since = None;
        }
    }
}

/// Wait that ends at its time, or when the call is to stop: the tool then runs into its epoch at once.
struct TimerWait {
    /// End of the wait, in time that the tool has waited. `None` means never.
    until: Option<Duration>,
    waiting: WaitTime,
    interrupt: Interrupt,
}

#[async_trait::async_trait]
impl Pollable for TimerWait {
    async fn ready(&mut self) {
        let _waiting = self.waiting.begin();
        loop {
            let rest = self.until.map_or(TICK, |until| until.saturating_sub(self.waiting.so_far()));
            if rest.is_zero() || self.interrupt.stopped().is_some() {
                // Other waits of the same poll are checked before the tool continues.
                return tokio::task::yield_now().await;
            }
            tokio::time::sleep(rest.min(TICK)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_counted_while_a_timer_is_waited_for() {
        let waiting = WaitTime::default();
        let is_frozen = || waiting.so_far() == waiting.so_far() && waiting.spans().since.is_none();
        assert!(is_frozen() && waiting.so_far() == Duration::ZERO);
        let (one, other) = (waiting.begin(), waiting.begin());
        let until = waiting.so_far() + Duration::from_millis(1);
        while waiting.so_far() < until {
            std::thread::yield_now();
        }
        drop(one);
        assert!(!is_frozen(), "the other one is waited for");
        drop(other);
        assert!(is_frozen());
        let before = waiting.so_far();
        assert!(before >= until);
        drop(waiting.begin());
        assert!(waiting.so_far() >= before && is_frozen());
    }
}
