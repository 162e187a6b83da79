//! Decisions that a session's log has, judged again: by the same rules, at the times of the events.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;
use tollhouse_gate::{Admission, CallRecord, CallRequest, Event, Gate, Judgement, LoggedDecision, LoggedEvent};

use super::SessionGate;
use crate::code::MemoryAccount;
use crate::error::Failure;

/// Call of a log, judged again.
#[derive(Clone, Debug)]
pub(crate) struct JudgedCall {
    /// Number of the call whose tool made this one; `None` for a call of a script.
    pub(crate) caller: Option<u64>,
    /// Time of the decision.
    pub(crate) at: SystemTime,
    /// The canonical method.
    pub(crate) method: String,
    /// The arguments, as the log has them.
    pub(crate) arguments: Value,
    /// Grant that allowed the call; `None` if it was refused, or nobody answered.
    pub(crate) grant: Option<String>,
    /// Consent that the policy demands for the call; `None` if it demands none.
    pub(crate) consent: Option<NeededConsent>,
    /// Refusal that the log has.
    pub(crate) refusal: Option<RecordedRefusal>,
    /// Difference of the two decisions.
    pub(crate) problem: Option<String>,
}

impl JudgedCall {
    /// Returns true if a script made the call, and was refused it.
    pub(crate) fn is_refused_by_gate(&self) -> bool {
        self.caller.is_none() && self.grant.is_none() && self.refusal.is_some()
    }

    /// Returns true if it has this method and these arguments, as the log has them.
    pub(crate) fn is_call(&self, (method, arguments): &(String, Value)) -> bool {
        self.method == *method && self.arguments == *arguments
    }
}

/// Consent without which a call must not be made.
#[derive(Clone, Debug)]
pub(crate) struct NeededConsent {
    /// Reason in words.
    pub(crate) reason: String,
    /// Names of those who have to sign it; `None` if anyone can approve.
    pub(crate) approved_by: Option<BTreeSet<String>>,
}

/// Refusal of a call as the log has it.
#[derive(Clone, Debug)]
pub(crate) struct RecordedRefusal {
    /// Kind of the error.
    pub(crate) kind: String,
    /// Message of the error.
    pub(crate) message: String,
}

/// Decisions about the calls of a run, in the order of its log.
pub(crate) struct RecordedDecisions {
    gate: SessionGate,
    run: u64,
    memory: MemoryAccount,
    /// Calls that a human approved.
    approved: BTreeSet<u64>,
    /// Reservations of the calls that were made.
    admitted: HashMap<u64, Admission>,
    calls: BTreeMap<u64, JudgedCall>,
}

/// Decision of the rules about a call of a log.
enum Verdict {
    Allowed { admission: Box<Admission>, needed: Option<NeededConsent> },
    Refused(Failure),
}

impl RecordedDecisions {
    /// Creates the decisions of a run. The gate's ledger has what had been spent before it.
    pub(crate) fn new(gate: SessionGate, run: u64) -> Self {
        let memory = MemoryAccount::new(gate.limits().memory);
        let (approved, admitted, calls) = (BTreeSet::new(), HashMap::new(), BTreeMap::new());
        Self { gate, run, memory, approved, admitted, calls }
    }

    /// Takes the next event of the log; those of other runs do not count.
    pub(crate) fn take(&mut self, event: LoggedEvent, at: SystemTime) {
        let Some((_, seq)) = event.call().filter(|(run, _)| *run == self.run) else { return };
        match event {
            LoggedEvent::Answered { allowed: true, .. } => drop(self.approved.insert(seq)),
            LoggedEvent::Answered { .. } => drop(self.approved.remove(&seq)),
            LoggedEvent::Released { .. } => self.release(seq),
            LoggedEvent::Asked { decision } => drop(self.calls.insert(seq, judged(&decision, at))),
            LoggedEvent::Denied { decision, kind } => {
                let call = self.judge_denied(seq, &decision, kind, at);
                self.calls.insert(seq, call);
            }
            LoggedEvent::Admitted { decision, .. } => {
                let call = self.judge_admitted(seq, &decision, at);
                self.calls.insert(seq, call);
            }
            _ => {}
        }
    }

    /// Returns the calls by their numbers.
    pub(crate) fn into_calls(self) -> BTreeMap<u64, JudgedCall> {
        self.calls
    }

    fn release(&mut self, seq: u64) {
        if let Some(admission) = self.admitted.remove(&seq) {
            admission.release();
        }
        self.calls.entry(seq).and_modify(|call| call.grant = None);
    }

    fn judge_admitted(&mut self, seq: u64, decision: &LoggedDecision, at: SystemTime) -> JudgedCall {
        let mut call = judged(decision, at);
        let logged = decision.grant.as_deref().unwrap_or_default();
        call.grant = Some(logged.to_owned());
        match self.verdict(&call) {
            Ok(Verdict::Allowed { admission, needed }) => {
                if needed.is_some() && !self.approved.contains(&seq) {
                    call.problem = Some("it was made without the approval that its grant demands".to_owned());
                }
                call.consent = needed;
                if let Event::Admitted { grant, arguments, .. } = admission.event()
                    && (grant != logged || *arguments != call.arguments)
                {
                    call.problem = Some(format!("the log says that `{logged}` allowed it, and the policy `{grant}`"));
                }
                self.admitted.insert(seq, *admission);
            }
            Ok(Verdict::Refused(failure)) => {
                call.problem = Some(format!("it was made, and the policy refuses it: {}", failure.message));
            }
            Err(why) => call.problem = Some(why),
        }
        call
    }

    /// Judges a refused call. That a human refused a call which needs approval, or was not there, is the log's word.
    fn judge_denied(&mut self, seq: u64, decision: &LoggedDecision, kind: String, at: SystemTime) -> JudgedCall {
        self.release(seq);
        let mut call = judged(decision, at);
        let refusal = RecordedRefusal { kind, message: decision.reason.clone().unwrap_or_default() };
        match self.verdict(&call) {
            Ok(Verdict::Allowed { admission, needed }) => {
                admission.release();
                if needed.is_none() || self.approved.contains(&seq) {
                    call.problem = Some("it was refused, and the policy allows it".to_owned());
                }
                call.consent = needed;
            }
            Ok(Verdict::Refused(failure)) if failure.message == refusal.message => {}
            Ok(Verdict::Refused(failure)) => {
                call.problem =
                    Some(format!("it was refused for another reason than the policy has: {}", failure.message));
            }
            Err(why) => call.problem = Some(why),
        }
        call.refusal = Some(refusal);
        call
    }

    /// Judges a call by the rules for whoever made it.
    fn verdict(&self, call: &JudgedCall) -> Result<Verdict, String> {
        let record = CallRecord::of_run(self.run);
        let (rules, record) = match call.caller {
            None => (Arc::clone(&self.gate.rules), record),
            Some(caller) => {
                let admission = self.admitted.get(&caller).ok_or("a tool made it whose own call was not made")?;
                let alias = admission.declaration().alias();
                let gate = self.gate.of_tool(alias).ok_or("its tool may not call others")?;
                (gate.rules, record.within(alias, caller))
            }
        };
        Ok(judge(&rules, &record, (&call.method, &call.arguments), call.at, &self.memory))
    }
}

fn judged(decision: &LoggedDecision, at: SystemTime) -> JudgedCall {
    JudgedCall {
        caller: decision.caller,
        at,
        method: decision.method.clone(),
        arguments: decision.arguments.clone(),
        grant: None,
        consent: None,
        refusal: None,
        problem: None,
    }
}

/// Judges a call as if whoever has to approve it did.
fn judge(
    rules: &Gate,
    record: &CallRecord,
    (method, arguments): (&str, &Value),
    now: SystemTime,
    memory: &MemoryAccount,
) -> Verdict {
    let text = arguments.to_string();
    let request = CallRequest { seq: None, method, arguments: &text, location: None, now };
    let (judgement, needed) = match rules.judge(record, &request, memory) {
        Judgement::NeedsConsent(unapproved) => {
            let (reason, approved_by) = (unapproved.reason().to_owned(), unapproved.approved_by().cloned());
            let needed = NeededConsent { reason, approved_by };
            let judgement = match rules.ask(record, *unapproved) {
                Ok(request) => rules.approve(record, request, now),
                Err(refusal) => Judgement::Refused(refusal),
            };
            (judgement, Some(needed))
        }
        judgement => (judgement, None),
    };
    match judgement {
        Judgement::Admitted(admission) => Verdict::Allowed { admission, needed },
        Judgement::Refused(refusal) => Verdict::Refused(refusal.into_failure()),
        Judgement::NeedsConsent(_) => Verdict::Refused(Failure::approval("it was asked about twice")),
    }
}

impl SessionGate {
    /// Admits a call that is repeated to compare the results, at the time at which it was made. Its approval is not asked
    /// for again.
    ///
    /// # Errors
    /// Why the rules of this gate refuse it.
    pub(crate) fn admit_repetition(
        &self,
        run: u64,
        call: &JudgedCall,
        memory: &MemoryAccount,
    ) -> Result<Admission, Failure> {
        let record = CallRecord::of_run(run);
        match judge(&self.rules, &record, (&call.method, &call.arguments), call.at, memory) {
            Verdict::Allowed { admission, .. } => Ok(*admission),
            Verdict::Refused(failure) => Err(failure),
        }
    }

    /// Returns true if the rules of this gate ask a human before this call, made at this time.
    pub(crate) fn asks(&self, run: u64, method: &str, arguments: &Value, at: SystemTime) -> bool {
        let memory = MemoryAccount::new(self.limits().memory);
        match judge(&self.rules, &CallRecord::of_run(run), (method, arguments), at, &memory) {
            Verdict::Allowed { admission, needed } => {
                admission.release();
                needed.is_some()
            }
            Verdict::Refused(_) => false,
        }
    }

    /// Returns method and arguments of a call as the log has them if it is refused.
    pub(crate) fn refused_form(&self, method: &str, arguments: &str) -> (String, Value) {
        self.rules.refused_form(method, arguments)
    }

    /// Returns the canonical form of a call.
    ///
    /// # Errors
    /// If there is no such method, or the arguments do not fit it.
    pub(crate) fn canonical(&self, method: &str, arguments: &str) -> Result<(String, Value), Failure> {
        self.rules.canonical(method, arguments)
    }
}
