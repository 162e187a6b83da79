//! What the guests of one run use together: fuel, and memory of their session's.
//!
//! **Invariant:** what a guest used stays used when the guest is gone; its memory is free then.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use wasmtime::{ResourceLimiter, Result};

use crate::code::{MemoryAccount, MemoryCharge};

/// What a guest itself takes, on top of what the scripts of its run may use: interpreter, prelude and stack.
const GUEST_OVERHEAD: u64 = 64 << 20;

/// What a guest may use before it says so (`wit/guest.wit`, `fuel`).
const UNTOLD: u64 = 1 << 16;

/// The limits of a run, and what its guests have of them. Clones are the same. One guest of a run executes at a time, so
/// its numbers need no order among each other.
#[derive(Clone)]
pub(crate) struct Together(Arc<Totals>);

struct Totals {
    fuel_limit: u64,
    /// What the guests have beyond what each itself takes, and tools and calls.
    memory: MemoryAccount,
    fuel: AtomicU64,
    /// Bytes of all memories, now and at most.
    bytes: AtomicU64,
    peak: AtomicU64,
    /// How many guests there are.
    guests: AtomicU64,
}

impl Together {
    /// Of a run that begins: with so many units of fuel, and its session's memory.
    pub(crate) fn new(fuel_limit: u64, memory: &MemoryAccount) -> Self {
        let [fuel, bytes, peak, guests] = Default::default();
        Self(Arc::new(Totals { fuel_limit, memory: memory.clone(), fuel, bytes, peak, guests }))
    }

    /// The fuel that was used.
    pub(crate) fn fuel(&self) -> u64 {
        self.0.fuel.load(Ordering::Relaxed)
    }

    /// The fuel that is left.
    pub(super) fn fuel_left(&self) -> u64 {
        self.0.fuel_limit.saturating_sub(self.fuel())
    }

    /// Bytes that the values of all scripts may take.
    pub(super) fn memory_limit(&self) -> u64 {
        self.0.memory.limit()
    }

    /// How many guests there are.
    pub(crate) fn guests(&self) -> u64 {
        self.0.guests.load(Ordering::Relaxed)
    }

    /// The most bytes of memory that the guests had at once.
    pub(crate) fn peak(&self) -> u64 {
        self.0.peak.load(Ordering::Relaxed)
    }
}

/// The fuel of one guest.
pub(super) struct Fuel {
    together: Together,
    used: u64,
}

impl Fuel {
    pub(super) fn new(together: &Together) -> Self {
        Self { together: together.clone(), used: 0 }
    }

    /// It has used so much since it began; what it may use from there on. A guest that says less than before is not
    /// believed.
    pub(super) fn spent(&mut self, used: u64) -> u64 {
        let totals = &self.together.0;
        let more = used.saturating_sub(self.used);
        self.used += more;
        let all = totals.fuel.load(Ordering::Relaxed).saturating_add(more);
        totals.fuel.store(all, Ordering::Relaxed);
        totals.fuel_limit.saturating_sub(all - self.used)
    }

    /// It is gone within a step: what it used of that is not known, but for how much it was at most.
    pub(super) fn lost(&mut self) {
        self.spent(self.used.saturating_add(UNTOLD));
    }
}

/// The memory of one guest, within that of its session. Remembers whether it had to be kept there.
pub(super) struct Memory {
    together: Together,
    bytes: u64,
    /// What it has beyond what each guest itself takes.
    beyond: MemoryCharge,
    refused: bool,
}

impl Memory {
    pub(super) fn new(together: &Together) -> Self {
        together.0.guests.fetch_add(1, Ordering::Relaxed);
        Self { together: together.clone(), bytes: 0, beyond: together.0.memory.open(), refused: false }
    }

    /// Whether the guest may have memory for a value of so many bytes, besides what is there of it already. If not, it wanted
    /// more than it may have.
    pub(super) fn can_take(&mut self, bytes: u64) -> bool {
        // What is left is asked for only when it counts: asking may drop what is kept for speed.
        let can = bytes <= GUEST_OVERHEAD || bytes <= self.bytes.max(GUEST_OVERHEAD).saturating_add(self.left());
        self.refused |= !can;
        can
    }

    /// Whether the guest wanted more than it may have.
    pub(super) fn refused(&self) -> bool {
        self.refused
    }

    /// Bytes that values may take which the guest hands over.
    pub(super) fn left(&self) -> u64 {
        self.together.0.memory.left()
    }

    /// Bytes that it has.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Counts what a guest took before it belonged to the run: less than each guest itself may take.
    pub(super) fn take_over(&mut self, other: &Self) {
        self.resize(other.bytes);
    }

    /// Takes note of a size, if the run may have it.
    fn resize(&mut self, bytes: u64) -> bool {
        if !self.beyond.resize(bytes.saturating_sub(GUEST_OVERHEAD)) {
            return false;
        }
        let totals = &self.together.0;
        let all = totals.bytes.load(Ordering::Relaxed) - self.bytes + bytes;
        totals.bytes.store(all, Ordering::Relaxed);
        totals.peak.fetch_max(all, Ordering::Relaxed);
        self.bytes = bytes;
        true
    }
}

impl ResourceLimiter for Memory {
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

impl Drop for Memory {
    fn drop(&mut self) {
        self.together.0.guests.fetch_sub(1, Ordering::Relaxed);
        self.resize(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fuel_is_one_for_all() {
        let together = Together::new(100, &MemoryAccount::new(0));
        let (mut one, mut other) = (Fuel::new(&together), Fuel::new(&together));
        assert_eq!(one.spent(10), 100);
        assert_eq!(other.spent(30), 90, "the other one used ten");
        assert_eq!(one.spent(5), 70, "it used ten already");
        assert_eq!((together.fuel(), together.fuel_left()), (40, 60));
        drop(other);
        assert_eq!(one.spent(90), 70, "what was used stays used");
        one.lost();
        assert_eq!(together.fuel(), 120 + UNTOLD);
        one.spent(u64::MAX);
        assert_eq!(together.fuel(), u64::MAX);
    }

    #[test]
    fn guest_can_take_a_value_that_its_memory_could_hold() {
        let together = Together::new(0, &MemoryAccount::new(100));
        let mut memory = Memory::new(&together);
        assert!(memory.can_take(0) && memory.can_take(GUEST_OVERHEAD + 100) && !memory.refused());
        assert!(!memory.can_take(GUEST_OVERHEAD + 101) && memory.refused());
        let (mut memory, other) = (Memory::new(&together), together.0.memory.charge(60).expect("it fits"));
        assert!(!memory.can_take(GUEST_OVERHEAD + 41));
        drop(other);
        assert!(!memory.can_take(u64::MAX));
    }

    #[test]
    fn memory_is_one_for_all() {
        let own = usize::try_from(GUEST_OVERHEAD).expect("some MiB");
        let memory = MemoryAccount::new(100);
        let together = Together::new(0, &memory);
        let grow =
            |memory: &mut Memory, from: usize, to: usize| memory.memory_growing(from, to, None).expect("it answers");
        let (mut one, mut other) = (Memory::new(&together), Memory::new(&together));
        assert_eq!(together.guests(), 2);
        assert!(grow(&mut one, 0, own) && grow(&mut one, own, own + 60));
        assert!(!grow(&mut other, 0, own + 41) && other.refused());
        assert!(grow(&mut other, 0, own + 40));
        assert!(!grow(&mut one, own + 60, own + 61), "nothing is left");
        drop(one);
        assert!(grow(&mut other, own + 40, own + 100), "that of the other one is free");
        assert_eq!(together.guests(), 1);
        assert_eq!(together.peak(), 2 * GUEST_OVERHEAD + 100);
        drop(other);
        let tools = memory.charge(100).expect("the guests are gone");
        assert!(!grow(&mut Memory::new(&together), 0, own + 1), "tools have it all");
        drop(tools);
        assert!(grow(&mut Memory::new(&together), 0, own + 1));
    }
}
