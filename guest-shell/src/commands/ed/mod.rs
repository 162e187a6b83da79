//! `ed`: edits a file by commands of standard input, as GNU ed 1.19 does.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`options`] | the command line |
//! | [`editor`] | a machine that runs commands, and asks for files and for commands of the shell |
//! | [`address`], [`pattern`] | addresses, and the expressions that they and substitutions search for |
//! | [`commands`], [`substitution`], [`global`] | the commands |
//! | [`buffer`] | the lines, marks and undo |
//! | [`driver`] | answers to what the machine asks for |
//!
//! The input is read before the editor begins. A mistake ends a script that is a file, and none that comes from a pipe.

mod address;
mod buffer;
mod commands;
mod driver;
mod editor;
mod global;
mod options;
mod output;
mod pattern;
mod scanner;
mod substitution;
#[cfg(test)]
mod tests;
mod text;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, ExecutionPlan, InputChunks, check_help_version};
use bashkit::{ExecResult, Result};

use driver::EditorRun;
use editor::Editor;
use options::{HELP, Options};
use text::InputSource;

/// Command that edits a file, as `ed`.
pub(crate) struct Ed;

impl Ed {
    async fn start(ctx: &Context<'_>) -> Result<std::result::Result<EditorRun, ExecResult>> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("GNU ed 1.19")) {
            return Ok(Err(result));
        }
        let options = match Options::parse(ctx.args) {
            Ok(options) => options,
            Err(result) => return Ok(Err(*result)),
        };
        let source = match InputChunks::stdin(ctx)?.is_seekable() {
            true => InputSource::File,
            false => InputSource::Pipe,
        };
        let input = ctx.stdin_to_end().await?;
        let editor = Editor::new(options, &input.text_lossy(), source);
        Ok(Ok(EditorRun::new(editor, ctx.fs.clone(), ctx.cwd.clone())))
    }
}

#[async_trait]
impl Builtin for Ed {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        match Self::start(&ctx).await? {
            Ok(run) => run.without_shell().await,
            Err(result) => Ok(result),
        }
    }

    async fn execution_plan(&self, ctx: &Context<'_>) -> Result<Option<ExecutionPlan>> {
        let run = match Self::start(ctx).await? {
            Ok(run) => run,
            Err(result) => EditorRun::ended(result),
        };
        Ok(Some(ExecutionPlan::Driver(Box::new(run))))
    }
}
