//! Begins and cancels operations. Each gives its number, under which the prelude keeps what is to happen then.

use rquickjs::{Ctx, Object, Result, Value};

use super::{add_all, count, number};
use crate::bindings::types::{Operation, StreamRead, ToolCall};
use crate::convert::{self, Purpose};
use crate::text::Text;
use crate::{errors, operations, runtime};

/// Nanoseconds in a millisecond.
const NANOS: f64 = 1_000_000.0;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives,
        "call" => call,
        "read" => read,
        "sleep" => sleep,
        "sleepInBackground" => sleep_in_background,
        "keepAlive" => keep_alive,
        "cancel" => cancel,
        "uncaught" => uncaught,
    )
}

/// Calls a tool with one object.
fn call<'js>(ctx: Ctx<'js>, method: Text, arguments: Value<'js>) -> Result<f64> {
    let Some(arguments) = convert::to_json(&ctx, arguments, Purpose::Arguments)? else {
        return Err(errors::type_error(&ctx, "the arguments have no JSON"));
    };
    if !arguments.starts_with('{') {
        // An object whose `toJSON` gives something else.
        return Err(errors::type_error(&ctx, &format!("{} takes one object, but its JSON is none", method.0)));
    }
    Ok(number(operations::begin(Operation::Call(ToolCall { method: method.0, arguments }))))
}

/// Waits for bytes of a stream.
fn read(stream: u32, limit: u32) -> f64 {
    number(operations::begin(Operation::Read(StreamRead { stream, limit })))
}

/// Waits so many milliseconds.
fn sleep(millis: f64) -> f64 {
    number(operations::begin(Operation::Sleep(count(millis * NANOS))))
}

/// Waits so many milliseconds, but does not keep the script alive for it.
fn sleep_in_background(millis: f64) -> f64 {
    number(operations::begin_in_background(Operation::Sleep(count(millis * NANOS))))
}

/// Whether the script, once at its end, waits for this operation.
fn keep_alive(id: f64, wanted: bool) {
    operations::set_background(count(id), !wanted);
}

fn cancel(id: f64) {
    operations::cancel(count(id));
}

/// Reports an exception that no script code can catch: the script fails with it.
fn uncaught<'js>(ctx: Ctx<'js>, thrown: Value<'js>) {
    runtime::report_uncaught(&ctx, thrown);
}
