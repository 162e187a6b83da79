//! Output of `head` and `tail`, with the headers between files.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::Result;
use bashkit::builtins::{Context, StdoutStream};

/// Output of a command: written to its pipe if it has one, and otherwise kept as its result.
pub(in crate::commands) struct ExcerptOutput {
    pipe: Option<StdoutStream>,
    /// Bytes without a pipe to write them to.
    pub(in crate::commands) kept: Vec<u8>,
}

impl ExcerptOutput {
    /// Opens the output of a command.
    pub(in crate::commands) fn new(ctx: &Context<'_>) -> Self {
        Self { pipe: ctx.stdout_stream(), kept: Vec::new() }
    }

    /// Returns true once the reader has closed the pipe.
    pub(in crate::commands) fn is_closed(&self) -> bool {
        self.pipe.as_ref().is_some_and(StdoutStream::is_closed)
    }

    /// Writes bytes, and returns false once the reader has closed the pipe.
    pub(in crate::commands) async fn write(&mut self, bytes: &[u8]) -> Result<bool> {
        match &self.pipe {
            Some(pipe) if !bytes.is_empty() => pipe.write(bytes).await,
            Some(_) => Ok(true),
            None => {
                self.kept.extend_from_slice(bytes);
                Ok(true)
            }
        }
    }
}

/// Returns the header of a file, with an empty line before it unless it is the first.
pub(in crate::commands) fn header(file: &str, behind_others: bool) -> String {
    let space = if behind_others { "\n" } else { "" };
    let name = if file == "-" { "standard input" } else { file };
    format!("{space}==> {name} <==\n")
}
