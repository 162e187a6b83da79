//! Decoding of bytes: escapes of URLs, of JSON and of HTML are undone and lines are joined, with the original position of each
//! byte.
//!
//! A writer chooses which characters it escapes, and how: a list of all spellings of a secret would never be complete.
//! So the escapes are undone, in every order up to [`DEPTH`], and the plain value is searched for in the results.
//! Encoders of base64 break lines anywhere: so each result is also searched with its lines joined.

use std::ops::Range;

use super::encoding::ZeroizedBytes;

/// Nested encodings that are undone: JSON in a URL, JSON in JSON.
const DEPTH: usize = 2;

/// Kind of escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EscapeKind {
    /// Percent escapes of URLs: `%2f`.
    Percent,
    /// Percent escapes, and `+` for a space, in forms.
    Form,
    /// Escapes in strings of JSON: `\/`, `\u002f`; also `\x2f`, as other languages have it.
    Json,
    /// References to characters in HTML and XML: `&amp;`, `&#47;`, `&#x2f;`.
    Html,
}

const ALL: [EscapeKind; 4] = [EscapeKind::Form, EscapeKind::Percent, EscapeKind::Json, EscapeKind::Html];

/// Names that encoders of HTML and XML write, with the bytes that they stand for.
const HTML_NAMES: [(&[u8], u8); 5] = [(b"amp", b'&'), (b"lt", b'<'), (b"gt", b'>'), (b"quot", b'"'), (b"apos", b'\'')];

/// Most digits of a reference to a character, with zeros in front.
const MAX_HTML_DIGITS: usize = 8;

/// Decoded bytes with their original positions.
pub(super) struct DecodedView {
    pub(super) bytes: ZeroizedBytes,
    /// Original range of each byte. `None` if nothing was decoded.
    places: Option<Vec<Range<u32>>>,
    /// Start of an incomplete escape at the end.
    pub(super) cut: Option<usize>,
}

impl DecodedView {
    /// Returns all decodings of `bytes`, which are no more than `u32::MAX`; `+` is decoded as a space only where a
    /// space matters. Unless these are the `last` bytes, an incomplete escape may be at their end.
    pub(super) fn all(bytes: &[u8], spaces: bool, last: bool) -> Vec<Self> {
        let all = if spaces { &ALL[..] } else { &ALL[1..] };
        let mut views = vec![Self { bytes: ZeroizedBytes::new(bytes.to_vec()), places: None, cut: None }];
        let mut outer = 0..1;
        for _ in 0..DEPTH {
            let inner = views.len();
            for index in outer {
                let decoded: Vec<Self> = all.iter().filter_map(|escapes| views[index].decode(*escapes, last)).collect();
                views.extend(decoded);
            }
            outer = inner..views.len();
        }
        let joined: Vec<Self> = views.iter().filter_map(|view| view.join(last)).collect();
        views.extend(joined);
        views
    }

    /// Returns the bytes with lines joined. Returns `None` if there is only one line.
    fn join(&self, last: bool) -> Option<Self> {
        if !self.bytes.iter().copied().any(is_of_line_break) {
            return None;
        }
        let mut view =
            Self { bytes: ZeroizedBytes::new(Vec::with_capacity(self.bytes.len())), places: None, cut: self.cut };
        let mut places = Vec::with_capacity(self.bytes.len());
        let mut rest = 0..self.bytes.len();
        while let Some(first) = self.bytes.get(rest.start) {
            let length = line_break(&self.bytes[rest.clone()]);
            if length > 0 {
                rest.start += length;
            } else if *first == b'\r' && rest.len() == 1 && !last {
                // The byte may be half of a line break.
                view.cut = Some(self.place(rest.start).start);
                break;
            } else {
                let place = self.place(rest.start);
                places.push(narrow(place.start)..narrow(place.end));
                view.bytes.push(*first);
                rest.start += 1;
            }
        }
        view.places = Some(places);
        Some(view)
    }

    /// Returns the original range of the byte at an index.
    pub(super) fn place(&self, index: usize) -> Range<usize> {
        match &self.places {
            None => index..index + 1,
            Some(places) => wide(places[index].start)..wide(places[index].end),
        }
    }

    /// Returns the start of the escape around a position, if there is one.
    pub(super) fn escape_around(&self, place: usize) -> Option<usize> {
        let places = self.places.as_ref()?;
        let next = places.partition_point(|range| wide(range.end) <= place);
        let start = wide(places.get(next)?.start);
        (start < place).then_some(start)
    }

    /// Returns the bytes with these escapes undone. Returns `None` if there are none.
    fn decode(&self, escapes: EscapeKind, last: bool) -> Option<Self> {
        if !self.bytes.iter().any(|byte| escapes.may_begin_with(*byte)) {
            return None;
        }
        let mut view =
            Self { bytes: ZeroizedBytes::new(Vec::with_capacity(self.bytes.len())), places: None, cut: self.cut };
        let mut places = Vec::with_capacity(self.bytes.len());
        let (mut at, mut changed) = (0, false);
        while at < self.bytes.len() {
            let mut push = |decoded: &[u8], length: usize| {
                let place = narrow(self.place(at).start)..narrow(self.place(at + length - 1).end);
                view.bytes.extend_from_slice(decoded);
                places.extend(std::iter::repeat_n(place, decoded.len()));
            };
            match escapes.read(&self.bytes[at..]) {
                EscapeMatch::Whole { decoded, length } => {
                    push(decoded.as_bytes(), length);
                    at += length;
                    changed = true;
                }
                EscapeMatch::Cut if !last => {
                    // Bytes behind an incomplete escape are decoded when it is complete.
                    view.cut = Some(self.place(at).start);
                    changed = true;
                    break;
                }
                EscapeMatch::Cut | EscapeMatch::None => {
                    push(&self.bytes[at..=at], 1);
                    at += 1;
                }
            }
        }
        view.places = Some(places);
        changed.then_some(view)
    }
}

/// Returns true for a byte that may begin a line break.
pub(super) fn is_of_line_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Returns the length of the line break at the beginning of the bytes: a single one, followed by one blank at most, as
/// in folded lines of headers. Without that limit a reader would have to wait for any number of them.
fn line_break(bytes: &[u8]) -> usize {
    let length = match bytes {
        [b'\n', ..] => 1,
        [b'\r', b'\n', ..] => 2,
        _ => return 0,
    };
    let length = length + usize::from(matches!(bytes.get(length), Some(b' ' | b'\t')));
    if bytes.get(length).copied().is_some_and(is_of_line_break) { 0 } else { length }
}

fn wide(place: u32) -> usize {
    usize::try_from(place).expect("an address of this machine has at least 32 bits")
}

fn narrow(place: usize) -> u32 {
    u32::try_from(place).expect("so long is nothing that is read at once")
}

/// Escape at the beginning of bytes.
enum EscapeMatch {
    /// No escape here.
    None,
    /// Possible beginning of an escape.
    Cut,
    /// Complete escape of this length.
    Whole { decoded: DecodedChar, length: usize },
}

/// Decoded value of an escape.
struct DecodedChar {
    bytes: [u8; 4],
    length: usize,
}

impl DecodedChar {
    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl From<u8> for DecodedChar {
    fn from(byte: u8) -> Self {
        Self { bytes: [byte, 0, 0, 0], length: 1 }
    }
}

impl From<char> for DecodedChar {
    fn from(character: char) -> Self {
        let mut bytes = [0; 4];
        let length = character.encode_utf8(&mut bytes).len();
        Self { bytes, length }
    }
}

impl EscapeMatch {
    fn whole(decoded: impl Into<DecodedChar>, length: usize) -> Self {
        Self::Whole { decoded: decoded.into(), length }
    }
}

impl EscapeKind {
    fn may_begin_with(self, byte: u8) -> bool {
        match self {
            // Without a `+`, one view is enough.
            Self::Form => byte == b'+',
            Self::Percent => byte == b'%',
            Self::Json => byte == b'\\',
            Self::Html => byte == b'&',
        }
    }

    /// Returns the escape that the bytes begin with. There is at least one byte.
    fn read(self, bytes: &[u8]) -> EscapeMatch {
        match (self, bytes[0]) {
            (Self::Form, b'+') => EscapeMatch::whole(b' ', 1),
            (Self::Percent | Self::Form, b'%') => match digits(&bytes[1..], 2) {
                HexDigits::Value(value) => EscapeMatch::whole(u8::try_from(value).expect("two digits"), 3),
                HexDigits::Cut => EscapeMatch::Cut,
                HexDigits::None => EscapeMatch::None,
            },
            (Self::Json, b'\\') => json(bytes),
            (Self::Html, b'&') => html(&bytes[1..]),
            _ => EscapeMatch::None,
        }
    }
}

/// Decodes a reference to a character, of which these are the bytes after the `&`.
fn html(bytes: &[u8]) -> EscapeMatch {
    for (name, byte) in HTML_NAMES {
        let known = bytes.len().min(name.len());
        if bytes[..known] == name[..known] {
            match bytes.get(name.len()) {
                Some(b';') => return EscapeMatch::whole(byte, name.len() + 2),
                None => return EscapeMatch::Cut,
                Some(_) => {}
            }
        }
    }
    let (radix, first) = match bytes {
        [] | [b'#'] => return EscapeMatch::Cut,
        [b'#', b'x' | b'X', ..] => (16, 2),
        [b'#', ..] => (10, 1),
        _ => return EscapeMatch::None,
    };
    let mut value: u32 = 0;
    for (count, byte) in bytes[first..].iter().enumerate() {
        match char::from(*byte).to_digit(radix) {
            // Eight digits of either kind are a number of 32 bits.
            Some(digit) if count < MAX_HTML_DIGITS => value = value * radix + digit,
            None if *byte == b';' && count > 0 => {
                // The `&`, what is before the digits, the digits and the `;`.
                let length = first + count + 2;
                return char::from_u32(value).map_or(EscapeMatch::None, |read| EscapeMatch::whole(read, length));
            }
            _ => return EscapeMatch::None,
        }
    }
    EscapeMatch::Cut
}

/// Decodes an escape of JSON, which begins with `\`.
fn json(bytes: &[u8]) -> EscapeMatch {
    let plain = match bytes.get(1) {
        None => return EscapeMatch::Cut,
        Some(b'u') => return unicode(bytes),
        Some(b'x') => {
            return match digits(&bytes[2..], 2) {
                HexDigits::Value(value) => {
                    char::from_u32(value).map_or(EscapeMatch::None, |read| EscapeMatch::whole(read, 4))
                }
                HexDigits::Cut => EscapeMatch::Cut,
                HexDigits::None => EscapeMatch::None,
            };
        }
        Some(b'b') => 8,
        Some(b'f') => 12,
        Some(b'n') => b'\n',
        Some(b'r') => b'\r',
        Some(b't') => b'\t',
        Some(other) if other.is_ascii_punctuation() => *other,
        Some(_) => return EscapeMatch::None,
    };
    EscapeMatch::whole(plain, 2)
}

/// Decodes `\u002f`, or a pair of surrogates.
fn unicode(bytes: &[u8]) -> EscapeMatch {
    let high = match digits(&bytes[2..], 4) {
        HexDigits::Value(value) => value,
        HexDigits::Cut => return EscapeMatch::Cut,
        HexDigits::None => return EscapeMatch::None,
    };
    if let Some(character) = char::from_u32(high) {
        return EscapeMatch::whole(character, 6);
    }
    let rest = &bytes[6..];
    let begun = &b"\\u"[..rest.len().min(2)];
    let low = match digits(rest.get(2..).unwrap_or_default(), 4) {
        _ if !rest.starts_with(begun) => return EscapeMatch::whole(char::REPLACEMENT_CHARACTER, 6),
        _ if rest.len() < 2 => return EscapeMatch::Cut,
        HexDigits::Value(value) => value,
        HexDigits::Cut => return EscapeMatch::Cut,
        HexDigits::None => return EscapeMatch::whole(char::REPLACEMENT_CHARACTER, 6),
    };
    match char::decode_utf16([high, low].map(|unit| u16::try_from(unit).expect("four digits"))).next() {
        Some(Ok(character)) => EscapeMatch::whole(character, 12),
        _ => EscapeMatch::whole(char::REPLACEMENT_CHARACTER, 6),
    }
}

/// Hexadecimal digits at the beginning of bytes.
enum HexDigits {
    None,
    /// Too few digits, at the end of the bytes.
    Cut,
    Value(u32),
}

fn digits(bytes: &[u8], count: usize) -> HexDigits {
    let mut value = 0;
    for index in 0..count {
        match bytes.get(index).map(|digit| char::from(*digit).to_digit(16)) {
            None => return HexDigits::Cut,
            Some(None) => return HexDigits::None,
            Some(Some(digit)) => value = value << 4 | digit,
        }
    }
    HexDigits::Value(value)
}
