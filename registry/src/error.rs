//! What goes wrong in a registry's directory, and in looking something up there. What a publisher did wrong is in
//! `publish`, `component`, `manifest` and `wit`. Must not decide what happens then.

use std::{
    io,
    path::{Path, PathBuf},
};

use semver::{Version, VersionReq};

use crate::{digest::Digest, name::PackageName};

/// The registry's directory cannot be used, or it does not hold what it should.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file system refused.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// What was tried: a verb.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The path of the registry is something else than a directory.
    #[error("the registry `{}` is not a directory", path.display())]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// Something else lies where the registry has a file or directory of its own: a link, a pipe, a file with two names.
    #[error("`{}` is not a {wanted} of this registry alone: no link, pipe or device is followed there", path.display())]
    Kind {
        /// The path.
        path: PathBuf,
        /// What has to be there.
        wanted: &'static str,
    },
    /// Other users can write the directory.
    #[error("`{}` can be written by other users: {why}", path.display())]
    Shared {
        /// The directory.
        path: PathBuf,
        /// Who can, in words.
        why: String,
    },
    /// A file is longer than any that is written here.
    #[error("`{}` has {length} bytes, and more than {most} are not read or written", path.display())]
    Long {
        /// The file.
        path: PathBuf,
        /// Its length in bytes.
        length: u64,
        /// The most that there may be.
        most: u64,
    },
    /// The index is not as it was written.
    #[error("the index `{}` was altered or damaged: line {line}: {problem}", path.display())]
    Index {
        /// The index.
        path: PathBuf,
        /// Counted from 1.
        line: u64,
        /// What does not fit.
        problem: String,
    },
    /// The index uses something that a later version of this program introduced.
    #[error("the index `{}` was written by a newer version: line {line} has {what}", path.display())]
    Newer {
        /// The index.
        path: PathBuf,
        /// Counted from 1.
        line: u64,
        /// What is not known here.
        what: String,
    },
    /// A blob does not hash to its name.
    #[error("the {what} `{digest}` was altered: `{}` now hashes to `{found}`", path.display())]
    Altered {
        /// What it holds, in words: which part of which release.
        what: String,
        /// What the index says.
        digest: Digest,
        /// What is there.
        found: Digest,
        /// Its file.
        path: PathBuf,
    },
    /// A blob has not the length that the index says. It was not read.
    #[error("the {what} `{digest}` was altered: `{}` has {found} bytes and not {size}", path.display())]
    Resized {
        /// What it holds, in words.
        what: String,
        /// What the index says.
        digest: Digest,
        /// The length that the index says, in bytes.
        size: u64,
        /// The length that is there, in bytes.
        found: u64,
        /// Its file.
        path: PathBuf,
    },
    /// A blob is not there.
    #[error("the {what} `{digest}` is missing: there is no `{}`", path.display())]
    Missing {
        /// What it holds, in words.
        what: String,
        /// What the index says.
        digest: Digest,
        /// Its file.
        path: PathBuf,
    },
    /// A blob is what was published, and cannot be read all the same.
    #[error("the {what} `{digest}` cannot be read: {problem}")]
    Unreadable {
        /// What it holds, in words.
        what: String,
        /// What the index says.
        digest: Digest,
        /// Why not.
        problem: String,
    },
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }

    /// What is wrong, with the digest of what was damaged, and without paths.
    #[must_use]
    pub fn brief(&self) -> String {
        match self {
            Self::Altered { what, digest, found, .. } => format!("the {what} `{digest}` was altered: it is `{found}`"),
            Self::Resized { what, digest, size, found, .. } => {
                format!("the {what} `{digest}` was altered: it has {found} bytes and not {size}")
            }
            Self::Missing { what, digest, .. } => format!("the {what} `{digest}` is missing"),
            Self::Unreadable { .. } => self.to_string(),
            Self::Index { line, problem, .. } => format!("the index was altered or damaged: line {line}: {problem}"),
            Self::Newer { line, what, .. } => {
                format!("the index was written by a newer version: line {line} has {what}")
            }
            Self::Kind { wanted, .. } => format!("something else lies in the place of a {wanted} of the registry"),
            Self::Shared { why, .. } => format!("other users can write the registry: {why}"),
            Self::Long { length, most, .. } => format!("a file of the registry has {length} bytes, more than {most}"),
            Self::NotADirectory { .. } => "the registry is not a directory".to_owned(),
            Self::Io { action, source, .. } => format!("cannot {action} a file of the registry: {source}"),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Altered { .. } | Self::Resized { .. } | Self::Missing { .. } => {
                "nothing of it was used; publish the same bytes again to put the file right, or restore it from a \
                 backup"
            }
            Self::Index { .. } => {
                "nothing was loaded; restore the file `index` from a backup, or begin a new registry and publish again"
            }
            Self::Newer { .. } | Self::Unreadable { .. } => "use the version that wrote it, or a later one",
            Self::NotADirectory { .. } => "name a directory; it is made when something is first published",
            Self::Kind { .. } => "nothing was read or written there; move it away, or name another registry",
            Self::Shared { .. } => {
                "who can write a registry can publish in it: take that right away (`chmod -R go-w`), or say that these \
                 users are trusted (`--trust-writers`, `TOLLHOUSE_TRUST_WRITERS=1`)"
            }
            Self::Long { .. } => "restore the file from a backup, or begin a new registry and publish again",
            Self::Io { .. } => return None,
        })
    }
}

/// Nothing was found that fits.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// No release has this name.
    #[error("no package `{name}` in the registry{}", nearest.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    UnknownPackage {
        /// The name.
        name: PackageName,
        /// The most similar name that exists, if one is similar.
        nearest: Option<PackageName>,
        /// How many packages there are.
        packages: usize,
    },
    /// No release of the package fits.
    #[error("no release of `{name}` fits `{wanted}`: there is {}", listing(available))]
    NoRelease {
        /// The package.
        name: PackageName,
        /// What was asked for.
        wanted: VersionReq,
        /// What exists, newest first: version, and whether it is yanked.
        available: Vec<(Version, bool)>,
    },
    /// The registry cannot be read.
    #[error(transparent)]
    Registry(#[from] Error),
}

impl ResolveError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::UnknownPackage { packages: 0, .. } => Some("the registry is empty: publish something first"),
            Self::UnknownPackage { .. } => Some("publish it first, or list what there is"),
            Self::NoRelease { wanted, available, .. } => {
                let fitting = |(version, _): &&(Version, bool)| wanted.matches(version);
                if available.iter().filter(fitting).count() > 0 {
                    Some("what fits was yanked; ask for another version")
                } else if available.iter().all(|(version, _)| !version.pre.is_empty()) {
                    Some("a pre-release is only found when it is named, for example `=1.0.0-rc.1`")
                } else {
                    None
                }
            }
            Self::Registry(error) => error.hint(),
        }
    }
}

/// Versions for a message: the ten newest.
fn listing(available: &[(Version, bool)]) -> String {
    let mut text = String::new();
    for (at, (version, yanked)) in available.iter().take(10).enumerate() {
        let separator = if at == 0 { "" } else { ", " };
        let mark = if *yanked { " (yanked)" } else { "" };
        text += &format!("{separator}{version}{mark}");
    }
    match available.len().checked_sub(10) {
        None | Some(0) => text,
        Some(more) => format!("{text} and {more} older"),
    }
}

/// A hostile text for a message: its beginning, without control characters.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 80;
    let mut short: String = text.chars().take(LONGEST).flat_map(printable).collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    short
}

/// The character, or its escape if a terminal would obey it or not show it.
fn printable(c: char) -> impl Iterator<Item = char> {
    let escape = c.escape_debug();
    let plain = escape.len() == 1 || matches!(c, '\'' | '"' | '\\');
    plain.then_some(c).into_iter().chain((!plain).then_some(escape).into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_short_and_harmless() {
        assert_eq!(excerpt("plain \"text\" é"), "plain \"text\" é");
        assert_eq!(excerpt("a\u{1b}[31m\n"), "a\\u{1b}[31m\\n");
        assert_eq!(excerpt(&"x".repeat(500)).chars().count(), 81);
    }
}
