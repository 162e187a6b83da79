//! What a guest asks for, taken on: judged by the gate, refused, begun, or left to be performed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Run;
use super::outstanding::Outstanding;
use crate::code::{CodeError, Interrupt};
use crate::error::{Failure, error_chain, how_to_raise};
use crate::gate::{Admission, CallOutcome};
use crate::guest::{self, Completion, OperationId, ProgramRun, Runnable, Script, Together};
use crate::session::process::{self, Beginning, MAIN, Pid, Process};
use crate::session::state::SessionState;
use crate::session::step::{Operation, Pending, ProgramStreams};
use crate::tool::{ARGUMENTS, CallEffects, DIRECTORY};
use crate::vfs::Tree;

impl Run {
    /// Takes an operation on, to be performed; what needs no other hand is done here: a call that the gate refuses is
    /// answered, a script that another one runs begins, and reads.
    pub(super) fn admit(&mut self, pid: Pid, pending: guest::Pending) -> Option<Pending> {
        let id = pending.id;
        let interrupt = self.processes.as_mut()?.get(pid)?.interrupt.child();
        let (mut bytes, mut call) = (0, None);
        let operation = match pending.operation {
            guest::Operation::Call { method, arguments } => match self.judge(&method, &arguments) {
                Ok(admission) => {
                    call = Some((admission.seq(), interrupt));
                    bytes = admission.held_bytes();
                    Operation::Call(admission)
                }
                Err(failure) => return self.refuse(id, failure),
            },
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
                    self.outstanding.insert(id, Outstanding::new(call, 0));
                    if let Err(failure) = self.nest(id, run, interrupt) {
                        return self.refuse(id, failure);
                    }
                    return None;
                }
            },
            guest::Operation::Write { stream, bytes, end } => Operation::Write { stream, bytes, end },
            guest::Operation::Read { stream: 0, limit } if pid != MAIN => {
                self.outstanding.insert(id, Outstanding::new(call, 0));
                let told = self.told_bytes(id);
                self.processes.as_mut()?.get(pid)?.stdin()?.read(id, limit, told);
                return None;
            }
            guest::Operation::Read { stream, limit } => Operation::Read { stream, limit },
            guest::Operation::Sleep(duration) => Operation::Sleep(duration),
        };
        self.outstanding.insert(id, Outstanding::new(call, bytes));
        Some(Pending { id, operation })
    }

    /// Judges calls again, none of which has started, since another session has spent what they were to be paid from. Those that
    /// are refused now are answered.
    pub(super) fn admit_again(&mut self, unpaid: Vec<Pending>) -> Vec<Pending> {
        unpaid.iter().filter_map(|pending| pending.operation.admission()).for_each(Admission::give_back);
        unpaid.into_iter().filter_map(|pending| self.judge_again(pending)).collect()
    }

    fn judge_again(&mut self, Pending { id, operation }: Pending) -> Option<Pending> {
        let judge = |admission| self.session.gate.admit_again(&self.scope.record, admission, &self.interrupt);
        let judged = match operation {
            Operation::Call(admission) => judge(admission).map(Operation::Call),
            Operation::Program(admission, streams) => {
                judge(admission).map(|admission| Operation::Program(admission, streams))
            }
            operation => Ok(operation),
        };
        match judged {
            Ok(operation) => Some(Pending { id, operation }),
            Err(failure) => self.refuse(id, failure),
        }
    }

    /// Whether a guest may wait for these too. Before any of them is judged: none of them is made.
    pub(super) fn may_wait(&self, pid: Pid, started: &[guest::Pending]) -> Result<(), Failure> {
        let limits = self.session.limits();
        let all = self.outstanding.len() + started.len();
        let others = || self.outstanding.keys().filter(|id| process::owner(**id) != pid).count();
        // Counted only when it may matter: a guest that waits for thousands of timers goes on with each of them.
        if all as u64 > u64::from(limits.pending) && (all - others()) as u64 > u64::from(limits.pending) {
            let message =
                format!("the limit of {} operations that a script waits for at once is reached", limits.pending);
            let hint = format!("wait for some before more begin, or {}", how_to_raise("pending"));
            return Err(Failure::limit(message, hint));
        }
        // A guest's memory bounds what it asks for in one step, and not what it asked for in those before. Texts count as
        // what they become at least; what they do become is counted when they are read.
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

    /// Begins a script that another one runs: the same files, grants and budgets, and a guest of its own.
    fn nest(&mut self, id: OperationId, run: ProgramRun, interrupt: Interrupt) -> Result<(), Failure> {
        let Some(processes) = &mut self.processes else { return Err(Failure::cancelled()) };
        let pid = process::owner(id);
        processes.room_within(pid)?;
        let Some(parent) = processes.get(pid) else { return Err(Failure::cancelled()) };
        let streams =
            parent.streams.start(id, &run, &interrupt, self.session.limits().processes, &self.session.memory)?;
        let Runnable::Script { language, source, name } = run.what else {
            return Err(Failure::argument("a program is no script"));
        };
        let output = guest::Output::new(process::sink(&streams), self.session.limits().output);
        let numbers = [self.scope.record.run(), u64::from(processes.next())];
        let world = world(&self.session, processes.together(), process::no_files(), output, &numbers, &interrupt);
        let patience =
            self.interrupt.deadline().map_or(Duration::MAX, |at| at.saturating_duration_since(Instant::now()));
        // Loading a guest for the first time takes none of the run's time.
        let paused = self.interrupt.pause();
        let guest = self.session.guests().instantiate(language, world, patience);
        drop(paused);
        let guest = guest.map_err(|error| match error {
            CodeError::Full(full) => full.failure(&format!("`{name}`")),
            error => Failure::host(format!("`{name}` does not start: {}", error_chain(&error))),
        })?;
        // A nested script is given as text: `shell(…)`, `node -e`.
        let (arguments, environment) = (run.arguments, run.environment);
        let script = Script { source, name, from_file: false, arguments, environment, typed: None };
        let beginning = Beginning { script, directory: run.directory, found: None };
        processes.add(id, streams, Process::new(guest, language, beginning, interrupt));
        Ok(())
    }

    /// Asks the gate.
    fn judge(&self, method: &str, arguments: &str) -> Result<Admission, Failure> {
        self.session.gate.admit(&self.scope.record, method, arguments, &self.session.memory, &self.interrupt)
    }

    /// Asks the gate for a program, and opens its streams.
    fn judge_program(
        &mut self,
        id: OperationId,
        method: &str,
        run: &ProgramRun,
        interrupt: &Interrupt,
    ) -> Result<(Admission, ProgramStreams), Failure> {
        let arguments = serde_json::json!({ ARGUMENTS: run.arguments, DIRECTORY: run.directory });
        let admission = self.judge(method, &arguments.to_string())?;
        let process = self.processes.as_mut().and_then(|processes| processes.get(process::owner(id)));
        let started = match process {
            Some(process) if admission.is_program() => {
                process.streams.start(id, run, interrupt, self.session.limits().processes, &self.session.memory)
            }
            _ => Err(Failure::argument(format!("`{method}` is no program"))),
        };
        match started {
            Ok(started) => Ok((admission, ProgramStreams(started))),
            Err(failure) => {
                // Given back first: what is settled stays spent in the ledger on disk.
                let seq = admission.seq();
                admission.release();
                self.session.gate.settle(&self.scope.record, seq, CallOutcome::Failed, Some(&failure));
                Err(failure)
            }
        }
    }

    /// Answers at once.
    fn refuse(&mut self, id: OperationId, failure: Failure) -> Option<Pending> {
        self.outstanding.insert(id, Outstanding::new(None, 0));
        self.queue.push_back((Completion { id, result: Err(failure) }, CallEffects::default()));
        None
    }
}

/// Copies of a call's arguments that the host holds at least, as the gate counts them.
const COPIES: u64 = 2;

/// Returns the bytes of the text of a call's arguments.
fn text_of(operation: &guest::Operation) -> u64 {
    match operation {
        guest::Operation::Call { arguments, .. } => arguments.len() as u64,
        _ => 0,
    }
}

/// What a guest of this session is given besides its script.
pub(super) fn world(
    session: &SessionState,
    together: &Together,
    files: Tree,
    output: guest::Output,
    numbers: &[u64],
    interrupt: &Interrupt,
) -> guest::World {
    guest::World {
        files,
        output,
        catalog: Arc::clone(&session.catalog),
        together: together.clone(),
        seed: session.seed("guest", numbers),
        interrupt: interrupt.clone(),
    }
}
