//! An admitted call, until it has ended.
//!
//! **Invariant:** only `Gate::begin` sets the fields, and nothing changes them afterwards: the call is made exactly as
//! it was judged.

use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use super::{AuditError, CallAudit, Gate};
use crate::capability::Amount;
use crate::code::MemoryCharge;
use crate::error::{Failure, Payload, error_chain, limit_hint};
use crate::json;
use crate::ledger::{AccountId, Ledger, Refused};
use crate::tool::{Authority, CallContext, ProgramStart, Secrets, Tool, no_memory_for_result};

/// A call that the gate has admitted: granted, charged to its budgets, and recorded.
pub struct Admission {
    pub(super) seq: u64,
    pub(super) method: String,
    pub(super) arguments: Value,
    /// Charge of the arguments to the session's memory.
    pub(super) charge: MemoryCharge,
    pub(super) tool: Arc<Tool>,
    pub(super) result_limit: u64,
    pub(super) debit: CallReservation,
    pub(super) call_audit: CallAudit,
    pub(super) authority: Arc<Authority>,
    /// Gate for calls that the tool makes to other tools.
    pub(super) gate: Option<Arc<Gate>>,
}

/// The reservation of a call in the accounts of its budgets.
pub(super) struct CallReservation {
    ledger: Arc<Ledger>,
    account: AccountId,
    amounts: Vec<(AccountId, Amount)>,
}

impl CallReservation {
    pub(super) fn new(ledger: &Arc<Ledger>, account: AccountId, amounts: Vec<(AccountId, Amount)>) -> Self {
        Self { ledger: Arc::clone(ledger), account, amounts }
    }

    pub(super) fn amounts(&self) -> &[(AccountId, Amount)] {
        &self.amounts
    }

    /// Returns the reason why the call may not begin any more: a grant that it was reserved in has ended or was
    /// revoked.
    fn ended_grant(&self) -> Option<Refused> {
        self.ledger.over(self.account, SystemTime::now()).map(|(_, refused)| refused)
    }

    pub(super) fn release(&self) {
        let amount = |id| self.amounts.iter().find(|(account, _)| *account == id).map(|(_, amount)| *amount);
        self.ledger.release(self.account, &amount);
    }
}

impl Admission {
    /// Number of the call in its run.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The canonical method.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The canonical arguments, exactly as they were judged.
    #[must_use]
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// Calls the tool on this thread, and waits for it.
    ///
    /// # Errors
    /// An error of the tool, a trap, a limit, or the cancellation.
    pub fn invoke(&self, context: &CallContext) -> Result<Payload, Failure> {
        let secrets = &context.services.secrets;
        self.sync_audit(secrets)?;
        let mut payload = self.tool.call(self, context).map_err(|mut failure| {
            secrets.redact_failure(&mut failure);
            failure
        })?;
        secrets.redact_payload(&mut payload);
        self.keep_result(&payload, context)?;
        let size = json::serialized_len(&payload.value);
        if size > self.result_limit {
            let message =
                format!("`{}`: a result of {size} bytes exceeds the limit of {}", self.method, self.result_limit);
            let is_the_tools = self.tool.has_own_result(self.result_limit);
            return Err(Failure::limit(message, limit_hint("result", is_the_tools)));
        }
        Ok(payload)
    }

    /// Charges a result to the session's memory, until its caller takes it.
    fn keep_result(&self, payload: &Payload, context: &CallContext) -> Result<(), Failure> {
        if context.held().resize(json::weight(&payload.value)) {
            return Ok(());
        }
        Err(no_memory_for_result(&self.method, &context.memory))
    }

    /// Number of bytes of the session's memory that the arguments take.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.charge.bytes()
    }

    /// Runs the program on this thread until it has ended, and returns its exit status.
    ///
    /// # Errors
    /// A trap, a limit, or the cancellation.
    pub(crate) fn run(&self, started: &ProgramStart, context: &CallContext) -> Result<u8, Failure> {
        self.sync_audit(&context.services.secrets)?;
        if self.authority.secrets().next().is_some() {
            // In a stream a secret may be split into parts, which redaction would not recognize.
            let message = format!("`{}` may use secrets, so its output must not be streamed", self.method);
            return Err(Failure::capability(message).with_hint("call it from JavaScript"));
        }
        self.tool.run(self, started, context).map_err(|mut failure| {
            context.services.secrets.redact_failure(&mut failure);
            failure
        })
    }

    /// Durably records the start of the call and the secrets that the tool can read; if that fails, the reservation is
    /// released.
    fn sync_audit(&self, secrets: &Secrets) -> Result<(), Failure> {
        // The call may have waited for others to end.
        if let Some(refused) = self.debit.ended_grant() {
            self.give_back();
            let failure =
                Failure::capability(format!("`{}`: the grant ended before the call started: {refused}", self.method));
            return Err(failure.with_hint("issue the grant again before making such calls"));
        }
        let alias = self.authority.alias();
        let seen = self.authority.secrets().filter(|(name, sees)| *sees && secrets.has(name));
        let seen = seen.map(|(name, _)| self.call_audit.secret_used(name, alias, None));
        let kept = seen.collect::<Result<(), _>>().and_then(|()| self.call_audit.sync());
        kept.map_err(|error| {
            self.give_back();
            if let AuditError::Spent { .. } = error {
                return Failure::capability(format!("`{}`: {error}", self.method));
            }
            // A call that cannot be recorded must not be made.
            Failure::host(format!(
                "`{}` was not called, because the call could not be recorded: {}",
                self.method,
                error_chain(&error)
            ))
        })
    }

    /// Returns true if the tool is a program.
    pub(crate) fn is_program(&self) -> bool {
        self.tool.function().is_program()
    }

    /// Maximum size of the result in bytes.
    pub(crate) fn result_limit(&self) -> u64 {
        self.result_limit
    }

    /// The tool to call.
    pub(crate) fn tool(&self) -> &Arc<Tool> {
        &self.tool
    }

    /// The authority of the tool.
    pub(crate) fn authority(&self) -> &Arc<Authority> {
        &self.authority
    }

    /// Gate for calls that the tool makes to other tools; `None` if it may call none.
    pub(crate) fn gate(&self) -> Option<&Arc<Gate>> {
        self.gate.as_ref()
    }

    /// Recorder of the tool's actions.
    pub(crate) fn call_audit(&self) -> &CallAudit {
        &self.call_audit
    }

    /// Returns true if the call can start at once and can be stopped, because its tool is compiled. A host function may
    /// take as long as it likes.
    pub(crate) fn is_ready(&self) -> bool {
        self.tool.is_ready()
    }

    /// Returns true if the call is to a host function: the code that drives the run may answer it instead.
    #[must_use]
    pub fn is_host_function(&self) -> bool {
        self.tool.package().is_none()
    }

    /// Releases the reservation of a call that was never started.
    pub(crate) fn release(self) {
        self.give_back();
    }

    /// Releases the reservation of a call that was never started, and will not start unless it is judged again.
    pub(crate) fn give_back(&self) {
        self.debit.release();
        self.call_audit.released();
    }
}
