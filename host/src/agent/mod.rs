//! Components that call tools: agents, which are programs (`wasi:cli/command`) that import tools by their WIT names,
//! and tools that import other tools.
//!
//! Each import is satisfied from the session's mounted packages, and every function of it goes through the gate. It is
//! an error before anything runs if no mounted package exports an import, if its types differ, or if no grant covers
//! it.
//!
//! **Invariant:** an agent reaches a tool only through the gate (`SessionGate::admit`).

mod import;
mod stdin;
mod stdio;
mod tool_imports;
mod type_check;

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tollhouse_engine::WASM_STACK;
use wasmtime::Store;
use wasmtime::component::Component;
use wasmtime_wasi::I32Exit;
use wasmtime_wasi::p2::bindings::sync::Command;

use self::stdin::AgentStdin;
use self::stdio::AgentOutput;
use crate::code::{self, Interrupt, MemoryAccount, NoRoom, Stopped, with_stack};
use crate::error::Failure;
use crate::gate::{Admission, AdmittedCall, RunRecord, SessionGate};
use crate::guest::{Output, OutputError, Stream};
use crate::tool::{CallContext, ToolState, WorkingFiles, agent_linker, cannot_read_changes};

/// Name, arguments and environment that an agent is started with.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The program's name, `argv[0]`.
    pub name: String,
    /// The arguments that follow the name.
    pub arguments: Vec<String>,
    /// Environment variables of the program.
    pub environment: Vec<(String, String)>,
}

/// Export that makes a component a program, without its version.
const RUN: &str = "wasi:cli/run@";

/// Function that prepares an admitted call: finds its tool, and makes its context.
pub(crate) type PrepareCall = Box<dyn Fn(Admission) -> AdmittedCall + Send + Sync>;

/// Component that calls tools, as its imports see it: an agent, or a tool during a call.
pub(crate) struct ToolCaller {
    pub(crate) gate: Arc<SessionGate>,
    pub(crate) record: RunRecord,
    pub(crate) prepare: PrepareCall,
    /// Interrupt of the run or the call.
    pub(crate) interrupt: Interrupt,
    /// Files of the component, which its calls see and change.
    pub(crate) working: WorkingFiles,
    /// Memory account of the session.
    pub(crate) memory: MemoryAccount,
}

/// Outcome of an agent.
pub(crate) struct AgentOutcome {
    /// Exit status, or the reason why there is none.
    pub(crate) result: Result<u8, AgentError>,
    /// Peak memory in bytes.
    pub(crate) memory: u64,
}

/// Reason why an agent did not run to its end.
pub(crate) enum AgentError {
    /// The agent was stopped.
    Stopped(Stopped),
    /// The agent requested more memory than its limit.
    Memory,
    /// The output of the agent was refused.
    Output(OutputError),
    /// The agent cannot be linked, it trapped, or a call failed in a way that its types cannot express.
    Failed(Failure),
}

/// Agent that is linked and ready to run.
pub(crate) struct LinkedAgent {
    component: Component,
    linker: wasmtime::component::Linker<ToolState>,
}

impl LinkedAgent {
    /// Links an agent: WASI without authority, and each other import to a mounted tool.
    ///
    /// # Errors
    /// The first import that cannot be satisfied.
    pub(crate) fn link(component: Component, caller: &Arc<ToolCaller>) -> Result<Self, Failure> {
        let engine = component.engine().clone();
        let mut linker = agent_linker(&engine, &component)
            .map_err(|error| Failure::host(format!("cannot link the agent: {error:#}")))?;
        for (name, item) in component.component_type().imports(&engine) {
            if !name.starts_with("wasi:") {
                import::define(&mut linker, &engine, name, &item.ty, caller)?;
            }
        }
        if !component.component_type().exports(&engine).any(|(name, _)| name.starts_with(RUN)) {
            return Err(Failure::argument("it is not a program: it does not export `wasi:cli/run`")
                .with_hint("build a binary (`fn main`) for wasm32-wasip2; a tool is published, not run"));
        }
        Ok(Self { component, linker })
    }

    /// Runs the agent to its end, on this thread.
    pub(crate) fn run(
        &self,
        program: &Program,
        stdin: Box<dyn Read + Send>,
        output: &Arc<Mutex<Output>>,
        context: &CallContext,
    ) -> AgentOutcome {
        let state = ToolState::with(context, context.memory.limit(), |wasi| {
            wasi.stdin(AgentStdin::new(stdin, context.interrupt.clone()))
                .stdout(AgentOutput::new(output, Stream::Stdout))
                .stderr(AgentOutput::new(output, Stream::Stderr))
                .arg(&program.name)
                .args(&program.arguments)
                .envs(&program.environment);
        });
        let mut store = Store::new(self.component.engine(), state);
        store.limiter(|state| &mut state.memory);
        context.interrupt.watch(&mut store);
        let ran = with_stack(WASM_STACK, || {
            let command = code::instantiate(&context.interrupt, Duration::MAX, || {
                Command::instantiate(&mut store, &self.component, &self.linker)
            })?;
            command.wasi_cli_run().call_run(&mut store)
        });
        let refused = output.lock().unwrap_or_else(PoisonError::into_inner).refused().cloned();
        // Changes to files are kept whatever the outcome.
        let changed = store.data_mut().end().map(|edits| context.changed(edits));
        let state = store.data();
        let result = match ran {
            Ok(_) if let Err(errno) = changed => Err(AgentError::Failed(cannot_read_changes(&program.name, errno))),
            Ok(Ok(())) => Ok(0),
            Ok(Err(())) => Ok(1),
            Err(error) => ending(&error, state.memory.refused.is_some()),
        };
        let result = refused.map_or(result, |refused| Err(AgentError::Output(refused)));
        AgentOutcome { result, memory: state.memory.used() }
    }
}

fn ending(error: &wasmtime::Error, refused: bool) -> Result<u8, AgentError> {
    if let Some(I32Exit(status)) = error.downcast_ref::<I32Exit>() {
        // As a shell reports it: the low eight bits.
        return Ok(u8::try_from(status & 0xff).unwrap_or(1));
    }
    if let Some(stopped) = error.downcast_ref::<Stopped>() {
        return Err(AgentError::Stopped(*stopped));
    }
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return Err(AgentError::Failed(failure.clone()));
    }
    if let Some(full) = error.downcast_ref::<NoRoom>() {
        return Err(AgentError::Failed(full.failure("the agent")));
    }
    if refused {
        return Err(AgentError::Memory);
    }
    Err(AgentError::Failed(Failure::trap(format!("the agent trapped: {}", error.root_cause()))))
}
