//! `import`, implemented by QuickJS's own modules, and native functions for `require`.
//!
//! The prelude decides which module a name refers to, and which value a file has that is not a module
//! (`prelude/modules.js`). This code calls its functions `resolve` and `load`. QuickJS keeps the loaded modules.
#![expect(unsafe_code, reason = "the module loader of QuickJS is a C interface")]

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};

use rquickjs::{Array, Ctx, Error, Exception, Function, Object, Persistent, Result, Value, qjs};

use crate::compile::NotCompiled;
use crate::source::{self, Dialect};
use crate::text::{self, Text};

/// Functions of the prelude that modules use.
struct ModuleFunctions {
    /// Maps a name and the importing module to a canonical name.
    resolve: Persistent<Function<'static>>,
    /// Maps a canonical name to `{source}` of a module, or `{value, names}` of anything else.
    load: Persistent<Function<'static>>,
}

unsafe extern "C" {
    /// Evaluates the module of a canonical name at once, and returns its namespace. Undefined if it cannot be: then the
    /// reason is `a` for a top-level `await` in its graph, or `c` for a module of it that is being evaluated.
    fn JS_RequireModule(ctx: *mut qjs::JSContext, name: *const c_char, reason: *mut c_int) -> qjs::JSValue;
}

thread_local! {
    static GLUE: RefCell<Option<ModuleFunctions>> = const { RefCell::new(None) };
    /// Values whose properties become the exports of a module, by canonical name. An entry exists from the creation of
    /// the module until its evaluation.
    static VALUES: RefCell<Vec<(String, Persistent<Value<'static>>)>> = const { RefCell::new(Vec::new()) };
}

/// Installs the loader that `import` uses.
pub(crate) fn set_up<'js>(ctx: &Ctx<'js>, resolve: Function<'js>, load: Function<'js>) {
    GLUE.set(Some(ModuleFunctions { resolve: Persistent::save(ctx, resolve), load: Persistent::save(ctx, load) }));
    // SAFETY: the runtime is alive; both functions follow QuickJS's conventions.
    unsafe {
        let runtime = qjs::JS_GetRuntime(ctx.as_raw().as_ptr());
        qjs::JS_SetModuleLoaderFunc(runtime, Some(normalize), Some(load_module), std::ptr::null_mut());
    }
}

/// Takes a function of the prelude.
fn glue<'js>(
    ctx: &Ctx<'js>,
    which: impl Fn(&ModuleFunctions) -> &Persistent<Function<'static>>,
) -> Result<Function<'js>> {
    let kept = GLUE.with_borrow(|glue| glue.as_ref().map(|glue| which(glue).clone()));
    kept.ok_or(Error::Unknown)?.restore(ctx)
}

/// Converts a C string.
///
/// # Safety
///
/// `text` ends with a zero byte.
unsafe fn from_c(text: *const c_char) -> String {
    // SAFETY: guaranteed by the caller.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Callback of QuickJS that returns the canonical name of what `base` imports as `name`.
unsafe extern "C" fn normalize(
    ctx: *mut qjs::JSContext,
    base: *const c_char,
    name: *const c_char,
    _opaque: *mut c_void,
) -> *mut c_char {
    // SAFETY: QuickJS calls this function with a live context and C strings, and frees the result.
    unsafe {
        let Some(raw) = std::ptr::NonNull::new(ctx) else { return std::ptr::null_mut() };
        let context = Ctx::from_raw(raw);
        let (base, name) = (from_c(base), from_c(name));
        let found = glue(&context, |glue| &glue.resolve).and_then(|resolve| resolve.call::<_, Text>((name, base)));
        match found {
            Ok(found) => {
                let found = CString::new(found.0.replace('\0', "")).expect("its zeros were removed");
                qjs::js_strdup(ctx, found.as_ptr())
            }
            Err(error) => {
                raise(&context, &error);
                std::ptr::null_mut()
            }
        }
    }
}

/// Ensures that an exception is pending, as QuickJS expects after a null.
fn raise(ctx: &Ctx<'_>, error: &Error) {
    if !error.is_exception() {
        Exception::throw_internal(ctx, &error.to_string());
    }
}

/// Callback of QuickJS that returns a module by its canonical name.
unsafe extern "C" fn load_module(
    ctx: *mut qjs::JSContext,
    name: *const c_char,
    _opaque: *mut c_void,
) -> *mut qjs::JSModuleDef {
    // SAFETY: QuickJS calls this function with a live context and a C string.
    unsafe {
        let Some(raw) = std::ptr::NonNull::new(ctx) else { return std::ptr::null_mut() };
        let context = Ctx::from_raw(raw);
        let name = from_c(name);
        make_module(&context, &name).unwrap_or_else(|error| {
            raise(&context, &error);
            std::ptr::null_mut()
        })
    }
}

fn make_module(ctx: &Ctx<'_>, name: &str) -> Result<*mut qjs::JSModuleDef> {
    let loaded: Object<'_> = glue(ctx, |glue| &glue.load)?.call((name,))?;
    let source: Value<'_> = loaded.get("source")?;
    if source.is_string() {
        return compile(ctx, &text::to_text(&source)?, name);
    }
    let names: Array<'_> = loaded.get("names")?;
    let value: Value<'_> = loaded.get("value")?;
    let c_name = c_text(name);
    // SAFETY: the context is alive, and QuickJS copies the names.
    unsafe {
        let raw = ctx.as_raw().as_ptr();
        let module = qjs::JS_NewCModule(raw, c_name.as_ptr(), Some(fill));
        if module.is_null() {
            return Err(Error::Exception);
        }
        for name in names.iter::<Text>() {
            if qjs::JS_AddModuleExport(raw, module, c_text(&name?.0).as_ptr()) < 0 {
                return Err(Error::Exception);
            }
        }
        VALUES.with_borrow_mut(|values| values.push((name.to_owned(), Persistent::save(ctx, value))));
        Ok(module)
    }
}

fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "")).expect("its zeros were removed")
}

/// Callback of QuickJS that evaluates a module without source text, whose exports are the properties of a value.
unsafe extern "C" fn fill(ctx: *mut qjs::JSContext, module: *mut qjs::JSModuleDef) -> c_int {
    // SAFETY: QuickJS calls this function with a live context and a module that `make_module` made.
    unsafe {
        let Some(raw) = std::ptr::NonNull::new(ctx) else { return -1 };
        let context = Ctx::from_raw(raw);
        match fill_exports(&context, module) {
            Ok(()) => 0,
            Err(error) => {
                raise(&context, &error);
                -1
            }
        }
    }
}

/// # Safety
/// `module` is alive.
unsafe fn fill_exports(ctx: &Ctx<'_>, module: *mut qjs::JSModuleDef) -> Result<()> {
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: the caller guarantees that the module is alive; the atom is freed after its text was copied into an owned
    // value.
    let name = unsafe {
        let atom = qjs::JS_GetModuleName(raw, module);
        let name = Value::from_raw(ctx.clone(), qjs::JS_AtomToString(raw, atom));
        qjs::JS_FreeAtom(raw, atom);
        text::to_text(&name)?
    };
    let kept = VALUES.with_borrow_mut(|values| {
        values.iter().position(|(of, _)| *of == name).map(|index| values.swap_remove(index).1)
    });
    let value = kept.ok_or(Error::Unknown)?.restore(ctx)?;
    let loaded: Array<'_> = value.into_array().ok_or(Error::Unknown)?;
    // Names and values alternate.
    for index in (0..loaded.len()).step_by(2) {
        let name: Text = loaded.get(index)?;
        let item: Value<'_> = loaded.get(index + 1)?;
        // SAFETY: the module is alive; `JS_SetModuleExport` takes over the reference.
        let set = unsafe {
            let item = qjs::JS_DupValue(raw, item.as_raw());
            qjs::JS_SetModuleExport(raw, module, c_text(&name.0).as_ptr(), item)
        };
        if set < 0 {
            return Err(Error::Exception);
        }
    }
    Ok(())
}

/// Compiles the text of a module, and sets its `import.meta`.
fn compile(ctx: &Ctx<'_>, source: &str, name: &str) -> Result<*mut qjs::JSModuleDef> {
    let flags = qjs::JS_EVAL_TYPE_MODULE | qjs::JS_EVAL_FLAG_COMPILE_ONLY;
    let value = crate::compile::evaluate_raw(ctx, source.as_bytes(), name, 1, flags)?;
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: compiling returned a module, which the context keeps alive, so the returned reference may be freed.
    let (module, meta) = unsafe {
        let module = qjs::JS_VALUE_GET_PTR(value.as_raw()).cast::<qjs::JSModuleDef>();
        (module, Value::from_raw(ctx.clone(), qjs::JS_GetImportMeta(raw, module)))
    };
    let meta = meta.into_object().ok_or(Error::Unknown)?;
    if name.starts_with("data:") {
        meta.set("url", name)?;
        return Ok(module);
    }
    meta.set("url", format!("file://{name}"))?;
    meta.set("filename", name)?;
    meta.set("dirname", directory(name))?;
    Ok(module)
}

fn directory(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((directory, _)) => directory,
    }
}

/// Converts a file to JavaScript. Returns the text, and whether it is a module.
pub(crate) fn prepare_file<'js>(ctx: Ctx<'js>, source: Text, name: Text) -> Result<Object<'js>> {
    let file = source::file(&source.0, Dialect::of(&name.0)).map_err(|problem| {
        let message = format!("{} ({}:{}:{})", problem.message, name.0, problem.line, problem.column);
        Exception::throw_syntax(&ctx, &message)
    })?;
    let record = Object::new_proto(ctx, None)?;
    record.set("text", file.text)?;
    record.set("isModule", file.is_module)?;
    Ok(record)
}

/// Compiles a CommonJS file to a function with the file as its body.
pub(crate) fn compile_common_js<'js>(ctx: Ctx<'js>, source: Text, name: Text) -> Result<Function<'js>> {
    let body = hide_shebang(&source.0);
    let text = format!("(function (exports, require, module, __filename, __dirname) {{\n\n{body}\n}})");
    crate::compile::evaluate(&ctx, text.as_bytes(), &name.0, -1)
        .inspect_err(|_| crate::compile::explain_body(&ctx, &body, &name.0, 0))
}

/// Compiles a file without running it. Throws what is wrong with it.
pub(crate) fn check_syntax(ctx: Ctx<'_>, source: Text, name: Text) -> Result<()> {
    match crate::compile::compile(&ctx, &source.0, &name.0) {
        Ok(_) => Ok(()),
        Err(NotCompiled::Source(problem)) => {
            let message = format!("{} ({}:{}:{})", problem.message, name.0, problem.line, problem.column);
            Err(Exception::throw_syntax(&ctx, &message))
        }
        Err(NotCompiled::Engine | NotCompiled::Stopped) => Err(rquickjs::Error::Exception),
    }
}

/// Returns true for a text without `import` and `export` that compiles as CommonJS, which does not allow top-level
/// `await`.
pub(crate) fn is_common_js(ctx: Ctx<'_>, source: Text, name: Text) -> bool {
    let compiles = compile_common_js(ctx.clone(), source, name).is_ok();
    if !compiles {
        ctx.catch();
    }
    compiles
}

/// Evaluates the ES module of a path for `require`. Returns its namespace, or the reason why it cannot be evaluated at
/// once: `await` or `cycle`.
pub(crate) fn require_module<'js>(ctx: Ctx<'js>, path: Text) -> Result<Value<'js>> {
    let mut reason = 0;
    // SAFETY: the context is alive, and QuickJS copies the name; the result is owned.
    let namespace = unsafe {
        let raw = JS_RequireModule(ctx.as_raw().as_ptr(), c_text(&path.0).as_ptr(), &raw mut reason);
        Value::from_raw(ctx.clone(), raw)
    };
    match u8::try_from(reason) {
        _ if namespace.is_exception() => Err(Error::Exception),
        Ok(0) => Ok(namespace),
        Ok(b'c') => Ok(rquickjs::String::from_str(ctx, "cycle")?.into_value()),
        _ => Ok(rquickjs::String::from_str(ctx, "await")?.into_value()),
    }
}

/// Turns a `#!` line into a comment of the same length.
pub(crate) fn hide_shebang(source: &str) -> std::borrow::Cow<'_, str> {
    match source.strip_prefix("#!") {
        Some(rest) => format!("//{rest}").into(),
        None => source.into(),
    }
}
