//! Heaps of runs that are suspended: taken when the run is suspended, and given back when it is resumed.

use std::collections::BTreeSet;
use std::sync::Arc;

use tracing::debug;

use super::Run;
use super::journaling::RunJournal;
use super::outstanding::{OperationKind, OutstandingOperation};
use crate::gate::{Admission, EarlierCalls, NotAdmitted, RequestedCall};
use crate::guest::{self, Guest, GuestWorld, Language, OperationId, RestoredInstance};
use crate::session::guest_process::{MAIN, owner};
use crate::session::heap::{Heap, HeapConditions, HeapScope, HeapState, WaitingCall};
use crate::session::inline_runner::nanos_per_fuel;
use crate::session::options::{CallListing, HeapUse};
use crate::session::persistence::RunHeapPosition;
use crate::session::session_state::SessionState;
use crate::vfs::Tree;

/// Least number of entries into guests after which a heap is kept: with fewer, a replay takes less time than writing the
/// heap (`docs/decisions/0062-suspended-heaps.md`).
const MIN_ENTRIES: u64 = 200;

/// Least time that the guests have computed, in nanoseconds of [`nanos_per_fuel`], after which a heap is kept however few
/// entries there are.
const MIN_COMPUTING: u64 = 50_000_000;

/// Most bytes by which a run may have enlarged its session's files: they are written to the store with its heap.
const MAX_NEW_FILES: u64 = 64 << 20;

/// Heap of a run that is suspended, with the files that the run has.
pub(in crate::session) struct TakenHeap {
    pub(in crate::session) heap: Heap,
    pub(in crate::session) files: Tree,
    /// Number of entries into guests.
    pub(in crate::session) entries: u64,
    /// Time that was given to the guest that entered last.
    pub(in crate::session) now: u64,
    /// Calls that had ended.
    pub(in crate::session) calls: EarlierCalls,
}

/// Heap of a run that is resumed, whose memory is in an instance already.
pub(in crate::session) struct RestoredHeap {
    instance: RestoredInstance,
    pub(super) state: HeapState,
    pub(super) files: Tree,
}

impl RestoredHeap {
    /// Puts the memory of a heap into an instance; `None` if that fails, and the run is to be replayed.
    pub(in crate::session) fn new(session: &SessionState, language: Language, heap: Heap, files: Tree) -> Option<Self> {
        let Heap { state, memory, .. } = heap;
        match session.guests().restore(language, &memory) {
            Ok(instance) => Some(Self { instance, state, files }),
            Err(error) => {
                debug!(target: "tollhouse::run", %error, "the heap of the run cannot be used");
                None
            }
        }
    }

    /// Returns what the run's records depend on: the heap stands for so many of the entries that were read of the journal.
    pub(in crate::session) fn position<'h>(
        &'h self,
        scope: &'h HeapScope,
        entries: usize,
        listing: CallListing,
    ) -> RunHeapPosition<'h> {
        let log = match (scope, listing) {
            (HeapScope::Position(position), CallListing::SinceHeap) => Some(&**position),
            _ => None,
        };
        RunHeapPosition { entries, waiting: &self.state.calls, log }
    }

    /// Makes the instance the guest of the run.
    pub(super) fn into_guest(self, language: Language, world: GuestWorld, keeps: bool) -> (Guest, HeapState) {
        let Self { instance, state, .. } = self;
        world.usage.resume(state.fuel, state.peak);
        (instance.into_guest(language, world, &state.progress, keeps), state)
    }
}

impl RunJournal {
    /// Keeps a call as the script made it, if it is one that waits for a decision.
    fn keep_call(&mut self, id: OperationId, call: &RequestedCall<'_>) {
        let (method, arguments) = (call.method.to_owned(), call.arguments.to_owned());
        self.waiting_calls.insert(id, WaitingCall { id, method, arguments, location: call.location.cloned() });
    }

    /// Holds the calls that the script waited for when its heap was taken.
    pub(super) fn hold_calls(&mut self, calls: Vec<WaitingCall>) {
        self.heap_entries = Some(self.entries);
        for WaitingCall { id, method, arguments, location } in calls {
            self.held.insert(id, (guest::Operation::Call { method, arguments, location }, self.now));
        }
    }

    /// Returns true if a heap stands for all that the journal has.
    fn is_plain(&self) -> bool {
        !self.is_broken
            && !self.is_replaying
            && !self.is_fork
            && self.check.is_none()
            && self.input == 0
            && self.input_before.is_none()
            && self.step_reads.is_empty()
            && self.waiting_programs.is_empty()
    }
}

impl Run {
    /// Notes a call that the gate has deferred.
    pub(super) fn note_deferred(
        &mut self,
        id: OperationId,
        judged: &Result<Admission, NotAdmitted>,
        call: &RequestedCall<'_>,
    ) {
        if let (Err(NotAdmitted::Deferred(_)), Some(journal)) = (judged, &mut self.journal) {
            journal.keep_call(id, call);
        }
    }

    /// Waits for the calls that the script waited for when its heap was taken, as after a replay.
    pub(super) fn continue_from_heap(&mut self, calls: Vec<WaitingCall>) {
        if calls.is_empty() {
            return;
        }
        for call in &calls {
            let kind = OperationKind::Call(call.method.clone());
            self.outstanding.insert(call.id, OutstandingOperation::new(kind, None, 0));
        }
        if let Some(journal) = &mut self.journal {
            journal.hold_calls(calls);
        }
    }

    /// Takes the heap of a run that is about to be suspended. Returns `None` if there is none that is worth it, if the run
    /// has state that only a replay brings back, or if the heap that is kept is still right.
    pub(super) fn take_heap(&mut self) -> Option<TakenHeap> {
        let journal = self.journal.as_ref()?;
        let is_worth_it = match self.heap_use {
            HeapUse::Never => false,
            HeapUse::Always => true,
            HeapUse::AfterMuchWork => journal.entries >= MIN_ENTRIES || self.has_computed_long(),
        };
        if !is_worth_it || journal.heap_entries == Some(journal.entries) || !self.waits_for_decisions_alone() {
            return None;
        }
        let calls = self.outstanding.keys().map(|id| journal.waiting_calls.get(id).cloned());
        let mut calls: Vec<WaitingCall> = calls.collect::<Option<_>>()?;
        calls.sort_unstable_by_key(|call| call.id);
        let (earlier, open) = self.scope.record.summarized();
        if !open.into_iter().eq(journal.deferred.values().map(|call| call.seq).collect::<BTreeSet<_>>()) {
            return None;
        }
        let (entries, now) = (journal.entries, journal.now);
        let (session, language, run) = (Arc::clone(&self.session), self.language, self.scope.record.run());
        let conditions = HeapConditions::new(session.guests(), language, run, session.limits())?;
        let processes = self.processes.as_mut()?;
        let files = processes.files().clone();
        if files.usage().bytes.saturating_sub(session.head().usage().bytes) > MAX_NEW_FILES {
            return None;
        }
        let (fuel, peak) = (processes.usage().fuel(), processes.usage().peak());
        let (last_process, last_operation) = processes.last_numbers();
        let guest = processes.idle_main()?;
        let progress = guest.progress();
        let taken = session.guests().image(language).and_then(|image| guest.changed_memory(image));
        let memory = taken.inspect_err(|error| debug!(target: "tollhouse::run", %error, "no heap is taken")).ok()??;
        let state = HeapState { calls, last_operation, last_process, progress, fuel, peak };
        Some(TakenHeap { heap: Heap { conditions, state, memory }, files, entries, now, calls: earlier })
    }

    /// Returns true if a replay would compute for longer than a heap takes to be written.
    fn has_computed_long(&self) -> bool {
        let fuel = self.processes.as_ref().map_or(0, |processes| processes.usage().fuel());
        fuel.saturating_mul(nanos_per_fuel(self.language)) >= MIN_COMPUTING
    }

    /// Returns true if the run waits for nothing but decisions about calls of its own script, and has no state that only a
    /// replay brings back.
    fn waits_for_decisions_alone(&self) -> bool {
        let Some(journal) = &self.journal else { return false };
        let waits = |id: &OperationId| owner(*id) == MAIN && journal.deferred.contains_key(id);
        journal.is_plain()
            && self.session.calls.are_plain()
            && !self.session.is_dry_run()
            && self.recorded.is_empty()
            && self.queue.is_empty()
            && self.outstanding.keys().all(waits)
    }
}
