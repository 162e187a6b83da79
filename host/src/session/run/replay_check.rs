//! Check of a run that has ended: it is replayed to its end, nothing is performed, and calls without effects are made
//! again to compare their results.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::Value as Json;

use super::Run;
use super::journaling::{RunJournal, program_arguments};
use super::replay::method_of;
use crate::code::Interrupt;
use crate::error::Failure;
use crate::gate::{JudgedCall, RecordedRefusal};
use crate::guest::{self, OperationId, Value};
use crate::session::journal::{CallStart, JournalEntry, RecordedAnswer};
use crate::session::result::Status;
use crate::session::run_scope::RunScope;
use crate::session::session_handle::Session;
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
    /// Aliases of the tools whose calls alone are made again; `None` for all tools.
    pub(in crate::session) only: Option<BTreeSet<String>>,
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
    findings: Arc<Mutex<CheckFindings>>,
}

/// What the check of a replay has found.
#[derive(Default)]
pub(in crate::session) struct CheckFindings {
    /// Calls whose recorded results were compared.
    pub(in crate::session) calls: Vec<CheckedCall>,
    /// Numbers of the calls that the scripts made.
    pub(in crate::session) made: BTreeSet<u64>,
    /// Calls that the scripts made and that have neither a number in the journal nor an answer: method and arguments as a
    /// log has refused ones.
    pub(in crate::session) unanswered: HashMap<OperationId, (String, Json)>,
    /// Calls without effects that cannot be made again, though those of a receipt must be: numbers and reasons.
    pub(in crate::session) unrepeated: Vec<(u64, String)>,
}

impl RunJournal {
    /// Returns the number of the call that an operation is; `None` for any other operation, and for a call that was refused
    /// at once.
    fn number(&self, id: OperationId) -> Option<u64> {
        self.admitted.get(&id).copied().or_else(|| self.asked.get(&id).map(|asked| asked.seq))
    }

    /// Creates the journal of a run that is checked, which says what it finds.
    pub(in crate::session) fn checked(
        mut self,
        run: u64,
        judged: BTreeMap<u64, JudgedCall>,
        repeated: RepeatedCalls,
        findings: &Arc<Mutex<CheckFindings>>,
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
        let (files, findings) = (HashMap::new(), Arc::clone(findings));
        self.check = Some(Box::new(ReplayCheck { judged, repeated, scope, starts, files, findings }));
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

    /// Checks that a call, or the start of a program, that a guest of a replay makes is the one that the log has.
    pub(super) fn check_made(&mut self, id: OperationId) {
        let Some(journal) = &self.journal else { return };
        let (Some(check), Some((operation, _))) = (&journal.check, journal.held.get(&id)) else { return };
        let Some((method, arguments)) = judged_as(operation) else { return };
        let Some(seq) = journal.number(id) else {
            let refused = self.session.gate.refused_form(method, &arguments);
            lock(&check.findings).unanswered.insert(id, refused);
            return;
        };
        let Some(judged) = check.judged.get(&seq) else {
            return self.diverge(&format!("its log does not have call {seq}"));
        };
        let expected = match (journal.edits.get(&seq), journal.asked.get(&id)) {
            (Some(_), Some(asked)) => &asked.arguments,
            _ => &judged.arguments,
        };
        // What was refused because it is no such call has no canonical form.
        let made = self.session.gate.canonical(method, &arguments);
        let is_same = made.is_ok_and(|(method, arguments)| method == judged.method && arguments == *expected);
        if !is_same && judged.grant.is_some() {
            return self.diverge(&format!("call {seq} is another in its log"));
        }
        lock(&check.findings).made.insert(seq);
    }

    /// Checks an answer of the journal that is about to be given to a guest. Returns false if nothing allowed the call that
    /// it answers.
    pub(super) fn check_answer(&mut self, id: OperationId, answer: &RecordedAnswer) -> bool {
        let Some(journal) = &mut self.journal else { return true };
        let number = journal.number(id);
        let (Some(check), Some((operation, _))) = (&mut journal.check, journal.held.get(&id)) else { return true };
        let files = check.files.remove(&id);
        if method_of(operation).is_none() {
            return true;
        }
        // A call that was refused at once has no number in the journal.
        let number = number.or_else(|| check.refused_number(id));
        let Some((seq, judged)) = number.and_then(|seq| Some((seq, check.judged.get(&seq)?))) else {
            self.diverge("a call has an answer, and its log does not have the call");
            return false;
        };
        if judged.grant.is_none() {
            let is_told = judged.refusal.as_ref().is_some_and(|refusal| is_told(refusal, answer));
            if !is_told {
                self.diverge(&format!("call {seq} has an answer, and its log does not say that it was allowed"));
            }
            return is_told;
        }
        if check.repeated.only.as_ref().is_some_and(|aliases| !aliases.iter().any(|alias| is_of(alias, &judged.method)))
        {
            return true;
        }
        let repetition = match operation {
            guest::Operation::Run(_) => not_made("it is a program, whose output was taken from the journal"),
            _ => match check.repeat(seq, judged, answer, files, self.interrupt.child()) {
                Ok(repetition) => repetition,
                Err(why) => {
                    lock(&check.findings).unrepeated.push((seq, why.to_owned()));
                    not_made(why)
                }
            },
        };
        let checked = CheckedCall { seq, method: judged.method.clone(), repetition };
        lock(&check.findings).calls.push(checked);
        true
    }

    /// Ends the check of a run that stopped while its script waited.
    pub(super) fn end_check(&mut self) {
        let failure = Failure::host("the journal ends while the script waits");
        self.leave_unfinished(Status::Suspended, Some(failure));
    }
}

impl ReplayCheck {
    /// Returns the number of a call that was refused at once: of the first such call in the log that the scripts have not
    /// made yet.
    fn refused_number(&self, id: OperationId) -> Option<u64> {
        let mut findings = lock(&self.findings);
        let made = findings.unanswered.remove(&id)?;
        let mut refused = self.judged.iter().filter(|(_, call)| call.is_refused_by_gate());
        let (seq, _) = refused.find(|(seq, call)| !findings.made.contains(seq) && call.is_call(&made))?;
        findings.made.insert(*seq);
        Some(*seq)
    }

    /// Makes a call again, and compares the outcomes.
    ///
    /// # Errors
    /// Why it cannot be made again, though it has no effects.
    fn repeat(
        &self,
        seq: u64,
        call: &JudgedCall,
        answer: &RecordedAnswer,
        files: Option<Tree>,
        interrupt: Interrupt,
    ) -> Result<CallRepetition, &'static str> {
        let session = &self.repeated.tools.0;
        if let Some(reason) = session.gate.unrepeatable(&call.method) {
            return Ok(not_made(reason));
        }
        let (Some(started), Some(files), Some(seed)) = (answer.started, files, self.repeated.seeds.get(&seq)) else {
            return Err("its start is not in the journal");
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
            Err(_) => return Err("what it changed cannot be read"),
        };
        let files = answer.differing_files(&repeated);
        if answer.has_same_result(&repeated) && files.is_empty() {
            return Ok(CallRepetition::Same);
        }
        let (recorded, repeated) = (answer.outcome(), repeated.outcome());
        Ok(CallRepetition::Differs { recorded, repeated, files: files.into_iter().collect() })
    }
}

/// Returns a call, or the start of a program, as the gate judges it: method and arguments.
fn judged_as(operation: &guest::Operation) -> Option<(&str, Cow<'_, str>)> {
    let method = method_of(operation)?;
    let arguments = match operation {
        guest::Operation::Call { arguments, .. } => Cow::Borrowed(arguments.as_str()),
        guest::Operation::Run(run) => Cow::Owned(program_arguments(run)),
        _ => return None,
    };
    Some((method, arguments))
}

/// Returns true if a script is told the refusal that the log has.
fn is_told(refusal: &RecordedRefusal, answer: &RecordedAnswer) -> bool {
    let is_same = |failure: &Failure| failure.message == refusal.message && failure.kind.word() == refusal.kind;
    answer.failure().is_some_and(is_same)
}

/// Locks the findings. Every change is complete, so a poisoned lock is still good.
fn lock(findings: &Mutex<CheckFindings>) -> MutexGuard<'_, CheckFindings> {
    findings.lock().unwrap_or_else(PoisonError::into_inner)
}

fn not_made(reason: &str) -> CallRepetition {
    CallRepetition::NotMade { reason: reason.to_owned() }
}

/// Returns true if a method is of the tool with this alias.
fn is_of(alias: &str, method: &str) -> bool {
    method.strip_prefix(alias).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
