//! Front ends of other commands: `egrep`, `fgrep`, `dir`, `vdir`, `sum`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use async_trait::async_trait;

use crate::commands::option_parser::gnu_getopt;
use bashkit::ExecResult;
use bashkit::Result;
use bashkit::StreamData;
use bashkit::builtins::Builtin;
use bashkit::builtins::Context;
use bashkit::builtins::arg_parser::OptArg;
use bashkit::builtins::check_help_version;

use super::checksum::algorithm::PlainSum;
use super::ls::Ls;
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

/// Commands `dir` and `vdir`, which are `ls -C -b` and `ls -l -b`.
pub(crate) struct ListAlias {
    command: &'static str,
    flags: [&'static str; 2],
    ls: Ls,
}

impl ListAlias {
    /// Returns the command `dir`, which lists with `ls`.
    pub(crate) fn dir(ls: Ls) -> Self {
        Self { command: "dir", flags: ["-C", "-b"], ls }
    }

    /// Returns the command `vdir`, which lists with `ls`.
    pub(crate) fn vdir(ls: Ls) -> Self {
        Self { command: "vdir", flags: ["-l", "-b"], ls }
    }
}

#[async_trait]
impl Builtin for ListAlias {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        let flags = self.flags.iter().map(|flag| (*flag).to_owned());
        let args: Vec<String> = flags.chain(ctx.args.iter().cloned()).collect();
        let mut result = run_with_args(&self.ls, ctx, &args).await?;
        result.stderr = renamed(&result.stderr, "ls", self.command).into();
        Ok(result)
    }
}

/// Returns messages with another name of the command, which begins each. Names of files in them are left as they are.
fn renamed(messages: &StreamData, from: &str, to: &str) -> Vec<u8> {
    let prefix = format!("{from}:");
    let lines = messages.as_bytes().split_inclusive(|byte| *byte == b'\n');
    let renamed = lines.flat_map(|message| match message.strip_prefix(prefix.as_bytes()) {
        Some(rest) => [to.as_bytes(), b":", rest].concat(),
        None => message.to_vec(),
    });
    renamed.collect()
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
        let mut ends = Vec::with_capacity(operands.contents.len());
        for (name, data) in &operands.contents {
            let name = if files.is_empty() { String::new() } else { format!(" {name}") };
            output.push_str(&format!("{}{name}\n", sum.text(data)));
            ends.push(output.len());
        }
        Ok(operands.finish_text(output, &ends))
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn dir_and_vdir_list_as_ls_does_under_their_names() {
        let result = run("touch 'a b' c; dir; vdir | cut -c 1-10; dir none 2>&1").await;
        assert_eq!(
            (&*result.stdout, result.exit_code),
            ("a\\ b  c\ntotal 0\n-rw-r--r--\n-rw-r--r--\ndir: cannot access 'none': No such file or directory\n", 2)
        );
    }
}
