//! Calls of a run whose session is recorded, answered from a recording, or a dry run.

use super::Run;
use crate::error::Failure;
use crate::gate::Admission;
use crate::guest::{Completion, Outcome, Value};
use crate::session::recording::{AdmittedCall, NextAnswer, RecordedResult};
use crate::session::step::{Operation, Pending};
use crate::tool::CallEffects;

impl Run {
    /// Records a call that is about to be made, or answers it from the recording. Returns an operation that is still to be
    /// performed.
    pub(super) fn record_or_answer(&mut self, pending: Pending) -> Option<Pending> {
        let Pending { id, operation } = &pending;
        let admission = match operation {
            Operation::Call(admission) => admission,
            Operation::Program(admission, _) => {
                self.refuse_unrecordable(admission);
                return Some(pending);
            }
            _ => return Some(pending),
        };
        let call = AdmittedCall {
            run: self.scope.record.run(),
            seq: admission.seq(),
            method: admission.method(),
            arguments: admission.arguments(),
            memory: &self.session.memory,
        };
        match self.session.calls.next(call) {
            NextAnswer::OfTool => return Some(pending),
            NextAnswer::Recorded(recorded) => match self.possible(admission.method(), recorded) {
                Ok(recorded) => drop(self.recorded.insert(recorded.order, (*id, recorded))),
                Err(failure) => self.end(Outcome::failed(failure)),
            },
            // The script gave the call up when it was recorded, and gives it up now.
            NextAnswer::Never => {}
            NextAnswer::Ends(failure) => self.end(Outcome::failed(failure)),
        }
        None
    }

    /// Returns an answer that the tool can have given: of its type, and with changes of files that it may change.
    fn possible(&self, method: &str, mut recorded: Box<RecordedResult>) -> Result<Box<RecordedResult>, Failure> {
        if let Some(failure) = self.refusal_of_changes(method, &recorded) {
            return Err(failure);
        }
        let Some(tool) = self.session.gate.tools().get(method) else { return Ok(recorded) };
        recorded.result = match recorded.result {
            Ok(Value::Json(payload)) => match tool.recorded_result(payload, self.session.memory.limit()) {
                Ok(payload) => Ok(Value::Json(payload)),
                Err(why) => {
                    let message = format!("the recording has a result that `{method}` does not return: {why}");
                    return Err(Failure::host(message).with_hint("record the script again"));
                }
            },
            other => other,
        };
        Ok(recorded)
    }

    /// Returns the failure of a call whose recorded answer changes files that its tool may not change: whoever wrote the
    /// recording has no more rights than the tool.
    fn refusal_of_changes(&self, method: &str, recorded: &RecordedResult) -> Option<Failure> {
        let path = self.session.gate.impossible_change(method, &self.session.head(), &recorded.edits)?;
        let message = format!("the recording has a change of `{path}` by `{method}`, which may not change that file");
        let hint = "record the script again, or grant the tool what it was granted then";
        Some(Failure::host(message).with_hint(hint))
    }

    /// Performs the calls of a dry run among these operations, of which those from index `earlier` on are new: a host that
    /// executes the tools itself would call them.
    pub(super) fn perform_calls(&mut self, earlier: usize, started: &mut Vec<Pending>) {
        let new = started.split_off(earlier);
        let (calls, others) = new.into_iter().partition(|pending| pending.operation.admission().is_some());
        started.extend::<Vec<_>>(others);
        Vec::into_iter(calls).for_each(|pending| self.perform(pending));
    }

    /// Delivers the recorded answer that came first, of those that the script waits for.
    pub(super) fn deliver_recorded(&mut self) {
        if let Some((_, (id, recorded))) = self.recorded.pop_first() {
            let RecordedResult { result, edits, charge, .. } = *recorded;
            // From here on it is like the result of a tool, whose guest has the memory for it.
            drop(charge);
            self.deliver(Completion { id, result }, CallEffects { edits, ..CallEffects::default() });
        }
    }

    /// Ends the run if it is recorded or replayed, and a program that is about to start may do more than compute: what a
    /// program did is in no recording.
    fn refuse_unrecordable(&mut self, admission: &Admission) {
        let method = admission.method();
        if !self.session.calls.are_plain() && !self.session.gate.is_pure(method) {
            let failure = Failure::host(format!("the program `{method}` may have effects, and cannot be recorded"))
                .with_hint("record runs whose programs have no network, secrets or tools");
            self.end(Outcome::failed(failure));
        }
    }

    /// Records the result of a call.
    pub(super) fn record_result(&mut self, seq: u64, completion: &Completion, effects: &CallEffects) {
        let recorded = self.session.calls.record((self.scope.record.run(), seq), &completion.result, &effects.edits);
        if let Err(failure) = recorded {
            self.end(Outcome::failed(failure));
        }
    }

    /// Returns the outcome of a run that has ended: a failure, if it did not make all calls of its recording.
    pub(super) fn with_all_calls(&self, outcome: Outcome) -> Outcome {
        let is_success = outcome.error.is_none() && outcome.exit_code == 0;
        match self.session.calls.missing(self.scope.record.run()).filter(|_| is_success) {
            Some(failure) => Outcome { exit_code: 1, error: Some(failure), ..outcome },
            None => outcome,
        }
    }
}
