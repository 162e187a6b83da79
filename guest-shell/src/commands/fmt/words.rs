//! Words of a paragraph, with the blanks before them.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`), which has it from uutils/coreutils (MIT, Copyright
//! (c) uutils developers, `src/uu/fmt/src/parasplit.rs` at revision 6579cc2).

use super::lines::is_blank;
use super::options::FmtOptions;
use super::paragraphs::Paragraph;

/// Word of a paragraph.
#[derive(Default)]
pub(super) struct Word<'a> {
    /// Text of the word, with the blanks before it unless they are uniform.
    pub(super) text: &'a [u8],
    /// Offset of the word after its blanks.
    pub(super) start: usize,
    /// Length of the word without blanks.
    pub(super) length: usize,
    /// Number of blanks before the first tab, if there is one.
    pub(super) before_tab: Option<usize>,
    /// Number of columns after that tab, or number of blanks.
    pub(super) after_tab: usize,
    /// True if the blanks before the word are wider than one.
    pub(super) wide_blanks: bool,
    pub(super) starts_sentence: bool,
    pub(super) ends_punctuated: bool,
    /// True for the first word of a line of the input.
    pub(super) starts_line: bool,
}

/// Returns the words of a paragraph.
pub(super) fn words<'a>(options: &'a FmtOptions, paragraph: &Paragraph<'a>) -> Vec<Word<'a>> {
    if paragraph.is_mail_header {
        // The words of a header are separated by one blank.
        let words = paragraph.lines.iter().flat_map(|line| line.split(|byte| is_blank(*byte)));
        let words = words.filter(|text| !text.is_empty());
        return words.map(|text| Word { text, length: text.len(), ..Word::default() }).collect();
    }
    let Some((first, others)) = paragraph.lines.split_first() else { return Vec::new() };
    let first_start = match options.crown || options.tagged {
        true => paragraph.first_indent.len(),
        false => paragraph.indent_end,
    };
    let others = others.iter().flat_map(|line| LineWords::new(options, &line[paragraph.indent_end..]));
    LineWords::new(options, &first[first_start..]).chain(others).collect()
}

/// Words of a line.
struct LineWords<'a> {
    options: &'a FmtOptions,
    text: &'a [u8],
    /// Offset of the blanks before the next word, or of the first word.
    position: usize,
    is_punctuated: bool,
}

impl<'a> LineWords<'a> {
    fn new(options: &'a FmtOptions, text: &'a [u8]) -> Self {
        let blanks = text.iter().take_while(|byte| is_blank(**byte)).count();
        LineWords { options, text: &text[blanks..], position: 0, is_punctuated: false }
    }

    /// Returns the number of blanks before the first tab, if there is one, and the columns after it; otherwise the
    /// number of blanks.
    fn spacing(&self, blanks: &[u8]) -> (Option<usize>, usize) {
        let tab_width = self.options.tab_width;
        blanks.iter().fold((None, 0), |(before_tab, columns), blank| match (blank, before_tab) {
            (b'\t', None) => (Some(columns), 0),
            (b'\t', _) => (before_tab, (columns / tab_width + 1) * tab_width),
            _ => (before_tab, columns + 1),
        })
    }
}

impl<'a> Iterator for LineWords<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        let rest = &self.text[self.position..];
        let start = rest.iter().position(|byte| !is_blank(*byte))?;
        let length = rest[start..].iter().position(|byte| is_blank(*byte)).unwrap_or(rest.len() - start);
        let word = &rest[start..start + length];
        let (before_tab, after_tab) = self.spacing(&rest[..start]);
        let wide_blanks = before_tab.is_some() || start > 1;
        let starts_sentence = self.is_punctuated && wide_blanks;
        let ends_punctuated = matches!(word, [.., b'!' | b'.' | b'?']);
        let starts_line = self.position == 0;
        self.is_punctuated = ends_punctuated;
        self.position += start + length;
        let spaced =
            Word { text: word, length, wide_blanks, starts_sentence, ends_punctuated, starts_line, ..Word::default() };
        Some(match self.options.uniform {
            true => spaced,
            false => Word { text: &rest[..start + length], start, before_tab, after_tab, ..spaced },
        })
    }
}
