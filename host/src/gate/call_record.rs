//! The record of a run's calls: every decision of the gate, and how each call ended.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde::Serialize;
use serde_json::Value;

use super::RunLog;
use super::approval::Caller;
use crate::capability::Amount;
use crate::error::Failure;
use crate::json;

/// One call, as `run --json` shows it.
#[derive(Clone, Debug, Serialize)]
pub struct Call {
    /// Its number in its run, counted from 1 in the order in which the gate judged.
    pub seq: u64,
    /// The method that was asked for.
    pub method: String,
    /// The canonical arguments; of a call that was refused for them, what was given. Null once a run's calls hold as much
    /// as is kept: the log has them all.
    pub arguments: Value,
    /// How it ended.
    pub outcome: CallOutcome,
    /// The grant that was debited; of a denied call, the nearest one.
    pub grant: Option<String>,
    /// How long it took, from the decision to the result, in microseconds.
    pub micros: u64,
    #[serde(skip)]
    begun: Option<Instant>,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallOutcome {
    /// The tool returned.
    Ok,
    /// The tool failed.
    Failed,
    /// The gate refused. Nothing ran and nothing was spent.
    Denied,
    /// Nobody waited for the end.
    Cancelled,
    /// It has not ended.
    Pending,
}

/// What is left of one budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Budget {
    /// The grant that sets it.
    pub grant: String,
    /// What it counts.
    pub kind: BudgetKind,
    /// How much there was.
    pub limit: Amount,
    /// How much is spent or reserved.
    pub used: Amount,
    /// How much is left.
    pub remaining: Amount,
}

impl Budget {
    pub(super) fn new(grant: &str, kind: BudgetKind, limit: Amount, used: Amount) -> Self {
        Self { grant: grant.to_owned(), kind, limit, used, remaining: limit.saturating_sub(used) }
    }
}

/// What a budget counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum BudgetKind {
    /// Calls.
    Calls,
    /// The sum of an argument.
    Spend,
}

/// The calls of a run that has ended.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Calls(Vec<Call>);

impl Calls {
    /// In the order in which the gate judged them.
    #[must_use]
    pub fn as_slice(&self) -> &[Call] {
        &self.0
    }
}

/// The record of a run while it runs. Clones share it: the script, and the tools that call tools on its behalf.
#[derive(Clone, Debug, Default)]
pub struct Record {
    calls: Arc<Mutex<Open>>,
    run: u64,
    within: Option<Arc<Within>>,
    /// What the run adds to the audit log; none if nothing limits that.
    log: Option<Arc<RunLog>>,
}

/// The most bytes that are kept of the arguments of one run's calls, about. They are in the host's memory, and a script
/// may make calls as long as it has time.
const MAX_ARGUMENTS: u64 = 64 << 20;

/// The most bytes that are kept of a method that was refused: a guest may ask for any.
const MAX_METHOD: usize = 1 << 10;

#[derive(Debug, Default)]
struct Open {
    calls: Vec<Call>,
    /// How often the gate was asked: of the calls beyond the limit only the first is among `calls`.
    asked: u64,
    /// What their arguments take.
    kept: u64,
    /// The run has ended: nothing begins any more.
    closed: bool,
}

/// The call of a tool that calls tools itself.
#[derive(Debug)]
struct Within {
    alias: Arc<str>,
    seq: u64,
    depth: u32,
    outer: Option<Arc<Self>>,
}

impl Record {
    /// The record of a run, by its number in its session.
    #[must_use]
    pub fn of_run(run: u64) -> Self {
        Self { run, ..Self::default() }
    }

    /// The record of a run that adds to the audit log what its limit allows.
    pub(crate) fn logged(run: u64, log: RunLog) -> Self {
        Self { run, log: Some(Arc::new(log)), ..Self::default() }
    }

    /// What the run adds to the audit log; none if nothing limits that.
    pub(crate) fn log(&self) -> Option<&Arc<RunLog>> {
        self.log.as_ref()
    }

    /// Why the run ends, once it has added to the audit log as much as it may.
    pub(crate) fn log_failure(&self) -> Option<Failure> {
        self.log.as_ref()?.failure()
    }

    /// The same record, for the calls that a tool makes during a call of its own.
    pub(crate) fn within(&self, alias: &Arc<str>, seq: u64) -> Self {
        let within = Within { alias: Arc::clone(alias), seq, depth: self.depth() + 1, outer: self.within.clone() };
        Self { calls: Arc::clone(&self.calls), run: self.run, within: Some(Arc::new(within)), log: self.log.clone() }
    }

    /// The run's number.
    #[must_use]
    pub fn run(&self) -> u64 {
        self.run
    }

    /// The call that those made here are part of; none for the script's own.
    pub(super) fn caller(&self) -> Option<u64> {
        self.within.as_ref().map(|within| within.seq)
    }

    /// How many calls those made here are inside of.
    pub(super) fn depth(&self) -> u32 {
        self.within.as_ref().map_or(0, |within| within.depth)
    }

    /// Whether those made here are part of a call of this tool.
    pub(super) fn is_inside(&self, alias: &str) -> bool {
        std::iter::successors(self.within.as_ref(), |within| within.outer.as_ref())
            .any(|within| *within.alias == *alias)
    }

    /// Counts a call that the gate is asked for; how many that makes.
    pub(super) fn ask(&self) -> u64 {
        let mut open = self.lock();
        open.asked = open.asked.saturating_add(1);
        open.asked
    }

    /// Lets nothing begin any more; the calls that have not ended.
    pub(super) fn seal(&self) -> Vec<u64> {
        let mut open = self.lock();
        open.closed = true;
        open.calls.iter().filter(|call| call.outcome == CallOutcome::Pending).map(|call| call.seq).collect()
    }

    /// Takes the calls.
    pub(super) fn take(&self) -> Calls {
        Calls(std::mem::take(&mut self.lock().calls))
    }

    /// Records a call that is about to start; its number. None once the run has ended.
    pub(super) fn begin(&self, method: &str, arguments: &Value, grant: &str) -> Option<u64> {
        self.push(method, arguments, Some(grant), CallOutcome::Pending)
    }

    /// Takes up a call that has a number already: a human was asked about it, or it is judged again. It is about to start
    /// now, under this grant. False if the run has ended meanwhile.
    pub(super) fn take_up(&self, seq: u64, grant: &str) -> bool {
        self.pending(seq, |call| {
            call.begun = Some(Instant::now());
            call.grant = Some(grant.to_owned());
        })
    }

    /// Ends a call that has a number already: it does not start. `nearest` is the grant that came nearest. False if the run
    /// has ended meanwhile.
    pub(super) fn deny(&self, seq: u64, nearest: Option<&str>) -> bool {
        self.pending(seq, |call| {
            call.outcome = CallOutcome::Denied;
            call.grant = nearest.map(str::to_owned);
        })
    }

    /// Changes a call that has not ended. False if it has.
    fn pending(&self, seq: u64, change: impl FnOnce(&mut Call)) -> bool {
        let mut open = self.lock();
        let index = usize::try_from(seq).ok().and_then(|seq| seq.checked_sub(1));
        let call = index.and_then(|index| open.calls.get_mut(index));
        call.filter(|call| call.outcome == CallOutcome::Pending).map(change).is_some()
    }

    /// The calls that those made here are inside of, outermost first.
    pub(super) fn callers(&self) -> Vec<Caller> {
        let within = std::iter::successors(self.within.as_ref(), |within| within.outer.as_ref());
        let open = self.lock();
        let caller = |within: &Arc<Within>| {
            let index = usize::try_from(within.seq).ok().and_then(|seq| seq.checked_sub(1));
            let call = index.and_then(|index| open.calls.get(index));
            let method = call.map_or_else(|| within.alias.to_string(), |call| call.method.clone());
            Caller { seq: within.seq, method }
        };
        let mut callers: Vec<Caller> = within.map(caller).collect();
        callers.reverse();
        callers
    }

    /// Records a refusal; its number.
    pub(super) fn refuse(&self, method: &str, arguments: &Value, nearest: Option<&str>) -> u64 {
        self.push(method, arguments, nearest, CallOutcome::Denied).unwrap_or_default()
    }

    fn push(&self, method: &str, arguments: &Value, grant: Option<&str>, outcome: CallOutcome) -> Option<u64> {
        let mut open = self.lock();
        if open.closed {
            return None;
        }
        let seq = open.calls.len() as u64 + 1;
        let kept = open.kept.saturating_add(json::weight(arguments));
        let arguments = if kept <= MAX_ARGUMENTS { arguments.clone() } else { Value::Null };
        open.kept = kept.min(MAX_ARGUMENTS);
        let (method, grant) = (beginning(method).to_owned(), grant.map(str::to_owned));
        let begun = (outcome == CallOutcome::Pending).then(Instant::now);
        open.calls.push(Call { seq, method, arguments, outcome, grant, micros: 0, begun });
        Some(seq)
    }

    /// Records how an admitted call ended; how many microseconds that took. None if it had ended before: the first
    /// ending counts.
    pub(super) fn settle(&self, seq: u64, outcome: CallOutcome) -> Option<u64> {
        let index = usize::try_from(seq).ok()?.checked_sub(1)?;
        let mut open = self.lock();
        let call = open.calls.get_mut(index).filter(|call| call.outcome == CallOutcome::Pending)?;
        call.outcome = outcome;
        let elapsed = call.begun.map_or(0, |begun| begun.elapsed().as_micros());
        call.micros = u64::try_from(elapsed).unwrap_or(u64::MAX);
        Some(call.micros)
    }

    /// Every change is whole, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// As much of a method as is kept.
fn beginning(method: &str) -> &str {
    &method[..method.floor_char_boundary(MAX_METHOD)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_kept_within_bounds() {
        let record = Record::of_run(1);
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
