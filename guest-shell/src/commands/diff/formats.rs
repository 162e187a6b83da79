//! Output in formats of lines and groups (`--old-line-format`, `--changed-group-format` and their like).

use super::comparison::Comparison;

/// Formats of a call; those that are not given follow from others.
#[derive(Clone, Default)]
pub(super) struct DiffFormats {
    line: [Option<String>; 3],
    group: [Option<String>; 4],
}

/// Index of a kind of lines or groups.
const OLD: usize = 0;
const NEW: usize = 1;
const UNCHANGED: usize = 2;
const CHANGED: usize = 3;

impl DiffFormats {
    /// Sets the format of an option, by the option's key.
    pub(super) fn set(&mut self, key: char, format: String) {
        match key {
            '6' => self.line = [0; 3].map(|_| Some(format.clone())),
            'A' => self.line[OLD] = Some(format),
            '8' => self.line[NEW] = Some(format),
            'G' => self.line[UNCHANGED] = Some(format),
            '9' => self.group[OLD] = Some(format),
            '7' => self.group[NEW] = Some(format),
            'D' => self.group[UNCHANGED] = Some(format),
            _ => self.group[CHANGED] = Some(format),
        }
    }

    /// Returns true if some format is given.
    pub(super) fn are_given(&self) -> bool {
        self.line.iter().chain(&self.group).any(Option::is_some)
    }

    fn group(&self, kind: usize) -> String {
        if let Some(format) = &self.group[kind] {
            return format.clone();
        }
        match kind {
            OLD => "%<".to_owned(),
            NEW => "%>".to_owned(),
            UNCHANGED => "%=".to_owned(),
            _ => self.group(OLD) + &self.group(NEW),
        }
    }
}

/// Lines of a group, with their places from 0.
#[derive(Clone, Copy)]
struct Group<'a> {
    old: (&'a [&'a [u8]], usize),
    new: (&'a [&'a [u8]], usize),
}

/// Writes all groups of both files. What is no directive in a format is written as it stands.
pub(super) fn formatted(comparison: &Comparison<'_>, output: &mut Vec<u8>) {
    let (mut old_at, mut new_at) = (0, 0);
    for change in comparison.changes.iter().filter(|change| !comparison.is_ignored(change)) {
        let unchanged = change.old.0 - old_at;
        put_unchanged(comparison, (old_at, new_at), unchanged, output);
        let group =
            Group { old: (comparison.deleted(change), change.old.0), new: (comparison.inserted(change), change.new.0) };
        let kind = match (change.old.1, change.new.1) {
            (0, _) => NEW,
            (_, 0) => OLD,
            _ => CHANGED,
        };
        put_group(comparison, kind, group, output);
        (old_at, new_at) = (change.old.0 + change.old.1, change.new.0 + change.new.1);
    }
    put_unchanged(comparison, (old_at, new_at), comparison.old.len() - old_at, output);
}

fn put_unchanged(comparison: &Comparison<'_>, (old_at, new_at): (usize, usize), count: usize, output: &mut Vec<u8>) {
    if count == 0 {
        return;
    }
    let old = &comparison.old[old_at..old_at + count];
    let new = &comparison.new[new_at..comparison.new.len().min(new_at + count)];
    put_group(comparison, UNCHANGED, Group { old: (old, old_at), new: (new, new_at) }, output);
}

fn put_group(comparison: &Comparison<'_>, kind: usize, group: Group<'_>, output: &mut Vec<u8>) {
    let format = comparison.options.formats.group(kind);
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            output.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        let behind = letters.clone();
        let is_directive = match letters.next() {
            Some('<') => put_lines(comparison, OLD, group.old, output),
            Some('>') => put_lines(comparison, NEW, group.new, output),
            Some('=') => put_lines(comparison, UNCHANGED, group.old, output),
            Some('d') => put_number(letters.next(), &group, output),
            other => put_character(other, &mut letters, output),
        };
        if !is_directive {
            output.push(b'%');
            letters = behind;
        }
    }
}

/// Writes `%%` or `%c'C'`. Returns false if it is neither.
fn put_character(letter: Option<char>, rest: &mut std::str::Chars<'_>, output: &mut Vec<u8>) -> bool {
    let text = match letter {
        Some('%') => Some("%".to_owned()),
        Some('c') => character(rest),
        _ => None,
    };
    output.extend_from_slice(text.as_deref().unwrap_or_default().as_bytes());
    text.is_some()
}

/// Writes a number of a group: small letters are those of the old file. Returns false for another letter.
fn put_number(letter: Option<char>, group: &Group<'_>, output: &mut Vec<u8>) -> bool {
    let Some(letter) = letter.filter(|letter| "eflmnEFLMN".contains(*letter)) else {
        return false;
    };
    let (lines, at) = if letter.is_lowercase() { group.old } else { group.new };
    let number = match letter.to_ascii_lowercase() {
        'e' => at,
        'f' => at + 1,
        'l' => at + lines.len(),
        'm' => at + lines.len() + 1,
        _ => lines.len(),
    };
    output.extend_from_slice(number.to_string().as_bytes());
    true
}

/// Writes the lines of a group in the format of their kind.
fn put_lines(comparison: &Comparison<'_>, kind: usize, (lines, at): (&[&[u8]], usize), output: &mut Vec<u8>) -> bool {
    let Some(format) = &comparison.options.formats.line[kind] else {
        lines.iter().for_each(|line| output.extend_from_slice(line));
        return true;
    };
    for (index, line) in lines.iter().enumerate() {
        let mut letters = format.chars();
        while let Some(letter) = letters.next() {
            if letter != '%' {
                output.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            let behind = letters.clone();
            match (letters.next(), letters.clone().next()) {
                (Some('l'), _) => output.extend_from_slice(line.strip_suffix(b"\n").unwrap_or(line)),
                (Some('L'), _) => output.extend_from_slice(line),
                (Some('d'), Some('n')) => {
                    letters.next();
                    output.extend_from_slice((at + index + 1).to_string().as_bytes());
                }
                (other, _) if put_character(other, &mut letters, output) => {}
                _ => {
                    output.push(b'%');
                    letters = behind;
                }
            }
        }
    }
    true
}

/// Reads the rest of `%c'C'` or `%c'\OOO'`.
fn character(letters: &mut std::str::Chars<'_>) -> Option<String> {
    let (quoted, rest) = letters.as_str().strip_prefix('\'')?.split_once('\'')?;
    *letters = rest.chars();
    match quoted.strip_prefix('\\') {
        Some(digits) => char::from_u32(u32::from_str_radix(digits, 8).ok()?).map(String::from),
        None => (quoted.chars().count() == 1).then(|| quoted.to_owned()),
    }
}
