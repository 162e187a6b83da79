//! Output: `print`, redirections, `close` and `fflush`.
//!
//! - What goes to a file is kept in small chunks and written through the VFS, so that quotas apply while awk runs.
//! - What goes to a command is kept until `close` or the end, when the command runs: it sees all input at once.
//! - THREAT[TM-DOS-028]: output is capped at `MAX_OUTPUT_BYTES`, and the number of targets at
//!   `MAX_OUTPUT_TARGETS`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::super::ast::{Redirect, special};
use super::super::interpreter::{Evaluation, Interpreter, Unwind};
use super::super::value::Value;
use super::Io;
use crate::commands::awk::bounds::{MAX_OUTPUT_BYTES, MAX_OUTPUT_TARGETS};
use bashkit::fs::FileSystem;

/// Bytes that are kept for a file before they are written.
const FILE_CHUNK_BYTES: usize = 8 * 1024;

/// Redirections that are open, by the name of their target.
#[derive(Default)]
pub(super) struct OpenOutputs {
    outputs: HashMap<String, Output>,
    /// Names in the order in which they were opened.
    names: Vec<String>,
    /// Number of bytes that went to files and commands.
    byte_count: usize,
}

/// Redirection that is open.
struct Output {
    target: OutputTarget,
    pending: String,
}

enum OutputTarget {
    File {
        path: PathBuf,
        /// The next chunk replaces the file.
        truncates: bool,
        /// Something was written, or the file was made.
        is_written: bool,
    },
    Command,
}

impl Io {
    /// Fails if so many more bytes are more than may be written.
    pub(super) fn output_fits(&self, byte_count: usize) -> bool {
        let written = self.stdout.len() + self.stderr.len() + self.outputs.byte_count;
        byte_count <= MAX_OUTPUT_BYTES.saturating_sub(written)
    }

    /// Writes to the stream that a name of a device means, or returns false if it means none.
    fn print_to_device(&mut self, name: &str, text: &str) -> bool {
        match name {
            "/dev/stdout" | "/dev/fd/1" => self.stdout.push_str(text),
            "/dev/stderr" | "/dev/fd/2" => self.print_error(text),
            _ => return false,
        }
        true
    }
}

impl Interpreter {
    /// Writes what was printed to the pipe, if there is one and there is enough. A reader that went away ends the
    /// program.
    pub(crate) async fn pass_on(&mut self, at_least: usize) -> Evaluation<()> {
        if self.io.stdout.len() < at_least {
            return Ok(());
        }
        let Some(output) = &self.io.host.output else {
            return Ok(());
        };
        let text = std::mem::take(&mut self.io.stdout);
        self.io.flushed = 0;
        for (_, after) in &mut self.io.message_places {
            *after = 0;
        }
        match output.write(&bashkit::bytes_of(&text)).await {
            Ok(true) => Ok(()),
            Ok(false) => {
                self.ending.broken_pipe = true;
                Err(Unwind::Fatal)
            }
            Err(error) => Err(self.fail_with(error)),
        }
    }

    pub(super) fn output_exceeded(&mut self) -> Unwind {
        self.fatal_message("output limit exceeded (max 10MB)")
    }

    /// Writes to standard output or to what a redirection means.
    pub(crate) async fn write_output(&mut self, redirect: Option<&Redirect>, text: String) -> Evaluation<()> {
        if !self.io.output_fits(text.len()) {
            return Err(self.output_exceeded());
        }
        let Some(redirect) = redirect else {
            match self.io.in_place.output() {
                Some(edited) => edited.push_str(&text),
                None => self.io.stdout.push_str(&text),
            }
            return Ok(());
        };
        let (Redirect::File(target) | Redirect::Append(target) | Redirect::Pipe(target)) = redirect;
        let name = self.eval_text(target).await?;
        if !matches!(redirect, Redirect::Pipe(_)) {
            if name == "/dev/null" {
                return Ok(());
            }
            if self.io.print_to_device(&name, &text) {
                return Ok(());
            }
        }
        self.open_output(redirect, &name)?;
        self.io.outputs.byte_count += text.len();
        let output = self.io.outputs.outputs.get_mut(&name).ok_or(Unwind::Fatal)?;
        output.pending.push_str(&text);
        if output.pending.len() >= FILE_CHUNK_BYTES {
            self.flush_output(&name).await?;
        }
        Ok(())
    }

    /// Opens a redirection if it is not open yet.
    fn open_output(&mut self, redirect: &Redirect, name: &str) -> Evaluation<()> {
        if self.io.outputs.outputs.contains_key(name) {
            return Ok(());
        }
        if self.io.outputs.outputs.len() >= MAX_OUTPUT_TARGETS {
            return Err(self.fatal_message("too many output redirection targets"));
        }
        let file = |truncates| OutputTarget::File { path: self.io.resolve(name), truncates, is_written: false };
        let target = match redirect {
            Redirect::File(_) => file(true),
            Redirect::Append(_) => file(false),
            Redirect::Pipe(_) => {
                self.io.flush_stdout();
                OutputTarget::Command
            }
        };
        self.io.outputs.outputs.insert(name.to_string(), Output { target, pending: String::new() });
        self.io.outputs.names.push(name.to_string());
        Ok(())
    }

    /// Writes what is kept for a file; what is kept for a command stays.
    async fn flush_output(&mut self, name: &str) -> Evaluation<()> {
        let Some(Output { target: OutputTarget::File { path, truncates, is_written }, pending }) =
            self.io.outputs.outputs.get_mut(name)
        else {
            return Ok(());
        };
        if *is_written && pending.is_empty() {
            return Ok(());
        }
        *is_written = true;
        let truncates = std::mem::replace(truncates, false);
        let text = std::mem::take(pending);
        if let Err(error) = write_lines(&*self.io.host.fs, path, &text, truncates).await {
            let reason = bashkit::error::io_error_reason(&error);
            return Err(self.fatal_message(&format!("cannot write {name}: {reason}")));
        }
        Ok(())
    }

    /// Writes what is kept for files, and lets go of what is kept of standard output (`fflush`).
    pub(crate) async fn flush_all(&mut self) -> Evaluation<()> {
        self.io.flush_stdout();
        self.flush_files().await
    }

    /// Writes what is kept for files.
    pub(super) async fn flush_files(&mut self) -> Evaluation<()> {
        for name in self.io.outputs.names.clone() {
            self.flush_output(&name).await?;
        }
        Ok(())
    }

    /// Closes an input or an output for `close`, which flushes standard output. Returns the exit status of its command,
    /// 0 for a file, -1 if it is not open.
    pub(crate) async fn close_stream(&mut self, name: &str) -> Evaluation<f64> {
        self.io.flush_stdout();
        self.close_unflushed(name).await
    }

    async fn close_unflushed(&mut self, name: &str) -> Evaluation<f64> {
        if !self.io.outputs.outputs.contains_key(name) {
            let Some(status) = self.io.inputs.close(name) else {
                let reason = "close of redirection that was never opened";
                self.put_special(special::ERRNO, Value::Str(reason.to_owned()));
                return Ok(-1.0);
            };
            return Ok(f64::from(status));
        }
        let flushed = self.flush_output(name).await;
        let output = self.io.outputs.outputs.remove(name);
        self.io.outputs.names.retain(|other| other != name);
        flushed?;
        match output {
            Some(Output { target: OutputTarget::Command, pending }) => {
                let result = self.run_output_pipe(name, pending).await?;
                Ok(f64::from(result.exit_code))
            }
            _ => Ok(0.0),
        }
    }

    /// Closes all outputs, at the end of the program: as in gawk, what was opened last is closed first. The first error
    /// is told; the others are closed all the same.
    pub(crate) async fn close_all(&mut self) {
        for name in self.io.outputs.names.clone().into_iter().rev() {
            let _ = Box::pin(self.close_unflushed(&name)).await;
        }
    }
}

/// Writes text to a file. If a quota rejects it, the lines that fit are written, as if each were printed on its own.
async fn write_lines(fs: &dyn FileSystem, path: &Path, text: &str, truncates: bool) -> bashkit::Result<()> {
    let written = write(fs, path, text, truncates).await;
    if written.is_ok() || !text.trim_end_matches('\n').contains('\n') {
        return written;
    }
    let mut truncates = truncates;
    for line in text.split_inclusive('\n') {
        write(fs, path, line, truncates).await?;
        truncates = false;
    }
    Ok(())
}

async fn write(fs: &dyn FileSystem, path: &Path, text: &str, truncates: bool) -> bashkit::Result<()> {
    let bytes = bashkit::bytes_of(text);
    match truncates {
        true => fs.write_file(path, &bytes).await,
        false => fs.append_file(path, &bytes).await,
    }
}
