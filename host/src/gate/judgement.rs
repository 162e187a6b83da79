//! Judgement of a call: the order of its checks, the reservation, the consent, the record.
//!
//! **Invariant:** every decision is in the run's record and in the audit log before it takes effect.

use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use super::admission::CallReservation;
use super::approval::{Answering, PendingApproval};
use super::grant_index::{ActiveGrant, GrantAccount, GrantDenial};
use super::refusal::{limit_hint, recorded_arguments, recorded_text};
use super::{
    Admission, AuditError, BudgetKind, CallAudit, CallOutcome, Consent, Cost, Debits, DeferredCall, EarlierQuestion,
    Event, Gate, Record,
};
use crate::capability::Amount;
use crate::code::{Interrupt, MemoryAccount, MemoryCharge};
use crate::error::{Failure, error_chain, how_to_raise};
use crate::json::{self, JsonError};
use crate::tool::{Tool, no_memory_for};

impl Gate {
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
        let consent = Consent::Deferrable(EarlierQuestion::default());
        self.admit_numbered(record, None, method, arguments, memory, interrupt, consent)
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
        consent: Consent<'_>,
    ) -> Result<Admission, NotAdmitted> {
        let Admission { seq, arguments, charge, tool, .. } = admission;
        let arguments = ChargedArguments { value: arguments, charge };
        self.judge_until_settled(record, Some(seq), &tool, arguments, interrupt, consent)
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
            let failure = Failure::approval(message)
                .with_hint("run it on a terminal, or in a session (`--session NAME`), where a run waits for approval");
            return Err(self.refuse(record, seq, method, arguments.clone(), Some(grant), failure).into());
        }
        let Some(seq) = assign_number(record, seq, method, arguments, grant) else {
            debit.release();
            return Err(Failure::cancelled().into());
        };
        let (callers, costs) = (record.callers(), self.costs(active, debit));
        let (run, audit) = (record.run(), &*self.log(record));
        let (callers, costs, within) = (&*callers, &*costs, active.grant.approve_within);
        let asking = PendingApproval { audit, run, seq, callers, method, arguments, grant, reason, costs, within };
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
            Ok(Answering::Expired) => {
                let message = format!("`{method}`: nobody approved the call in time (grant `{grant}`)");
                Failure::approval(message).with_hint("`approve_within` of the grant says how long it waits")
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
    pub(super) fn check(&self, method: &str, text: &str, memory: u64) -> Result<(Arc<Tool>, Value), (Value, Failure)> {
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

    /// Returns true if calls of a method have no effect besides their result and the files that they may write: it is of
    /// a component that was granted nothing by which it could have one.
    pub(crate) fn is_pure(&self, method: &str) -> bool {
        let tool = self.tools.get(method).filter(|tool| tool.package().is_some());
        tool.is_some_and(|tool| {
            let (authority, gate) = self.tool_gates.of(tool.alias());
            gate.is_none() && authority.has_no_effects()
        })
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
        Some(seq) => record.take_up(seq, arguments, grant).then_some(seq),
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

/// Number of copies of a call's arguments that the host holds during the call: the judged ones, and the component's
/// values.
const ARGUMENT_COPIES: u64 = 2;
