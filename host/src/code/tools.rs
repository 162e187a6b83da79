//! An engine of tools, and how much of its room may wait for something.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use wasmtime::Engine;

use super::{CodeError, start};

/// An engine of tools.
pub(crate) struct ToolEngine {
    pub(crate) engine: Engine,
    fingerprint: String,
    /// Instances that handles keep, of all runs together: the rest is for calls, which need one only while they last.
    pub(crate) kept: Share,
    /// Instances that wait for the next call, of all sessions together: they must not take the room of who has work.
    pub(crate) idle: Share,
}

impl ToolEngine {
    /// Of an engine with room for so many instances.
    pub(super) fn start(made: wasmtime::Result<(Engine, u32)>) -> Result<Self, CodeError> {
        let mut room = 0;
        let engine = start(made.map(|(engine, instances)| {
            room = usize::try_from(instances).unwrap_or(usize::MAX);
            engine
        }))?;
        let fingerprint = tollhouse_engine::fingerprint(&engine);
        Ok(Self { engine, fingerprint, kept: Share::of(room / 2), idle: Share::of(room / 4) })
    }

    /// What the cache calls the code of a component.
    pub(super) fn key(&self, digest: &str) -> String {
        format!("tool-{}-{digest}.cwasm", &self.fingerprint[..16])
    }
}

/// So many places, shared by all its clones.
#[derive(Clone)]
pub(crate) struct Share {
    taken: Arc<AtomicUsize>,
    most: usize,
}

/// A place, free again when this is dropped.
pub(crate) struct Taken(Arc<AtomicUsize>);

impl Drop for Taken {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Share {
    /// So many, all of them free.
    pub(crate) fn of(most: usize) -> Self {
        Self { taken: Arc::default(), most }
    }

    /// How many there are.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Takes one, if any is free.
    pub(crate) fn take(&self) -> Option<Taken> {
        let more = |taken: usize| (taken < self.most).then_some(taken + 1);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(Taken(Arc::clone(&self.taken)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_has_so_many_places_and_takes_them_back() {
        let share = Share::of(2);
        let (first, second) = (share.take(), share.clone().take());
        assert!(first.is_some() && second.is_some() && share.take().is_none());
        drop(first);
        assert!(share.take().is_some());
    }

    /// Whatever waits, calls have room: also where there is little.
    #[test]
    fn what_waits_never_takes_all_room() {
        for room in [100, 2_000] {
            let made = tollhouse_engine::tool().map(|(engine, _)| (engine, room));
            let tools = ToolEngine::start(made).expect("this machine runs the engine");
            assert!(tools.kept.most() + tools.idle.most() < room as usize, "{room}");
        }
    }
}
