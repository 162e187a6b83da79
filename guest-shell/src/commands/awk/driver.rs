//! Driver that runs a program and has the shell run its commands.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::future::Future;
use std::pin::Pin;
use std::task::Poll;

use async_trait::async_trait;

use super::interpreter::Interpreter;
use super::io::{Bridge, CommandRequest};
use bashkit::builtins::{PlanDriver, PlanStep, SubCommand};
use bashkit::{ExecResult, Result, StreamData};

/// Takes the result of a program that has ended out of its interpreter.
pub(super) fn result_of(interpreter: &mut Interpreter, status: i32) -> Result<ExecResult> {
    if let Some(limit) = interpreter.ending.budget_error.take() {
        return Err(limit.into());
    }
    if let Some(error) = interpreter.ending.failure.take() {
        return Err(error);
    }
    let (stdout, stderr) = interpreter.io.streams_from((0, 0));
    Ok(ExecResult { stdout, stderr, exit_code: status, ..ExecResult::default() })
}

/// Result of a program.
type Outcome = Result<EndedProgram>;

/// Result of a program, and what of it was not passed on while it ran.
struct EndedProgram {
    result: ExecResult,
    has_emitted: bool,
    stdout: StreamData,
    stderr: StreamData,
}

/// Program that runs, in steps between which the shell runs commands.
pub(super) struct AwkRun {
    /// The program, until it has ended.
    program: Option<Pin<Box<dyn Future<Output = Outcome> + Send>>>,
    bridge: Bridge,
    /// Step that comes behind one that passes output on.
    queued: Option<PlanStep>,
    /// A command has run whose output may have been streamed: the shell then takes the result for streamed, too, so that
    /// the rest must be passed on.
    has_streamed: bool,
}

impl AwkRun {
    /// Creates a run of a program.
    pub(super) fn new(bridge: Bridge, mut interpreter: Box<Interpreter>) -> Self {
        let program = async move {
            let status = interpreter.run().await;
            let emitted = interpreter.io.emitted;
            let (stdout, stderr) = interpreter.io.streams_from(emitted);
            let result = result_of(&mut interpreter, status)?;
            Ok(EndedProgram { result, has_emitted: emitted != (0, 0), stdout, stderr })
        };
        AwkRun { program: Some(Box::pin(program)), bridge, queued: None, has_streamed: false }
    }

    /// Creates a run that has ended before it began.
    pub(super) fn done(bridge: Bridge, result: ExecResult) -> Self {
        AwkRun { program: None, bridge, queued: Some(PlanStep::Done(result)), has_streamed: false }
    }

    /// Runs the program until it ends; none if it waits for a command. If it waits for input, the caller does, too.
    async fn poll_program(&mut self) -> Option<Outcome> {
        let program = self.program.as_mut()?;
        let bridge = &self.bridge;
        std::future::poll_fn(|context| match program.as_mut().poll(context) {
            Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
            Poll::Pending if bridge.lock().is_ok_and(|state| state.request.is_some()) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        })
        .await
    }

    /// Returns the steps that end the program: what it printed since the last command is passed on first.
    fn finish(&mut self, ended: EndedProgram) -> PlanStep {
        let EndedProgram { result, has_emitted, stdout, stderr } = ended;
        let has_streamed = self.has_streamed || has_emitted;
        if !has_streamed || (stdout.is_empty() && stderr.is_empty()) {
            return PlanStep::Done(result);
        }
        let step = PlanStep::Emit { stdout, stderr };
        self.queued = Some(PlanStep::Done(result));
        step
    }

    /// Returns the steps that run a command: what was printed before is passed on first.
    fn start_command(&mut self, request: CommandRequest) -> PlanStep {
        let command = SubCommand {
            name: "sh".to_string(),
            args: vec!["-c".to_string(), request.command],
            stdin: request.stdin.map(StreamData::from),
            assignments: Vec::new(),
        };
        let run = if request.captures {
            PlanStep::Capture { command, cwd: None }
        } else {
            self.has_streamed = true;
            PlanStep::Run { command, cwd: None }
        };
        if request.emit_stdout.is_empty() && request.emit_stderr.is_empty() {
            return run;
        }
        self.queued = Some(run);
        PlanStep::Emit { stdout: request.emit_stdout, stderr: request.emit_stderr }
    }
}

#[async_trait]
impl PlanDriver for AwkRun {
    async fn next(&mut self, last: Option<ExecResult>) -> Result<PlanStep> {
        if let Some(result) = last {
            if let Ok(mut state) = self.bridge.lock() {
                state.response = Some(result);
            }
        } else if let Some(step) = self.queued.take() {
            return Ok(step);
        }
        if self.program.is_none() {
            return Ok(PlanStep::Done(ExecResult::default()));
        }
        if let Some(outcome) = self.poll_program().await {
            self.program = None;
            return Ok(self.finish(outcome?));
        }
        let request = self.bridge.lock().ok().and_then(|mut state| state.request.take());
        Ok(match request {
            Some(request) => self.start_command(request),
            None => PlanStep::Done(ExecResult::default()),
        })
    }
}
