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

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version};
use bashkit::{Error, ExecResult, Result};

use self::dump::{dump, strings};
use self::options::OdOptions;
use crate::commands::operands;

const HELP: &str = "\
Usage: od [OPTION]... [FILE]...
  or:  od [-abcdfilosx]... [FILE] [[+]OFFSET[.][b]]
Write an unambiguous representation, octal bytes by default, of FILE to standard output.

  -A, --address-radix=RADIX   output format for file offsets; RADIX is one of [doxn]
      --endian={big|little}   swap input bytes according the specified order
  -j, --skip-bytes=BYTES      skip BYTES input bytes first
  -N, --read-bytes=BYTES      limit dump to BYTES input bytes
  -S BYTES, --strings[=BYTES]  output strings of at least BYTES graphic chars
  -t, --format=TYPE           select output format or formats
  -v, --output-duplicates     do not use * to mark line suppression
  -w[BYTES], --width[=BYTES]  output BYTES bytes per output line
  -a, -b, -c, -d, -f, -i, -l, -o, -s, -x   as -t a, o1, c, u2, fF, dI, dL, o2, d2, x2
      --help                  display this help and exit
      --version               output version information and exit
";

/// Command `od` of the shell.
pub(crate) struct Od;

#[async_trait]
impl Builtin for Od {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(answer) = check_help_version(ctx.args, HELP, Some("od (GNU coreutils) 9.1")) {
            return Ok(answer);
        }
        let (options, files) = match OdOptions::parse(ctx.args) {
            Ok(parsed) => parsed,
            Err(refusal) => return Ok(refusal),
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
