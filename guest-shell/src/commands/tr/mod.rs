//! `tr`: translates, squeezes and deletes characters, which are single bytes as in GNU's.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | command-line options |
//! | [`set`] | sets of characters |
//! | [`second_set`] | replacements for the characters of the first set |
//! | [`translation`] | translation of each byte |
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod options;
mod second_set;
mod set;
#[cfg(test)]
mod tests;
mod translation;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, InputChunks, check_help_version};
use bashkit::{ExecResult, Result};

use self::options::TrOptions;
use self::translation::Translation;

const HELP: &str = "\
Usage: tr [OPTION]... SET1 [SET2]
Translate, squeeze, and/or delete characters from standard input.

  -d\t\tdelete characters in SET1
  -s\t\tsqueeze repeated output characters
  -c, -C\tcomplement SET1
  -t\t\tfirst truncate SET1 to length of SET2
  --help\tdisplay this help and exit
  --version\toutput version information and exit
";

/// Status of a process that SIGPIPE ended.
const BROKEN_PIPE: i32 = 141;

/// Command `tr` of the shell.
pub(crate) struct Tr;

#[async_trait]
impl Builtin for Tr {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("tr (GNU coreutils) 9.1")) {
            return Ok(result);
        }
        let options = match TrOptions::parse(ctx.args) {
            Ok(options) => options,
            Err(result) => return Ok(result),
        };
        let mut translation = match Translation::new(&options) {
            Ok(translation) => translation,
            Err(message) => return Ok(ExecResult::err(format!("tr: {message}\n"), 1)),
        };
        // In a pipeline, input is translated incrementally, so that `yes | tr y n | head -1` ends.
        if let Some(output) = ctx.stdout_stream() {
            let mut input = InputChunks::stdin(&ctx)?;
            while let Some(part) = input.next(|data: &[u8]| data.len()).await? {
                ctx.consume_budget_work(1)?;
                let translated = translation.apply(&part);
                if !translated.is_empty() && !output.write(&translated).await? {
                    return Ok(ExecResult::with_code(String::new(), BROKEN_PIPE));
                }
            }
            return Ok(ExecResult::ok(String::new()));
        }
        let input = ctx.stdin_to_end().await?;
        Ok(ExecResult::ok_bytes(translation.apply(input.as_bytes())))
    }
}
