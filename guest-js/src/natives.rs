//! The functions that the prelude calls, gathered in one object that only the prelude sees.
//!
//! They are thin: each takes plain values, calls one import or one module of this crate, and gives a plain value.
//! What a script sees (names, checks of its arguments, messages) is the prelude's.

mod brotli;
mod cipher;
mod clock;
mod compression;
mod crypto;
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
    crypto::add(ctx, &natives)?;
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

/// A count as a number of JavaScript: exact up to 2^53, then to the nearest.
pub(crate) fn number(count: u64) -> f64 {
    let [high, low] = [count >> 32, count & 0xFFFF_FFFF].map(|half| u32::try_from(half).expect("32 bits"));
    f64::from(high) * 4_294_967_296.0 + f64::from(low)
}

/// A number of JavaScript as a count: cut to whole numbers, below 0 and not-a-number to 0, above to 2^53.
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

/// A whole number from 0 to 2^32 - 1.
fn half(number: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, and within range")]
    let half = number as u32;
    u64::from(half)
}

/// A native that does nothing for a script that was stopped. QuickJS polls its interrupt handler now and then only, and
/// until then an allocation that failed is an exception like any other: what a script does after it has caught that must
/// be without effect.
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

/// Makes a type of this crate a class of QuickJS's. Its values hold none of QuickJS's.
macro_rules! class_without_values {
    ($class:ident, $mutable:ty) => {
        impl<'js> rquickjs::class::Trace<'js> for $class {
            fn trace<'a>(&self, _tracer: rquickjs::class::Tracer<'a, 'js>) {}
        }

        // SAFETY: the type has no values of QuickJS's, so its lifetime is not theirs.
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

/// Adds functions without effects, which a stopped script may still call: some of them report where it was stopped.
macro_rules! add_pure {
    ($ctx:expr, $natives:expr, $($name:literal => $function:expr),+ $(,)?) => {{
        $($natives.set($name, rquickjs::Function::new($ctx.clone(), $function)?.with_name($name)?)?;)+
        Ok(())
    }};
}
pub(crate) use output::wants_pause;
pub(crate) use {add_all, add_pure};
