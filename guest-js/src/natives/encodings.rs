//! Decoders of the encodings of the WHATWG's standard, by `encoding_rs`, for `TextDecoder`.
#![expect(unsafe_code, reason = "a class of QuickJS")]

use encoding_rs::{Decoder, DecoderResult, Encoding, REPLACEMENT, X_USER_DEFINED};
use rquickjs::class::{Class, Writable};
use rquickjs::{Ctx, Object, Result};

use super::{add_pure, class_without_values};
use crate::errors;
use crate::text::{Bytes, Text};

/// Decoder of one text, which may arrive in parts.
pub(crate) struct TextDecoding(Decoder);

class_without_values!(TextDecoding, Writable);

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_pure!(ctx, natives, "encodingOf" => encoding_of, "newDecoding" => new_decoding, "decodePart" => decode_part)
}

/// Returns the name of the encoding with a label, in lower case, and whether it can be decoded. Returns null for an
/// unknown label.
fn encoding_of<'js>(ctx: Ctx<'js>, label: Text) -> Result<Option<Object<'js>>> {
    let Some(encoding) = Encoding::for_label(label.0.as_bytes()) else { return Ok(None) };
    let found = Object::new_proto(ctx, None)?;
    found.set("name", encoding.name().to_ascii_lowercase())?;
    // As in Node, which uses ICU's converters.
    found.set("isSupported", encoding != REPLACEMENT && encoding != X_USER_DEFINED)?;
    Ok(Some(found))
}

/// Begins to decode a text. A byte order mark is part of it.
fn new_decoding<'js>(ctx: Ctx<'js>, label: Text) -> Result<Class<'js, TextDecoding>> {
    let encoding =
        Encoding::for_label(label.0.as_bytes()).ok_or_else(|| errors::type_error(&ctx, "there is no such encoding"))?;
    Class::instance(ctx, TextDecoding(encoding.new_decoder_without_bom_handling()))
}

/// Decodes the next part of a text. What is invalid becomes U+FFFD; if `is_fatal`, null is returned for it.
fn decode_part(decoding: Class<'_, TextDecoding>, bytes: Bytes, is_last: bool, is_fatal: bool) -> Option<String> {
    let mut decoding = decoding.borrow_mut();
    let decoder = &mut decoding.0;
    let room = if is_fatal {
        decoder.max_utf8_buffer_length_without_replacement(bytes.0.len())
    } else {
        decoder.max_utf8_buffer_length(bytes.0.len())
    };
    let mut text = String::with_capacity(room?);
    if is_fatal {
        let (result, _) = decoder.decode_to_string_without_replacement(&bytes.0, &mut text, is_last);
        return matches!(result, DecoderResult::InputEmpty).then_some(text);
    }
    // The room is enough for all of it.
    let _ = decoder.decode_to_string(&bytes.0, &mut text, is_last);
    Some(text)
}
