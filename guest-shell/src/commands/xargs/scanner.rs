//! Items in the input of `xargs`.

use std::ops::ControlFlow;

use super::plan::CommandBuilder;

/// Hands the items of an input to a builder. The error is a message about an input that cannot be read on, or about an
/// item that fits into no command line.
pub(super) fn read_items(builder: &mut CommandBuilder<'_>, input: &str) -> std::result::Result<(), String> {
    match builder.options.delimiter {
        Some(delimiter) => read_delimited(builder, input, delimiter),
        None => ItemScanner::new(builder).scan(input),
    }
}

/// Reads items that end at a delimiter, as GNU's `read_string` does: they may be empty, but the last may not.
fn read_delimited(builder: &mut CommandBuilder<'_>, input: &str, delimiter: char) -> std::result::Result<(), String> {
    let mut items: Vec<&str> = input.split(delimiter).collect();
    let last = items.pop().filter(|last| !last.is_empty());
    for item in items {
        builder.lines += 1;
        builder.take(item.to_string())?;
    }
    last.map_or(Ok(()), |last| builder.take(last.to_string()))
}

/// Position of a character among the items of a line.
#[derive(PartialEq, Clone, Copy)]
enum ScanState {
    /// Between items.
    Blank,
    /// Within an item, or at its start.
    Item,
    /// Between quotes of this character.
    Quoted(char),
    /// Behind a backslash.
    Escaped,
}

/// Reader of items that end at blanks and lines, with quotes and backslashes, as GNU's `read_line`.
struct ItemScanner<'b, 'a> {
    builder: &'b mut CommandBuilder<'a>,
    state: ScanState,
    item: String,
    /// Character before the current one.
    previous: char,
    /// True until a blank has ended an item of the line.
    is_first: bool,
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t')
}

fn is_space(character: char) -> bool {
    is_blank(character) || matches!(character, '\n' | '\r' | '\x0c' | '\x0b')
}

fn unmatched(quote: char) -> String {
    let kind = if quote == '"' { "double" } else { "single" };
    format!("unmatched {kind} quote; by default quotes are special to xargs unless you use the -0 option")
}

impl<'b, 'a> ItemScanner<'b, 'a> {
    fn new(builder: &'b mut CommandBuilder<'a>) -> Self {
        Self { builder, state: ScanState::Blank, item: String::new(), previous: '\0', is_first: true }
    }

    fn scan(mut self, input: &str) -> std::result::Result<(), String> {
        for character in input.chars() {
            if self.accept(character)?.is_break() {
                return Ok(());
            }
        }
        self.end()
    }

    /// Reads a character, and breaks at the item that ends the input.
    fn accept(&mut self, character: char) -> std::result::Result<ControlFlow<()>, String> {
        let previous = std::mem::replace(&mut self.previous, character);
        if self.state == ScanState::Blank {
            if is_space(character) {
                return Ok(ControlFlow::Continue(()));
            }
            self.state = ScanState::Item;
        }
        self.state = match (self.state, character) {
            (ScanState::Item, '\n') => return self.end_line(previous),
            (ScanState::Item, space) if is_space(space) && self.builder.options.replaced.is_none() => {
                return self.end_item();
            }
            (ScanState::Item, '\\') => ScanState::Escaped,
            (ScanState::Item, quote @ ('\'' | '"')) => ScanState::Quoted(quote),
            (ScanState::Quoted(quote), '\n') => return Err(unmatched(quote)),
            (ScanState::Quoted(quote), end) if end == quote => ScanState::Item,
            (state, character) => {
                self.item.push(character);
                if state == ScanState::Escaped { ScanState::Item } else { state }
            }
        };
        Ok(ControlFlow::Continue(()))
    }

    /// Returns the item that was read. Texts of C end at the first null byte.
    fn take_item(&mut self) -> String {
        let item = std::mem::take(&mut self.item);
        item.split('\0').next().unwrap_or_default().to_string()
    }

    fn ends_input(&self, item: &str) -> bool {
        self.builder.options.end_item.as_deref() == Some(item)
    }

    fn end_line(&mut self, previous: char) -> std::result::Result<ControlFlow<()>, String> {
        // A blank at its end joins a line with the next one.
        if !is_blank(previous) {
            self.builder.lines += 1;
        }
        self.state = ScanState::Blank;
        if self.item.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        let item = self.take_item();
        if self.ends_input(&item) {
            return Ok(ControlFlow::Break(()));
        }
        self.builder.take(item)?;
        self.is_first = true;
        Ok(ControlFlow::Continue(()))
    }

    fn end_item(&mut self) -> std::result::Result<ControlFlow<()>, String> {
        let item = self.take_item();
        if self.ends_input(&item) {
            return Ok(ControlFlow::Break(()));
        }
        // The lines are looked at only at the end of one.
        self.builder.push(item)?;
        self.state = ScanState::Blank;
        self.is_first = false;
        Ok(ControlFlow::Continue(()))
    }

    fn end(mut self) -> std::result::Result<(), String> {
        if self.item.is_empty() {
            return Ok(());
        }
        if let ScanState::Quoted(quote) = self.state {
            return Err(unmatched(quote));
        }
        let item = self.take_item();
        if self.is_first && self.ends_input(&item) {
            return Ok(());
        }
        self.builder.take(item)
    }
}
