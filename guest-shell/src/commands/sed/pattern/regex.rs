//! Compiled expressions and their matches.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::sync::atomic::{AtomicBool, Ordering};

use super::translator::Translator;
use super::{PatternError, Syntax};
use crate::commands::awk::regex::AwkRegex;
use bashkit::builtins::search_common::{REGEX_DFA_SIZE_LIMIT, REGEX_SIZE_LIMIT};

/// Compiled expression of a script.
pub(in crate::commands) enum SedRegex {
    /// Expression of awk's engine, with its number of groups.
    Posix(Box<AwkRegex>, usize),
    /// Expression with back-references, with a flag that is set if a search was given up, which says nothing about the
    /// line.
    Fancy(fancy_regex::Regex, AtomicBool),
}

/// Most steps that a search with back-references may take.
pub(in crate::commands) const FANCY_BACKTRACK_LIMIT: usize = 1_000_000;

/// Match with the spans of its groups, as byte offsets into the text.
pub(in crate::commands) struct MatchSpan {
    pub(in crate::commands) start: usize,
    pub(in crate::commands) end: usize,
    pub(in crate::commands) groups: Vec<Option<(usize, usize)>>,
}

impl SedRegex {
    pub(in crate::commands) fn new(pattern: &str, syntax: Syntax) -> Result<Self, PatternError> {
        let translated = Translator::new(pattern, syntax, false).run()?;
        if translated.back_references || syntax.null_lines() {
            let text = Translator::new(pattern, syntax, true).run()?.text;
            return Self::build_fancy(&text, syntax).map_err(PatternError::Engine);
        }
        let text = format!("{}{}", flags(syntax), translated.text);
        AwkRegex::from_translated(text, translated.ambiguous)
            .map(|re| re.matching_bytes(syntax.bytes_match))
            .map(|re| SedRegex::Posix(Box::new(re), translated.groups))
            .map_err(|error| PatternError::Engine(error.0))
    }

    fn build_fancy(pattern: &str, syntax: Syntax) -> Result<Self, String> {
        let pattern = format!("{}{pattern}", flags(syntax));
        Self::build_fancy_with_limit(&pattern, FANCY_BACKTRACK_LIMIT)
    }

    pub(in crate::commands) fn build_fancy_with_limit(pattern: &str, backtrack_limit: usize) -> Result<Self, String> {
        fancy_regex::RegexBuilder::new(pattern)
            .delegate_size_limit(REGEX_SIZE_LIMIT)
            .delegate_dfa_size_limit(REGEX_DFA_SIZE_LIMIT)
            .backtrack_limit(backtrack_limit)
            .build()
            .map(|re| SedRegex::Fancy(re, AtomicBool::new(false)))
            .map_err(|e| e.to_string())
    }

    /// Returns the number of groups, without the whole match.
    pub(in crate::commands) fn group_count(&self) -> usize {
        match self {
            SedRegex::Posix(_, groups) => *groups,
            SedRegex::Fancy(re, _) => re.captures_len().saturating_sub(1),
        }
    }

    pub(in crate::commands) fn is_match(&self, text: &str) -> bool {
        match self {
            SedRegex::Posix(re, _) => re.is_match(text),
            SedRegex::Fancy(re, given_up) => re.is_match(text).unwrap_or_else(|_| {
                given_up.store(true, Ordering::Relaxed);
                false
            }),
        }
    }

    /// Returns true if a search took more steps than it may.
    pub(in crate::commands) fn given_up(&self) -> bool {
        matches!(self, SedRegex::Fancy(_, given_up) if given_up.load(Ordering::Relaxed))
    }

    /// Returns the first match at or behind `from`.
    pub(in crate::commands) fn find_at(&self, text: &str, from: usize) -> Option<MatchSpan> {
        let spans = match self {
            SedRegex::Posix(re, 0) => vec![Some(re.find_at(text, from)?)],
            SedRegex::Posix(re, _) => re.captures_at(text, from)?,
            SedRegex::Fancy(re, given_up) => match re.captures_from_pos(text, from) {
                Ok(found) => found?.iter().map(|group| group.map(|m| (m.start(), m.end()))).collect(),
                Err(_) => {
                    given_up.store(true, Ordering::Relaxed);
                    return None;
                }
            },
        };
        let (whole, groups) = spans.split_first()?;
        let (start, end) = (*whole)?;
        Some(MatchSpan { start, end, groups: groups.to_vec() })
    }

    /// Returns the matches, which do not overlap, up to the `most`th. An empty one right behind another does not count.
    pub(in crate::commands) fn matches(&self, text: &str, most: usize) -> Vec<MatchSpan> {
        let mut spans: Vec<MatchSpan> = Vec::new();
        let mut from = 0;
        while from <= text.len()
            && spans.len() < most
            && let Some(span) = self.find_at(text, from)
        {
            let empty = span.start == span.end;
            let width = text[span.end..].chars().next().map_or(1, char::len_utf8);
            from = span.end + if empty { width } else { 0 };
            if !empty || spans.last().is_none_or(|last| last.end != span.start) {
                spans.push(span);
            }
        }
        spans
    }
}

/// Returns the engine's flags, which stand before an expression.
fn flags(syntax: Syntax) -> String {
    let mut flags = String::from(match (syntax.multi_line, syntax.null_data) {
        (true, false) => "(?m)",
        _ => "(?s)",
    });
    if syntax.case_insensitive {
        flags.push_str("(?i)");
    }
    flags
}
