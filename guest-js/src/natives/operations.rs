//! Begins and cancels operations. Each function except for `promiseOfCall` returns the number of its operation, under
//! which the prelude registers the continuation.

use rquickjs::{Ctx, Object, Promise, Result, Value};

use super::{add_all, count, number};
use crate::bindings::types::{Operation, StreamRead};
use crate::text::Text;
use crate::{calls, convert, operations, turn, uncaught};

/// Nanoseconds in a millisecond.
const NANOS: f64 = 1_000_000.0;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives,
        "call" => call,
        "promiseOfCall" => promise_of_call,
        "read" => read,
        "sleep" => sleep,
        "sleepInBackground" => sleep_in_background,
        "keepAlive" => keep_alive,
        "cancel" => cancel,
        "uncaught" => uncaught,
        "tickQueued" => turn::tick_queued,
        "immediateQueued" => turn::immediate_queued,
        "hold" => hold,
    )
}

/// Calls a tool with one object. `stack` is the stack trace of the caller.
fn call<'js>(ctx: Ctx<'js>, method: Text, arguments: Value<'js>, stack: Value<'js>) -> Result<f64> {
    calls::begin_operation(&ctx, &method.0, arguments, &stack).map(number)
}

/// Begins a call that cannot be cancelled, and returns its promise; `undefined` if the argument is not a plain object.
fn promise_of_call<'js>(
    ctx: Ctx<'js>,
    method: Text,
    arguments: Value<'js>,
    stack: Value<'js>,
) -> Result<Option<Promise<'js>>> {
    convert::is_plain(&arguments).then(|| calls::begin(&ctx, method.0, arguments, stack)).transpose()
}

/// Begins to wait for bytes of a stream.
fn read(stream: u32, limit: u32) -> f64 {
    number(operations::begin(Operation::Read(StreamRead { stream, limit })))
}

/// Begins a timer.
fn sleep(millis: f64) -> f64 {
    number(operations::begin(Operation::Sleep(count(millis * NANOS))))
}

/// Begins a timer that does not keep the script alive.
fn sleep_in_background(millis: f64) -> f64 {
    number(operations::begin_in_background(Operation::Sleep(count(millis * NANOS))))
}

/// Sets whether an operation keeps a script alive that has otherwise ended.
fn keep_alive(id: f64, wanted: bool) {
    operations::set_background(count(id), !wanted);
}

fn cancel(id: f64) {
    operations::cancel(count(id));
}

/// Reports an exception that no script code can catch: the script fails with it.
fn uncaught<'js>(ctx: Ctx<'js>, thrown: Value<'js>) {
    uncaught::report(&ctx, thrown);
}

/// Keeps a value alive until the turn ends.
fn hold<'js>(ctx: Ctx<'js>, value: Value<'js>) {
    turn::hold(&ctx, value);
}
