//! An admitted call with what answers it: the tool, its authority, and where its actions are recorded.

use std::sync::Arc;
use std::time::SystemTime;

use tollhouse_audit::AuditError;
use tollhouse_gate::Admission;

use super::SessionGate;
use crate::error::{Failure, Payload, error_chain};
use crate::json;
use crate::remedy::limit_hint;
use crate::tool::{CallContext, CallEffects, ProgramStart, Tool, no_memory_for_result};

/// A call that the gate has admitted, ready to be made.
pub(crate) struct AdmittedCall {
    admission: Admission,
    tool: Arc<Tool>,
    context: CallContext,
}

impl AdmittedCall {
    /// Prepares a call that this gate, or one of its tools' gates, has admitted.
    pub(crate) fn new(gate: &SessionGate, admission: Admission, context: CallContext) -> Self {
        Self { tool: gate.tool(&admission), admission, context }
    }

    /// The gate's admission.
    pub(crate) fn admission(&self) -> &Admission {
        &self.admission
    }

    /// The tool to call.
    pub(crate) fn tool(&self) -> &Arc<Tool> {
        &self.tool
    }

    /// Everything that the call has besides its arguments.
    pub(crate) fn context(&self) -> &CallContext {
        &self.context
    }

    /// Takes the effects of the call, once it was made.
    pub(crate) fn effects(&self) -> CallEffects {
        self.context.effects()
    }

    /// Returns true if the call can start at once and can be stopped, because its tool is compiled. A host function may
    /// take as long as it likes.
    pub(crate) fn is_ready(&self) -> bool {
        self.tool.is_ready()
    }

    /// Calls the tool on this thread, and waits for it.
    ///
    /// # Errors
    /// An error of the tool, a trap, a limit, or the cancellation.
    pub(crate) fn invoke(&self) -> Result<Payload, Failure> {
        self.sync_audit()?;
        self.answer()
    }

    /// Makes a call again that has been made, to compare the results, with the random numbers that it had: its grant may
    /// have ended since, and nothing is logged.
    ///
    /// # Errors
    /// Those of [`AdmittedCall::invoke`].
    pub(crate) fn repeat(mut self, seed: [u8; 32]) -> (Result<Payload, Failure>, CallEffects) {
        self.context.seed = seed;
        (self.answer(), self.effects())
    }

    fn answer(&self) -> Result<Payload, Failure> {
        let secrets = &self.context.services.secrets;
        let answer = match &self.context.services.dry_run {
            Some(dry_run) => dry_run.answer(&self.tool, &self.admission, &self.context),
            None => self.tool.call(&self.admission, &self.context),
        };
        let mut payload = answer.map_err(|mut failure| {
            secrets.redact_failure(&mut failure);
            self.bound_payload(&mut failure);
            failure
        })?;
        secrets.redact_payload(&mut payload);
        self.keep_result(&payload)?;
        let (size, limit) = (json::serialized_len(&payload.value), self.admission.result_limit());
        if size > limit {
            let method = self.admission.method();
            let message = format!("`{method}`: a result of {size} bytes exceeds the limit of {limit}");
            return Err(Failure::limit(message, limit_hint("result", self.tool.has_own_result(limit))));
        }
        Ok(payload)
    }

    /// Removes the payload of a failure that is larger than a result may be, and says so in its hint.
    fn bound_payload(&self, failure: &mut Failure) {
        let Some(payload) = &failure.payload else { return };
        let (size, limit) = (json::serialized_len(&payload.value), self.admission.result_limit());
        if size <= limit && self.context.held().resize(json::weight(&payload.value)) {
            return;
        }
        failure.payload = None;
        let note =
            format!("its payload of {size} bytes was left out: the limits `result` and `memory` are for errors too");
        failure.hint = Some(match failure.hint.take() {
            Some(hint) => format!("{hint}; {note}"),
            None => note,
        });
    }

    /// Charges a result to the session's memory, until its caller takes it.
    fn keep_result(&self, payload: &Payload) -> Result<(), Failure> {
        if self.context.held().resize(json::weight(&payload.value)) {
            return Ok(());
        }
        Err(no_memory_for_result(self.admission.method(), &self.context.memory))
    }

    /// Runs the program on this thread until it has ended, and returns its exit status.
    ///
    /// # Errors
    /// A trap, a limit, or the cancellation.
    pub(crate) fn run(&self, started: &ProgramStart) -> Result<u8, Failure> {
        self.sync_audit()?;
        if self.context.authority.secrets().next().is_some() {
            // In a stream a secret may be split into parts, which redaction would not recognize.
            let message = format!("`{}` may use secrets, so its output must not be streamed", self.admission.method());
            return Err(Failure::capability(message).with_hint("call it from JavaScript"));
        }
        let ended = match &self.context.services.dry_run {
            Some(dry_run) => dry_run.run(&self.tool, &self.admission, started, &self.context),
            None => self.tool.run(&self.admission, started, &self.context),
        };
        ended.map_err(|mut failure| {
            self.context.services.secrets.redact_failure(&mut failure);
            failure
        })
    }

    /// Durably records the start of the call and the secrets that the tool can read; if that fails, the reservation is
    /// released.
    fn sync_audit(&self) -> Result<(), Failure> {
        // The call may have waited for others to end.
        if let Some(ended) = self.admission.ended(SystemTime::now()) {
            self.release();
            return Err(ended);
        }
        let CallContext { authority, services, call_audit, .. } = &self.context;
        let seen = authority.secrets().filter(|(name, sees)| *sees && services.secrets.has(name));
        let seen = seen.map(|(name, _)| (name, None));
        let given = self.tool.secrets().iter().map(|used| (used.secret.as_str(), used.to.as_deref()));
        let uses = seen.chain(given).map(|(name, to)| call_audit.secret_used(name, authority.alias(), to));
        let kept = uses.collect::<Result<(), _>>().and_then(|()| call_audit.sync());
        kept.map_err(|error| {
            self.release();
            let method = self.admission.method();
            if let AuditError::Spent { .. } = error {
                return Failure::capability(format!("`{method}`: {error}"));
            }
            // A call that cannot be recorded must not be made.
            let why = error_chain(&error);
            Failure::host(format!("`{method}` was not called, because the call could not be recorded: {why}"))
        })
    }

    /// Releases the reservation of a call that was never started.
    pub(crate) fn release(&self) {
        self.admission.release();
        self.context.call_audit.released();
    }
}
