//! Directories and files of the host's disk, opened so that what is read is what was looked at: below an open directory, by
//! name, and never through a link. Who can write the directory can exchange names while it is read.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// A directory of the host, held open.
pub(super) struct HostDirectory {
    #[cfg_attr(not(unix), expect(dead_code, reason = "without descriptors the path names it"))]
    file: File,
    path: PathBuf,
}

/// An entry of a directory, as it was when it was opened.
pub(super) enum HostEntry {
    Directory(HostDirectory, Metadata),
    File(File, Metadata),
    /// A symbolic link, with where it leads.
    Link(PathBuf),
    /// A device, a socket, a pipe.
    Other,
}

/// Opens what the operator names. Links are followed.
pub(super) fn open(path: &Path) -> io::Result<HostEntry> {
    // A device is not to be opened: that alone may have an effect.
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

    /// The names in it, in order.
    pub(super) fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = system::names(self)?;
        // The system's order is arbitrary, and ids are given in ours.
        names.sort();
        Ok(names)
    }

    /// Opens an entry. A link is not followed.
    pub(super) fn open(&self, name: &OsString) -> io::Result<HostEntry> {
        system::open_below(self, name)
    }
}

/// What was opened is judged by itself, not by its name.
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

    /// A pipe in the place of a file must not be waited for.
    const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

    pub(super) fn open(path: &Path) -> io::Result<File> {
        Ok(rustix::fs::open(path, READ, Mode::empty())?.into())
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
            // It may have become a link since, which is then an error, or another file or directory, which is then read.
            FileType::Directory | FileType::RegularFile => {
                match openat(&directory.file, name, READ.union(OFlags::NOFOLLOW), Mode::empty()) {
                    Ok(file) => entry(file.into(), &directory.path.join(name)),
                    Err(Errno::LOOP | Errno::MLINK) => Err(io::Error::other("it became a link while it was read")),
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
