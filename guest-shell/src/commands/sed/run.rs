//! A call of `sed`: its script is read, files are edited, results are written.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::collections::HashMap;
use std::path::PathBuf;

use super::machine::{Ending, Feed, InputLine, Machine, Settings, split_lines};
use super::options::{Options, ScriptSource};
use super::script::{Mode, Program, parse};
use crate::commands::character_locale::CharacterSet;
use crate::commands::files::missing;
use bashkit::builtins::atomic_write::{AtomicFailpoints, atomic_replace};
use bashkit::builtins::{Context, InputChunks};
use bashkit::error::io_error_reason;
use bashkit::fs::vfs_join;
use bashkit::limits::ExecutionBudget;
use bashkit::stream::with_bytes_joined;
use bashkit::{Error, ExecResult, PlacedMessages, Result};

/// Status of an error of input or output.
const IO_STATUS: i32 = 4;

/// Status of a run in which an input file could not be read.
const UNREADABLE_STATUS: i32 = 2;

/// Most of standard error that is kept, in bytes.
const MAX_STDERR_BYTES: usize = 1024;

/// Reason why a call ends early.
pub(super) enum Stop {
    /// The call ends with a message.
    Message(String, i32),
    /// The shell reports the error.
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Error(error)
    }
}

/// Outcome of a part of a call.
type Outcome<T> = std::result::Result<T, Stop>;

/// Call of sed with its options.
pub(super) struct Run<'a, 'c> {
    pub(super) ctx: &'a Context<'c>,
    pub(super) options: &'a Options,
}

/// Input file of the call.
struct InputFile {
    text: String,
    /// Status of the call because of this file: 0 if it can be read.
    status: i32,
}

/// File that `-i` has edited.
struct Edit<'a> {
    name: &'a str,
    original: &'a str,
    text: String,
}

/// Output of the machine for an input.
struct Edited<'a> {
    stdout: String,
    edits: Vec<Edit<'a>>,
    ending: Ending,
}

impl Run<'_, '_> {
    /// Runs the whole call.
    pub(super) async fn run(&self) -> Result<ExecResult> {
        match self.run_or_stop().await {
            Ok(result) => Ok(result),
            Err(Stop::Message(message, status)) => Ok(ExecResult::err(format!("sed: {message}\n"), status)),
            Err(Stop::Error(error)) => Err(error),
        }
    }

    async fn run_or_stop(&self) -> Outcome<ExecResult> {
        let script = self.read_script().await?;
        let program = self.parse(&script).await?;
        let read_files = self.read_files_of(&program).await?;
        let names = self.input_names();
        let mut stderr = String::new();
        let files = self.read_input(&names, &mut stderr).await?;
        if let Some(errors) = self.ctx.stderr_stream() {
            // Before the output, of which a part may be written while the script runs.
            errors.write(stderr.as_bytes()).await?;
            stderr.clear();
        }
        let edited = self.edit(&program, &read_files, &names, &files).await?;
        for (name, text) in edited.ending.files {
            let written = self.ctx.fs.write_file(&self.resolve(&name), &bashkit::bytes_of(&text)).await;
            written.map_err(|error| {
                Stop::Message(format!("couldn't open file {name}: {}", io_error_reason(&error)), IO_STATUS)
            })?;
        }
        for edit in edited.edits {
            self.replace(edit).await?;
        }
        stderr.push_str(&edited.ending.stderr);
        stderr.truncate(stderr.floor_char_boundary(MAX_STDERR_BYTES));
        let input_status = files.iter().map(|file| file.status).max().unwrap_or(0);
        let status = edited.ending.exit_code.unwrap_or(input_status);
        let stdout = with_bytes_joined(edited.stdout).into();
        // Of the output nothing is written before the first block of it is full.
        let mut messages = PlacedMessages::new();
        messages.push(&stderr, 0);
        Ok(ExecResult { stdout, stderr: messages.into(), exit_code: status, ..Default::default() })
    }

    fn characters(&self) -> CharacterSet {
        CharacterSet::of_environment(self.ctx.env)
    }

    fn resolve(&self, name: &str) -> PathBuf {
        // A name in the script may have a character for each of its bytes.
        let name = &with_bytes_joined(name.to_owned());
        if name.starts_with('/') { PathBuf::from(name) } else { vfs_join(self.ctx.cwd, name) }
    }

    /// Returns the script, joined with newlines from all its sources.
    async fn read_script(&self) -> Outcome<String> {
        let mut script = String::new();
        for source in &self.options.sources {
            if !script.is_empty() {
                script.push('\n');
            }
            match source {
                ScriptSource::Text(text) => script.push_str(text),
                ScriptSource::File(name) if name == "-" => script.push_str(&self.ctx.stdin_to_end().await?),
                ScriptSource::File(name) => match self.ctx.fs.read_file(&self.resolve(name)).await {
                    // The last line break stays: it may be the text of `a`.
                    Ok(bytes) => script.push_str(&bashkit::text_of(&bytes)),
                    Err(error) => {
                        let reason = io_error_reason(&error);
                        return Err(Stop::Message(format!("couldn't open file {name}: {reason}"), IO_STATUS));
                    }
                },
            }
        }
        Ok(self.characters().of_text(script))
    }

    /// Parses the script of the call. The files that it writes are made, even those in front of an error.
    async fn parse(&self, script: &str) -> Outcome<Program> {
        let mode = Mode {
            extended: self.options.extended,
            null_data: self.options.null_data,
            bytes_match: self.characters() == CharacterSet::Bytes,
            posix: self.options.posix,
            sandbox: self.options.sandbox,
        };
        let (program, write_files) = parse(script, mode);
        for name in write_files.iter().filter(|name| !matches!(name.as_str(), "/dev/stdout" | "/dev/stderr")) {
            if let Err(error) = self.ctx.fs.write_file(&self.resolve(name), b"").await {
                let reason = io_error_reason(&error);
                return Err(Stop::Message(format!("couldn't open file {name}: {reason}"), IO_STATUS));
            }
        }
        program.map_err(|error| Stop::Message(error.message, error.status))
    }

    /// Reads the files that `r` and `R` name; one that is missing is ignored, as with GNU sed.
    async fn read_files_of(&self, program: &Program) -> Outcome<HashMap<String, String>> {
        let mut files = HashMap::new();
        for name in &program.read_files {
            if files.contains_key(name) {
                continue;
            }
            let text = if name == "/dev/stdin" || name == "-" {
                self.characters().of_text(self.ctx.stdin_to_end().await?.to_string())
            } else {
                match self.ctx.fs.read_file(&self.resolve(name)).await {
                    Ok(bytes) => self.characters().text_of(&bytes).into_owned(),
                    Err(_) => continue,
                }
            };
            files.insert(name.clone(), text);
        }
        Ok(files)
    }

    fn input_names(&self) -> Vec<String> {
        if self.options.files.is_empty() { vec!["-".to_string()] } else { self.options.files.clone() }
    }

    /// Returns true if the input is a pipe alone, which is read as its lines are needed.
    fn is_stream(&self) -> bool {
        self.options.files.is_empty() && self.ctx.stdin_stream().is_some()
    }

    /// Reads the input files. One that cannot be read is reported, and the rest are edited all the same.
    async fn read_input(&self, names: &[String], stderr: &mut String) -> Outcome<Vec<InputFile>> {
        let mut files = Vec::new();
        for name in names {
            let text = if self.is_stream() {
                Ok(String::new())
            } else if name == "-" {
                Ok(self.characters().of_text(self.ctx.stdin_to_end().await?.to_string()))
            } else {
                let content = match name.is_empty() {
                    true => Err(missing()),
                    false => self.ctx.fs.read_file(&self.resolve(name)).await,
                };
                match content {
                    Ok(bytes) => Ok(self.text_of(name, bytes)?),
                    Err(error) => Err(error),
                }
            };
            let error = match text {
                Ok(text) => {
                    files.push(InputFile { text, status: 0 });
                    continue;
                }
                Err(error) => error,
            };
            if !name.is_empty()
                && self.ctx.fs.stat(&self.resolve(name)).await.is_ok_and(|status| status.file_type.is_dir())
            {
                // GNU's reads no file behind it.
                stderr.push_str(&match self.options.in_place {
                    Some(_) => format!("sed: couldn't edit {name}: not a regular file\n"),
                    None => format!("sed: read error on {name}: Is a directory\n"),
                });
                files.push(InputFile { text: String::new(), status: IO_STATUS });
                break;
            }
            stderr.push_str(&format!("sed: can't read {name}: {}\n", io_error_reason(&error)));
            files.push(InputFile { text: String::new(), status: UNREADABLE_STATUS });
        }
        Ok(files)
    }

    /// Returns the text of a file. What is no UTF-8 is not edited in place, which might change it.
    fn text_of(&self, name: &str, bytes: Vec<u8>) -> Outcome<String> {
        match String::from_utf8(bytes) {
            Ok(text) => Ok(self.characters().of_text(text)),
            Err(_) if self.options.in_place.is_some() => {
                Err(Stop::Message(format!("couldn't edit {name}: not a valid UTF-8 text file"), 1))
            }
            Err(error) => Ok(self.characters().text_of(error.as_bytes()).into_owned()),
        }
    }

    /// Runs the program on all files as one stream, or on each as a stream of its own.
    async fn edit<'f>(
        &self,
        program: &Program,
        read_files: &HashMap<String, String>,
        names: &'f [String],
        files: &'f [InputFile],
    ) -> Outcome<Edited<'f>> {
        let separator = if self.options.null_data { '\0' } else { '\n' };
        // THREAT[TM-DOS-112]: what sed writes grows inside of the command, so it is charged to the budget. The cap of
        // captured output is not used: what goes to another command or to a file is not captured.
        let budget = self.ctx.execution_budget().and_then(|budget| budget.try_with(ExecutionBudget::clone).ok());
        let settings = Settings {
            names,
            read_files,
            quiet: self.options.quiet,
            line_length: self.options.line_length,
            separator,
            posix: self.options.posix,
            budget,
        };
        let mut machine = Machine::new(program, settings).map_err(|limit| refused(limit.into()))?;
        if self.is_stream() {
            machine.stream(Feed::new(InputChunks::stdin(self.ctx)?, self.characters()));
        }
        if let Some(output) = self.ctx.stdout_stream().filter(|_| self.options.in_place.is_none()) {
            machine.write_to(output);
        }
        let mut stdout = String::new();
        let mut edits = Vec::new();
        for stream in self.streams(files) {
            if machine.has_quit() {
                break;
            }
            let mut lines: Vec<InputLine> = Vec::new();
            for &index in &stream {
                split_lines(&files[index].text, separator, index, &mut lines);
            }
            let text = machine.run_stream(lines).await.map_err(refused)?;
            let (name, original) = (&names[stream[0]], &files[stream[0]].text);
            match self.options.in_place.is_some() && name != "-" {
                true => edits.push(Edit { name, original, text }),
                false => stdout.push_str(&text),
            }
        }
        let ending = machine.finish().map_err(|limit| refused(limit.into()))?;
        Ok(Edited { stdout, edits, ending })
    }

    /// Returns the indices of the files of each stream. A stream of its own needs a file that can be read.
    fn streams(&self, files: &[InputFile]) -> Vec<Vec<usize>> {
        match self.options.separate {
            true => (0..files.len()).filter(|&index| files[index].status == 0).map(|index| vec![index]).collect(),
            false => vec![(0..files.len()).collect()],
        }
    }

    /// Replaces a file by what was made of it. The mode of the file is kept, and the file stays as it was if that fails
    /// (THREAT[TM-FS-016]).
    async fn replace(&self, edit: Edit<'_>) -> Outcome<()> {
        let Edit { name, original, text } = edit;
        if let Some(suffix) = self.options.in_place.as_deref().filter(|suffix| !suffix.is_empty()) {
            let copy = if suffix.contains('*') { suffix.replace('*', name) } else { format!("{name}{suffix}") };
            let copied = self.ctx.fs.write_file(&self.resolve(&copy), &bashkit::bytes_of(original)).await;
            copied.map_err(|error| {
                Stop::Message(format!("cannot rename {name}: {}", io_error_reason(&error)), IO_STATUS)
            })?;
        }
        let failpoints =
            AtomicFailpoints { allocate: "sed::temp_allocate", chmod: "sed::temp_chmod", rename: "sed::temp_rename" };
        let path = self.resolve(name);
        let replaced = atomic_replace(&*self.ctx.fs, &path, &bashkit::bytes_of(&text), "sed", failpoints).await;
        replaced.map_err(|error| Stop::Message(format!("{name}: {error}"), IO_STATUS))
    }
}

/// Returns how a run ends that was refused: what exceeds the budget is told by sed itself.
fn refused(error: Error) -> Stop {
    match error {
        Error::ResourceLimit(limit) => Stop::Message(limit.to_string(), 1),
        error => Stop::Error(error),
    }
}
