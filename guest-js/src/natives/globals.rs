//! The global names of tools, resolved when a script looks one up.
//!
//! A name that the global object has not is looked for in its prototype, and that is an object of this module: it has
//! each name of a tool as an accessor that exists while it is asked for. So a thousand tools cost a script that uses one
//! nothing but that one, and it does not matter where the name is written: in the script, a file that it imports, text
//! that it evaluates. The accessors themselves are the prelude's (`prelude/tools.js`).
#![expect(unsafe_code, reason = "objects with properties of their own making are a C interface of QuickJS")]

use std::cell::RefCell;
use std::ffi::{CStr, c_int};

use rquickjs::{Ctx, Error, Function, Object, Persistent, Result, Value, qjs};

use super::{add_pure, tools};
use crate::text;

/// The name of the class, which a script could see in `Object.prototype.toString` only if it had such an object.
const CLASS_NAME: &CStr = c"Object";

thread_local! {
    /// Name of a tool's global to `[getter, setter]`.
    static ACCESSORS: RefCell<Option<Persistent<Function<'static>>>> = const { RefCell::new(None) };
}

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_pure!(ctx, natives, "toolScope" => tool_scope)
}

/// Makes the object that has the tools' names as accessors. `accessors` gives those of a name.
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

/// QuickJS asks for a property of the scope: whether it is there, and with `descriptor` also what it is.
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

/// The accessors of a property; `undefined` both where only their being there is asked for.
struct PropertyAccessors<'js> {
    get: Value<'js>,
    set: Value<'js>,
}

/// The accessors of a name, if it is one of a tool.
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
