//! Shortening of long texts for a model.

/// Text that was shortened.
pub(crate) struct Excerpt {
    /// Beginning and end of the text, with a mark between them; the whole text if it is short enough.
    pub(crate) text: String,
    /// Characters of the whole text, if some were left out.
    pub(crate) of: Option<usize>,
}

/// Shortens a text to so many characters and a mark: two thirds of them from its beginning, and the rest from its end.
pub(crate) fn shorten(text: &str, limit: usize) -> Excerpt {
    // A text with so few bytes needs no counting.
    let count = if text.len() <= limit { 0 } else { text.chars().count() };
    if count <= limit {
        return Excerpt { text: text.to_owned(), of: None };
    }
    let head = limit / 3 * 2;
    let tail = limit - head;
    let head_end = text.char_indices().nth(head).map_or(text.len(), |(at, _)| at);
    let tail_start = text.char_indices().nth(count - tail).map_or(text.len(), |(at, _)| at);
    let left_out = count - limit;
    let text = format!("{}\n[… {left_out} characters left out …]\n{}", &text[..head_end], &text[tail_start..]);
    Excerpt { text, of: Some(count) }
}

#[cfg(test)]
mod tests {
    use super::shorten;

    #[test]
    fn long_texts_keep_their_beginning_and_their_end() {
        assert_eq!(shorten("häh", 3).text, "häh");
        let long: String = ('a'..='z').collect();
        let short = shorten(&long, 9);
        assert_eq!((short.text.as_str(), short.of), ("abcdef\n[… 17 characters left out …]\nxyz", Some(26)));
        assert_eq!(shorten(&"ä".repeat(10), 3).text, "ää\n[… 7 characters left out …]\nä");
        assert_eq!(shorten("abc", 0).of, Some(3));
    }
}
