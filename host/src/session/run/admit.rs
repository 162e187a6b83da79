//! Admission of a guest's operations: each is decided by the gate, refused, started, or left to be performed.

use super::Run;
use super::journaling::digest_of;
use super::outstanding::{OperationKind, OutstandingOperation};
use crate::code::Interrupt;
use crate::error::Failure;
use crate::gate::{Admission, NotAdmitted, RequestedCall};
use crate::guest::{self, Completion, OperationId, ProgramRun, Runnable};
use crate::remedy::Remedy;
use crate::session::guest_process::{self, MAIN, Pid};
use crate::session::nested_scripts;
use crate::session::persistence::JudgedOperation;
use crate::session::step::{Operation, Pending, ProgramStreams};
use crate::tool::CallEffects;

impl Run {
    /// Admits an operation, and returns it if it is still to be performed. The rest is done here: a call that the gate
    /// refuses is answered, and a nested script is started or gets its input.
    pub(super) fn admit(&mut self, pid: Pid, pending: guest::Pending) -> Option<Pending> {
        let pending = self.hold(pid, pending)?;
        let id = pending.id;
        let digest = self.may_defer().then(|| digest_of(&pending.operation)).flatten();
        let interrupt = self.processes.as_mut()?.get(pid)?.interrupt.child();
        let operation = match pending.operation {
            guest::Operation::Call { method, arguments, location } => {
                let call = RequestedCall { method: &method, arguments: &arguments, location: location.as_ref() };
                let judged = self.judge(id, call);
                self.note_deferred(id, &judged, &call);
                return self.admitted(id, judged, interrupt, digest);
            }
            guest::Operation::Run(run) => match run.what {
                Runnable::Program(ref method) => return self.admit_program(id, method, &run, interrupt, digest),
                Runnable::Script { .. } => {
                    self.outstanding.insert(id, OutstandingOperation::new(OperationKind::Script, None, 0));
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
        self.outstanding.insert(id, OutstandingOperation::new(OperationKind::of(&operation), None, 0));
        Some(Pending { id, operation })
    }

    /// Takes the gate's decision about a call: returns the call if it is to be made.
    pub(super) fn admitted(
        &mut self,
        id: OperationId,
        judged: Result<Admission, NotAdmitted>,
        interrupt: Interrupt,
        digest: Option<String>,
    ) -> Option<Pending> {
        let admitted = match judged {
            Ok(admission) => {
                let kind = OperationKind::Call(admission.method().to_owned());
                let call = Some((admission.seq(), interrupt));
                let mut operation = OutstandingOperation::new(kind, call, admission.held_bytes());
                operation.is_pure = self.session.gate.is_pure(admission.method());
                self.outstanding.insert(id, operation);
                Some(Pending { id, operation: Operation::Call(admission) })
            }
            Err(NotAdmitted::Refused(failure)) => self.refuse(id, failure),
            Err(NotAdmitted::Deferred(call)) => {
                self.defer(id, call);
                None
            }
        };
        self.outstanding.set_digest(id, digest);
        admitted
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
            let consent = self.consent(admission.seq());
            self.session.gate.admit_again(&self.scope.record, admission, &self.interrupt, consent)
        };
        let (judged, streams) = match operation {
            Operation::Call(admission) => (judge(admission), None),
            Operation::Program(admission, ProgramStreams(streams)) => (judge(admission), Some(streams)),
            operation => return Some(Pending { id, operation }),
        };
        match (judged, streams) {
            (Ok(admission), None) => Some(Pending { id, operation: Operation::Call(admission) }),
            (Ok(admission), Some(streams)) => {
                Some(Pending { id, operation: Operation::Program(admission, ProgramStreams(streams)) })
            }
            (Err(NotAdmitted::Refused(failure)), _) => self.refuse(id, failure),
            (Err(NotAdmitted::Deferred(call)), None) => {
                self.defer(id, call);
                None
            }
            (Err(NotAdmitted::Deferred(call)), Some(streams)) => {
                self.defer_program(id, call, streams);
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
            let hint = format!("wait for some before more begin, or {}", Remedy::RaiseLimit("pending"));
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
            let hint = format!("wait for some before more begin, or {}", Remedy::RaiseLimit("memory"));
            return Err(Failure::limit(message, hint));
        }
        Ok(())
    }

    /// Starts a nested script.
    fn nest(&mut self, id: OperationId, run: ProgramRun, interrupt: Interrupt) -> Result<(), Failure> {
        let Some(processes) = &mut self.processes else { return Err(Failure::cancelled()) };
        nested_scripts::start(&self.session, processes, &self.seed, id, run, interrupt)
    }

    /// Asks the gate for a decision on a call.
    pub(super) fn judge(&self, id: OperationId, call: RequestedCall<'_>) -> Result<Admission, NotAdmitted> {
        let (gate, record, memory) = (&self.session.gate, &self.scope.record, &self.session.memory);
        if !self.may_defer() {
            return Ok(gate.admit(record, call, memory, &self.interrupt)?);
        }
        self.session.storage.judging(Some(JudgedOperation { id, effect: gate.effect(call.method) }));
        let judged = gate.admit_or_defer(record, call, memory, &self.interrupt);
        self.session.storage.judging(None);
        judged
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
