//! Diffs with context: unified ones, and those of `-c`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::color::{DELETED, INSERTED, PLACE};
use super::comparison::{Comparison, Hunk};

/// Writes a unified diff.
pub(super) fn unified(comparison: &Comparison<'_>, context: usize, output: &mut Vec<u8>) {
    output.extend_from_slice((comparison.title("---", 0) + &comparison.title("+++", 1)).as_bytes());
    let part = |(start, end): (usize, usize)| match end - start {
        0 => format!("{start},0"),
        1 => (start + 1).to_string(),
        count => format!("{},{count}", start + 1),
    };
    for hunk in comparison.hunks(context) {
        let place = format!("@@ -{} +{} @@", part(hunk.old), part(hunk.new));
        let function = comparison.function_line(hunk.old.0);
        output.extend_from_slice((comparison.options.colored(PLACE, &place) + &function + "\n").as_bytes());
        let mut at = hunk.old.0;
        let put = |output: &mut Vec<u8>, color, mark, lines: &[&[u8]]| {
            put_lines(comparison, output, (color, mark), lines);
        };
        for change in hunk.changes {
            put(output, "", " ", &comparison.old[at..change.old.0]);
            put(output, DELETED, "-", comparison.deleted(change));
            put(output, INSERTED, "+", comparison.inserted(change));
            at = change.old.0 + change.old.1;
        }
        put(output, "", " ", &comparison.old[at..hunk.old.1]);
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
        let options = comparison.options;
        let function = comparison.function_line(hunk.old.0);
        let place = options.colored(PLACE, &format!("*** {} ****", part(hunk.old)));
        output.extend_from_slice(format!("***************{function}\n{place}\n").as_bytes());
        put_old_half(comparison, &hunk, output);
        let place = options.colored(PLACE, &format!("--- {} ----", part(hunk.new)));
        output.extend_from_slice(format!("{place}\n").as_bytes());
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
        put_lines(comparison, output, (DELETED, "  "), &comparison.old[at..change.old.0]);
        let mark = if change.new.1 > 0 { "! " } else { "- " };
        put_lines(comparison, output, (DELETED, mark), comparison.deleted(change));
        at = change.old.0 + change.old.1;
    }
    put_lines(comparison, output, (DELETED, "  "), &comparison.old[at..hunk.old.1]);
}

/// Writes the lines of the new file, if some are inserted.
fn put_new_half(comparison: &Comparison<'_>, hunk: &Hunk<'_>, output: &mut Vec<u8>) {
    if hunk.changes.iter().all(|change| change.new.1 == 0) {
        return;
    }
    let mut at = hunk.new.0;
    for change in hunk.changes {
        put_lines(comparison, output, (INSERTED, "  "), &comparison.new[at..change.new.0]);
        let mark = if change.old.1 > 0 { "! " } else { "+ " };
        put_lines(comparison, output, (INSERTED, mark), comparison.inserted(change));
        at = change.new.0 + change.new.1;
    }
    put_lines(comparison, output, (INSERTED, "  "), &comparison.new[at..hunk.new.1]);
}

/// Writes lines in a colour and behind a mark.
fn put_lines(comparison: &Comparison<'_>, output: &mut Vec<u8>, (color, mark): (&str, &str), lines: &[&[u8]]) {
    lines.iter().for_each(|line| comparison.options.put_colored(output, color, mark, line));
}
