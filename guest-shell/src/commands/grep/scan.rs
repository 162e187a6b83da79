//! Search of one input of `grep`: selected lines, their context, and what is said at the end.
//!
//! The order of decisions is that of `grep`, `prtext` and `print_line_head` in GNU grep 3.11.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::collections::VecDeque;

use bashkit::PlacedMessages;

use super::line::{EncodingError, Line, LineKind, LineMatcher, LinePrefix, LinePrinter};
use super::options::{BinaryFiles, GrepOptions};

/// A line that is printed if a selected one follows it soon (`-B`).
struct EarlierLine {
    index: usize,
    offset: u64,
    bytes: Vec<u8>,
}

/// State of a search of one input, which is fed a line at a time.
pub(super) struct FileScan<'a> {
    options: &'a GrepOptions,
    matcher: &'a LineMatcher,
    prefix: LinePrefix<'a>,
    next_index: usize,
    next_offset: u64,
    selected_lines: usize,
    /// Lines of trailing context that are still to be printed.
    context_left: usize,
    /// Index of the line behind the last one that was printed.
    behind_printed: Option<usize>,
    earlier_lines: VecDeque<EarlierLine>,
    prints_lines: bool,
    ends_at_match: bool,
    /// The limit of `-m` was reached: only trailing context is left to print.
    is_limit_reached: bool,
    /// The input holds a NUL.
    is_binary: bool,
    /// Lines that had been selected before the first NUL.
    selected_before_nul: usize,
    /// A line that is not valid UTF-8 was to be printed.
    has_encoding_error: bool,
    is_done: bool,
}

impl<'a> FileScan<'a> {
    pub(super) fn new(name: &'a str, options: &'a GrepOptions, matcher: &'a LineMatcher) -> Self {
        FileScan {
            options,
            matcher,
            prefix: LinePrefix { name, number_width: 0 },
            next_index: 0,
            next_offset: 0,
            selected_lines: 0,
            context_left: 0,
            behind_printed: None,
            earlier_lines: VecDeque::new(),
            prints_lines: !options.prints_no_lines(),
            ends_at_match: options.ends_at_first_match(),
            is_limit_reached: false,
            is_binary: false,
            selected_before_nul: 0,
            has_encoding_error: false,
            is_done: options.max_count == Some(0),
        }
    }

    /// Makes numbers as wide as `-T` aligns them: as the size of a file, or as the largest one of a pipe.
    pub(super) fn align_numbers(&mut self, size: Option<u64>) {
        let largest = size.unwrap_or(i64::MAX as u64 - 1).saturating_add(self.options.line_numbers.into());
        self.prefix.number_width = largest.to_string().len();
    }

    pub(super) fn is_done(&self) -> bool {
        self.is_done || self.matcher.given_up().is_some()
    }

    pub(super) fn is_limit_reached(&self) -> bool {
        self.is_limit_reached
    }

    pub(super) fn is_binary(&self) -> bool {
        self.is_binary
    }

    pub(super) fn selected_lines(&self) -> usize {
        self.selected_lines
    }

    /// Notes that the input holds a NUL, which makes it binary from here on.
    pub(super) fn set_binary(&mut self) {
        if self.is_binary || self.options.binary_files == BinaryFiles::Text || self.options.null_data {
            return;
        }
        self.is_binary = true;
        if self.options.binary_files == BinaryFiles::WithoutMatch {
            self.selected_lines = 0;
            self.is_done = true;
            return;
        }
        if !self.options.count_only {
            self.print_no_more();
        }
        self.selected_before_nul = self.selected_lines;
    }

    fn print_no_more(&mut self) {
        self.ends_at_match = true;
        self.prints_lines = false;
    }

    /// Searches the next line, which comes without what ends it.
    pub(super) fn feed(&mut self, bytes: &[u8], printer: &mut LinePrinter<'_>) {
        if self.is_done {
            return;
        }
        let line = Line::new(self.next_index, self.next_offset, bytes, self.matcher.characters);
        self.next_index += 1;
        self.next_offset += bytes.len() as u64 + 1;
        if self.is_limit_reached {
            self.behind_limit(&line, printer);
        } else if self.matcher.selects(&line.text) {
            self.selected(&line, printer);
        } else if self.prints_lines && self.matcher.given_up().is_none() {
            self.unselected(&line, printer);
        }
    }

    /// Prints what follows the last line that `-m` allows as its context, selectable lines too (as GNU grep 3.11).
    fn behind_limit(&mut self, line: &Line<'_>, printer: &mut LinePrinter<'_>) {
        if self.context_left > 0 && self.prints_lines {
            self.print_trailing(line, printer);
        } else {
            self.context_left = 0;
        }
        self.is_done = self.context_left == 0;
    }

    fn selected(&mut self, line: &Line<'_>, printer: &mut LinePrinter<'_>) {
        self.selected_lines += 1;
        if self.prints_lines {
            self.print_selected(line, printer);
        }
        if self.ends_at_match {
            self.is_done = true;
        } else if self.options.max_count.is_some_and(|limit| self.selected_lines >= limit) {
            self.is_limit_reached = true;
            self.is_done = self.context_left == 0 || !self.prints_lines;
        }
    }

    fn unselected(&mut self, line: &Line<'_>, printer: &mut LinePrinter<'_>) {
        if self.context_left > 0 {
            self.print_trailing(line, printer);
            return;
        }
        let kept = self.options.context.before();
        if kept == 0 {
            return;
        }
        if self.earlier_lines.len() == kept {
            self.earlier_lines.pop_front();
        }
        let bytes = line.bytes.to_vec();
        self.earlier_lines.push_back(EarlierLine { index: line.index, offset: line.offset, bytes });
    }

    fn print_trailing(&mut self, line: &Line<'_>, printer: &mut LinePrinter<'_>) {
        self.print(line, LineKind::Context, printer);
        self.behind_printed = Some(line.index + 1);
        self.context_left -= 1;
    }

    /// Prints a selected line behind its leading context.
    fn print_selected(&mut self, line: &Line<'_>, printer: &mut LinePrinter<'_>) {
        let first = self.earlier_lines.front().map_or(line.index, |earlier| earlier.index);
        printer.begin_group(self.behind_printed == Some(first));
        for earlier in std::mem::take(&mut self.earlier_lines) {
            let line = Line::new(earlier.index, earlier.offset, &earlier.bytes, self.matcher.characters);
            self.print(&line, LineKind::Context, printer);
        }
        self.print(line, LineKind::Selected, printer);
        self.behind_printed = Some(line.index + 1);
        self.context_left = self.options.context.after();
    }

    fn print(&mut self, line: &Line<'_>, kind: LineKind, printer: &mut LinePrinter<'_>) {
        if self.prints_lines
            && let Err(EncodingError) = printer.line(&self.prefix, line, kind)
        {
            self.has_encoding_error = true;
            self.print_no_more();
        }
    }

    /// Ends the input: writes its count or its name, and the message about binary input.
    pub(super) fn finish(&self, printer: &mut LinePrinter<'_>, errors: &mut PlacedMessages) {
        let options = self.options;
        if options.quiet {
            return;
        }
        let name = self.prefix.name;
        let lists_files = options.files_with_matches || options.files_without_match;
        if options.count_only && !lists_files {
            printer.count(name, self.selected_lines);
        }
        let is_listed = if self.selected_lines > 0 { options.files_with_matches } else { options.files_without_match };
        if is_listed {
            printer.listed_name(name);
        }
        let hides_lines = self.has_encoding_error || (self.is_binary && self.selected_before_nul < self.selected_lines);
        if hides_lines && !options.prints_no_lines() {
            errors.push(&format!("grep: {name}: binary file matches\n"), printer.output.len());
        }
    }
}
