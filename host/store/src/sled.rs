//! sled 0.34, configured so that acknowledged commits survive a power failure, which its `flush` alone does not
//! guarantee.
//!
//! - After `flush`, which waits until the data is written out, `fdatasync` of its file: it makes durable what the disk
//!   and the file system's journal still hold back. Directories are synced when a database is created.
//! - Segments of 8 MiB and values of at most 4 KiB: then no page is so large that sled would store it in a separate
//!   file below `blobs/`, which it never syncs.
//! - One tree, and the flush timer on, since it also runs garbage collection.
//! - Readers see the changes of a batch before it is durable, although its commit is not acknowledged yet. What they
//!   commit based on it becomes durable after it, or not at all.
//! - The index that sled writes beside its log at each opening is renamed into place, but sled mistakes an unfinished
//!   one for the newest: files left by a kill or a full disk are removed before the next opening.
//! - sled panics where other libraries return an error. Here a panic becomes an error: [`StoreError::Damaged`].
//! - sled's threads, and the list of those that wait, belong to the process and not to a database. A child that was forked
//!   after its parent had opened one has the list without the threads, and would follow pointers into their stacks: there
//!   an opening is an error, [`StoreError::Forked`].

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::catch_panic::{catch_panics, close, damaged};
use super::group_commit::{Changes, StorageEngine};
use super::record::{Record, StoreError};
use super::store_dir::{sync_dir, sync_parents};

/// Size of a log segment; see the module. Every opening rewrites the rest of one segment, so larger ones would make
/// opening slower.
const SEGMENT_BYTES: usize = 8 << 20;

/// Interval in milliseconds at which sled flushes by itself, and collects garbage.
const FLUSH_INTERVAL_MS: u64 = 500;

/// Size of sled's page cache: ledgers and run records are small.
const CACHE_BYTES: u64 = 64 << 20;

/// Time limit for the last handle of a closed database to go away: sled frees it when its epochs have passed.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(5);

/// Polling interval for sled's lock.
const RELEASE_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Id of the process that opened the first database, or 0: a forked child inherits it.
static OPENED_BY: AtomicU32 = AtomicU32::new(0);

/// A sled database.
pub(super) struct SledEngine {
    path: PathBuf,
    /// `None` only while this is being dropped.
    db: Option<::sled::Db>,
    /// sled's log file, opened a second time: the kernel reports a write error to every handle.
    file: File,
}

impl StorageEngine for SledEngine {
    fn open(path: &Path) -> Result<Self, StoreError> {
        refuse_after_fork(path, &OPENED_BY, std::process::id())?;
        let fresh = !path.join("db").exists();
        without_indexes(path, |name| name.ends_with(".generating"))?;
        let config = ::sled::Config::new().path(path).segment_size(SEGMENT_BYTES);
        let config = config.flush_every_ms(Some(FLUSH_INTERVAL_MS)).cache_capacity(CACHE_BYTES);
        let db = catch_panics(path, read, || open(path, &config))?;
        let file = OpenOptions::new().read(true).write(true).open(path.join("db"))?;
        // Data that a killed process wrote but did not sync can be read like any other: it must be durable before
        // anyone relies on it.
        file.sync_all()?;
        if fresh {
            File::open(path.join("conf"))?.sync_all()?;
            sync_parents(path)?;
        }
        sync_dir(path)?;
        Ok(Self { path: path.to_owned(), db: Some(db), file })
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.with(|db| Ok(db.get(key)?.map(|value| value.to_vec())))
    }

    fn range(&self, from: Bound<&[u8]>, prefix: &[u8], limit: usize) -> Result<Vec<Record>, StoreError> {
        self.with(|db| {
            let mut records = Vec::new();
            for record in db.range::<&[u8], _>((from, Bound::Unbounded)).take(limit) {
                let (key, value) = record?;
                if !key.starts_with(prefix) {
                    break;
                }
                records.push((key.to_vec(), value.to_vec()));
            }
            Ok(records)
        })
    }

    fn apply(&self, changes: &Changes) -> Result<(), StoreError> {
        self.with(|db| {
            let mut batch = ::sled::Batch::default();
            for (key, value) in changes {
                match value {
                    Some(value) => batch.insert(key.as_slice(), value.as_slice()),
                    None => batch.remove(key.as_slice()),
                }
            }
            db.apply_batch(batch)?;
            db.flush()
        })?;
        Ok(self.file.sync_data()?)
    }
}

impl SledEngine {
    fn with<T>(&self, what: impl FnOnce(&::sled::Db) -> ::sled::Result<T>) -> Result<T, StoreError> {
        let db = self.db.as_ref().expect("it is taken only when this is dropped");
        catch_panics(&self.path, read, || what(db))
    }
}

impl Drop for SledEngine {
    fn drop(&mut self) {
        // sled syncs when its last handle is dropped, and panics if that fails.
        close(self.db.take());
    }
}

/// Notes that this process opens a database, unless the process that it was forked from had opened one.
///
/// # Errors
/// [`StoreError::Forked`].
fn refuse_after_fork(path: &Path, opened_by: &AtomicU32, process: u32) -> Result<(), StoreError> {
    match opened_by.compare_exchange(0, process, Ordering::Relaxed, Ordering::Relaxed) {
        Err(parent) if parent != process => Err(StoreError::Forked { path: path.to_owned(), parent }),
        _ => Ok(()),
    }
}

/// Opens the database once no handle of this process holds it. No other process can have it: the caller holds the
/// store's lock.
fn open(path: &Path, config: &::sled::Config) -> ::sled::Result<::sled::Db> {
    await_release(path)?;
    config.open()
}

/// Waits until nothing holds sled's file lock; an error of the lock is an error of the opening. sled does not signal
/// that it has released the lock, so this polls.
fn await_release(path: &Path) -> io::Result<()> {
    let file = match File::open(path.join("db")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file?,
    };
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            // Released at once: sled takes the lock with a handle of its own.
            Ok(()) => return file.unlock(),
            // sled then reports what is wrong.
            Err(TryLockError::WouldBlock) if begun.elapsed() >= RELEASE_TIMEOUT => return Ok(()),
            Err(TryLockError::WouldBlock) => sleep(RELEASE_POLL_INTERVAL),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Removes the index files beside a database's log whose names `meant` accepts: sled rebuilds them.
pub(super) fn without_indexes(path: &Path, meant: impl Fn(&str) -> bool) -> io::Result<()> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(|name| name.starts_with("snap.") && meant(name)) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn read(path: &Path, error: ::sled::Error) -> StoreError {
    match error {
        ::sled::Error::Io(error) => error.into(),
        ::sled::Error::Unsupported(reason) => StoreError::Format { path: path.to_owned(), reason },
        error => damaged(path, &error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn database_in_a_process_forked_after_the_first_opening_is_refused() {
        let (path, opened_by) = (Path::new("store"), AtomicU32::new(0));
        for _ in 0..2 {
            assert!(refuse_after_fork(path, &opened_by, 7).is_ok());
        }
        let refused = refuse_after_fork(path, &opened_by, 8);
        assert!(matches!(refused, Err(StoreError::Forked { parent: 7, .. })), "{refused:?}");
    }
}
