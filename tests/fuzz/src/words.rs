//! Command-line words as arguments, for functions of every type.

use tollhouse::tool::words::parse_words;

use crate::{canonical, shape};

/// Reads words, separated by zero bytes, as arguments of a function whose types the first line describes (see `shape`).
/// They must become canonical arguments, or an error of one line.
///
/// # Panics
///
/// Panics if that does not hold.
pub fn words(data: &[u8]) {
    let (function, rest) = shape::function(data);
    let words: Vec<String> = rest.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into()).collect();
    match parse_words(&function, &words, u64::MAX) {
        Ok(arguments) => canonical::holds(&function, &arguments),
        Err(error) => {
            let text = error.to_string();
            assert!(!text.contains(['\n', '\r']), "an error is one line: {text:?}");
        }
    }
}
