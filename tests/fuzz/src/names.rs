//! Small texts: names, version requirements, digests, amounts, parameter paths, keys, revocation lists.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use tollhouse::capability::{ParamPath, parse_bytes, parse_duration};
use tollhouse::token::{PrivateKey, PublicKey, RevocationList};
use tollhouse::tool::names::{Spelling, check_alias, is_spelling_of, to_camel, to_kebab, to_pascal};
use tollhouse_registry::{Digest, FileRule, HttpRule, PackageName, Requirement};

/// Parses a text as each kind of small text. Where it parses, its printed form must parse as the same value.
///
/// # Panics
///
/// Panics if that does not hold.
pub fn names(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    prints::<PackageName>(text);
    prints::<Requirement>(text);
    prints::<Digest>(text);
    prints::<ParamPath>(text);
    prints::<FileRule>(text);
    prints::<HttpRule>(text);
    if let Ok(rule) = text.parse::<HttpRule>() {
        assert!(rule.is_subset_of(&rule) && rule.overlaps(&rule), "{rule} is within itself");
        assert!(!rule.names_one_host() || !"*".parse::<HttpRule>().is_ok_and(|any| any.is_subset_of(&rule)), "{rule}");
    }
    prints::<PublicKey>(text.trim_ascii());
    if let Ok(key) = text.parse::<PrivateKey>() {
        assert_eq!(key.to_string().to_lowercase(), text.trim_ascii().to_lowercase());
    }
    if let Ok(bytes) = parse_bytes(text) {
        assert_eq!(parse_bytes(&format!("{bytes}B")), Ok(bytes));
    }
    if let Ok(time) = parse_duration(text) {
        let milliseconds = u64::try_from(time.as_millis()).expect("it was read from 64 bits");
        assert_eq!(parse_duration(&format!("{milliseconds}ms")), Ok(Duration::from_millis(milliseconds)));
    }
    if let Ok(list) = RevocationList::parse(text) {
        assert!(list.len() <= text.lines().count(), "one identifier a line");
    }
    spellings(text);
}

fn prints<T: FromStr<Err: Display> + Display + PartialEq>(text: &str) {
    if let Ok(read) = text.parse::<T>() {
        let printed = read.to_string();
        let again = printed.parse::<T>().unwrap_or_else(|error| panic!("{text:?} prints as {printed:?}: {error}"));
        assert!(again == read, "{text:?} prints as {printed:?}, which is another");
    }
}

fn spellings(text: &str) {
    let camel = to_camel(text);
    assert!(!camel.contains('-') && to_pascal(text).len() == camel.len(), "{text:?} is {camel:?}");
    assert!(!to_kebab(text).contains('_'), "{text:?} is {:?}", to_kebab(text));
    assert!(is_spelling_of(text, text), "{text:?} is a spelling of itself");
    if check_alias(text, Spelling::Wit).is_ok() {
        assert!(text.is_ascii() && !text.contains(['/', '.', ' ']), "{text:?} is no alias");
    }
}
