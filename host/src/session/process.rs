//! The guests of one run: that of its script, and those of scripts that this one runs, as a system has processes.
//!
//! **Invariant:** one of them executes at a time, and has the files then: what it writes the next one sees.
//!
//! An operation is named by the process, counted in the order in which they began, and by the number that its guest
//! gave it. Those of the run's own script keep their numbers.

use std::collections::BTreeMap;
use std::io;

use super::streams::Streams;
use crate::code::Interrupt;
use crate::error::{ErrorKind, Failure};
use crate::guest::{
    Completion, Guest, GuestError, Language, OperationId, Outcome, OutputSink, Script, Step, Stream, Together, Waiting,
};
use crate::tool::{Pipe, ProgramStart};
use crate::vfs::{self, ApplyError, Edit, Tree};

/// Names a process of a run.
pub(super) type Pid = u32;

/// The run's own script.
pub(super) const MAIN: Pid = 0;

/// 128 + SIGPIPE: what a system ends such a process with.
pub(super) const BROKEN_PIPE: u8 = 141;

/// Bits of an operation's name that are its guest's own number.
const NUMBER_BITS: u32 = 40;

/// The name of an operation in its run; none if there is none for such a number.
pub(super) fn name(pid: Pid, number: OperationId) -> Option<OperationId> {
    let fits = number >> NUMBER_BITS == 0 && u64::from(pid) >> (64 - NUMBER_BITS) == 0;
    fits.then_some(u64::from(pid) << NUMBER_BITS | number)
}

/// The process that an operation belongs to.
pub(super) fn owner(id: OperationId) -> Pid {
    Pid::try_from(id >> NUMBER_BITS).expect("24 bits are left")
}

/// A script that is to start.
pub(super) struct Beginning {
    pub(super) script: Script,
    /// Where it starts.
    pub(super) directory: String,
    /// What the last script left, if this one is to find it.
    pub(super) found: Option<Vec<u8>>,
}

/// One of them.
pub(super) struct Process {
    guest: Guest,
    language: Language,
    /// Taken when it starts.
    beginning: Option<Beginning>,
    /// What its programs read and write.
    pub(super) streams: Streams,
    /// Stops what it waits for.
    pub(super) interrupt: Interrupt,
    /// Of a script that another one runs.
    within: Option<Within>,
    /// The number that its guest gave an operation last. They rise.
    last: OperationId,
    /// How many scripts above it run scripts.
    depth: u32,
}

/// What ties a script to the one that runs it.
struct Within {
    /// The other one's operation.
    operation: OperationId,
    /// What it reads and writes. Letting go of them tells the other one of their end.
    streams: ProgramStart,
}

impl Process {
    /// One that no other of these runs, this deep in its run.
    pub(super) fn new(
        guest: Guest,
        language: Language,
        beginning: Beginning,
        interrupt: Interrupt,
        depth: u32,
    ) -> Self {
        let (streams, last) = (Streams::default(), 0);
        Self { guest, language, beginning: Some(beginning), streams, interrupt, within: None, last, depth }
    }

    /// What it speaks.
    pub(super) fn language(&self) -> Language {
        self.language
    }

    /// Changes the numbers of its guest's operations to their names.
    ///
    /// # Errors
    /// If one has none, or stood for another operation: the end of one would pass for that of the other.
    pub(super) fn named(&mut self, pid: Pid, mut waiting: Waiting) -> Result<Waiting, Failure> {
        for pending in &waiting.started {
            let is_new = pending.id > self.last;
            #[cfg(fuzzing)]
            let is_new = is_new || tollhouse_seeded::bug("step");
            if !is_new {
                return Err(Failure::host(format!("the guest's operation {} is not a new one", pending.id)));
            }
            self.last = pending.id;
        }
        let rename = |id: &mut OperationId| {
            *id = name(pid, *id).ok_or_else(|| Failure::host(format!("the guest's operation {id} has no name")))?;
            Ok::<_, Failure>(())
        };
        waiting.started.iter_mut().try_for_each(|pending| rename(&mut pending.id))?;
        waiting.cancelled.iter_mut().try_for_each(rename)?;
        Ok(waiting)
    }

    /// A script's standard input, if another one runs it.
    pub(super) fn stdin(&self) -> Option<&Pipe> {
        self.within.as_ref().map(|within| &within.streams.stdin)
    }

    /// Lets go of what an operation waits for at the streams.
    pub(super) fn forget(&mut self, id: OperationId) {
        self.streams.forget(id);
        if let Some(within) = &self.within {
            within.streams.stdin.forget(id);
        }
    }

    /// Whether it may go on: not while nobody takes what it wrote.
    fn goes_on(&self) -> bool {
        self.within.as_ref().is_none_or(|Within { streams, .. }| !streams.stdout.is_full() && !streams.stderr.is_full())
    }

    /// Whether it wrote to what nobody reads any more.
    fn is_broken(&self) -> bool {
        self.within.as_ref().is_some_and(|within| within.streams.stdout.is_broken())
    }
}

/// All of them.
pub(super) struct Processes {
    alive: BTreeMap<Pid, Process>,
    last: Pid,
    /// Who has the files.
    holder: Pid,
    /// What the others have.
    nothing: Tree,
    together: Together,
}

/// Where a script's output goes that another one runs.
struct Piped {
    stdout: Pipe,
    stderr: Pipe,
}

impl OutputSink for Piped {
    fn write(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        let pipe = match stream {
            Stream::Stdout => &self.stdout,
            Stream::Stderr => &self.stderr,
        };
        if pipe.append(bytes) { Ok(()) } else { Err(io::ErrorKind::OutOfMemory.into()) }
    }
}

/// What takes the output of a script with these streams.
pub(super) fn sink(streams: &ProgramStart) -> Box<dyn OutputSink> {
    Box::new(Piped { stdout: streams.stdout.clone(), stderr: streams.stderr.clone() })
}

/// What a process has before it first executes.
pub(super) fn no_files() -> Tree {
    Tree::new(vfs::Limits::default(), 0)
}

impl Processes {
    pub(super) fn new(main: Process, together: Together) -> Self {
        let alive = BTreeMap::from([(MAIN, main)]);
        Self { alive, last: MAIN, holder: MAIN, nothing: no_files(), together }
    }

    /// What they use together.
    pub(super) fn together(&self) -> &Together {
        &self.together
    }

    /// How deep in its run one is.
    pub(super) fn depth_of(&self, pid: Pid) -> Option<u32> {
        self.alive.get(&pid).map(|process| process.depth)
    }

    /// The number of the next one.
    pub(super) fn next(&self) -> Pid {
        self.last + 1
    }

    /// Adds one that another one runs, by this operation.
    pub(super) fn add(&mut self, operation: OperationId, streams: ProgramStart, process: Process) {
        self.last += 1;
        self.alive.insert(self.last, Process { within: Some(Within { operation, streams }), ..process });
    }

    pub(super) fn get(&mut self, pid: Pid) -> Option<&mut Process> {
        self.alive.get_mut(&pid)
    }

    /// Whether one may go on; what has ended meanwhile waits.
    pub(super) fn goes_on(&self, pid: Pid) -> bool {
        self.alive.get(&pid).is_none_or(Process::goes_on)
    }

    /// Whether one has written to what nobody reads any more.
    pub(super) fn is_broken(&self, pid: Pid) -> bool {
        self.alive.get(&pid).is_some_and(Process::is_broken)
    }

    /// The one that this operation runs.
    pub(super) fn of(&self, operation: OperationId) -> Option<Pid> {
        let is_its = |within: &Within| within.operation == operation;
        self.alive.iter().find(|(_, process)| process.within.as_ref().is_some_and(is_its)).map(|(pid, _)| *pid)
    }

    /// One that has not started.
    pub(super) fn waiting(&self) -> Option<Pid> {
        self.alive.iter().find(|(_, process)| process.beginning.is_some()).map(|(pid, _)| *pid)
    }

    /// Starts one.
    pub(super) fn start(&mut self, pid: Pid, now: u64) -> Option<Result<Step, GuestError>> {
        let process = self.enter(pid)?;
        let Beginning { script, directory, found } = process.beginning.take()?;
        Some(process.guest.start(&script, &directory, found, now))
    }

    /// Changes the files, and delivers a completion.
    pub(super) fn resume(
        &mut self,
        mut completion: Completion,
        edits: &[Edit],
        unfit: impl FnOnce(&ApplyError) -> Failure,
        now: u64,
    ) -> Option<Result<Step, GuestError>> {
        let process = self.enter(owner(completion.id))?;
        completion.id &= (1 << NUMBER_BITS) - 1;
        if let Err(error) = process.guest.change_files(edits) {
            completion.result = Err(unfit(&error));
        }
        Some(process.guest.resume(completion, now))
    }

    /// Gives one the files.
    fn enter(&mut self, pid: Pid) -> Option<&mut Process> {
        if pid != self.holder && self.alive.contains_key(&pid) {
            for one in [self.holder, pid] {
                self.alive.get_mut(&one).expect("who has the files is alive").guest.swap_files(&mut self.nothing);
            }
            self.holder = pid;
        }
        self.alive.get_mut(&pid)
    }

    /// Changes the files.
    ///
    /// # Errors
    /// If that does not fit; then nothing is changed.
    pub(super) fn change_files(&mut self, edits: &[Edit]) -> Result<(), ApplyError> {
        match self.alive.get_mut(&self.holder) {
            Some(holder) => holder.guest.change_files(edits),
            None => Ok(()),
        }
    }

    /// Exchanges the files for others.
    pub(super) fn swap_files(&mut self, files: &mut Tree) {
        self.alive.get_mut(&self.holder).expect("who has the files is alive").guest.swap_files(files);
    }

    /// The files as they are.
    pub(super) fn files(&self) -> &Tree {
        self.alive[&self.holder].guest.files()
    }

    /// The guest of the run's own script.
    pub(super) fn main(&self) -> &Guest {
        &self.alive[&MAIN].guest
    }

    /// Takes one out that another one ran: the operation, and the way in which that ends.
    pub(super) fn remove(&mut self, pid: Pid, outcome: Outcome) -> Option<(OperationId, Result<u8, Failure>)> {
        if self.holder == pid {
            self.enter(MAIN)?;
        }
        let Process { language, within, .. } = self.alive.remove(&pid)?;
        let within = within?;
        // Without memory for what it says, the status says that it failed.
        let result = conclude(language, outcome, |text| _ = within.streams.stderr.append(text.as_bytes()));
        Some((within.operation, result))
    }
}

/// The end of a script, as the one that runs it is told. What it failed with is on its standard error, as with a
/// program of a system; what the host stopped it for is told to the other one.
pub(super) fn conclude(language: Language, outcome: Outcome, complain: impl FnOnce(String)) -> Result<u8, Failure> {
    match outcome.error {
        Some(failure) if is_the_hosts(failure.kind) => Err(failure),
        // bash has said what went wrong.
        Some(failure) if language == Language::JavaScript && failure.kind != ErrorKind::Exit => {
            complain(complaint(&failure));
            Ok(outcome.exit_code.max(1))
        }
        _ => Ok(outcome.exit_code),
    }
}

fn is_the_hosts(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Limit | ErrorKind::Cancelled | ErrorKind::Deadlock | ErrorKind::Host)
}

/// The end of one that wrote to what nobody reads any more.
pub(super) fn broken_pipe() -> Outcome {
    Outcome { value: None, exit_code: BROKEN_PIPE, error: None, fuel: 0, state: None }
}

/// What Node prints of an exception that nobody caught.
fn complaint(failure: &Failure) -> String {
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
        assert_eq!(name(MAIN, 7), Some(7));
        let id = name(3, 7).expect("it fits");
        assert_eq!((owner(id), id & ((1 << NUMBER_BITS) - 1)), (3, 7));
        assert_eq!(name(0, 1 << NUMBER_BITS), None, "it would be another process's");
        assert_eq!(name(1 << 24, 1), None);
        assert!(name((1 << 24) - 1, (1 << NUMBER_BITS) - 1).is_some());
    }
}
