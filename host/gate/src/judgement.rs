//! Judgement of a call: the order of its checks, and the reservation.

use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;
use tollhouse_methods::MethodDeclaration;
use tollhouse_policy::capability::Amount;
use tollhouse_types::error::{Failure, Location};
use tollhouse_types::json::{self, JsonError};
use tollhouse_types::memory::{MemoryAccount, no_memory_for};
use tollhouse_types::remedy::{Remedy, limit_hint};

use super::admission::{CallReservation, ChargedArguments, ReservedCall};
use super::consent::{ConsentRequest, Cost, UnapprovedCall};
use super::grant_index::{GrantAccount, GrantDenial};
use super::refusal::{Refusal, recorded_arguments, recorded_text};
use super::{Admission, BudgetKind, CallRecord, Gate};

/// A call that a script, or a tool on its behalf, wants to make.
#[derive(Clone, Copy, Debug)]
pub struct CallRequest<'a> {
    /// Number of the call in its run, if it has one already, because its run was resumed.
    pub seq: Option<u64>,
    /// The method, as the script wrote it.
    pub method: &'a str,
    /// The arguments, as JSON text.
    pub arguments: &'a str,
    /// Place in the script, as its guest tells it. The judgement does not depend on it.
    pub location: Option<&'a Location>,
    /// Time at which the call is judged.
    pub now: SystemTime,
}

/// Decision of the gate about a call. It is in the run's record; the events that it returns are to be logged before it
/// takes effect.
#[must_use]
pub enum Judgement {
    /// The call may be made, once its event is logged.
    Admitted(Box<Admission>),
    /// A human is to be asked. The call is reserved meanwhile.
    NeedsConsent(Box<UnapprovedCall>),
    /// The call is refused.
    Refused(Refusal),
}

impl Gate {
    /// Counts a call, whatever the decision about it. Of the calls beyond the limit only the first is recorded:
    /// otherwise a script that keeps calling would fill the record.
    ///
    /// # Errors
    /// If the run has made as many calls as it may.
    pub fn count(&self, record: &CallRecord, method: &str) -> Result<(), Refusal> {
        let limit = self.limits().calls;
        let asked = record.ask();
        if asked <= limit {
            return Ok(());
        }
        let message = format!("`{method}`: the limit of {limit} calls of a run is reached");
        let failure = Failure::limit(message, Remedy::RaiseLimit("calls"));
        if asked == limit.saturating_add(1) {
            return Err(Refusal::record(record, None, method, Value::Null, None, failure));
        }
        Err(failure.into())
    }

    /// Judges a call, in the order that the contract defines: shape and types of the arguments, grant, budget, approval.
    /// The approximate memory of the arguments on the host is charged to `memory` for the lifetime of the admission.
    pub fn judge(&self, record: &CallRecord, request: &CallRequest<'_>, memory: &MemoryAccount) -> Judgement {
        let &CallRequest { seq, method, arguments, location, now } = request;
        let refuse =
            |arguments, failure| Judgement::Refused(Refusal::record(record, seq, method, arguments, None, failure));
        let (declaration, arguments) = match self.check(method, arguments, memory.left() / ARGUMENT_COPIES) {
            Ok(checked) => checked,
            Err((arguments, failure)) => return refuse(arguments, failure),
        };
        let Some(charge) = memory.charge(json::weight(&arguments).saturating_mul(ARGUMENT_COPIES)) else {
            return refuse(arguments, no_memory_for(&format!("`{method}`: the arguments"), memory));
        };
        if let Some(failure) = may_nest(record, &declaration, self.limits().depth) {
            return refuse(arguments, failure);
        }
        let arguments = ChargedArguments { value: arguments, charge };
        self.reserve(record, seq, declaration, arguments, location.cloned(), now)
    }

    /// Returns the canonical form of a call: method and arguments.
    ///
    /// # Errors
    /// If there is no such method, or the arguments do not fit it.
    pub fn canonical(&self, method: &str, arguments: &str) -> Result<(String, Value), Failure> {
        let checked = self.check(method, arguments, self.limits().memory);
        checked.map(|(declaration, value)| (declaration.method().to_owned(), value)).map_err(|(_, failure)| failure)
    }

    /// Returns method and arguments of a call as they are recorded if it is refused.
    #[must_use]
    pub fn refused_form(&self, method: &str, arguments: &str) -> (String, Value) {
        let (method, arguments) = match self.check(method, arguments, self.limits().memory) {
            Ok((declaration, arguments)) => (declaration.method().to_owned(), arguments),
            Err((arguments, _)) => (method.to_owned(), arguments),
        };
        (method, recorded_arguments(arguments))
    }

    /// Judges a call again that was admitted, has not started, and was released, because another session has meanwhile
    /// spent the budget that it was reserved in. It keeps its number.
    pub fn judge_again(&self, record: &CallRecord, admission: Admission, now: SystemTime) -> Judgement {
        admission.release();
        let Admission { seq, call: ReservedCall { declaration, arguments, location, .. }, .. } = admission;
        self.reserve(record, Some(seq), declaration, arguments, location, now)
    }

    /// Reserves a call with canonical arguments. `seq` is its number if it has one already.
    fn reserve(
        &self,
        record: &CallRecord,
        seq: Option<u64>,
        declaration: Arc<MethodDeclaration>,
        arguments: ChargedArguments,
        location: Option<Location>,
        now: SystemTime,
    ) -> Judgement {
        let (active, judge) = match self.grant_index.debit(&declaration, &arguments.value, &self.ledger, now) {
            Ok(debited) => debited,
            Err(denial) => {
                let (grant, method) = (denial.grant.map(|grant| grant.name.as_str()), declaration.method());
                let failure = self.denied(method, &denial);
                return Judgement::Refused(Refusal::record(record, seq, method, arguments.value, grant, failure));
            }
        };
        let accounts = active.accounts.iter();
        let amounts = accounts.filter_map(|entry| Some((entry.id, judge.amount(entry.id, &arguments.value)?)));
        let reservation = CallReservation::new(&self.ledger, active, amounts.collect());
        // Nothing is sent, so nothing is spent, and nobody is asked.
        if let Some(failure) = declaration.unavailability() {
            let grant = reservation.grant().to_owned();
            reservation.release();
            let method = declaration.method();
            return Judgement::Refused(Refusal::record(record, seq, method, arguments.value, Some(&grant), failure));
        }
        let reason = judge.asks(&arguments.value);
        let call = ReservedCall { declaration, arguments, location, reservation };
        match reason {
            Some(reason) => Judgement::NeedsConsent(Box::new(UnapprovedCall { seq, call, reason })),
            None => self.admit(record, seq, call),
        }
    }

    /// Numbers a reserved call in the record. Afterwards it may start, once that is logged.
    fn admit(&self, record: &CallRecord, seq: Option<u64>, call: ReservedCall) -> Judgement {
        let Some(seq) = number(record, seq, &call) else {
            // The run ended while the call was judged.
            call.reservation.release();
            return Judgement::Refused(Failure::cancelled().into());
        };
        let result_limit = call.declaration.result_limit(self.limits().result);
        let (run, caller) = (record.run(), record.caller());
        Judgement::Admitted(Box::new(Admission { run, seq, caller, call, result_limit }))
    }

    /// Numbers a call that a human is about to be asked about.
    ///
    /// # Errors
    /// If the run has ended: then the reservation is released.
    pub fn ask(&self, record: &CallRecord, unapproved: UnapprovedCall) -> Result<ConsentRequest, Refusal> {
        let UnapprovedCall { seq, call, reason } = unapproved;
        let Some(seq) = number(record, seq, &call) else {
            call.reservation.release();
            return Err(Failure::cancelled().into());
        };
        let costs = self.costs(&call.reservation);
        Ok(ConsentRequest { run: record.run(), seq, callers: record.callers(), call, reason, costs })
    }

    /// Admits a call that a human has approved, unless its grant ended meanwhile.
    pub fn approve(&self, record: &CallRecord, request: ConsentRequest, now: SystemTime) -> Judgement {
        let active = &request.call.reservation.active;
        match active.over(&self.ledger, now) {
            None => self.admit(record, Some(request.seq), request.call),
            // The grant ended while the human was deciding.
            Some(reason) => {
                let failure = self.denied(request.method(), &GrantDenial { grant: Some(&active.grant), reason });
                Judgement::Refused(Self::refuse_asked(record, request, failure))
            }
        }
    }

    /// Lists the amounts that a reserved call takes from each budget.
    fn costs(&self, reservation: &CallReservation) -> Vec<Cost> {
        let mut costs = Vec::new();
        for GrantAccount { id, grant, .. } in &*reservation.active.accounts {
            let used = self.ledger.used(*id);
            let spent = reservation.amounts().iter().find(|(account, _)| account == id).map(|(_, amount)| *amount);
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

    /// Finds the method and converts the arguments to their canonical form. The error contains the arguments to record.
    pub(super) fn check(
        &self,
        method: &str,
        text: &str,
        memory: u64,
    ) -> Result<(Arc<MethodDeclaration>, Value), (Value, Failure)> {
        let sessions = self.limits().argument;
        let Some(declaration) = self.catalog.get(method) else {
            return Err((recorded_text(text), self.unknown(method)));
        };
        if let Some(reason) = declaration.withdrawal() {
            return Err((recorded_text(text), Failure::capability(format!("`{method}`: {reason}"))));
        }
        let limit = declaration.argument_limit(sessions);
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
                    format!("pass less at once, or {}", Remedy::RaiseLimit("memory")),
                ),
            };
            (recorded_text(text), failure)
        })?;
        match declaration.canonicalize(given, memory) {
            Ok(arguments) => Ok((declaration, arguments)),
            Err(failure) => Err((recorded_text(text), failure)),
        }
    }
}

/// Returns the number of a call that is about to start: the existing one, or the next. Returns `None` if the run has
/// ended.
fn number(record: &CallRecord, seq: Option<u64>, call: &ReservedCall) -> Option<u64> {
    let grant = call.reservation.grant();
    match seq {
        Some(seq) => record.take_up(seq, &call.arguments.value, grant).then_some(seq),
        None => record.begin(call.declaration.method(), &call.arguments.value, grant),
    }
}

/// Returns an error if a call of a tool is not allowed inside another call: it would be recursive, or nested too
/// deeply.
fn may_nest(record: &CallRecord, tool: &MethodDeclaration, limit: u32) -> Option<Failure> {
    let method = tool.method();
    if record.is_inside(tool.alias()) {
        return Some(Failure::capability(format!(
            "`{method}`: a tool may not call itself, through others or directly"
        )));
    }
    (record.depth() >= limit).then(|| {
        let message = format!("`{method}`: tools call tools at most {limit} deep");
        Failure::limit(message, format!("let the script make some of the calls, or {}", Remedy::RaiseLimit("depth")))
    })
}

/// Number of copies of a call's arguments that the host holds during the call: the judged ones, and the component's
/// values.
const ARGUMENT_COPIES: u64 = 2;
