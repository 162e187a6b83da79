//! A store in memory, for tests and for embedders that want sessions without a disk.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::record::{Batch, Record, Store, StoreError, first};

/// A record store in memory.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<BTreeMap<Vec<u8>, Vec<u8>>>);

impl MemoryStore {
    /// Locks the records. Batches are applied completely, so a poisoned lock is still valid.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Vec<u8>, Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.lock().get(key).cloned())
    }

    fn scan(&self, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> Result<Vec<Record>, StoreError> {
        let records = self.lock();
        let found = records.range::<[u8], _>((first(prefix, after), Bound::Unbounded));
        let found = found.take_while(|(key, _)| key.starts_with(prefix)).take(limit);
        Ok(found.map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        batch.check()?;
        let mut records = self.lock();
        batch.allowed(|key| Ok(records.get(key).cloned()))?;
        for change in batch.changes {
            match change.value {
                Some(value) => records.insert(change.key, value),
                None => records.remove(&change.key),
            };
        }
        Ok(())
    }
}
