//! Lines of the input and of files.

use std::sync::Arc;

/// Kind of standard input, which decides whether a mistake ends the editor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum InputSource {
    /// A file, whose commands are a script: a mistake ends it.
    File,
    Pipe,
}

/// Commands of standard input that are not read yet.
pub(super) struct Input {
    lines: std::vec::IntoIter<String>,
    line_number: usize,
    source: InputSource,
}

impl Input {
    /// Returns the lines of a text. What follows the last newline is no command.
    pub(super) fn new(text: &str, source: InputSource) -> Self {
        let complete = text.rfind('\n').map_or("", |end| &text[..=end]);
        let lines: Vec<String> = complete.split_terminator('\n').map(str::to_owned).collect();
        Self { lines: lines.into_iter(), line_number: 0, source }
    }

    pub(super) fn source(&self) -> InputSource {
        self.source
    }

    /// Returns the number of the line that was read last.
    pub(super) fn line_number(&self) -> usize {
        self.line_number
    }

    /// Reads a line.
    pub(super) fn line(&mut self) -> Option<String> {
        let line = self.lines.next()?;
        self.line_number += 1;
        Some(line)
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
