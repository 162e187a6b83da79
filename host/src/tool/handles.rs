//! Live resources of tools: the instances that keep them, and the tokens that name them.
//!
//! A token is 128 bits that nobody outside can predict, so a handle cannot be forged; it is the same in a replay. It
//! names a resource of one instance in one run and nothing else.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wasmtime::Store;
use wasmtime::component::{Instance, ResourceAny};

use super::state::ToolState;
use super::types::Resource;

/// The most live handles of one run.
pub(super) const MAX_HANDLES: usize = 10_000;

/// The most instances of one run that outlive their calls. All runs of a process share [`tollhouse_engine::MAX_TOOLS`],
/// and one run must not take them from the others.
pub(super) const MAX_KEPT: usize = 100;

/// The same of all runs together: the rest is for calls, which need an instance only while they last.
const MAX_KEPT_OF_ALL: usize = tollhouse_engine::MAX_TOOLS as usize / 2;

/// How many there are, of all runs.
static KEPT: AtomicUsize = AtomicUsize::new(0);

/// An instance that outlives its call because a handle names something in it.
pub(super) struct Kept {
    pub(super) store: Store<ToolState>,
    pub(super) instance: Instance,
    /// Of one that handles keep.
    pub(super) place: Option<Place>,
}

/// One of [`MAX_KEPT`] places, free again when this is dropped.
pub(super) struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
        KEPT.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Counts one more, unless there are as many as may be.
fn count(places: &AtomicUsize, most: usize) -> bool {
    let more = |count: usize| (count < most).then_some(count + 1);
    places.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
}

/// A kept instance, entered by one call at a time.
pub(super) type Shared = Arc<Mutex<Kept>>;

/// The live resources of a run.
pub struct Handles {
    key: [u8; 32],
    table: Mutex<Table>,
    kept: Arc<AtomicUsize>,
}

#[derive(Default)]
struct Table {
    issued: u64,
    live: HashMap<String, Handle>,
}

#[derive(Clone)]
pub(super) struct Handle {
    pub(super) resource: ResourceAny,
    /// Whose, so that two packages with the same names of types stay apart, and two mounts of one package.
    pub(super) alias: Arc<str>,
    pub(super) ty: Resource,
    pub(super) shared: Shared,
}

impl Handles {
    /// No handles yet. The tokens follow from the seed.
    #[must_use]
    pub fn new(seed: [u8; 32]) -> Self {
        Self { key: seed, table: Mutex::default(), kept: Arc::default() }
    }

    /// A place for one more instance that outlives its call, if this run may have one, and any is left.
    pub(super) fn place(&self) -> Option<Place> {
        if !count(&self.kept, MAX_KEPT) {
            return None;
        }
        if !count(&KEPT, MAX_KEPT_OF_ALL) {
            self.kept.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(Place(Arc::clone(&self.kept)))
    }

    /// What a token names.
    pub(super) fn get(&self, token: &str) -> Option<Handle> {
        self.lock().live.get(token).cloned()
    }

    /// Forgets a token: its resource was given away or dropped.
    pub(super) fn remove(&self, token: &str) {
        self.lock().live.remove(token);
    }

    /// Makes tokens without knowing yet which instance they will name: [`Handles::keep`] says.
    pub(super) fn token(&self) -> Option<String> {
        let mut table = self.lock();
        if table.live.len() >= MAX_HANDLES {
            return None;
        }
        table.issued += 1;
        let mac = blake3::keyed_hash(&self.key, &table.issued.to_le_bytes());
        Some(format!("handle:{}", &mac.to_hex()[..32]))
    }

    /// Puts a handle under a token that [`Handles::token`] gave.
    pub(super) fn keep(&self, token: String, handle: Handle) {
        self.lock().live.insert(token, handle);
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
