//! A call that was admitted, until it has ended.
//!
//! **Invariant:** only `Gate::begin` fills the fields, and nothing changes them afterwards: what is called is what was judged.

use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use super::{AuditError, Gate, Witness};
use crate::capability::Amount;
use crate::code::MemoryCharge;
use crate::error::{Failure, Payload, error_chain};
use crate::json;
use crate::ledger::{AccountId, Ledger, Refused};
use crate::tool::{Authority, CallContext, ProgramStart, Secrets, Tool, no_memory_for_result};

/// A call that may happen: granted, paid for, and on record.
pub struct Admission {
    pub(super) seq: u64,
    pub(super) method: String,
    pub(super) arguments: Value,
    /// What the arguments take of the session's memory.
    pub(super) charge: MemoryCharge,
    pub(super) tool: Arc<Tool>,
    pub(super) result_limit: u64,
    pub(super) debit: Debit,
    pub(super) witness: Witness,
    pub(super) authority: Arc<Authority>,
    /// Through which the tool calls others.
    pub(super) gate: Option<Arc<Gate>>,
}

/// What a call was reserved in.
pub(super) struct Debit {
    ledger: Arc<Ledger>,
    account: AccountId,
    amounts: Vec<(AccountId, Amount)>,
}

impl Debit {
    pub(super) fn new(ledger: &Arc<Ledger>, account: AccountId, amounts: Vec<(AccountId, Amount)>) -> Self {
        Self { ledger: Arc::clone(ledger), account, amounts }
    }

    pub(super) fn amounts(&self) -> &[(AccountId, Amount)] {
        &self.amounts
    }

    /// Why the call may not begin any more: a grant that it is reserved in has ended, or was revoked.
    fn over(&self) -> Option<Refused> {
        self.ledger.over(self.account, SystemTime::now()).map(|(_, refused)| refused)
    }

    pub(super) fn release(&self) {
        let amount = |id| self.amounts.iter().find(|(account, _)| *account == id).map(|(_, amount)| *amount);
        self.ledger.release(self.account, &amount);
    }
}

impl Admission {
    /// The call's number in its run.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The canonical method.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The canonical arguments: exactly what was judged.
    #[must_use]
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// Calls the tool, on this thread, and waits for it.
    ///
    /// # Errors
    /// The tool's own error, a trap, a limit, or the cancellation.
    pub fn invoke(&self, context: &CallContext) -> Result<Payload, Failure> {
        let secrets = &context.services.secrets;
        self.keep(secrets)?;
        let mut payload = self.tool.call(self, context).map_err(|mut failure| {
            secrets.redact_failure(&mut failure);
            failure
        })?;
        secrets.redact_payload(&mut payload);
        self.keep_result(&payload, context)?;
        let size = json::serialized_len(&payload.value);
        if size > self.result_limit {
            let message =
                format!("`{}`: a result of {size} bytes passes the limit of {}", self.method, self.result_limit);
            let is_the_tools = self.tool.has_own_result(self.result_limit);
            return Err(Failure::limit(message, super::raise("result", is_the_tools)));
        }
        Ok(payload)
    }

    /// Takes memory for a result, which waits for its caller.
    fn keep_result(&self, payload: &Payload, context: &CallContext) -> Result<(), Failure> {
        if context.held().resize(json::weight(&payload.value)) {
            return Ok(());
        }
        Err(no_memory_for_result(&self.method, &context.memory))
    }

    /// Returns the bytes of the session's memory that its arguments take.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.charge.bytes()
    }

    /// Runs the program, on this thread, until it has ended: its exit status.
    ///
    /// # Errors
    /// A trap, a limit, or the cancellation.
    pub(crate) fn run(&self, started: &ProgramStart, context: &CallContext) -> Result<u8, Failure> {
        self.keep(&context.services.secrets)?;
        if self.authority.secrets().next().is_some() {
            // In a stream a value may come in parts, and would pass by whoever looks for it.
            let message = format!("`{}` is granted secrets, which must not leave it in a stream", self.method);
            return Err(Failure::capability(message).with_hint("call it from JavaScript"));
        }
        self.tool.run(self, started, context).map_err(|mut failure| {
            context.services.secrets.redact_failure(&mut failure);
            failure
        })
    }

    /// Makes durable that it starts and which secrets the tool sees, or gives back what was reserved.
    fn keep(&self, secrets: &Secrets) -> Result<(), Failure> {
        // It may have waited for others to end.
        if let Some(refused) = self.debit.over() {
            self.give_back();
            let failure =
                Failure::capability(format!("`{}`: the grant ended before the call began: {refused}", self.method));
            return Err(failure.with_hint("it must be given anew before such calls are allowed"));
        }
        let alias = self.authority.alias();
        let seen = self.authority.secrets().filter(|(name, sees)| *sees && secrets.has(name));
        let seen = seen.map(|(name, _)| self.witness.secret_used(name, alias, None));
        let kept = seen.collect::<Result<(), _>>().and_then(|()| self.witness.sync());
        kept.map_err(|error| {
            self.give_back();
            if let AuditError::Spent { .. } = error {
                return Failure::capability(format!("`{}`: {error}", self.method));
            }
            // What cannot be kept must not happen.
            Failure::host(format!(
                "`{}` is not called, since that cannot be kept: {}",
                self.method,
                error_chain(&error)
            ))
        })
    }

    /// Whether it is of a program.
    pub(crate) fn is_program(&self) -> bool {
        self.tool.function().is_program()
    }

    /// Bytes that the result may have.
    pub(crate) fn result_limit(&self) -> u64 {
        self.result_limit
    }

    /// What is called.
    pub(crate) fn tool(&self) -> &Arc<Tool> {
        &self.tool
    }

    /// What the tool may touch.
    pub(crate) fn authority(&self) -> &Arc<Authority> {
        &self.authority
    }

    /// Through which the tool calls others; none if it may call none.
    pub(crate) fn gate(&self) -> Option<&Arc<Gate>> {
        self.gate.as_ref()
    }

    /// Writes down what the tool does.
    pub(crate) fn witness(&self) -> &Witness {
        &self.witness
    }

    /// Whether the call would begin at once, and whoever makes it can be stopped: its tool is compiled. A host function may
    /// take as long as it likes.
    pub(crate) fn is_ready(&self) -> bool {
        self.tool.is_ready()
    }

    /// Whether it is of a host function: who drives the run may answer it instead.
    #[must_use]
    pub fn is_host_function(&self) -> bool {
        self.tool.package().is_none()
    }

    /// Gives back what was reserved: the call was never started.
    pub(crate) fn release(self) {
        self.give_back();
    }

    /// Gives back what was reserved: the call was never started, and does not start unless it is judged again.
    pub(crate) fn give_back(&self) {
        self.debit.release();
        self.witness.released();
    }
}
