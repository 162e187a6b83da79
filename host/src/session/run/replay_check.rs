//! Check of a run that has ended: it is replayed to its end, nothing is performed, and calls without effects are made
//! again to compare their results.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde_json::Value as Json;

use super::Run;
use super::journaling::RunJournal;
use crate::code::Interrupt;
use crate::error::Failure;
use crate::gate::JudgedCall;
use crate::guest::{self, OperationId, Value};
use crate::session::journal::{CallStart, JournalEntry, RecordedAnswer};
use crate::session::result::Status;
use crate::session::run_scope::RunScope;
use crate::session::session_state::Session;
use crate::vfs::Tree;

/// Call of a run whose recorded result was compared with that of a repetition.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct CheckedCall {
    /// Number of the call in its run.
    pub seq: u64,
    /// The canonical method.
    pub method: String,
    /// Outcome of the comparison.
    #[serde(flatten)]
    pub repetition: CallRepetition,
}

/// Outcome of the repetition of a call.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallRepetition {
    /// The result, and what the tool changed of the files, are the same.
    Same,
    /// The result or the files differ.
    Differs {
        /// Recorded outcome: an object with `result` or `error`.
        recorded: Json,
        /// Outcome of the repetition.
        repeated: Json,
        /// Files that one of the two changed, and not both to the same.
        files: Vec<String>,
    },
    /// The call was not made again.
    NotMade {
        /// Reason.
        reason: String,
    },
}

/// Calls that are made again, and the tools that make them.
pub(in crate::session) struct RepeatedCalls {
    /// Session in memory whose tools make the calls; the releases may be others than those of the run.
    pub(in crate::session) tools: Session,
    /// Seed of the random numbers of each call that had no effect, by its number.
    pub(in crate::session) seeds: HashMap<u64, [u8; 32]>,
    /// Alias of the tool whose calls alone are made again; `None` for all tools.
    pub(in crate::session) only: Option<String>,
}

/// Check of a replay.
pub(in crate::session) struct ReplayCheck {
    /// Calls as the log has them, by their numbers.
    judged: BTreeMap<u64, JudgedCall>,
    repeated: RepeatedCalls,
    scope: RunScope,
    /// Calls that start after so many entries into guests.
    starts: BTreeMap<u64, Vec<OperationId>>,
    /// Files with which a call started.
    files: HashMap<OperationId, Tree>,
    checked: Arc<Mutex<Vec<CheckedCall>>>,
}

impl RunJournal {
    /// Creates the journal of a run that is checked. The calls that were made again are put into `checked`.
    pub(in crate::session) fn checked(
        mut self,
        run: u64,
        judged: BTreeMap<u64, JudgedCall>,
        repeated: RepeatedCalls,
        checked: &Arc<Mutex<Vec<CheckedCall>>>,
    ) -> Self {
        let mut starts = BTreeMap::<u64, Vec<OperationId>>::new();
        for entry in &self.replay {
            if let JournalEntry::Delivered { id, answer: Some(answer), .. } = entry
                && let Some(started) = answer.started
            {
                starts.entry(started.entries).or_default().push(*id);
            }
        }
        let scope = RunScope::new(&repeated.tools.0, run);
        let (files, checked) = (HashMap::new(), Arc::clone(checked));
        self.check = Some(Box::new(ReplayCheck { judged, repeated, scope, starts, files, checked }));
        self
    }
}

impl Run {
    /// Notes where a call without effects starts, for a later repetition.
    pub(super) fn note_start(&mut self, id: OperationId, now: u64) {
        let Some(entries) = self.journal.as_ref().map(|journal| journal.entries) else { return };
        self.outstanding.set_started(id, CallStart { now, entries });
    }

    /// Keeps the files with which calls start at this point of a replay that is checked.
    pub(super) fn keep_files_of_starts(&mut self) {
        let (Some(journal), Some(processes)) = (&mut self.journal, &self.processes) else { return };
        let entries = journal.entries;
        let Some(check) = &mut journal.check else { return };
        for id in check.starts.remove(&entries).unwrap_or_default() {
            check.files.insert(id, processes.files().clone());
        }
    }

    /// Checks an answer of the journal that is about to be given to a guest. Returns false if the run does not do what
    /// its log says.
    pub(super) fn check_answer(&mut self, id: OperationId, answer: &RecordedAnswer) -> bool {
        let Some(journal) = &mut self.journal else { return true };
        let Some(check) = &mut journal.check else { return true };
        let files = check.files.remove(&id);
        let asked = journal.asked.get(&id);
        // A call that was refused at once has no number in the journal.
        let Some(seq) = journal.admitted.get(&id).copied().or(asked.map(|asked| asked.seq)) else { return true };
        let Some(judged) = check.judged.get(&seq) else {
            self.diverge(&format!("its log does not have call {seq}"));
            return false;
        };
        if let Some((guest::Operation::Call { method, arguments, .. }, _)) = journal.held.get(&id) {
            let made = self.session.gate.canonical(method, arguments);
            let expected = match (journal.edits.get(&seq), asked) {
                (Some(_), Some(asked)) => &asked.arguments,
                _ => &judged.arguments,
            };
            if !made.is_ok_and(|(method, arguments)| method == judged.method && arguments == *expected) {
                self.diverge(&format!("call {seq} is another in its log"));
                return false;
            }
        }
        if judged.grant.is_none() || check.repeated.only.as_ref().is_some_and(|alias| !is_of(alias, &judged.method)) {
            return true;
        }
        let is_program = matches!(journal.held.get(&id), Some((guest::Operation::Run(_), _)));
        let repetition = if is_program {
            not_made("it is a program, whose output was taken from the journal")
        } else {
            let interrupt = self.interrupt.child();
            check.repeat(seq, judged, answer, files, interrupt)
        };
        let checked = CheckedCall { seq, method: judged.method.clone(), repetition };
        check.checked.lock().unwrap_or_else(PoisonError::into_inner).push(checked);
        true
    }

    /// Ends the check of a run that stopped while its script waited.
    pub(super) fn end_check(&mut self) {
        let failure = Failure::host("the journal ends while the script waits");
        self.leave_unfinished(Status::Suspended, Some(failure));
    }
}

impl ReplayCheck {
    /// Makes a call again, and compares the outcomes.
    fn repeat(
        &self,
        seq: u64,
        call: &JudgedCall,
        answer: &RecordedAnswer,
        files: Option<Tree>,
        interrupt: Interrupt,
    ) -> CallRepetition {
        let session = &self.repeated.tools.0;
        if let Some(reason) = session.gate.unrepeatable(&call.method) {
            return not_made(reason);
        }
        let (Some(started), Some(files), Some(seed)) = (answer.started, files, self.repeated.seeds.get(&seq)) else {
            return not_made("its start is not in the journal");
        };
        let repeated = match session.gate.admit_repetition(self.scope.record.run(), call, &session.memory) {
            Ok(admission) => {
                let (result, effects) = self.scope.call_at(admission, interrupt, files, started.now).repeat(*seed);
                RecordedAnswer::new(&result.map(Value::Json), &effects.edits)
            }
            Err(failure) => RecordedAnswer::new(&Err(failure), &[]),
        };
        let repeated = match repeated {
            Ok(repeated) => repeated,
            Err(why) => return not_made(&format!("what it changed cannot be read ({why})")),
        };
        let files = answer.differing_files(&repeated);
        if answer.has_same_result(&repeated) && files.is_empty() {
            return CallRepetition::Same;
        }
        let (recorded, repeated) = (answer.outcome(), repeated.outcome());
        CallRepetition::Differs { recorded, repeated, files: files.into_iter().collect() }
    }
}

fn not_made(reason: &str) -> CallRepetition {
    CallRepetition::NotMade { reason: reason.to_owned() }
}

/// Returns true if a method is of the tool with this alias.
fn is_of(alias: &str, method: &str) -> bool {
    method.strip_prefix(alias).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
