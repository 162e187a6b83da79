//! Handles: live resources of tools, the instances that keep them, and the tokens that name them.
//!
//! A token is 128 bits that nobody outside can predict, so a handle cannot be forged; a replay gives the same tokens. A
//! token names one resource of one instance in one run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wasmtime::Store;
use wasmtime::component::{Instance, ResourceAny};

use super::tool_state::ToolState;
use super::types::Resource;
use crate::code::{Permit, Quota};

/// Most live handles of one run.
pub(super) const MAX_HANDLES: usize = 10_000;

/// Most instances of one run that outlive their calls, so that a run leaves slots to the others.
const MAX_KEPT: usize = 100;

/// Instance that outlives its call because a handle names a resource in it.
pub(super) struct KeptInstance {
    pub(super) store: Store<ToolState>,
    pub(super) instance: Instance,
    /// Permits of an instance that handles keep.
    pub(super) place: Option<KeptPermits>,
}

/// Permits of a kept instance: one of the run's quota, and one of the quota of all runs.
pub(super) struct KeptPermits(#[expect(dead_code, reason = "held until it is dropped")] [Permit; 2]);

/// Kept instance, entered by one call at a time.
pub(super) type SharedInstance = Arc<Mutex<KeptInstance>>;

/// Live resources of a run.
pub struct Handles {
    key: [u8; 32],
    table: Mutex<TokenTable>,
    kept: Quota,
}

#[derive(Default)]
struct TokenTable {
    issued: u64,
    live: HashMap<String, ResourceHandle>,
}

#[derive(Clone)]
pub(super) struct ResourceHandle {
    pub(super) resource: ResourceAny,
    /// Alias of the tool, which separates packages with the same names of types, and two mounts of one package.
    pub(super) alias: Arc<str>,
    pub(super) ty: Resource,
    pub(super) shared: SharedInstance,
}

impl Handles {
    /// Creates an empty table. The tokens follow from the seed.
    #[must_use]
    pub fn new(seed: [u8; 32]) -> Self {
        Self { key: seed, table: Mutex::default(), kept: Quota::of(MAX_KEPT) }
    }

    /// Reserves a slot for one more instance that outlives its call.
    ///
    /// # Errors
    /// A message, if this run or all runs together have as many as they may.
    pub(super) fn place(&self, all: &Quota) -> Result<KeptPermits, String> {
        let own = self.kept.take().ok_or_else(|| format!("a run keeps at most {MAX_KEPT}"))?;
        let of_all = all.take().ok_or_else(|| format!("all runs of this process keep at most {}", all.most()))?;
        Ok(KeptPermits([own, of_all]))
    }

    /// Returns the handle of a token.
    pub(super) fn get(&self, token: &str) -> Option<ResourceHandle> {
        self.lock().live.get(token).cloned()
    }

    /// Removes a token whose resource was given away or dropped.
    pub(super) fn remove(&self, token: &str) {
        self.lock().live.remove(token);
    }

    /// Generates a token before its instance is known, for [`Handles::keep`].
    pub(super) fn token(&self) -> Option<String> {
        let mut table = self.lock();
        if table.live.len() >= MAX_HANDLES {
            return None;
        }
        table.issued += 1;
        let mac = blake3::keyed_hash(&self.key, &table.issued.to_le_bytes());
        Some(format!("handle:{}", &mac.to_hex()[..32]))
    }

    /// Stores a handle under a token from [`Handles::token`].
    pub(super) fn keep(&self, token: String, handle: ResourceHandle) {
        self.lock().live.insert(token, handle);
    }

    fn lock(&self) -> MutexGuard<'_, TokenTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
