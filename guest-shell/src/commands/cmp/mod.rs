//! `cmp`: compares two files byte by byte, as GNU's does.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | options of the command line |
//! | [`report`] | differences, and what is written of them |
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod options;
mod report;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version};
use bashkit::{ExecResult, Result};

use self::options::CmpOptions;
use self::report::compare;
use crate::commands::operands;

const HELP: &str = "\
Usage: cmp [OPTION]... FILE1 [FILE2 [SKIP1 [SKIP2]]]
Compare two files byte by byte.

  -b, --print-bytes\tprint differing bytes
  -i, --ignore-initial=SKIP\tskip first SKIP bytes of both inputs
  -l, --verbose\toutput byte numbers and differing byte values
  -n, --bytes=LIMIT\tcompare at most LIMIT bytes
  -s, --quiet, --silent\tsuppress all normal output
  --help\tdisplay this help and exit
  --version\toutput version information and exit
";

/// Status of a comparison that is not made.
const TROUBLE: i32 = 2;

/// Command `cmp` of the shell.
pub(crate) struct Cmp;

#[async_trait]
impl Builtin for Cmp {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("cmp (GNU diffutils) 3.8")) {
            return Ok(result);
        }
        let options = match CmpOptions::parse(ctx.args) {
            Ok(options) => options,
            Err(message) => return Ok(trouble(&message)),
        };
        let mut contents = Vec::with_capacity(2);
        for name in &options.names {
            match operands::read(&ctx, name).await? {
                Ok(data) => contents.push(data),
                Err(_) if options.silent => return Ok(ExecResult::with_code(String::new(), TROUBLE)),
                Err(reason) => return Ok(trouble(&format!("{name}: {reason}"))),
            }
        }
        let [left, right] = options.compared_parts([&contents[0], &contents[1]]);
        Ok(compare(&options, left, right))
    }
}

fn trouble(message: &str) -> ExecResult {
    ExecResult::err(format!("cmp: {message}\n"), TROUBLE)
}
