//! redb 4: a single file with a copy-on-write tree, and commits that sync by themselves.
//!
//! - Every commit is durable and in two phases, as redb's documentation recommends where others choose what is written:
//!   then the file never has a root that only a checksum vouches for. Such commits also write what is needed to reopen
//!   quickly after `kill -9`, which is how agent processes often end.
//! - redb verifies the checksums of its pages when it repairs, but not when it reads. So each value is stored with a
//!   hash of its key and itself, and data changed by the disk is not returned.

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use ::redb::{Database, Durability, ReadableDatabase, StorageBackend, TableDefinition};

use super::catch_panic::{catch_panics, close, damaged};
use super::group_commit::{Changes, StorageEngine};
use super::record::{Record, StoreError};
use super::store_dir::sync_parents;

/// The table of all records.
const RECORDS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("records");

/// Size of redb's page cache.
const CACHE_BYTES: usize = 64 << 20;

/// Number of hash bytes stored with a value: enough to detect accidental corruption, the only kind that a disk causes.
const SEAL_BYTES: usize = 8;

/// A redb database.
pub(super) struct RedbEngine {
    path: PathBuf,
    /// `None` only while this is being dropped.
    database: Option<Database>,
}

impl StorageEngine for RedbEngine {
    fn open(path: &Path) -> Result<Self, StoreError> {
        fs::create_dir_all(path)?;
        let file = path.join("records.redb");
        let fresh = !file.exists();
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(file)?;
        // Data that a killed process wrote but did not sync can be read like any other: it must be durable before
        // anyone relies on it.
        file.sync_all()?;
        let backend = ::redb::backends::FileBackend::new(file).map_err(|error| read(path, error.into()))?;
        let opened = Self::with_backend(path, backend)?;
        if fresh {
            sync_parents(&path.join("records.redb"))?;
        }
        Ok(opened)
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.with(|database| {
            let table = database.begin_read()?.open_table(RECORDS)?;
            Ok(table.get(key)?.map(|sealed| sealed.value().to_vec()))
        })?
        .map(|sealed| self.unseal(key, &sealed))
        .transpose()
    }

    fn range(&self, from: Bound<&[u8]>, prefix: &[u8], limit: usize) -> Result<Vec<Record>, StoreError> {
        let sealed = self.with(|database| {
            let table = database.begin_read()?.open_table(RECORDS)?;
            let mut records = Vec::new();
            for record in table.range::<&[u8]>((from, Bound::Unbounded))?.take(limit) {
                let (key, value) = record?;
                if !key.value().starts_with(prefix) {
                    break;
                }
                records.push((key.value().to_vec(), value.value().to_vec()));
            }
            Ok(records)
        })?;
        let unsealed = sealed.into_iter().map(|(key, sealed)| {
            let value = self.unseal(&key, &sealed)?;
            Ok((key, value))
        });
        unsealed.collect()
    }

    fn apply(&self, changes: &Changes) -> Result<(), StoreError> {
        self.with(|database| {
            let mut transaction = database.begin_write()?;
            transaction.set_durability(Durability::Immediate)?;
            transaction.set_two_phase_commit(true);
            transaction.set_quick_repair(true);
            {
                let mut table = transaction.open_table(RECORDS)?;
                for (key, value) in changes {
                    match value {
                        Some(value) => table.insert(key.as_slice(), seal(key, value).as_slice())?,
                        None => table.remove(key.as_slice())?,
                    };
                }
            }
            Ok(transaction.commit()?)
        })
    }
}

impl RedbEngine {
    /// Opens a database on a given storage backend.
    pub(super) fn with_backend(path: &Path, backend: impl StorageBackend) -> Result<Self, StoreError> {
        let database = catch_panics(path, read, || {
            let database = Database::builder().set_cache_size(CACHE_BYTES).create_with_backend(backend)?;
            // Ensures that readers find the table.
            let exists = database.begin_read()?.open_table(RECORDS).is_ok();
            if !exists {
                let transaction = database.begin_write()?;
                transaction.open_table(RECORDS)?;
                transaction.commit()?;
            }
            Ok(database)
        })?;
        Ok(Self { path: path.to_owned(), database: Some(database) })
    }

    fn with<T>(&self, what: impl FnOnce(&Database) -> Result<T, ::redb::Error>) -> Result<T, StoreError> {
        let database = self.database.as_ref().expect("it is taken only when this is dropped");
        catch_panics(&self.path, read, || what(database))
    }

    fn unseal(&self, key: &[u8], sealed: &[u8]) -> Result<Vec<u8>, StoreError> {
        let value = sealed.get(SEAL_BYTES..).unwrap_or_default();
        if seal(key, value) != sealed {
            return Err(damaged(
                &self.path,
                &format!("the checksum of the record `{}` does not match", key.escape_ascii()),
            ));
        }
        Ok(value.to_vec())
    }
}

impl Drop for RedbEngine {
    fn drop(&mut self) {
        close(self.database.take());
    }
}

/// Prefixes a value with the hash of its key and itself.
fn seal(key: &[u8], value: &[u8]) -> Vec<u8> {
    let mut hasher = blake3::Hasher::new();
    let length = u64::try_from(key.len()).unwrap_or(u64::MAX);
    hasher.update(&length.to_be_bytes()).update(key).update(value);
    let mut sealed = hasher.finalize().as_bytes()[..SEAL_BYTES].to_vec();
    sealed.extend_from_slice(value);
    sealed
}

fn read(path: &Path, error: ::redb::Error) -> StoreError {
    match error {
        ::redb::Error::Io(error) if error.kind() == ErrorKind::InvalidData => damaged(path, &error.to_string()),
        ::redb::Error::Io(error) => error.into(),
        ::redb::Error::UpgradeRequired(_) => {
            StoreError::Format { path: path.to_owned(), reason: "it was created by another version of redb".to_owned() }
        }
        error => damaged(path, &error.to_string()),
    }
}
