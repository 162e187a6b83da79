//! `touch`: creates files and sets their times.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | command-line options |
//! | [`stamp`] | parsing of times of `-t` |
//!
//! The VFS only stores the modification time, which `-a` does not change.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod options;
mod stamp;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version, resolve_path};
use bashkit::error::io_error_reason;
use bashkit::time_compat::{self, SystemTime};
use bashkit::{ExecResult, Result};

use self::options::{TouchOptions, failure, usage};
use super::date::Date;
use crate::commands::files::quote;

const HELP: &str = "\
Usage: touch [OPTION]... FILE...
Update the access and modification times of each FILE to the current time.
A FILE argument that does not exist is created empty, unless -c is supplied.

  -a\t\t\tchange only the access time (same as -m: the VFS keeps one timestamp)
  -c, --no-create\tdo not create any files
  -d, --date=STRING\tparse STRING and use it instead of current time
  -f\t\t\t(ignored)
  -h, --no-dereference\taffect each symbolic link instead of any referenced file
  -m\t\t\tchange only the modification time
  -r, --reference=FILE\tuse this file's times instead of current time
  -t STAMP\t\tuse [[CC]YY]MMDDhhmm[.ss] instead of current time
      --time=WORD\tchange the specified time (accepted)
      --help\tdisplay this help and exit
      --version\toutput version information and exit
";

/// Command `touch` of the shell.
#[derive(Default)]
pub(crate) struct Touch {
    clock: Date,
}

impl Touch {
    /// Returns the command with the clock of `date`, which parses the dates of `-d`.
    pub(crate) fn with_clock(clock: Date) -> Self {
        Self { clock }
    }
}

#[async_trait]
impl Builtin for Touch {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("touch (GNU coreutils) 9.1")) {
            return Ok(result);
        }
        let read_date = |text: &str| self.clock.parse_date(ctx.env.get("TZ"), text).ok().map(time_compat::from_chrono);
        let options = match TouchOptions::parse(ctx.args, &read_date) {
            Ok(options) => options,
            Err(refusal) => return Ok(*refusal),
        };
        if options.files.is_empty() {
            return Ok(usage("missing file operand"));
        }
        let time = match time_to_set(&options, &ctx).await {
            Ok(time) => time,
            Err(message) => return Ok(failure(&message)),
        };
        let mut errors = String::new();
        for file in &options.files {
            if let Err(message) = touch(file, time, &options, &ctx).await {
                errors += &format!("touch: {message}\n");
            }
        }
        Ok(ExecResult { exit_code: i32::from(!errors.is_empty()), stderr: errors.into(), ..Default::default() })
    }
}

/// Returns the time for the files. The error is a message.
async fn time_to_set(options: &TouchOptions, ctx: &Context<'_>) -> std::result::Result<SystemTime, String> {
    let mut time = options.time.unwrap_or_else(SystemTime::now);
    if let Some(reference) = &options.reference {
        let path = Some(reference).filter(|name| !name.is_empty()).map(|name| resolve_path(ctx.cwd, name));
        let status = match path {
            Some(path) => ctx.fs.stat(&path).await.ok(),
            None => None,
        };
        let status =
            status.ok_or_else(|| format!("failed to get attributes of '{reference}': No such file or directory"))?;
        // A date is relative to the time of the reference. For an absolute date, as in nearly all calls, this makes no
        // difference.
        if !options.is_dated {
            time = status.modified;
        }
    }
    Ok(time)
}

/// Creates a file if it is missing, and sets its time. The error is a message.
async fn touch(
    file: &str,
    time: SystemTime,
    options: &TouchOptions,
    ctx: &Context<'_>,
) -> std::result::Result<(), String> {
    if file == "-" {
        // The file behind standard output, which this call just wrote to or which has no time.
        return Ok(());
    }
    let not_set = |reason: &str| Err(format!("setting times of {}: {reason}", quote(file)));
    let path = resolve_path(ctx.cwd, file);
    let is_directory_name = file.ends_with('/');
    if options.no_dereference
        && !is_directory_name
        && ctx.fs.lstat(&path).await.is_ok_and(|status| status.file_type.is_symlink())
    {
        // The VFS would set the time of the target of a link instead.
        return if options.sets_modification() { not_set("Operation not supported") } else { Ok(()) };
    }
    match ctx.fs.stat(&path).await {
        Ok(status) if is_directory_name && !status.file_type.is_dir() => return not_set("Not a directory"),
        Ok(_) => {}
        Err(_) if options.no_create => return Ok(()),
        Err(_) if options.no_dereference || is_directory_name => return not_set("No such file or directory"),
        Err(_) => {
            let created = ctx.fs.write_file(&path, &[]).await;
            created.map_err(|error| format!("cannot touch {}: {}", quote(file), io_error_reason(&error)))?;
        }
    }
    if !options.sets_modification() {
        return Ok(());
    }
    match ctx.fs.set_modified_time(&path, time).await {
        Ok(()) => Ok(()),
        Err(error) => not_set(&io_error_reason(&error)),
    }
}
