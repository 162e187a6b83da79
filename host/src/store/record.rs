//! What every store keeps and promises: records under keys, in the order of their keys, changed in batches.

use std::io;
use std::ops::Bound;
use std::path::PathBuf;
use std::sync::Arc;

use super::group::Compacted;

/// The largest value. Of a larger one a store keeps the name of a blob. sled syncs no more than this by the means that it
/// has: see `docs/decisions.md`.
pub const MAX_VALUE_BYTES: usize = 4096;

/// The largest key.
pub const MAX_KEY_BYTES: usize = 2048;

/// The most that one batch may hold, keys and values and what it expects: it is made in memory, and crosses a socket whole.
pub const MAX_BATCH_BYTES: usize = 16 << 20;

/// Keys that begin with this byte are the store's own. No scan of all shows them, and no batch from outside names them.
pub(super) const OWN: u8 = 0;

/// What an entry of a batch weighs besides its bytes.
const ENTRY_BYTES: usize = 16;

/// A key and its value.
pub type Record = (Vec<u8>, Vec<u8>);

/// Keeps records. Shared by threads; what one commits, all see.
pub trait Store: Send + Sync {
    /// The value of a key.
    ///
    /// # Errors
    /// If it cannot be read.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;

    /// Records whose keys begin with `prefix` and come behind `after`, in the order of their keys (bytewise), at most
    /// `limit`. Each record is as some commit left it; two of a page may be as two commits left them.
    ///
    /// # Errors
    /// If they cannot be read.
    fn scan(&self, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> Result<Vec<Record>, StoreError>;

    /// Makes all changes of a batch or none, if the owner still owns and all expectations hold; durable when it returns.
    /// Calls from many threads share a sync.
    ///
    /// # Errors
    /// [`StoreError::Stale`], [`StoreError::Conflict`]; any other leaves it unknown whether the changes were made: to
    /// make the same batch again is right if it says what becomes of each record, not how it changes.
    fn commit(&self, batch: Batch) -> Result<(), StoreError>;

    /// [`Store::commit`] without waiting: `done` gets what it would have returned, on some thread that must not be held
    /// up. A store that cannot but wait, waits here.
    fn submit(&self, batch: Batch, done: Done) {
        done(self.commit(batch));
    }

    /// Returns true if the store may yet open sockets, or be opened anew: another process serves it, and may end.
    fn may_open_sockets(&self) -> bool {
        false
    }

    /// Makes the store as small as what it holds. Commits wait meanwhile. A store without a disk has nothing to do.
    ///
    /// # Errors
    /// What the system says; then all is as it was.
    fn compact(&self) -> Result<Compacted, StoreError> {
        Ok(Compacted::default())
    }
}

/// What is called when a batch is made, or refused.
pub type Done = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// Where a scan begins: behind what it has seen, and behind the store's own records if it is one of all.
pub(super) fn first<'k>(prefix: &'k [u8], after: Option<&'k [u8]>) -> Bound<&'k [u8]> {
    let prefix = if prefix.is_empty() { &[OWN + 1] } else { prefix };
    match after {
        Some(after) if after >= prefix => Bound::Excluded(after),
        _ => Bound::Included(prefix),
    }
}

/// Changes that are made together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// On whose behalf. None: the change belongs to no session.
    pub owner: Option<Owner>,
    /// What must be so.
    pub expect: Vec<Expectation>,
    /// What becomes of which record; of two changes of one key, the later.
    pub changes: Vec<Change>,
    /// Whether the store made it: then it may change the store's own records.
    pub(super) own: bool,
}

/// Who writes: the process that took a record's epoch to this number. When another takes it, the number rises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The record that holds the epoch: eight bytes, big-endian. A batch may itself raise it.
    pub key: Vec<u8>,
    /// The epoch that the owner holds.
    pub epoch: u64,
}

/// A record as it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Which.
    pub key: Vec<u8>,
    /// Its value; none if there must be none.
    pub value: Option<Vec<u8>>,
}

/// A record as it becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Which.
    pub key: Vec<u8>,
    /// Its value; none to remove it.
    pub value: Option<Vec<u8>>,
}

impl Batch {
    /// A batch on behalf of an owner.
    #[must_use]
    pub fn of(owner: Owner) -> Self {
        Self { owner: Some(owner), ..Self::default() }
    }

    /// Adds: this record must be so.
    pub fn expect(&mut self, key: impl Into<Vec<u8>>, value: Option<Vec<u8>>) {
        self.expect.push(Expectation { key: key.into(), value });
    }

    /// Adds: this record becomes so.
    pub fn put(&mut self, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) {
        self.changes.push(Change { key: key.into(), value: Some(value.into()) });
    }

    /// Adds: this record goes.
    pub fn remove(&mut self, key: impl Into<Vec<u8>>) {
        self.changes.push(Change { key: key.into(), value: None });
    }

    /// Refuses what no store takes.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        for change in &self.changes {
            let value = change.value.as_ref().map_or(0, Vec::len);
            if change.key.is_empty() || change.key.len() > MAX_KEY_BYTES || value > MAX_VALUE_BYTES {
                return Err(StoreError::TooLarge { key: change.key.len(), value });
            }
            if change.key.first() == Some(&OWN) && !self.own {
                return Err(StoreError::Reserved);
            }
        }
        let bytes = self.bytes();
        if bytes > MAX_BATCH_BYTES {
            return Err(StoreError::TooMuch { bytes });
        }
        Ok(())
    }

    /// What it weighs.
    pub(super) fn bytes(&self) -> usize {
        let changes = self.changes.iter().map(|change| (&change.key, &change.value));
        let expected = self.expect.iter().map(|expectation| (&expectation.key, &expectation.value));
        let entry =
            |(key, value): (&Vec<u8>, &Option<Vec<u8>>)| ENTRY_BYTES + key.len() + value.as_ref().map_or(0, Vec::len);
        changes.chain(expected).map(entry).sum()
    }

    /// Refuses what its conditions refuse; `get` reads the records as they are.
    pub(super) fn allowed(
        &self,
        mut get: impl FnMut(&[u8]) -> Result<Option<Vec<u8>>, StoreError>,
    ) -> Result<(), StoreError> {
        // The store's own conditions come first: they say whether the batch was made already, and may have changed what
        // it rests on.
        let is_own = |expectation: &&Expectation| expectation.key.first() == Some(&OWN);
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

/// Why a store did not do what it was asked. Cheap to clone: one failure may answer many commits.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process has taken what the writer owned.
    #[error("another process has taken over (epoch {held} is over)")]
    Stale {
        /// The epoch that the writer held.
        held: u64,
        /// The epoch that is.
        found: Option<u64>,
    },
    /// A record is not as expected.
    #[error("the record has changed meanwhile")]
    Conflict {
        /// Which.
        key: Vec<u8>,
    },
    /// A record that no store takes.
    #[error("a record with a key of {key} bytes and a value of {value} is too large")]
    TooLarge {
        /// Bytes of the key.
        key: usize,
        /// Bytes of the value.
        value: usize,
    },
    /// A batch that no store takes.
    #[error("a batch of {bytes} bytes is too large")]
    TooMuch {
        /// Its bytes.
        bytes: usize,
    },
    /// A key that begins with a zero byte.
    #[error("a key that begins with a zero byte is the store's own")]
    Reserved,
    /// Another process has it, and this system has no way to share it.
    #[error("the store `{path}` is in use by process {pid}")]
    InUse {
        /// Where the store is.
        path: PathBuf,
        /// Which process.
        pid: u32,
    },
    /// The process that has the store does not answer.
    #[error("process {pid}, which holds the store `{path}`, does not answer")]
    Hangs {
        /// Where the store is.
        path: PathBuf,
        /// Which process.
        pid: u32,
    },
    /// The store was made by another version, or for another backend.
    #[error("the store `{path}` cannot be opened: {reason}")]
    Format {
        /// Where the store is.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// Other users can write it.
    #[error("the store `{path}` can be written by other users: {why}")]
    Shared {
        /// The directory.
        path: PathBuf,
        /// Who can, in words.
        why: String,
    },
    /// The disk is full.
    #[error("no space is left on the device that holds the store")]
    Full(#[source] Arc<io::Error>),
    /// The system refused.
    #[error("the store cannot be used")]
    Io(#[source] Arc<io::Error>),
    /// What is there is not what was written.
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
