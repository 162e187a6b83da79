//! Which lines a command is for.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::pattern::FANCY_BACKTRACK_LIMIT;
use super::super::script::{Address, Command, End, RegexUse, Start};
use super::Machine;
use crate::commands::sed::pattern::SedRegex;
use bashkit::limits::LimitExceeded;
use std::sync::Arc;

/// State of a range.
#[derive(Default, Clone)]
pub(super) struct RangeState {
    is_open: bool,
    /// Last line of the range, if that is known: of `,N`, `,+N` and `,~N`.
    last_line: Option<usize>,
    /// The range began with a line number, which it does once. It begins with the first line at or past the number
    /// (`n`, `N` and jumps may carry the stream past it before the range is looked at) and must not begin again.
    is_spent: bool,
}

/// Outcome of an address.
pub(super) struct Selection {
    pub(super) is_selected: bool,
    /// The line is the last of a range.
    pub(super) closes_range: bool,
}

impl Machine<'_> {
    /// Returns whether a command is for the line. A search that took too many steps is an error: whether the line
    /// matches is not known.
    pub(super) fn select(&mut self, index: usize, command: &Command) -> Result<Selection, LimitExceeded> {
        let (is_selected, closes_range) = match &command.address {
            None => (true, false),
            Some(Address { start, end: None }) => (self.start_matches(start), false),
            Some(Address { end: Some(end), .. }) if self.ranges[index].is_open => self.continue_range(index, end),
            Some(Address { start, end: Some(end) }) => self.begin_range(index, start, end),
        };
        if self.last_regex.as_ref().is_some_and(|regex| regex.given_up()) {
            return Err(LimitExceeded::MaxLoopIterations(FANCY_BACKTRACK_LIMIT));
        }
        Ok(Selection { is_selected: is_selected != command.is_negated, closes_range })
    }

    /// Returns whether the line belongs to an open range, and whether it closes the range. A line number closes the range
    /// and excludes the line once the stream is past it; a relative end includes the first line behind it (GNU 4.9).
    fn continue_range(&mut self, index: usize, end: &End) -> (bool, bool) {
        let line_number = self.input.line_number;
        let state = &self.ranges[index];
        let (closes, is_selected) = match end {
            End::Line(last) => (line_number >= *last, line_number <= *last),
            End::Plus(_) | End::Multiple(_) => (state.last_line.is_some_and(|last| line_number >= last), true),
            End::Last => (self.input.is_at_end(), true),
            End::Regex(regex) => (self.regex_matches(regex), true),
        };
        if closes {
            let is_spent = self.ranges[index].is_spent;
            self.ranges[index] = RangeState { is_spent, ..RangeState::default() };
        }
        (is_selected, is_selected && closes)
    }

    /// Returns whether the line begins a range, and whether it closes the range at once.
    fn begin_range(&mut self, index: usize, start: &Start, end: &End) -> (bool, bool) {
        let line_number = self.input.line_number;
        let begins_once = matches!(start, Start::Line(_) | Start::Zero);
        let begins = match start {
            Start::Line(first) => !self.ranges[index].is_spent && line_number >= *first,
            Start::Zero => !self.ranges[index].is_spent,
            other => self.start_matches(other),
        };
        if !begins {
            return (false, false);
        }
        self.ranges[index].is_spent |= begins_once;
        // A range whose lines were all skipped (by `d`, `N` or a jump) is over.
        if let (Start::Line(first), End::Line(last)) = (start, end)
            && line_number > *first.max(last)
        {
            return (false, false);
        }
        let last_line = match end {
            End::Line(last) => Some(*last),
            End::Plus(count) => Some(line_number.saturating_add(*count)),
            End::Multiple(0) => Some(line_number),
            End::Multiple(number) => Some((line_number / number + 1).saturating_mul(*number)),
            End::Last | End::Regex(_) => None,
        };
        // The end of input closes no range whose end did not come, so that `sed '1,5c\Z'` prints nothing for two lines.
        // `0,/regex/` is the one form whose regular expression is looked for in the first line.
        let closes = match end {
            End::Last => self.input.is_at_end(),
            End::Regex(regex) => matches!(start, Start::Zero) && self.regex_matches(regex),
            _ => last_line.is_some_and(|last| last <= line_number),
        };
        if !closes {
            self.ranges[index] = RangeState { is_open: true, last_line, is_spent: begins_once };
        }
        (true, closes)
    }

    fn start_matches(&mut self, start: &Start) -> bool {
        let line_number = self.input.line_number;
        match start {
            Start::Line(line) | Start::Step { first: line, step: 0 } => line_number == *line,
            // The parser lets it begin nothing but a range.
            Start::Zero => false,
            Start::Last => self.input.is_at_end(),
            Start::Step { first, step } => line_number >= *first && (line_number - first).is_multiple_of(*step),
            Start::Regex(regex) => self.regex_matches(regex),
        }
    }

    fn regex_matches(&mut self, regex: &RegexUse) -> bool {
        self.resolve(regex).is_some_and(|regex| regex.is_match(&self.pattern.text))
    }

    /// Returns the regular expression that is meant: an empty one is the last that was used.
    pub(super) fn resolve(&mut self, regex: &RegexUse) -> Option<Arc<SedRegex>> {
        if let Some(regex) = regex {
            self.last_regex = Some(regex.clone());
        }
        self.last_regex.clone()
    }
}
