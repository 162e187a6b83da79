//! Scripts that a guest runs to completion within a step of its own, as Node's `execSync` does.
//!
//! Such a script, and those that it runs in turn, are processes like those of a run, stepped on the run's own thread
//! until the first of them ends. Nothing blocks: data passes between them at once, and a timer is due when the fuel
//! that was used stands for its time, so that a replay finds it due at the same point.
//!
//! **Invariant:** the gate is not asked here, so nothing is called. A call, a program, input that has not arrived, or a
//! real wait ends the script.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;

use super::guest_process::{self, GuestProcess, MAIN, PendingStart, Pid, ProcessTable};
use super::guest_seed::GuestSeed;
use super::nested_scripts::{self, GuestStreams};
use super::result::outcome_of;
use super::run_input::InlineInput;
use super::session_state::SessionState;
use crate::code::{Interrupt, MemoryCharge, Stopped};
use crate::error::Failure;
use crate::guest::{
    Completion, GuestError, Language, Operation, OperationId, Outcome, Output, OutputDestination, OutputSink, Pending,
    RunUsage, Runnable, Script, ScriptEnd, ScriptExit, ScriptRequest, ScriptRunner, Step, Stream, Value, Waiting,
};
use crate::remedy::Remedy;
use crate::tool::{OnComplete, WriteError, cannot_apply_changes};
use crate::vfs::Tree;

/// Nanoseconds that a unit of a guest's fuel stands for. For JavaScript it is the rate of its own clock
/// (`guest-js/src/time.rs`); for the shell it is roughly the time that a unit takes.
pub(super) const fn nanos_per_fuel(language: Language) -> u64 {
    match language {
        Language::JavaScript => 25,
        Language::Shell => 2_500,
    }
}

/// Longest sleep that is skipped, in nanoseconds: the shortest timer of JavaScript, with which scripts yield to each
/// other.
const MAX_SKIPPED_SLEEP: u64 = 1_000_000;

/// Bytes that Linux reads from a pipe at once: the output of a script that is stopped for writing too much is kept in
/// such chunks.
const CHUNK: usize = 64 << 10;

/// Length of the longest tool or program name in an answer, in characters: a guest may ask for anything.
const MAX_NAME: usize = 200;

/// Number that precedes those of a script that is run to completion; a process's number is never 0.
const INLINE_MARKER: u64 = 0;

/// Runner of scripts to completion, for one guest.
pub(super) struct InlineRunner {
    session: Arc<SessionState>,
    usage: RunUsage,
    /// Seed of the guest.
    seed: GuestSeed,
    depth: u32,
    interrupt: Interrupt,
    /// Number of scripts that were run.
    count: u64,
}

impl InlineRunner {
    pub(super) fn new(
        session: &Arc<SessionState>,
        usage: &RunUsage,
        seed: &GuestSeed,
        depth: u32,
        interrupt: &Interrupt,
    ) -> Self {
        let (session, usage) = (Arc::clone(session), usage.clone());
        Self { session, usage, seed: seed.clone(), depth, interrupt: interrupt.clone(), count: 0 }
    }

    /// Creates the guest of a script, and the driver that steps it.
    fn prepare(&self, request: ScriptRequest, inline_output: &InlineOutput) -> Result<InlineDriver, Failure> {
        nested_scripts::check_limits(&self.session, &self.usage, self.depth)?;
        let limits = self.session.limits();
        let seed = self.seed.of(&[INLINE_MARKER, self.count]);
        let own = seed.of(&[u64::from(MAIN)]);
        let interrupt = self.interrupt.child();
        let output = Output::new(Box::new(inline_output.clone()), limits.output);
        let ScriptRequest { language, source, name, arguments, environment, directory, input, timeout, now, .. } =
            request;
        let (what, depth) = ((language, name.as_str()), self.depth + 1);
        let input = InlineInput::new(input.map(Bytes::from));
        let given = GuestStreams { output, input: Box::new(input.clone()) };
        let guest = nested_scripts::instantiate(&self.session, &self.usage, what, given, &own, depth, &interrupt)?;
        // Not earlier: loading a guest for the first time must not count against its time.
        if let Some(deadline) = timeout.and_then(|timeout| Instant::now().checked_add(timeout)) {
            interrupt.set_deadline(deadline);
        }
        let script = Script { source, name, from_file: false, arguments, environment, typed: None };
        let pending_start = PendingStart { script, directory, found: None, now: None };
        let main = GuestProcess::new(guest, language, pending_start, interrupt.clone(), depth);
        let processes = ProcessTable::new(main, self.usage.clone());
        let session = Arc::clone(&self.session);
        Ok(InlineDriver::new(session, processes, seed, interrupt, input, now))
    }

    fn run(
        &self,
        request: ScriptRequest,
        files: &mut Tree,
        inline_output: &InlineOutput,
    ) -> Result<(ScriptExit, u64), Failure> {
        let language = request.language;
        let _held = self.session.memory.charge(held_bytes(&request)).ok_or_else(|| self.out_of_memory())?;
        let mut driver = self.prepare(request, inline_output)?;
        driver.processes.swap_files(files);
        let ended = driver.drive();
        driver.processes.swap_files(files);
        let now = driver.now;
        // The writers are dropped before their output is taken.
        drop(driver);
        let outcome = match ended? {
            _ if inline_output.lock().overflowed => return Ok((ScriptExit::Overflowed, now)),
            DriveEnd::Ended(outcome) => outcome,
            DriveEnd::TimedOut => return Ok((ScriptExit::TimedOut, now)),
            DriveEnd::Asked(what) => return Ok((ScriptExit::Asked(what), now)),
        };
        let complain = |text: String| drop(inline_output.lock().write(Stream::Stderr, text.as_bytes()));
        Ok((ScriptExit::Exited(guest_process::conclude(language, outcome, complain)?), now))
    }

    fn out_of_memory(&self) -> Failure {
        let message = format!("memory limit of {} bytes reached", self.session.limits().memory);
        Failure::limit(message, Remedy::RaiseLimit("memory"))
    }
}

impl ScriptRunner for InlineRunner {
    fn scripts(&self) -> u64 {
        self.count
    }

    fn resume(&mut self, scripts: u64) {
        self.count = scripts;
    }

    fn run_to_end(
        &mut self,
        request: ScriptRequest,
        files: &mut Tree,
        output: &mut Output,
    ) -> Result<Result<ScriptEnd, Failure>, Stopped> {
        self.count += 1;
        let caller = std::mem::replace(output, Output::closed());
        let inline_output = InlineOutput::new(caller, &request, self.session.memory.open());
        let ended = self.run(request, files, &inline_output);
        let (caller, [stdout, stderr]) = inline_output.take();
        *output = caller;
        match self.interrupt.stopped() {
            Some(stopped) => Err(stopped),
            None => Ok(ended.map(|(how, now)| ScriptEnd { how, stdout, stderr, now })),
        }
    }
}

/// Output of a script that is run to completion.
#[derive(Clone)]
struct InlineOutput(Arc<Mutex<InlineOutputState>>);

struct InlineOutputState {
    /// Output of the calling guest.
    caller: Output,
    destinations: [OutputDestination; 2],
    kept: [Vec<u8>; 2],
    /// Charge of the captured output to the session's memory.
    held: MemoryCharge,
    /// True if the script wrote more than is kept.
    overflowed: bool,
}

impl InlineOutput {
    fn new(caller: Output, request: &ScriptRequest, held: MemoryCharge) -> Self {
        let destinations = [request.stdout, request.stderr];
        Self(Arc::new(Mutex::new(InlineOutputState {
            caller,
            destinations,
            kept: Default::default(),
            held,
            overflowed: false,
        })))
    }

    /// Takes the calling guest's output and the captured bytes.
    fn take(&self) -> (Output, [Vec<u8>; 2]) {
        let mut state = self.lock();
        let caller = std::mem::replace(&mut state.caller, Output::closed());
        (caller, std::mem::take(&mut state.kept))
    }

    /// Locks the state. No change can be seen half done, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, InlineOutputState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OutputSink for InlineOutput {
    fn write(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        self.lock().write(stream, bytes)
    }
}

impl InlineOutputState {
    fn write(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        let which = match stream {
            Stream::Stdout => 0,
            Stream::Stderr => 1,
        };
        match self.destinations[which] {
            OutputDestination::Dropped => Ok(()),
            OutputDestination::Standard(to) => self.caller.write(to, bytes).map_err(io::Error::other),
            OutputDestination::Kept(most) => bytes.chunks(CHUNK).try_for_each(|part| self.keep(which, part, most)),
        }
    }

    fn keep(&mut self, which: usize, part: &[u8], most: u64) -> io::Result<()> {
        if self.overflowed {
            return Err(io::Error::other("too much was written"));
        }
        if !self.held.grow(part.len() as u64) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        self.kept[which].extend_from_slice(part);
        self.overflowed = self.kept[which].len() as u64 > most;
        if self.overflowed { Err(io::Error::other("too much was written")) } else { Ok(()) }
    }
}

/// Reason why the driver stopped.
enum DriveEnd {
    Ended(Outcome),
    TimedOut,
    Asked(String),
}

/// Driver of a script, and of those that it runs, to their end.
struct InlineDriver {
    session: Arc<SessionState>,
    processes: ProcessTable,
    /// Seed of the first process, without its own number.
    seed: GuestSeed,
    interrupt: Interrupt,
    /// Input of the first process.
    input: InlineInput,
    outstanding: BTreeSet<OperationId>,
    queue: VecDeque<Completion>,
    /// Channel for completions of stream operations.
    completions: (Sender<Completion>, Receiver<Completion>),
    /// Timers, ordered by the time at which they are due.
    timers: BTreeSet<(u64, OperationId)>,
    now: u64,
    /// Outcome of the first process.
    outcome: Option<Outcome>,
}

impl InlineDriver {
    fn new(
        session: Arc<SessionState>,
        processes: ProcessTable,
        seed: GuestSeed,
        interrupt: Interrupt,
        input: InlineInput,
        now: u64,
    ) -> Self {
        let (outstanding, queue, timers) = Default::default();
        let (completions, outcome) = (channel(), None);
        Self { session, processes, seed, interrupt, input, outstanding, queue, completions, timers, now, outcome }
    }

    fn drive(&mut self) -> Result<DriveEnd, Failure> {
        loop {
            if self.interrupt.stopped().is_some() {
                return Ok(DriveEnd::TimedOut);
            }
            let fuel = self.processes.usage().fuel();
            let Some((pid, language, step)) = self.advance() else {
                if self.skip_short_sleep() {
                    continue;
                }
                let asked = || DriveEnd::Asked("time to pass (a timer, or `sleep`)".to_owned());
                return if self.timers.is_empty() { Err(Failure::deadlock()) } else { Ok(asked()) };
            };
            let used = self.processes.usage().fuel().saturating_sub(fuel);
            self.now = self.now.saturating_add(used.saturating_mul(nanos_per_fuel(language)));
            match step {
                Ok(Step::Blocked(_)) if self.processes.is_broken(pid) => self.end_of(pid, guest_process::broken_pipe()),
                Ok(Step::Blocked(waiting)) => {
                    if let Some(what) = self.handle_blocked(pid, waiting) {
                        return Ok(DriveEnd::Asked(what));
                    }
                }
                Ok(Step::Finished(outcome)) => self.end_of(pid, outcome),
                Err(_) if self.interrupt.stopped().is_some() => return Ok(DriveEnd::TimedOut),
                Err(GuestError::IncompleteInput) => {
                    let anew = nested_scripts::start_anew(&self.session, &mut self.processes, &self.seed, pid);
                    if let Err(failure) = anew {
                        self.end_of(pid, Outcome::failed(failure));
                    }
                }
                Err(error) => self.end_of(pid, outcome_of(&error, self.session.limits())),
            }
            if let Some(outcome) = self.outcome.take() {
                return Ok(DriveEnd::Ended(outcome));
            }
        }
    }

    /// Enters a guest once, if there is a reason to.
    fn advance(&mut self) -> Option<(Pid, Language, Result<Step, GuestError>)> {
        if let Some(pid) = self.processes.waiting() {
            let language = self.processes.get(pid)?.language();
            let now = self.processes.start_time(pid).unwrap_or(self.now);
            return Some((pid, language, self.processes.start(pid, now)?));
        }
        self.queue.extend(self.completions.1.try_iter());
        while let Some((_, id)) = self.timers.first().copied().filter(|(due, _)| *due <= self.now) {
            self.timers.pop_first();
            self.queue.push_back(Completion { id, result: Ok(Value::Nothing) });
        }
        self.queue.retain(|completion| self.outstanding.contains(&completion.id));
        let can_continue = |completion: &Completion| self.processes.can_continue(guest_process::owner(completion.id));
        let next = self.queue.iter().position(can_continue)?;
        let completion = self.queue.remove(next)?;
        self.outstanding.remove(&completion.id);
        let pid = guest_process::owner(completion.id);
        let language = self.processes.get(pid)?.language();
        // Only guests change the files here.
        let step = self.processes.resume(completion, &[], |error| cannot_apply_changes("a script", error), self.now)?;
        Some((pid, language, step))
    }

    /// Skips a short sleep. Returns false if no timer is due within it.
    fn skip_short_sleep(&mut self) -> bool {
        let soon =
            self.timers.first().map(|(due, _)| *due).filter(|due| due.saturating_sub(self.now) <= MAX_SKIPPED_SLEEP);
        self.now = soon.map_or(self.now, |due| self.now.max(due));
        soon.is_some()
    }

    /// Handles a guest that waits. Returns the operation that it requested and cannot have here, if any.
    fn handle_blocked(&mut self, pid: Pid, waiting: Waiting) -> Option<String> {
        let waiting = match self.processes.get(pid)?.assign_ids(pid, waiting) {
            Ok(waiting) => waiting,
            Err(failure) => {
                self.end_of(pid, Outcome::failed(failure));
                return None;
            }
        };
        waiting.cancelled.into_iter().for_each(|id| self.withdraw(id));
        let most = self.session.limits().pending;
        if (self.outstanding.len() + waiting.started.len()) as u64 > u64::from(most) {
            let message = format!("the limit of {most} operations that a script waits for at once is reached");
            let hint = format!("wait for some before more begin, or {}", Remedy::RaiseLimit("pending"));
            self.end_of(pid, Outcome::failed(Failure::limit(message, hint)));
            return None;
        }
        for pending in waiting.started {
            self.outstanding.insert(pending.id);
            if let Some(what) = self.begin(pid, pending) {
                return Some(what);
            }
        }
        if !self.outstanding.iter().any(|id| guest_process::owner(*id) == pid) {
            self.end_of(pid, Outcome::failed(Failure::deadlock()));
        }
        None
    }

    /// Starts an operation. Returns its description if it is not available here.
    fn begin(&mut self, pid: Pid, Pending { id, operation }: Pending) -> Option<String> {
        let failed = match operation {
            Operation::Call { method, .. } => return Some(format!("the tool `{}`", truncated(&method))),
            Operation::Run(run) => match &run.what {
                Runnable::Program(method) => return Some(format!("the program `{}`", truncated(method))),
                Runnable::Script { .. } => {
                    let interrupt = self.processes.get(pid)?.interrupt.child();
                    nested_scripts::start(&self.session, &mut self.processes, &self.seed, id, run, interrupt).err()
                }
            },
            Operation::Sleep(duration) => {
                let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
                self.timers.insert((self.now.saturating_add(nanos), id));
                None
            }
            Operation::Read { stream: 0, limit } if pid == MAIN => match self.input.take(limit) {
                None => return Some("the standard input of the script that runs it".to_owned()),
                Some(bytes) => {
                    self.queue.push_back(Completion { id, result: Ok(Value::Bytes(bytes.into())) });
                    None
                }
            },
            Operation::Read { stream, limit } => {
                let on_complete = self.on_stream(id, |bytes: Bytes| Ok(Value::Bytes(bytes.into())));
                let process = self.processes.get(pid)?;
                match process.stdin().filter(|_| stream == 0) {
                    Some(stdin) => {
                        stdin.read(id, limit, on_complete);
                        None
                    }
                    None => process.streams.read(id, stream, limit, on_complete).err(),
                }
            }
            Operation::Write { stream, bytes, end } => {
                let on_complete = self.on_stream(id, |outcome: Result<(), WriteError>| {
                    outcome.map(|()| Value::Nothing).map_err(|error| Failure::tool(error.to_string()))
                });
                self.processes.get(pid)?.streams.write(id, stream, &bytes, end, on_complete);
                None
            }
        };
        self.queue.extend(failed.map(|failure| Completion { id, result: Err(failure) }));
        None
    }

    /// Returns the callback that completes a stream operation.
    fn on_stream<T: 'static>(&self, id: OperationId, read: fn(T) -> Result<Value, Failure>) -> OnComplete<T> {
        let sender = self.completions.0.clone();
        Box::new(move |outcome| {
            // The receiver is gone once the script has ended.
            let _ = sender.send(Completion { id, result: read(outcome) });
        })
    }

    /// Cancels an operation whose completion the guest no longer needs.
    fn withdraw(&mut self, id: OperationId) {
        self.outstanding.remove(&id);
        self.timers.retain(|(_, timer)| *timer != id);
        if let Some(process) = self.processes.get(guest_process::owner(id)) {
            process.forget(id);
        }
        if let Some(inner) = self.processes.child_of(id) {
            self.stop(inner, Outcome::failed(Failure::cancelled()));
        }
    }

    /// Removes a nested script with all its operations. Returns the parent's operation and its result.
    fn stop(&mut self, pid: Pid, outcome: Outcome) -> Option<(OperationId, Result<u8, Failure>)> {
        let own: Vec<_> = self.outstanding.iter().copied().filter(|id| guest_process::owner(*id) == pid).collect();
        own.into_iter().for_each(|id| self.withdraw(id));
        self.processes.remove(pid, outcome)
    }

    /// Handles the end of a script: the first one, or a nested one.
    fn end_of(&mut self, pid: Pid, outcome: Outcome) {
        if pid == MAIN {
            self.outcome = Some(outcome);
        } else if let Some((id, result)) = self.stop(pid, outcome) {
            self.queue.push_back(Completion { id, result: result.map(Value::Exited) });
        }
    }
}

/// Returns the bytes that the host holds of a request until the script has ended: two copies of its texts while it is
/// in its first step.
fn held_bytes(request: &ScriptRequest) -> u64 {
    let ScriptRequest { source, name, arguments, environment, directory, input, .. } = request;
    let words = arguments.iter().chain(environment.iter().flat_map(|(name, value)| [name, value]));
    let texts = words.chain([source, name, directory]).map(|text| text.len() as u64).sum::<u64>();
    texts.saturating_mul(2).saturating_add(input.as_ref().map_or(0, Vec::len) as u64)
}

/// Truncates a name that a guest asked for, for an answer.
fn truncated(name: &str) -> String {
    name.chars().take(MAX_NAME).collect()
}
