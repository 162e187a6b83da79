//! One run, in steps.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Read};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::json;

use super::host::{HostError, now};
use super::result::{Left, RunResult, Usage, out_of_time, outcome_of};
use super::scope::Scope;
use super::state::{Place, SessionState, micros};
use super::streams::Streams;
use super::work::{Input, News, Work};
use crate::code::Interrupt;
use crate::error::{Failure, told};
use crate::gate::{Admission, CallOutcome, Event};
use crate::guest::{
    self, Completion, Guest, GuestError, Language, OperationId, Outcome, OutputSink, ProgramRun, Script, Stream, Value,
};
use crate::tool::{ARGUMENTS, DIRECTORY, Started, unfit};
use crate::vfs::Edit;

/// The most bytes that a script leaves for the next one besides its files, as its guest writes them.
const MAX_STATE_BYTES: usize = 16 << 20;

/// How to run a script.
#[derive(Default)]
pub struct RunOptions {
    /// Takes the output as it comes. None: it is captured in the [`RunResult`].
    pub output: Option<Box<dyn OutputSink>>,
    /// What the script reads.
    pub stdin: Stdin,
    /// Whether the script finds what the last one of its language left besides files, and leaves that in its turn: in
    /// JavaScript `globalThis.state`; in bash the directory, variables, functions and aliases. What a script has that is
    /// stopped is not kept. An agent that is a component leaves nothing.
    pub keep_state: bool,
}

/// Where a script's standard input comes from. It is read only when the script asks.
#[derive(Default)]
pub enum Stdin {
    /// Nowhere: it is at its end.
    #[default]
    Empty,
    /// These bytes.
    Bytes(Vec<u8>),
    /// A reader, for example the process's own standard input.
    Reader(Box<dyn Read + Send>),
}

/// Where a run stands.
pub enum Step {
    /// It waits: for these operations, which are new since the last step, and for those of earlier steps.
    Blocked(Vec<Pending>),
    /// It has ended.
    Finished(Box<RunResult>),
}

/// An operation to perform: hand it to [`Run::perform`], or do it yourself and give [`Run::resume`] what came of it.
pub struct Pending {
    /// Its name in a [`Completion`].
    pub id: OperationId,
    /// What to do.
    pub operation: Operation,
}

/// Something that a run waits for.
#[non_exhaustive]
pub enum Operation {
    /// A call that the gate has admitted: granted, debited and on record. Denied calls never come here.
    Call(Admission),
    /// Input of a stream.
    Read {
        /// Which; 0 is the standard input of the script.
        stream: u32,
        /// At most so many bytes.
        limit: u32,
    },
    /// Time.
    Sleep(Duration),
    /// A program that the gate has admitted; it reads and writes streams of the run. It is for [`Run::perform`].
    Program(Admission, ProgramStreams),
    /// Bytes for a program. They are for [`Run::perform`].
    Write {
        /// Which stream.
        stream: u32,
        /// What.
        bytes: Vec<u8>,
        /// Nothing follows.
        end: bool,
    },
}

/// What a program that is to run reads and writes.
pub struct ProgramStreams(Started);

impl Operation {
    /// Of what the gate has admitted.
    fn admission(&self) -> Option<&Admission> {
        match self {
            Self::Call(admission) | Self::Program(admission, _) => Some(admission),
            _ => None,
        }
    }
}

/// Stops a run from another thread, or from a signal handler's.
#[derive(Clone)]
pub struct CancelHandle {
    interrupt: Interrupt,
    news: Sender<News>,
}

impl CancelHandle {
    /// Stops the run, wherever it is, and every call that it waits for.
    pub fn cancel(&self) {
        self.interrupt.cancel();
        let _ = self.news.send(News::Cancelled);
    }
}

/// What is kept of an operation that the guest waits for.
struct Outstanding {
    /// Of a call: its number, and the switch that stops it.
    call: Option<(u64, Interrupt)>,
}

/// One execution of one script.
///
/// ```no_run
/// # use tollhouse::session::{Operation, Run, Step};
/// # use tollhouse::guest::{Completion, Value};
/// # fn drive(mut run: Run) {
/// // A host that executes the tools itself.
/// let result = loop {
///     match run.step() {
///         Step::Finished(result) => break result,
///         Step::Blocked(started) => {
///             for pending in started {
///                 if let Operation::Call(call) = &pending.operation {
///                     let answer = serde_json::json!({ "echo": call.arguments });
///                     run.resume(Completion { id: pending.id, result: Ok(Value::Json(answer.into())) });
///                 } else {
///                     run.perform(pending); // Timers and input: let Tollhouse do it.
///                 }
///             }
///             run.wait();
///         }
///     }
/// };
/// println!("{:?}", result.status);
/// # }
/// ```
pub struct Run {
    session: Arc<SessionState>,
    /// Taken when it ends.
    place: Option<Place>,
    language: Language,
    script: Script,
    /// What the last script left, for this one to find when it starts.
    found: Option<Vec<u8>>,
    guest: Option<Guest>,
    started: bool,
    outstanding: HashMap<OperationId, Outstanding>,
    /// What has ended, with what it changed of the files.
    queue: VecDeque<(Completion, Vec<Edit>)>,
    work: Work,
    streams: Streams,
    scope: Scope,
    interrupt: Interrupt,
    begun: Instant,
    input: Option<Input>,
    captured: Option<Captured>,
    result: Option<Box<RunResult>>,
}

/// Output that nobody else takes.
#[derive(Clone, Default)]
pub(super) struct Captured(Arc<Mutex<(Vec<u8>, Vec<u8>)>>);

impl Captured {
    /// Both streams, so far.
    pub(super) fn take(&self) -> (Vec<u8>, Vec<u8>) {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl OutputSink for Captured {
    fn write(&mut self, stream: Stream, bytes: &[u8]) {
        let mut both = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match stream {
            Stream::Stdout => both.0.extend_from_slice(bytes),
            Stream::Stderr => both.1.extend_from_slice(bytes),
        }
    }
}

impl Run {
    /// Prepares a run; [`Run::step`] starts it.
    pub(super) fn new(
        session: Arc<SessionState>,
        place: Place,
        language: Language,
        script: Script,
        options: RunOptions,
    ) -> Result<Self, HostError> {
        let number = place.number();
        let limits = session.limits().clone();
        let interrupt = Interrupt::default();
        let captured = options.output.is_none().then(Captured::default);
        let sink = options.output.unwrap_or_else(|| Box::new(captured.clone().unwrap_or_default()));
        let world = guest::World {
            files: session.head(),
            output: guest::Output::new(sink, limits.output),
            catalog: Arc::clone(&session.catalog),
            memory: limits.memory,
            fuel: limits.fuel,
            seed: session.seed("guest", &[number]),
            interrupt: interrupt.clone(),
        };
        let found = options.keep_state.then(|| session.state(language)).transpose().map_err(HostError::from);
        let guest = session.guests().instantiate(language, world).map_err(HostError::from);
        let (found, guest) = match found.and_then(|found| Ok((found, guest?))) {
            Ok(ready) => ready,
            Err(error) => {
                session.withdraw(&place);
                return Err(error);
            }
        };
        // Only now: loading a guest for the first time takes none of the run's time.
        let begun = Instant::now();
        if let Some(deadline) = begun.checked_add(limits.wall) {
            interrupt.set_deadline(deadline);
        }
        let input: Option<Box<dyn Read + Send>> = match options.stdin {
            Stdin::Empty => None,
            Stdin::Bytes(bytes) => Some(Box::new(io::Cursor::new(bytes))),
            Stdin::Reader(reader) => Some(reader),
        };
        let scope = Scope::new(&session, number);
        let work = Work::new(session.pool(), limits.concurrency);
        Ok(Self {
            session,
            place: Some(place),
            language,
            script,
            found,
            guest: Some(guest),
            started: false,
            outstanding: HashMap::new(),
            queue: VecDeque::new(),
            work,
            streams: Streams::default(),
            scope,
            interrupt,
            begun,
            input: input.map(|reader| Arc::new(Mutex::new(reader))),
            captured,
            result: None,
        })
    }

    /// Stops this run from elsewhere.
    #[must_use]
    pub fn cancel_handle(&self) -> CancelHandle {
        CancelHandle { interrupt: self.interrupt.clone(), news: self.work.sender() }
    }

    /// Starts the script, or delivers completions one at a time, until the script waits or ends.
    pub fn step(&mut self) -> Step {
        let mut started = Vec::new();
        loop {
            if let Some(result) = &self.result {
                return Step::Finished(result.clone());
            }
            if !self.queue.is_empty() {
                // The guest goes on, and what it waits for besides goes on beside it.
                self.work.start_waiting();
            }
            let Some(step) = self.advance() else {
                if self.outstanding.is_empty() {
                    self.end(Outcome::failed(Failure::deadlock()));
                    continue;
                }
                return Step::Blocked(started);
            };
            match step {
                Ok(guest::Step::Finished(outcome)) => self.end(outcome),
                Ok(guest::Step::Blocked(waiting)) => {
                    for id in waiting.cancelled {
                        self.withdraw(id);
                        started.retain(|pending: &Pending| pending.id != id);
                    }
                    for pending in waiting.started {
                        started.extend(self.admit(pending));
                    }
                    // Whoever makes the calls, they are in the ledger first.
                    if started.iter().any(|pending| pending.operation.admission().is_some())
                        && let Err(error) = self.session.gate.sync()
                    {
                        for pending in started.drain(..) {
                            if let Operation::Call(admission) | Operation::Program(admission, _) = pending.operation {
                                admission.release();
                            }
                        }
                        self.end(Outcome::failed(Failure::host(format!("the run cannot be kept: {}", told(&error)))));
                    }
                }
                Err(error) => self.end(outcome_of(&error, self.session.limits())),
            }
        }
    }

    /// One entry into the guest, if there is a reason for one.
    fn advance(&mut self) -> Option<Result<guest::Step, GuestError>> {
        let guest = self.guest.as_mut()?;
        if !self.started {
            self.started = true;
            let hash = blake3::hash(self.script.source.as_bytes()).to_hex();
            let event = Event::Started { run: self.scope.record.run(), script: &self.script.name, hash: &hash };
            if let Err(error) = self.session.gate.audit().write(&event) {
                self.end(Outcome::failed(Failure::host(format!("the run does not start: {}", told(&error)))));
                return None;
            }
            return Some(guest.start(&self.script, self.found.take(), now()));
        }
        let (mut completion, edits) = self.queue.pop_front()?;
        self.outstanding.remove(&completion.id);
        if let Err(error) = guest.change_files(&edits) {
            completion.result = Err(unfit("a tool", &error));
        }
        Some(guest.resume(completion, now()))
    }

    /// Takes an operation on; a call that the gate refuses is answered at once.
    fn admit(&mut self, pending: guest::Pending) -> Option<Pending> {
        let id = pending.id;
        let mut call = None;
        let operation = match pending.operation {
            guest::Operation::Call { method, arguments } => match self.judge(&method, &arguments) {
                Ok(admission) => {
                    call = Some((admission.seq, self.interrupt.child()));
                    Operation::Call(admission)
                }
                Err(failure) => return self.refuse(id, failure),
            },
            guest::Operation::Run(run) => {
                let interrupt = self.interrupt.child();
                match self.judge_program(id, &run, &interrupt) {
                    Ok((admission, program)) => {
                        call = Some((admission.seq, interrupt));
                        Operation::Program(admission, program)
                    }
                    Err(failure) => return self.refuse(id, failure),
                }
            }
            guest::Operation::Write { stream, bytes, end } => Operation::Write { stream, bytes, end },
            guest::Operation::Read { stream, limit } => Operation::Read { stream, limit },
            guest::Operation::Sleep(duration) => Operation::Sleep(duration),
        };
        self.outstanding.insert(id, Outstanding { call });
        Some(Pending { id, operation })
    }

    /// Asks the gate.
    fn judge(&self, method: &str, arguments: &str) -> Result<Admission, Failure> {
        // A human takes the time that a human takes.
        let _paused = self.session.gate.may_ask().then(|| self.interrupt.pause());
        self.session.gate.admit(&self.scope.record, method, arguments)
    }

    /// Asks the gate for a program, and opens its streams.
    fn judge_program(
        &mut self,
        id: OperationId,
        run: &ProgramRun,
        interrupt: &Interrupt,
    ) -> Result<(Admission, ProgramStreams), Failure> {
        let arguments = json!({ ARGUMENTS: run.arguments, DIRECTORY: run.directory });
        let admission = self.judge(&run.method, &arguments.to_string())?;
        let started = match admission.is_program() {
            true => self.streams.start(id, run, interrupt),
            false => Err(Failure::argument(format!("`{}` is no program", run.method))),
        };
        match started {
            Ok(started) => Ok((admission, ProgramStreams(started))),
            Err(failure) => {
                // Given back first: what is settled stays spent in the ledger on disk.
                let seq = admission.seq;
                admission.release();
                self.session.gate.settle(&self.scope.record, seq, CallOutcome::Failed, Some(&failure));
                Err(failure)
            }
        }
    }

    /// Answers at once.
    fn refuse(&mut self, id: OperationId, failure: Failure) -> Option<Pending> {
        self.outstanding.insert(id, Outstanding { call: None });
        self.queue.push_back((Completion { id, result: Err(failure) }, Vec::new()));
        None
    }

    /// The guest no longer wants a completion.
    fn withdraw(&mut self, id: OperationId) {
        self.work.forget(id);
        self.streams.forget(id);
        self.queue.retain(|(completion, _)| completion.id != id);
        if let Some(operation) = self.outstanding.remove(&id)
            && let Some((seq, interrupt)) = operation.call
        {
            interrupt.cancel();
            self.session.gate.settle(&self.scope.record, seq, CallOutcome::Cancelled, None);
        }
    }

    /// Performs an operation; [`Run::wait`] collects what comes of it. Calls go on beside the guest, and beside each other;
    /// the only one that a run waits for is made by `wait` itself.
    pub fn perform(&mut self, pending: Pending) {
        let Pending { id, operation } = pending;
        match operation {
            Operation::Call(admission) => {
                let Some(Outstanding { call: Some((_, interrupt)) }) = self.outstanding.get(&id) else { return };
                let Some(files) = self.guest.as_ref().map(|guest| guest.files().clone()) else { return };
                let context = self.scope.context(&admission, interrupt.clone(), files);
                self.work.call(id, admission, context);
            }
            Operation::Sleep(duration) => self.work.sleep(id, duration),
            Operation::Read { stream: 0, limit } => match &self.input {
                Some(input) => self.work.read(id, Arc::clone(input), limit),
                None => self.resume(Completion { id, result: Ok(Value::Bytes(Vec::new())) }),
            },
            Operation::Program(admission, ProgramStreams(started)) => {
                let Some(Outstanding { call: Some((_, interrupt)) }) = self.outstanding.get(&id) else { return };
                let Some(files) = self.guest.as_ref().map(|guest| guest.files().clone()) else { return };
                let context = self.scope.context(&admission, interrupt.clone(), files);
                self.work.run(id, admission, context, started);
            }
            Operation::Write { stream, bytes, end } => {
                self.streams.write(stream, &bytes, end, self.work.told(id, |()| Value::Nothing));
            }
            Operation::Read { stream, limit } => {
                let told = self.work.told(id, |bytes: Bytes| Value::Bytes(bytes.into()));
                let told = Box::new(move |bytes| told(Ok(bytes)));
                if let Err(failure) = self.streams.read(stream, limit, told) {
                    self.resume(Completion { id, result: Err(failure) });
                }
            }
        }
    }

    /// Takes what came of an operation. The next [`Run::step`] delivers it. What the guest does not wait for, or was
    /// told already, is dropped.
    pub fn resume(&mut self, completion: Completion) {
        self.deliver(completion, Vec::new());
    }

    /// As [`Run::resume`]; the files are changed when the script is told.
    fn deliver(&mut self, completion: Completion, edits: Vec<Edit>) {
        let Some(operation) = self.outstanding.get(&completion.id) else { return };
        if self.queue.iter().any(|(queued, _)| queued.id == completion.id) {
            return;
        }
        if let Some((seq, _)) = &operation.call {
            let outcome = if completion.result.is_ok() { CallOutcome::Ok } else { CallOutcome::Failed };
            self.session.gate.settle(&self.scope.record, *seq, outcome, completion.result.as_ref().err());
        }
        self.queue.push_back((completion, edits));
    }

    /// Waits until something that the guest waits for has ended, or the run must end. Returns at once if there is
    /// already something to deliver.
    pub fn wait(&mut self) {
        while self.queue.is_empty() && self.result.is_none() {
            match self.work.wait(&self.interrupt) {
                News::Called(completion, edits) | News::Made(completion, edits) | News::Exited(completion, edits) => {
                    self.deliver(completion, edits)
                }
                News::Done(completion) | News::Streamed(completion) => self.resume(completion),
                News::Cancelled => self.end(outcome_of(&GuestError::Cancelled, self.session.limits())),
                News::Timeout => self.end(Outcome::failed(out_of_time(self.session.limits()))),
            }
        }
    }

    /// Drives the run to its end: performs all it waits for, as it comes.
    #[must_use]
    pub fn finish(mut self) -> RunResult {
        loop {
            match self.step() {
                Step::Finished(result) => return *result,
                Step::Blocked(started) => {
                    for pending in started {
                        self.perform(pending);
                    }
                    self.wait();
                }
            }
        }
    }

    /// Ends the run: stops what it started, commits its files, writes its result.
    fn end(&mut self, mut outcome: Outcome) {
        let Some(guest) = self.guest.take() else { return };
        let Some(place) = self.place.take() else { return };
        self.interrupt.cancel();
        self.work.end();
        let calls = self.session.gate.close(&self.scope.record);
        let files = guest.files().clone();
        let usage = Usage {
            fuel: outcome.fuel,
            wall_micros: micros(self.begun),
            memory_bytes: guest.memory_bytes(),
            output_bytes: guest.output_bytes(),
            file_bytes: files.usage().bytes,
        };
        drop(guest);
        let captured = self.captured.take().map(|captured| captured.take()).unwrap_or_default();
        if outcome.state.as_ref().is_some_and(|state| state.len() > MAX_STATE_BYTES) {
            outcome = Outcome { fuel: outcome.fuel, ..Outcome::failed(state_too_large()) };
        }
        let left = Left { files, state: outcome.state.take().map(|state| (self.language, state)) };
        let result = RunResult::conclude(&self.session, place, outcome, calls, usage, captured, left);
        self.result = Some(Box::new(result));
    }
}

impl Drop for Run {
    /// A run that is dropped before its end is cancelled: its files and spending are kept, and the session is free.
    fn drop(&mut self) {
        self.end(outcome_of(&GuestError::Cancelled, self.session.limits()));
    }
}

fn state_too_large() -> Failure {
    Failure::limit(
        format!("what the script leaves for the next one is too large: at most {} MiB are kept", MAX_STATE_BYTES >> 20),
        "keep large data in files; what was left before stays",
    )
}
