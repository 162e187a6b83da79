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
