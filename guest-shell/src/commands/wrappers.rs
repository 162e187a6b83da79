//! `stdbuf`, `setsid` and `ionice`: commands that run another one, which needs nothing of what they arrange here.
//!
//! Output is passed on as it is written, and there are no terminals, no sessions of processes and no priorities.

use crate::commands::option_parser::gnu_getopt;
use async_trait::async_trait;
use bashkit::builtins::arg_parser::OptArg;
use bashkit::builtins::{Builtin, Context, ExecutionPlan, check_help_version};
use bashkit::{ExecResult, Result, SubCommand};

const STDBUF_HELP: &str = "\
Usage: stdbuf OPTION... COMMAND
Run COMMAND, with modified buffering operations for its standard streams.

  -i, --input=MODE   adjust standard input stream buffering
  -o, --output=MODE  adjust standard output stream buffering
  -e, --error=MODE   adjust standard error stream buffering
      --help     display this help and exit
      --version  output version information and exit

MODE is 'L' for lines, '0' for none, or a size. Output is never held back here.
";

const SETSID_HELP: &str = "
Usage:
 setsid [options] <program> [arguments ...]

Run a program in a new session.

Options:
 -c, --ctty     set the controlling terminal to the current one
 -f, --fork     always fork
 -w, --wait     wait program to exit, and use the same return

 -h, --help     display this help
 -V, --version  display version
";

const IONICE_HELP: &str = "
Usage:
 ionice [options] <command>

Run a command with an I/O-scheduling class and priority.

Options:
 -c, --class <class>    name or number of scheduling class
 -n, --classdata <num>  priority (0..7) in the specified scheduling class
 -t, --ignore           ignore failures

 -h, --help             display this help
 -V, --version          display version
";

/// Command `stdbuf` of the shell.
pub(crate) struct Stdbuf;

/// Command `setsid` of the shell.
pub(crate) struct Setsid;

/// Command `ionice` of the shell.
pub(crate) struct Ionice;

/// Reads a command line up to the command. The error is the result of a wrong call.
fn parse_stdbuf(words: &[String]) -> std::result::Result<Vec<String>, ExecResult> {
    const LONG: [(&str, OptArg, char); 3] =
        [("input", OptArg::Required, 'i'), ("output", OptArg::Required, 'o'), ("error", OptArg::Required, 'e')];
    let usage =
        |message: &str| ExecResult::err(format!("stdbuf: {message}\nTry 'stdbuf --help' for more information.\n"), 125);
    let (given, command) = gnu_getopt("stdbuf", words, "i:o:e:", &LONG, false, 125)?;
    for option in &given {
        let mode = option.value.as_deref().unwrap_or_default();
        match mode {
            "L" if option.key == 'i' => return Err(usage("line buffering stdin is meaningless")),
            "L" => {}
            mode if crate::commands::du::size::parse_block_size(mode).is_some() || mode == "0" => {}
            mode => return Err(ExecResult::err(format!("stdbuf: invalid mode '{mode}'\n"), 125)),
        }
    }
    match (command.is_empty(), given.is_empty()) {
        (true, _) => Err(usage("missing operand")),
        (_, true) => Err(usage("you must specify a buffering mode option")),
        _ => Ok(command),
    }
}

/// Reads a command line up to the command. The error is the result of a wrong call.
fn parse_setsid(words: &[String]) -> std::result::Result<Vec<String>, ExecResult> {
    const LONG: [(&str, OptArg, char); 3] =
        [("ctty", OptArg::No, 'c'), ("fork", OptArg::No, 'f'), ("wait", OptArg::No, 'w')];
    let (given, command) = gnu_getopt("setsid", words, "cfw", &LONG, false, 1)?;
    if command.is_empty() {
        let message = "setsid: no command specified\nTry 'setsid --help' for more information.\n";
        return Err(ExecResult::err(message, 1));
    }
    if given.iter().any(|option| option.key == 'c') {
        let reason = "failed to set the controlling terminal: Inappropriate ioctl for device";
        return Err(ExecResult::err(format!("setsid: {reason}\n"), 1));
    }
    Ok(command)
}

/// Reads a command line up to the command, which there may be none of. The error is the result of a wrong call.
fn parse_ionice(words: &[String]) -> std::result::Result<Vec<String>, ExecResult> {
    const LONG: [(&str, OptArg, char); 3] =
        [("class", OptArg::Required, 'c'), ("classdata", OptArg::Required, 'n'), ("ignore", OptArg::No, 't')];
    let (given, command) = gnu_getopt("ionice", words, "c:n:t", &LONG, false, 1)?;
    let failure = |message: String| ExecResult::err(format!("ionice: {message}\n"), 1);
    for option in given {
        let value = option.value.unwrap_or_default();
        match option.key {
            'c' if !["0", "1", "2", "3", "none", "realtime", "best-effort", "idle"].contains(&&*value) => {
                return Err(failure(format!("unknown scheduling class: '{value}'")));
            }
            'n' if value.parse::<u8>().is_err() => {
                return Err(failure(format!("invalid class data argument: '{value}'")));
            }
            _ => {}
        }
    }
    Ok(command)
}

/// Returns the plan that runs a command with its arguments, and with the input of the one that runs it.
fn plan(ctx: &Context<'_>, command: &[String]) -> Option<ExecutionPlan> {
    let (name, arguments) = command.split_first()?;
    let command =
        SubCommand { name: name.clone(), args: arguments.to_vec(), stdin: ctx.stdin.cloned(), assignments: Vec::new() };
    Some(ExecutionPlan::Batch { commands: vec![command] })
}

#[async_trait]
impl Builtin for Stdbuf {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, STDBUF_HELP, Some("stdbuf (GNU coreutils) 9.1")) {
            return Ok(result);
        }
        // What can be run is run by the plan.
        Ok(parse_stdbuf(ctx.args).map_or_else(|result| result, |_| ExecResult::ok(String::new())))
    }

    async fn execution_plan(&self, ctx: &Context<'_>) -> Result<Option<ExecutionPlan>> {
        if check_help_version(ctx.args, "", Some("")).is_some() {
            return Ok(None);
        }
        Ok(parse_stdbuf(ctx.args).ok().and_then(|command| plan(ctx, &command)))
    }
}

#[async_trait]
impl Builtin for Setsid {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, SETSID_HELP, Some("setsid from util-linux 2.38.1")) {
            return Ok(result);
        }
        Ok(parse_setsid(ctx.args).map_or_else(|result| result, |_| ExecResult::ok(String::new())))
    }

    async fn execution_plan(&self, ctx: &Context<'_>) -> Result<Option<ExecutionPlan>> {
        if check_help_version(ctx.args, "", Some("")).is_some() {
            return Ok(None);
        }
        Ok(parse_setsid(ctx.args).ok().and_then(|command| plan(ctx, &command)))
    }
}

#[async_trait]
impl Builtin for Ionice {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, IONICE_HELP, Some("ionice from util-linux 2.38.1")) {
            return Ok(result);
        }
        // Without a command, it tells of the shell.
        Ok(parse_ionice(ctx.args).map_or_else(|result| result, |_| ExecResult::ok("none: prio 0\n".to_owned())))
    }

    async fn execution_plan(&self, ctx: &Context<'_>) -> Result<Option<ExecutionPlan>> {
        if check_help_version(ctx.args, "", Some("")).is_some() {
            return Ok(None);
        }
        Ok(parse_ionice(ctx.args).ok().and_then(|command| plan(ctx, &command)))
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn wrapped_command_runs_with_its_input_and_status() {
        for (script, output, status) in [
            ("echo a | stdbuf -oL -e0 tr a b", "b\n", 0),
            ("stdbuf --output=L sh -c 'echo x; exit 3'", "x\n", 3),
            ("stdbuf -o L -i 0 echo a", "a\n", 0),
            ("ionice -c3 echo a; ionice -c 2 -n 7 echo b; ionice", "a\nb\nnone: prio 0\n", 0),
            ("setsid -w sh -c 'exit 4'; echo $?; setsid echo hi", "4\nhi\n", 0),
        ] {
            let result = run(script).await;
            assert_eq!((&*result.stdout, result.exit_code), (output, status), "{script}\n{}", &*result.stderr);
        }
    }

    #[tokio::test]
    async fn wrapper_without_what_it_needs_is_an_error() {
        for (script, message, status) in [
            ("stdbuf", "stdbuf: missing operand", 125),
            ("stdbuf cat", "stdbuf: you must specify a buffering mode option", 125),
            ("stdbuf -oX cat", "stdbuf: invalid mode 'X'", 125),
            ("stdbuf -iL cat", "stdbuf: line buffering stdin is meaningless", 125),
            ("stdbuf -x cat", "stdbuf: invalid option -- 'x'", 125),
            ("ionice -c fast true", "ionice: unknown scheduling class: 'fast'", 1),
            ("setsid", "setsid: no command specified", 1),
            ("setsid -x", "setsid: invalid option -- 'x'", 1),
        ] {
            let result = run(script).await;
            assert_eq!((result.stderr.lines().next().unwrap_or_default(), result.exit_code), (message, status));
        }
    }
}
