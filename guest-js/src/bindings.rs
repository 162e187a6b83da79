//! The Rust side of the world, generated from `wit/`, and the one symbol that QuickJS's C code asks for.
#![expect(unsafe_code, reason = "exports of a component are symbols by fixed names")]

use std::cell::Cell;

wit_bindgen::generate!({ world: "script-guest", path: "../wit" });

pub(crate) use tollhouse::guest::{catalog, clock, files, fuel, output, random, types};

export!(ScriptGuest with_types_in self);

use crate::ScriptGuest;

thread_local! {
    /// Whether a run has begun, so that imports may be called.
    static RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// Says that a run begins: from here on imports may be called.
pub(crate) fn begin_run() {
    RUNNING.set(true);
}

/// The time in microseconds since the Unix epoch, for QuickJS's `Date`. Zero while the image is made, so that no time
/// is read into it.
#[unsafe(no_mangle)]
extern "C" fn __rquickjs_host_now_us() -> f64 {
    if !RUNNING.get() {
        return 0.0;
    }
    let micros = clock::now() / 1_000;
    // Exact until the year 2255: 2^53 microseconds.
    u32::try_from(micros >> 32).map_or(f64::MAX, f64::from) * 4_294_967_296.0
        + f64::from(u32::try_from(micros & 0xFFFF_FFFF).expect("masked to 32 bits"))
}
