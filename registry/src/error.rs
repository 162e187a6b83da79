//! Errors of a registry's directory and of look-ups in it. Errors of a publisher's input are in `publish`, `component`,
//! `manifest` and `wit`. Must not decide how an error is handled.

use std::{
    io,
    path::{Path, PathBuf},
};

use semver::{Version, VersionReq};
pub(crate) use tollhouse_types::excerpt;

use crate::{digest::Digest, name::PackageName};

/// Error of a registry's directory: it cannot be used, or its content is not as it should be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file system refused an operation.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// Operation that failed: a verb.
        action: &'static str,
        /// Path of the file or directory.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The path of the registry is not a directory.
    #[error("the registry `{}` is not a directory", path.display())]
    NotADirectory {
        /// Path of the registry.
        path: PathBuf,
    },
    /// Something else is in the place of a file or directory of the registry: a link, a pipe, a file with two names.
    #[error("`{}` is not a {wanted} that belongs to this registry alone: links, pipes and devices are not followed", path.display())]
    Kind {
        /// Path of the entry.
        path: PathBuf,
        /// Expected kind of the entry.
        wanted: &'static str,
    },
    /// Other users can write to the directory or file.
    #[error("`{}` can be written by other users: {why}", path.display())]
    Shared {
        /// Path of the directory or file.
        path: PathBuf,
        /// Description of the users.
        why: String,
    },
    /// A file is longer than any that a registry writes.
    #[error("`{}` has {length} bytes: at most {most} are allowed", path.display())]
    Long {
        /// Path of the file.
        path: PathBuf,
        /// Length of the file in bytes.
        length: u64,
        /// Largest allowed length in bytes.
        most: u64,
    },
    /// The index was altered.
    #[error("the index `{}` was altered or damaged: line {line}: {problem}", path.display())]
    Index {
        /// Path of the index.
        path: PathBuf,
        /// Line number, counted from 1.
        line: u64,
        /// Description of the damage.
        problem: String,
    },
    /// The index uses a feature of a later version of this program.
    #[error("the index `{}` was written by a newer version: line {line} has {what}", path.display())]
    Newer {
        /// Path of the index.
        path: PathBuf,
        /// Line number, counted from 1.
        line: u64,
        /// Name of the unknown feature.
        what: String,
    },
    /// The content of a blob does not match its digest.
    #[error("the {what} `{digest}` was altered: `{}` now has the digest `{found}`", path.display())]
    Altered {
        /// Content of the blob in words: the part of a release.
        what: String,
        /// Digest according to the index.
        digest: Digest,
        /// Digest of the content found.
        found: Digest,
        /// Path of the blob's file.
        path: PathBuf,
    },
    /// A blob does not have the length that the index records. It was not read.
    #[error("the {what} `{digest}` was altered: `{}` has {found} bytes instead of {size}", path.display())]
    Resized {
        /// Content of the blob, in words.
        what: String,
        /// Digest according to the index.
        digest: Digest,
        /// Length according to the index, in bytes.
        size: u64,
        /// Length of the file, in bytes.
        found: u64,
        /// Path of the blob's file.
        path: PathBuf,
    },
    /// A blob is missing.
    #[error("the {what} `{digest}` is missing: `{}` does not exist", path.display())]
    Missing {
        /// Content of the blob, in words.
        what: String,
        /// Digest according to the index.
        digest: Digest,
        /// Path of the blob's file.
        path: PathBuf,
    },
    /// A blob is intact, but its content cannot be used.
    #[error("the {what} `{digest}` cannot be read: {problem}")]
    Unreadable {
        /// Content of the blob, in words.
        what: String,
        /// Digest according to the index.
        digest: Digest,
        /// Reason why it cannot be used.
        problem: String,
    },
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }

    /// Describes the problem in short: with the digest of a damaged blob, without paths.
    #[must_use]
    pub fn brief(&self) -> String {
        match self {
            Self::Altered { what, digest, found, .. } => {
                format!("the {what} `{digest}` was altered: its digest is `{found}`")
            }
            Self::Resized { what, digest, size, found, .. } => {
                format!("the {what} `{digest}` was altered: it has {found} bytes instead of {size}")
            }
            Self::Missing { what, digest, .. } => format!("the {what} `{digest}` is missing"),
            Self::Unreadable { .. } => self.to_string(),
            Self::Index { line, problem, .. } => format!("the index was altered or damaged: line {line}: {problem}"),
            Self::Newer { line, what, .. } => {
                format!("the index was written by a newer version: line {line} has {what}")
            }
            Self::Kind { wanted, .. } => format!("something else is in the place of a {wanted} of the registry"),
            Self::Shared { why, .. } => format!("other users can write the registry: {why}"),
            Self::Long { length, most, .. } => format!("a file of the registry has {length} bytes, more than {most}"),
            Self::NotADirectory { .. } => "the registry is not a directory".to_owned(),
            Self::Io { action, source, .. } => format!("cannot {action} a file of the registry: {source}"),
        }
    }

    /// Returns a hint on how to fix the problem.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Altered { .. } | Self::Resized { .. } | Self::Missing { .. } => {
                "nothing of it was used; publish the same bytes again to repair the file, or restore it from a \
                 backup"
            }
            Self::Index { .. } => {
                "nothing was loaded; restore the file `index` from a backup, or create a new registry and publish again"
            }
            Self::Newer { .. } | Self::Unreadable { .. } => "use the version that wrote it, or a later one",
            Self::NotADirectory { .. } => "name a directory; it is created when something is first published",
            Self::Kind { .. } => "nothing was read or written there; move it away, or use another registry",
            Self::Shared { .. } => {
                "anyone who can write a registry can publish in it: remove that right (`chmod -R go-w`), or declare these \
                 users trusted (`--trust-writers`, `TOLLHOUSE_TRUST_WRITERS=1`)"
            }
            Self::Long { .. } => "restore the file from a backup, or create a new registry and publish again",
            Self::Io { .. } => return None,
        })
    }
}

/// Error of a look-up that found no fitting release.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// No package has this name.
    #[error("no package `{name}` in the registry{}", nearest.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    UnknownPackage {
        /// Name that was requested.
        name: PackageName,
        /// The most similar name that exists, if one is similar.
        nearest: Option<PackageName>,
        /// Number of packages in the registry.
        packages: usize,
    },
    /// No release of the package satisfies the requirement.
    #[error("no release of `{name}` fits `{wanted}`: there is {}", listing(available))]
    NoRelease {
        /// Name of the package.
        name: PackageName,
        /// Versions that were requested.
        wanted: VersionReq,
        /// Releases of the package, newest first: version, and whether the release is yanked.
        available: Vec<(Version, bool)>,
    },
    /// The registry cannot be read.
    #[error(transparent)]
    Registry(#[from] Error),
}

impl ResolveError {
    /// Returns a hint on how to fix the problem.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::UnknownPackage { packages: 0, .. } => Some("the registry is empty: publish something first"),
            Self::UnknownPackage { .. } => Some("publish it first, or list the existing packages"),
            Self::NoRelease { wanted, available, .. } => {
                let fitting = |(version, _): &&(Version, bool)| wanted.matches(version);
                if available.iter().filter(fitting).count() > 0 {
                    Some("the fitting releases were yanked; request another version")
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

/// Formats the ten newest versions for a message.
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
