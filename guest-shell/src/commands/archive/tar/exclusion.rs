//! Patterns of names that are left out (`--exclude`, `-X`).

use bashkit::builtins::ls::glob::glob_match;

/// Files and directories of systems for version control (`--exclude-vcs`).
const VERSION_CONTROL: [&str; 20] = [
    "CVS",
    ".cvsignore",
    "RCS",
    "SCCS",
    ".git",
    ".gitignore",
    ".gitattributes",
    ".gitmodules",
    ".svn",
    ".arch-ids",
    "{arch}",
    "=RELEASE-ID",
    "=meta-update",
    "=update",
    ".bzr",
    ".bzrignore",
    ".bzrtags",
    ".hg",
    ".hgignore",
    "_darcs",
];

/// Patterns of one call.
#[derive(Default)]
pub(super) struct Exclusion(Vec<String>);

impl Exclusion {
    pub(super) fn add(&mut self, pattern: &str) {
        self.0.push(pattern.to_owned());
    }

    pub(super) fn add_version_control(&mut self) {
        self.0.extend(VERSION_CONTROL.map(str::to_owned));
    }

    /// Adds the patterns of a file, a line each.
    pub(super) fn add_lines(&mut self, text: &[u8]) {
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        self.0.extend(lines.map(|line| bashkit::text_of(line).into_owned()));
    }

    /// Returns true if a pattern matches a name, one of its ends, or a directory in these.
    pub(super) fn excludes(&self, name: &str) -> bool {
        let name = name.trim_end_matches('/');
        self.0.iter().any(|pattern| {
            let ends = name.match_indices('/').map(|(slash, _)| &name[slash + 1..]);
            std::iter::once(name).chain(ends).any(|end| {
                let directories = end.match_indices('/').map(|(slash, _)| &end[..slash]);
                std::iter::once(end).chain(directories).any(|part| glob_match(part, pattern))
            })
        })
    }
}
