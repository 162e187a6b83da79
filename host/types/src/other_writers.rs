//! Detection of other users who can write to a directory or a file.

use std::io;
use std::path::Path;

/// Describes the other users who can write to a path, if there are any. The path must exist.
///
/// # Errors
/// Any error of the system.
#[cfg(unix)]
pub fn other_writers(path: &Path) -> io::Result<Option<String>> {
    use rustix::fs::{Mode, OFlags, open};

    let directory = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    other_writers_of(&open(path, directory, Mode::empty())?)
}

/// Describes the other users who can write to an open directory or file. An access control list shows in the group's
/// permission bits.
///
/// # Errors
/// Any error of the system.
#[cfg(unix)]
pub fn other_writers_of(opened: &impl std::os::fd::AsFd) -> io::Result<Option<String>> {
    let stat = rustix::fs::fstat(opened)?;
    Ok(of_owner_and_mode(stat.st_uid, stat.st_mode))
}

/// Describes the other users who can write to a file or directory that was looked at without following links.
#[cfg(unix)]
#[must_use]
pub fn other_writers_in(found: &std::fs::Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;

    of_owner_and_mode(found.uid(), found.mode())
}

#[cfg(unix)]
fn of_owner_and_mode(owner: u32, mode: u32) -> Option<String> {
    let own = rustix::process::geteuid().as_raw();
    if owner != own && owner != 0 {
        Some(format!("it belongs to user {owner}, and this is user {own}"))
    } else if mode & 0o022 != 0 {
        Some(format!("its mode is {:o}", mode & 0o7777))
    } else {
        None
    }
}

/// Returns nothing: these systems do not tell who can write to a file.
#[cfg(not(unix))]
#[must_use]
pub fn other_writers_in(_: &std::fs::Metadata) -> Option<String> {
    None
}

/// Checks that a directory exists. These systems do not tell who can write to it.
///
/// # Errors
/// Any error of the system.
#[cfg(not(unix))]
pub fn other_writers(path: &Path) -> io::Result<Option<String>> {
    if std::fs::metadata(path)?.is_dir() { Ok(None) } else { Err(io::ErrorKind::NotADirectory.into()) }
}
