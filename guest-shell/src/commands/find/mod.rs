//! `find`: searches directories with GNU find's language of expressions.
//!
//! | module | contents |
//! | --- | --- |
//! | [`parse`] | the command line |
//! | [`expression`] | the tree of tests and actions |
//! | [`names`] | files and dates that an expression names |
//! | [`entry`] | files that are visited |
//! | [`walk`] | the walk through directories |
//! | [`evaluation`] | the expression for a file |
//! | [`format`] | `-printf` |
//! | [`run`] | the run, which yields the commands of `-exec` to the interpreter |
//!
//! Tests of times read the clock of the shell (TM-INF-018); every file belongs to its user. The VFS does not have the
//! times of access and of changes of status: they are that of modification. `-ok` and `-okdir` take their answers from
//! standard input, a line each, and what is left of it is not read by other commands. `-fstype` and `-context` are not
//! implemented (L-FIND-001).
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod entry;
mod evaluation;
mod expression;
mod format;
mod names;
mod parse;
mod run;
#[cfg(test)]
mod tests;
mod walk;

use async_trait::async_trait;
use bashkit::builtins::system::{SANDBOX_GID, SANDBOX_UID};
use bashkit::builtins::{Builtin, Context, ExecutionPlan, PlanDriver, PlanStep, check_help_version};
use bashkit::{ExecResult, Result};

use self::parse::{FileOwner, FindCommandLine};
use self::run::FindRun;
use super::date::Date;

const HELP: &str = "\
Usage: find [-H] [-L] [-P] [PATH...] [EXPRESSION]
Search for files in a directory hierarchy.

Operators: ( EXPR ), ! EXPR, -not EXPR, EXPR -a EXPR, EXPR -o EXPR, EXPR , EXPR
Options: -maxdepth N -mindepth N -depth -follow -daystart -regextype TYPE -xdev
Tests: -name -iname -path -ipath -lname -regex -iregex -type -xtype -size -empty
       -mtime -mmin -atime -amin -ctime -cmin -newer -newerXY -perm -readable
       -writable -executable -user -group -uid -gid -nouser -nogroup -true -false
Actions: -print -print0 -printf FMT -delete -prune -quit
         -exec CMD {} ; -exec CMD {} + -execdir CMD {} ; -execdir CMD {} +
      --help	display this help and exit
      --version	output version information and exit
";

/// User that owns every file.
const OWNER_UID: u64 = SANDBOX_UID as u64;

/// Group that owns every file.
const OWNER_GID: u64 = SANDBOX_GID as u64;

/// Command `find` of the shell.
pub(crate) struct Find {
    clock: Date,
    username: String,
}

impl Find {
    /// Returns the command with a clock, and the name of the user who owns every file.
    pub(crate) fn new(clock: Date, username: impl Into<String>) -> Self {
        Self { clock, username: username.into() }
    }

    fn parse(&self, words: &[String]) -> std::result::Result<FindCommandLine, String> {
        parse::parse(words, &FileOwner { name: &self.username, uid: OWNER_UID, gid: OWNER_GID })
    }

    async fn prepare(&self, ctx: &Context<'_>) -> std::result::Result<FindRun, String> {
        FindRun::new(self.parse(ctx.args)?, ctx, self.clock, &self.username).await
    }
}

#[async_trait]
impl Builtin for Find {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("find (GNU findutils) 4.9.0")) {
            return Ok(result);
        }
        let mut run = match self.prepare(&ctx).await {
            Ok(run) => run,
            Err(message) => return Ok(ExecResult::err(message, 1)),
        };
        match run.next(None).await? {
            PlanStep::Done(result) => Ok(result),
            // The interpreter did not request the plan.
            PlanStep::Run { .. } | PlanStep::Capture { .. } | PlanStep::Emit { .. } => {
                Ok(ExecResult::err("find: -exec is not available in this context\n".to_owned(), 1))
            }
        }
    }

    async fn execution_plan(&self, ctx: &Context<'_>) -> Result<Option<ExecutionPlan>> {
        if !self.parse(ctx.args).is_ok_and(|command_line| command_line.executes) {
            return Ok(None);
        }
        // `execute` reports the error.
        let Ok(mut run) = self.prepare(ctx).await else {
            return Ok(None);
        };
        if run.asks()
            && let Some(input) = ctx.read_stdin().await?
        {
            run.set_input(&input);
        }
        Ok(Some(ExecutionPlan::Driver(Box::new(run))))
    }
}
