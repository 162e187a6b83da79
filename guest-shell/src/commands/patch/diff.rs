//! What a diff says: the files that it names, and hunks.

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

/// Lines that change together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    /// First line, from 1; for no lines, the one before.
    pub(super) old_start: i64,
    pub(super) new_start: i64,
    pub(super) lines: Vec<Line>,
}

/// The changes of one file.
#[derive(Clone, Debug, Default)]
pub(super) struct FileDiff {
    /// Names behind `---` and `+++`, or of git's line; none in normal diffs, and for no file.
    pub(super) old_name: Option<String>,
    pub(super) new_name: Option<String>,
    /// Lines in front of the first hunk, for messages and rejects.
    pub(super) header: Vec<Vec<u8>>,
    /// Line of the first hunk, from 1.
    pub(super) line: usize,
    pub(super) hunks: Vec<Hunk>,
    /// True if Git made the diff.
    pub(super) git: bool,
    /// True if the diff says how bytes change that are no text.
    pub(super) binary: bool,
    /// The file moves from the old name to the new one.
    pub(super) rename: bool,
    /// The file of the new name begins as the one of the old name.
    pub(super) copy: bool,
    /// Types and modes before and afterwards, as far as git says them.
    pub(super) old_mode: Option<u32>,
    pub(super) new_mode: Option<u32>,
    /// Presence of the file before, and afterwards.
    pub(super) before: Presence,
    pub(super) after: Presence,
    /// Reason why the diff ends within a hunk.
    pub(super) broken: Option<String>,
    /// Git's lines say something without hunks too.
    pub(super) extended: bool,
}

/// Presence of a file, by what a diff says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Presence {
    #[default]
    Present,
    /// The file is empty, or there is none.
    Empty,
    /// There is no file.
    Absent,
}

impl Hunk {
    fn of(&self, kind: Kind) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(move |line| line.kind == Kind::Same || line.kind == kind)
    }

    /// Lines that must be there.
    pub(super) fn old(&self) -> Vec<&[u8]> {
        self.of(Kind::Old).map(|line| &line.text[..]).collect()
    }

    pub(super) fn new_length(&self) -> usize {
        self.of(Kind::New).count()
    }

    /// Returns the same change the other way.
    pub(super) fn reversed(&self) -> Self {
        let mut lines = Vec::with_capacity(self.lines.len());
        let mut added: Vec<Line> = Vec::new();
        for line in &self.lines {
            match line.kind {
                Kind::Same => {
                    lines.append(&mut added);
                    lines.push(line.clone());
                }
                // What is taken out stands before what is put in.
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
    /// `\ No newline at end of file`: said of the line before.
    pub(super) fn end_without_break(&mut self) {
        if let Some(line) = self.lines.last_mut()
            && line.text.last() == Some(&b'\n')
        {
            line.text.pop();
        }
    }
}
