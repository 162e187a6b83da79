//! `truncate`: sets the lengths of files, as GNU's does.
//!
//! [`size`] parses the sizes. The VFS has no operation for this, so a file is read and written. Its limits are checked before memory is allocated,
//! since `write_file` would check them too late.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod fallocate;
mod size;
#[cfg(test)]
mod tests;

use crate::commands::files::quote;
use crate::commands::option_parser::gnu_getopt;
use async_trait::async_trait;
use bashkit::builtins::arg_parser::{OptArg, ParsedOpt};
use bashkit::builtins::{Builtin, Context, check_help_version, resolve_path};
use bashkit::error::io_error_reason;
use bashkit::{ExecResult, Result};

pub(crate) use self::fallocate::Fallocate;
use self::size::TargetSize;

const HELP: &str = "\
Usage: truncate OPTION... FILE...
Shrink or extend the size of each FILE to the specified size

  -c, --no-create        do not create any files
  -r, --reference=RFILE  base size on RFILE
  -s, --size=SIZE        set or adjust the file size by SIZE bytes
      --help        display this help and exit
      --version     output version information and exit

SIZE may also be prefixed by one of: '+' extend by, '-' reduce by, '<' at most,
'>' at least, '/' round down to multiple of, '%' round up to multiple of.
";

const LONG: [(&str, OptArg, char); 4] = [
    ("io-blocks", OptArg::No, 'o'),
    ("no-create", OptArg::No, 'c'),
    ("reference", OptArg::Required, 'r'),
    ("size", OptArg::Required, 's'),
];

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
        if let Some(answer) = check_help_version(ctx.args, HELP, Some("truncate (GNU coreutils) 9.1")) {
            return Ok(answer);
        }
        let (given, files) = match gnu_getopt("truncate", ctx.args, "cor:s:", &LONG, true, 1) {
            Ok(parsed) => parsed,
            Err(refusal) => return Ok(refusal),
        };
        let options = match TruncateOptions::new(&given, files, &ctx).await {
            Ok(options) => options,
            Err(message) => return Ok(failure(&message)),
        };
        let mut errors = String::new();
        for file in &options.files {
            match truncate(file, &options, &ctx).await {
                Ok(()) => {}
                Err(TruncateError::OfFile(reason)) => {
                    errors += &format!("truncate: cannot open {} for writing: {reason}\n", quote(file));
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
    /// Returns the options of a call. The error is a message.
    async fn new(given: &[ParsedOpt], files: Vec<String>, ctx: &Context<'_>) -> std::result::Result<Self, String> {
        if given.iter().any(|option| option.key == 'o') {
            return Err("--io-blocks not yet implemented in bashkit".to_owned());
        }
        let values =
            |key: char| given.iter().filter(move |option| option.key == key).filter_map(|option| option.value.as_ref());
        let mut asked = None;
        for size in values('s') {
            asked = Some(TargetSize::parse(size)?);
        }
        let reference = values('r').next_back();
        let size = match (asked, reference) {
            (Some(TargetSize::Absolute(_)), Some(_)) => {
                let message = "you must specify a relative '--size' with '--reference'";
                return Err(format!("{message}\nTry 'truncate --help' for more information."));
            }
            (asked, Some(reference)) => {
                let absent = || "No such file or directory".to_owned();
                let length = match reference.as_str() {
                    "" => Err(absent()),
                    name => ctx.fs.stat(&resolve_path(ctx.cwd, name)).await.map_err(|error| io_error_reason(&error)),
                };
                let length = length.map_err(|reason| format!("cannot stat '{reference}': {reason}"))?;
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
        if files.is_empty() {
            return Err("missing file operand\nTry 'truncate --help' for more information.".to_owned());
        }
        Ok(Self { no_create: given.iter().any(|option| option.key == 'c'), size, files })
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
