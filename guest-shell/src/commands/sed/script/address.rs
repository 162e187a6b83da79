//! Addresses, and regular expressions.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::sync::Arc;

use super::super::pattern::{CLASS_SYNTAX, Mistake, PatternError, SedRegex, Syntax};
use super::reader::{ScriptReader, shorten};
use super::{Address, End, ParseError, Parsed, RegexUse, Start};

/// Message about a regular expression without its end.
const ADDRESS_REGEX: &str = "address regex";

impl ScriptReader {
    /// Takes an address, if there is one.
    pub(super) fn address(&mut self) -> Parsed<Option<Address>> {
        self.skip_blanks();
        let Some(start) = self.address_start()? else {
            return Ok(None);
        };
        self.skip_blanks();
        let end = if self.accept(',') { Some(self.address_end()?) } else { None };
        let may_be_zero = !self.mode.posix && matches!(end, Some(End::Regex(_)));
        if matches!(start, Start::Zero) && !may_be_zero {
            return self.fail("invalid usage of line address 0");
        }
        Ok(Some(Address { start, end }))
    }

    fn address_start(&mut self) -> Parsed<Option<Start>> {
        if self.at_number() {
            let first = self.number();
            let has_step = !self.mode.posix && self.accept('~');
            return Ok(Some(match (first, if has_step { self.number() } else { 0 }) {
                (0, 0) => Start::Zero,
                (line, 0) => Start::Line(line),
                (first, step) => Start::Step { first, step },
            }));
        }
        if self.accept('$') {
            return Ok(Some(Start::Last));
        }
        Ok(self.address_with_regex()?.map(Start::Regex))
    }

    fn address_end(&mut self) -> Parsed<End> {
        self.skip_blanks();
        if self.at_number() {
            return Ok(End::Line(self.number()));
        }
        if self.accept('$') {
            return Ok(End::Last);
        }
        if !self.mode.posix && self.accept('+') {
            return Ok(End::Plus(self.number()));
        }
        if !self.mode.posix && self.accept('~') {
            return Ok(End::Multiple(self.number()));
        }
        match self.address_with_regex()? {
            Some(regex) => Ok(End::Regex(regex)),
            None => self.fail("unexpected `,'"),
        }
    }

    /// Takes `/regex/` or `\cregexc` with its flags, if that comes next.
    fn address_with_regex(&mut self) -> Parsed<Option<RegexUse>> {
        let delimiter = match self.peek() {
            Some('/') => '/',
            Some('\\') => {
                self.position += 1;
                match self.peek() {
                    Some(delimiter) => delimiter,
                    None => return self.fail(format!("unterminated {ADDRESS_REGEX}")),
                }
            }
            _ => return Ok(None),
        };
        self.position += 1;
        let pattern = self.delimited(delimiter, ADDRESS_REGEX, true)?;
        let flags = if self.mode.posix { String::new() } else { self.take_while(|flag| matches!(flag, 'I' | 'M')) };
        self.compile(&pattern, flags.contains('I'), flags.contains('M')).map(Some)
    }

    /// Compiles a regular expression.
    pub(super) fn compile(&mut self, pattern: &str, case_insensitive: bool, multi_line: bool) -> Parsed<RegexUse> {
        if pattern.is_empty() {
            return match self.has_regex {
                true => Ok(None),
                false => self.fail("no previous regular expression"),
            };
        }
        self.has_regex = true;
        let syntax = Syntax {
            extended: self.mode.extended,
            case_insensitive,
            multi_line,
            null_data: self.mode.null_data,
            bytes_match: self.mode.bytes_match,
        };
        let standard = self.mode.posix.then(|| without_extensions(pattern, self.mode.extended));
        match SedRegex::new(standard.as_deref().unwrap_or(pattern), syntax) {
            Ok(regex) => Ok(Some(Arc::new(regex))),
            Err(PatternError::Mistake(CLASS_SYNTAX)) => {
                Err(ParseError { message: CLASS_SYNTAX.0.to_owned(), status: 4 })
            }
            Err(PatternError::Mistake(Mistake(message))) => self.fail(message),
            Err(PatternError::Engine(message)) => self.fail(on_one_line(&message)),
        }
    }
}

/// Returns a regular expression in which GNU's operators (`\w`, `\<`, and in a basic one `\+`, `\?`, `\|`) are the
/// characters themselves, as `--posix` has it.
fn without_extensions(pattern: &str, extended: bool) -> String {
    let mut output = String::new();
    // In brackets: 1 behind `[` or `[^`, where `]` is a character, then 2.
    let mut bracket_state = 0;
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        bracket_state = match (bracket_state, character) {
            (0, '[') => 1,
            (0, _) => 0,
            (1, '^') => 1,
            (2, ']') => 0,
            _ => 2,
        };
        if bracket_state > 0 || character != '\\' {
            output.push(character);
            continue;
        }
        match characters.next() {
            Some(escaped) if "wWsSbB<>`'".contains(escaped) || !extended && "+?|".contains(escaped) => {
                output.push(escaped);
            }
            escaped => {
                output.push('\\');
                output.extend(escaped);
            }
        }
    }
    output
}

/// Returns a message of the regular expression engine, which draws a diagram, on one short line (TM-INF-022).
fn on_one_line(message: &str) -> String {
    let lines = message.lines().map(str::trim);
    let texts: Vec<&str> = lines.filter(|line| line.chars().any(|character| character != '^')).collect();
    shorten(texts.join(" "))
}
