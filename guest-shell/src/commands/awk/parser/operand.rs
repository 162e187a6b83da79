//! What operators work on: constants, variables, fields, calls, `getline`, parentheses.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::ast::{BuiltinFunction, Expr, GetlineSource};
use super::super::lexer::{BUILTIN_FUNCS, Token};
use super::Parser;
use super::failure::{ParseErrorKind, Parsed};

impl Parser<'_> {
    pub(super) fn parse_operand(&mut self) -> Parsed<Expr> {
        match self.token.clone() {
            Token::Num(number) => self.advance().map(|()| Expr::Num(number)),
            Token::Str(text) => self.advance().map(|()| Expr::Str(text)),
            Token::Slash | Token::DivAssign => self.take_regex().map(Expr::Regex),
            Token::Dollar | Token::Name(_) => self.parse_target(),
            Token::LParen => self.parse_parentheses(),
            Token::Getline => self.parse_getline(),
            Token::FuncName(name) => self.parse_call(&name),
            Token::At => self.parse_at(),
            Token::Builtin(name) => self.parse_builtin_call(&name),
            Token::Minus | Token::Plus | Token::Not => self.parse_unary(),
            Token::Incr | Token::Decr => self.parse_increment(),
            _ => self.unexpected(),
        }
    }

    /// Parses what can be assigned to: a field, a variable or an element.
    pub(super) fn parse_target(&mut self) -> Parsed<Expr> {
        if self.token != Token::Dollar {
            return self.parse_variable_or_element();
        }
        self.advance()?;
        let depth = self.enter()?;
        let index = self.parse_field_index()?;
        self.leave(depth);
        Ok(Expr::Field(Box::new(index)))
    }

    /// Parses `name` or `name[subscripts]...`.
    pub(super) fn parse_variable_or_element(&mut self) -> Parsed<Expr> {
        let Token::Name(name) = self.token.clone() else {
            return self.unexpected();
        };
        self.advance()?;
        let variable = self.variable(&name);
        match self.token {
            Token::LBracket => Ok(Expr::Elem(variable, self.parse_subscripts()?)),
            _ => Ok(Expr::Var(variable)),
        }
    }

    fn parse_subscripts(&mut self) -> Parsed<Vec<Vec<Expr>>> {
        let mut subscripts = Vec::new();
        while self.accept(Token::LBracket)? {
            let outer = std::mem::replace(&mut self.gt_redirects, false);
            let first = self.parse_expression()?;
            let subscript = self.parse_rest_of_subscript(first)?;
            self.gt_redirects = outer;
            self.expect(Token::RBracket)?;
            subscripts.push(subscript);
            self.check_subscript_count(subscripts.len())?;
        }
        Ok(subscripts)
    }

    /// Parses what follows the first expression of a subscript: more, between commas.
    fn parse_rest_of_subscript(&mut self, first: Expr) -> Parsed<Vec<Expr>> {
        let mut expressions = vec![first];
        while self.token == Token::Comma {
            self.check_subscript_count(expressions.len() + 1)?;
            self.advance_past_newlines()?;
            expressions.push(self.parse_expression()?);
        }
        Ok(expressions)
    }

    /// Parses an expression in parentheses, or the subscript of `(i, j) in array`.
    fn parse_parentheses(&mut self) -> Parsed<Expr> {
        let depth = self.enter()?;
        self.advance()?;
        let outer = std::mem::replace(&mut self.gt_redirects, false);
        let first = self.parse_expression()?;
        let is_list = self.token == Token::Comma;
        let mut expressions = self.parse_rest_of_subscript(first)?;
        self.gt_redirects = outer;
        self.expect(Token::RParen)?;
        self.leave(depth);
        match expressions.pop() {
            Some(only) if !is_list => Ok(Expr::Group(Box::new(only))),
            last if self.token == Token::In => {
                expressions.extend(last);
                Ok(Expr::List(expressions))
            }
            _ => self.unexpected(),
        }
    }

    /// Parses `getline [target] [< file]`. The file is an operand: `getline < "a" "b"` reads the file `a`.
    fn parse_getline(&mut self) -> Parsed<Expr> {
        self.advance()?;
        let target = self.parse_getline_target()?;
        if !self.accept(Token::Lt)? {
            return Ok(Expr::Getline(GetlineSource::Main, target));
        }
        let depth = self.enter()?;
        let file = self.parse_operand()?;
        self.leave(depth);
        Ok(Expr::Getline(GetlineSource::File(Box::new(file)), target))
    }

    pub(super) fn parse_getline_target(&mut self) -> Parsed<Option<Box<Expr>>> {
        match self.token {
            Token::Name(_) | Token::Dollar => Ok(Some(Box::new(self.parse_target()?))),
            _ => Ok(None),
        }
    }

    /// Parses arguments with their parentheses; the current token is the first of them.
    fn parse_arguments(&mut self) -> Parsed<Vec<Expr>> {
        let outer = std::mem::replace(&mut self.gt_redirects, false);
        self.advance_past_newlines()?;
        let mut arguments = Vec::new();
        if self.token != Token::RParen {
            loop {
                arguments.push(self.parse_expression()?);
                self.skip_newlines()?;
                if self.token != Token::Comma {
                    break;
                }
                self.advance_past_newlines()?;
            }
        }
        self.gt_redirects = outer;
        self.arguments_end = self.token_start;
        self.expect(Token::RParen)?;
        Ok(arguments)
    }

    fn parse_call(&mut self, name: &str) -> Parsed<Expr> {
        let name_start = self.token_start;
        self.advance()?;
        let function = self.function(name);
        let arguments = self.parse_arguments()?;
        if !self.program.funcs[function as usize].defined {
            self.pending_calls.push((function, name_start));
        }
        Ok(Expr::Call(function, arguments))
    }

    /// Parses a call of the function that a variable names, or a typed regular expression, which is its text here.
    fn parse_at(&mut self) -> Parsed<Expr> {
        self.advance()?;
        if matches!(self.token, Token::Slash | Token::DivAssign) {
            let index = self.take_regex()?;
            let text = &self.program.regexes[index as usize];
            // As a text, a single character would separate fields as itself; in parentheses it is an expression.
            let is_single = text.chars().count() == 1;
            return Ok(Expr::Str(if is_single { format!("({text})") } else { text.clone() }));
        }
        let (Token::FuncName(name) | Token::Name(name)) = self.token.clone() else {
            return self.unexpected();
        };
        self.advance()?;
        if self.token != Token::LParen {
            return self.unexpected();
        }
        let variable = Expr::Var(self.variable(&name));
        let arguments = self.parse_arguments()?;
        Ok(Expr::Indirect(Box::new(variable), arguments))
    }

    fn parse_builtin_call(&mut self, name: &str) -> Parsed<Expr> {
        self.advance()?;
        let Some(function) = BuiltinFunction::from_name(name) else {
            return self.unexpected();
        };
        let arguments = match self.token {
            Token::LParen => self.parse_arguments()?,
            _ if function == BuiltinFunction::Length => Vec::new(),
            _ => return self.unexpected(),
        };
        self.check_argument_count(function, arguments.len())?;
        Ok(Expr::Builtin(function, arguments))
    }

    fn check_argument_count(&self, function: BuiltinFunction, count: usize) -> Parsed<()> {
        let (fewest, most) = function.arity();
        if (fewest..=most).contains(&count) {
            return Ok(());
        }
        let is_its_name = |name: &&&str| BuiltinFunction::from_name(name) == Some(function);
        let name = BUILTIN_FUNCS.iter().find(is_its_name).unwrap_or(&"function");
        let message = format!("{count} is invalid as number of arguments for {name}");
        self.fail_at(self.arguments_end, ParseErrorKind::Syntax, message)
    }
}
