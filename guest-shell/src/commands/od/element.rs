//! Types of elements, and conversion of elements to text.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use crate::commands::byte_text::character_or_escape;

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
                b'f' => return Err(format!("floating-point type string '{text}' is not supported in bashkit")),
                letter => {
                    return Err(format!("invalid character '{}' in type string '{text}'", char::from(*letter)));
                }
            };
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
            ElementForm::Signed => {
                // The sign is shifted to the highest bit and back.
                let shift = 64 - 8 * self.size;
                (((value << shift) as i64) >> shift).to_string()
            }
        }
    }
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
