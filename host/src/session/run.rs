//! Runs of scripts, in steps.

mod admit;
mod heap;
mod journaling;
mod outstanding;
mod preparation;
mod programs;
mod recorded_calls;
mod replay;
mod replay_check;
mod replayed_programs;
mod stop;
mod suspension;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tracing::Span;

pub(in crate::session) use self::heap::{RestoredHeap, TakenHeap};
pub(in crate::session) use self::journaling::{RestoredEntries, RunJournal};
use self::outstanding::OutstandingOperations;
use self::preparation::{RunPreparation, ScriptSummary};
pub use self::replay_check::{CallRepetition, CheckedCall};
pub(in crate::session) use self::replay_check::{CheckFindings, RepeatedCalls};
use self::replayed_programs::Launch;
use super::guest_process::{self, GuestProcess, MAIN, Pid, ProcessTable};
use super::guest_seed::GuestSeed;
use super::host::{HostError, guest_now};
use super::journal::JournalEntry;
use super::nested_scripts;
use super::operation_executor::{OperationExecutor, RunEvent};
use super::options::{CapturedOutput, HeapUse, RunOptions};
use super::persistence::CancelRegistration;
use super::recording::RecordedResult;
use super::result::{EndedRun, RunEffects, RunResult, Usage, outcome_of};
use super::run_input::RunInput;
use super::run_scope::RunScope;
use super::session_state::{ResumableRun, SessionState, micros};
use super::session_storage::RunSlot;
use super::step::{CancelHandle, Operation, Pending, ProgramStreams, Step};
use crate::code::{Interrupt, with_stack};
use crate::error::{Failure, error_chain};
use crate::gate::{AuditError, CallOutcome, Event};
use crate::guest::{self, Completion, GuestError, Language, OperationId, Outcome, Script, Value, Waiting};
use crate::tool::{CallContext, CallEffects, OnComplete, cannot_apply_changes};
use crate::vfs::Tree;

/// Interval at which a run that waits for a decision looks whether its programs wait as well: no event tells that a
/// program waits for input.
const PROGRAM_POLL: Duration = Duration::from_millis(20);

/// One execution of one script.
///
/// ```no_run
/// # use tollhouse::session::{Operation, Run, Step};
/// # use tollhouse::guest::{Completion, Value};
/// # fn drive(mut run: Run) {
/// // A host that executes the tools itself.
/// let result = loop {
///     match run.step() {
///         Step::Finished(result) => break result,
///         Step::Blocked(started) => {
///             for pending in started {
///                 if let Operation::Call(call) = &pending.operation {
///                     let answer = serde_json::json!({ "echo": call.arguments() });
///                     run.resume(Completion { id: pending.id, result: Ok(Value::Json(answer.into())) });
///                 } else {
///                     run.perform(pending); // Timers and input: let Tollhouse do it.
///                 }
///             }
///             run.wait();
///         }
///     }
/// };
/// println!("{:?}", result.status);
/// # }
/// ```
pub struct Run {
    session: Arc<SessionState>,
    /// Always set until the run ends.
    slot: Option<RunSlot>,
    language: Language,
    /// Seed of the main script's guest, from which those of the others follow.
    seed: GuestSeed,
    script: ScriptSummary,
    announced: bool,
    /// Processes of the run; `None` when it has ended.
    processes: Option<ProcessTable>,
    outstanding: OutstandingOperations,
    /// Completions to deliver, each with its changes of the files.
    queue: VecDeque<(Completion, CallEffects)>,
    work: OperationExecutor,
    scope: RunScope,
    interrupt: Interrupt,
    started_at: Instant,
    input: RunInput,
    captured: Option<CapturedOutput>,
    result: Option<Box<RunResult>>,
    /// Journal of a run that can be suspended and resumed: of a session on disk.
    journal: Option<RunJournal>,
    heap_use: HeapUse,
    /// Recorded answers of calls that the script waits for, in the order in which they came.
    recorded: BTreeMap<u64, (OperationId, Box<RecordedResult>)>,
    /// Span of the diagnostics that are emitted while the run is driven.
    span: Span,
    /// Registration of the run of a persistent session for cancellation.
    _stoppable: Option<CancelRegistration>,
}

impl Run {
    /// Prepares a run; [`Run::step`] starts it.
    pub(super) fn new(
        session: Arc<SessionState>,
        slot: RunSlot,
        language: Language,
        script: Script,
        seed: GuestSeed,
        options: RunOptions,
    ) -> Result<Self, HostError> {
        let journal = session.storage.is_journaled(&slot).then(RunJournal::default);
        RunPreparation { session, slot, language, script, seed, options, journal, heap: None }.prepare()
    }

    /// Prepares a run that is resumed.
    pub(super) fn resumed(
        session: Arc<SessionState>,
        resumed: ResumableRun,
        options: RunOptions,
    ) -> Result<Self, HostError> {
        let ResumableRun { slot, language, script, seed, keep_state, journal, heap, calls } = resumed;
        let options = RunOptions { keep_state, ..options };
        let journal = Some(journal);
        let preparation = RunPreparation { session, slot, language, script, seed, options, journal, heap };
        let run = preparation.prepare()?;
        run.scope.record.restore(calls);
        Ok(run)
    }

    /// Returns true if the run continues from its heap, and not by a replay from its start.
    #[must_use]
    pub fn is_from_heap(&self) -> bool {
        self.journal.as_ref().is_some_and(|journal| journal.heap_entries.is_some())
    }

    /// Returns a handle that stops this run from another thread.
    #[must_use]
    pub fn cancel_handle(&self) -> CancelHandle {
        CancelHandle { interrupt: self.interrupt.clone(), events: self.work.sender() }
    }

    /// Returns the idempotency key of a call of this run, for a host that executes the tools itself: the same when the call is
    /// made again after a crash, and no other call's.
    #[must_use]
    pub fn idempotency_key(&self, seq: u64) -> String {
        self.scope.idempotency_key(seq)
    }

    /// Starts the script, or delivers completions one at a time, until the script waits or ends.
    pub fn step(&mut self) -> Step {
        let span = self.span.clone();
        let _entered = span.enter();
        let mut started = Vec::new();
        loop {
            if let Some(result) = &self.result {
                return Step::Finished(result.clone());
            }
            if self.scope.record.log_failure().is_some() {
                self.end(self.guest_failure(&GuestError::Cancelled));
                continue;
            }
            if !self.queue.is_empty() {
                // The guest continues, and the operations that it waits for continue beside it.
                self.work.start_waiting();
            }
            if self.has_caught_up() {
                self.continue_live(&mut started);
                continue;
            }
            let advanced = self.advance();
            self.record_step_reads();
            let Some((pid, step)) = advanced else {
                if self.result.is_some() {
                    continue;
                }
                self.commit_results();
                return Step::Blocked(started);
            };
            match step {
                Ok(guest::Step::Blocked(_)) if self.is_broken(pid) => self.end_of(pid, guest_process::broken_pipe()),
                Ok(guest::Step::Blocked(waiting)) => self.handle_blocked(pid, waiting, &mut started),
                Ok(guest::Step::Finished(outcome)) => self.end_of(pid, outcome),
                // The run was stopped; the guest is not at fault.
                Err(error) if self.interrupt.stopped().is_some() => self.end_of(MAIN, self.guest_failure(&error)),
                Err(GuestError::IncompleteInput) => self.start_anew(pid),
                Err(error) => self.end_of(pid, self.guest_failure(&error)),
            }
            started.retain(|pending: &Pending| self.outstanding.contains_key(&pending.id));
        }
    }

    /// Handles a guest that waits: for the operations that it started in this step, and for earlier ones.
    fn handle_blocked(&mut self, pid: Pid, waiting: Waiting, started: &mut Vec<Pending>) {
        let named = self.processes.as_mut().and_then(|processes| processes.get(pid)?.assign_ids(pid, waiting).into());
        let waiting = match named {
            Some(Ok(waiting)) => waiting,
            Some(Err(failure)) => return self.end_of(pid, Outcome::failed(failure)),
            None => return,
        };
        waiting.cancelled.into_iter().for_each(|id| self.withdraw(id));
        if let Err(failure) = self.may_wait(pid, &waiting.started) {
            return self.end_of(pid, Outcome::failed(failure));
        }
        let earlier = started.len();
        for pending in waiting.started {
            started.extend(self.admit(pid, pending));
        }
        self.pay_or_end(earlier, started);
        if !self.outstanding.keys().any(|id| guest_process::owner(*id) == pid) {
            self.end_of(pid, Outcome::failed(Failure::deadlock()));
        }
    }

    /// Prepares a nested script to be started anew that read input which is not complete.
    fn start_anew(&mut self, pid: Pid) {
        let Some(processes) = &mut self.processes else { return };
        if let Err(failure) = nested_scripts::start_anew(&self.session, processes, &self.seed, pid) {
            self.end_of(pid, Outcome::failed(failure));
        }
    }

    /// Continues a run that has caught up with its journal.
    fn continue_live(&mut self, started: &mut Vec<Pending>) {
        // A run that continues from its heap may have had nothing to replay.
        if self.journal.as_ref().is_some_and(|journal| journal.entries > 0) && !self.announce() {
            return;
        }
        let earlier = started.len();
        self.go_live(started);
        self.pay_or_end(earlier, started);
    }

    /// Puts the new calls into the ledger, whoever makes them; if that fails, ends the run.
    fn pay_or_end(&mut self, earlier: usize, started: &mut Vec<Pending>) {
        if let Err(error) = self.pay(earlier, started) {
            for pending in started.drain(..) {
                if let Operation::Call(admission) | Operation::Program(admission, _) = pending.operation {
                    self.session.gate.release(&self.scope.record, &admission);
                }
            }
            self.end(Outcome::failed(Failure::host(format!("the run cannot be kept: {}", error_chain(&error)))));
        } else if self.session.is_dry_run() {
            self.perform_calls(earlier, started);
        } else if !self.session.calls.are_plain() {
            let new = started.split_off(earlier);
            started.extend(new.into_iter().filter_map(|pending| self.record_or_answer(pending)));
        }
    }

    /// Makes the reservations of new calls durable, which are those from index `earlier` on: earlier ones are. If another
    /// session has spent the budgets that they count on, the gate decides on them again.
    fn pay(&mut self, earlier: usize, started: &mut Vec<Pending>) -> Result<(), AuditError> {
        if started[earlier..].iter().all(|pending| pending.operation.admission().is_none()) {
            return Ok(());
        }
        match self.session.gate.sync() {
            Err(AuditError::Spent { .. }) => {
                let unpaid = started.split_off(earlier);
                started.extend(self.admit_again(unpaid));
                self.session.gate.sync()
            }
            synced => synced,
        }
        .inspect(|()| self.mark_committed())
    }

    fn guest_failure(&self, error: &GuestError) -> Outcome {
        outcome_of(error, self.session.limits())
    }

    /// Returns the time that the guests are given, in nanoseconds since the Unix epoch.
    fn now(&self) -> u64 {
        guest_now().wrapping_add(self.session.calls.ahead)
    }

    /// Writes to the log that the run starts or is resumed, unless the log has that already. Returns false if it cannot be
    /// written; then the run has ended.
    fn announce(&mut self) -> bool {
        if self.announced {
            return true;
        }
        self.announced = true;
        let (script, hash) = (&*self.script.name, &*self.script.hash);
        let run = self.scope.record.run();
        let event = match self.is_replaying() {
            true => Event::Resumed { run },
            false => Event::Started { run, script, hash },
        };
        let written = self.scope.log().write(&event);
        if let Err(error) = &written {
            self.end(Outcome::failed(Failure::host(format!("the run does not start: {}", error_chain(error)))));
        }
        written.is_ok()
    }

    /// Enters a guest once, if there is a reason to.
    fn advance(&mut self) -> Option<(Pid, Result<guest::Step, GuestError>)> {
        self.processes.as_ref()?;
        if !self.announce() {
            return None;
        }
        if self.is_replaying() {
            return self.advance_replayed();
        }
        let now = self.now();
        let processes = self.processes.as_ref()?;
        if let Some(pid) = processes.waiting() {
            let now = processes.start_time(pid).unwrap_or(now);
            self.record(&JournalEntry::Entered { pid, now });
            return Some((pid, self.processes.as_mut()?.start(pid, now)?));
        }
        let next = self
            .queue
            .iter()
            .position(|(completion, _)| processes.can_continue(guest_process::owner(completion.id)))?;
        let (completion, CallEffects { edits, held }) = self.queue.remove(next)?;
        self.record_delivery(&completion, &edits, now);
        // From here on the result takes memory of the guest's.
        drop(held);
        if let Some(stream) = self.outstanding.remove(completion.id).and_then(|operation| operation.stream) {
            self.confirm_read(completion.id, stream);
        }
        let pid = guest_process::owner(completion.id);
        let processes = self.processes.as_mut()?;
        Some((pid, processes.resume(completion, &edits, |error| cannot_apply_changes("a tool", error), now)?))
    }

    /// Returns the callback that delivers bytes which a guest waits for.
    fn on_bytes(&self, id: OperationId) -> OnComplete<Bytes> {
        let on_complete = self.work.on_stream(id, |bytes: Bytes| Value::Bytes(bytes.into()));
        Box::new(move |bytes| on_complete(Ok(bytes)))
    }

    /// Performs an operation; [`Run::wait`] collects its result. Calls run beside the guest, and beside each other; a
    /// call that the run waits for alone is made by `wait` itself.
    pub fn perform(&mut self, pending: Pending) {
        let Pending { id, operation } = pending;
        match operation {
            Operation::Call(admission) => {
                if let Some((interrupt, files)) = self.call_context(id) {
                    let now = guest_now();
                    self.note_start(id, now);
                    let call = self.scope.call_at(admission, interrupt, files, now);
                    if call.admission().is_program() {
                        self.track_working_files(id, call.context());
                    }
                    self.work.call(id, call);
                }
            }
            Operation::Program(admission, ProgramStreams(started)) => {
                if let Some((interrupt, _)) = self.call_context(id)
                    && let Some(Launch { files, now }) = self.launch(id)
                {
                    let call = self.scope.call_at(admission, interrupt, files, now);
                    self.track_working_files(id, call.context());
                    self.work.run(id, call, started);
                }
            }
            Operation::Sleep(duration) => self.work.sleep(id, duration),
            Operation::Read { limit } => match self.input.source() {
                _ if self.replayed_input().is_some() => {
                    let result = self.replayed_input().unwrap_or_else(|| Ok(Value::Bytes(Vec::new())));
                    self.resume(Completion { id, result });
                }
                Some(input) => self.work.read(id, Arc::clone(input), limit),
                None => self.resume(Completion { id, result: Ok(Value::Bytes(Vec::new())) }),
            },
        }
    }

    /// Returns the interrupt of a call that is about to be made, and the files that it sees.
    fn call_context(&self, id: OperationId) -> Option<(Interrupt, Tree)> {
        let (_, interrupt) = self.outstanding.get(&id)?.call.as_ref()?;
        Some((interrupt.clone(), self.processes.as_ref()?.files().clone()))
    }

    /// Records the files that a program works on.
    fn track_working_files(&mut self, id: OperationId, context: &CallContext) {
        self.outstanding.track_working_files(id, context.files.clone(), context.working.clone());
    }

    fn process_of(&mut self, id: OperationId) -> Option<&mut GuestProcess> {
        self.processes.as_mut()?.get(guest_process::owner(id))
    }

    /// Takes the result of an operation. The next [`Run::step`] delivers it. A result that the guest does not wait for,
    /// or already has, is dropped.
    pub fn resume(&mut self, completion: Completion) {
        self.deliver(completion, CallEffects::default());
    }

    /// Takes a result, like [`Run::resume`]; its file changes are applied when it is delivered to the script.
    fn deliver(&mut self, completion: Completion, effects: CallEffects) {
        let Some(operation) = self.outstanding.get(&completion.id) else { return };
        if self.queue.iter().any(|(queued, _)| queued.id == completion.id) {
            return;
        }
        if let Some((seq, _)) = operation.call {
            let outcome = if completion.result.is_ok() { CallOutcome::Ok } else { CallOutcome::Failed };
            self.session.gate.settle(&self.scope.record, seq, outcome, completion.result.as_ref().err());
            self.record_result(seq, &completion, &effects);
        }
        self.queue.push_back((completion, effects));
    }

    /// Waits until an operation that the guest waits for has ended, or the run must end. Returns at once if there is
    /// already something to deliver.
    pub fn wait(&mut self) {
        let span = self.span.clone();
        let _entered = span.enter();
        while !self.has_deliverable() && self.result.is_none() {
            if !self.recorded.is_empty() {
                self.deliver_recorded();
                continue;
            }
            match self.next_event() {
                Some(RunEvent::Exited(completion, _)) if self.has_program_diverged(completion.id) => {
                    self.diverge("a program that ran again did not write what it had written before");
                }
                Some(
                    RunEvent::Called(completion, effects)
                    | RunEvent::CalledInline(completion, effects)
                    | RunEvent::Exited(completion, effects),
                ) => self.deliver(completion, effects),
                Some(RunEvent::Done(completion) | RunEvent::Streamed(completion)) => self.resume(completion),
                Some(RunEvent::Cancelled) => self.end(self.guest_failure(&GuestError::Cancelled)),
                Some(RunEvent::Timeout) => {
                    self.end(Outcome::failed(self.outstanding.out_of_time(self.session.limits())));
                }
                None => {}
            }
        }
    }

    /// Waits for an event. Returns `None` if there may be none: the run is suspended then, or is to be asked again.
    fn next_event(&mut self) -> Option<RunEvent> {
        let is_replaying = self.is_replaying();
        if !is_replaying && !self.is_deferring() {
            return Some(self.work.wait(&self.interrupt));
        }
        if let Some(event) = self.work.poll(&self.interrupt) {
            return Some(event);
        }
        match self.work.has_only_programs() {
            true if is_replaying => self.diverge("a stream has no more bytes"),
            true if !self.has_calls_elsewhere() && self.work.is_idle() => self.suspend_or_refuse(),
            is_waiting => {
                // A program that has just asked for input may be about to get it.
                let event = self.work.wait_at_most(&self.interrupt, PROGRAM_POLL);
                if event.is_none() && is_waiting && !self.has_calls_elsewhere() {
                    self.suspend_or_refuse();
                }
                return event;
            }
        }
        None
    }

    /// Returns true if there is something to deliver to a script that may continue.
    fn has_deliverable(&self) -> bool {
        let Some(processes) = &self.processes else { return false };
        if self.is_replaying() {
            return self.can_replay();
        }
        self.queue.iter().any(|(completion, _)| processes.can_continue(guest_process::owner(completion.id)))
    }

    /// Drives the run to its end: performs all operations that it waits for, as they come.
    #[must_use]
    pub fn finish(self) -> RunResult {
        // One switch of stacks for all steps: on a thread with a small stack, each step would otherwise get its own.
        let stack = self.processes.as_ref().map_or(0, |processes| processes.main().stack());
        with_stack(stack, || self.drive())
    }

    fn drive(mut self) -> RunResult {
        loop {
            match self.step() {
                Step::Finished(result) => return *result,
                Step::Blocked(started) => {
                    for pending in started {
                        self.perform(pending);
                    }
                    self.wait();
                }
            }
        }
    }

    /// Returns the resources that the run has used.
    fn usage(&self, processes: &ProcessTable) -> Usage {
        Usage {
            fuel: processes.usage().fuel(),
            wall_micros: micros(self.started_at),
            memory_bytes: processes.usage().peak(),
            output_bytes: processes.main().output_bytes(),
            file_bytes: processes.files().usage().bytes,
        }
    }

    /// Ends the run: stops what it started, commits its files, builds its result.
    fn end(&mut self, mut outcome: Outcome) {
        if self.ends_in_replay(&outcome) {
            return self.end_replay(outcome);
        }
        self.stop_programs();
        let Some(processes) = self.processes.take() else { return };
        let Some(slot) = self.slot.take() else { return };
        self.interrupt.cancel();
        self.work.end();
        let calls = self.session.gate.close(&self.scope.record);
        outcome = match self.scope.record.log_failure() {
            Some(failure) => Outcome::failed(failure),
            None => self.with_all_calls(outcome),
        };
        if let Some(location) = outcome.error.as_mut().and_then(|failure| failure.location.as_mut()) {
            location.quote(&self.script.name, &self.script.quotable);
        }
        let files = processes.files().clone();
        let usage = self.usage(&processes);
        drop(processes);
        let captured = self.captured.take().map(|captured| captured.take()).unwrap_or_default();
        let left = RunEffects { files, state: outcome.state.take().map(|state| (self.language, state)) };
        let ended = EndedRun { outcome, calls, usage, captured };
        self.result = Some(Box::new(self.session.conclude(slot, ended, left)));
    }
}

impl Drop for Run {
    /// Cancels a run that is dropped before its end: its files and spending are kept, and the session is free.
    fn drop(&mut self) {
        self.end(self.guest_failure(&GuestError::Cancelled));
    }
}
