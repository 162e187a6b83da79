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

impl ScriptGuest {
    /// Returns the export `touch`, to be called with a parameter of another type.
    pub(super) fn touch_function(&self) -> &wasmtime::component::Func {
        &self.touch
    }
}

pub(super) use self::tollhouse::guest::{catalog, clock, files, fuel, input, output, random, scripts, types};
