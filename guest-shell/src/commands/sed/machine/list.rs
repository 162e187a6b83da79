//! The form in which `l` prints.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

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
    match byte {
        b'\\' => "\\\\".to_string(),
        0x07 => "\\a".to_string(),
        0x08 => "\\b".to_string(),
        0x0c => "\\f".to_string(),
        b'\n' => "\\n".to_string(),
        b'\r' => "\\r".to_string(),
        b'\t' => "\\t".to_string(),
        0x0b => "\\v".to_string(),
        _ if byte.is_ascii_graphic() || byte == b' ' => char::from(byte).to_string(),
        _ => format!("\\{byte:03o}"),
    }
}
