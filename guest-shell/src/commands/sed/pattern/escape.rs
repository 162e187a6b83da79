//! Escapes in expressions that stand for a character.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use crate::commands::byte_text::bytes_escape;

/// Reads an escape of GNU sed that makes a character (`\dNNN`, `\oNNN`, `\xHH` or `\cX`), whose letter is `chars[i]`.
/// Returns the character, and the number of characters behind the letter that belong to the escape. In a replacement the
/// character is literal: `s/z/\x26/` inserts `&`, not the match (GNU bug 30794).
pub(in crate::commands::sed) fn numeric_escape(chars: &[char], i: usize) -> Option<(char, usize)> {
    let (character, end) = bytes_escape(chars, i, byte_escape)?;
    Some((character, end - i - 1))
}

/// Reads the byte of one such escape. Returns it and where the escape ends.
fn byte_escape(chars: &[char], i: usize) -> Option<(u8, usize)> {
    let (radix, max) = match chars.get(i)? {
        'd' => (10, 3),
        'o' => (8, 3),
        'x' => (16, 2),
        'c' => {
            let x = chars.get(i + 1)?.to_ascii_uppercase();
            return x.is_ascii().then_some(((x as u8) ^ 0x40, i + 2));
        }
        _ => return None,
    };
    let digits: String = chars[i + 1..].iter().take(max).take_while(|c| c.is_digit(radix)).collect();
    let n = u8::from_str_radix(&digits, radix).ok()?;
    Some((n, i + 1 + digits.len()))
}

/// Returns the character of an escape of one letter, which GNU sed converts everywhere in an expression, in brackets,
/// too.
pub(super) fn simple_escape(c: char) -> Option<char> {
    Some(match c {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'f' => '\x0c',
        'v' => '\x0b',
        'a' => '\x07',
        _ => return None,
    })
}
