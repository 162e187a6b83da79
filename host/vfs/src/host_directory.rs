//! Directories and files on the host's disk. Entries are opened by name relative to an open directory, and never
//! through a link, so that what is read is what was examined: others who can write to the directory may exchange names
//! meanwhile.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// An open directory of the host.
pub(super) struct HostDirectory {
    #[cfg_attr(not(unix), expect(dead_code, reason = "without descriptors the path names it"))]
    file: File,
    path: PathBuf,
}

/// An entry of a host directory, as it was when it was opened.
pub(super) enum HostEntry {
    Directory(HostDirectory, Metadata),
    File(File, Metadata),
    /// A symbolic link with its target.
    Link(PathBuf),
    /// A device, a socket or a pipe.
    Other,
}

/// Opens a path named by the operator, following links.
pub(super) fn open(path: &Path) -> io::Result<HostEntry> {
    // Devices are not opened, since opening alone may have an effect.
    let found = std::fs::metadata(path)?;
    if !found.is_dir() && !found.is_file() {
        return Ok(HostEntry::Other);
    }
    entry(system::open(path)?, path)
}

impl HostDirectory {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Lists the names in the directory, in order.
    pub(super) fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = system::names(self)?;
        // The order of the system is arbitrary, and ids are assigned in this order.
        names.sort();
        Ok(names)
    }

    /// Opens an entry without following a link.
    pub(super) fn open(&self, name: &OsString) -> io::Result<HostEntry> {
        system::open_below(self, name)
    }
}

/// Classifies an open file by its own metadata, not by its name.
fn entry(file: File, path: &Path) -> io::Result<HostEntry> {
    let found = file.metadata()?;
    Ok(if found.is_dir() {
        HostEntry::Directory(HostDirectory { file, path: path.to_owned() }, found)
    } else if found.is_file() {
        HostEntry::File(file, found)
    } else {
        HostEntry::Other
    })
}

#[cfg(unix)]
mod system {
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

    use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, readlinkat, statat};
    use rustix::io::Errno;

    use super::{File, HostDirectory, HostEntry, Path, PathBuf, entry, io};

    /// Nonblocking, so that opening a pipe that has replaced a file does not wait.
    const OPEN_FLAGS: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

    pub(super) fn open(path: &Path) -> io::Result<File> {
        Ok(rustix::fs::open(path, OPEN_FLAGS, Mode::empty())?.into())
    }

    pub(super) fn names(directory: &HostDirectory) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for found in Dir::read_from(&directory.file)? {
            let found = found?;
            let name = found.file_name().to_bytes();
            if !matches!(name, b"." | b"..") {
                names.push(OsStr::from_bytes(name).to_owned());
            }
        }
        Ok(names)
    }

    pub(super) fn open_below(directory: &HostDirectory, name: &OsString) -> io::Result<HostEntry> {
        let found = statat(&directory.file, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Symlink => {
                let target = readlinkat(&directory.file, name, Vec::new())?;
                Ok(HostEntry::Link(PathBuf::from(OsString::from_vec(target.into_bytes()))))
            }
            // The entry may have become a link since, which is an error, or another file or directory, which is read.
            FileType::Directory | FileType::RegularFile => {
                match openat(&directory.file, name, OPEN_FLAGS.union(OFlags::NOFOLLOW), Mode::empty()) {
                    Ok(file) => entry(file.into(), &directory.path.join(name)),
                    Err(Errno::LOOP | Errno::MLINK) => {
                        Err(io::Error::other("it became a symbolic link while it was being read"))
                    }
                    Err(error) => Err(error.into()),
                }
            }
            _ => Ok(HostEntry::Other),
        }
    }
}

#[cfg(not(unix))]
mod system {
    use super::{File, HostDirectory, HostEntry, OsString, Path, entry, io};

    pub(super) fn open(path: &Path) -> io::Result<File> {
        File::open(path)
    }

    pub(super) fn names(directory: &HostDirectory) -> io::Result<Vec<OsString>> {
        std::fs::read_dir(&directory.path)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    pub(super) fn open_below(directory: &HostDirectory, name: &OsString) -> io::Result<HostEntry> {
        let path = directory.path.join(name);
        let found = std::fs::symlink_metadata(&path)?;
        if found.is_symlink() {
            return Ok(HostEntry::Link(std::fs::read_link(&path)?));
        }
        if !found.is_dir() && !found.is_file() {
            return Ok(HostEntry::Other);
        }
        entry(File::open(&path)?, &path)
    }
}
