//! Files that `--include`, `--exclude` and `--exclude-dir` leave to search.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::builtins::ls::glob::glob_match;

use super::options::GrepOptions;

/// A glob of `--include` or `--exclude`.
pub(super) struct FileGlob {
    pattern: String,
    include: bool,
}

impl FileGlob {
    pub(super) fn include(pattern: impl Into<String>) -> Self {
        Self { pattern: pattern.into(), include: true }
    }

    pub(super) fn exclude(pattern: impl Into<String>) -> Self {
        Self { pattern: pattern.into(), include: false }
    }
}

/// Returns true if the globs leave a file to search. The last glob that matches decides; a file that none matches is
/// searched unless the first glob is an `--include`.
fn is_file_selected(globs: &[FileGlob], matches: impl Fn(&str) -> bool) -> bool {
    match globs.iter().rev().find(|glob| matches(&glob.pattern)) {
        Some(glob) => glob.include,
        None => !globs.first().is_some_and(|glob| glob.include),
    }
}

/// Returns true if a file that was found in a directory is searched.
pub(super) fn is_entry_searched(options: &GrepOptions, name: &str) -> bool {
    is_file_selected(&options.file_globs, |pattern| glob_match(name, pattern))
}

/// Returns true if a directory that was found in another one is searched.
pub(super) fn is_directory_searched(options: &GrepOptions, name: &str) -> bool {
    !options.excluded_directories.iter().any(|pattern| glob_match(name, pattern))
}

/// Returns true if an operand that exists is searched. A glob may match what follows any slash in it.
pub(super) fn is_operand_searched(options: &GrepOptions, operand: &str, is_directory: bool) -> bool {
    let matches = |pattern: &str| {
        let behind_slashes = operand.match_indices('/').map(|(slash, _)| &operand[slash + 1..]);
        std::iter::once(operand).chain(behind_slashes).any(|name| glob_match(name, pattern))
    };
    if is_directory {
        !options.excluded_directories.iter().any(|pattern| matches(pattern))
    } else {
        is_file_selected(&options.file_globs, matches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_searched(name: &str, file_globs: Vec<FileGlob>) -> bool {
        is_entry_searched(&GrepOptions { file_globs, ..GrepOptions::default() }, name)
    }

    #[test]
    fn the_last_glob_that_matches_decides() {
        let include = || FileGlob::include("*.txt");
        let exclude = || FileGlob::exclude("*.log");
        assert!(is_searched("foo.txt", vec![]));
        assert!(is_searched("foo.txt", vec![include()]));
        assert!(!is_searched("foo.log", vec![include()]));
        assert!(is_searched("foo.txt", vec![exclude()]));
        assert!(!is_searched("foo.log", vec![exclude()]));
        assert!(is_searched("foo.txt", vec![include(), exclude()]));
        assert!(!is_searched("foo.c", vec![include(), exclude()]));
        assert!(is_searched("foo.c", vec![exclude(), include()]));
    }
}
