//! Errors that no part of the script has caught: exceptions of callbacks, and promises that were rejected without a
//! handler.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Persistent, Promise, Result, Value};

use crate::runtime;

/// A value that is kept between steps.
type Kept = Persistent<Value<'static>>;

thread_local! {
    /// True if the main script threw, and one of its handlers took the error.
    static MAIN_THREW: Cell<bool> = const { Cell::new(false) };
    /// Rejected promises without a handler so far, with their reasons, oldest first.
    static REJECTED: RefCell<VecDeque<(Kept, Kept)>> = const { RefCell::new(VecDeque::new()) };
    /// First exception that no code could catch, such as one of a timer's callback.
    static UNCAUGHT: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

/// A thrown value that no part of the script has caught.
pub(crate) struct UncaughtError<'js> {
    pub(crate) thrown: Value<'js>,
    /// The promise that was rejected with the value, unless the value was thrown.
    pub(crate) promise: Option<Value<'js>>,
}

/// Takes the next uncaught value, in the order in which Node would find them. `main` is the promise of the script.
pub(crate) fn next<'js>(ctx: &Ctx<'js>, main: &Promise<'js>) -> Result<Option<UncaughtError<'js>>> {
    if let Some(thrown) = UNCAUGHT.take() {
        return Ok(Some(UncaughtError { thrown: thrown.restore(ctx)?, promise: None }));
    }
    if main.state() == PromiseState::Rejected && !MAIN_THREW.replace(true) {
        let promise = Persistent::save(ctx, main.clone().into_value());
        REJECTED.with_borrow_mut(|rejected| rejected.retain(|(other, _)| *other != promise));
        let _ = main.result::<Value<'_>>();
        return Ok(Some(UncaughtError { thrown: ctx.catch(), promise: None }));
    }
    let first = REJECTED.with_borrow_mut(VecDeque::pop_front);
    first
        .map(|(promise, reason)| {
            Ok(UncaughtError { thrown: reason.restore(ctx)?, promise: Some(promise.restore(ctx)?) })
        })
        .transpose()
}

/// Returns true if the main script has thrown, and [`next`] has returned what it threw.
pub(crate) fn main_threw() -> bool {
    MAIN_THREW.get()
}

/// Returns true if an exception that no code could catch is unhandled.
pub(crate) fn has_thrown() -> bool {
    UNCAUGHT.with_borrow(Option::is_some)
}

/// Records an exception that no code could catch.
pub(crate) fn report<'js>(ctx: &Ctx<'js>, thrown: Value<'js>) {
    UNCAUGHT.with_borrow_mut(|first| {
        first.get_or_insert_with(|| Persistent::save(ctx, thrown));
    });
}

/// Tracker of QuickJS for promises that were rejected without a handler, and for those that get one after all.
pub(crate) fn track_rejection<'js>(ctx: Ctx<'js>, promise: Value<'js>, reason: Value<'js>, handled: bool) {
    let kept = Persistent::save(&ctx, promise.clone());
    let was_told = REJECTED.with_borrow_mut(|rejected| {
        if !handled {
            rejected.push_back((kept, Persistent::save(&ctx, reason)));
            return false;
        }
        let before = rejected.len();
        rejected.retain(|(other, _)| *other != kept);
        rejected.len() == before
    });
    if was_told {
        runtime::tell_handled(&ctx, promise);
    }
}
