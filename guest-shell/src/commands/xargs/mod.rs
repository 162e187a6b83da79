//! Command `xargs`: builds command lines from items, and runs them one after the other.
//!
//! [`options`] reads the command line, [`scanner`] cuts the input into items, [`plan`] makes command lines of them, and
//! [`run`] runs these.
//!
//! `-P N` starts nothing at the same time: it determines the numbers that `--process-slot-var` hands out, which are those
//! of GNU's `xargs` for commands that end in the order in which they were started.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod options;
mod plan;
mod run;
mod scanner;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, ExecutionPlan, check_help_version, resolve_path};
use bashkit::{ExecResult, Result};

use self::options::XargsOptions;
use self::plan::CommandPlan;
use self::run::XargsRun;

const HELP: &str = "Usage: xargs [OPTION]... [COMMAND [ARGS]...]\nBuild and execute command lines from standard input.\n\n  -0, --null\titems are separated by a null, not whitespace\n  -a, --arg-file=FILE\tread arguments from FILE, not standard input\n  -d, --delimiter=CHAR\titems are separated by CHAR\n  -E END\tset logical EOF string\n  -I R\treplace R in initial-arguments with names read from input\n  -L, --max-lines=MAX-LINES\tuse at most MAX-LINES non-blank input lines per command line\n  -n, --max-args=MAX-ARGS\tuse at most MAX-ARGS arguments per command line\n  -r, --no-run-if-empty\tif there are no arguments, then do not run COMMAND\n  -s, --max-chars=MAX-CHARS\tlimit length of command line to MAX-CHARS\n  -t, --verbose\tprint commands before executing them\n  -x, --exit\texit if the size (see -s) is exceeded\n  -P, --max-procs=N\tallocate N parallel slots (runs sequentially)\n  --process-slot-var=VAR\tset VAR to the slot index (0..N-1)\n  --help\tdisplay this help and exit\n  --version\toutput version information and exit\n";

/// Command `xargs` of the shell.
pub(crate) struct Xargs;

/// Reads the input that holds the items. The error is a message about a file that cannot be opened.
async fn read_input(ctx: &Context<'_>, options: &XargsOptions) -> Result<std::result::Result<String, String>> {
    let file = match options.arg_file.as_deref() {
        None | Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0") => {
            return Ok(Ok(ctx.stdin_to_end().await?.to_string()));
        }
        Some("") => {
            let message = "xargs: Cannot open input file '': No such file or directory\n";
            return Ok(Err(message.to_owned()));
        }
        Some(file) => file,
    };
    let path = resolve_path(ctx.cwd, file);
    Ok(match ctx.fs.read_file(&path).await {
        Ok(bytes) => Ok(bashkit::text_of(&bytes).into_owned()),
        // A directory has no items: GNU's `xargs` takes the error of reading for the end of the input.
        Err(_) if ctx.fs.exists(&path).await.unwrap_or(false) => Ok(String::new()),
        Err(error) => {
            Err(format!("xargs: Cannot open input file '{file}': {}\n", bashkit::error::io_error_reason(&error)))
        }
    })
}

#[async_trait]
impl Builtin for Xargs {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        // Reached only without a plan: nothing is to be run, or the call is wrong.
        if let Some(answer) = check_help_version(ctx.args, HELP, Some("xargs (GNU findutils) 4.9.0")) {
            return Ok(answer);
        }
        let options = match XargsOptions::parse(ctx.args) {
            Ok(options) => options,
            Err(answer) => return Ok(answer),
        };
        Ok(match read_input(&ctx, &options).await? {
            Ok(_) => ExecResult { stderr: options.warnings.into(), ..ExecResult::ok(String::new()) },
            Err(message) => ExecResult::err(options.warnings + &message, 1),
        })
    }

    async fn execution_plan(&self, ctx: &Context<'_>) -> Result<Option<ExecutionPlan>> {
        let Ok(options) = XargsOptions::parse(ctx.args) else { return Ok(None) };
        let Ok(input) = read_input(ctx, &options).await? else { return Ok(None) };
        let CommandPlan { commands, error } = CommandPlan::new(&options, &input);
        if !options.verbose && error.is_none() && commands.is_empty() {
            return Ok(None);
        }
        Ok(Some(ExecutionPlan::Driver(Box::new(XargsRun::new(&options, commands, error)))))
    }
}
