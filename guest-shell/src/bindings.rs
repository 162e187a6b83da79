//! Rust bindings of the WIT world, generated from `wit/`, and the two symbols that libraries need from a host.
#![expect(unsafe_code, reason = "exports of a component are symbols by fixed names")]

wit_bindgen::generate!({ world: "script-guest", path: "../wit" });

pub(crate) use tollhouse::guest::{catalog, clock, files, fuel, output, random, types};

export!(ScriptGuest with_types_in self);

use crate::ScriptGuest;

/// Returns the microseconds since the Unix epoch, for bashkit's clocks.
#[unsafe(no_mangle)]
extern "Rust" fn __bashkit_host_now_micros() -> u64 {
    crate::clock::look()
}

/// Largest number of bytes that one call of `random.bytes` may request, by its contract.
const RANDOM_CHUNK: usize = 65_536;

/// Fills a buffer with random bytes, for the crate `getrandom` (0.3 and 0.4).
///
/// While the image is made this function returns an error, so that no random state becomes part of the image.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(dest: *mut u8, len: usize) -> Result<(), getrandom::Error> {
    if !crate::clock::running() {
        return Err(getrandom::Error::UNSUPPORTED);
    }
    // SAFETY: getrandom's contract: `dest` points to `len` writable bytes, which may be uninitialised; they are only
    // written.
    let dest = unsafe { std::slice::from_raw_parts_mut(dest.cast::<std::mem::MaybeUninit<u8>>(), len) };
    for chunk in dest.chunks_mut(RANDOM_CHUNK) {
        let count = u32::try_from(chunk.len()).expect("at most RANDOM_CHUNK");
        let bytes = random::bytes(count);
        if bytes.len() != chunk.len() {
            return Err(getrandom::Error::UNEXPECTED);
        }
        for (to, from) in chunk.iter_mut().zip(bytes) {
            to.write(from);
        }
    }
    Ok(())
}
