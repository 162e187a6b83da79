//! The form in which `l` prints.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use crate::commands::byte_text::control_escape;

/// Returns a text with escapes for what is not printable, with `$` at its end, and wrapped behind a backslash at a width.
/// The width 0 wraps nothing.
pub(crate) fn listed(text: &str, width: usize, separator: char) -> String {
    let mut output = String::new();
    let mut column = 0;
    // Byte by byte: a line may be cut between the bytes of one character.
    for &byte in bashkit::bytes_of(text).iter() {
        let escape = escaped(byte);
        if width > 0 && column + escape.len() > width - 1 {
            output.push('\\');
            output.push(separator);
            column = 0;
        }
        column += escape.len();
        output.push_str(&escape);
    }
    output.push('$');
    output
}

fn escaped(byte: u8) -> String {
    match (byte, control_escape(byte)) {
        (b'\\', _) => "\\\\".to_owned(),
        (_, Some(letter)) => format!("\\{letter}"),
        (b' '..=b'~', _) => char::from(byte).to_string(),
        _ => format!("\\{byte:03o}"),
    }
}
