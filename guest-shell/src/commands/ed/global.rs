//! Commands for all lines that match: `g`, `v`, `G` and `V`.

use std::collections::VecDeque;

use super::editor::{Action, Editor, Failure, Outcome};
use super::output::PrintForm;
use super::scanner::Scanner;
use super::text::is_continued;

/// Global command that is under way.
pub(super) struct Global {
    /// Lines that are left.
    lines: VecDeque<u64>,
    /// Commands for each of them.
    commands: Vec<String>,
    /// Number of the next command for the current line.
    next: usize,
    /// Form in which a line is shown before its commands are read, if they are read for each line.
    asks: Option<PrintForm>,
    is_started: bool,
}

impl Global {
    /// Reads the next line of the commands.
    pub(super) fn line(&mut self) -> Option<String> {
        let line = self.commands.get(self.next).cloned();
        self.next += 1;
        line
    }
}

impl Editor {
    /// Begins a global command behind its letter.
    pub(super) fn begin_global(&mut self, letter: char, range: (usize, usize), line: &mut Scanner) -> Outcome {
        if self.global.is_some() {
            return Err("Cannot nest global commands".into());
        }
        let delimiter = match line.next() {
            None | Some(' ') => return Err("Invalid pattern delimiter".into()),
            Some(delimiter) => delimiter,
        };
        let pattern = self.pattern(line, delimiter)?;
        line.take(delimiter);
        let mut lines = VecDeque::new();
        for address in range.0..=range.1 {
            if self.matches(&pattern, address)? == matches!(letter, 'g' | 'G') {
                lines.push_back(self.buffer.line(address).id);
            }
        }
        let (commands, asks) = match letter {
            'g' | 'v' => (self.command_list(line)?, None),
            _ => (Vec::new(), Some(self.suffix(line)?)),
        };
        self.buffer.keep_for_undo();
        self.global = Some(Global { lines, next: commands.len(), commands, asks, is_started: false });
        Ok(Action::Continue)
    }

    /// Reads the commands of `g`, which go on behind a line that ends with a backslash.
    fn command_list(&mut self, line: &mut Scanner) -> Result<Vec<String>, Failure> {
        let mut commands = Vec::new();
        let mut next = line.rest();
        if next.is_empty() {
            return Ok(vec!["p".to_owned()]);
        }
        while is_continued(&next) {
            next.pop();
            commands.push(next);
            next = self.input.line().ok_or(Failure::Message("Unexpected end-of-file"))?;
        }
        commands.push(next);
        Ok(commands)
    }

    /// Returns the next command of the global one; none at its end.
    pub(super) fn next_global_command(&mut self) -> Result<Option<String>, Failure> {
        loop {
            let Some(global) = self.global.as_mut() else { return Ok(None) };
            if global.next < global.commands.len() {
                return Ok(global.line());
            }
            let Some(id) = global.lines.pop_front() else { return Ok(None) };
            let asks = global.asks;
            let Some(address) = self.buffer.find(id, self.buffer.current().saturating_sub(1)) else { continue };
            self.buffer.set_current(address);
            if let Some(form) = asks {
                self.print_range(address, address, form);
                self.ask_for_commands()?;
            } else if let Some(global) = self.global.as_mut() {
                global.next = 0;
            }
        }
    }

    /// Reads the commands for one line. An empty one does nothing, and `&` repeats the last ones.
    fn ask_for_commands(&mut self) -> Result<(), Failure> {
        const END: Failure = Failure::Message("Unexpected end-of-file");
        let mut next = self.input.line().ok_or(END)?;
        let mut commands = Vec::new();
        if next == "&" {
            let global = self.global.as_mut().filter(|global| global.is_started);
            global.ok_or("No previous command")?.next = 0;
            return Ok(());
        }
        if next.is_empty() {
            return Ok(());
        }
        while is_continued(&next) {
            next.pop();
            commands.push(next);
            next = self.input.line().ok_or(END)?;
        }
        commands.push(next);
        if let Some(global) = self.global.as_mut() {
            (global.commands, global.next, global.is_started) = (commands, 0, true);
        }
        Ok(())
    }
}
