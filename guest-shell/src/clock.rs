//! Time as the script sees it, and fuel.
//!
//! Both live in one function, [`look`], because bashkit asks its host for the time at each check of its execution
//! budget: once for each command and each round of a loop, and for each bounded piece of a long builtin's work. That
//! makes the number of looks a count of the interpreter's steps, the same in every replay, over everything that runs
//! in the guest: pipeline stages, substitutions and background jobs too. It is the unit of `limits.fuel`. When it is
//! used up, the time reads as the end of time, which bashkit takes for its deadline and stops.

use std::cell::Cell;

use crate::bindings::{clock, fuel};

/// After so many units of fuel the host is told, and says how much there is: its interface asks for that.
const TELL: u64 = 1 << 16;

/// Time of the clock once the fuel is used up: later than any deadline, and no overflow when a duration is added.
const END_OF_TIME: u64 = u64::MAX / 4;

thread_local! {
    /// Flag that a run has begun, so that imports may be called.
    static RUNNING: Cell<bool> = const { Cell::new(false) };
    /// The instant of this step, in microseconds since the Unix epoch, once somebody asked for it.
    static STEP: Cell<Option<u64>> = const { Cell::new(None) };
    /// The clock never reads less than this: a timer that completed has really passed.
    static FLOOR: Cell<u64> = const { Cell::new(0) };
    static USED: Cell<u64> = const { Cell::new(0) };
    static FUEL: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// Says that a run begins: from here on imports may be called.
pub(crate) fn begin_run() {
    RUNNING.set(true);
}

/// Returns true if a run has begun, and false while the image is made.
pub(crate) fn running() -> bool {
    RUNNING.get()
}

/// Says that a step begins: the time is read anew when next asked for.
pub(crate) fn begin_step() {
    STEP.set(None);
}

/// Starts counting fuel at zero.
pub(crate) fn set_fuel(limit: u64) {
    USED.set(0);
    FUEL.set(limit);
}

/// Tells the host of the fuel used so far, and hears how much there is.
pub(crate) fn tell() {
    let used = fuel_used();
    // Others may have used what was left: then this is the end of it.
    FUEL.set(fuel::spent(used).max(used));
}

/// The fuel used so far.
pub(crate) fn fuel_used() -> u64 {
    USED.get().min(FUEL.get())
}

/// The fuel that is left.
pub(crate) fn fuel_left() -> u64 {
    FUEL.get().saturating_sub(USED.get())
}

/// Uses so much fuel at once.
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

/// The instant of this step in microseconds since the Unix epoch; 0 while the image is made, so that no time is read
/// into it. Costs no fuel.
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

/// Takes note that `micros` has passed, whatever the host's clock says.
///
/// The host may round. bashkit's timers compare the clock with their deadline, and one that is a microsecond short
/// would wait for ever.
pub(crate) fn has_passed(micros: u64) {
    FLOOR.set(FLOOR.get().max(micros.min(END_OF_TIME - 1)));
}

/// Returns the time and counts one unit of fuel, for one look of bashkit at the clock.
pub(crate) fn look() -> u64 {
    let used = USED.get().saturating_add(1);
    USED.set(used);
    if RUNNING.get() && used.is_multiple_of(TELL) {
        tell();
    }
    if used > FUEL.get() { END_OF_TIME } else { now_micros() }
}
