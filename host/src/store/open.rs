//! Opening a store on disk.

use std::path::Path;
use std::sync::Arc;

use super::group::Grouped;
use super::place::{Backend, Place};
use super::record::{Store, StoreError};
use super::sled::Sled;

/// Opens the store of a directory, or makes one there.
///
/// # Errors
/// What the system says; [`StoreError::Format`] if another backend keeps it; [`StoreError::Damaged`].
pub fn open(dir: &Path, backend: Backend) -> Result<Arc<dyn Store>, StoreError> {
    Place::make(dir)?;
    Ok(Arc::from(database(dir, backend)?))
}

/// Opens the database of a store, for this process alone.
fn database(dir: &Path, backend: Backend) -> Result<Box<dyn Store>, StoreError> {
    let place = Place::new(dir, backend);
    match backend {
        Backend::Sled => Ok(Box::new(Grouped::<Sled>::open(place)?)),
        #[cfg(feature = "redb")]
        Backend::Redb => Ok(Box::new(Grouped::<super::redb::Redb>::open(place)?)),
        #[cfg(not(feature = "redb"))]
        Backend::Redb => {
            Err(place.refused("this build knows no redb: it was built without the feature `redb`".to_owned()))
        }
    }
}
