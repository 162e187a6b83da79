//! `tar`: creates, extends, extracts and lists archives.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`], [`long_options`], [`usage`] | options of the command line, and results of wrong ones |
//! | [`name_list`] | names of members or files that a file lists (`-T`) |
//! | [`exclusion`], [`transform`], [`attributes`] | names that are left out, names and attributes that options change |
//! | [`header`] | headers of members |
//! | [`reader`] | members of an archive, one after the other |
//! | [`members`] | members that are extracted or listed |
//! | [`input`] | archives that are read, decompressed |
//! | [`append`] | archives that members are added to |
//! | [`create`] | new archives, and additions to old ones |
//! | [`plan`] | checks of a whole archive before it is extracted |
//! | [`extract`] | files, directories and links from an archive |
//! | [`list`] | lines about members |
//! | [`compare`] | comparison of members with files (`-d`) |
//! | [`delete`] | removal of members (`--delete`) |
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod append;
mod attributes;
mod compare;
mod create;
mod delete;
mod exclusion;
mod extract;
mod header;
mod input;
mod list;
mod long_options;
mod members;
mod name_list;
mod options;
mod plan;
mod reader;
#[cfg(test)]
mod tests;
mod transform;
mod usage;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version};
use bashkit::{ExecResult, Result};

use self::append::{OldArchive, read_old_archive};
use self::compare::compare;
use self::create::{base_directory, create};
use self::delete::delete;
use self::extract::extract;
use self::list::list;
use self::name_list::read_name_lists;
use self::options::{TarOptions, TarTask};
use self::usage::fatal_usage_error;
use crate::commands::budget::budgeted_vec;
use crate::commands::date::Date;
use crate::commands::operands;

const HELP: &str = "\
Usage: tar [OPTION]... [FILE]...
Create, extract, list, compare or change tar archives, in GNU's format.

  -c, -r, -u\tcreate an archive, append files, or append those that are newer than in it
  -x, -t, -d\textract an archive, list it, or compare it with files
      --delete\tdelete members from the archive
  -f ARCHIVE\tarchive file name
  -z, -j, -J, --zstd\tfilter through gzip, bzip2, xz or zstd
  -a, -I PROGRAM\tfilter through what the suffix says, or through a program of these
  -C DIR\tchange to directory DIR
  -v\tverbose output
  -T, -X FILE\tget names, or patterns of names to exclude, from FILE (--null)
      --exclude=PATTERN, --exclude-vcs, --exclude-backups
      --transform=EXPRESSION, --strip-components=N, --show-transformed-names
      --owner, --group, --mode, --mtime, --numeric-owner, --sort=name
  -N, --newer=DATE\tonly store files newer than DATE
  -h\tfollow symlinks
      --no-recursion, --remove-files, --add-file=FILE
  -O\textract files to stdout
  -k, --skip-old-files, --keep-newer-files, --one-top-level[=DIR]
  -m, -p, -P\tno modification times, all permissions, absolute names
      --wildcards, --no-anchored, --ignore-case
      --totals, --full-time
  --help\tdisplay this help and exit
  --version\toutput version information and exit
";

/// Command `tar` of the shell.
#[derive(Default)]
pub(crate) struct Tar {
    clock: Date,
}

impl Tar {
    /// Returns the command with the clock that dates of options are relative to.
    pub(crate) fn with_clock(clock: Date) -> Self {
        Self { clock }
    }
}

#[async_trait]
impl Builtin for Tar {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("tar (GNU tar) 1.34")) {
            return Ok(result);
        }
        let mut operands = budgeted_vec(&ctx)?;
        let mut options = match TarOptions::parse(ctx.args, &mut operands)? {
            Ok(options) => options,
            Err(result) => return Ok(result),
        };
        for list in std::mem::take(&mut options.exclude_lists) {
            match operands::read(&ctx, list).await? {
                Ok(text) => options.exclusion.add_lines(&text),
                Err(reason) => return Ok(fatal_error(&format!("{list}: Cannot open: {reason}"))),
            }
        }
        let listed = match read_name_lists(&ctx, &options.name_lists, options.null_names).await? {
            Ok(listed) => listed,
            Err(result) => return Ok(result),
        };
        for name in &*listed {
            operands.try_push(&**name)?;
        }
        run(&ctx, &self.clock, &options, &operands).await
    }
}

async fn run(ctx: &Context<'_>, clock: &Date, options: &TarOptions<'_>, names: &[&str]) -> Result<ExecResult> {
    let task = match options.task() {
        Ok(task) => task,
        Err(result) => return Ok(result),
    };
    for (operands, directory) in &options.directories {
        if ctx.fs.stat(&base_directory(ctx, options, *operands)).await.is_err() {
            return Ok(cannot_open(directory));
        }
    }
    match task {
        TarTask::Create if names.is_empty() && options.name_lists.is_empty() => {
            Ok(fatal_usage_error("Cowardly refusing to create an empty archive"))
        }
        TarTask::Create => match options.new_compression() {
            Ok(compression) => create(ctx, clock, options, compression, OldArchive::default(), names).await,
            Err(result) => Ok(result),
        },
        TarTask::Append | TarTask::Update => match read_old_archive(ctx, options, task == TarTask::Update).await? {
            Ok(old) => create(ctx, clock, options, options.compression(), old, names).await,
            Err(result) => Ok(result),
        },
        TarTask::Extract => extract(ctx, options, names).await,
        TarTask::List => list(ctx, options, names).await,
        TarTask::Compare => compare(ctx, options, names).await,
        TarTask::Delete => delete(ctx, options, names).await,
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
