//! Edits of a text that keep its line numbers.

use oxc_span::Span;

/// Edits of a text. Positions are byte offsets.
pub(super) struct TextEdits<'s> {
    source: &'s str,
    /// Start, end and replacement of each edit. Edits do not overlap.
    list: Vec<(usize, usize, String)>,
}

impl<'s> TextEdits<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        Self { source, list: Vec::new() }
    }

    /// Replaces a range by blanks, except for line ends.
    pub(super) fn blank(&mut self, start: u32, end: u32) {
        self.blank_with(start, end, "");
    }

    /// Replaces a range by `text` and blanks, except for line ends.
    pub(super) fn blank_with(&mut self, start: u32, end: u32, text: &str) {
        let (start, end) = (start as usize, end as usize);
        let Some(old) = self.source.get(start..end).filter(|old| !old.is_empty()) else { return };
        let mut new = String::with_capacity(old.len().max(text.len()));
        new.push_str(text);
        for (at, character) in old.chars().enumerate() {
            if matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}') {
                new.push(character);
            } else if at >= text.len() {
                new.push(' ');
            }
        }
        self.list.push((start, end, new));
    }

    /// Replaces a range by `text`, followed by the line ends of the range.
    pub(super) fn replace(&mut self, start: u32, end: u32, text: &str) {
        let (start, end) = (start as usize, end as usize);
        let lines = self.source.get(start..end).map_or(0, |old| old.matches('\n').count());
        self.list.push((start, end, format!("{text}{}", "\n".repeat(lines))));
    }

    /// Inserts `text` at a position.
    pub(super) fn insert(&mut self, at: u32, text: &str) {
        self.list.push((at as usize, at as usize, text.to_owned()));
    }

    /// Terminates the statement that ends at `end` if its last part was blanked: otherwise it might continue on the
    /// next line.
    pub(super) fn end_statement(&mut self, end: u32) {
        if let Some((_, _, text)) = self.list.iter_mut().rev().find(|(start, to, _)| *to == end as usize && start < to)
            && text.ends_with(' ')
        {
            text.pop();
            text.push(';');
        }
    }

    /// Returns true if an edit covers this position already.
    pub(super) fn covers(&self, at: u32) -> bool {
        self.list.iter().any(|(start, end, _)| (*start..*end).contains(&(at as usize)))
    }

    /// Returns the edited text.
    pub(super) fn apply(&self) -> String {
        self.between(0, self.source.len())
    }

    /// Returns the edited text of a range.
    pub(super) fn part(&self, span: Span) -> String {
        self.between(span.start as usize, span.end as usize)
    }

    fn between(&self, from: usize, to: usize) -> String {
        let mut list: Vec<_> = self.list.iter().filter(|(start, end, _)| *start >= from && *end <= to).collect();
        list.sort_by_key(|(start, end, _)| (*start, *end));
        let mut text = String::with_capacity(to - from + 64);
        let mut at = from;
        for (start, end, new) in list {
            text.push_str(self.source.get(at..*start).unwrap_or_default());
            text.push_str(new);
            at = (*end).max(at);
        }
        text.push_str(self.source.get(at..to).unwrap_or_default());
        text
    }
}

/// Returns the first position from `at` on that is neither white space nor in a comment.
pub(super) fn next_token(source: &str, at: u32) -> u32 {
    let mut at = at as usize;
    loop {
        let rest = source.get(at..).unwrap_or_default();
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        let comment = if trimmed.starts_with("//") {
            trimmed.find('\n').unwrap_or(trimmed.len())
        } else if trimmed.starts_with("/*") {
            trimmed.find("*/").map_or(trimmed.len(), |end| end + 2)
        } else {
            return u32::try_from(at).unwrap_or(u32::MAX);
        };
        at += comment;
    }
}

/// Returns the position of the first token from `at` on, if `text` begins there.
pub(super) fn token_at(source: &str, at: u32, text: &str) -> Option<u32> {
    let at = next_token(source, at);
    source.get(at as usize..)?.starts_with(text).then_some(at)
}
