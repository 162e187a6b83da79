//! Rules and functions.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::collections::HashMap;

use super::super::ast::{Pattern, Rule, special};
use super::super::lexer::Token;
use super::Parser;
use super::failure::{ParseErrorKind, Parsed};

/// Parameters of a function, and the index of each.
type Parameters = (Vec<String>, HashMap<String, u32>);

impl Parser<'_> {
    pub(super) fn parse_item(&mut self) -> Parsed<()> {
        match self.token {
            Token::Function => self.parse_function(),
            Token::Begin | Token::End | Token::BeginFile | Token::EndFile => self.parse_special_rule(),
            Token::LBrace => {
                let body = self.parse_block()?;
                self.program.rules.push(Rule { pattern: Pattern::All, body: Some(body) });
                Ok(())
            }
            _ => self.parse_rule(),
        }
    }

    /// Parses `BEGIN { ... }` and the like.
    fn parse_special_rule(&mut self) -> Parsed<()> {
        let keyword = self.token.clone();
        self.advance_past_newlines()?;
        if self.token != Token::LBrace {
            return self.unexpected();
        }
        self.special_rule = match keyword {
            Token::Begin => Some("BEGIN"),
            Token::End => Some("END"),
            _ => None,
        };
        let block = self.parse_block()?;
        self.special_rule = None;
        let blocks = match keyword {
            Token::Begin => &mut self.program.begin,
            Token::End => &mut self.program.end,
            Token::BeginFile => &mut self.program.beginfile,
            _ => &mut self.program.endfile,
        };
        blocks.push(block);
        Ok(())
    }

    /// Parses a rule with a pattern.
    fn parse_rule(&mut self) -> Parsed<()> {
        let first = self.parse_expression()?;
        let pattern = if self.token == Token::Comma {
            self.advance_past_newlines()?;
            let last = self.parse_expression()?;
            self.program.ranges += 1;
            Pattern::Range(first, last, self.program.ranges - 1)
        } else {
            Pattern::Expr(first)
        };
        let body = match self.token {
            Token::LBrace => Some(self.parse_block()?),
            Token::Newline | Token::Semi | Token::Eof => None,
            _ => return self.unexpected(),
        };
        self.program.rules.push(Rule { pattern, body });
        Ok(())
    }

    fn parse_function(&mut self) -> Parsed<()> {
        self.advance()?;
        let (Token::Name(name) | Token::FuncName(name)) = self.token.clone() else {
            return self.unexpected();
        };
        let name_start = self.token_start;
        self.advance()?;
        if special::NAMES.contains(&name.as_str()) {
            let message = format!("function name `{name}' previously defined");
            return self.fail_at(name_start, ParseErrorKind::Syntax, message);
        }
        let (params, indices) = self.parse_parameters(&name)?;
        self.skip_newlines()?;
        let id = self.function(&name) as usize;
        if self.program.funcs[id].defined {
            let message = format!("function `{name}' previously defined");
            return self.fail_at(name_start, ParseErrorKind::Syntax, message);
        }
        if self.token != Token::LBrace {
            return self.unexpected();
        }
        self.locals = Some(indices);
        let body = self.parse_block()?;
        self.locals = None;
        let function = &mut self.program.funcs[id];
        function.array_params = vec![false; params.len()];
        function.params = params;
        function.body = body;
        function.defined = true;
        Ok(())
    }

    /// Parses the parameters of a function, with their parentheses.
    fn parse_parameters(&mut self, function: &str) -> Parsed<Parameters> {
        self.expect(Token::LParen)?;
        self.skip_newlines()?;
        let mut names: Vec<String> = Vec::new();
        let mut indices = HashMap::new();
        while let Token::Name(name) = self.token.clone() {
            self.refuse_parameter(function, &name)?;
            let index = names.len() as u32;
            if let Some(earlier) = indices.insert(name.clone(), index) {
                let message = format!(
                    "function `{function}': parameter #{} `{name}' duplicates parameter #{}",
                    index + 1,
                    earlier + 1
                );
                return self.fail(ParseErrorKind::Syntax, message);
            }
            names.push(name);
            self.advance_past_newlines()?;
            if self.token != Token::Comma {
                break;
            }
            self.advance_past_newlines()?;
        }
        self.expect(Token::RParen)?;
        Ok((names, indices))
    }
}
