//! Fuel and memory that the guests of one run share.
//!
//! **Invariant:** fuel that a guest used stays used when the guest is gone; its memory is free then.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use wasmtime::{ResourceLimiter, Result};

use crate::code::{MemoryAccount, MemoryCharge};

/// Memory that a guest itself takes, on top of what the scripts of its run may use: interpreter, prelude and stack.
const GUEST_OVERHEAD: u64 = 64 << 20;

/// Most fuel that a guest may use before it reports it (`wit/guest.wit`, `fuel`).
const UNTOLD: u64 = 1 << 16;

/// Limits of a run and what its guests have used of them. Clones share the counts. Only one guest of a run executes at
/// a time, so the counters need no order among each other.
#[derive(Clone)]
pub(crate) struct RunUsage(Arc<UsageTotals>);

struct UsageTotals {
    fuel_limit: u64,
    /// Memory of the guests beyond each one's overhead, and of tools and calls.
    memory: MemoryAccount,
    fuel: AtomicU64,
    /// Bytes of all memories, current and peak.
    bytes: AtomicU64,
    peak: AtomicU64,
    /// Number of live guests.
    guests: AtomicU64,
}

impl RunUsage {
    /// Creates the usage of a run that starts, with a fuel limit and its session's memory.
    pub(crate) fn new(fuel_limit: u64, memory: &MemoryAccount) -> Self {
        let [fuel, bytes, peak, guests] = Default::default();
        Self(Arc::new(UsageTotals { fuel_limit, memory: memory.clone(), fuel, bytes, peak, guests }))
    }

    /// Counts what a run had used before it was resumed without being replayed.
    pub(crate) fn resume(&self, fuel: u64, peak: u64) {
        self.0.fuel.store(fuel, Ordering::Relaxed);
        self.0.peak.fetch_max(peak, Ordering::Relaxed);
    }

    /// Returns the fuel that was used.
    pub(crate) fn fuel(&self) -> u64 {
        self.0.fuel.load(Ordering::Relaxed)
    }

    /// Returns the fuel that is left.
    pub(super) fn fuel_left(&self) -> u64 {
        self.0.fuel_limit.saturating_sub(self.fuel())
    }

    /// Returns the limit on the memory of all scripts' values, in bytes.
    pub(super) fn memory_limit(&self) -> u64 {
        self.0.memory.limit()
    }

    /// Returns the number of live guests.
    pub(crate) fn guests(&self) -> u64 {
        self.0.guests.load(Ordering::Relaxed)
    }

    /// Returns the peak memory of the guests together, in bytes.
    pub(crate) fn peak(&self) -> u64 {
        self.0.peak.load(Ordering::Relaxed)
    }
}

/// Fuel of one guest.
pub(super) struct GuestFuel {
    usage: RunUsage,
    used: u64,
}

impl GuestFuel {
    pub(super) fn new(usage: &RunUsage) -> Self {
        Self { usage: usage.clone(), used: 0 }
    }

    /// Creates the fuel of a guest that had used this much, which its run has counted.
    pub(super) fn resumed(usage: &RunUsage, used: u64) -> Self {
        Self { usage: usage.clone(), used }
    }

    /// Returns the fuel that the guest has used since it started.
    pub(super) fn used(&self) -> u64 {
        self.used
    }

    /// Records the fuel that the guest has used since it started, and returns the most that it may use in total.
    /// A report lower than the previous one is not believed.
    pub(super) fn spent(&mut self, used: u64) -> u64 {
        let totals = &self.usage.0;
        let more = used.saturating_sub(self.used);
        self.used += more;
        let all = totals.fuel.load(Ordering::Relaxed).saturating_add(more);
        totals.fuel.store(all, Ordering::Relaxed);
        totals.fuel_limit.saturating_sub(all - self.used)
    }

    /// Charges a guest that was lost within a step: its unreported use is not known, so its upper bound is charged.
    pub(super) fn lost(&mut self) {
        self.spent(self.used.saturating_add(UNTOLD));
    }
}

/// Memory of one guest, within its session's. Remembers whether a request was refused.
pub(super) struct GuestMemory {
    usage: RunUsage,
    bytes: u64,
    /// Memory beyond the guest's overhead.
    beyond: MemoryCharge,
    refused: bool,
}

impl GuestMemory {
    pub(super) fn new(usage: &RunUsage) -> Self {
        usage.0.guests.fetch_add(1, Ordering::Relaxed);
        Self { usage: usage.clone(), bytes: 0, beyond: usage.0.memory.open(), refused: false }
    }

    /// Returns true if the guest may have memory for a value of so many bytes, besides the memory that it has for it
    /// already. If not, the guest has requested more than it may have.
    pub(super) fn can_take(&mut self, bytes: u64) -> bool {
        // The remaining memory is queried only when it matters: the query may drop caches.
        let can = bytes <= GUEST_OVERHEAD || bytes <= self.bytes.max(GUEST_OVERHEAD).saturating_add(self.left());
        self.refused |= !can;
        can
    }

    /// Returns true if the guest requested more memory than it may have.
    pub(super) fn refused(&self) -> bool {
        self.refused
    }

    /// Returns the bytes that values handed over by the guest may take.
    pub(super) fn left(&self) -> u64 {
        self.usage.0.memory.left()
    }

    /// Returns the bytes that the guest has.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Counts the memory that an instance took before it belonged to the run: less than a guest's overhead.
    pub(super) fn take_over(&mut self, other: &Self) {
        self.resize(other.bytes);
    }

    /// Records a new size, and returns false if the run may not have it.
    fn resize(&mut self, bytes: u64) -> bool {
        if !self.beyond.resize(bytes.saturating_sub(GUEST_OVERHEAD)) {
            return false;
        }
        let totals = &self.usage.0;
        let all = totals.bytes.load(Ordering::Relaxed) - self.bytes + bytes;
        totals.bytes.store(all, Ordering::Relaxed);
        totals.peak.fetch_max(all, Ordering::Relaxed);
        self.bytes = bytes;
        true
    }
}

impl ResourceLimiter for GuestMemory {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        let more = desired.saturating_sub(current) as u64;
        let allowed = self.resize(self.bytes.saturating_add(more));
        self.refused |= !allowed;
        Ok(allowed)
    }

    fn table_growing(&mut self, _current: usize, _desired: usize, _maximum: Option<usize>) -> Result<bool> {
        // The pool bounds tables, and no script can grow one.
        Ok(true)
    }
}

impl Drop for GuestMemory {
    fn drop(&mut self) {
        self.usage.0.guests.fetch_sub(1, Ordering::Relaxed);
        self.resize(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guest_fuel_is_shared_by_all_guests_of_a_run() {
        let usage = RunUsage::new(100, &MemoryAccount::new(0));
        let (mut one, mut other) = (GuestFuel::new(&usage), GuestFuel::new(&usage));
        assert_eq!(one.spent(10), 100);
        assert_eq!(other.spent(30), 90, "the other one used ten");
        assert_eq!(one.spent(5), 70, "it used ten already");
        assert_eq!((usage.fuel(), usage.fuel_left()), (40, 60));
        drop(other);
        assert_eq!(one.spent(90), 70, "what was used stays used");
        one.lost();
        assert_eq!(usage.fuel(), 120 + UNTOLD);
        one.spent(u64::MAX);
        assert_eq!(usage.fuel(), u64::MAX);
    }

    #[test]
    fn guest_can_take_a_value_that_its_memory_could_hold() {
        let usage = RunUsage::new(0, &MemoryAccount::new(100));
        let mut memory = GuestMemory::new(&usage);
        assert!(memory.can_take(0) && memory.can_take(GUEST_OVERHEAD + 100) && !memory.refused());
        assert!(!memory.can_take(GUEST_OVERHEAD + 101) && memory.refused());
        let (mut memory, other) = (GuestMemory::new(&usage), usage.0.memory.charge(60).expect("it fits"));
        assert!(!memory.can_take(GUEST_OVERHEAD + 41));
        drop(other);
        assert!(!memory.can_take(u64::MAX));
    }

    #[test]
    fn guest_memory_is_shared_with_tools_of_the_session() {
        let own = usize::try_from(GUEST_OVERHEAD).expect("some MiB");
        let memory = MemoryAccount::new(100);
        let usage = RunUsage::new(0, &memory);
        let grow = |memory: &mut GuestMemory, from: usize, to: usize| {
            memory.memory_growing(from, to, None).expect("it answers")
        };
        let (mut one, mut other) = (GuestMemory::new(&usage), GuestMemory::new(&usage));
        assert_eq!(usage.guests(), 2);
        assert!(grow(&mut one, 0, own) && grow(&mut one, own, own + 60));
        assert!(!grow(&mut other, 0, own + 41) && other.refused());
        assert!(grow(&mut other, 0, own + 40));
        assert!(!grow(&mut one, own + 60, own + 61), "nothing is left");
        drop(one);
        assert!(grow(&mut other, own + 40, own + 100), "that of the other one is free");
        assert_eq!(usage.guests(), 1);
        assert_eq!(usage.peak(), 2 * GUEST_OVERHEAD + 100);
        drop(other);
        let tools = memory.charge(100).expect("the guests are gone");
        assert!(!grow(&mut GuestMemory::new(&usage), 0, own + 1), "tools have it all");
        drop(tools);
        assert!(grow(&mut GuestMemory::new(&usage), 0, own + 1));
    }
}
