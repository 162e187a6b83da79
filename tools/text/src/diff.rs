//! Line-by-line comparison of two texts.

use similar::{ChangeTag, TextDiff};

use crate::error::Error;

/// Difference between two texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Unified diff; empty if the texts are equal.
    pub unified: String,
    /// Number of lines that are only in the new text.
    pub added: u32,
    /// Number of lines that are only in the old text.
    pub removed: u32,
}

/// Compares two texts. `names` are the names of the old and the new text in the header.
///
/// # Errors
///
/// If a name contains a line end, which would forge lines of the diff.
pub fn diff(old: &str, new: &str, context: u32, names: (&str, &str)) -> Result<Difference, Error> {
    for (parameter, name) in [("oldName", names.0), ("newName", names.1)] {
        if name.contains(['\n', '\r']) {
            return Err(Error::new(parameter, "holds a line end"));
        }
    }
    let diff = TextDiff::from_lines(old, new);
    let (mut added, mut removed) = (0, 0);
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Insert => added += 1,
            ChangeTag::Delete => removed += 1,
            ChangeTag::Equal => {}
        }
    }
    // A text has no more lines than bytes, so more context is never needed. The crate adds to the number, which must
    // therefore stay below the maximum.
    let most = old.len().max(new.len());
    let context = usize::try_from(context).unwrap_or(most).min(most);
    let unified = diff.unified_diff().context_radius(context).header(names.0, names.1).to_string();
    Ok(Difference { unified, added, removed })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn diff_is_in_unified_format() {
        let result = diff("a\nb\nc\n", "a\nB\nc\nd\n", 1, ("x", "y")).expect("good names");
        assert_eq!(result.unified, "--- x\n+++ y\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d\n");
        assert_eq!((result.added, result.removed), (2, 1));
    }

    #[test]
    fn diff_context_merges_hunks() {
        let old: String = (0..20).map(|i| format!("{i}\n")).collect();
        let new = old.replace("3\n", "three\n").replace("18\n", "eighteen\n");
        let hunks = |context| diff(&old, &new, context, ("", "")).expect("good names").unified.matches("@@ -").count();
        assert_eq!((hunks(0), hunks(3), hunks(u32::MAX)), (3, 2, 1));
    }

    #[test]
    fn equal_texts_have_no_diff() {
        let none = Difference { unified: String::new(), added: 0, removed: 0 };
        assert_eq!(diff("a\n", "a\n", 3, ("x", "y")), Ok(none));
    }

    #[test]
    fn diff_shows_a_missing_line_end() {
        let result = diff("a\n", "a", 3, ("x", "y")).expect("good names");
        assert_eq!(result.unified, "--- x\n+++ y\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n");
    }

    #[test]
    fn names_cannot_forge_lines() {
        assert_eq!(diff("", "", 3, ("x", "y\n+evil")), Err(Error::new("newName", "holds a line end")));
    }

    proptest! {
        #[test]
        fn diff_of_arbitrary_texts_counts_the_lines_it_shows(old in "[ab\n]{0,30}", new in "[ab\n]{0,30}", context: u32) {
            let result = diff(&old, &new, context, ("x", "y")).expect("good names");
            let shown = |mark| result.unified.lines().skip(2).filter(|line| line.starts_with(mark)).count();
            prop_assert_eq!((result.added as usize, result.removed as usize), (shown('+'), shown('-')));
        }
    }
}
