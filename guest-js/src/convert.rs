//! Values to JSON, for arguments and results of scripts ([`to_json`]), and JSON with `specials` back to values
//! ([`from_json`]).
#![expect(unsafe_code, reason = "class names, which rquickjs does not offer")]

mod read;
mod write;

use rquickjs::{Ctx, Result, TypedArray, Value, qjs};

pub(crate) use read::from_json;
pub(crate) use write::{JsonPurpose, set_plain, to_json};

use crate::bindings::types::Value as Completed;
use crate::text;

/// Returns the class name that the engine has for an object, which a script cannot change, or an empty text if the
/// value is not an object.
pub(crate) fn class_name<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<String> {
    if !value.is_object() {
        return Ok(String::new());
    }
    let context = ctx.as_raw().as_ptr();
    // SAFETY: the class id is the value's own; the atom is freed after its name was copied into a value.
    let name = unsafe {
        let atom = qjs::JS_GetClassName(qjs::JS_GetRuntime(context), qjs::JS_GetClassID(value.as_raw()));
        let name = Value::from_raw(ctx.clone(), qjs::JS_AtomToString(context, atom));
        qjs::JS_FreeAtom(context, atom);
        name
    };
    text::to_text(&name)
}

/// QuickJS's class number `JS_CLASS_OBJECT`: object literals and instances of a script's own classes, but no proxies.
const PLAIN_OBJECT: qjs::JSClassID = 1;

/// Returns true if a value is an object of no special class.
pub(crate) fn is_plain(value: &Value<'_>) -> bool {
    // SAFETY: it only reads the class of a value that is alive.
    value.is_object() && unsafe { qjs::JS_GetClassID(value.as_raw()) } == PLAIN_OBJECT
}

/// Converts the value of a completion.
pub(crate) fn completed<'js>(ctx: &Ctx<'js>, value: Completed) -> Result<Value<'js>> {
    match value {
        Completed::Json(json) => from_json(ctx, json),
        Completed::Bytes(bytes) => bytes_value(ctx, bytes),
        Completed::Exited(status) => Ok(Value::new_int(ctx.clone(), i32::from(status))),
        Completed::Nothing => Ok(Value::new_undefined(ctx.clone())),
    }
}

/// Returns bytes as a `Uint8Array`.
pub(crate) fn bytes_value<'js>(ctx: &Ctx<'js>, bytes: Vec<u8>) -> Result<Value<'js>> {
    Ok(TypedArray::<u8>::new_copy(ctx.clone(), bytes)?.into_value())
}
