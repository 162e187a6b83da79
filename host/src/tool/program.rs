//! Run of a program: its operating system, its end and its result.
//!
//! A program is a component that exports `wasi:cli/run` (`reflect/program`). It runs in a fresh instance with the
//! imports of any tool, and with arguments, environment, streams and a working directory.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tollhouse_engine::WASM_STACK;
use wasmtime::Store;
use wasmtime_wasi::I32Exit;
use wasmtime_wasi::cli::{StdinStream, StdoutStream};
use wasmtime_wasi::p2::pipe::MemoryInputPipe;

use super::captured_output::CapturedOutput;
use super::instance::FunctionCall;
use super::pipe::{Pipe, PipeReader, PipeWriter};
use super::tool_state::ToolState;
use super::{ARGUMENTS, CallContext, DIRECTORY, PackageFunction, STDIN, Tool, cannot_read_changes, no_memory_for};
use crate::code::{self, with_stack};
use crate::error::{Failure, Payload};
use crate::remedy::limit_hint;

/// Default working directory of a program.
const WORKSPACE: &str = "/workspace";

/// Environment and streams of a program that the shell starts.
pub(crate) struct ProgramStart {
    /// Environment variables of the program.
    pub(crate) environment: Vec<(String, String)>,
    /// Standard input of the program.
    pub(crate) stdin: Pipe,
    /// Standard output of the program.
    pub(crate) stdout: Pipe,
    /// Standard error of the program.
    pub(crate) stderr: Pipe,
}

impl Drop for ProgramStart {
    /// Closes the streams whatever the outcome, so that nobody waits for them.
    fn drop(&mut self) {
        self.stdin.abandon();
        self.stdout.end();
        self.stderr.end();
    }
}

/// Calls a program like any tool: its input is a text, and so is its output.
pub(super) fn call(
    tool: &Tool,
    exported: &PackageFunction,
    arguments: &Value,
    limit: u64,
    context: &CallContext,
) -> Result<Payload, Failure> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let [stdout, stderr] = [0, 1].map(|_| CapturedOutput::bounded(limit, &context.memory));
    let stdin = arguments.get(STDIN).and_then(Value::as_str).unwrap_or_default();
    let program = ProgramRun {
        call: FunctionCall::new(tool, exported, context),
        arguments,
        environment: &[],
        stdin: MemoryInputPipe::new(Bytes::copy_from_slice(stdin.as_bytes())),
        stdout: stdout.clone(),
        stderr: stderr.clone(),
    };
    let status = program.run();
    if stdout.is_short() || stderr.is_short() {
        return Err(no_memory_for(&format!("`{}`: the bytes that it wrote", tool.method()), &context.memory));
    }
    if stdout.is_over() || stderr.is_over() {
        let message = format!("`{}` wrote more than the limit of {limit} bytes", tool.method());
        let is_the_tools = tool.has_own_result(limit as u64);
        return Err(Failure::limit(message, limit_hint("result", is_the_tools)));
    }
    let status = status.map_err(|failure| match stderr.text().trim() {
        "" => failure,
        said => failure.with_hint(format!("the program said: {said}")),
    })?;
    Ok(json!({ "exitCode": status, "stdout": stdout.text(), "stderr": stderr.text() }).into())
}

/// Runs a program with streams.
pub(super) fn run(
    tool: &Tool,
    exported: &PackageFunction,
    arguments: &Value,
    started: &ProgramStart,
    context: &CallContext,
) -> Result<u8, Failure> {
    let program = ProgramRun {
        call: FunctionCall::new(tool, exported, context),
        arguments,
        environment: &started.environment,
        stdin: PipeReader(started.stdin.clone()),
        stdout: PipeWriter(started.stdout.clone()),
        stderr: PipeWriter(started.stderr.clone()),
    };
    program.run()
}

/// Program that is ready to run.
struct ProgramRun<'a, In, Out> {
    call: FunctionCall<'a>,
    /// Arguments, as the gate judged them.
    arguments: &'a Value,
    environment: &'a [(String, String)],
    stdin: In,
    stdout: Out,
    stderr: Out,
}

impl<In: StdinStream + 'static, Out: StdoutStream + 'static> ProgramRun<'_, In, Out> {
    /// Runs the program to its end, on this thread, and returns its exit status.
    fn run(self) -> Result<u8, Failure> {
        let Self { call, arguments, environment, stdin, stdout, stderr } = self;
        let words = arguments.get(ARGUMENTS).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let directory = arguments.get(DIRECTORY).and_then(Value::as_str).unwrap_or(WORKSPACE);
        let loaded = call.loaded()?;
        let mut state = ToolState::with(call.context, call.memory(), |wasi| {
            wasi.stdin(stdin).stdout(stdout).stderr(stderr);
            wasi.arg(call.tool.alias()).initial_cwd(directory).envs(environment);
            wasi.args(&words.iter().filter_map(Value::as_str).collect::<Vec<_>>());
        });
        state.enter(directory);
        let mut store = Store::new(loaded.pre.engine(), state);
        store.limiter(|state| &mut state.memory);
        call.watch(&mut store)?;
        let ran = with_stack(WASM_STACK, || {
            let interrupt = &call.context.interrupt;
            let instance = code::instantiate(interrupt, Duration::MAX, || loaded.pre.instantiate(&mut store))?;
            let run = call.export(&mut store, instance)?.typed::<(), (Result<(), ()>,)>(&store)?;
            run.call(&mut store, ())
        });
        let status = match ran {
            Ok((Ok(()),)) => Ok(0),
            Ok((Err(()),)) => Ok(1),
            Err(error) => match error.downcast_ref::<I32Exit>() {
                // As a shell reports it: the low eight bits.
                Some(I32Exit(status)) => Ok(u8::try_from(status & 0xff).unwrap_or(1)),
                None => Err(call.failed(&error, &mut store)),
            },
        };
        // Writes of a program are kept whatever the outcome.
        let edits = store.data_mut().end().map_err(|errno| cannot_read_changes(call.method, errno))?;
        call.context.changed(edits);
        status
    }
}
