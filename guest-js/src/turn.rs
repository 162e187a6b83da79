//! Work of a script between two returns to the host: ticks, microtasks and immediates.
//!
//! The order is Node's: all callbacks of `process.nextTick`, then all microtasks, and again until neither is left. A
//! module, which is itself a microtask, begins with microtasks. Timers and immediates are operations of the host; they
//! are delivered one at a time, and each is a turn. The prelude keeps the queues (`prelude/timers.js`).
#![expect(unsafe_code, reason = "jobs whose exception is wanted")]

use std::cell::{Cell, RefCell};
use std::mem::MaybeUninit;

use rquickjs::{Ctx, Function, Persistent, Result, Value, qjs};

use crate::runtime::Engine;
use crate::{limits, natives, uncaught};

/// Functions of the prelude for a turn.
pub(crate) struct TurnFunctions {
    /// Calls the callbacks of `process.nextTick` until none is left or one of them throws.
    ticks: Persistent<Function<'static>>,
    /// Begins the operations of `setImmediate`.
    immediates: Persistent<Function<'static>>,
    /// Calls the script's handlers for an uncaught value.
    uncaught: Persistent<Function<'static>>,
    /// Notifies the script that a promise has a handler, after it was told that it has none.
    handled: Persistent<Function<'static>>,
    /// Notifies the script that nothing is left to do.
    before_exit: Persistent<Function<'static>>,
}

impl TurnFunctions {
    /// Takes the functions from the prelude by name.
    pub(crate) fn take(take: &dyn Fn(&str) -> Result<Persistent<Function<'static>>>) -> Result<Self> {
        Ok(Self {
            ticks: take("runTicks")?,
            immediates: take("beginImmediates")?,
            uncaught: take("onUncaught")?,
            handled: take("onHandled")?,
            before_exit: take("beforeExit")?,
        })
    }

    /// Calls the script's handlers for an uncaught value. Returns `None` if one of them handled it, and otherwise the
    /// exit status to fail with.
    pub(crate) fn on_uncaught<'js>(
        &self,
        ctx: &Ctx<'js>,
        thrown: Value<'js>,
        promise: Option<Value<'js>>,
    ) -> Result<Option<u8>> {
        self.uncaught.clone().restore(ctx)?.call((thrown, promise))
    }

    /// Notifies the script that a promise has a handler, after it was told that it has none.
    pub(crate) fn on_handled<'js>(&self, ctx: &Ctx<'js>, promise: Value<'js>) -> Result<()> {
        self.handled.clone().restore(ctx)?.call((promise,))
    }

    /// Notifies the script that nothing is left to do.
    pub(crate) fn before_exit(&self, ctx: &Ctx<'_>) -> Result<()> {
        self.before_exit.clone().restore(ctx)?.call(())
    }
}

thread_local! {
    /// True if the queue of `process.nextTick` is not empty.
    static TICKS: Cell<bool> = const { Cell::new(false) };
    /// True if there are immediates whose operations have not begun.
    static IMMEDIATES: Cell<bool> = const { Cell::new(false) };
    /// True if microtasks come before ticks: at the start of a module, or because they were interrupted.
    static MICROTASKS_FIRST: Cell<bool> = const { Cell::new(false) };
    /// Targets of weak references that were created or read in this turn, which must live until its end.
    static HELD: RefCell<Vec<Persistent<Value<'static>>>> = const { RefCell::new(Vec::new()) };
}

/// Records that there are ticks.
pub(crate) fn tick_queued() {
    TICKS.set(true);
}

/// Records that there are immediates.
pub(crate) fn immediate_queued() {
    IMMEDIATES.set(true);
}

/// Keeps a value alive until the turn ends.
pub(crate) fn hold<'js>(ctx: &Ctx<'js>, value: Value<'js>) {
    let value = Persistent::save(ctx, value);
    HELD.with_borrow_mut(|held| held.push(value));
}

/// Makes the next turn begin with microtasks, because the script is a module.
pub(crate) fn begin_with_microtasks() {
    MICROTASKS_FIRST.set(true);
}

/// Begins the operations of immediates, at the end of a turn.
pub(crate) fn begin_immediates(ctx: &Ctx<'_>, engine: &Engine) -> Result<()> {
    if IMMEDIATES.take() { engine.prelude.turn.immediates.clone().restore(ctx)?.call(()) } else { Ok(()) }
}

/// State of a script's immediate work after running it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum JobState {
    /// Everything is done, or an uncaught error must be handled first.
    Done,
    /// The script has written much output, and its reader gets time to consume it.
    Left,
}

/// Runs ticks and microtasks until none is left, the script is stopped, an error is uncaught, or much output was
/// written.
pub(crate) fn run(ctx: &Ctx<'_>, engine: &Engine) -> Result<JobState> {
    loop {
        if !MICROTASKS_FIRST.take() && TICKS.take() {
            engine.prelude.turn.ticks.clone().restore(ctx)?.call::<_, ()>(())?;
            if uncaught::has_thrown() {
                return Ok(JobState::Done);
            }
        }
        if run_microtasks(ctx) == JobState::Left {
            MICROTASKS_FIRST.set(true);
            return Ok(JobState::Left);
        }
        if limits::stopped().is_some() || uncaught::has_thrown() {
            return Ok(JobState::Done);
        }
        if !TICKS.get() {
            HELD.take();
            return Ok(JobState::Done);
        }
    }
}

/// Runs microtasks. An exception of a microtask itself cannot be caught: it means that the script was stopped.
fn run_microtasks(ctx: &Ctx<'_>) -> JobState {
    let context = ctx.as_raw().as_ptr();
    while limits::stopped().is_none() && !uncaught::has_thrown() {
        let mut job_context = MaybeUninit::uninit();
        // SAFETY: the runtime is alive and this thread holds it; there is one context, to which the job belongs.
        let ran = unsafe { qjs::JS_ExecutePendingJob(qjs::JS_GetRuntime(context), job_context.as_mut_ptr()) };
        match ran {
            0 => return JobState::Done,
            1.. if natives::wants_pause() => return JobState::Left,
            1.. => {}
            _ => uncaught::report(ctx, ctx.catch()),
        }
    }
    JobState::Done
}
