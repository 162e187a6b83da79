//! Parser of diffs: unified, git's and normal ones.

use super::diff::{FileDiff, Hunk, Kind, Line, Presence};

/// Name that denotes a missing file.
const NOTHING: &str = "/dev/null";

/// Parses all diffs of a text. `named` means that the file is known without a name in the diff. A diff that ends within
/// a hunk is the last one. The error is a message.
pub(super) fn read(text: &[u8], named: bool) -> Result<Vec<FileDiff>, String> {
    let mut reader = Reader { lines: text.split_inclusive(|byte| *byte == b'\n').collect(), at: 0, markers: 0 };
    let mut diffs: Vec<FileDiff> = Vec::new();
    let mut next = FileDiff::default();
    let mut headed = named;
    while let Some(line) = reader.peek() {
        let is_pair = line.starts_with(b"--- ") && reader.second().is_some_and(|line| line.starts_with(b"+++ "));
        if line.starts_with(b"*** ") && reader.second().is_some_and(|line| line.starts_with(b"--- ")) {
            return Err("context diffs are not supported here: make the patch with `diff -u`".to_owned());
        }
        if is_pair {
            next.set_names(line, reader.second().unwrap_or_default());
            next.header.extend([line.to_vec(), reader.second().unwrap_or_default().to_vec()]);
            reader.at += 2;
            headed = true;
        } else if let (true, Some(command)) = (headed && !next.git, normal_command(line)) {
            next.line = reader.line() + 1;
            next.take_hunks(&mut reader, command, Reader::normal, |reader| reader.peek().and_then(normal_command));
        } else if headed && line.starts_with(b"@@ -") {
            next.line = reader.line() + 1;
            next.see_absences(line);
            let is_hunk = |reader: &Reader<'_>| reader.peek()?.starts_with(b"@@ -").then_some(());
            next.take_hunks(&mut reader, (), |reader, ()| reader.unified(), is_hunk);
        } else if next.git && line.starts_with(b"GIT binary patch") {
            reader.at += 1;
            (next.line, next.binary) = (reader.line(), true);
        } else {
            if line.starts_with(b"diff --git ") {
                if next.extended {
                    next.line = reader.line() + 1;
                    diffs.push(std::mem::take(&mut next));
                }
                headed = true;
            }
            reader.at += 1;
            headed |= next.see_name(line);
            next.see_git(line);
            next.header.push(line.to_vec());
            continue;
        }
        if !next.hunks.is_empty() || next.binary || next.broken.is_some() {
            let broken = next.broken.is_some();
            diffs.push(std::mem::take(&mut next));
            headed = named;
            if broken {
                return Ok(diffs);
            }
        }
    }
    if next.extended {
        next.line = reader.line();
        diffs.push(next);
    }
    Ok(diffs)
}

impl FileDiff {
    /// Takes the names of a pair of lines. A name from git remains for a missing file.
    fn set_names(&mut self, old: &[u8], new: &[u8]) {
        let (old_name, new_name) = (name(old), name(new));
        let (git_old, git_new) = (self.old_name.take(), self.new_name.take());
        self.old_name = (old_name != NOTHING).then_some(old_name.clone()).or(git_new);
        self.new_name = (new_name != NOTHING).then_some(new_name.clone()).or(git_old);
        let absent = |name: &str, line: &[u8]| name == NOTHING || is_epoch(line);
        self.before = self.before.max(if absent(&old_name, old) { Presence::Absent } else { Presence::Present });
        self.after = self.after.max(if absent(&new_name, new) { Presence::Absent } else { Presence::Present });
    }

    /// Takes the name of a line without its pair. Returns true if this is such a line.
    fn see_name(&mut self, line: &[u8]) -> bool {
        let (old, new) = (line.starts_with(b"--- "), line.starts_with(b"+++ "));
        let slot = match (old, new) {
            (true, _) => &mut self.old_name,
            (_, true) => &mut self.new_name,
            _ => return false,
        };
        let found = name(line);
        if found != NOTHING {
            *slot = Some(found);
        }
        true
    }

    /// Detects in the head of the first hunk whether the file is absent before or after.
    fn see_absences(&mut self, head: &[u8]) {
        let text = String::from_utf8_lossy(head);
        let mut words = text.split(' ').skip(1);
        let mut nothing = |sign: &str| {
            let rest = words.next().and_then(|word| word.strip_prefix(sign)?.strip_prefix('0'));
            rest.is_some_and(|rest| !rest.starts_with(|letter: char| letter.is_ascii_digit()))
        };
        // The presence that a name implies counts only where the hunk has no lines of that side.
        let seen = |nothing: bool, said: Presence, git: bool| match (nothing, said) {
            (true, Presence::Absent) => Presence::Absent,
            (true, _) => Presence::Empty,
            (false, said) if git => said,
            (false, _) => Presence::Present,
        };
        self.before = seen(nothing("-"), self.before, self.git);
        self.after = seen(nothing("+"), self.after, self.git);
    }

    /// Parses hunks, up to an invalid one.
    fn take_hunks<'a, T>(
        &mut self,
        reader: &mut Reader<'a>,
        first: T,
        take: impl Fn(&mut Reader<'a>, T) -> Result<Hunk, String>,
        more: impl Fn(&Reader<'a>) -> Option<T>,
    ) {
        let mut command = Some(first);
        while let Some(found) = command {
            match take(reader, found) {
                Ok(hunk) => self.hunks.push(hunk),
                Err(why) => {
                    self.broken = Some(why);
                    return;
                }
            }
            command = more(reader);
        }
    }

    /// Parses one of git's extended header lines.
    fn see_git(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end();
        if let Some(names) = line.strip_prefix("diff --git ") {
            (self.old_name, self.new_name) = two_names(names).unzip();
            self.git = true;
            return;
        }
        if !self.git {
            return;
        }
        let mode = |digits: &str| u32::from_str_radix(digits, 8).ok().filter(|_| digits.len() == 6);
        let known = line.rsplit_once(' ');
        match known {
            Some(("old mode", digits)) => self.old_mode = mode(digits),
            Some(("new mode", digits)) => self.new_mode = mode(digits),
            Some(("new file mode", digits)) => (self.new_mode, self.before) = (mode(digits), Presence::Absent),
            Some(("deleted file mode", digits)) => (self.old_mode, self.after) = (mode(digits), Presence::Absent),
            _ if line.starts_with("rename from ") || line.starts_with("rename to ") => self.rename = true,
            _ if line.starts_with("copy from ") || line.starts_with("copy to ") => self.copy = true,
            _ => {
                let Some(rest) = line.strip_prefix("index ") else { return };
                let (sums, digits) = rest.split_once(' ').map_or((rest, None), |(sums, digits)| (sums, Some(digits)));
                let Some((old, new)) = sums.split_once("..") else { return };
                (self.before, self.after) = (of_sum(old), of_sum(new));
                if let Some(digits) = digits {
                    (self.old_mode, self.new_mode) = (mode(digits), mode(digits));
                }
            }
        }
        self.extended = true;
    }
}

/// Returns the presence of a file according to its checksum.
fn of_sum(sum: &str) -> Presence {
    const EMPTY: &str = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
    if sum.bytes().all(|digit| digit == b'0') {
        Presence::Absent
    } else if EMPTY.starts_with(sum) {
        Presence::Empty
    } else {
        Presence::Present
    }
}

/// Returns the two names of git's line, each of which may be quoted.
fn two_names(text: &str) -> Option<(String, String)> {
    let (old, rest) = one_name(text)?;
    let (new, rest) = one_name(rest.trim_start())?;
    rest.is_empty().then_some((old, new))
}

fn one_name(text: &str) -> Option<(String, &str)> {
    match text.strip_prefix('"') {
        None => {
            let end = text.find(' ').unwrap_or(text.len());
            (end > 0).then(|| (text[..end].to_owned(), &text[end..]))
        }
        Some(quoted) => {
            let escaped = |at: usize| quoted[..at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
            let end = quoted.match_indices('"').map(|(at, _)| at).find(|at| !escaped(*at))?;
            Some((unquoted(&quoted[..end]), &quoted[end + 1..]))
        }
    }
}

/// Decodes a quoted name of git, with C's escapes: `\303\251` is `é`.
fn unquoted(text: &str) -> String {
    let (mut name, mut bytes) = (Vec::new(), text.bytes().peekable());
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            name.push(byte);
            continue;
        }
        match bytes.next() {
            Some(digit @ b'0'..=b'3') => {
                let mut value = digit - b'0';
                for _ in 0..2 {
                    let Some(digit) = bytes.next_if(|digit| (b'0'..=b'7').contains(digit)) else { break };
                    value = value * 8 + (digit - b'0');
                }
                name.push(value);
            }
            Some(b'a') => name.push(7),
            Some(b'b') => name.push(8),
            Some(b't') => name.push(b'\t'),
            Some(b'n') => name.push(b'\n'),
            Some(b'v') => name.push(11),
            Some(b'f') => name.push(12),
            Some(b'r') => name.push(b'\r'),
            Some(other) => name.push(other),
            None => name.push(b'\\'),
        }
    }
    String::from_utf8_lossy(&name).into_owned()
}

/// Returns the name after `--- ` or `+++ `, without the time that follows it.
fn name(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[4..]);
    let text = text.trim_end_matches(['\n', '\r']);
    let name = text.split('\t').next().unwrap_or_default();
    match name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
        Some(quoted) => unquoted(quoted),
        None => name.trim_end().to_owned(),
    }
}

/// Returns true if the time after a name is the epoch, which marks a missing file in the output of `diff -N`.
fn is_epoch(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    let Some((_, time)) = text.trim_end().split_once('\t') else { return false };
    let mut words = time.split(' ');
    let (date, clock, zone) = (words.next(), words.next(), words.next());
    let (Some(date), Some(clock), Some(zone)) = (date, clock, zone) else { return false };
    let minutes = |text: &str| {
        let (hour, minute) = text.get(..2).zip(text.get(text.len() - 2..))?;
        Some(hour.parse::<i32>().ok()? * 60 + minute.parse::<i32>().ok()?)
    };
    let whole = clock.get(5..).is_some_and(|seconds| seconds.bytes().all(|byte| b":.0".contains(&byte)));
    let offset = zone.get(1..).and_then(minutes).map(|offset| if zone.starts_with('-') { -offset } else { offset });
    let local = clock.get(..5).and_then(minutes);
    let day = match date {
        "1970-01-01" => 0,
        "1969-12-31" => -1_440,
        _ => return false,
    };
    whole && offset.is_some() && local.map(|local| local + day) == offset
}

/// Command of a normal diff: the lines before, a letter, the lines after.
type Command = ((i64, i64), u8, (i64, i64));

fn normal_command(line: &[u8]) -> Option<Command> {
    let text = std::str::from_utf8(line).ok()?.trim_end();
    let at = text.find(['a', 'c', 'd'])?;
    Some((range(&text[..at])?, text.as_bytes()[at], range(&text[at + 1..])?))
}

fn range(text: &str) -> Option<(i64, i64)> {
    match text.split_once(',') {
        Some((first, last)) => Some((number(first)?, number(last)?)),
        None => number(text).map(|number| (number, number)),
    }
}

/// Parses a line number. Larger numbers are not line numbers, and their sums must not overflow.
fn number(text: &str) -> Option<i64> {
    const MOST: i64 = 1 << 60;
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten().filter(|number| *number < MOST)
}

struct Reader<'a> {
    lines: Vec<&'a [u8]>,
    at: usize,
    /// Number of preceding lines that were `\ No newline at end of file`.
    markers: usize,
}

const END: &str = "unexpected end of file in patch";

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a [u8]> {
        self.lines.get(self.at).copied()
    }

    fn second(&self) -> Option<&'a [u8]> {
        self.lines.get(self.at + 1).copied()
    }

    /// Returns the number of the preceding line, as GNU's messages count: without markers in hunks.
    fn line(&self) -> usize {
        self.at - self.markers
    }

    /// Consumes a marker after a line of a hunk, and removes the line break of that line.
    fn take_marker(&mut self, hunk: &mut Hunk) {
        if self.peek().is_some_and(|line| line.starts_with(b"\\")) {
            self.at += 1;
            self.markers += 1;
            hunk.end_without_break();
        }
    }

    fn take(&mut self) -> Result<&'a [u8], String> {
        let line = self.peek().ok_or_else(|| END.to_owned())?;
        self.at += 1;
        Ok(line)
    }

    /// Parses a hunk that begins with `@@ -1,2 +3,4 @@`.
    fn unified(&mut self) -> Result<Hunk, String> {
        let place = self.line() + 1;
        let head = String::from_utf8_lossy(self.take()?).into_owned();
        let malformed = || format!("malformed patch at line {place}: {}", head.trim_end());
        let mut words = head.split(' ').skip(1);
        let mut side = |sign: char| {
            let text = words.next()?.strip_prefix(sign)?;
            match text.split_once(',') {
                Some((start, length)) => Some((number(start)?, number(length)?)),
                None => Some((number(text)?, 1)),
            }
        };
        let (old_start, mut old) = side('-').ok_or_else(malformed)?;
        let (new_start, mut new) = side('+').ok_or_else(malformed)?;
        let mut hunk = Hunk { old_start, new_start, lines: Vec::new() };
        while old > 0 || new > 0 {
            let place = self.line() + 1;
            let line = self.take()?;
            let wrong = || format!("malformed patch at line {place}: {}", String::from_utf8_lossy(line).trim_end());
            let (kind, text) = match line.first() {
                Some(b' ' | b'\t') => (Kind::Same, &line[usize::from(line[0] == b' ')..]),
                Some(b'-') => (Kind::Old, &line[1..]),
                Some(b'+') => (Kind::New, &line[1..]),
                // Mail software removes the blank of an empty line.
                Some(b'\n') => (Kind::Same, line),
                _ => return Err(wrong()),
            };
            old -= i64::from(kind != Kind::New);
            new -= i64::from(kind != Kind::Old);
            if old < 0 || new < 0 {
                return Err(wrong());
            }
            hunk.lines.push(Line { kind, text: text.to_vec() });
            self.take_marker(&mut hunk);
        }
        Ok(hunk)
    }

    /// Parses a hunk of a normal diff.
    fn normal(&mut self, (old, letter, new): Command) -> Result<Hunk, String> {
        self.at += 1;
        let mut hunk = Hunk { old_start: old.0, new_start: new.0, lines: Vec::new() };
        let count = |range: (i64, i64)| (range.1 + 1 - range.0).max(0);
        let (out, inside) = match letter {
            b'a' => (0, count(new)),
            b'd' => (count(old), 0),
            _ => (count(old), count(new)),
        };
        self.marked(b"< ", Kind::Old, out, &mut hunk)?;
        if letter == b'c' && !self.take()?.starts_with(b"---") {
            return Err(format!("malformed patch at line {}: `---` expected", self.line()));
        }
        self.marked(b"> ", Kind::New, inside, &mut hunk)?;
        Ok(hunk)
    }

    fn marked(&mut self, mark: &[u8], kind: Kind, count: i64, hunk: &mut Hunk) -> Result<(), String> {
        for _ in 0..count {
            let line = self.take()?;
            let text = line.strip_prefix(mark).ok_or_else(|| {
                format!("malformed patch at line {}: {}", self.line(), String::from_utf8_lossy(line).trim_end())
            })?;
            hunk.lines.push(Line { kind, text: text.to_vec() });
        }
        if count > 0 {
            self.take_marker(hunk);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_as_in_c() {
        for (quoted, name) in
            [(r"\303\251.txt", "é.txt"), (r#"a\"b\\c"#, r#"a"b\c"#), (r"t\tn\n", "t\tn\n"), (r"\0012", "\u{1}2")]
        {
            assert_eq!(unquoted(quoted), name);
        }
    }

    #[test]
    fn unified_diffs_are_read() {
        let text = b"some words\n--- a/f\t2024\n+++ b/f\n@@ -1,2 +1,2 @@ fn\n-a\n+A\n b\n\\ No newline at end of file\n@@ -9,0 +10 @@\n+x\n";
        let diffs = read(text, false).expect("a diff");
        let [diff] = &diffs[..] else { panic!("{diffs:?}") };
        assert_eq!((diff.old_name.as_deref(), diff.new_name.as_deref(), diff.line), (Some("a/f"), Some("b/f"), 4));
        assert_eq!(diff.hunks[0].old(), [&b"a\n"[..], b"b"]);
        assert_eq!((diff.hunks[1].old_start, diff.hunks[1].new_length()), (9, 1));
        assert_eq!(diff.hunks[0].reversed().old(), [&b"A\n"[..], b"b"]);
    }

    #[test]
    fn normal_diffs_are_read() {
        let diffs = read(b"2c2,3\n< b\n---\n> B\n> C\n5d5\n< e\n7a8\n> x\n", true).expect("a diff");
        let hunks = &diffs[0].hunks;
        assert_eq!(
            hunks.iter().map(|hunk| (hunk.old().len(), hunk.new_length())).collect::<Vec<_>>(),
            [(1, 2), (1, 0), (0, 1)]
        );
    }

    #[test]
    fn git_says_more_of_files() {
        let text = b"diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\ndiff --git a/n b/n\nnew file mode 100755\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\ndiff --git a/z b/z\nnew file mode 100644\nindex 0000000..e69de29\ndiff --git a/m b/m\nold mode 100644\nnew mode 100755\ndiff --git a/b b/b\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcma\n\n";
        let diffs = read(text, false).expect("a diff");
        let [renamed, made, empty, mode, binary] = &diffs[..] else { panic!("{diffs:?}") };
        assert!(renamed.rename && renamed.hunks.is_empty());
        assert_eq!(
            (made.before, made.new_mode, made.old_name.as_deref()),
            (Presence::Absent, Some(0o100_755), Some("b/n"))
        );
        assert_eq!((empty.before, empty.after, empty.hunks.len()), (Presence::Absent, Presence::Empty, 0));
        assert_eq!((mode.old_mode, mode.new_mode), (Some(0o100_644), Some(0o100_755)));
        assert!(binary.binary);
    }

    #[test]
    fn no_file_is_seen_by_its_time() {
        assert!(is_epoch(b"--- f\t1970-01-01 00:00:00.000000000 +0000\n"));
        assert!(is_epoch(b"--- f\t1969-12-31 19:00:00.000000000 -0500\n"));
        assert!(!is_epoch(b"--- f\t1970-01-01 00:00:01.000000000 +0000\n") && !is_epoch(b"--- f\n"));
    }

    #[test]
    fn what_is_no_diff_is_told() {
        let broken = |text: &[u8]| read(text, false).expect("a diff").pop().and_then(|diff| diff.broken);
        assert_eq!(read(b"words\n", false).map(|diffs| diffs.len()), Ok(0));
        assert_eq!(broken(b"--- a\n+++ b\n@@ -1,2 +1 @@\n-a\n").as_deref(), Some(END));
        assert_eq!(broken(b"--- a\n+++ b\n@@ -1 +1 @@\nxx\n").as_deref(), Some("malformed patch at line 4: xx"));
        let large = broken(b"--- a\n+++ b\n@@ -9223372036854775807 +1 @@\n-a\n+b\n");
        assert_eq!(large.as_deref(), Some("malformed patch at line 3: @@ -9223372036854775807 +1 @@"));
        assert!(read(b"*** a\n--- b\n***************\n", false).is_err());
    }
}
