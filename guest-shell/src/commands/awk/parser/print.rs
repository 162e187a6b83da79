//! `print` and `printf`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::ast::{Expr, Redirect, StmtKind};
use super::super::lexer::Token;
use super::Parser;
use super::failure::{ParseErrorKind, Parsed};

impl Parser<'_> {
    pub(super) fn parse_print(&mut self) -> Parsed<StmtKind> {
        let is_printf = self.token == Token::Printf;
        self.advance()?;
        let outer = std::mem::replace(&mut self.gt_redirects, true);
        let values = self.parse_print_values()?;
        let redirect = self.parse_redirect()?;
        self.gt_redirects = outer;
        match is_printf {
            true if values.is_empty() => self.unexpected(),
            true => Ok(StmtKind::Printf(values, redirect)),
            false => Ok(StmtKind::Print(values, redirect)),
        }
    }

    fn parse_print_values(&mut self) -> Parsed<Vec<Expr>> {
        if self.at_print_end() {
            return Ok(Vec::new());
        }
        match self.parse_values_in_parentheses()? {
            Some(values) => Ok(values),
            None => self.parse_list(),
        }
    }

    /// Parses `(a, b)` if these parentheses hold all values: `print (a, b) > f`, but not `print (a) b`.
    fn parse_values_in_parentheses(&mut self) -> Parsed<Option<Vec<Expr>>> {
        if self.token != Token::LParen {
            return Ok(None);
        }
        let bookmark = self.bookmark();
        self.advance()?;
        self.gt_redirects = false;
        let values = self.parse_list()?;
        self.gt_redirects = true;
        if self.accept(Token::RParen)? && self.at_print_end() {
            return Ok(Some(values));
        }
        self.go_back_to(bookmark);
        Ok(None)
    }

    /// Parses expressions between commas.
    fn parse_list(&mut self) -> Parsed<Vec<Expr>> {
        let mut values = vec![self.parse_expression()?];
        while self.token == Token::Comma {
            self.advance_past_newlines()?;
            values.push(self.parse_expression()?);
        }
        Ok(values)
    }

    /// Parses a redirection, if there is one. Its target is a concatenation without comparisons: `print > "a" "b"` writes
    /// to the file `ab`.
    fn parse_redirect(&mut self) -> Parsed<Option<Redirect>> {
        let redirect = match self.token {
            Token::Gt => Redirect::File,
            Token::Append => Redirect::Append,
            Token::Pipe => Redirect::Pipe,
            Token::PipeAmp => return self.refuse_coprocess(),
            _ => return Ok(None),
        };
        self.advance()?;
        self.parse_concatenation().map(|target| Some(redirect(target)))
    }

    pub(super) fn refuse_coprocess<T>(&self) -> Parsed<T> {
        self.fail(ParseErrorKind::Syntax, "coprocesses (|&) are not supported")
    }

    fn at_print_end(&self) -> bool {
        matches!(self.token, Token::Semi | Token::Newline | Token::RBrace | Token::Eof)
            || matches!(self.token, Token::Gt | Token::Append | Token::Pipe | Token::PipeAmp)
    }
}
