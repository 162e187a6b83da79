//! Formats `@name`.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::failure::Failure;
use super::utf8::text_of;
use super::value::Val;
use super::writer::compact;

/// Format, by name. An unknown one is an error only when it is used.
#[derive(Clone, PartialEq)]
pub(crate) struct Format(Cow<'static, str>);

const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

impl Format {
    pub(crate) const TEXT: Self = Self(Cow::Borrowed("text"));

    /// Returns the format of this name.
    pub(crate) fn named(name: &str) -> Self {
        Self(Cow::Owned(name.to_owned()))
    }

    /// Formats a value as a string.
    pub(crate) fn apply(&self, value: &Val) -> Result<String, Failure> {
        Ok(match &*self.0 {
            "text" => text(value),
            "json" => compact(value),
            "csv" => row(value, "csv", ",", |text| format!("\"{}\"", text.replace('"', "\"\"")))?,
            "tsv" => row(value, "tsv", "\t", |text| {
                let text = text.replace('\\', "\\\\").replace('\t', "\\t");
                text.replace('\n', "\\n").replace('\r', "\\r")
            })?,
            "html" => html(&text(value)),
            "uri" => uri(&text(value)),
            "urid" => uri_decoded(value)?,
            "sh" => shell(value)?,
            "base64" => base64::engine::general_purpose::STANDARD.encode(text(value)),
            "base64d" => base64_decoded(value)?,
            "base32" => base32(text(value).as_bytes()),
            "base32d" => base32_decoded(value)?,
            name => return Err(Failure::new(format!("{name} is not a valid format"))),
        })
    }
}

/// Returns a string as it is, and anything else as JSON.
pub(crate) fn text(value: &Val) -> String {
    value.as_str().map_or_else(|| compact(value), str::to_owned)
}

fn row(value: &Val, name: &str, separator: &str, quote: impl Fn(&str) -> String) -> Result<String, Failure> {
    let Val::Arr(array) = value else {
        return Err(Failure::about(value, &format!("cannot be {name}-formatted, only array")));
    };
    let mut fields = Vec::with_capacity(array.0.len());
    for field in &array.0 {
        fields.push(match field {
            Val::Null => String::new(),
            Val::Num(number) if number.value().is_nan() => String::new(),
            Val::Bool(_) | Val::Num(_) => compact(field),
            Val::Str(text) => quote(text),
            // jq has the same message for both formats.
            other => {
                return Err(Failure::about(
                    other,
                    &format!("is not valid in a {} row", if name == "tsv" { "csv" } else { name }),
                ));
            }
        });
    }
    Ok(fields.join(separator))
}

fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\'' => out.push_str("&apos;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out
}

fn uri(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

fn uri_decoded(value: &Val) -> Result<String, Failure> {
    let text = text(value);
    let invalid = || Failure::about(&Val::from(text.as_str()), "is not a valid uri encoding");
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut digit = || bytes.next().and_then(|it| char::from(it).to_digit(16)).ok_or_else(invalid);
        let (high, low) = (digit()?, digit()?);
        // Two hexadecimal digits are a byte.
        out.push((high * 16 + low) as u8);
    }
    String::from_utf8(out).map_err(|_| invalid())
}

fn shell(value: &Val) -> Result<String, Failure> {
    let word = |value: &Val| match value {
        Val::Str(text) => Ok(format!("'{}'", text.replace('\'', "'\\''"))),
        Val::Arr(_) | Val::Obj(_) => Err(Failure::about(value, "can not be escaped for shell")),
        other => Ok(compact(other)),
    };
    match value {
        Val::Arr(array) => Ok(array.0.iter().map(word).collect::<Result<Vec<_>, _>>()?.join(" ")),
        other => word(other),
    }
}

fn base64_decoded(value: &Val) -> Result<String, Failure> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_allow_trailing_bits(true)
            .with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    let text = text(value);
    let data: String = text.chars().take_while(|it| *it != '=').collect();
    if data.len() % 4 == 1 && data.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(&byte)) {
        return Err(Failure::about(&Val::from(text.as_str()), "trailing base64 byte found"));
    }
    match LENIENT.decode(&data) {
        Ok(bytes) if !bytes.is_empty() || text.is_empty() => Ok(text_of(&bytes)),
        _ if text.bytes().all(|byte| byte == b'=') => Ok(String::new()),
        _ => Err(Failure::about(&Val::from(text.as_str()), "is not valid base64 data")),
    }
}

fn base32(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(5) {
        let mut padded = [0; 8];
        padded[3..3 + chunk.len()].copy_from_slice(chunk);
        let bits = u64::from_be_bytes(padded);
        let letters = (chunk.len() * 8).div_ceil(5);
        for at in 0..8 {
            // Five bits are an index into the alphabet.
            let index = (bits >> (35 - 5 * at)) as usize & 31;
            out.push(if at < letters { char::from(BASE32[index]) } else { '=' });
        }
    }
    out
}

fn base32_decoded(value: &Val) -> Result<String, Failure> {
    let text = text(value);
    let invalid = || Failure::about(&Val::from(text.as_str()), "is not valid base32 data");
    let (mut bits, mut count, mut out) = (0_u32, 0, Vec::new());
    for byte in text.trim_end_matches('=').bytes() {
        let index = BASE32.iter().position(|it| *it == byte).ok_or_else(invalid)?;
        // An index below 32.
        bits = (bits << 5 | index as u32) & 0xFFFF;
        count += 5;
        if count >= 8 {
            count -= 8;
            // The eight bits on top.
            out.push((bits >> count) as u8);
        }
    }
    Ok(text_of(&out))
}
