//! Rejected hunks, as a diff.

use super::diff::{Hunk, Kind};

/// Returns rejected hunks as a unified diff, after lines with names. As in GNU's, a line without a line break has none
/// here either, and the marker for it is omitted.
pub(super) fn rejects(names: &str, rejected: &[Hunk]) -> Vec<u8> {
    let mut text = names.as_bytes().to_vec();
    for hunk in rejected {
        let side = |start: i64, length: usize| match length {
            1 => start.to_string(),
            length => format!("{start},{length}"),
        };
        let old = side(hunk.old_start, hunk.old().len());
        text.extend(format!("@@ -{old} +{} @@\n", side(hunk.new_start, hunk.new_length())).into_bytes());
        for line in &hunk.lines {
            text.push(match line.kind {
                Kind::Same => b' ',
                Kind::Old => b'-',
                Kind::New => b'+',
            });
            text.extend(&line.text);
        }
    }
    text
}
