//! Streams, fuel and turns of a command that computes in slices.

use std::future::poll_fn;
use std::task::Poll;

use bashkit::{CommandContext, CommandInput, CommandOutput, Result};

use super::effort::WORK_PER_FUEL;
use crate::clock;

/// Work between two turns of others: some 2 ms.
pub(crate) const SLICE: u64 = 1_024 * WORK_PER_FUEL;

/// State of one execution of a command.
pub(crate) struct Session {
    stdin: CommandInput,
    stdout: CommandOutput,
    stderr: CommandOutput,
    /// Input that was read and not yet taken.
    buffer: Vec<u8>,
    ended: bool,
    /// Fuel that was accounted for.
    charged: u64,
}

impl Session {
    /// A session over the streams of a command.
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

    /// Fuel that is left to the script.
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

    /// Takes the work done so far from the fuel and lets others have a turn. Fails when the fuel is used up.
    pub(crate) async fn account(&mut self, work: u64) -> Result<()> {
        let fuel = work / WORK_PER_FUEL;
        clock::burn(fuel - self.charged);
        self.charged = fuel;
        if fuel > 0 {
            yield_once().await;
        }
        // Writing nothing asks whether the script may go on.
        self.stdout.write_all(b"").await
    }

    /// Takes up to `limit` bytes of standard input; none at its end.
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

/// Lets other stages and jobs run.
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
