//! Copy of operands into the pipe of a stage, as they are read: `loop | cat | head -1` ends early.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::builtins::{Context, InputChunks, STREAM_CHUNK_BYTES, StdoutStream};
use bashkit::fs::vfs_join;
use bashkit::{ExecResult, Result, StreamData};

use super::unreadable;
use crate::commands::files::missing;

/// Status of a command whose reader has closed the pipe, as after SIGPIPE.
const BROKEN_PIPE_STATUS: i32 = 141;

/// Copies operands to a stream.
pub(super) async fn copy_operands(ctx: &Context<'_>, files: &[String], stream: &StdoutStream) -> Result<ExecResult> {
    let mut copy = OperandCopy { ctx, stream, came_with_call: ctx.stdin, messages: String::new(), status: 0 };
    for file in files {
        let is_read = if file == "-" { copy.copy_input().await? } else { copy.copy_file(file).await? };
        if !is_read {
            return Ok(ExecResult::err(copy.messages, BROKEN_PIPE_STATUS));
        }
    }
    Ok(ExecResult::err(copy.messages, copy.status))
}

/// Copy of operands to a stream. The functions return false once the reader has closed the pipe.
struct OperandCopy<'a> {
    ctx: &'a Context<'a>,
    stream: &'a StdoutStream,
    /// Input that came with the call, until the first `-`.
    came_with_call: Option<&'a StreamData>,
    /// Messages that could not be written at once.
    messages: String,
    status: i32,
}

impl OperandCopy<'_> {
    async fn write(&self, data: &[u8]) -> Result<bool> {
        for chunk in data.chunks(STREAM_CHUNK_BYTES) {
            self.ctx.consume_budget_work(1)?;
            if !self.stream.write(chunk).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn copy_input(&mut self) -> Result<bool> {
        if let Some(input) = self.came_with_call.take()
            && !self.write(input.as_bytes()).await?
        {
            return Ok(false);
        }
        let Some(input) = self.ctx.stdin_stream() else { return Ok(true) };
        loop {
            let chunk = input.read().await?;
            if chunk.is_empty() {
                return Ok(true);
            }
            if !self.write(&chunk).await? {
                return Ok(false);
            }
        }
    }

    async fn copy_file(&mut self, file: &str) -> Result<bool> {
        let path = vfs_join(self.ctx.cwd, file);
        if let Some(mut endless) = InputChunks::endless_file(self.ctx, &path).await? {
            while let Some(piece) = endless.next(<[u8]>::len).await? {
                if !self.write(&piece).await? {
                    return Ok(false);
                }
            }
        }
        let content = match file.is_empty() {
            true => Err(missing()),
            false => self.ctx.fs.read_file(&path).await,
        };
        match content {
            Ok(content) => self.write(&content).await,
            Err(error) => {
                self.status = 1;
                let message = unreadable(file, &error);
                match self.ctx.stderr_stream() {
                    // A message that nobody reads is lost, as in Unix.
                    Some(errors) => drop(errors.write(message.as_bytes()).await?),
                    None => self.messages.push_str(&message),
                }
                Ok(true)
            }
        }
    }
}
