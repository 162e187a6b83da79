//! Compiles the texts of scripts to functions of QuickJS, and explains errors of those that do not compile.
#![expect(unsafe_code, reason = "evaluation with a line number")]

use std::ffi::CString;

use rquickjs::{Ctx, Error, Function, Result, Value, qjs};

use crate::source::{self, Dialect};
use crate::{errors, modules, turn};

/// Reason why a script was not begun.
pub(crate) enum NotCompiled {
    /// The text is not TypeScript.
    Source(source::SourceError),
    /// QuickJS did not compile it.
    Engine,
    /// The script was stopped.
    Stopped,
}

/// A compiled script.
pub(crate) struct MainFunction<'js> {
    /// The script as an async function.
    pub(crate) main: Function<'js>,
    /// True if the text is that of an ES module.
    pub(crate) is_module: bool,
}

/// Compiles a script to an async function whose line and column numbers are the script's own.
pub(crate) fn compile<'js>(
    ctx: &Ctx<'js>,
    source: &str,
    name: &str,
) -> std::result::Result<MainFunction<'js>, NotCompiled> {
    let source = modules::hide_shebang(source);
    let main = source::main(&source, Dialect::of(name)).map_err(NotCompiled::Source)?;
    let is_module = main.as_ref().is_some_and(|main| main.imports.is_some());
    if is_module {
        turn::begin_with_microtasks();
    }
    let (imports, body) = match &main {
        Some(main) => (main.imports.as_deref(), main.body.as_str()),
        None => (None, &*source),
    };
    // The first line of the script must get the number 1, and QuickJS takes the line number 0 for 1. Two lines before
    // the script make room.
    let head = match imports {
        Some(imports) => {
            format!("(async function ({}, {}) {{ 'use strict'; {imports}\n\n", source::IMPORT, source::IMPORT_META)
        }
        None => "(async function () {\n\n".to_owned(),
    };
    let text = [&head, body, "\n})"].concat();
    match evaluate(ctx, text.as_bytes(), name, -1) {
        Ok(main) => Ok(MainFunction { main, is_module }),
        Err(_) => Err(explain(ctx, &source, body, name)),
    }
}

/// Returns the reason why a text did not compile; its exception is pending in the engine. `body` is the JavaScript of
/// the text.
///
/// The main script is compiled as the body of a function, where a module fails at its first `import`, even if its
/// mistake is elsewhere. So the text is also compiled as a module, and the error that comes later in the text is
/// reported.
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
        // A `return` is an error in a module and allowed in the main script, so the mistake is further on.
        Some(_) if module_end.is_some_and(|(line, _)| (line as usize) < problem.line) => {
            return NotCompiled::Source(problem);
        }
        Some(as_module) if module_end > body_end => ctx.throw(as_module),
        _ => ctx.throw(as_body),
    };
    NotCompiled::Engine
}

/// Replaces the exception of a function whose body does not compile by the error of the body alone: a missing or
/// superfluous bracket in the body would otherwise pair with those of the function. The first line of the body is line
/// 1. `kind` is `JS_EVAL_FLAG_ASYNC` for the body of an async function, and 0 otherwise.
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

/// Evaluates global code whose value is a function.
pub(crate) fn evaluate<'js>(ctx: &Ctx<'js>, source: &[u8], name: &str, first_line: i32) -> Result<Function<'js>> {
    evaluate_raw(ctx, source, name, first_line, qjs::JS_EVAL_TYPE_GLOBAL)?
        .into_function()
        .ok_or_else(|| rquickjs::Exception::throw_syntax(ctx, "unexpected `}`: the script ends early"))
}

/// Evaluates a text, or only compiles it, depending on the flags.
pub(crate) fn evaluate_raw<'js>(
    ctx: &Ctx<'js>,
    source: &[u8],
    name: &str,
    first_line: i32,
    flags: u32,
) -> Result<Value<'js>> {
    let name = CString::new(name.replace('\0', "")).expect("its zeros were removed");
    // QuickJS requires a zero after the text. Zeros within the text are allowed.
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
