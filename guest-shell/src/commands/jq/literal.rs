//! Literals of JSON texts: constants, numbers, and strings with escapes.

use super::number::Number;
use super::value::Val;

/// Parses a constant or a number.
pub(super) fn literal(token: &[u8]) -> Result<Val, String> {
    let constant = match token[0] {
        b't' => Some(("true", Val::Bool(true))),
        b'f' => Some(("false", Val::Bool(false))),
        b'n' if !token.starts_with(b"nan") => Some(("null", Val::Null)),
        b'\'' => return Err("Invalid string literal; expected \", but got '".to_owned()),
        _ => None,
    };
    if let Some((text, value)) = constant {
        return if token == text.as_bytes() { Ok(value) } else { Err("Invalid literal".to_owned()) };
    }
    let text = std::str::from_utf8(token).ok();
    text.and_then(number).ok_or_else(|| "Invalid numeric literal".to_owned())
}

/// Parses a number, including NaN and the infinities.
pub(super) fn number(text: &str) -> Option<Val> {
    if let Some(number) = Number::parse(text) {
        return Some(Val::Num(number));
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let value = match unsigned.to_ascii_lowercase().as_str() {
        "nan" => f64::NAN,
        "infinity" | "inf" => f64::INFINITY,
        _ => return None,
    };
    Some(Val::from(if text.starts_with('-') { -value } else { value }))
}

/// Resolves the escapes of a JSON string.
pub(super) fn unescape(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let letter = rest.as_bytes().get(at + 1).copied();
        rest = rest.get(at + 2..).unwrap_or_default();
        match letter {
            Some(plain @ (b'"' | b'\\' | b'/')) => out.push(char::from(plain)),
            Some(b'n') => out.push('\n'),
            Some(b't') => out.push('\t'),
            Some(b'r') => out.push('\r'),
            Some(b'b') => out.push('\u{8}'),
            Some(b'f') => out.push('\u{c}'),
            Some(b'u') => rest = unescape_unit(rest, &mut out)?,
            _ => return Err("Invalid escape".to_owned()),
        }
    }
    out.push_str(rest);
    Ok(out)
}

fn hexadecimal(text: &str) -> Option<u32> {
    let digits = text.get(..4).filter(|it| it.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

/// Resolves `XXXX` of `\uXXXX`, or both halves of a surrogate pair, and returns the rest.
fn unescape_unit<'a>(rest: &'a str, out: &mut String) -> Result<&'a str, String> {
    let unit = hexadecimal(rest).ok_or("Invalid escape")?;
    let rest = &rest[4..];
    if !(0xD800..0xDC00).contains(&unit) {
        out.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
        return Ok(rest);
    }
    let low = rest.strip_prefix("\\u").and_then(hexadecimal).filter(|low| (0xDC00..0xE000).contains(low));
    let low = low.ok_or("Invalid \\uXXXX\\uXXXX surrogate pair escape")?;
    let code = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
    out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
    Ok(&rest[6..])
}
