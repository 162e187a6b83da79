//! Diffs with context: unified ones, and those of `-c`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::comparison::{Comparison, Hunk};
use super::put_line;

/// Writes a unified diff.
pub(super) fn unified(comparison: &Comparison<'_>, context: usize, output: &mut Vec<u8>) {
    output.extend_from_slice((comparison.title("---", 0) + &comparison.title("+++", 1)).as_bytes());
    let part = |(start, end): (usize, usize)| match end - start {
        0 => format!("{start},0"),
        1 => (start + 1).to_string(),
        count => format!("{},{count}", start + 1),
    };
    for hunk in comparison.hunks(context) {
        output.extend_from_slice(format!("@@ -{} +{} @@\n", part(hunk.old), part(hunk.new)).as_bytes());
        let mut at = hunk.old.0;
        for change in hunk.changes {
            put_lines(output, " ", &comparison.old[at..change.old.0]);
            put_lines(output, "-", comparison.deleted(change));
            put_lines(output, "+", comparison.inserted(change));
            at = change.old.0 + change.old.1;
        }
        put_lines(output, " ", &comparison.old[at..hunk.old.1]);
    }
}

/// Writes a diff whose hunks have the lines of both files one behind the other.
pub(super) fn context(comparison: &Comparison<'_>, context: usize, output: &mut Vec<u8>) {
    output.extend_from_slice((comparison.title("***", 0) + &comparison.title("---", 1)).as_bytes());
    let part = |(start, end): (usize, usize)| match end - start {
        0 => start.to_string(),
        1 => (start + 1).to_string(),
        _ => format!("{},{end}", start + 1),
    };
    for hunk in comparison.hunks(context) {
        output.extend_from_slice(format!("***************\n*** {} ****\n", part(hunk.old)).as_bytes());
        put_old_half(comparison, &hunk, output);
        output.extend_from_slice(format!("--- {} ----\n", part(hunk.new)).as_bytes());
        put_new_half(comparison, &hunk, output);
    }
}

/// Writes the lines of the old file, if some are deleted.
fn put_old_half(comparison: &Comparison<'_>, hunk: &Hunk<'_>, output: &mut Vec<u8>) {
    if hunk.changes.iter().all(|change| change.old.1 == 0) {
        return;
    }
    let mut at = hunk.old.0;
    for change in hunk.changes {
        put_lines(output, "  ", &comparison.old[at..change.old.0]);
        put_lines(output, if change.new.1 > 0 { "! " } else { "- " }, comparison.deleted(change));
        at = change.old.0 + change.old.1;
    }
    put_lines(output, "  ", &comparison.old[at..hunk.old.1]);
}

/// Writes the lines of the new file, if some are inserted.
fn put_new_half(comparison: &Comparison<'_>, hunk: &Hunk<'_>, output: &mut Vec<u8>) {
    if hunk.changes.iter().all(|change| change.new.1 == 0) {
        return;
    }
    let mut at = hunk.new.0;
    for change in hunk.changes {
        put_lines(output, "  ", &comparison.new[at..change.new.0]);
        put_lines(output, if change.old.1 > 0 { "! " } else { "+ " }, comparison.inserted(change));
        at = change.new.0 + change.new.1;
    }
    put_lines(output, "  ", &comparison.new[at..hunk.new.1]);
}

fn put_lines(output: &mut Vec<u8>, prefix: &str, lines: &[&[u8]]) {
    lines.iter().for_each(|line| put_line(output, prefix, line));
}
