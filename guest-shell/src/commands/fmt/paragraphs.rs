//! Lines that belong to a paragraph, and its indentation.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`), which has it from uutils/coreutils (MIT, Copyright
//! (c) uutils developers, `src/uu/fmt/src/parasplit.rs` at revision 6579cc2).

use std::iter::Peekable;

use super::lines::{FileLine, FileLines, Line};
use super::options::FmtOptions;

/// Columns by which the output of a tagged paragraph of one line is indented behind its first line, if that has no
/// indentation.
const TAG_INDENT: usize = 3;

/// Part of the input.
pub(super) enum Part<'a> {
    Paragraph(Paragraph<'a>),
    /// Line that is printed as it is.
    Unformatted(&'a [u8]),
}

/// Lines that are filled together.
#[derive(Default)]
pub(super) struct Paragraph<'a> {
    pub(super) lines: Vec<&'a [u8]>,
    /// Indentation of the first line, in crown and tagged mode.
    pub(super) first_indent: &'a [u8],
    /// Columns of that indentation.
    pub(super) first_indent_length: usize,
    /// Indentation of the lines of the output.
    pub(super) indent: Vec<u8>,
    /// Columns of that indentation.
    pub(super) indent_length: usize,
    /// Offset of the text in the lines (in crown and tagged mode from the second one on).
    pub(super) indent_end: usize,
    /// True for a header of a mail, whose words are split in another way.
    pub(super) is_mail_header: bool,
}

/// Paragraphs of an input, and lines between them.
pub(super) struct ParagraphStream<'a> {
    lines: Peekable<FileLines<'a>>,
    /// True where a header of a mail may begin: at the start, after another header, and after a blank line.
    next_mail: bool,
    /// Indentation of the last tagged paragraph behind its first line, which one of a single line takes over.
    tag_indent: usize,
    options: &'a FmtOptions,
}

impl<'a> ParagraphStream<'a> {
    pub(super) fn new(options: &'a FmtOptions, input: &'a [u8]) -> Self {
        Self { lines: FileLines::new(options, input).peekable(), next_mail: true, tag_indent: 0, options }
    }
}

impl<'a> Iterator for ParagraphStream<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        let mut paragraph = match self.lines.next()? {
            Line::Unformatted { line, is_blank } => {
                self.next_mail = is_blank;
                return Some(Part::Unformatted(line));
            }
            Line::Formatted(first) => OpenParagraph::begin(self.options, &first, self.next_mail),
        };
        if !self.options.split_only {
            let mut takes = |line: &Line<'a>| matches!(line, Line::Formatted(line) if paragraph.takes(line));
            while self.lines.next_if(|line| takes(line)).is_some() {}
        }
        self.next_mail = paragraph.paragraph.is_mail_header;
        if self.options.tagged && !self.next_mail {
            self.tag_indent = paragraph.settle_tag_indent(self.tag_indent);
        }
        Some(Part::Paragraph(paragraph.paragraph))
    }
}

/// Paragraph that may get more lines.
struct OpenParagraph<'a> {
    options: &'a FmtOptions,
    paragraph: Paragraph<'a>,
    prefix_length: usize,
    prefix_indent_end: usize,
    /// True once the second line of a crown or tagged paragraph is known.
    indent_is_known: bool,
}

impl<'a> OpenParagraph<'a> {
    /// Begins a paragraph, which is a header of a mail if there may be one and the line looks like it.
    fn begin(options: &'a FmtOptions, first: &FileLine<'a>, next_mail: bool) -> Self {
        let mut paragraph = Paragraph { lines: vec![first.line], ..Paragraph::default() };
        if options.mail && next_mail && is_mail_header(first) {
            paragraph.is_mail_header = true;
            paragraph.indent = b"  ".to_vec();
            paragraph.indent_length = 2;
            return Self { options, paragraph, prefix_length: 0, prefix_indent_end: 0, indent_is_known: false };
        }
        let second_may_differ = options.crown || options.tagged;
        if second_may_differ {
            paragraph.first_indent = &first.line[..first.indent_end];
            paragraph.first_indent_length = first.indent_length;
        }
        paragraph.set_indent(first);
        let FileLine { prefix_length, prefix_indent_end, .. } = *first;
        Self { options, paragraph, prefix_length, prefix_indent_end, indent_is_known: !second_may_differ }
    }

    /// Adds a line if it continues the paragraph. Returns true if it does.
    fn takes(&mut self, line: &FileLine<'a>) -> bool {
        let continues = if self.paragraph.is_mail_header {
            // Continuation lines of a header begin with blanks.
            line.indent_end > 0 && (self.options.prefix.is_none() || line.prefix_indent_end > 0)
        } else if self.indent_is_known {
            self.has_prefix_of(line) && self.has_indent_of(line)
        } else {
            // The second line of a tagged paragraph is indented in another way than the first.
            let is_tag = self.options.tagged && self.has_indent_of(line);
            self.has_prefix_of(line) && !is_tag
        };
        if continues {
            if !self.paragraph.is_mail_header && !self.indent_is_known {
                self.paragraph.set_indent(line);
                self.indent_is_known = true;
            }
            self.paragraph.lines.push(line.line);
        }
        continues
    }

    fn has_prefix_of(&self, line: &FileLine<'_>) -> bool {
        self.prefix_length == line.prefix_length && self.prefix_indent_end == line.prefix_indent_end
    }

    /// Returns true if a line is indented as the paragraph is, of which only the first line may be known.
    fn has_indent_of(&self, line: &FileLine<'_>) -> bool {
        self.paragraph.indent_length == line.indent_length && self.paragraph.indent_end == line.indent_end
    }

    /// Sets the indentation behind the first line of a tagged paragraph of one line: that of the paragraph before, or
    /// another one than that of the first line. Returns the indentation for the next paragraph.
    fn settle_tag_indent(&mut self, before: usize) -> usize {
        let paragraph = &mut self.paragraph;
        if self.indent_is_known {
            return paragraph.indent_length;
        }
        let columns = match paragraph.first_indent_length {
            first if first != before => before,
            0 => TAG_INDENT,
            _ => 0,
        };
        // What stands in front of the text with `-p` stays.
        paragraph.indent = paragraph.first_indent.trim_ascii_end().to_vec();
        paragraph.indent.resize(paragraph.indent.len().max(columns), b' ');
        paragraph.indent_length = paragraph.indent.len();
        columns
    }
}

impl<'a> Paragraph<'a> {
    fn set_indent(&mut self, line: &FileLine<'a>) {
        self.indent = line.line[..line.indent_end].to_vec();
        self.indent_length = line.indent_length;
        self.indent_end = line.indent_end;
    }
}

/// Returns true for a header of a mail: `From ` of an envelope, or a name of printable ASCII in front of a colon.
fn is_mail_header(line: &FileLine<'_>) -> bool {
    if line.indent_end > 0 {
        return false;
    }
    if line.line.starts_with(b"From ") {
        return true;
    }
    let name = line.line.iter().position(|byte| *byte == b':').map(|colon| &line.line[..colon]);
    name.is_some_and(|name| !name.is_empty() && name.iter().all(u8::is_ascii_graphic))
}
