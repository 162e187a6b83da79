//! Stacks for wasm: threads begin with 2 or 8 MiB, and an overflow would end the process.
//!
//! A thread whose own stack is too small keeps a second one, so that not every step maps and unmaps some MiB.
#![expect(unsafe_code, reason = "giving a stack's memory back")]

use std::cell::Cell;

use corosensei::on_stack;
use corosensei::stack::{DefaultStack, Stack as _};

use super::cpu_scheduler;

/// Stack that the host's own functions use below a guest or tool, in bytes.
const HOST_STACK: usize = 1 << 20;

/// Bytes of a spare stack that stay resident: as much as most steps need.
const KEPT: usize = 256 << 10;

thread_local! {
    /// The thread's spare stack, while nothing runs on it.
    static SPARE: Cell<Option<DefaultStack>> = const { Cell::new(None) };
    /// Lowest address of the spare stack that this thread runs on, if it runs on one.
    static LIMIT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Enters wasm with as much stack as its engine permits, whatever the caller has left. Costs nothing on a thread whose
/// stack is large enough. Frees the run's CPU slot afterwards.
pub(crate) fn with_stack<T>(wasm: usize, enter: impl FnOnce() -> T) -> T {
    let left = with_enough(wasm, enter);
    cpu_scheduler::release();
    left
}

fn with_enough<T>(wasm: usize, enter: impl FnOnce() -> T) -> T {
    if remaining() >= wasm + HOST_STACK {
        return enter();
    }
    // More than was requested: the code that is entered may itself request as much, a little further down.
    let size = wasm + 2 * HOST_STACK;
    let kept = SPARE.take().filter(|stack| stack.base().get() - stack.limit().get() > size);
    let mut stack = kept.unwrap_or_else(|| DefaultStack::new(size).expect("the process can map some MiB"));
    let within = StackGuard(LIMIT.replace(Some(stack.limit().get())));
    let result = on_stack(&mut stack, enter);
    drop(within);
    give_back(&stack);
    SPARE.set(Some(stack));
    result
}

/// Returns the bytes of stack below the current frame.
fn remaining() -> usize {
    let Some(limit) = LIMIT.get() else { return stacker::remaining_stack().unwrap_or(0) };
    let here = 0_u8;
    (&raw const here as usize).saturating_sub(limit)
}

/// Guard of a switched stack: restores the previous limit when it is dropped, also by a panic.
struct StackGuard(Option<usize>);

impl Drop for StackGuard {
    fn drop(&mut self) {
        LIMIT.set(self.0);
    }
}

/// Returns memory of a stack to the system that a deep recursion took.
fn give_back(stack: &DefaultStack) {
    #[cfg(target_os = "linux")]
    {
        let low = stack.limit().get().next_multiple_of(rustix::param::page_size());
        let bytes = (stack.base().get() - KEPT).saturating_sub(low);
        let low = std::ptr::with_exposed_provenance_mut(low);
        // SAFETY: these pages belong to the stack, which is alive, and nothing runs on it: their content is dead. On an
        // error they stay resident, which is harmless.
        let _ = unsafe { rustix::mm::madvise(low, bytes, rustix::mm::Advice::LinuxDontNeed) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (stack, KEPT);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses `kib` KiB of stack and returns the lowest address.
    fn deep(kib: usize) -> usize {
        let frame = std::hint::black_box([0_u8; 1 << 10]);
        if kib == 0 { frame.as_ptr().addr() } else { deep(kib - 1).min(frame.as_ptr().addr()) }
    }

    #[test]
    fn stack_requested_is_available() {
        const WASM: usize = 32 << 20;
        let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(|| {
            assert!(remaining() < 1 << 20);
            let first = with_stack(WASM, || {
                assert!(remaining() >= WASM + HOST_STACK);
                deep(8 << 10)
            });
            assert!(remaining() < 1 << 20);
            let again = with_stack(WASM, || with_stack(WASM, || deep(8 << 10)));
            assert_eq!(first.abs_diff(again) >> 20, 0, "the same stack, and no second one within");
            with_stack(2 * WASM, || assert!(remaining() >= 2 * WASM));
        });
        thread.expect("a thread starts").join().expect("nothing ran off its stack");
    }

    #[test]
    fn panics_pass_and_leave_the_thread_on_its_own_stack() {
        let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(|| {
            let caught = std::panic::catch_unwind(|| with_stack(8 << 20, || panic!("as the test wants it")));
            assert!(caught.is_err() && LIMIT.get().is_none());
            with_stack(8 << 20, || assert!(remaining() > 8 << 20));
        });
        thread.expect("a thread starts").join().expect("nothing ran off its stack");
    }
}
