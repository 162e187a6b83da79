//! Cache of instances that wait for the next call, for packages whose manifest says `instance = "session"`.
//!
//! Only a cache: instances may be dropped between any two calls, and are when their session's memory is short. It
//! belongs to one session, so no state of a tool reaches another session. An instance that trapped, or that keeps a
//! live resource, is never put here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::PackageFunction;
use super::handles::KeptInstance;
use crate::code::{MemoryAccount, Permit};

/// Number of idle instances of one package. Further concurrent calls make their own.
const IDLE: usize = 4;

/// Idle instance, with its permit of the quota over all sessions.
struct IdleInstance(KeptInstance, #[expect(dead_code, reason = "held until it is dropped")] Permit);

/// Idle instances of a session, by the alias of their package.
#[derive(Default)]
pub struct Warm(Mutex<HashMap<Arc<str>, Vec<IdleInstance>>>);

impl Warm {
    /// Takes an idle instance, if the package allows reuse.
    pub(super) fn take(&self, exported: &PackageFunction, alias: &Arc<str>) -> Option<KeptInstance> {
        if !exported.package.keeps_instances() {
            return None;
        }
        self.lock().get_mut(alias)?.pop().map(|idle| idle.0)
    }

    /// Keeps an instance for the next call, if the package allows it and there is room, also in its session's memory.
    pub(super) fn put(&self, exported: &PackageFunction, alias: &Arc<str>, kept: KeptInstance, memory: &MemoryAccount) {
        if !exported.package.keeps_instances() || kept.store.data().trapped {
            return;
        }
        if memory.is_short() {
            return;
        }
        let Ok(tools) = exported.package.engine() else { return };
        let mut all = self.lock();
        let idle = all.entry(Arc::clone(alias)).or_default();
        if idle.len() < IDLE {
            idle.extend(tools.idle.take().map(|place| IdleInstance(kept, place)));
        }
    }

    /// Drops all idle instances.
    pub(crate) fn clear(&self) {
        let all = std::mem::take(&mut *self.lock());
        // Outside of the lock: dropping instances takes time.
        drop(all);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Vec<IdleInstance>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
