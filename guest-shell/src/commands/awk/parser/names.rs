//! What names mean: variables and functions as indices, and tables of regular expressions and of locations.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::ast::{UserFunction, VarRef, special};
use super::super::interpreter::truncate;
use super::super::regex;
use super::Parser;
use super::failure::{ParseErrorKind, Parsed};

/// Most bytes of a pattern that an error message quotes.
const MAX_QUOTED_BYTES: usize = 200;

impl Parser<'_> {
    /// Returns the index of the location of an offset: its source, and the line in it.
    pub(super) fn location(&mut self, position: usize) -> u32 {
        let source_index = self.sources.iter().rposition(|source| source.start <= position).unwrap_or(0);
        let source = self.sources.get(source_index);
        let start = source.map_or(0, |source| source.start);
        let before = &self.text.as_bytes()[start..position.min(self.text.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() as u32 + 1;
        let locations = &mut self.program.locs;
        *self.location_index.entry((source_index, line)).or_insert_with(|| {
            let name = source.map_or_else(|| "cmd. line".to_string(), |source| source.name.clone());
            locations.push((name, line));
            locations.len() as u32 - 1
        })
    }

    fn global(&mut self, name: &str) -> u32 {
        if let Some(&index) = self.global_index.get(name) {
            return index;
        }
        let index = self.program.globals.len() as u32;
        self.program.globals.push(name.to_string());
        self.global_index.insert(name.to_string(), index);
        self.first_uses.insert(name.to_string(), self.token_start);
        index
    }

    /// Returns the variable of a name: a parameter of the current function, or a global one.
    pub(super) fn variable(&mut self, name: &str) -> VarRef {
        match self.locals.as_ref().and_then(|locals| locals.get(name)) {
            Some(&index) => VarRef::Local(index),
            None => VarRef::Global(self.global(name)),
        }
    }

    /// Returns the index of a function, which may not be defined yet.
    pub(super) fn function(&mut self, name: &str) -> u32 {
        if let Some(&index) = self.function_index.get(name) {
            return index;
        }
        let index = self.program.funcs.len() as u32;
        self.program.funcs.push(UserFunction { name: name.to_string(), ..UserFunction::default() });
        self.function_index.insert(name.to_string(), index);
        index
    }

    /// Adds a regular expression that began at `start`.
    pub(super) fn add_regex(&mut self, pattern: String, start: usize) -> Parsed<u32> {
        if let Err(error) = regex::check(&pattern) {
            let message = format!("{error}: /{}/", truncate(&pattern, MAX_QUOTED_BYTES));
            return self.fail_at(start, ParseErrorKind::Error, message);
        }
        self.program.regexes.push(pattern);
        Ok(self.program.regexes.len() as u32 - 1)
    }

    pub(super) fn refuse_undefined_functions(&self) -> Parsed<()> {
        let undefined = self.pending_calls.iter().find(|(id, _)| !self.program.funcs[*id as usize].defined);
        match undefined {
            Some(&(id, position)) => {
                let message = format!("function `{}' not defined", self.program.funcs[id as usize].name);
                self.fail_at(position, ParseErrorKind::Fatal, message)
            }
            None => Ok(()),
        }
    }

    /// A function is no variable, and `f (x)` no call of it.
    pub(super) fn refuse_functions_as_variables(&self) -> Parsed<()> {
        for function in self.program.funcs.iter().filter(|function| function.defined) {
            if let Some(&position) = self.first_uses.get(&function.name) {
                let message = format!(
                    "function `{}' called with space between name and `(',\nor used as a variable or an array",
                    function.name
                );
                return self.fail_at(position, ParseErrorKind::Error, message);
            }
        }
        Ok(())
    }

    pub(super) fn refuse_parameter(&self, function: &str, parameter: &str) -> Parsed<()> {
        let problem = if parameter == function {
            "cannot use function name as parameter name".to_string()
        } else if special::NAMES.contains(&parameter) {
            format!("cannot use special variable `{parameter}' as a function parameter")
        } else {
            return Ok(());
        };
        self.fail(ParseErrorKind::Error, format!("function `{function}': {problem}"))
    }
}
