//! `uniq`: filters adjacent equal lines, as GNU's does in the C locale.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | command-line options |
//! | [`filter`] | groups of equal lines, and the selection of lines that are printed |
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod filter;
mod options;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version, resolve_path};
use bashkit::error::io_error_reason;
use bashkit::{ExecResult, Result};

use self::filter::filter;
use self::options::UniqOptions;
use crate::commands::files::{quote, quote_if_needed};
use crate::commands::operands;

const HELP: &str = "\
Usage: uniq [OPTION]... [INPUT [OUTPUT]]
Filter adjacent matching lines from INPUT, writing to OUTPUT.

  -c\t\tprefix lines by the number of occurrences
  -d\t\tonly print duplicate lines, one for each group
  -D\t\tprint all duplicate lines
  --all-repeated[=METHOD]\tlike -D, but part groups: none, prepend, separate
  --group[=METHOD]\tshow all, part groups: separate, prepend, append, both
  -u\t\tonly print unique lines
  -i\t\tignore differences in case when comparing
  -f NUM\tavoid comparing the first NUM fields
  -s NUM\tavoid comparing the first NUM characters
  -w NUM\tcompare no more than NUM characters in lines
  -z\t\tline delimiter is NUL, not newline
  --help\tdisplay this help and exit
  --version\toutput version information and exit
";

/// Command `uniq` of the shell.
pub(crate) struct Uniq;

#[async_trait]
impl Builtin for Uniq {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("uniq (GNU coreutils) 9.1")) {
            return Ok(result);
        }
        let (options, operands) = match UniqOptions::parse(ctx.args) {
            Ok(parsed) => parsed,
            Err(result) => return Ok(result),
        };
        let input = operands.first().map_or("-", String::as_str);
        let mut text = match operands::read(&ctx, input).await? {
            Ok(text) => text,
            Err(reason) if reason == "Is a directory" => {
                return Ok(ExecResult::err(format!("uniq: error reading {}\n", quote(input)), 1));
            }
            Err(reason) => return Ok(failure(input, &reason)),
        };
        let Some(output) = operands.get(1).filter(|output| *output != "-") else {
            return Ok(ExecResult::ok_bytes(filter(&options, &text)));
        };
        let path = resolve_path(ctx.cwd, output);
        if path == resolve_path(ctx.cwd, input) {
            // The output is truncated before the input is read.
            text.clear();
        }
        Ok(match ctx.fs.write_file(&path, &filter(&options, &text)).await {
            Ok(()) => ExecResult::ok(String::new()),
            Err(error) => failure(output, &io_error_reason(&error)),
        })
    }
}

fn failure(name: &str, reason: &str) -> ExecResult {
    ExecResult::err(format!("uniq: {}: {reason}\n", quote_if_needed(name)), 1)
}
