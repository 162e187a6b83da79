//! Journal of a run in progress: what the guests are given is recorded, so that it can be given again.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;

use super::Run;
use super::outstanding::OutstandingOperation;
use super::replay_check::ReplayCheck;
use super::replayed_programs::ReplayedPrograms;
use crate::error::Failure;
use crate::gate::{Decision, DeferredCall};
use crate::guest::{self, Completion, OperationId, OutputSink, ProgramRun, Runnable, Stream, Value};
use crate::session::guest_process::{self, MAIN};
use crate::session::heap::{HeapPosition, HeapScope, WaitingCall};
use crate::session::journal::{
    AnswerText, JournalEntry, RecordedAnswer, ReplayError, Resolution, UnreadOutput, decoded, record_edits,
};
use crate::session::run_input::{MAX_JOURNALED, NewReads, StepReads};
use crate::tool::{ARGUMENTS, DIRECTORY, ProgramStart};
use crate::vfs::Edit;

/// Most bytes of a journal that wait for a commit of the run's calls: the host holds them.
const MAX_PENDING: usize = 1 << 20;

/// Hexadecimal digits of the digest of a call: it detects a replay that goes wrong, and nobody's forgery.
const DIGEST_DIGITS: usize = 16;

/// Journal of a run as the run sees it: what it still replays, and what waits.
#[derive(Default)]
pub(in crate::session) struct RunJournal {
    /// Entries into guests that are still to be replayed, in order.
    pub(super) replay: VecDeque<JournalEntry>,
    /// True until the first step that was not replayed.
    pub(super) is_replaying: bool,
    /// Operations that the guests started during the replay, with the time at which they did. If the replay ends before
    /// their completions, they are performed.
    pub(super) held: BTreeMap<OperationId, (guest::Operation, u64)>,
    /// Programs that the replay does not run.
    pub(super) programs: ReplayedPrograms,
    /// Streams of programs that wait for a decision.
    pub(super) waiting_programs: HashMap<OperationId, ProgramStart>,
    /// Calls that wait for a decision.
    pub(super) deferred: BTreeMap<OperationId, Box<DeferredCall>>,
    /// Numbers of the calls that the run had started, by operation.
    pub(super) admitted: HashMap<OperationId, u64>,
    /// Decisions, by the number of the call.
    pub(super) decisions: HashMap<u64, Decision>,
    /// What became of interrupted calls, by their numbers.
    pub(super) resolutions: HashMap<u64, Resolution>,
    /// Arguments with which calls were approved in place of the script's, by the number of the call.
    pub(super) edits: HashMap<u64, serde_json::Value>,
    /// Questions that were answered by such arguments, with these answers, by the number of the call.
    pub(super) edited: HashMap<u64, (Box<DeferredCall>, Decision)>,
    /// Calls that had been deferred, as they were asked about.
    pub(super) asked: HashMap<OperationId, Box<DeferredCall>>,
    /// Time that was given to the guest that entered last.
    pub(super) now: u64,
    /// Opens the output when the replay has ended.
    pub(super) live: Arc<AtomicBool>,
    /// Set if the run did something that cannot be replayed.
    pub(super) is_broken: bool,
    /// Bytes of standard input and of programs' output that the journal holds.
    pub(super) input: usize,
    /// Standard input that the script had read within steps, in order, until the replay begins.
    pub(super) step_reads: VecDeque<Bytes>,
    /// Standard input as the script had read it before the run was resumed; `None` if it had not.
    pub(super) input_before: Option<InputBefore>,
    /// Set while the result of a call that must not be repeated is in no commit.
    pub(super) is_behind: bool,
    /// Number of entries into guests so far.
    pub(super) entries: u64,
    /// True for a run of a fork in the middle of another run: its random numbers are of two seeds.
    pub(super) is_fork: bool,
    /// Calls that wait for a decision, as the script made them.
    pub(super) waiting_calls: BTreeMap<OperationId, WaitingCall>,
    /// Number of entries into guests for which a heap of the run is kept.
    pub(super) heap_entries: Option<u64>,
    /// Check of a run that has ended, in place of continuing one that has not.
    pub(super) check: Option<Box<ReplayCheck>>,
}

/// Entries at the beginning of a journal, as it was read, that a heap stands for.
pub(in crate::session) struct RestoredEntries {
    pub(in crate::session) count: usize,
    pub(in crate::session) scope: HeapScope,
}

impl RestoredEntries {
    /// Returns the position of the heap. Not all entries before it were read.
    fn position(&self) -> Option<&HeapPosition> {
        match &self.scope {
            HeapScope::Position(position) => Some(position),
            HeapScope::Whole(_) => None,
        }
    }
}

/// What a script had read of its standard input before its run was resumed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum InputBefore {
    /// A part.
    Part,
    /// All of it.
    All,
}

impl InputBefore {
    /// Returns what a script reads that had begun to read its standard input before the run was resumed: that input is not
    /// there any more, and the input of this process is another one.
    fn bytes(self) -> Result<Vec<u8>, Failure> {
        match self {
            Self::All => Ok(Vec::new()),
            Self::Part => {
                let message =
                    "the rest of standard input is lost: the run was resumed before it had been read to its end";
                let hint = "read all input before calls that need approval, or keep it in a file of the session";
                Err(Failure::host(message).with_hint(hint))
            }
        }
    }
}

/// Sink that drops what a replay writes: it was written before.
struct LiveOutput {
    sink: Box<dyn OutputSink>,
    live: Arc<AtomicBool>,
}

impl OutputSink for LiveOutput {
    fn write(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        if self.live.load(Ordering::Acquire) { self.sink.write(stream, bytes) } else { Ok(()) }
    }
}

impl RunJournal {
    /// Checks that a run with this journal can be replayed.
    ///
    /// # Errors
    /// If the run did something that cannot be replayed.
    pub(in crate::session) fn check(entries: &[JournalEntry]) -> Result<(), ReplayError> {
        let unreplayable = entries.iter().find_map(|entry| match entry {
            JournalEntry::Unreplayable { what } => Some(what.clone()),
            _ => None,
        });
        unreplayable.map_or(Ok(()), |what| Err(ReplayError::Unreplayable(what)))
    }

    /// Creates the journal of a run that is resumed. The first entries are not replayed if the heap of the run stands for
    /// them.
    ///
    /// # Errors
    /// If the run did something that cannot be replayed.
    pub(in crate::session) fn resumed(
        entries: Vec<JournalEntry>,
        restored: Option<&RestoredEntries>,
    ) -> Result<Self, ReplayError> {
        let mut journal = Self { is_replaying: true, ..Self::default() };
        let position = restored.and_then(RestoredEntries::position);
        if let Some(position) = position {
            (journal.now, journal.entries) = (position.now, position.entries);
        }
        let restored = restored.map_or(0, |restored| restored.count);
        for (index, entry) in entries.into_iter().enumerate() {
            match entry {
                JournalEntry::Entered { now, .. } | JournalEntry::Delivered { now, .. } if index < restored => {
                    if position.is_none() {
                        (journal.now, journal.entries) = (now, journal.entries + 1);
                    }
                }
                JournalEntry::Launched { .. } | JournalEntry::Kept { .. } if index < restored => {}
                JournalEntry::Started(_) => {}
                JournalEntry::Entered { .. }
                | JournalEntry::Launched { .. }
                | JournalEntry::Kept { .. }
                | JournalEntry::Forked { .. } => {
                    journal.is_fork |= matches!(entry, JournalEntry::Forked { .. });
                    journal.replay.push_back(entry);
                }
                JournalEntry::Delivered { id, ref answer, .. } => {
                    if answer.as_ref().is_some_and(|answer| answer.ends_program) {
                        journal.programs.will_end(id);
                    }
                    if let Some(is_end) = answer.as_ref().and_then(|answer| answer.is_end_of_input) {
                        journal.input_before = Some(if is_end { InputBefore::All } else { InputBefore::Part });
                    }
                    journal.replay.push_back(entry);
                }
                JournalEntry::Input { bytes } => {
                    let bytes = decoded(&bytes)?;
                    journal.input += bytes.len();
                    journal.input_before = Some(if bytes.is_empty() { InputBefore::All } else { InputBefore::Part });
                    journal.step_reads.push_back(bytes.into());
                }
                JournalEntry::Admitted { id, seq, .. } => {
                    journal.admitted.insert(id, seq);
                    // What was said of an earlier attempt does not hold for this one.
                    journal.resolutions.remove(&seq);
                }
                JournalEntry::Resolved { seq, resolution, .. } => drop(journal.resolutions.insert(seq, resolution)),
                JournalEntry::Deferred { id, call } => {
                    journal.asked.insert(id, call);
                    // It had been admitted, and was judged again before it started.
                    journal.admitted.remove(&id);
                }
                JournalEntry::Decided { seq, decision } => {
                    if let Some(arguments) = &decision.arguments {
                        journal.edits.insert(seq, arguments.clone());
                        if let Some(asked) = journal.asked.values().find(|asked| asked.seq == seq) {
                            journal.edited.insert(seq, (asked.clone(), decision.clone()));
                        }
                    }
                    journal.decisions.insert(seq, decision);
                }
                JournalEntry::Unreplayable { what } => return Err(ReplayError::Unreplayable(what)),
            }
        }
        Ok(journal)
    }

    pub(super) fn is_replaying(&self) -> bool {
        self.is_replaying
    }

    /// Returns what the script reads of its standard input within steps that are replayed, and behind them.
    pub(super) fn step_reads(&self) -> StepReads {
        let behind = self.input_before.map(InputBefore::bytes);
        StepReads { replayed: self.step_reads.clone(), behind, is_journaled: true, new: NewReads::default() }
    }

    /// Wraps the sink of a run that is resumed.
    pub(super) fn output(&self, sink: Box<dyn OutputSink>) -> Box<dyn OutputSink> {
        if !self.is_replaying || self.check.is_some() {
            return sink;
        }
        Box::new(LiveOutput { sink, live: Arc::clone(&self.live) })
    }
}

/// Returns the digest of an operation that is a call, as the script made it.
pub(super) fn digest_of(operation: &guest::Operation) -> Option<String> {
    match operation {
        guest::Operation::Call { method, arguments, .. } => Some(call_digest(method, arguments)),
        guest::Operation::Run(run) => match &run.what {
            Runnable::Program(method) => Some(program_digest(method, run)),
            Runnable::Script { .. } => None,
        },
        _ => None,
    }
}

/// Returns the arguments of a program as the gate judges them.
pub(super) fn program_arguments(run: &ProgramRun) -> String {
    serde_json::json!({ ARGUMENTS: run.arguments, DIRECTORY: run.directory }).to_string()
}

/// Returns the digest of a call.
pub(super) fn call_digest(method: &str, arguments: &str) -> String {
    digest([method, arguments])
}

/// Returns the digest of a program's start.
fn program_digest(method: &str, run: &ProgramRun) -> String {
    let environment = serde_json::json!(run.environment).to_string();
    digest([method, &program_arguments(run), &environment])
}

fn digest<const N: usize>(parts: [&str; N]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..DIGEST_DIGITS].to_owned()
}

impl Run {
    pub(super) fn is_replaying(&self) -> bool {
        self.journal.as_ref().is_some_and(|journal| journal.is_replaying)
    }

    /// Returns true if a call may wait for consent beyond this process.
    pub(super) fn may_defer(&self) -> bool {
        self.journal.as_ref().is_some_and(|journal| !journal.is_broken)
    }

    /// Adds an entry to the journal.
    pub(super) fn record(&mut self, entry: &JournalEntry) {
        let Some(journal) = self.journal.as_mut().filter(|journal| !journal.is_broken) else { return };
        if let JournalEntry::Entered { now, .. } | JournalEntry::Delivered { now, .. } = entry {
            journal.now = *now;
            journal.entries += 1;
        }
        self.session.storage.journal(entry);
    }

    /// Records that the run can no longer be replayed.
    pub(super) fn break_journal(&mut self, what: &str) {
        self.record(&JournalEntry::Unreplayable { what: what.to_owned() });
        let Some(journal) = &mut self.journal else { return };
        journal.is_broken = true;
        self.input.stop_journaling();
        // Nobody could resume the run, whatever is decided.
        self.refuse_deferred(what);
    }

    /// Returns what an operation reads of standard input that had been read before the run was resumed.
    pub(super) fn replayed_input(&self) -> Option<Result<Value, Failure>> {
        Some(self.journal.as_ref()?.input_before?.bytes().map(Value::Bytes))
    }

    /// Records what the main script has read of its standard input within the last step.
    pub(super) fn record_step_reads(&mut self) {
        let NewReads { parts, bytes } = self.input.take_reads();
        if bytes > 0 || !parts.is_empty() {
            parts.iter().for_each(|part| self.record(&JournalEntry::input(part)));
            self.count_input(bytes);
        }
    }

    /// Counts bytes of input that the journal holds. Returns false if they are too many, and the journal ends here.
    fn count_input(&mut self, bytes: usize) -> bool {
        let Some(journal) = &mut self.journal else { return true };
        journal.input += bytes;
        let fits = journal.input <= MAX_JOURNALED;
        if !fits && !journal.is_broken {
            self.break_journal("read more than 8 MiB of standard input and of the output of programs");
        }
        fits
    }

    /// Records a completion that is about to be delivered to a guest.
    pub(super) fn record_delivery(&mut self, completion: &Completion, edits: &[Edit], now: u64) {
        if !self.may_defer() {
            return;
        }
        let id = completion.id;
        let operation = self.outstanding.get(&id);
        let is_main = guest_process::owner(id) == MAIN;
        let repeats = operation.is_none_or(|operation| operation.is_pure);
        let is_own = operation.is_some_and(|operation| operation.is_between_scripts(is_main));
        let answer = match is_own {
            true => Ok(None),
            false => RecordedAnswer::new(&completion.result, edits).map(|mut answer| {
                if let Some(operation) = operation {
                    answer.call.clone_from(&operation.digest);
                    answer.stream = operation.stream.map(|stream| stream.number);
                    answer.unread = self.unread_output(id, operation);
                    answer.started = operation.started;
                }
                Some(AnswerText::of(&answer))
            }),
        };
        match answer {
            Ok(answer) => self.record(&JournalEntry::Delivered { id, now, answer }),
            Err(why) => return self.break_journal(&format!("changed files that cannot be read ({why})")),
        }
        if let (false, Ok(Value::Bytes(bytes))) = (is_own, &completion.result)
            && !self.count_input(bytes.len())
        {
            return;
        }
        let (pending, all) = self.session.storage.journal_bytes();
        if all > self.session.limits().log {
            return self.break_journal("was given more than its limit `log`");
        }
        if pending > MAX_PENDING {
            // If it fails, the next commit reports that.
            let _ = self.session.gate.sync();
        }
        if let Some(journal) = self.journal.as_mut().filter(|_| !repeats) {
            journal.is_behind = true;
        }
    }

    /// Records what the script has not read of a program that has ended.
    fn unread_output(&self, id: OperationId, program: &OutstandingOperation) -> Option<UnreadOutput> {
        let numbers = program.streams?.output;
        let process = self.processes.as_ref()?.process(guest_process::owner(id))?;
        let [stdout, stderr] = numbers.map(|number| process.streams.unread(number));
        Some(UnreadOutput::new([&stdout, &stderr]))
    }

    /// Records the files of a program that a script stopped.
    pub(super) fn record_kept(&mut self, id: OperationId, edits: &[Edit]) {
        if edits.is_empty() || !self.may_defer() {
            return;
        }
        match record_edits(edits) {
            Ok(edits) => self.record(&JournalEntry::Kept { id, edits }),
            Err(why) => self.break_journal(&format!("changed files that cannot be read ({why})")),
        }
    }

    /// Commits results of calls that must not be repeated, unless the calls that followed have done so. The process may
    /// die while the script waits, and that may be long. If the commit fails, the next one reports it.
    pub(super) fn commit_results(&mut self) {
        if let Some(journal) = self.journal.as_mut().filter(|journal| journal.is_behind) {
            journal.is_behind = false;
            let _ = self.session.gate.sync();
        }
    }

    /// Notes that all entries so far are committed.
    pub(super) fn mark_committed(&mut self) {
        if let Some(journal) = &mut self.journal {
            journal.is_behind = false;
        }
    }
}
