//! Rust bindings of `wit/guest.wit`.

wasmtime::component::bindgen!({
    path: "wit",
    world: "script-guest",
    imports: {
        "tollhouse:guest/files.read": trappable,
        "tollhouse:guest/input.read": trappable,
        "tollhouse:guest/output.write": trappable,
        "tollhouse:guest/scripts.run-to-end": trappable,
    },
});

pub(super) use self::tollhouse::guest::{catalog, clock, files, fuel, input, output, random, scripts, types};
