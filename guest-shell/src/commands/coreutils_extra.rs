//! Front ends of other commands: `egrep`, `fgrep`, `chgrp`, `sum`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use async_trait::async_trait;

use bashkit::ExecResult;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::Context;
use bashkit::builtins::arg_parser::{OptArg, gnu_getopt};
use bashkit::builtins::check_help_version;

use super::checksum::algorithm::PlainSum;
use super::operands;

/// Re-run a builtin with different arguments.
async fn run_with_args(builtin: &dyn Builtin, ctx: Context<'_>, args: &[String]) -> Result<ExecResult> {
    let new_ctx = Context {
        args,
        env: ctx.env,
        variables: ctx.variables,
        cwd: ctx.cwd,
        fs: ctx.fs,
        stdin: ctx.stdin,
        shell: ctx.shell,
    };
    builtin.execute(new_ctx).await
}

/// Commands `egrep` and `fgrep`, which are `grep -E` and `grep -F`. GNU grep 3.8+ also warns that they are obsolescent;
/// that warning is left out.
pub(crate) struct GrepAlias {
    flag: &'static str,
}

impl GrepAlias {
    /// `egrep` = `grep -E`
    pub(crate) fn egrep() -> Self {
        Self { flag: "-E" }
    }
    /// `fgrep` = `grep -F`
    pub(crate) fn fgrep() -> Self {
        Self { flag: "-F" }
    }
}

#[async_trait]
impl Builtin for GrepAlias {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        let mut args = vec![self.flag.to_string()];
        args.extend(ctx.args.iter().cloned());
        run_with_args(&crate::commands::grep::Grep, ctx, &args).await
    }
}

/// Command `chgrp GROUP FILE...`, where ownership is not modeled, like in `chown`.
pub(crate) struct Chgrp;

#[async_trait]
impl Builtin for Chgrp {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = bashkit::builtins::check_help_version(
            ctx.args,
            "Usage: chgrp [OPTION]... GROUP FILE...\nChange the group of each FILE to GROUP.\n\n  -R, --recursive\toperate on files and directories recursively\n",
            Some("chgrp (GNU coreutils) 9.1"),
        ) {
            return Ok(r);
        }
        let args = ctx.args.to_vec();
        let mut r = run_with_args(&bashkit::builtins::Chown, ctx, &args).await?;
        // Each message begins with the name of the command; names of files in it are left as they are.
        let messages = r.stderr.as_bytes().split_inclusive(|byte| *byte == b'\n');
        let renamed = messages.flat_map(|message| match message.strip_prefix(b"chown:") {
            Some(rest) => [&b"chgrp:"[..], rest].concat(),
            None => message.to_vec(),
        });
        r.stderr = renamed.collect::<Vec<u8>>().into();
        Ok(r)
    }
}

/// Command `sum [-r|-s] [FILE]...` with its two checksums.
pub(crate) struct Sum;

const SUM_HELP: &str = "\
Usage: sum [OPTION]... [FILE]...
Print checksum and block counts for each FILE.

  -r\tuse BSD sum algorithm (the default), use 1K blocks
  -s, --sysv\tuse System V sum algorithm, use 512 bytes blocks
  --help\tdisplay this help and exit
  --version\toutput version information and exit
";

#[async_trait]
impl Builtin for Sum {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, SUM_HELP, Some("sum (GNU coreutils) 9.1")) {
            return Ok(result);
        }
        let (given, files) = match gnu_getopt("sum", ctx.args, "rs", &[("sysv", OptArg::No, 's')], true, 1) {
            Ok(parsed) => parsed,
            Err(result) => return Ok(result),
        };
        let sum = match given.last() {
            Some(option) if option.key == 's' => PlainSum::SystemV,
            _ => PlainSum::Bsd,
        };
        let operands = operands::read_all(&ctx, "sum", &files).await?;
        let mut output = String::new();
        for (name, data) in &operands.contents {
            let name = if files.is_empty() { String::new() } else { format!(" {name}") };
            output.push_str(&format!("{}{name}\n", sum.text(data)));
        }
        Ok(operands.finish(output))
    }
}
