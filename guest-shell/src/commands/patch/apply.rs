//! Location of hunks in a file, and the resulting lines.

use super::diff::{Hunk, Kind};

/// Place at which a hunk was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// First line of the old text, from 1.
    pub(super) line: usize,
    /// Lines of context at each end that were not compared.
    pub(super) fuzz: usize,
}

/// File to which hunks are applied, in their order.
pub(super) struct Target<'a> {
    lines: Vec<&'a [u8]>,
    /// Number of lines that were copied or replaced so far.
    taken: usize,
    /// Distance of the last hunk from its expected line.
    offset: i64,
    /// Number of lines by which the result exceeds the consumed lines.
    pub(super) growth: i64,
    result: Vec<u8>,
    /// True if runs of white space compare as one blank.
    loose: bool,
}

impl<'a> Target<'a> {
    pub(super) fn new(text: &'a [u8], loose: bool) -> Self {
        let lines = text.split_inclusive(|byte| *byte == b'\n').collect();
        Self { lines, taken: 0, offset: 0, growth: 0, result: Vec::new(), loose }
    }

    /// Returns the line at which a hunk fits with this fuzz.
    pub(super) fn locate(&self, hunk: &Hunk, fuzz: usize) -> Option<usize> {
        let old = hunk.old();
        let guess = first(hunk) + self.offset;
        if old.is_empty() {
            let line = usize::try_from(guess.max(1)).ok()?;
            // As in GNU's: a position beyond the end of the file means its end.
            return (line > self.taken).then_some(line);
        }
        let (prefix, suffix) = context(hunk);
        let longest = signed(prefix.max(suffix));
        let prefix_fuzz = signed(fuzz + prefix) - longest;
        let suffix_fuzz = signed(fuzz + suffix) - longest;
        let fits = |line: i64| {
            let skip = |fuzz: i64| usize::try_from(fuzz.max(0)).unwrap_or(usize::MAX);
            line > signed(self.taken) && self.matches(&old, line, skip(prefix_fuzz), skip(suffix_fuzz))
        };
        // Less context before than after means that the file begins there, and vice versa for its end.
        if prefix_fuzz < 0 && first(hunk) <= 1 {
            return fits(1).then_some(1);
        }
        if suffix_fuzz < 0 {
            let last = signed(self.lines.len()) - signed(old.len()) + 1;
            return fits(last).then(|| usize::try_from(last).ok()).flatten();
        }
        let end = signed(self.lines.len()) + 1;
        // There is no nearer line in the file.
        let nearest = (guess - end).max(1 - guess).max(0);
        (nearest..=(end - guess).max(guess - 1))
            .flat_map(|offset| [guess + offset, guess - offset])
            .find(|line| *line >= 1 && *line <= end && fits(*line))
            .and_then(|line| usize::try_from(line).ok())
    }

    fn matches(&self, old: &[&[u8]], line: i64, prefix: usize, suffix: usize) -> bool {
        let Some(start) = usize::try_from(line).ok().and_then(|line| line.checked_sub(1)) else { return false };
        let end = old.len().saturating_sub(suffix);
        // As in GNU's: the part of a hunk that fuzz leaves must lie in the file, even if none of it is compared.
        start + end <= self.lines.len()
            && (prefix..end).all(|at| self.lines.get(start + at).is_some_and(|line| self.same(line, old[at])))
    }

    fn same(&self, one: &[u8], other: &[u8]) -> bool {
        one == other || self.loose && words(one) == words(other)
    }

    /// Applies a hunk at a place. Returns the distance from its expected line.
    pub(super) fn put(&mut self, hunk: &Hunk, place: Place) -> i64 {
        let start = place.line - 1;
        self.take_to(start);
        let mut at = start;
        for line in &hunk.lines {
            match line.kind {
                // The line of the file itself, from which fuzz or a loose comparison may differ.
                Kind::Same => {
                    self.result.extend(self.lines.get(at).copied().unwrap_or_default());
                    at += 1;
                }
                Kind::Old => at += 1,
                Kind::New => self.add(&line.text),
            }
        }
        self.taken = at.min(self.lines.len());
        self.growth += signed(hunk.new_length()) - signed(hunk.old().len());
        self.offset = signed(place.line) - first(hunk);
        self.offset
    }

    /// Appends a line to the text. The text before it then needs a line break.
    fn add(&mut self, text: &[u8]) {
        if self.result.last().is_some_and(|byte| *byte != b'\n') {
            self.result.push(b'\n');
        }
        self.result.extend(text);
    }

    fn take_to(&mut self, end: usize) {
        for line in &self.lines[self.taken.min(end)..end.min(self.lines.len())] {
            self.result.extend(*line);
        }
        self.taken = end;
    }

    /// Returns the whole result.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.take_to(self.lines.len());
        self.result
    }
}

/// Returns the line at which a hunk begins. A hunk without old lines names the line before.
pub(super) fn first(hunk: &Hunk) -> i64 {
    hunk.old_start + i64::from(hunk.old().is_empty())
}

/// Returns the numbers of context lines before and after the changes.
pub(super) fn context(hunk: &Hunk) -> (usize, usize) {
    let same = |line: &&super::diff::Line| line.kind == Kind::Same;
    let prefix = hunk.lines.iter().take_while(same).count();
    (prefix, hunk.lines.iter().rev().take_while(same).count())
}

fn words(text: &[u8]) -> Vec<&[u8]> {
    text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect()
}

fn signed(number: usize) -> i64 {
    i64::try_from(number).expect("a length in memory")
}

#[cfg(test)]
mod tests {
    use super::super::reader::read;
    use super::*;

    fn apply(text: &str, patch: &str) -> Option<String> {
        let diffs = read(patch.as_bytes(), true).expect("a diff");
        let mut target = Target::new(text.as_bytes(), false);
        for hunk in &diffs[0].hunks {
            let (prefix, suffix) = context(hunk);
            let most = prefix.max(suffix).min(2);
            let (fuzz, line) = (0..=most).find_map(|fuzz| Some((fuzz, target.locate(hunk, fuzz)?)))?;
            target.put(hunk, Place { line, fuzz });
        }
        Some(String::from_utf8(target.finish()).expect("text"))
    }

    #[test]
    fn hunks_find_their_place() {
        let patch = "--- f\n+++ f\n@@ -2,3 +2,3 @@\n b\n-c\n+C\n d\n";
        assert_eq!(apply("a\nb\nc\nd\n", patch).as_deref(), Some("a\nb\nC\nd\n"));
        assert_eq!(apply("x\ny\na\nb\nc\nd\n", patch).as_deref(), Some("x\ny\na\nb\nC\nd\n"));
        assert_eq!(apply("a\nB\nc\nd\n", patch).as_deref(), Some("a\nB\nC\nd\n"), "with fuzz");
        assert_eq!(apply("a\nb\nx\nd\n", patch), None);
        let between = "--- f\n+++ f\n@@ -1,2 +1,3 @@\n a\n+new\n b\n";
        assert_eq!(apply("", between), None, "fuzz leaves nothing to compare, and nowhere to put it");
        // Far beyond the end; the search must end quickly.
        let far = "--- f\n+++ f\n@@ -2147483648 +1 @@\n-c\n+C\n";
        assert_eq!(apply("a\nb\nc\nd\n", far).as_deref(), Some("a\nb\nC\nd\n"));
        assert_eq!(apply("", "--- /dev/null\n+++ f\n@@ -0,0 +1 @@\n+a\n").as_deref(), Some("a\n"));
        assert_eq!(apply("a\nb\n", "1a2\n> x\n").as_deref(), Some("a\nx\nb\n"));
        assert_eq!(apply("a\nb\n", "9a10\n> x\n").as_deref(), Some("a\nb\nx\n"));
        assert_eq!(apply("a\nb", "2c2\n< b\n\\ No newline\n---\n> c\n").as_deref(), Some("a\nc\n"));
    }
}
