//! Text for bytes: in dumps, and for escapes of numbers in patterns.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::stream::character_of_byte;

/// Returns a byte as `od -c` and `hexdump -c` show it: a character, an escape of C or three octal digits.
pub(super) fn character_or_escape(byte: u8) -> String {
    match (byte, control_escape(byte)) {
        (0, _) => "\\0".to_owned(),
        (_, Some(letter)) => format!("\\{letter}"),
        (b' '..=b'~', _) => char::from(byte).to_string(),
        _ => format!("{byte:03o}"),
    }
}

/// Returns the letter of C's escape for a control character (`n` for a line break), if it has one.
pub(super) fn control_escape(byte: u8) -> Option<char> {
    Some(match byte {
        7 => 'a',
        8 => 'b',
        b'\t' => 't',
        b'\n' => 'n',
        11 => 'v',
        12 => 'f',
        b'\r' => 'r',
        _ => return None,
    })
}

/// Returns a byte as the text beside a dump has it: a printable character or a dot.
pub(super) fn printable_or_dot(byte: u8) -> char {
    if (b' '..=b'~').contains(&byte) { char::from(byte) } else { '.' }
}

/// Function that reads the number of an escape from a position on, and returns it with the position behind it.
type ReadNumber = fn(&[char], usize) -> Option<(u8, usize)>;

/// Returns what an escape of a number means (`\303`, `\xc3`), with `chars[at]` behind the backslash: a byte, or the
/// character whose UTF-8 the byte and the escapes behind it are. `number` reads one. Also returns where what follows begins.
pub(super) fn bytes_escape(chars: &[char], at: usize, number: ReadNumber) -> Option<(char, usize)> {
    let (first, behind) = number(chars, at)?;
    let mut bytes = vec![first];
    let mut end = behind;
    loop {
        if let Some(character) = std::str::from_utf8(&bytes).ok().and_then(|text| text.chars().next()) {
            return Some((character, end));
        }
        let next = chars.get(end).filter(|next| **next == '\\').and_then(|_| number(chars, end + 1));
        match next {
            Some((byte, behind)) if bytes.len() < 4 => {
                bytes.push(byte);
                end = behind;
            }
            _ => return Some((character_of_byte(first), behind)),
        }
    }
}
