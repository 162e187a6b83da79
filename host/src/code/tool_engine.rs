//! Engine of tools, with quotas for instances that are idle.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use wasmtime::Engine;

use super::{CodeError, start};

/// Engine of tools, and the quotas of its instance slots.
pub(crate) struct ToolEngine {
    pub(crate) engine: Engine,
    fingerprint: String,
    /// Quota of instances that handles keep, over all runs. The other slots are for calls, which need one only while
    /// they last.
    pub(crate) kept: Quota,
    /// Quota of instances that are kept for the next call, over all sessions. It keeps them from taking the slots of
    /// active calls.
    pub(crate) idle: Quota,
}

impl ToolEngine {
    /// Starts the clock of a new engine, which has room for the given number of instances.
    pub(super) fn start(made: wasmtime::Result<(Engine, u32)>) -> Result<Self, CodeError> {
        let mut room = 0;
        let engine = start(made.map(|(engine, instances)| {
            room = usize::try_from(instances).unwrap_or(usize::MAX);
            engine
        }))?;
        let fingerprint = tollhouse_engine::fingerprint(&engine);
        Ok(Self { engine, fingerprint, kept: Quota::of(room / 2), idle: Quota::of(room / 4) })
    }

    /// Returns the name of a component's code in the cache.
    pub(super) fn key(&self, digest: &str) -> String {
        format!("tool-{}-{digest}.cwasm", &self.fingerprint[..16])
    }
}

/// Counting quota, shared by all clones.
#[derive(Clone)]
pub(crate) struct Quota {
    taken: Arc<AtomicUsize>,
    most: usize,
}

/// Unit of a [`Quota`], given back when this is dropped.
pub(crate) struct Permit(Arc<AtomicUsize>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Quota {
    /// Creates a quota of `most` permits.
    pub(crate) fn of(most: usize) -> Self {
        Self { taken: Arc::default(), most }
    }

    /// Returns the number of permits, taken or not.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Takes a permit, if one is free.
    pub(crate) fn take(&self) -> Option<Permit> {
        let more = |taken: usize| (taken < self.most).then_some(taken + 1);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(Permit(Arc::clone(&self.taken)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quota_with_all_permits_taken_refuses_until_one_is_returned() {
        let share = Quota::of(2);
        let (first, second) = (share.take(), share.clone().take());
        assert!(first.is_some() && second.is_some() && share.take().is_none());
        drop(first);
        assert!(share.take().is_some());
    }

    /// Slots remain for calls, however few the engine has.
    #[test]
    fn tool_engine_reserves_slots_for_calls_beside_kept_instances() {
        for room in [100, 2_000] {
            let made = tollhouse_engine::tool().map(|(engine, _)| (engine, room));
            let tools = ToolEngine::start(made).expect("this machine runs the engine");
            assert!(tools.kept.most() + tools.idle.most() < room as usize, "{room}");
        }
    }
}
