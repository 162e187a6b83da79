//! The commands, but for `s` and the global ones.

use std::sync::Arc;

use super::address::{Addresses, INVALID_ADDRESS};
use super::editor::{Action, Editor, Failure, Outcome, Pending, Request};
use super::output::PrintForm;
use super::scanner::Scanner;
use bashkit::bytes_of;

/// Message about a command without a file name in an editor without one.
const NO_FILE_NAME: &str = "No current filename";

impl Editor {
    /// Executes the command on a line.
    pub(super) fn execute(&mut self, line: &mut Scanner) -> Outcome {
        let addresses = self.addresses(line)?;
        line.skip_blanks();
        let Some(letter) = line.next() else { return self.print_next(addresses) };
        match letter {
            'a' | 'i' | 'c' | 'd' | 'j' | 'm' | 't' | 'x' | 'y' | 'k' | 's' | 'u' => {
                self.change(letter, addresses, line)
            }
            'e' | 'E' | 'f' | 'r' | 'w' | 'W' => self.transfer(letter, addresses, line),
            'g' | 'v' | 'G' | 'V' => {
                let end = self.buffer.last();
                let range = addresses.range(1, end, end)?;
                self.begin_global(letter, range, line)
            }
            'h' | 'H' | 'P' | 'q' | 'Q' => {
                if addresses.count > 0 {
                    return Err("Unexpected address".into());
                }
                let form = self.suffix(line)?;
                self.without_address(letter, form)
            }
            'p' | 'l' | 'n' => {
                let (first, last) = self.current_range(addresses)?;
                let mut form = self.suffix(line)?;
                form.add(letter);
                self.print_range(first, last, form);
                Ok(Action::Continue)
            }
            'z' => self.scroll(addresses, line),
            '=' => {
                let form = self.suffix(line)?;
                self.output.print(&format!("{}\n", addresses.last_or(self.buffer.last())));
                self.print_current(form)
            }
            '!' => {
                if addresses.count > 0 {
                    return Err("Unexpected address".into());
                }
                let (command, is_changed) = self.shell_command(&line.rest())?;
                if is_changed {
                    self.output.print(&format!("{command}\n"));
                }
                Ok(Action::Ask(Request::Shell { command, stdin: None, captures: false }, Pending::Shell))
            }
            '#' => Ok(Action::Continue),
            _ => Err("Unknown command".into()),
        }
    }

    /// Prints the next line, or the addressed one, for a command without a letter.
    fn print_next(&mut self, addresses: Addresses) -> Outcome {
        let next = self.buffer.current() + usize::from(self.global.is_none());
        let address = addresses.last_or(next);
        if address < 1 || address > self.buffer.last() {
            return Err(INVALID_ADDRESS.into());
        }
        self.print_range(address, address, PrintForm { is_plain: true, ..PrintForm::default() });
        Ok(Action::Continue)
    }

    fn current_range(&self, addresses: Addresses) -> Result<(usize, usize), &'static str> {
        addresses.range(self.buffer.current(), self.buffer.current(), self.buffer.last())
    }

    /// Reads the letters behind a command that choose how the current line is printed.
    pub(super) fn suffix(&self, line: &mut Scanner) -> Result<PrintForm, Failure> {
        let mut form = PrintForm::default();
        while line.peek().is_some_and(|next| form.add(next)) {
            line.next();
        }
        if line.is_at_end() { Ok(form) } else { Err("Invalid command suffix".into()) }
    }

    /// Prints lines, and makes the last one the current line.
    pub(super) fn print_range(&mut self, first: usize, last: usize, form: PrintForm) {
        for (number, line) in (first..).zip(self.buffer.range(first, last).to_vec()) {
            self.output.print_line(number, &line.text, form);
        }
        self.buffer.set_current(last);
    }

    /// Prints the current line, if a form was chosen.
    pub(super) fn print_current(&mut self, form: PrintForm) -> Outcome {
        let current = self.buffer.current();
        if !form.is_none() && current == 0 {
            return Err(INVALID_ADDRESS.into());
        }
        if !form.is_none() {
            self.print_range(current, current, form);
        }
        Ok(Action::Continue)
    }

    /// Reads a line of text for a command: of a global command, or of the input.
    pub(super) fn text_line(&mut self) -> Option<String> {
        match self.global.as_mut() {
            Some(global) => global.line(),
            None => self.input.line(),
        }
    }

    /// Reads lines up to one with a single dot.
    fn text_lines(&mut self) -> Vec<Arc<str>> {
        std::iter::from_fn(|| self.text_line().filter(|line| line != ".").map(Arc::from)).collect()
    }

    fn keep_for_undo(&mut self) {
        if self.global.is_none() {
            self.buffer.keep_for_undo();
        }
    }

    /// Runs a command that changes lines, marks or what is cut.
    fn change(&mut self, letter: char, addresses: Addresses, line: &mut Scanner) -> Outcome {
        let form = match letter {
            'a' | 'i' => self.add_lines(letter, addresses, line)?,
            'c' => self.replace_lines(addresses, line)?,
            'd' => {
                let (first, last) = self.current_range(addresses)?;
                let form = self.suffix(line)?;
                self.keep_for_undo();
                self.cut_lines(first, last);
                self.buffer.set_current(first.min(self.buffer.last()));
                form
            }
            'j' => {
                let current = self.buffer.current();
                let (first, last) = addresses.range(current, current + 1, self.buffer.last())?;
                let form = self.suffix(line)?;
                self.keep_for_undo();
                self.join(first, last);
                form
            }
            'm' | 't' => self.move_or_copy(letter, addresses, line)?,
            'x' => self.put(addresses, line)?,
            'y' => {
                let (first, last) = self.current_range(addresses)?;
                let form = self.suffix(line)?;
                self.yank(first, last);
                form
            }
            'k' => self.mark(addresses, line)?,
            's' => {
                let range = self.current_range(addresses)?;
                return self.substitute(range, line);
            }
            _ => {
                if addresses.count > 0 {
                    return Err("Unexpected address".into());
                }
                let form = self.suffix(line)?;
                if self.global.is_some() || !self.buffer.undo() {
                    return Err("Nothing to undo".into());
                }
                form
            }
        };
        self.print_current(form)
    }

    /// Adds lines of text behind an address, or in front of it.
    fn add_lines(&mut self, letter: char, addresses: Addresses, line: &mut Scanner) -> Result<PrintForm, Failure> {
        let form = self.suffix(line)?;
        self.keep_for_undo();
        let address = addresses.last_or(self.buffer.current());
        let after = if letter == 'a' { address } else { address.saturating_sub(1) };
        let lines = self.text_lines();
        let is_empty = lines.is_empty();
        self.buffer.insert(after, lines);
        if is_empty {
            self.buffer.set_current(address);
        }
        Ok(form)
    }

    /// Puts the lines that were cut behind an address.
    fn put(&mut self, addresses: Addresses, line: &mut Scanner) -> Result<PrintForm, Failure> {
        let address = addresses.last_or(self.buffer.current());
        let form = self.suffix(line)?;
        if self.cut.is_empty() {
            return Err("Nothing to put".into());
        }
        self.keep_for_undo();
        let lines = self.cut.clone();
        self.buffer.insert(address, lines);
        Ok(form)
    }

    /// Marks a line with a letter.
    fn mark(&mut self, addresses: Addresses, line: &mut Scanner) -> Result<PrintForm, Failure> {
        let address = addresses.last_or(self.buffer.current());
        if address == 0 {
            return Err(INVALID_ADDRESS.into());
        }
        let letter = line.next().ok_or("Invalid command suffix")?;
        let form = self.suffix(line)?;
        if !letter.is_ascii_lowercase() {
            return Err("Invalid mark character".into());
        }
        self.buffer.set_mark(letter, address);
        Ok(form)
    }

    fn replace_lines(&mut self, addresses: Addresses, line: &mut Scanner) -> Result<PrintForm, Failure> {
        let (first, last) = self.current_range(addresses)?;
        let form = self.suffix(line)?;
        self.keep_for_undo();
        self.cut_lines(first, last);
        let lines = self.text_lines();
        let is_empty = lines.is_empty();
        self.buffer.insert(first - 1, lines);
        if is_empty {
            self.buffer.set_current(first.min(self.buffer.last()));
        }
        Ok(form)
    }

    fn yank(&mut self, first: usize, last: usize) {
        self.cut = self.buffer.range(first, last).iter().map(|line| Arc::clone(&line.text)).collect();
    }

    fn cut_lines(&mut self, first: usize, last: usize) {
        self.yank(first, last);
        self.buffer.remove(first, last);
    }

    fn join(&mut self, first: usize, last: usize) {
        if first == last {
            return;
        }
        let joined: String = self.buffer.range(first, last).iter().map(|line| &*line.text).collect();
        self.cut_lines(first, last);
        self.buffer.insert(first - 1, [Arc::from(joined)]);
    }

    fn move_or_copy(&mut self, letter: char, addresses: Addresses, line: &mut Scanner) -> Result<PrintForm, Failure> {
        let (first, last) = self.current_range(addresses)?;
        let target = self.address(line)?.unwrap_or(self.buffer.current());
        if letter == 'm' && (first..last).contains(&target) {
            return Err("Invalid destination".into());
        }
        let form = self.suffix(line)?;
        self.keep_for_undo();
        if letter == 't' {
            let lines: Vec<Arc<str>> =
                self.buffer.range(first, last).iter().map(|line| Arc::clone(&line.text)).collect();
            self.buffer.insert(target, lines);
        } else if target == last || target == first - 1 {
            self.buffer.set_current(last);
            self.buffer.set_modified(true);
        } else {
            self.buffer.relocate(first, last, target);
        }
        Ok(form)
    }

    /// Prints a window of lines behind `z`, whose height may follow.
    fn scroll(&mut self, addresses: Addresses, line: &mut Scanner) -> Outcome {
        let next = self.buffer.current() + usize::from(self.global.is_none());
        let address = addresses.last_or(next);
        if address < 1 || address > self.buffer.last() {
            return Err(INVALID_ADDRESS.into());
        }
        if let Some(height) =
            line.number()?.and_then(|height| usize::try_from(height).ok()).filter(|height| *height > 0)
        {
            self.window = height;
        }
        let mut form = self.suffix(line)?;
        form.is_plain = true;
        self.print_range(address, (address + self.window - 1).min(self.buffer.last()), form);
        Ok(Action::Continue)
    }

    fn without_address(&mut self, letter: char, form: PrintForm) -> Outcome {
        match letter {
            'Q' => return Ok(Action::Quit),
            'q' if self.buffer.is_modified() && !self.was_warned => return Err(Failure::Modified),
            'q' => return Ok(Action::Quit),
            'P' => self.is_prompting = !self.is_prompting,
            'H' => self.is_verbose = !self.is_verbose,
            _ => {}
        }
        if !self.message.is_empty() && (letter == 'h' || letter == 'H' && self.is_verbose) {
            self.output.print(&format!("{}\n", self.message));
        }
        self.print_current(form)
    }

    /// Runs a command on a file: `e`, `E`, `f`, `r`, `w` and `W`.
    fn transfer(&mut self, letter: char, addresses: Addresses, line: &mut Scanner) -> Outcome {
        if matches!(letter, 'e' | 'E' | 'f') && addresses.count > 0 {
            return Err("Unexpected address".into());
        }
        let quits = letter == 'w' && matches!(line.peek(), Some('q' | 'Q'));
        let forces = quits && line.next() == Some('Q');
        if line.peek().is_some_and(|next| !next.is_ascii_whitespace()) {
            return Err("Unexpected command suffix".into());
        }
        line.skip_blanks();
        let name = line.rest();
        let name = match name.strip_prefix('!') {
            Some(_) if letter == 'f' => return Err("Invalid redirection".into()),
            Some(command) => format!("!{}", self.shell_command(command)?.0),
            None => name,
        };
        match letter {
            'f' => {
                if !name.is_empty() {
                    self.file_name = name;
                }
                self.named(String::new())?;
                self.output.print(&format!("{}\n", self.file_name));
                Ok(Action::Continue)
            }
            'e' | 'E' => {
                if letter == 'e' && self.buffer.is_modified() && !self.was_warned {
                    return Err(Failure::Modified);
                }
                let name = self.named(name)?;
                let request = self.read_request(&name);
                Ok(Action::Ask(request, Pending::Edit { is_first: false, name }))
            }
            'r' => {
                let after = addresses.last_or(self.buffer.last());
                let name = self.named(name)?;
                self.keep_for_undo();
                let request = self.read_request(&name);
                Ok(Action::Ask(request, Pending::Insert { after, name }))
            }
            _ => self.write(addresses, name, letter == 'W', (quits, forces)),
        }
    }

    /// Returns the name, or that of the file that is edited if it is empty.
    fn named(&self, name: String) -> Result<String, Failure> {
        let name = if name.is_empty() { self.file_name.clone() } else { name };
        if name.is_empty() { Err(NO_FILE_NAME.into()) } else { Ok(name) }
    }

    fn write(&mut self, addresses: Addresses, name: String, appends: bool, (quits, forces): (bool, bool)) -> Outcome {
        let end = self.buffer.last();
        let (first, last) = match addresses.count {
            0 if end == 0 => (0, 0),
            _ => addresses.range(1, end, end)?,
        };
        let name = self.named(name)?;
        let mut bytes = Vec::new();
        for line in self.buffer.range(first, last) {
            bytes.extend_from_slice(&bytes_of(&line.text));
            bytes.push(b'\n');
        }
        let length = bytes.len();
        if let Some(command) = name.strip_prefix('!') {
            let request = Request::Shell { command: command.to_owned(), stdin: Some(bytes), captures: false };
            return Ok(Action::Ask(request, Pending::Pipe { length }));
        }
        if self.file_name.is_empty() {
            self.file_name.clone_from(&name);
        }
        self.was_warned |= forces;
        let is_whole = last - first.min(last) + usize::from(first > 0) == end;
        let pending = Pending::Write { length, is_whole, quits, name: name.clone() };
        Ok(Action::Ask(Request::Write { name, bytes, appends }, pending))
    }

    /// Returns a command for the shell in which `%` is the file and `!` at its beginning the last command, and true if
    /// that has changed it.
    fn shell_command(&mut self, text: &str) -> Result<(String, bool), Failure> {
        if self.options.is_restricted {
            return Err("Shell access restricted".into());
        }
        let mut command = String::new();
        let mut rest = text;
        let mut is_changed = false;
        if let Some(behind) = text.strip_prefix('!') {
            if self.last_shell_command.is_empty() {
                return Err("No previous command".into());
            }
            command.clone_from(&self.last_shell_command);
            rest = behind;
            is_changed = true;
        }
        let mut characters = rest.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '\\' if characters.next_if_eq(&'%').is_some() => command.push('%'),
                '%' => {
                    command.push_str(&self.named(String::new())?);
                    is_changed = true;
                }
                character => command.push(character),
            }
        }
        self.last_shell_command.clone_from(&command);
        Ok((command, is_changed))
    }
}
