//! Detection of other users who can write to a directory.

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

/// Describes the other users who can write to an open directory. An access control list shows in the group's
/// permission bits.
///
/// # Errors
/// Any error of the system.
#[cfg(unix)]
pub fn other_writers_of(directory: &std::os::fd::OwnedFd) -> io::Result<Option<String>> {
    use rustix::fs::{Mode, fstat};

    let stat = fstat(directory)?;
    let mode = Mode::from_raw_mode(stat.st_mode);
    let own = rustix::process::geteuid().as_raw();
    Ok(if stat.st_uid != own && stat.st_uid != 0 {
        Some(format!("it belongs to user {}, and this is user {own}", stat.st_uid))
    } else if mode.intersects(Mode::WGRP | Mode::WOTH) {
        Some(format!("its mode is {:o}", mode.as_raw_mode() & 0o7777))
    } else {
        None
    })
}

/// Checks that a directory exists. These systems do not tell who can write to it.
///
/// # Errors
/// Any error of the system.
#[cfg(not(unix))]
pub fn other_writers(path: &Path) -> io::Result<Option<String>> {
    if std::fs::metadata(path)?.is_dir() { Ok(None) } else { Err(io::ErrorKind::NotADirectory.into()) }
}
