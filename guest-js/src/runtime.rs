//! The engine, and the life of one script in it: prepared once, started once, and resumed until it ends.
//!
//! A script is the body of an async function, so that `await` and `return` work at its top level. Between two steps the
//! stack is empty: all state is in QuickJS's heap and in [`crate::operations`].
//!
//! A script ends in one of these ways: it returned and no operation that it began is outstanding (as in Node, timers
//! and calls that nothing awaits are waited for); it threw; a promise was rejected without a handler; it called
//! `process.exit`; it reached a limit; or it waits for something that cannot happen.

use std::cell::{Cell, RefCell};

use rquickjs::function::Args;
use rquickjs::promise::PromiseState;
use rquickjs::{Array, Context, Ctx, Error, Exception, Function, Object, Persistent, Promise, Result, Runtime, Value};

use crate::bindings::types::{
    Completion, ErrorKind, Failure, Limits, Operation, OperationId, Outcome, Script, Step, Value as Completed,
};
use crate::compile::{MainFunction, NotCompiled, compile};
use crate::convert::{self, JsonPurpose};
use crate::limits::StopReason;
use crate::text::Text;
use crate::uncaught::{self, UncaughtError};
use crate::{bytecode, calls, errors, input, limits, memory, modules, natives, operations, turn};

/// Stack size at which QuickJS throws a `RangeError`, in bytes. A call takes some 180 bytes, so that functions can
/// recurse as deep as in Node. The guest's whole stack is half a megabyte larger (`build.rs`).
pub(crate) const MAX_STACK: usize = 2 << 20;

/// Number of bytes that a script allocates before QuickJS first collects cycles; most scripts end before. (QuickJS
/// raises the threshold itself later.) An earlier collection would touch every page of the image, each of which is
/// copied at its first write.
const FIRST_COLLECTION: usize = 8 << 20;

/// Source of the prelude: one function with the natives and the global object as its parameters. The files share the
/// function's scope.
const PRELUDE: &str = concat!(
    "(function (native, globalThis) { 'use strict';\n",
    include_str!("prelude/core.js"),
    include_str!("prelude/language.js"),
    include_str!("prelude/errors.js"),
    include_str!("prelude/inspect.js"),
    include_str!("prelude/inspect-values.js"),
    include_str!("prelude/console.js"),
    include_str!("prelude/operations.js"),
    include_str!("prelude/timers.js"),
    include_str!("prelude/tools.js"),
    include_str!("prelude/fs.js"),
    include_str!("prelude/stdin.js"),
    include_str!("prelude/encoding.js"),
    include_str!("prelude/clone.js"),
    include_str!("prelude/typed.js"),
    include_str!("prelude/state.js"),
    include_str!("prelude/web.js"),
    include_str!("prelude/url.js"),
    include_str!("prelude/modules.js"),
    include_str!("prelude/scripts.js"),
    include_str!("prelude/host.js"),
    include_str!("prelude/begin.js"),
    "\n})"
);

/// Source of Node's modules: one function whose parameter is what the prelude lends to them. They can do nothing that a
/// script could not do itself.
const NODE: &str = concat!(
    "(function (host, globalThis) {\n",
    include_str!("../node/bundle.js"),
    "\nreturn tollhouseNode.default;\n})"
);

/// File name of the prelude in stack traces, whose frames are never shown.
const PRELUDE_NAME: &str = "tollhouse:prelude";

/// File name of Node's modules in stack traces.
const NODE_NAME: &str = "tollhouse:node";

/// Engine that is ready for a script.
pub(crate) struct Engine {
    context: Context,
    pub(crate) prelude: PreludeFunctions,
}

/// Exit status of a script whose handler for uncaught exceptions threw, as in Node.
const HANDLER_THREW: u8 = 7;

thread_local! {
    static ENGINE: RefCell<Option<std::result::Result<Engine, String>>> = const { RefCell::new(None) };
    static MAIN: RefCell<Option<Persistent<Promise<'static>>>> = const { RefCell::new(None) };
    /// Name and text of the script.
    static SCRIPT: RefCell<(String, String)> = const { RefCell::new((String::new(), String::new())) };
    /// Exit status for the case that the script fails.
    static FAILED_CODE: Cell<u8> = const { Cell::new(1) };
    /// True if the script leaves its state for the next one.
    static KEEPS: Cell<bool> = const { Cell::new(false) };
    static LIMITS: Cell<Limits> = const { Cell::new(Limits { fuel: u64::MAX, memory: u64::MAX }) };
    /// Operation of the pause that the script makes after much output.
    static PAUSE: Cell<Option<OperationId>> = const { Cell::new(None) };
}

/// Creates the engine and evaluates the prelude. An error is kept for `start` to report.
pub(crate) fn initialize() {
    ENGINE.set(Some(make_engine()));
}

/// Notifies the script that a promise has a handler that had none when it was rejected.
pub(crate) fn tell_handled<'js>(ctx: &Ctx<'js>, promise: Value<'js>) {
    ENGINE.with_borrow(|engine| {
        let Some(Ok(engine)) = engine else { return };
        if engine.prelude.turn.on_handled(ctx, promise).is_err() {
            // Only a script that is being stopped gets here, and it is stopped at its next step.
            ctx.catch();
        }
    });
}

fn make_engine() -> std::result::Result<Engine, String> {
    let texts = [bytecode::compile(PRELUDE, PRELUDE_NAME)?, bytecode::compile(NODE, NODE_NAME)?];
    bytecode::wipe();
    let runtime = Runtime::new_with_alloc(limits::CountingAllocator).map_err(|error| error.to_string())?;
    runtime.set_max_stack_size(MAX_STACK);
    runtime.set_host_promise_rejection_tracker(Some(Box::new(uncaught::track_rejection)));
    let context = Context::full(&runtime).map_err(|error| error.to_string())?;
    let prelude = context.with(|ctx| {
        load_prelude(&ctx, &texts).map_err(|error| {
            let thrown = ctx.catch();
            match thrown.as_exception() {
                Some(exception) => format!("{exception}"),
                None => error.to_string(),
            }
        })
    })?;
    runtime.run_gc();
    context.with(|ctx| memory::make_room(&ctx));
    runtime.set_gc_threshold(limits::memory_used() + FIRST_COLLECTION);
    runtime.set_interrupt_handler(Some(Box::new(limits::interrupt)));
    Ok(Engine { context, prelude })
}

/// JavaScript functions of the prelude that Rust code calls in each run, kept from the prelude's evaluation on.
pub(crate) struct PreludeFunctions {
    /// Function that makes the globals of a run.
    begin: Persistent<Function<'static>>,
    /// Function that delivers a completion to the promise that waits for it.
    settle: Persistent<Function<'static>>,
    /// Function that makes the JavaScript error of a failed operation.
    failure_error: Persistent<Function<'static>>,
    /// Function that describes a thrown value.
    describe: Persistent<Function<'static>>,
    /// Functions that run the script's work between two turns.
    pub(crate) turn: turn::TurnFunctions,
    /// Restores the state that an earlier script left.
    find: Persistent<Function<'static>>,
    /// Writes the state that the script leaves.
    keep: Persistent<Function<'static>>,
    /// Runs at the end of a script, and returns its exit status.
    finish: Persistent<Function<'static>>,
    /// Returns the value of `this` at the top level of a main script that is not a module.
    main_this: Persistent<Function<'static>>,
    /// Returns the arguments of a main script that is not a module: those of a CommonJS module.
    main_arguments: Persistent<Function<'static>>,
    /// Arguments of the function that a main script becomes if it is a module.
    main_scope: Persistent<Array<'static>>,
    /// Functions for an input that a person typed.
    pub(crate) typed: input::InputFunctions,
}

/// Evaluates the prelude and Node's modules, and takes the functions of the prelude.
fn load_prelude(ctx: &Ctx<'_>, [prelude, node]: &[Vec<u8>; 2]) -> Result<PreludeFunctions> {
    let prelude = bytecode::load(ctx, prelude)?;
    let glue: Object<'_> = prelude.call((natives::object(ctx)?, ctx.globals()))?;
    let node: Value<'_> = bytecode::load(ctx, node)?.call((glue.get::<_, Object<'_>>("host")?, ctx.globals()))?;
    glue.get::<_, Function<'_>>("install")?.call::<_, ()>((node,))?;
    modules::set_up(ctx, glue.get("resolve")?, glue.get("load")?);
    let take = |name: &str| glue.get::<_, Function<'_>>(name).map(|function| Persistent::save(ctx, function));
    Ok(PreludeFunctions {
        begin: take("begin")?,
        settle: take("settle")?,
        failure_error: take("failureError")?,
        describe: take("describe")?,
        turn: turn::TurnFunctions::take(&take)?,
        find: take("findState")?,
        keep: take("keepState")?,
        finish: take("finish")?,
        main_this: take("mainThis")?,
        main_arguments: take("mainArguments")?,
        main_scope: Persistent::save(ctx, glue.get::<_, Array<'_>>("mainScope")?),
        typed: input::InputFunctions::take(&take)?,
    })
}

/// Runs `work` inside the engine. A broken image is reported as an error of the host.
fn with_engine(work: impl FnOnce(&Ctx<'_>, &Engine) -> Result<Step>) -> Step {
    ENGINE.with_borrow(|engine| match engine {
        Some(Ok(engine)) => engine.context.with(|ctx| {
            let step = work(&ctx, engine).unwrap_or_else(|error| {
                let why = ctx.catch();
                let why = why.as_exception().map_or_else(|| error.to_string(), |exception| exception.to_string());
                failed(host_failure(&why))
            });
            match step {
                Step::Finished(outcome) if KEEPS.get() => keep_state(&ctx, engine, outcome),
                step => step,
            }
        }),
        Some(Err(why)) => failed(host_failure(why)),
        None => failed(host_failure("the guest was not initialised")),
    })
}

fn host_failure(why: &str) -> Failure {
    errors::plain(ErrorKind::Host, "InternalError", &format!("the JavaScript guest failed: {why}"))
}

/// Starts the script of this instance.
pub(crate) fn start(script: Script) -> Step {
    with_engine(|ctx, engine| {
        LIMITS.set(script.limits);
        limits::set(script.limits);
        let Script { source, name, from_file, arguments, environment, directory, tools, limits: _, state, typed } =
            script;
        natives::begin_run(tools);
        let begin = engine.prelude.begin.clone().restore(ctx)?;
        let environment: Vec<Vec<String>> = environment.into_iter().map(|(name, value)| vec![name, value]).collect();
        // A nested script from a file (`node FILE`) has the file's path as its name. A script that is not a file has no
        // path in its name.
        let is_file = from_file || name.starts_with('/') && !name.ends_with(']');
        begin.call::<_, ()>((arguments, environment, directory, name.as_str(), is_file))?;
        if let Some(typed) = typed {
            input::begin(ctx, engine, typed)?;
        }
        if let Some(state) = state
            && let Err(failure) = find_state(ctx, engine, state)
        {
            return Ok(failed(failure));
        }
        SCRIPT.replace((name.clone(), source.clone()));
        let main = match typed {
            Some(_) => input::evaluate(ctx, engine, &source, &name),
            None => call(ctx, engine, &source, &name),
        };
        drop(source);
        match main.map(Value::into_promise) {
            Ok(Some(promise)) => {
                // Top-level `await` is only allowed in modules.
                if promise.state() == PromiseState::Pending {
                    turn::begin_with_microtasks();
                }
                MAIN.set(Some(Persistent::save(ctx, promise)));
            }
            Ok(None) => return Ok(failed(host_failure("the script did not become a promise"))),
            Err(NotCompiled::Source(problem)) => return Ok(failed(errors::from_problem(problem, &name))),
            Err(NotCompiled::Engine) => {
                let mut failure = thrown_failure(ctx, engine, ctx.catch());
                failure.kind = ErrorKind::Syntax;
                return Ok(failed(failure));
            }
            // An async function throws synchronously only if it was stopped.
            Err(NotCompiled::Stopped) => return Ok(failed(thrown_failure(ctx, engine, ctx.catch()))),
        }
        run(ctx, engine)
    })
}

/// Returns the text of the script if it has this name.
pub(crate) fn script_text(name: Text) -> Option<String> {
    SCRIPT.with_borrow(|(known, source)| (*known == name.0).then(|| source.clone()))
}

/// Runs a script as the body of an async function, and returns its promise.
pub(crate) fn call<'js>(
    ctx: &Ctx<'js>,
    engine: &Engine,
    source: &str,
    name: &str,
) -> std::result::Result<Value<'js>, NotCompiled> {
    let MainFunction { main, is_module } = compile(ctx, source, name)?;
    if LIMITS.get().fuel == 0 {
        limits::stop(StopReason::Fuel);
        let _ = Exception::throw_message(ctx, "no fuel");
        return Err(NotCompiled::Stopped);
    }
    call_main(ctx, engine, &main, is_module).map_err(|_| NotCompiled::Stopped)
}

/// Calls a main script with the `this` and the arguments that Node gives to a module of its kind.
fn call_main<'js>(ctx: &Ctx<'js>, engine: &Engine, main: &Function<'js>, is_module: bool) -> Result<Value<'js>> {
    let (this, values) = if is_module {
        (Value::new_undefined(ctx.clone()), engine.prelude.main_scope.clone().restore(ctx)?)
    } else {
        let this = engine.prelude.main_this.clone().restore(ctx)?.call::<_, Value<'_>>(())?;
        (this, engine.prelude.main_arguments.clone().restore(ctx)?.call::<_, Array<'_>>(())?)
    };
    let mut arguments = Args::new(ctx.clone(), values.len());
    arguments.this(this)?;
    for value in values.iter::<Value<'_>>() {
        arguments.push_arg(value?)?;
    }
    arguments.apply(main)
}

/// Delivers a completion and continues the script.
pub(crate) fn resume(completion: Completion) -> Step {
    with_engine(|ctx, engine| {
        let Completion { id, result } = completion;
        let pause = PAUSE.get() == Some(id);
        if pause {
            PAUSE.set(None);
        }
        if operations::complete(id) && !pause {
            let delivered = match calls::take(id) {
                Some(call) => call.settle(ctx, &engine.prelude.failure_error, result),
                None => settle(ctx, engine, id, result),
            };
            if delivered.is_err() {
                uncaught::report(ctx, ctx.catch());
            }
        }
        run(ctx, engine)
    })
}

/// Delivers the result of an operation through the prelude.
fn settle(
    ctx: &Ctx<'_>,
    engine: &Engine,
    id: OperationId,
    result: std::result::Result<Completed, Failure>,
) -> Result<()> {
    let (settle, id) = (engine.prelude.settle.clone().restore(ctx)?, natives::number(id));
    match result {
        Ok(value) => settle.call((id, true, convert::completed(ctx, value)?)),
        Err(failure) => settle.call((id, false, errors::to_record(ctx, failure)?)),
    }
}

/// Runs turns until the script waits for the host or has ended, and returns the corresponding step.
fn run(ctx: &Ctx<'_>, engine: &Engine) -> Result<Step> {
    let mut drained = false;
    // An exception of the script's first synchronous part precedes everything that the script has queued.
    if main(ctx)?.state() == PromiseState::Rejected
        && !uncaught::has_thrown()
        && let Some(uncaught) = uncaught::next(ctx, &main(ctx)?)?
        && let Some(step) = answer(ctx, engine, uncaught)
    {
        return Ok(step);
    }
    loop {
        if turn::run(ctx, engine)? == turn::JobState::Left {
            // The host resumes this script once the reader has consumed its output.
            if PAUSE.get().is_none() {
                PAUSE.set(Some(operations::begin_in_background(Operation::Sleep(0))));
            }
            return Ok(Step::Blocked(operations::take_changes()));
        }
        if let Some(uncaught) = uncaught::next(ctx, &main(ctx)?)? {
            match answer(ctx, engine, uncaught) {
                Some(step) => return Ok(step),
                None => continue,
            }
        }
        if limits::stopped().is_some() {
            return Ok(failed(stopped_failure()));
        }
        turn::begin_immediates(ctx, engine)?;
        let Some(value) = main_value(ctx)? else {
            if operations::none_outstanding() {
                return Ok(failed(deadlock()));
            }
            return Ok(Step::Blocked(operations::take_changes()));
        };
        let value = match input::shown(ctx, engine, value) {
            Ok(value) => value,
            Err(_) => return Ok(failed(thrown_failure(ctx, engine, ctx.catch()))),
        };
        if !operations::only_background() {
            return Ok(Step::Blocked(operations::take_changes()));
        }
        // A listener for the end (`beforeExit`) may begin new operations.
        if !std::mem::replace(&mut drained, true) {
            if engine.prelude.turn.before_exit(ctx).is_err() {
                uncaught::report(ctx, ctx.catch());
            }
            continue;
        }
        return Ok(returned(ctx, engine, value));
    }
}

/// Returns the value of the script, or `None` as long as it has not returned.
fn main_value<'js>(ctx: &Ctx<'js>) -> Result<Option<Value<'js>>> {
    if uncaught::main_threw() {
        return Ok(Some(Value::new_undefined(ctx.clone())));
    }
    main(ctx)?.result::<Value<'_>>().transpose()
}

/// Returns the promise of the main script.
fn main<'js>(ctx: &Ctx<'js>) -> Result<Promise<'js>> {
    MAIN.with_borrow(Clone::clone).ok_or(Error::Unknown)?.restore(ctx)
}

/// Lets the script's own handlers deal with an uncaught value. Returns `None` if they did, and the script continues.
fn answer<'js>(ctx: &Ctx<'js>, engine: &Engine, uncaught: UncaughtError<'js>) -> Option<Step> {
    let UncaughtError { thrown, promise } = uncaught;
    if limits::stopped().is_some() {
        return Some(failed(thrown_failure(ctx, engine, thrown)));
    }
    match engine.prelude.turn.on_uncaught(ctx, thrown.clone(), promise) {
        Ok(None) => None,
        Ok(Some(code)) => {
            FAILED_CODE.set(code);
            Some(failed(thrown_failure(ctx, engine, thrown)))
        }
        // The handler threw, or ended the script.
        Err(_) => {
            FAILED_CODE.set(HANDLER_THREW);
            Some(failed(thrown_failure(ctx, engine, ctx.catch())))
        }
    }
}

/// Ends a script that returned a value. Writing the value runs its getters, which may throw or exceed a limit.
fn returned<'js>(ctx: &Ctx<'js>, engine: &Engine, value: Value<'js>) -> Step {
    match convert::to_json(ctx, value, JsonPurpose::Outcome) {
        Ok(json) => match finish(ctx, engine) {
            Ok(0) => finished(Ok(json)),
            Ok(code) => {
                limits::stop(StopReason::Exit(code));
                failed(stopped_failure())
            }
            Err(()) => failed(thrown_failure(ctx, engine, ctx.catch())),
        },
        Err(_) => {
            let mut failure = thrown_failure(ctx, engine, ctx.catch());
            failure.message = format!("the returned value has no JSON: {}", failure.message);
            failed(failure)
        }
    }
}

/// Notifies the script of its end, and returns its exit status. An error means that the script threw or was stopped.
fn finish(ctx: &Ctx<'_>, engine: &Engine) -> std::result::Result<u8, ()> {
    if limits::stopped().is_some() {
        return Err(());
    }
    let finish = engine.prelude.finish.clone().restore(ctx).map_err(|_| ())?;
    let code = finish.call::<_, u8>(()).map_err(|_| ())?;
    if limits::stopped().is_some() { Err(()) } else { Ok(code) }
}

/// Returns the failure of a stopped script, in place of what it would have reported itself.
fn stopped_failure() -> Failure {
    host_failure("it was stopped")
}

fn deadlock() -> Failure {
    let mut failure = errors::plain(
        ErrorKind::Deadlock,
        "DeadlockError",
        "the script waits for a promise that nothing can settle: no call, timer or read is outstanding",
    );
    failure.hint = Some("look for an `await` of a `new Promise` whose `resolve` is never called".to_owned());
    failure
}

/// Converts a thrown value to a failure.
fn thrown_failure<'js>(ctx: &Ctx<'js>, engine: &Engine, thrown: Value<'js>) -> Failure {
    match engine.prelude.describe.clone().restore(ctx) {
        Ok(describe) => errors::from_thrown(ctx, &describe, thrown),
        Err(error) => host_failure(&error.to_string()),
    }
}

/// Restores the state of an earlier script. Only a script that was given a state leaves one.
fn find_state(ctx: &Ctx<'_>, engine: &Engine, state: Vec<u8>) -> std::result::Result<(), Failure> {
    let found = String::from_utf8(state).map_err(|_| Error::Unknown).and_then(|text| {
        let find = engine.prelude.find.clone().restore(ctx)?;
        find.call::<_, ()>((text,))
    });
    found.map_err(|_| {
        let _ = ctx.catch();
        let mut failure = host_failure("the state that an earlier script left cannot be read");
        failure.hint = Some("roll the session back to a run before, or run without its state".to_owned());
        failure
    })?;
    KEEPS.set(true);
    Ok(())
}

/// Adds the state that a script leaves to its outcome. Writing the state runs getters of the script. A state that
/// cannot be written is an error, unless the script failed anyway.
fn keep_state(ctx: &Ctx<'_>, engine: &Engine, mut outcome: Outcome) -> Step {
    // A script that ended itself may still be asked for the state that it leaves.
    let exited = limits::take_exit();
    if limits::stopped().is_some() {
        return Step::Finished(outcome);
    }
    let kept = engine.prelude.keep.clone().restore(ctx).and_then(|keep| keep.call::<_, String>(()));
    if let Some(code) = exited {
        limits::stop(StopReason::Exit(code));
    }
    match kept {
        Ok(state) => outcome.state = Some(state.into_bytes()),
        Err(_) => {
            let mut failure = thrown_failure(ctx, engine, ctx.catch());
            if outcome.error.is_none() || limits::stopped().is_some() {
                failure.message = format!("`state` cannot be kept: {}", failure.message);
                return failed(failure);
            }
        }
    }
    outcome.fuel = limits::fuel_used();
    Step::Finished(outcome)
}

/// Ends a script that failed. If it reached a limit, that is reported as the reason, whatever the script made of it;
/// `failure` provides the place.
fn failed(failure: Failure) -> Step {
    finished(Err(match limits::stopped() {
        Some(StopReason::Exit(0)) => return finished(Ok(None)),
        Some(stop) => limits::failure(stop, LIMITS.get(), failure.stack),
        None => failure,
    }))
}

/// Returns the last step of a run, with the value or the failure that the script ended with.
fn finished(result: std::result::Result<Option<String>, Failure>) -> Step {
    let fuel = limits::fuel_used();
    Step::Finished(match result {
        Ok(value) => Outcome { value, exit_code: 0, error: None, fuel, state: None },
        Err(failure) => Outcome { value: None, exit_code: failed_code(), error: Some(failure), fuel, state: None },
    })
}

/// Returns the exit status of a script that failed.
fn failed_code() -> u8 {
    match limits::stopped() {
        Some(StopReason::Exit(code)) => code,
        Some(_) => 1,
        None => FAILED_CODE.get(),
    }
}
