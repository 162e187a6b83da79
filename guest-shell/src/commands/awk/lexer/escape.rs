//! Escapes in strings of programs, and in text of the command line.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::str::Chars;

use bashkit::stream::{character_of_byte, with_bytes_joined};

/// Returns the character of an escape of one letter, or of one that stands for itself.
pub(super) fn simple_escape(letter: char) -> Option<char> {
    Some(match letter {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'v' => '\x0b',
        '\\' | '"' | '/' => letter,
        _ => return None,
    })
}

/// Reads up to `most` digits. Returns their number, or none without a digit.
pub(super) fn read_digits(chars: &mut Chars<'_>, radix: u32, most: usize) -> Option<u32> {
    let mut number = None;
    for _ in 0..most {
        let Some(digit) = chars.clone().next().and_then(|next| next.to_digit(radix)) else { break };
        number = Some(number.unwrap_or(0_u32).saturating_mul(radix).saturating_add(digit));
        chars.next();
    }
    number
}

/// Adds the character of a byte, of which gawk takes the low eight bits.
pub(super) fn push_byte(out: &mut String, value: u32) {
    out.push(character_of_byte((value & 0xff) as u8));
}

/// Returns text of the command line (`-v`, `var=value` operands, `-F`) with its escapes replaced.
pub(in crate::commands::awk) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(next) = chars.next() {
        if next != '\\' {
            out.push(next);
            continue;
        }
        match chars.clone().next() {
            None => out.push('\\'),
            Some('0'..='7') => push_byte(&mut out, read_digits(&mut chars, 8, 3).unwrap_or(0)),
            Some(letter) => {
                chars.next();
                match (simple_escape(letter), letter) {
                    (Some(character), _) => out.push(character),
                    (None, 'x') => match read_digits(&mut chars, 16, 2) {
                        Some(byte) => push_byte(&mut out, byte),
                        None => out.push_str("\\x"),
                    },
                    (None, _) => out.extend(['\\', letter]),
                }
            }
        }
    }
    with_bytes_joined(out)
}
