//! `truncate`: sets the lengths of files, as GNU's does.
//!
//! The command line is that of uutils' `truncate` (`bashkit::builtins::generated`), and [`size`] parses the sizes. The
//! VFS has no operation for this, so a file is read and written. Its limits are checked before memory is allocated,
//! since `write_file` would check them too late.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod fallocate;
mod size;
#[cfg(test)]
mod tests;

use std::ffi::OsString;

use crate::commands::clap_answer::clap_answer;
use async_trait::async_trait;
use bashkit::builtins::generated::truncate_args::truncate_command;
use bashkit::builtins::{Builtin, Context, resolve_path};
use bashkit::clap::ArgMatches;
use bashkit::error::io_error_reason;
use bashkit::{ExecResult, Result, cached_command};

pub(crate) use self::fallocate::Fallocate;
use self::size::TargetSize;

cached_command!(cached_truncate_command, truncate_command());

/// Command `truncate` of the shell.
pub(crate) struct Truncate;

/// Command-line options of one call.
struct TruncateOptions {
    /// True if missing files are skipped.
    no_create: bool,
    size: TargetSize,
    files: Vec<String>,
}

/// Reason why a file is not truncated.
enum TruncateError {
    /// Reason for one file; the other files are still truncated.
    OfFile(String),
    /// Reason for the whole call.
    OfCall(String),
}

#[async_trait]
impl Builtin for Truncate {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        let words = std::iter::once(OsString::from("truncate")).chain(ctx.args.iter().map(OsString::from));
        let matches = match cached_truncate_command().try_get_matches_from(words) {
            Ok(matches) => matches,
            Err(error) => return Ok(clap_answer("truncate", &error, 1)),
        };
        let options = match TruncateOptions::from_matches(&matches, &ctx).await {
            Ok(options) => options,
            Err(message) => return Ok(failure(&message)),
        };
        let mut errors = String::new();
        for file in &options.files {
            match truncate(file, &options, &ctx).await {
                Ok(()) => {}
                Err(TruncateError::OfFile(reason)) => {
                    errors += &format!("truncate: cannot open '{file}' for writing: {reason}\n");
                }
                Err(TruncateError::OfCall(message)) => return Ok(failure(&message)),
            }
        }
        Ok(ExecResult { exit_code: i32::from(!errors.is_empty()), stderr: errors.into(), ..Default::default() })
    }
}

fn failure(message: &str) -> ExecResult {
    ExecResult::err(format!("truncate: {message}\n"), 1)
}

impl TruncateOptions {
    /// Converts clap's matches to options. The error is a message.
    async fn from_matches(matches: &ArgMatches, ctx: &Context<'_>) -> std::result::Result<Self, String> {
        if matches.get_flag("io-blocks") {
            return Err("--io-blocks not yet implemented in bashkit".to_owned());
        }
        let asked = matches.get_one::<String>("size").map(|size| TargetSize::parse(size)).transpose()?;
        let reference = matches.get_one::<OsString>("reference").map(|name| name.to_string_lossy());
        let size = match (asked, reference) {
            (Some(TargetSize::Absolute(_)), Some(_)) => {
                let message = "you must specify a relative '--size' with '--reference'";
                return Err(format!("{message}\nTry 'truncate --help' for more information."));
            }
            (asked, Some(reference)) => {
                let status = ctx.fs.stat(&resolve_path(ctx.cwd, &reference)).await;
                let length =
                    status.map_err(|error| format!("cannot stat '{reference}': {}", io_error_reason(&error)))?;
                match asked {
                    Some(relative) => TargetSize::Absolute(relative.resolve(length.size)?),
                    None => TargetSize::Absolute(length.size),
                }
            }
            (Some(size), None) => size,
            (None, None) => {
                let message = "you must specify either '--size' or '--reference'";
                return Err(format!("{message}\nTry 'truncate --help' for more information."));
            }
        };
        let files = matches.get_many::<OsString>("files").unwrap_or_default();
        let files = files.map(|file| file.to_string_lossy().into_owned()).collect();
        Ok(Self { no_create: matches.get_flag("no-create"), size, files })
    }
}

/// Sets the length of a file.
async fn truncate(file: &str, options: &TruncateOptions, ctx: &Context<'_>) -> std::result::Result<(), TruncateError> {
    let of_file = |error: bashkit::Error| TruncateError::OfFile(io_error_reason(&error));
    let path = resolve_path(ctx.cwd, file);
    if file.ends_with('/') {
        // A slash after a name denotes a directory, whose length cannot be set.
        let reason = match ctx.fs.stat(&path).await {
            Ok(found) if !found.file_type.is_dir() => "Not a directory",
            _ => "Is a directory",
        };
        return Err(TruncateError::OfFile(reason.to_owned()));
    }
    let exists = ctx.fs.exists(&path).await.unwrap_or(false);
    if !exists && options.no_create {
        return Ok(());
    }
    let mut data = match exists {
        true => ctx.fs.read_file(&path).await.map_err(of_file)?,
        false => Vec::new(),
    };
    let length = new_length(options.size, data.len(), ctx).map_err(TruncateError::OfCall)?;
    data.resize(length, 0);
    ctx.fs.write_file(&path, &data).await.map_err(of_file)
}

/// Returns the new length, if memory and the file system have room for it (THREAT[TM-DOS-005, TM-DOS-040]). The error
/// is a message.
fn new_length(size: TargetSize, current: usize, ctx: &Context<'_>) -> std::result::Result<usize, String> {
    let length = size.resolve(current as u64)?;
    let limits = ctx.fs.limits();
    let most = limits.max_file_size.min(limits.max_total_bytes);
    if length > most {
        return Err(format!("target size {length} exceeds VFS limit ({most} bytes)"));
    }
    usize::try_from(length).map_err(|_| format!("target size {length} exceeds addressable memory"))
}
