//! Memory of this instance as the operating system manages it: pages of 4 KiB, each of which is copied from the image
//! when it is first written to.
//!
//! Before an instance is reused, wasmtime restores up to 32 runs of changed pages by hand, and returns all others to
//! the system, so that the next instance faults them in again. The fewer pages a script writes to, and the closer
//! together they are, the sooner the next instance is ready.
#![expect(unsafe_code, reason = "pages, whatever lies in them; and QuickJS's allocator")]

use rquickjs::{Ctx, qjs};

/// Size of the free and contiguous piece of heap that the image contains for the script, in bytes.
const ROOM: usize = 2 << 20;

/// Block sizes in which the free pieces of the heap are taken, the largest first.
const PIECES: [usize; 18] = [16_384, 4_096, 2_048, 1_024, 512, 256, 192, 128, 96, 80, 64, 56, 48, 40, 32, 24, 16, 8];

/// Size of the largest block that QuickJS takes from an arena, whose blocks all have the same size, and the least
/// difference between such sizes. Source: `js_arena_malloc` in quickjs.c. Other numbers would only cost time.
const ARENA_BLOCK: usize = 504;
const ARENA_STEP: usize = 8;

/// Leaves one contiguous piece of free heap for the script, and fills the holes between existing blocks of the heap and
/// in QuickJS's arenas. A script that filled those holes would write to pages all over the image.
pub(crate) fn make_room(ctx: &Ctx<'_>) {
    let room = std::hint::black_box(vec![1_u8; ROOM]);
    let edge = room.as_ptr().addr();
    for size in PIECES {
        loop {
            let block: Vec<u8> = std::hint::black_box(Vec::with_capacity(size));
            if block.as_ptr().addr() > edge {
                break;
            }
            std::mem::forget(block);
        }
    }
    let sizes = (ARENA_STEP..=ARENA_BLOCK).step_by(ARENA_STEP);
    for size in sizes.clone() {
        loop {
            // SAFETY: the context is alive, and the block is freed below or never used.
            let block = unsafe { qjs::js_malloc(ctx.as_raw().as_ptr(), size as qjs::size_t) };
            if block.addr() > edge {
                // SAFETY: the block was just allocated, and nothing refers to it.
                unsafe { qjs::js_free(ctx.as_raw().as_ptr(), block) };
                break;
            }
        }
    }
    drop(room);
    // Arenas for the script, next to each other.
    for size in sizes {
        // SAFETY: as above.
        unsafe { qjs::js_malloc(ctx.as_raw().as_ptr(), size as qjs::size_t) };
    }
}

/// Writes to these pages of 4 KiB without changing them.
pub(crate) fn touch(pages: &[u32]) {
    let end = core::arch::wasm32::memory_size::<0>() << 4;
    for page in pages.iter().map(|page| *page as usize).filter(|page| *page < end) {
        let place = std::ptr::with_exposed_provenance_mut::<u8>(page << 12);
        // SAFETY: the address is within this memory, and the value that is read is written back at once.
        unsafe { place.write_volatile(place.read_volatile()) };
    }
}
