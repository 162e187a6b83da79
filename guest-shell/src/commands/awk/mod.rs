//! `awk`: scans text for patterns and processes it, as gawk 5 does (Debian's `awk`).
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`options`] | the command line |
//! | [`setup`] | sources of the program, messages about its syntax, variables before it starts |
//! | [`lexer`], [`parser`], [`ast`] | programs as text and as syntax trees; names become indices |
//! | [`interpreter`] | the evaluator, which is async, and built-in functions |
//! | [`io`] | records, `getline`, redirections and commands |
//! | [`driver`] | runs a program and has the shell run its commands |
//! | [`value`], [`format`], [`order`] | values, `printf`, order of keys |
//! | [`regex`] | extended regular expressions with POSIX's leftmost-longest matches |
//!
//! Decisions:
//! - The target is gawk 5: its options, its messages (`awk: cmd. line:1: ...` with a caret for syntax errors), its
//!   output of numbers, and extensions that are in use (`gensub`, `asort`, `strftime`, `BEGINFILE`, `switch`, `--csv`,
//!   arrays of arrays).
//! - Commands run in the sandbox's shell through the driver of an execution plan. There is one only if the program can
//!   run commands; otherwise `execute` runs awk directly, and a command fails with a message.
//! - Limits (TM-DOS-027/028/033/109/110/116) are enforced in parser and evaluator; see the THREAT notes there.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod ast;
mod bounds;
mod driver;
mod format;
mod interpreter;
mod io;
mod lexer;
mod options;
mod order;
mod parser;
pub(crate) mod regex;
mod setup;
mod value;

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use self::driver::{AwkRun, result_of};
use self::io::{Bridge, BridgeState};
use self::setup::Setup;
use crate::commands::date::Date;
use bashkit::builtins::{Builtin, Context, ExecutionPlan};
use bashkit::{ExecResult, Result};

/// Command that scans text for patterns and processes it, as `awk`.
#[derive(Clone, Copy, Default)]
pub(crate) struct Awk {
    clock: Date,
}

impl Awk {
    /// Creates the command with the clock of `systime()`, `strftime()` and `mktime()`.
    pub(crate) fn with_clock(clock: Date) -> Self {
        Self { clock }
    }
}

#[async_trait]
impl Builtin for Awk {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        match self.setup(&ctx, None).await? {
            Setup::Done(result) => Ok(*result),
            Setup::Run(mut interpreter) => {
                let status = interpreter.run().await;
                result_of(&mut interpreter, status)
            }
        }
    }

    async fn execution_plan(&self, ctx: &Context<'_>) -> Result<Option<ExecutionPlan>> {
        if !options::may_run_commands(ctx.args) {
            return Ok(None);
        }
        let bridge: Bridge = Arc::new(Mutex::new(BridgeState::default()));
        let run = match self.setup(ctx, Some(bridge.clone())).await? {
            Setup::Done(result) => AwkRun::done(bridge, *result),
            Setup::Run(interpreter) => AwkRun::new(bridge, interpreter),
        };
        Ok(Some(ExecutionPlan::Driver(Box::new(run))))
    }
}
