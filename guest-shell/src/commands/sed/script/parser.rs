//! Order of commands: blocks, labels, and jumps to them.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::reader::{ScriptReader, shorten};
use super::{Action, Address, Command, JumpCondition, Mode, ParseError, Parsed, Program};

/// Depth of nested groups of commands.
pub(in crate::commands::sed) const MAX_GROUP_DEPTH: usize = 128;

/// Parses a whole script. Returns the files that `w` and `W` name, too: GNU opens them as it reads the script, so that those in
/// front of an error are there all the same.
pub(crate) fn parse(script: &str, mode: Mode) -> (Parsed<Program>, Vec<String>) {
    let mut parser = Parser { reader: ScriptReader::new(script, mode), ..Parser::default() };
    let program = parser.parse_program();
    (program, parser.reader.write_files)
}

/// Token at a place in a script.
pub(super) enum Item {
    Action(Action),
    Label(String),
    /// Jump to a label; without one it goes to the end of the script.
    Jump(JumpCondition, Option<String>),
}

/// Program as far as it is parsed.
struct Parser {
    reader: ScriptReader,
    commands: Vec<Command>,
    /// Indices of the blocks that are open.
    open_blocks: Vec<usize>,
    labels: Vec<(String, usize)>,
    /// Indices of jumps, and the labels they go to.
    jumps: Vec<(usize, String)>,
    read_files: Vec<String>,
}

impl Default for Parser {
    fn default() -> Self {
        Parser {
            reader: ScriptReader::new("", Mode::default()),
            commands: Vec::new(),
            open_blocks: Vec::new(),
            labels: Vec::new(),
            jumps: Vec::new(),
            read_files: Vec::new(),
        }
    }
}

impl Parser {
    fn parse_program(&mut self) -> Parsed<Program> {
        // `#n` as the first two characters means `-n`, whatever stands behind them (GNU 4.9).
        let quiet = self.reader.characters.starts_with(&['#', 'n']);
        loop {
            self.reader.skip(|character| matches!(character, ' ' | '\t' | '\n' | '\r' | ';'));
            match self.reader.peek() {
                None => break,
                Some('#') => {
                    self.reader.rest_of_line();
                }
                Some('}') => self.close_block()?,
                Some(_) => self.parse_command()?,
            }
        }
        if !self.open_blocks.is_empty() {
            // GNU's message names no place.
            self.reader.position = 0;
            return self.reader.fail("unmatched `{'");
        }
        self.resolve_jumps()?;
        let commands = std::mem::take(&mut self.commands);
        Ok(Program { commands, quiet, read_files: std::mem::take(&mut self.read_files) })
    }

    fn close_block(&mut self) -> Parsed<()> {
        self.reader.position += 1;
        let Some(open) = self.open_blocks.pop() else {
            return self.reader.fail("unexpected `}'");
        };
        let closing = self.commands.len();
        if let Action::Block { end } = &mut self.commands[open].action {
            *end = closing + 1;
        }
        self.push(None, false, Action::Nothing);
        self.reader.end_of_command()
    }

    fn push(&mut self, address: Option<Address>, is_negated: bool, action: Action) {
        self.commands.push(Command { address, is_negated, action });
    }

    fn parse_command(&mut self) -> Parsed<()> {
        let address = self.reader.address()?;
        self.reader.skip_blanks();
        let is_negated = self.parse_negation()?;
        let Some(name) = self.reader.next() else {
            return self.reader.fail("missing command");
        };
        if name == '{' {
            if self.open_blocks.len() >= MAX_GROUP_DEPTH {
                let message = format!("grouped command nesting exceeds max depth {MAX_GROUP_DEPTH}");
                return self.reader.fail(message);
            }
            self.open_blocks.push(self.commands.len());
            self.push(address, is_negated, Action::Block { end: usize::MAX });
            return Ok(());
        }
        let item = self.reader.command(name, address.is_some())?;
        self.check_address_count(name, address.as_ref())?;
        let index = self.commands.len();
        let action = match item {
            Item::Action(action) => action,
            Item::Label(label) => {
                self.labels.push((label, index));
                Action::Nothing
            }
            Item::Jump(condition, label) => {
                self.jumps.extend(label.map(|label| (index, label)));
                Action::Jump { condition, target: usize::MAX }
            }
        };
        if let Action::ReadFile(file) | Action::ReadLine(file) = &action {
            self.read_files.push(file.clone());
        }
        self.push(address, is_negated, action);
        Ok(())
    }

    fn parse_negation(&mut self) -> Parsed<bool> {
        let is_negated = self.reader.accept('!');
        self.reader.skip_blanks();
        if is_negated && self.reader.accept('!') {
            return self.reader.fail("multiple `!'s");
        }
        Ok(is_negated)
    }

    /// Fails if a command has a range that cannot: `q` and `Q` stop the stream, and POSIX has one address for what writes
    /// something of its own.
    fn check_address_count(&self, name: char, address: Option<&Address>) -> Parsed<()> {
        let takes_one =
            matches!(name, 'q' | 'Q') || self.reader.mode.posix && matches!(name, 'a' | 'i' | '=' | 'l' | 'r');
        if takes_one && address.is_some_and(|address| address.end.is_some()) {
            return self.reader.fail("command only uses one address");
        }
        Ok(())
    }

    /// Gives jumps the index of their label; an unknown label is an error.
    fn resolve_jumps(&mut self) -> Parsed<()> {
        for (index, label) in &self.jumps {
            let Some((_, labelled)) = self.labels.iter().find(|(known, _)| known == label) else {
                let message = shorten(format!("can't find label for jump to `{label}'"));
                return Err(ParseError { message, status: 4 });
            };
            if let Action::Jump { target, .. } = &mut self.commands[*index].action {
                *target = *labelled;
            }
        }
        Ok(())
    }
}
