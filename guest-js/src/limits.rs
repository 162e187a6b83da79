//! Counts fuel and memory of the script, stops the script when one of them is used up, and reports it.
//!
//! Fuel is what QuickJS counts between two calls of its interrupt handler: calls and backward jumps, in units of
//! [`TICK`]. It is therefore the same on every machine and in every replay.
//!
//! Memory is what QuickJS has allocated. An allocation beyond the limit marks the script as stopped, but is granted up
//! to a reserve ([`GRACE`]), because the engine must be able to unwind: it aborts when an allocation fails there.
#![expect(unsafe_code, reason = "an allocator for QuickJS")]

use std::cell::Cell;

use rquickjs::Ctx;
use rquickjs::allocator::{Allocator, RustAllocator};

use crate::bindings::fuel;
use crate::bindings::types::{ErrorKind, Failure, Limits};

/// Fuel that one call of the interrupt handler accounts for: QuickJS's `JS_INTERRUPT_COUNTER_INIT`.
const TICK: u64 = 10_000;

/// Bytes beyond the limit that the engine may still take to unwind.
const GRACE: usize = 4 << 20;

/// Reason why a script was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// The script used all of its fuel.
    Fuel,
    /// The script asked for more memory than it may have.
    Memory,
    /// The script ended itself with this status. That is not a limit, but no code of the script may run any more
    /// either.
    Exit(u8),
}

/// Meter of this run. An instance executes one run, so there is one meter.
struct RunMeter {
    fuel_used: Cell<u64>,
    fuel_limit: Cell<u64>,
    /// True if the script is compiled and not executed: what the prelude does about it is not counted.
    only_compiles: Cell<bool>,
    memory_used: Cell<usize>,
    memory_limit: Cell<usize>,
    stopped: Cell<Option<StopReason>>,
    /// Time at which the running script of a `vm` context ends, in nanoseconds since the Unix epoch.
    deadline: Cell<Option<u64>>,
    /// True if a script of a `vm` context was ended at its deadline.
    timed_out: Cell<bool>,
}

thread_local! {
    static METER: RunMeter = const {
        RunMeter {
            fuel_used: Cell::new(0),
            fuel_limit: Cell::new(u64::MAX),
            only_compiles: Cell::new(false),
            memory_used: Cell::new(0),
            memory_limit: Cell::new(usize::MAX),
            stopped: Cell::new(None),
            deadline: Cell::new(None),
            timed_out: Cell::new(false),
        }
    };
}

/// Sets the limits of the run. Memory that the prelude took before the run does not count. A run without fuel compiles its
/// script all the same, and executes nothing of it.
pub(crate) fn set(limits: Limits) {
    METER.with(|meter| {
        let memory = usize::try_from(limits.memory).unwrap_or(usize::MAX);
        meter.fuel_limit.set(limits.fuel);
        meter.only_compiles.set(limits.fuel == 0);
        meter.memory_limit.set(memory.saturating_add(meter.memory_used.get()));
    });
}

/// Fuel used so far.
pub(crate) fn fuel_used() -> u64 {
    METER.with(|meter| meter.fuel_used.get())
}

/// Returns the bytes allocated for the script's values and for the engine itself.
pub(crate) fn memory_used() -> usize {
    METER.with(|meter| meter.memory_used.get())
}

/// Returns the limit on the bytes of the script's values and the engine, as a JavaScript number.
pub(crate) fn memory_limit_number() -> f64 {
    crate::natives::number(METER.with(|meter| meter.memory_limit.get()) as u64)
}

/// Returns the allocated bytes as a JavaScript number.
pub(crate) fn memory_used_number() -> f64 {
    crate::natives::number(memory_used() as u64)
}

/// Stops the script, unless it was stopped already.
pub(crate) fn stop(why: StopReason) {
    METER.with(|meter| {
        meter.stopped.set(meter.stopped.get().or(Some(why)));
    });
}

/// Lets a script that ended itself run again, and returns its exit status.
pub(crate) fn take_exit() -> Option<u8> {
    let Some(StopReason::Exit(code)) = stopped() else { return None };
    METER.with(|meter| meter.stopped.set(None));
    Some(code)
}

/// Returns the reason why the script was stopped, if it was.
pub(crate) fn stopped() -> Option<StopReason> {
    METER.with(|meter| meter.stopped.get())
}

/// Reports the fuel used so far to the host, and learns the current limit.
pub(crate) fn tell() {
    METER.with(|meter| meter.fuel_limit.set(fuel::spent(meter.fuel_used.get())));
}

/// Counts the work of a script, and returns true if the script must stop. QuickJS calls this interrupt handler only
/// while a script runs, so a call of the host is allowed here.
pub(crate) fn interrupt() -> bool {
    METER.with(|meter| {
        if meter.only_compiles.get() {
            return false;
        }
        let used = meter.fuel_used.get().saturating_add(TICK);
        meter.fuel_used.set(used);
        tell();
        if used > meter.fuel_limit.get() && meter.stopped.get().is_none() {
            meter.stopped.set(Some(StopReason::Fuel));
        }
        meter.stopped.get().is_some() || is_past_deadline()
    })
}

/// Lets the running script of a `vm` context end at a time, or earlier if an outer one does. Returns what to restore.
pub(crate) fn set_deadline(deadline: u64) -> Option<u64> {
    METER.with(|meter| {
        let before = meter.deadline.get();
        meter.deadline.set(Some(before.map_or(deadline, |outer| outer.min(deadline))));
        before
    })
}

/// Restores what was before [`set_deadline`].
pub(crate) fn restore_deadline(before: Option<u64>) {
    METER.with(|meter| meter.deadline.set(before));
}

/// Returns true if a script of a `vm` context was ended at its deadline.
pub(crate) fn has_timed_out() -> bool {
    METER.with(|meter| meter.timed_out.get())
}

/// Returns true once if a script of a `vm` context was ended at its deadline.
pub(crate) fn take_timeout() -> bool {
    METER.with(|meter| meter.timed_out.take())
}

/// Returns true if the running script of a `vm` context must end.
fn is_past_deadline() -> bool {
    METER.with(|meter| {
        let is_past = meter.deadline.get().is_some_and(|deadline| crate::time::now() >= deadline);
        if is_past {
            meter.timed_out.set(true);
        }
        is_past
    })
}

/// Returns the failure that reports a stop. `limits` are those of the run, `stack` is the stack trace of the script.
pub(crate) fn failure(stop: StopReason, limits: Limits, stack: Option<String>) -> Failure {
    let (message, hint) = match stop {
        StopReason::Fuel => (
            format!("the script used up its fuel: limit `fuel` is {} steps (calls and loop turns)", limits.fuel),
            "look for a loop that does not end, or raise `fuel` in the limits of the session",
        ),
        StopReason::Memory => (
            format!("the script ran out of memory: limit `memory` is {}", size(limits.memory)),
            "keep less at a time, or raise `memory` in the limits of the session",
        ),
        StopReason::Exit(code) => {
            return crate::errors::plain(ErrorKind::Exit, "ExitError", &format!("exit status {code}"));
        }
    };
    Failure {
        kind: ErrorKind::Limit,
        name: "LimitError".to_owned(),
        message,
        hint: Some(hint.to_owned()),
        location: stack.as_deref().and_then(crate::errors::location),
        stack,
        payload: None,
    }
}

/// Formats a number of bytes for humans.
fn size(bytes: u64) -> String {
    const MIB: u64 = 1 << 20;
    if bytes >= MIB && bytes.is_multiple_of(MIB) { format!("{} MiB", bytes / MIB) } else { format!("{bytes} bytes") }
}

/// Charge for memory outside of QuickJS's heap that belongs to the script. The charge is released when it is dropped.
pub(crate) struct MemoryCharge(usize);

impl MemoryCharge {
    /// Charges `bytes`, after a garbage collection of cycles if necessary. Returns `None` if the limit does not allow
    /// it, in which case the script is stopped.
    pub(crate) fn new(ctx: &Ctx<'_>, bytes: usize) -> Option<Self> {
        let is_scarce = METER.with(|meter| meter.memory_used.get().saturating_add(bytes) > meter.memory_limit.get());
        if is_scarce {
            ctx.run_gc();
        }
        if !CountingAllocator::admit(bytes) || stopped().is_some() {
            return None;
        }
        METER.with(|meter| meter.memory_used.set(meter.memory_used.get().saturating_add(bytes)));
        Some(Self(bytes))
    }
}

impl Drop for MemoryCharge {
    fn drop(&mut self) {
        CountingAllocator::gave(self.0);
    }
}

/// Rust's allocator, with a count of the bytes in use.
pub(crate) struct CountingAllocator;

impl CountingAllocator {
    /// Returns true if `more` bytes may be allocated. Marks the script as stopped if they exceed its limit.
    fn admit(more: usize) -> bool {
        METER.with(|meter| {
            let wanted = meter.memory_used.get().saturating_add(more);
            let limit = meter.memory_limit.get();
            if wanted <= limit {
                return true;
            }
            if meter.stopped.get().is_none() {
                meter.stopped.set(Some(StopReason::Memory));
            }
            wanted <= limit.saturating_add(GRACE)
        })
    }

    /// Counts an allocated block. Null means that the instance itself is out of memory, which can happen before the
    /// limit is reached: a block that grows exists twice while it is moved. This counts as the limit, too, and is not
    /// an error to catch.
    fn took(block: *mut u8) -> *mut u8 {
        if block.is_null() {
            stop(StopReason::Memory);
        } else {
            // SAFETY: the block was just given out by `RustAllocator`.
            let bytes = unsafe { RustAllocator::usable_size(block) };
            METER.with(|meter| meter.memory_used.set(meter.memory_used.get().saturating_add(bytes)));
        }
        block
    }

    /// Subtracts a block of this size.
    fn gave(bytes: usize) {
        METER.with(|meter| meter.memory_used.set(meter.memory_used.get().saturating_sub(bytes)));
    }
}

// SAFETY: every block comes from `RustAllocator` and goes back to it; counting touches no block.
unsafe impl Allocator for CountingAllocator {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        if !Self::admit(size) {
            return std::ptr::null_mut();
        }
        Self::took(RustAllocator.alloc(size))
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        match count.checked_mul(size) {
            Some(bytes) if Self::admit(bytes) => Self::took(RustAllocator.calloc(count, size)),
            _ => std::ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&mut self, ptr: *mut u8) {
        // SAFETY: the caller gives back a block of this allocator, hence of `RustAllocator`.
        unsafe {
            Self::gave(RustAllocator::usable_size(ptr));
            RustAllocator.dealloc(ptr);
        }
    }

    unsafe fn realloc(&mut self, ptr: *mut u8, new_size: usize) -> *mut u8 {
        // SAFETY: as for `dealloc`; a refused `realloc` leaves the block as it is.
        unsafe {
            let old = RustAllocator::usable_size(ptr);
            if !Self::admit(new_size.saturating_sub(old)) {
                return std::ptr::null_mut();
            }
            let block = RustAllocator.realloc(ptr, new_size);
            if !block.is_null() {
                Self::gave(old);
            }
            Self::took(block)
        }
    }

    unsafe fn usable_size(ptr: *mut u8) -> usize {
        // SAFETY: the caller passes a block of this allocator, hence of `RustAllocator`.
        unsafe { RustAllocator::usable_size(ptr) }
    }
}
