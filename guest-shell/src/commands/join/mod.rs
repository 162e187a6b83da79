//! `join`: joins lines of two sorted files on a common field, as GNU's does. A separator is a character of UTF-8, where
//! coreutils 9.1 takes a byte.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | options of the command line |
//! | [`line`] | lines with their fields |
//! | [`pairing`] | which lines are joined, and which are out of order |
//! | [`output`] | fields of a joined line |

mod line;
mod options;
mod output;
mod pairing;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version};
use bashkit::{ExecResult, Result};

use self::line::{Line, lines};
use self::options::JoinOptions;
use self::output::JoinedOutput;
use self::pairing::{Pairing, Sequence};
use super::budget::budgeted_bytes;
use super::operands;
use crate::commands::files::quote_if_needed;

const HELP: &str = "\
Usage: join [OPTION]... FILE1 FILE2
For each pair of input lines with identical join fields, write a line to
standard output.  The default join field is the first, delimited by blanks.

When FILE1 or FILE2 (not both) is -, read standard input.

  -a FILENUM             also print unpairable lines from file FILENUM, where
                           FILENUM is 1 or 2, corresponding to FILE1 or FILE2
  -e STRING              replace missing (empty) input fields with STRING
  -i, --ignore-case      ignore differences in case when comparing fields
  -j FIELD               equivalent to '-1 FIELD -2 FIELD'
  -o FORMAT              obey FORMAT while constructing output line
  -t CHAR                use CHAR as input and output field separator
  -v FILENUM             like -a FILENUM, but suppress joined output lines
  -1 FIELD               join on this FIELD of file 1
  -2 FIELD               join on this FIELD of file 2
      --check-order      check that the input is correctly sorted, even
                           if all input lines are pairable
      --nocheck-order    do not check that the input is correctly sorted
      --header           treat the first line in each file as field headers,
                           print them without trying to pair them
  -z, --zero-terminated  line delimiter is NUL, not newline
      --help        display this help and exit
      --version     output version information and exit

FORMAT is one or more comma or blank separated specifications, each being
'FILENUM.FIELD' or '0', or the keyword 'auto'.
";

/// Command `join` of the shell.
pub(crate) struct Join;

#[async_trait]
impl Builtin for Join {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("join (GNU coreutils) 9.1")) {
            return Ok(result);
        }
        let (options, names) = match JoinOptions::parse(ctx.args) {
            Ok(parsed) => parsed,
            Err(result) => return Ok(result),
        };
        let mut texts = Vec::with_capacity(2);
        for name in &names {
            match operands::read(&ctx, name).await? {
                Ok(text) => texts.push(text),
                Err(reason) if reason == "Is a directory" => return Ok(failure("read error: Is a directory")),
                Err(reason) => return Ok(failure(&format!("{}: {reason}", quote_if_needed(name)))),
            }
        }
        let [first, second] = [0, 1].map(|file| lines(&texts[file], &options));
        join(&ctx, &options, [&names[0], &names[1]], [&first, &second])
    }
}

/// Joins the lines of two files.
fn join(ctx: &Context<'_>, options: &JoinOptions, names: [&str; 2], files: [&[Line<'_>]; 2]) -> Result<ExecResult> {
    let mut pairing = Pairing {
        ctx,
        options,
        sequences: [0, 1].map(|file| Sequence::new(names[file], files[file], options.join_fields[file])),
        output: JoinedOutput::new(options, files, budgeted_bytes(ctx)?),
        found_unpaired: false,
        messages: String::new(),
        is_stopped: false,
    };
    pairing.run()?;
    let has_disorder = pairing.sequences.iter().any(|sequence| sequence.is_disorder_told);
    if has_disorder && !pairing.is_stopped {
        pairing.messages.push_str("join: input is not in sorted order\n");
    }
    let messages = std::mem::take(&mut pairing.messages);
    let (output, _lease) = pairing.output.bytes.into_parts();
    Ok(ExecResult { stderr: messages.into(), exit_code: i32::from(has_disorder), ..ExecResult::ok_bytes(output) })
}

fn failure(message: &str) -> ExecResult {
    ExecResult::err(format!("join: {message}\n"), 1)
}
