//! `memcmp` and `bcmp` that compare eight bytes at a time. The compiler's own functions for this target compare single
//! bytes, which takes half of the time of a `sort`.

use std::ffi::c_int;

/// Returns eight bytes as a number with the same order.
///
/// # Safety
///
/// All eight bytes must be readable.
#[expect(unsafe_code, reason = "what C passes are pointers")]
unsafe fn word(bytes: *const u8) -> u64 {
    // SAFETY: guaranteed by the caller.
    u64::from_be(unsafe { bytes.cast::<u64>().read_unaligned() })
}

/// Compares the first `count` bytes of both (C23, 7.26.4.1). The result is negative, positive or 0.
#[expect(unsafe_code, reason = "the symbol that compiled code asks for, on what C passes")]
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(one: *const u8, other: *const u8, count: usize) -> c_int {
    let mut at = 0;
    while count - at >= 8 {
        // SAFETY: C's contract guarantees that `count` bytes of both are readable, which include eight more.
        let (a, b) = unsafe { (word(one.add(at)), word(other.add(at))) };
        if a != b {
            return if a < b { -1 } else { 1 };
        }
        at += 8;
    }
    while at < count {
        // SAFETY: as above, for one.
        let (a, b) = unsafe { (*one.add(at), *other.add(at)) };
        if a != b {
            return c_int::from(a) - c_int::from(b);
        }
        at += 1;
    }
    0
}

/// Returns 0 if the first `count` bytes of both are equal.
#[expect(unsafe_code, reason = "the symbol that compiled code asks for, on what C passes")]
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(one: *const u8, other: *const u8, count: usize) -> c_int {
    // SAFETY: the contract is the same.
    unsafe { memcmp(one, other, count) }
}

/// Rewrites a byte of each of these pages of 4 KiB with its current value.
#[expect(unsafe_code, reason = "pages, whatever lies in them")]
pub(crate) fn touch(pages: &[u32]) {
    let end = core::arch::wasm32::memory_size::<0>() << 4;
    for page in pages.iter().map(|page| *page as usize).filter(|page| *page < end) {
        let place = std::ptr::with_exposed_provenance_mut::<u8>(page << 12);
        // SAFETY: the place is within this memory, and the same value is written immediately.
        unsafe { place.write_volatile(place.read_volatile()) };
    }
}
