//! Body of a response: collected up to a limit, and returned as text or as bytes.

use crate::address::Address;
use crate::error::{Error, Kind};
use crate::headers::find;

/// Form in which a body is returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// Text if the body is text, and bytes otherwise.
    #[default]
    Auto,
    /// Text in any case.
    Text,
    /// Bytes in any case.
    Bytes,
}

/// Body in the requested form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Text, without a byte order mark.
    Text(String),
    /// Bytes, unchanged.
    Bytes(Vec<u8>),
}

/// Body that is collected chunk by chunk.
#[derive(Debug)]
pub struct Gathered {
    bytes: Vec<u8>,
    limit: u32,
}

impl Gathered {
    /// Creates an empty body. `announced` is the `content-length` of the response, if there is one.
    ///
    /// # Errors
    ///
    /// Text of `TooLarge` if the announced length exceeds `limit`.
    pub fn new(limit: u32, announced: Option<&str>) -> Result<Self, String> {
        let announced = announced.and_then(|length| length.trim().parse::<u64>().ok());
        match announced.filter(|length| *length > u64::from(limit)) {
            Some(length) => Err(format!("the answer's body has {length} bytes, more than `maxBytes`, {limit}")),
            // The buffer grows with the received data, because a server may announce any length.
            None => Ok(Self { bytes: Vec::new(), limit }),
        }
    }

    /// Appends a chunk to the body.
    ///
    /// # Errors
    ///
    /// Text of `TooLarge` if the body exceeds the limit.
    pub fn add(&mut self, chunk: &[u8]) -> Result<(), String> {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        if chunk.len() > limit.saturating_sub(self.bytes.len()) {
            return Err(format!("the answer's body has more than `maxBytes`, {limit} bytes"));
        }
        self.bytes.extend_from_slice(chunk);
        Ok(())
    }

    /// Returns all bytes of the body.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Character encoding of a body, according to the headers of the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Charset {
    /// UTF-8, or no announced encoding, in which case the body is UTF-8 if it is valid.
    Utf8,
    /// ASCII or Latin-1. As in browsers, both are decoded as windows-1252, a superset of them.
    Latin,
    /// Unknown encoding, or a compressed body.
    Unknown,
}

impl Charset {
    fn of(headers: &[(String, String)]) -> Self {
        let encoded = |encoding: &str| !encoding.is_empty() && !encoding.eq_ignore_ascii_case("identity");
        if find(headers, "content-encoding").is_some_and(encoded) {
            return Self::Unknown;
        }
        match charset(find(headers, "content-type").unwrap_or_default()) {
            None => Self::Utf8,
            Some(name) => match name.to_ascii_lowercase().as_str() {
                "utf-8" | "utf8" => Self::Utf8,
                "us-ascii" | "ascii" | "iso-8859-1" | "iso8859-1" | "iso_8859-1" | "latin1" | "latin-1" | "l1"
                | "windows-1252" | "cp1252" => Self::Latin,
                _ => Self::Unknown,
            },
        }
    }
}

/// Returns the parameter `charset` of a `content-type`.
fn charset(content_type: &str) -> Option<&str> {
    let parameters = content_type.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let mut charsets = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    charsets.next().map(|(_, value)| value.trim().trim_matches(['"', '\'']))
}

/// Converts a body to the requested form.
pub fn form(bytes: Vec<u8>, headers: &[(String, String)], form: Form) -> Body {
    match (form, Charset::of(headers)) {
        (Form::Bytes, _) | (Form::Auto, Charset::Unknown) => Body::Bytes(bytes),
        (_, Charset::Latin) => Body::Text(bytes.iter().copied().map(windows_1252).collect()),
        (Form::Text, _) => Body::Text(without_mark(lossy(bytes))),
        (Form::Auto, Charset::Utf8) => match String::from_utf8(bytes) {
            Ok(text) => Body::Text(without_mark(text)),
            Err(error) => Body::Bytes(error.into_bytes()),
        },
    }
}

/// Returns the text of a body that must be text.
///
/// # Errors
///
/// `NotText`.
pub fn text(bytes: Vec<u8>, headers: &[(String, String)], address: &Address) -> Result<String, Error> {
    match form(bytes, headers, Form::Auto) {
        Body::Text(text) => Ok(text),
        Body::Bytes(_) => {
            let content_type = find(headers, "content-type").unwrap_or("of no `content-type`");
            let message = format!("the answer is no text ({content_type}): fetch it with `fetch` and as `bytes`");
            Err(Error::at(address, Kind::NotText, message))
        }
    }
}

/// Checks that a text is JSON.
///
/// # Errors
///
/// `NotJson`, with the position of the error and the start of the text.
pub fn check_json(text: &str, address: &Address) -> Result<(), Error> {
    match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Ok(_) => Ok(()),
        Err(error) => {
            let start = crate::address::excerpt(text.trim_start());
            let message = format!("the answer is no JSON: {error}; it begins with `{}`", start.escape_debug());
            Err(Error::at(address, Kind::NotJson, message))
        }
    }
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn without_mark(text: String) -> String {
    match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    }
}

/// Decodes a character of windows-1252 by the table of the encoding standard: Latin-1 except for 0x80 to 0x9F.
fn windows_1252(byte: u8) -> char {
    const UPPER: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘',
        '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9f => UPPER[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn typed(content_type: &str) -> Vec<(String, String)> {
        vec![("content-type".to_owned(), content_type.to_owned())]
    }

    fn auto(bytes: &[u8], content_type: &str) -> Body {
        form(bytes.to_vec(), &typed(content_type), Form::Auto)
    }

    fn text_body(text: &str) -> Body {
        Body::Text(text.to_owned())
    }

    #[test]
    fn text_is_given_as_text() {
        for content_type in ["", "text/html", "text/html; charset=UTF-8", "text/html;charset=\"utf-8\"", "image/png"] {
            assert_eq!(auto("äß".as_bytes(), content_type), text_body("äß"), "{content_type}");
        }
        assert_eq!(auto(b"", "text/html"), text_body(""));
        assert_eq!(auto("\u{feff}a".as_bytes(), "text/plain"), text_body("a"));
        for content_type in
            ["text/plain; charset=ISO-8859-1", "a/b; x=y; Charset='latin1'", "text/css;charset=us-ascii"]
        {
            assert_eq!(auto(b"\xe4 \x80\x9f\xff", content_type), text_body("ä €Ÿÿ"), "{content_type}");
        }
    }

    #[test]
    fn body_that_is_no_text_is_returned_as_bytes() {
        for (bytes, content_type) in
            [(&b"\xff\xfe"[..], ""), (b"\xe4", "text/html;charset=utf-8"), (b"a", "text/plain;charset=utf-16")]
        {
            assert_eq!(auto(bytes, content_type), Body::Bytes(bytes.to_vec()));
        }
        let encoded = |encoding: &str| vec![("content-encoding".to_owned(), encoding.to_owned())];
        assert_eq!(form(b"a".to_vec(), &encoded("gzip"), Form::Auto), Body::Bytes(b"a".to_vec()));
        assert_eq!(form(b"a".to_vec(), &encoded("identity"), Form::Auto), text_body("a"));
    }

    #[test]
    fn body_is_returned_in_the_requested_form() {
        assert_eq!(form(b"a\xff".to_vec(), &[], Form::Text), text_body("a\u{fffd}"));
        assert_eq!(form(b"\xe4".to_vec(), &typed("a/b;charset=latin1"), Form::Text), text_body("ä"));
        assert_eq!(form(b"a".to_vec(), &typed("text/plain"), Form::Bytes), Body::Bytes(b"a".to_vec()));
    }

    #[test]
    fn body_beyond_max_bytes_is_refused_as_soon_as_known() {
        assert!(Gathered::new(4, Some("5")).expect_err("more").contains("5 bytes, more than `maxBytes`, 4"));
        let mut body = Gathered::new(4, Some("nonsense")).expect("nothing is known");
        body.add(b"abc").expect("room");
        assert!(body.add(b"de").is_err());
        body.add(b"d").expect("exactly the limit");
        assert_eq!(body.into_bytes(), b"abcd");
        assert!(Gathered::new(0, Some("0")).expect("no body").add(b"").is_ok());
    }

    #[test]
    fn json_body_is_checked_and_errors_are_explained() {
        let address = Address::parse("https://a.example/").expect("an address");
        check_json(" {\"a\": [1e999, null]} ", &address).expect("JSON");
        let error = check_json("\n<html>", &address).expect_err("no JSON");
        assert_eq!(error.kind, Kind::NotJson);
        assert!(error.message.contains("line 2 column 1") && error.message.contains("`<html>`"), "{error}");
        assert!(check_json("", &address).is_err());
        let error = text(vec![0xff], &typed("image/png"), &address).expect_err("no text");
        assert!(error.kind == Kind::NotText && error.message.contains("image/png"), "{error}");
    }

    proptest! {
        #[test]
        fn body_decoder_with_arbitrary_bytes_does_not_panic(bytes in any::<Vec<u8>>(), content_type in any::<String>()) {
            for wanted in [Form::Auto, Form::Text, Form::Bytes] {
                let body = form(bytes.clone(), &typed(&content_type), wanted);
                prop_assert!(wanted != Form::Text || matches!(body, Body::Text(_)));
            }
        }
    }
}
