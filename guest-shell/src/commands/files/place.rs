//! Paths and their resolution.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use bashkit::{FileSystem, FileType, Metadata};

use super::call::Call;

/// Largest number of links that are followed in one path, as on Linux.
const LINKS: usize = 40;

/// Returns true for `.` and `..`.
pub(super) fn is_dots(name: &str) -> bool {
    matches!(name, "." | "..")
}

/// Returns the last component of a path, without trailing slashes; `/` for the root.
pub(super) fn base(name: &str) -> &str {
    let trimmed = name.trim_end_matches('/');
    if trimmed.is_empty() {
        return if name.is_empty() { "" } else { "/" };
    }
    trimmed.rsplit('/').next().unwrap_or(trimmed)
}

/// Returns the path of a name in a directory, as it appears in messages.
pub(super) fn join(directory: &str, name: &str) -> String {
    if directory.ends_with('/') { format!("{directory}{name}") } else { format!("{directory}/{name}") }
}

/// Returns the directory part of a path; `.` if it has none.
pub(super) fn parent(name: &str) -> &str {
    let trimmed = name.trim_end_matches('/');
    match trimmed.rfind('/') {
        Some(at) => match trimmed[..at].trim_end_matches('/') {
            "" => "/",
            directory => directory,
        },
        None if trimmed.is_empty() && !name.is_empty() => "/",
        None => ".",
    }
}

impl Call<'_> {
    /// Returns the metadata of a file, following a link at the end of the path.
    pub(super) async fn stat(&self, name: &str) -> bashkit::Result<Metadata> {
        let found = match name {
            "" => Err(missing()),
            _ => self.fs.stat(&self.path(name)).await,
        };
        self.as_directory(name, found)
    }

    /// Returns the metadata of a file, not following a link at the end of the path unless a slash follows it.
    pub(super) async fn lstat(&self, name: &str) -> bashkit::Result<Metadata> {
        let found = match name {
            "" => Err(missing()),
            _ if name.ends_with('/') => self.fs.stat(&self.path(name)).await,
            _ => self.fs.lstat(&self.path(name)).await,
        };
        self.as_directory(name, found)
    }

    /// Refuses a name with a trailing slash that does not belong to a directory.
    fn as_directory(&self, name: &str, found: bashkit::Result<Metadata>) -> bashkit::Result<Metadata> {
        match found {
            Ok(found) if name.ends_with('/') && !found.file_type.is_dir() => Err(not_directory()),
            found => found,
        }
    }

    /// Returns the canonical path of a name, keeping or following a link at its end. Two names have the same canonical
    /// path exactly if they are the same file.
    pub(super) async fn identity(&self, name: &str, follow: bool) -> Option<PathBuf> {
        let walk = Walk { missing: Missing::Last, follow_links: true, follow_last: follow || name.ends_with('/') };
        walk.run(&*self.fs, &self.cwd, name).await.ok()
    }
}

/// Returns the error of a file that does not exist, in the words of the file system.
pub(in crate::commands) fn missing() -> bashkit::Error {
    std::io::Error::new(std::io::ErrorKind::NotFound, "file not found").into()
}

pub(super) fn not_directory() -> bashkit::Error {
    std::io::Error::from(std::io::ErrorKind::NotADirectory).into()
}

/// Components of a path that may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// No part may be missing.
    Nothing,
    /// The last part may be missing.
    Last,
    /// Any part may be missing.
    Any,
}

/// Rules for resolving a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    pub(super) missing: Missing,
    pub(super) follow_links: bool,
    pub(super) follow_last: bool,
}

impl Walk {
    /// Resolves a name to an absolute path without links, `.` and `..`. The error is the reason of the failure.
    pub(super) async fn run(self, fs: &dyn FileSystem, cwd: &Path, name: &str) -> Result<PathBuf, &'static str> {
        if name.is_empty() {
            return Err("No such file or directory");
        }
        let mut at: Vec<String> = Vec::new();
        let mut ahead = parts(name);
        if !name.starts_with('/') {
            at = parts(&cwd.to_string_lossy()).into();
        }
        let mut must_be_directory = name.ends_with('/') || matches!(base(name), "." | "..");
        let mut links = 0;
        while let Some(part) = ahead.pop_front() {
            if part == ".." {
                at.pop();
            }
            if is_dots(&part) {
                continue;
            }
            at.push(part);
            let is_last = ahead.is_empty();
            let path = absolute(&at);
            let found = fs.lstat(&path).await.map(|found| found.file_type);
            match found {
                Ok(FileType::Symlink) if self.follow_links && (!is_last || self.follow_last) => {
                    links += 1;
                    if links > LINKS {
                        return Err("Too many levels of symbolic links");
                    }
                    let target = fs.read_link(&path).await.map_err(|_| "Invalid argument")?;
                    let target = target.to_string_lossy().into_owned();
                    at.pop();
                    if target.starts_with('/') {
                        at.clear();
                    }
                    must_be_directory |= is_last && target.ends_with('/');
                    for part in parts(&target).into_iter().rev() {
                        ahead.push_front(part);
                    }
                }
                Ok(FileType::Directory) => {}
                Ok(_) if self.missing != Missing::Any && (!is_last || must_be_directory) && self.follow_links => {
                    return Err("Not a directory");
                }
                Ok(_) => {}
                Err(_) if self.missing == Missing::Any || self.missing == Missing::Last && is_last => {}
                Err(_) => return Err("No such file or directory"),
            }
        }
        Ok(absolute(&at))
    }
}

fn parts(path: &str) -> VecDeque<String> {
    path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn absolute(parts: &[String]) -> PathBuf {
    PathBuf::from(format!("/{}", parts.join("/")))
}

#[cfg(test)]
mod tests {
    use super::{base, join, parent};

    #[test]
    fn parts_of_paths_are_as_in_coreutils() {
        assert_eq!((base("a/b//"), base("/"), base("a")), ("b", "/", "a"));
        assert_eq!((parent("a/b//"), parent("/a"), parent("a"), parent("/")), ("a", "/", ".", "/"));
        assert_eq!((join("a", "b"), join("a/", "b")), ("a/b".to_owned(), "a/b".to_owned()));
    }
}
