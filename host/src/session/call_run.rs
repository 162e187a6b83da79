//! Calls of one tool without a script. Each is a run of its own.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Instant;

use super::result::{EndedRun, Usage};
use super::run_scope::RunScope;
use super::session_state::{SessionState, micros};
use super::session_storage::RunSlot;
use crate::code::{Interrupt, Stopped, TICK};
use crate::error::{ErrorKind, Failure, Payload, error_chain};
use crate::gate::{Admission, AdmittedCall, CallOutcome, Event, RequestedCall};
use crate::guest::Outcome;
use crate::tool::{Package, cannot_apply_changes};

/// One call of one tool. The gate decides and the tool is called in [`CallRun::finish`], not before.
pub struct CallRun {
    session: Arc<SessionState>,
    /// Always set until the call ends.
    slot: Option<RunSlot>,
    method: String,
    arguments: String,
    interrupt: Interrupt,
}

impl CallRun {
    pub(super) fn new(session: Arc<SessionState>, slot: RunSlot, method: &str, arguments: &str) -> Self {
        let (method, arguments) = (method.to_owned(), arguments.to_owned());
        Self { session, slot: Some(slot), method, arguments, interrupt: Interrupt::default() }
    }

    /// Returns a handle that stops this call from another thread: [`Interrupt::cancel`].
    #[must_use]
    pub fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }

    /// Makes the call, through the gate like every call, on this thread.
    ///
    /// # Errors
    /// The failure that a script would see: no such method, invalid arguments, no grant, or the tool's own error.
    pub fn finish(mut self) -> Result<Payload, Failure> {
        let started_at = Instant::now();
        let slot = self.slot.take().expect("a call ends once: this takes it");
        let session = &self.session;
        let scope = RunScope::new(session, slot.number());
        let interrupt = self.interrupt.clone();
        let stoppable = session.storage.stoppable(move || interrupt.cancel());
        let full = self.interrupt.clone();
        scope.record.log().on_full(move || full.cancel());
        let result = self.perform(&scope);
        drop(stoppable);
        let calls = session.gate.close(&scope.record);
        let result = scope.record.log_failure().map_or(result, Err);
        let error = result.as_ref().err().cloned();
        let exit_code = match error.as_ref().map(|error| error.kind) {
            None => 0,
            Some(ErrorKind::Cancelled) => 130,
            Some(_) => 1,
        };
        let outcome = Outcome { value: None, exit_code, error, fuel: 0, state: None };
        let usage = Usage { wall_micros: micros(started_at), ..Usage::default() };
        let left = session.head().into();
        let ended = EndedRun { outcome, calls, usage, captured: Default::default() };
        let ended = session.conclude(slot, ended, left);
        // A call whose end cannot be saved fails, even if the tool succeeded.
        match ended.error {
            Some(lost) if result.is_ok() => Err(lost),
            _ => result,
        }
    }

    fn perform(&self, scope: &RunScope) -> Result<Payload, Failure> {
        let gate = &self.session.gate;
        let hash = blake3::hash(self.arguments.as_bytes()).to_hex();
        let started = Event::Started { run: scope.record.run(), script: &self.method, hash: &hash };
        let written = scope.log().write(&started);
        written.map_err(|error| Failure::host(format!("the call is not made: {}", error_chain(&error))))?;
        let memory = &self.session.memory;
        let call = RequestedCall::new(&self.method, &self.arguments);
        let admitted = gate.admit(&scope.record, call, memory, &self.interrupt);
        // Cancelling the call also ends a question to a human.
        let admission = admitted.map_err(|refused| if self.is_cancelled() { Failure::cancelled() } else { refused })?;
        let seq = admission.seq();
        let result = self.make(scope, admission);
        let outcome = match &result {
            Ok(_) => CallOutcome::Ok,
            Err(failure) if failure.kind == ErrorKind::Cancelled => CallOutcome::Cancelled,
            Err(_) => CallOutcome::Failed,
        };
        gate.settle(&scope.record, seq, outcome, result.as_ref().err());
        result
    }

    /// Invokes the tool as admitted. If the call was cancelled before, releases the reservation.
    fn make(&self, scope: &RunScope, admission: Admission) -> Result<Payload, Failure> {
        let call = scope.call(admission, self.interrupt.clone(), self.session.head());
        if !self.is_to_begin(&call) {
            call.release();
            return Err(Failure::cancelled());
        }
        if let Some(deadline) = Instant::now().checked_add(self.session.limits().wall) {
            self.interrupt.set_deadline(deadline);
        }
        let result = call.invoke();
        let changed =
            self.session.change(&call.context().edits()).map_err(|error| cannot_apply_changes(&self.method, &error));
        result.and_then(|payload| changed.map(|()| payload))
    }

    /// Waits until the tool is compiled, unless the call is cancelled. Compilation cannot be stopped, so it has a
    /// thread of its own, and its result serves the next call.
    fn is_to_begin(&self, call: &AdmittedCall) -> bool {
        if !call.is_ready() {
            let (sender, compiled) = channel();
            let tool = Arc::clone(call.tool());
            // Without a thread, the call itself compiles the tool.
            let _ = self.session.pool().run(move || {
                // The call reports why a tool does not compile.
                let _ = tool.package().map(Package::compile);
                let _ = sender.send(());
            });
            while !self.is_cancelled() && compiled.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {}
        }
        !self.is_cancelled()
    }

    fn is_cancelled(&self) -> bool {
        self.interrupt.stopped() == Some(Stopped::Cancelled)
    }
}

impl Drop for CallRun {
    /// Frees the session if the call was never made.
    fn drop(&mut self) {
        if let Some(slot) = &self.slot {
            self.session.withdraw(slot);
        }
    }
}
