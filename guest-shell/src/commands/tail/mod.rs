//! `tail`: prints the last lines or bytes of files, as GNU's does, and text that is appended to the files.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | command-line options |
//! | [`follow`] | `-f` and `-F` |
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod follow;
mod options;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version};
use bashkit::{ExecResult, Result};

use self::options::TailOptions;
use super::excerpt::count::CountSign;
use super::excerpt::files::write_excerpts;
use super::excerpt::options::ExcerptCommand;
use super::excerpt::selection::Selection;

const HELP: &str = "\
Usage: tail [OPTION]... [FILE]...
Print the last 10 lines of each FILE to standard output.

  -n [+]NUM\toutput the last NUM lines; with '+', start at line NUM
  -c [+]NUM\toutput the last NUM bytes; with '+', start at byte NUM
  -NUM\t\tshorthand for -n NUM
  --help\tdisplay this help and exit
  --version\toutput version information and exit

NUM may have a multiplier suffix: b 512, kB 1000, K 1024, MB 1000*1000, M 1024*1024, and so on for G, T, P, E.
";

const TAIL: ExcerptCommand = ExcerptCommand {
    name: "tail",
    default: Selection::Last(10),
    select: |sign, count| match sign {
        CountSign::Plus => Selection::From(count),
        CountSign::None | CountSign::Minus => Selection::Last(count),
    },
};

/// Command `tail` of the shell.
pub(crate) struct Tail;

#[async_trait]
impl Builtin for Tail {
    fn follows(&self, args: &[String]) -> bool {
        TailOptions::parse(args).is_ok_and(|options| options.follow.is_some())
    }

    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("tail (GNU coreutils) 9.1")) {
            return Ok(result);
        }
        let options = match TailOptions::parse(ctx.args) {
            Ok(options) => options,
            Err(result) => return Ok(result),
        };
        match &options.follow {
            Some(following) => follow::run(&ctx, &options.excerpt, following).await,
            None => write_excerpts(&ctx, TAIL.name, &options.excerpt, options.warnings).await,
        }
    }
}
