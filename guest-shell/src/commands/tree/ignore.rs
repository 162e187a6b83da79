//! Files `.gitignore`, whose patterns hide files (`--gitignore`).

use std::path::{Path, PathBuf};

use bashkit::builtins::ls::glob::fnmatch;

/// Pattern of a line.
struct IgnorePattern {
    text: String,
    /// The pattern shows what others hide (`!`).
    is_negated: bool,
    for_directories: bool,
    /// The pattern is matched with the path from the directory of the file, and not with the name.
    is_anchored: bool,
}

/// Patterns of the file in one directory.
pub(super) struct IgnoreFile {
    directory: PathBuf,
    patterns: Vec<IgnorePattern>,
}

impl IgnoreFile {
    /// Reads the lines of a file in a directory.
    pub(super) fn parse(directory: &Path, text: &str) -> Self {
        let patterns = text.lines().filter_map(parse_line).collect();
        Self { directory: directory.to_owned(), patterns }
    }
}

fn parse_line(line: &str) -> Option<IgnorePattern> {
    let line = line.trim_end();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let (is_negated, line) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
    let (for_directories, line) = line.strip_suffix('/').map_or((false, line), |rest| (true, rest));
    let is_anchored = line.contains('/');
    let text = line.strip_prefix('/').unwrap_or(line).to_owned();
    Some(IgnorePattern { text, is_negated, for_directories, is_anchored })
}

/// Returns true if the last pattern that matches a file, of all directories above it, hides it.
pub(super) fn is_ignored(files: &[IgnoreFile], path: &Path, is_directory: bool) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let mut ignored = false;
    for file in files {
        let Ok(relative) = path.strip_prefix(&file.directory) else { continue };
        let relative = relative.to_string_lossy();
        for pattern in file.patterns.iter().filter(|pattern| is_directory || !pattern.for_directories) {
            let matches = match pattern.is_anchored {
                true => matches_path(&pattern.text, &relative),
                false => fnmatch(&name, &pattern.text, false),
            };
            if matches {
                ignored = !pattern.is_negated;
            }
        }
    }
    ignored
}

/// Matches a path by its parts; `**` stands for any number of them.
fn matches_path(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = pattern.split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    matches_parts(&pattern, &path)
}

fn matches_parts(pattern: &[&str], path: &[&str]) -> bool {
    match pattern {
        [] => path.is_empty(),
        ["**", rest @ ..] => (0..=path.len()).any(|skipped| matches_parts(rest, &path[skipped..])),
        [first, rest @ ..] => match path {
            [name, behind @ ..] => fnmatch(name, first, false) && matches_parts(rest, behind),
            [] => false,
        },
    }
}
