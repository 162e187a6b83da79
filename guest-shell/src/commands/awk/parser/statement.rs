//! Statements.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::ast::{Block, CaseLabel, Expr, Stmt, StmtKind};
use super::super::lexer::Token;
use super::Parser;
use super::failure::{ParseErrorKind, Parsed};

impl Parser<'_> {
    pub(super) fn parse_block(&mut self) -> Parsed<Block> {
        let depth = self.enter()?;
        self.expect(Token::LBrace)?;
        let mut statements = Vec::new();
        loop {
            self.skip_terminators()?;
            if self.accept(Token::RBrace)? {
                break;
            }
            if self.token == Token::Eof {
                return self.unexpected();
            }
            statements.push(self.parse_statement()?);
        }
        self.leave(depth);
        Ok(statements)
    }

    /// Parses the body of `if` or of a loop: a statement, possibly behind newlines, or nothing but a semicolon.
    fn parse_body(&mut self) -> Parsed<Block> {
        self.skip_newlines()?;
        if self.accept(Token::Semi)? {
            return Ok(Vec::new());
        }
        let statement = self.parse_statement()?;
        Ok(match statement.kind {
            StmtKind::Block(block) => block,
            _ => vec![statement],
        })
    }

    fn parse_statement(&mut self) -> Parsed<Stmt> {
        let depth = self.enter()?;
        let loc = self.location(self.token_start);
        let kind = match self.token {
            Token::LBrace => StmtKind::Block(self.parse_block()?),
            Token::If => self.parse_if()?,
            Token::While => {
                self.advance()?;
                let condition = self.parse_condition()?;
                StmtKind::While(condition, self.parse_body()?)
            }
            Token::Do => self.parse_do()?,
            Token::For => self.parse_for()?,
            Token::Semi => {
                self.advance()?;
                StmtKind::Block(Vec::new())
            }
            Token::Switch => self.parse_switch()?,
            _ => {
                let kind = self.parse_simple_statement()?;
                self.end_simple_statement()?;
                kind
            }
        };
        self.leave(depth);
        Ok(Stmt { kind, loc })
    }

    /// Parses an expression in parentheses.
    fn parse_condition(&mut self) -> Parsed<Expr> {
        self.expect(Token::LParen)?;
        let condition = self.parse_expression()?;
        self.expect(Token::RParen)?;
        Ok(condition)
    }

    fn parse_if(&mut self) -> Parsed<StmtKind> {
        self.advance()?;
        let condition = self.parse_condition()?;
        let yes = self.parse_body()?;
        // `else` may stand behind terminators.
        let bookmark = self.bookmark();
        self.skip_terminators()?;
        let no = if self.accept(Token::Else)? {
            Some(self.parse_body()?)
        } else {
            self.go_back_to(bookmark);
            None
        };
        Ok(StmtKind::If(condition, yes, no))
    }

    fn parse_do(&mut self) -> Parsed<StmtKind> {
        self.advance()?;
        let body = self.parse_body()?;
        self.skip_terminators()?;
        self.expect(Token::While)?;
        let condition = self.parse_condition()?;
        self.end_simple_statement()?;
        Ok(StmtKind::Do(body, condition))
    }

    fn parse_for(&mut self) -> Parsed<StmtKind> {
        self.advance()?;
        self.expect(Token::LParen)?;
        if let Some((key, array)) = self.parse_for_in_head()? {
            return Ok(StmtKind::ForIn(key, array, self.parse_body()?));
        }
        let start = self.parse_for_part(Token::Semi)?;
        self.expect(Token::Semi)?;
        self.skip_newlines()?;
        let condition = if self.token == Token::Semi { None } else { Some(self.parse_expression()?) };
        self.expect(Token::Semi)?;
        self.skip_newlines()?;
        let step = self.parse_for_part(Token::RParen)?;
        self.expect(Token::RParen)?;
        Ok(StmtKind::For(start, condition, step, self.parse_body()?))
    }

    /// Parses `key in array)` or `key in array[subscripts])`, if that stands here.
    fn parse_for_in_head(&mut self) -> Parsed<Option<(Expr, Expr)>> {
        let Token::Name(key) = self.token.clone() else {
            return Ok(None);
        };
        let bookmark = self.bookmark();
        self.advance()?;
        if self.accept(Token::In)? && matches!(self.token, Token::Name(_)) {
            let array = self.parse_variable_or_element()?;
            if self.accept(Token::RParen)? {
                return Ok(Some((Expr::Var(self.variable(&key)), array)));
            }
        }
        self.go_back_to(bookmark);
        Ok(None)
    }

    /// Parses the first or the last part of the head of `for`, which may be empty.
    fn parse_for_part(&mut self, end: Token) -> Parsed<Option<Box<Stmt>>> {
        if self.token == end {
            return Ok(None);
        }
        let loc = self.location(self.token_start);
        Ok(Some(Box::new(Stmt { kind: self.parse_simple_statement()?, loc })))
    }

    fn parse_switch(&mut self) -> Parsed<StmtKind> {
        self.advance()?;
        let subject = self.parse_condition()?;
        self.skip_newlines()?;
        self.expect(Token::LBrace)?;
        let mut cases = Vec::new();
        loop {
            self.skip_terminators()?;
            if self.accept(Token::RBrace)? {
                return Ok(StmtKind::Switch(subject, cases));
            }
            let label = self.parse_case_label()?;
            self.expect(Token::Colon)?;
            cases.push((label, self.parse_case_body()?));
        }
    }

    fn parse_case_label(&mut self) -> Parsed<CaseLabel> {
        if self.accept(Token::Default)? {
            return Ok(CaseLabel::Default);
        }
        self.expect(Token::Case)?;
        if matches!(self.token, Token::Slash | Token::DivAssign) {
            return Ok(CaseLabel::Regex(self.take_regex()?));
        }
        let is_negative = self.accept(Token::Minus)?;
        let value = match self.token.clone() {
            Token::Num(number) => Expr::Num(if is_negative { -number } else { number }),
            Token::Str(text) if !is_negative => Expr::Str(text),
            _ => return self.unexpected(),
        };
        self.advance()?;
        Ok(CaseLabel::Value(value))
    }

    fn parse_case_body(&mut self) -> Parsed<Block> {
        let mut body = Vec::new();
        loop {
            self.skip_terminators()?;
            match self.token {
                Token::Case | Token::Default | Token::RBrace => return Ok(body),
                Token::Eof => return self.unexpected(),
                _ => body.push(self.parse_statement()?),
            }
        }
    }

    /// Parses a statement that holds no other: an expression, `print`, or a jump.
    fn parse_simple_statement(&mut self) -> Parsed<StmtKind> {
        match self.token {
            Token::Print | Token::Printf => self.parse_print(),
            Token::Next => self.parse_next("next", StmtKind::Next),
            Token::NextFile => self.parse_next("nextfile", StmtKind::NextFile),
            Token::Break => self.advance().map(|()| StmtKind::Break),
            Token::Continue => self.advance().map(|()| StmtKind::Continue),
            Token::Exit => self.parse_jump_value().map(StmtKind::Exit),
            Token::Return if self.locals.is_none() => {
                self.fail(ParseErrorKind::Syntax, "`return' used outside function context")
            }
            Token::Return => self.parse_jump_value().map(StmtKind::Return),
            Token::Delete => self.parse_delete(),
            _ => self.parse_expression().map(StmtKind::Expr),
        }
    }

    /// Parses `next` or `nextfile`; `BEGIN` and `END` have no record to go on from.
    fn parse_next(&mut self, name: &str, kind: StmtKind) -> Parsed<StmtKind> {
        if let Some(rule) = self.special_rule {
            return self.fail(ParseErrorKind::Syntax, format!("`{name}' used in {rule} action"));
        }
        self.advance()?;
        Ok(kind)
    }

    /// Parses what stands behind `exit` or `return`, which may be nothing.
    fn parse_jump_value(&mut self) -> Parsed<Option<Expr>> {
        self.advance()?;
        match self.token {
            Token::Semi | Token::Newline | Token::RBrace | Token::Eof => Ok(None),
            _ => self.parse_expression().map(Some),
        }
    }

    fn parse_delete(&mut self) -> Parsed<StmtKind> {
        self.advance()?;
        let has_parenthesis = self.accept(Token::LParen)?;
        let target = self.parse_variable_or_element()?;
        if has_parenthesis {
            self.expect(Token::RParen)?;
        }
        Ok(StmtKind::Delete(target))
    }

    /// Goes past what ends a simple statement: a semicolon or a newline; a brace or the end may follow without one.
    fn end_simple_statement(&mut self) -> Parsed<()> {
        match self.token {
            Token::Semi | Token::Newline => self.advance(),
            Token::RBrace | Token::Eof => Ok(()),
            _ => self.unexpected(),
        }
    }
}
