//! Runs call by call, as their log and their journal have them. Nothing is run, and nothing is locked.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::{RecordStatus, SessionId};
use crate::capability::Amount;
use crate::gate::{BudgetKind, CallOutcome, Cost, LoggedDebit, LoggedDecision, LoggedEvent};
use crate::guest::OperationId;
use crate::ledger::{Allowance, Used};
use crate::session::journal::{AnswerText, JournalEntry, ReplayError, restore_edits};
use crate::vfs::{Action, Body, Edit};

/// Most bytes of memory that the values of failures take in a run that is shown.
const MAX_FAILURES: u64 = 256 << 20;

/// Run of a session, call by call.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ReplayedRun {
    /// Session of the run.
    pub session: SessionId,
    /// Number of the run.
    pub run: u64,
    /// Status of the run.
    pub status: RecordStatus,
    /// Name of the script.
    pub script: String,
    /// True if the run has a journal, without which results and files are not known.
    pub journal: bool,
    /// Calls that the gate judged, by their numbers.
    pub calls: Vec<ReplayedCall>,
}

/// Call of a run that has been made, or was refused.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ReplayedCall {
    /// Number of the call in its run.
    pub seq: u64,
    /// Number of the call whose tool made this one; `None` for a call of a script.
    pub caller: Option<u64>,
    /// Time of the decision, as the log has it.
    pub time: String,
    /// The canonical method.
    pub method: String,
    /// The canonical arguments, as the gate judged them last.
    pub arguments: Json,
    /// Decision of the gate.
    pub decision: CallDecision,
    /// Grant that allowed the call, asked about it, or came closest.
    pub grant: Option<String>,
    /// Reason of a refusal or of a question.
    pub reason: Option<String>,
    /// Decisions of humans about the call.
    pub answers: Vec<HumanAnswer>,
    /// Outcome of the call.
    pub outcome: CallOutcome,
    /// Duration in microseconds.
    pub micros: u64,
    /// Result that the script was given, as the text of its JSON; `None` if there was none, or it is in no journal.
    pub result: Option<Box<RawValue>>,
    /// Error that the script was given, as `error` of a run's result; or its message alone, from the log.
    pub error: Option<Json>,
    /// Amounts that the call took from budgets, and what was left of them, as far as this session has spent them.
    pub budgets: Vec<Cost>,
    /// Files that the call's tool changed; `None` if that is in no journal.
    pub files: Option<Vec<ChangedFile>>,
}

/// Decision of the gate about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallDecision {
    /// The call was allowed.
    Allowed,
    /// The call was refused.
    Denied,
    /// The call was made, or refused, in the run that was forked, and not again.
    Copied,
    /// A human was asked, and has not answered.
    Asked,
}

/// Answer of a human to the question whether a call may be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HumanAnswer {
    /// True if the call was approved.
    pub allowed: bool,
    /// Person who answered, as far as the approver knew.
    pub by: String,
    /// True if the call was approved with other arguments than the script's.
    pub edited: bool,
    /// False for an approval after which the call was asked about again: it did not count (a wrong signature), or not for
    /// the arguments that it gave.
    pub counted: bool,
}

/// File that a tool changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ChangedFile {
    /// Path of the file.
    pub path: String,
    /// `file`, `directory` (also one whose time alone changed) or `link` for what was written, and `removed`.
    pub change: &'static str,
    /// Size of a file that was written, in bytes.
    pub bytes: Option<u64>,
}

/// Reader of the calls of a run from the log of its session and from its journal.
pub(super) struct CallReader {
    run: u64,
    pub(super) calls: BTreeMap<u64, ReplayedCall>,
    limits: HashMap<String, Allowance>,
    /// Amounts that the session has spent so far, by account.
    used: HashMap<String, Used>,
    /// Bytes of memory that the values of failures may still take.
    memory_left: u64,
    /// Debits of calls, by run and number, which may be released.
    debits: HashMap<(u64, u64), Vec<LoggedDebit>>,
}

impl CallReader {
    pub(super) fn new(run: u64, limits: Vec<(String, Allowance)>, carried: HashMap<String, Used>) -> Self {
        let limits = limits.into_iter().collect();
        Self { run, calls: BTreeMap::new(), limits, used: carried, memory_left: MAX_FAILURES, debits: HashMap::new() }
    }

    /// Returns the amounts that the session has spent so far, by account.
    pub(super) fn used(&self) -> HashMap<String, Used> {
        self.used.clone()
    }

    /// Takes an event of the log, of this run or another.
    pub(super) fn take(&mut self, event: LoggedEvent) {
        let Some((run, seq)) = event.call() else { return };
        let budgets = match &event {
            LoggedEvent::Admitted { debits, .. } => self.debit((run, seq), debits),
            LoggedEvent::Released { .. } => {
                self.release((run, seq));
                Vec::new()
            }
            _ => Vec::new(),
        };
        if run != self.run {
            return;
        }
        match event {
            LoggedEvent::Copied { decision, outcome, micros } => {
                self.judged(decision, CallDecision::Copied);
                self.with(seq, |call| (call.outcome, call.micros) = (outcome, micros));
            }
            LoggedEvent::Asked { decision } => {
                self.judged(decision, CallDecision::Asked);
                self.with(seq, |call| {
                    call.answers.iter_mut().for_each(|answer| answer.counted &= !answer.allowed);
                });
            }
            LoggedEvent::Denied { decision, .. } => self.judged(decision, CallDecision::Denied),
            LoggedEvent::Admitted { decision, .. } => {
                self.judged(decision, CallDecision::Allowed);
                self.with(seq, |call| call.budgets = budgets);
            }
            LoggedEvent::Released { .. } => self.with(seq, |call| call.budgets.clear()),
            LoggedEvent::Answered { allowed, by, edited, .. } => {
                let answer = HumanAnswer { allowed, by, edited, counted: true };
                self.with(seq, |call| call.answers.push(answer));
            }
            LoggedEvent::Settled { outcome, micros, error, .. } => {
                self.with(seq, |call| (call.outcome, call.micros, call.error) = (outcome, micros, error));
            }
            _ => {}
        }
    }

    fn with(&mut self, seq: u64, change: impl FnOnce(&mut ReplayedCall)) {
        if let Some(call) = self.calls.get_mut(&seq) {
            change(call);
        }
    }

    /// Takes a decision about a call. The last one counts: a call can be judged again.
    fn judged(&mut self, logged: LoggedDecision, decision: CallDecision) {
        let LoggedDecision { seq, caller, time, method, arguments, grant, reason, .. } = logged;
        let answers = self.calls.remove(&seq).map(|call| call.answers).unwrap_or_default();
        let is_denied = decision == CallDecision::Denied;
        self.calls.insert(
            seq,
            ReplayedCall {
                seq,
                caller,
                time,
                method,
                arguments,
                decision,
                grant,
                reason,
                answers,
                outcome: if is_denied { CallOutcome::Denied } else { CallOutcome::Pending },
                micros: 0,
                result: None,
                error: None,
                budgets: Vec::new(),
                files: None,
            },
        );
    }

    /// Debits an admitted call, and returns what it took from budgets.
    fn debit(&mut self, call: (u64, u64), debits: &[LoggedDebit]) -> Vec<Cost> {
        let mut costs = Vec::new();
        for LoggedDebit { account, spend } in debits {
            let used = self.used.entry(account.clone()).or_default();
            *used = used.plus(Used::of_call(spend.unwrap_or_default()));
            let Some(limits) = self.limits.get(account) else { continue };
            let mut cost = |kind, amount, limit: Amount, used| {
                let (grant, remaining) = (account.clone(), limit.saturating_sub(used));
                costs.push(Cost { grant, kind, amount, limit, remaining });
            };
            if let Some(calls) = limits.calls {
                cost(BudgetKind::Calls, Amount::whole(1), Amount::whole(calls), Amount::whole(used.calls));
            }
            if let (Some(limit), Some(amount)) = (limits.spend, *spend) {
                cost(BudgetKind::Spend, amount, limit, used.spend);
            }
        }
        self.debits.insert(call, debits.to_vec());
        costs
    }

    /// Gives back what a call was debited that never started.
    fn release(&mut self, call: (u64, u64)) {
        for LoggedDebit { account, spend } in self.debits.remove(&call).unwrap_or_default() {
            let used = self.used.entry(account).or_default();
            *used = used.minus(Used::of_call(spend.unwrap_or_default()));
        }
    }

    /// Takes results and changes of files from the journal of the run.
    pub(super) fn take_journal(&mut self, journal: Vec<JournalEntry>) -> Result<(), ReplayError> {
        let mut operations: HashMap<OperationId, u64> = HashMap::new();
        for entry in journal {
            match entry {
                JournalEntry::Admitted { id, seq, .. } => drop(operations.insert(id, seq)),
                JournalEntry::Deferred { id, call } => drop(operations.insert(id, call.seq)),
                JournalEntry::Delivered { id, answer: Some(answer), .. } => {
                    if let Some(seq) = operations.remove(&id) {
                        self.delivered(seq, &answer)?;
                    }
                }
                JournalEntry::Kept { id, edits } => {
                    let edits = restore_edits(edits)?;
                    if let Some(seq) = operations.get(&id) {
                        self.with(*seq, |call| call.files = Some(edits.iter().map(ChangedFile::of).collect()));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn delivered(&mut self, seq: u64, answer: &AnswerText) -> Result<(), ReplayError> {
        let (outcome, edits) = (answer.outcome(&mut self.memory_left)?, answer.edits()?);
        self.with(seq, |call| {
            call.files = Some(edits.iter().map(ChangedFile::of).collect());
            match outcome {
                Ok(value) => call.result = Some(value),
                Err(failure) => call.error = serde_json::to_value(&failure).ok(),
            }
        });
        Ok(())
    }
}

impl ChangedFile {
    fn of(edit: &Edit) -> Self {
        let (change, bytes) = match &edit.action {
            Action::Put { body: Body::File(content), .. } => ("file", Some(content.len())),
            Action::Put { body: Body::Directory, .. } => ("directory", None),
            Action::Put { .. } => ("link", None),
            _ => ("removed", None),
        };
        Self { path: edit.path.clone(), change, bytes }
    }
}
