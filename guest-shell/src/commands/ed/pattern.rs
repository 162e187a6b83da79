//! Regular expressions of searches and substitutions.

use std::sync::Arc;

use super::editor::Editor;
use super::scanner::Scanner;
use crate::commands::sed::{Mistake, PatternError, SedRegex, Syntax};

/// Expression of a search or a substitution.
pub(super) type Pattern = Arc<SedRegex>;

/// Message about an expression with a back-reference that takes too many steps.
const TOO_MANY_STEPS: &str = "Regular expression is too expensive";

impl Editor {
    /// Reads an expression up to its delimiter, which stays unread. An empty one is the last one.
    pub(super) fn pattern(&mut self, line: &mut Scanner, delimiter: char) -> Result<Pattern, &'static str> {
        if line.peek().is_none_or(|next| next == delimiter) {
            return self.last_pattern.clone().ok_or("No previous pattern");
        }
        let text = delimited(line, delimiter)?;
        let syntax = Syntax::of_dialect(self.options.is_extended);
        let pattern = SedRegex::new(&text, syntax).map(Arc::new).map_err(|error| match error {
            PatternError::Mistake(Mistake(message)) => message,
            PatternError::Engine(_) => "Invalid pattern",
        })?;
        self.last_pattern = Some(Arc::clone(&pattern));
        Ok(pattern)
    }

    /// Returns true if an expression matches a line.
    pub(super) fn matches(&self, pattern: &Pattern, address: usize) -> Result<bool, &'static str> {
        let found = pattern.is_match(&self.buffer.line(address).text);
        if pattern.given_up() { Err(TOO_MANY_STEPS) } else { Ok(found) }
    }
}

/// Reads the text of an expression. Escaped delimiters lose their backslash.
fn delimited(line: &mut Scanner, delimiter: char) -> Result<String, &'static str> {
    let mut text = String::new();
    while let Some(next) = line.peek().filter(|next| *next != delimiter) {
        line.next();
        match next {
            '[' => {
                text.push('[');
                bracket(line, &mut text)?;
            }
            '\\' => match line.next() {
                None => return Err("Trailing backslash (\\)"),
                Some(escaped) if escaped == delimiter => text.push(escaped),
                // The library of C knows no other letters behind a backslash; sed's expressions do.
                Some(escaped) if escaped.is_ascii_alphabetic() && !"wWsSbB".contains(escaped) => text.push(escaped),
                Some(escaped) => text.extend(['\\', escaped]),
            },
            next => text.push(next),
        }
    }
    Ok(text)
}

/// Reads a bracket expression behind its `[`.
fn bracket(line: &mut Scanner, text: &mut String) -> Result<(), &'static str> {
    const UNBALANCED: &str = "Unbalanced brackets ([])";
    let mut is_first = true;
    if line.take('^') {
        text.push('^');
    }
    loop {
        let next = line.next().ok_or(UNBALANCED)?;
        text.push(next);
        match (next, line.peek()) {
            (']', _) if !is_first => return Ok(()),
            ('[', Some(kind @ ('.' | ':' | '='))) => {
                let mut before = line.next();
                text.push(kind);
                loop {
                    let inner = line.next().ok_or(UNBALANCED)?;
                    text.push(inner);
                    if inner == ']' && before == Some(kind) {
                        break;
                    }
                    before = Some(inner);
                }
            }
            // Within brackets a backslash is a character; sed would join it with the letter behind it.
            ('\\', _) => text.push_str("x5c"),
            _ => {}
        }
        is_first = false;
    }
}
