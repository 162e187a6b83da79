//! Rust bindings of the WIT world, generated from `wit/`, and the one symbol that QuickJS's C code needs from Rust.
#![expect(unsafe_code, reason = "exports of a component are symbols by fixed names")]

wit_bindgen::generate!({ world: "script-guest", path: "../wit" });

pub(crate) use tollhouse::guest::{catalog, clock, files, fuel, input, output, random, scripts, types};

export!(ScriptGuest with_types_in self);

use crate::ScriptGuest;
use crate::time;

/// Returns the time in microseconds since the Unix epoch, for QuickJS's `Date`.
#[unsafe(no_mangle)]
extern "C" fn __rquickjs_host_now_us() -> f64 {
    let micros = time::now() / 1_000;
    // Exact until the year 2255: 2^53 microseconds.
    u32::try_from(micros >> 32).map_or(f64::MAX, f64::from) * 4_294_967_296.0
        + f64::from(u32::try_from(micros & 0xFFFF_FFFF).expect("masked to 32 bits"))
}
