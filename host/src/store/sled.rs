//! sled 0.34, used so that what it acknowledged survives a power cut: its own `flush` does not see to that.
//!
//! - After `flush`, which waits for the data to be written out, `fdatasync` of its file: what the disk and its journal
//!   still hold back becomes durable. Directories are synced when a database is made.
//! - Segments of 8 MiB and values of at most 4 KiB: then no page is so large that sled would put it in a file of its own
//!   below `blobs/`, which it never syncs.
//! - One tree, and the timer on: it also collects garbage.
//! - What a batch changes is read by others before it is durable, though nobody is told that it was made. What they
//!   commit because of it is durable after it, or not at all.
//! - The index that sled writes beside its log at each opening is put in place by renaming, but sled takes one that is not
//!   finished for the newest: what a kill or a full disk left of it goes before the next opening.
//! - sled panics where others return an error. Here a panic is an error: [`StoreError::Damaged`].

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::group::{Changes, Engine};
use super::guard::{close, damaged, guarded};
use super::place::{sync_dir, sync_parents};
use super::record::{Record, StoreError};

/// See above. Every opening writes one segment's rest anew, so larger ones would make opening slower.
const SEGMENT_BYTES: usize = 8 << 20;

/// How often sled writes out by itself, and collects garbage.
const TIMER: u64 = 500;

/// What sled keeps in memory of what it has read: ledgers and records of runs are small.
const CACHE_BYTES: u64 = 64 << 20;

/// How long the last handle of a database that was just closed may live on: sled frees it when its epochs have passed.
const LETTING_GO: Duration = Duration::from_secs(5);

/// How long to wait between two looks at its lock.
const LOOK: Duration = Duration::from_millis(5);

/// A sled database.
pub(super) struct Sled {
    path: PathBuf,
    /// None only while it is dropped.
    db: Option<::sled::Db>,
    /// sled's own file, opened a second time: what fails to reach the disk is reported to every handle.
    file: File,
}

impl Engine for Sled {
    fn open(path: &Path) -> Result<Self, StoreError> {
        let fresh = !path.join("db").exists();
        without_indexes(path, |name| name.ends_with(".generating"))?;
        let config = ::sled::Config::new().path(path).segment_size(SEGMENT_BYTES);
        let config = config.flush_every_ms(Some(TIMER)).cache_capacity(CACHE_BYTES);
        let db = guarded(path, read, || open(path, &config))?;
        let file = OpenOptions::new().read(true).write(true).open(path.join("db"))?;
        // What a killed process wrote and did not sync is read like all else: nobody may rest on it before it is durable.
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

impl Sled {
    fn with<T>(&self, what: impl FnOnce(&::sled::Db) -> ::sled::Result<T>) -> Result<T, StoreError> {
        let db = self.db.as_ref().expect("it is taken only when this is dropped");
        guarded(&self.path, read, || what(db))
    }
}

impl Drop for Sled {
    fn drop(&mut self) {
        // sled syncs when its last handle goes, and panics if that fails.
        close(self.db.take());
    }
}

/// Opens, once no handle of this process holds the database. That another process has it was ruled out before.
fn open(path: &Path, config: &::sled::Config) -> ::sled::Result<::sled::Db> {
    await_release(path)?;
    config.open()
}

/// Waits until nothing holds the lock that sled takes on its file; an error of the lock is an error of the opening. sled
/// tells nobody when it lets go, so this looks again and again.
fn await_release(path: &Path) -> io::Result<()> {
    let file = match File::open(path.join("db")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file?,
    };
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            // Given back at once: sled takes it by a handle of its own.
            Ok(()) => return file.unlock(),
            // sled then says what is wrong.
            Err(TryLockError::WouldBlock) if begun.elapsed() >= LETTING_GO => return Ok(()),
            Err(TryLockError::WouldBlock) => sleep(LOOK),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Removes those of the indexes beside a database's log that are meant: sled makes them anew.
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
