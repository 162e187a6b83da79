//! References from parts of a tree to the store: where they were read from, and where they are stored.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use super::errno::Errno;
use tollhouse_store::{BlobError, BlobId, BlobSource};

/// The source that unloaded parts are read from.
#[derive(Debug)]
pub(super) struct BlobOrigin {
    source: Arc<dyn BlobSource>,
}

impl BlobOrigin {
    pub(super) fn new(source: Arc<dyn BlobSource>) -> Arc<BlobOrigin> {
        Arc::new(BlobOrigin { source })
    }

    pub(super) fn get(&self, id: &BlobId) -> Result<Bytes, BlobError> {
        self.source.get(id)
    }

    /// Place of the source, see [`BlobSource::place`].
    pub(super) fn place(&self) -> u64 {
        self.source.place()
    }
}

impl From<BlobError> for Errno {
    /// Guests are not told more; the host's log has the details.
    fn from(_: BlobError) -> Self {
        Errno::Io
    }
}

/// Id of the place that last stored a part, with everything that it refers to; 0 if there is none. See
/// [`BlobSink::place`](tollhouse_store::BlobSink).
#[derive(Debug, Default)]
pub(super) struct StorePlace(AtomicU64);

impl StorePlace {
    pub(super) fn new(place: u64) -> StorePlace {
        StorePlace(AtomicU64::new(place))
    }

    pub(super) fn is(&self, place: u64) -> bool {
        place != 0 && self.0.load(Ordering::Acquire) == place
    }

    pub(super) fn set(&self, place: u64) {
        self.0.store(place, Ordering::Release);
    }
}

impl Clone for StorePlace {
    fn clone(&self) -> StorePlace {
        StorePlace::new(self.0.load(Ordering::Acquire))
    }
}

/// The blob of a part, once it is known, and the place where it is stored. Changing the part replaces the seal.
#[derive(Clone, Default)]
pub(super) struct BlobSeal {
    // Cloned before the id, so that a seal with a place has an id.
    place: StorePlace,
    id: OnceLock<BlobId>,
}

impl BlobSeal {
    pub(super) fn new(id: BlobId, place: u64) -> BlobSeal {
        BlobSeal { place: StorePlace::new(place), id: OnceLock::from(id) }
    }

    /// Name of the part's blob, wherever it is stored.
    pub(super) fn id(&self) -> Option<BlobId> {
        self.id.get().copied()
    }

    /// Name of the part's blob, if it is stored at this place.
    pub(super) fn at(&self, place: u64) -> Option<BlobId> {
        if self.place.is(place) { self.id() } else { None }
    }

    /// Records that the part was stored there. Its name does not depend on the place.
    pub(super) fn set(&self, id: BlobId, place: u64) {
        self.id.get_or_init(|| id);
        self.place.set(place);
    }
}

impl fmt::Debug for BlobSeal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BlobSeal({:?})", self.id())
    }
}
