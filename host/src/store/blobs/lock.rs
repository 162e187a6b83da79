//! Who may remove blobs, and removing them.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::durable::{make_directory, sync_directory};
use super::files::BlobFiles;
use crate::store::{BlobError, BlobId};

/// How long new uploads are held up for one that lasts. A commit takes a hundredth of it.
const TURN: Duration = Duration::from_millis(500);

/// How often the lock is tried meanwhile.
const TRY: Duration = Duration::from_micros(500);

/// The right to remove blobs: no upload is alive, in no process. Hold it briefly: commits wait for it. Ends with this
/// value, or with the process.
#[derive(Debug)]
pub struct Exclusive<'a> {
    files: &'a BlobFiles,
    _lock: File,
}

impl BlobFiles {
    /// What an upload holds.
    pub(super) fn lock_shared(&self) -> Result<File, BlobError> {
        // Who waits to remove holds the turn alone. While this waits, nobody else takes both.
        let (turn, path) = self.lock_file("blobs.turn")?;
        turn.lock_shared().map_err(BlobError::at(&path))?;
        let (lock, path) = self.lock_file("blobs.lock")?;
        lock.lock_shared().map_err(BlobError::at(&path))?;
        Ok(lock)
    }

    /// Waits until no upload is alive, at most `patience`; none if one still is. Uploads that begin meanwhile wait, half a
    /// second at most; then, if one lasts longer, they go first for as long.
    ///
    /// A thread that holds an upload itself waits in vain.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn lock_exclusive(&self, patience: Duration) -> Result<Option<Exclusive<'_>>, BlobError> {
        let end = Instant::now() + patience;
        loop {
            let (turn, path) = self.lock_file("blobs.turn")?;
            turn.lock().map_err(BlobError::at(&path))?;
            if let Some(lock) = self.try_until(end.min(Instant::now() + TURN))? {
                return Ok(Some(Exclusive { files: self, _lock: lock }));
            }
            drop(turn);
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            thread::sleep(left.min(TURN));
        }
    }

    fn try_until(&self, end: Instant) -> Result<Option<File>, BlobError> {
        let (lock, path) = self.lock_file("blobs.lock")?;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(Some(lock)),
                Err(TryLockError::WouldBlock) if Instant::now() >= end => return Ok(None),
                Err(TryLockError::WouldBlock) => thread::sleep(TRY),
                Err(TryLockError::Error(error)) => return Err(BlobError::at(&path)(error)),
            }
        }
    }

    fn lock_file(&self, name: &str) -> Result<(File, PathBuf), BlobError> {
        let path = self.directory().join(name);
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(BlobError::at(&path))?;
        Ok((file, path))
    }
}

impl Exclusive<'_> {
    /// Removes a blob, and says how many bytes it took on disk; none if it was not there.
    ///
    /// The caller knows that nothing names it. That it is gone is not durable: if it comes back, nothing names it then.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn remove(&self, id: &BlobId) -> Result<Option<u64>, BlobError> {
        let Some(bytes) = self.files.stat(id)? else { return Ok(None) };
        let path = self.files.path(id);
        fs::remove_file(&path).map_err(BlobError::at(&path))?;
        self.files.forget(id);
        Ok(Some(bytes))
    }

    /// Moves a blob to `DIR/damaged` if it is damaged, durably, and says where it is then. Its name is free: whoever has
    /// the bytes can put them again.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn set_aside(&self, id: &BlobId) -> Result<Option<PathBuf>, BlobError> {
        match self.files.read(id) {
            Err(BlobError::Damaged(_)) => {}
            Ok(_) | Err(BlobError::Missing(_)) => return Ok(None),
            Err(error) => return Err(error),
        }
        let damaged = self.files.directory().join("damaged");
        make_directory(&damaged)?;
        let (from, to) = (self.files.path(id), damaged.join(id.to_string()));
        fs::rename(&from, &to).map_err(BlobError::at(&from))?;
        sync_directory(&damaged)?;
        sync_directory(from.parent().unwrap_or(Path::new(".")))?;
        self.files.forget(id);
        Ok(Some(to))
    }

    /// Removes what uploads left that were killed, and says how many files and bytes. No upload is alive, so nothing there
    /// is in use.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn clear_leftovers(&self) -> Result<(u64, u64), BlobError> {
        let temporary = self.files.temporary();
        let mut cleared = (0, 0);
        let entries = match fs::read_dir(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(cleared),
            entries => entries.map_err(BlobError::at(&temporary))?,
        };
        for entry in entries {
            let path = entry.map_err(BlobError::at(&temporary))?.path();
            let bytes = fs::symlink_metadata(&path).map_err(BlobError::at(&path))?.len();
            fs::remove_file(&path).map_err(BlobError::at(&path))?;
            cleared = (cleared.0 + 1, cleared.1 + bytes);
        }
        Ok(cleared)
    }
}
