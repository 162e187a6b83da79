//! Library for tools that work on the session's files: input from a path or from the caller, results to a path or to
//! the caller, and errors with messages. It is not a tool itself, and therefore has no `tool.toml`.
//!
//! A tool sees files under their absolute paths, and only those that the policy grants to it.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

/// Reason of an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The policy does not grant the file to the tool, or does not permit writing.
    Denied,
    /// The file does not exist.
    NotFound,
    /// The file exists already.
    Exists,
    /// The file is larger than the tool accepts.
    TooLarge,
    /// The parameters are invalid.
    Parameter,
    /// Any other failure, such as an exhausted quota.
    Other,
}

/// Reason why a file cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Kind of the failure.
    pub kind: Kind,
    /// Message that describes the failure.
    pub message: String,
    /// Path that caused the failure.
    pub path: Option<String>,
}

impl Error {
    fn parameter(message: impl Into<String>) -> Self {
        Self { kind: Kind::Parameter, message: message.into(), path: None }
    }

    fn of(path: &Path, kind: Kind, message: String) -> Self {
        Self { kind, message, path: Some(path.display().to_string()) }
    }

    /// Converts an error of the system that concerns a path.
    #[must_use]
    pub fn io(path: &Path, error: &io::Error) -> Self {
        let shown = path.display();
        let (kind, message) = match error.kind() {
            io::ErrorKind::AlreadyExists => (Kind::Exists, format!("there is a `{shown}` already")),
            kind if refused(kind) || out_of_sight(path) => (
                Kind::Denied,
                format!(
                    "the policy does not give this tool `{shown}`, or only to read: it takes `files = [\"{shown}\"]`, or a \
                     directory above, in the table `[tool.NAME]` of the policy"
                ),
            ),
            io::ErrorKind::NotFound => (Kind::NotFound, format!("there is no `{shown}`")),
            _ => (Kind::Other, format!("`{shown}`: {error}")),
        };
        Self::of(path, kind, message)
    }
}

/// Returns true for errors that paths have which are only granted in part, such as for reading.
fn refused(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Returns true if no directory above the file exists, which is how ungranted paths look to a tool.
fn out_of_sight(path: &Path) -> bool {
    path.ancestors().all(|above| fs::symlink_metadata(above).is_err())
}

/// Parses a path of the session's files, which must be absolute and must not contain `..`.
///
/// # Errors
///
/// `Parameter`.
pub fn absolute(path: &str) -> Result<PathBuf, Error> {
    let parsed = Path::new(path);
    let plain = parsed.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    if parsed.has_root() && plain && !path.contains('\0') {
        return Ok(parsed.to_owned());
    }
    let shown: String = path.chars().take(100).collect();
    Err(Error {
        path: Some(shown.clone()),
        ..Error::parameter(format!("`{shown}` is no absolute path without `..`: write `/workspace/{}`", name(parsed)))
    })
}

fn name(path: &Path) -> String {
    path.file_name().map_or_else(|| "file".to_owned(), |name| name.to_string_lossy().chars().take(100).collect())
}

/// Reads a file.
///
/// # Errors
///
/// `Parameter`, `NotFound`, `Denied`, `TooLarge`, `Other`.
pub fn read(path: &str, most: u64) -> Result<Vec<u8>, Error> {
    let path = absolute(path)?;
    let failed = |error: io::Error| Error::io(&path, &error);
    let file = File::open(&path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(Error::of(&path, Kind::Other, format!("`{}` is a directory", path.display())));
    }
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > most {
        let message = format!("`{}` is larger than the {most} bytes that this takes", path.display());
        return Err(Error::of(&path, Kind::TooLarge, message));
    }
    Ok(bytes)
}

/// Returns the input of a tool, for which the caller passes exactly one of bytes and a path.
///
/// # Errors
///
/// `Parameter`, and those of [`read`].
pub fn source(path: Option<&str>, bytes: Option<Vec<u8>>, most: u64) -> Result<Vec<u8>, Error> {
    match (path, bytes) {
        (Some(path), None) => read(path, most),
        (None, Some(bytes)) if bytes.len() as u64 <= most => Ok(bytes),
        (None, Some(bytes)) => Err(Error {
            kind: Kind::TooLarge,
            message: format!("{} bytes are more than the {most} that this takes", bytes.len()),
            path: None,
        }),
        _ => Err(Error::parameter("pass either `path` or `bytes`")),
    }
}

/// Writes a file, and creates missing directories. An existing file is replaced only if `overwrite` is true.
///
/// # Errors
///
/// `Parameter`, `Exists`, `Denied`, `Other`.
pub fn write(path: &str, bytes: &[u8], overwrite: bool) -> Result<(), Error> {
    let path = absolute(path)?;
    if !overwrite && fs::symlink_metadata(&path).is_ok() {
        let message = format!("there is a `{}` already: pass `overwrite` as true to replace it", path.display());
        return Err(Error::of(&path, Kind::Exists, message));
    }
    if let Some(above) = path.parent().filter(|above| fs::metadata(above).is_err()) {
        fs::create_dir_all(above).map_err(|error| Error::io(above, &error))?;
    }
    fs::write(&path, bytes).map_err(|error| Error::io(&path, &error))
}

/// Checks the path of a result before the work is done.
///
/// # Errors
///
/// `Parameter`.
pub fn target(path: Option<&str>) -> Result<(), Error> {
    path.map_or(Ok(()), |path| absolute(path).map(drop))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_absolute_and_plain() {
        assert_eq!(absolute("/workspace/a").map_err(|error| error.kind), Ok(PathBuf::from("/workspace/a")));
        for path in ["a", "", "./a", "/a/../b", "..", "/a\0"] {
            assert_eq!(absolute(path).expect_err(path).kind, Kind::Parameter);
        }
        assert!(absolute("x.zip").expect_err("relative").message.contains("write `/workspace/x.zip`"));
    }

    #[test]
    fn source_is_bytes_or_a_path_within_the_size_limit() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("new/a");
        let path = path.to_str().expect("text");
        write(path, b"one", false).expect("written");
        assert_eq!(source(Some(path), None, 3), Ok(b"one".to_vec()));
        assert_eq!(source(Some(path), None, 2).expect_err("long").kind, Kind::TooLarge);
        assert_eq!(source(None, Some(vec![0; 3]), 2).expect_err("long").kind, Kind::TooLarge);
        assert_eq!(source(None, Some(vec![7]), 2), Ok(vec![7]));
        assert_eq!(source(None, None, 2).expect_err("none").kind, Kind::Parameter);
        assert_eq!(source(Some(path), Some(vec![7]), 2).expect_err("both").kind, Kind::Parameter);
        assert_eq!(read("/nothing/here", 1).expect_err("none").kind, Kind::NotFound);
        assert_eq!(read("/", 1).expect_err("a directory").kind, Kind::Other);
    }

    #[test]
    fn file_that_exists_is_kept_unless_overwriting() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a");
        let path = path.to_str().expect("text");
        write(path, b"one", false).expect("written");
        assert_eq!(write(path, b"two", false).expect_err("there").kind, Kind::Exists);
        write(path, b"two", true).expect("written");
        assert_eq!(read(path, 10), Ok(b"two".to_vec()));
    }

    #[test]
    fn file_denial_names_the_permission_needed() {
        // A path outside of all granted directories is detected by `out_of_sight`, which only works in the sandbox of a
        // tool: the tests `tool_files` cover it.
        for kind in [io::ErrorKind::PermissionDenied, io::ErrorKind::ReadOnlyFilesystem] {
            let error = Error::io(Path::new("/workspace/a"), &io::Error::from(kind));
            assert_eq!(error.kind, Kind::Denied);
            assert!(error.message.contains("`files = [\"/workspace/a\"]`"), "{error}");
        }
    }
}
