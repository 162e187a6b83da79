//! Suspension of runs that wait for a human, and of replays that cannot go on.

use super::Run;
use super::outstanding::{OperationKind, OutstandingOperation};
use super::replayed_programs::MAX_PROGRAM_INPUT;
use crate::error::{ErrorKind, Failure};
use crate::gate::{Consent, DeferredCall, EarlierQuestion};
use crate::guest::{OperationId, Outcome};
use crate::remedy::Remedy;
use crate::session::guest_process::{self, MAIN};
use crate::session::journal::JournalEntry;
use crate::session::result::{EndedRun, Status};
use crate::tool::ProgramStart;

/// Returns true if a run was cancelled, or reached a limit.
fn is_stop(outcome: &Outcome) -> bool {
    outcome.error.as_ref().is_some_and(|error| matches!(error.kind, ErrorKind::Cancelled | ErrorKind::Limit))
}

impl Run {
    /// Returns the question about a call of this number and the decision, if there are any and the run can wait for one.
    pub(super) fn consent(&self, seq: u64) -> Consent<'_> {
        match self.journal.as_ref().filter(|journal| !journal.is_broken) {
            Some(journal) => {
                let asked = journal.asked.values().find(|asked| asked.seq == seq).map(|asked| &**asked);
                Consent::Deferrable(EarlierQuestion { asked, decision: journal.decisions.get(&seq), rejected: None })
            }
            None => Consent::Now,
        }
    }

    /// Keeps a call that waits for a decision.
    pub(super) fn defer(&mut self, id: OperationId, call: Box<DeferredCall>) {
        self.outstanding.insert(id, OutstandingOperation::new(OperationKind::Call(call.method.clone()), None, 0));
        // A question that was asked before is in the journal.
        let is_new = self.journal.as_ref().is_none_or(|journal| journal.asked.get(&id) != Some(&call));
        if is_new {
            self.record(&JournalEntry::Deferred { id, call: call.clone() });
        }
        if let Some(journal) = &mut self.journal {
            journal.deferred.insert(id, call);
        }
    }

    /// Keeps a program that waits for a decision; what a script writes to it waits with it.
    pub(super) fn defer_program(&mut self, id: OperationId, call: Box<DeferredCall>, streams: ProgramStart) {
        self.defer(id, call);
        if let Some(journal) = &mut self.journal {
            journal.waiting_programs.insert(id, streams);
        }
    }

    /// Returns true if calls wait for a decision.
    pub(super) fn is_deferring(&self) -> bool {
        self.journal.as_ref().is_some_and(|journal| !journal.deferred.is_empty())
    }

    /// Refuses all calls that wait for a decision, since the run cannot wait.
    pub(super) fn refuse_deferred(&mut self, why: &str) {
        let Some(journal) = &mut self.journal else { return };
        journal.waiting_programs.clear();
        journal.waiting_calls.clear();
        for (id, call) in std::mem::take(&mut journal.deferred) {
            let failure = self.session.gate.refuse_deferred(&self.scope.record, *call, why);
            self.refuse(id, failure);
        }
    }

    /// Returns true if whoever drives the run makes calls, or reads input, that the run waits for. A program that waits
    /// for the script does not count.
    pub(super) fn has_calls_elsewhere(&self) -> bool {
        let queued = |id: &OperationId| self.queue.iter().any(|(completion, _)| completion.id == *id);
        self.outstanding.iter().any(|(id, operation)| {
            operation.is_elsewhere(guest_process::owner(*id) == MAIN)
                && !queued(id)
                && !(operation.streams.is_some() && self.is_waiting_program(*id))
        })
    }

    fn is_waiting_program(&self, id: OperationId) -> bool {
        let process = self.processes.as_ref().and_then(|processes| processes.process(guest_process::owner(id)));
        process.is_some_and(|process| process.streams.is_waiting(id))
    }

    /// Suspends the run, unless a program that waits for the script could not run again when the run is resumed.
    pub(super) fn suspend_or_refuse(&mut self) {
        let running = || self.outstanding.values().filter(|operation| operation.streams.is_some());
        let given: usize = running().filter_map(|operation| operation.streams).map(|streams| streams.given).sum();
        let effect = running().find(|operation| !operation.is_pure).and_then(OutstandingOperation::method);
        let why = match effect {
            Some(method) => format!("has started the program `{method}`, which may have an effect and has not ended,"),
            None if given > MAX_PROGRAM_INPUT => "has given more than 8 MiB to programs that have not ended".to_owned(),
            None => return self.suspend(),
        };
        self.refuse_deferred(&why);
    }

    /// Suspends the run, because all that it waits for are decisions of humans.
    fn suspend(&mut self) {
        let calls: Vec<String> = self
            .journal
            .iter()
            .flat_map(|journal| journal.deferred.values())
            .map(|call| format!("call {} of `{}` (grant `{}`: {})", call.seq, call.method, call.grant, call.reason))
            .collect();
        let failure = Failure::approval(format!("the run waits for approval of {}", calls.join(", ")));
        let name = self.session.id().map(ToString::to_string).unwrap_or_default();
        let deferred = self.journal.iter().flat_map(|journal| journal.deferred.values());
        let deferred: Vec<DeferredCall> = deferred.map(|call| (**call).clone()).collect();
        self.leave_unfinished(Status::Suspended, Some(failure.with_hint(Remedy::DecideCalls(&name))));
        // Whoever is told may resume the run at once.
        if self.result.as_ref().is_some_and(|result| result.status == Status::Suspended) {
            self.session.tell_suspended(self.scope.record.run(), &deferred);
        }
    }

    /// Returns true if the run ends before it is where it was, or is stopped in a step that it had done before.
    pub(super) fn ends_in_replay(&self, outcome: &Outcome) -> bool {
        let replay = self.journal.as_ref().filter(|journal| journal.is_replaying);
        replay.is_some_and(|journal| !journal.replay.is_empty() || (is_stop(outcome) && journal.check.is_none()))
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
            Some(failure) if failure.kind == ErrorKind::Host => {
                let hint = failure.hint.clone().map(|hint| format!("{hint}; ")).unwrap_or_default();
                let hint = format!("{hint}the run is as it was, and can be resumed again");
                self.leave_unfinished(Status::Failed, Some(failure.with_hint(hint)));
            }
            Some(failure) => {
                self.diverge(&format!("the script ended earlier, by {}: {}", failure.name, failure.message));
            }
            None => self.diverge("the script ended earlier"),
        }
    }

    /// Ends a run that does not do what its journal says.
    pub(super) fn diverge(&mut self, what: &str) {
        if self.journal.as_ref().is_some_and(|journal| journal.check.is_some()) {
            let failure = Failure::host(format!("the run differs from its journal: {what}"));
            return self.leave_unfinished(Status::Failed, Some(failure));
        }
        // A program that is repeated runs after the replay, beside calls that are performed.
        let made = if self.is_replaying() { "nothing was changed" } else { "its calls since the resumption are kept" };
        let name = self.session.id().map(ToString::to_string).unwrap_or_default();
        let failure = Failure::host(format!("the run cannot be resumed, since it differs from its journal: {what}"))
            .with_hint(format!("{made}; {}", Remedy::AbandonRun(&name)));
        self.leave_unfinished(Status::Failed, Some(failure));
    }

    /// Leaves the run as it is in its journal.
    pub(super) fn leave_unfinished(&mut self, status: Status, error: Option<Failure>) {
        let heap = if status == Status::Suspended { self.take_heap() } else { None };
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
        self.result = Some(Box::new(self.session.suspend(&slot, result, heap.as_ref())));
    }
}
