//! Allocator with free lists by size, on top of the standard library's allocator. The latter searches for a good fit
//! and merges adjacent free blocks; an interpreter, which allocates and frees the same few sizes all the time, would
//! spend a sixth of its time on that.
//!
//! **Invariant:** a block of a size class is never returned to the standard library's allocator. A class keeps its peak
//! memory until the instance ends with its script.
#![expect(unsafe_code, reason = "an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;

#[global_allocator]
static ALLOCATOR: Lists =
    Lists { free: [const { Cell::new(ptr::null_mut()) }; CLASSES], next: Cell::new(0), end: Cell::new(0) };

/// Alignment of every block, and the step between the sizes of the smallest blocks.
const GRAIN: usize = 16;

/// Largest size up to which there is a class for each multiple of [`GRAIN`].
const FINE: usize = 256;

/// Largest size that has a class; there are four classes for each doubling of the size. Larger blocks come from the
/// standard library.
const LARGEST: usize = 16 << 10;

/// Number of size classes.
const CLASSES: usize = FINE / GRAIN + 4 * (LARGEST / FINE).ilog2() as usize;

/// Size of the regions that small blocks are cut from, in bytes.
const REGION: usize = 16 << 10;

/// Free lists. A free block begins with the address of the next one.
struct Lists {
    free: [Cell<*mut Block>; CLASSES],
    /// Start of the unused part of the current region.
    next: Cell<usize>,
    end: Cell<usize>,
}

struct Block {
    next: *mut Block,
}

// SAFETY: this target has one thread.
unsafe impl Sync for Lists {}

/// Returns the class of a layout and the size of its blocks, or `None` if its blocks come from the standard library.
#[inline]
fn class(layout: Layout) -> Option<(usize, usize)> {
    let size = layout.size();
    if size > LARGEST || layout.align() > GRAIN {
        return None;
    }
    if size <= FINE {
        let index = size.saturating_sub(1) / GRAIN;
        return Some((index, (index + 1) * GRAIN));
    }
    // Sizes from 257 to 512 are 0 doublings beyond `FINE`, in four steps of 64.
    let doublings = ((size - 1) / FINE).ilog2();
    let step = (FINE / 4) << doublings;
    let quarter = (size - 1 - (FINE << doublings)) / step;
    let index = FINE / GRAIN + 4 * doublings as usize + quarter;
    Some((index, (FINE << doublings) + (quarter + 1) * step))
}

impl Lists {
    /// Cuts a block from the region, or from a new one. Returns null if no memory is left.
    #[cold]
    fn cut(&self, size: usize) -> *mut u8 {
        if self.end.get() - self.next.get() < size {
            let bytes = REGION.max(size);
            let Ok(region) = Layout::from_size_align(bytes, GRAIN) else { return ptr::null_mut() };
            // SAFETY: its size is not zero.
            let begin = unsafe { System.alloc(region) } as usize;
            if begin == 0 {
                return ptr::null_mut();
            }
            self.next.set(begin);
            self.end.set(begin + bytes);
        }
        let block = self.next.get();
        self.next.set(block + size);
        block as *mut u8
    }
}

// SAFETY: a block either belongs to a class, which follows from its layout, and is in use or on the list of that class,
// but never both; or it comes from `System` and returns there. All blocks are aligned to `GRAIN`, because regions and
// sizes are.
unsafe impl GlobalAlloc for Lists {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some((class, size)) = class(layout) else { return unsafe { System.alloc(layout) } };
        let block = self.free[class].get();
        if block.is_null() {
            return self.cut(size);
        }
        self.free[class].set(unsafe { (*block).next });
        block.cast()
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some((class, _)) = class(layout) else { return unsafe { System.dealloc(block, layout) } };
        let block: *mut Block = block.cast();
        unsafe { (*block).next = self.free[class].get() };
        self.free[class].set(block);
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if class(layout).is_none() {
            return unsafe { System.alloc_zeroed(layout) };
        }
        let block = unsafe { self.alloc(layout) };
        if !block.is_null() {
            unsafe { block.write_bytes(0, layout.size()) };
        }
        block
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // The caller guarantees that this is a valid layout.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (class(layout), class(wanted)) {
            (None, None) => return unsafe { System.realloc(block, layout, size) },
            (Some(old), Some(new)) if old == new => return block,
            _ => {}
        }
        let new = unsafe { self.alloc(wanted) };
        if !new.is_null() {
            unsafe {
                ptr::copy_nonoverlapping(block, new, layout.size().min(size));
                self.dealloc(block, layout);
            }
        }
        new
    }
}
