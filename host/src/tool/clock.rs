//! A tool's clocks: they stand still at the time of the call, and a wait on them can be interrupted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use wasmtime::Result;
use wasmtime::component::Resource;
pub(super) use wasmtime_wasi::p2::bindings::clocks::monotonic_clock::add_to_linker;
use wasmtime_wasi::p2::bindings::clocks::monotonic_clock::{self, Duration as Nanoseconds, Instant as Moment};
use wasmtime_wasi::p2::{DynPollable, Pollable, subscribe};
use wasmtime_wasi::{HostMonotonicClock, HostWallClock};

use super::state::ToolState;
use crate::code::{Interrupt, TICK};

/// Nanoseconds since the Unix epoch. Clones show the same time.
#[derive(Clone, Default)]
pub(super) struct Clock(Arc<AtomicU64>);

impl Clock {
    /// It shows this time from now on.
    pub(super) fn set(&self, now: u64) {
        self.0.store(now, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl HostWallClock for Clock {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(1)
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.get())
    }
}

impl HostMonotonicClock for Clock {
    fn resolution(&self) -> u64 {
        1
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
        Ok(1)
    }

    fn subscribe_instant(&mut self, when: Moment) -> Result<Resource<DynPollable>> {
        self.subscribe_duration(when.saturating_sub(self.clock.get()))
    }

    fn subscribe_duration(&mut self, duration: Nanoseconds) -> Result<Resource<DynPollable>> {
        let until = Instant::now().checked_add(Duration::from_nanos(duration));
        let wait = self.table.push(Wait { until, interrupt: self.interrupt.clone() })?;
        subscribe(&mut self.table, wait)
    }
}

/// A wait that ends at its time, or when the call is to stop: the tool then runs into its epoch at once.
struct Wait {
    /// None: the end of time.
    until: Option<Instant>,
    interrupt: Interrupt,
}

#[async_trait::async_trait]
impl Pollable for Wait {
    async fn ready(&mut self) {
        loop {
            let rest = self.until.map_or(TICK, |until| until.saturating_duration_since(Instant::now()));
            if rest.is_zero() || self.interrupt.stopped().is_some() {
                // Others that wait beside it are looked at before the tool is told.
                return tokio::task::yield_now().await;
            }
            tokio::time::sleep(rest.min(TICK)).await;
        }
    }
}
