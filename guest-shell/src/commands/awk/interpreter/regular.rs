//! Regular expressions of literals and of strings.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::sync::Arc;

use super::super::ast::{Expr, Program};
use super::super::lexer::{is_regex_escape, unknown_regex_escape};
use super::super::regex::AwkRegex;
use super::{Evaluation, Interpreter, truncate};

/// Most bytes of a pattern that an error message quotes.
const MAX_QUOTED_BYTES: usize = 200;

/// Compiles the literals of a program.
pub(super) fn literals(program: &Program, bytes_match: bool) -> Result<Vec<Arc<AwkRegex>>, String> {
    let compile = |pattern: &String| match AwkRegex::new(pattern, false) {
        Ok(regex) => Ok(Arc::new(regex.matching_bytes(bytes_match))),
        Err(error) => Err(format!("{}: /{}/", error.0, truncate(pattern, MAX_QUOTED_BYTES))),
    };
    program.regexes.iter().map(compile).collect()
}

/// Returns the letters of the escapes in literals of which a warning is written at the start.
pub(super) fn warned_escapes(program: &Program) -> Vec<char> {
    program.unknown_escapes.iter().filter(|escape| escape.is_regex).map(|escape| escape.letter).collect()
}

impl Interpreter {
    /// Returns the regular expression of a literal, which ignores case if `IGNORECASE` is set.
    pub(super) fn literal_regex(&mut self, id: u32) -> Arc<AwkRegex> {
        let index = id as usize;
        if !self.settings.ignorecase {
            return self.literal_regexes[index].clone();
        }
        if let Some(regex) = &self.caseless_regexes[index] {
            return regex.clone();
        }
        let regex = AwkRegex::new(&self.program.regexes[index], true)
            .map(|regex| Arc::new(regex.matching_bytes(self.regex_cache.bytes_match)))
            .unwrap_or_else(|_| self.literal_regexes[index].clone());
        self.caseless_regexes[index] = Some(regex.clone());
        regex
    }

    /// Returns the regular expression that a string holds.
    pub(super) fn string_regex(&mut self, pattern: &str) -> Evaluation<Arc<AwkRegex>> {
        if pattern.contains('\\') {
            self.warn_of_escapes(pattern);
        }
        self.regex_cache.get(pattern, self.settings.ignorecase).map_err(|error| {
            let message = format!("invalid regexp: {error}: /{}/", truncate(pattern, MAX_QUOTED_BYTES));
            self.fatal_error(&message)
        })
    }

    /// Warns of escapes that mean nothing, of each once.
    fn warn_of_escapes(&mut self, pattern: &str) {
        let mut letters = pattern.chars();
        while letters.any(|letter| letter == '\\') {
            let Some(letter) = letters.next() else { break };
            if !is_regex_escape(letter) && !self.warned_escapes.contains(&letter) {
                self.warned_escapes.push(letter);
                self.warn(&unknown_regex_escape(letter));
            }
        }
    }

    /// Returns the regular expression that an operand means: a literal, or its value.
    pub(super) async fn regex_operand(&mut self, operand: &Expr) -> Evaluation<Arc<AwkRegex>> {
        match operand {
            Expr::Regex(id) => Ok(self.literal_regex(*id)),
            Expr::Group(inner) if matches!(**inner, Expr::Regex(_)) => Box::pin(self.regex_operand(inner)).await,
            other => {
                let value = self.eval(other).await?;
                let pattern = self.text_of(&value);
                self.string_regex(&pattern)
            }
        }
    }
}
