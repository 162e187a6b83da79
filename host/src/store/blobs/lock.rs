//! Who may remove blobs, and removing them.

use std::cell::Cell;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
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
    lock: File,
    /// Whether this has removed a blob, and has said so.
    removing: Cell<bool>,
}

impl BlobFiles {
    /// What an upload holds, and how often blobs were removed.
    pub(super) fn lock_shared(&self) -> Result<(File, u64), BlobError> {
        // Who waits to remove holds the turn alone. While this waits, nobody else takes both.
        let (turn, path) = self.lock_file("blobs.turn")?;
        turn.lock_shared().map_err(BlobError::at(&path))?;
        let (lock, path) = self.lock_file("blobs.lock")?;
        lock.lock_shared().map_err(BlobError::at(&path))?;
        let removals = removals(&lock).map_err(BlobError::at(&path))?;
        Ok((lock, removals))
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
                return Ok(Some(Exclusive { files: self, lock, removing: Cell::new(false) }));
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
        options.create(true).truncate(false).read(true).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = tollhouse_registry::untrusted_file::open_regular_with(&path, &options);
        let file = file.map_err(|error| BlobError::at(&path)(error.into()))?;
        Ok((file, path))
    }
}

/// The number in the file of the lock: how often it was held by who removed something. Nobody writes it meanwhile.
fn removals(mut lock: &File) -> io::Result<u64> {
    let mut bytes = Vec::new();
    lock.rewind()?;
    lock.take(8).read_to_end(&mut bytes)?;
    Ok(bytes.try_into().map_or(0, u64::from_be_bytes))
}

impl Exclusive<'_> {
    /// Uploads that begin from now on rely on nothing that was known to be here. It need not be durable: after a power
    /// cut, nobody knows anything.
    fn say_removing(&self) -> Result<(), BlobError> {
        let say = |mut lock: &File| {
            let removals = removals(lock)?.wrapping_add(1);
            lock.rewind()?;
            lock.write_all(&removals.to_be_bytes())
        };
        if !self.removing.replace(true) {
            say(&self.lock).map_err(BlobError::at(&self.files.directory().join("blobs.lock")))?;
        }
        Ok(())
    }

    /// Removes a blob, and says how many bytes it took on disk; none if it was not there.
    ///
    /// The caller knows that nothing names it. That it is gone is not durable: if it comes back, nothing names it then.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn remove(&self, id: &BlobId) -> Result<Option<u64>, BlobError> {
        let Some(bytes) = self.files.stat(id)? else { return Ok(None) };
        self.say_removing()?;
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
        self.say_removing()?;
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
