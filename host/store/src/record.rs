//! Records and the interface of a record store: values under ordered keys, changed in batches.

use std::io;
use std::ops::Bound;
use std::path::PathBuf;
use std::sync::Arc;

use super::group_commit::Compacted;

/// Maximum size of a value; larger values are stored as blobs, and the record refers to the blob. sled never syncs
/// larger values with the sync calls it offers: see `docs/decisions/0015-durability-of-the-store.md`.
pub const MAX_VALUE_BYTES: usize = 4096;

/// Maximum size of a key.
pub const MAX_KEY_BYTES: usize = 2048;

/// Maximum size of a batch: keys, values and expectations. A batch is built in memory and sent over the socket in one
/// piece.
pub const MAX_BATCH_BYTES: usize = 16 << 20;

/// First byte of the store's own keys. A scan without a prefix does not return them, and a batch from outside must not
/// contain them.
pub(super) const OWN_KEY_PREFIX: u8 = 0;

/// Overhead of a batch entry, added to its bytes.
const ENTRY_BYTES: usize = 16;

/// A key and its value.
pub type Record = (Vec<u8>, Vec<u8>);

/// A key-value store of records, shared between threads: what one thread has committed, all see.
pub trait Store: Send + Sync {
    /// Returns the value of a key.
    ///
    /// # Errors
    /// If the value cannot be read.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;

    /// Returns at most `limit` records whose keys begin with `prefix` and sort after `after`, in bytewise order of
    /// their keys. Each record is as some commit left it; two records of a page may come from different commits.
    ///
    /// # Errors
    /// If the records cannot be read.
    fn scan(&self, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> Result<Vec<Record>, StoreError>;

    /// Applies all changes of a batch or none, provided that the owner's epoch is current and all expectations hold.
    /// The changes are durable when it returns. Calls from several threads share a sync.
    ///
    /// # Errors
    /// [`StoreError::Stale`], [`StoreError::Conflict`]. After any other error it is unknown whether the changes were
    /// applied: retrying the same batch is correct if its changes set values and do not depend on the previous ones.
    fn commit(&self, batch: Batch) -> Result<(), StoreError>;

    /// Starts [`Store::commit`] without waiting: `done` receives its result, on a thread that must not be blocked. A
    /// store that can only commit synchronously waits here.
    fn submit(&self, batch: Batch, done: Done) {
        done(self.commit(batch));
    }

    /// Returns true if the store may still open sockets or be reopened, because another process serves it and may exit.
    fn may_open_sockets(&self) -> bool {
        false
    }

    /// Reduces the store to the size of its contents. Commits wait meanwhile. A store that is not on disk has nothing
    /// to do.
    ///
    /// # Errors
    /// Errors of the file system; the store is then unchanged.
    fn compact(&self) -> Result<Compacted, StoreError> {
        Ok(Compacted::default())
    }
}

/// Callback that receives the result of a commit.
pub type Done = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// Lower bound of a scan: after the last key returned, and, without a prefix, after the store's own records.
pub(super) fn first<'k>(prefix: &'k [u8], after: Option<&'k [u8]>) -> Bound<&'k [u8]> {
    let prefix = if prefix.is_empty() { &[OWN_KEY_PREFIX + 1] } else { prefix };
    match after {
        Some(after) if after >= prefix => Bound::Excluded(after),
        _ => Bound::Included(prefix),
    }
}

/// A set of changes that are applied together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// Owner on whose behalf the batch is written; `None` if it belongs to no session.
    pub owner: Option<Owner>,
    /// Conditions that must hold when the batch is applied.
    pub expect: Vec<Expectation>,
    /// Changes to records; if two of them have the same key, the later one counts.
    pub changes: Vec<Change>,
    /// Marks a batch made by the store itself, which may change the store's own records.
    pub(super) own: bool,
}

/// The writer of a batch: the process that raised the epoch in a record to this number. Another process takes over by
/// raising it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Key of the record that holds the epoch, as eight bytes, big-endian. A batch may itself raise the epoch.
    pub key: Vec<u8>,
    /// Epoch that the writer holds.
    pub epoch: u64,
}

/// A condition on the current value of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Key of the record.
    pub key: Vec<u8>,
    /// Expected value; `None` if the record must not exist.
    pub value: Option<Vec<u8>>,
}

/// A change to a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Key of the record.
    pub key: Vec<u8>,
    /// New value; `None` removes the record.
    pub value: Option<Vec<u8>>,
}

impl Batch {
    /// Creates an empty batch on behalf of an owner.
    #[must_use]
    pub fn of(owner: Owner) -> Self {
        Self { owner: Some(owner), ..Self::default() }
    }

    /// Adds a condition: the record must have this value, or must not exist.
    pub fn expect(&mut self, key: impl Into<Vec<u8>>, value: Option<Vec<u8>>) {
        self.expect.push(Expectation { key: key.into(), value });
    }

    /// Adds a put to the batch.
    pub fn put(&mut self, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) {
        self.changes.push(Change { key: key.into(), value: Some(value.into()) });
    }

    /// Adds a delete to the batch.
    pub fn remove(&mut self, key: impl Into<Vec<u8>>) {
        self.changes.push(Change { key: key.into(), value: None });
    }

    /// Rejects a batch that no store accepts: entries too large, reserved keys, too many bytes.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        for change in &self.changes {
            let value = change.value.as_ref().map_or(0, Vec::len);
            if change.key.is_empty() || change.key.len() > MAX_KEY_BYTES || value > MAX_VALUE_BYTES {
                return Err(StoreError::TooLarge { key: change.key.len(), value });
            }
            if change.key.first() == Some(&OWN_KEY_PREFIX) && !self.own {
                return Err(StoreError::Reserved);
            }
        }
        let bytes = self.bytes();
        if bytes > MAX_BATCH_BYTES {
            return Err(StoreError::TooMuch { bytes });
        }
        Ok(())
    }

    /// Size of the batch for [`MAX_BATCH_BYTES`].
    pub(super) fn bytes(&self) -> usize {
        let changes = self.changes.iter().map(|change| (&change.key, &change.value));
        let expected = self.expect.iter().map(|expectation| (&expectation.key, &expectation.value));
        let entry =
            |(key, value): (&Vec<u8>, &Option<Vec<u8>>)| ENTRY_BYTES + key.len() + value.as_ref().map_or(0, Vec::len);
        changes.chain(expected).map(entry).sum()
    }

    /// Checks the owner's epoch and all expectations; `get` reads the current records.
    pub(super) fn allowed(
        &self,
        mut get: impl FnMut(&[u8]) -> Result<Option<Vec<u8>>, StoreError>,
    ) -> Result<(), StoreError> {
        // The store's own conditions come first: they tell whether the batch was applied before, in which case it may
        // itself have changed what the other conditions depend on.
        let is_own = |expectation: &&Expectation| expectation.key.first() == Some(&OWN_KEY_PREFIX);
        for expectation in self.expect.iter().filter(is_own) {
            expectation.holds(&mut get)?;
        }
        if let Some(owner) = &self.owner {
            let found = get(&owner.key)?;
            let epoch = found.as_deref().and_then(|bytes| bytes.try_into().ok()).map(u64::from_be_bytes);
            if epoch != Some(owner.epoch) {
                return Err(StoreError::Stale { held: owner.epoch, found: epoch });
            }
        }
        for expectation in self.expect.iter().filter(|expectation| !is_own(expectation)) {
            expectation.holds(&mut get)?;
        }
        Ok(())
    }
}

impl Expectation {
    fn holds(&self, get: &mut impl FnMut(&[u8]) -> Result<Option<Vec<u8>>, StoreError>) -> Result<(), StoreError> {
        if get(&self.key)? == self.value { Ok(()) } else { Err(StoreError::Conflict { key: self.key.clone() }) }
    }
}

/// An error of a record store. Cheap to clone, since one failure may answer many commits.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process has taken over what the writer owned.
    #[error("another process has taken over (epoch {held} has ended)")]
    Stale {
        /// Epoch that the writer held.
        held: u64,
        /// Current epoch.
        found: Option<u64>,
    },
    /// The value of a record is not the expected one.
    #[error("the record has changed in the meantime")]
    Conflict {
        /// Key of the record.
        key: Vec<u8>,
    },
    /// A record exceeds the size limits of a store.
    #[error("a record with a key of {key} bytes and a value of {value} is too large")]
    TooLarge {
        /// Size of the key in bytes.
        key: usize,
        /// Size of the value in bytes.
        value: usize,
    },
    /// A batch exceeds the size limit.
    #[error("a batch of {bytes} bytes is too large")]
    TooMuch {
        /// Size of the batch in bytes.
        bytes: usize,
    },
    /// The key begins with a zero byte, which is reserved for the store.
    #[error("keys that begin with a zero byte are reserved for the store")]
    Reserved,
    /// Another process has opened the store, and this system cannot share it between processes.
    #[error("the store `{path}` is in use by process {pid}")]
    InUse {
        /// Path of the store.
        path: PathBuf,
        /// Process id of the holder.
        pid: u32,
    },
    /// The process that holds the store does not answer.
    #[error("process {pid}, which holds the store `{path}`, does not answer")]
    Hangs {
        /// Path of the store.
        path: PathBuf,
        /// Process id of the holder.
        pid: u32,
    },
    /// This process was forked from one that had opened a database, whose threads it lacks.
    #[error(
        "the store `{path}` cannot be opened: this process was forked from process {parent}, which had opened a store \
         before; open stores after the fork only, or start processes without a fork, as `spawn` and `forkserver` do"
    )]
    Forked {
        /// Path of the store.
        path: PathBuf,
        /// Process id of the process that opened the first database.
        parent: u32,
    },
    /// The store was created by another version or with another backend.
    #[error("the store `{path}` cannot be opened: {reason}")]
    Format {
        /// Path of the store.
        path: PathBuf,
        /// Reason, in words.
        reason: String,
    },
    /// Other users have write access to the store.
    #[error("the store `{path}` can be written by other users: {why}")]
    Shared {
        /// Path of the directory.
        path: PathBuf,
        /// Description of who can write to it.
        why: String,
    },
    /// The disk is full.
    #[error("no space is left on the device that holds the store")]
    Full(#[source] Arc<io::Error>),
    /// The operating system reported an error.
    #[error("the store cannot be used")]
    Io(#[source] Arc<io::Error>),
    /// The stored data is not what was written.
    #[error("the store is damaged: {0}")]
    Damaged(String),
}

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full(Arc::new(error)),
            _ => Self::Io(Arc::new(error)),
        }
    }
}
