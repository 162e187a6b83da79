//! JSON with `specials` to JavaScript values: bytes, large integers, and numbers that JSON does not have.
#![expect(unsafe_code, reason = "a function of the patched QuickJS")]

use std::ffi::{CString, c_char};

use base64::Engine as _;
use rquickjs::{Ctx, Error, Exception, Result, Value, qjs};

use super::bytes_value;
use crate::bindings::types::{Json, Special, SpecialKind};
use crate::text;

unsafe extern "C" {
    /// Parses JSON as `JSON.parse` does, but to BigInts where a number would be rounded: integers beyond ±(2^53 - 1).
    /// The text ends with a NUL behind its length.
    fn JS_ParseJSONExact(
        ctx: *mut qjs::JSContext,
        text: *const c_char,
        length: usize,
        name: *const c_char,
    ) -> qjs::JSValue;
}

/// Converts a JSON text with its specials to a value. Integers that a number cannot hold exactly become BigInts,
/// whether they are specials or digits in the text.
pub(crate) fn from_json<'js>(ctx: &Ctx<'js>, json: Json) -> Result<Value<'js>> {
    let mut root = parse_exact(ctx, json.text)?;
    for special in json.specials {
        let Special { pointer, kind } = special;
        match pointer.strip_prefix('/') {
            None => root = special_value(ctx, &root, kind)?,
            Some(path) => place(ctx, &root, path, kind)?,
        }
    }
    Ok(root)
}

fn parse_exact<'js>(ctx: &Ctx<'js>, text: String) -> Result<Value<'js>> {
    let length = text.len();
    let text = CString::new(text)?;
    // SAFETY: the text has its NUL and lives until the call is over; the result is owned, and of this context.
    let value = unsafe {
        let raw = JS_ParseJSONExact(ctx.as_raw().as_ptr(), text.as_ptr(), length, c"<input>".as_ptr());
        Value::from_raw(ctx.clone(), raw)
    };
    if value.is_exception() { Err(Error::Exception) } else { Ok(value) }
}

/// Replaces the value at a JSON Pointer (without its first `/`) by the special value that it encodes.
fn place<'js>(ctx: &Ctx<'js>, root: &Value<'js>, path: &str, kind: SpecialKind) -> Result<()> {
    let missing = || Exception::throw_internal(ctx, &format!("the host points at `/{path}`, where nothing is"));
    let (way, last) = path.rsplit_once('/').map_or((None, path), |(way, last)| (Some(way), last));
    let mut parent = root.as_object().cloned().ok_or_else(missing)?;
    for segment in way.into_iter().flat_map(|way| way.split('/')) {
        let child: Value<'js> = parent.get(unescape(segment))?;
        parent = child.into_object().ok_or_else(missing)?;
    }
    let key = unescape(last);
    let plain: Value<'js> = parent.get(key.as_str())?;
    parent.set(key, special_value(ctx, &plain, kind)?)
}

/// Unescapes a segment of a JSON Pointer.
fn unescape(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

/// Largest number of digits of an integer. Reading an integer takes time that is quadratic in its digits.
const MAX_DIGITS: usize = 10_000;

/// Converts a JSON string to the special value that it encodes.
fn special_value<'js>(ctx: &Ctx<'js>, plain: &Value<'js>, kind: SpecialKind) -> Result<Value<'js>> {
    let bad = |what: &str| Exception::throw_internal(ctx, &format!("the host sent something that is no {what}"));
    if !plain.is_string() {
        return Err(bad("string"));
    }
    match kind {
        SpecialKind::Bytes => {
            let bytes = text::with_bytes(plain, |base64| text::BASE64.decode(base64))?;
            bytes_value(ctx, bytes.map_err(|_| bad("base64"))?)
        }
        SpecialKind::Integer => {
            let digits = text::to_text(plain)?;
            let all = digits.strip_prefix('-').unwrap_or(&digits);
            if all.is_empty() || all.len() > MAX_DIGITS || all.bytes().any(|byte| !byte.is_ascii_digit()) {
                return Err(bad("integer"));
            }
            big_int(ctx, &digits)
        }
        SpecialKind::Float => match text::to_text(plain)?.as_str() {
            "NaN" => Ok(Value::new_float(ctx.clone(), f64::NAN)),
            "Infinity" => Ok(Value::new_float(ctx.clone(), f64::INFINITY)),
            "-Infinity" => Ok(Value::new_float(ctx.clone(), f64::NEG_INFINITY)),
            _ => Err(bad("number")),
        },
    }
}

/// Returns a BigInt with these digits.
fn big_int<'js>(ctx: &Ctx<'js>, digits: &str) -> Result<Value<'js>> {
    if let Ok(number) = digits.parse::<i64>() {
        return rquickjs::BigInt::from_i64(ctx.clone(), number).map(rquickjs::BigInt::into_value);
    }
    match digits.parse::<u64>() {
        Ok(number) => rquickjs::BigInt::from_u64(ctx.clone(), number).map(rquickjs::BigInt::into_value),
        // The conversion function refuses longer texts. The engine parses them as a literal, which refers to nothing
        // that a script could replace.
        Err(_) => ctx.eval(format!("{digits}n")),
    }
}
