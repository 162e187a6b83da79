//! The time that a script sees.
//!
//! The host fixes it at each step. Within a step it advances by the fuel that the script uses, so that a loop that waits
//! for a time ends and a duration is not 0, while a replay sees the same times again. It never goes back.

use std::cell::Cell;

use crate::bindings::clock;
use crate::limits;

/// Fuel that stands for a millisecond: about what a plain loop uses in one. It is meant to be too slow rather than too
/// fast, since the host's clock catches up at the next step but cannot wait.
const FUEL_PER_MILLISECOND: u64 = 40_000;

/// Nanoseconds in a millisecond.
const MILLISECOND: u64 = 1_000_000;

/// The clock of the current step.
#[derive(Clone, Copy)]
struct Clock {
    /// When the step began, in nanoseconds since the Unix epoch.
    begun: u64,
    /// The fuel that was used before it.
    fuel: u64,
}

thread_local! {
    /// Returns none while the image is made, so that no time is read into it.
    static CLOCK: Cell<Option<Clock>> = const { Cell::new(None) };
}

/// Takes the host's time for the step that begins.
pub(crate) fn begin_step() {
    let begun = clock::now().max(now());
    CLOCK.set(Some(Clock { begun, fuel: limits::fuel_used() }));
}

/// Takes note of what the clock reads after another script has run within this step.
pub(crate) fn has_passed(until: u64) {
    CLOCK.set(Some(Clock { begun: until.max(now()), fuel: limits::fuel_used() }));
}

/// Nanoseconds since the Unix epoch; 0 before the first step.
pub(crate) fn now() -> u64 {
    CLOCK.get().map_or(0, |clock| {
        let milliseconds = limits::fuel_used().saturating_sub(clock.fuel) / FUEL_PER_MILLISECOND;
        clock.begun.saturating_add(milliseconds.saturating_mul(MILLISECOND))
    })
}
