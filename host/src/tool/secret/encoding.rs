//! Encodings of a secret that change every byte: hexadecimal and base64. Encodings that keep most bytes, as those of
//! JSON and of URLs do, are undone in the searched text instead: see `decoding`.

use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

/// Bytes that are zeroised when they are dropped.
pub(super) type ZeroizedBytes = Zeroizing<Vec<u8>>;

/// Returns a value and its encodings in base64, each once.
pub(super) fn encodings(value: &[u8]) -> Vec<ZeroizedBytes> {
    let mut all = vec![ZeroizedBytes::new(value.to_vec())];
    for phase in 0..3 {
        all.extend(base64(value, phase, &STANDARD_NO_PAD));
        all.extend(base64(value, phase, &URL_SAFE_NO_PAD));
    }
    all.sort_by(|one, other| one.as_slice().cmp(other.as_slice()));
    all.dedup();
    all
}

/// Returns a value in hexadecimal digits, whose letters may have either case.
pub(super) fn hexadecimal(value: &[u8]) -> ZeroizedBytes {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = ZeroizedBytes::new(Vec::with_capacity(2 * value.len()));
    for byte in value {
        text.extend([DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
    text
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
    }
}
