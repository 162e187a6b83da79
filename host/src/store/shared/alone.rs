//! Where processes cannot share a store: the first has it, the others are told who.

use std::fs::File;
use std::path::Path;

use crate::store::group::Compacted;
use crate::store::record::{Batch, Done, Record, Store, StoreError};

use super::Opener;
use super::lock::{holder, lock};

/// A store that this process alone has.
pub struct OpenStore {
    store: Box<dyn Store>,
    _lock: File,
}

impl OpenStore {
    /// Opens the store, unless another process has it.
    pub(in crate::store) fn open(dir: &Path, open: Opener) -> Result<Self, StoreError> {
        let Some(lock) = lock(dir)? else {
            return Err(StoreError::InUse { path: dir.to_owned(), pid: holder(dir) });
        };
        Ok(Self { store: open(dir)?, _lock: lock })
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
