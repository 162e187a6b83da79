//! What the parts of a tree remember of the store: where they came from, and where they are.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use super::errno::Errno;
use crate::store::{BlobError, BlobId, BlobSource};

/// Where a part that is not loaded is read.
#[derive(Debug)]
pub(super) struct Origin {
    source: Arc<dyn BlobSource>,
}

impl Origin {
    pub(super) fn new(source: Arc<dyn BlobSource>) -> Arc<Origin> {
        Arc::new(Origin { source })
    }

    pub(super) fn get(&self, id: &BlobId) -> Result<Bytes, BlobError> {
        self.source.get(id)
    }

    /// As [`BlobSource::place`].
    pub(super) fn place(&self) -> u64 {
        self.source.place()
    }
}

impl From<BlobError> for Errno {
    /// A guest is not told more: the host's log is.
    fn from(_: BlobError) -> Self {
        Errno::Io
    }
}

/// The place that last had a part, with all that it names: 0 is none. See [`BlobSink::place`](crate::store::BlobSink).
#[derive(Debug, Default)]
pub(super) struct Place(AtomicU64);

impl Place {
    pub(super) fn new(place: u64) -> Place {
        Place(AtomicU64::new(place))
    }

    pub(super) fn is(&self, place: u64) -> bool {
        place != 0 && self.0.load(Ordering::Acquire) == place
    }

    pub(super) fn set(&self, place: u64) {
        self.0.store(place, Ordering::Release);
    }
}

impl Clone for Place {
    fn clone(&self) -> Place {
        Place::new(self.0.load(Ordering::Acquire))
    }
}

/// Which blob a part is, once that is known, and where it is. Changing the part means a new seal.
#[derive(Clone, Default)]
pub(super) struct Seal {
    // Cloned before the id: a seal that has a place has an id.
    place: Place,
    id: OnceLock<BlobId>,
}

impl Seal {
    pub(super) fn new(id: BlobId, place: u64) -> Seal {
        Seal { place: Place::new(place), id: OnceLock::from(id) }
    }

    /// The part's blob, wherever it is.
    pub(super) fn id(&self) -> Option<BlobId> {
        self.id.get().copied()
    }

    /// The part's blob, if it is at this place.
    pub(super) fn at(&self, place: u64) -> Option<BlobId> {
        if self.place.is(place) { self.id() } else { None }
    }

    /// The part has been put there. What it is does not depend on where it is put.
    pub(super) fn set(&self, id: BlobId, place: u64) {
        self.id.get_or_init(|| id);
        self.place.set(place);
    }
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Seal({:?})", self.id())
    }
}
