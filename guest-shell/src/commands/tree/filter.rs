//! Patterns that select files (`-P`, `-I`).

use bashkit::builtins::ls::glob::fnmatch;

use super::options::TreeOptions;

/// Returns true if one of the patterns, which may each be several with `|` between them, matches a name.
pub(super) fn matches_any(patterns: &[String], name: &str, is_directory: bool, ignore_case: bool) -> bool {
    patterns.iter().flat_map(|pattern| pattern.split('|')).any(|pattern| match pattern.strip_suffix('/') {
        // A slash at the end stands for a directory.
        Some(pattern) => is_directory && fnmatch(name, pattern, ignore_case),
        None => fnmatch(name, pattern, ignore_case),
    })
}

impl TreeOptions {
    /// Returns true if a file is shown, as far as its name and kind decide; `by_pattern` says whether `-P` counts.
    pub(super) fn shows(&self, name: &str, is_directory: bool, is_descended: bool, by_pattern: bool) -> bool {
        if !self.all && name.starts_with('.') {
            return false;
        }
        if by_pattern && !is_descended && !matches_any(&self.patterns, name, is_directory, self.ignore_case) {
            return false;
        }
        if matches_any(&self.ignored_patterns, name, is_directory, self.ignore_case) {
            return false;
        }
        is_directory || !self.directories_only
    }
}
