//! Bounded reading of JSON that guests and servers make.
//!
//! A parsed text takes a multiple of its length: `[0,0,0]` has two bytes for each value, and a [`Value`] takes 72. So
//! values are counted as they are read, and reading stops at the first value beyond the bound.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::Serialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Deepest nesting of values. `serde_json` reads 127 levels, and a log, a result or an answer nests its values a few
/// levels deeper: a script must not be able to write values that make a log unreadable.
const MAX_DEPTH: usize = 100;

/// Approximate bytes of an object's member besides its key's text and its value: an entry of an index map.
const MEMBER_BYTES: u64 = 48;

/// Reason why a text was not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// The text is not JSON, or nests too deep; with a description of the problem.
    #[error("{0}")]
    Malformed(String),
    /// The value would take more memory than it may; with the bound in bytes.
    #[error("its values take more than {0} bytes of memory")]
    TooLarge(u64),
}

/// Parses a text whose value takes at most about `memory` bytes. Escaped lone surrogates in values become U+FFFD.
///
/// # Errors
/// If the text is not JSON, nests too deep, or is too large.
pub fn parse(text: &str, memory: u64) -> Result<Value, JsonError> {
    read(text, memory, false)
}

/// Parses a text like [`parse`], without a bound of memory, for a person who wrote it: an object has each key once.
///
/// # Errors
/// If the text is not JSON, nests too deep, or has a key twice in one object.
pub fn parse_unique(text: &str) -> Result<Value, JsonError> {
    read(text, u64::MAX, true)
}

fn read(text: &str, memory: u64, is_unique: bool) -> Result<Value, JsonError> {
    let text = well_formed(text, memory)?;
    let copied = if matches!(text, Cow::Owned(_)) { text.len() as u64 } else { 0 };
    let left = Cell::new(memory.checked_sub(copied));
    let mut deserializer = serde_json::Deserializer::from_str(&text);
    let read = BoundedReader { left: &left, depth: MAX_DEPTH, is_unique }.deserialize(&mut deserializer);
    let read = read.and_then(|value| deserializer.end().map(|()| value));
    read.map_err(|error| match left.get() {
        Some(_) => JsonError::Malformed(error.to_string()),
        None => JsonError::TooLarge(memory),
    })
}

/// Returns the first integer of a JSON text that [`parse`] rounds, because it has more than 64 bits. A number with a
/// fraction or an exponent is a float, and no such integer.
#[must_use]
pub fn rounded_integer(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let start = at;
        match byte {
            b'"' => {
                at += 1;
                while bytes.get(at).is_some_and(|byte| *byte != b'"') {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                at += bytes[start..].iter().take_while(is_part).count();
                let number = &text[start..at];
                let is_integer = number.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
                if is_integer && number.parse::<i64>().is_err() && number.parse::<u64>().is_err() {
                    return Some(number);
                }
            }
            _ => at += 1,
        }
    }
    None
}

/// Length of an escape of one UTF-16 code unit: `\uXXXX`.
const ESCAPE: usize = 6;

/// Replaces each escaped lone surrogate in a value by U+FFFD, as `TextEncoder` does: strings of JavaScript may hold one
/// (`'😀'.slice(0, 1)`), strings of Rust cannot. In a key it stays, and the key is then refused: two keys could become
/// one.
///
/// # Errors
/// If a copy of the text is needed, and would take more than `memory` bytes.
fn well_formed(text: &str, memory: u64) -> Result<Cow<'_, str>, JsonError> {
    if !text.contains("\\u") {
        return Ok(Cow::Borrowed(text));
    }
    let bytes = text.as_bytes();
    // The copy so far, and the length of the text that it covers.
    let (mut copy, mut taken) = (String::new(), 0);
    // For the string that is being read: both, as they were at its start.
    let mut string = None;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += match (byte, string) {
            (b'"', None) => {
                string = Some((copy.len(), taken));
                1
            }
            (b'"', Some((length, before))) => {
                let mut behind = bytes[at + 1..].iter().skip_while(|byte| byte.is_ascii_whitespace());
                if behind.next() == Some(&b':') {
                    copy.truncate(length);
                    taken = before;
                }
                string = None;
                1
            }
            (b'\\', Some(_)) => match (escaped_unit(bytes, at), escaped_unit(bytes, at + ESCAPE)) {
                (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 2 * ESCAPE,
                (Some(0xD800..=0xDFFF), _) => {
                    if copy.capacity() == 0 {
                        if text.len() as u64 > memory {
                            return Err(JsonError::TooLarge(memory));
                        }
                        copy.reserve_exact(text.len());
                    }
                    copy.push_str(&text[taken..at]);
                    copy.push_str("\\ufffd");
                    taken = at + ESCAPE;
                    ESCAPE
                }
                (Some(_), _) => ESCAPE,
                (None, _) => 2,
            },
            _ => 1,
        };
    }
    if taken == 0 {
        return Ok(Cow::Borrowed(text));
    }
    copy.push_str(&text[taken..]);
    Ok(Cow::Owned(copy))
}

/// Returns the code unit of an escape `\uXXXX`.
fn escaped_unit(text: &[u8], at: usize) -> Option<u16> {
    let digits = text.get(at..at + ESCAPE)?.strip_prefix(b"\\u")?;
    let digits =
        std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u16::from_str_radix(digits, 16).ok()
}

/// Returns the approximate bytes of memory that a value takes, as [`parse`] counts them.
#[must_use]
pub fn weight(value: &Value) -> u64 {
    let within = match value {
        Value::String(text) => text.len() as u64,
        Value::Array(list) => list.iter().map(weight).sum(),
        Value::Object(record) => {
            record.iter().map(|(key, value)| MEMBER_BYTES + key.len() as u64 + weight(value)).sum()
        }
        _ => 0,
    };
    size_of::<Value>() as u64 + within
}

/// Deserializer of one value within bounds.
#[derive(Clone, Copy)]
struct BoundedReader<'a> {
    /// Bytes that may still be used. `None` once they were exceeded.
    left: &'a Cell<Option<u64>>,
    /// Levels of nesting that may still be opened.
    depth: usize,
    /// True if a key must not be in an object twice.
    is_unique: bool,
}

impl BoundedReader<'_> {
    fn take<E: serde::de::Error>(&self, bytes: u64) -> Result<(), E> {
        let left = self.left.get().and_then(|left| left.checked_sub(bytes));
        self.left.set(left);
        left.map(drop).ok_or_else(|| E::custom("too large"))
    }

    fn inner<E: serde::de::Error>(&self) -> Result<Self, E> {
        let depth = self.depth.checked_sub(1);
        let depth = depth.ok_or_else(|| E::custom(format_args!("it is nested more than {MAX_DEPTH} deep")))?;
        Ok(Self { depth, ..*self })
    }
}

impl<'de> DeserializeSeed<'de> for BoundedReader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.take(size_of::<Value>() as u64)?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for BoundedReader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Value, E> {
        self.take(text.len() as u64)?;
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.inner()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inner = self.inner()?;
        let mut record = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            self.take(MEMBER_BYTES + key.len() as u64)?;
            if self.is_unique && record.contains_key(&key) {
                return Err(serde::de::Error::custom(format_args!("the key {} is there twice", Value::from(key))));
            }
            let value = members.next_value_seed(inner)?;
            record.insert(key, value);
        }
        Ok(Value::Object(record))
    }
}

/// Counts the approximate bytes of memory that the value of a text would take, as [`parse`] does, without making it.
/// `goes_on` is asked now and then: once it returns false, nothing more is read, and the count is `None`.
///
/// # Errors
/// If the text is not JSON, or its value would take more than `memory` bytes.
pub fn measure(text: &[u8], memory: u64, goes_on: &dyn Fn() -> bool) -> Result<Option<u64>, JsonError> {
    let counter =
        WeightCounter { left: Cell::new(Some(memory)), values: Cell::new(0), is_stopped: Cell::new(false), goes_on };
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let read = (&counter).deserialize(&mut deserializer).and_then(|()| deserializer.end());
    match (read, counter.left.get()) {
        _ if counter.is_stopped.get() => Ok(None),
        (_, None) => Err(JsonError::TooLarge(memory)),
        (Ok(()), Some(left)) => Ok(Some(memory - left)),
        (Err(error), Some(_)) => Err(JsonError::Malformed(error.to_string())),
    }
}

/// Values after which a count asks whether it goes on.
const VALUES_AT_ONCE: u32 = 4096;

/// Counter of the memory that values would take.
struct WeightCounter<'a> {
    /// Bytes that may still be used. `None` once they were exceeded.
    left: Cell<Option<u64>>,
    values: Cell<u32>,
    is_stopped: Cell<bool>,
    goes_on: &'a dyn Fn() -> bool,
}

impl WeightCounter<'_> {
    fn take<E: serde::de::Error>(&self, bytes: u64) -> Result<(), E> {
        self.values.set(self.values.get().wrapping_add(1));
        if self.values.get().is_multiple_of(VALUES_AT_ONCE) && !(self.goes_on)() {
            self.is_stopped.set(true);
            return Err(E::custom("stopped"));
        }
        let left = self.left.get().and_then(|left| left.checked_sub(bytes));
        self.left.set(left);
        left.map(drop).ok_or_else(|| E::custom("too large"))
    }
}

impl<'de> DeserializeSeed<'de> for &WeightCounter<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.take(size_of::<Value>() as u64)?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &WeightCounter<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        self.take(text.len() as u64)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while members.next_key_seed(self)?.is_some() {
            self.take(MEMBER_BYTES)?;
            members.next_value_seed(self)?;
        }
        Ok(())
    }
}

/// Returns the length of a value as JSON text, without making the text. The value must serialize, as plain data does.
#[must_use]
pub fn serialized_len(value: &impl Serialize) -> u64 {
    struct ByteCounter(u64);
    impl std::io::Write for ByteCounter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = ByteCounter(0);
    serde_json::to_writer(&mut count, value).expect("plain data serializes, and counting does not fail");
    count.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const PLENTY: u64 = 1 << 30;

    #[test]
    fn values_nested_too_deep_are_refused() {
        for (depth, fits) in [(MAX_DEPTH, true), (MAX_DEPTH + 1, false), (127, false), (100_000, false)] {
            let lists = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
            let objects = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
            assert_eq!((parse(&lists, PLENTY).is_ok(), parse(&objects, PLENTY).is_ok()), (fits, fits), "{depth}");
        }
    }

    #[test]
    fn integer_of_more_than_64_bits_is_found_outside_of_strings() {
        for (text, found) in [
            ("[1, 18446744073709551615, -9223372036854775808]", None),
            ("{\"a\":[18446744073709551616]}", Some("18446744073709551616")),
            ("{\"18446744073709551616\":\"\\\"18446744073709551616\"}", None),
            ("[1e30,18446744073709551616.0,1.8446744073709551616e40]", None),
            ("-9223372036854775809", Some("-9223372036854775809")),
            ("\"unfinished", None),
            ("\"unfinished\\", None),
        ] {
            assert_eq!(rounded_integer(text), found, "{text}");
        }
    }

    #[test]
    fn key_that_is_twice_in_one_object_is_refused_where_a_person_wrote_it() {
        for text in [r#"{"a":1,"a":1}"#, r#"[{"b":{"a":1,"\u0061":2}}]"#] {
            let told = parse_unique(text).expect_err("it says two things").to_string();
            assert!(told.contains("the key \"a\" is there twice"), "{told}");
            assert!(parse(text, PLENTY).is_ok(), "programs may write it");
        }
        assert_eq!(parse_unique(r#"{"a":{"a":1},"b":[{"a":2}]}"#), Ok(json!({ "a": { "a": 1 }, "b": [{ "a": 2 }] })));
    }

    #[test]
    fn values_that_take_too_much_are_refused_before_they_are_there() {
        let one = size_of::<Value>() as u64;
        let all = one * 1_001;
        let zeros = format!("[{}0]", "0,".repeat(999));
        assert_eq!(parse(&zeros, all).map(|value| weight(&value)), Ok(all));
        assert_eq!(parse(&zeros, all - 1), Err(JsonError::TooLarge(all - 1)));
        assert_eq!(parse(r#""abc""#, one + 2), Err(JsonError::TooLarge(one + 2)));
        assert_eq!(parse(r#"{"abc":1}"#, 2 * one + 3), Err(JsonError::TooLarge(2 * one + 3)));
    }

    #[test]
    fn lone_surrogate_in_value_is_replaced_and_in_key_is_refused() {
        for (text, value) in [
            (r#""\ud83d""#, json!("\u{fffd}")),
            (r#"["a\uD83Db", "\ude00\ud83d"]"#, json!(["a\u{fffd}b", "\u{fffd}\u{fffd}"])),
            (r#""\ud83d\ude00""#, json!("😀")),
            (r#""\ud83d\ud83d\ude00""#, json!("\u{fffd}😀")),
            (r#""\\ud83d""#, json!("\\ud83d")),
            (r#"{"a": "\ud83d", "b\"\\": "x"}"#, json!({"a": "\u{fffd}", "b\"\\": "x"})),
        ] {
            assert_eq!(parse(text, PLENTY), Ok(value), "{text}");
        }
        let long = format!("[{}]", [r#""\ud83d""#; 1000].join(","));
        assert!(parse(&long, PLENTY).is_ok());
        assert_eq!(parse(&long, 8_000), Err(JsonError::TooLarge(8_000)), "the copy is counted");
        for text in [r#"{"\ud83d": 1}"#, r#"{"\ud83d"	: "\ud83d"}"#, r#""\ud83"#, r#""\ud+3d""#] {
            assert!(matches!(parse(text, PLENTY), Err(JsonError::Malformed(_))), "{text}");
        }
    }

    #[test]
    fn text_that_is_no_json_is_refused() {
        for text in ["", "[1,]", "1 2", "nul", "\"", "{\"a\"}", "NaN", "[1"] {
            assert!(matches!(parse(text, PLENTY), Err(JsonError::Malformed(_))), "{text}");
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_filter("JSON has no other", |number| number.is_finite()).prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 64, 8, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                proptest::collection::btree_map(".{0,4}", inner, 0..8).prop_map(|members| json!(members)),
            ]
        })
    }

    proptest! {
        #[test]
        fn values_are_read_as_serde_json_reads_them_within_their_weight(value in values()) {
            let text = value.to_string();
            prop_assert_eq!(parse(&text, weight(&value)), Ok(serde_json::from_str(&text).expect("it was written")));
            prop_assert!(parse(&text, weight(&value) - 1).is_err());
        }
    }

    #[test]
    fn value_is_measured_as_it_is_parsed_and_no_longer_than_it_may_be() {
        let text = r#"{"a":[1,2.5,"text",null,true],"b":{"c":-3}}"#;
        let weight = weight(&parse(text, 10_000).expect("it is JSON"));
        let measured = measure(text.as_bytes(), 10_000, &|| true).expect("it is JSON").expect("it went on");
        // A key counts as a value too: nobody knows which of both a text is before it is read.
        assert!((weight..weight + 4 * size_of::<Value>() as u64).contains(&measured), "{measured} {weight}");
        assert!(matches!(measure(text.as_bytes(), 100, &|| true), Err(JsonError::TooLarge(100))));
        for broken in ["[1,", "[1] 2", "{\"a\" 1}", "", "\u{fffd}"] {
            assert!(matches!(measure(broken.as_bytes(), 10_000, &|| true), Err(JsonError::Malformed(_))), "{broken}");
        }
        let many = format!("[0{}]", ",0".repeat(10_000));
        assert_eq!(measure(many.as_bytes(), u64::MAX, &|| false), Ok(None));
    }
}
