//! The head of a case: comments at its beginning, of which those that begin with a known word and a colon say what must
//! happen.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tollhouse_tests::root;

/// File of the corpus.
pub(super) struct Case {
    /// Path of the file in `tests/hostile`.
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) text: String,
    /// Lines of the file's head: word and rest of the line, in order.
    head: Vec<(String, String)>,
}

impl Case {
    /// The cases of a directory of `tests/hostile` whose names end so, by name. A word before a colon that is none of
    /// `words` is part of a sentence.
    pub(super) fn all(directory: &str, extension: &str, words: &[&str]) -> Vec<Self> {
        let entries = std::fs::read_dir(root().join("tests/hostile").join(directory)).expect("the corpus is there");
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be read").path()).collect();
        paths.retain(|path| path.extension().is_some_and(|found| found == extension));
        paths.sort();
        assert!(!paths.is_empty(), "no `.{extension}` in {directory}");
        paths.iter().map(|path| Self::read(path, words)).collect()
    }

    /// Reads one file of the corpus.
    pub(super) fn read(path: &Path, words: &[&str]) -> Self {
        let name = path.strip_prefix(root().join("tests/hostile")).unwrap_or(path).display().to_string();
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {error}"));
        Self::new(&name, &text, words)
    }

    /// A text that stands, or could stand, there.
    pub(super) fn new(name: &str, text: &str, words: &[&str]) -> Self {
        let path = PathBuf::from(name);
        let mark = mark(&path);
        let lines =
            text.lines().map_while(|line| line.strip_prefix(mark).map(|line| line.strip_prefix(' ').unwrap_or(line)));
        let head = lines
            .filter_map(|line| line.split_once(':'))
            .filter(|(word, _)| words.contains(word))
            .map(|(word, rest)| (word.to_owned(), rest.trim_start().to_owned()))
            .collect();
        Self { name: name.to_owned(), path, text: text.to_owned(), head }
    }

    /// Returns the text of the head under this word.
    pub(super) fn get(&self, word: &str) -> Option<&str> {
        self.each(word).next()
    }

    /// Returns all texts of the head under this word.
    pub(super) fn each(&self, word: &str) -> impl Iterator<Item = &str> {
        self.head.iter().filter(move |(known, _)| known == word).map(|(_, rest)| rest.as_str())
    }

    /// Returns the text of the head under this word as JSON.
    pub(super) fn json(&self, word: &str) -> Option<Value> {
        let text = self.get(word)?;
        Some(serde_json::from_str(text).unwrap_or_else(|error| panic!("{}: `{word}`: {error}", self.name)))
    }
}

/// Returns the characters that begin a comment.
fn mark(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("sh") => "#",
        Some("wat") => ";;",
        _ => "//",
    }
}
