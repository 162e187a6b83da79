//! Values to JSON.
//!
//! The writer follows `JSON.stringify`, but never loses data silently: a BigInt is its decimal digits in a string,
//! bytes are base64 in a string, a `Map` is an object or the list of its pairs, a `Set` the list of its values, an
//! `Error` its name and message, a `RegExp` its text; a promise, or a cycle, is an error that names the path. It is
//! native and iterative: it reads no property of the global object, so a script that replaces `JSON` changes nothing,
//! and deep values cannot exhaust the stack.
#![expect(unsafe_code, reason = "class checks that rquickjs does not offer")]

use std::cell::RefCell;
use std::fmt::Write as _;

use rquickjs::function::This;
use rquickjs::{Atom, Ctx, Error, Exception, Filter, Function, Object, Persistent, Result, Value, qjs};

use super::{class_name, is_plain};
use crate::text;

/// Largest nesting depth that is written, which is the host's limit (`host/src/json.rs`).
const MAX_DEPTH: usize = 100;

/// Reason why writing to a string cannot fail.
const WRITES: &str = "a string takes everything";

/// Purpose of a JSON text, which decides about numbers that JSON does not have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonPurpose {
    /// Arguments of a tool: `NaN` and the infinities are strings, so that they cannot pass for a missing value, and
    /// `-0` keeps its sign.
    Arguments,
    /// Value that a script returns, written as `JSON.stringify` does.
    Outcome,
}

/// List or object that is being written.
enum OpenContainer<'js> {
    List { object: Object<'js>, next: u32, length: u32 },
    Record { object: Object<'js>, keys: Vec<Atom<'js>>, next: usize, written: bool },
}

/// Returns the JSON of a value, or `None` for `undefined`, a function or a symbol.
pub(crate) fn to_json<'js>(ctx: &Ctx<'js>, value: Value<'js>, purpose: JsonPurpose) -> Result<Option<String>> {
    let mut writer = JsonWriter { ctx: ctx.clone(), purpose, out: String::new(), frames: Vec::new() };
    if !writer.write(value, &|| Ok(String::new()))? {
        return Ok(None);
    }
    while writer.step()? {}
    Ok(Some(writer.out))
}

/// Writer of one value.
struct JsonWriter<'js> {
    ctx: Ctx<'js>,
    purpose: JsonPurpose,
    out: String,
    frames: Vec<OpenContainer<'js>>,
}

impl<'js> JsonWriter<'js> {
    /// Writes the next entry of the innermost list or object. Returns false when everything is written.
    fn step(&mut self) -> Result<bool> {
        match self.frames.last_mut() {
            None => Ok(false),
            Some(OpenContainer::List { object, next, length }) => {
                let index = *next;
                if index == *length {
                    self.close(']');
                    return Ok(true);
                }
                *next += 1;
                let value = at(object, index)?;
                if index > 0 {
                    self.out.push(',');
                }
                if !self.write(value, &|| Ok(index.to_string()))? {
                    self.out.push_str("null");
                }
                Ok(true)
            }
            Some(OpenContainer::Record { object, keys, next, written }) => {
                let Some(key) = keys.get(*next).cloned() else {
                    self.close('}');
                    return Ok(true);
                };
                *next += 1;
                let first = !*written;
                let value: Value<'js> = object.get(key.clone())?;
                self.member(&key, value, first)?;
                Ok(true)
            }
        }
    }

    /// Writes one member of an object, or nothing if its value has no JSON.
    fn member(&mut self, key: &Atom<'js>, value: Value<'js>, first: bool) -> Result<()> {
        let depth = self.frames.len();
        let before = self.out.len();
        if !first {
            self.out.push(',');
        }
        let name = key.to_value()?;
        text::with_bytes(&name, |bytes| quote(&mut self.out, bytes))?;
        self.out.push(':');
        if !self.write(value, &|| key.to_value().and_then(|name| text::to_text(&name)))? {
            self.out.truncate(before);
        } else if let Some(OpenContainer::Record { written, .. }) = self.frames.get_mut(depth - 1) {
            *written = true;
        }
        Ok(())
    }

    /// Ends the innermost list or object.
    fn close(&mut self, bracket: char) {
        self.out.push(bracket);
        self.frames.pop();
    }

    /// Writes a value, or opens it if it is a list or object. Returns false if the value has no JSON.
    fn write(&mut self, value: Value<'js>, key: &dyn Fn() -> Result<String>) -> Result<bool> {
        if let Some(number) = value.as_int() {
            write!(self.out, "{number}").expect(WRITES);
        } else if let Some(number) = value.as_float() {
            self.number(number);
        } else if let Some(flag) = value.as_bool() {
            self.out.push_str(if flag { "true" } else { "false" });
        } else if value.is_null() {
            self.out.push_str("null");
        } else if value.is_string() {
            text::with_bytes(&value, |bytes| quote(&mut self.out, bytes))?;
        } else if value.is_big_int() {
            text::with_bytes(&value, |digits| quote(&mut self.out, digits))?;
        } else if value.is_object() {
            return self.object(value, key);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Writes an object: bytes directly, others after calling `toJSON` and unwrapping.
    fn object(&mut self, value: Value<'js>, key: &dyn Fn() -> Result<String>) -> Result<bool> {
        if let Some(base64) = text::with_view(&value, text::to_base64) {
            self.out.push('"');
            self.out.push_str(&base64);
            self.out.push('"');
            return Ok(true);
        }
        let object = value.clone().into_object().expect("checked by the caller");
        let convert: Value<'js> = object.get("toJSON")?;
        if let Some(convert) = convert.as_function() {
            let plain: Value<'js> = convert.call((This(object), key()?))?;
            if !plain.is_object() {
                return self.write(plain, &|| Ok(String::new()));
            }
            return self.open(plain);
        }
        self.open(value)
    }

    /// Opens a list or object, or writes a wrapped primitive.
    fn open(&mut self, value: Value<'js>) -> Result<bool> {
        if value.is_function() {
            return Ok(false);
        }
        if let Some(base64) = text::with_view(&value, text::to_base64) {
            quote(&mut self.out, base64.as_bytes());
            return Ok(true);
        }
        let is_list = is_list(&value);
        if !is_list {
            if value.is_promise() {
                return Err(self.promise());
            }
            if let Some(plain) = unwrap(&self.ctx, &value)? {
                return if is_list_or_plain(&plain) {
                    self.open(plain)
                } else {
                    self.write(plain, &|| Ok(String::new()))
                };
            }
        }
        let object = value.into_object().expect("checked by the callers");
        if let Some(at) = self.frames.iter().position(|frame| *frame.object() == object) {
            return Err(self.cycle(at));
        }
        if self.frames.len() == MAX_DEPTH {
            let message = format!("the value is nested more than {MAX_DEPTH} deep");
            return Err(Exception::throw_range(&self.ctx, &message));
        }
        if is_list || is_typed_array(&object) {
            let length = length(&object)?;
            self.out.push('[');
            self.frames.push(OpenContainer::List { object, next: 0, length });
        } else {
            let keys = object.own_keys::<Atom<'js>>(Filter::new().string().enum_only()).collect::<Result<Vec<_>>>()?;
            self.out.push('{');
            self.frames.push(OpenContainer::Record { object, keys, next: 0, written: false });
        }
        Ok(true)
    }

    fn number(&mut self, number: f64) {
        match self.purpose {
            JsonPurpose::Outcome if !number.is_finite() => self.out.push_str("null"),
            JsonPurpose::Outcome => push_number(&mut self.out, number),
            JsonPurpose::Arguments if number.is_nan() => self.out.push_str("\"NaN\""),
            JsonPurpose::Arguments if number.is_infinite() => {
                self.out.push_str(if number > 0.0 { "\"Infinity\"" } else { "\"-Infinity\"" });
            }
            JsonPurpose::Arguments if number == 0.0 && number.is_sign_negative() => self.out.push_str("-0.0"),
            JsonPurpose::Arguments if (UNSAFE..EXPONENT).contains(&number.abs()) => {
                push_number(&mut self.out, number);
                self.out.push_str(".0");
            }
            JsonPurpose::Arguments => push_number(&mut self.out, number),
        }
    }

    /// Returns the error for a promise, whose value is not available.
    fn promise(&self) -> Error {
        let path = self.path(self.frames.len());
        let message = format!("{path} is a Promise: is an `await` missing, or `await Promise.all(...)`?");
        Exception::throw_type(&self.ctx, &message)
    }

    /// Returns the error for a circular reference, which names both occurrences of the value.
    fn cycle(&self, to: usize) -> Error {
        let (from, back) = (self.path(self.frames.len()), self.path(to));
        let message = format!("circular reference: {from} is {back} again, which JSON cannot hold");
        Exception::throw_type(&self.ctx, &message)
    }

    /// Returns the place that the first `depth` frames have reached, as a script would write it.
    fn path(&self, depth: usize) -> String {
        let mut path = String::from("value");
        for frame in self.frames.iter().take(depth) {
            match frame {
                OpenContainer::List { next, .. } => path.push_str(&format!("[{}]", next.saturating_sub(1))),
                OpenContainer::Record { keys, next, .. } => {
                    let key = next.checked_sub(1).and_then(|at| keys.get(at)?.to_value().ok());
                    path.push('.');
                    path.push_str(&key.and_then(|key| text::to_text(&key).ok()).unwrap_or_default());
                }
            }
        }
        path
    }
}

impl<'js> OpenContainer<'js> {
    fn object(&self) -> &Object<'js> {
        match self {
            OpenContainer::List { object, .. } | OpenContainer::Record { object, .. } => object,
        }
    }
}

/// Returns an element of a list or list-like object.
fn at<'js>(object: &Object<'js>, index: u32) -> Result<Value<'js>> {
    let ctx = object.ctx();
    // SAFETY: the object is alive and of this context; the result is owned, and checked before it is used.
    let value = unsafe {
        let raw = qjs::JS_GetPropertyUint32(ctx.as_raw().as_ptr(), object.as_raw(), index);
        Value::from_raw(ctx.clone(), raw)
    };
    if value.is_exception() { Err(Error::Exception) } else { Ok(value) }
}

/// Returns the length of a list. More than 2^32 - 1 elements do not fit into memory; a proxy that claims more is cut
/// off.
fn length(object: &Object<'_>) -> Result<u32> {
    let length: f64 = object.get("length")?;
    let cut = length.clamp(0.0, f64::from(u32::MAX)).trunc();
    Ok(format!("{cut}").parse().unwrap_or(0))
}

/// Returns true if a value is a list, or a proxy of one.
fn is_list(value: &Value<'_>) -> bool {
    let mut value = value.clone();
    while value.is_proxy() {
        let ctx = value.ctx().clone();
        // SAFETY: the value is a proxy, whose target is a value of the same context; one that was revoked throws.
        let target =
            unsafe { Value::from_raw(ctx.clone(), qjs::JS_GetProxyTarget(ctx.as_raw().as_ptr(), value.as_raw())) };
        if target.is_exception() {
            ctx.catch();
            return false;
        }
        value = target;
    }
    value.is_array()
}

/// Returns true if a value is a typed array of any kind.
fn is_typed_array(object: &Object<'_>) -> bool {
    // SAFETY: looks at the class only.
    unsafe { qjs::JS_GetTypedArrayType(object.as_raw()) >= 0 }
}

/// Returns a plain value in place of an object whose contents are not properties: the primitive inside a `Number`,
/// `String`, `Boolean` or `BigInt` object, and the prelude's conversion of a `Map`, `Set`, `Error` or `RegExp`.
fn unwrap<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Option<Value<'js>>> {
    if is_plain(value) {
        return Ok(None);
    }
    match class_name(ctx, value)?.as_str() {
        "Number" | "String" | "Boolean" | "BigInt" => {
            let object = value.as_object().expect("it has a class");
            let primitive: Function<'js> = object.get("valueOf")?;
            let plain: Value<'js> = primitive.call((This(value.clone()),))?;
            Ok((!plain.is_object()).then_some(plain))
        }
        class @ ("Map" | "Set" | "Error" | "RegExp") => {
            let plain = PLAIN.with_borrow(Clone::clone).ok_or(Error::Unknown)?.restore(ctx)?;
            plain.call((value.clone(), class)).map(Some)
        }
        _ => Ok(None),
    }
}

thread_local! {
    /// Function of the prelude that converts an instance of a built-in class to a list or plain object.
    static PLAIN: RefCell<Option<Persistent<Function<'static>>>> = const { RefCell::new(None) };
}

/// Sets the prelude's function for values such as `Map`.
pub(crate) fn set_plain<'js>(ctx: Ctx<'js>, plain: Function<'js>) {
    PLAIN.set(Some(Persistent::save(&ctx, plain)));
}

/// Returns true for a list or plain object, which is written directly, without asking for a `toJSON`.
fn is_list_or_plain(value: &Value<'_>) -> bool {
    value.is_array() || is_plain(value)
}

/// Writes a JSON string from UTF-8 that may hold lone surrogates, which JSON escapes.
fn quote(out: &mut String, bytes: &[u8]) {
    out.reserve(bytes.len() + 2);
    out.push('"');
    let mut rest = bytes;
    loop {
        let good = match std::str::from_utf8(rest) {
            Ok(all) => all,
            Err(error) => std::str::from_utf8(&rest[..error.valid_up_to()]).expect("valid up to here"),
        };
        quote_str(out, good);
        // Decoding stops at a lone surrogate: ED, then A0..BF, then 80..BF.
        match rest.get(good.len()..good.len() + 3) {
            Some(&[_, high, low]) => {
                let unit = 0xD000 | (u32::from(high & 0x3F) << 6) | u32::from(low & 0x3F);
                out.push_str(&format!("\\u{unit:04x}"));
                rest = &rest[good.len() + 3..];
            }
            _ => break,
        }
    }
    out.push('"');
}

/// Writes text with the escapes that JSON requires.
fn quote_str(out: &mut String, text: &str) {
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..0x20 => {
                out.push_str(&text[from..at]);
                out.push_str(&format!("\\u{byte:04x}"));
                from = at + 1;
                continue;
            }
            _ => continue,
        };
        out.push_str(&text[from..at]);
        out.push_str(escape);
        from = at + 1;
    }
    out.push_str(&text[from..]);
}

/// 2^53. From here on neighbouring integers are the same number, so a number is written as a float, which no 64-bit
/// integer parameter accepts. A BigInt states exactly which integer is meant.
const UNSAFE: f64 = 9_007_199_254_740_992.0;

/// From this number on, JavaScript writes an exponent.
const EXPONENT: f64 = 1e21;

/// Writes a finite number as JavaScript does: shortest digits, exponents from 1e21 and below 1e-6.
fn push_number(out: &mut String, number: f64) {
    let size = number.abs();
    if size == 0.0 {
        out.push('0');
    } else if (1e-6..EXPONENT).contains(&size) {
        write!(out, "{number}").expect(WRITES);
    } else {
        let text = format!("{number:e}");
        match text.split_once('e') {
            Some((digits, exponent)) if !exponent.starts_with('-') => {
                out.push_str(digits);
                out.push_str("e+");
                out.push_str(exponent);
            }
            _ => out.push_str(&text),
        }
    }
}
