//! The engine, and the life of one script in it: made ready once, started once, resumed until it ends.
//!
//! A script is the body of an async function, so that `await` and `return` work at its top level. Between two steps
//! nothing is on the stack: what goes on is in QuickJS's heap and in [`crate::operations`].
//!
//! When a script is over: it returned, and nothing that it began is outstanding any more (as in Node, timers and calls that
//! nobody awaited are waited for); or it threw, or a promise was rejected and nobody handles it; or it called
//! `process.exit`; or a limit was reached; or it waits for what cannot happen.
#![expect(unsafe_code, reason = "evaluation with a line number")]

use std::cell::{Cell, RefCell};
use std::ffi::CString;

use rquickjs::promise::PromiseState;
use rquickjs::{Array, Context, Ctx, Error, Function, Object, Persistent, Promise, Result, Runtime, Value, qjs};

use crate::bindings::types::{
    Completion, ErrorKind, Failure, Limits, Operation, OperationId, Outcome, Script, Step, Value as Completed,
};
use crate::convert::{self, JsonPurpose};
use crate::limits::StopReason;
use crate::source::{self, Dialect};
use crate::text::Text;
use crate::{bytecode, calls, errors, input, limits, memory, modules, natives, operations, turn};

/// Size of the stack on which QuickJS recurses, in bytes: deeper is a `RangeError`. A call takes some 180 bytes, so that
/// functions call themselves as deep as in Node. The guest's whole stack is half a megabyte larger (`build.rs`).
pub(crate) const MAX_STACK: usize = 2 << 20;

/// Bytes that a script allocates before QuickJS first looks for cycles; most end before. (It raises the mark itself later.)
/// Doing so sooner would touch every page of the image, and each is copied when it is first written.
const FIRST_COLLECTION: usize = 8 << 20;

/// The prelude, one function of the natives and the global object. Its files share the function's scope.
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

/// Node's modules, one function of what the prelude lends them. Whatever they do, a script could do itself.
const NODE: &str = concat!(
    "(function (host, globalThis) {\n",
    include_str!("../node/bundle.js"),
    "\nreturn tollhouseNode.default;\n})"
);

/// Name of the prelude in stack traces; its frames are never shown.
const PRELUDE_NAME: &str = "tollhouse:prelude";

/// Name of Node's modules in stack traces.
const NODE_NAME: &str = "tollhouse:node";

/// The engine, ready for a script.
pub(crate) struct Engine {
    context: Context,
    /// Function of the prelude that makes the globals of a run.
    begin: Persistent<Function<'static>>,
    /// Function of the prelude that delivers a completion.
    settle: Persistent<Function<'static>>,
    /// Function of the prelude that makes the error of a failure.
    failure_error: Persistent<Function<'static>>,
    /// Function of the prelude that describes a thrown value.
    describe: Persistent<Function<'static>>,
    /// Function of the prelude that runs the script's work between two turns.
    pub(crate) turn: turn::TurnFunctions,
    /// Function of the prelude that restores the state that another script left.
    find: Persistent<Function<'static>>,
    /// Function of the prelude that writes the state that the script leaves.
    keep: Persistent<Function<'static>>,
    /// Function of the prelude that runs last in a script that has come to its end, and returns its exit status.
    finish: Persistent<Function<'static>>,
    /// Values of the prelude that the text of a main script is called with, if it is a module.
    main_scope: Persistent<Array<'static>>,
    /// Functions of the prelude for an input that a person typed.
    pub(crate) typed: input::InputFunctions,
}

/// Node's exit status of a script whose handler for uncaught exceptions threw.
const HANDLER_THREW: u8 = 7;

/// A value that is kept between steps.
type Kept = Persistent<Value<'static>>;

thread_local! {
    static ENGINE: RefCell<Option<std::result::Result<Engine, String>>> = const { RefCell::new(None) };
    static MAIN: RefCell<Option<Persistent<Promise<'static>>>> = const { RefCell::new(None) };
    /// The name and the text of the script.
    static SCRIPT: RefCell<(String, String)> = const { RefCell::new((String::new(), String::new())) };
    /// True if the script threw, and one of its own handlers took the error.
    static MAIN_THREW: Cell<bool> = const { Cell::new(false) };
    /// The exit status of a script that fails.
    static FAILED_CODE: Cell<u8> = const { Cell::new(1) };
    /// True if the script leaves a state for the next one.
    static KEEPS: Cell<bool> = const { Cell::new(false) };
    static LIMITS: Cell<Limits> = const { Cell::new(Limits { fuel: u64::MAX, memory: u64::MAX }) };
    /// Rejected promises that nobody handles (yet), with their reasons, oldest first.
    static REJECTED: RefCell<Vec<(Kept, Kept)>> = const { RefCell::new(Vec::new()) };
    /// The pause that the script makes.
    static PAUSE: Cell<Option<OperationId>> = const { Cell::new(None) };
    /// The first exception that nobody could catch: of a timer's callback, say.
    static UNCAUGHT: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

/// Makes the engine and evaluates the prelude. What goes wrong is kept for `start` to report.
pub(crate) fn initialize() {
    ENGINE.set(Some(make_engine()));
}

fn make_engine() -> std::result::Result<Engine, String> {
    let [prelude, node] = [bytecode::compile(PRELUDE, PRELUDE_NAME)?, bytecode::compile(NODE, NODE_NAME)?];
    bytecode::wipe();
    let runtime = Runtime::new_with_alloc(limits::CountingAllocator).map_err(|error| error.to_string())?;
    runtime.set_max_stack_size(MAX_STACK);
    runtime.set_host_promise_rejection_tracker(Some(Box::new(track_rejection)));
    let context = Context::full(&runtime).map_err(|error| error.to_string())?;
    let glue = context.with(|ctx| {
        load_prelude(&ctx, &prelude, &node).map_err(|error| {
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
    let PreludeFunctions { begin, settle, failure_error, describe, turn, find, keep, finish, main_scope, typed } = glue;
    Ok(Engine { context, begin, settle, failure_error, describe, turn, find, keep, finish, main_scope, typed })
}

/// Functions of the prelude that the engine keeps.
struct PreludeFunctions {
    begin: Persistent<Function<'static>>,
    settle: Persistent<Function<'static>>,
    failure_error: Persistent<Function<'static>>,
    describe: Persistent<Function<'static>>,
    turn: turn::TurnFunctions,
    find: Persistent<Function<'static>>,
    keep: Persistent<Function<'static>>,
    finish: Persistent<Function<'static>>,
    main_scope: Persistent<Array<'static>>,
    typed: input::InputFunctions,
}

/// Evaluates the prelude, then Node's modules, and takes the prelude's functions.
fn load_prelude(ctx: &Ctx<'_>, prelude: &[u8], node: &[u8]) -> Result<PreludeFunctions> {
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
        main_scope: Persistent::save(ctx, glue.get::<_, Array<'_>>("mainScope")?),
        typed: input::InputFunctions::take(&take)?,
    })
}

/// Runs inside the engine. If the image was made badly, that is the host's error.
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
        let Script { source, name, from_file: _, arguments, environment, directory, tools, limits: _, state, typed } =
            script;
        natives::begin_run(tools);
        let begin = engine.begin.clone().restore(ctx)?;
        let environment: Vec<Vec<String>> = environment.into_iter().map(|(name, value)| vec![name, value]).collect();
        begin.call::<_, ()>((arguments, environment, directory, name.as_str()))?;
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
                // Top-level `await` is something that only modules have.
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
            // An async function throws only if it was stopped.
            Err(NotCompiled::Stopped) => return Ok(failed(thrown_failure(ctx, engine, ctx.catch()))),
        }
        run(ctx, engine)
    })
}

/// The text of the script, if it has this name.
pub(crate) fn script_text(name: Text) -> Option<String> {
    SCRIPT.with_borrow(|(known, source)| (*known == name.0).then(|| source.clone()))
}

/// Runs a script as the body of an async function; gives its promise.
pub(crate) fn call<'js>(
    ctx: &Ctx<'js>,
    engine: &Engine,
    source: &str,
    name: &str,
) -> std::result::Result<Value<'js>, NotCompiled> {
    let main = compile(ctx, source, name)?;
    let called = engine.main_scope.clone().restore(ctx).and_then(|scope| {
        let scope = (scope.get::<Value<'_>>(0)?, scope.get::<Value<'_>>(1)?);
        main.call::<_, Value<'_>>(scope)
    });
    called.map_err(|_| NotCompiled::Stopped)
}

/// Delivers a completion and runs on.
pub(crate) fn resume(completion: Completion) -> Step {
    with_engine(|ctx, engine| {
        let Completion { id, result } = completion;
        let pause = PAUSE.get() == Some(id);
        if pause {
            PAUSE.set(None);
        }
        if operations::complete(id) && !pause {
            let delivered = match calls::take(id) {
                Some(call) => call.settle(ctx, &engine.failure_error, result),
                None => settle(ctx, engine, id, result),
            };
            if delivered.is_err() {
                report_uncaught(ctx, ctx.catch());
            }
        }
        run(ctx, engine)
    })
}

/// Has the prelude deliver what an operation brought.
fn settle(
    ctx: &Ctx<'_>,
    engine: &Engine,
    id: OperationId,
    result: std::result::Result<Completed, Failure>,
) -> Result<()> {
    let (settle, id) = (engine.settle.clone().restore(ctx)?, natives::number(id));
    match result {
        Ok(value) => settle.call((id, true, convert::completed(ctx, value)?)),
        Err(failure) => settle.call((id, false, errors::to_record(ctx, failure)?)),
    }
}

/// Runs turns until the script waits for the host or is over, and says where it stands then.
fn run(ctx: &Ctx<'_>, engine: &Engine) -> Result<Step> {
    let mut drained = false;
    // What the script throws before it waits for anything comes before all that it has queued.
    if main(ctx)?.state() == PromiseState::Rejected
        && UNCAUGHT.with_borrow(Option::is_none)
        && let Some(uncaught) = next_uncaught(ctx)?
        && let Some(step) = answer(ctx, engine, uncaught)
    {
        return Ok(step);
    }
    loop {
        if turn::run(ctx, engine)? == turn::JobState::Left {
            // The host goes on with this script when somebody has taken what it wrote.
            if PAUSE.get().is_none() {
                PAUSE.set(Some(operations::begin_in_background(Operation::Sleep(0))));
            }
            return Ok(Step::Blocked(operations::take_changes()));
        }
        if let Some(uncaught) = next_uncaught(ctx)? {
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
        // Whoever listens for this may begin something new.
        if !std::mem::replace(&mut drained, true) {
            if engine.turn.before_exit(ctx).is_err() {
                report_uncaught(ctx, ctx.catch());
            }
            continue;
        }
        return Ok(returned(ctx, engine, value));
    }
}

/// Returns the value of the script; `None` as long as it has not come to its end.
fn main_value<'js>(ctx: &Ctx<'js>) -> Result<Option<Value<'js>>> {
    if MAIN_THREW.get() {
        return Ok(Some(Value::new_undefined(ctx.clone())));
    }
    main(ctx)?.result::<Value<'_>>().transpose()
}

/// The promise of what the script returns.
fn main<'js>(ctx: &Ctx<'js>) -> Result<Promise<'js>> {
    MAIN.with_borrow(Clone::clone).ok_or(Error::Unknown)?.restore(ctx)
}

/// A thrown value that no part of the script has caught.
struct UncaughtError<'js> {
    thrown: Value<'js>,
    /// The promise that was rejected with it, unless it was thrown.
    promise: Option<Value<'js>>,
}

/// The next uncaught value, in the order in which Node would find them.
fn next_uncaught<'js>(ctx: &Ctx<'js>) -> Result<Option<UncaughtError<'js>>> {
    if let Some(thrown) = UNCAUGHT.take() {
        return Ok(Some(UncaughtError { thrown: thrown.restore(ctx)?, promise: None }));
    }
    let main = main(ctx)?;
    if main.state() == PromiseState::Rejected && !MAIN_THREW.replace(true) {
        let promise = Persistent::save(ctx, main.clone().into_value());
        REJECTED.with_borrow_mut(|rejected| rejected.retain(|(other, _)| *other != promise));
        let _ = main.result::<Value<'_>>();
        return Ok(Some(UncaughtError { thrown: ctx.catch(), promise: None }));
    }
    let first = REJECTED.with_borrow_mut(|rejected| (!rejected.is_empty()).then(|| rejected.remove(0)));
    first
        .map(|(promise, reason)| {
            Ok(UncaughtError { thrown: reason.restore(ctx)?, promise: Some(promise.restore(ctx)?) })
        })
        .transpose()
}

/// Has the script's own handlers deal with an uncaught value. None if they did: the script goes on.
fn answer<'js>(ctx: &Ctx<'js>, engine: &Engine, uncaught: UncaughtError<'js>) -> Option<Step> {
    let UncaughtError { thrown, promise } = uncaught;
    if limits::stopped().is_some() {
        return Some(failed(thrown_failure(ctx, engine, thrown)));
    }
    match engine.turn.on_uncaught(ctx, thrown.clone(), promise) {
        Ok(None) => None,
        Ok(Some(code)) => {
            FAILED_CODE.set(code);
            Some(failed(thrown_failure(ctx, engine, thrown)))
        }
        // A handler threw, or ended the script.
        Err(_) => {
            FAILED_CODE.set(HANDLER_THREW);
            Some(failed(thrown_failure(ctx, engine, ctx.catch())))
        }
    }
}

/// The end of a script that returned a value. Writing it runs its getters, which may throw or use up a limit.
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

/// Lets the script know that it is over, and asks for its exit status. Err: it threw, or was stopped.
fn finish(ctx: &Ctx<'_>, engine: &Engine) -> std::result::Result<u8, ()> {
    if limits::stopped().is_some() {
        return Err(());
    }
    let finish = engine.finish.clone().restore(ctx).map_err(|_| ())?;
    let code = finish.call::<_, u8>(()).map_err(|_| ())?;
    if limits::stopped().is_some() { Err(()) } else { Ok(code) }
}

/// In place of what a script that was stopped would have said.
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

/// The failure that a thrown value is.
fn thrown_failure<'js>(ctx: &Ctx<'js>, engine: &Engine, thrown: Value<'js>) -> Failure {
    match engine.describe.clone().restore(ctx) {
        Ok(describe) => errors::from_thrown(ctx, &describe, thrown),
        Err(error) => host_failure(&error.to_string()),
    }
}

/// Gives a script the state that another one left. Only a script that has it leaves one.
fn find_state(ctx: &Ctx<'_>, engine: &Engine, state: Vec<u8>) -> std::result::Result<(), Failure> {
    let found = String::from_utf8(state).map_err(|_| Error::Unknown).and_then(|text| {
        let find = engine.find.clone().restore(ctx)?;
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

/// Adds the state that a script leaves to how it ended. Writing it runs the script's getters. One that cannot be kept is
/// an error, unless the script failed anyway.
fn keep_state(ctx: &Ctx<'_>, engine: &Engine, mut outcome: Outcome) -> Step {
    // What ended itself may still be asked for what it leaves.
    let exited = limits::take_exit();
    if limits::stopped().is_some() {
        return Step::Finished(outcome);
    }
    let kept = engine.keep.clone().restore(ctx).and_then(|keep| keep.call::<_, String>(()));
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

/// The end of a script that failed. If it reached a limit, then that is why, whatever it made of it; `failure` says
/// where.
fn failed(failure: Failure) -> Step {
    finished(Err(match limits::stopped() {
        Some(StopReason::Exit(0)) => return finished(Ok(None)),
        Some(stop) => limits::failure(stop, LIMITS.get(), failure.stack),
        None => failure,
    }))
}

/// The end of a script.
fn finished(result: std::result::Result<Option<String>, Failure>) -> Step {
    let fuel = limits::fuel_used();
    Step::Finished(match result {
        Ok(value) => Outcome { value, exit_code: 0, error: None, fuel, state: None },
        Err(failure) => Outcome { value: None, exit_code: failed_code(), error: Some(failure), fuel, state: None },
    })
}

/// The exit status of a script that failed.
fn failed_code() -> u8 {
    match limits::stopped() {
        Some(StopReason::Exit(code)) => code,
        Some(_) => 1,
        None => FAILED_CODE.get(),
    }
}

/// Returns true if an exception that nobody could catch has not been dealt with.
pub(crate) fn has_uncaught() -> bool {
    UNCAUGHT.with_borrow(Option::is_some)
}

/// Takes note of an exception that nobody could catch.
pub(crate) fn report_uncaught<'js>(ctx: &Ctx<'js>, thrown: Value<'js>) {
    UNCAUGHT.with_borrow_mut(|first| {
        first.get_or_insert_with(|| Persistent::save(ctx, thrown));
    });
}

/// Tracker of QuickJS for promises that were rejected without a handler, and for those that get one after all.
fn track_rejection<'js>(ctx: Ctx<'js>, promise: Value<'js>, reason: Value<'js>, handled: bool) {
    let promise = Persistent::save(&ctx, promise);
    REJECTED.with_borrow_mut(|rejected| {
        if handled {
            rejected.retain(|(other, _)| *other != promise);
        } else {
            rejected.push((promise, Persistent::save(&ctx, reason)));
        }
    });
}

/// Reason why a script was not begun.
pub(crate) enum NotCompiled {
    /// The text is not TypeScript.
    Source(source::SourceError),
    /// QuickJS did not compile it.
    Engine,
    /// The script was stopped.
    Stopped,
}

/// Compiles a script to an async function whose line and column numbers are the script's own.
fn compile<'js>(ctx: &Ctx<'js>, source: &str, name: &str) -> std::result::Result<Function<'js>, NotCompiled> {
    let source = modules::hide_shebang(source);
    let main = source::main(&source, Dialect::of(name)).map_err(NotCompiled::Source)?;
    if main.as_ref().is_some_and(|main| main.imports.is_some()) {
        turn::begin_with_microtasks();
    }
    let (imports, body) = match &main {
        Some(main) => (main.imports.as_deref(), main.body.as_str()),
        None => (None, &*source),
    };
    // Two lines stand before the script, so that it begins with line 1; a line number of 0 would mean 1 to QuickJS.
    let head = match imports {
        Some(imports) => {
            format!("(async function ({}, {}) {{ 'use strict'; {imports}\n\n", source::IMPORT, source::IMPORT_META)
        }
        None => "(async function () {\n\n".to_owned(),
    };
    let text = [&head, body, "\n})"].concat();
    evaluate(ctx, text.as_bytes(), name, -1).map_err(|_| explain(ctx, &source, body, name))
}

/// Returns the reason why a text did not compile, whose exception is pending. `body` is what of it is JavaScript.
///
/// The body of a function that is written as a module fails at its first `import`, wherever its mistake is. So the text
/// is compiled as a module too, and the error of the reading that went furthest is the one to be told.
pub(crate) fn explain(ctx: &Ctx<'_>, source: &str, body: &str, name: &str) -> NotCompiled {
    let Some(problem) = source::module_problem(source) else {
        explain_body(ctx, body, name, qjs::JS_EVAL_FLAG_ASYNC);
        return NotCompiled::Engine;
    };
    let as_body = ctx.catch();
    let flags = qjs::JS_EVAL_TYPE_MODULE | qjs::JS_EVAL_FLAG_COMPILE_ONLY;
    let compiled = evaluate_raw(ctx, source.as_bytes(), name, 1, flags);
    let as_module = compiled.is_err().then(|| ctx.catch());
    let (body_end, module_end) = (position(&as_body), as_module.as_ref().and_then(position));
    match as_module {
        // A module may not `return`, and the main script may: what is wrong comes later.
        Some(_) if module_end.is_some_and(|(line, _)| (line as usize) < problem.line) => {
            return NotCompiled::Source(problem);
        }
        Some(as_module) if module_end > body_end => ctx.throw(as_module),
        _ => ctx.throw(as_body),
    };
    NotCompiled::Engine
}

/// Replaces the exception of a function whose body does not compile by what is wrong with the body alone: a bracket that the
/// body lacks, or has too many of, pairs with those of the function. The first line of the body is line 1; `kind` is
/// `JS_EVAL_FLAG_ASYNC` for that of an async function, else 0.
pub(crate) fn explain_body(ctx: &Ctx<'_>, body: &str, name: &str, kind: u32) {
    let as_function = ctx.catch();
    let flags = qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_COMPILE_ONLY | kind;
    if evaluate_raw(ctx, body.as_bytes(), name, 1, flags).is_ok() {
        ctx.throw(as_function);
    }
}

/// Returns the line and column of an error.
fn position(error: &Value<'_>) -> Option<(u32, u32)> {
    let stack = error.as_object()?.get::<_, String>("stack").ok()?;
    errors::location(&stack).map(|location| (location.line, location.column))
}

/// Evaluates global code that gives a function.
pub(crate) fn evaluate<'js>(ctx: &Ctx<'js>, source: &[u8], name: &str, first_line: i32) -> Result<Function<'js>> {
    evaluate_raw(ctx, source, name, first_line, qjs::JS_EVAL_TYPE_GLOBAL)?
        .into_function()
        .ok_or_else(|| rquickjs::Exception::throw_syntax(ctx, "unexpected `}`: the script ends early"))
}

/// Evaluates, or with other flags compiles, a text.
pub(crate) fn evaluate_raw<'js>(
    ctx: &Ctx<'js>,
    source: &[u8],
    name: &str,
    first_line: i32,
    flags: u32,
) -> Result<Value<'js>> {
    let name = CString::new(name.replace('\0', "")).expect("its zeros were removed");
    // QuickJS wants a zero behind the text, and lets the text itself hold any.
    let mut text = Vec::with_capacity(source.len() + 1);
    text.extend_from_slice(source);
    text.push(0);
    let mut options = qjs::JSEvalOptions {
        version: 1,
        eval_flags: i32::try_from(flags).expect("a small flag"),
        filename: name.as_ptr(),
        line_num: first_line,
    };
    // SAFETY: text and options outlive the call; the result is owned, and checked before it is used.
    let value = unsafe {
        let length = source.len().try_into().expect("a length in this memory");
        let raw = qjs::JS_Eval2(ctx.as_raw().as_ptr(), text.as_ptr().cast(), length, &raw mut options);
        Value::from_raw(ctx.clone(), raw)
    };
    if value.is_exception() { Err(Error::Exception) } else { Ok(value) }
}
