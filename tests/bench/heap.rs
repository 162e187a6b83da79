//! Counts the allocations of this process on request. The memories of guests and tools are mapped, and not part of the
//! heap.

#![expect(unsafe_code, reason = "an allocator is one by an unsafe trait; this one hands on to that of the system")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

#[global_allocator]
static HEAP: CountingAllocator = CountingAllocator;

/// System allocator that counts only while it is asked to, so that other measurements are not slowed down.
struct CountingAllocator;

static COUNTS: AtomicBool = AtomicBool::new(false);
/// Balance of allocated and freed bytes since the count began, and its maximum. The balance is negative if memory from
/// before is freed.
static NOW: AtomicI64 = AtomicI64::new(0);
static MOST: AtomicI64 = AtomicI64::new(0);

fn count(more: usize, less: usize) {
    if COUNTS.load(Ordering::Relaxed) {
        let change = i64::try_from(more).unwrap_or(i64::MAX) - i64::try_from(less).unwrap_or(i64::MAX);
        let now = NOW.fetch_add(change, Ordering::Relaxed) + change;
        MOST.fetch_max(now, Ordering::Relaxed);
    }
}

// SAFETY: each method passes its arguments to the system's allocator, and returns the allocator's result.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: as promised by the caller.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: as promised by the caller.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Returns the largest growth of the heap during some work, in bytes.
pub(crate) fn most_during(work: impl FnOnce()) -> u64 {
    NOW.store(0, Ordering::Relaxed);
    MOST.store(0, Ordering::Relaxed);
    COUNTS.store(true, Ordering::Relaxed);
    work();
    COUNTS.store(false, Ordering::Relaxed);
    u64::try_from(MOST.load(Ordering::Relaxed)).unwrap_or(0)
}
