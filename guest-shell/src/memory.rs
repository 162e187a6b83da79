//! `memcmp` and `bcmp`, eight bytes at a time. On this target the compiler's own go byte by byte, which is half of the time
//! of a `sort`.

use std::ffi::c_int;

/// Eight bytes as a number that is ordered as they are.
///
/// # Safety
/// All eight can be read.
#[expect(unsafe_code, reason = "what C passes are pointers")]
unsafe fn word(bytes: *const u8) -> u64 {
    // SAFETY: the caller's.
    u64::from_be(unsafe { bytes.cast::<u64>().read_unaligned() })
}

/// Below, above or equal to 0 as the first `count` bytes of one are before, behind or those of the other (C23, 7.26.4.1).
#[expect(unsafe_code, reason = "the symbol that compiled code asks for, on what C passes")]
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(one: *const u8, other: *const u8, count: usize) -> c_int {
    let mut at = 0;
    while count - at >= 8 {
        // SAFETY: C's contract is that `count` bytes can be read of both, and eight more are among those.
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

/// 0 if the first `count` bytes of both are the same.
#[expect(unsafe_code, reason = "the symbol that compiled code asks for, on what C passes")]
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(one: *const u8, other: *const u8, count: usize) -> c_int {
    // SAFETY: the contract is the same.
    unsafe { memcmp(one, other, count) }
}

/// Writes to these pages, of 4 KiB, what is there.
#[expect(unsafe_code, reason = "pages, whatever lies in them")]
pub(crate) fn touch(pages: &[u32]) {
    let end = core::arch::wasm32::memory_size::<0>() << 4;
    for page in pages.iter().map(|page| *page as usize).filter(|page| *page < end) {
        let place = std::ptr::with_exposed_provenance_mut::<u8>(page << 12);
        // SAFETY: it is within this memory, and what is read is what is written, at once.
        unsafe { place.write_volatile(place.read_volatile()) };
    }
}
