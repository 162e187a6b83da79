//! `gzip`, `gunzip` and `zcat`.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | options of the command line |
//! | [`codec`] | compressed data: its frame, packing and unpacking |
//! | [`files`] | files and directories that are packed or unpacked |
//! | [`list`] | lines of `-l` |
//! | [`progress`] | output, messages and sums of a call |
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod codec;
mod files;
mod list;
mod options;
mod progress;
#[cfg(test)]
mod tests;

use crate::commands::option_parser::getopt_long;
use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context};
use bashkit::limits::BudgetedBytes;
use bashkit::{ExecResult, Result};

use self::codec::{END_OF_FILE, HEADER_SIZE, MAGIC, TRAILER_SIZE, pack, saved, unpack};
use self::files::operand;
use self::list::{list, list_totals};
use self::options::{GzipOptions, LONG, SHORT};
use self::progress::GzipProgress;
use crate::commands::budget::budgeted_bytes;

const HELP: &str = "\
Usage: gzip [OPTION]... [FILE]...
Compress files.

  -c, --stdout\twrite to standard output, keep original files
  -d, --decompress\tdecompress
  -f, --force\tforce overwrite
  -k, --keep\tkeep original file
  -l, --list\tlist the sizes of compressed files
  -n, --no-name\tdo not save or restore the name and time
  -N, --name\tsave or restore the name and time
  -q, --quiet\tsuppress warnings
  -r, --recursive\tcompress the files in directories
  -S, --suffix=SUF\tuse suffix SUF
  -t, --test\ttest compressed files
  -v, --verbose\ttell what is done
  -1..-9\tcompression level
  --help\tdisplay this help and exit
  --version\toutput version information and exit
";
const VERSION: &str = "gzip 1.12\n";
const TRY_HELP: &str = "Try `gzip --help' for more information.\n";

/// Name of standard input in messages.
const STANDARD_INPUT: &str = "stdin";

/// Command `gzip` of the shell.
pub(crate) struct Gzip;

/// Command `gunzip` of the shell.
pub(crate) struct Gunzip;

/// Command `zcat` of the shell.
pub(crate) struct Zcat;

#[async_trait]
impl Builtin for Gzip {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        run(ctx, GzipOptions::new(false, false)).await
    }
}

#[async_trait]
impl Builtin for Gunzip {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        run(ctx, GzipOptions::new(true, false)).await
    }
}

#[async_trait]
impl Builtin for Zcat {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        run(ctx, GzipOptions::new(true, true)).await
    }
}

async fn run(ctx: Context<'_>, mut options: GzipOptions) -> Result<ExecResult> {
    let (parsed, files) = match getopt_long("gzip", ctx.args, SHORT, &LONG, true, 1) {
        Ok(parsed) => parsed,
        Err(mut error) => {
            error.stderr = format!("{}{TRY_HELP}", error.stderr).into();
            return Ok(error);
        }
    };
    let mut progress = GzipProgress {
        stdout: budgeted_bytes(&ctx)?,
        stderr: String::new(),
        status: 0,
        given_up: false,
        listed: 0,
        totals: (0, 0, 0),
    };
    for option in parsed {
        let value = option.value.unwrap_or_default();
        if let Some(end) = apply(&mut options, &mut progress, option.key, value) {
            return Ok(end);
        }
    }
    if files.is_empty() {
        standard_input(&ctx, &options, &mut progress).await?;
    }
    for file in &files {
        if progress.given_up {
            break;
        }
        match file.as_str() {
            "-" => standard_input(&ctx, &options, &mut progress).await?,
            file => operand(&ctx, &options, file, &mut progress).await?,
        }
    }
    if options.list && progress.listed > 0 && files.len() > 1 && !options.quiet {
        list_totals(&options, &mut progress)?;
    }
    let (stdout, _lease) = progress.stdout.into_parts();
    Ok(ExecResult {
        stdout: stdout.into(),
        stderr: progress.stderr.into(),
        exit_code: progress.status,
        ..Default::default()
    })
}

/// Applies an option of the command line, and returns the result of the call if the option ends it, as `--help` does.
fn apply(options: &mut GzipOptions, progress: &mut GzipProgress, key: char, value: String) -> Option<ExecResult> {
    match key {
        'h' => return Some(ExecResult::ok(HELP)),
        'L' | 'V' => return Some(ExecResult::ok(VERSION)),
        'a' => {
            let message = "gzip: option --ascii ignored on this system\n";
            progress.stderr.push_str(message);
        }
        'b' if value.parse::<u32>().is_err() => {
            let message = format!("gzip: -b operand is not an integer\n{TRY_HELP}");
            return Some(ExecResult::err(message, 1));
        }
        'S' if value.is_empty() => {
            return Some(ExecResult::err("gzip: invalid suffix ''\n", 1));
        }
        'S' => options.suffix = value,
        key => options.set(key),
    }
    None
}

/// Packs or unpacks standard input to standard output.
async fn standard_input(ctx: &Context<'_>, options: &GzipOptions, progress: &mut GzipProgress) -> Result<()> {
    let input = ctx.stdin_to_end().await?;
    let input = input.as_bytes();
    if !options.unpacks() {
        let packed = pack(ctx, options, input, None)?;
        progress.stdout.try_extend_from_slice(&packed)?;
        if options.verbose {
            let frame = HEADER_SIZE + TRAILER_SIZE;
            let share = saved(input.len(), packed.len(), frame);
            progress.stderr.push_str(&format!("{share}\n"));
        }
        return Ok(());
    }
    let Some(unpacked) = unpack_checked(ctx, options, STANDARD_INPUT, input, progress)? else {
        return Ok(());
    };
    if options.list {
        list(options, progress, "stdout", input, &unpacked, 0)?;
    } else if !options.test {
        progress.stdout.try_extend_from_slice(&unpacked)?;
    } else if options.verbose {
        progress.stderr.push_str(" OK\n");
    }
    Ok(())
}

/// Unpacks data, and adds a message about errors in it.
///
/// Returns `None` for a file that is not compressed or is truncated. What was unpacked of a truncated file is written
/// to standard output, if that is the destination.
fn unpack_checked(
    ctx: &Context<'_>,
    options: &GzipOptions,
    name: &str,
    packed: &[u8],
    progress: &mut GzipProgress,
) -> Result<Option<BudgetedBytes>> {
    let to_stdout = options.to_stdout || name == STANDARD_INPUT;
    if !packed.starts_with(MAGIC) {
        if options.force && to_stdout && !options.list && !options.test {
            // `zcat -f` copies data that is not compressed.
            progress.stdout.try_extend_from_slice(packed)?;
            return Ok(None);
        }
        let problem = match packed.len() {
            0 | 1 => END_OF_FILE,
            _ => "not in gzip format",
        };
        progress.data_error(name, problem);
        return Ok(None);
    }
    let unpacked = unpack(ctx, name, packed)?;
    if unpacked.garbage {
        let message = format!("\ngzip: {name}: decompression OK, trailing garbage ignored\n");
        if !options.quiet {
            progress.stderr.push_str(&message);
        }
        progress.status = progress.status.max(2);
    }
    if let Some(problem) = unpacked.error {
        progress.data_error(name, problem);
        if to_stdout && !options.list && !options.test {
            progress.stdout.try_extend_from_slice(&unpacked.data)?;
        }
        return Ok(None);
    }
    Ok(Some(unpacked.data))
}
