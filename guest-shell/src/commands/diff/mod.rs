//! diff builtin command - compare files line by line
//!
//! Formats: normal, unified, context, ed, RCS and side by side, of two files or of
//! the files in two directories. What is ignored (`-i`, `-w`, `-b`, …) decides
//! which lines are equal; the lines are printed as they are.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod script;

use std::collections::HashMap;
use std::path::Path;

use async_trait::async_trait;

use crate::commands::diff::script::{Change, changes};
use bashkit::ExecResult;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::Context;
use bashkit::builtins::arg_parser::{OptArg, gnu_getopt};
use bashkit::builtins::resolve_path;

/// The diff builtin.
///
/// Usage: diff [OPTION]... FILE1 FILE2
pub(crate) struct Diff;

const HELP: &str = "Usage: diff [OPTION]... FILES\nCompare FILES line by line.\n\n      --normal\toutput a normal diff (the default)\n  -q, --brief\treport only when files differ\n  -s, --report-identical-files\treport when two files are the same\n  -c, -C NUM, --context[=NUM]\toutput NUM (default 3) lines of copied context\n  -u, -U NUM, --unified[=NUM]\toutput NUM (default 3) lines of unified context\n  -e, --ed\toutput an ed script\n  -n, --rcs\toutput an RCS format diff\n  -y, --side-by-side\toutput in two columns\n  -W, --width=NUM\toutput at most NUM (default 130) print columns\n      --left-column\toutput only the left column of common lines\n      --suppress-common-lines\tdo not output common lines\n      --label LABEL\tuse LABEL instead of file name and timestamp\n  -r, --recursive\trecursively compare any subdirectories found\n  -N, --new-file\ttreat absent files as empty\n  -i, --ignore-case\tignore case differences in file contents\n  -Z, --ignore-trailing-space\tignore white space at line end\n  -b, --ignore-space-change\tignore changes in the amount of white space\n  -w, --ignore-all-space\tignore all white space\n  -B, --ignore-blank-lines\tignore changes where lines are all blank\n      --strip-trailing-cr\tstrip trailing carriage return on input\n  -a, --text\ttreat all files as text\n";

#[derive(Clone, Copy, PartialEq)]
enum Style {
    Normal,
    Unified(usize),
    Context(usize),
    Ed,
    Rcs,
    SideBySide,
}

struct DiffOptions {
    style: Style,
    brief: bool,
    identical: bool,
    recursive: bool,
    new_file: bool,
    ignore_case: bool,
    ignore_trailing: bool,
    ignore_amount: bool,
    ignore_space: bool,
    ignore_blank: bool,
    strip_cr: bool,
    text: bool,
    width: usize,
    left_column: bool,
    suppress_common: bool,
    labels: Vec<String>,
    /// The options as they were given, for the lines that tell of files in directories.
    words: String,
}

fn trouble(message: &str) -> ExecResult {
    ExecResult::err(format!("diff: {message}\ndiff: Try 'diff --help' for more information.\n"), 2)
}

const LONG_OPTIONS: [(&str, OptArg, char); 21] = [
    ("brief", OptArg::No, 'q'),
    ("context", OptArg::Optional, 'C'),
    ("ed", OptArg::No, 'e'),
    ("ignore-all-space", OptArg::No, 'w'),
    ("ignore-blank-lines", OptArg::No, 'B'),
    ("ignore-case", OptArg::No, 'i'),
    ("ignore-space-change", OptArg::No, 'b'),
    ("ignore-trailing-space", OptArg::No, 'Z'),
    ("label", OptArg::Required, 'L'),
    ("left-column", OptArg::No, '1'),
    ("new-file", OptArg::No, 'N'),
    ("normal", OptArg::No, '0'),
    ("rcs", OptArg::No, 'n'),
    ("recursive", OptArg::No, 'r'),
    ("report-identical-files", OptArg::No, 's'),
    ("side-by-side", OptArg::No, 'y'),
    ("strip-trailing-cr", OptArg::No, '2'),
    ("suppress-common-lines", OptArg::No, '3'),
    ("text", OptArg::No, 'a'),
    ("unified", OptArg::Optional, 'U'),
    ("width", OptArg::Required, 'W'),
];

impl DiffOptions {
    fn parse(args: &[String]) -> std::result::Result<(Self, Vec<String>), ExecResult> {
        let parsed = gnu_getopt("diff", args, "0123BC:L:NU:W:Zabcdeinqrstuwy", &LONG_OPTIONS, true, 2);
        let (opts, files) =
            parsed.map_err(|error| trouble(error.stderr.text_lossy().trim_start_matches("diff: ").trim_end()))?;
        let mut options = DiffOptions {
            style: Style::Normal,
            brief: false,
            identical: false,
            recursive: false,
            new_file: false,
            ignore_case: false,
            ignore_trailing: false,
            ignore_amount: false,
            ignore_space: false,
            ignore_blank: false,
            strip_cr: false,
            text: false,
            width: 130,
            left_column: false,
            suppress_common: false,
            labels: Vec::new(),
            words: String::new(),
        };
        let mut style = None;
        for opt in opts {
            let value = opt.value;
            let chosen = match opt.key {
                '0' => Some(Style::Normal),
                'c' => Some(Style::Context(3)),
                'u' => Some(Style::Unified(3)),
                'C' | 'U' => {
                    let lines = value.map_or(Ok(3), |value| {
                        value.parse().map_err(|_| trouble(&format!("invalid context length '{value}'")))
                    })?;
                    Some(if opt.key == 'C' { Style::Context(lines) } else { Style::Unified(lines) })
                }
                'e' => Some(Style::Ed),
                'n' => Some(Style::Rcs),
                'y' => Some(Style::SideBySide),
                'W' => {
                    let value = value.unwrap_or_default();
                    let width = value.parse().ok().filter(|width| *width > 0);
                    options.width = width.ok_or_else(|| trouble(&format!("invalid width '{value}'")))?;
                    None
                }
                'L' => {
                    options.labels.push(value.unwrap_or_default());
                    None
                }
                key => {
                    options.set(key);
                    None
                }
            };
            match (style, chosen) {
                (Some(Style::Unified(one)), Some(Style::Unified(other))) => {
                    style = Some(Style::Unified(one.max(other)))
                }
                (Some(Style::Context(one)), Some(Style::Context(other))) => {
                    style = Some(Style::Context(one.max(other)))
                }
                (Some(one), Some(other)) if one != other => {
                    return Err(trouble("conflicting output style options"));
                }
                (_, Some(chosen)) => style = Some(chosen),
                _ => {}
            }
        }
        options.style = style.unwrap_or(Style::Normal);
        let words = args.iter().filter(|word| word.len() > 1 && word.starts_with('-'));
        options.words = words.map(|word| format!(" {word}")).collect();
        Ok((options, files))
    }

    fn set(&mut self, key: char) {
        match key {
            'q' => self.brief = true,
            's' => self.identical = true,
            'r' => self.recursive = true,
            'N' => self.new_file = true,
            'i' => self.ignore_case = true,
            'Z' => self.ignore_trailing = true,
            'b' => self.ignore_amount = true,
            'w' => self.ignore_space = true,
            'B' => self.ignore_blank = true,
            '1' => self.left_column = true,
            '2' => self.strip_cr = true,
            '3' => self.suppress_common = true,
            'a' => self.text = true,
            // `-d` and `-t`: the script is the shortest already, and tabs stay.
            _ => {}
        }
    }

    /// A line as it is compared.
    fn key(&self, line: &[u8]) -> Vec<u8> {
        let space = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
        let mut key = line.to_vec();
        if self.ignore_space {
            key.retain(|byte| !space(byte));
        } else if self.ignore_amount || self.ignore_trailing {
            let end = key.iter().rposition(|byte| !space(byte)).map_or(0, |at| at + 1);
            key.truncate(end);
            if self.ignore_amount {
                let mut squeezed = Vec::with_capacity(key.len());
                for byte in key {
                    match space(&byte) {
                        true if squeezed.last() == Some(&b' ') => {}
                        true => squeezed.push(b' '),
                        false => squeezed.push(byte),
                    }
                }
                key = squeezed;
            }
        }
        if self.ignore_case {
            key.make_ascii_lowercase();
        }
        key
    }
}

/// One of the two files.
struct Side {
    name: String,
    data: Vec<u8>,
    /// What stands in the head of unified and context diffs.
    title: String,
}

impl Side {
    /// Lines with their ends.
    fn lines(&self) -> Vec<&[u8]> {
        self.data.split_inclusive(|byte| *byte == b'\n').collect()
    }

    fn is_binary(&self) -> bool {
        self.data[..self.data.len().min(4096)].contains(&0)
    }
}

/// Appends a line behind a prefix, and what is told of one without an end.
fn put(out: &mut Vec<u8>, prefix: &str, line: &[u8]) {
    out.extend_from_slice(prefix.as_bytes());
    out.extend_from_slice(line);
    if !line.ends_with(b"\n") {
        out.extend_from_slice(b"\n\\ No newline at end of file\n");
    }
}

/// A range of lines as normal and ed scripts write it.
fn range((start, count): (usize, usize)) -> String {
    match count {
        0 => start.to_string(),
        1 => (start + 1).to_string(),
        _ => format!("{},{}", start + 1, start + count),
    }
}

/// Two files that differ, and how.
struct Comparison<'a> {
    options: &'a DiffOptions,
    sides: [&'a Side; 2],
    old: Vec<&'a [u8]>,
    new: Vec<&'a [u8]>,
    changes: Vec<Change>,
}

impl<'a> Comparison<'a> {
    fn new(options: &'a DiffOptions, one: &'a Side, other: &'a Side) -> Self {
        let (old, new) = (one.lines(), other.lines());
        let mut numbers: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut number = |line: &&[u8]| {
            let line = match options.strip_cr && line.ends_with(b"\r\n") {
                true => [&line[..line.len() - 2], b"\n"].concat(),
                false => line.to_vec(),
            };
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            *numbers.entry(options.key(&line)).or_insert(next)
        };
        let old_numbers: Vec<u32> = old.iter().map(&mut number).collect();
        let new_numbers: Vec<u32> = new.iter().map(&mut number).collect();
        let changes = changes(&old_numbers, &new_numbers);
        Comparison { options, sides: [one, other], old, new, changes }
    }

    fn deleted(&self, change: &Change) -> &[&'a [u8]] {
        &self.old[change.old.0..change.old.0 + change.old.1]
    }

    fn inserted(&self, change: &Change) -> &[&'a [u8]] {
        &self.new[change.new.0..change.new.0 + change.new.1]
    }

    /// True if a change is only of blank lines that are ignored.
    fn is_ignored(&self, change: &Change) -> bool {
        let blank = |line: &&[u8]| self.options.key(line).iter().all(|byte| *byte == b'\n');
        self.options.ignore_blank && self.deleted(change).iter().chain(self.inserted(change)).all(blank)
    }

    fn differs(&self) -> bool {
        self.changes.iter().any(|change| !self.is_ignored(change))
    }

    fn print(&self, out: &mut Vec<u8>, errors: &mut String) {
        match self.options.style {
            Style::Normal => self.normal(out),
            Style::Unified(lines) => self.unified(lines, out),
            Style::Context(lines) => self.context(lines, out),
            Style::Ed => self.ed(out, errors),
            Style::Rcs => self.rcs(out),
            Style::SideBySide => self.side_by_side(out),
        }
    }

    fn normal(&self, out: &mut Vec<u8>) {
        for change in self.changes.iter().filter(|change| !self.is_ignored(change)) {
            let letter = match (change.old.1, change.new.1) {
                (0, _) => 'a',
                (_, 0) => 'd',
                _ => 'c',
            };
            out.extend_from_slice(format!("{}{letter}{}\n", range(change.old), range(change.new)).as_bytes());
            self.deleted(change).iter().for_each(|line| put(out, "< ", line));
            if letter == 'c' {
                out.extend_from_slice(b"---\n");
            }
            self.inserted(change).iter().for_each(|line| put(out, "> ", line));
        }
    }

    /// Changes that are printed together: so near that their context touches.
    fn hunks(&self, lines: usize) -> Vec<&[Change]> {
        let near = |one: &Change, other: &Change| {
            let distance = other.old.0 - (one.old.0 + one.old.1);
            // A change that is ignored joins others from half as far.
            let reach = match self.is_ignored(one) || self.is_ignored(other) {
                true => lines,
                false => lines.saturating_mul(2),
            };
            distance <= reach
        };
        let hunks = self.changes.chunk_by(near);
        hunks.filter(|hunk| hunk.iter().any(|change| !self.is_ignored(change))).collect()
    }

    /// The lines of a hunk with its context: start and end of both files.
    fn extent(&self, hunk: &[Change], lines: usize) -> (usize, usize, usize, usize) {
        let (first, last) = (hunk[0], hunk[hunk.len() - 1]);
        let before = lines.min(first.old.0).min(first.new.0);
        let (old_end, new_end) = (last.old.0 + last.old.1, last.new.0 + last.new.1);
        let after = lines.min(self.old.len() - old_end).min(self.new.len() - new_end);
        (first.old.0 - before, old_end + after, first.new.0 - before, new_end + after)
    }

    fn title(&self, mark: &str, side: usize) -> String {
        match self.options.labels.get(side) {
            Some(label) => format!("{mark} {label}\n"),
            None => format!("{mark} {}\n", self.sides[side].title),
        }
    }

    fn unified(&self, lines: usize, out: &mut Vec<u8>) {
        out.extend_from_slice((self.title("---", 0) + &self.title("+++", 1)).as_bytes());
        let part = |start: usize, end: usize| match end - start {
            0 => format!("{start},0"),
            1 => (start + 1).to_string(),
            count => format!("{},{count}", start + 1),
        };
        for hunk in self.hunks(lines) {
            let (old_start, old_end, new_start, new_end) = self.extent(hunk, lines);
            let head = format!("@@ -{} +{} @@\n", part(old_start, old_end), part(new_start, new_end));
            out.extend_from_slice(head.as_bytes());
            let mut at = old_start;
            for change in hunk {
                self.old[at..change.old.0].iter().for_each(|line| put(out, " ", line));
                self.deleted(change).iter().for_each(|line| put(out, "-", line));
                self.inserted(change).iter().for_each(|line| put(out, "+", line));
                at = change.old.0 + change.old.1;
            }
            self.old[at..old_end].iter().for_each(|line| put(out, " ", line));
        }
    }

    fn context(&self, lines: usize, out: &mut Vec<u8>) {
        out.extend_from_slice((self.title("***", 0) + &self.title("---", 1)).as_bytes());
        let part = |start: usize, end: usize| match end - start {
            0 => start.to_string(),
            1 => (start + 1).to_string(),
            _ => format!("{},{end}", start + 1),
        };
        for hunk in self.hunks(lines) {
            let (old_start, old_end, new_start, new_end) = self.extent(hunk, lines);
            let head = format!("***************\n*** {} ****\n", part(old_start, old_end));
            out.extend_from_slice(head.as_bytes());
            if hunk.iter().any(|change| change.old.1 > 0) {
                let mut at = old_start;
                for change in hunk {
                    self.old[at..change.old.0].iter().for_each(|line| put(out, "  ", line));
                    let mark = if change.new.1 > 0 { "! " } else { "- " };
                    self.deleted(change).iter().for_each(|line| put(out, mark, line));
                    at = change.old.0 + change.old.1;
                }
                self.old[at..old_end].iter().for_each(|line| put(out, "  ", line));
            }
            out.extend_from_slice(format!("--- {} ----\n", part(new_start, new_end)).as_bytes());
            if hunk.iter().any(|change| change.new.1 > 0) {
                let mut at = new_start;
                for change in hunk {
                    self.new[at..change.new.0].iter().for_each(|line| put(out, "  ", line));
                    let mark = if change.old.1 > 0 { "! " } else { "+ " };
                    self.inserted(change).iter().for_each(|line| put(out, mark, line));
                    at = change.new.0 + change.new.1;
                }
                self.new[at..new_end].iter().for_each(|line| put(out, "  ", line));
            }
        }
    }

    /// A script for ed, which changes the last lines first.
    fn ed(&self, out: &mut Vec<u8>, errors: &mut String) {
        for change in self.changes.iter().rev().filter(|change| !self.is_ignored(change)) {
            let letter = match (change.old.1, change.new.1) {
                (0, _) => 'a',
                (_, 0) => 'd',
                _ => 'c',
            };
            out.extend_from_slice(format!("{}{letter}\n", range(change.old)).as_bytes());
            if letter == 'd' {
                continue;
            }
            let mut open = true;
            for line in self.inserted(change) {
                if !open {
                    out.extend_from_slice(b"a\n");
                    open = true;
                }
                let line = line.strip_suffix(b"\n").unwrap_or(line);
                // A lone full stop would end the text: it is written double, and mended.
                if line == b"." {
                    out.extend_from_slice(b"..\n.\ns/.//\n");
                    open = false;
                } else {
                    out.extend_from_slice(line);
                    out.push(b'\n');
                }
            }
            if open {
                out.extend_from_slice(b".\n");
            }
        }
        for side in self.sides {
            if !side.data.is_empty() && !side.data.ends_with(b"\n") {
                errors.push_str(&format!("diff: {}: No newline at end of file\n\n", side.name));
            }
        }
    }

    fn rcs(&self, out: &mut Vec<u8>) {
        for change in self.changes.iter().filter(|change| !self.is_ignored(change)) {
            let (start, count) = change.old;
            if count > 0 {
                out.extend_from_slice(format!("d{} {count}\n", start + 1).as_bytes());
            }
            if change.new.1 > 0 {
                out.extend_from_slice(format!("a{} {}\n", start + count, change.new.1).as_bytes());
                self.inserted(change).iter().for_each(|line| out.extend_from_slice(line));
            }
        }
    }

    fn side_by_side(&self, out: &mut Vec<u8>) {
        let columns = Columns::new(self.options.width);
        let common = |from: usize, to: usize, new_from: usize, out: &mut Vec<u8>| {
            if self.options.suppress_common {
                return;
            }
            for (left, right) in self.old[from..to].iter().zip(&self.new[new_from..]) {
                match self.options.left_column {
                    true => columns.put(Some(left), '(', None, out),
                    false => columns.put(Some(left), ' ', Some(right), out),
                }
            }
        };
        let (mut at, mut new_at) = (0, 0);
        for change in &self.changes {
            common(at, change.old.0, new_at, out);
            let ignored = self.is_ignored(change);
            let (deleted, inserted) = (self.deleted(change), self.inserted(change));
            for index in 0..deleted.len().max(inserted.len()) {
                let (left, right) = (deleted.get(index).copied(), inserted.get(index).copied());
                let mark = match (left, right) {
                    _ if ignored => ' ',
                    (Some(_), Some(_)) => '|',
                    (Some(_), None) => '<',
                    _ => '>',
                };
                columns.put(left, mark, right, out);
            }
            at = change.old.0 + change.old.1;
            new_at = change.new.0 + change.new.1;
        }
        common(at, self.old.len(), new_at, out);
    }
}

/// The two columns of a page.
struct Columns {
    half: usize,
    second: usize,
}

/// Distance of tab stops.
const TAB: usize = 8;

impl Columns {
    /// Columns as wide as a page allows, the second one at a tab stop.
    fn new(width: usize) -> Self {
        let offset = (width + TAB + 3) / (2 * TAB) * TAB;
        let half = offset.saturating_sub(3).min(width.saturating_sub(offset));
        Columns { half, second: if half > 0 { offset } else { width } }
    }

    fn put(&self, left: Option<&[u8]>, mark: char, right: Option<&[u8]>, out: &mut Vec<u8>) {
        let ended = |line: Option<&[u8]>| line.is_some_and(|line| line.ends_with(b"\n"));
        let mut column = 0;
        if let Some(left) = left {
            column = self.half_line(left, 0, out);
        }
        let mut newline = ended(left);
        if mark != ' ' {
            column = blanks(column, (self.half + self.second - 1) / 2, out) + 1;
            let mark = match mark {
                '|' if ended(left) && !ended(right) => '/',
                '|' if !ended(left) && ended(right) => '\\',
                mark => mark,
            };
            out.push(u8::try_from(mark).unwrap_or(b'|'));
        }
        if let Some(right) = right {
            newline |= ended(Some(right));
            if right != b"\n" {
                column = blanks(column, self.second, out);
                self.half_line(right, column, out);
            }
        }
        if newline {
            out.push(b'\n');
        }
    }

    /// Writes a line, cut where its column ends; returns the column behind it.
    fn half_line(&self, line: &[u8], indent: usize, out: &mut Vec<u8>) -> usize {
        let (mut wanted, mut written) = (0, 0);
        for c in bashkit::text_of(line).trim_end_matches('\n').chars() {
            if c == '\t' {
                let spaces = TAB - wanted % TAB;
                if wanted == written && written + spaces < self.half {
                    written += spaces;
                    out.push(b'\t');
                }
                wanted += spaces;
                continue;
            }
            wanted += 1;
            if wanted <= self.half {
                written = wanted;
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        indent + written
    }
}

/// Goes from one column to another with tabs and blanks.
fn blanks(from: usize, to: usize, out: &mut Vec<u8>) -> usize {
    let mut column = from;
    while (column / TAB + 1) * TAB <= to {
        column = (column / TAB + 1) * TAB;
        out.push(b'\t');
    }
    out.extend(std::iter::repeat_n(b' ', to.saturating_sub(column)));
    column.max(to)
}

/// What came of a comparison.
#[derive(Default)]
struct Report {
    out: Vec<u8>,
    errors: String,
    status: i32,
}

impl Report {
    fn say(&mut self, line: String) {
        self.out.extend_from_slice(line.as_bytes());
    }

    fn fail(&mut self, message: String) {
        self.errors.push_str(&message);
        self.status = 2;
    }
}

/// Reads a file, with its time for the title.
async fn side(ctx: &Context<'_>, name: &str) -> Result<std::result::Result<Side, String>> {
    let path = resolve_path(ctx.cwd, name);
    let data = match crate::commands::operands::read(ctx, name).await? {
        Ok(data) => data,
        Err(reason) => return Ok(Err(reason)),
    };
    let now = bashkit::time_compat::now_utc();
    let modified = match ctx.fs.stat(&path).await {
        Ok(meta) if name != "-" => bashkit::time_compat::to_chrono_utc(meta.modified),
        _ => now,
    };
    let nanos = modified.timestamp_nanos_opt().unwrap_or(0).into();
    let time = crate::commands::date::Date::strftime_nanos(ctx.env.get("TZ"), nanos, "%Y-%m-%d %H:%M:%S.%N %z");
    let title = format!("{name}\t{}", time.unwrap_or_default());
    Ok(Ok(Side { name: name.to_string(), data, title }))
}

/// A file that is not there, with `-N`.
fn absent(name: &str) -> Side {
    let title = format!("{name}\t1970-01-01 00:00:00.000000000 +0000");
    Side { name: name.to_string(), data: Vec::new(), title }
}

/// Compares two files; `listed` if they were found in directories.
async fn compare(
    ctx: &Context<'_>,
    options: &DiffOptions,
    names: [&str; 2],
    listed: bool,
    report: &mut Report,
) -> Result<()> {
    let mut sides = Vec::with_capacity(2);
    for name in names {
        sides.push(side(ctx, name).await?);
    }
    let missing: Vec<bool> =
        sides.iter().map(|side| side.as_ref().is_err_and(|reason| reason.starts_with("No such file"))).collect();
    let both = missing == [true, true];
    let mut read = Vec::with_capacity(2);
    for (result, name) in sides.into_iter().zip(names) {
        match result {
            Ok(side) => read.push(side),
            Err(reason) if options.new_file && !both && reason.starts_with("No such file") => read.push(absent(name)),
            Err(reason) => report.fail(format!("diff: {name}: {reason}\n")),
        }
    }
    let [one, other] = read.as_slice() else {
        return Ok(());
    };
    let mut differs = one.data != other.data;
    let binary = !options.text && (one.is_binary() || other.is_binary());
    let comparison = (differs && !binary).then(|| Comparison::new(options, one, other));
    if let Some(comparison) = &comparison {
        differs = comparison.differs();
    }
    if !differs {
        let shown = comparison.filter(|_| options.style == Style::SideBySide && !options.brief);
        match shown {
            Some(comparison) => comparison.print(&mut report.out, &mut report.errors),
            None if options.style == Style::SideBySide && !options.brief && !binary => {
                Comparison::new(options, one, other).print(&mut report.out, &mut report.errors);
            }
            None => {}
        }
        if options.identical {
            report.say(format!("Files {} and {} are identical\n", one.name, other.name));
        }
        return Ok(());
    }
    report.status = report.status.max(1);
    if options.brief {
        report.say(format!("Files {} and {} differ\n", one.name, other.name));
        return Ok(());
    }
    let Some(comparison) = comparison else {
        report.say(format!("Binary files {} and {} differ\n", one.name, other.name));
        return Ok(());
    };
    if listed {
        report.say(format!("diff{} {} {}\n", options.words, one.name, other.name));
    }
    comparison.print(&mut report.out, &mut report.errors);
    if options.style == Style::Ed && !report.errors.is_empty() {
        report.status = 2;
    }
    Ok(())
}

/// Compares what is in two directories, and below them with `-r`.
async fn compare_directories(
    ctx: &Context<'_>,
    options: &DiffOptions,
    roots: [&str; 2],
    report: &mut Report,
) -> Result<()> {
    let mut open = vec![(roots[0].to_string(), roots[1].to_string())];
    // Directories are told of after the files of their parents, in their order.
    while let Some((one, other)) = open.pop() {
        let mut entries: std::collections::BTreeMap<String, [Option<bool>; 2]> = std::collections::BTreeMap::new();
        for (index, directory) in [&one, &other].into_iter().enumerate() {
            for entry in ctx.fs.read_dir(&resolve_path(ctx.cwd, directory)).await.unwrap_or_default() {
                entries.entry(entry.name).or_default()[index] = Some(entry.metadata.file_type.is_dir());
            }
        }
        let mut below = Vec::new();
        for (name, kinds) in entries {
            ctx.consume_budget_work(1)?;
            let join = |directory: &str| format!("{}/{name}", directory.trim_end_matches('/'));
            let (first, second) = (join(&one), join(&other));
            match kinds {
                [Some(true), Some(true)] if options.recursive => below.push((first, second)),
                [Some(true), Some(true)] => report.say(format!("Common subdirectories: {first} and {second}\n")),
                [Some(kind), Some(second_kind)] if kind != second_kind => {
                    let what = |directory: bool| {
                        if directory { "directory" } else { "regular file" }
                    };
                    let (kind, second_kind) = (what(kind), what(second_kind));
                    report.say(format!("File {first} is a {kind} while file {second} is a {second_kind}\n"));
                    report.status = report.status.max(1);
                }
                [Some(true), None] | [None, Some(true)] if options.new_file && options.recursive => {
                    below.push((first, second))
                }
                [None, Some(_)] | [Some(_), None] if !options.new_file => {
                    let directory = if kinds[0].is_some() { &one } else { &other };
                    report.say(format!("Only in {directory}: {name}\n"));
                    report.status = report.status.max(1);
                }
                _ => compare(ctx, options, [&first, &second], true, report).await?,
            }
        }
        open.extend(below.into_iter().rev());
    }
    Ok(())
}

#[async_trait]
impl Builtin for Diff {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = bashkit::builtins::check_help_version(ctx.args, HELP, Some("diff (bashkit) 0.1")) {
            return Ok(r);
        }
        let (options, files) = match DiffOptions::parse(ctx.args) {
            Ok(v) => v,
            Err(e) => return Ok(e),
        };
        let (one, other) = match files.as_slice() {
            [] => return Ok(trouble("missing operand after 'diff'")),
            [only] => return Ok(trouble(&format!("missing operand after '{only}'"))),
            [one, other] => (one.clone(), other.clone()),
            [_, _, extra, ..] => return Ok(trouble(&format!("extra operand '{extra}'"))),
        };
        let mut directories = [false; 2];
        for (name, directory) in [&one, &other].into_iter().zip(&mut directories) {
            let path = resolve_path(ctx.cwd, name);
            *directory = name != "-" && ctx.fs.stat(&path).await.is_ok_and(|meta| meta.file_type.is_dir());
        }
        let mut report = Report::default();
        let within = |directory: &str, file: &str| {
            let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
            format!("{}/{name}", directory.trim_end_matches('/'))
        };
        match directories {
            [true, true] => compare_directories(&ctx, &options, [&one, &other], &mut report).await?,
            [true, false] => compare(&ctx, &options, [&within(&one, &other), &other], false, &mut report).await?,
            [false, true] => compare(&ctx, &options, [&one, &within(&other, &one)], false, &mut report).await?,
            [false, false] => compare(&ctx, &options, [&one, &other], false, &mut report).await?,
        }
        let mut result = ExecResult::ok_bytes(report.out);
        result.exit_code = report.status;
        result.stderr = report.errors.into();
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::path::PathBuf;
    use std::sync::Arc;

    use bashkit::fs::{FileSystem, InMemoryFs};

    async fn run_diff(args: &[&str], stdin: Option<&str>, files: &[(&str, &[u8])]) -> ExecResult {
        let fs = Arc::new(InMemoryFs::new());
        for (path, content) in files {
            fs.write_file(std::path::Path::new(path), content).await.unwrap();
        }
        let mut variables = HashMap::new();
        let env = HashMap::new();
        let mut cwd = PathBuf::from("/");

        let args: Vec<String> = args.iter().map(|s| s.to_string()).collect();
        let ctx = Context {
            args: &args,
            env: &env,
            variables: &mut variables,
            cwd: &mut cwd,
            fs,
            stdin: crate::commands::testing::test_stream_opt(stdin),
            shell: None,
        };

        Diff.execute(ctx).await.unwrap()
    }

    #[tokio::test]
    async fn test_diff_identical() {
        let result =
            run_diff(&["/a.txt", "/b.txt"], None, &[("/a.txt", b"hello\nworld\n"), ("/b.txt", b"hello\nworld\n")])
                .await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "");
    }

    #[tokio::test]
    async fn test_diff_different() {
        let result =
            run_diff(&["/a.txt", "/b.txt"], None, &[("/a.txt", b"hello\nworld\n"), ("/b.txt", b"hello\nearth\n")])
                .await;
        assert_eq!(result.exit_code, 1);
        // Default is normal format
        assert!(result.stdout.contains("2c2"));
        assert!(result.stdout.contains("< world"));
        assert!(result.stdout.contains("> earth"));
    }

    #[tokio::test]
    async fn test_diff_added_lines() {
        let result = run_diff(&["/a.txt", "/b.txt"], None, &[("/a.txt", b"a\nb\n"), ("/b.txt", b"a\nb\nc\n")]).await;
        assert_eq!(result.exit_code, 1);
        // Normal format: add command
        assert!(result.stdout.contains("2a3"));
        assert!(result.stdout.contains("> c"));
    }

    #[tokio::test]
    async fn test_diff_removed_lines() {
        let result = run_diff(&["/a.txt", "/b.txt"], None, &[("/a.txt", b"a\nb\nc\n"), ("/b.txt", b"a\nb\n")]).await;
        assert_eq!(result.exit_code, 1);
        // Normal format: delete command
        assert!(result.stdout.contains("3d2"));
        assert!(result.stdout.contains("< c"));
    }

    #[tokio::test]
    async fn test_diff_brief() {
        let result =
            run_diff(&["-q", "/a.txt", "/b.txt"], None, &[("/a.txt", b"hello\n"), ("/b.txt", b"world\n")]).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stdout.contains("Files /a.txt and /b.txt differ"));
    }

    #[tokio::test]
    async fn test_diff_brief_identical() {
        let result =
            run_diff(&["-q", "/a.txt", "/b.txt"], None, &[("/a.txt", b"hello\n"), ("/b.txt", b"hello\n")]).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "");
    }

    #[tokio::test]
    async fn test_diff_empty_vs_content() {
        let result = run_diff(&["/a.txt", "/b.txt"], None, &[("/a.txt", b""), ("/b.txt", b"hello\n")]).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stdout.contains("> hello"));
    }

    #[tokio::test]
    async fn test_diff_missing_operand() {
        let result = run_diff(&["/a.txt"], None, &[("/a.txt", b"hello\n")]).await;
        assert_eq!(result.exit_code, 2);
        assert!(result.stderr.contains("missing operand"));
    }

    #[tokio::test]
    async fn test_diff_file_not_found() {
        let result = run_diff(&["/a.txt", "/b.txt"], None, &[("/a.txt", b"hello\n")]).await;
        assert_eq!(result.exit_code, 2);
        assert!(result.stderr.contains("diff:"));
    }

    #[tokio::test]
    async fn test_diff_unified_header() {
        let result =
            run_diff(&["-u", "/old.txt", "/new.txt"], None, &[("/old.txt", b"a\nb\nc\n"), ("/new.txt", b"a\nB\nc\n")])
                .await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stdout.contains("--- /old.txt"));
        assert!(result.stdout.contains("+++ /new.txt"));
        assert!(result.stdout.contains("@@"));
    }

    #[tokio::test]
    async fn test_diff_hunk_format() {
        let result = run_diff(
            &["/a.txt", "/b.txt"],
            None,
            &[("/a.txt", b"line1\nline2\nline3\n"), ("/b.txt", b"line1\nmodified\nline3\n")],
        )
        .await;
        assert_eq!(result.exit_code, 1);
        // Normal format: change command
        assert!(result.stdout.contains("2c2"));
        assert!(result.stdout.contains("< line2"));
        assert!(result.stdout.contains("> modified"));
    }

    #[tokio::test]
    async fn test_diff_stdin() {
        let result = run_diff(&["-", "/b.txt"], Some("hello\n"), &[("/b.txt", b"world\n")]).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stdout.contains("< hello"));
        assert!(result.stdout.contains("> world"));
    }

    #[tokio::test]
    async fn test_diff_multiple_changes() {
        let result =
            run_diff(&["/a.txt", "/b.txt"], None, &[("/a.txt", b"a\nb\nc\nd\ne\n"), ("/b.txt", b"a\nB\nc\nD\ne\n")])
                .await;
        assert_eq!(result.exit_code, 1);
        // Normal format
        assert!(result.stdout.contains("< b"));
        assert!(result.stdout.contains("> B"));
        assert!(result.stdout.contains("< d"));
        assert!(result.stdout.contains("> D"));
    }

    #[tokio::test]
    async fn test_diff_normal_format_default() {
        // Default format should be normal (ed-style), not unified
        let result = run_diff(&["/a.txt", "/b.txt"], None, &[("/a.txt", b"a\n"), ("/b.txt", b"b\n")]).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stdout.starts_with("1c1\n"));
        assert!(result.stdout.contains("< a"));
        assert!(result.stdout.contains("---\n"));
        assert!(result.stdout.contains("> b"));
        // Should NOT contain unified format markers
        assert!(!result.stdout.contains("---  "));
        assert!(!result.stdout.contains("+++"));
        assert!(!result.stdout.contains("@@"));
    }

    #[tokio::test]
    async fn test_diff_invalid_option() {
        let result =
            run_diff(&["-Q", "/a.txt", "/b.txt"], None, &[("/a.txt", b"hello\n"), ("/b.txt", b"world\n")]).await;
        assert_eq!(result.exit_code, 2);
        assert!(result.stderr.contains("invalid option -- 'Q'"));
    }

    #[tokio::test]
    async fn test_diff_unified_with_flag() {
        // -u flag should produce unified format
        let result = run_diff(&["-u", "/a.txt", "/b.txt"], None, &[("/a.txt", b"a\n"), ("/b.txt", b"b\n")]).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stdout.contains("--- /a.txt"));
        assert!(result.stdout.contains("+++ /b.txt"));
        assert!(result.stdout.contains("@@"));
    }
}
