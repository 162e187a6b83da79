//! Command `env`: prints the environment, or runs a command in a modified one.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`options`] | the command line |
//! | [`split_string`] | arguments of `-S` |
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod options;
mod split_string;

use std::collections::BTreeMap;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, ExecutionPlan, SubCommand, check_help_version, search_path};
use bashkit::{ExecResult, Result};

use self::options::parse_env_args;

const HELP: &str = "Usage: env [OPTION]... [-] [NAME=VALUE]... [COMMAND [ARG]...]\nSet each NAME to VALUE in the environment and run COMMAND.\n\n  -i, --ignore-environment\tstart with an empty environment\n  -0, --null\tend each output line with NUL, not newline\n  -u, --unset=NAME\tremove variable from the environment\n  -C, --chdir=DIR\tchange working directory to DIR\n  -S, --split-string=S\tprocess and split S into separate arguments\n  -v, --debug\ttell what is done\n  --help\tdisplay this help and exit\n  --version\toutput version information and exit\n";

/// Command `env` of the shell, which runs a command through an [`ExecutionPlan`], in a copy of the environment.
pub(super) struct Env;

#[async_trait]
impl Builtin for Env {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = check_help_version(ctx.args, HELP, Some("env (GNU coreutils) 9.1")) {
            return Ok(r);
        }
        let parsed = match parse_env_args(ctx.args, ctx.env) {
            Ok(p) => p,
            Err(e) => {
                return Ok(ExecResult::err(format!("{e}\nTry 'env --help' for more information.\n"), 125));
            }
        };
        if let Some(message) = parsed.impossible_change() {
            return Ok(ExecResult::err(message, 125));
        }
        // A command is run through `execution_plan`; reaching here with one
        // means the plan path was unavailable.
        if !parsed.command.is_empty() {
            return Ok(ExecResult::err(format!("env: '{}': cannot run here\n", parsed.command[0]), 126));
        }
        let mut vars: BTreeMap<&str, &str> = if parsed.clear {
            Default::default()
        } else {
            ctx.env.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect()
        };
        // The shell passes a program its own path.
        let own_path = search_path(&ctx, "env").await;
        if let Some(path) = own_path.as_deref().filter(|_| !parsed.clear) {
            vars.insert("_", path);
        }
        for name in &parsed.unset {
            vars.remove(name.as_str());
        }
        for (k, v) in &parsed.set {
            vars.insert(k, v);
        }
        let end = if parsed.null { '\0' } else { '\n' };
        let output: String = vars.iter().map(|(k, v)| format!("{k}={v}{end}")).collect();
        let told = if parsed.verbose { parsed.report(ctx.env) } else { String::new() };
        Ok(ExecResult { stderr: told.into(), ..ExecResult::ok(output) })
    }

    async fn execution_plan(&self, ctx: &Context<'_>) -> Result<Option<ExecutionPlan>> {
        let Ok(parsed) = parse_env_args(ctx.args, ctx.env) else {
            return Ok(None);
        };
        if parsed.impossible_change().is_some() {
            return Ok(None);
        }
        if parsed.verbose && !parsed.command.is_empty() {
            return Ok(Some(ExecutionPlan::BatchWithStatus {
                commands: vec![SubCommand {
                    name: "env".to_string(),
                    args: parsed.quiet_arguments(),
                    stdin: ctx.stdin.cloned(),
                    assignments: Vec::new(),
                }],
                stderr_prefix: parsed.report(ctx.env),
                force_error_exit: false,
            }));
        }
        let Some((name, args)) = parsed.command.split_first() else {
            return Ok(None);
        };
        Ok(Some(ExecutionPlan::Env {
            command: SubCommand {
                name: name.clone(),
                args: args.to_vec(),
                stdin: ctx.stdin.cloned(),
                assignments: Vec::new(),
            },
            clear: parsed.clear,
            unset: parsed.unset,
            set: parsed.set,
            chdir: parsed.chdir,
        }))
    }
}
