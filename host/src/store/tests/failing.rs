//! A store that fails when it is told to: what stands on a store must bear it.

use std::io;
use std::sync::{Mutex, PoisonError};

use crate::store::record::{Batch, Record, Store, StoreError};

/// How the next calls go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Failure {
    /// They go well.
    #[default]
    None,
    /// The disk is full: commits are refused, and not made.
    Full,
    /// Commits are made, and reported as failed: what a failed sync is like.
    Unknown,
    /// Nothing can be read or written.
    Broken,
}

/// Another store, which fails on demand.
pub(crate) struct FailingStore<S> {
    store: S,
    failure: Mutex<Failure>,
}

impl<S: Store> FailingStore<S> {
    /// A store that does not fail yet.
    pub(crate) fn new(store: S) -> Self {
        Self { store, failure: Mutex::default() }
    }

    /// From now on it fails so.
    pub(crate) fn fail(&self, failure: Failure) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
    }

    fn failure(&self) -> Failure {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn readable(&self) -> Result<&S, StoreError> {
        if self.failure() == Failure::Broken { Err(io::Error::other("told to fail").into()) } else { Ok(&self.store) }
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
            Failure::Full => Err(io::Error::from(io::ErrorKind::StorageFull).into()),
            Failure::Unknown => {
                self.store.commit(batch)?;
                Err(io::Error::other("told to fail").into())
            }
            Failure::None | Failure::Broken => self.readable()?.commit(batch),
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
    store.fail(Failure::Full);
    assert!(matches!(put("2"), Err(StoreError::Full(_))));
    assert_eq!(store.get(b"a").expect("it reads").as_deref(), Some(&b"1"[..]));
    store.fail(Failure::Unknown);
    assert!(matches!(put("3"), Err(StoreError::Io(_))));
    assert_eq!(store.get(b"a").expect("it reads").as_deref(), Some(&b"3"[..]), "it may have been made");
    store.fail(Failure::Broken);
    assert!(store.get(b"a").is_err() && store.scan(b"", None, 1).is_err() && put("4").is_err());
    store.fail(Failure::None);
    put("5").expect("it commits again");
}
