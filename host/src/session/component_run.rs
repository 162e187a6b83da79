//! Runs of agents that are components.
//!
//! Such an agent imports tools and calls them one after another on the run's own thread. It waits inside a host call,
//! which cancellation interrupts, so the run has no steps; it is run to its end.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::options::{CapturedOutput, RunOptions, Stdin};
use super::result::{EndedRun, RunResult, Usage, outcome_of};
use super::run_scope::RunScope;
use super::session_state::{SessionState, micros};
use super::session_storage::RunSlot;
use crate::agent::{AgentError, LinkedAgent, Program, ToolCaller};
use crate::code::{Interrupt, Stopped};
use crate::error::{ErrorKind, Failure, error_chain};
use crate::gate::{Audit as _, Event};
use crate::guest::{GuestError, Outcome, Output};
use crate::tool::WorkingFiles;

/// One execution of an agent that is a component. Nothing runs before [`ComponentRun::finish`].
pub struct ComponentRun {
    session: Arc<SessionState>,
    /// Always set until the run ends.
    slot: Option<RunSlot>,
    number: u64,
    component: Vec<u8>,
    program: Program,
    options: RunOptions,
    interrupt: Interrupt,
    /// Time at which the agent started; compiling and linking come before.
    started_at: Option<Instant>,
}

impl ComponentRun {
    pub(super) fn new(
        session: Arc<SessionState>,
        slot: RunSlot,
        component: Vec<u8>,
        program: Program,
        options: RunOptions,
    ) -> Self {
        let number = slot.number();
        Self {
            session,
            slot: Some(slot),
            number,
            component,
            program,
            options,
            interrupt: Interrupt::default(),
            started_at: None,
        }
    }

    /// Returns a handle that stops this run from another thread: [`Interrupt::cancel`].
    #[must_use]
    pub fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }

    /// Links the agent and runs it to its end.
    #[must_use]
    pub fn finish(mut self) -> RunResult {
        let options = std::mem::take(&mut self.options);
        let captured = options.output.is_none().then(CapturedOutput::default);
        let sink = options.output.unwrap_or_else(|| Box::new(captured.clone().unwrap_or_default()));
        let output = Arc::new(Mutex::new(Output::new(sink, self.session.limits().output)));
        let caller = Arc::new(self.caller());
        let full = self.interrupt.clone();
        caller.record.log().on_full(move || full.cancel());
        let interrupt = self.interrupt.clone();
        let _stoppable = self.session.storage.stoppable(move || interrupt.cancel());
        let (outcome, memory_bytes) = match self.execute(&caller, options.stdin, &output) {
            Ok((exit_code, memory)) => (exited(exit_code), memory),
            Err((ending, memory)) => (self.outcome(ending), memory),
        };
        self.interrupt.cancel();
        let calls = self.session.gate.close(&caller.record);
        let outcome = caller.record.log_failure().map_or(outcome, Outcome::failed);
        let files = self.session.head();
        let usage = Usage {
            fuel: 0,
            wall_micros: self.started_at.map_or(0, micros),
            memory_bytes,
            output_bytes: output.lock().unwrap_or_else(PoisonError::into_inner).written(),
            file_bytes: files.usage().bytes,
        };
        let captured = captured.map(|captured| captured.take()).unwrap_or_default();
        let slot = self.slot.take().expect("a run ends once: this takes it");
        self.session.conclude(slot, EndedRun { outcome, calls, usage, captured }, files.into())
    }

    /// Creates the caller whose imports the agent uses.
    fn caller(&self) -> ToolCaller {
        let scope = RunScope::new(&self.session, self.number);
        scope.caller(&self.session.gate, self.interrupt.clone(), WorkingFiles::default(), self.session.head())
    }

    fn execute(
        &mut self,
        caller: &Arc<ToolCaller>,
        stdin: Stdin,
        output: &Arc<Mutex<Output>>,
    ) -> Result<(u8, u64), (AgentError, u64)> {
        let failed = |failure: Failure| (AgentError::Failed(failure), 0);
        let digest = blake3::hash(&self.component).to_hex();
        let started = Event::Started { run: self.number, script: &self.program.name, hash: &digest };
        let written = caller.record.log().write(&started);
        written.map_err(|error| failed(Failure::host(format!("the run does not start: {}", error_chain(&error)))))?;
        let component = self.session.compile_agent(&digest, &self.component);
        let component = component.map_err(|error| {
            failed(Failure::argument(format!("the component is not an agent: {}", error_chain(&error))))
        })?;
        let agent = LinkedAgent::link(component, caller).map_err(failed)?;
        let stdin: Box<dyn Read + Send> = match stdin {
            Stdin::Empty | Stdin::OfDriver => Box::new(io::empty()),
            Stdin::Bytes(bytes) => Box::new(io::Cursor::new(bytes)),
            Stdin::Reader(reader) => reader,
        };
        // Not earlier: compiling must not count against the run's time.
        let started_at = *self.started_at.insert(Instant::now());
        if let Some(deadline) = started_at.checked_add(self.session.limits().wall) {
            self.interrupt.set_deadline(deadline);
        }
        let context = RunScope::with_record(&self.session, caller.record.clone())
            .agent_context(self.interrupt.clone(), caller.working.clone());
        let ended = agent.run(&self.program, stdin, output, &context);
        // The agent started with the head, which has limits, so its changes fit.
        let _ = self.session.change(&context.edits());
        ended.result.map(|status| (status, ended.memory)).map_err(|ending| (ending, ended.memory))
    }

    fn outcome(&self, ending: AgentError) -> Outcome {
        // When the run is stopped, so is the call that it waits for; the run's end counts.
        let ending = match (self.interrupt.stopped(), ending) {
            (Some(stopped), AgentError::Failed(_)) => AgentError::Stopped(stopped),
            (_, ending) => ending,
        };
        let error = match ending {
            AgentError::Failed(failure) => {
                let exit_code = if failure.kind == ErrorKind::Policy { 2 } else { 1 };
                return Outcome { exit_code, ..Outcome::failed(failure) };
            }
            AgentError::Stopped(Stopped::Deadline) => GuestError::Deadline,
            AgentError::Stopped(_) => GuestError::Cancelled,
            AgentError::Memory => GuestError::Memory,
            AgentError::Output(refused) => GuestError::Output(refused),
        };
        outcome_of(&error, self.session.limits())
    }
}

impl Drop for ComponentRun {
    /// Frees the session if the run was never started.
    fn drop(&mut self) {
        if let Some(slot) = &self.slot {
            self.session.withdraw(slot);
        }
    }
}

/// Returns the outcome of an agent that exited by itself.
fn exited(exit_code: u8) -> Outcome {
    let error = (exit_code != 0).then(|| Failure::exit(exit_code));
    Outcome { value: None, exit_code, error, fuel: 0, state: None }
}
