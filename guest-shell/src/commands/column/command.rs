//! The shell's command `column`.

use std::path::Path;

use bashkit::{Command, CommandContext, CommandStatus, Result, async_trait, vfs_join};

use super::options::{self, Request};

/// Command `column`, which arranges lines in columns.
pub(crate) struct Column;

#[async_trait]
impl Command for Column {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let options = match options::read(context.args, context.env.get("COLUMNS").map(String::as_str)) {
            Request::Run(options) => options,
            Request::Print(text) => {
                context.stdout.write_text(text).await?;
                return Ok(CommandStatus::success());
            }
            Request::Wrong(text) => {
                context.stderr.write_text(&text).await?;
                return Ok(CommandStatus::with_code(1));
            }
        };
        let (mut bytes, mut status, mut unreadable) = (Vec::new(), 0, 0_i32);
        if options.files.is_empty() {
            while let Some(chunk) = context.stdin.read_chunk().await? {
                bytes.extend(chunk);
            }
        }
        for file in &options.files {
            match context.fs.read_file(&vfs_join(context.cwd, Path::new(file))).await {
                Ok(text) => {
                    bytes.extend(text);
                    // A line does not continue in the next file.
                    if bytes.last().is_some_and(|byte| *byte != b'\n') {
                        bytes.push(b'\n');
                    }
                }
                Err(_) => {
                    let report = format!("column: {file}: No such file or directory\n");
                    context.stderr.write_text(&report).await?;
                    unreadable += 1;
                }
            }
        }
        // A table fails if no file can be read; else any that cannot counts, and where there is nothing to print, all.
        if options.table {
            status = i32::from(
                unreadable > 0 && usize::try_from(unreadable).is_ok_and(|count| count == options.files.len()),
            );
        } else if unreadable > 0 {
            status = if bytes.is_empty() { unreadable } else { 1 };
        }
        let text = bashkit::text_of(&bytes);
        let columns = if options.table { super::table(&text, &options) } else { Ok(super::fill(&text, &options)) };
        match columns {
            Ok(columns) => context.stdout.write_text(&columns).await?,
            Err(what) => {
                context.stderr.write_text(&format!("column: {what}\n")).await?;
                status = 1;
            }
        }
        Ok(CommandStatus::with_code(status))
    }
}
