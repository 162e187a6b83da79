//! Comparison of texts that are canonically equivalent in Unicode (UAX #15): composed or not, they look the same, and a
//! tool may confuse them.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::canonical_combining_class;

/// The position in a text that a test refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextPosition {
    Start,
    End,
    Anywhere,
}

impl TextPosition {
    /// Returns true if `value` has `text` at this position, comparing code points.
    pub(super) fn has(self, value: &str, text: &str) -> bool {
        match self {
            Self::Start => value.starts_with(text),
            Self::End => value.ends_with(text),
            Self::Anywhere => value.contains(text),
        }
    }

    /// Returns true if an equivalent spelling of `value` may have `text` at this position. It may return true if there
    /// is none, but never false if there is one.
    pub(super) fn may_have(self, value: &str, text: &str) -> bool {
        if value.is_ascii() && text.is_ascii() {
            // An ASCII text is its own decomposition.
            return self.has(value, text);
        }
        let (value, text) = (decomposed(value), decomposed(text));
        // A mark can only come from a mark.
        if text.contains(is_mark) && !value.contains(is_mark) {
            return false;
        }
        // Marks at the text's open edge may be in another order among those that follow it.
        let core = match self {
            Self::Start => text.trim_end_matches(is_mark),
            Self::End => text.trim_start_matches(is_mark),
            Self::Anywhere => text.trim_matches(is_mark),
        };
        self.has(&value, core)
    }
}

/// Returns true if two texts are canonically equivalent.
pub(super) fn are_equivalent(one: &str, other: &str) -> bool {
    one == other || one.nfc().eq(other.nfc())
}

fn decomposed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(text.nfd().collect()) }
}

fn is_mark(c: char) -> bool {
    canonical_combining_class(c) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equivalent_spellings_are_found() {
        for (part, value, text) in [
            (TextPosition::Start, "jose\u{301} b", "jos\u{e9}"),
            (TextPosition::Start, "jos\u{e9} b", "jose\u{301}"),
            (TextPosition::Start, "jos\u{e9} b", "jose"),
            (TextPosition::End, "a jos\u{e9}", "e\u{301}"),
            (TextPosition::Anywhere, "a jose\u{301} b", "s\u{e9}"),
            (TextPosition::Anywhere, "5 \u{212a}", "K"),
            // The dot below comes first in canonical order.
            (TextPosition::Start, "a\u{323}\u{301}", "a\u{301}"),
            (TextPosition::Start, "\u{1ea1}\u{301}", "\u{e1}"),
            (TextPosition::Anywhere, "\u{d55c}", "\u{1112}\u{1161}"),
        ] {
            assert!(part.may_have(value, text), "{part:?} {value:?} {text:?}");
        }
        for (part, value, text) in [
            (TextPosition::Start, "exit", "\u{e9}"),
            (TextPosition::Start, "b jos\u{e9}", "jos\u{e9}"),
            (TextPosition::End, "jos\u{e9} b", "jos\u{e9}"),
            (TextPosition::Anywhere, "jos\u{e9}", "x"),
            (TextPosition::Anywhere, "plain", "K"),
        ] {
            assert!(!part.may_have(value, text), "{part:?} {value:?} {text:?}");
        }
    }
}
