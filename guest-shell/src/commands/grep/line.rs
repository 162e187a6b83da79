//! Output of `grep`: lines with what stands before them, and matches alone (`-o`).
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::borrow::Cow;
use std::sync::OnceLock;

use super::color::Colors;
use super::options::{BinaryFiles, GrepOptions};
use super::pattern::PatternMatcher;
use crate::commands::character_locale::CharacterSet;

/// A line of input, without what ends it.
pub(super) struct Line<'a> {
    /// Number of the line, from zero.
    pub(super) index: usize,
    /// Bytes before the line in its file.
    pub(super) offset: u64,
    pub(super) bytes: &'a [u8],
    /// The bytes as text, in which patterns are searched.
    pub(super) text: Cow<'a, str>,
}

impl<'a> Line<'a> {
    pub(super) fn new(index: usize, offset: u64, bytes: &'a [u8], characters: CharacterSet) -> Self {
        Line { index, offset, bytes, text: characters.text_of(bytes) }
    }
}

/// Reason for which a line is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    Selected,
    Context,
}

impl LineKind {
    /// The byte behind names and numbers before a line.
    fn separator(self) -> u8 {
        match self {
            LineKind::Selected => b':',
            LineKind::Context => b'-',
        }
    }
}

/// Output that would not be valid UTF-8, which makes a file binary.
pub(super) struct EncodingError;

/// The patterns of a run, and whether searching for them was given up.
pub(super) struct LineMatcher {
    matcher: PatternMatcher,
    /// Characters of which lines consist.
    pub(super) characters: CharacterSet,
    invert: bool,
    /// The reason for which a search was given up. It ends the run: nothing more is searched or printed.
    given_up: OnceLock<String>,
}

impl LineMatcher {
    pub(super) fn new(matcher: PatternMatcher, characters: CharacterSet, options: &GrepOptions) -> Self {
        LineMatcher { matcher, characters, invert: options.invert_match, given_up: OnceLock::new() }
    }

    pub(super) fn given_up(&self) -> Option<&str> {
        self.given_up.get().map(String::as_str)
    }

    pub(super) fn selects(&self, text: &str) -> bool {
        self.found(self.matcher.is_match(text)).is_some_and(|found| found != self.invert)
    }

    /// Returns true if lines of this kind contain matches.
    fn has_matches(&self, kind: LineKind) -> bool {
        (kind == LineKind::Selected) != self.invert
    }

    /// Finds the first match at or after a place that holds a character; none once a search was given up.
    fn find_nonempty(&self, text: &str, mut from: usize) -> Option<(usize, usize)> {
        while from <= text.len() {
            let (start, end) = self.found(self.matcher.find_at(text, from)).flatten()?;
            let first = text[start..].chars().next()?;
            if start < end {
                return Some((start, end));
            }
            from = start + first.len_utf8();
        }
        None
    }

    fn found<T>(&self, result: Result<T, String>) -> Option<T> {
        result.map_err(|reason| self.given_up.set(reason)).ok()
    }
}

/// Name of a file before its lines, and the width of numbers behind it.
pub(super) struct LinePrefix<'a> {
    pub(super) name: &'a str,
    /// Columns that numbers take (`-T`).
    pub(super) number_width: usize,
}

/// Writer of lines, for all files of a run.
pub(super) struct LinePrinter<'a> {
    options: &'a GrepOptions,
    matcher: &'a LineMatcher,
    colors: Option<Colors>,
    /// Names stand before lines, and before counts.
    pub(super) with_filename: bool,
    /// A group of lines was printed, from which the next one is separated.
    has_groups: bool,
    /// Bytes that were not passed on yet.
    pub(super) output: Vec<u8>,
}

impl<'a> LinePrinter<'a> {
    pub(super) fn new(options: &'a GrepOptions, matcher: &'a LineMatcher, colors: Option<Colors>) -> Self {
        LinePrinter { options, matcher, colors, with_filename: false, has_groups: false, output: Vec::new() }
    }

    /// Begins a group of lines with the separator from the one before, unless the two touch.
    pub(super) fn begin_group(&mut self, touches_last: bool) {
        let had_groups = std::mem::replace(&mut self.has_groups, true);
        if had_groups
            && !touches_last
            && self.options.context.is_requested()
            && let Some(separator) = &self.options.group_separator
        {
            self.part(|colors| &colors.separator, separator.as_bytes());
            self.output.push(b'\n');
        }
    }

    /// Writes a line, or its matches.
    pub(super) fn line(
        &mut self,
        prefix: &LinePrefix<'_>,
        line: &Line<'_>,
        kind: LineKind,
    ) -> Result<(), EncodingError> {
        if self.options.only_matching {
            return self.matches(prefix, line, kind);
        }
        self.prefix(prefix, line.index, line.offset, line.bytes, kind)?;
        self.whole_line(line, kind);
        self.end_line();
        Ok(())
    }

    /// Writes the matches of a line, each on a line of its own.
    fn matches(&mut self, prefix: &LinePrefix<'_>, line: &Line<'_>, kind: LineKind) -> Result<(), EncodingError> {
        if !self.matcher.has_matches(kind) {
            return Ok(());
        }
        let separator_kind = if self.options.invert_match { LineKind::Context } else { LineKind::Selected };
        let mut places = BytePlaces::new(line);
        let mut from = 0;
        while let Some((start, end)) = self.matcher.find_nonempty(&line.text, from) {
            let (first, behind) = (places.advance(start), places.advance(end));
            let found = &line.bytes[first..behind];
            let checked = if places.are_same { found } else { line.bytes };
            let offset = line.offset + first as u64;
            self.prefix(prefix, line.index, offset, checked, separator_kind)?;
            match kind {
                LineKind::Selected => self.part(|colors| &colors.selected_match, found),
                LineKind::Context => self.part(|colors| &colors.context_match, found),
            }
            self.end_line();
            from = end;
        }
        Ok(())
    }

    /// Writes what stands before a line: name, number and offset, as far as they are wanted.
    fn prefix(
        &mut self,
        prefix: &LinePrefix<'_>,
        index: usize,
        offset: u64,
        content: &[u8],
        kind: LineKind,
    ) -> Result<(), EncodingError> {
        let options = self.options;
        let may_err = options.binary_files != BinaryFiles::Text && self.matcher.characters == CharacterSet::Utf8;
        if may_err && std::str::from_utf8(content).is_err() {
            return Err(EncodingError);
        }
        let width = prefix.number_width;
        if self.with_filename {
            self.name(prefix.name, kind.separator());
        }
        if options.line_numbers {
            let number = format!("{:>width$}", index + 1);
            self.part(|colors| &colors.line_number, number.as_bytes());
            self.part(|colors| &colors.separator, &[kind.separator()]);
        }
        if options.byte_offset {
            let number = format!("{offset:>width$}");
            self.part(|colors| &colors.byte_offset, number.as_bytes());
            self.part(|colors| &colors.separator, &[kind.separator()]);
        }
        let is_empty = !(self.with_filename || options.line_numbers || options.byte_offset);
        if options.initial_tab && !is_empty && !content.is_empty() {
            self.output.push(b'\t');
        }
        Ok(())
    }

    /// Writes the name of a file before a line or a count.
    fn name(&mut self, name: &str, separator: u8) {
        self.part(|colors| &colors.name, name.as_bytes());
        if self.options.null_filename {
            self.output.push(0);
        } else {
            self.part(|colors| &colors.separator, &[separator]);
        }
    }

    /// Writes the number of selected lines of a file (`-c`).
    pub(super) fn count(&mut self, name: &str, selected: usize) {
        if self.with_filename {
            self.name(name, LineKind::Selected.separator());
        }
        self.output.extend_from_slice(format!("{selected}\n").as_bytes());
    }

    /// Writes the name of a file alone (`-l`, `-L`).
    pub(super) fn listed_name(&mut self, name: &str) {
        self.part(|colors| &colors.name, name.as_bytes());
        self.output.push(if self.options.null_filename { 0 } else { b'\n' });
    }

    /// Writes a line, with its matches marked as GNU grep marks them: what precedes a match and the match are two marks,
    /// and what follows the last match is one.
    fn whole_line(&mut self, line: &Line<'_>, kind: LineKind) {
        let Some(colors) = &self.colors else {
            self.output.extend_from_slice(line.bytes);
            return;
        };
        let reversed = self.options.invert_match && colors.reverse;
        let rest_mark = match (kind == LineKind::Selected) != reversed {
            true => &colors.selected_line,
            false => &colors.context_line,
        };
        let match_mark = match kind {
            LineKind::Selected => &colors.selected_match,
            LineKind::Context => &colors.context_match,
        };
        let mut places = BytePlaces::new(line);
        let (mut from, mut printed) = (0, 0);
        if self.matcher.has_matches(kind) && !match_mark.is_empty() {
            while let Some((start, end)) = self.matcher.find_nonempty(&line.text, from) {
                let (first, behind) = (places.advance(start), places.advance(end));
                colors.begin(rest_mark, &mut self.output);
                self.output.extend_from_slice(&line.bytes[printed..first]);
                colors.mark(match_mark, &line.bytes[first..behind], &mut self.output);
                (from, printed) = (end, behind);
            }
        }
        if printed < line.bytes.len() {
            colors.mark(rest_mark, &line.bytes[printed..], &mut self.output);
        }
    }

    /// Writes a part of the output, marked if colours are wanted.
    fn part(&mut self, mark: fn(&Colors) -> &str, bytes: &[u8]) {
        match &self.colors {
            Some(colors) => colors.mark(mark(colors), bytes, &mut self.output),
            None => self.output.extend_from_slice(bytes),
        }
    }

    fn end_line(&mut self) {
        self.output.push(if self.options.null_data { 0 } else { b'\n' });
    }
}

/// Places in the text of a line, counted in the bytes that the text stands for.
struct BytePlaces<'a> {
    text: &'a str,
    /// The text is the bytes.
    are_same: bool,
    text_place: usize,
    byte_place: usize,
}

impl<'a> BytePlaces<'a> {
    fn new(line: &'a Line<'_>) -> Self {
        let are_same = matches!(line.text, Cow::Borrowed(_));
        BytePlaces { text: &line.text, are_same, text_place: 0, byte_place: 0 }
    }

    /// Goes on to a place of the text, and returns that place in the bytes.
    fn advance(&mut self, text_place: usize) -> usize {
        if self.are_same {
            return text_place;
        }
        self.byte_place += bashkit::bytes_of(&self.text[self.text_place..text_place]).len();
        self.text_place = text_place;
        self.byte_place
    }
}
