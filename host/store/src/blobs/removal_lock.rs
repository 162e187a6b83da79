//! The lock for removing blobs, and their removal.

use std::cell::Cell;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::durable::{IfExists, make_directory, sync_directory, write_file};
use super::files::BlobFiles;
use super::pack::{Pack, PackBuilder};
use crate::{BlobError, BlobId};

/// How long new uploads are held up for one that is alive. A commit takes a hundredth of this.
const MAX_UPLOAD_DELAY: Duration = Duration::from_millis(500);

/// Polling interval of the lock.
const POLL_INTERVAL: Duration = Duration::from_micros(500);

/// The exclusive right to remove blobs: while it is held, no upload is alive in any process. Hold it briefly, since
/// commits wait for it. Ends when this value is dropped or the process ends.
#[derive(Debug)]
pub struct Exclusive<'a> {
    files: &'a BlobFiles,
    lock: File,
    /// Set once this has removed a blob and has incremented the counter of removals.
    removing: Cell<bool>,
}

impl BlobFiles {
    /// Takes the lock of an upload, and returns it with the number of past removals.
    pub(super) fn lock_shared(&self) -> Result<(File, u64), BlobError> {
        // A process that waits to remove blobs holds `blobs.turn` exclusively, so this waits for it. A new remover
        // cannot get both locks while this one waits.
        let (turn, path) = self.lock_file("blobs.turn")?;
        turn.lock_shared().map_err(BlobError::at(&path))?;
        let (lock, path) = self.lock_file("blobs.lock")?;
        lock.lock_shared().map_err(BlobError::at(&path))?;
        let removals = removals(&lock).map_err(BlobError::at(&path))?;
        Ok((lock, removals))
    }

    /// Waits for at most `patience` until no upload is alive; returns `None` if one still is. New uploads wait
    /// meanwhile, for half a second at most; if an existing upload lasts longer, they go first for the same time.
    ///
    /// Deadlocks until the timeout if the same thread holds an upload.
    ///
    /// # Errors
    /// If the operating system reports an error.
    pub fn lock_exclusive(&self, patience: Duration) -> Result<Option<Exclusive<'_>>, BlobError> {
        let end = Instant::now() + patience;
        loop {
            let (turn, path) = self.lock_file("blobs.turn")?;
            turn.lock().map_err(BlobError::at(&path))?;
            if let Some(lock) = self.try_until(end.min(Instant::now() + MAX_UPLOAD_DELAY))? {
                return Ok(Some(Exclusive { files: self, lock, removing: Cell::new(false) }));
            }
            drop(turn);
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            thread::sleep(left.min(MAX_UPLOAD_DELAY));
        }
    }

    fn try_until(&self, end: Instant) -> Result<Option<File>, BlobError> {
        let (lock, path) = self.lock_file("blobs.lock")?;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(Some(lock)),
                Err(TryLockError::WouldBlock) if Instant::now() >= end => return Ok(None),
                Err(TryLockError::WouldBlock) => thread::sleep(POLL_INTERVAL),
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
        let file = tollhouse_types::untrusted_file::open_regular_with(&path, &options);
        let file = file.map_err(|error| BlobError::at(&path)(error.into()))?;
        Ok((file, path))
    }
}

/// Reads the counter in the lock file: how many holders of the exclusive lock have removed something. Nobody writes it
/// while the caller holds the lock.
fn removals(mut lock: &File) -> io::Result<u64> {
    let mut bytes = Vec::new();
    lock.rewind()?;
    lock.take(8).read_to_end(&mut bytes)?;
    Ok(bytes.try_into().map_or(0, u64::from_be_bytes))
}

impl Exclusive<'_> {
    /// Increments the counter of removals, so that uploads that begin from now on do not rely on blobs known to exist
    /// before. The counter need not be durable: after a power failure, no process remembers anything.
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

    /// Removes a blob, and returns its size on disk; `None` if it did not exist.
    ///
    /// The caller ensures that nothing refers to the blob. The removal is not durable: if the blob reappears, nothing
    /// refers to it.
    ///
    /// # Errors
    /// If the operating system reports an error.
    pub fn remove(&self, id: &BlobId) -> Result<Option<u64>, BlobError> {
        let mut removed = self.remove_file(id)?;
        for (pack, entry) in self.files.find_packs()?.find(id) {
            self.rewrite(pack, |kept| kept != id)?;
            removed = removed.or(Some(entry.length.into()));
        }
        Ok(removed)
    }

    /// Removes a blob that has a file of its own: see [`Exclusive::remove`].
    pub(super) fn remove_file(&self, id: &BlobId) -> Result<Option<u64>, BlobError> {
        let Some(bytes) = self.files.stat_file(id)? else { return Ok(None) };
        self.say_removing()?;
        let path = self.files.path(id);
        fs::remove_file(&path).map_err(BlobError::at(&path))?;
        self.files.forget(id);
        Ok(Some(bytes))
    }

    /// Replaces a pack by one with those of its blobs that are to be kept, or removes it if there are none. The new pack
    /// is durable before the old one is removed. Returns false if the pack does not exist any more.
    pub(super) fn rewrite(&self, pack: &Pack, keep: impl Fn(&BlobId) -> bool) -> Result<bool, BlobError> {
        let dropped: Vec<&BlobId> = pack.entries().iter().map(|entry| &entry.id).filter(|id| !keep(id)).collect();
        let file = match pack.file() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            file => file.map_err(BlobError::at(&pack.path))?,
        };
        if dropped.is_empty() {
            return Ok(true);
        }
        let mut kept = PackBuilder::default();
        for entry in pack.entries().iter().filter(|entry| keep(&entry.id)) {
            // As they are, even if they are damaged.
            kept.add(entry.id, &[&entry.read(&file).map_err(BlobError::at(&pack.path))?]);
        }
        self.say_removing()?;
        if !kept.is_empty() {
            let (new, bytes) = kept.finish(&self.files.packs_directory());
            write_file(&self.files.temporary(), &new.path, &bytes, IfExists::Replace)?;
        }
        fs::remove_file(&pack.path).map_err(BlobError::at(&pack.path))?;
        self.files.forget_packs();
        dropped.into_iter().for_each(|id| self.files.forget(id));
        Ok(true)
    }

    /// Moves a damaged blob to `DIR/damaged`, durably, and returns its new path; `None` if the blob is not damaged. Its
    /// name is free afterwards: a caller that has the bytes can put them again.
    ///
    /// If the name is that of a pack whose index is damaged, the pack is moved.
    ///
    /// # Errors
    /// If the operating system reports an error.
    pub fn set_aside(&self, id: &BlobId) -> Result<Option<PathBuf>, BlobError> {
        match self.files.read(id) {
            Err(BlobError::Damaged(_)) => {}
            Ok(_) | Err(BlobError::Missing(_)) => return Ok(None),
            Err(error) => return Err(error),
        }
        let packs = self.files.find_packs()?;
        let aside = self.files.directory().join("damaged").join(id.to_string());
        if packs.damaged().contains(id) {
            self.move_aside(&self.files.packs_directory().join(id.to_string()), &aside)?;
        } else if self.files.stat_file(id)?.is_some() {
            self.move_aside(&self.files.path(id), &aside)?;
        } else if packs.find(id).next().is_none() {
            // It is missing, unless it is in a pack whose index is damaged.
            return Ok(None);
        }
        for (pack, entry) in packs.find(id) {
            let bytes = pack.read(entry).map_err(BlobError::at(&pack.path))?;
            make_directory(&self.files.directory().join("damaged"))?;
            write_file(&self.files.temporary(), &aside, &bytes, IfExists::Replace)?;
            self.rewrite(pack, |kept| kept != id)?;
        }
        self.files.forget(id);
        Ok(Some(aside))
    }

    /// Moves a file of blobs to another directory, durably.
    fn move_aside(&self, from: &Path, to: &Path) -> Result<(), BlobError> {
        let parent = |path: &Path| path.parent().unwrap_or(Path::new(".")).to_owned();
        make_directory(&parent(to))?;
        self.say_removing()?;
        fs::rename(from, to).map_err(BlobError::at(from))?;
        sync_directory(&parent(to))?;
        sync_directory(&parent(from))?;
        self.files.forget_packs();
        Ok(())
    }

    /// Removes the temporary files of killed uploads, and returns their number and total size. No upload is alive, so
    /// none of the files is in use. Entries with other names than this program gives are not its own, and stay.
    ///
    /// # Errors
    /// If the operating system reports an error.
    pub fn clear_leftovers(&self) -> Result<(u64, u64), BlobError> {
        let temporary = self.files.temporary();
        let mut cleared = (0, 0);
        let entries = match fs::read_dir(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(cleared),
            entries => entries.map_err(BlobError::at(&temporary))?,
        };
        for entry in entries {
            let entry = entry.map_err(BlobError::at(&temporary))?;
            if !entry.file_name().to_str().is_some_and(is_temporary_name) {
                continue;
            }
            let path = entry.path();
            let bytes = fs::symlink_metadata(&path).map_err(BlobError::at(&path))?.len();
            fs::remove_file(&path).map_err(BlobError::at(&path))?;
            cleared = (cleared.0 + 1, cleared.1 + bytes);
        }
        Ok(cleared)
    }
}

/// Returns true if a name is one that an upload ([`super::upload`]) or [`write_file`] gives a temporary file.
fn is_temporary_name(name: &str) -> bool {
    let is_upload = |(prefix, number): (&str, &str)| {
        prefix.len() == 16
            && prefix.bytes().all(|byte| byte.is_ascii_hexdigit())
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    // The names of the library `tempfile`.
    let is_written = |random: &str| random.len() == 6 && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
    name.split_once('-').is_some_and(is_upload) || name.strip_prefix(".tmp").is_some_and(is_written)
}
