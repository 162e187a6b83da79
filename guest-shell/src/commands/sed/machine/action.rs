//! What each command does.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::cycle::{CycleEnd, Step};
use super::list::listed;
use super::space::{Space, empty_text};
use super::{Machine, address::Selection};
use crate::commands::sed::script::{Action, Command, JumpCondition};
use bashkit::limits::LimitExceeded;

impl<'a> Machine<'a> {
    /// Runs a command, if the lines are those it is for.
    pub(super) async fn run_command(&mut self, index: usize, command: &'a Command) -> Result<Step, bashkit::Error> {
        let selection = self.select(index, command)?;
        if !selection.is_selected {
            return Ok(match command.action {
                Action::Block { end } => Step::Jump(end),
                _ => Step::Next,
            });
        }
        match &command.action {
            Action::Next => self.next_line().await,
            Action::AppendNext => self.append_next_line().await,
            Action::Jump { condition, target } => Ok(self.jump(*condition, *target)),
            Action::Delete => Ok(Step::End(CycleEnd::Silent)),
            Action::DeleteFirstLine => Ok(self.delete_first_line()?),
            Action::Change(text) => Ok(self.change(text.as_deref(), command, &selection)),
            Action::Quit(status) => {
                self.exit_code = Some(*status);
                self.ends_line_on_quit = true;
                Ok(Step::End(CycleEnd::Print))
            }
            Action::QuitSilently(status) => {
                self.exit_code = Some(*status);
                self.appends.clear();
                Ok(Step::End(CycleEnd::Silent))
            }
            action => {
                self.edit(action)?;
                Ok(Step::Next)
            }
        }
    }

    /// Runs a command behind which the next one follows.
    fn edit(&mut self, action: &'a Action) -> Result<(), LimitExceeded> {
        match action {
            Action::Substitute(substitution) => self.substitute(substitution)?,
            Action::Transliterate(map) => self.transliterate(map)?,
            Action::Print => self.print(),
            Action::PrintFirstLine => {
                let (line, had_newline) = first_line(&self.pattern, self.settings.separator);
                self.outputs.stdout.write_line(line, had_newline);
            }
            Action::Append(text) => self.appends.push_text(text),
            Action::Insert(text) => self.write_with_separator(text),
            Action::CopyToHold => copy(&self.pattern, &mut self.hold, self.settings.budget.as_ref())?,
            Action::AppendToHold => append(&self.pattern, &mut self.hold, self.settings.separator)?,
            Action::CopyFromHold => copy(&self.hold, &mut self.pattern, self.settings.budget.as_ref())?,
            Action::AppendFromHold => append(&self.hold, &mut self.pattern, self.settings.separator)?,
            Action::Exchange => std::mem::swap(&mut self.pattern, &mut self.hold),
            Action::Empty => self.pattern.text = empty_text(self.settings.budget.as_ref())?,
            Action::PrintLineNumber => self.write_with_separator(&self.input.line_number.to_string()),
            Action::PrintFileName => {
                let name = self.settings.names.get(self.input.file).map_or("-", String::as_str);
                self.write_with_separator(name);
            }
            Action::List(width) => {
                let width = width.unwrap_or(self.settings.line_length);
                self.write_with_separator(&listed(&self.pattern.text, width, self.settings.separator));
            }
            Action::ReadFile(name) => self.appends.push_file(name),
            Action::ReadLine(name) => self.appends.push_line_of_file(name),
            Action::WriteFile(name) => self.write_to_file(name),
            Action::WriteFirstLine(name) => {
                let (line, had_newline) = first_line(&self.pattern, '\n');
                self.outputs.write_line_to(name, line, had_newline);
            }
            // Those that `run_command` has run, and those that do nothing.
            _ => {}
        }
        Ok(())
    }

    /// Prints pattern space and reads the next line (`n`). At the end of input the script ends.
    async fn next_line(&mut self) -> Result<Step, bashkit::Error> {
        self.auto_print();
        self.write_appends();
        if self.read_line().await? {
            return Ok(Step::Next);
        }
        self.exit_code = Some(0);
        Ok(Step::End(CycleEnd::Silent))
    }

    /// Appends the next line (`N`). At the end of input the script ends, and GNU prints what there is.
    async fn append_next_line(&mut self) -> Result<Step, bashkit::Error> {
        if self.append_line().await? {
            return Ok(Step::Next);
        }
        self.exit_code = Some(0);
        Ok(Step::End(if self.settings.posix { CycleEnd::Silent } else { CycleEnd::Print }))
    }

    fn jump(&mut self, condition: JumpCondition, target: usize) -> Step {
        let jumps = match condition {
            JumpCondition::Always => true,
            JumpCondition::IfSubstituted => std::mem::take(&mut self.has_substituted),
            JumpCondition::UnlessSubstituted => !std::mem::take(&mut self.has_substituted),
        };
        if jumps { Step::Jump(target) } else { Step::Next }
    }

    /// Deletes the first line of pattern space (`D`), and starts again with the rest, if there is more.
    fn delete_first_line(&mut self) -> Result<Step, LimitExceeded> {
        let Some((_, rest)) = self.pattern.text.split_once(self.settings.separator) else {
            return Ok(Step::End(CycleEnd::Silent));
        };
        let mut text = empty_text(self.settings.budget.as_ref())?;
        text.try_push_str(rest)?;
        self.pattern.text = text;
        Ok(Step::End(CycleEnd::Restart))
    }

    /// Writes text in place of lines (`c`), behind the last line of a range. Without a text they are deleted.
    fn change(&mut self, text: Option<&str>, command: &Command, selection: &Selection) -> Step {
        let is_range = command.address.as_ref().is_some_and(|address| address.end.is_some());
        if !is_range || command.is_negated || selection.closes_range {
            text.into_iter().for_each(|text| self.write_with_separator(text));
        }
        Step::End(CycleEnd::Silent)
    }

    fn write_with_separator(&mut self, text: &str) {
        let line = format!("{text}{}", self.settings.separator);
        self.outputs.stdout.write(&line);
    }

    pub(super) fn write_to_file(&mut self, name: &str) {
        self.outputs.write_line_to(name, &self.pattern.text, self.pattern.had_newline);
    }
}

/// Returns the first line of a text, and whether it is ended.
fn first_line(space: &Space, separator: char) -> (&str, bool) {
    match space.text.split_once(separator) {
        Some((line, _)) => (line, true),
        None => (&space.text, space.had_newline),
    }
}

fn copy(
    source: &Space,
    target: &mut Space,
    budget: Option<&bashkit::limits::ExecutionBudget>,
) -> Result<(), LimitExceeded> {
    target.replace(&source.text, source.had_newline, budget)
}

fn append(source: &Space, target: &mut Space, separator: char) -> Result<(), LimitExceeded> {
    target.append(&source.text, source.had_newline, separator)
}
