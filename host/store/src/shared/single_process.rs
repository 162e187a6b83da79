//! The store on systems where processes cannot share one: the first process has it, the others get an error that names
//! that process.

use std::fs::File;
use std::path::Path;

use crate::group_commit::Compacted;
use crate::record::{Batch, Done, Record, Store, StoreError};

use super::Opener;
use super::leader_lock::{holder, lock};

/// A store that is open in this process only.
pub struct OpenStore {
    store: Box<dyn Store>,
    _lock: File,
}

impl OpenStore {
    /// Opens the store, unless another process has it.
    pub(crate) fn open(dir: &Path, open: Opener) -> Result<Self, StoreError> {
        let Some(lock) = lock(dir)? else {
            return Err(StoreError::InUse { path: dir.to_owned(), pid: holder(dir) });
        };
        Ok(Self { store: open(dir)?, _lock: lock })
    }

    /// Returns true if this process holds the store.
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
