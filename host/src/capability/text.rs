//! Texts that Unicode calls canonically equivalent (UAX #15): composed or not, they look the same, and a tool may take
//! one for the other.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::canonical_combining_class;

/// Part of a text that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Start,
    End,
    Anywhere,
}

impl Part {
    /// True if `value` has `text` at this part, code point by code point.
    pub(super) fn has(self, value: &str, text: &str) -> bool {
        match self {
            Self::Start => value.starts_with(text),
            Self::End => value.ends_with(text),
            Self::Anywhere => value.contains(text),
        }
    }

    /// True if an equivalent spelling of `value` may have `text` at this part. It may say yes where none has, never no
    /// where one has.
    pub(super) fn may_have(self, value: &str, text: &str) -> bool {
        if value.is_ascii() && text.is_ascii() {
            // Each is its own decomposition.
            return self.has(value, text);
        }
        let (value, text) = (decomposed(value), decomposed(text));
        // A mark can only come from a mark.
        if text.contains(is_mark) && !value.contains(is_mark) {
            return false;
        }
        // Where the text ends, its marks may stand in another order among those that follow it.
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
            (Part::Start, "jose\u{301} b", "jos\u{e9}"),
            (Part::Start, "jos\u{e9} b", "jose\u{301}"),
            (Part::Start, "jos\u{e9} b", "jose"),
            (Part::End, "a jos\u{e9}", "e\u{301}"),
            (Part::Anywhere, "a jose\u{301} b", "s\u{e9}"),
            (Part::Anywhere, "5 \u{212a}", "K"),
            // The dot below stands first in canonical order.
            (Part::Start, "a\u{323}\u{301}", "a\u{301}"),
            (Part::Start, "\u{1ea1}\u{301}", "\u{e1}"),
            (Part::Anywhere, "\u{d55c}", "\u{1112}\u{1161}"),
        ] {
            assert!(part.may_have(value, text), "{part:?} {value:?} {text:?}");
        }
        for (part, value, text) in [
            (Part::Start, "exit", "\u{e9}"),
            (Part::Start, "b jos\u{e9}", "jos\u{e9}"),
            (Part::End, "jos\u{e9} b", "jos\u{e9}"),
            (Part::Anywhere, "jos\u{e9}", "x"),
            (Part::Anywhere, "plain", "K"),
        ] {
            assert!(!part.may_have(value, text), "{part:?} {value:?} {text:?}");
        }
    }
}
