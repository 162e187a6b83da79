//! What a script does between two looks at its host: ticks, microtasks, and what it asked to be done at once.
//!
//! The order is Node's: all of `process.nextTick`, then all microtasks, and so on until neither is left; a module, which is
//! itself a microtask, begins with those. Timers and immediates are operations of the host, delivered one at a time, each
//! of which is a turn. What is queued is the prelude's (`prelude/timers.js`).
#![expect(unsafe_code, reason = "jobs whose exception is wanted")]

use std::cell::{Cell, RefCell};
use std::mem::MaybeUninit;

use rquickjs::{Ctx, Function, Persistent, Result, Value, qjs};

use crate::runtime::Engine;
use crate::{limits, natives, uncaught};

/// Functions of the prelude that a turn uses.
pub(crate) struct TurnFunctions {
    /// Calls what `process.nextTick` was given, until nothing is left or one of them throws.
    ticks: Persistent<Function<'static>>,
    /// Begins the operations of `setImmediate`.
    immediates: Persistent<Function<'static>>,
    /// Tells the script's handlers of an uncaught value.
    uncaught: Persistent<Function<'static>>,
    /// Tells the script that nothing is left to do.
    before_exit: Persistent<Function<'static>>,
}

impl TurnFunctions {
    /// Takes them from the prelude by their names there.
    pub(crate) fn take(take: &dyn Fn(&str) -> Result<Persistent<Function<'static>>>) -> Result<Self> {
        Ok(Self {
            ticks: take("runTicks")?,
            immediates: take("beginImmediates")?,
            uncaught: take("onUncaught")?,
            before_exit: take("beforeExit")?,
        })
    }

    /// Tells the script's handlers of an uncaught value. None if one of them took it, else the exit status to fail
    /// with.
    pub(crate) fn on_uncaught<'js>(
        &self,
        ctx: &Ctx<'js>,
        thrown: Value<'js>,
        promise: Option<Value<'js>>,
    ) -> Result<Option<u8>> {
        self.uncaught.clone().restore(ctx)?.call((thrown, promise))
    }

    /// Tells the script that nothing is left to do.
    pub(crate) fn before_exit(&self, ctx: &Ctx<'_>) -> Result<()> {
        self.before_exit.clone().restore(ctx)?.call(())
    }
}

thread_local! {
    /// True if there are ticks.
    static TICKS: Cell<bool> = const { Cell::new(false) };
    /// True if there are immediates whose operations have not begun.
    static IMMEDIATES: Cell<bool> = const { Cell::new(false) };
    /// True if microtasks come before ticks: at the start of a module, or because they were interrupted.
    static MICROTASKS_FIRST: Cell<bool> = const { Cell::new(false) };
    /// Targets of weak references that were made or read in this turn, which live to its end.
    static HELD: RefCell<Vec<Persistent<Value<'static>>>> = const { RefCell::new(Vec::new()) };
}

/// Takes note that there are ticks.
pub(crate) fn tick_queued() {
    TICKS.set(true);
}

/// Takes note that there are immediates.
pub(crate) fn immediate_queued() {
    IMMEDIATES.set(true);
}

/// Keeps a value alive until the turn ends.
pub(crate) fn hold<'js>(ctx: &Ctx<'js>, value: Value<'js>) {
    let value = Persistent::save(ctx, value);
    HELD.with_borrow_mut(|held| held.push(value));
}

/// Has the next turn begin with microtasks: the script is a module.
pub(crate) fn begin_with_microtasks() {
    MICROTASKS_FIRST.set(true);
}

/// Begins the operations of immediates, as the last of a turn.
pub(crate) fn begin_immediates(ctx: &Ctx<'_>, engine: &Engine) -> Result<()> {
    if IMMEDIATES.take() { engine.prelude.turn.immediates.clone().restore(ctx)?.call(()) } else { Ok(()) }
}

/// Work that a script has left to do at once.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum JobState {
    /// Everything is done, or an uncaught error is to be handled first.
    Done,
    /// The script wrote much, and its reader gets time to take it.
    Left,
}

/// Runs ticks and microtasks until none is left, the script is stopped, something is uncaught, or it has written much.
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

/// Runs microtasks. An exception of a microtask cannot be caught: the script was stopped.
fn run_microtasks(ctx: &Ctx<'_>) -> JobState {
    let context = ctx.as_raw().as_ptr();
    while limits::stopped().is_none() && !uncaught::has_thrown() {
        let mut job_context = MaybeUninit::uninit();
        // SAFETY: the runtime is alive and this thread holds it; there is one context, so a job's is ours.
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
