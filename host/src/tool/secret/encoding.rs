//! Encodings of a secret that change every byte: hexadecimal, base64, base32 and UTF-16, and of these in one another what is
//! usual. Encodings that keep most bytes, as those of JSON, of URLs and of HTML do, are undone in the searched text instead:
//! see `decoding`.

use base64::engine::general_purpose::{GeneralPurpose, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

/// Bytes that are zeroised when they are dropped.
pub(super) type ZeroizedBytes = Zeroizing<Vec<u8>>;

/// Maximum size of a value that is looked for in base64 of its encodings: they are forty texts, each up to twice as long as the
/// value, and all of them are in the automaton that searches.
const MAX_NESTED_BYTES: usize = 512;

/// Returns a value and its encodings in base64 and UTF-16 and, of a value of at most [`MAX_NESTED_BYTES`], in base64 of base64,
/// of hexadecimal digits and of UTF-16, each once.
pub(super) fn encodings(value: &[u8]) -> Vec<ZeroizedBytes> {
    let mut all = vec![ZeroizedBytes::new(value.to_vec())];
    for phase in 0..3 {
        all.extend(base64(value, phase, &STANDARD_NO_PAD));
        all.extend(base64(value, phase, &URL_SAFE_NO_PAD));
    }
    all.extend(utf16(value).into_iter().flatten());
    if value.len() <= MAX_NESTED_BYTES {
        all.extend(base64_of_encoded(value));
    }
    all.sort_by(|one, other| one.as_slice().cmp(other.as_slice()));
    all.dedup();
    all
}

/// Returns the encodings of a value whose letters may have either case: hexadecimal digits, also of UTF-16, and base32 after
/// any number of other bytes.
pub(super) fn encodings_in_any_case(value: &[u8]) -> Vec<ZeroizedBytes> {
    let mut all = vec![hexadecimal(value)];
    all.extend(utf16(value).into_iter().flatten().map(|text| hexadecimal(&text)));
    all.extend((0..5).flat_map(|phase| base32(value, phase)));
    all.sort_by(|one, other| one.as_slice().cmp(other.as_slice()));
    all.dedup();
    all
}

/// Returns the base64 of encodings of a value, in one alphabet each: credentials in base64 within a document that is itself
/// in base64, and what Windows passes to programs.
fn base64_of_encoded(value: &[u8]) -> Vec<ZeroizedBytes> {
    let phases = |inner: &[u8], engine: &GeneralPurpose| -> Vec<ZeroizedBytes> {
        (0..3).flat_map(|phase| base64(inner, phase, engine)).collect()
    };
    let digits = hexadecimal(value);
    let mut capitals = digits.clone();
    capitals.make_ascii_uppercase();
    let texts: Vec<ZeroizedBytes> = utf16(value).into_iter().flatten().chain([digits, capitals]).collect();
    let mut all = Vec::new();
    for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        let inner = phases(value, engine);
        all.extend(inner.iter().chain(&texts).flat_map(|text| phases(text, engine)));
    }
    all
}

/// Returns a value in hexadecimal digits, whose letters may have either case.
fn hexadecimal(value: &[u8]) -> ZeroizedBytes {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = ZeroizedBytes::new(Vec::with_capacity(2 * value.len()));
    for byte in value {
        text.extend([DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
    text
}

/// Returns the text of a value in UTF-16 of both byte orders; `None` if it is no text.
fn utf16(value: &[u8]) -> Option<[ZeroizedBytes; 2]> {
    let text = std::str::from_utf8(value).ok()?;
    let encode = |bytes: fn(u16) -> [u8; 2]| {
        // No unit comes from less than a byte.
        let mut encoded = ZeroizedBytes::new(Vec::with_capacity(2 * value.len()));
        text.encode_utf16().for_each(|unit| encoded.extend(bytes(unit)));
        encoded
    };
    Some([encode(u16::to_le_bytes), encode(u16::to_be_bytes)])
}

/// Returns the base32 of a value that follows `phase` other bytes, as [`base64`] does.
fn base32(value: &[u8], phase: usize) -> [ZeroizedBytes; 2] {
    const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let bits = (phase + value.len()) * 8;
    let bit = |at: usize| {
        let byte = (at / 8).checked_sub(phase).and_then(|index| value.get(index)).copied().unwrap_or_default();
        usize::from(byte >> (7 - at % 8) & 1)
    };
    let digit = |index: usize| (0..5).fold(0, |digit, offset| digit << 1 | bit(index * 5 + offset));
    [bits / 5, bits.div_ceil(5)].map(|end| {
        let mut text = ZeroizedBytes::new(Vec::with_capacity(end));
        text.extend(((phase * 8).div_ceil(5)..end).map(|index| DIGITS[digit(index)]));
        text
    })
}

/// Returns the base64 of a value that follows `phase` other bytes: the characters that hold bits of the value alone, and
/// these with the last character of a value that nothing follows, which holds some of its bits too.
fn base64(value: &[u8], phase: usize, engine: &impl base64::Engine) -> [ZeroizedBytes; 2] {
    let mut whole = ZeroizedBytes::new(Vec::with_capacity(phase + value.len()));
    whole.resize(phase, 0);
    whole.extend_from_slice(value);
    let text = ZeroizedBytes::new(engine.encode(&*whole).into_bytes());
    let (begin, end) = ((phase * 8).div_ceil(6), whole.len() * 8 / 6);
    [end, text.len()].map(|end| ZeroizedBytes::new(text[begin..end].to_vec()))
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;

    use super::*;

    #[test]
    fn encodings_hold_whatever_surrounds_the_value() {
        let value = b"s3cr3t?>~value";
        let all = encodings(value);
        let holds =
            |text: &[u8]| all.iter().any(|encoded| text.windows(encoded.len()).any(|part| part == &encoded[..]));
        for before in [&b""[..], b"a", b"ab", b"abc", b"abcd"] {
            for after in [&b""[..], b"z", b"zy", b"zyx"] {
                let whole = [before, value, after].concat();
                assert!(holds(STANDARD_NO_PAD.encode(&whole).as_bytes()), "{before:?} {after:?}");
                assert!(holds(URL_SAFE_NO_PAD.encode(&whole).as_bytes()), "{before:?} {after:?}");
            }
        }
        assert!(all.iter().any(|encoded| **encoded == STANDARD_NO_PAD.encode(value).into_bytes()), "to its last bit");
        assert_eq!(&**hexadecimal(value), b"7333637233743f3e7e76616c7565");
        assert!(!holds(b"s3cr3t?>~valu"));
        assert!(holds(b"s\x003\0c\0r\x003\0t\0?\0>\0~\0v\0a\0l\0u\0e\0"), "UTF-16, the low byte first");
        assert!(holds(b"\0s\x003\0c\0r\x003\0t\0?\0>\0~\0v\0a\0l\0u\0e"), "and the high byte first");
    }

    #[test]
    fn encodings_of_encodings_are_found_whatever_surrounds_them() {
        let value = b"s3cr3t?>~value";
        let (exact, any_case) = (encodings(value), encodings_in_any_case(value));
        let within = |all: &[ZeroizedBytes], text: &[u8]| {
            all.iter().any(|encoded| text.windows(encoded.len()).any(|part| part == &encoded[..]))
        };
        let digits = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let [low_first, high_first] = utf16(value).expect("it is a text");
        assert!(within(&any_case, digits(&low_first).as_bytes()) && within(&any_case, digits(&high_first).as_bytes()));
        for before in ["", "a", "ab", "abc", "abcd"] {
            for after in ["", "z", "zy", "zyx"] {
                let framed = |inner: &[u8]| [before.as_bytes(), inner, after.as_bytes()].concat();
                for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
                    let inner = engine.encode(framed(value));
                    let hex = digits(value);
                    for text in
                        [inner.as_bytes(), hex.as_bytes(), hex.to_uppercase().as_bytes(), &low_first, &high_first]
                    {
                        let outer = engine.encode(framed(text));
                        assert!(within(&exact, outer.as_bytes()), "{before:?} {after:?} {outer}");
                    }
                }
                assert!(
                    !within(&exact, STANDARD_NO_PAD.encode(framed(b"czNjcjN0Pz5+dmFsd")).as_bytes()),
                    "another value"
                );
            }
        }
    }

    /// The texts are of Python's `base64.b32encode`, after none, one and four other bytes.
    #[test]
    fn base32_is_found_after_other_bytes() {
        let all = encodings_in_any_case(b"s3cr3t?>~value");
        for text in ["omzwg4rtoq7t47twmfwhkzi", "mfztgy3sgn2d6pt6ozqwy5lfpi", "mfrggzdtgnrxem3uh47h45tbnr2wk"] {
            assert!(
                all.iter().any(|encoded| text.as_bytes().windows(encoded.len()).any(|part| part == &encoded[..])),
                "{text}"
            );
        }
    }
}
