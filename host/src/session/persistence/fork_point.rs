//! Point in the middle of a run at which it is forked: what a fork takes over of the journal, and of the calls in the log.
//!
//! A fork before call S takes over everything that the guests had been given when they made that call. What they were given
//! later is left out, but for the results of calls before S: these were paid for. Each is delivered at the time at which
//! it was, as if call S and those after it had taken longer. So the guests make call S, and those after it that they
//! make without knowing its result, and nothing else that had an effect.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde_json::Value as Json;

use crate::gate::{CallOutcome, Event, LoggedDecision, LoggedEvent};
use crate::guest::OperationId;
use crate::session::guest_process::owner;
use crate::session::journal::{JournalEntry, ReplayError};

/// Call of a run, as the log has it.
pub(super) struct LoggedCall {
    seq: u64,
    caller: Option<u64>,
    method: String,
    arguments: Json,
    grant: Option<String>,
    pub(super) outcome: CallOutcome,
    micros: u64,
}

impl LoggedCall {
    /// Returns the event that the log of a fork has of the call.
    pub(super) fn event(&self, run: u64) -> Event<'_> {
        let Self { seq, caller, method, arguments, grant, outcome, micros } = self;
        let (seq, caller, outcome, micros, grant) = (*seq, *caller, *outcome, *micros, grant.as_deref());
        Event::Copied { run, seq, caller, method, arguments, grant, outcome, micros }
    }
}

/// Calls of a run by their numbers.
#[derive(Default)]
pub(super) struct LoggedCalls(BTreeMap<u64, LoggedCall>);

impl LoggedCalls {
    /// Takes an event of the run.
    pub(super) fn take(&mut self, event: LoggedEvent) {
        match event {
            LoggedEvent::Asked { decision } | LoggedEvent::Admitted { decision, .. } => {
                self.decided(decision, CallOutcome::Pending, 0);
            }
            LoggedEvent::Denied { decision, .. } => self.decided(decision, CallOutcome::Denied, 0),
            LoggedEvent::Copied { decision, outcome, micros } => self.decided(decision, outcome, micros),
            LoggedEvent::Settled { seq, outcome, micros, .. } => {
                if let Some(call) = self.0.get_mut(&seq) {
                    (call.outcome, call.micros) = (outcome, micros);
                }
            }
            _ => {}
        }
    }

    /// Takes a decision about a call. The last one counts: a call can be judged again.
    fn decided(&mut self, decision: LoggedDecision, outcome: CallOutcome, micros: u64) {
        let LoggedDecision { seq, caller, method, arguments, grant, .. } = decision;
        self.0.insert(seq, LoggedCall { seq, caller, method, arguments, grant, outcome, micros });
    }

    /// Drops the calls from this number on.
    pub(super) fn keep_before(&mut self, seq: u64) {
        drop(self.0.split_off(&seq));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &LoggedCall> {
        self.0.values()
    }
}

/// Calls and programs recorded in a journal, by operation.
struct JournaledCalls {
    /// Numbers of the calls that started, or waited for approval, by operation.
    numbers: HashMap<OperationId, u64>,
    programs: HashSet<OperationId>,
    deferred: BTreeSet<u64>,
}

impl JournaledCalls {
    fn of(journal: &[JournalEntry]) -> Self {
        let mut calls = Self { numbers: HashMap::new(), programs: HashSet::new(), deferred: BTreeSet::new() };
        for entry in journal {
            match entry {
                JournalEntry::Admitted { id, seq, .. } => drop(calls.numbers.insert(*id, *seq)),
                JournalEntry::Deferred { id, call } => {
                    calls.numbers.insert(*id, call.seq);
                    calls.deferred.insert(call.seq);
                }
                JournalEntry::Launched { id, .. } => drop(calls.programs.insert(*id)),
                _ => {}
            }
        }
        calls
    }
}

/// Returns what a fork before call `seq` takes over of a journal, with the entry that says so; or the reason why the run
/// cannot be forked there.
///
/// # Errors
/// If no run with this journal can be replayed by this version.
pub(super) fn taken_over(
    journal: Vec<JournalEntry>,
    calls: &LoggedCalls,
    seq: u64,
    forked: JournalEntry,
) -> Result<Result<Vec<JournalEntry>, String>, ReplayError> {
    let Some(JournalEntry::Started(start)) = journal.first() else {
        return Err(ReplayError::Unreadable("it has no start".to_owned()));
    };
    // The policy is compared when the fork is resumed, as for any run.
    start.script(start.authority())?;
    if start.seed()?.is_none() {
        return Ok(Err("an earlier version of Tollhouse started the run, without a seed of its own".to_owned()));
    }
    let journaled = JournaledCalls::of(&journal);
    if let Err(why) = can_fork_before(calls, &journaled, seq) {
        return Ok(Err(why));
    }
    let is_cut = |entry: &JournalEntry| match entry {
        JournalEntry::Admitted { seq: of, .. } => *of == seq,
        JournalEntry::Deferred { call, .. } => call.seq == seq,
        _ => false,
    };
    let cut = journal.iter().position(is_cut);
    let before = &journal[..cut.unwrap_or(journal.len())];
    if let Some(JournalEntry::Unreplayable { what }) =
        before.iter().find(|entry| matches!(entry, JournalEntry::Unreplayable { .. }))
    {
        return Err(ReplayError::Unreplayable(what.clone()));
    }
    let Some(cut) = cut else { return Ok(Err("its journal does not have that call".to_owned())) };
    let entries = entries_before(journal, cut, &journaled, seq, forked)?;
    Ok(all_have_results(&entries, &journaled, calls, seq).map(|()| entries))
}

/// Checks that there is such a call, which the script itself made, and which is decided about anew.
fn can_fork_before(calls: &LoggedCalls, journaled: &JournaledCalls, seq: u64) -> Result<(), String> {
    match calls.0.get(&seq) {
        None => Err(match calls.0.last_key_value() {
            Some((last, _)) => format!("the run has no such call: its last one is {last}"),
            None => "the run has made no call".to_owned(),
        }),
        Some(LoggedCall { caller: Some(caller), .. }) => {
            Err(format!("the tool of call {caller} made it: fork at call {caller}"))
        }
        Some(call) if call.outcome == CallOutcome::Denied && !journaled.deferred.contains(&seq) => {
            Err("the policy refused it, and would again: fork at a call that was made, or asked about".to_owned())
        }
        Some(_) => Ok(()),
    }
}

/// Returns the entries of a journal that a fork takes over; `cut` is where call `seq` first is.
fn entries_before(
    journal: Vec<JournalEntry>,
    cut: usize,
    journaled: &JournaledCalls,
    seq: u64,
    forked: JournalEntry,
) -> Result<Vec<JournalEntry>, ReplayError> {
    let number = |id: &OperationId| journaled.numbers.get(id).copied();
    let cut_id = match &journal[cut] {
        JournalEntry::Admitted { id, .. } | JournalEntry::Deferred { id, .. } => *id,
        _ => 0,
    };
    // A refusal has no number in the journal. Operations of one guest ascend, so that an earlier one was refused earlier.
    let is_earlier_refusal = |id: OperationId, call: Option<&String>| {
        call.is_some() && number(&id).is_none() && owner(id) == owner(cut_id) && id < cut_id
    };
    let (mut before, mut late) = (Vec::new(), Vec::new());
    let mut has_continued = false;
    for (index, entry) in journal.into_iter().enumerate() {
        has_continued |= index > cut && matches!(entry, JournalEntry::Delivered { .. });
        let is_taken = match &entry {
            // What humans said is about the run that was forked. What became of it is among the results.
            JournalEntry::Deferred { .. }
            | JournalEntry::Decided { .. }
            | JournalEntry::Resolved { .. }
            | JournalEntry::Unreplayable { .. } => false,
            _ if index < cut => true,
            // A script that another one started before it waited.
            JournalEntry::Entered { .. } => !has_continued,
            JournalEntry::Kept { id, .. } => !has_continued && number(id).is_some_and(|of| of < seq),
            JournalEntry::Delivered { id, answer: Some(answer), .. } => {
                let is_result = number(id).is_some_and(|of| of < seq) && !journaled.programs.contains(id);
                is_result || is_earlier_refusal(*id, answer.call.as_ref())
            }
            _ => false,
        };
        match entry {
            _ if !is_taken => {}
            JournalEntry::Delivered { id, now, answer: Some(answer) } if index >= cut => {
                // In the fork, other entries are before it.
                late.push(JournalEntry::Delivered { id, now, answer: Some(answer.without_start()?) });
            }
            entry => before.push(entry),
        }
    }
    before.push(forked);
    before.append(&mut late);
    Ok(before)
}

/// Checks that each call before `seq` has a result, was refused, or is one that the script gave up.
fn all_have_results(
    entries: &[JournalEntry],
    journaled: &JournaledCalls,
    calls: &LoggedCalls,
    seq: u64,
) -> Result<(), String> {
    let delivered: BTreeSet<u64> = entries
        .iter()
        .filter_map(|entry| match entry {
            JournalEntry::Delivered { id, .. } => journaled.numbers.get(id).copied(),
            _ => None,
        })
        .collect();
    let programs: BTreeSet<u64> =
        journaled.programs.iter().filter_map(|id| journaled.numbers.get(id).copied()).collect();
    for earlier in 1..seq {
        let Some(call) = calls.0.get(&earlier) else { return Err(format!("its log does not have call {earlier}")) };
        // Calls of a tool have ended with the call of the tool.
        let has_result = call.caller.is_some() || call.outcome == CallOutcome::Denied || delivered.contains(&earlier);
        match () {
            () if has_result => {}
            () if programs.contains(&earlier) => {
                return Err(format!(
                    "the program of call {earlier} had not ended then: fork at call {earlier}, or at one after its end"
                ));
            }
            () if call.outcome == CallOutcome::Pending => {
                return Err(format!("call {earlier} before it has no result: fork at call {earlier}"));
            }
            () => {}
        }
    }
    Ok(())
}
