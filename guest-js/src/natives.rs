//! Functions that the prelude calls, as methods of one object that only the prelude sees.
//!
//! They are thin: each takes plain values, calls one import or one module of this crate, and returns a plain value. The
//! prelude defines what a script sees: names, checks of arguments, messages.

mod brotli;
mod cipher;
mod clock;
mod compression;
mod contexts;
mod crypto;
mod encodings;
mod files;
mod globals;
mod input;
mod locales;
mod operations;
mod output;
mod process;
mod random;
mod scripts;
mod scrypt;
mod text;
mod tools;
mod url;
mod values;
mod zone;

use rquickjs::function::{IntoJsFunc, ParamRequirement, Params};
use rquickjs::{Ctx, Object, Result, Value};

use crate::bindings::types::Tool;
use crate::{errors, limits};

/// Makes the object of natives.
pub(crate) fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let natives = Object::new_proto(ctx.clone(), None)?;
    cipher::add(ctx, &natives)?;
    clock::add(ctx, &natives)?;
    compression::add(ctx, &natives)?;
    contexts::add(ctx, &natives)?;
    crypto::add(ctx, &natives)?;
    encodings::add(ctx, &natives)?;
    files::add(ctx, &natives)?;
    globals::add(ctx, &natives)?;
    input::add(ctx, &natives)?;
    locales::add(ctx, &natives)?;
    operations::add(ctx, &natives)?;
    output::add(ctx, &natives)?;
    process::add(ctx, &natives)?;
    random::add(ctx, &natives)?;
    scripts::add(ctx, &natives)?;
    scrypt::add(ctx, &natives)?;
    text::add(ctx, &natives)?;
    tools::add(ctx, &natives)?;
    url::add(ctx, &natives)?;
    values::add(ctx, &natives)?;
    zone::add(ctx, &natives)?;
    Ok(natives)
}

/// Takes the tools that are mounted in this run.
pub(crate) fn begin_run(tools: Vec<Tool>) {
    tools::begin_run(tools);
}

/// Converts a count to a JavaScript number: exact up to 2^53, rounded beyond.
pub(crate) fn number(count: u64) -> f64 {
    let [high, low] = [count >> 32, count & 0xFFFF_FFFF].map(|half| u32::try_from(half).expect("32 bits"));
    f64::from(high) * 4_294_967_296.0 + f64::from(low)
}

/// Converts a JavaScript number to a count: truncated, with negative numbers and NaN as 0, and at most 2^53.
pub(crate) fn count(number: f64) -> u64 {
    const MAX: f64 = 9_007_199_254_740_992.0;
    let whole = number.clamp(0.0, MAX).trunc();
    if whole.is_nan() {
        return 0;
    }
    let high = (whole / 4_294_967_296.0).trunc();
    let low = whole - high * 4_294_967_296.0;
    (half(high) << 32) | half(low)
}

/// Converts a whole number from 0 to 2^32 - 1.
fn half(number: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, and within range")]
    let half = number as u32;
    u64::from(half)
}

/// Wrapper that makes a native function do nothing once the script is stopped. QuickJS polls its interrupt handler only
/// from time to time. In between, a failed allocation is an exception that the script can catch, and whatever it does
/// then must have no effect.
struct StopGuard<F>(F);

impl<'js, P, F: IntoJsFunc<'js, P>> IntoJsFunc<'js, P> for StopGuard<F> {
    fn param_requirements() -> ParamRequirement {
        F::param_requirements()
    }

    fn call(&self, params: Params<'_, 'js>) -> Result<Value<'js>> {
        if limits::stopped().is_some() {
            return Err(errors::uncatchable(params.ctx(), "the script was stopped"));
        }
        self.0.call(params)
    }
}

/// Registers a type of this crate as a class of QuickJS. Its instances must not hold values of QuickJS.
macro_rules! class_without_values {
    ($class:ident, $mutable:ty) => {
        impl<'js> rquickjs::class::Trace<'js> for $class {
            fn trace<'a>(&self, _tracer: rquickjs::class::Tracer<'a, 'js>) {}
        }

        // SAFETY: the type holds no values of QuickJS, so no lifetime applies to it.
        unsafe impl rquickjs::JsLifetime<'_> for $class {
            type Changed<'to> = $class;
        }

        impl<'js> rquickjs::class::JsClass<'js> for $class {
            const NAME: &'static str = stringify!($class);
            type Mutable = $mutable;

            fn constructor(_ctx: &Ctx<'js>) -> Result<Option<rquickjs::function::Constructor<'js>>> {
                Ok(None)
            }
        }
    };
}
use class_without_values;

/// Adds functions to the object of natives, each under its own name.
macro_rules! add_all {
    ($ctx:expr, $natives:expr, $($name:literal => $function:expr),+ $(,)?) => {
        crate::natives::add_pure!($ctx, $natives, $($name => crate::natives::StopGuard($function)),+)
    };
}

/// Adds functions without effects, which a stopped script may still call: some report where the script was stopped.
macro_rules! add_pure {
    ($ctx:expr, $natives:expr, $($name:literal => $function:expr),+ $(,)?) => {{
        $($natives.set($name, rquickjs::Function::new($ctx.clone(), $function)?.with_name($name)?)?;)+
        Ok(())
    }};
}
pub(crate) use output::wants_pause;
pub(crate) use {add_all, add_pure};
