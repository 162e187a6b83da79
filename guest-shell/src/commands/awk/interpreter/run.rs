//! Order in which a program runs: `BEGIN`, the rules for each record, `END`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::ast::{Block, Pattern, Program, Rule};
use super::{Evaluation, Interpreter, Unwind};

/// Status of a command whose output nobody reads any more.
const BROKEN_PIPE_STATUS: i32 = 141;

/// Status of a program that ends by a fatal error.
const FATAL_STATUS: i32 = 2;

/// Next step of a run after the rules for one record.
#[derive(PartialEq)]
enum Stage {
    GoesOn,
    /// End by `exit`, behind which no record is read.
    Exits,
}

/// Returns the next step after rules with this outcome; the error is a fatal one.
fn stage_behind(outcome: Evaluation<()>) -> Evaluation<Stage> {
    match outcome {
        Ok(()) | Err(Unwind::Next | Unwind::NextFile) => Ok(Stage::GoesOn),
        Err(Unwind::Exit) => Ok(Stage::Exits),
        Err(Unwind::Fatal) => Err(Unwind::Fatal),
    }
}

impl Interpreter {
    /// Runs the whole program; returns the exit status.
    pub(crate) async fn run(&mut self) -> i32 {
        let program = self.program.clone();
        // A fatal error is told where it happens, and `finish` knows of it.
        let _ = self.run_program(&program).await;
        self.finish().await
    }

    async fn run_program(&mut self, program: &Program) -> Evaluation<()> {
        let stage = stage_behind(self.run_blocks(&program.begin).await)?;
        if stage == Stage::GoesOn && reads_input(program) {
            self.run_records(program).await?;
        }
        self.end_edit().await?;
        self.run_blocks(&program.end).await
    }

    async fn run_records(&mut self, program: &Program) -> Evaluation<()> {
        loop {
            let outcome = match self.next_main_record().await {
                Ok(Some(record)) => {
                    self.set_record(record);
                    self.run_rules(program).await
                }
                Ok(None) => return Ok(()),
                Err(unwind) => Err(unwind),
            };
            let outcome = match outcome {
                Err(Unwind::NextFile) => self.end_main_file().await,
                other => other,
            };
            if stage_behind(outcome)? == Stage::Exits {
                return Ok(());
            }
        }
    }

    /// Runs the rules that match the record.
    async fn run_rules(&mut self, program: &Program) -> Evaluation<()> {
        for rule in &program.rules {
            if !self.pattern_matches(rule).await? {
                continue;
            }
            match &rule.body {
                None => self.print_record(None).await?,
                Some(body) => {
                    self.run_block(body).await?;
                }
            }
        }
        Ok(())
    }

    async fn pattern_matches(&mut self, rule: &Rule) -> Evaluation<bool> {
        match &rule.pattern {
            Pattern::All => Ok(true),
            Pattern::Expr(condition) => self.condition(condition).await,
            Pattern::Range(first, last, id) => {
                if !self.range_is_active[*id] && !self.condition(first).await? {
                    return Ok(false);
                }
                self.range_is_active[*id] = !self.condition(last).await?;
                Ok(true)
            }
        }
    }

    /// Runs blocks of `BEGIN`, `END` and of the like.
    pub(crate) async fn run_blocks(&mut self, blocks: &[Block]) -> Evaluation<()> {
        for block in blocks {
            self.run_block(block).await?;
        }
        Ok(())
    }

    /// Writes what redirections hold and runs the commands of output pipes, after a fatal error, too, as gawk does.
    async fn finish(&mut self) -> i32 {
        self.close_all().await;
        let _ = self.pass_on(1).await;
        match (self.ending.broken_pipe, self.ending.fatal) {
            (true, _) => BROKEN_PIPE_STATUS,
            (false, true) => FATAL_STATUS,
            (false, false) => self.ending.exit_code,
        }
    }
}

/// Returns true for a program that reads records, and not only runs `BEGIN`.
fn reads_input(program: &Program) -> bool {
    !program.rules.is_empty() || !program.end.is_empty() || !program.beginfile.is_empty() || !program.endfile.is_empty()
}
