//! Counts of characters, words and lines, and frequencies of words.

use std::collections::{BTreeMap, BTreeSet};

use unicode_segmentation::UnicodeSegmentation;

/// Size of a text, without its tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Number of bytes in UTF-8.
    pub bytes: usize,
    /// Number of grapheme clusters.
    pub characters: usize,
    /// Number of words (UAX 29).
    pub words: usize,
    /// Number of lines. A line end at the very end does not begin another line.
    pub lines: usize,
}

/// Counts the bytes, characters, words and lines of a text.
pub fn count(text: &str) -> Counts {
    Counts {
        bytes: text.len(),
        characters: text.graphemes(true).count(),
        words: text.unicode_words().count(),
        lines: text.lines().count(),
    }
}

/// Returns words in lower case with their frequencies, most frequent first, then in alphabetical order. Words with
/// fewer than `min_length` characters, and those in `ignore`, are left out.
pub fn word_frequencies(text: &str, min_length: usize, ignore: &[String]) -> Vec<(String, u32)> {
    let ignored: BTreeSet<String> = ignore.iter().map(|word| word.to_lowercase()).collect();
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for word in text.unicode_words() {
        let word = word.to_lowercase();
        if word.graphemes(true).count() >= min_length && !ignored.contains(&word) {
            let count = counts.entry(word).or_default();
            *count = count.saturating_add(1);
        }
    }
    let mut counts: Vec<(String, u32)> = counts.into_iter().collect();
    // A stable sort, which keeps the alphabetical order.
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_of_user_perceived_characters_and_words() {
        let counts = count("Héllo, wörld!\nIt's 3.5 € 👩‍👩‍👧\n");
        assert_eq!(counts, Counts { bytes: 48, characters: 27, words: 4, lines: 2 });
        assert_eq!(count(""), Counts { bytes: 0, characters: 0, words: 0, lines: 0 });
        assert_eq!((count("a\n\nb").lines, count("\n").lines), (3, 1));
    }

    #[test]
    fn word_frequencies_are_counted_with_filters() {
        let text = "The cat and the dog and THE bird. It's I.";
        let of = |min_length, ignore: &[&str]| {
            let ignore: Vec<String> = ignore.iter().map(|&word| word.to_owned()).collect();
            word_frequencies(text, min_length, &ignore)
        };
        let all = of(1, &[]);
        assert_eq!(all[..3], [("the".into(), 3), ("and".into(), 2), ("bird".into(), 1)]);
        assert_eq!(all.len(), 7);
        let words: Vec<String> = of(2, &["The", "AND"]).into_iter().map(|(word, _)| word).collect();
        assert_eq!(words, ["bird", "cat", "dog", "it's"]);
    }
}
