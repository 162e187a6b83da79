//! Lines of the input and of files.

use std::sync::Arc;

/// Messages about expressions, in the words of the library of C, as far as they begin alike.
pub(super) const KNOWN_MESSAGES: [&str; 11] = [
    "Invalid preceding regular expression",
    "Invalid character class name",
    "Invalid collation character",
    "Invalid back reference",
    "Invalid content of \\{\\}",
    "Invalid range end",
    "Regular expression too big",
    "Trailing backslash",
    "Unmatched ( or \\(",
    "Unmatched ) or \\)",
    "Unmatched [, [^, [:, [., or [=",
];

/// Commands of standard input that are not read yet.
pub(super) struct Input {
    lines: std::vec::IntoIter<String>,
}

impl Input {
    /// Returns the lines of a text. What follows the last newline is no command.
    pub(super) fn new(text: &str) -> Self {
        let complete = text.rfind('\n').map_or("", |end| &text[..=end]);
        let lines: Vec<String> = complete.split_terminator('\n').map(str::to_owned).collect();
        Self { lines: lines.into_iter() }
    }

    /// Reads a line.
    pub(super) fn line(&mut self) -> Option<String> {
        self.lines.next()
    }
}

/// Contents of a file as lines.
pub(super) struct FileText {
    pub(super) lines: Vec<Arc<str>>,
    /// Bytes, with a newline that was missing at the end.
    pub(super) length: usize,
    pub(super) is_newline_appended: bool,
}

impl FileText {
    pub(super) fn new(bytes: &[u8], strips_carriage_returns: bool) -> Self {
        let is_newline_appended = bytes.last().is_some_and(|last| *last != b'\n');
        let complete = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let lines = if bytes.is_empty() { Vec::new() } else { complete.split(|byte| *byte == b'\n').collect() };
        let stripped = |line: &[u8]| match line.strip_suffix(b"\r") {
            Some(stripped) if strips_carriage_returns => Arc::from(bashkit::text_of(stripped)),
            _ => Arc::from(bashkit::text_of(line)),
        };
        let lines: Vec<Arc<str>> = lines.into_iter().map(stripped).collect();
        let length = bytes.len() + usize::from(is_newline_appended);
        Self { lines, length, is_newline_appended }
    }
}

/// Returns true if a line goes on in the next one: it ends with a backslash that no other one escapes.
pub(super) fn is_continued(line: &str) -> bool {
    line.chars().rev().take_while(|last| *last == '\\').count() % 2 == 1
}
