//! The record of a run's calls: every decision of the gate, and how each call ended.

use std::time::Instant;

use serde::Serialize;
use serde_json::Value;

use crate::capability::Amount;

/// One call, as `run --json` shows it.
#[derive(Clone, Debug, Serialize)]
pub struct Call {
    /// Its number in its run, counted from 1 in the order in which the gate judged.
    pub seq: u64,
    /// The method that was asked for.
    pub method: String,
    /// The canonical arguments; of a call that was refused for them, what was given.
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

/// The record of one run.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Calls {
    calls: Vec<Call>,
    #[serde(skip)]
    run: u64,
}

impl Calls {
    /// The record of a run, by its number in its session.
    #[must_use]
    pub fn of_run(run: u64) -> Self {
        Self { calls: Vec::new(), run }
    }

    /// The run's number.
    #[must_use]
    pub fn run(&self) -> u64 {
        self.run
    }

    /// The number that the next call will have.
    pub(super) fn next(&self) -> u64 {
        self.calls.len() as u64 + 1
    }

    /// The calls that have not ended.
    pub(super) fn pending(&self) -> Vec<u64> {
        self.calls.iter().filter(|call| call.outcome == CallOutcome::Pending).map(|call| call.seq).collect()
    }

    /// The calls in order.
    #[must_use]
    pub fn as_slice(&self) -> &[Call] {
        &self.calls
    }

    pub(super) fn begin(&mut self, method: &str, arguments: Value, grant: &str, begun: Instant) -> u64 {
        self.push(method, arguments, Some(grant), CallOutcome::Pending, Some(begun))
    }

    pub(super) fn refuse(&mut self, method: &str, arguments: Value, nearest: Option<&str>) {
        self.push(method, arguments, nearest, CallOutcome::Denied, None);
    }

    fn push(
        &mut self,
        method: &str,
        arguments: Value,
        grant: Option<&str>,
        outcome: CallOutcome,
        begun: Option<Instant>,
    ) -> u64 {
        let seq = self.next();
        let (method, grant) = (method.to_owned(), grant.map(str::to_owned));
        self.calls.push(Call { seq, method, arguments, outcome, grant, micros: 0, begun });
        seq
    }

    /// Records how an admitted call ended; how many microseconds that took. None if it had ended before: the first
    /// ending counts.
    pub(super) fn settle(&mut self, seq: u64, outcome: CallOutcome) -> Option<u64> {
        let index = usize::try_from(seq).ok()?.checked_sub(1)?;
        let call = self.calls.get_mut(index).filter(|call| call.outcome == CallOutcome::Pending)?;
        call.outcome = outcome;
        let elapsed = call.begun.map_or(0, |begun| begun.elapsed().as_micros());
        call.micros = u64::try_from(elapsed).unwrap_or(u64::MAX);
        Some(call.micros)
    }
}
