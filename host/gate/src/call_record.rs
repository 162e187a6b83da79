//! The record of a run's calls: every decision of the gate, and the outcome of each call.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use tollhouse_policy::capability::Amount;
use tollhouse_types::json;

use super::call_list::{CallList, Calls, EarlierCalls};
use super::consent::{Caller, DeferredCall};
use super::event::Event;

/// A call in the form that `run --json` shows.
#[derive(Clone, Debug, Serialize)]
pub struct Call {
    /// Number of the call in its run, counted from 1 in the order in which the gate judged.
    pub seq: u64,
    /// The requested method.
    pub method: String,
    /// The canonical arguments, or the original ones if the call was refused because of them. Null once the limit on
    /// recorded arguments is reached: the log contains them all.
    pub arguments: Value,
    /// Outcome of the call.
    pub outcome: CallOutcome,
    /// Name of the grant that was debited; for a denied call, of the one that came closest.
    pub grant: Option<String>,
    /// Time from the decision to the result, in microseconds.
    pub micros: u64,
    #[serde(skip)]
    pub(super) begun: Option<Instant>,
}

impl Call {
    /// Returns the position of the call with this number among all calls of its run, which are numbered from 1 without
    /// gaps. `None` for a number that no call has.
    #[must_use]
    pub fn index_of(seq: u64) -> Option<usize> {
        usize::try_from(seq).ok()?.checked_sub(1)
    }

    /// Creates the call that a question of the gate is about, which nobody has answered.
    #[must_use]
    pub fn asked(question: &DeferredCall) -> Self {
        let DeferredCall { seq, method, arguments, grant, redacted, .. } = question;
        // The log has them so, too.
        let arguments = redacted.as_ref().map_or(arguments, |redacted| &redacted.arguments).clone();
        let (method, grant) = (method.clone(), Some(grant.clone()));
        Self { seq: *seq, method, arguments, outcome: CallOutcome::Pending, grant, micros: 0, begun: None }
    }
}

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// The tool returned a result.
    Ok,
    /// The tool failed.
    Failed,
    /// The gate refused the call. Nothing was run or spent.
    Denied,
    /// Nobody waited for the call to end.
    Cancelled,
    /// The call has not ended.
    Pending,
}

/// The state of one budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Budget {
    /// Name of the grant that sets the budget.
    pub grant: String,
    /// Unit that the budget counts.
    pub kind: BudgetKind,
    /// Initial amount.
    pub limit: Amount,
    /// Amount spent or reserved.
    pub used: Amount,
    /// Amount that remains.
    pub remaining: Amount,
}

impl Budget {
    pub(super) fn new(grant: &str, kind: BudgetKind, limit: Amount, used: Amount) -> Self {
        Self { grant: grant.to_owned(), kind, limit, used, remaining: limit.saturating_sub(used) }
    }
}

/// The unit that a budget counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum BudgetKind {
    /// Number of calls.
    Calls,
    /// Sum of an argument.
    Spend,
}

/// How a call ended, as it is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settlement {
    run: u64,
    seq: u64,
    outcome: CallOutcome,
    micros: u64,
}

impl Settlement {
    /// Returns the event to log; `error` is that of a call that failed.
    #[must_use]
    pub fn event<'a>(&self, error: Option<&'a str>) -> Event<'a> {
        let Self { run, seq, outcome, micros } = *self;
        Event::Settled { run, seq, outcome, micros, error }
    }
}

/// The record of a run in progress. Clones share it: the script, and the tools that call tools on its behalf.
#[derive(Clone, Debug, Default)]
pub struct CallRecord {
    calls: Arc<Mutex<OpenRecord>>,
    run: u64,
    within: Option<Arc<EnclosingCall>>,
}

/// Approximate maximum number of bytes kept of the arguments of one run's calls. They are in the host's memory, and a
/// script may make calls as long as it has time.
const MAX_ARGUMENTS: u64 = 64 << 20;

/// Maximum length kept of the name of a refused method, which a guest can choose freely.
const MAX_METHOD: usize = 1 << 10;

#[derive(Debug, Default)]
struct OpenRecord {
    calls: CallList,
    /// Number of calls requested from the gate: of the calls beyond the limit only the first is among `calls`.
    asked: u64,
    /// Number of bytes of the recorded arguments.
    kept: u64,
    /// Set when the run has ended: no further call may begin.
    closed: bool,
}

/// A call whose tool itself calls tools.
#[derive(Debug)]
struct EnclosingCall {
    alias: Arc<str>,
    seq: u64,
    depth: u32,
    outer: Option<Arc<Self>>,
}

impl CallRecord {
    /// Creates the record of a run, given its number in its session.
    #[must_use]
    pub fn of_run(run: u64) -> Self {
        Self { run, ..Self::default() }
    }

    /// Puts calls into the record of a run that is resumed: those that it had made.
    pub fn restore(&self, calls: CallList) {
        let mut open = self.lock();
        open.asked = calls.count();
        open.kept = calls.iter().fold(0_u64, |kept, call| kept.saturating_add(json::weight(&call.arguments)));
        open.calls = calls;
    }

    /// Returns the summary of the calls that have ended, and the numbers of those that have not.
    #[must_use]
    pub fn summarized(&self) -> (EarlierCalls, BTreeSet<u64>) {
        self.lock().calls.summarized()
    }

    /// Returns the same record for the calls that a tool makes during its own call.
    #[must_use]
    pub fn within(&self, alias: &Arc<str>, seq: u64) -> Self {
        let within =
            EnclosingCall { alias: Arc::clone(alias), seq, depth: self.depth() + 1, outer: self.within.clone() };
        Self { calls: Arc::clone(&self.calls), run: self.run, within: Some(Arc::new(within)) }
    }

    /// Number of the run.
    #[must_use]
    pub fn run(&self) -> u64 {
        self.run
    }

    /// Number of the enclosing call; `None` for calls of the script itself.
    pub(super) fn caller(&self) -> Option<u64> {
        self.within.as_ref().map(|within| within.seq)
    }

    /// Number of calls that enclose the calls made with this record.
    pub(super) fn depth(&self) -> u32 {
        self.within.as_ref().map_or(0, |within| within.depth)
    }

    /// Returns true if a call of this tool encloses the calls made with this record.
    pub(super) fn is_inside(&self, alias: &str) -> bool {
        std::iter::successors(self.within.as_ref(), |within| within.outer.as_ref())
            .any(|within| *within.alias == *alias)
    }

    /// Counts a requested call, and returns the number of requested calls.
    pub(super) fn ask(&self) -> u64 {
        let mut open = self.lock();
        open.asked = open.asked.saturating_add(1);
        open.asked
    }

    /// Prevents further calls from beginning, and returns the numbers of those that have not ended.
    fn seal(&self) -> Vec<u64> {
        let mut open = self.lock();
        open.closed = true;
        open.calls.iter().filter(|call| call.outcome == CallOutcome::Pending).map(|call| call.seq).collect()
    }

    /// Removes the calls from the record and returns them.
    #[must_use]
    pub fn take(&self) -> Calls {
        std::mem::take(&mut self.lock().calls).into_calls()
    }

    /// Records a call that is about to start, and returns its number; `None` if the run has ended.
    pub(super) fn begin(&self, method: &str, arguments: &Value, grant: &str) -> Option<u64> {
        self.push(method, arguments, Some(grant), CallOutcome::Pending)
    }

    /// Marks a call that has a number already, because a human was asked or because it is judged again, as about to
    /// start under this grant. Returns false if the run has ended meanwhile.
    pub(super) fn take_up(&self, seq: u64, arguments: &Value, grant: &str) -> bool {
        self.pending(seq, |call| {
            // A human may have approved the call with other arguments than the script's.
            if call.arguments != *arguments && !call.arguments.is_null() {
                call.arguments = arguments.clone();
            }
            call.begun = Some(Instant::now());
            call.grant = Some(grant.to_owned());
        })
    }

    /// Marks a call that has a number already as denied; `nearest` is the grant that came closest. Returns false if the
    /// run has ended meanwhile.
    pub(super) fn deny(&self, seq: u64, nearest: Option<&str>) -> bool {
        self.pending(seq, |call| {
            call.outcome = CallOutcome::Denied;
            call.grant = nearest.map(str::to_owned);
        })
    }

    /// Changes a call that has not ended. Returns false if it has.
    fn pending(&self, seq: u64, change: impl FnOnce(&mut Call)) -> bool {
        let mut open = self.lock();
        let call = open.calls.get_mut(seq);
        call.filter(|call| call.outcome == CallOutcome::Pending).map(change).is_some()
    }

    /// The enclosing calls, outermost first.
    pub(super) fn callers(&self) -> Vec<Caller> {
        let within = std::iter::successors(self.within.as_ref(), |within| within.outer.as_ref());
        let open = self.lock();
        let caller = |within: &Arc<EnclosingCall>| {
            let call = open.calls.get(within.seq);
            let method = call.map_or_else(|| within.alias.to_string(), |call| call.method.clone());
            Caller { seq: within.seq, method }
        };
        let mut callers: Vec<Caller> = within.map(caller).collect();
        callers.reverse();
        callers
    }

    /// Records a refusal, and returns its number.
    pub(super) fn refuse(&self, method: &str, arguments: &Value, nearest: Option<&str>) -> u64 {
        self.push(method, arguments, nearest, CallOutcome::Denied).unwrap_or_default()
    }

    fn push(&self, method: &str, arguments: &Value, grant: Option<&str>, outcome: CallOutcome) -> Option<u64> {
        let mut open = self.lock();
        if open.closed {
            return None;
        }
        let seq = open.calls.count() + 1;
        let kept = open.kept.saturating_add(json::weight(arguments));
        let arguments = if kept <= MAX_ARGUMENTS { arguments.clone() } else { Value::Null };
        open.kept = kept.min(MAX_ARGUMENTS);
        let (method, grant) = (beginning(method).to_owned(), grant.map(str::to_owned));
        let begun = (outcome == CallOutcome::Pending).then(Instant::now);
        open.calls.push(Call { seq, method, arguments, outcome, grant, micros: 0, begun });
        Some(seq)
    }

    /// Prevents further calls from beginning, settles those that have not ended as cancelled, and returns their
    /// settlements.
    pub fn close(&self) -> Vec<Settlement> {
        self.seal().into_iter().filter_map(|seq| self.settle(seq, CallOutcome::Cancelled)).collect()
    }

    /// Records the outcome of an admitted call. Returns `None` if it had ended before: the first outcome counts.
    pub fn settle(&self, seq: u64, outcome: CallOutcome) -> Option<Settlement> {
        let mut open = self.lock();
        let call = open.calls.get_mut(seq).filter(|call| call.outcome == CallOutcome::Pending)?;
        call.outcome = outcome;
        let elapsed = call.begun.map_or(0, |begun| begun.elapsed().as_micros());
        call.micros = u64::try_from(elapsed).unwrap_or(u64::MAX);
        Some(Settlement { run: self.run, seq, outcome, micros: call.micros })
    }

    /// Locks the record. Every change is complete, so a poisoned lock is still valid.
    fn lock(&self) -> MutexGuard<'_, OpenRecord> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the part of a method's name that is recorded.
fn beginning(method: &str) -> &str {
    &method[..method.floor_char_boundary(MAX_METHOD)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_kept_within_bounds() {
        let record = CallRecord::of_run(1);
        let large = json!({ "text": "x".repeat((MAX_ARGUMENTS / 4) as usize) });
        for _ in 0..100 {
            record.begin("probe/length", &large, "grant");
        }
        record.refuse(&"é".repeat(MAX_METHOD), &json!({}), None);
        let calls = record.take();
        let kept: Vec<bool> = calls.as_slice().iter().map(|call| call.arguments == large).collect();
        assert_eq!((kept.iter().filter(|kept| **kept).count(), kept.len()), (3, 101));
        assert!(kept[..3].iter().all(|kept| *kept), "the first are kept");
        assert_eq!(calls.as_slice()[100].method.len(), MAX_METHOD);
    }
}
