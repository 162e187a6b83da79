//! Words of a command line, against types of every shape.

use tollhouse::tool::words::parse_words;

use crate::{canonical, shape};

/// A function (the first line, see `shape`) and words, a zero byte between two: what fits becomes canonical arguments,
/// and an error is one line.
///
/// # Panics
/// If that does not hold.
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
