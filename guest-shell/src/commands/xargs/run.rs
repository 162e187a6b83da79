//! Run of the command lines of `xargs`.

use std::collections::VecDeque;

use async_trait::async_trait;
use bashkit::builtins::ls::quoting::{QuotingStyle, quote_name};
use bashkit::builtins::{PlanDriver, PlanStep, SubCommand};
use bashkit::{ExecResult, PlacedMessages, Result, StreamData};

use super::options::XargsOptions;

/// Status of `xargs` after a command with a status from 1 to 125.
const COMMAND_FAILED: i32 = 123;
/// Status of `xargs` after a command with status 255, behind which no other is run.
const COMMAND_ABORTED: i32 = 124;

/// Driver that runs command lines in their order.
pub(super) struct XargsRun {
    commands: VecDeque<SubCommand>,
    /// `-t`: each command line is printed before it is run.
    verbose: bool,
    /// True if the first of the commands was printed.
    printed: bool,
    /// Warnings about the options, which precede all output.
    warnings: String,
    /// Message that follows the output of the commands.
    error: Option<String>,
    stdout: StreamData,
    stderr: PlacedMessages,
    status: i32,
    /// True if the command whose result comes next was not started.
    not_started: bool,
}

/// Returns the commands of command lines.
fn sub_commands(options: &XargsOptions, commands: Vec<Vec<String>>) -> VecDeque<SubCommand> {
    let slots = match options.slots {
        Some(0) => commands.len().max(1),
        slots => slots.unwrap_or(1),
    };
    let commands = commands.into_iter().enumerate().map(|(index, mut words)| {
        let slot = options.slot_variable.iter().map(|variable| (variable.clone(), (index % slots).to_string()));
        SubCommand {
            name: words.remove(0),
            args: words,
            // The items were read to the end: commands have an empty input, as from /dev/null.
            stdin: Some(StreamData::new()),
            assignments: slot.collect(),
        }
    });
    commands.collect()
}

impl XargsRun {
    pub(super) fn new(options: &XargsOptions, commands: Vec<Vec<String>>, error: Option<String>) -> Self {
        Self {
            commands: sub_commands(options, commands),
            verbose: options.verbose,
            printed: false,
            warnings: options.warnings.clone(),
            error,
            stdout: StreamData::new(),
            stderr: PlacedMessages::new(),
            status: 0,
            not_started: false,
        }
    }

    /// Accounts for the result of the first of the commands, and removes it.
    fn account(&mut self, result: &ExecResult) {
        self.stderr.push_stream(&result.stderr, &result.stdout, self.stdout.len());
        self.stdout.append(&result.stdout);
        self.printed = false;
        let command = self.commands.pop_front();
        match result.exit_code {
            0 => {}
            255 => {
                let name = command.map(|command| command.name).unwrap_or_default();
                self.commands.clear();
                self.error = Some(format!("{name}: exited with status 255; aborting"));
                self.status = COMMAND_ABORTED;
            }
            status if self.not_started => {
                self.commands.clear();
                self.status = status;
            }
            _ if self.status == 0 => self.status = COMMAND_FAILED,
            _ => {}
        }
    }
}

/// Returns a command as `-t` prints it: each word is quoted where a shell needs it.
fn printed_line(command: &SubCommand) -> String {
    let words = std::iter::once(&command.name).chain(&command.args);
    let quoted: Vec<_> = words.map(|word| quote_name(word, QuotingStyle::ShellEscape)).collect();
    quoted.join(" ") + "\n"
}

#[async_trait]
impl PlanDriver for XargsRun {
    fn command_did_not_start(&mut self) {
        self.not_started = true;
    }

    async fn next(&mut self, last: Option<ExecResult>) -> Result<PlanStep> {
        if let Some(result) = last {
            self.account(&result);
        }
        if !self.warnings.is_empty() {
            let warnings = std::mem::take(&mut self.warnings);
            self.stderr.push(&warnings, 0);
            return Ok(PlanStep::Emit { stdout: StreamData::new(), stderr: warnings.into() });
        }
        if let Some(command) = self.commands.front() {
            if !self.verbose || self.printed {
                return Ok(PlanStep::Run { command: command.clone(), cwd: None });
            }
            self.printed = true;
            let line = printed_line(command);
            self.stderr.push(&line, self.stdout.len());
            return Ok(PlanStep::Emit { stdout: StreamData::new(), stderr: line.into() });
        }
        if let Some(error) = self.error.take() {
            self.stderr.push(&format!("xargs: {error}\n"), self.stdout.len());
            if self.status == 0 {
                self.status = 1;
            }
        }
        Ok(PlanStep::Done(ExecResult {
            stdout: std::mem::take(&mut self.stdout),
            stderr: std::mem::take(&mut self.stderr).into(),
            exit_code: self.status,
            ..ExecResult::default()
        }))
    }
}
