//! Detection of a guest's stack overflow, from the address of its memory fault.

use wasmtime::{Error, Trap};

/// Text before the address in wasmtime's error, which has the address as text only.
const FAULT: &str = "memory fault at wasm address 0x";

/// End of the 32-bit address space.
const END: u64 = 1 << 32;

/// Upper bound for the stack frame of a guest's function, in bytes.
const FRAME: u64 = 16 << 20;

/// Returns true if the trap comes from a guest whose own stack is full. That stack lies at the low end of its memory
/// and grows down: an access beyond it is below address 0, which is just below 4 GiB.
pub(super) fn is_overflow(error: &Error) -> bool {
    let trapped = matches!(error.downcast_ref::<Trap>(), Some(Trap::MemoryOutOfBounds));
    trapped && error.chain().find_map(|cause| address(&cause.to_string())).is_some_and(|at| at >= END - FRAME)
}

fn address(text: &str) -> Option<u64> {
    let rest = text.strip_prefix(FAULT)?;
    u64::from_str_radix(rest.split(' ').next()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use wasmtime::{Instance, Module, Store};

    use super::*;

    /// Module with one page of memory, and a function `f` that loads from the address it is given.
    const LOADS: &[u8] = b"\0asm\x01\0\0\0\x01\x06\x01\x60\x01\x7f\x01\x7f\x03\x02\x01\0\x05\x03\x01\0\x01\
        \x07\x05\x01\x01f\0\0\x0a\x09\x01\x07\0\x20\0\x28\x02\0\x0b";

    #[test]
    fn stack_overflow_is_told_from_other_bad_addresses() {
        let engine = tollhouse_engine::guest().expect("this machine runs the engine");
        let module = Module::new(&engine, LOADS).expect("a module");
        let load = |address: i32| {
            let mut store = Store::new(&engine, ());
            store.set_epoch_deadline(1);
            let instance = Instance::new(&mut store, &module, &[]).expect("it has no imports");
            let f = instance.get_typed_func::<i32, i32>(&mut store, "f").expect("it is there");
            f.call(&mut store, address)
        };
        assert_eq!(load(65_532).expect("within"), 0);
        assert!(load(-16).is_err_and(|error| is_overflow(&error)));
        assert!(load(-100_000).is_err_and(|error| is_overflow(&error)));
        assert!(load(70_000).is_err_and(|error| !is_overflow(&error)), "a little above its memory");
        assert!(load(i32::MIN).is_err_and(|error| !is_overflow(&error)), "far from everything");
    }
}
