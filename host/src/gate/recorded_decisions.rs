//! Decisions that a session's log has, judged again: by the same rules, at the times of the events.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;
use tollhouse_gate::{Admission, CallRecord, CallRequest, Event, Gate, Judgement};

use super::SessionGate;
use crate::code::MemoryAccount;
use crate::error::Failure;

/// Call of a log, judged again.
#[derive(Debug)]
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
    /// Names of those whose signed approval the call needed.
    pub(crate) approved_by: Option<BTreeSet<String>>,
    /// Difference of the two decisions: the call was made, and must not have been.
    pub(crate) problem: Option<String>,
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

/// Consent without which a call must not have been made.
struct NeededConsent {
    approved_by: Option<BTreeSet<String>>,
}

impl RecordedDecisions {
    /// Creates the decisions of a run. The gate's ledger has what had been spent before it.
    pub(crate) fn new(gate: SessionGate, run: u64) -> Self {
        let memory = MemoryAccount::new(gate.limits().memory);
        let (approved, admitted, calls) = (BTreeSet::new(), HashMap::new(), BTreeMap::new());
        Self { gate, run, memory, approved, admitted, calls }
    }

    /// Takes the next event of the log; those of other runs do not count.
    pub(crate) fn take(&mut self, event: &Value, at: SystemTime) {
        let (Some(run), Some(seq), Some(word)) =
            (event["run"].as_u64(), event["seq"].as_u64(), event["event"].as_str())
        else {
            return;
        };
        if run != self.run {
            return;
        }
        match word {
            "answered" if event["allowed"] == true => drop(self.approved.insert(seq)),
            "answered" => drop(self.approved.remove(&seq)),
            "released" => self.release(seq),
            "asked" | "denied" => drop(self.calls.insert(seq, judged(event, at))),
            "admitted" => {
                let call = self.judge_admitted(seq, event, at);
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

    fn judge_admitted(&mut self, seq: u64, event: &Value, at: SystemTime) -> JudgedCall {
        let mut call = judged(event, at);
        let logged = event["grant"].as_str().unwrap_or_default();
        call.grant = Some(logged.to_owned());
        match self.verdict(&call) {
            Ok(Verdict::Allowed { admission, needed }) => {
                if let Some(NeededConsent { approved_by }) = needed {
                    call.approved_by = approved_by;
                    if !self.approved.contains(&seq) {
                        call.problem = Some("it was made without the approval that its grant demands".to_owned());
                    }
                }
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

fn judged(event: &Value, at: SystemTime) -> JudgedCall {
    JudgedCall {
        caller: event["caller"].as_u64(),
        at,
        method: event["method"].as_str().unwrap_or_default().to_owned(),
        arguments: event["arguments"].clone(),
        grant: None,
        approved_by: None,
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
            let needed = NeededConsent { approved_by: unapproved.approved_by().cloned() };
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

    /// Returns the canonical form of a call.
    ///
    /// # Errors
    /// If there is no such method, or the arguments do not fit it.
    pub(crate) fn canonical(&self, method: &str, arguments: &str) -> Result<(String, Value), Failure> {
        self.rules.canonical(method, arguments)
    }
}
