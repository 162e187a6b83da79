//! Comparison of two files, line by line.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::collections::HashMap;

use super::options::DiffOptions;
use super::script::{Change, changes};
use crate::commands::byte_text;

/// Bytes at the start of a file in which a NUL makes it binary.
const BINARY_PROBE: usize = 4096;

/// Returns the name of a file as heads of diffs have it: as a string of C if it has a blank, a quote or another character
/// that would not be read back.
pub(super) fn quoted_name(name: &str) -> String {
    if name.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\')) {
        return name.to_owned();
    }
    let escaped = name.bytes().map(|byte| match byte {
        b'"' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => match byte_text::control_escape(byte) {
            Some(letter) => format!("\\{letter}"),
            None => format!("\\{byte:03o}"),
        },
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// File that is compared with another.
pub(super) struct ComparedFile {
    pub(super) name: String,
    pub(super) data: Vec<u8>,
    /// Name and time in the head of unified and context diffs.
    pub(super) title: String,
}

impl ComparedFile {
    /// Returns a file that is not there, with `-N`.
    pub(super) fn absent(name: &str) -> Self {
        let name_in_title = quoted_name(name);
        let title = format!("{name_in_title}\t1970-01-01 00:00:00.000000000 +0000");
        Self { name: name.to_owned(), data: Vec::new(), title }
    }

    /// Returns true if the file does not seem to be text.
    pub(super) fn is_binary(&self) -> bool {
        self.data[..self.data.len().min(BINARY_PROBE)].contains(&0)
    }

    /// Returns the lines with their ends.
    fn lines(&self) -> Vec<&[u8]> {
        self.data.split_inclusive(|byte| *byte == b'\n').collect()
    }
}

/// Two files, their lines, and the changes from one to the other.
pub(super) struct Comparison<'a> {
    pub(super) options: &'a DiffOptions,
    pub(super) files: [&'a ComparedFile; 2],
    pub(super) old: Vec<&'a [u8]>,
    pub(super) new: Vec<&'a [u8]>,
    pub(super) changes: Vec<Change>,
}

/// Changes that are printed together, with the first of the lines around them and the one behind the last.
pub(super) struct Hunk<'c> {
    pub(super) changes: &'c [Change],
    pub(super) old: (usize, usize),
    pub(super) new: (usize, usize),
}

impl<'a> Comparison<'a> {
    /// Compares two files line by line.
    pub(super) fn new(options: &'a DiffOptions, one: &'a ComparedFile, other: &'a ComparedFile) -> Self {
        let (old, new) = (one.lines(), other.lines());
        // Lines that are equal have the same number.
        let mut numbers: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut number = |line: &&[u8]| {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            *numbers.entry(options.compared_line(line)).or_insert(next)
        };
        let old_numbers: Vec<u32> = old.iter().map(&mut number).collect();
        let new_numbers: Vec<u32> = new.iter().map(&mut number).collect();
        let changes = changes(&old_numbers, &new_numbers);
        Self { options, files: [one, other], old, new, changes }
    }

    /// Returns the lines that a change deletes.
    pub(super) fn deleted(&self, change: &Change) -> &[&'a [u8]] {
        &self.old[change.old.0..change.old.0 + change.old.1]
    }

    /// Returns the lines that a change inserts.
    pub(super) fn inserted(&self, change: &Change) -> &[&'a [u8]] {
        &self.new[change.new.0..change.new.0 + change.new.1]
    }

    /// Returns true if a change is only of lines that are ignored: blank ones, or such that match an expression.
    pub(super) fn is_ignored(&self, change: &Change) -> bool {
        let options = self.options;
        if !options.ignore_blank_lines && options.ignore_matching.is_empty() {
            return false;
        }
        let is_blank = |line: &[u8]| self.options.compared_line(line).iter().all(|byte| *byte == b'\n');
        let matches = |line: &[u8]| {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            options.ignore_matching.iter().any(|regex| regex.is_match(line))
        };
        let is_ignored = |line: &&[u8]| (options.ignore_blank_lines && is_blank(line)) || matches(line);
        self.deleted(change).iter().chain(self.inserted(change)).all(is_ignored)
    }

    /// Returns the last line before one of the old file that names the function it is in, cut to 40 bytes.
    pub(super) fn function_line(&self, before: usize) -> String {
        let Some(regex) = &self.options.function_line else {
            return String::new();
        };
        let found = self.old[..before].iter().rfind(|line| regex.is_match(line.strip_suffix(b"\n").unwrap_or(line)));
        let Some(line) = found else {
            return String::new();
        };
        let line = line.trim_ascii_start();
        format!(" {}", bashkit::text_of(&line[..line.len().min(40)]).trim_end())
    }

    /// Returns the changes that are not ignored.
    pub(super) fn shown_changes(&self) -> impl DoubleEndedIterator<Item = &Change> {
        self.changes.iter().filter(move |change| !self.is_ignored(change))
    }

    /// Returns true if there are changes that are not ignored.
    pub(super) fn differs(&self) -> bool {
        self.shown_changes().next().is_some()
    }

    /// Returns the changes in groups that are printed together. Changes with overlapping context are in one group.
    pub(super) fn hunks(&self, context: usize) -> impl Iterator<Item = Hunk<'_>> {
        let is_near = move |one: &Change, other: &Change| {
            let distance = other.old.0 - (one.old.0 + one.old.1);
            // A change that is ignored joins others from half as far.
            let reach = match self.is_ignored(one) || self.is_ignored(other) {
                true => context,
                false => context.saturating_mul(2),
            };
            distance <= reach
        };
        let hunks = self.changes.chunk_by(is_near);
        hunks
            .filter(move |changes| changes.iter().any(|change| !self.is_ignored(change)))
            .map(move |changes| self.hunk(changes, context))
    }

    fn hunk<'c>(&self, changes: &'c [Change], context: usize) -> Hunk<'c> {
        let (first, last) = (changes[0], changes[changes.len() - 1]);
        let before = context.min(first.old.0).min(first.new.0);
        let (old_end, new_end) = (last.old.0 + last.old.1, last.new.0 + last.new.1);
        let after = context.min(self.old.len() - old_end).min(self.new.len() - new_end);
        Hunk { changes, old: (first.old.0 - before, old_end + after), new: (first.new.0 - before, new_end + after) }
    }

    /// Returns a line of the head, behind a mark.
    pub(super) fn title(&self, mark: &str, side: usize) -> String {
        let title = self.options.labels.get(side).unwrap_or(&self.files[side].title);
        self.options.colored("\x1b[1m", &format!("{mark} {title}")) + "\n"
    }
}
