//! Where processes cannot share a store: the first has it, the others are told who.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::Path;

use crate::store::group::Compacted;
use crate::store::record::{Batch, Done, Record, Store, StoreError};

use super::Opener;

/// A store that this process alone has.
pub struct OpenStore {
    store: Box<dyn Store>,
    _lock: File,
}

impl OpenStore {
    /// Opens the store, unless another process has it.
    pub(in crate::store) fn open(dir: &Path, open: Opener) -> Result<Self, StoreError> {
        let (lock, pid) = (dir.join("lock"), dir.join("pid"));
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(lock)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let pid = std::fs::read_to_string(pid).ok().and_then(|pid| pid.trim().parse().ok()).unwrap_or(0);
                return Err(StoreError::InUse { path: dir.to_owned(), pid });
            }
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        // In a file of its own: where locks are mandatory, nobody can read a locked one.
        drop(File::create(pid).and_then(|mut file| writeln!(file, "{}", std::process::id())));
        Ok(Self { store: open(dir)?, _lock: file })
    }

    /// Whether this process holds the store.
    #[must_use]
    pub fn leads(&self) -> bool {
        true
    }
}

impl Store for OpenStore {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.store.get(key)
    }

    fn scan(&self, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> Result<Vec<Record>, StoreError> {
        self.store.scan(prefix, after, limit)
    }

    fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.store.commit(batch)
    }

    fn submit(&self, batch: Batch, done: Done) {
        self.store.submit(batch, done);
    }

    fn compact(&self) -> Result<Compacted, StoreError> {
        self.store.compact()
    }
}
