//! The clock of this script. `Date` reads the same time through `bindings::__rquickjs_host_now_us`.

use rquickjs::{Ctx, Object, Result};

use super::{add_all, number};
use crate::time;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives, "now" => now, "idle" => idle)
}

/// Returns the milliseconds since the Unix epoch, with a fraction.
fn now() -> f64 {
    milliseconds(time::now())
}

/// Returns the milliseconds in which the script has waited, with a fraction.
fn idle() -> f64 {
    milliseconds(time::idle())
}

fn milliseconds(nanos: u64) -> f64 {
    number(nanos / 1_000_000) + number(nanos % 1_000_000) / 1_000_000.0
}
