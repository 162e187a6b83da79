//! What a diff says: the files that it names, and hunks.

/// One line of a hunk. Its text has its line break, unless the file ends without one.
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
    pub(super) old_start: usize,
    pub(super) new_start: usize,
    pub(super) lines: Vec<Line>,
}

/// The changes of one file.
#[derive(Clone, Debug, Default)]
pub(super) struct FileDiff {
    /// Names behind `---` and `+++`; none in normal diffs.
    pub(super) old_name: Option<String>,
    pub(super) new_name: Option<String>,
    /// Lines in front of the first hunk, for messages and rejects.
    pub(super) header: Vec<Vec<u8>>,
    /// Of the first hunk, from 1.
    pub(super) line: usize,
    pub(super) hunks: Vec<Hunk>,
    /// Git says that the file moves from the old name to the new one.
    pub(super) rename: bool,
    /// Mode of a new file.
    pub(super) mode: Option<u32>,
}

/// Name that stands for no file.
const NOTHING: &str = "/dev/null";

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

    /// The same change the other way.
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
    /// Returns true if there is no file before.
    pub(super) fn creates(&self) -> bool {
        let nothing = self.old_name.as_deref() == Some(NOTHING);
        let empty = self.hunks.first().is_some_and(|hunk| hunk.old_start == 0 && hunk.old().is_empty());
        nothing || self.old_name.is_some() && empty
    }

    /// Returns true if there is certainly no file before.
    pub(super) fn is_of_nothing(&self) -> bool {
        self.old_name.as_deref() == Some(NOTHING)
    }

    /// Returns true if there is no file afterwards.
    pub(super) fn deletes(&self) -> bool {
        self.new_name.as_deref() == Some(NOTHING)
    }

    /// Returns true if nothing is left of the file, or no file.
    pub(super) fn empties(&self) -> bool {
        let last = self.hunks.last();
        self.new_name.is_some() && last.is_some_and(|hunk| hunk.new_start == 0 && hunk.new_length() == 0)
    }

    pub(super) fn reverse(&mut self) {
        std::mem::swap(&mut self.old_name, &mut self.new_name);
        self.hunks.iter_mut().for_each(|hunk| *hunk = hunk.reversed());
    }
}

/// Reads all diffs. The error is a text.
pub(super) fn read(text: &[u8]) -> Result<Vec<FileDiff>, String> {
    let mut reader = Reader { lines: text.split_inclusive(|byte| *byte == b'\n').collect(), at: 0 };
    let mut diffs: Vec<FileDiff> = Vec::new();
    let mut next = FileDiff::default();
    while let Some(line) = reader.peek() {
        let is_pair = line.starts_with(b"--- ") && reader.second().is_some_and(|line| line.starts_with(b"+++ "));
        if line.starts_with(b"*** ") && reader.second().is_some_and(|line| line.starts_with(b"--- ")) {
            return Err("context diffs are not supported here: make the patch with `diff -u`".to_owned());
        }
        if is_pair {
            next.old_name = Some(name(line));
            next.new_name = reader.second().map(name);
            next.header.extend([line.to_vec(), reader.second().unwrap_or_default().to_vec()]);
            reader.at += 2;
            next.line = reader.at + 1;
            while reader.peek().is_some_and(|line| line.starts_with(b"@@ -")) {
                next.hunks.push(reader.unified()?);
            }
            diffs.push(std::mem::take(&mut next));
        } else if let Some(command) = normal_command(line) {
            next.line = reader.at + 1;
            next.hunks.push(reader.normal(command)?);
            while let Some(command) = reader.peek().and_then(normal_command) {
                next.hunks.push(reader.normal(command)?);
            }
            diffs.push(std::mem::take(&mut next));
        } else {
            reader.at += 1;
            if line.starts_with(b"diff --git ") {
                flush(&mut next, &mut diffs);
            }
            git(line, &mut next);
            next.header.push(line.to_vec());
        }
    }
    flush(&mut next, &mut diffs);
    Ok(diffs)
}

/// Keeps what git says of a file whose lines do not change.
fn flush(next: &mut FileDiff, diffs: &mut Vec<FileDiff>) {
    if next.rename || next.mode.is_some() && next.new_name.is_some() {
        diffs.push(std::mem::take(next));
    }
    *next = FileDiff::default();
}

/// Git's own lines about a file.
fn git(line: &[u8], diff: &mut FileDiff) {
    let line = String::from_utf8_lossy(line);
    let line = line.trim_end();
    // As with `a/` in front, so that `-p1` fits all names.
    if let Some(name) = line.strip_prefix("rename from ") {
        (diff.rename, diff.old_name) = (true, Some(format!("a/{name}")));
    } else if let Some(name) = line.strip_prefix("rename to ") {
        (diff.rename, diff.new_name) = (true, Some(format!("b/{name}")));
    } else if let Some(mode) = line.strip_prefix("new file mode ") {
        diff.mode = u32::from_str_radix(mode, 8).ok().map(|mode| mode & 0o777);
    }
}

/// The name behind `--- ` or `+++ `, without the time behind it.
fn name(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[4..]);
    let text = text.trim_end_matches(['\n', '\r']);
    let name = text.split('\t').next().unwrap_or_default();
    match name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
        Some(quoted) => quoted.replace("\\\"", "\"").replace("\\\\", "\\"),
        None => name.trim_end().to_owned(),
    }
}

/// A command of a normal diff: the lines before, a letter, the lines after.
type Command = ((usize, usize), u8, (usize, usize));

fn normal_command(line: &[u8]) -> Option<Command> {
    let text = std::str::from_utf8(line).ok()?.trim_end();
    let at = text.find(['a', 'c', 'd'])?;
    Some((range(&text[..at])?, text.as_bytes()[at], range(&text[at + 1..])?))
}

fn range(text: &str) -> Option<(usize, usize)> {
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    match text.split_once(',') {
        Some((first, last)) => Some((number(first)?, number(last)?)),
        None => number(text).map(|number| (number, number)),
    }
}

struct Reader<'a> {
    lines: Vec<&'a [u8]>,
    at: usize,
}

const END: &str = "unexpected end of file in patch";

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a [u8]> {
        self.lines.get(self.at).copied()
    }

    fn second(&self) -> Option<&'a [u8]> {
        self.lines.get(self.at + 1).copied()
    }

    fn take(&mut self) -> Result<&'a [u8], String> {
        let line = self.peek().ok_or_else(|| END.to_owned())?;
        self.at += 1;
        Ok(line)
    }

    /// A hunk that begins with `@@ -1,2 +3,4 @@`.
    fn unified(&mut self) -> Result<Hunk, String> {
        let place = self.at + 1;
        let head = String::from_utf8_lossy(self.take()?).into_owned();
        let malformed = || format!("malformed patch at line {place}: {}", head.trim_end());
        let mut words = head.split(' ').skip(1);
        let mut side = |sign: char| {
            let text = words.next()?.strip_prefix(sign)?;
            match text.split_once(',') {
                Some((start, length)) => Some((start.parse().ok()?, length.parse().ok()?)),
                None => Some((text.parse().ok()?, 1_usize)),
            }
        };
        let (old_start, mut old) = side('-').ok_or_else(malformed)?;
        let (new_start, mut new) = side('+').ok_or_else(malformed)?;
        let mut hunk = Hunk { old_start, new_start, lines: Vec::new() };
        while old > 0 || new > 0 {
            let place = self.at + 1;
            let line = self.take()?;
            let wrong = || format!("malformed patch at line {place}: {}", String::from_utf8_lossy(line).trim_end());
            let (kind, text) = match line.first() {
                Some(b' ' | b'\t') => (Kind::Same, &line[usize::from(line[0] == b' ')..]),
                Some(b'-') => (Kind::Old, &line[1..]),
                Some(b'+') => (Kind::New, &line[1..]),
                // Mail drops the blank in front of an empty line.
                Some(b'\n') => (Kind::Same, line),
                Some(b'\\') => {
                    hunk.end_without_break();
                    continue;
                }
                _ => return Err(wrong()),
            };
            let (in_old, in_new) = (usize::from(kind != Kind::New), usize::from(kind != Kind::Old));
            old = old.checked_sub(in_old).ok_or_else(wrong)?;
            new = new.checked_sub(in_new).ok_or_else(wrong)?;
            hunk.lines.push(Line { kind, text: text.to_vec() });
        }
        if self.peek().is_some_and(|line| line.starts_with(b"\\")) {
            self.at += 1;
            hunk.end_without_break();
        }
        Ok(hunk)
    }

    /// A hunk of a normal diff.
    fn normal(&mut self, (old, letter, new): Command) -> Result<Hunk, String> {
        self.at += 1;
        let mut hunk = Hunk { old_start: old.0, new_start: new.0, lines: Vec::new() };
        let count = |range: (usize, usize)| (range.1 + 1).saturating_sub(range.0);
        let (out, inside) = match letter {
            b'a' => (0, count(new)),
            b'd' => (count(old), 0),
            _ => (count(old), count(new)),
        };
        self.marked(b"< ", Kind::Old, out, &mut hunk)?;
        if letter == b'c' && !self.take()?.starts_with(b"---") {
            return Err(format!("malformed patch at line {}: `---` expected", self.at));
        }
        self.marked(b"> ", Kind::New, inside, &mut hunk)?;
        Ok(hunk)
    }

    fn marked(&mut self, mark: &[u8], kind: Kind, count: usize, hunk: &mut Hunk) -> Result<(), String> {
        for _ in 0..count {
            let line = self.take()?;
            let text = line.strip_prefix(mark).ok_or_else(|| {
                format!("malformed patch at line {}: {}", self.at, String::from_utf8_lossy(line).trim_end())
            })?;
            hunk.lines.push(Line { kind, text: text.to_vec() });
        }
        if count > 0 && self.peek().is_some_and(|line| line.starts_with(b"\\")) {
            self.at += 1;
            hunk.end_without_break();
        }
        Ok(())
    }
}

impl Hunk {
    /// `\ No newline at end of file`: said of the line before.
    fn end_without_break(&mut self) {
        if let Some(line) = self.lines.last_mut()
            && line.text.last() == Some(&b'\n')
        {
            line.text.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unified_diffs_are_read() {
        let text = b"some words\n--- a/f\t2024\n+++ b/f\n@@ -1,2 +1,2 @@ fn\n-a\n+A\n b\n\\ No newline at end of file\n@@ -9,0 +10 @@\n+x\n";
        let diffs = read(text).expect("a diff");
        let [diff] = &diffs[..] else { panic!("{diffs:?}") };
        assert_eq!((diff.old_name.as_deref(), diff.new_name.as_deref(), diff.line), (Some("a/f"), Some("b/f"), 4));
        assert_eq!(diff.hunks[0].old(), [&b"a\n"[..], b"b"]);
        assert_eq!((diff.hunks[1].old_start, diff.hunks[1].new_length()), (9, 1));
        assert_eq!(diff.hunks[0].reversed().old(), [&b"A\n"[..], b"b"]);
    }

    #[test]
    fn normal_diffs_are_read() {
        let diffs = read(b"2c2,3\n< b\n---\n> B\n> C\n5d5\n< e\n7a8\n> x\n").expect("a diff");
        let hunks = &diffs[0].hunks;
        assert_eq!(
            hunks.iter().map(|hunk| (hunk.old().len(), hunk.new_length())).collect::<Vec<_>>(),
            [(1, 2), (1, 0), (0, 1)]
        );
    }

    #[test]
    fn git_says_more_of_files() {
        let text = b"diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\ndiff --git a/n b/n\nnew file mode 100755\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n";
        let diffs = read(text).expect("a diff");
        assert!(diffs[0].rename && diffs[0].hunks.is_empty());
        assert!(diffs[1].creates() && diffs[1].mode == Some(0o755));
    }

    #[test]
    fn what_is_no_diff_is_told() {
        assert_eq!(read(b"words\n").map(|diffs| diffs.len()), Ok(0));
        assert_eq!(read(b"--- a\n+++ b\n@@ -1,2 +1 @@\n-a\n").map(drop), Err(END.to_owned()));
        assert!(read(b"--- a\n+++ b\n@@ -1 +1 @@\nxx\n").is_err_and(|why| why == "malformed patch at line 4: xx"));
        assert!(read(b"*** a\n--- b\n***************\n").is_err());
    }
}
