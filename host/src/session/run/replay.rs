//! Replay of a run that is resumed: its guests are given what the journal says, and nothing is performed.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tollhouse_registry::Effect;

use super::Run;
use super::journaling::{RunJournal, call_digest, digest_of, program_arguments};
use super::outstanding::{OperationKind, OperationStream, OutstandingOperation};
use super::replayed_programs::Launch;
use crate::code::Interrupt;
use crate::error::{Failure, error_chain};
use crate::gate::{Admission, Consent, EarlierQuestion, Gate, NotAdmitted, RequestedCall};
use crate::guest::{self, Completion, GuestError, OperationId, ProgramRun, Runnable, Step, Value};
use crate::remedy::Remedy;
use crate::session::guest_process::{self, MAIN, Pid};
use crate::session::host::guest_now;
use crate::session::journal::{
    AnswerText, JournalEntry, RecordedEdit, Resolution, UnreadOutput, restore_edits, seed_of,
};
use crate::session::persistence::JudgedOperation;
use crate::session::result::Status;
use crate::session::step::{Operation, Pending};
use crate::tool::cannot_apply_changes;
use crate::vfs::Edit;

/// Operations that the guests of a replay wait for, each with the time at which it was started.
pub(super) type HeldOperations = BTreeMap<OperationId, (guest::Operation, u64)>;

/// Decision of the gate about a call of a run that is resumed, with the interrupt that stops the call; or the reason why
/// it could not be judged.
type ResumedJudgement = Result<(Result<Admission, NotAdmitted>, Interrupt), Failure>;

impl RunJournal {
    /// Returns the failure that names the calls of which nobody knows whether they took effect.
    fn doubt(&self, held: &HeldOperations, gate: &Gate) -> Option<Failure> {
        let in_doubt = held.iter().filter_map(|(id, (operation, _))| {
            let method = method_of(operation)?;
            let seq = self.admitted.get(id).filter(|seq| !self.resolutions.contains_key(seq))?;
            (gate.effect(method) == Effect::Once).then(|| format!("call {seq} of `{method}`"))
        });
        let calls: Vec<String> = in_doubt.collect();
        let message = "had started when the process ended, and nobody knows whether it took effect";
        (!calls.is_empty()).then(|| Failure::host(format!("{} {message}", calls.join(" and "))))
    }

    /// Notes what an answer of the journal says of a program: that it ended, or what a script read of it.
    fn note_program(
        &mut self,
        id: OperationId,
        stream: Option<u32>,
        unread: Option<&UnreadOutput>,
        result: &Result<Value, Failure>,
    ) -> Result<(), String> {
        match (unread, stream, result) {
            (Some(unread), ..) => self.programs.end(id, unread.restore().map_err(|error| error.to_string())?),
            (None, Some(number), Ok(Value::Bytes(bytes))) => {
                self.programs.read(guest_process::owner(id), number, bytes)?;
            }
            (None, Some(number), Err(_)) => self.programs.write_failed(id, number),
            // A program that did not start.
            (None, None, _) => self.programs.stop(id),
            (None, Some(_), Ok(_)) => {}
        }
        Ok(())
    }
}

/// Returns the method of an operation that the gate judges.
pub(super) fn method_of(operation: &guest::Operation) -> Option<&str> {
    match operation {
        guest::Operation::Call { method, .. } => Some(method),
        guest::Operation::Run(ProgramRun { what: Runnable::Program(method), .. }) => Some(method),
        _ => None,
    }
}

/// Returns the exit status that a human gave of a program that was interrupted.
fn exit_status(value: &serde_json::Value) -> Result<Value, Failure> {
    let status = value.as_u64().and_then(|status| u8::try_from(status).ok());
    status.map(Value::Exited).ok_or_else(|| {
        Failure::host(format!(
            "the result of a program that was interrupted is its exit status, 0 to 255, and not {value}"
        ))
    })
}

impl Run {
    /// Keeps an operation that the journal answers, or that is performed when the replay has ended. Returns it if it
    /// is performed now: a stream between two scripts, or a script.
    pub(super) fn hold(&mut self, pid: Pid, pending: guest::Pending) -> Option<guest::Pending> {
        let Some(journal) = self.journal.as_mut().filter(|journal| journal.is_replaying) else { return Some(pending) };
        let (id, programs) = (pending.id, &mut journal.programs);
        let on_stream = |number: u32| {
            let stream = OperationStream { number, is_of_script: false };
            OutstandingOperation::on_stream(OperationKind::Stream, stream)
        };
        let held = match &pending.operation {
            guest::Operation::Run(run) => match &run.what {
                Runnable::Program(method) => {
                    programs.start(id, run);
                    OutstandingOperation::new(OperationKind::Call(method.clone()), None, 0)
                }
                Runnable::Script { .. } => {
                    programs.start_script(id, run);
                    return Some(pending);
                }
            },
            guest::Operation::Call { method, .. } => {
                OutstandingOperation::new(OperationKind::Call(method.clone()), None, 0)
            }
            guest::Operation::Sleep(_) => OutstandingOperation::new(OperationKind::Timer, None, 0),
            guest::Operation::Read { stream: 0, .. } if pid == MAIN => {
                OutstandingOperation::new(OperationKind::Input, None, 0)
            }
            guest::Operation::Read { stream, .. } if programs.has_stream(pid, *stream) => on_stream(*stream),
            guest::Operation::Write { stream, bytes, end } if programs.has_stream(pid, *stream) => {
                programs.write(id, *stream, bytes, *end);
                on_stream(*stream)
            }
            _ => return Some(pending),
        };
        self.outstanding.insert(id, held);
        journal.held.insert(id, (pending.operation, journal.now));
        self.check_made(id);
        None
    }

    /// Forgets an operation that its guest no longer waits for. In a replay, the files are kept that it had changed.
    pub(super) fn forget_held(&mut self, id: OperationId) {
        let Some(journal) = &mut self.journal else { return };
        journal.held.remove(&id);
        journal.deferred.remove(&id);
        journal.waiting_calls.remove(&id);
        journal.waiting_programs.remove(&id);
        journal.programs.stop(id);
        let is_kept = |entry: &mut JournalEntry| matches!(entry, JournalEntry::Kept { id: of, .. } if *of == id);
        if let Some(JournalEntry::Kept { edits, .. }) = journal.replay.pop_front_if(is_kept) {
            self.replay_kept(edits);
        }
    }

    /// Changes the files as a program had that a script stopped.
    fn replay_kept(&mut self, edits: Vec<RecordedEdit>) {
        let Some(processes) = &mut self.processes else { return };
        let changed = restore_edits(edits)
            .map_err(|error| error.to_string())
            .and_then(|edits| processes.change_files(&edits).map_err(|error| error.to_string()));
        if let Err(error) = changed {
            self.diverge(&format!("the files of a program that was stopped do not fit: {error}"));
        }
    }

    /// Notes the programs that start where the journal is, and gives the guests other random numbers where the run was
    /// forked.
    fn pass_markers(&mut self) {
        let (Some(journal), Some(processes)) = (&mut self.journal, &mut self.processes) else { return };
        loop {
            match journal.replay.front() {
                Some(JournalEntry::Launched { id, now }) => {
                    journal.programs.launch(*id, Launch { files: processes.files().clone(), now: *now });
                }
                Some(JournalEntry::Forked { seed, .. }) => match seed_of(seed) {
                    Ok(secret) => {
                        self.seed.replace(secret);
                        processes.reseed(&self.seed);
                    }
                    Err(error) => return self.diverge(&error.to_string()),
                },
                _ => return,
            }
            journal.replay.pop_front();
        }
    }

    /// Enters a guest as the journal says. Returns `None` if the replay has ended, or waits for a stream.
    pub(super) fn advance_replayed(&mut self) -> Option<(Pid, Result<Step, GuestError>)> {
        self.keep_files_of_starts();
        let entry = self.journal.as_mut()?.replay.pop_front()?;
        match entry {
            JournalEntry::Entered { pid, now } => {
                let journal = self.journal.as_mut()?;
                (journal.now, journal.entries) = (now, journal.entries + 1);
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
            JournalEntry::Delivered { id, now, answer: Some(answer) } => self.replay_answer(id, now, answer),
            JournalEntry::Kept { id, .. } => {
                self.diverge(&format!("the script did not stop the program of operation {id}"));
                None
            }
            _ => None,
        }
    }

    /// Gives a guest an answer of the journal.
    fn replay_answer(
        &mut self,
        id: OperationId,
        now: u64,
        answer: AnswerText,
    ) -> Option<(Pid, Result<Step, GuestError>)> {
        // A refusal of a script is queued, and in the journal too.
        self.queue.retain(|(completion, _)| completion.id != id);
        let journal = self.journal.as_mut()?;
        let held = journal.held.get(&id);
        if held.and_then(|(operation, _)| digest_of(operation)) != answer.call {
            self.diverge(&format!("the operation {id} is another call, or has other arguments"));
            return None;
        }
        let answer = match answer.read_within(&self.session.memory) {
            Ok(answer) => answer,
            Err(error) => {
                self.diverge(&error.to_string());
                return None;
            }
        };
        if !self.check_answer(id, &answer) {
            return None;
        }
        let journal = self.journal.as_mut()?;
        let (stream, unread) = (answer.stream, answer.unread.clone());
        let restored = answer.restore().map_err(|error| error.to_string()).and_then(|(result, edits)| {
            journal.note_program(id, stream, unread.as_ref(), &result)?;
            Ok((result, edits))
        });
        match restored {
            Ok((result, edits)) => self.replay_delivery(Completion { id, result }, &edits, now),
            Err(error) => {
                self.diverge(&error);
                None
            }
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
        let Some(operation) = self.outstanding.remove(id) else {
            self.diverge(&format!("the script did not start the operation {id}"));
            return None;
        };
        if let Some(stream) = operation.stream {
            self.confirm_read(id, stream);
        }
        let journal = self.journal.as_mut()?;
        (journal.now, journal.entries) = (now, journal.entries + 1);
        journal.held.remove(&id);
        let processes = self.processes.as_mut()?;
        let step = processes.resume(completion, edits, |error| cannot_apply_changes("a tool", error), now)?;
        Some((guest_process::owner(id), step))
    }

    /// Returns true if the journal has nothing more to replay, and the run continues on its own.
    pub(super) fn has_caught_up(&mut self) -> bool {
        self.pass_markers();
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
        if journal.check.is_some() {
            return self.end_check();
        }
        let held = std::mem::take(&mut journal.held);
        if let Some(program) = journal.programs.was_given_too_much() {
            let what = format!("the program of operation {program} had been given more than 8 MiB, and had not ended");
            return self.diverge(&what);
        }
        if self.input.is_replaying() {
            return self.diverge("the script did not read all of its standard input again");
        }
        journal.is_replaying = false;
        journal.live.store(true, Ordering::Release);
        if let Some(failure) = journal.doubt(&held, &self.session.gate) {
            let name = self.session.id().map(ToString::to_string).unwrap_or_default();
            return self.leave_unfinished(Status::InDoubt, Some(failure.with_hint(Remedy::ResolveCalls(&name))));
        }
        self.open_unread();
        for (id, (operation, at)) in held {
            started.extend(self.perform_held(id, operation, at));
        }
    }

    /// Performs an operation that was started at this time, in the replay. Returns it if it is still to be performed.
    fn perform_held(&mut self, id: OperationId, operation: guest::Operation, at: u64) -> Option<Pending> {
        let operation = match operation {
            guest::Operation::Call { method, arguments, location } => {
                let call = RequestedCall { method: &method, arguments: &arguments, location: location.as_ref() };
                return self.readmit_call(id, call);
            }
            guest::Operation::Run(run) => return self.readmit_program(id, &run),
            guest::Operation::Sleep(duration) => {
                let passed = Duration::from_nanos(guest_now().saturating_sub(at));
                Operation::Sleep(duration.saturating_sub(passed))
            }
            guest::Operation::Read { stream: 0, limit } => Operation::Read { limit },
            guest::Operation::Read { stream, limit } => return self.read_stream(id, stream, limit),
            guest::Operation::Write { stream, end, .. } => {
                self.await_write(id, stream, end);
                return None;
            }
        };
        Some(Pending { id, operation })
    }

    /// Continues with a call that has no result: delivers what a human said of it, or judges it again.
    fn readmit_call(&mut self, id: OperationId, call: RequestedCall<'_>) -> Option<Pending> {
        if let Some((seq, resolution)) = self.resolution(id) {
            let result = match resolution {
                Resolution::Fail(message) => Err(Failure::tool(message)),
                Resolution::Done(value) => Ok(Value::Json(value.into())),
                Resolution::Retry => return self.judge_call_again(id, call),
            };
            self.settle_resolved(id, seq, call.method, result, call_digest(call.method, call.arguments));
            return None;
        }
        self.judge_call_again(id, call)
    }

    fn judge_call_again(&mut self, id: OperationId, call: RequestedCall<'_>) -> Option<Pending> {
        match self.judge_resumed(id, call)? {
            Ok((judged, interrupt)) => {
                self.note_deferred(id, &judged, &call);
                self.admitted(id, judged, interrupt, Some(call_digest(call.method, call.arguments)))
            }
            Err(failure) => self.refuse(id, failure),
        }
    }

    /// Continues with a program that had not ended, in the same way.
    fn readmit_program(&mut self, id: OperationId, run: &ProgramRun) -> Option<Pending> {
        let Runnable::Program(method) = &run.what else { return None };
        let digest = digest_of(&guest::Operation::Run(run.clone())).unwrap_or_default();
        let repetition = self.journal.as_mut()?.programs.take(id);
        let result = match self.resolution(id) {
            Some((seq, Resolution::Fail(message))) => Some((seq, Err(Failure::tool(message)))),
            Some((seq, Resolution::Done(value))) => Some((seq, exit_status(&value))),
            Some((_, Resolution::Retry)) | None => None,
        };
        if let Some((seq, result)) = result {
            self.open_ended(id, run);
            self.settle_resolved(id, seq, method, result, digest);
            return None;
        }
        let arguments = program_arguments(run);
        let pending = match self.judge_resumed(id, RequestedCall::new(method, &arguments))? {
            Ok((judged, interrupt)) => self.program_judged(id, run, judged, interrupt, Some(digest)),
            Err(failure) => self.refuse(id, failure),
        };
        if let Some(repetition) = repetition {
            self.repeat_program(id, run, repetition);
        }
        pending
    }

    /// Returns what a human said of a call that was interrupted, with its number.
    fn resolution(&self, id: OperationId) -> Option<(u64, Resolution)> {
        let journal = self.journal.as_ref()?;
        let seq = *journal.admitted.get(&id)?;
        Some((seq, journal.resolutions.get(&seq)?.clone()))
    }

    /// Delivers what a human said of a call that was interrupted.
    fn settle_resolved(
        &mut self,
        id: OperationId,
        seq: u64,
        method: &str,
        result: Result<Value, Failure>,
        digest: String,
    ) {
        let process = self.processes.as_mut().and_then(|processes| processes.get(guest_process::owner(id)));
        let Some(interrupt) = process.map(|process| process.interrupt.child()) else { return };
        let kind = OperationKind::Call(method.to_owned());
        self.outstanding.insert(id, OutstandingOperation::new(kind, Some((seq, interrupt)), 0));
        self.outstanding.set_digest(id, Some(digest));
        self.resume(Completion { id, result });
    }

    /// Judges a call or a program that a script had started before the run was resumed, and that has no result.
    fn judge_resumed(&mut self, id: OperationId, call: RequestedCall<'_>) -> Option<ResumedJudgement> {
        let pid = guest_process::owner(id);
        let interrupt = self.processes.as_mut()?.get(pid)?.interrupt.child();
        let admitted = self.journal.as_ref()?.admitted.get(&id).copied();
        if let Some(seq) = admitted
            && let Err(error) = self.session.storage.give_back(self.scope.record.run(), seq)
        {
            return Some(Err(Failure::host(format!("the call cannot be made again: {}", error_chain(&error)))));
        }
        let journal = self.journal.as_ref()?;
        let asked = journal.asked.get(&id).map(|asked| &**asked);
        let seq = asked.map(|asked| asked.seq).or(admitted);
        let decision = seq.and_then(|seq| journal.decisions.get(&seq));
        let (gate, record, memory) = (&self.session.gate, &self.scope.record, &self.session.memory);
        let edit = seq.and_then(|seq| Some((journal.edits.get(&seq)?, journal.edited.get(&seq)?)));
        let rejected = edit.and_then(|(_, (asked, decision))| gate.unsigned_edit(record.run(), asked, decision));
        let edited = edit.filter(|_| rejected.is_none()).map(|(arguments, _)| arguments.to_string());
        let call = RequestedCall { arguments: edited.as_deref().unwrap_or(call.arguments), ..call };
        let consent = Consent::Deferrable(EarlierQuestion { asked, decision, rejected: rejected.as_deref() });
        self.session.storage.judging(Some(JudgedOperation { id, effect: gate.effect(call.method) }));
        let judged = gate.admit_numbered(record, seq, call, memory, &interrupt, consent);
        self.session.storage.judging(None);
        Some(Ok((judged, interrupt)))
    }
}
