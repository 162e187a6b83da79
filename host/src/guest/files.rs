//! Session files as a guest sees them: `files` of `wit/guest.wit`, on the tree of its run.

use super::bindings::files::{Entry, ErrorCode, Host, Kind, Metadata, WriteMode};
use super::guest_state::GuestState;
use crate::vfs::{self, Errno};

/// Error of a read of more bytes than the guest may have memory for.
#[derive(Debug, thiserror::Error)]
#[error("the guest has no memory for the bytes that it reads")]
pub(super) struct NoMemoryForRead;

impl Host for GuestState {
    fn stat(&mut self, path: String, follow: bool) -> Result<Metadata, ErrorCode> {
        let stat = self.files.stat(&path, follow)?;
        Ok(Metadata { kind: stat.kind.into(), size: stat.size, mode: stat.mode, modified: stat.modified, id: stat.id })
    }

    fn read(&mut self, path: String, offset: u64, length: u64) -> wasmtime::Result<Result<Vec<u8>, ErrorCode>> {
        let content = match self.files.content(&path) {
            Ok(content) => content,
            Err(errno) => return Ok(Err(errno.into())),
        };
        // The host holds the bytes until the guest has them: a file may have more of them than both may have memory.
        if !self.memory.can_take(content.len().saturating_sub(offset).min(length)) {
            return Err(NoMemoryForRead.into());
        }
        Ok(content.read(offset, length).map_err(ErrorCode::from))
    }

    fn write(&mut self, path: String, contents: Vec<u8>, mode: WriteMode) -> Result<(), ErrorCode> {
        let mode = match mode {
            WriteMode::Replace => vfs::WriteMode::Replace,
            WriteMode::Append => vfs::WriteMode::Append,
            WriteMode::Create => vfs::WriteMode::Create,
        };
        Ok(self.files.write(&path, &contents, mode, self.now)?)
    }

    fn truncate(&mut self, path: String, size: u64) -> Result<(), ErrorCode> {
        Ok(self.files.truncate(&path, size, self.now)?)
    }

    fn read_directory(&mut self, path: String) -> Result<Vec<Entry>, ErrorCode> {
        let entries = self.files.read_directory(&path)?;
        Ok(entries.into_iter().map(|entry| Entry { name: entry.name, kind: entry.kind.into() }).collect())
    }

    fn create_directory(&mut self, path: String, parents: bool) -> Result<(), ErrorCode> {
        Ok(self.files.create_directory(&path, parents, self.now)?)
    }

    fn remove(&mut self, path: String, all: bool) -> Result<(), ErrorCode> {
        Ok(self.files.remove(&path, all, self.now)?)
    }

    fn rename(&mut self, from: String, to: String) -> Result<(), ErrorCode> {
        Ok(self.files.rename(&from, &to, self.now)?)
    }

    fn copy(&mut self, from: String, to: String) -> Result<(), ErrorCode> {
        Ok(self.files.copy(&from, &to, self.now)?)
    }

    fn create_link(&mut self, target: String, path: String) -> Result<(), ErrorCode> {
        Ok(self.files.create_link(&target, &path, self.now)?)
    }

    fn read_link(&mut self, path: String) -> Result<String, ErrorCode> {
        Ok(self.files.read_link(&path)?)
    }

    fn set_mode(&mut self, path: String, mode: u32) -> Result<(), ErrorCode> {
        Ok(self.files.set_mode(&path, mode)?)
    }

    fn set_modified(&mut self, path: String, modified: u64) -> Result<(), ErrorCode> {
        Ok(self.files.set_modified(&path, modified)?)
    }
}

impl From<vfs::Kind> for Kind {
    fn from(kind: vfs::Kind) -> Self {
        match kind {
            vfs::Kind::File => Self::File,
            vfs::Kind::Directory => Self::Directory,
            vfs::Kind::Link => Self::Link,
        }
    }
}

impl From<Errno> for ErrorCode {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::Access => Self::Access,
            Errno::Exists => Self::Exists,
            Errno::TooLarge => Self::TooLarge,
            Errno::Invalid => Self::Invalid,
            Errno::IsDirectory => Self::IsDirectory,
            Errno::TooManyLinks => Self::TooManyLinks,
            Errno::NameTooLong => Self::NameTooLong,
            Errno::NoEntry => Self::NoEntry,
            Errno::NotDirectory => Self::NotDirectory,
            Errno::NotEmpty => Self::NotEmpty,
            Errno::Quota => Self::Quota,
            Errno::Busy => Self::Busy,
            Errno::Io => Self::Io,
        }
    }
}
