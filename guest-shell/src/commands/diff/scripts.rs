//! Diffs that are instructions: normal ones, scripts of ed, and RCS's.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::color::{DELETED, INSERTED, PLACE};
use super::comparison::Comparison;

/// Returns a range of lines, counted from 0, as scripts write it.
fn range((start, count): (usize, usize)) -> String {
    match count {
        0 => start.to_string(),
        1 => (start + 1).to_string(),
        _ => format!("{},{}", start + 1, start + count),
    }
}

/// Returns the letter of a change that deletes and inserts so many lines.
fn letter(deleted: usize, inserted: usize) -> char {
    match (deleted, inserted) {
        (0, _) => 'a',
        (_, 0) => 'd',
        _ => 'c',
    }
}

/// Writes a normal diff.
pub(super) fn normal(comparison: &Comparison<'_>, output: &mut Vec<u8>) {
    for change in comparison.shown_changes() {
        let letter = letter(change.old.1, change.new.1);
        let place = format!("{}{letter}{}", range(change.old), range(change.new));
        let options = comparison.options;
        output.extend_from_slice((options.colored(PLACE, &place) + "\n").as_bytes());
        comparison.deleted(change).iter().for_each(|line| options.put_colored(output, DELETED, "< ", line));
        if letter == 'c' {
            output.extend_from_slice(b"---\n");
        }
        comparison.inserted(change).iter().for_each(|line| options.put_colored(output, INSERTED, "> ", line));
    }
}

/// Writes a script for ed, which changes the last lines first, and complaints about last lines without an end.
pub(super) fn ed(comparison: &Comparison<'_>, output: &mut Vec<u8>, errors: &mut String) {
    for change in comparison.shown_changes().rev() {
        let letter = letter(change.old.1, change.new.1);
        output.extend_from_slice(format!("{}{letter}\n", range(change.old)).as_bytes());
        if letter != 'd' {
            put_ed_text(comparison.inserted(change), output);
        }
    }
    for file in comparison.files {
        if !file.data.is_empty() && !file.data.ends_with(b"\n") {
            *errors += &format!("diff: {}: No newline at end of file\n\n", file.name);
        }
    }
}

/// Writes a script of ed in the order of the lines.
pub(super) fn forward_ed(comparison: &Comparison<'_>, output: &mut Vec<u8>) {
    for change in comparison.shown_changes() {
        let letter = letter(change.old.1, change.new.1);
        output.extend_from_slice(format!("{letter}{}\n", range(change.old).replace(',', " ")).as_bytes());
        if letter != 'd' {
            for line in comparison.inserted(change) {
                output.extend_from_slice(line.strip_suffix(b"\n").unwrap_or(line));
                output.push(b'\n');
            }
            output.extend_from_slice(b".\n");
        }
    }
}

/// Writes the text of an instruction of ed.
fn put_ed_text(lines: &[&[u8]], output: &mut Vec<u8>) {
    let mut is_open = true;
    for line in lines {
        if !is_open {
            output.extend_from_slice(b"a\n");
            is_open = true;
        }
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        // A lone full stop would end the text: it is written double, and mended.
        if line == b"." {
            output.extend_from_slice(b"..\n.\ns/.//\n");
            is_open = false;
        } else {
            output.extend_from_slice(line);
            output.push(b'\n');
        }
    }
    if is_open {
        output.extend_from_slice(b".\n");
    }
}

/// Writes a diff as RCS keeps it.
pub(super) fn rcs(comparison: &Comparison<'_>, output: &mut Vec<u8>) {
    for change in comparison.shown_changes() {
        let (start, count) = change.old;
        if count > 0 {
            output.extend_from_slice(format!("d{} {count}\n", start + 1).as_bytes());
        }
        if change.new.1 > 0 {
            output.extend_from_slice(format!("a{} {}\n", start + count, change.new.1).as_bytes());
            comparison.inserted(change).iter().for_each(|line| output.extend_from_slice(line));
        }
    }
}
