//! Global names of tools, resolved when a script first uses them.
//!
//! A name that the global object does not have is looked up in its prototype, an object of this module in which every
//! tool name is an accessor that is created on demand. With a thousand tools, a script thus pays only for those that it
//! uses, wherever their names occur: in the script, in an imported file, or in evaluated text. The accessors themselves
//! come from the prelude (`prelude/tools.js`).
#![expect(unsafe_code, reason = "objects with properties of their own making are a C interface of QuickJS")]

use std::cell::RefCell;
use std::ffi::{CStr, c_int};

use rquickjs::{Ctx, Error, Function, Object, Persistent, Result, Value, qjs};

use super::{add_pure, tools};
use crate::text;

/// Name of the class. A script could see it in `Object.prototype.toString` if it got hold of such an object.
const CLASS_NAME: &CStr = c"Object";

thread_local! {
    /// Function that maps a tool's global name to `[getter, setter]`.
    static ACCESSORS: RefCell<Option<Persistent<Function<'static>>>> = const { RefCell::new(None) };
}

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_pure!(ctx, natives, "toolScope" => tool_scope)
}

/// Creates the object whose accessors are the tools' names. `accessors` is the function that returns the accessors of a
/// name.
fn tool_scope<'js>(ctx: Ctx<'js>, prototype: Object<'js>, accessors: Function<'js>) -> Result<Value<'js>> {
    ACCESSORS.set(Some(Persistent::save(&ctx, accessors)));
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
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: the context is alive, the definition is read during the call only and its methods live on; the object is
    // owned, and checked before it is used.
    let scope = unsafe {
        let runtime = qjs::JS_GetRuntime(raw);
        let mut class = 0;
        let class = qjs::JS_NewClassID(runtime, &raw mut class);
        if qjs::JS_NewClass(runtime, class, &raw const definition) < 0 {
            return Err(Error::Exception);
        }
        Value::from_raw(ctx.clone(), qjs::JS_NewObjectProtoClass(raw, prototype.as_raw(), class))
    };
    if scope.is_exception() { Err(Error::Exception) } else { Ok(scope) }
}

/// Callback of QuickJS that looks up a property of the scope: whether it exists, and its descriptor if `descriptor` is
/// not null.
unsafe extern "C" fn get_own_property(
    ctx: *mut qjs::JSContext,
    descriptor: *mut qjs::JSPropertyDescriptor,
    _scope: qjs::JSValue,
    name: qjs::JSAtom,
) -> c_int {
    // SAFETY: QuickJS calls this with a live context and a live atom.
    let (context, name) = unsafe {
        let Some(raw) = std::ptr::NonNull::new(ctx) else { return 0 };
        let context = Ctx::from_raw(raw);
        let name = Value::from_raw(context.clone(), qjs::JS_AtomToValue(ctx, name));
        (context, name)
    };
    match accessors(&context, &name, !descriptor.is_null()) {
        Ok(None) => 0,
        Ok(Some(_)) if descriptor.is_null() => 1,
        Ok(Some(PropertyAccessors { get, set })) => {
            // SAFETY: the descriptor is QuickJS's to fill; it takes over the references made here.
            unsafe {
                descriptor.write(qjs::JSPropertyDescriptor {
                    flags: (qjs::JS_PROP_GETSET | qjs::JS_PROP_CONFIGURABLE).cast_signed(),
                    value: qjs::JS_UNDEFINED,
                    getter: qjs::JS_DupValue(ctx, get.as_raw()),
                    setter: qjs::JS_DupValue(ctx, set.as_raw()),
                });
            }
            1
        }
        Err(_) => -1,
    }
}

/// Accessors of a property; both are `undefined` if only its existence is asked for.
struct PropertyAccessors<'js> {
    get: Value<'js>,
    set: Value<'js>,
}

/// Returns the accessors of a name, if it belongs to a tool.
fn accessors<'js>(ctx: &Ctx<'js>, name: &Value<'js>, wanted: bool) -> Result<Option<PropertyAccessors<'js>>> {
    if !name.is_string() || !tools::is_global(&text::to_text(name)?) {
        return Ok(None);
    }
    if !wanted {
        let undefined = Value::new_undefined(ctx.clone());
        return Ok(Some(PropertyAccessors { get: undefined.clone(), set: undefined }));
    }
    let make = ACCESSORS.with_borrow(Clone::clone).ok_or(Error::Unknown)?.restore(ctx)?;
    let (get, set): (Value<'js>, Value<'js>) = {
        let pair: rquickjs::Array<'js> = make.call((name.clone(),))?;
        (pair.get(0)?, pair.get(1)?)
    };
    Ok(Some(PropertyAccessors { get, set }))
}
