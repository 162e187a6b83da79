//! `seq`: prints numbers from the first to the last, as GNU's does.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | command-line options |
//! | [`operand`] | exact decimal numbers of the command line |
//! | [`format`] | formats of `-f` |
//! | [`sequence`] | output of the numbers |
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod format;
mod operand;
mod options;
mod sequence;
#[cfg(test)]
mod tests;

use bashkit::{Command, CommandContext, CommandStatus, Result, async_trait};

use self::options::SeqOptions;
use self::sequence::NumberSequence;
use crate::mend::stream::{Writer, ended};

const HELP: &str = "\
Usage: seq [OPTION]... LAST
  or:  seq [OPTION]... FIRST LAST
  or:  seq [OPTION]... FIRST INCREMENT LAST
Print numbers from FIRST to LAST, in steps of INCREMENT.

  -f, --format=FORMAT      use a printf style floating-point FORMAT
  -s, --separator=STRING   use STRING to separate numbers (default: \\n)
  -w, --equal-width        equalize width by padding with leading zeroes
  --help\tdisplay this help and exit
  --version\toutput version information and exit
";

/// Command `seq` of the shell.
pub(super) struct Seq;

#[async_trait]
impl Command for Seq {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let asks = |option: &str| context.args.iter().take_while(|word| *word != "--").any(|word| word == option);
        let text = match (asks("--help"), asks("--version")) {
            (true, _) => HELP,
            (false, true) => "seq (GNU coreutils) 9.1\n",
            (false, false) => "",
        };
        if !text.is_empty() {
            context.stdout.write_text(text).await?;
            return Ok(CommandStatus::success());
        }
        let sequence = match SeqOptions::parse(context.args).and_then(NumberSequence::new) {
            Ok(sequence) => sequence,
            Err(message) => {
                context.stderr.write_text(&format!("seq: {message}\n")).await?;
                return Ok(CommandStatus::with_code(1));
            }
        };
        let mut output = Writer::new(&context.stdout);
        match sequence.write(&mut output).await {
            Ok(()) => Ok(CommandStatus::success()),
            Err(error) => ended(error),
        }
    }
}

/// Returns a message that refers to the help.
fn usage_error(message: &str) -> String {
    format!("{message}\nTry 'seq --help' for more information.")
}
