//! `sed`: edits streams of lines, as GNU sed 4.9 does.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`options`] | the command line |
//! | [`run`] | a call: its script is read, files are edited, results are written |
//! | [`script`] | scripts as programs |
//! | [`pattern`] | POSIX regular expressions, which `grep` uses, too |
//! | [`machine`] | the machine that runs a program on lines |
//!
//! Without `-s` and `-i` all files are one stream: line numbers go on, `$` is the last line of the last file, and `q`
//! ends everything.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod machine;
mod options;
mod pattern;
mod run;
mod script;

#[cfg(test)]
mod tests;

use async_trait::async_trait;

use bashkit::builtins::{Builtin, Context, check_help_version};
use bashkit::{ExecResult, Result};

pub(crate) use pattern::translate as translate_posix_regex;
pub(super) use pattern::{MatchSpan, Mistake, PatternError, SedRegex, Syntax};

use options::{HELP, Options};
use run::Run;

/// Command that edits streams of lines, as `sed`.
pub(crate) struct Sed;

#[async_trait]
impl Builtin for Sed {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("sed (GNU sed) 4.9")) {
            return Ok(result);
        }
        match Options::parse(ctx.args) {
            Ok(options) => Run { ctx: &ctx, options: &options }.run().await,
            Err(result) => Ok(*result),
        }
    }
}
