//! Machine that runs a script of `sed`.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`cycle`] | cycles: a line is read, the script runs, the line is printed |
//! | [`action`] | what each command does |
//! | [`address`] | which lines a command is for |
//! | [`substitution`] | `s` and `y` |
//! | [`space`] | pattern space and hold space, which are charged to the budget |
//! | [`input`] | lines, and the pipe from which they may come |
//! | [`output`], [`append`] | what is written, and what waits for the end of the cycle |
//! | [`list`] | the form in which `l` prints |
//!
//! THREAT[TM-DOS-018]: a loop that reads lines with `N` is bounded by its input, but may double pattern space again and
//! again. Both spaces are charged to the budget before they grow, and each command charges work. What is refused ends the
//! run with an error; nothing goes on with a part of the text. Text that replaces a space is built while the old one is
//! still charged.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod action;
mod address;
mod append;
mod cycle;
mod input;
mod list;
mod output;
mod space;
mod substitution;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

pub(super) use input::{Feed, InputLine, split_lines};
#[cfg(test)]
pub(super) use list::listed;

use self::address::RangeState;
use self::append::Appends;
use self::input::Input;
use self::output::Outputs;
use self::space::Space;
use super::pattern::SedRegex;
use super::script::Program;
use bashkit::builtins::StdoutStream;
use bashkit::limits::{BudgetedString, ExecutionBudget, LimitExceeded};

/// Settings of a run beside its script.
pub(super) struct Settings<'a> {
    /// Names of the input files.
    pub(super) names: &'a [String],
    /// Contents of the files that `r` and `R` name.
    pub(super) read_files: &'a HashMap<String, String>,
    pub(super) quiet: bool,
    /// Width at which `l` wraps lines, unless it is given another.
    pub(super) line_length: usize,
    /// Character that ends lines: newline, or NUL with `-z`.
    pub(super) separator: char,
    /// Option `--posix`: `N` without a next line prints nothing.
    pub(super) posix: bool,
    pub(super) budget: Option<ExecutionBudget>,
}

/// Run of a script.
pub(super) struct Machine<'a> {
    program: &'a Program,
    settings: Settings<'a>,
    input: Input<'a>,
    outputs: Outputs,
    pattern: Space,
    hold: Space,
    /// State of the range of each command.
    ranges: Vec<RangeState>,
    appends: Appends<'a>,
    /// Regular expression that was used last, which an empty one means.
    last_regex: Option<Arc<SedRegex>>,
    exit_code: Option<i32>,
    /// Something was substituted since a line was read, which `t` asks for.
    has_substituted: bool,
    /// `q` ends the line that it prints even if the input did not, unlike the end of input.
    ends_line_on_quit: bool,
}

/// Outcome of a run.
pub(super) struct Ending {
    pub(super) stderr: String,
    pub(super) exit_code: Option<i32>,
    /// Text of each file that was written.
    pub(super) files: Vec<(String, BudgetedString)>,
}

impl<'a> Machine<'a> {
    /// Creates a machine, unless the budget is used up.
    pub(super) fn new(program: &'a Program, settings: Settings<'a>) -> Result<Self, LimitExceeded> {
        let budget = settings.budget.as_ref();
        let (pattern, hold) = (Space::new(budget)?, Space::new(budget)?);
        Ok(Machine {
            program,
            input: Input::default(),
            outputs: Outputs::new(settings.separator, settings.budget.clone()),
            settings,
            pattern,
            hold,
            ranges: Vec::new(),
            appends: Appends::default(),
            last_regex: None,
            exit_code: None,
            has_substituted: false,
            ends_line_on_quit: false,
        })
    }

    /// Has results written to a pipe as they are made.
    pub(super) fn write_to(&mut self, output: StdoutStream) {
        self.input.set_output(output);
    }

    /// Has lines read from a pipe as they are needed.
    pub(super) fn stream(&mut self, feed: Feed<'a>) {
        self.input.set_feed(feed);
    }

    /// Returns true if the script has quit.
    pub(super) fn has_quit(&self) -> bool {
        self.exit_code.is_some()
    }

    /// Ends the run; the error is that of a file whose text was too long.
    pub(super) fn finish(self) -> Result<Ending, LimitExceeded> {
        let (stderr, files) = self.outputs.finish()?;
        Ok(Ending { stderr, exit_code: self.exit_code, files })
    }
}
