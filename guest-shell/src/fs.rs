//! bashkit's file system on the world's `files`. Every operation is one or two calls of imports, and nothing is stored
//! here.
//!
//! bashkit wraps this in its own layers, which follow symbolic links, and which add a synthetic `/etc`, `/proc` and
//! `/bin` where the session has no such entry. By the contract of those layers, `stat` does not follow links here.
//!
//! The output of a cancelled program is in the files once the host has processed the cancellation. Each operation waits
//! for that.

use std::io::{Error as IoError, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bashkit::time::{SystemTime, UNIX_EPOCH};
use bashkit::{DirEntry, Error, FileEnd, FileSystem, FileSystemExt, FileType, Metadata, Result, async_trait};

use crate::bindings::files::{self, ErrorCode, Kind, Metadata as Stat, WriteMode};
use crate::devices::{self, Device};
use crate::operations;

/// Number of bytes that one `read` requests. Nearly every file fits into one call.
const READ_CHUNK: u64 = 16 << 20;

/// File system of scripts: the files of the session, and the devices of the shell.
pub(crate) struct SessionFiles;

/// Converts an error of the world to one with the wording of bash. bashkit prints the text after the name of the file.
fn error(code: ErrorCode) -> Error {
    let (kind, text) = match code {
        ErrorCode::Access => (ErrorKind::PermissionDenied, "Permission denied"),
        ErrorCode::Exists => (ErrorKind::AlreadyExists, "File exists"),
        ErrorCode::TooLarge => (ErrorKind::FileTooLarge, "File too large"),
        ErrorCode::Invalid => (ErrorKind::InvalidInput, "Invalid argument"),
        ErrorCode::IsDirectory => (ErrorKind::IsADirectory, "Is a directory"),
        // `ErrorKind::FilesystemLoop` is not stable.
        ErrorCode::TooManyLinks => (ErrorKind::Other, "Too many levels of symbolic links"),
        ErrorCode::NameTooLong => (ErrorKind::InvalidFilename, "File name too long"),
        ErrorCode::NoEntry => (ErrorKind::NotFound, "No such file or directory"),
        ErrorCode::NotDirectory => (ErrorKind::NotADirectory, "Not a directory"),
        ErrorCode::NotEmpty => (ErrorKind::DirectoryNotEmpty, "Directory not empty"),
        ErrorCode::Quota => (ErrorKind::QuotaExceeded, "Disk quota exceeded"),
        ErrorCode::Busy => (ErrorKind::ResourceBusy, "Device or resource busy"),
        ErrorCode::Io => (ErrorKind::Other, "Input/output error"),
    };
    IoError::new(kind, text).into()
}

/// Converts an absolute path of bashkit to a path of the world. Names must be UTF-8.
fn text(path: &Path) -> Result<&str> {
    path.to_str().filter(|path| !bashkit::has_raw_bytes(path)).ok_or_else(|| error(ErrorCode::Invalid))
}

fn file_type(kind: Kind) -> FileType {
    match kind {
        Kind::File => FileType::File,
        Kind::Directory => FileType::Directory,
        Kind::Link => FileType::Symlink,
    }
}

fn metadata(stat: &Stat) -> Metadata {
    let modified = UNIX_EPOCH + Duration::from_nanos(stat.modified);
    Metadata {
        file_type: file_type(stat.kind),
        // The size of a directory is its number of entries here, but users of bash expect bytes.
        size: if stat.kind == Kind::Directory { 4096 } else { stat.size },
        mode: stat.mode,
        modified,
        created: modified,
    }
}

fn look(path: &str) -> Result<Metadata> {
    files::stat(path, false).map(|stat| metadata(&stat)).map_err(error)
}

/// Reads a file from an offset to its end.
fn read_behind(path: &str, offset: u64) -> Result<Vec<u8>> {
    let mut contents = files::read(path, offset, READ_CHUNK).map_err(error)?;
    let mut last = contents.len();
    while u64::try_from(last).is_ok_and(|read| read == READ_CHUNK) {
        let read = u64::try_from(contents.len()).map_err(|_| error(ErrorCode::TooLarge))?;
        let chunk = files::read(path, offset + read, READ_CHUNK).map_err(error)?;
        last = chunk.len();
        contents.extend(chunk);
    }
    Ok(contents)
}

#[async_trait]
impl FileSystemExt for SessionFiles {
    fn backend_kind(&self) -> &'static str {
        "tollhouse"
    }
}

#[async_trait]
impl FileSystem for SessionFiles {
    async fn read_file(&self, path: &Path) -> Result<Vec<u8>> {
        operations::heard().await;
        match Device::at(path) {
            Some(device) => device.read(),
            None => read_behind(text(path)?, 0),
        }
    }

    async fn read_endless(&self, path: &Path, length: usize) -> Result<Option<Vec<u8>>> {
        operations::heard().await;
        Ok(Device::at(path).and_then(|device| device.read_endless(length)))
    }

    async fn read_on(&self, path: &Path, offset: u64) -> Result<FileEnd> {
        operations::heard().await;
        if let Some(device) = Device::at(path) {
            return device.read().map(|bytes| FileEnd { bytes, ..FileEnd::default() });
        }
        let path = text(path)?;
        let found = files::stat(path, false).map_err(error)?;
        let bytes = read_behind(path, offset)?;
        Ok(FileEnd { id: found.id, size: found.size, bytes })
    }

    async fn changed(&self, interval: Duration) -> bool {
        operations::changed(interval).await
    }

    async fn write_file(&self, path: &Path, content: &[u8]) -> Result<()> {
        operations::heard().await;
        operations::note_change();
        if let Some(device) = Device::at(path) {
            return device.write(content);
        }
        files::write(text(path)?, content, WriteMode::Replace).map_err(error)
    }

    async fn append_file(&self, path: &Path, content: &[u8]) -> Result<()> {
        operations::heard().await;
        operations::note_change();
        if let Some(device) = Device::at(path) {
            return device.write(content);
        }
        files::write(text(path)?, content, WriteMode::Append).map_err(error)
    }

    async fn mkdir(&self, path: &Path, recursive: bool) -> Result<()> {
        operations::heard().await;
        if devices::are_in(path) {
            return if recursive { Ok(()) } else { Err(error(ErrorCode::Exists)) };
        }
        files::create_directory(text(path)?, recursive).map_err(error)
    }

    async fn remove(&self, path: &Path, recursive: bool) -> Result<()> {
        operations::heard().await;
        operations::note_change();
        files::remove(text(path)?, recursive).map_err(error)
    }

    async fn stat(&self, path: &Path) -> Result<Metadata> {
        operations::heard().await;
        if Device::at(path).is_some() {
            return Ok(Device::metadata());
        }
        match files::stat(text(path)?, false) {
            Err(ErrorCode::NoEntry) if devices::are_in(path) => Ok(devices::directory_metadata()),
            found => found.map(|stat| metadata(&stat)).map_err(error),
        }
    }

    async fn read_dir(&self, path: &Path) -> Result<Vec<DirEntry>> {
        operations::heard().await;
        let mut listed = devices::listed(path);
        let path = text(path)?;
        let entries = match files::read_directory(path) {
            Err(ErrorCode::NoEntry) if !listed.is_empty() => return Ok(listed),
            entries => entries.map_err(error)?,
        };
        let parent = path.trim_end_matches('/');
        for entry in entries {
            if listed.iter().all(|device| device.name != entry.name) {
                let metadata = look(&format!("{parent}/{}", entry.name))?;
                listed.push(DirEntry { metadata, name: entry.name });
            }
        }
        Ok(listed)
    }

    async fn exists(&self, path: &Path) -> Result<bool> {
        operations::heard().await;
        if Device::at(path).is_some() || devices::are_in(path) {
            return Ok(true);
        }
        match files::stat(text(path)?, false) {
            Ok(_) => Ok(true),
            Err(ErrorCode::NoEntry | ErrorCode::NotDirectory) => Ok(false),
            Err(code) => Err(error(code)),
        }
    }

    async fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        operations::heard().await;
        operations::note_change();
        files::rename(text(from)?, text(to)?).map_err(error)
    }

    async fn copy(&self, from: &Path, to: &Path) -> Result<()> {
        operations::heard().await;
        operations::note_change();
        if Device::at(from).is_some() || Device::at(to).is_some() {
            return self.write_file(to, &self.read_file(from).await?).await;
        }
        files::copy(text(from)?, text(to)?).map_err(error)
    }

    async fn symlink(&self, target: &Path, link: &Path) -> Result<()> {
        operations::heard().await;
        operations::note_change();
        files::create_link(text(target)?, text(link)?).map_err(error)
    }

    async fn read_link(&self, path: &Path) -> Result<PathBuf> {
        operations::heard().await;
        files::read_link(text(path)?).map(PathBuf::from).map_err(error)
    }

    async fn chmod(&self, path: &Path, mode: u32) -> Result<()> {
        operations::heard().await;
        files::set_mode(text(path)?, mode).map_err(error)
    }

    async fn set_modified_time(&self, path: &Path, time: SystemTime) -> Result<()> {
        operations::heard().await;
        if Device::at(path).is_some() {
            return Ok(());
        }
        // A time before 1970 is refused, because the world cannot represent it.
        let since = time.duration_since(UNIX_EPOCH).map_err(|_| error(ErrorCode::Invalid))?;
        let nanos = u64::try_from(since.as_nanos()).map_err(|_| error(ErrorCode::Invalid))?;
        files::set_modified(text(path)?, nanos).map_err(error)
    }
}
