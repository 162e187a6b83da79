//! Output of commands that write more than should be held in memory.

use std::io::ErrorKind;

use bashkit::{CommandOutput, CommandStatus, Error, Result};

/// Largest number of bytes in one write.
const CHUNK: usize = 32 << 10;

/// Status of a broken pipe: 128 + SIGPIPE.
const BROKEN_PIPE: i32 = 141;

/// Buffer for output, up to a chunk.
pub(crate) struct Writer<'a> {
    output: &'a CommandOutput,
    chunk: Vec<u8>,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(output: &'a CommandOutput) -> Self {
        Self { output, chunk: Vec::with_capacity(CHUNK) }
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.chunk.extend_from_slice(bytes);
        if self.chunk.len() < CHUNK { Ok(()) } else { self.flush().await }
    }

    /// Writes the remaining output.
    pub(crate) async fn flush(&mut self) -> Result<()> {
        let written = self.output.write_all(&self.chunk).await;
        self.chunk.clear();
        written
    }
}

/// Returns the status of a command whose output failed. If the reader is gone there is no message, as for a program
/// that a signal ends.
pub(crate) fn ended(error: Error) -> Result<CommandStatus> {
    match error {
        Error::Io(error) if error.kind() == ErrorKind::BrokenPipe => Ok(CommandStatus::with_code(BROKEN_PIPE)),
        error => Err(error),
    }
}
