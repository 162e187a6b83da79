//! `od`: dumps bytes as numbers or characters, in GNU's layout.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | command-line options |
//! | [`element`] | types of elements, and conversion of elements to text |
//! | [`dump`] | lines of a dump |
//!
//! Floating-point numbers have 4 or 8 bytes.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod dump;
mod element;
mod options;
#[cfg(test)]
mod tests;

use std::ffi::OsString;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context};
use bashkit::cached_command;
use bashkit::{Error, ExecResult, Result};

use self::dump::{dump, strings};
use self::options::OdOptions;
use crate::commands::clap_answer::clap_answer;
use crate::commands::operands;

// The options are those of `od` of uutils. They are built once and cloned for each call.
cached_command!(od_command, bashkit::builtins::generated::od_args::od_command());

/// Width that `-w` stands for without a number.
const UNSTATED_WIDTH: &str = "--width=32";

/// Command `od` of the shell.
pub(crate) struct Od;

#[async_trait]
impl Builtin for Od {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        // A width is in the same word: behind `-w` alone stands a file.
        let options = ctx.args.iter().take_while(|word| *word != "--").count();
        let words = ctx.args.iter().enumerate().map(|(at, word)| match word.as_str() {
            "-w" | "--width" if at < options => OsString::from(UNSTATED_WIDTH),
            word => OsString::from(word),
        });
        let words = std::iter::once(OsString::from("od")).chain(words);
        let matches = match od_command().try_get_matches_from(words) {
            Ok(matches) => matches,
            Err(error) => return Ok(clap_answer("od", &error, 1)),
        };
        let (options, files) = match OdOptions::from_matches(&matches) {
            Ok(parsed) => parsed,
            Err(message) => return Ok(ExecResult::err(format!("od: {message}\n"), 1)),
        };
        let operands = operands::read_all_parts(&ctx, "od", &files, options.used()).await?;
        if operands.contents.is_empty() {
            return Ok(ExecResult::err(operands.messages(), 1));
        }
        let data = operands.concat();
        if options.skip > data.len() {
            let message = "od: cannot skip past end of combined input\n";
            return Ok(ExecResult::err(operands.messages() + message, 1));
        }
        let budget = ctx.execution_budget().map(|budget| budget.try_with(Clone::clone));
        let budget = budget.transpose().map_err(|_| Error::Cancelled)?;
        let output = match options.strings {
            Some(length) => strings(&data, &options, length),
            None => dump(&data, &options, budget.as_ref())?,
        };
        Ok(operands.finish(output, &[], operands::OutputFlush::FullBlocks))
    }
}
