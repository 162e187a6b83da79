//! Clock that a script sees.
//!
//! The host sets it at each step. Within a step it advances with the fuel that the script uses, so that busy waiting
//! ends and durations are not 0, while a replay sees the same times. It never goes backwards.

use std::cell::Cell;

use crate::bindings::clock;
use crate::limits;

/// Fuel that counts as a millisecond: about as much as a plain loop uses in that time. The clock should be too slow
/// rather than too fast, since it catches up with the host's clock at the next step, but cannot wait for it.
const FUEL_PER_MILLISECOND: u64 = 40_000;

/// Nanoseconds in a millisecond.
const MILLISECOND: u64 = 1_000_000;

/// The clock of the current step.
#[derive(Clone, Copy)]
struct Clock {
    /// Start of the step, in nanoseconds since the Unix epoch.
    begun: u64,
    /// Fuel that was used before the step.
    fuel: u64,
}

thread_local! {
    /// Nanoseconds between steps, in which the script waited for something.
    static IDLE: Cell<u64> = const { Cell::new(0) };
    /// The clock; `None` while the image is made, so that no time becomes part of the image.
    static CLOCK: Cell<Option<Clock>> = const { Cell::new(None) };
}

/// Sets the clock to the host's time for the step that begins.
pub(crate) fn begin_step() {
    let ended = now();
    let begun = clock::now().max(ended);
    if CLOCK.get().is_some() {
        IDLE.set(IDLE.get().saturating_add(begun - ended));
    }
    CLOCK.set(Some(Clock { begun, fuel: limits::fuel_used() }));
}

/// Advances the clock after a nested script has run within this step.
pub(crate) fn has_passed(until: u64) {
    CLOCK.set(Some(Clock { begun: until.max(now()), fuel: limits::fuel_used() }));
}

/// Returns the nanoseconds in which the script waited between steps.
pub(crate) fn idle() -> u64 {
    IDLE.get()
}

/// Returns the nanoseconds since the Unix epoch; 0 before the first step.
pub(crate) fn now() -> u64 {
    CLOCK.get().map_or(0, |clock| {
        let milliseconds = limits::fuel_used().saturating_sub(clock.fuel) / FUEL_PER_MILLISECOND;
        clock.begun.saturating_add(milliseconds.saturating_mul(MILLISECOND))
    })
}
