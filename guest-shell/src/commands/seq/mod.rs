//! `seq`: prints numbers in steps, as GNU's does.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | options of the command line |
//! | [`operand`] | numbers of the command line, and the format that they ask for |
//! | [`sequence`] | the numbers that are printed |
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod operand;
mod options;
mod sequence;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version};
use bashkit::{ExecResult, Result};

use self::operand::{NumberFormat, parse_operands};
use self::options::SeqOptions;
use self::sequence::NumberSequence;

const HELP: &str = "\
Usage: seq [OPTION]... LAST
  or:  seq [OPTION]... FIRST LAST
  or:  seq [OPTION]... FIRST INCREMENT LAST
Print numbers from FIRST to LAST, in steps of INCREMENT.

  -f, --format=FORMAT\tuse printf style floating-point FORMAT
  -s, --separator=STRING\tuse STRING to separate numbers (default: \\n)
  -w, --equal-width\tequalize width by padding with leading zeroes
  --help\tdisplay this help and exit
  --version\toutput version information and exit
";

/// Command `seq` of the shell.
pub(crate) struct Seq;

#[async_trait]
impl Builtin for Seq {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("seq (bashkit) 0.1")) {
            return Ok(result);
        }
        match prepare(ctx.args) {
            Ok(sequence) => sequence.write(&ctx).await,
            Err(result) => Ok(result),
        }
    }
}

/// Reads a command line. The error is the result of a wrong call.
fn prepare(words: &[String]) -> std::result::Result<NumberSequence, ExecResult> {
    let (options, operands) = SeqOptions::parse(words)?;
    let [first, step, last] = parse_operands(&operands)?;
    if step.value == 0.0 {
        return Err(ExecResult::err("seq: zero increment\n", 1));
    }
    let format = NumberFormat::new(options.format, [&first, &step, &last], options.equal_width);
    Ok(NumberSequence { first: first.value, step: step.value, last: last.value, separator: options.separator, format })
}
