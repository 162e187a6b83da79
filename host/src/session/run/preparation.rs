//! Preparation of runs: the guest of the main script, and all that drives it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use tracing::debug_span;

use super::Run;
use super::heap::RestoredHeap;
use super::journaling::RunJournal;
use super::outstanding::OutstandingOperations;
use crate::code::Interrupt;
use crate::guest::{self, Guest, GuestWorld, Language, RunUsage, Script};
use crate::session::guest_process::{GuestProcess, PendingStart, ProcessTable};
use crate::session::guest_seed::GuestSeed;
use crate::session::heap::{HeapState, WaitingCall};
use crate::session::host::HostError;
use crate::session::nested_scripts::{self, GuestStreams};
use crate::session::operation_executor::OperationExecutor;
use crate::session::options::{CapturedOutput, RunOptions};
use crate::session::run_input::RunInput;
use crate::session::run_scope::RunScope;
use crate::session::session_state::SessionState;
use crate::session::session_storage::RunSlot;
use crate::session::step::CancelHandle;

/// Directory in which a run's script starts.
const WORKSPACE: &str = "/workspace";

/// Name and hash of a script, for the start and the end of its run.
pub(super) struct ScriptSummary {
    pub(super) name: String,
    /// Hash of the text, in hexadecimal digits.
    pub(super) hash: String,
    /// Text from which an error quotes a line; empty if it is too long to keep.
    pub(super) quotable: String,
}

impl ScriptSummary {
    /// Length of the longest text that is kept, in bytes.
    const MAX_QUOTABLE: usize = 256 << 10;

    fn of(script: &Script) -> Self {
        let quotable = if script.source.len() > Self::MAX_QUOTABLE { "" } else { &script.source };
        Self {
            name: script.name.clone(),
            hash: blake3::hash(script.source.as_bytes()).to_hex().to_string(),
            quotable: quotable.to_owned(),
        }
    }
}

/// Parts that a run is made of.
pub(super) struct RunPreparation {
    pub(super) session: Arc<SessionState>,
    pub(super) slot: RunSlot,
    pub(super) language: Language,
    pub(super) script: Script,
    pub(super) seed: GuestSeed,
    pub(super) options: RunOptions,
    /// Journal of a run that can be suspended and resumed.
    pub(super) journal: Option<RunJournal>,
    /// Heap of a run that is resumed, with which its journal is not replayed from its start.
    pub(super) heap: Option<RestoredHeap>,
}

impl RunPreparation {
    /// Prepares the run. If that fails, the session is free again.
    pub(super) fn prepare(self) -> Result<Run, HostError> {
        let Self { session, slot, language, script, seed, options, journal, heap } = self;
        let limits = session.limits().clone();
        let interrupt = Interrupt::default();
        let captured = options.output.is_none().then(CapturedOutput::default);
        let sink = options.output.unwrap_or_else(|| Box::new(captured.clone().unwrap_or_default()));
        let sink = match &journal {
            Some(journal) if !options.replay_output => journal.output(sink),
            _ => sink,
        };
        let usage = RunUsage::new(limits.fuel, &session.memory);
        let output = guest::Output::new(sink, limits.output);
        let reads = journal.as_ref().map(RunJournal::step_reads).unwrap_or_default();
        let input = RunInput::new(options.stdin, &interrupt, reads);
        let streams = GuestStreams { output, input: Box::new(input.clone()) };
        let files = heap.as_ref().map_or_else(|| session.head(), |heap| heap.files.clone());
        let world = nested_scripts::guest_world(&session, &usage, files, streams, &seed, 0, &interrupt);
        let main = MainGuest::new(&session, heap, language, world, options.keep_state);
        let main = main.inspect_err(|_| free(&session, &slot, journal.as_ref()))?;
        // Not earlier: loading a guest for the first time must not count against the run's time.
        let started_at = Instant::now();
        if let Some(deadline) = started_at.checked_add(limits.wall) {
            interrupt.set_deadline(deadline);
        }
        let number = slot.number();
        let scope = RunScope::new(&session, number);
        let work = OperationExecutor::new(session.pool(), session.threads(), session.callers(), limits.concurrency);
        let summary = ScriptSummary::of(&script);
        let handle = CancelHandle { interrupt: interrupt.clone(), events: work.sender() };
        let full = handle.clone();
        scope.record.log().on_full(move || full.cancel());
        let stoppable = session.storage.stoppable(move || handle.cancel());
        let (processes, calls) = main.into_processes(language, script, &interrupt, usage);
        let span = debug_span!(target: "tollhouse::run", "run", session = session.id().map(display), number, ?language);
        let mut run = Run {
            session,
            slot: Some(slot),
            language,
            seed,
            script: summary,
            announced: false,
            processes: Some(processes),
            outstanding: OutstandingOperations::default(),
            queue: VecDeque::new(),
            work,
            scope,
            interrupt,
            started_at,
            input,
            captured,
            result: None,
            journal,
            heap_use: options.heap,
            recorded: BTreeMap::new(),
            span,
            _stoppable: stoppable,
        };
        run.continue_from_heap(calls);
        Ok(run)
    }
}

/// Guest of a run's own script.
enum MainGuest {
    /// Guest that has not started, with the state that the previous script left, if this one asks for it.
    Fresh(Guest, Option<Vec<u8>>),
    /// Guest that waits, with what its run had done.
    Restored(Guest, HeapState),
}

impl MainGuest {
    /// Takes the guest of a heap; without one, loads a fresh guest, and the state that the previous script left, if this one
    /// asks for it.
    fn new(
        session: &SessionState,
        heap: Option<RestoredHeap>,
        language: Language,
        world: GuestWorld,
        keep_state: bool,
    ) -> Result<Self, HostError> {
        if let Some(heap) = heap {
            let (guest, state) = heap.into_guest(language, world, keep_state);
            return Ok(Self::Restored(guest, state));
        }
        let found = keep_state.then(|| session.state(language)).transpose()?;
        let guest = session.guests().instantiate(language, world, session.limits().wall)?;
        Ok(Self::Fresh(guest, found))
    }

    /// Creates the processes of the run, and returns them with the calls that its script waits for already.
    fn into_processes(
        self,
        language: Language,
        script: Script,
        interrupt: &Interrupt,
        usage: RunUsage,
    ) -> (ProcessTable, Vec<WaitingCall>) {
        match self {
            Self::Fresh(guest, found) => {
                let pending_start = PendingStart { script, directory: WORKSPACE.to_owned(), found, now: None };
                let main = GuestProcess::new(guest, language, pending_start, interrupt.clone(), 0);
                (ProcessTable::new(main, usage), Vec::new())
            }
            Self::Restored(guest, state) => {
                let main = GuestProcess::restored(guest, language, interrupt.clone(), state.last_operation);
                (ProcessTable::restored(main, usage, state.last_process), state.calls)
            }
        }
    }
}

/// Frees the session after a run that could not be prepared.
fn free(session: &SessionState, slot: &RunSlot, journal: Option<&RunJournal>) {
    match journal.is_some_and(RunJournal::is_replaying) {
        true => session.put_back(slot),
        false => session.withdraw(slot),
    }
}
