//! Parser of awk programs: recursive descent over the lexer, which gives one token at a time.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`tokens`] | the current token, and what comes next |
//! | [`failure`] | errors, and limits of nesting |
//! | [`names`] | what names mean: variables, functions, regular expressions, locations |
//! | [`item`] | rules and functions |
//! | [`statement`], [`print`] | statements |
//! | [`expression`], [`operand`] | operators by precedence, and what they work on |
//! | [`array_parameters`] | which parameters are arrays |
//!
//! Inside the arguments of `print` and `printf` an unparenthesized `>` is a redirection, not a comparison.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod array_parameters;
mod expression;
mod failure;
mod item;
mod names;
mod operand;
mod print;
mod statement;
mod tokens;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

pub(super) use failure::{ParseError, ParseErrorKind};

use super::ast::{Program, Source, special};
use super::lexer::{Lexer, Token};
use crate::commands::character_locale::CharacterSet;
use failure::Parsed;

/// Parser of one program.
pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    text: &'a str,
    sources: &'a [Source],
    token: Token,
    /// Offset of `token` in the program.
    token_start: usize,
    program: Program,
    global_index: HashMap<String, u32>,
    function_index: HashMap<String, u32>,
    location_index: HashMap<(usize, u32), u32>,
    /// Parameters of the function that is being parsed.
    locals: Option<HashMap<String, u32>>,
    /// Depth to which syntax is nested: parentheses, unary operators, blocks.
    nesting: usize,
    /// Depth of the syntax tree, for which chains of operators count, too.
    tree_depth: usize,
    /// Arguments of `print` are being parsed, outside of parentheses: `>` is a redirection.
    gt_redirects: bool,
    /// Name of the rule that is being parsed, if it is one without records.
    special_rule: Option<&'static str>,
    /// Offset of the parenthesis behind the last arguments.
    arguments_end: usize,
    /// Offsets at which global variables were first seen.
    first_uses: HashMap<String, usize>,
    /// Calls of functions that were not defined yet: function and offset.
    pending_calls: Vec<(u32, usize)>,
}

impl<'a> Parser<'a> {
    /// Creates a parser of a program that was joined from sources.
    pub(super) fn new(text: &'a str, sources: &'a [Source], characters: CharacterSet) -> Self {
        let names = || special::NAMES.iter().map(|name| name.to_string());
        Parser {
            lexer: Lexer::new(text, characters),
            text,
            sources,
            token: Token::Eof,
            token_start: 0,
            program: Program { globals: names().collect(), ..Program::default() },
            global_index: names().zip(0..).collect(),
            function_index: HashMap::new(),
            location_index: HashMap::new(),
            locals: None,
            nesting: 0,
            tree_depth: 0,
            gt_redirects: false,
            special_rule: None,
            arguments_end: 0,
            first_uses: HashMap::new(),
            pending_calls: Vec::new(),
        }
    }

    /// Parses the whole program.
    pub(super) fn parse_program(mut self) -> Parsed<Program> {
        self.advance()?;
        loop {
            self.skip_terminators()?;
            if self.token == Token::Eof {
                break;
            }
            self.parse_item()?;
        }
        self.refuse_undefined_functions()?;
        self.refuse_functions_as_variables()?;
        array_parameters::mark(&mut self.program);
        self.program.unknown_escapes = self.lexer.take_unknown_escapes();
        Ok(self.program)
    }
}
