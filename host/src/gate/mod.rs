//! The gate: the only place where a guest's call becomes a call of a tool.
//!
//! **Invariant:** [`Admission`] is created only here, and a tool can be called only with one. An admission contains
//! exactly what was judged: the canonical arguments, not the text that the guest sent.
//!
//! **Invariant:** every decision is in the run's record and in the audit log before it takes effect.

mod admission;
mod approval;
mod audit;
mod budget_accounts;
mod call_record;
mod grant_binding;
mod grant_index;
mod optional_parameters;
mod spelling;
mod suggest_policy;
mod tool_gates;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::{Value, json};

pub use admission::Admission;
pub(crate) use approval::Consent;
pub use approval::{Answer, ApprovalError, ApprovalRequest, Approver, Caller, Cost, Decision, DeferredCall, Question};
pub use audit::{
    Audit, AuditError, AuditFile, AuditKey, Both, Chain, CheckOptions, CheckedLog, Debits, Event, NoAuditKey, Nowhere,
};
pub(crate) use audit::{CallAudit, RunLog, incomplete, redacted};
pub(crate) use budget_accounts::limited_accounts;
pub use call_record::{Budget, BudgetKind, Call, CallOutcome, Calls, Record};
pub use grant_index::{Coverage, Covered, Opinion};
pub use optional_parameters::Optional;
pub use suggest_policy::{Suggestion, suggest};
pub use tool_gates::Reach;

use self::admission::CallReservation;
use self::approval::{Answering, PendingApproval};
use self::grant_index::{AccountNaming, ActiveGrant, DenialReason, GrantAccount, GrantDenial, GrantIndex};
use self::tool_gates::ToolGates;
use crate::capability::{Amount, AttenuateError, Grant, Limits, Policy, PolicyError};
use crate::code::{Interrupt, MemoryAccount, MemoryCharge};
use crate::error::{Failure, error_chain, how_to_grant, how_to_raise};
use crate::json::{self, JsonError};
use crate::ledger::{Ledger, Used};
use crate::tool::{MountedTools, Tool, no_memory_for};

/// The gate of a session, which judges its calls.
pub struct Gate {
    tools: Arc<MountedTools>,
    policy: Policy,
    grant_index: GrantIndex,
    ledger: Arc<Ledger>,
    audit: Arc<dyn Audit>,
    approver: Option<Arc<dyn Approver>>,
    tool_gates: ToolGates,
    /// Set if its accounts have names: those of a session that was derived from another one do not.
    named: bool,
}

/// The audit log and the approver of a gate.
#[derive(Clone, Default)]
pub struct GateOptions {
    /// Audit log for every decision; `None` discards them.
    pub audit: Option<Arc<dyn Audit>>,
    /// Approver for grants that require approval; if `None`, such calls are denied.
    pub approver: Option<Arc<dyn Approver>>,
}

/// An error of creating a narrower gate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NarrowError {
    /// The policy would allow more.
    #[error(transparent)]
    Attenuate(#[from] AttenuateError),
    /// Its grants are invalid for the mounted tools.
    #[error(transparent)]
    Policy(#[from] PolicyError),
}

impl Gate {
    /// Creates a gate for these tools, with the grants and limits of a policy.
    ///
    /// # Errors
    /// If a grant is invalid for the mounted tools: a method or parameter that does not exist, a test that no value of
    /// the type can pass.
    pub fn new(tools: Arc<MountedTools>, policy: Policy, options: GateOptions) -> Result<Self, PolicyError> {
        let gate = Self::with_ledger(tools, policy, options, Arc::default(), &[], ToolGates::default(), true)?;
        tool_gates::fill(&gate)?;
        Ok(gate)
    }

    fn with_ledger(
        tools: Arc<MountedTools>,
        policy: Policy,
        options: GateOptions,
        ledger: Arc<Ledger>,
        above: &[ActiveGrant],
        tool_gates: ToolGates,
        named: bool,
    ) -> Result<Self, PolicyError> {
        let naming = match tool_gates.owner() {
            _ if !named => AccountNaming::None,
            Some(alias) => AccountNaming::Behind(alias),
            None => AccountNaming::Own,
        };
        let grant_index = GrantIndex::new(policy.grants.clone(), &tools, &ledger, above, naming)?;
        let audit = options.audit.unwrap_or_else(|| Arc::new(Nowhere));
        Ok(Self { tools, policy, grant_index, ledger, audit, approver: options.approver, tool_gates, named })
    }

    /// Creates a gate for the same tools that allows less: for a sub-agent, a tool that calls tools, a session that is
    /// forked with a narrower policy. Its spending counts here too, and revoking a grant here revokes the grants that
    /// narrow it.
    ///
    /// # Errors
    /// If it would allow more, or is invalid for the mounted tools.
    pub fn attenuate(&self, narrower: Policy) -> Result<Self, NarrowError> {
        let gate = self.derive(self.policy.attenuate(narrower)?, ToolGates::default(), false)?;
        tool_gates::fill(&gate)?;
        Ok(gate)
    }

    /// Creates a gate whose grants narrow those of this one.
    fn derive(&self, policy: Policy, tool_gates: ToolGates, named: bool) -> Result<Self, PolicyError> {
        let options = GateOptions { audit: Some(Arc::clone(&self.audit)), approver: self.approver.clone() };
        let (tools, ledger) = (Arc::clone(&self.tools), Arc::clone(&self.ledger));
        Self::with_ledger(tools, policy, options, ledger, self.grant_index.active_grants(), tool_gates, named)
    }

    /// Revokes a grant, and every grant that narrows it, in any session. Running calls continue. Returns false if there
    /// is no grant of this name.
    pub fn revoke(&self, grant: &str) -> bool {
        let found = self.grant_index.active_grants().iter().find(|active| active.grant.name == grant);
        if let Some(active) = found {
            self.ledger.revoke(active.accounts[0].id);
        }
        found.is_some()
    }

    /// The tools behind the gate.
    #[must_use]
    pub fn tools(&self) -> &Arc<MountedTools> {
        &self.tools
    }

    /// The policy of the gate.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The limits on a run.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.policy.limits
    }

    /// The audit log of every decision.
    #[must_use]
    pub fn audit(&self) -> &Arc<dyn Audit> {
        &self.audit
    }

    /// The audit log of a run.
    pub(crate) fn log(&self, record: &Record) -> Arc<dyn Audit> {
        match record.log() {
            Some(log) => Arc::clone(log) as Arc<dyn Audit>,
            None => Arc::clone(&self.audit),
        }
    }

    /// Returns true if a grant could allow a call of the method, for some arguments and with some budget.
    #[must_use]
    pub fn grants(&self, method: &str) -> bool {
        self.tools.get(method).is_some_and(|tool| tool.withdrawal().is_none() && self.grant_index.grants(&tool))
    }

    /// Returns true if calls of a method have no effect besides their result and the files that they may write: it is of
    /// a component that was granted nothing by which it could have one.
    pub(crate) fn is_pure(&self, method: &str) -> bool {
        let tool = self.tools.get(method).filter(|tool| tool.package().is_some());
        tool.is_some_and(|tool| {
            let (authority, gate) = self.tool_gates.of(tool.alias());
            gate.is_none() && authority.has_no_effects()
        })
    }

    /// Judges a call, in the order that the contract defines: shape and types of the arguments, grant, budget,
    /// approval, record. Every decision is recorded. The approximate memory of the arguments on the host is charged to
    /// `memory` for the lifetime of the admission. The clock of `interrupt` is stopped while a human is asked, and at
    /// no other time.
    ///
    /// # Errors
    /// The error for the script: no such method, invalid arguments, no grant, no budget, no approval.
    pub fn admit(
        &self,
        record: &Record,
        method: &str,
        arguments: &str,
        memory: &MemoryAccount,
        interrupt: &Interrupt,
    ) -> Result<Admission, Failure> {
        self.count(record, method)?;
        self.admit_numbered(record, None, method, arguments, memory, interrupt, Consent::Now).map_err(Failure::from)
    }

    /// Judges a call like [`Gate::admit`], for a run that can wait for consent beyond this process.
    pub(crate) fn admit_or_defer(
        &self,
        record: &Record,
        method: &str,
        arguments: &str,
        memory: &MemoryAccount,
        interrupt: &Interrupt,
    ) -> Result<Admission, NotAdmitted> {
        self.count(record, method)?;
        self.admit_numbered(record, None, method, arguments, memory, interrupt, Consent::Deferrable(None))
    }

    /// Judges a call whose number is `seq` if it has one already, because its run was resumed.
    #[expect(clippy::too_many_arguments, reason = "each is a part of one call")]
    pub(crate) fn admit_numbered(
        &self,
        record: &Record,
        seq: Option<u64>,
        method: &str,
        arguments: &str,
        memory: &MemoryAccount,
        interrupt: &Interrupt,
        consent: Consent<'_>,
    ) -> Result<Admission, NotAdmitted> {
        let (tool, arguments) = match self.check(method, arguments, memory.left() / ARGUMENT_COPIES) {
            Ok(checked) => checked,
            Err((arguments, failure)) => return Err(self.refuse(record, seq, method, arguments, None, failure).into()),
        };
        let Some(charge) = memory.charge(json::weight(&arguments).saturating_mul(ARGUMENT_COPIES)) else {
            let failure = no_memory_for(&format!("`{method}`: the arguments"), memory);
            return Err(self.refuse(record, seq, method, arguments, None, failure).into());
        };
        if let Some(failure) = may_nest(record, &tool, self.limits().depth) {
            return Err(self.refuse(record, seq, method, arguments, None, failure).into());
        }
        self.judge_until_settled(record, seq, &tool, ChargedArguments { value: arguments, charge }, interrupt, consent)
    }

    /// Judges a call again that was admitted, has not started, and was released, because another session has meanwhile
    /// spent the budget that it was reserved in. It keeps its number.
    ///
    /// # Errors
    /// Those of [`Gate::admit`].
    pub(crate) fn admit_again(
        &self,
        record: &Record,
        admission: Admission,
        interrupt: &Interrupt,
    ) -> Result<Admission, Failure> {
        let Admission { seq, arguments, charge, tool, .. } = admission;
        let arguments = ChargedArguments { value: arguments, charge };
        self.judge_until_settled(record, Some(seq), &tool, arguments, interrupt, Consent::Now).map_err(Failure::from)
    }

    /// Judges a call with canonical arguments, repeatedly as long as other sessions spend the budget that it is
    /// reserved in.
    fn judge_until_settled(
        &self,
        record: &Record,
        mut seq: Option<u64>,
        tool: &Arc<Tool>,
        mut arguments: ChargedArguments,
        interrupt: &Interrupt,
        consent: Consent<'_>,
    ) -> Result<Admission, NotAdmitted> {
        for _ in 0..MAX_ROUNDS {
            match self.judge(record, seq, tool, arguments, interrupt, consent) {
                Ok(admission) => return Ok(admission),
                Err(NotBegun::Failed(failure)) => return Err(failure.into()),
                Err(NotBegun::Deferred(call)) => return Err(NotAdmitted::Deferred(call)),
                // The ledger now includes the spending of the other sessions.
                Err(NotBegun::Spent(number, given)) => (seq, arguments) = (Some(number), given),
            }
        }
        let method = tool.method();
        let message = format!("`{method}`: its budget is used up by sessions that share it");
        Err(self.refuse(record, seq, method, arguments.value, None, Failure::capability(message)).into())
    }

    /// Judges a call with canonical arguments, and records the decision. `seq` is its number if it was judged before,
    /// and another session spent the budget that it was reserved in.
    fn judge(
        &self,
        record: &Record,
        seq: Option<u64>,
        tool: &Arc<Tool>,
        arguments: ChargedArguments,
        interrupt: &Interrupt,
        consent: Consent<'_>,
    ) -> Result<Admission, NotBegun> {
        let method = tool.method();
        let (active, judge) = match self.grant_index.debit(tool, &arguments.value, &self.ledger, SystemTime::now()) {
            Ok(debited) => debited,
            Err(denial) => {
                let grant = denial.grant.map(|grant| grant.name.clone());
                let failure = self.denied(method, &denial);
                return Err(self.refuse(record, seq, method, arguments.value, grant.as_deref(), failure).into());
            }
        };
        let amounts =
            active.accounts.iter().filter_map(|entry| Some((entry.id, judge.amount(entry.id, &arguments.value)?)));
        let debit = CallReservation::new(&self.ledger, active.accounts[0].id, amounts.collect());
        let seq = match judge.asks(&arguments.value) {
            Some(reason) => {
                let _paused = interrupt.pause();
                Some(self.ask(record, seq, method, &arguments.value, active, &debit, &reason, consent)?)
            }
            None => seq,
        };
        self.begin(record, seq, tool, arguments, active, debit)
    }

    /// Counts a call, whatever the decision about it. Of the calls beyond the limit only the first is recorded:
    /// otherwise a script that keeps calling would fill the record.
    fn count(&self, record: &Record, method: &str) -> Result<(), Failure> {
        let limit = self.limits().calls;
        let asked = record.ask();
        if let Some(failure) = record.log_failure() {
            return Err(failure);
        }
        if asked <= limit {
            return Ok(());
        }
        let message = format!("`{method}`: the limit of {limit} calls of a run is reached");
        let failure = Failure::limit(message, how_to_raise("calls"));
        if asked == limit.saturating_add(1) {
            return Err(self.refuse(record, None, method, Value::Null, None, failure));
        }
        Err(failure)
    }

    /// Records an admission. Afterwards the call may start. `seq` is its number if it has one already.
    fn begin(
        &self,
        record: &Record,
        seq: Option<u64>,
        tool: &Arc<Tool>,
        arguments: ChargedArguments,
        active: &ActiveGrant,
        debit: CallReservation,
    ) -> Result<Admission, NotBegun> {
        let (method, grant) = (tool.method(), active.grant.name.as_str());
        let Some(seq) = assign_number(record, seq, method, &arguments.value, grant) else {
            // The run ended while the call was judged.
            debit.release();
            return Err(Failure::cancelled().into());
        };
        let (run, caller) = (record.run(), record.caller());
        let debits = Debits { accounts: &active.accounts, amounts: debit.amounts() };
        let package = tool.release();
        let (package, given) = (package.as_deref(), &arguments.value);
        let event = Event::Admitted { run, seq, caller, method, package, arguments: given, grant, debits };
        let log = self.log(record);
        if let Err(error) = log.write(&event) {
            debit.release();
            if let AuditError::Spent { .. } = error {
                return Err(NotBegun::Spent(seq, arguments));
            }
            record.settle(seq, CallOutcome::Denied);
            if let Some(failure) = record.log_failure() {
                return Err(failure.into());
            }
            // If there are two logs, one of them may contain the admission.
            let _ = log.write(&Event::Released { run, seq });
            let why = error_chain(&error);
            return Err(Failure::host(format!(
                "`{method}` was not called, because the call could not be logged: {why}"
            ))
            .into());
        }
        let call_audit = CallAudit::new(log, run, seq);
        let (authority, gate) = self.tool_gates.of(tool.alias());
        let (method, result_limit) = (method.to_owned(), tool.result_limit(self.limits().result));
        let tool = Arc::clone(tool);
        let ChargedArguments { value: arguments, charge } = arguments;
        Ok(Admission { seq, method, arguments, charge, tool, result_limit, debit, call_audit, authority, gate })
    }

    /// Records a refusal, under the existing number of the call if it has one.
    fn refuse(
        &self,
        record: &Record,
        seq: Option<u64>,
        method: &str,
        arguments: Value,
        grant: Option<&str>,
        failure: Failure,
    ) -> Failure {
        let arguments = recorded_arguments(arguments);
        let seq = match seq {
            Some(seq) if record.deny(seq, grant) => seq,
            // The run ended while the call was judged.
            Some(_) => return Failure::cancelled(),
            None => record.refuse(method, &arguments, grant),
        };
        self.log_refusal(record, seq, method, &arguments, grant, &failure);
        failure
    }

    fn log_refusal(
        &self,
        record: &Record,
        seq: u64,
        method: &str,
        arguments: &Value,
        grant: Option<&str>,
        failure: &Failure,
    ) {
        let (run, caller, kind, reason) = (record.run(), record.caller(), failure.kind, failure.message.as_str());
        let event = Event::Denied { run, seq, caller, method, arguments, grant, kind, reason };
        // A refusal is safe without a log, so a failure to write it changes nothing.
        let _ = self.log(record).write(&event);
    }

    /// Records the outcome of an admitted call. The first outcome counts.
    pub fn settle(&self, record: &Record, seq: u64, outcome: CallOutcome, error: Option<&Failure>) {
        if let Some(micros) = record.settle(seq, outcome) {
            let error = error.map(|failure| failure.message.as_str());
            // The call is over; hiding its result from the script would not repair the log.
            let _ = self.log(record).write(&Event::Settled { run: record.run(), seq, outcome, micros, error });
        }
    }

    /// Takes the calls of a run that is suspended: those that have not ended stay pending.
    pub(crate) fn suspend(&self, record: &Record) -> Calls {
        record.take()
    }

    /// Closes a run's record and takes its calls: no further call may begin, and nobody waits for pending ones.
    pub fn close(&self, record: &Record) -> Calls {
        for seq in record.seal() {
            self.settle(record, seq, CallOutcome::Cancelled, None);
        }
        record.take()
    }

    /// Makes all recorded events durable. No admitted call may start before.
    ///
    /// # Errors
    /// If they are not durable.
    pub fn sync(&self) -> Result<(), AuditError> {
        self.audit.sync()
    }

    /// Restores account balances, keyed by account name, when a session is reopened.
    pub fn restore(&self, spent: &HashMap<String, Used>) {
        let own = self.grant_index.active_grants().iter();
        let gates = self.tool_gates.gates();
        let below = gates.iter().flat_map(|gate| gate.grant_index.active_grants());
        for account in own.chain(below).flat_map(|active| &active.accounts) {
            if let Some(name) = &account.name {
                self.ledger.restore(account.id, spent.get(&**name).copied().unwrap_or_default());
            }
        }
    }

    /// The spending of each account, keyed by account name, for [`Gate::restore`].
    #[must_use]
    pub fn spent(&self) -> HashMap<String, Used> {
        let own = self.grant_index.active_grants().iter();
        let gates = self.tool_gates.gates();
        let below = gates.iter().flat_map(|gate| gate.grant_index.active_grants());
        let accounts = own.chain(below).flat_map(|active| &active.accounts);
        let named = accounts.filter_map(|account| Some((account.name.as_deref()?.to_owned(), account.id)));
        named.map(|(name, id)| (name, self.ledger.used(id))).collect()
    }

    /// Updates an account with the spending of other sessions that share it: `before` is the spending known so far, and
    /// `after` the actual one.
    pub fn shift(&self, account: &str, before: Used, after: Used) {
        let own = self.grant_index.active_grants().iter();
        let gates = self.tool_gates.gates();
        let below = gates.iter().flat_map(|gate| gate.grant_index.active_grants());
        let mut known = HashSet::new();
        for entry in own.chain(below).flat_map(|active| &active.accounts) {
            // Several grants may debit the same account.
            if entry.name.as_deref() == Some(account) && known.insert(entry.id) {
                self.ledger.shift(entry.id, before, after);
            }
        }
    }

    /// Names of the secrets that tools are granted.
    #[must_use]
    pub fn secrets(&self) -> Vec<String> {
        let granted = self.policy.permissions.values().flat_map(|permissions| &permissions.secrets);
        let mut names: Vec<String> = granted.map(|secret| secret.name.clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Asks a human about a reserved call, and returns its number in the record (`seq`, if it has one already). Without
    /// consent, the reservation is released and the refusal recorded.
    #[expect(clippy::too_many_arguments, reason = "each is a part of one question")]
    fn ask(
        &self,
        record: &Record,
        seq: Option<u64>,
        method: &str,
        arguments: &Value,
        active: &ActiveGrant,
        debit: &CallReservation,
        reason: &str,
        consent: Consent<'_>,
    ) -> Result<u64, NotBegun> {
        let grant = active.grant.name.as_str();
        let approver = self.approver.as_ref().filter(|approver| approver.is_present());
        if let (None, Consent::Now) = (approver, consent) {
            debit.release();
            let message = format!("`{method}`: grant `{grant}` needs approval, but there is no terminal to ask on");
            let failure = Failure::approval(message).with_hint(
                "run it on a terminal, or in a session (`--session NAME`), where a run waits for approval unless it has run a program",
            );
            return Err(self.refuse(record, seq, method, arguments.clone(), Some(grant), failure).into());
        }
        let Some(seq) = assign_number(record, seq, method, arguments, grant) else {
            debit.release();
            return Err(Failure::cancelled().into());
        };
        let (callers, costs) = (record.callers(), self.costs(active, debit));
        let (run, audit) = (record.run(), &*self.log(record));
        let asking =
            PendingApproval { audit, run, seq, callers: &callers, method, arguments, grant, reason, costs: &costs };
        let failure = match asking.consent(approver.map(|approver| &**approver), consent) {
            Ok(Answering::Allowed) => match active.over(&self.ledger, SystemTime::now()) {
                None => return Ok(seq),
                // The grant ended while the human was deciding.
                Some(reason) => self.denied(method, &GrantDenial { grant: Some(&active.grant), reason }),
            },
            Ok(Answering::Refused(why)) => {
                let why = why.map(|why| format!(": {why}")).unwrap_or_default();
                Failure::approval(format!("`{method}`: a human refused the call (grant `{grant}`){why}"))
            }
            Ok(Answering::Deferred(call)) => {
                debit.release();
                return Err(NotBegun::Deferred(call));
            }
            Err(error) => {
                Failure::approval(format!("`{method}`: grant `{grant}` needs approval: {}", error_chain(&error)))
            }
        };
        debit.release();
        if !record.deny(seq, Some(grant)) {
            return Err(Failure::cancelled().into());
        }
        self.log_refusal(record, seq, method, &recorded_arguments(arguments.clone()), Some(grant), &failure);
        Err(failure.into())
    }

    /// Lists the amounts that a reserved call takes from each budget.
    fn costs(&self, active: &ActiveGrant, debit: &CallReservation) -> Vec<Cost> {
        let mut costs = Vec::new();
        for GrantAccount { id, grant, .. } in &active.accounts {
            let used = self.ledger.used(*id);
            let spent = debit.amounts().iter().find(|(account, _)| account == id).map(|(_, amount)| *amount);
            let whole = Amount::whole;
            let calls = grant.calls.map(|limit| (BudgetKind::Calls, whole(1), whole(limit), whole(used.calls)));
            let spend = grant.spend.as_ref().zip(spent);
            let spend = spend.map(|(spend, amount)| (BudgetKind::Spend, amount, spend.limit, used.spend));
            costs.extend([calls, spend].into_iter().flatten().map(|(kind, amount, limit, used)| Cost {
                grant: grant.name.clone(),
                kind,
                amount,
                limit,
                remaining: limit.saturating_sub(used),
            }));
        }
        costs
    }

    /// Finds the tool and converts the arguments to their canonical form. The error contains the arguments to record.
    fn check(&self, method: &str, text: &str, memory: u64) -> Result<(Arc<Tool>, Value), (Value, Failure)> {
        let sessions = self.limits().argument;
        let Some(tool) = self.tools.get(method) else {
            return Err((recorded_text(text), self.unknown(method)));
        };
        if let Some(reason) = tool.withdrawal() {
            return Err((recorded_text(text), Failure::capability(format!("`{method}`: {reason}"))));
        }
        let limit = tool.argument_limit(sessions);
        if text.len() as u64 > limit {
            let message = format!("`{method}`: arguments of {} bytes exceed the limit of {limit}", text.len());
            return Err((recorded_text(text), Failure::limit(message, limit_hint("argument", limit < sessions))));
        }
        let given = json::parse(text, memory).map_err(|error| {
            let failure = match error {
                JsonError::Malformed(error) => {
                    Failure::argument(format!("`{method}`: the arguments are not valid JSON: {error}"))
                }
                JsonError::TooLarge(memory) => Failure::limit(
                    format!(
                        "`{method}`: the arguments take more than the {memory} bytes of memory that are left for them"
                    ),
                    format!("pass less at once, or {}", how_to_raise("memory")),
                ),
            };
            (recorded_text(text), failure)
        })?;
        match tool.canonicalize(given, memory) {
            Ok(arguments) => Ok((tool, arguments)),
            Err(failure) => Err((recorded_text(text), failure)),
        }
    }

    /// Returns the error for the script of a denied call: the grant that came closest, and the unmet condition.
    fn denied(&self, method: &str, denial: &GrantDenial<'_>) -> Failure {
        let Some(grant) = denial.grant else { return self.not_granted(method) };
        let failure = Failure::capability(match &denial.reason {
            DenialReason::Budget(..) | DenialReason::Ended(..) => format!("`{method}`: {}", denial.reason),
            reason => format!("`{method}`: grant `{}`: {reason}", grant.name),
        });
        failure.with_hint(match &denial.reason {
            DenialReason::Budget(name, _) => {
                format!("raise the budget of grant `{name}`: in the policy, or `max_calls` in Python")
            }
            DenialReason::Ended(name, _) => format!("issue grant `{name}` again before making such calls"),
            _ => format!("call it with arguments that grant `{}` allows, or widen the grant in the policy", grant.name),
        })
    }

    fn not_granted(&self, method: &str) -> Failure {
        let given = match self.policy.grants.as_slice() {
            [] => "nothing is granted".to_owned(),
            grants => {
                let patterns: Vec<String> = grants.iter().take(5).map(|grant| format!("`{}`", grant.method)).collect();
                let more = if grants.len() > 5 { ", …" } else { "" };
                format!("granted are {}{more}", patterns.join(", "))
            }
        };
        if let Some(alias) = self.tool_gates.owner() {
            return Failure::capability(format!("the tool `{alias}` may not call `{method}`: {given}"))
                .with_hint(format!("add it to `tools` under `[tool.{alias}]` in the policy"));
        }
        let is_program = self.tools.get(method).is_some_and(|tool| tool.function().is_program());
        Failure::capability(format!("no grant allows `{method}`: {given}")).with_hint(how_to_grant(method, is_program))
    }

    fn unknown(&self, method: &str) -> Failure {
        let failure = Failure::argument(format!("there is no tool `{method}`"));
        if let Some(clash) = self.tools.clash_of(method) {
            return failure.with_hint(clash.hint());
        }
        match self.tools.nearest(method) {
            Some(near) => failure.with_hint(format!("did you mean `{near}`?")),
            None if self.tools.is_empty() => failure.with_hint(
                "no tool is mounted: publish one, or mount it with `--tool`; from Python, give it in `tools`",
            ),
            None => failure.with_hint("`listTools()` and `tool --list` name what is mounted"),
        }
    }

    /// Explains the decision of each grant that covers a method about a call. Nothing is called, debited or recorded.
    ///
    /// # Errors
    /// If there is no such method, or the arguments are invalid.
    pub fn explain(&self, method: &str, arguments: &str) -> Result<Vec<Opinion>, Failure> {
        let (tool, arguments) = self.check(method, arguments, self.limits().memory).map_err(|(_, failure)| failure)?;
        Ok(self.grant_index.opinions(&tool, &arguments, &self.ledger, SystemTime::now()))
    }

    /// Lists the mounted methods that each grant covers, and the reasons why it can never allow a call of one.
    #[must_use]
    pub fn coverage(&self) -> Vec<Coverage> {
        self.grant_index.coverage(&self.tools)
    }

    /// Lists the permissions of each mounted tool.
    #[must_use]
    pub fn reach(&self) -> Vec<Reach> {
        tool_gates::reach(self)
    }

    /// Returns true if the policy lets any tool make network requests.
    #[must_use]
    pub fn reaches_network(&self) -> bool {
        self.policy.permissions.values().any(|granted| !granted.http.is_empty())
    }

    /// Checks and debits a call with canonical arguments, and releases the debit: measures the cost of a call at the
    /// gate. For benchmarks and tests.
    #[doc(hidden)]
    #[must_use]
    pub fn would_allow(&self, tool: &Tool, arguments: &Value, now: SystemTime) -> bool {
        match self.grant_index.debit(tool, arguments, &self.ledger, now) {
            Ok((active, judge)) => {
                self.ledger.release(active.accounts[0].id, &|id| judge.amount(id, arguments));
                true
            }
            Err(_) => false,
        }
    }

    /// Number of calls that each grant has allowed, with its name, in order.
    #[must_use]
    pub fn counts(&self) -> Vec<(String, u64)> {
        let active = self.grant_index.active_grants().iter();
        active.map(|active| (active.grant.name.clone(), self.ledger.used(active.accounts[0].id).calls)).collect()
    }

    /// The state of every budget.
    #[must_use]
    pub fn budgets(&self) -> Vec<Budget> {
        let mut budgets = Vec::new();
        for active in self.grant_index.active_grants() {
            let used = self.ledger.used(active.accounts[0].id);
            let grant: &Grant = &active.grant;
            if let Some(limit) = grant.calls {
                budgets.push(Budget::new(
                    &grant.name,
                    BudgetKind::Calls,
                    Amount::whole(limit),
                    Amount::whole(used.calls),
                ));
            }
            if let Some(spend) = &grant.spend {
                budgets.push(Budget::new(&grant.name, BudgetKind::Spend, spend.limit, used.spend));
            }
        }
        budgets
    }
}

/// The reason why a granted call does not begin.
enum NotBegun {
    /// An error for the script.
    Failed(Failure),
    /// Another session has meanwhile spent the budget that the call was reserved in: its number in the record, and its
    /// arguments.
    Spent(u64, ChargedArguments),
    /// The call waits for a decision beyond this process.
    Deferred(Box<DeferredCall>),
}

/// The reason why a call is not admitted.
pub(crate) enum NotAdmitted {
    /// An error for the script.
    Refused(Failure),
    /// The call waits for a decision beyond this process.
    Deferred(Box<DeferredCall>),
}

impl From<Failure> for NotAdmitted {
    fn from(failure: Failure) -> Self {
        Self::Refused(failure)
    }
}

impl From<NotAdmitted> for Failure {
    fn from(reason: NotAdmitted) -> Self {
        match reason {
            NotAdmitted::Refused(failure) => failure,
            NotAdmitted::Deferred(call) => {
                Self::approval(format!("`{}`: grant `{}` needs approval", call.method, call.grant))
            }
        }
    }
}

/// Canonical arguments of a call, with their charge to the session's memory.
struct ChargedArguments {
    value: Value,
    charge: MemoryCharge,
}

impl From<Failure> for NotBegun {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Maximum number of times that a call is judged again because other sessions spent its budget. Each time one more
/// budget is known to be exhausted, unless a call is released meanwhile.
const MAX_ROUNDS: u32 = 100;

/// Returns the number of a call that is about to start: the existing one, or the next. Returns `None` if the run has
/// ended.
fn assign_number(record: &Record, seq: Option<u64>, method: &str, arguments: &Value, grant: &str) -> Option<u64> {
    match seq {
        Some(seq) => record.take_up(seq, grant).then_some(seq),
        None => record.begin(method, arguments, grant),
    }
}

/// Returns an error if a call of a tool is not allowed inside another call: it would be recursive, or nested too
/// deeply.
fn may_nest(record: &Record, tool: &Tool, limit: u32) -> Option<Failure> {
    let method = tool.method();
    if record.is_inside(tool.alias()) {
        return Some(Failure::capability(format!(
            "`{method}`: a tool may not call itself, through others or directly"
        )));
    }
    (record.depth() >= limit).then(|| {
        let message = format!("`{method}`: tools call tools at most {limit} deep");
        Failure::limit(message, format!("let the script make some of the calls, or {}", how_to_raise("depth")))
    })
}

/// Hint for raising a limit on one call: the tool's own limit, or the session's.
pub(crate) fn limit_hint(limit: &str, is_the_tools: bool) -> String {
    if is_the_tools {
        format!("it is the tool's own: `{limit}` under `[limits]` in its `tool.toml`")
    } else {
        how_to_raise(limit)
    }
}

/// Number of copies of a call's arguments that the host holds during the call: the judged ones, and the component's
/// values.
const ARGUMENT_COPIES: u64 = 2;

/// Maximum size of refused arguments that are recorded completely. Nothing else limits what a script without grants may
/// attempt.
const MAX_REFUSED_BYTES: usize = 16 << 10;

/// Returns the recorded form of the text of refused arguments: the JSON, or the text if it is not valid JSON; for a
/// long text its beginning, length and hash.
fn recorded_text(text: &str) -> Value {
    if text.len() > MAX_REFUSED_BYTES {
        let beginning = &text[..text.floor_char_boundary(MAX_REFUSED_BYTES / 16)];
        let hash = blake3::hash(text.as_bytes()).to_hex();
        return json!({ "beginning": beginning, "bytes": text.len(), "blake3": hash.as_str() });
    }
    json::parse(text, u64::MAX).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// Returns the recorded form of canonical arguments that were refused.
fn recorded_arguments(arguments: Value) -> Value {
    if json::weight(&arguments) > MAX_REFUSED_BYTES as u64 { recorded_text(&arguments.to_string()) } else { arguments }
}
