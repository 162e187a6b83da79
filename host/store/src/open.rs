//! Opens a store on disk.

use std::path::Path;

use super::group_commit::GroupCommitStore;
use super::record::{Store, StoreError};
use super::shared::OpenStore;
use super::sled::SledEngine;
use super::store_dir::{Backend, StoreDirectory};

/// Opens the store in a directory, or creates one there. Several processes may open the same store: the first one holds
/// it and serves the others, and when it exits another one takes over.
///
/// # Errors
/// Errors of the file system; [`StoreError::Format`] if the store was created with another backend;
/// [`StoreError::Damaged`]; [`StoreError::Hangs`] if the process that holds the store does not answer.
pub fn open(dir: &Path, backend: Backend) -> Result<OpenStore, StoreError> {
    StoreDirectory::create(dir)?;
    // The process that holds the store would not check which backend another process asks for.
    StoreDirectory::new(dir, backend).check()?;
    OpenStore::open(dir, Box::new(move |dir| database(dir, backend)))
}

/// Opens the database of a store for exclusive use by this process.
fn database(dir: &Path, backend: Backend) -> Result<Box<dyn Store>, StoreError> {
    let directory = StoreDirectory::new(dir, backend);
    match backend {
        Backend::Sled => Ok(Box::new(GroupCommitStore::<SledEngine>::open(directory)?)),
        #[cfg(feature = "redb")]
        Backend::Redb => Ok(Box::new(GroupCommitStore::<super::redb::RedbEngine>::open(directory)?)),
        #[cfg(not(feature = "redb"))]
        Backend::Redb => Err(directory.without_redb()),
    }
}
