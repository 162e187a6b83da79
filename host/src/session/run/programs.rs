//! Programs that the scripts of a run start.

use super::Run;
use super::journaling::program_arguments;
use super::outstanding::{OperationKind, OperationStream, OutstandingOperation, ProgramStreamNumbers};
use super::replayed_programs::{Launch, Repetition};
use crate::code::Interrupt;
use crate::error::Failure;
use crate::gate::{Admission, CallOutcome, NotAdmitted, RequestedCall};
use crate::guest::{Completion, OperationId, ProgramRun, Value};
use crate::session::guest_process;
use crate::session::journal::JournalEntry;
use crate::session::step::{Operation, Pending, ProgramStreams};
use crate::tool::{OnComplete, ProgramStart, WriteError};

impl Run {
    /// Asks the gate for a decision on a program, and opens its streams. Returns the program if it is to be run.
    pub(super) fn admit_program(
        &mut self,
        id: OperationId,
        method: &str,
        run: &ProgramRun,
        interrupt: Interrupt,
        digest: Option<String>,
    ) -> Option<Pending> {
        let judged = self.judge(id, RequestedCall::new(method, &program_arguments(run)));
        self.program_judged(id, run, judged, interrupt, digest)
    }

    /// Takes the gate's decision about a program: returns it if it is to be run.
    pub(super) fn program_judged(
        &mut self,
        id: OperationId,
        run: &ProgramRun,
        judged: Result<Admission, NotAdmitted>,
        interrupt: Interrupt,
        digest: Option<String>,
    ) -> Option<Pending> {
        let pending = match judged {
            Ok(admission) => self.program_admitted(id, run, admission, interrupt),
            Err(NotAdmitted::Refused(failure)) => self.refuse(id, failure),
            Err(NotAdmitted::Deferred(call)) => match self.open_streams(id, run, &interrupt) {
                Ok(streams) => {
                    self.defer_program(id, call, streams);
                    None
                }
                Err(failure) => {
                    let why = "has no room for its streams";
                    drop(self.session.gate.refuse_deferred(&self.scope.record, *call, why));
                    self.refuse(id, failure)
                }
            },
        };
        self.outstanding.set_digest(id, digest);
        pending
    }

    fn program_admitted(
        &mut self,
        id: OperationId,
        run: &ProgramRun,
        admission: Admission,
        interrupt: Interrupt,
    ) -> Option<Pending> {
        let opened = match admission.is_program() {
            true => self.open_streams(id, run, &interrupt),
            false => Err(Failure::argument(format!("`{}` is not a program", admission.method()))),
        };
        match opened {
            Ok(streams) => {
                let kind = OperationKind::Call(admission.method().to_owned());
                let call = Some((admission.seq(), interrupt));
                let mut operation = OutstandingOperation::new(kind, call, admission.held_bytes());
                operation.is_pure = self.session.gate.is_pure(admission.method());
                operation.streams = Some(ProgramStreamNumbers { output: [run.stdout, run.stderr], given: 0 });
                self.outstanding.insert(id, operation);
                Some(Pending { id, operation: Operation::Program(admission, ProgramStreams(streams)) })
            }
            Err(failure) => {
                // Released first: a settled amount stays spent in the ledger on disk.
                let seq = admission.seq();
                self.session.gate.release(&self.scope.record, &admission);
                self.session.gate.settle(&self.scope.record, seq, CallOutcome::Failed, Some(&failure));
                self.refuse(id, failure)
            }
        }
    }

    fn open_streams(
        &mut self,
        id: OperationId,
        run: &ProgramRun,
        interrupt: &Interrupt,
    ) -> Result<ProgramStart, Failure> {
        let (most, memory) = (self.session.limits().processes, &self.session.memory);
        let process = self.processes.as_mut().and_then(|processes| processes.get(guest_process::owner(id)));
        let Some(process) = process else { return Err(Failure::cancelled()) };
        process.streams.start(id, run, interrupt, most, memory)
    }

    /// Returns the files and the time with which a program starts, and records them.
    pub(super) fn launch(&mut self, id: OperationId) -> Option<Launch> {
        if let Some(launch) = self.outstanding.take_launch(id) {
            return Some(launch);
        }
        let launch = Launch { files: self.processes.as_ref()?.files().clone(), now: self.now() };
        self.record(&JournalEntry::Launched { id, now: launch.now });
        Some(launch)
    }

    /// Gives a program that runs again what it had been given, and drops the output that the script has.
    pub(super) fn repeat_program(&mut self, id: OperationId, run: &ProgramRun, repetition: Repetition) {
        let Repetition { launch, streams, abandoned } = repetition;
        let given = streams.input.iter().map(|bytes| bytes.len()).sum();
        self.outstanding.count_given(id, given);
        self.outstanding.set_launch(id, launch);
        let Some(process) = self.process_of(id) else { return };
        process.streams.repeat(run, streams);
        abandoned.into_iter().for_each(|number| process.streams.abandon(number));
    }

    /// Returns true if a program that ran again did not write what it had written before.
    pub(super) fn has_program_diverged(&self, id: OperationId) -> bool {
        let process = self.processes.as_ref().and_then(|processes| processes.process(guest_process::owner(id)));
        process.is_some_and(|process| process.streams.differs(id))
    }

    /// Opens the streams of programs that have ended in a replay, as far as scripts have not read them.
    pub(super) fn open_unread(&mut self) {
        let Some(journal) = &mut self.journal else { return };
        for stream in journal.programs.take_unread() {
            let process = self.processes.as_mut().and_then(|all| all.get(guest_process::owner(stream.program)));
            if let Some(process) = process {
                let interrupt = process.interrupt.child();
                let memory = &self.session.memory;
                process.streams.restore_ended(stream.program, stream.number, &stream.bytes, &interrupt, memory);
            }
        }
    }

    /// Opens the streams of a program of which a human said how it ended: what it wrote is lost.
    pub(super) fn open_ended(&mut self, id: OperationId, run: &ProgramRun) {
        let memory = self.session.memory.clone();
        let Some(process) = self.process_of(id) else { return };
        let interrupt = process.interrupt.child();
        for number in [run.stdout, run.stderr] {
            process.streams.restore_ended(id, number, &[], &interrupt, &memory);
        }
    }

    /// Reads from a stream of a program or between scripts. This is done at once, and not when the run waits: how much is
    /// there between scripts then depends only on what the scripts have done, so a replay reads the same.
    pub(super) fn read_stream(&mut self, id: OperationId, number: u32, limit: u32) -> Option<Pending> {
        let process = self.process_of(id)?;
        let is_of_script = number == 0 || process.streams.is_of_script(number);
        let kind = if number == 0 { OperationKind::Input } else { OperationKind::Stream };
        let stream = OperationStream { number, is_of_script };
        self.outstanding.insert(id, OutstandingOperation::on_stream(kind, stream));
        let on_complete = self.on_bytes(id);
        let process = self.process_of(id)?;
        if number == 0 {
            process.stdin()?.read(id, limit, on_complete);
            return None;
        }
        match process.streams.read(id, number, limit, on_complete) {
            Ok(()) => None,
            Err(failure) => self.refuse(id, failure),
        }
    }

    /// Writes to a program's stream, or to one between scripts, at once.
    pub(super) fn write_stream(&mut self, id: OperationId, number: u32, bytes: &[u8], end: bool) -> Option<Pending> {
        let process = self.process_of(id)?;
        let stream = OperationStream { number, is_of_script: process.streams.is_of_script(number) };
        let program = process.streams.program_with_input(number);
        self.outstanding.insert(id, OutstandingOperation::on_stream(OperationKind::Stream, stream));
        let on_complete = self.on_written(id);
        self.process_of(id)?.streams.write(id, number, bytes, end, on_complete);
        if let Some(program) = program {
            self.outstanding.count_given(program, bytes.len());
        }
        None
    }

    /// Waits for the end of a write to a program's stream that was started in a replay.
    pub(super) fn await_write(&mut self, id: OperationId, number: u32, end: bool) {
        if end {
            return self.resume(Completion { id, result: Ok(Value::Nothing) });
        }
        let on_complete = self.on_written(id);
        if let Some(process) = self.process_of(id) {
            process.streams.await_taken(id, number, on_complete);
        }
    }

    /// Returns the callback that ends a write to a stream.
    fn on_written(&self, id: OperationId) -> OnComplete<Result<(), WriteError>> {
        self.work.on_stream(id, |()| Value::Nothing)
    }

    /// Notes that a guest has what an operation read from a stream.
    pub(super) fn confirm_read(&mut self, id: OperationId, stream: OperationStream) {
        let Some(process) = self.process_of(id) else { return };
        match stream.number {
            0 => drop(process.stdin().map(|stdin| stdin.confirm(id))),
            number => process.streams.confirm(number, id),
        }
    }
}
