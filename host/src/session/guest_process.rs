//! Guest processes of a run: its script, and the scripts that it runs, like the processes of a system.
//!
//! **Invariant:** one process executes at a time, and has the files then; the next one sees its changes.
//!
//! An operation's id within the run combines the process, counted in the order of their start, and the number that its
//! guest gave it. Operations of the run's own script keep their numbers.

use std::collections::BTreeMap;
use std::io;

use super::first_step::{AbandonedStart, FirstStep};
use super::guest_seed::GuestSeed;
use super::stream_table::StreamTable;
use crate::code::Interrupt;
use crate::error::{ErrorKind, Failure};
use crate::guest::{
    Completion, Guest, GuestError, Language, OperationId, Outcome, OutputSink, RunUsage, Script, Step, Stream, Waiting,
};
use crate::tool::{Pipe, ProgramStart};
use crate::vfs::{self, ApplyError, Edit, Tree};

/// Number of a process within a run.
pub(super) type Pid = u32;

/// Process of the run's own script.
pub(super) const MAIN: Pid = 0;

/// Exit status of a process that SIGPIPE ended: 128 + SIGPIPE.
pub(super) const BROKEN_PIPE: u8 = 141;

/// Bits of an operation's id that hold its guest's own number.
const NUMBER_BITS: u32 = 40;

/// Returns the run-wide id of an operation, or `None` if a number is too large.
pub(super) fn operation_id(pid: Pid, number: OperationId) -> Option<OperationId> {
    let fits = number >> NUMBER_BITS == 0 && u64::from(pid) >> (64 - NUMBER_BITS) == 0;
    fits.then_some(u64::from(pid) << NUMBER_BITS | number)
}

/// Returns the process that an operation belongs to.
pub(super) fn owner(id: OperationId) -> Pid {
    Pid::try_from(id >> NUMBER_BITS).expect("24 bits are left")
}

/// Script that has not started yet.
#[derive(Clone)]
pub(super) struct PendingStart {
    pub(super) script: Script,
    /// Directory in which the script starts.
    pub(super) directory: String,
    /// State that the previous script left, if this one asks for it.
    pub(super) found: Option<Vec<u8>>,
    /// Time at which the script starts if it was started before, and waits for all of its input.
    pub(super) now: Option<u64>,
}

/// Guest process of a run.
pub(super) struct GuestProcess {
    guest: Guest,
    language: Language,
    /// Set until the process starts.
    pending_start: Option<PendingStart>,
    /// Streams of the programs that the process runs.
    pub(super) streams: StreamTable,
    /// Interrupt of the operations that the process waits for.
    pub(super) interrupt: Interrupt,
    /// Link to the process that runs this one, if any.
    parent: Option<ParentLink>,
    /// Number of the last operation. A guest's numbers ascend.
    last: OperationId,
    /// Number of scripts above this one that run scripts.
    depth: u32,
    /// First step of a nested script, until it starts.
    first_step: Option<FirstStep>,
    /// Start of a nested script that is to be repeated.
    abandoned: Option<AbandonedStart>,
}

/// Link of a nested script to the process that runs it.
struct ParentLink {
    /// Operation of the parent process.
    operation: OperationId,
    /// Streams of the nested script. Dropping them tells the parent that they ended.
    streams: ProgramStart,
}

impl GuestProcess {
    /// Creates a process without a parent, at this depth in its run.
    pub(super) fn new(
        guest: Guest,
        language: Language,
        pending_start: PendingStart,
        interrupt: Interrupt,
        depth: u32,
    ) -> Self {
        let (streams, last, pending_start) = (StreamTable::default(), 0, Some(pending_start));
        let (parent, first_step, abandoned) = (None, None, None);
        Self { guest, language, pending_start, streams, interrupt, parent, last, depth, first_step, abandoned }
    }

    /// Creates the process of the run's own script with a guest that waits for operations already.
    pub(super) fn restored(guest: Guest, language: Language, interrupt: Interrupt, last: OperationId) -> Self {
        let (streams, parent, first_step, abandoned) = Default::default();
        let (pending_start, depth) = (None, 0);
        Self { guest, language, pending_start, streams, interrupt, parent, last, depth, first_step, abandoned }
    }

    /// Adds the first step of a nested script.
    pub(super) fn with_first_step(self, first_step: FirstStep) -> Self {
        Self { first_step: Some(first_step), ..self }
    }

    /// Takes the start that is to be repeated, with the streams of the script, whose input is collected from here on.
    pub(super) fn abandon_start(&mut self) -> Option<(AbandonedStart, &ProgramStart)> {
        let (abandoned, parent) = (self.abandoned.take()?, self.parent.as_ref()?);
        parent.streams.stdin.collect();
        Some((abandoned, &parent.streams))
    }

    /// Returns true if the process has not started, and may.
    fn may_start(&self) -> bool {
        let has_input = || self.stdin().is_none_or(Pipe::is_complete);
        self.pending_start.as_ref().is_some_and(|pending_start| pending_start.now.is_none() || has_input())
    }

    fn start(&mut self, now: u64) -> Option<Result<Step, GuestError>> {
        let pending_start = self.pending_start.take()?;
        let first_step = self.first_step.take().filter(|_| self.stdin().is_some_and(|stdin| !stdin.is_complete()));
        let abandoned = first_step.map(|first_step| {
            first_step.begin();
            let pending_start = PendingStart { now: Some(now), ..pending_start.clone() };
            AbandonedStart { first_step, pending_start, files: self.guest.files().clone() }
        });
        let PendingStart { script, directory, found, .. } = pending_start;
        let step = self.guest.start(&script, &directory, found, now);
        if let Some(abandoned) = &abandoned {
            abandoned.first_step.end();
        }
        self.abandoned = abandoned.filter(|_| matches!(step, Err(GuestError::IncompleteInput)));
        Some(step)
    }

    /// Returns the language of the script.
    pub(super) fn language(&self) -> Language {
        self.language
    }

    /// Replaces the guest's operation numbers by run-wide ids.
    ///
    /// # Errors
    /// If a number has no id, or was used before: the completion of one operation would pass for that of another.
    pub(super) fn assign_ids(&mut self, pid: Pid, mut waiting: Waiting) -> Result<Waiting, Failure> {
        for pending in &waiting.started {
            let is_new = pending.id > self.last;
            if !is_new {
                return Err(Failure::host(format!("the guest's operation {} is not a new one", pending.id)));
            }
            self.last = pending.id;
        }
        let rename = |id: &mut OperationId| {
            *id = operation_id(pid, *id)
                .ok_or_else(|| Failure::host(format!("the guest's operation {id} has no name")))?;
            Ok::<_, Failure>(())
        };
        waiting.started.iter_mut().try_for_each(|pending| rename(&mut pending.id))?;
        waiting.cancelled.iter_mut().try_for_each(rename)?;
        Ok(waiting)
    }

    /// Returns the standard input of a script that another one runs.
    pub(super) fn stdin(&self) -> Option<&Pipe> {
        self.parent.as_ref().map(|parent| &parent.streams.stdin)
    }

    /// Cancels the stream reads and writes of an operation.
    pub(super) fn forget(&mut self, id: OperationId) {
        self.streams.forget(id);
        if let Some(parent) = &self.parent {
            parent.streams.stdin.forget(id);
        }
    }

    /// Returns true if the process may continue: not while its output waits for a reader.
    fn can_continue(&self) -> bool {
        self.parent
            .as_ref()
            .is_none_or(|ParentLink { streams, .. }| !streams.stdout.is_full() && !streams.stderr.is_full())
    }

    /// Returns true if the process wrote to a stream that has no reader any more.
    fn is_broken(&self) -> bool {
        self.parent.as_ref().is_some_and(|parent| parent.streams.stdout.is_broken())
    }
}

/// All guest processes of a run.
pub(super) struct ProcessTable {
    alive: BTreeMap<Pid, GuestProcess>,
    last: Pid,
    /// Process that owns the file tree.
    holder: Pid,
    /// Empty tree that the other processes have meanwhile.
    empty_tree: Tree,
    usage: RunUsage,
}

/// Output of a nested script, written to the pipes of its parent.
pub(super) struct PipedOutput {
    stdout: Pipe,
    stderr: Pipe,
}

impl PipedOutput {
    pub(super) fn new(streams: &ProgramStart) -> Self {
        Self { stdout: streams.stdout.clone(), stderr: streams.stderr.clone() }
    }
}

impl OutputSink for PipedOutput {
    fn write(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        let pipe = match stream {
            Stream::Stdout => &self.stdout,
            Stream::Stderr => &self.stderr,
        };
        if pipe.append(bytes) { Ok(()) } else { Err(io::ErrorKind::OutOfMemory.into()) }
    }
}

/// Returns the empty tree that a process has before it first executes.
pub(super) fn no_files() -> Tree {
    Tree::new(vfs::Limits::default(), 0)
}

impl ProcessTable {
    pub(super) fn new(main: GuestProcess, usage: RunUsage) -> Self {
        let alive = BTreeMap::from([(MAIN, main)]);
        Self { alive, last: MAIN, holder: MAIN, empty_tree: no_files(), usage }
    }

    /// Creates the processes of a run of which only the main script is left, with the number of the last process.
    pub(super) fn restored(main: GuestProcess, usage: RunUsage, last: Pid) -> Self {
        Self { last, ..Self::new(main, usage) }
    }

    /// Returns the guest of the main script, if the script waits, has no streams, and is the only process.
    pub(super) fn idle_main(&mut self) -> Option<&mut Guest> {
        let is_alone = self.alive.len() == 1;
        let main = self.alive.get_mut(&MAIN).filter(|_| is_alone)?;
        let is_idle = main.pending_start.is_none() && main.streams.is_over();
        is_idle.then_some(&mut main.guest)
    }

    /// Returns the number of the last process, and that of the last operation of the main script.
    pub(super) fn last_numbers(&self) -> (Pid, OperationId) {
        (self.last, self.alive[&MAIN].last)
    }

    /// Returns the fuel and memory that the processes share.
    pub(super) fn usage(&self) -> &RunUsage {
        &self.usage
    }

    /// Returns the depth of a process in its run.
    pub(super) fn depth_of(&self, pid: Pid) -> Option<u32> {
        self.alive.get(&pid).map(|process| process.depth)
    }

    /// Returns the number of the next process.
    pub(super) fn next(&self) -> Pid {
        self.last + 1
    }

    /// Adds a process that another one runs by this operation.
    pub(super) fn add(&mut self, operation: OperationId, streams: ProgramStart, process: GuestProcess) {
        self.last += 1;
        self.alive.insert(self.last, GuestProcess { parent: Some(ParentLink { operation, streams }), ..process });
    }

    /// Returns a process.
    pub(super) fn process(&self, pid: Pid) -> Option<&GuestProcess> {
        self.alive.get(&pid)
    }

    pub(super) fn get(&mut self, pid: Pid) -> Option<&mut GuestProcess> {
        self.alive.get_mut(&pid)
    }

    /// Returns true if a process may continue; also for one that has ended.
    pub(super) fn can_continue(&self, pid: Pid) -> bool {
        self.alive.get(&pid).is_none_or(GuestProcess::can_continue)
    }

    /// Returns true if a process wrote to a stream that has no reader any more.
    pub(super) fn is_broken(&self, pid: Pid) -> bool {
        self.alive.get(&pid).is_some_and(GuestProcess::is_broken)
    }

    /// Returns the process that an operation runs.
    pub(super) fn child_of(&self, operation: OperationId) -> Option<Pid> {
        let is_its = |parent: &ParentLink| parent.operation == operation;
        self.alive.iter().find(|(_, process)| process.parent.as_ref().is_some_and(is_its)).map(|(pid, _)| *pid)
    }

    /// Gives each process other random numbers, derived from the seed of the run.
    pub(super) fn reseed(&mut self, seed: &GuestSeed) {
        for (pid, process) in &mut self.alive {
            let own = if *pid == MAIN { seed.clone() } else { seed.of(&[u64::from(*pid)]) };
            process.guest.reseed(own.value());
        }
    }

    /// Returns a process that has not started, and may.
    pub(super) fn waiting(&self) -> Option<Pid> {
        self.alive.iter().find(|(_, process)| process.may_start()).map(|(pid, _)| *pid)
    }

    /// Returns the time at which a process starts that was started before.
    pub(super) fn start_time(&self, pid: Pid) -> Option<u64> {
        self.alive.get(&pid)?.pending_start.as_ref()?.now
    }

    /// Replaces the guest of a process that has the files now, and is to be started anew with these.
    pub(super) fn start_over(&mut self, pid: Pid, mut guest: Guest, pending_start: PendingStart, mut files: Tree) {
        guest.swap_files(&mut files);
        if let Some(process) = self.alive.get_mut(&pid) {
            process.guest = guest;
            process.pending_start = Some(pending_start);
        }
    }

    /// Starts a process.
    pub(super) fn start(&mut self, pid: Pid, now: u64) -> Option<Result<Step, GuestError>> {
        self.enter(pid)?.start(now)
    }

    /// Applies edits to the files, and delivers a completion.
    pub(super) fn resume(
        &mut self,
        mut completion: Completion,
        edits: &[Edit],
        on_conflict: impl FnOnce(&ApplyError) -> Failure,
        now: u64,
    ) -> Option<Result<Step, GuestError>> {
        let process = self.enter(owner(completion.id))?;
        completion.id &= (1 << NUMBER_BITS) - 1;
        if let Err(error) = process.guest.change_files(edits) {
            completion.result = Err(on_conflict(&error));
        }
        Some(process.guest.resume(completion, now))
    }

    /// Gives a process the file tree.
    fn enter(&mut self, pid: Pid) -> Option<&mut GuestProcess> {
        if pid != self.holder && self.alive.contains_key(&pid) {
            for one in [self.holder, pid] {
                self.alive.get_mut(&one).expect("who has the files is alive").guest.swap_files(&mut self.empty_tree);
            }
            self.holder = pid;
        }
        self.alive.get_mut(&pid)
    }

    /// Applies edits to the files.
    ///
    /// # Errors
    /// If the edits do not apply; then nothing is changed.
    pub(super) fn change_files(&mut self, edits: &[Edit]) -> Result<(), ApplyError> {
        match self.alive.get_mut(&self.holder) {
            Some(holder) => holder.guest.change_files(edits),
            None => Ok(()),
        }
    }

    /// Swaps the file tree with another one.
    pub(super) fn swap_files(&mut self, files: &mut Tree) {
        self.alive.get_mut(&self.holder).expect("who has the files is alive").guest.swap_files(files);
    }

    /// Returns the current files.
    pub(super) fn files(&self) -> &Tree {
        self.alive[&self.holder].guest.files()
    }

    /// Returns the guest of the run's own script.
    pub(super) fn main(&self) -> &Guest {
        &self.alive[&MAIN].guest
    }

    /// Removes a nested process. Returns the parent's operation and its result.
    pub(super) fn remove(&mut self, pid: Pid, outcome: Outcome) -> Option<(OperationId, Result<u8, Failure>)> {
        if self.holder == pid {
            self.enter(MAIN)?;
        }
        let GuestProcess { language, parent, .. } = self.alive.remove(&pid)?;
        let parent = parent?;
        // Without memory for the message, the status shows that the script failed.
        let result = conclude(language, outcome, |text| _ = parent.streams.stderr.append(text.as_bytes()));
        Some((parent.operation, result))
    }
}

/// Converts the outcome of a script for the script that runs it. Its own failure goes to its standard error, as with a
/// program of a system; a failure caused by the host is returned.
pub(super) fn conclude(language: Language, outcome: Outcome, complain: impl FnOnce(String)) -> Result<u8, Failure> {
    match outcome.error {
        Some(failure) if is_host_failure(failure.kind) => Err(failure),
        // bash has already reported what went wrong.
        Some(failure) if language == Language::JavaScript && failure.kind != ErrorKind::Exit => {
            complain(uncaught_message(&failure));
            Ok(outcome.exit_code.max(1))
        }
        _ => Ok(outcome.exit_code),
    }
}

fn is_host_failure(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Limit | ErrorKind::Cancelled | ErrorKind::Deadlock | ErrorKind::Host)
}

/// Returns the outcome of a process that wrote to a stream without a reader.
pub(super) fn broken_pipe() -> Outcome {
    Outcome { value: None, exit_code: BROKEN_PIPE, error: None, fuel: 0, state: None }
}

/// Message that Node prints for an uncaught exception.
fn uncaught_message(failure: &Failure) -> String {
    let mut text = format!("Uncaught {}: {}\n", failure.name, failure.message);
    if let Some(stack) = &failure.stack {
        text.push_str(stack.trim_end());
        text.push('\n');
    }
    if let Some(hint) = &failure.hint {
        text.push_str(&format!("hint: {hint}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_to_one() {
        assert_eq!(operation_id(MAIN, 7), Some(7));
        let id = operation_id(3, 7).expect("it fits");
        assert_eq!((owner(id), id & ((1 << NUMBER_BITS) - 1)), (3, 7));
        assert_eq!(operation_id(0, 1 << NUMBER_BITS), None, "it would be another process's");
        assert_eq!(operation_id(1 << 24, 1), None);
        assert!(operation_id((1 << 24) - 1, (1 << NUMBER_BITS) - 1).is_some());
    }
}
