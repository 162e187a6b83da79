//! Cycles: a line is read, the script runs, the line is printed.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::address::RangeState;
use super::input::InputLine;
use super::space::empty_text;
use super::{Machine, Space};
use bashkit::builtins::STREAM_CHUNK_BYTES;
use bashkit::limits::LimitExceeded;

/// Status of a command whose output nobody reads any more.
const BROKEN_PIPE_STATUS: i32 = 141;

/// Way in which a cycle ends.
pub(super) enum CycleEnd {
    /// The end of the script: pattern space is printed, unless `-n` is given.
    Print,
    /// `d`, `Q`, `n` at the end of input: nothing is printed.
    Silent,
    /// `D` with more than one line: the script starts again without reading a line.
    Restart,
}

/// Continuation of a cycle behind a command.
pub(super) enum Step {
    Next,
    Jump(usize),
    End(CycleEnd),
}

impl Machine<'_> {
    /// Runs the script on one stream of lines; returns what it wrote to standard output.
    pub(crate) async fn run_stream(&mut self, lines: Vec<InputLine>) -> Result<String, bashkit::Error> {
        self.input.start(lines);
        self.ranges = vec![RangeState::default(); self.program.commands.len()];
        self.outputs.take_stdout();
        let outcome = self.run_cycles().await;
        self.input.put_back_rest(self.settings.separator);
        outcome?;
        self.pass_on(1).await?;
        let stdout = self.outputs.take_stdout();
        match stdout.error {
            Some(error) => Err(error.into()),
            None => Ok(stdout.text.into_inner()),
        }
    }

    async fn run_cycles(&mut self) -> Result<(), bashkit::Error> {
        // THREAT[TM-DOS-018]: `G;D` and `:a;ba` never end, as in GNU sed. Each command charges work, and the run ends with
        // the budget, the host's fuel or its time: nothing goes on with a part of the result.
        let mut is_restart = false;
        loop {
            self.check_budget()?;
            self.pass_on(STREAM_CHUNK_BYTES).await?;
            if self.has_quit() {
                return Ok(());
            }
            if !is_restart && !self.read_line().await? {
                return Ok(());
            }
            let end = self.run_script().await?;
            if matches!(end, CycleEnd::Print) {
                self.auto_print();
            }
            self.write_appends();
            is_restart = matches!(end, CycleEnd::Restart);
            if self.ends_line_on_quit {
                self.outputs.stdout.end_line();
            }
        }
    }

    /// Runs the commands once.
    async fn run_script(&mut self) -> Result<CycleEnd, bashkit::Error> {
        let program = self.program;
        let mut index = 0;
        while let Some(command) = program.commands.get(index) {
            self.check_budget()?;
            if let Some(budget) = &self.settings.budget {
                budget.consume_work(1)?;
            }
            index = match self.run_command(index, command).await? {
                Step::Next => index + 1,
                Step::Jump(target) => {
                    // A loop may never end, but whoever reads its output may.
                    self.pass_on(STREAM_CHUNK_BYTES).await?;
                    if self.has_quit() {
                        return Ok(CycleEnd::Silent);
                    }
                    target
                }
                Step::End(end) => return Ok(end),
            };
        }
        Ok(CycleEnd::Print)
    }

    fn check_budget(&self) -> Result<(), LimitExceeded> {
        self.settings.budget.as_ref().map_or(Ok(()), |budget| budget.check())
    }

    /// Reads a line into pattern space; returns false at the end. Reading clears what `t` asks for.
    pub(super) async fn read_line(&mut self) -> Result<bool, bashkit::Error> {
        self.input.look_ahead(self.settings.separator).await?;
        let Some(line) = self.input.take() else {
            return Ok(false);
        };
        let budget = self.settings.budget.as_ref();
        if let Some(budget) = budget {
            budget.consume_input(line.text.len())?;
        }
        self.pattern.replace(&line.text, line.had_newline, budget)?;
        self.has_substituted = false;
        Ok(true)
    }

    /// Appends the next line to pattern space; returns false at the end.
    pub(super) async fn append_line(&mut self) -> Result<bool, bashkit::Error> {
        self.input.look_ahead(self.settings.separator).await?;
        if self.input.is_at_end() {
            return Ok(false);
        }
        self.write_appends();
        let Some(line) = self.input.take() else {
            return Ok(false);
        };
        self.pattern.append(&line.text, line.had_newline, self.settings.separator)?;
        if let Some(budget) = &self.settings.budget {
            budget.consume_input(line.text.len())?;
        }
        self.has_substituted = false;
        Ok(true)
    }

    /// Prints pattern space, as happens at the end of a cycle.
    pub(super) fn auto_print(&mut self) {
        if !self.settings.quiet && !self.program.quiet {
            self.print();
        }
    }

    /// Prints the pattern space.
    pub(super) fn print(&mut self) {
        let Space { text, had_newline } = &self.pattern;
        self.outputs.stdout.write_line(text, *had_newline);
    }

    pub(super) fn write_appends(&mut self) {
        self.appends.write_to(&mut self.outputs.stdout, self.settings.read_files);
    }

    /// Writes what there is to the pipe, if there is one and there is enough. A reader that went away ends the run.
    async fn pass_on(&mut self, at_least: usize) -> Result<(), bashkit::Error> {
        let stdout = &mut self.outputs.stdout;
        if stdout.error.is_some() || stdout.text.len() < at_least {
            return Ok(());
        }
        let Some(output) = self.input.output() else {
            return Ok(());
        };
        let text = std::mem::replace(&mut stdout.text, empty_text(self.settings.budget.as_ref())?);
        if !output.write(&bashkit::bytes_of(&text)).await? {
            self.exit_code = Some(BROKEN_PIPE_STATUS);
        }
        Ok(())
    }
}
