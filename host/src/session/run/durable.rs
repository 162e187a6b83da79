//! Runs that can be suspended and resumed: recording what the guests are given, and giving it again.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::Run;
use super::outstanding::{OperationKind, OutstandingOperation};
use crate::code::Interrupt;
use crate::error::{ErrorKind, Failure, error_chain};
use crate::gate::{Admission, Consent, Decision, DeferredCall, Gate, NotAdmitted};
use crate::guest::{self, Completion, GuestError, OperationId, Outcome, OutputSink, Step, Stream, Value};
use crate::session::guest_process::{self, MAIN, Pid};
use crate::session::host::guest_now;
use crate::session::journal::{JournalEntry, RecordedAnswer, ReplayError, Resolution};
use crate::session::result::{EndedRun, Status};
use crate::session::step::{Operation, Pending};
use crate::tool::cannot_apply_changes;
use crate::vfs::Edit;

/// Most bytes of a journal that wait for a commit of the run's calls: the host holds them.
const MAX_PENDING: usize = 1 << 20;

/// Most bytes of standard input that a journal holds. A run that reads more goes on, and cannot be suspended: writing
/// all of it to the store would make it slow.
const MAX_INPUT: usize = 8 << 20;

/// Hexadecimal digits of the digest of a call: it detects a replay that goes wrong, and nobody's forgery.
const DIGEST_DIGITS: usize = 16;

/// Journal of a run as the run sees it: what it still replays, and what waits.
#[derive(Default)]
pub(in crate::session) struct RunJournal {
    /// Entries into guests that are still to be replayed, in order.
    replay: VecDeque<JournalEntry>,
    /// True until the first step that was not replayed.
    is_replaying: bool,
    /// Operations that the guests started during the replay, with the time at which they did. If the replay ends before
    /// their completions, they are performed.
    held: BTreeMap<OperationId, (guest::Operation, u64)>,
    /// Calls that wait for a decision.
    deferred: BTreeMap<OperationId, Box<DeferredCall>>,
    /// Numbers of the calls that the run had started, by operation.
    admitted: HashMap<OperationId, u64>,
    /// Decisions, by the number of the call.
    decisions: HashMap<u64, Decision>,
    /// What became of interrupted calls, by their numbers.
    resolutions: HashMap<u64, Resolution>,
    /// Operations of calls that had been deferred, with their numbers.
    asked: HashMap<OperationId, u64>,
    /// Time that was given to the guest that entered last.
    now: u64,
    /// Opens the output when the replay has ended.
    live: Arc<AtomicBool>,
    /// Set if the run did something that cannot be replayed.
    is_broken: bool,
    /// Bytes of standard input that the journal holds.
    input: usize,
    /// Standard input as the script had read it before the run was resumed; `None` if it had not.
    input_before: Option<InputBefore>,
    /// Set while the result of a call that must not be repeated is in no commit.
    is_behind: bool,
}

/// What a script had read of its standard input before its run was resumed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InputBefore {
    /// A part.
    Part,
    /// All of it.
    All,
}

/// Sink that drops what a replay writes: it was written before.
struct LiveOutput {
    sink: Box<dyn OutputSink>,
    live: Arc<AtomicBool>,
}

impl OutputSink for LiveOutput {
    fn write(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        if self.live.load(Ordering::Acquire) { self.sink.write(stream, bytes) } else { Ok(()) }
    }
}

impl RunJournal {
    /// Creates the journal of a run that is resumed.
    ///
    /// # Errors
    /// If the run did something that cannot be replayed.
    pub(in crate::session) fn resumed(entries: Vec<JournalEntry>) -> Result<Self, ReplayError> {
        let mut journal = Self { is_replaying: true, ..Self::default() };
        for entry in entries {
            match entry {
                JournalEntry::Started(_) => {}
                JournalEntry::Entered { .. } => journal.replay.push_back(entry),
                JournalEntry::Delivered { ref answer, .. } => {
                    if let Some(is_end) = answer.as_ref().and_then(RecordedAnswer::is_end_of_input) {
                        journal.input_before = Some(if is_end { InputBefore::All } else { InputBefore::Part });
                    }
                    journal.replay.push_back(entry);
                }
                JournalEntry::Admitted { id, seq } => {
                    journal.admitted.insert(id, seq);
                    // What was said of an earlier attempt does not hold for this one.
                    journal.resolutions.remove(&seq);
                }
                JournalEntry::Resolved { seq, resolution, .. } => drop(journal.resolutions.insert(seq, resolution)),
                JournalEntry::Deferred { id, call } => {
                    journal.asked.insert(id, call.seq);
                    // It had been admitted, and was judged again before it started.
                    journal.admitted.remove(&id);
                }
                JournalEntry::Decided { seq, decision } => drop(journal.decisions.insert(seq, decision)),
                JournalEntry::Unreplayable { what } => return Err(ReplayError::Unreplayable(what)),
            }
        }
        Ok(journal)
    }

    pub(super) fn is_replaying(&self) -> bool {
        self.is_replaying
    }

    /// Returns the failure that names the calls of which nobody knows whether they took effect.
    fn doubt(&self, held: &BTreeMap<OperationId, (guest::Operation, u64)>, gate: &Gate) -> Option<Failure> {
        let in_doubt = held.iter().filter_map(|(id, (operation, _))| {
            let guest::Operation::Call { method, .. } = operation else { return None };
            let seq = self.admitted.get(id).filter(|seq| !self.resolutions.contains_key(seq))?;
            (!gate.is_pure(method)).then(|| format!("call {seq} of `{method}`"))
        });
        let calls: Vec<String> = in_doubt.collect();
        let message = "had started when the process ended, and nobody knows whether it took effect";
        (!calls.is_empty()).then(|| Failure::host(format!("{} {message}", calls.join(" and "))))
    }

    /// Wraps the sink of a run that is resumed.
    pub(super) fn output(&self, sink: Box<dyn OutputSink>) -> Box<dyn OutputSink> {
        if !self.is_replaying {
            return sink;
        }
        Box::new(LiveOutput { sink, live: Arc::clone(&self.live) })
    }
}

/// Returns true if a run was cancelled, or reached a limit.
fn is_stop(outcome: &Outcome) -> bool {
    outcome.error.as_ref().is_some_and(|error| matches!(error.kind, ErrorKind::Cancelled | ErrorKind::Limit))
}

/// Returns the digest of an operation that is a call, as the script made it.
pub(super) fn digest_of(operation: &guest::Operation) -> Option<String> {
    match operation {
        guest::Operation::Call { method, arguments } => Some(call_digest(method, arguments)),
        _ => None,
    }
}

fn call_digest(method: &str, arguments: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(method.len() as u64).to_le_bytes()).update(method.as_bytes()).update(arguments.as_bytes());
    hasher.finalize().to_hex()[..DIGEST_DIGITS].to_owned()
}

impl Run {
    pub(super) fn is_replaying(&self) -> bool {
        self.journal.as_ref().is_some_and(|journal| journal.is_replaying)
    }

    /// Returns true if a call may wait for consent beyond this process.
    pub(super) fn may_defer(&self) -> bool {
        self.journal.as_ref().is_some_and(|journal| !journal.is_broken)
    }

    /// Adds an entry to the journal.
    pub(super) fn record(&mut self, entry: &JournalEntry) {
        let Some(journal) = self.journal.as_mut().filter(|journal| !journal.is_broken) else { return };
        if let JournalEntry::Entered { now, .. } | JournalEntry::Delivered { now, .. } = entry {
            journal.now = *now;
        }
        self.session.storage.journal(entry);
    }

    /// Records that the run can no longer be replayed.
    pub(super) fn break_journal(&mut self, what: &str) {
        self.record(&JournalEntry::Unreplayable { what: what.to_owned() });
        let Some(journal) = &mut self.journal else { return };
        journal.is_broken = true;
        // Nobody could resume the run, whatever is decided.
        for (id, call) in std::mem::take(&mut journal.deferred) {
            let failure = self.session.gate.refuse_deferred(&self.scope.record, *call, what);
            self.refuse(id, failure);
        }
    }

    /// Returns the decision about a call of this number, if there is one and the run can wait for one.
    pub(super) fn consent(&self, seq: u64) -> Consent<'_> {
        match self.journal.as_ref().filter(|journal| !journal.is_broken) {
            Some(journal) => Consent::Deferrable(journal.decisions.get(&seq)),
            None => Consent::Now,
        }
    }

    /// Returns what a script reads that had begun to read its standard input before the run was resumed: that input is
    /// not there any more, and the input of this process is another one.
    pub(super) fn replayed_input(&self) -> Option<Result<Value, Failure>> {
        match self.journal.as_ref()?.input_before? {
            InputBefore::All => Some(Ok(Value::Bytes(Vec::new()))),
            InputBefore::Part => {
                let message =
                    "the rest of standard input is lost: the run was resumed before it had been read to its end";
                let hint = "read all input before calls that need approval, or keep it in a file of the session";
                Some(Err(Failure::host(message).with_hint(hint)))
            }
        }
    }

    /// Returns true if whoever drives the run makes calls, or reads input, that the run waits for.
    pub(super) fn has_calls_elsewhere(&self) -> bool {
        let queued = |id: &OperationId| self.queue.iter().any(|(completion, _)| completion.id == *id);
        self.outstanding
            .iter()
            .any(|(id, operation)| operation.is_elsewhere(guest_process::owner(*id) == MAIN) && !queued(id))
    }

    /// Returns true if the run ends before it is where it was, or is stopped in a step that it had done before.
    pub(super) fn ends_in_replay(&self, outcome: &Outcome) -> bool {
        let replay = self.journal.as_ref().filter(|journal| journal.is_replaying);
        replay.is_some_and(|journal| !journal.replay.is_empty() || is_stop(outcome))
    }

    /// Ends a replay, and leaves the run as it was: it can be resumed again.
    pub(super) fn end_replay(&mut self, outcome: Outcome) {
        match outcome.error {
            Some(ref failure) if is_stop(&outcome) => {
                let hint = failure.hint.clone().map(|hint| format!("; {hint}")).unwrap_or_default();
                let hint = format!("the run is as it was, and can be resumed again{hint}");
                let failure = failure.clone().with_hint(hint);
                let status = Status::of(&Outcome::failed(failure.clone()));
                self.leave_unfinished(status, Some(failure));
            }
            _ => self.diverge("the script ended earlier"),
        }
    }

    /// Records a completion that is about to be delivered to a guest.
    pub(super) fn record_delivery(&mut self, completion: &Completion, edits: &[Edit], now: u64) {
        if !self.may_defer() {
            return;
        }
        let id = completion.id;
        let operation = self.outstanding.get(&id);
        let is_main = guest_process::owner(id) == MAIN;
        let repeats = operation.is_none_or(|operation| operation.is_pure);
        let is_own = operation.is_some_and(|operation| operation.is_between_scripts(is_main));
        let call = operation.and_then(|operation| operation.digest.clone());
        let answer = if is_own { Ok(None) } else { RecordedAnswer::new(&completion.result, edits, call).map(Some) };
        match answer {
            Ok(answer) => self.record(&JournalEntry::Delivered { id, now, answer }),
            Err(why) => return self.break_journal(&format!("changed files that cannot be read ({why})")),
        }
        if let (Some(journal), Ok(Value::Bytes(bytes))) = (&mut self.journal, &completion.result) {
            journal.input += if is_own { 0 } else { bytes.len() };
            if journal.input > MAX_INPUT {
                return self.break_journal("read more than 8 MiB of standard input");
            }
        }
        let (pending, all) = self.session.storage.journal_bytes();
        if all > self.session.limits().log {
            return self.break_journal("was given more than its limit `log`");
        }
        if pending > MAX_PENDING {
            // If it fails, the next commit reports that.
            let _ = self.session.gate.sync();
        }
        if let Some(journal) = self.journal.as_mut().filter(|_| !repeats) {
            journal.is_behind = true;
        }
    }

    /// Commits results of calls that must not be repeated, unless the calls that followed have done so. The process may
    /// die while the script waits, and that may be long. If the commit fails, the next one reports it.
    pub(super) fn commit_results(&mut self) {
        if let Some(journal) = self.journal.as_mut().filter(|journal| journal.is_behind) {
            journal.is_behind = false;
            let _ = self.session.gate.sync();
        }
    }

    /// Notes that all entries so far are committed.
    pub(super) fn is_committed(&mut self) {
        if let Some(journal) = &mut self.journal {
            journal.is_behind = false;
        }
    }

    /// Keeps an operation that the journal answers, or that is performed when the replay has ended. Returns it if it
    /// is performed now: a stream between two scripts, or a script.
    pub(super) fn hold(&mut self, pid: Pid, pending: guest::Pending) -> Option<guest::Pending> {
        let is_held = match &pending.operation {
            guest::Operation::Call { .. } | guest::Operation::Sleep(_) => true,
            guest::Operation::Read { stream, .. } => *stream == 0 && pid == MAIN,
            _ => false,
        };
        let journal = self.journal.as_mut().filter(|journal| journal.is_replaying && is_held);
        let Some(journal) = journal else { return Some(pending) };
        let kind = match &pending.operation {
            guest::Operation::Call { method, .. } => OperationKind::Call(method.clone()),
            guest::Operation::Sleep(_) => OperationKind::Timer,
            _ => OperationKind::Input,
        };
        self.outstanding.insert(pending.id, OutstandingOperation::new(kind, None, 0));
        journal.held.insert(pending.id, (pending.operation, journal.now));
        None
    }

    /// Forgets an operation that its guest no longer waits for.
    pub(super) fn forget_held(&mut self, id: OperationId) {
        if let Some(journal) = &mut self.journal {
            journal.held.remove(&id);
            journal.deferred.remove(&id);
        }
    }

    /// Enters a guest as the journal says. Returns `None` if the replay has ended, or waits for a stream.
    pub(super) fn advance_replayed(&mut self) -> Option<(Pid, Result<Step, GuestError>)> {
        let entry = self.journal.as_mut()?.replay.pop_front()?;
        match entry {
            JournalEntry::Entered { pid, now } => {
                self.journal.as_mut()?.now = now;
                let processes = self.processes.as_mut()?;
                if processes.waiting() != Some(pid) {
                    self.diverge("a script was started that the journal does not have");
                    return None;
                }
                Some((pid, processes.start(pid, now)?))
            }
            JournalEntry::Delivered { id, now, answer: None } => {
                let queued = self.queue.iter().position(|(completion, _)| completion.id == id);
                match queued.and_then(|queued| self.queue.remove(queued)) {
                    Some((completion, effects)) => self.replay_delivery(completion, &effects.edits, now),
                    None => {
                        // The stream has no bytes yet.
                        let entry = JournalEntry::Delivered { id, now, answer: None };
                        self.journal.as_mut()?.replay.push_front(entry);
                        None
                    }
                }
            }
            JournalEntry::Delivered { id, now, answer: Some(answer) } => {
                // A refusal of a script is queued, and in the journal too.
                self.queue.retain(|(completion, _)| completion.id != id);
                let held = self.journal.as_ref()?.held.get(&id);
                if held.and_then(|(operation, _)| digest_of(operation)) != answer.call {
                    self.diverge(&format!("the operation {id} is another call, or has other arguments"));
                    return None;
                }
                match answer.restore() {
                    Ok((result, edits)) => self.replay_delivery(Completion { id, result }, &edits, now),
                    Err(error) => {
                        self.diverge(&error.to_string());
                        None
                    }
                }
            }
            _ => None,
        }
    }

    /// Delivers a completion at the time at which it was delivered before.
    fn replay_delivery(
        &mut self,
        completion: Completion,
        edits: &[Edit],
        now: u64,
    ) -> Option<(Pid, Result<Step, GuestError>)> {
        let id = completion.id;
        if self.outstanding.remove(id).is_none() {
            self.diverge(&format!("the script did not start the operation {id}"));
            return None;
        }
        let journal = self.journal.as_mut()?;
        journal.now = now;
        journal.held.remove(&id);
        let processes = self.processes.as_mut()?;
        let step = processes.resume(completion, edits, |error| cannot_apply_changes("a tool", error), now)?;
        Some((guest_process::owner(id), step))
    }

    /// Returns true if the journal has nothing more to replay, and the run continues on its own.
    pub(super) fn has_caught_up(&self) -> bool {
        self.journal.as_ref().is_some_and(|journal| journal.is_replaying && journal.replay.is_empty())
    }

    /// Returns true if the next entry of a replay can be given to a guest.
    pub(super) fn can_replay(&self) -> bool {
        let Some(journal) = self.journal.as_ref().filter(|journal| journal.is_replaying) else { return false };
        match journal.replay.front() {
            Some(JournalEntry::Delivered { id, answer: None, .. }) => {
                self.queue.iter().any(|(completion, _)| completion.id == *id)
            }
            _ => true,
        }
    }

    /// Continues a run that has caught up with its journal: performs what its guests still wait for.
    pub(super) fn go_live(&mut self, started: &mut Vec<Pending>) {
        let Some(journal) = &mut self.journal else { return };
        journal.is_replaying = false;
        journal.live.store(true, Ordering::Release);
        let held = std::mem::take(&mut journal.held);
        if let Some(failure) = journal.doubt(&held, &self.session.gate) {
            let name = self.session.id().map(ToString::to_string).unwrap_or_default();
            let hint = format!(
                "find out what it did, and say so: `tollhouse session resolve {name} SEQ retry`, `… fail MESSAGE` or `… done JSON`; `session abandon {name}` ends the run"
            );
            return self.leave_unfinished(Status::InDoubt, Some(failure.with_hint(hint)));
        }
        for (id, (operation, at)) in held {
            match operation {
                guest::Operation::Call { method, arguments } => {
                    started.extend(self.readmit_or_resolve(id, &method, &arguments));
                }
                guest::Operation::Sleep(duration) => {
                    let passed = Duration::from_nanos(guest_now().saturating_sub(at));
                    started.push(Pending { id, operation: Operation::Sleep(duration.saturating_sub(passed)) });
                }
                guest::Operation::Read { limit, .. } => {
                    started.push(Pending { id, operation: Operation::Read { limit } });
                }
                _ => {}
            }
        }
    }

    /// Continues with a call that has no result: delivers what a human said of it, or judges it again.
    fn readmit_or_resolve(&mut self, id: OperationId, method: &str, arguments: &str) -> Option<Pending> {
        let journal = self.journal.as_ref()?;
        let resolved = journal.admitted.get(&id).and_then(|seq| Some((*seq, journal.resolutions.get(seq)?)));
        let (seq, result) = match resolved {
            None | Some((_, Resolution::Retry)) => return self.readmit(id, method, arguments),
            Some((seq, Resolution::Fail(message))) => (seq, Err(Failure::tool(message.clone()))),
            Some((seq, Resolution::Done(value))) => (seq, Ok(Value::Json(value.clone().into()))),
        };
        let interrupt = self.processes.as_mut()?.get(guest_process::owner(id))?.interrupt.child();
        let kind = OperationKind::Call(method.to_owned());
        self.outstanding.insert(id, OutstandingOperation::new(kind, Some((seq, interrupt)), 0));
        self.outstanding.set_digest(id, Some(call_digest(method, arguments)));
        self.resume(Completion { id, result });
        None
    }

    /// Judges a call that the script had made before the run was resumed, and that has no result.
    fn readmit(&mut self, id: OperationId, method: &str, arguments: &str) -> Option<Pending> {
        let pid = guest_process::owner(id);
        let interrupt = self.processes.as_mut()?.get(pid)?.interrupt.child();
        let admitted = self.journal.as_ref()?.admitted.get(&id).copied();
        if let Some(seq) = admitted
            && let Err(error) = self.session.storage.give_back(self.scope.record.run(), seq)
        {
            let failure = Failure::host(format!("the call cannot be made again: {}", error_chain(&error)));
            return self.refuse(id, failure);
        }
        let journal = self.journal.as_ref()?;
        let seq = journal.asked.get(&id).copied().or(admitted);
        let decision = seq.and_then(|seq| journal.decisions.get(&seq));
        let (record, memory) = (&self.scope.record, &self.session.memory);
        let consent = Consent::Deferrable(decision);
        let gate = &self.session.gate;
        self.session.storage.judging(Some(id));
        let judged = gate.admit_numbered(record, seq, method, arguments, memory, &interrupt, consent);
        self.session.storage.judging(None);
        self.admitted(id, judged, interrupt, Some(call_digest(method, arguments)))
    }

    /// Keeps a call that waits for a decision.
    pub(super) fn defer(&mut self, id: OperationId, call: Box<DeferredCall>) {
        self.outstanding.insert(id, OutstandingOperation::new(OperationKind::Call(call.method.clone()), None, 0));
        self.record(&JournalEntry::Deferred { id, call: call.clone() });
        if let Some(journal) = &mut self.journal {
            journal.deferred.insert(id, call);
        }
    }

    /// Returns true if calls wait for a decision.
    pub(super) fn is_deferring(&self) -> bool {
        self.journal.as_ref().is_some_and(|journal| !journal.deferred.is_empty())
    }

    /// Suspends the run, because all that it waits for are decisions of humans.
    pub(super) fn suspend(&mut self) {
        let calls: Vec<String> = self
            .journal
            .iter()
            .flat_map(|journal| journal.deferred.values())
            .map(|call| format!("call {} of `{}` (grant `{}`: {})", call.seq, call.method, call.grant, call.reason))
            .collect();
        let failure = Failure::approval(format!("the run waits for approval of {}", calls.join(", ")));
        let name = self.session.id().map(ToString::to_string).unwrap_or_default();
        let hint = format!(
            "`tollhouse session pending {name}` shows what waits, `session approve {name}` or `session deny {name}` decides, and `session resume {name}` continues"
        );
        self.leave_unfinished(Status::Suspended, Some(failure.with_hint(hint)));
    }

    /// Ends a replay that does not do what the journal says: nothing has changed.
    pub(super) fn diverge(&mut self, what: &str) {
        let failure = Failure::host(format!("the run cannot be resumed, since it differs from its journal: {what}"))
            .with_hint("nothing was changed; `tollhouse session abandon NAME` ends the run");
        self.leave_unfinished(Status::Failed, Some(failure));
    }

    /// Leaves the run as it is in its journal.
    fn leave_unfinished(&mut self, status: Status, error: Option<Failure>) {
        let Some(processes) = self.processes.take() else { return };
        let Some(slot) = self.slot.take() else { return };
        self.interrupt.cancel();
        self.work.end();
        let calls = self.session.gate.suspend(&self.scope.record);
        let usage = self.usage(&processes);
        let files = processes.files().clone();
        drop(processes);
        let captured = self.captured.take().map(|captured| captured.take()).unwrap_or_default();
        let outcome = Outcome { value: None, exit_code: 1, error, fuel: 0, state: None };
        let ended = EndedRun { outcome, calls, usage, captured };
        let result = ended.unfinished(&self.session, &slot, status, files);
        self.result = Some(Box::new(self.session.suspend(&slot, result)));
    }

    /// Takes the gate's decision about a call: returns the call if it is to be made.
    pub(super) fn admitted(
        &mut self,
        id: OperationId,
        judged: Result<Admission, NotAdmitted>,
        interrupt: Interrupt,
        digest: Option<String>,
    ) -> Option<Pending> {
        let admitted = self.judged(id, judged, interrupt);
        self.outstanding.set_digest(id, digest);
        admitted
    }

    fn judged(
        &mut self,
        id: OperationId,
        judged: Result<Admission, NotAdmitted>,
        interrupt: Interrupt,
    ) -> Option<Pending> {
        match judged {
            Ok(admission) => {
                let kind = OperationKind::Call(admission.method().to_owned());
                let call = Some((admission.seq(), interrupt));
                let mut operation = OutstandingOperation::new(kind, call, admission.held_bytes());
                operation.is_pure = self.session.gate.is_pure(admission.method());
                self.outstanding.insert(id, operation);
                Some(Pending { id, operation: Operation::Call(admission) })
            }
            Err(NotAdmitted::Refused(failure)) => self.refuse(id, failure),
            Err(NotAdmitted::Deferred(call)) => {
                self.defer(id, call);
                None
            }
        }
    }
}
