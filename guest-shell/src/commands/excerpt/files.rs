//! Selected parts of files, one after the other.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::builtins::{Context, InputChunks};
use bashkit::error::io_error_reason;
use bashkit::fs::vfs_join;
use bashkit::{ExecResult, PlacedMessages, Result};

use super::options::ExcerptOptions;
use super::output::header;
use super::selection::{Selection, select};
use super::stream::stream;
use crate::commands::files::quote;
use crate::commands::operands::NO_SUCH_FILE;

/// Reason why a directory has no contents.
const DIRECTORY: &str = "Is a directory";

/// Writes the selected part of each file.
pub(in crate::commands) async fn write_excerpts(
    ctx: &Context<'_>,
    command: &str,
    options: &ExcerptOptions,
    warnings: String,
) -> Result<ExecResult> {
    match input_to_stream(ctx, options).await? {
        Some(input) => {
            let mut result = stream(ctx, input, options.selection, options.unit).await?;
            result.stderr = warnings.into();
            Ok(result)
        }
        None => write_whole_files(ctx, command, options, warnings).await,
    }
}

/// Returns the only input if it must not be read further than needed: a pipe, or a file without an end.
async fn input_to_stream<'c>(ctx: &Context<'c>, options: &ExcerptOptions) -> Result<Option<InputChunks<'c>>> {
    match options.files.as_slice() {
        _ if options.always_shows_headers() => Ok(None),
        [file] if file == "-" && ctx.stdin_stream().is_some() => Ok(Some(InputChunks::stdin(ctx)?)),
        [file] if matches!(options.selection, Selection::First(_)) => {
            InputChunks::endless_file(ctx, &vfs_join(ctx.cwd, file)).await
        }
        _ => Ok(None),
    }
}

async fn write_whole_files(
    ctx: &Context<'_>,
    command: &str,
    options: &ExcerptOptions,
    warnings: String,
) -> Result<ExecResult> {
    let mut output = Vec::new();
    let mut messages = PlacedMessages::new();
    messages.push(&warnings, 0);
    let mut failed = false;
    for file in &options.files {
        let data = match read(ctx, file).await? {
            Ok(data) => data,
            Err(reason) => {
                failed = true;
                // A directory is opened, which its header tells, before it cannot be read.
                if reason == DIRECTORY && options.shows_headers() {
                    output.extend_from_slice(header(file, !output.is_empty()).as_bytes());
                }
                messages.push(&unreadable(command, file, &reason), output.len());
                continue;
            }
        };
        if options.shows_headers() {
            output.extend_from_slice(header(file, !output.is_empty()).as_bytes());
        }
        output.extend_from_slice(select(&data, options.selection, options.unit));
    }
    let mut result = ExecResult::ok_bytes(output);
    result.stderr = messages.into();
    result.exit_code = i32::from(failed);
    Ok(result)
}

async fn read(ctx: &Context<'_>, file: &str) -> Result<std::result::Result<Vec<u8>, String>> {
    if file == "-" {
        return Ok(Ok(ctx.stdin_to_end().await?.as_bytes().to_vec()));
    }
    if file.is_empty() {
        return Ok(Err(NO_SUCH_FILE.to_owned()));
    }
    let data = ctx.fs.read_file(&vfs_join(ctx.cwd, file)).await;
    Ok(data.map_err(|error| io_error_reason(&error)))
}

/// Returns the message about a file that is not read. A directory can be opened, but not read.
pub(in crate::commands) fn unreadable(command: &str, file: &str, reason: &str) -> String {
    match reason {
        DIRECTORY => format!("{command}: error reading {}: {reason}\n", quote(file)),
        _ => format!("{command}: cannot open {} for reading: {reason}\n", quote(file)),
    }
}
