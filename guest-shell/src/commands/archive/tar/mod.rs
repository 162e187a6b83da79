//! `tar`: creates, extends, extracts and lists archives.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | options of the command line |
//! | [`name_list`] | names of members or files that a file lists (`-T`) |
//! | [`header`] | headers of members |
//! | [`reader`] | members of an archive, one after the other |
//! | [`members`] | members that are extracted or listed |
//! | [`input`] | archives that are read, decompressed |
//! | [`append`] | archives that members are added to |
//! | [`create`] | new archives, and additions to old ones |
//! | [`plan`] | checks of a whole archive before it is extracted |
//! | [`extract`] | files, directories and links from an archive |
//! | [`list`] | lines about members |
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod append;
mod create;
mod extract;
mod header;
mod input;
mod list;
mod members;
mod name_list;
mod options;
mod plan;
mod reader;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version, resolve_path};
use bashkit::{ExecResult, Result};

use self::append::{OldArchive, read_old_archive};
use self::create::create;
use self::extract::extract;
use self::list::list;
use self::name_list::read_name_lists;
use self::options::{TarOptions, TarTask, fatal_usage_error, with_dash};
use super::budget::budgeted_vec;

const HELP: &str = "\
Usage: tar [OPTION]... [FILE]...
Create, extract, or list tar archives.

  -c\tcreate archive
  -r\tappend files
  -u\tappend files that are newer than in the archive
  -x\textract archive
  -t\tlist archive contents
  -v\tverbose output
  -f ARCHIVE\tarchive file name
  -z, --gzip\tfilter through gzip
  -j, --bzip2\tfilter through bzip2
  -C DIR\tchange to directory DIR
  -O\textract files to stdout
  --help\tdisplay this help and exit
  --version\toutput version information and exit
";

/// Command `tar` of the shell.
pub(crate) struct Tar;

#[async_trait]
impl Builtin for Tar {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("tar (bashkit) 0.1")) {
            return Ok(result);
        }
        let words = with_dash(ctx.args);
        let mut operands = budgeted_vec(&ctx)?;
        let options = match TarOptions::parse(&words, &mut operands)? {
            Ok(options) => options,
            Err(result) => return Ok(result),
        };
        let listed = match read_name_lists(&ctx, &options.name_lists).await? {
            Ok(listed) => listed,
            Err(result) => return Ok(result),
        };
        for name in &*listed {
            operands.try_push(&**name)?;
        }
        run(&ctx, &options, &operands).await
    }
}

async fn run(ctx: &Context<'_>, options: &TarOptions<'_>, names: &[&str]) -> Result<ExecResult> {
    let task = match options.task() {
        Ok(task) => task,
        Err(result) => return Ok(result),
    };
    if let Some(directory) = options.directory
        && ctx.fs.stat(&resolve_path(ctx.cwd, directory)).await.is_err()
    {
        return Ok(cannot_open(directory));
    }
    match task {
        TarTask::Create if names.is_empty() => Ok(fatal_usage_error("Cowardly refusing to create an empty archive")),
        TarTask::Create => create(ctx, options, options.new_compression(), OldArchive::default(), names).await,
        TarTask::Append | TarTask::Update => match read_old_archive(ctx, options, task == TarTask::Update).await? {
            Ok(old) => create(ctx, options, options.compression(), old, names).await,
            Err(result) => Ok(result),
        },
        TarTask::Extract => extract(ctx, options, names).await,
        TarTask::List => list(ctx, options, names).await,
    }
}

/// Returns the result of a call with an archive or a directory that is not there.
fn cannot_open(name: &str) -> ExecResult {
    fatal_error(&format!("{name}: Cannot open: No such file or directory"))
}

/// Returns the result of an error that ends the call.
fn fatal_error(message: &str) -> ExecResult {
    ExecResult::err(format!("tar: {message}\ntar: Error is not recoverable: exiting now\n"), 2)
}
