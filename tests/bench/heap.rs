//! The heap of this process, counted while somebody looks: memories of guests and tools are mapped and no part of it.

#![expect(unsafe_code, reason = "an allocator is one by an unsafe trait; this one hands on to that of the system")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

#[global_allocator]
static HEAP: Counted = Counted;

/// Allocator of the system that counts while it is told to: what is measured besides is not to be slower.
struct Counted;

static COUNTS: AtomicBool = AtomicBool::new(false);
/// Bytes since the count began, and the most of them. Below zero if what was there before is freed.
static NOW: AtomicI64 = AtomicI64::new(0);
static MOST: AtomicI64 = AtomicI64::new(0);

fn count(more: usize, less: usize) {
    if COUNTS.load(Ordering::Relaxed) {
        let change = i64::try_from(more).unwrap_or(i64::MAX) - i64::try_from(less).unwrap_or(i64::MAX);
        let now = NOW.fetch_add(change, Ordering::Relaxed) + change;
        MOST.fetch_max(now, Ordering::Relaxed);
    }
}

// SAFETY: each method hands its arguments on to the system's allocator and returns what that returns.
unsafe impl GlobalAlloc for Counted {
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

/// Returns the most bytes that the heap had at once during some work, beyond what it had before.
pub(crate) fn most_during(work: impl FnOnce()) -> u64 {
    NOW.store(0, Ordering::Relaxed);
    MOST.store(0, Ordering::Relaxed);
    COUNTS.store(true, Ordering::Relaxed);
    work();
    COUNTS.store(false, Ordering::Relaxed);
    u64::try_from(MOST.load(Ordering::Relaxed)).unwrap_or(0)
}
