//! `od`: dumps bytes as numbers or characters, in GNU's layout.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | command-line options |
//! | [`element`] | types of elements, and conversion of elements to text |
//! | [`dump`] | lines of a dump |
//!
//! Floating-point types are not supported.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod dump;
mod element;
mod options;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::result::Result as StdResult;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context};
use bashkit::cached_command;
use bashkit::clap::error::ErrorKind;
use bashkit::{Error, ExecResult, Result};

use self::dump::dump;
use self::options::OdOptions;
use crate::commands::operands;

// The options are those of `od` of uutils. They are built once and cloned for each call.
cached_command!(od_command, bashkit::builtins::generated::od_args::od_command());

/// Command `od` of the shell.
pub(crate) struct Od;

#[async_trait]
impl Builtin for Od {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        let words = std::iter::once(OsString::from("od")).chain(ctx.args.iter().map(OsString::from));
        let matches = match od_command().try_get_matches_from(words) {
            Ok(matches) => matches,
            Err(error) => {
                let message = error.render().to_string();
                return Ok(match error.kind() {
                    ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExecResult::ok(message),
                    _ => ExecResult::err(message, 1),
                });
            }
        };
        let (options, files) = match OdOptions::from_matches(&matches) {
            Ok(parsed) => parsed,
            Err(message) => return Ok(ExecResult::err(format!("od: {message}\n"), 1)),
        };
        let data = match read_files(&ctx, &files, options.used()).await? {
            Ok(data) => data,
            Err(message) => return Ok(ExecResult::err(message, 1)),
        };
        let budget = ctx.execution_budget().map(|budget| budget.try_with(Clone::clone));
        let budget = budget.transpose().map_err(|_| Error::Cancelled)?;
        Ok(ExecResult::ok(dump(&data, &options, budget.as_ref())?))
    }
}

/// Reads the first `length` bytes of each file, or all. The error is the message about the first file that cannot be
/// read.
async fn read_files(ctx: &Context<'_>, files: &[String], length: Option<usize>) -> Result<StdResult<Vec<u8>, String>> {
    let standard_input = ["-".to_owned()];
    let mut data = Vec::new();
    for file in if files.is_empty() { &standard_input } else { files } {
        match operands::read_part(ctx, file, length).await? {
            Ok(content) => data.extend_from_slice(&content),
            Err(reason) => return Ok(Err(format!("od: {file}: {reason}\n"))),
        }
    }
    Ok(Ok(data))
}
