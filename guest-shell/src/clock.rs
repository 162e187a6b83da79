//! The script's clock, and its fuel.
//!
//! Both are in one function, [`look`], because bashkit asks its host for the time at each check of its execution
//! budget: once for each command and each iteration of a loop, and for each bounded part of a long builtin's work. The
//! number of these checks therefore counts the interpreter's steps, identically in every replay, for everything that
//! runs in the guest, including pipeline stages, substitutions and background jobs. It is the unit of `limits.fuel`.
//! Once the fuel is used up, the clock shows the end of time, which bashkit takes for its deadline and stops.

use std::cell::Cell;

use crate::bindings::{clock, fuel};

/// Number of units of fuel after which the host is informed and returns the current limit, as its interface requires.
const TELL: u64 = 1 << 16;

/// Time of the clock once the fuel is used up: later than any deadline, but small enough to add a duration without
/// overflow.
const END_OF_TIME: u64 = u64::MAX / 4;

thread_local! {
    /// True once a run has begun, so that imports may be called.
    static RUNNING: Cell<bool> = const { Cell::new(false) };
    /// Time of this step in microseconds since the Unix epoch, once it was requested.
    static STEP: Cell<Option<u64>> = const { Cell::new(None) };
    /// Lower bound of the clock, so that the time of a completed timer has really passed.
    static FLOOR: Cell<u64> = const { Cell::new(0) };
    static USED: Cell<u64> = const { Cell::new(0) };
    static FUEL: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// Marks the beginning of a run, after which imports may be called.
pub(crate) fn begin_run() {
    RUNNING.set(true);
}

/// Returns true if a run has begun, and false while the image is made.
pub(crate) fn running() -> bool {
    RUNNING.get()
}

/// Marks the beginning of a step, after which the time is read again on request.
pub(crate) fn begin_step() {
    STEP.set(None);
}

/// Starts counting fuel at zero.
pub(crate) fn set_fuel(limit: u64) {
    USED.set(0);
    FUEL.set(limit);
}

/// Reports the fuel used so far to the host, and learns the current limit.
pub(crate) fn tell() {
    let used = fuel_used();
    // Other guests may have used up the rest of the run's fuel.
    FUEL.set(fuel::spent(used).max(used));
}

/// Returns the fuel used so far.
pub(crate) fn fuel_used() -> u64 {
    USED.get().min(FUEL.get())
}

/// Returns the remaining fuel.
pub(crate) fn fuel_left() -> u64 {
    FUEL.get().saturating_sub(USED.get())
}

/// Uses a number of units of fuel at once.
pub(crate) fn burn(units: u64) {
    let used = USED.get();
    let after = used.saturating_add(units);
    USED.set(after);
    if RUNNING.get() && used / TELL != after / TELL {
        tell();
    }
}

/// Returns true if the script was stopped because its fuel is used up.
pub(crate) fn out_of_fuel() -> bool {
    USED.get() > FUEL.get()
}

/// Returns the time of this step in microseconds since the Unix epoch, without using fuel; 0 while the image is made,
/// so that no time becomes part of it.
pub(crate) fn now_micros() -> u64 {
    if !RUNNING.get() {
        return 0;
    }
    let step = STEP.get().unwrap_or_else(|| {
        let now = clock::now() / 1_000;
        STEP.set(Some(now));
        now
    });
    step.max(FLOOR.get()).min(END_OF_TIME - 1)
}

/// Moves the clock to at least `micros`.
///
/// The host may round its time. bashkit's timers compare the clock with their deadline, and one that is a microsecond
/// short would wait forever.
pub(crate) fn has_passed(micros: u64) {
    FLOOR.set(FLOOR.get().max(micros.min(END_OF_TIME - 1)));
}

/// Returns the time, and uses one unit of fuel for this check of the clock by bashkit.
pub(crate) fn look() -> u64 {
    let used = USED.get().saturating_add(1);
    USED.set(used);
    if RUNNING.get() && used.is_multiple_of(TELL) {
        tell();
    }
    if used > FUEL.get() { END_OF_TIME } else { now_micros() }
}
