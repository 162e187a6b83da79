//! Validity of keys.

use std::collections::BTreeSet;

use crate::error::{Error, Kind};

/// Longest key in bytes of UTF-8: the limit of widely used stores, and enough for any path.
pub const MAX_KEY: usize = 1024;

/// Checks that a key is valid.
///
/// # Errors
/// `Key`.
pub fn check(key: &str) -> Result<(), Error> {
    if key.is_empty() {
        return Err(Error::of(key, Kind::Key, "the key is empty"));
    }
    if key.len() > MAX_KEY {
        let message = format!("the key has {} bytes in UTF-8: at most {MAX_KEY} are allowed", key.len());
        // The message omits the key, which would fill the screen.
        return Err(Error { kind: Kind::Key, message, key: None });
    }
    match key.chars().find(|character| character.is_control()) {
        None => Ok(()),
        Some(character) => {
            let message = format!("the key holds the control character `{}`", character.escape_unicode());
            Err(Error::of(key, Kind::Key, message))
        }
    }
}

/// Checks keys, which must also be distinct, because a store may set them in any order.
///
/// # Errors
///
/// `Key`.
pub fn check_each_once<'k>(keys: impl Iterator<Item = &'k str>) -> Result<(), Error> {
    let mut seen = BTreeSet::new();
    for key in keys {
        check(key)?;
        if !seen.insert(key) {
            return Err(Error::of(key, Kind::Key, format!("the key `{key}` is given twice")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(key: &str) -> String {
        let error = check(key).expect_err("a bad key");
        assert_eq!(error.kind, Kind::Key);
        error.message
    }

    #[test]
    fn key_that_is_valid_is_accepted() {
        for key in ["a", "user/7", " ", "schlüssel", "🗝", "a:b.c-d_e", &"x".repeat(MAX_KEY)] {
            check(key).expect(key);
        }
    }

    #[test]
    fn key_that_is_invalid_is_refused() {
        assert_eq!(refusal(""), "the key is empty");
        assert!(refusal(&"ü".repeat(513)).contains("1026 bytes"));
        for key in ["a\nb", "\0", "\u{7f}", "\u{85}"] {
            assert!(refusal(key).contains("control character"), "{key:?}");
        }
        assert!(refusal("\0").contains("`\\u{0}`"));
    }

    #[test]
    fn keys_given_twice_are_refused() {
        check_each_once(["a", "b"].into_iter()).expect("two keys");
        check_each_once(std::iter::empty()).expect("none");
        let error = check_each_once(["a", "b", "a"].into_iter()).expect_err("twice");
        assert_eq!((error.kind, error.key.as_deref()), (Kind::Key, Some("a")));
        assert!(check_each_once(["a", ""].into_iter()).is_err());
    }
}
