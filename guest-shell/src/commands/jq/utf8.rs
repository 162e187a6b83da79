//! Conversion of bytes that may not be UTF-8 to text, in jq's manner.

/// Decodes bytes as UTF-8. A sequence that is not a character becomes U+FFFD.
///
/// The standard library inserts more replacements. jq inserts a single one for a surrogate, for an overlong form, and
/// for a sequence that the end cuts off, including everything after its first byte.
pub(crate) fn text_of(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Err(error) = std::str::from_utf8(rest) {
        let (valid, broken) = rest.split_at(error.valid_up_to());
        text.push_str(std::str::from_utf8(valid).unwrap_or_default());
        text.push(char::REPLACEMENT_CHARACTER);
        rest = &broken[broken_length(broken)..];
    }
    text.push_str(std::str::from_utf8(rest).unwrap_or_default());
    text
}

/// Returns the number of bytes that one replacement stands for. The bytes begin with an invalid sequence.
fn broken_length(bytes: &[u8]) -> usize {
    let announced = match bytes.first() {
        Some(0xC2..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        Some(0xF0..=0xF4) => 4,
        _ => 1,
    };
    if announced > bytes.len() {
        return bytes.len();
    }
    1 + bytes[1..announced].iter().take_while(|byte| **byte & 0xC0 == 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::text_of;

    #[test]
    fn bytes_that_are_no_text_are_replaced_as_in_jq() {
        let cases: [(&[u8], &str); 6] = [
            (b"a\xC3\xA9", "a\u{E9}"),
            (b"\x80\xFFa", "\u{FFFD}\u{FFFD}a"),
            (b"\xED\xA0\x80a", "\u{FFFD}a"),
            (b"\xE9abc", "\u{FFFD}abc"),
            (b"\xE9a", "\u{FFFD}"),
            (b"\xF0\x9F\x98", "\u{FFFD}"),
        ];
        for (bytes, text) in cases {
            assert_eq!(text_of(bytes), text, "{bytes:?}");
        }
    }
}
