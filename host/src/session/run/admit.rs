//! Admission of a guest's operations: each is decided by the gate, refused, started, or left to be performed.

use super::Run;
use super::durable::digest_of;
use super::outstanding::{OperationKind, OutstandingOperation};
use crate::code::Interrupt;
use crate::error::{Failure, how_to_raise};
use crate::gate::{Admission, CallOutcome, Consent, NotAdmitted};
use crate::guest::{self, Completion, OperationId, ProgramRun, Runnable, Value};
use crate::session::guest_process::{self, MAIN, Pid};
use crate::session::nested_scripts;
use crate::session::step::{Operation, Pending, ProgramStreams};
use crate::tool::{ARGUMENTS, CallEffects, DIRECTORY, OnComplete, WriteError};

impl Run {
    /// Admits an operation, and returns it if it is still to be performed. The rest is done here: a call that the gate
    /// refuses is answered, and a nested script is started or gets its input.
    pub(super) fn admit(&mut self, pid: Pid, pending: guest::Pending) -> Option<Pending> {
        let pending = self.hold(pid, pending)?;
        let id = pending.id;
        let digest = self.may_defer().then(|| digest_of(&pending.operation)).flatten();
        let interrupt = self.processes.as_mut()?.get(pid)?.interrupt.child();
        let (mut bytes, mut call) = (0, None);
        let operation = match pending.operation {
            guest::Operation::Call { method, arguments } => {
                let judged = self.judge(id, &method, &arguments);
                return self.admitted(id, judged, interrupt, digest);
            }
            guest::Operation::Run(run) => match run.what {
                Runnable::Program(ref method) => match self.judge_program(id, method, &run, &interrupt) {
                    Ok((admission, program)) => {
                        call = Some((admission.seq(), interrupt));
                        bytes = admission.held_bytes();
                        Operation::Program(admission, program)
                    }
                    Err(failure) => return self.refuse(id, failure),
                },
                Runnable::Script { .. } => {
                    self.outstanding.insert(id, OutstandingOperation::new(OperationKind::Script, call, 0));
                    if let Err(failure) = self.nest(id, run, interrupt) {
                        return self.refuse(id, failure);
                    }
                    return None;
                }
            },
            guest::Operation::Write { stream, bytes, end } => return self.write_stream(id, stream, &bytes, end),
            guest::Operation::Read { stream, limit } if stream != 0 || pid != MAIN => {
                return self.read_stream(id, stream, limit);
            }
            guest::Operation::Read { limit, .. } => Operation::Read { limit },
            guest::Operation::Sleep(duration) => Operation::Sleep(duration),
        };
        self.outstanding.insert(id, OutstandingOperation::new(OperationKind::of(&operation), call, bytes));
        Some(Pending { id, operation })
    }

    /// Reads from a stream of a program or between scripts. This is done at once, and not when the run waits: how much is
    /// there then depends only on what the scripts have done, so a replay reads the same.
    fn read_stream(&mut self, id: OperationId, stream: u32, limit: u32) -> Option<Pending> {
        let kind = if stream == 0 { OperationKind::Input } else { OperationKind::Stream };
        self.outstanding.insert(id, OutstandingOperation::new(kind, None, 0));
        let on_complete = self.on_bytes(id);
        let process = self.process_of(id)?;
        if stream == 0 {
            process.stdin()?.read(id, limit, on_complete);
            return None;
        }
        match process.streams.read(id, stream, limit, on_complete) {
            Ok(()) => None,
            Err(failure) => self.refuse(id, failure),
        }
    }

    /// Writes to a program's stream, or to one between scripts, at once.
    fn write_stream(&mut self, id: OperationId, stream: u32, bytes: &[u8], end: bool) -> Option<Pending> {
        self.outstanding.insert(id, OutstandingOperation::new(OperationKind::Stream, None, 0));
        let on_complete: OnComplete<Result<(), WriteError>> = self.work.on_stream(id, |()| Value::Nothing);
        self.process_of(id)?.streams.write(id, stream, bytes, end, on_complete);
        None
    }

    /// Asks the gate again about calls that have not started, because another session has spent the budgets that they
    /// count on. Calls that are refused now are answered.
    pub(super) fn admit_again(&mut self, unpaid: Vec<Pending>) -> Vec<Pending> {
        let admitted = unpaid.iter().filter_map(|pending| pending.operation.admission());
        admitted.for_each(|admission| self.session.gate.release(&self.scope.record, admission));
        unpaid.into_iter().filter_map(|pending| self.judge_again(pending)).collect()
    }

    fn judge_again(&mut self, Pending { id, operation }: Pending) -> Option<Pending> {
        let judge = |admission: Admission| {
            let consent = if admission.is_program() { Consent::Now } else { self.consent(admission.seq()) };
            self.session.gate.admit_again(&self.scope.record, admission, &self.interrupt, consent)
        };
        let judged = match operation {
            Operation::Call(admission) => judge(admission).map(Operation::Call),
            Operation::Program(admission, streams) => {
                judge(admission).map(|admission| Operation::Program(admission, streams))
            }
            operation => Ok(operation),
        };
        match judged {
            Ok(operation) => Some(Pending { id, operation }),
            Err(NotAdmitted::Refused(failure)) => self.refuse(id, failure),
            Err(NotAdmitted::Deferred(call)) => {
                self.defer(id, call);
                None
            }
        }
    }

    /// Checks the limits on operations that a guest waits for. All of them are checked before the gate is asked, so
    /// none is performed if one exceeds a limit.
    pub(super) fn may_wait(&self, pid: Pid, started: &[guest::Pending]) -> Result<(), Failure> {
        let limits = self.session.limits();
        let all = self.outstanding.len() + started.len();
        let others = || self.outstanding.keys().filter(|id| guest_process::owner(**id) != pid).count();
        // Counted only when it may matter: a guest that waits for thousands of timers continues with each of them.
        if all as u64 > u64::from(limits.pending) && (all - others()) as u64 > u64::from(limits.pending) {
            let message =
                format!("the limit of {} operations that a script waits for at once is reached", limits.pending);
            let hint = format!("wait for some before more begin, or {}", how_to_raise("pending"));
            return Err(Failure::limit(message, hint));
        }
        // A guest's memory bounds what it requests in one step, but not what it requested in earlier ones. Texts count
        // with their minimum size as values; their real size is counted when they are parsed.
        let texts = started.iter().map(|pending| text_of(&pending.operation)).fold(0, u64::saturating_add);
        let waiting = self.outstanding.bytes();
        let more = if waiting > 0 { texts.saturating_mul(COPIES) } else { texts };
        if texts > 0 && waiting.saturating_add(more) > limits.memory {
            let message =
                format!("the arguments of calls that wait reached the memory limit of {} bytes", limits.memory);
            let hint = format!("wait for some before more begin, or {}", how_to_raise("memory"));
            return Err(Failure::limit(message, hint));
        }
        Ok(())
    }

    /// Starts a nested script.
    fn nest(&mut self, id: OperationId, run: ProgramRun, interrupt: Interrupt) -> Result<(), Failure> {
        let Some(processes) = &mut self.processes else { return Err(Failure::cancelled()) };
        nested_scripts::start(&self.session, processes, &[self.scope.record.run()], id, run, interrupt)
    }

    /// Asks the gate for a decision on a call.
    fn judge(&self, id: OperationId, method: &str, arguments: &str) -> Result<Admission, NotAdmitted> {
        let (gate, record, memory) = (&self.session.gate, &self.scope.record, &self.session.memory);
        if !self.may_defer() {
            return Ok(gate.admit(record, method, arguments, memory, &self.interrupt)?);
        }
        self.session.storage.judging(Some(id));
        let judged = gate.admit_or_defer(record, method, arguments, memory, &self.interrupt);
        self.session.storage.judging(None);
        judged
    }

    /// Asks the gate for a decision on a program, and opens its streams.
    fn judge_program(
        &mut self,
        id: OperationId,
        method: &str,
        run: &ProgramRun,
        interrupt: &Interrupt,
    ) -> Result<(Admission, ProgramStreams), Failure> {
        let arguments = serde_json::json!({ ARGUMENTS: run.arguments, DIRECTORY: run.directory });
        let (gate, memory) = (&self.session.gate, &self.session.memory);
        let admission = gate.admit(&self.scope.record, method, &arguments.to_string(), memory, &self.interrupt)?;
        self.break_journal(&format!("ran the program `{method}`"));
        let process = self.processes.as_mut().and_then(|processes| processes.get(guest_process::owner(id)));
        let started = match process {
            Some(process) if admission.is_program() => {
                process.streams.start(id, run, interrupt, self.session.limits().processes, &self.session.memory)
            }
            _ => Err(Failure::argument(format!("`{method}` is not a program"))),
        };
        match started {
            Ok(started) => Ok((admission, ProgramStreams(started))),
            Err(failure) => {
                // Released first: a settled amount stays spent in the ledger on disk.
                let seq = admission.seq();
                self.session.gate.release(&self.scope.record, &admission);
                self.session.gate.settle(&self.scope.record, seq, CallOutcome::Failed, Some(&failure));
                Err(failure)
            }
        }
    }

    /// Answers an operation with a failure at once.
    pub(super) fn refuse(&mut self, id: OperationId, failure: Failure) -> Option<Pending> {
        self.outstanding.insert(id, OutstandingOperation::new(OperationKind::Refused, None, 0));
        self.queue.push_back((Completion { id, result: Err(failure) }, CallEffects::default()));
        None
    }
}

/// Number of copies of a call's arguments that the host holds at least, as the gate counts them.
const COPIES: u64 = 2;

/// Returns the length of a call's arguments, in bytes.
fn text_of(operation: &guest::Operation) -> u64 {
    match operation {
        guest::Operation::Call { arguments, .. } => arguments.len() as u64,
        _ => 0,
    }
}
