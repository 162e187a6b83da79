//! The characters of a script, and what its parts have in common: numbers, lines, texts between delimiters.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::{Mode, ParseError, Parsed};

/// Longest message of an error, in bytes (TM-INF-022 caps standard error).
const MAX_MESSAGE_BYTES: usize = 512;

/// Script that is being parsed.
pub(super) struct ScriptReader {
    pub(super) characters: Vec<char>,
    pub(super) position: usize,
    pub(super) mode: Mode,
    /// A regular expression was there that an empty one may mean.
    pub(super) has_regex: bool,
    /// Files that `w` and `W` have named so far.
    pub(super) write_files: Vec<String>,
}

impl ScriptReader {
    pub(super) fn new(script: &str, mode: Mode) -> Self {
        let characters = script.chars().collect();
        ScriptReader { characters, position: 0, mode, has_regex: false, write_files: Vec::new() }
    }

    /// Fails at the current position, which GNU counts as the number of characters that were read.
    pub(super) fn fail<T>(&self, message: impl std::fmt::Display) -> Parsed<T> {
        let message = format!("-e expression #1, char {}: {message}", self.position);
        Err(ParseError { message: shorten(message), status: 1 })
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.characters.get(self.position).copied()
    }

    /// Takes the next character.
    pub(super) fn next(&mut self) -> Option<char> {
        let character = self.peek();
        self.position += usize::from(character.is_some());
        character
    }

    /// Takes a character if it comes next; returns true if it did.
    pub(super) fn accept(&mut self, character: char) -> bool {
        let comes_next = self.peek() == Some(character);
        self.position += usize::from(comes_next);
        comes_next
    }

    /// Takes characters as long as they are of a kind.
    pub(super) fn take_while(&mut self, is_of_kind: impl Fn(char) -> bool) -> String {
        let start = self.position;
        while self.peek().is_some_and(&is_of_kind) {
            self.position += 1;
        }
        self.characters[start..self.position].iter().collect()
    }

    pub(super) fn skip_blanks(&mut self) {
        self.skip(|character| matches!(character, ' ' | '\t'));
    }

    pub(super) fn skip(&mut self, is_of_kind: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&is_of_kind) {
            self.position += 1;
        }
    }

    pub(super) fn rest_of_line(&mut self) -> String {
        self.take_while(|character| character != '\n')
    }

    pub(super) fn at_number(&self) -> bool {
        self.peek().is_some_and(|character| character.is_ascii_digit())
    }

    /// Takes a number, which is 0 if there are no digits; a large one stays the largest.
    pub(super) fn number(&mut self) -> usize {
        let mut number: usize = 0;
        while let Some(digit) = self.peek().and_then(|character| character.to_digit(10)) {
            number = number.saturating_mul(10).saturating_add(digit as usize);
            self.position += 1;
        }
        number
    }

    /// Takes a text up to its delimiter. Escapes stay as they are, but `\` and the delimiter are the delimiter as an
    /// ordinary character. In a regular expression there is no delimiter in brackets: `s/[/]/X/` matches a slash.
    pub(super) fn delimited(&mut self, delimiter: char, what: &str, is_regex: bool) -> Parsed<String> {
        let mut text = String::new();
        while let Some(character) = self.next() {
            match character {
                '[' if is_regex => {
                    text.push('[');
                    self.copy_brackets(&mut text, what)?;
                }
                '\\' => self.copy_escape(&mut text, delimiter, what, is_regex)?,
                _ if character == delimiter => return Ok(text),
                '\n' => break,
                _ => text.push(character),
            }
        }
        self.fail(format!("unterminated {what}"))
    }

    /// Copies what stands behind a backslash.
    fn copy_escape(&mut self, text: &mut String, delimiter: char, what: &str, is_regex: bool) -> Parsed<()> {
        let Some(escaped) = self.next() else {
            return self.fail(format!("unterminated {what}"));
        };
        // GNU drops the backslash in front of the delimiter in a regular expression, so that the character keeps its
        // plain meaning: `\|` between `|` is a literal `|` in a basic one.
        let is_plain_delimiter = escaped == delimiter && (is_regex || escaped.is_ascii_alphanumeric());
        if !is_plain_delimiter && (escaped == delimiter || escaped != '\n') {
            text.push('\\');
        }
        text.push(escaped);
        Ok(())
    }

    /// Copies the rest of a bracket expression, whose `[` is copied already.
    fn copy_brackets(&mut self, text: &mut String, what: &str) -> Parsed<()> {
        for leading in ['^', ']'] {
            if self.accept(leading) {
                text.push(leading);
            }
        }
        while let Some(character) = self.next() {
            text.push(character);
            match (character, self.peek()) {
                (']', _) => return Ok(()),
                ('[', Some(kind @ (':' | '.' | '='))) => self.copy_class(text, kind),
                _ => {}
            }
        }
        self.fail(format!("unterminated {what}"))
    }

    /// Copies `:alpha:]` and the like, whose `[` is copied already.
    fn copy_class(&mut self, text: &mut String, kind: char) {
        text.extend(self.next());
        while let Some(character) = self.next() {
            text.push(character);
            if character == kind && self.accept(']') {
                text.push(']');
                return;
            }
        }
    }
}

/// Returns a message that is not too long.
pub(super) fn shorten(mut message: String) -> String {
    if message.len() > MAX_MESSAGE_BYTES {
        message.truncate(message.floor_char_boundary(MAX_MESSAGE_BYTES));
        message.push('…');
    }
    message
}
