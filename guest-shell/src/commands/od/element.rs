//! Types of elements, and conversion of elements to text.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use crate::commands::byte_text::character_or_escape;
use crate::commands::printf::render_printf_bytes;

/// Form of an element in a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementForm {
    /// Name of a character (`-t a`).
    Named,
    Character,
    Signed,
    Unsigned,
    Octal,
    Hexadecimal,
    /// Floating-point number.
    Float,
}

/// Type of the elements of a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ElementType {
    pub(super) form: ElementForm,
    /// Number of bytes: 1, 2, 4 or 8.
    pub(super) size: usize,
    /// True if the printable characters follow the elements of a line (`z`).
    pub(super) trailer: bool,
}

const CHARACTER_NAMES: [&str; 33] = [
    "nul", "soh", "stx", "etx", "eot", "enq", "ack", "bel", "bs", "ht", "nl", "vt", "ff", "cr", "so", "si", "dle",
    "dc1", "dc2", "dc3", "dc4", "nak", "syn", "etb", "can", "em", "sub", "esc", "fs", "gs", "rs", "us", "sp",
];

impl ElementType {
    /// Parses the types in an argument of `-t`, such as `ox1z`. The error is a message.
    pub(super) fn parse_all(text: &str) -> Result<Vec<Self>, String> {
        let mut rest = text.as_bytes();
        let mut types = Vec::new();
        while let Some((letter, behind)) = rest.split_first() {
            rest = behind;
            let (form, size) = match letter {
                b'a' => (ElementForm::Named, 1),
                b'c' => (ElementForm::Character, 1),
                b'd' => (ElementForm::Signed, take_size(&mut rest)),
                b'o' => (ElementForm::Octal, take_size(&mut rest)),
                b'u' => (ElementForm::Unsigned, take_size(&mut rest)),
                b'x' => (ElementForm::Hexadecimal, take_size(&mut rest)),
                b'f' => (ElementForm::Float, take_float_size(&mut rest)),
                letter => {
                    return Err(format!("invalid character '{}' in type string '{text}'", char::from(*letter)));
                }
            };
            if form == ElementForm::Float && !matches!(size, 4 | 8) {
                let reason = match size {
                    16 => "floating-point numbers of 16 bytes are not available here".to_owned(),
                    size => format!("this system doesn't provide a {size}-byte floating point type"),
                };
                return Err(format!("invalid type string '{text}';\n{reason}"));
            }
            if !matches!(size, 1 | 2 | 4 | 8) {
                return Err(format!(
                    "invalid type string '{text}';\nthis system doesn't provide a {size}-byte integral type"
                ));
            }
            let behind_trailer = rest.strip_prefix(b"z");
            rest = behind_trailer.unwrap_or(rest);
            types.push(Self { form, size, trailer: behind_trailer.is_some() });
        }
        if types.is_empty() { Err(format!("invalid type string '{text}'")) } else { Ok(types) }
    }

    /// Returns the number of characters of the widest value.
    pub(super) fn field_width(&self) -> usize {
        let size_index = self.size.ilog2() as usize;
        match self.form {
            ElementForm::Named | ElementForm::Character => 3,
            ElementForm::Signed => [4, 6, 11, 20][size_index],
            ElementForm::Unsigned => [3, 5, 10, 20][size_index],
            ElementForm::Octal => [3, 6, 11, 22][size_index],
            ElementForm::Hexadecimal => [2, 4, 8, 16][size_index],
            ElementForm::Float if self.size == 4 => 15,
            ElementForm::Float => 24,
        }
    }

    /// Returns an element as text.
    pub(super) fn text(&self, bytes: &[u8], big_endian: bool) -> String {
        let join = |value: u64, byte: &u8| (value << 8) | u64::from(*byte);
        let value = if big_endian { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) };
        let width = self.field_width();
        match self.form {
            ElementForm::Named => character_name(bytes[0]),
            ElementForm::Character => character_or_escape(bytes[0]),
            ElementForm::Octal => format!("{value:0width$o}"),
            ElementForm::Hexadecimal => format!("{value:0width$x}"),
            ElementForm::Unsigned => value.to_string(),
            ElementForm::Float => self.float_text(value),
            ElementForm::Signed => {
                // The sign is shifted to the highest bit and back.
                let shift = 64 - 8 * self.size;
                (((value << shift) as i64) >> shift).to_string()
            }
        }
    }
}

impl ElementType {
    /// Returns the shortest text that is read as the same number, as gnulib's `ftoastr` does.
    fn float_text(&self, bits: u64) -> String {
        let single = f32::from_bits(u32::try_from(bits & u64::from(u32::MAX)).expect("32 bits"));
        let is_single = self.size == 4;
        let number = if is_single { f64::from(single) } else { f64::from_bits(bits) };
        if number.is_nan() {
            return if number.is_sign_negative() { "-nan" } else { "nan" }.to_owned();
        }
        if number.is_infinite() {
            return if number < 0.0 { "-inf" } else { "inf" }.to_owned();
        }
        let is_subnormal = if is_single { single.is_subnormal() } else { number.is_subnormal() };
        let (usual, most) = if is_single { (6, 9) } else { (15, 17) };
        let exact = format!("{number:.1074}");
        let shown = |precision: usize| {
            let text = render_printf_bytes(&format!("%.{precision}g"), std::slice::from_ref(&exact));
            String::from_utf8(text.unwrap_or_default()).unwrap_or_default()
        };
        let is_same = |text: &String| match is_single {
            true => text.parse::<f32>() == Ok(single),
            false => text.parse::<f64>() == Ok(number),
        };
        let first = if is_subnormal || number == 0.0 { 1 } else { usual };
        (first..most).map(shown).find(is_same).unwrap_or_else(|| shown(most))
    }
}

/// Consumes the size after the letter of a floating-point type: one of C's types, a number, or 8.
fn take_float_size(rest: &mut &[u8]) -> usize {
    let named = match rest.first() {
        Some(b'F') => 4,
        Some(b'D') => 8,
        Some(b'L') => 16,
        Some(byte) if byte.is_ascii_digit() => return take_size(rest),
        _ => return 8,
    };
    *rest = &rest[1..];
    named
}

/// Consumes the size after the letter of a type: one of C's types, a number, or 4.
fn take_size(rest: &mut &[u8]) -> usize {
    let named = match rest.first() {
        Some(b'C') => 1,
        Some(b'S') => 2,
        Some(b'I') => 4,
        Some(b'L') => 8,
        _ => 0,
    };
    let digit_count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (size, length) = match (named, digit_count) {
        (0, 0) => (4, 0),
        // A number that is too large is as invalid as 0.
        (0, count) => {
            (std::str::from_utf8(&rest[..count]).ok().and_then(|digits| digits.parse().ok()).unwrap_or(0), count)
        }
        (named, _) => (named, 1),
    };
    *rest = &rest[length..];
    size
}

fn character_name(byte: u8) -> String {
    let byte = byte & 0x7f;
    match CHARACTER_NAMES.get(usize::from(byte)) {
        Some(name) => (*name).to_owned(),
        None if byte == 0x7f => "del".to_owned(),
        None => char::from(byte).to_string(),
    }
}
