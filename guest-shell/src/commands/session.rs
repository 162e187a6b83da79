//! Streams, fuel and scheduling of a command that computes in slices.

use std::future::poll_fn;
use std::task::Poll;

use bashkit::{CommandContext, CommandInput, CommandOutput, Result};

use super::effort::WORK_PER_FUEL;
use crate::clock;

/// Work between two yields to other commands, some 2 ms.
pub(crate) const SLICE: u64 = 1_024 * WORK_PER_FUEL;

/// State of one execution of a command.
pub(crate) struct Session {
    stdin: CommandInput,
    stdout: CommandOutput,
    stderr: CommandOutput,
    /// Input that was read and not consumed yet.
    buffer: Vec<u8>,
    ended: bool,
    /// Fuel that was accounted for.
    charged: u64,
}

impl Session {
    /// Returns a session on the streams of a command.
    pub(crate) fn new(context: &CommandContext<'_>) -> Self {
        Self {
            stdin: context.stdin.clone(),
            stdout: context.stdout.clone(),
            stderr: context.stderr.clone(),
            buffer: Vec::new(),
            ended: false,
            charged: 0,
        }
    }

    /// Returns the fuel that is left for the script.
    #[expect(clippy::unused_self, reason = "the session is what has fuel")]
    pub(crate) fn fuel(&self) -> u64 {
        clock::fuel_left()
    }

    /// Writes to both output streams.
    pub(crate) async fn write(&self, output: &[u8], errors: &[u8]) -> Result<()> {
        if !output.is_empty() {
            self.stdout.write_all(output).await?;
        }
        if !errors.is_empty() {
            self.stderr.write_all(errors).await?;
        }
        Ok(())
    }

    /// Charges the work so far to the fuel, and yields to other commands. Fails when the fuel is used up.
    pub(crate) async fn account(&mut self, work: u64) -> Result<()> {
        let fuel = work / WORK_PER_FUEL;
        clock::burn(fuel - self.charged);
        self.charged = fuel;
        if fuel > 0 {
            yield_once().await;
        }
        // An empty write checks whether the script may continue.
        self.stdout.write_all(b"").await
    }

    /// Reads up to `limit` bytes of standard input. Returns no bytes at its end.
    pub(crate) async fn read(&mut self, limit: usize) -> Result<Vec<u8>> {
        if self.buffer.is_empty() && !self.ended {
            match self.stdin.read_chunk().await? {
                Some(bytes) => self.buffer = bytes,
                None => self.ended = true,
            }
        }
        let rest = self.buffer.split_off(limit.min(self.buffer.len()));
        Ok(std::mem::replace(&mut self.buffer, rest))
    }
}

/// Yields once to other stages and jobs.
async fn yield_once() {
    let mut yielded = false;
    poll_fn(|context| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
