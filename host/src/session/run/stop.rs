//! Cancellation of operations and of nested scripts before their end.

use super::Run;
use super::outstanding::OutstandingOperation;
use crate::error::Failure;
use crate::gate::CallOutcome;
use crate::guest::{Completion, OperationId, Outcome, Value};
use crate::session::guest_process::{self, MAIN, Pid};
use crate::tool::{WorkingFiles, cannot_apply_changes, cannot_read_changes};
use crate::vfs::Tree;

impl Run {
    /// Cancels an operation whose completion the guest no longer needs.
    pub(super) fn withdraw(&mut self, id: OperationId) {
        self.work.forget(id);
        if let Some(processes) = &mut self.processes {
            if let Some(process) = processes.get(guest_process::owner(id)) {
                process.forget(id);
            }
            if let Some(inner) = processes.child_of(id) {
                self.stop(inner, Outcome::failed(Failure::cancelled()));
            }
        }
        self.forget_held(id);
        self.queue.retain(|(completion, _)| completion.id != id);
        if let Some(OutstandingOperation { call: Some((seq, interrupt)), program, .. }) = self.outstanding.remove(id) {
            interrupt.cancel();
            let unkept = program.and_then(|(found, working)| self.keep(id, &found, &working).err());
            self.session.gate.settle(&self.scope.record, seq, CallOutcome::Cancelled, unkept.as_ref());
        }
    }

    /// Keeps the files that a stopped program has written, as a system would. What it writes before it notices the stop
    /// is lost.
    fn keep(&mut self, id: OperationId, found: &Tree, working: &WorkingFiles) -> Result<(), Failure> {
        let edits = working.changes(found).map_err(|errno| cannot_read_changes("a program", errno))?;
        let Some(processes) = &mut self.processes else { return Ok(()) };
        processes.change_files(&edits).map_err(|error| cannot_apply_changes("a program", &error))?;
        self.record_kept(id, &edits);
        Ok(())
    }

    /// Stops the programs of a run that ends.
    pub(super) fn stop_programs(&mut self) {
        let programs = self.outstanding.iter().filter(|(_, operation)| operation.program.is_some());
        let mut programs: Vec<OperationId> = programs.map(|(id, _)| *id).collect();
        // If two programs changed the same file, the one that started last wins.
        programs.sort_unstable();
        programs.into_iter().for_each(|id| self.withdraw(id));
    }

    /// Removes a nested script with all its operations. Returns the parent's operation and its result.
    fn stop(&mut self, pid: Pid, outcome: Outcome) -> Option<(OperationId, Result<u8, Failure>)> {
        let mut own: Vec<_> = self.outstanding.keys().copied().filter(|id| guest_process::owner(*id) == pid).collect();
        own.sort_unstable();
        own.into_iter().for_each(|id| self.withdraw(id));
        self.processes.as_mut()?.remove(pid, outcome)
    }

    /// Handles the end of a script: the run's own, or a nested one.
    pub(super) fn end_of(&mut self, pid: Pid, outcome: Outcome) {
        if pid == MAIN {
            return self.end(outcome);
        }
        if let Some((id, result)) = self.stop(pid, outcome) {
            self.resume(Completion { id, result: result.map(Value::Exited) });
        }
    }

    /// Returns true if a script has written to a stream that has no reader any more.
    pub(super) fn is_broken(&self, pid: Pid) -> bool {
        self.processes.as_ref().is_some_and(|processes| processes.is_broken(pid))
    }
}
