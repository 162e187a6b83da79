//! Redactor: replaces the values of secrets, and their encodings, by placeholders.

use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::decoding::{DecodedView, is_of_line_break};
use super::encoding::{ZeroizedBytes, encodings, encodings_in_any_case};
use super::placeholder;

/// Bytes that are searched at once. Decoding them in several ways takes some 400 times that much memory at most.
const WINDOW: usize = 64 << 10;

/// Automaton of all values. Its states contain the values too, byte by byte, where nothing can zeroise them: only the
/// process can keep them out of a core dump (see `Secrets`).
pub(super) struct Redactor {
    exact: PatternSet,
    /// Patterns of digits: hexadecimal and base32.
    in_any_case: PatternSet,
    /// Names of the secrets.
    names: Vec<String>,
    /// Bytes that a pattern begins with.
    first: [bool; 256],
    /// True if a pattern has a space, which forms write as `+`.
    spaces: bool,
}

/// Patterns that are searched for at once.
struct PatternSet {
    automaton: AhoCorasick,
    all: Vec<SecretPattern>,
}

struct SecretPattern {
    bytes: ZeroizedBytes,
    /// Index of the secret's name.
    secret: usize,
}

/// Range of bytes that holds a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SecretRange {
    range: Range<usize>,
    secret: usize,
}

impl Redactor {
    /// Builds the redactor of these secrets, by name. Returns `None` if no value is long enough.
    pub(super) fn new<'a>(secrets: impl Iterator<Item = (&'a str, &'a [u8])>) -> Self {
        let (mut names, mut exact, mut in_any_case) = (Vec::new(), Vec::new(), Vec::new());
        for (name, value) in secrets {
            let secret = names.len();
            exact.extend(encodings(value).into_iter().map(|bytes| SecretPattern { bytes, secret }));
            in_any_case.extend(encodings_in_any_case(value).into_iter().map(|bytes| SecretPattern { bytes, secret }));
            names.push(name.to_owned());
        }
        let mut first = [false; 256];
        for pattern in exact.iter().chain(&in_any_case) {
            let byte = pattern.bytes[0];
            first[usize::from(byte)] = true;
            first[usize::from(byte.to_ascii_uppercase())] = true;
        }
        let spaces = exact.iter().any(|pattern| pattern.bytes.contains(&b' '));
        Self {
            exact: PatternSet::new(exact, false),
            in_any_case: PatternSet::new(in_any_case, true),
            names,
            first,
            spaces,
        }
    }

    /// Returns which secrets are redacted for a reader who may see those that `sees` names.
    pub(super) fn hidden(&self, sees: impl Fn(&str) -> bool) -> Vec<bool> {
        self.names.iter().map(|name| !sees(name)).collect()
    }

    /// Returns the bytes without secrets. Returns `None` if they hold none.
    pub(super) fn redact(self: &Arc<Self>, bytes: &[u8]) -> Option<Vec<u8>> {
        let is_read_otherwise = |byte: &u8| {
            matches!(byte, b'%' | b'\\' | b'&') || is_of_line_break(*byte) || (self.spaces && *byte == b'+')
        };
        let holds = |patterns: &PatternSet| patterns.automaton.is_match(bytes);
        if !bytes.iter().any(is_read_otherwise) && !holds(&self.exact) && !holds(&self.in_any_case) {
            return None;
        }
        let mut stream = StreamRedactor::new(Arc::clone(self), vec![true; self.names.len()]);
        let mut redacted = Vec::with_capacity(bytes.len());
        for window in bytes.chunks(WINDOW) {
            stream.push(window, &mut redacted);
        }
        stream.finish(&mut redacted);
        stream.found.then_some(redacted)
    }

    /// Returns the ranges of secrets in order, and the start of a possible incomplete secret at the end. Overlapping
    /// ranges are merged, and named by the first of them, and among those by the longest.
    fn find(&self, bytes: &[u8], hidden: &[bool], last: bool) -> (Vec<SecretRange>, usize) {
        let views = DecodedView::all(bytes, self.spaces, last);
        let mut all = Vec::new();
        for view in &views {
            for patterns in [&self.exact, &self.in_any_case] {
                all.extend(patterns.find(view).filter(|found| hidden[found.secret]));
            }
        }
        all.sort_by_key(|found| (found.range.start, usize::MAX - found.range.end));
        let mut merged: Vec<SecretRange> = Vec::new();
        for found in all {
            match merged.last_mut() {
                Some(before) if found.range.start < before.range.end => {
                    before.range.end = before.range.end.max(found.range.end);
                }
                _ => merged.push(found),
            }
        }
        let rest = if last { bytes.len() } else { self.rest(bytes.len(), &views, hidden) };
        (merged, rest)
    }

    /// Returns the start of the bytes that must wait for more.
    fn rest(&self, length: usize, views: &[DecodedView], hidden: &[bool]) -> usize {
        let of_view = |view: &DecodedView| {
            let begun = self.begun(&view.bytes, hidden).map(|index| view.place(index).start);
            begun.into_iter().chain(view.cut).min().unwrap_or(length)
        };
        let mut rest = views.iter().map(of_view).min().unwrap_or(length);
        // No escape may be cut: its rest would be decoded as something else.
        while let Some(start) = views.iter().filter_map(|view| view.escape_around(rest)).min() {
            rest = start;
        }
        rest
    }

    /// Returns the start of the longest suffix that is a proper prefix of a pattern.
    fn begun(&self, bytes: &[u8], hidden: &[bool]) -> Option<usize> {
        let longest = self.patterns().map(|pattern| pattern.bytes.len()).max().unwrap_or_default();
        (bytes.len().saturating_sub(longest.saturating_sub(1))..bytes.len()).find(|start| {
            let end = &bytes[*start..];
            let longer = |pattern: &&SecretPattern| hidden[pattern.secret] && pattern.bytes.len() > end.len();
            let digits = |pattern: &SecretPattern| pattern.bytes[..end.len()].eq_ignore_ascii_case(end);
            self.first[usize::from(end[0])]
                && (self.exact.all.iter().filter(longer).any(|pattern| pattern.bytes.starts_with(end))
                    || self.in_any_case.all.iter().filter(longer).any(digits))
        })
    }

    fn patterns(&self) -> impl Iterator<Item = &SecretPattern> {
        self.exact.all.iter().chain(&self.in_any_case.all)
    }
}

impl PatternSet {
    fn new(all: Vec<SecretPattern>, in_any_case: bool) -> Self {
        // All matches are needed, not only the longest: an overlapping match is part of a secret too. A prefilter would
        // keep one more copy of the values, in one piece.
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .ascii_case_insensitive(in_any_case)
            .prefilter(false)
            .build(all.iter().map(|pattern| pattern.bytes.as_slice()))
            .expect("number and length of secrets are limited");
        Self { automaton, all }
    }

    /// Finds the patterns in a view, as ranges of the original bytes.
    fn find<'a>(&'a self, view: &'a DecodedView) -> impl Iterator<Item = SecretRange> {
        self.automaton.find_overlapping_iter(view.bytes.as_slice()).map(|found| SecretRange {
            range: view.place(found.start()).start..view.place(found.end() - 1).end,
            secret: self.all[found.pattern().as_usize()].secret,
        })
    }
}

/// Redactor of a stream, whose secrets may cross the borders of its parts.
pub(in crate::tool) struct StreamRedactor {
    redactor: Arc<Redactor>,
    /// Flags of the secrets that are redacted.
    hidden: Vec<bool>,
    /// Bytes that may be the beginning of a secret, until more arrive.
    held: ZeroizedBytes,
    /// Number of these bytes that belong to a secret that was replaced already.
    covered: usize,
    /// True if any secret was replaced.
    found: bool,
}

impl StreamRedactor {
    pub(super) fn new(redactor: Arc<Redactor>, hidden: Vec<bool>) -> Self {
        Self { redactor, hidden, held: ZeroizedBytes::default(), covered: 0, found: false }
    }

    /// Takes the next part, and appends the bytes that are certainly no part of a secret.
    pub(in crate::tool) fn push(&mut self, part: &[u8], redacted: &mut Vec<u8>) {
        for window in part.chunks(WINDOW) {
            // Not `extend`: growing would leave a copy behind.
            let mut whole = ZeroizedBytes::new(Vec::with_capacity(self.held.len() + window.len()));
            whole.extend_from_slice(&self.held);
            whole.extend_from_slice(window);
            self.held = whole;
            self.advance(false, redacted);
        }
    }

    /// Appends the bytes that were held back at the end of the stream.
    pub(in crate::tool) fn finish(&mut self, redacted: &mut Vec<u8>) {
        self.advance(true, redacted);
    }

    /// Redacts bytes that are not part of the stream. Returns `None` if they hold no secret.
    pub(in crate::tool) fn whole(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut stream = Self::new(Arc::clone(&self.redactor), self.hidden.clone());
        let mut redacted = Vec::new();
        stream.push(bytes, &mut redacted);
        stream.finish(&mut redacted);
        stream.found.then_some(redacted)
    }

    /// Returns true if the name of a header, which is always in lower case, contains a secret in any case.
    pub(in crate::tool) fn is_in_name(&self, name: &[u8]) -> bool {
        let hidden = self.redactor.patterns().filter(|pattern| self.hidden[pattern.secret]);
        let mut bytes = hidden.map(|pattern| &pattern.bytes);
        bytes.any(|bytes| name.windows(bytes.len()).any(|part| part.eq_ignore_ascii_case(bytes)))
            || self.whole(name).is_some()
    }

    /// Returns true if bytes are held back.
    pub(in crate::tool) fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    fn advance(&mut self, last: bool, redacted: &mut Vec<u8>) {
        let (found, rest) = self.redactor.find(&self.held, &self.hidden, last);
        let mut at = self.covered;
        for SecretRange { range, secret } in found {
            if range.start < at {
                at = at.max(range.end);
            } else if range.start < rest {
                redacted.extend_from_slice(&self.held[at..range.start]);
                redacted.extend_from_slice(placeholder(&self.redactor.names[secret]).as_bytes());
                self.found = true;
                at = range.end;
            }
        }
        redacted.extend_from_slice(self.held.get(at..rest).unwrap_or_default());
        self.covered = at.saturating_sub(rest);
        self.held = ZeroizedBytes::new(self.held[rest..].to_vec());
    }
}

#[cfg(test)]
mod tests;
