//! The calls of a run by their numbers, of which those that ended long ago may be a summary.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::call_record::{Call, CallOutcome};
use super::consent::DeferredCall;
use super::logged_event::{LoggedDecision, LoggedEvent};

/// The calls of a run that has ended.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Calls {
    calls: Vec<Call>,
    #[serde(skip)]
    earlier: EarlierCalls,
}

impl Calls {
    /// The calls in the order in which the gate judged them. Calls that are omitted on request ([`Calls::earlier`]) are not
    /// among them.
    #[must_use]
    pub fn as_slice(&self) -> &[Call] {
        &self.calls
    }

    /// Returns the calls that are omitted: those that had ended before the heap was taken from which the run was resumed.
    #[must_use]
    pub fn earlier(&self) -> &EarlierCalls {
        &self.earlier
    }

    /// Returns the methods of all calls, also of those that are omitted.
    #[must_use]
    pub fn methods(&self) -> BTreeSet<&str> {
        let earlier = self.earlier.methods.iter().map(String::as_str);
        earlier.chain(self.calls.iter().map(|call| call.method.as_str())).collect()
    }
}

/// Summary of calls that a run made before it was suspended, and that had ended: what the gate needs of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierCalls {
    /// Number of calls that were admitted.
    pub admitted: u64,
    /// Number of calls that were refused.
    pub denied: u64,
    /// Their methods.
    pub methods: BTreeSet<String>,
    /// Methods of those that succeeded.
    pub succeeded: BTreeSet<String>,
}

impl EarlierCalls {
    /// Largest number of calls, far more than any run makes: so numbers of calls never overflow.
    const MAX: u64 = 1 << 48;

    /// Returns true if a run can have made so many calls.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.admitted <= Self::MAX && self.denied <= Self::MAX
    }

    /// Number of calls.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.admitted.saturating_add(self.denied)
    }

    fn add(&mut self, call: &Call) {
        match call.outcome {
            CallOutcome::Denied => self.denied += 1,
            _ => self.admitted += 1,
        }
        self.methods.insert(call.method.clone());
        if call.outcome == CallOutcome::Ok {
            self.succeeded.insert(call.method.clone());
        }
    }
}

/// The calls of a run that has not ended, by their numbers, which have no gaps. Of those that had ended before the run was
/// suspended, it may have a summary alone.
#[derive(Clone, Debug, Default)]
pub struct CallList {
    earlier: EarlierCalls,
    /// Calls that had not ended when the others were summarized.
    open: Vec<Call>,
    /// Calls behind all of these.
    calls: Vec<Call>,
}

impl CallList {
    /// Creates the list of a run that waited for the answers to these questions when its other calls were summarized.
    /// Returns `None` if no run has such calls.
    #[must_use]
    pub fn resumed<'q>(earlier: EarlierCalls, questions: impl IntoIterator<Item = &'q DeferredCall>) -> Option<Self> {
        if !earlier.is_valid() {
            return None;
        }
        let mut open: Vec<Call> = questions.into_iter().map(Call::asked).collect();
        open.sort_unstable_by_key(|call| call.seq);
        let list = Self { earlier, open, calls: Vec::new() };
        let is_numbered = list.open.iter().all(|call| (1..=list.before()).contains(&call.seq))
            && list.open.is_sorted_by(|call, next| call.seq < next.seq);
        is_numbered.then_some(list)
    }

    /// Returns the summary of the calls that have ended, and the numbers of those that have not.
    #[must_use]
    pub fn summarized(&self) -> (EarlierCalls, BTreeSet<u64>) {
        let (mut earlier, mut open) = (self.earlier.clone(), BTreeSet::new());
        for call in self.open.iter().chain(&self.calls) {
            match call.outcome {
                CallOutcome::Pending => drop(open.insert(call.seq)),
                _ => earlier.add(call),
            }
        }
        (earlier, open)
    }

    /// Number of calls before those that are kept one by one.
    fn before(&self) -> u64 {
        self.earlier.count() + self.open.len() as u64
    }

    /// Number of calls.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.before() + self.calls.len() as u64
    }

    /// Returns the call with this number. `None` if there is none, or only its summary.
    #[must_use]
    pub fn get(&self, seq: u64) -> Option<&Call> {
        match seq.checked_sub(self.before()) {
            Some(behind) if behind > 0 => self.calls.get(Call::index_of(behind)?),
            _ => self.open.iter().find(|call| call.seq == seq),
        }
    }

    /// Returns the call with this number like [`CallList::get`], to change it.
    pub fn get_mut(&mut self, seq: u64) -> Option<&mut Call> {
        match seq.checked_sub(self.before()) {
            Some(behind) if behind > 0 => self.calls.get_mut(Call::index_of(behind)?),
            _ => self.open.iter_mut().find(|call| call.seq == seq),
        }
    }

    /// Returns the calls, without those of which there is only a summary.
    pub fn iter(&self) -> impl Iterator<Item = &Call> {
        self.open.iter().chain(&self.calls)
    }

    /// Returns the first method for which `is_meant` is true, of the calls that succeeded or have not ended.
    pub fn find_method(&self, mut is_meant: impl FnMut(&str) -> bool) -> Option<&str> {
        let open = self.iter().filter(|call| matches!(call.outcome, CallOutcome::Ok | CallOutcome::Pending));
        let methods = self.earlier.succeeded.iter().map(String::as_str).chain(open.map(|call| call.method.as_str()));
        methods.into_iter().find(|method| is_meant(method))
    }

    /// Applies an event of the run's log to the calls that the run had made before. Returns false if calls are missing
    /// between them.
    pub fn replay(&mut self, event: LoggedEvent) -> bool {
        match event {
            LoggedEvent::Asked { decision } => self.decided(decision, CallOutcome::Pending).is_some(),
            LoggedEvent::Denied { decision, .. } => self.decided(decision, CallOutcome::Denied).is_some(),
            LoggedEvent::Admitted { decision, .. } => {
                let arguments = decision.arguments.clone();
                // A human may have approved the call with others than the script's.
                let call = self.decided(decision, CallOutcome::Pending);
                call.map(|call| call.arguments = arguments).is_some()
            }
            LoggedEvent::Copied { decision, outcome, micros } => {
                self.decided(decision, outcome).map(|call| call.micros = micros).is_some()
            }
            LoggedEvent::Settled { seq, outcome, micros, .. } => {
                self.get_mut(seq).map(|call| (call.outcome, call.micros) = (outcome, micros)).is_some()
            }
            _ => true,
        }
    }

    /// Applies a decision about a call, which is a new one if it has the next number. Returns `None` if calls are missing
    /// before it.
    fn decided(&mut self, decision: LoggedDecision, outcome: CallOutcome) -> Option<&mut Call> {
        let LoggedDecision { seq, method, arguments, grant, .. } = decision;
        if seq == self.count() + 1 {
            self.calls.push(Call { seq, method, arguments, outcome, grant: None, micros: 0, begun: None });
        }
        let call = self.get_mut(seq)?;
        (call.outcome, call.grant) = (outcome, grant);
        Some(call)
    }

    /// Adds the call with the next number.
    pub(super) fn push(&mut self, call: Call) {
        self.calls.push(call);
    }

    /// Returns the calls of a run that does not continue.
    pub(super) fn into_calls(self) -> Calls {
        let Self { earlier, mut open, calls } = self;
        open.extend(calls);
        Calls { calls: open, earlier }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn event(event: &Value) -> LoggedEvent {
        let mut line = json!({
            "run": 1, "method": "m", "arguments": {}, "grant": "g", "debits": [], "kind": "capability", "reason": "r",
            "micros": 1, "error": null,
        });
        line.as_object_mut().expect("an object").extend(event.as_object().expect("an object").clone());
        LoggedEvent::read(&line).expect("it is complete")
    }

    fn question(seq: u64) -> DeferredCall {
        let call = json!({
            "seq": seq, "method": "ask", "arguments": { "a": 1 }, "grant": "g", "reason": "r", "cost": [], "asked": 1,
            "digest": "d",
        });
        serde_json::from_value(call).expect("a call")
    }

    /// Calls 1 to 5 of a run, of which the second waits.
    fn before() -> Vec<LoggedEvent> {
        let mut events = Vec::new();
        for (seq, outcome) in [(1, "ok"), (2, ""), (3, "failed"), (4, "")] {
            match seq {
                2 => {
                    events.push(event(&json!({ "event": "asked", "seq": 2, "method": "ask", "arguments": { "a": 1 } })))
                }
                4 => events.push(event(&json!({ "event": "denied", "seq": 4, "method": "no" }))),
                _ => {
                    events.push(event(&json!({ "event": "admitted", "seq": seq })));
                    events.push(event(&json!({ "event": "settled", "seq": seq, "outcome": outcome })));
                }
            }
        }
        events
    }

    /// What happens behind: the call that waited is made, and another one.
    fn behind() -> Vec<LoggedEvent> {
        vec![
            event(&json!({ "event": "admitted", "seq": 2, "method": "ask", "arguments": { "a": 2 } })),
            event(&json!({ "event": "settled", "seq": 2, "outcome": "ok" })),
            event(&json!({ "event": "admitted", "seq": 5, "method": "new" })),
        ]
    }

    #[test]
    fn call_list_resumed_from_its_summary_equals_the_whole_list() {
        let mut whole = CallList::default();
        assert!(before().into_iter().all(|event| whole.replay(event)));
        let (earlier, open) = whole.summarized();
        assert_eq!((earlier.admitted, earlier.denied, open), (2, 1, BTreeSet::from([2])));
        let mut resumed = CallList::resumed(earlier, [&question(2)]).expect("it is consistent");
        assert_eq!((resumed.count(), resumed.get(1).is_none(), resumed.get(2).is_some()), (4, true, true));
        for list in [&mut whole, &mut resumed] {
            assert!(behind().into_iter().all(|event| list.replay(event)));
        }
        let later = |list: &CallList| json!([list.get(2), list.get(5), list.get(6), list.count()]);
        assert_eq!(later(&resumed), later(&whole));
        assert_eq!(resumed.summarized(), whole.summarized());
        let (resumed, whole) = (resumed.into_calls(), whole.into_calls());
        assert_eq!(resumed.methods(), whole.methods());
        let numbers: Vec<u64> = resumed.as_slice().iter().map(|call| call.seq).collect();
        assert_eq!((numbers, resumed.earlier().count(), whole.as_slice().len()), (vec![2, 5], 3, 5));
    }

    #[test]
    fn call_list_with_numbers_that_no_run_has_is_refused() {
        let earlier = |admitted| EarlierCalls { admitted, ..EarlierCalls::default() };
        assert!(CallList::resumed(earlier(2), [&question(3)]).is_some());
        assert!(CallList::resumed(earlier(1), [&question(3)]).is_none(), "calls are missing before it");
        assert!(CallList::resumed(earlier(2), [&question(0)]).is_none());
        assert!(CallList::resumed(earlier(2), [&question(2), &question(2)]).is_none());
        assert!(CallList::resumed(earlier(u64::MAX), [&question(2)]).is_none());
        let mut list = CallList::resumed(earlier(2), [&question(3)]).expect("it is consistent");
        assert!(
            !list.replay(event(&json!({ "event": "settled", "seq": 1, "outcome": "ok" }))),
            "only its summary is there"
        );
        assert!(!list.replay(event(&json!({ "event": "admitted", "seq": 5 }))), "call 4 is missing");
    }
}
