//! Lines of the input, with their indentation and prefix.
//!
//! As GNU's, lengths are counted in bytes, and only blanks of ASCII are blanks.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`), which has it from uutils/coreutils (MIT, Copyright
//! (c) uutils developers, `src/uu/fmt/src/parasplit.rs` at revision 6579cc2).

use super::options::FmtOptions;

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// Line of the input.
pub(super) enum Line<'a> {
    Formatted(FileLine<'a>),
    /// Line that is printed unchanged: blank, or excluded by a prefix.
    Unformatted {
        line: &'a [u8],
        /// True for a blank line, after which headers of mail may begin.
        is_blank: bool,
    },
}

/// Line that is formatted, with the properties that decide whether it continues a paragraph.
pub(super) struct FileLine<'a> {
    pub(super) line: &'a [u8],
    /// Offset of the text, after indentation and prefix.
    pub(super) indent_end: usize,
    /// Offset of the prefix.
    pub(super) prefix_indent_end: usize,
    /// Columns in front of the text.
    pub(super) indent_length: usize,
    /// Columns of the prefix.
    pub(super) prefix_length: usize,
}

/// Lines of an input.
pub(super) struct FileLines<'a> {
    options: &'a FmtOptions,
    rest: &'a [u8],
}

impl<'a> FileLines<'a> {
    pub(super) fn new(options: &'a FmtOptions, input: &'a [u8]) -> Self {
        Self { options, rest: input }
    }

    /// Takes the next line, without its end.
    fn take(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|byte| *byte == b'\n');
        let Some(end) = end else { return Some(std::mem::take(&mut self.rest)) };
        let line = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// Returns the line with its indentation if it is to be formatted.
    fn formatted(&self, line: &'a [u8]) -> Option<FileLine<'a>> {
        let prefix = self.options.prefix.as_deref().unwrap_or("").as_bytes();
        let start = prefix_start(prefix, line, self.options.exact_prefix)?;
        let prefix_end = start + prefix.len();
        // A line with nothing after the prefix separates paragraphs, like a blank one.
        if line[prefix_end..].iter().all(|byte| is_blank(*byte)) {
            return None;
        }
        if let Some(skipped) = &self.options.skip_prefix
            && prefix_start(skipped.as_bytes(), line, self.options.exact_skip_prefix).is_some()
        {
            return None;
        }
        let text = line[prefix_end..].iter().position(|byte| !is_blank(*byte)).unwrap_or(0);
        let indent_end = prefix_end + text;
        Some(FileLine {
            line,
            indent_end,
            prefix_indent_end: start,
            indent_length: self.columns(&line[..indent_end]),
            prefix_length: self.columns(&line[..prefix_end]),
        })
    }

    /// Returns the width of text at the start of a line, in which tabs end at multiples of their width.
    fn columns(&self, text: &[u8]) -> usize {
        let tab_width = self.options.tab_width;
        text.iter().fold(0, |column, byte| match byte {
            b'\t' => (column / tab_width + 1) * tab_width,
            _ => column + 1,
        })
    }
}

impl<'a> Iterator for FileLines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let line = self.take()?;
        if line.iter().all(|byte| is_blank(*byte)) {
            return Some(Line::Unformatted { line: &[], is_blank: true });
        }
        Some(match self.formatted(line) {
            Some(formatted) => Line::Formatted(formatted),
            None => Line::Unformatted { line, is_blank: false },
        })
    }
}

/// Returns the start of the prefix in a line: at its beginning or, if it need not be exact, after blanks.
fn prefix_start(prefix: &[u8], line: &[u8], exact: bool) -> Option<usize> {
    if line.starts_with(prefix) {
        return Some(0);
    }
    if exact {
        return None;
    }
    let blanks = line.iter().take_while(|byte| is_blank(**byte)).count();
    (0..=blanks).find(|start| line[*start..].starts_with(prefix))
}
