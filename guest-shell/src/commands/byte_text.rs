//! Text for bytes in dumps.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

/// Returns a byte as `od -c` and `hexdump -c` show it: a character, an escape of C or three octal digits.
pub(super) fn character_or_escape(byte: u8) -> String {
    match byte {
        0 => "\\0".to_owned(),
        7 => "\\a".to_owned(),
        8 => "\\b".to_owned(),
        b'\t' => "\\t".to_owned(),
        b'\n' => "\\n".to_owned(),
        11 => "\\v".to_owned(),
        12 => "\\f".to_owned(),
        b'\r' => "\\r".to_owned(),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("{byte:03o}"),
    }
}

/// Returns a byte as the text beside a dump has it: a printable character or a dot.
pub(super) fn printable_or_dot(byte: u8) -> char {
    if (b' '..=b'~').contains(&byte) { char::from(byte) } else { '.' }
}
