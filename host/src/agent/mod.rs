//! Components that call tools: agents, which are programs (`wasi:cli/command`) that import tools by their WIT names, and
//! tools that import other tools.
//!
//! Each import is satisfied from what the session has mounted, and every function of it leads to the gate. An import that
//! no mounted package exports, that has other types, or that no grant covers, is an error before anything runs.
//!
//! **Invariant:** an agent reaches a tool only through [`Gate::admit`](crate::gate::Gate::admit).

mod import;
mod peers;
mod same;
mod stdin;
mod stdio;

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tollhouse_engine::WASM_STACK;
use wasmtime::Store;
use wasmtime::component::Component;
use wasmtime_wasi::I32Exit;
use wasmtime_wasi::p2::bindings::sync::Command;

use self::stdin::Input;
use self::stdio::Written;
use crate::code::{self, Interrupt, MemoryAccount, NoRoom, Stopped, with_stack};
use crate::error::Failure;
use crate::gate::{Admission, Gate, Record};
use crate::guest::{Output, OutputError, Stream};
use crate::tool::{CallContext, ToolState, Working, agent_linker, unread};

/// What an agent is started with.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Its name, `argv[0]`.
    pub name: String,
    /// Its further arguments.
    pub arguments: Vec<String>,
    /// Its environment.
    pub environment: Vec<(String, String)>,
}

/// What a program exports.
const RUN: &str = "wasi:cli/run@";

/// Makes what a call brings along.
pub(crate) type MakeContext = Box<dyn Fn(&Admission) -> CallContext + Send + Sync>;

/// A component that calls tools, as its imports see it: an agent, or a tool during a call.
pub(crate) struct Caller {
    pub(crate) gate: Arc<Gate>,
    pub(crate) record: Record,
    pub(crate) context: MakeContext,
    /// The run's, or the call's.
    pub(crate) interrupt: Interrupt,
    /// Its own files, which calls see and change.
    pub(crate) working: Working,
    /// Its session's memory.
    pub(crate) memory: MemoryAccount,
}

/// How an agent ended.
pub(crate) struct Ended {
    /// The exit status, or why there is none.
    pub(crate) result: Result<u8, Ending>,
    /// The most bytes of memory that it had.
    pub(crate) memory: u64,
}

/// Why an agent ended before its end.
pub(crate) enum Ending {
    /// It was stopped.
    Stopped(Stopped),
    /// It wanted more memory than it may have.
    Memory,
    /// Its output was refused.
    Output(OutputError),
    /// It cannot be linked, a call failed that it cannot be told about, or it trapped.
    Failed(Failure),
}

/// An agent, linked and ready to run.
pub(crate) struct Agent {
    component: Component,
    linker: wasmtime::component::Linker<ToolState>,
}

impl Agent {
    /// Links an agent: WASI without authority, and each other import with what the session has mounted.
    ///
    /// # Errors
    /// The first import that cannot be satisfied.
    pub(crate) fn link(component: Component, caller: &Arc<Caller>) -> Result<Self, Failure> {
        let engine = component.engine().clone();
        let mut linker = agent_linker(&engine, &component)
            .map_err(|error| Failure::host(format!("cannot link the agent: {error:#}")))?;
        for (name, item) in component.component_type().imports(&engine) {
            if !name.starts_with("wasi:") {
                import::define(&mut linker, &engine, name, &item.ty, caller)?;
            }
        }
        if !component.component_type().exports(&engine).any(|(name, _)| name.starts_with(RUN)) {
            return Err(Failure::argument("it exports no `wasi:cli/run`, as a program does")
                .with_hint("build a binary (`fn main`) for wasm32-wasip2; a tool is published, not run"));
        }
        Ok(Self { component, linker })
    }

    /// Runs it to its end, on this thread.
    pub(crate) fn run(
        &self,
        program: &Program,
        stdin: Box<dyn Read + Send>,
        output: &Arc<Mutex<Output>>,
        context: &CallContext,
    ) -> Ended {
        let state = ToolState::with(context, context.memory.limit(), |wasi| {
            wasi.stdin(Input::new(stdin, context.interrupt.clone()))
                .stdout(Written::new(output, Stream::Stdout))
                .stderr(Written::new(output, Stream::Stderr))
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
        // Whatever the end, what it wrote is written.
        let changed = store.data_mut().end().map(|edits| context.changed(edits));
        let state = store.data();
        let result = match ran {
            Ok(_) if let Err(errno) = changed => Err(Ending::Failed(unread(&program.name, errno))),
            Ok(Ok(())) => Ok(0),
            Ok(Err(())) => Ok(1),
            Err(error) => ending(&error, state.memory.refused.is_some()),
        };
        let result = refused.map_or(result, |refused| Err(Ending::Output(refused)));
        Ended { result, memory: state.memory.used() }
    }
}

fn ending(error: &wasmtime::Error, refused: bool) -> Result<u8, Ending> {
    if let Some(I32Exit(status)) = error.downcast_ref::<I32Exit>() {
        // As a shell sees it: the low eight bits.
        return Ok(u8::try_from(status & 0xff).unwrap_or(1));
    }
    if let Some(stopped) = error.downcast_ref::<Stopped>() {
        return Err(Ending::Stopped(*stopped));
    }
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return Err(Ending::Failed(failure.clone()));
    }
    if let Some(full) = error.downcast_ref::<NoRoom>() {
        return Err(Ending::Failed(full.failure("the agent")));
    }
    if refused {
        return Err(Ending::Memory);
    }
    Err(Ending::Failed(Failure::trap(format!("the agent trapped: {}", error.root_cause()))))
}
