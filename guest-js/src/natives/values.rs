//! Information about values that JavaScript code cannot get, or only by running code of the value itself.
#![expect(unsafe_code, reason = "proxies, and the context of what goes on later, which rquickjs does not open")]

use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Object, Result, Value, qjs};

use super::add_pure;
use crate::convert;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_pure!(ctx, natives, "className" => class_name, "promiseState" => promise_state, "isProxy" => is_proxy,
        "setPlain" => convert::set_plain, "proxyTarget" => proxy_target, "proxyHandler" => proxy_handler,
        "asyncContext" => async_context, "setAsyncContext" => set_async_context)
}

unsafe extern "C" {
    /// Returns the value that a patched QuickJS associates with the running code and its continuations.
    fn JS_GetAsyncContext(ctx: *mut qjs::JSContext) -> qjs::JSValue;
    fn JS_SetAsyncContext(ctx: *mut qjs::JSContext, value: qjs::JSValue);
}

/// Returns the class of an object as the engine knows it: `Map`, `Date`, `Promise`, …
fn class_name<'js>(ctx: Ctx<'js>, value: Value<'js>) -> Result<String> {
    convert::class_name(&ctx, &value)
}

/// Returns true if a value is a proxy, which JavaScript could only find out by running the proxy's handler.
fn is_proxy(value: Value<'_>) -> bool {
    value.is_proxy()
}

/// Returns the target of a proxy, or null if the proxy was revoked.
fn proxy_target<'js>(ctx: Ctx<'js>, value: Value<'js>) -> Value<'js> {
    // SAFETY: the value is alive and of this context; the result is owned.
    let target = unsafe { Value::from_raw(ctx.clone(), qjs::JS_GetProxyTarget(ctx.as_raw().as_ptr(), value.as_raw())) };
    null_if_thrown(&ctx, target)
}

/// Returns the handler of a proxy, or null if the proxy was revoked.
fn proxy_handler<'js>(ctx: Ctx<'js>, value: Value<'js>) -> Value<'js> {
    // SAFETY: as for the target.
    let handler =
        unsafe { Value::from_raw(ctx.clone(), qjs::JS_GetProxyHandler(ctx.as_raw().as_ptr(), value.as_raw())) };
    null_if_thrown(&ctx, handler)
}

/// Returns the value that is carried along to jobs and across each `await`; undefined if none was set.
fn async_context(ctx: Ctx<'_>) -> Value<'_> {
    // SAFETY: the context is alive; the result is owned.
    unsafe { Value::from_raw(ctx.clone(), JS_GetAsyncContext(ctx.as_raw().as_ptr())) }
}

/// Sets the value that is carried along from the running code.
fn set_async_context<'js>(ctx: Ctx<'js>, value: Value<'js>) {
    // SAFETY: both are alive; QuickJS takes a reference of its own.
    unsafe { JS_SetAsyncContext(ctx.as_raw().as_ptr(), value.as_raw()) }
}

fn null_if_thrown<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> Value<'js> {
    if value.is_exception() {
        ctx.catch();
        return Value::new_null(ctx.clone());
    }
    value
}

/// Returns `{state, value}` of a promise, where the state is `pending`, `fulfilled` or `rejected`.
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
            // Asking for the result throws the reason, which is intended.
            let _ = promise.result::<Value<'js>>();
            record.set("value", ctx.catch())?;
        }
    }
    Ok(record)
}
