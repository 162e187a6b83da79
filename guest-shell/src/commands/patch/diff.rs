//! Contents of a diff: the files that it names, and hunks.

/// Line of a hunk. The text has its line break, unless the file ends without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) kind: Kind,
    pub(super) text: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Same,
    Old,
    New,
}

/// Hunk: lines that change together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    /// First line, from 1. If there are no lines, the line before.
    pub(super) old_start: i64,
    pub(super) new_start: i64,
    pub(super) lines: Vec<Line>,
}

/// Changes of one file.
#[derive(Clone, Debug, Default)]
pub(super) struct FileDiff {
    /// Names after `---` and `+++`, or in git's line; `None` in normal diffs and for a missing file.
    pub(super) old_name: Option<String>,
    pub(super) new_name: Option<String>,
    /// Lines before the first hunk, for messages and rejects.
    pub(super) header: Vec<Vec<u8>>,
    /// Line of the first hunk, from 1.
    pub(super) line: usize,
    pub(super) hunks: Vec<Hunk>,
    /// True if Git made the diff.
    pub(super) git: bool,
    /// True if the diff describes changes of binary data.
    pub(super) binary: bool,
    /// True if the file moves from the old name to the new one.
    pub(super) rename: bool,
    /// True if the new file begins as a copy of the old one.
    pub(super) copy: bool,
    /// Types and modes before and after, if git states them.
    pub(super) old_mode: Option<u32>,
    pub(super) new_mode: Option<u32>,
    /// Presence of the file before and after.
    pub(super) before: Presence,
    pub(super) after: Presence,
    /// Reason why the diff ends within a hunk.
    pub(super) broken: Option<String>,
    /// True if git's lines are significant even without hunks.
    pub(super) extended: bool,
}

/// Presence of a file, according to a diff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Presence {
    #[default]
    Present,
    /// The file is empty or missing.
    Empty,
    /// The file is missing.
    Absent,
}

impl Hunk {
    fn of(&self, kind: Kind) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(move |line| line.kind == Kind::Same || line.kind == kind)
    }

    /// Returns the lines that must be present.
    pub(super) fn old(&self) -> Vec<&[u8]> {
        self.of(Kind::Old).map(|line| &line.text[..]).collect()
    }

    pub(super) fn new_length(&self) -> usize {
        self.of(Kind::New).count()
    }

    /// Returns the reverse change.
    pub(super) fn reversed(&self) -> Self {
        let mut lines = Vec::with_capacity(self.lines.len());
        let mut added: Vec<Line> = Vec::new();
        for line in &self.lines {
            match line.kind {
                Kind::Same => {
                    lines.append(&mut added);
                    lines.push(line.clone());
                }
                // Removed lines come before added ones.
                Kind::New => lines.push(Line { kind: Kind::Old, text: line.text.clone() }),
                Kind::Old => added.push(Line { kind: Kind::New, text: line.text.clone() }),
            }
        }
        lines.append(&mut added);
        Self { old_start: self.new_start, new_start: self.old_start, lines }
    }
}

impl FileDiff {
    pub(super) fn reverse(&mut self) {
        std::mem::swap(&mut self.old_name, &mut self.new_name);
        std::mem::swap(&mut self.old_mode, &mut self.new_mode);
        std::mem::swap(&mut self.before, &mut self.after);
        self.hunks.iter_mut().for_each(|hunk| *hunk = hunk.reversed());
    }
}

impl Hunk {
    /// Handles `\ No newline at end of file`, which applies to the line before.
    pub(super) fn end_without_break(&mut self) {
        if let Some(line) = self.lines.last_mut()
            && line.text.last() == Some(&b'\n')
        {
            line.text.pop();
        }
    }
}
