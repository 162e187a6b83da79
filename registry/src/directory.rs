//! Directory handles that are safe against file swaps: a directory is held open, and everything below it is reached
//! through the handle. A symbolic link, a pipe or a device in the place of a file is an error; it is never followed,
//! waited for or written to. On Unix also a guard against other users who may write there. Must not know what a
//! registry's files mean.

use std::{
    ffi::OsString,
    fs::File,
    path::{Path, PathBuf},
};

use crate::error::Error;

/// Prefix of the names of temporary files. Only files with this prefix are removed from `tmp`.
const TEMPORARY: &str = ".tmp";

/// Handle of an open directory.
#[derive(Debug)]
pub(crate) struct OpenDirectory {
    path: PathBuf,
    handle: system::Handle,
    writers: AllowedWriters,
}

/// Policy on the users who may be able to write a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum AllowedWriters {
    /// This user and the system's administrator. A directory or a file that others can write is refused.
    #[default]
    Own,
    /// Any user: the operator trusts them.
    Any,
}

impl OpenDirectory {
    /// Opens a directory by its path. Returns `None` if there is none. Links on the way to it are followed, since the
    /// operator names the path.
    pub(crate) fn open(path: &Path, writers: AllowedWriters) -> Result<Option<Self>, Error> {
        let open = system::open(path).map_err(|error| match wrong_kind(error, path, "directory", "open") {
            Error::Kind { path, .. } => Error::NotADirectory { path },
            error => error,
        });
        found(open)?.map(|handle| Self { path: path.to_owned(), handle, writers }.guarded()).transpose()
    }

    /// Opens a directory as [`open`](Self::open) does, but creates missing directories on the path, each of them
    /// durably.
    pub(crate) fn open_or_make(path: &Path, writers: AllowedWriters) -> Result<Self, Error> {
        if let Some(open) = Self::open(path, writers)? {
            return Ok(open);
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().ok_or_else(|| Error::NotADirectory { path: path.to_owned() })?;
        // Directories above the registry are outside its responsibility.
        let parent = Self::open_or_make(parent, AllowedWriters::Any)?;
        parent.make(name.as_ref())?;
        Self::open(path, writers)?.ok_or_else(|| Error::NotADirectory { path: path.to_owned() })
    }

    /// Opens a subdirectory. Returns `None` if there is none.
    pub(crate) fn below(&self, name: &str) -> Result<Option<Self>, Error> {
        let path = self.path.join(name);
        let open = system::open_below(&self.handle, &path, name);
        found(open.map_err(|error| wrong_kind(error, &path, "directory", "open")))?
            .map(|handle| Self { path, handle, writers: self.writers }.guarded())
            .transpose()
    }

    /// Opens a subdirectory as [`below`](Self::below) does, but creates the directory if it is missing.
    pub(crate) fn make_below(&self, name: &str) -> Result<Self, Error> {
        if let Some(open) = self.below(name)? {
            return Ok(open);
        }
        self.make(name.as_ref())?;
        self.below(name)?.ok_or_else(|| Error::NotADirectory { path: self.path.join(name) })
    }

    fn make(&self, name: &Path) -> Result<(), Error> {
        let path = self.path.join(name);
        match system::make(&self.handle, &path, name) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                Err(Error::io("create the directory", &path)(error))
            }
            _ => self.sync(),
        }
    }

    /// Opens a file for reading. Returns `None` if there is none.
    pub(crate) fn read(&self, name: &str) -> Result<Option<File>, Error> {
        let path = self.path.join(name);
        let file = system::open_file(&self.handle, &path, name, system::OpenMode::Read);
        let file = found(file.map_err(|error| wrong_kind(error, &path, "regular file", "open")))?;
        file.map(|file| self.guarded_file(file, &path)).transpose()
    }

    /// Opens a file for writing, creating it if it is missing. It is not truncated.
    pub(crate) fn write(&self, name: &str) -> Result<File, Error> {
        let path = self.path.join(name);
        let file = system::open_file(&self.handle, &path, name, system::OpenMode::Write);
        let file = file.map_err(|error| wrong_kind(error, &path, "regular file", "open"))?;
        self.guarded_file(file, &path)
    }

    /// Creates a temporary file under a new name, which is to be renamed.
    pub(crate) fn temporary(&self) -> Result<(String, File), Error> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| Error::io("create a file in", &self.path)(error.into()))?;
        let name = format!("{TEMPORARY}-{}", hex::encode(random));
        let file = system::open_file(&self.handle, &self.path.join(&name), &name, system::OpenMode::New);
        file.map(|file| (name, file)).map_err(Error::io("create a file in", &self.path))
    }

    /// Moves a file into another directory under a new name, replacing a file of that name.
    pub(crate) fn rename(&self, name: &str, to: &Self, new: &str) -> Result<(), Error> {
        let path = to.path.join(new);
        let renamed = system::rename((&self.handle, &self.path.join(name), name), (&to.handle, &path, new));
        renamed.map_err(Error::io("write", &path))
    }

    /// Removes a file, or a link of that name. A missing file is not an error.
    pub(crate) fn remove(&self, name: &str) -> Result<(), Error> {
        let path = self.path.join(name);
        match system::remove(&self.handle, &path, name) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", &path)(error)),
            _ => Ok(()),
        }
    }

    /// Removes temporary files of killed writers: regular files of this user with a name as
    /// [`temporary`](Self::temporary) makes it. Other files belong to somebody else.
    pub(crate) fn sweep(&self) -> Result<(), Error> {
        for name in self.names()? {
            let Some(name) = name.to_str().filter(|name| name.starts_with(TEMPORARY)) else { continue };
            if system::is_own(&self.handle, &self.path.join(name), name) {
                self.remove(name)?;
            }
        }
        Ok(())
    }

    /// Lists the names of all entries.
    pub(crate) fn names(&self) -> Result<Vec<OsString>, Error> {
        system::names(&self.handle, &self.path).map_err(Error::io("list", &self.path))
    }

    /// Makes the directory's entries durable.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        system::sync(&self.handle).map_err(Error::io("sync", &self.path))
    }

    fn guarded(self) -> Result<Self, Error> {
        if self.writers == AllowedWriters::Any {
            return Ok(self);
        }
        #[cfg(unix)]
        if let Some(why) = tollhouse_types::other_writers_of(&self.handle).map_err(Error::io("look at", &self.path))? {
            return Err(Error::Shared { path: self.path, why });
        }
        Ok(self)
    }

    /// Refuses an open file that others can write: the rights of its directory do not keep them from that.
    fn guarded_file(&self, file: File, path: &Path) -> Result<File, Error> {
        if self.writers == AllowedWriters::Any {
            return Ok(file);
        }
        #[cfg(unix)]
        if let Some(why) = tollhouse_types::other_writers_of(&file).map_err(Error::io("look at", path))? {
            return Err(Error::Shared { path: path.to_owned(), why });
        }
        Ok(file)
    }
}

/// Turns a "not found" error into `None`.
fn found<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn wrong_kind(error: std::io::Error, path: &Path, wanted: &'static str, action: &'static str) -> Error {
    if system::is_wrong_kind(&error) {
        return Error::Kind { path: path.to_owned(), wanted };
    }
    Error::io(action, path)(error)
}

/// Implementation by file descriptors.
#[cfg(unix)]
mod system {
    use std::{
        ffi::{OsStr, OsString},
        fs::File,
        io,
        os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
        path::Path,
    };

    use rustix::{
        fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, fsync, mkdirat, openat, renameat, statat, unlinkat},
        io::Errno,
        process::geteuid,
    };

    pub(super) type Handle = OwnedFd;

    /// Without `NONBLOCK`, opening a pipe in the place of a file would block.
    const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC).union(OFlags::NOCTTY);
    const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    /// Writable by this user alone, whatever the umask.
    const DIRECTORY_MODE: Mode = Mode::from_bits_truncate(0o755);

    /// Purpose for which a file is opened.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(super) enum OpenMode {
        Read,
        Write,
        New,
    }

    pub(super) fn open(path: &Path) -> io::Result<Handle> {
        Ok(rustix::fs::open(path, DIRECTORY, Mode::empty())?)
    }

    pub(super) fn open_below(parent: &Handle, _: &Path, name: &str) -> io::Result<Handle> {
        Ok(openat(parent, name, DIRECTORY.union(OFlags::NOFOLLOW), Mode::empty())?)
    }

    pub(super) fn make(parent: &Handle, _: &Path, name: &Path) -> io::Result<()> {
        Ok(mkdirat(parent, name, DIRECTORY_MODE)?)
    }

    pub(super) fn open_file(parent: &Handle, _: &Path, name: &str, used: OpenMode) -> io::Result<File> {
        let (flags, mode) = match used {
            OpenMode::Read => (OFlags::RDONLY, Mode::empty()),
            OpenMode::Write => (OFlags::WRONLY | OFlags::CREATE, Mode::from_bits_truncate(0o644)),
            // Readable according to the umask, writable for nobody: a blob never changes.
            OpenMode::New => (OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, Mode::from_bits_truncate(0o444)),
        };
        let file = openat(parent, name, FILE | flags, mode)?;
        let stat = fstat(&file)?;
        // A file with a second name may belong to somebody else too, and writing would change it there.
        let alone = used == OpenMode::Read || stat.st_nlink <= 1;
        if !FileType::from_raw_mode(stat.st_mode).is_file() || !alone {
            return Err(Errno::LOOP.into());
        }
        Ok(File::from(file))
    }

    pub(super) fn rename(from: (&Handle, &Path, &str), to: (&Handle, &Path, &str)) -> io::Result<()> {
        Ok(renameat(from.0, from.2, to.0, to.2)?)
    }

    pub(super) fn remove(parent: &Handle, _: &Path, name: &str) -> io::Result<()> {
        Ok(unlinkat(parent, name, AtFlags::empty())?)
    }

    pub(super) fn is_own(parent: &Handle, _: &Path, name: &str) -> bool {
        statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_file() && stat.st_uid == geteuid().as_raw())
    }

    pub(super) fn names(directory: &Handle, _: &Path) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(directory)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if !matches!(name, b"." | b"..") {
                names.push(OsStr::from_bytes(name).to_owned());
            }
        }
        Ok(names)
    }

    pub(super) fn sync(directory: &Handle) -> io::Result<()> {
        Ok(fsync(directory)?)
    }

    /// Returns true if an open failed since the name belongs to something of another kind.
    pub(super) fn is_wrong_kind(error: &io::Error) -> bool {
        // A link; a link or a file in the place of a directory; a directory opened for writing; a socket, or a pipe
        // without a reader.
        [Errno::LOOP, Errno::MLINK, Errno::NOTDIR, Errno::ISDIR, Errno::NXIO]
            .iter()
            .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
    }
}

/// Implementation by paths: these systems cannot open files relative to a directory handle, and only administrators can
/// create links there.
#[cfg(not(unix))]
mod system {
    use std::{
        ffi::OsString,
        fs::{self, File, OpenOptions},
        io,
        path::Path,
    };

    pub(super) type Handle = ();

    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(super) enum OpenMode {
        Read,
        Write,
        New,
    }

    pub(super) fn open(path: &Path) -> io::Result<Handle> {
        if fs::metadata(path)?.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    pub(super) fn open_below((): &Handle, path: &Path, _: &str) -> io::Result<Handle> {
        if fs::symlink_metadata(path)?.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    pub(super) fn make((): &Handle, path: &Path, _: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    pub(super) fn open_file((): &Handle, path: &Path, _: &str, used: OpenMode) -> io::Result<File> {
        if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let mut options = OpenOptions::new();
        match used {
            OpenMode::Read => options.read(true),
            OpenMode::Write => options.create(true).truncate(false).write(true),
            OpenMode::New => options.create_new(true).write(true),
        };
        options.open(path)
    }

    pub(super) fn rename(from: (&Handle, &Path, &str), to: (&Handle, &Path, &str)) -> io::Result<()> {
        fs::rename(from.1, to.1)
    }

    pub(super) fn remove((): &Handle, path: &Path, _: &str) -> io::Result<()> {
        fs::remove_file(path)
    }

    pub(super) fn is_own((): &Handle, path: &Path, _: &str) -> bool {
        fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
    }

    pub(super) fn names((): &Handle, path: &Path) -> io::Result<Vec<OsString>> {
        fs::read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    /// Does nothing: a directory cannot be opened as a file here, so durability is left to the file system.
    pub(super) fn sync((): &Handle) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn is_wrong_kind(error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::NotADirectory
    }
}
