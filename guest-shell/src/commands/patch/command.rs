//! The command `patch` of the shell: reads the diffs and applies them to files one after the other.

use std::path::{Path, PathBuf};

use bashkit::{Command, CommandContext, CommandStatus, Result, async_trait, vfs_join};

use super::options::{Asked, Options};
use super::reader::read;
use crate::clock;
use crate::commands::files::{quote, reason};

/// Status of an operation that failed entirely.
const TROUBLE: i32 = 2;

/// Command that applies diffs to files, as `patch`.
pub(crate) struct Patch;

#[async_trait]
impl Command for Patch {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let options = match Options::read(context.args) {
            Asked::Run(options) => options,
            Asked::Print(text) => {
                context.stdout.write_text(text).await?;
                return Ok(CommandStatus::success());
            }
            Asked::Wrong(why) => {
                let text = format!("patch: {why}\npatch: Try 'patch --help' for more information.\n");
                context.stderr.write_text(&text).await?;
                return Ok(CommandStatus::with_code(TROUBLE));
            }
        };
        let mut run = Run {
            context: &context,
            options: &options,
            directory: context.cwd.to_path_buf(),
            told: String::new(),
            failed: false,
            rejected: Vec::new(),
            written: Vec::new(),
        };
        let done = run.run().await?;
        context.stdout.write_all(run.told.as_bytes()).await?;
        match done {
            Ok(()) => Ok(CommandStatus::with_code(i32::from(run.failed))),
            Err(why) => {
                context.stderr.write_text(&format!("patch: **** {why}\n")).await?;
                Ok(CommandStatus::with_code(TROUBLE))
            }
        }
    }
}

/// End of a step: its result, or the reason why the work ends.
pub(super) type Done<T> = Result<std::result::Result<T, String>>;

/// State of one execution.
pub(super) struct Run<'a, 'c> {
    pub(super) context: &'a CommandContext<'c>,
    pub(super) options: &'a Options,
    pub(super) directory: PathBuf,
    pub(super) told: String,
    /// True if a hunk did not fit.
    pub(super) failed: bool,
    /// Reject files that were written.
    pub(super) rejected: Vec<String>,
    /// Files that were written.
    pub(super) written: Vec<String>,
}

impl Run<'_, '_> {
    async fn run(&mut self) -> Done<()> {
        if let Some(directory) = &self.options.directory {
            self.directory = vfs_join(self.context.cwd, Path::new(directory));
            if !self.context.fs.exists(&self.directory).await? {
                return Ok(Err(format!("Can't change to directory {directory} : No such file or directory")));
            }
        }
        let text = match self.input().await? {
            Ok(text) => text,
            Err(why) => return Ok(Err(why)),
        };
        let named = !self.options.operands.is_empty() || self.options.posix;
        let diffs = match read(&text, named) {
            Ok(diffs) => diffs,
            Err(why) => return Ok(Err(why)),
        };
        if diffs.is_empty() && !text.is_empty() {
            return Ok(Err("Only garbage was found in the patch input.".to_owned()));
        }
        for mut diff in diffs {
            clock::burn(1);
            if self.options.reverse {
                diff.reverse();
            }
            if let Err(why) = self.one(diff).await? {
                return Ok(Err(why));
            }
        }
        Ok(Ok(()))
    }

    /// Reads the text of the diffs. The error is a message.
    async fn input(&self) -> Done<Vec<u8>> {
        let input = self.options.input.as_ref().or(self.options.operands.get(1)).filter(|name| *name != "-");
        let Some(name) = input else {
            let mut bytes = Vec::new();
            while let Some(chunk) = self.context.stdin.read_chunk().await? {
                bytes.extend(chunk);
            }
            return Ok(Ok(bytes));
        };
        let read = self.context.fs.read_file(&vfs_join(&self.directory, Path::new(name))).await;
        Ok(read.map_err(|why| format!("Can't open patch file {} : {}", shown(name), reason(&why))))
    }

    /// Returns the path for a name in a diff.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        vfs_join(&self.directory, Path::new(name))
    }

    pub(super) fn say(&mut self, text: &str) {
        if !self.options.silent {
            self.told += text;
        }
    }
}

/// Returns a name for messages, in quotes if a shell would need them.
pub(super) fn shown(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"._-/+@%:,=~".contains(&byte);
    if name.bytes().all(plain) { name.to_owned() } else { quote(name) }
}
