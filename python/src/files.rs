//! Files of a session at one point in time.

use std::io;
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tempfile::NamedTempFile;
use tollhouse::session::SessionsError;
use tollhouse::vfs::{ChangeKind, Errno, Kind, MountError, UnifiedLimits, changed_paths, now, unified};

use crate::errors::told;

use crate::process::OfProcess;

/// Returns the `errno` by which Python chooses the subclass of `OSError`.
fn number(errno: Errno) -> i32 {
    match errno {
        Errno::Access => libc::EACCES,
        Errno::Exists => libc::EEXIST,
        Errno::TooLarge => libc::EFBIG,
        Errno::Invalid => libc::EINVAL,
        Errno::IsDirectory => libc::EISDIR,
        Errno::TooManyLinks => libc::ELOOP,
        Errno::NameTooLong => libc::ENAMETOOLONG,
        Errno::NoEntry => libc::ENOENT,
        Errno::NotDirectory => libc::ENOTDIR,
        Errno::NotEmpty => libc::ENOTEMPTY,
        Errno::Quota => libc::EDQUOT,
        Errno::Busy => libc::EBUSY,
        _ => libc::EIO,
    }
}

/// Creates an `OSError`: `FileNotFoundError` for a missing file, and so on.
pub(crate) fn raised(path: &str, errno: Errno) -> PyErr {
    PyOSError::new_err((number(errno), errno.to_string(), path.to_owned()))
}

/// Creates a temporary file in the directory of a new file, which is to get its name when it is complete.
pub(crate) fn unfinished(file: &Path) -> PyResult<NamedTempFile> {
    let failed = |number: i32, reason: String| PyOSError::new_err((number, reason, file.as_os_str().to_owned()));
    if file.exists() {
        return Err(failed(libc::EEXIST, "the file exists already".to_owned()));
    }
    let directory = file.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The error has the name of the temporary file, of which the caller knows nothing, and only a kind.
    NamedTempFile::new_in(directory).map_err(|error| {
        let (number, reason) = match error.kind() {
            io::ErrorKind::NotFound => (libc::ENOENT, "there is no such directory"),
            io::ErrorKind::NotADirectory => (libc::ENOTDIR, "it would not be in a directory"),
            io::ErrorKind::PermissionDenied => (libc::EACCES, "its directory cannot be written to"),
            io::ErrorKind::ReadOnlyFilesystem => (libc::EROFS, "its directory cannot be written to"),
            io::ErrorKind::StorageFull => (libc::ENOSPC, "the disk is full"),
            io::ErrorKind::QuotaExceeded => (libc::EDQUOT, "the quota of the disk is used up"),
            _ => return PyOSError::new_err(told(&error)),
        };
        failed(number, reason.to_owned())
    })
}

/// Creates the `OSError` of a change that cannot be made.
pub(crate) fn unchanged(error: &SessionsError) -> Option<PyErr> {
    match error {
        SessionsError::File { path, source } => Some(raised(path, *source)),
        SessionsError::Import(error) => Some(unmounted(error)),
        _ => None,
    }
}

/// Creates the `OSError` of a path that cannot be mounted.
fn unmounted(error: &MountError) -> PyErr {
    let failed = |number: i32, path: &Path| PyOSError::new_err((number, error.to_string(), path.to_path_buf()));
    match error {
        MountError::Host { path, source } => {
            let reason = format!("{error}: {source}");
            PyOSError::new_err((source.raw_os_error().unwrap_or(libc::EIO), reason, path.clone()))
        }
        MountError::Copy { path, source } => {
            PyOSError::new_err((number(*source), format!("{error}: {source}"), path.clone()))
        }
        MountError::Place { path, source } => {
            PyOSError::new_err((number(*source), format!("{error}: {source}"), path.clone()))
        }
        MountError::Occupied { path } => failed(libc::EEXIST, Path::new(path)),
        MountError::Kind { path } => failed(libc::ENOTDIR, path),
        _ => PyOSError::new_err(told(error)),
    }
}

/// Copies directories in, each replacing what was mounted there before: all of them or none.
pub(crate) fn mount(
    tree: &mut tollhouse::vfs::Tree,
    mounts: &[(PathBuf, String)],
    skipped: &mut Vec<String>,
) -> Result<(), SessionsError> {
    for (host, guest) in mounts {
        let mounted = tree.remount_directory(host, guest, now())?;
        skipped.extend(mounted.skipped.iter().map(|one| format!("`{}`: {}", one.path.display(), one.reason)));
    }
    Ok(())
}

/// Writes and removes files, in order: all of them or none.
pub(crate) fn change(
    tree: &mut tollhouse::vfs::Tree,
    edits: &[(String, Option<Vec<u8>>)],
) -> Result<(), SessionsError> {
    let now = now();
    for (path, bytes) in edits {
        let changed = match bytes {
            Some(bytes) => tree.place_file(path, bytes, 0o644, now),
            None => tree.remove(path, false, now),
        };
        changed.map_err(|source| SessionsError::File { path: path.clone(), source })?;
    }
    Ok(())
}

/// Path, kind, size, mode, modified.
type Listed = (String, &'static str, u64, u32, u64);

/// Files of a session at one point in time.
#[pyclass(frozen, module = "tollhouse._native")]
pub(crate) struct Tree(OfProcess<tollhouse::vfs::Tree>);

impl Tree {
    pub(crate) fn new(tree: tollhouse::vfs::Tree) -> Self {
        Self(OfProcess::new(tree, "view of files", "ask for the files here"))
    }
}

#[pymethods]
impl Tree {
    /// Returns the bytes of a file.
    fn read<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyBytes>> {
        let tree = self.0.get()?;
        let bytes = py.detach(|| tree.read_file(path)).map_err(|errno| raised(path, errno))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Returns the entry at a path: `(kind, size, mode, modified)`. A link is followed.
    fn stat(&self, py: Python<'_>, path: &str) -> PyResult<(&'static str, u64, u32, u64)> {
        let tree = self.0.get()?;
        let stat = py.detach(|| tree.stat(path, true)).map_err(|errno| raised(path, errno))?;
        Ok((word(stat.kind), stat.size, stat.mode, stat.modified))
    }

    /// Lists everything below a directory: `(path, kind, size, mode, modified)`, a directory before its entries.
    fn list(&self, py: Python<'_>, path: &str) -> PyResult<Vec<Listed>> {
        let tree = self.0.get()?;
        py.detach(|| {
            let mut listed = Vec::new();
            let mut next = vec![path.to_owned()];
            while let Some(path) = next.pop() {
                let failed = |errno| raised(&path, errno);
                let entries = tree.read_directory(&path).map_err(failed)?;
                let above = path.trim_end_matches('/');
                for entry in &entries {
                    let path = format!("{above}/{}", entry.name);
                    let stat = tree.stat(&path, false).map_err(failed)?;
                    if stat.kind == Kind::Directory {
                        next.push(path.clone());
                    }
                    listed.push((path, word(stat.kind), stat.size, stat.mode, stat.modified));
                }
            }
            listed.sort_unstable();
            Ok(listed)
        })
    }

    /// Returns the differences to a later tree: `(path, added | removed | modified)`.
    fn changes(&self, py: Python<'_>, later: &Self) -> PyResult<Vec<(String, &'static str)>> {
        let (earlier, later) = (self.0.get()?, later.0.get()?);
        let changes = py.detach(|| changed_paths(earlier, later)).map_err(|errno| raised("/", errno))?;
        let word = |kind| match kind {
            ChangeKind::Added => "added",
            ChangeKind::Removed => "removed",
            _ => "modified",
        };
        Ok(changes.into_iter().map(|change| (change.path, word(change.kind))).collect())
    }

    /// Returns the differences to a later tree, in the format of `diff -u`.
    fn unified(&self, py: Python<'_>, later: &Self) -> PyResult<String> {
        let (earlier, later) = (self.0.get()?, later.0.get()?);
        let shown = py.detach(|| unified(earlier, later, &UnifiedLimits::default()));
        shown.map_err(|errno| raised("/", errno))
    }
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "file",
        Kind::Directory => "directory",
        _ => "link",
    }
}
