//! A store that fails on demand, to test the code above a store.

use std::io;
use std::sync::{Mutex, PoisonError};

use crate::store::record::{Batch, Record, Store, StoreError};

/// Behavior of the following calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum StoreFailure {
    /// Calls succeed.
    #[default]
    None,
    /// The disk is full: commits are refused, and not applied.
    Full,
    /// Commits are applied and reported as failed, as after a failed sync.
    Unknown,
    /// Nothing can be read or written.
    Broken,
}

/// Wrapper of a store that fails on demand.
pub(crate) struct FailingStore<S> {
    store: S,
    failure: Mutex<StoreFailure>,
}

impl<S: Store> FailingStore<S> {
    /// Wraps a store; calls succeed for now.
    pub(crate) fn new(store: S) -> Self {
        Self { store, failure: Mutex::default() }
    }

    /// Makes the following calls fail in this way.
    pub(crate) fn fail(&self, failure: StoreFailure) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
    }

    fn failure(&self) -> StoreFailure {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn readable(&self) -> Result<&S, StoreError> {
        if self.failure() == StoreFailure::Broken {
            Err(io::Error::other("told to fail").into())
        } else {
            Ok(&self.store)
        }
    }
}

impl<S: Store> Store for FailingStore<S> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.readable()?.get(key)
    }

    fn scan(&self, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> Result<Vec<Record>, StoreError> {
        self.readable()?.scan(prefix, after, limit)
    }

    fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        match self.failure() {
            StoreFailure::Full => Err(io::Error::from(io::ErrorKind::StorageFull).into()),
            StoreFailure::Unknown => {
                self.store.commit(batch)?;
                Err(io::Error::other("told to fail").into())
            }
            StoreFailure::None | StoreFailure::Broken => self.readable()?.commit(batch),
        }
    }
}

#[test]
fn it_fails_when_told_and_works_again() {
    let store = FailingStore::new(crate::store::MemoryStore::default());
    let put = |value: &str| {
        let mut batch = Batch::default();
        batch.put("a", value);
        store.commit(batch)
    };
    put("1").expect("it commits");
    store.fail(StoreFailure::Full);
    assert!(matches!(put("2"), Err(StoreError::Full(_))));
    assert_eq!(store.get(b"a").expect("it reads").as_deref(), Some(&b"1"[..]));
    store.fail(StoreFailure::Unknown);
    assert!(matches!(put("3"), Err(StoreError::Io(_))));
    assert_eq!(store.get(b"a").expect("it reads").as_deref(), Some(&b"3"[..]), "it may have been made");
    store.fail(StoreFailure::Broken);
    assert!(store.get(b"a").is_err() && store.scan(b"", None, 1).is_err() && put("4").is_err());
    store.fail(StoreFailure::None);
    put("5").expect("it commits again");
}
