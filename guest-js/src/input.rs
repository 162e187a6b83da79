//! Inputs of an interactive session: global code whose last value is displayed, and whose declarations are kept for the
//! next input. What is kept and how is decided by the prelude (`prelude/typed.js`).

use std::cell::Cell;

use rquickjs::{Ctx, Function, Object, Persistent, Result, Value, qjs};

use crate::bindings::types::Typed;
use crate::compile::{self, NotCompiled};
use crate::runtime::{self, Engine};
use crate::source::{self, Dialect, NotGlobalCode, TypedDeclaration, ValueOrigin};

/// Functions of the prelude that handle an input.
pub(crate) struct InputFunctions {
    /// Records that the script is an input.
    begin: Persistent<Function<'static>>,
    /// Records the declarations of the input.
    declare: Persistent<Function<'static>>,
    /// Returns true if earlier inputs left imports, which must be made again.
    has_imports: Persistent<Function<'static>>,
    /// Displays the value of the input.
    show: Persistent<Function<'static>>,
}

impl InputFunctions {
    /// Takes the functions from the prelude by name.
    pub(crate) fn take(take: &dyn Fn(&str) -> Result<Persistent<Function<'static>>>) -> Result<Self> {
        Ok(Self {
            begin: take("beginTyped")?,
            declare: take("declareTyped")?,
            has_imports: take("hasImports")?,
            show: take("showTyped")?,
        })
    }
}

/// State of displaying the value of an input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PendingDisplay {
    /// The script is not an input, or its value was displayed already.
    Nothing,
    /// The value is wrapped in an object, as global code returns it.
    Wrapped,
    /// The value is not wrapped, as a function returns it.
    Plain,
}

thread_local! {
    static TYPED: Cell<bool> = const { Cell::new(false) };
    static SHOWS: Cell<PendingDisplay> = const { Cell::new(PendingDisplay::Nothing) };
}

/// Begins an input, before the declarations of earlier inputs are restored.
pub(crate) fn begin(ctx: &Ctx<'_>, engine: &Engine, typed: Typed) -> Result<()> {
    TYPED.set(true);
    engine.prelude.typed.begin.clone().restore(ctx)?.call((typed.colors,))
}

/// Runs an input, and returns its promise.
pub(crate) fn evaluate<'js>(
    ctx: &Ctx<'js>,
    engine: &Engine,
    source: &str,
    name: &str,
) -> std::result::Result<Value<'js>, NotCompiled> {
    let input = match source::input(source, Dialect::of(name)) {
        Ok(input) => input,
        Err(NotGlobalCode::Returns) => {
            SHOWS.set(PendingDisplay::Plain);
            return runtime::call(ctx, engine, source, name);
        }
        // QuickJS reports errors in JavaScript itself, and accepts some texts that are not valid in a module.
        Err(NotGlobalCode::Plain) => {
            source::TypedInput { imports: String::new(), text: source.to_owned(), declared: Vec::new() }
        }
        Err(NotGlobalCode::SourceError(problem)) => return Err(NotCompiled::Source(problem)),
    };
    SHOWS.set(PendingDisplay::Wrapped);
    let again = declare(ctx, engine, &input.declared).map_err(|_| NotCompiled::Engine)?;
    let again = if again { "await __tollhouse_again();" } else { "" };
    // Two lines precede an input with imports, so that its own first line gets the number 1.
    let (head, first_line) = match (again, input.imports.as_str()) {
        ("", "") => (String::new(), 1),
        (again, imports) => (format!("{again}{imports}\n\n"), -1),
    };
    let text = head + &input.text;
    let flags = qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_ASYNC;
    compile::evaluate_raw(ctx, text.as_bytes(), name, first_line, flags)
        .map_err(|_| compile::explain(ctx, source, &input.text, name))
}

/// Reports the declarations of an input to the prelude. Returns true if earlier inputs left imports.
fn declare(ctx: &Ctx<'_>, engine: &Engine, declared: &[TypedDeclaration]) -> Result<bool> {
    let rows: Vec<Vec<&str>> = declared
        .iter()
        .map(|TypedDeclaration { name, how }| {
            let (kind, parts) = match how {
                ValueOrigin::Copy => ("v", [None, None]),
                ValueOrigin::Text(text) => ("t", [Some(text), None]),
                ValueOrigin::Require(from, member) => ("r", [Some(from), member.as_ref()]),
                ValueOrigin::Import(from, member) => ("i", [Some(from), member.as_ref()]),
            };
            [name.as_str(), kind].into_iter().chain(parts.into_iter().flatten().map(String::as_str)).collect()
        })
        .collect();
    let again = engine.prelude.typed.has_imports.clone().restore(ctx)?.call::<_, bool>(())?;
    engine.prelude.typed.declare.clone().restore(ctx)?.call::<_, ()>((rows,))?;
    Ok(again)
}

/// Returns the value of a script. The value of an input is displayed instead, and `undefined` is returned.
pub(crate) fn shown<'js>(ctx: &Ctx<'js>, engine: &Engine, value: Value<'js>) -> Result<Value<'js>> {
    let value = match SHOWS.replace(PendingDisplay::Nothing) {
        PendingDisplay::Nothing if TYPED.get() => return Ok(Value::new_undefined(ctx.clone())),
        PendingDisplay::Nothing => return Ok(value),
        PendingDisplay::Plain => value,
        PendingDisplay::Wrapped => value.into_object().unwrap_or(Object::new(ctx.clone())?).get("value")?,
    };
    engine.prelude.typed.show.clone().restore(ctx)?.call::<_, ()>((value,))?;
    Ok(Value::new_undefined(ctx.clone()))
}
