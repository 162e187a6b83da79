//! Commands that the shell runs for the program: `system`, `print | command`, `command | getline`.
//!
//! The evaluator puts a request into a slot that it shares with the plan driver and waits; the driver hands the request
//! to the shell and puts the result into the slot. Without a driver a command fails with a message.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use super::super::interpreter::{Evaluation, Interpreter};
use bashkit::stream::with_bytes_joined;
use bashkit::{ExecResult, StreamData};

/// Status of a command that cannot be run.
const CANNOT_RUN_STATUS: i32 = 127;

/// Command for the shell.
pub(crate) struct CommandRequest {
    /// The output is for awk (`command | getline`), and not for standard output.
    pub(crate) captures: bool,
    pub(crate) command: String,
    pub(crate) stdin: Option<String>,
    /// Output of awk so far, which must be written before the command runs.
    pub(crate) emit_stdout: StreamData,
    pub(crate) emit_stderr: StreamData,
}

/// Slot that evaluator and driver share.
#[derive(Default)]
pub(crate) struct BridgeState {
    pub(crate) request: Option<CommandRequest>,
    pub(crate) response: Option<ExecResult>,
}

/// Reference to the slot that evaluator and driver share.
pub(crate) type Bridge = Arc<Mutex<BridgeState>>;

/// Future that is ready when the driver has stored a response. The driver polls awk again only then, so that no waker is
/// needed.
struct Response(Bridge);

impl Future for Response {
    type Output = ExecResult;

    fn poll(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<ExecResult> {
        match self.0.lock().ok().and_then(|mut state| state.response.take()) {
            Some(result) => Poll::Ready(result),
            None => Poll::Pending,
        }
    }
}

impl Interpreter {
    /// Runs the command of `system` or `command | getline`: standard output is flushed before it.
    pub(crate) async fn run_command(&mut self, captures: bool, command: &str) -> Evaluation<ExecResult> {
        self.io.flush_stdout();
        self.run_in_shell(captures, command, None).await
    }

    /// Runs the command of an output pipe. What was printed since standard output was flushed comes behind what the
    /// command writes, as with gawk, which keeps it in a buffer.
    pub(super) async fn run_output_pipe(&mut self, command: &str, input: String) -> Evaluation<ExecResult> {
        let held_from = self.io.flushed.max(self.io.emitted.0);
        let held = self.io.stdout.split_off(held_from);
        let result = self.run_in_shell(false, command, Some(input)).await;
        self.io.flush_stdout();
        self.io.stdout.push_str(&held);
        result
    }

    /// Runs a command with `sh -c`.
    async fn run_in_shell(&mut self, captures: bool, command: &str, stdin: Option<String>) -> Evaluation<ExecResult> {
        let Some(bridge) = self.io.host.bridge.clone() else {
            if !std::mem::replace(&mut self.io.has_warned_of_commands, true) {
                self.write_error_line("awk: running commands is not supported in this context");
            }
            return Ok(ExecResult::with_code(String::new(), CANNOT_RUN_STATUS));
        };
        // The command sees what was written to files, as with gawk, which flushes.
        self.flush_files().await?;
        let (emit_stdout, emit_stderr) = if captures { Default::default() } else { self.take_output_to_emit() };
        if let Ok(mut state) = bridge.lock() {
            let command = with_bytes_joined(command.to_string());
            state.request = Some(CommandRequest { captures, command, stdin, emit_stdout, emit_stderr });
        }
        let result = Response(bridge).await;
        self.keep_output(captures, &result)?;
        Ok(result)
    }

    /// Returns what was printed since the last command.
    fn take_output_to_emit(&mut self) -> (StreamData, StreamData) {
        let io = &mut self.io;
        let output = io.streams_from(io.emitted);
        io.emitted = (io.stdout.len(), io.stderr.len());
        output
    }

    /// Keeps what a command has written, for callers that want the whole result. The shell has passed it on already,
    /// unless it was captured.
    fn keep_output(&mut self, captures: bool, result: &ExecResult) -> Evaluation<()> {
        let stderr = result.stderr.text_lossy();
        if captures {
            self.io.report(&stderr);
            return Ok(());
        }
        let stdout = self.io.host.characters.of_text(result.stdout.text_lossy().into_owned());
        if !self.io.output_fits(stdout.len() + stderr.len()) {
            return Err(self.output_exceeded());
        }
        self.io.stdout.push_str(&stdout);
        self.io.report(&stderr);
        self.io.emitted = (self.io.stdout.len(), self.io.stderr.len());
        Ok(())
    }
}
