//! This instance's memory, as the system has it: pages of 4 KiB, each copied from the image when it is first written to.
//!
//! wasmtime wipes 32 runs of such pages by hand, and gives all others back to the system, so that the next instance faults
//! them in again. So the fewer pages a script writes to, and the closer they lie, the sooner the next one is ready.
#![expect(unsafe_code, reason = "pages, whatever lies in them; and QuickJS's allocator")]

use rquickjs::{Ctx, qjs};

/// Bytes of free heap, all in one piece, that the image holds for the script.
const ROOM: usize = 2 << 20;

/// The sizes of block that the heap's free pieces are taken in, the largest first.
const PIECES: [usize; 18] = [16_384, 4_096, 2_048, 1_024, 512, 256, 192, 128, 96, 80, 64, 56, 48, 40, 32, 24, 16, 8];

/// The largest block that QuickJS takes from an arena, which has blocks of one size only; and by how much the sizes differ
/// at least. Source: `js_arena_malloc` in quickjs.c. Other numbers would cost time and nothing else.
const ARENA_BLOCK: usize = 504;
const ARENA_STEP: usize = 8;

/// Leaves the script one piece of free heap, and takes the holes between what is there: those of the heap, and those of
/// QuickJS's arenas. A script that filled the holes would write to pages all over the image.
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
            // SAFETY: the context lives, and the block is given back or never used.
            let block = unsafe { qjs::js_malloc(ctx.as_raw().as_ptr(), size as qjs::size_t) };
            if block.addr() > edge {
                // SAFETY: it was just given out, and nobody has it.
                unsafe { qjs::js_free(ctx.as_raw().as_ptr(), block) };
                break;
            }
        }
    }
    drop(room);
    // The arenas that scripts take from, side by side.
    for size in sizes {
        // SAFETY: as above.
        unsafe { qjs::js_malloc(ctx.as_raw().as_ptr(), size as qjs::size_t) };
    }
}

/// Writes to these pages, of 4 KiB, what is there.
pub(crate) fn touch(pages: &[u32]) {
    let end = core::arch::wasm32::memory_size::<0>() << 4;
    for page in pages.iter().map(|page| *page as usize).filter(|page| *page < end) {
        let place = std::ptr::with_exposed_provenance_mut::<u8>(page << 12);
        // SAFETY: it is within this memory, and what is read is what is written, at once.
        unsafe { place.write_volatile(place.read_volatile()) };
    }
}
