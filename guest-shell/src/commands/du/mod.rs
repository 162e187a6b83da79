//! `du`: room that files and directories take, in blocks as of a file system with blocks of 4096 bytes.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | options of the command line |
//! | [`walk`] | walk through the files that are counted |
//! | [`size`] | sizes as `du` and `df` print them |

mod options;
pub(super) mod size;
#[cfg(test)]
mod tests;
mod walk;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version};
use bashkit::{ExecResult, PlacedMessages, Result};

use self::options::{DuOptions, usage_error};
use self::walk::{Usage, UsageWalk};
use crate::commands::date::Date;
use crate::commands::file_status::FmtEnv;
use crate::commands::operands;

const HELP: &str = "\
Usage: du [OPTION]... [FILE]...
  or:  du [OPTION]... --files0-from=F
Summarize device usage of the set of FILEs, recursively for directories.

  -0, --null            end each output line with NUL, not newline
  -a, --all             write counts for all files, not just directories
      --apparent-size   print apparent sizes rather than device usage
  -B, --block-size=SIZE  scale sizes by SIZE before printing them
  -b, --bytes           equivalent to '--apparent-size --block-size=1'
  -c, --total           produce a grand total
  -D, -H, --dereference-args  dereference only symlinks on the command line
  -d, --max-depth=N     print the total for a directory only if it is N or fewer levels below the argument
      --files0-from=F   summarize usage of the NUL-terminated file names in file F
  -h, --human-readable  print sizes in human readable format
      --inodes          list inode usage information instead of block usage
  -k                    like --block-size=1K
  -L, --dereference     dereference all symbolic links
  -m                    like --block-size=1M
  -P, --no-dereference  don't follow any symbolic links (the default)
  -S, --separate-dirs   for directories do not include size of subdirectories
      --si              like -h, but use powers of 1000 not 1024
  -s, --summarize       display only a total for each argument
  -t, --threshold=SIZE  exclude entries smaller than SIZE if positive, or greater if negative
      --time            show time of the last modification of any file in the directory
      --time-style=STYLE  show times using STYLE: full-iso, long-iso, iso, or +FORMAT
  -X, --exclude-from=FILE  exclude files that match any pattern in FILE
      --exclude=PATTERN  exclude files that match PATTERN
      --help            display this help and exit
      --version         output version information and exit
";

/// Command `du` of the shell.
pub(crate) struct Du {
    clock: Date,
    user: String,
}

impl Du {
    /// Returns the command with the zone of a clock.
    pub(crate) fn new(clock: Date, user: &str) -> Self {
        Self { clock, user: user.to_owned() }
    }
}

#[async_trait]
impl Builtin for Du {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("du (GNU coreutils) 9.1")) {
            return Ok(result);
        }
        let (mut options, mut files) = match DuOptions::parse(ctx.args) {
            Ok(parsed) => parsed,
            Err(result) => return Ok(result),
        };
        for name in std::mem::take(&mut options.exclude_files) {
            match operands::read(&ctx, &name).await? {
                Ok(text) => options.exclude.extend(patterns(&text)),
                Err(reason) => return Ok(usage_error(&format!("{name}: {reason}"))),
            }
        }
        let mut errors = String::new();
        if let Some(list) = &options.files_from {
            match operands::read_name_list(&ctx, "du", list).await? {
                Ok((names, messages)) => {
                    files = names;
                    errors = messages.into_iter().map(|(_, message)| message).collect();
                }
                Err(message) => return Ok(ExecResult::err(message, 1)),
            }
        } else if files.is_empty() {
            files.push(".".to_owned());
        }
        let environment = FmtEnv { clock: self.clock, tz: ctx.env.get("TZ").cloned(), username: self.user.clone() };
        let mut walk = UsageWalk::new(&ctx, &options, &environment, files.len() > 1);
        let mut total = Usage::NOTHING;
        for file in &files {
            match file.is_empty() {
                true => walk.refuse_empty_name(),
                false => total.add(walk.count(file).await?),
            }
        }
        if options.total {
            walk.print(total, "total");
        }
        let status = i32::from(walk.has_failed || !errors.is_empty());
        let mut messages = PlacedMessages::new();
        messages.push(&errors, 0);
        messages.push_stream(&walk.errors.beside_text(&walk.output), &walk.output.as_str().into(), 0);
        Ok(ExecResult { stderr: messages.into(), ..ExecResult::with_code(walk.output, status) })
    }
}

/// Patterns of a file of them, a line each.
fn patterns(text: &[u8]) -> Vec<String> {
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(bashkit::text_of).map(String::from).collect()
}
