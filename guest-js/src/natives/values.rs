//! What JavaScript cannot find out about a value, or only by running the value's own code.

use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Object, Result, Value};

use super::add_all;
use crate::convert;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives, "className" => class_name, "promiseState" => promise_state, "isProxy" => is_proxy)
}

/// The class that the engine knows an object as: `Map`, `Date`, `Promise`, …
fn class_name<'js>(ctx: Ctx<'js>, value: Value<'js>) -> Result<String> {
    convert::class_name(&ctx, &value)
}

/// Whether a value is a proxy: looking at one runs its handler.
fn is_proxy(value: Value<'_>) -> bool {
    value.is_proxy()
}

/// Of a promise `{state, value}`, where the state is `pending`, `fulfilled` or `rejected`.
fn promise_state<'js>(ctx: Ctx<'js>, value: Value<'js>) -> Result<Object<'js>> {
    let record = Object::new_proto(ctx.clone(), None)?;
    let Some(promise) = value.into_promise() else { return Ok(record) };
    match promise.state() {
        PromiseState::Pending => record.set("state", "pending")?,
        PromiseState::Resolved => {
            record.set("state", "fulfilled")?;
            if let Some(value) = promise.result::<Value<'js>>() {
                record.set("value", value?)?;
            }
        }
        PromiseState::Rejected => {
            record.set("state", "rejected")?;
            // Asking for the result throws the reason, which is what is wanted here.
            let _ = promise.result::<Value<'js>>();
            record.set("value", ctx.catch())?;
        }
    }
    Ok(record)
}
