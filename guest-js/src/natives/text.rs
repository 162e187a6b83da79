//! Text to bytes and back (UTF-8, base64), and suggestions for misspelt names.

use base64::Engine as _;
use rquickjs::{Ctx, Object, Result, Value};

use super::add_pure;
use crate::convert;
use crate::text::{self, BASE64, Bytes, Text};

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_pure!(ctx, natives,
        "encodeUtf8" => encode_utf8,
        "decodeUtf8" => decode_utf8,
        "decodeUtf8Lossy" => decode_utf8_lossy,
        "encodeBase64" => encode_base64,
        "decodeBase64" => decode_base64,
        "nearest" => nearest,
    )
}

fn encode_utf8<'js>(ctx: Ctx<'js>, text: Text) -> Result<Value<'js>> {
    convert::bytes_value(&ctx, text.0.into_bytes())
}

/// Decodes UTF-8. Returns null if the bytes are not valid.
fn decode_utf8(bytes: Bytes) -> Option<String> {
    String::from_utf8(bytes.0).ok()
}

fn decode_utf8_lossy(bytes: Bytes) -> String {
    String::from_utf8_lossy(&bytes.0).into_owned()
}

fn encode_base64(bytes: Bytes) -> String {
    text::to_base64(&bytes.0)
}

/// Decodes base64 (standard alphabet). Returns null if the text is not valid.
fn decode_base64<'js>(ctx: Ctx<'js>, text: Text) -> Result<Option<Value<'js>>> {
    BASE64.decode(text.0).ok().map(|bytes| convert::bytes_value(&ctx, bytes)).transpose()
}

/// Returns the name that is nearest to a misspelt one, or null if none is near.
fn nearest(name: Text, among: Vec<Text>) -> Option<String> {
    among
        .into_iter()
        .map(|other| (strsim::osa_distance(&name.0.to_lowercase(), &other.0.to_lowercase()), other.0))
        .filter(|(distance, other)| *distance <= 1 + other.chars().count().min(name.0.chars().count()) / 4)
        .min()
        .map(|(_, other)| other)
}
