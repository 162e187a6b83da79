//! Redaction of random text with random secrets, in parts of random length.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn redactor(secrets: &[&str]) -> Arc<Redactor> {
    let names: Vec<String> = (0..secrets.len()).map(|index| format!("K{index}")).collect();
    let named = names.iter().map(String::as_str).zip(secrets.iter().map(|secret| secret.as_bytes()));
    Arc::new(Redactor::new(named))
}

fn redact(secrets: &[&str], text: &str) -> String {
    let redacted = redactor(secrets).redact(text.as_bytes());
    redacted.map_or_else(|| text.to_owned(), |bytes| String::from_utf8(bytes).expect("it stays text"))
}

/// Redacts bytes in parts of these lengths, which are repeated.
fn in_parts(redactor: &Arc<Redactor>, bytes: &[u8], lengths: &[usize]) -> Vec<u8> {
    let mut stream = StreamRedactor::new(Arc::clone(redactor), vec![true; redactor.names.len()]);
    let (mut redacted, mut rest) = (Vec::new(), bytes);
    for length in lengths.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (part, after) = rest.split_at((*length).min(rest.len()));
        stream.push(part, &mut redacted);
        rest = after;
    }
    stream.finish(&mut redacted);
    assert!(!stream.is_holding());
    redacted
}

fn percent(text: &[u8], every: bool, upper: bool) -> String {
    let encode = |byte: &u8| match byte {
        byte if !every && byte.is_ascii_alphanumeric() => char::from(*byte).to_string(),
        byte if upper => format!("%{byte:02X}"),
        byte => format!("%{byte:02x}"),
    };
    text.iter().map(encode).collect()
}

fn json_string(text: &str) -> String {
    serde_json::to_string(text).expect("a string is JSON")
}

fn json_escaped(text: &str) -> String {
    text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect()
}

/// Breaks a text into lines of this length.
fn in_lines(text: &str, length: usize, end: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let lines: Vec<String> = chars.chunks(length).map(|line| line.iter().collect()).collect();
    lines.join(end)
}

/// Puts some letters among hexadecimal digits into capitals.
fn mixed(hex: &str) -> String {
    let mix = |(at, c): (usize, char)| if at % 3 == 0 { c.to_ascii_uppercase() } else { c };
    hex.chars().enumerate().map(mix).collect()
}

/// Returns a text with the references to characters that templates for HTML write, in this radix.
fn html(text: &str, radix: u32) -> String {
    let encode = |c: char| match (c, radix) {
        ('&', _) => "&amp;".to_owned(),
        ('<', _) => "&lt;".to_owned(),
        ('>', _) => "&gt;".to_owned(),
        ('"', 10) => "&quot;".to_owned(),
        ('a'..='z' | 'A'..='Z' | ' ', _) => c.to_string(),
        (c, 10) => format!("&#{};", u32::from(c)),
        (c, _) => format!("&#x{:04X};", u32::from(c)),
    };
    text.chars().map(encode).collect()
}

/// Returns the digits of base32.
fn base32(text: &str) -> String {
    let bits: Vec<u8> = text.bytes().flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1)).collect();
    let digits = bits.chunks(5).map(|bits| (0..5).fold(0, |digit, at| digit << 1 | bits.get(at).copied().unwrap_or(0)));
    digits.map(|digit| char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[usize::from(digit)])).collect()
}

/// Returns a text as it is and in every known encoding, alone and nested.
fn forms(secret: &str, before: &str, after: &str) -> Vec<String> {
    let whole = format!("{before}{secret}{after}");
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let form = |text: &str| percent(text.as_bytes(), false, true).replace("%20", "+");
    let quoted = json_string(&whole);
    vec![
        whole.clone(),
        quoted.clone(),
        json_string(&quoted),
        quoted.replace('/', "\\/"),
        json_escaped(&whole),
        json_string(&json_escaped(&whole)),
        percent(whole.as_bytes(), true, true),
        percent(whole.as_bytes(), true, false),
        percent(whole.as_bytes(), false, true),
        percent(percent(whole.as_bytes(), false, true).as_bytes(), false, true),
        percent(quoted.as_bytes(), false, false),
        form(&whole),
        json_string(&form(&whole)),
        hex.to_uppercase(),
        mixed(&hex),
        json_string(&in_lines(&mixed(&hex), 60, "\n")),
        hex,
        in_lines(&STANDARD.encode(&whole), 76, "\r\n"),
        in_lines(&STANDARD.encode(&whole), 7, "\n"),
        in_lines(&URL_SAFE.encode(&whole), 5, "\n\t"),
        json_string(&json_string(&in_lines(&STANDARD.encode(&whole), 19, "\r\n"))),
        percent(in_lines(&STANDARD.encode(&whole), 19, "\r\n").as_bytes(), false, false),
        STANDARD.encode(&whole),
        URL_SAFE.encode(&whole),
        percent(STANDARD.encode(&whole).as_bytes(), false, true),
        STANDARD.encode(&whole).replace('/', "\\/"),
        html(&whole, 10),
        html(&whole, 16),
        html(&html(&whole, 10), 10),
        json_string(&html(&whole, 16)),
        html(&json_string(&whole), 10),
        html(&STANDARD.encode(&whole), 16),
        STANDARD.encode(STANDARD.encode(&whole)),
        URL_SAFE.encode(URL_SAFE.encode(&whole)),
        in_lines(&STANDARD.encode(STANDARD.encode(&whole)), 76, "\r\n"),
        STANDARD.encode(hexadecimal(whole.as_bytes())),
        STANDARD.encode(wide(&whole)),
        mixed(&hexadecimal(&wide(&whole))),
        base32(&whole),
        in_lines(&mixed(&base32(&whole)), 60, "\n"),
    ]
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a text in UTF-16, the low byte of each unit first.
fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Returns true if only the placeholder is left of a secret.
fn is_gone(redacted: &str) -> bool {
    redacted.contains("{{secret:K")
}

#[test]
fn redactor_replaces_the_longest_of_overlapping_secrets() {
    let secrets = ["s3cr3t-Value", "s3cr3t-Value-RESTOFSECRET", "SECRET-and-more"];
    assert_eq!(redact(&secrets, "a s3cr3t-Value-RESTOFSECRET b"), "a {{secret:K1}} b");
    assert_eq!(redact(&secrets, "a s3cr3t-Value-REST b"), "a {{secret:K0}}-REST b");
    // Nothing of either secret is left where one ends in the other.
    assert_eq!(redact(&secrets, "s3cr3t-Value-RESTOFSECRET-and-more"), "{{secret:K1}}");
    assert_eq!(redact(&secrets, "s3cr3t-Values3cr3t-Value"), "{{secret:K0}}{{secret:K0}}");
    assert_eq!(redact(&["aaaaaa"], &"a".repeat(200_000)), "{{secret:K0}}");
}

#[test]
fn escapes_are_undone_in_any_mixture() {
    let secret = "p\"ss/w\\rd \u{e9}\u{1f600}";
    for text in [
        "p\\\"ss/w\\\\rd \u{e9}\u{1f600}",
        "p\\u0022ss\\/w\\u005crd \\u00e9\\ud83d\\ude00",
        "p\\x22ss/w\\\\rd \\xe9\\uD83D\\uDE00",
        "p%22ss%2fw%5Crd%20%c3%a9%F0%9f%98%80",
        "p%22ss/w%5Crd+%c3%a9%F0%9f%98%80",
        "p%5C%22ss/w%5c%5crd %5Cu00e9%5cud83d%5CuDE00",
        "p\\\\\\\"ss/w\\\\\\\\rd \u{e9}\u{1f600}",
    ] {
        assert_eq!(redact(&[secret], &format!("<{text}>")), "<{{secret:K0}}>", "{text}");
    }
    for text in [
        "p\\\"ss/w\\\\rd",
        "&",
        "&am",
        "&amp",
        "&#",
        "&#x",
        "&#;",
        "&#x;",
        "&#x110000;",
        "&#123456789;",
        "&lot;",
        "%",
        "\\",
        "\\u",
        "\\ud83d",
        "\\ud83d\\u",
        "\\ud83dx",
        "%4",
        "%zz",
        "\\q",
        "+",
    ] {
        assert_eq!(redact(&[secret], text), text);
    }
}

#[test]
fn utf_16_is_found_in_both_byte_orders() {
    let secret = "p\"ss/w\\rd \u{e9}\u{1f600}";
    for bytes in [u16::to_le_bytes, u16::to_be_bytes] as [fn(u16) -> [u8; 2]; 2] {
        let encode = |text: &str| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
        let redacted = [&encode("<")[..], b"{{secret:K0}}", &encode(">")].concat();
        let text = encode(&format!("<{secret}>"));
        assert_eq!(redactor(&[secret]).redact(&text).as_deref(), Some(&redacted[..]));
        assert_eq!(in_parts(&redactor(&[secret]), &text, &[3]), redacted);
    }
}

#[test]
fn hexadecimal_in_any_case_and_lines_of_base64_are_found() {
    let secret = "s3cr3t?>~value, as long as such values are, and some more of it";
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let base64 = STANDARD.encode(format!("a:{secret}"));
    for text in [mixed(&hex), in_lines(&mixed(&hex), 60, "\n")] {
        assert_eq!(redact(&[secret], &format!("<{text}>")), "<{{secret:K0}}>", "{text}");
    }
    for end in ["\n", "\r\n", "\r\n ", "\n\t", "\\n", "\\r\\n", "%0d%0a"] {
        let text = in_lines(&base64, 76, end);
        assert!(text.contains(end));
        // The first characters hold bits of `a:`, the last ones are padding.
        let redacted = redact(&[secret], &format!("<{text}>"));
        assert!(redacted.starts_with("<YTp{{secret:K0}}") && redacted.len() < 25, "{redacted}");
    }
    // Two line breaks end the text before them.
    for text in [in_lines(&base64, 30, "\n\n"), hex.replace('7', "8"), "one\ntwo\r\nthree\r".to_owned()] {
        assert_eq!(redact(&[secret], &text), text);
    }
    // A line break that may continue is held back, and no more than one.
    let redactor = redactor(&[secret]);
    let mut stream = StreamRedactor::new(redactor, vec![true]);
    let mut redacted = Vec::new();
    stream.push(b"event: \r\n\r", &mut redacted);
    assert_eq!(redacted, b"event: \r\n");
    stream.push(b"\nczNj", &mut redacted);
    assert_eq!(redacted, b"event: \r\n\r\n");
    stream.push(&b"\n".repeat(1000), &mut redacted);
    assert!(!stream.is_holding());
}

#[test]
fn stream_redactor_holds_back_only_possible_beginnings_of_secrets() {
    let redactor = redactor(&["s3cr3t-value"]);
    let mut stream = StreamRedactor::new(Arc::clone(&redactor), vec![true]);
    let mut redacted = Vec::new();
    for (part, so_far) in [
        ("event: 1\n\n", "event: 1\n\n"),
        ("<s3cr", "event: 1\n\n<"),
        ("3t-value>", "event: 1\n\n<{{secret:K0}}>"),
        ("%7", "event: 1\n\n<{{secret:K0}}>"),
        ("d", "event: 1\n\n<{{secret:K0}}>%7d"),
    ] {
        stream.push(part.as_bytes(), &mut redacted);
        assert_eq!(String::from_utf8_lossy(&redacted), so_far);
    }
    // A reader who may see a secret gets it.
    let mut stream = StreamRedactor::new(redactor, vec![false]);
    let mut whole = Vec::new();
    stream.push(b"s3cr3t-value", &mut whole);
    assert_eq!(whole, b"s3cr3t-value");
}

proptest! {
    #[test]
    fn redactor_removes_every_encoding_of_a_secret(
        secret in "[ -z|~\u{e0}-\u{ff}]{6,40}",
        before in "[ -z\u{e0}-\u{ff}]{0,20}",
        after in "[ -z\u{e0}-\u{ff}]{0,20}",
        lengths in vec(1_usize..40, 1..6),
    ) {
        let redactor = redactor(&[&secret]);
        for form in forms(&secret, &before, &after) {
            let redacted = redactor.redact(form.as_bytes());
            prop_assert!(redacted.is_some(), "{secret:?} in {form:?}");
            let redacted = redacted.unwrap_or_default();
            let text = String::from_utf8(redacted.clone()).expect("it stays text");
            prop_assert!(is_gone(&text), "{secret:?} in {form:?}: {text:?}");
            prop_assert!(redactor.redact(&redacted).is_none(), "{secret:?} in {form:?}: {text:?}");
            let parts = in_parts(&redactor, form.as_bytes(), &lengths);
            prop_assert_eq!(String::from_utf8_lossy(&parts), text, "{:?} in parts of {:?}", form, &lengths);
        }
    }

    #[test]
    fn redaction_in_parts_equals_redaction_whole(
        secrets in vec("[ab%\\\\4&;]{6,9}", 1..4),
        text in "([ab%\\\\4&;\n\r ]|&amp;|&#97;|&#x61;|%61|%25|\\\\u0061|\\\\\\\\|\\\\u005c){0,60}",
        lengths in vec(1_usize..9, 1..6),
    ) {
        let secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
        let redactor = redactor(&secrets);
        let whole = redactor.redact(text.as_bytes()).unwrap_or_else(|| text.clone().into_bytes());
        let parts = in_parts(&redactor, text.as_bytes(), &lengths);
        prop_assert_eq!(String::from_utf8_lossy(&parts), String::from_utf8_lossy(&whole));
        for secret in &secrets {
            prop_assert!(!String::from_utf8_lossy(&whole).contains(secret), "{:?}", secret);
        }
    }

    #[test]
    fn redactor_leaves_bytes_without_secret_unchanged(
        bytes in vec(any::<u8>(), 0..300),
        lengths in vec(1_usize..40, 1..6),
    ) {
        let redactor = redactor(&["s3cr3t-value", "another secret+%5c\\"]);
        prop_assert_eq!(redactor.redact(&bytes), None);
        prop_assert_eq!(in_parts(&redactor, &bytes, &lengths), bytes);
    }
}
