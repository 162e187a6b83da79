//! File that a session in memory is recorded in.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek as _, Write as _};
#[cfg(unix)]
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

#[cfg(unix)]
use rustix::fs::OFlags;

use super::{CallSource, Recorder};
use crate::session::host::HostError;

/// File of a recording, with the recorder of its session. One at a time has the file.
pub struct RecordingFile {
    path: PathBuf,
    file: File,
    recorder: Recorder,
}

impl RecordingFile {
    /// Opens a file that has no content yet, and creates it for its owner alone if it is not there.
    ///
    /// # Errors
    /// Those of [`RecordingFile::open`]; if the file has content ([`io::ErrorKind::AlreadyExists`]).
    pub fn create(path: &Path) -> Result<Self, HostError> {
        let opened = Self::open(path)?;
        if opened.has_content() {
            let source = io::Error::new(io::ErrorKind::AlreadyExists, "it already exists");
            return Err(HostError::RecordingFile { path: path.to_owned(), source });
        }
        Ok(opened)
    }

    /// Opens the file, and creates it for its owner alone if it is not there. Its content stays until
    /// [`RecordingFile::save`].
    ///
    /// # Errors
    /// If the file is a link, or cannot be written, or another recorder has it; if the system provides no random numbers.
    pub fn open(path: &Path) -> Result<Self, HostError> {
        let mut options = OpenOptions::new();
        // An earlier recording is kept until there is another.
        options.write(true).create(true).truncate(false);
        // A pipe that nobody reads is an error, and not a wait without end. A link may lead to any file.
        #[cfg(unix)]
        options.mode(0o600).custom_flags(OFlags::NONBLOCK.union(OFlags::NOFOLLOW).bits().cast_signed());
        let failed = |source| HostError::RecordingFile { path: path.to_owned(), source };
        let file = options.open(path).map_err(|error| failed(unfollowed(error)))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(failed(io::Error::new(io::ErrorKind::ResourceBusy, "another session is recorded in it")));
            }
            // Where files cannot be locked, nobody is told.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        Ok(Self { path: path.to_owned(), file, recorder: Recorder::new()? })
    }

    /// Returns the source of the calls of the session that is recorded.
    #[must_use]
    pub fn call_source(&self) -> CallSource {
        CallSource::Recorded(self.recorder.clone())
    }

    /// Writes what was recorded so far, in place of what the file had. On a full disk, the file keeps what it had.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self) -> Result<(), HostError> {
        self.replace(&self.recorder.recording().to_text())
            .map_err(|source| HostError::RecordingFile { path: self.path.clone(), source })
    }

    /// Returns true if the file has an earlier recording, or anything else.
    #[must_use]
    pub fn has_content(&self) -> bool {
        self.file.metadata().is_ok_and(|file| file.is_file() && file.len() > 0)
    }

    fn replace(&self, text: &str) -> io::Result<()> {
        let mut file = &self.file;
        // What is no regular file, such as a pipe, only takes more.
        if !file.metadata()?.is_file() {
            return file.write_all(text.as_bytes());
        }
        let old = file.metadata()?.len();
        let (head, tail) = text.as_bytes().split_at(text.len().min(usize::try_from(old).unwrap_or(usize::MAX)));
        // A full disk is noticed by what is appended, while the earlier recording can still be restored.
        let appended = file.seek(io::SeekFrom::Start(old)).and_then(|_| file.write_all(tail));
        if let Err(error) = appended.and_then(|()| file.sync_data()) {
            file.set_len(old)?;
            return Err(error);
        }
        file.rewind()?;
        file.write_all(head)?;
        file.set_len(text.len() as u64)
    }
}

/// Says of the error of opening a link that it is one.
fn unfollowed(error: io::Error) -> io::Error {
    #[cfg(unix)]
    if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
        return io::Error::new(error.kind(), "it is a link, which is not followed");
    }
    error
}
