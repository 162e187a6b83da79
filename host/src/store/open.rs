//! Opening a store on disk.

use std::path::Path;

use super::group::Grouped;
use super::place::{Backend, Place};
use super::record::{Store, StoreError};
use super::shared::OpenStore;
use super::sled::Sled;

/// Opens the store of a directory, or makes one there. Many processes may: the first holds it and serves the others, and
/// when it ends another takes its place.
///
/// # Errors
/// What the system says; [`StoreError::Format`] if another backend keeps it; [`StoreError::Damaged`];
/// [`StoreError::Hangs`] if the process that holds it does not answer.
pub fn open(dir: &Path, backend: Backend) -> Result<OpenStore, StoreError> {
    Place::make(dir)?;
    // Who holds the store would not ask with which backend another comes.
    Place::new(dir, backend).check()?;
    OpenStore::open(dir, Box::new(move |dir| database(dir, backend)))
}

/// Opens the database of a store, for this process alone.
fn database(dir: &Path, backend: Backend) -> Result<Box<dyn Store>, StoreError> {
    let place = Place::new(dir, backend);
    match backend {
        Backend::Sled => Ok(Box::new(Grouped::<Sled>::open(place)?)),
        #[cfg(feature = "redb")]
        Backend::Redb => Ok(Box::new(Grouped::<super::redb::Redb>::open(place)?)),
        #[cfg(not(feature = "redb"))]
        Backend::Redb => Err(place.without_redb()),
    }
}
