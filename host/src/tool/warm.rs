//! Instances that wait for the next call, of packages whose manifest says `instance = "session"`.
//!
//! A cache and nothing else: what is in it may be dropped between any two calls, and is, where its session's memory is short. It belongs to one session, so nothing
//! that a tool remembers reaches another. An instance that trapped, or that keeps a live resource, never comes here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Exported;
use super::handles::Kept;
use crate::code::{MemoryAccount, Permit};

/// How many instances of one package wait. Calls beyond those that run at the same time make their own.
const IDLE: usize = 4;

/// An instance that waits, and its place among those of all sessions.
struct Idle(Kept, #[expect(dead_code, reason = "held until it is dropped")] Permit);

/// The waiting instances of a session, by the alias of their package.
#[derive(Default)]
pub struct Warm(Mutex<HashMap<Arc<str>, Vec<Idle>>>);

impl Warm {
    /// One that waits, if the package allows it.
    pub(super) fn take(&self, exported: &Exported, alias: &Arc<str>) -> Option<Kept> {
        if !exported.package.keeps_instances() {
            return None;
        }
        self.lock().get_mut(alias)?.pop().map(|idle| idle.0)
    }

    /// Keeps an instance for the next call, if the package allows it and there is room, in its session's memory too.
    pub(super) fn put(&self, exported: &Exported, alias: &Arc<str>, kept: Kept, memory: &MemoryAccount) {
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
            idle.extend(tools.idle.take().map(|place| Idle(kept, place)));
        }
    }

    /// Drops all that wait.
    pub(crate) fn clear(&self) {
        let all = std::mem::take(&mut *self.lock());
        // Outside of the lock: taking instances down takes time.
        drop(all);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Vec<Idle>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
