//! Contexts of the module `vm`: global objects with builtins of their own, in the same engine.
//!
//! A name that such a global object does not have is looked up in its prototype, an object of this module that asks a
//! function of `node/src/vm.js` for accessors of the sandbox's property. A context lives as long as its function
//! `evaluate`, or any other of its functions.
#![expect(
    unsafe_code,
    reason = "contexts, and objects with properties of their own making, are C interfaces of QuickJS"
)]

use std::cell::Cell;
use std::ffi::{CStr, c_int};
use std::ptr::NonNull;

use rquickjs::convert::List;
use rquickjs::{Array, Ctx, Error, Function, Object, Result, Value, qjs};

use super::add_all;
use crate::compile::evaluate_raw;
use crate::source::{self, DeclaredNames};
use crate::text::{self, Text};
use crate::{limits, time};

/// Name of the class of the prototypes.
const CLASS_NAME: &CStr = c"Object";

/// Property of a prototype with its function from a name to `[getter, setter]`, or to undefined.
const LOOKUP: &CStr = c"tollhouse:lookup";

/// Flag of a script whose variables can be deleted: `JS_EVAL_FLAG_DELETABLE_VARS` of `patches/21-deletable-variables.patch`,
/// which the bindings have under the name that the flag had while it was unused.
const EVAL_FLAG_DELETABLE_VARS: u32 = qjs::JS_EVAL_FLAG_UNUSED;

/// Nanoseconds in a millisecond.
const MILLISECOND: f64 = 1_000_000.0;

thread_local! {
    /// Class of the prototypes; 0 before the first context.
    static CLASS: Cell<qjs::JSClassID> = const { Cell::new(0) };
}

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives,
        "makeContext" => make_context,
        "evaluateScript" => evaluate_script,
        "checkScript" => check_script,
        "declaredNames" => declared_names,
        "hasTimedOut" => limits::take_timeout,
    )
}

/// Evaluates a text as a script of the main context.
fn evaluate_script<'js>(ctx: Ctx<'js>, source: Text, name: Text, line: i32, timeout: f64) -> Result<Value<'js>> {
    within(&ctx, timeout, || evaluate_raw(&ctx, source.0.as_bytes(), &name.0, line, qjs::JS_EVAL_TYPE_GLOBAL))
}

/// Throws the error of a text that is no script.
fn check_script(ctx: Ctx<'_>, source: Text, name: Text, line: i32) -> Result<()> {
    let flags = qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_COMPILE_ONLY;
    evaluate_raw(&ctx, source.0.as_bytes(), &name.0, line, flags).map(drop)
}

/// Returns the names that a script declares at its top level: those of `var` and of functions, and the lexical ones.
fn declared_names(source: Text) -> List<(Vec<String>, Vec<String>)> {
    let DeclaredNames { variables, lexical } = source::declared_names(&source.0);
    List((variables, lexical))
}

/// Runs `work` with a time limit in milliseconds, or without one if that is 0.
fn within<'js>(ctx: &Ctx<'js>, timeout: f64, work: impl FnOnce() -> Result<Value<'js>>) -> Result<Value<'js>> {
    if timeout <= 0.0 {
        return work();
    }
    let end = time::now().saturating_add(super::count(timeout * MILLISECOND));
    let before = limits::set_deadline(end);
    let result = work();
    limits::restore_deadline(before);
    if result.is_err() && limits::has_timed_out() && limits::stopped().is_none() {
        // The exception that ended the script cannot be caught. The caller gets one that can.
        drop(ctx.catch());
        return Err(rquickjs::Exception::throw_message(ctx, "the script was ended"));
    }
    result
}

/// Creates a context whose global object finds names that it does not have by `lookup`. Returns the global object, its
/// new prototype, and the function `evaluate(text, file, line, timeout)`.
fn make_context<'js>(ctx: Ctx<'js>, lookup: Function<'js>) -> Result<Array<'js>> {
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: the runtime is alive; the new context is released once its function holds it; all values are owned.
    let (global, scope, evaluate) = unsafe {
        let made = qjs::JS_NewContext(qjs::JS_GetRuntime(raw));
        let Some(made) = NonNull::new(made) else { return Err(Error::Allocation) };
        let made = made.as_ptr();
        let global = Value::from_raw(ctx.clone(), qjs::JS_GetGlobalObject(made));
        let base = Value::from_raw(ctx.clone(), qjs::JS_GetPrototype(made, global.as_raw()));
        let scope = scope_class(raw).map(|class| qjs::JS_NewObjectProtoClass(made, base.as_raw(), class));
        let function = qjs::JS_NewCFunction2(
            made,
            Some(evaluate_in_context),
            c"evaluate".as_ptr(),
            4,
            qjs::JSCFunctionEnum_JS_CFUNC_generic,
            0,
        );
        qjs::JS_FreeContext(made);
        (global, Value::from_raw(ctx.clone(), scope?), Value::from_raw(ctx.clone(), function))
    };
    if scope.is_exception() || evaluate.is_exception() {
        return Err(Error::Exception);
    }
    let holder = scope.as_object().ok_or(Error::Unknown)?;
    // Defined, because setting a property would first look it up.
    holder.prop(LOOKUP.to_str().expect("ASCII"), lookup)?;
    let parts = Array::new(ctx)?;
    parts.set(0, global)?;
    parts.set(1, scope)?;
    parts.set(2, evaluate)?;
    Ok(parts)
}

/// Returns the class of the prototypes, which the first call registers.
///
/// # Safety
///
/// The context is alive.
unsafe fn scope_class(raw: *mut qjs::JSContext) -> Result<qjs::JSClassID> {
    if CLASS.get() != 0 {
        return Ok(CLASS.get());
    }
    // QuickJS keeps a pointer to the methods for as long as the class lives, which is as long as this instance.
    let exotic = Box::leak(Box::new(qjs::JSClassExoticMethods {
        get_own_property: Some(get_own_property),
        get_own_property_names: None,
        delete_property: None,
        define_own_property: None,
        has_property: None,
        get_property: None,
        set_property: None,
    }));
    let definition =
        qjs::JSClassDef { class_name: CLASS_NAME.as_ptr(), finalizer: None, gc_mark: None, call: None, exotic };
    // SAFETY: the caller guarantees the context; the definition is read during the call only.
    unsafe {
        let runtime = qjs::JS_GetRuntime(raw);
        let mut class = 0;
        let class = qjs::JS_NewClassID(runtime, &raw mut class);
        if qjs::JS_NewClass(runtime, class, &raw const definition) < 0 {
            return Err(Error::Exception);
        }
        CLASS.set(class);
        Ok(class)
    }
}

/// Function `evaluate` of a context. QuickJS calls it with its own context, whoever calls it.
unsafe extern "C" fn evaluate_in_context(
    ctx: *mut qjs::JSContext,
    _this: qjs::JSValue,
    count: c_int,
    arguments: *mut qjs::JSValue,
) -> qjs::JSValue {
    let Some(raw) = NonNull::new(ctx) else { return qjs::JS_UNDEFINED };
    // SAFETY: QuickJS calls this with a live context and `count` live values.
    let (context, values) = unsafe {
        let context = Ctx::from_raw(raw);
        let given = std::slice::from_raw_parts(arguments, usize::try_from(count.max(0)).expect("not negative"));
        let values: Vec<Value<'_>> =
            given.iter().map(|value| Value::from_raw(context.clone(), qjs::JS_DupValue(ctx, *value))).collect();
        (context, values)
    };
    match evaluate(&context, &values) {
        // SAFETY: the caller takes over the reference that is made here.
        Ok(value) => unsafe { qjs::JS_DupValue(ctx, value.as_raw()) },
        Err(error) => {
            if !error.is_exception() {
                rquickjs::Exception::throw_internal(&context, &error.to_string());
            }
            qjs::JS_EXCEPTION
        }
    }
}

fn evaluate<'js>(ctx: &Ctx<'js>, values: &[Value<'js>]) -> Result<Value<'js>> {
    let [source, name, line, timeout] = values else { return Err(Error::Unknown) };
    let (source, name) = (text::to_text(source)?, text::to_text(name)?);
    let (line, timeout) = (line.as_int().unwrap_or(1), timeout.as_number().unwrap_or(0.0));
    // A script, so that the next one sees what this one declares. Its variables can be moved to the sandbox.
    let flags = qjs::JS_EVAL_TYPE_GLOBAL | EVAL_FLAG_DELETABLE_VARS;
    within(ctx, timeout, || evaluate_raw(ctx, source.as_bytes(), &name, line, flags))
}

/// Callback of QuickJS that looks up a property of a prototype: whether it exists, and its descriptor unless
/// `descriptor` is null.
unsafe extern "C" fn get_own_property(
    ctx: *mut qjs::JSContext,
    descriptor: *mut qjs::JSPropertyDescriptor,
    scope: qjs::JSValue,
    name: qjs::JSAtom,
) -> c_int {
    let Some(raw) = NonNull::new(ctx) else { return 0 };
    // SAFETY: QuickJS calls this with a live context, object and atom; the values made here are owned.
    let (name, lookup) = unsafe {
        let context = Ctx::from_raw(raw);
        let name = Value::from_raw(context.clone(), qjs::JS_AtomToValue(ctx, name));
        (name, Value::from_raw(context, qjs::JS_GetPropertyStr(ctx, scope, LOOKUP.as_ptr())))
    };
    match accessors(&name, &lookup) {
        Ok(None) => 0,
        Ok(Some((get, set))) => {
            if !descriptor.is_null() {
                // SAFETY: the descriptor is QuickJS's to fill; it takes over the references made here.
                unsafe {
                    descriptor.write(qjs::JSPropertyDescriptor {
                        flags: (qjs::JS_PROP_GETSET | qjs::JS_PROP_CONFIGURABLE).cast_signed(),
                        value: qjs::JS_UNDEFINED,
                        getter: qjs::JS_DupValue(ctx, get.as_raw()),
                        setter: qjs::JS_DupValue(ctx, set.as_raw()),
                    });
                }
            }
            1
        }
        Err(_) => -1,
    }
}

/// Asks the function of a prototype for the getter and setter of a name.
fn accessors<'js>(name: &Value<'js>, lookup: &Value<'js>) -> Result<Option<(Value<'js>, Value<'js>)>> {
    let Some(lookup) = lookup.as_function() else { return Ok(None) };
    if !name.is_string() {
        return Ok(None);
    }
    let found: Option<Array<'js>> = lookup.call((name.clone(),))?;
    found.map(|pair| Ok((pair.get(0)?, pair.get(1)?))).transpose()
}
