//! Calls of a run whose session is recorded, or answered from a recording.

use super::Run;
use crate::error::Failure;
use crate::gate::Admission;
use crate::guest::{Completion, OperationId, Outcome};
use crate::session::recording::{NextAnswer, RecordedResult, TapedCall};
use crate::tool::CallEffects;

impl Run {
    /// Notes a call that is about to be made, or answers it from the recording. Returns the admission of one that is to be
    /// made.
    pub(super) fn through_tape(&mut self, id: OperationId, admission: Admission) -> Option<Admission> {
        let call = TapedCall {
            run: self.scope.record.run(),
            seq: admission.seq(),
            method: admission.method(),
            arguments: admission.arguments(),
        };
        match self.session.tape.next(call) {
            NextAnswer::OfTool => return Some(admission),
            NextAnswer::Recorded(recorded) => drop(self.recorded.insert(recorded.order, (id, recorded))),
            // The script gave the call up when it was recorded, and gives it up now.
            NextAnswer::Never => {}
            NextAnswer::Ends(failure) => self.end(Outcome::failed(failure)),
        }
        None
    }

    /// Delivers the recorded answer that came first, of those that the script waits for.
    pub(super) fn deliver_recorded(&mut self) {
        if let Some((_, (id, recorded))) = self.recorded.pop_first() {
            let RecordedResult { result, edits, .. } = *recorded;
            self.deliver(Completion { id, result }, CallEffects { edits, ..CallEffects::default() });
        }
    }

    /// Ends the run if it is recorded or replayed, and a program that is about to start may do more than compute: what a
    /// program did is in no recording.
    pub(super) fn refuse_unrecordable(&mut self, admission: &Admission) {
        let method = admission.method();
        if !self.session.tape.is_none() && !self.session.gate.is_pure(method) {
            let failure = Failure::host(format!("the program `{method}` may have effects, and cannot be recorded"))
                .with_hint("record runs whose programs have no network, secrets or tools");
            self.end(Outcome::failed(failure));
        }
    }

    /// Records the result of a call.
    pub(super) fn record_result(&mut self, seq: u64, completion: &Completion, effects: &CallEffects) {
        let recorded = self.session.tape.record((self.scope.record.run(), seq), &completion.result, &effects.edits);
        if let Err(failure) = recorded {
            self.end(Outcome::failed(failure));
        }
    }

    /// Returns the outcome of a run that has ended: a failure, if it did not make all calls of its recording.
    pub(super) fn with_all_calls(&self, outcome: Outcome) -> Outcome {
        let is_success = outcome.error.is_none() && outcome.exit_code == 0;
        match self.session.tape.missing(self.scope.record.run()).filter(|_| is_success) {
            Some(failure) => Outcome { exit_code: 1, error: Some(failure), ..outcome },
            None => outcome,
        }
    }
}
