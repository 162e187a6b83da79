//! Answers to what the editor asks for: files of the shell, and its commands.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bashkit::builtins::{PlanDriver, PlanStep, SubCommand, resolve_path};
use bashkit::{ExecResult, FileSystem, Result, StreamData};

use super::editor::{Editor, Reply, Request};
use crate::commands::operands::file_error_reason;

/// Run of an editor.
pub(super) struct EditorRun {
    editor: Option<Box<Editor>>,
    fs: Option<Arc<dyn FileSystem>>,
    directory: PathBuf,
    /// Step behind one that passes output on.
    queued: Option<PlanStep>,
    /// True if the output of the command that runs is the editor's.
    captures: bool,
    /// True if output was passed on, so that the rest must be, too.
    has_streamed: bool,
}

impl EditorRun {
    pub(super) fn new(editor: Editor, fs: Arc<dyn FileSystem>, directory: PathBuf) -> Self {
        let editor = Some(Box::new(editor));
        Self { editor, fs: Some(fs), directory, queued: None, captures: false, has_streamed: false }
    }

    /// Returns a run that has ended before it began.
    pub(super) fn ended(result: ExecResult) -> Self {
        let queued = Some(PlanStep::Done(result));
        Self { editor: None, fs: None, directory: PathBuf::new(), queued, captures: false, has_streamed: false }
    }

    /// Runs to the end where no commands of the shell can be run.
    pub(super) async fn without_shell(mut self) -> Result<ExecResult> {
        let mut last = None;
        loop {
            match self.next(last.take()).await? {
                PlanStep::Done(result) => return Ok(result),
                PlanStep::Emit { .. } => {}
                PlanStep::Run { .. } | PlanStep::Capture { .. } => {
                    last = Some(ExecResult::err("ed: commands of the shell cannot be run here\n", 1));
                }
            }
        }
    }

    async fn read(&self, name: &str) -> Result<std::result::Result<Vec<u8>, String>> {
        let Some(fs) = &self.fs else { return Ok(Err("No such file or directory".to_owned())) };
        match fs.read_file(&resolve_path(&self.directory, name)).await {
            Ok(bytes) => Ok(Ok(bytes)),
            Err(error) => Ok(Err(file_error_reason(error)?)),
        }
    }

    async fn write(&self, name: &str, bytes: &[u8], appends: bool) -> Result<std::result::Result<(), String>> {
        let Some(fs) = &self.fs else { return Ok(Err("No such file or directory".to_owned())) };
        let path = resolve_path(&self.directory, name);
        let written = if appends { fs.append_file(&path, bytes).await } else { fs.write_file(&path, bytes).await };
        match written {
            Ok(()) => Ok(Ok(())),
            Err(error) => Ok(Err(file_error_reason(error)?)),
        }
    }

    /// Returns the step that runs a command, and passes on what was printed before.
    fn command(&mut self, command: String, stdin: Option<Vec<u8>>, captures: bool) -> PlanStep {
        self.captures = captures;
        let command = SubCommand {
            name: "sh".to_owned(),
            args: vec!["-c".to_owned(), command],
            stdin: stdin.map(StreamData::from),
            assignments: Vec::new(),
        };
        let step = if captures {
            PlanStep::Capture { command, cwd: None }
        } else {
            self.has_streamed = true;
            PlanStep::Run { command, cwd: None }
        };
        match self.editor.as_mut().map(|editor| editor.output.take_unemitted()) {
            Some((stdout, stderr)) if !stdout.is_empty() || !stderr.is_empty() => {
                self.has_streamed = true;
                self.queued = Some(step);
                PlanStep::Emit { stdout, stderr }
            }
            _ => step,
        }
    }

    fn end(&mut self, status: i32) -> PlanStep {
        let Some(mut editor) = self.editor.take() else { return PlanStep::Done(ExecResult::with_code("", status)) };
        let rest = editor.output.take_unemitted();
        let (stdout, stderr) = editor.output.take_all();
        let done = PlanStep::Done(ExecResult { stdout, stderr, exit_code: status, ..ExecResult::default() });
        if !self.has_streamed || (rest.0.is_empty() && rest.1.is_empty()) {
            return done;
        }
        self.queued = Some(done);
        PlanStep::Emit { stdout: rest.0, stderr: rest.1 }
    }
}

#[async_trait]
impl PlanDriver for EditorRun {
    async fn next(&mut self, last: Option<ExecResult>) -> Result<PlanStep> {
        if last.is_none()
            && let Some(step) = self.queued.take()
        {
            return Ok(step);
        }
        let Some(editor) = self.editor.as_mut() else { return Ok(PlanStep::Done(ExecResult::ok(""))) };
        let mut reply = match last {
            None => Reply::Nothing,
            Some(result) if self.captures => {
                editor.output.complain(&result.stderr.text_lossy());
                Reply::Shell(result.stdout.as_bytes().to_vec())
            }
            Some(result) => {
                editor.output.add_streamed(&result.stdout, &result.stderr);
                Reply::Shell(Vec::new())
            }
        };
        loop {
            let Some(editor) = self.editor.as_mut() else { return Ok(PlanStep::Done(ExecResult::ok(""))) };
            reply = match editor.run(reply) {
                Request::Read { name } => Reply::Read(self.read(&name).await?),
                Request::Write { name, bytes, appends } => Reply::Written(self.write(&name, &bytes, appends).await?),
                Request::Shell { command, stdin, captures } => return Ok(self.command(command, stdin, captures)),
                Request::End(status) => return Ok(self.end(status)),
            };
        }
    }
}
