//! Locale of characters that the environment names.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::borrow::Cow;
use std::collections::HashMap;

use bashkit::stream::character_of_byte;

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

/// Set of characters of which a locale says that text consists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CharacterSet {
    #[default]
    Utf8,
    /// Each byte is a character, as in the locale C.
    Bytes,
}

impl CharacterSet {
    /// Returns the set of the locale that the environment names.
    pub(super) fn of_environment(env: &HashMap<String, String>) -> Self {
        if is_c_locale(env) { CharacterSet::Bytes } else { CharacterSet::Utf8 }
    }

    /// Returns bytes as text that has a `char` for each character of the set. [`bashkit::bytes_of`] makes the same bytes
    /// of it again.
    pub(super) fn text_of(self, bytes: &[u8]) -> Cow<'_, str> {
        match self {
            CharacterSet::Bytes if !bytes.is_ascii() => bytes.iter().copied().map(character_of_byte).collect(),
            _ => bashkit::text_of(bytes),
        }
    }

    /// Returns text with a `char` for each character of the set, see [`CharacterSet::text_of`].
    pub(super) fn of_text(self, text: String) -> String {
        match self {
            CharacterSet::Bytes if !text.is_ascii() => self.text_of(&bashkit::bytes_of(&text)).into_owned(),
            _ => text,
        }
    }
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
