//! Conversion of strings between QuickJS and Rust, and base64. A JavaScript string may contain lone surrogates.
//!
//! QuickJS writes a lone surrogate as three bytes that are invalid in UTF-8, so its strings must not be taken for `str`
//! unchecked.
#![expect(unsafe_code, reason = "QuickJS gives out strings as a pointer and a length")]

use std::mem::MaybeUninit;

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use rquickjs::{Ctx, Error, Exception, FromJs, Result, Value, qjs};

/// Base64 as it is used on the wire: RFC 4648 §4, written with padding, read with or without.
pub(crate) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent),
);

/// Writes bytes as base64.
pub(crate) fn to_base64(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// Lends the text of a string, number or BigInt as UTF-8 that may hold lone surrogates (`ED A0..BF xx`).
pub(crate) fn with_bytes<'js, R>(value: &Value<'js>, use_bytes: impl FnOnce(&[u8]) -> R) -> Result<R> {
    let ctx = value.ctx().as_raw().as_ptr();
    let mut length = MaybeUninit::uninit();
    // SAFETY: `value` is alive and of this context; QuickJS either returns null, or a pointer to as many bytes as it
    // says, which live until they are freed below, after the last use.
    unsafe {
        let start = qjs::JS_ToCStringLen(ctx, length.as_mut_ptr(), value.as_raw());
        if start.is_null() {
            return Err(Error::Exception);
        }
        let result = use_bytes(std::slice::from_raw_parts(start.cast::<u8>(), length.assume_init()));
        qjs::JS_FreeCString(ctx, start);
        Ok(result)
    }
}

/// Lends the text of a string. Returns `None` for any other value, and for a string with a lone surrogate.
pub(crate) fn with_text<R>(value: &Value<'_>, use_text: impl FnOnce(&str) -> R) -> Option<R> {
    if !value.is_string() {
        return None;
    }
    with_bytes(value, |bytes| std::str::from_utf8(bytes).ok().map(use_text)).ok().flatten()
}

/// Returns the text of a string, number or BigInt; a lone surrogate becomes U+FFFD.
pub(crate) fn to_text(value: &Value<'_>) -> Result<String> {
    with_bytes(value, |bytes| match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => lossy(bytes),
    })
}

/// Replaces each lone surrogate by one U+FFFD (`from_utf8_lossy` would write three).
fn lossy(mut bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    while let Err(error) = std::str::from_utf8(bytes) {
        let (good, rest) = bytes.split_at(error.valid_up_to());
        text.push_str(std::str::from_utf8(good).expect("valid up to here"));
        text.push('\u{FFFD}');
        bytes = rest.get(3..).unwrap_or_default();
    }
    text.push_str(std::str::from_utf8(bytes).expect("the loop ended because it is valid"));
    text
}

/// Argument of a native function that is converted to text.
pub(crate) struct Text(pub(crate) String);

impl<'js> FromJs<'js> for Text {
    fn from_js(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Self> {
        if value.is_string() {
            to_text(&value).map(Text)
        } else {
            Err(Exception::throw_type(ctx, &format!("expected a string, got {}", value.type_name())))
        }
    }
}

/// Argument of a native function that is bytes: a `Uint8Array` or an `ArrayBuffer`.
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl<'js> FromJs<'js> for Bytes {
    fn from_js(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Self> {
        match with_view(&value, <[u8]>::to_vec) {
            Some(bytes) => Ok(Bytes(bytes)),
            None => Err(Exception::throw_type(ctx, &format!("expected bytes, got {}", value.type_name()))),
        }
    }
}

/// Lends the bytes of a `Uint8Array`, `Uint8ClampedArray` or `ArrayBuffer`. Returns `None` for any other value. A
/// detached buffer is empty.
pub(crate) fn with_view<R>(value: &Value<'_>, use_bytes: impl FnOnce(&[u8]) -> R) -> Option<R> {
    with_view_mut(value, |bytes| use_bytes(bytes))
}

/// Lends the bytes for modification.
pub(crate) fn with_view_mut<R>(value: &Value<'_>, use_bytes: impl FnOnce(&mut [u8]) -> R) -> Option<R> {
    let ctx = value.ctx().as_raw().as_ptr();
    if !value.is_object() {
        return None;
    }
    let mut length = MaybeUninit::uninit();
    // SAFETY: the class is checked before the pointer is requested. No code that could detach or resize the buffer runs
    // between that and the last use.
    unsafe {
        let start = if qjs::JS_IsArrayBuffer(value.as_raw()) {
            qjs::JS_GetArrayBuffer(ctx, length.as_mut_ptr(), value.as_raw())
        } else {
            let class = qjs::JS_GetTypedArrayType(value.as_raw());
            let bytes = [qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT8, qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT8C];
            if u32::try_from(class).is_ok_and(|class| bytes.contains(&class)) {
                qjs::JS_GetUint8Array(ctx, length.as_mut_ptr(), value.as_raw())
            } else {
                return None;
            }
        };
        if start.is_null() {
            // Detached, or of another class: QuickJS may have thrown an exception, which must not stay pending.
            qjs::JS_FreeValue(ctx, qjs::JS_GetException(ctx));
            return Some(use_bytes(&mut []));
        }
        let length = usize::try_from(length.assume_init()).expect("a length in this memory");
        Some(use_bytes(std::slice::from_raw_parts_mut(start, length)))
    }
}
