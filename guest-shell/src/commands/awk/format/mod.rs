//! Numbers as text, and `printf` as in C.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`directive`] | reading of a directive such as `%-5.2f` |
//! | [`number`] | digits of `%e`, `%f`, `%g` and `%a` |
//!
//! Decisions (gawk 5, C `printf` semantics):
//! - `print`/string conversion of an integral number prints all its digits
//!   (`2^70` is `1180591620717411303424`), never through `OFMT`/`CONVFMT`.
//! - Infinities and NaN print as `+inf`, `-inf`, `+nan`, `-nan` in
//!   `print`, and as C does (`inf`, `-nan`, ...) through `printf` formats.
//! - `%d` of a value outside the 64-bit range prints its integral digits.
//! - `%c` of a number is the Unicode character with that code, or the byte in the locale C.
//! - Width or precision above a maximum is a fatal error (guard against
//!   `%999999999d` allocating gigabytes), as is a result longer than a string
//!   may be.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod directive;
mod number;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use self::directive::{Directive, DirectiveReader, Layout};
use super::value::Value;
use crate::commands::awk::bounds::MAX_STRING_BYTES;
use crate::commands::character_locale::CharacterSet;
use bashkit::stream::character_of_byte;

/// Precision of `%e`, `%f` and `%g` without one.
const DEFAULT_PRECISION: usize = 6;

/// Returns the text of a number. `format` (`CONVFMT` or `OFMT`) is that of numbers with a fraction.
pub(super) fn format_number(number: f64, format: &str) -> String {
    if number.is_nan() {
        return if number.is_sign_negative() { "-nan" } else { "+nan" }.to_string();
    }
    if number.is_infinite() {
        return if number < 0.0 { "-inf" } else { "+inf" }.to_string();
    }
    // Integral values print as integers, so -0 prints as "0" (gawk).
    if number == number.trunc() {
        if number.abs() < 1e15 {
            return (number as i64).to_string();
        }
        return format!("{number:.0}");
    }
    sprintf(format, &[Value::Num(number)], "%.6g").unwrap_or_else(|_| format!("{number}"))
}

/// Fatal failure of `sprintf`.
#[derive(Debug)]
pub(super) struct FormatError {
    /// Message without the prefix `fatal: `.
    pub(super) msg: String,
    /// True for messages of gawk itself, which begin with the place in the program.
    pub(super) located: bool,
}

/// Returns a format in which values stand in place of directives, as C's `sprintf` does in a UTF-8 locale.
pub(super) fn sprintf(format: &str, arguments: &[Value], convfmt: &str) -> Result<String, FormatError> {
    sprintf_of(CharacterSet::Utf8, format, arguments, convfmt)
}

/// [`sprintf`] of texts that consist of characters of a set.
pub(super) fn sprintf_of(
    characters: CharacterSet,
    format: &str,
    arguments: &[Value],
    convfmt: &str,
) -> Result<String, FormatError> {
    let mut out = String::with_capacity(format.len());
    let mut reader = DirectiveReader::new(format, arguments);
    while !reader.rest().is_empty() {
        check_length(&out)?;
        let Some(text) = reader.skip_text() else {
            out.push_str(reader.rest());
            break;
        };
        out.push_str(text);
        match reader.directive()? {
            Directive::Text(text) => out.push_str(text),
            Directive::Conversion { layout, conversion, argument } => {
                Conversion { out: &mut out, layout, convfmt, characters }.convert(conversion, argument);
            }
        }
    }
    Ok(out)
}

/// Refuses results above `MAX_STRING_BYTES` (THREAT[TM-DOS-110]).
fn check_length(out: &str) -> Result<(), FormatError> {
    if out.len() > MAX_STRING_BYTES {
        let msg = format!("string size limit ({MAX_STRING_BYTES} bytes) exceeded");
        return Err(FormatError { msg, located: false });
    }
    Ok(())
}

/// Conversion of a value, which is added to a text.
struct Conversion<'a> {
    out: &'a mut String,
    layout: Layout,
    convfmt: &'a str,
    characters: CharacterSet,
}

impl Conversion<'_> {
    fn convert(&mut self, conversion: char, argument: &Value) {
        match conversion {
            'c' => self.pad(&character(argument, self.characters)),
            's' => self.text(argument),
            _ => {
                let number = argument.to_num();
                match conversion {
                    _ if !number.is_finite() => self.not_finite(number, matches!(conversion, 'E' | 'F' | 'G' | 'A')),
                    'd' | 'i' => self.signed(number),
                    'o' | 'x' | 'X' | 'u' => self.unsigned(number, conversion),
                    _ => self.float(number, conversion),
                }
            }
        }
    }

    fn text(&mut self, argument: &Value) {
        let text = argument.to_str_fmt(self.convfmt);
        let end = self.layout.precision.and_then(|most| text.char_indices().nth(most));
        self.pad(end.map_or(&text, |(end, _)| &text[..end]));
    }

    fn not_finite(&mut self, number: f64, upper: bool) {
        let word = match (number.is_nan(), upper) {
            (true, false) => "nan",
            (true, true) => "NAN",
            (false, false) => "inf",
            (false, true) => "INF",
        };
        let sign = self.layout.sign(number.is_sign_negative());
        self.pad(&format!("{sign}{word}"));
    }

    fn signed(&mut self, number: f64) {
        let integer = number.trunc();
        // Nothing at all is left of a zero without digits.
        if integer == 0.0 && self.layout.precision == Some(0) {
            return self.pad("");
        }
        let size = integer.abs();
        let digits = if size < 9.2e18 { (size as u64).to_string() } else { format!("{size:.0}") };
        self.integer(self.layout.sign(integer < 0.0), "", &digits);
    }

    fn unsigned(&mut self, number: f64, conversion: char) {
        let alternative = self.layout.alternative;
        // `#` keeps a zero without digits, and gawk looks at the number before it is cut.
        if number == 0.0 && self.layout.precision == Some(0) && !alternative {
            return self.pad("");
        }
        let Some(integer) = wrapped_integer(number.trunc()) else {
            // gawk prints what is out of range as `%g`.
            return self.pad(&number::general(number, DEFAULT_PRECISION, false, false));
        };
        let (digits, prefix) = match conversion {
            'o' => (format!("{integer:o}"), "0"),
            'x' => (format!("{integer:x}"), "0x"),
            'X' => (format!("{integer:X}"), "0X"),
            _ => (integer.to_string(), ""),
        };
        self.integer("", if alternative && integer != 0 { prefix } else { "" }, &digits);
    }

    /// Adds an integer with as many digits as the precision asks for.
    fn integer(&mut self, sign: &str, prefix: &str, digits: &str) {
        let fewest = self.layout.precision.unwrap_or(0);
        let digits = match fewest.saturating_sub(digits.len()) {
            0 => Cow::Borrowed(digits),
            missing => Cow::Owned("0".repeat(missing) + digits),
        };
        let zeros = self.layout.precision.is_none();
        self.number(&[sign, prefix], &digits, zeros);
    }

    fn float(&mut self, number: f64, conversion: char) {
        let (size, upper, alternative) = (number.abs(), conversion.is_ascii_uppercase(), self.layout.alternative);
        let precision = self.layout.precision.unwrap_or(DEFAULT_PRECISION);
        let digits = match conversion.to_ascii_lowercase() {
            'f' => number::fixed(size, precision, alternative),
            'e' => number::exponential(size, precision, alternative, upper),
            'a' => number::hexadecimal(size, self.layout.precision, upper),
            _ => number::general(size, precision, alternative, upper),
        };
        // C keeps the sign of a negative zero.
        self.number(&[self.layout.sign(number.is_sign_negative())], &digits, true);
    }

    /// Adds a number, filled with zeros behind what stands before its digits if `zeros` says that it may be.
    fn number(&mut self, before: &[&str], digits: &str, zeros: bool) {
        let Layout { zero, left, width, .. } = self.layout;
        let length = before.iter().map(|part| part.len()).sum::<usize>() + digits.len();
        let before = before.concat();
        if zeros && zero && !left && length < width {
            self.out.push_str(&before);
            self.out.extend(std::iter::repeat_n('0', width - length));
            self.out.push_str(digits);
        } else {
            self.pad(&(before + digits));
        }
    }

    /// Adds a text, filled with blanks to the width.
    fn pad(&mut self, text: &str) {
        let fill = self.layout.width.saturating_sub(text.chars().count());
        let blanks = std::iter::repeat_n(' ', fill);
        if self.layout.left {
            self.out.push_str(text);
            self.out.extend(blanks);
        } else {
            self.out.extend(blanks);
            self.out.push_str(text);
        }
    }
}

/// Returns what `%c` prints of a value: the character of a number, or the first one of a text.
fn character(argument: &Value, characters: CharacterSet) -> String {
    match argument {
        Value::Num(number) | Value::StrNum(_, number) => {
            let code = if number.is_finite() { *number as i64 } else { 0 };
            if characters == CharacterSet::Bytes {
                return character_of_byte((code & 0xff) as u8).to_string();
            }
            let of_code = u32::try_from(code).ok().and_then(char::from_u32);
            of_code.unwrap_or_else(|| char::from((code & 0xff) as u8)).to_string()
        }
        Value::Uninit => "\0".to_string(),
        // A text without characters is the end of a text in C.
        Value::Str(text) => text.chars().next().unwrap_or('\0').to_string(),
    }
}

/// Returns an integer of 64 bits, negative ones in two's complement, or none out of range.
fn wrapped_integer(integer: f64) -> Option<u64> {
    if integer < 0.0 {
        (integer >= -9.2e18).then_some(integer as i64 as u64)
    } else {
        (integer < 1.8e19).then_some(integer as u64)
    }
}
