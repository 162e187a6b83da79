//! Locale of characters that the environment names.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::collections::HashMap;

/// Returns the locale of characters that the environment names, if it names one.
pub(super) fn character_locale(env: &HashMap<String, String>) -> Option<&str> {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let locales = names.iter().filter_map(|name| env.get(*name));
    locales.map(String::as_str).find(|value| !value.is_empty())
}

/// Returns true if the environment asks for the locale in which each byte is a character. An environment that names no
/// locale has one of UTF-8.
pub(super) fn is_c_locale(env: &HashMap<String, String>) -> bool {
    matches!(character_locale(env), Some("C" | "POSIX"))
}

/// Returns a character in upper case, where that is a single character, as `towupper` of the C library does (`ß` stays).
pub(crate) fn upper_character(character: char) -> char {
    let mut upper = character.to_uppercase();
    upper.next().filter(|_| upper.next().is_none()).unwrap_or(character)
}

/// Returns a character in lower case, where that is a single character.
pub(crate) fn lower_character(character: char) -> char {
    let mut lower = character.to_lowercase();
    lower.next().filter(|_| lower.next().is_none()).unwrap_or(character)
}
