//! Live resources of tools: the instances that keep them, and the tokens that name them.
//!
//! A token is 128 bits that nobody outside can predict, so a handle cannot be forged; it is the same in a replay. It
//! names a resource of one instance in one run and nothing else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wasmtime::Store;
use wasmtime::component::{Instance, ResourceAny};

use super::state::ToolState;
use super::types::Resource;
use crate::code::{Permit, Quota};

/// The most live handles of one run.
pub(super) const MAX_HANDLES: usize = 10_000;

/// The most instances of one run that outlive their calls: one run must not take the room from the others.
const MAX_KEPT: usize = 100;

/// An instance that outlives its call because a handle names something in it.
pub(super) struct Kept {
    pub(super) store: Store<ToolState>,
    pub(super) instance: Instance,
    /// Of one that handles keep.
    pub(super) place: Option<Place>,
}

/// A place among the run's, and one among those of all runs.
pub(super) struct Place(#[expect(dead_code, reason = "held until it is dropped")] [Permit; 2]);

/// A kept instance, entered by one call at a time.
pub(super) type Shared = Arc<Mutex<Kept>>;

/// The live resources of a run.
pub struct Handles {
    key: [u8; 32],
    table: Mutex<Table>,
    kept: Quota,
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
        Self { key: seed, table: Mutex::default(), kept: Quota::of(MAX_KEPT) }
    }

    /// A place for one more instance that outlives its call.
    ///
    /// # Errors
    /// If this run has as many as it may, or all runs together have: what is told of it.
    pub(super) fn place(&self, all: &Quota) -> Result<Place, String> {
        let own = self.kept.take().ok_or_else(|| format!("a run keeps at most {MAX_KEPT}"))?;
        let of_all = all.take().ok_or_else(|| format!("all runs of this process keep at most {}", all.most()))?;
        Ok(Place([own, of_all]))
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
