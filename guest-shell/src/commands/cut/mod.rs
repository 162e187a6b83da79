//! `cut`: prints parts of lines. Characters are bytes, as in GNU's.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | options of the command line |
//! | [`range_list`] | positions that are selected |
//! | [`line`] | parts of a line |
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod line;
mod options;
mod range_list;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version};
use bashkit::{ExecResult, Result};

use self::line::push_parts;
use self::options::CutOptions;
use self::range_list::PositionUnit;
use crate::commands::operands::{self, OutputFlush};
use crate::commands::records::records;

const HELP: &str = "\
Usage: cut OPTION... [FILE]...
Print selected parts of lines from each FILE to standard output.

  -d DELIM\t\tuse DELIM instead of TAB for field delimiter
  -f FIELDS\t\tselect only these fields
  -b BYTES\t\tselect only these bytes
  -c CHARS\t\tselect only these characters
  -s\t\t\tonly print lines containing delimiter
  -z\t\t\tline delimiter is NUL, not newline
  --complement\t\tcomplement the selection
  --output-delimiter=STRING\tuse STRING as output delimiter
  --help\t\tdisplay this help and exit
  --version\t\toutput version information and exit
";

/// Command `cut` of the shell.
pub(crate) struct Cut;

#[async_trait]
impl Builtin for Cut {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("cut (GNU coreutils) 9.1")) {
            return Ok(result);
        }
        let (options, files) = match CutOptions::parse(ctx.args) {
            Ok(parsed) => parsed,
            Err(result) => return Ok(result),
        };
        let operands = operands::read_all(&ctx, "cut", &files).await?;
        let mut output = Vec::new();
        let mut ends = Vec::with_capacity(operands.contents.len());
        for (_, text) in &operands.contents {
            if options.delimiter == options.terminator && options.unit == PositionUnit::Fields && !text.is_empty() {
                // The lines are the fields.
                push_parts(&options, text.strip_suffix(&[options.terminator]).unwrap_or(text), &mut output);
            } else {
                for line in records(text, options.terminator) {
                    push_parts(&options, line, &mut output);
                }
            }
            ends.push(output.len());
        }
        Ok(operands.finish(output, &ends, OutputFlush::BeforeMessages))
    }
}
