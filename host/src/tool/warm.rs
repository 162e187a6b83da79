//! Instances that wait for the next call, of packages whose manifest says `instance = "session"`.
//!
//! A cache and nothing else: what is in it may be dropped between any two calls. It belongs to one session, so nothing
//! that a tool remembers reaches another. An instance that trapped, or that keeps a live resource, never comes here.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Tool;
use super::handles::Kept;

/// How many instances of one package wait. Calls beyond those that run at the same time make their own.
const IDLE: usize = 4;

/// How many wait in all sessions of the process: who waits for work must not take the room of who has some.
const IDLE_OF_ALL: usize = tollhouse_engine::MAX_TOOLS as usize / 4;

/// How many there are.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// An instance that waits, and is counted until this is dropped.
struct Idle(Option<Kept>);

impl Idle {
    /// Of as many as there may be.
    fn new(kept: Kept) -> Option<Self> {
        let more = |count: usize| (count < IDLE_OF_ALL).then_some(count + 1);
        WAITING.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(Self(Some(kept)))
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The waiting instances of a session, by the alias of their package.
#[derive(Default)]
pub struct Warm(Mutex<HashMap<Arc<str>, Vec<Idle>>>);

impl Warm {
    /// One that waits, if the package allows it.
    pub(super) fn take(&self, tool: &Tool) -> Option<Kept> {
        if !tool.package.keeps_instances() {
            return None;
        }
        self.lock().get_mut(&tool.alias)?.pop()?.0.take()
    }

    /// Keeps an instance for the next call, if the package allows it and there is room.
    pub(super) fn put(&self, tool: &Tool, kept: Kept) {
        if !tool.package.keeps_instances() || kept.store.data().trapped {
            return;
        }
        let mut all = self.lock();
        let idle = all.entry(Arc::clone(&tool.alias)).or_default();
        if idle.len() < IDLE {
            idle.extend(Idle::new(kept));
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Vec<Idle>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
