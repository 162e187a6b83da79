//! Refusals: what the script is told, and what is recorded of a refused call.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tollhouse_policy::ledger::Refused;
use tollhouse_types::error::{ErrorKind, Failure};
use tollhouse_types::json;
use tollhouse_types::remedy::Remedy;

use super::consent::{ConsentRequest, DeferredCall, UnapprovedCall};
use super::event::Event;
use super::grant_index::{DenialReason, GrantDenial};
use super::{Admission, CallRecord, Gate};

/// A call that is refused: the failure for the script, and the event to log.
#[derive(Debug)]
pub struct Refusal {
    failure: Failure,
    /// The refused call as it is recorded. `None` if it is not logged: the run has ended, or has reached its limit on
    /// calls.
    call: Option<RefusedCall>,
}

/// What is recorded of a refused call.
#[derive(Debug)]
struct RefusedCall {
    run: u64,
    seq: u64,
    caller: Option<u64>,
    method: String,
    arguments: Value,
    grant: Option<String>,
    kind: ErrorKind,
}

impl From<Failure> for Refusal {
    /// Refuses a call that is not recorded.
    fn from(failure: Failure) -> Self {
        Self { failure, call: None }
    }
}

impl Refusal {
    /// Records a refusal, under the existing number of the call if it has one.
    pub(super) fn record(
        record: &CallRecord,
        seq: Option<u64>,
        method: &str,
        arguments: Value,
        grant: Option<&str>,
        failure: Failure,
    ) -> Self {
        let arguments = recorded_arguments(arguments);
        let seq = match seq {
            Some(seq) if record.deny(seq, grant) => seq,
            // The run ended while the call was judged.
            Some(_) => return Failure::cancelled().into(),
            None => record.refuse(method, &arguments, grant),
        };
        let (method, grant, kind) = (method.to_owned(), grant.map(str::to_owned), failure.kind);
        let call = RefusedCall { run: record.run(), seq, caller: record.caller(), method, arguments, grant, kind };
        Self { failure, call: Some(call) }
    }

    /// Returns the event to log, if the refusal is logged. A refusal is safe without a log.
    #[must_use]
    pub fn event(&self) -> Option<Event<'_>> {
        let RefusedCall { run, seq, caller, method, arguments, grant, kind } = self.call.as_ref()?;
        let (run, seq, caller, kind) = (*run, *seq, *caller, *kind);
        let (grant, reason) = (grant.as_deref(), self.failure.message.as_str());
        Some(Event::Denied { run, seq, caller, method, arguments, grant, kind, reason })
    }

    /// Returns the failure for the script.
    #[must_use]
    pub fn into_failure(self) -> Failure {
        self.failure
    }
}

impl Gate {
    /// Refuses a call that needs consent, since there is nobody to ask and the run cannot wait.
    #[must_use]
    pub fn refuse_unasked(record: &CallRecord, unapproved: UnapprovedCall) -> Refusal {
        let approvers = unapproved.approved_by().map(listed);
        let UnapprovedCall { seq, call, .. } = unapproved;
        call.reservation.release();
        let (method, grant) = (call.declaration.method(), call.reservation.grant());
        let failure = match approvers {
            None => {
                let message = format!("`{method}`: grant `{grant}` needs approval, but there is no terminal to ask on");
                Failure::approval(message).with_hint(Remedy::Ask)
            }
            Some(approvers) => {
                let message = format!("`{method}`: grant `{grant}` needs an approval signed by {approvers}");
                Failure::approval(message).with_hint(Remedy::WaitForSignature)
            }
        };
        Refusal::record(record, seq, method, call.arguments.value, Some(grant), failure)
    }

    /// Refuses a call that a human was asked about, and gives back what was reserved for it.
    #[must_use]
    pub fn refuse_asked(record: &CallRecord, request: ConsentRequest, failure: Failure) -> Refusal {
        request.release();
        let ConsentRequest { seq, call, .. } = request;
        let (method, grant) = (call.declaration.method(), call.reservation.grant());
        Refusal::record(record, Some(seq), method, call.arguments.value, Some(grant), failure)
    }

    /// Refuses a call that waited for consent, because its run can no longer wait.
    #[must_use]
    pub fn refuse_deferred(record: &CallRecord, call: DeferredCall, why: &str) -> Refusal {
        let DeferredCall { method, grant, .. } = &call;
        let message = format!("`{method}`: grant `{grant}` needs approval, and a run that {why} cannot wait for it");
        let failure = Failure::approval(message).with_hint("run it on a terminal, or make the call before that");
        Self::refuse_question(record, call, failure)
    }

    /// Refuses a call that waited for consent with this failure, whatever grant would allow it now.
    #[must_use]
    pub fn refuse_question(record: &CallRecord, call: DeferredCall, failure: Failure) -> Refusal {
        let DeferredCall { seq, method, arguments, grant, .. } = call;
        Refusal::record(record, Some(seq), &method, arguments, Some(&grant), failure)
    }

    /// Refuses a call that was admitted again and again, while other sessions spent its budget.
    #[must_use]
    pub fn refuse_exhausted(record: &CallRecord, admission: Admission) -> Refusal {
        admission.release();
        let method = admission.method();
        let message = format!("`{method}`: its budget is used up by sessions that share it");
        let failure = Failure::capability(message);
        let Admission { seq, call, .. } = admission;
        Refusal::record(record, Some(seq), call.declaration.method(), call.arguments.value, None, failure)
    }

    /// Returns the error for the script of a denied call: the grant that came closest, and the unmet condition.
    pub(super) fn denied(&self, method: &str, denial: &GrantDenial<'_>) -> Failure {
        let Some(grant) = denial.grant else { return self.not_granted(method) };
        let failure = Failure::capability(match &denial.reason {
            DenialReason::Budget(..) | DenialReason::Ended(..) => format!("`{method}`: {}", denial.reason),
            reason => format!("`{method}`: grant `{}`: {reason}", grant.name),
        });
        failure.with_hint(match &denial.reason {
            DenialReason::Ended(name, _) | DenialReason::Budget(name, Refused::Expired | Refused::Revoked) => {
                format!("issue grant `{name}` again before making such calls")
            }
            DenialReason::Budget(name, _) => Remedy::RaiseBudget(name).to_string(),
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
        if let Some(alias) = &self.owner {
            return Failure::capability(format!("the tool `{alias}` may not call `{method}`: {given}"))
                .with_hint(format!("add it to `tools` under `[tool.{alias}]` in the policy"));
        }
        let is_program = self.catalog.get(method).is_some_and(|tool| tool.function().is_program());
        Failure::capability(format!("no grant allows `{method}`: {given}"))
            .with_hint(Remedy::Grant { method, is_program })
    }

    pub(super) fn unknown(&self, method: &str) -> Failure {
        let failure = Failure::argument(format!("there is no tool `{method}`"));
        if let Some(clash) = self.catalog.clash_of(method) {
            return failure.with_hint(clash.hint());
        }
        match self.catalog.nearest(method) {
            Some(near) => failure.with_hint(format!("did you mean `{near}`?")),
            None if self.catalog.is_empty() => failure.with_hint(format!("no tool is mounted: {}", Remedy::MountTool)),
            None => failure.with_hint(Remedy::ListMethods),
        }
    }
}

/// Maximum size of refused arguments that are recorded completely. Nothing else limits what a script without grants may
/// attempt.
const MAX_REFUSED_BYTES: usize = 16 << 10;

/// Returns the recorded form of the text of refused arguments: the JSON, or the text if it is not valid JSON; for a
/// long text its beginning, length and hash.
pub(super) fn recorded_text(text: &str) -> Value {
    if text.len() > MAX_REFUSED_BYTES {
        let beginning = &text[..text.floor_char_boundary(MAX_REFUSED_BYTES / 16)];
        let hash = blake3::hash(text.as_bytes()).to_hex();
        return json!({ "beginning": beginning, "bytes": text.len(), "blake3": hash.as_str() });
    }
    json::parse(text, u64::MAX).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// Returns the recorded form of canonical arguments that were refused.
pub(super) fn recorded_arguments(arguments: Value) -> Value {
    if json::weight(&arguments) > MAX_REFUSED_BYTES as u64 { recorded_text(&arguments.to_string()) } else { arguments }
}

/// Lists approvers for a sentence: "`cfo` or `ceo`".
fn listed(approvers: &BTreeSet<String>) -> String {
    let names: Vec<String> = approvers.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "somebody, and its grant names nobody who can".to_owned() } else { names.join(" or ") }
}
