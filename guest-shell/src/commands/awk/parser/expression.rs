//! Operators, lowest precedence first, as in POSIX: assignment, `?:`, `||`, `&&`, `in`, `~ !~`, comparison,
//! `command | getline`, concatenation, `+ -`, `* / %`, unary `! + -`, `^` (right associative), `++ --`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::ast::{BinOp, CmpOp, Expr, GetlineSource};
use super::super::lexer::Token;
use super::Parser;
use super::failure::{ParseErrorKind, Parsed};

impl Parser<'_> {
    pub(super) fn parse_expression(&mut self) -> Parsed<Expr> {
        let depth = self.enter()?;
        let choice = self.parse_choice()?;
        let expression = self.parse_rest_of_assignment(choice)?;
        self.leave(depth);
        Ok(expression)
    }

    /// Parses what is assigned to an expression, if it is followed by an assignment. In gawk's grammar that may be the
    /// right operand of `&&`, `||`, a comparison or a match, too: `a && b = 1`.
    fn parse_rest_of_assignment(&mut self, target: Expr) -> Parsed<Expr> {
        match assignment_operator(&self.token) {
            Some(operator) if target.is_lvalue() => {
                self.advance_past_newlines()?;
                let value = self.parse_expression()?;
                Ok(Expr::Assign(Box::new(target), operator, Box::new(value)))
            }
            _ => Ok(target),
        }
    }

    /// Parses `condition ? yes : no`.
    fn parse_choice(&mut self) -> Parsed<Expr> {
        let condition = self.parse_or()?;
        if self.token != Token::Question {
            return Ok(condition);
        }
        self.advance_past_newlines()?;
        let yes = self.parse_expression()?;
        self.skip_newlines()?;
        self.expect(Token::Colon)?;
        self.skip_newlines()?;
        let no = self.parse_expression()?;
        Ok(Expr::Cond(Box::new(condition), Box::new(yes), Box::new(no)))
    }

    fn parse_or(&mut self) -> Parsed<Expr> {
        let mut left = self.parse_and()?;
        while self.token == Token::Or {
            self.count_link()?;
            self.advance_past_newlines()?;
            let right = self.parse_and()?;
            left = Expr::Or(Box::new(left), Box::new(self.parse_rest_of_assignment(right)?));
        }
        Ok(left)
    }

    fn parse_and(&mut self) -> Parsed<Expr> {
        let mut left = self.parse_membership()?;
        while self.token == Token::And {
            self.count_link()?;
            self.advance_past_newlines()?;
            let right = self.parse_membership()?;
            left = Expr::And(Box::new(left), Box::new(self.parse_rest_of_assignment(right)?));
        }
        Ok(left)
    }

    /// Parses `key in array` and `(i, j) in array`.
    fn parse_membership(&mut self) -> Parsed<Expr> {
        let mut left = self.parse_match()?;
        while self.token == Token::In {
            self.count_link()?;
            self.advance()?;
            let array = self.parse_variable_or_element()?;
            let subscript = match left {
                Expr::List(subscript) => subscript,
                Expr::Group(inner) => vec![*inner],
                other => vec![other],
            };
            left = Expr::In(subscript, Box::new(array));
        }
        Ok(left)
    }

    fn parse_match(&mut self) -> Parsed<Expr> {
        let mut left = self.parse_comparison()?;
        while matches!(self.token, Token::Tilde | Token::NoMatch) {
            self.count_link()?;
            let is_negated = self.token == Token::NoMatch;
            self.advance()?;
            let right = self.parse_comparison()?;
            left = Expr::Match(is_negated, Box::new(left), Box::new(self.parse_rest_of_assignment(right)?));
        }
        Ok(left)
    }

    fn parse_comparison(&mut self) -> Parsed<Expr> {
        let left = self.parse_command_getline()?;
        let operator = match self.token {
            Token::Lt => CmpOp::Lt,
            Token::Le => CmpOp::Le,
            Token::Ne => CmpOp::Ne,
            Token::Eq => CmpOp::Eq,
            Token::Ge => CmpOp::Ge,
            Token::Gt if !self.gt_redirects => CmpOp::Gt,
            _ => return Ok(left),
        };
        self.advance()?;
        let right = self.parse_command_getline()?;
        let right = self.parse_rest_of_assignment(right)?;
        Ok(Expr::Cmp(operator, Box::new(left), Box::new(right)))
    }

    /// Parses `command | getline [target]`, which is left associative.
    fn parse_command_getline(&mut self) -> Parsed<Expr> {
        let mut command = self.parse_concatenation()?;
        while self.token == Token::Pipe {
            let bookmark = self.bookmark();
            self.advance()?;
            if self.token != Token::Getline {
                // The pipe of a print statement.
                self.go_back_to(bookmark);
                break;
            }
            self.count_link()?;
            self.advance()?;
            let target = self.parse_getline_target()?;
            command = Expr::Getline(GetlineSource::Cmd(Box::new(command)), target);
        }
        if self.token == Token::PipeAmp {
            return self.refuse_coprocess();
        }
        Ok(command)
    }

    /// Parses a concatenation, which the target of a redirection is, too.
    pub(super) fn parse_concatenation(&mut self) -> Parsed<Expr> {
        let mut left = self.parse_sum()?;
        while self.at_operand() {
            self.count_link()?;
            left = Expr::Concat(Box::new(left), Box::new(self.parse_sum()?));
        }
        Ok(left)
    }

    /// Returns true if the current token begins an operand behind another one. A sign does not: it is binary there.
    fn at_operand(&self) -> bool {
        matches!(self.token, Token::Num(_) | Token::Str(_) | Token::Name(_) | Token::FuncName(_) | Token::Builtin(_))
            || matches!(self.token, Token::Dollar | Token::Not | Token::LParen | Token::At)
            || matches!(self.token, Token::Incr | Token::Decr)
    }

    fn parse_sum(&mut self) -> Parsed<Expr> {
        let mut left = self.parse_product()?;
        loop {
            let operator = match self.token {
                Token::Plus => BinOp::Add,
                Token::Minus => BinOp::Sub,
                _ => return Ok(left),
            };
            self.count_link()?;
            self.advance()?;
            left = Expr::Binary(operator, Box::new(left), Box::new(self.parse_product()?));
        }
    }

    fn parse_product(&mut self) -> Parsed<Expr> {
        let mut left = self.parse_unary()?;
        loop {
            let operator = match self.token {
                Token::Star => BinOp::Mul,
                Token::Slash => BinOp::Div,
                Token::Percent => BinOp::Mod,
                _ => return Ok(left),
            };
            let operator_start = self.token_start;
            self.count_link()?;
            self.advance()?;
            let right = self.parse_unary()?;
            let divides_by_zero = operator != BinOp::Mul && matches!(right, Expr::Num(0.0));
            if divides_by_zero && matches!(left, Expr::Num(_)) {
                return self.fail_at(operator_start, ParseErrorKind::Error, "division by zero attempted");
            }
            left = Expr::Binary(operator, Box::new(left), Box::new(right));
        }
    }

    pub(super) fn parse_unary(&mut self) -> Parsed<Expr> {
        if !matches!(self.token, Token::Not | Token::Minus | Token::Plus) {
            return self.parse_power();
        }
        let operator = self.token.clone();
        let depth = self.enter()?;
        self.advance()?;
        let operand = self.parse_unary()?;
        self.leave(depth);
        Ok(match (&operator, operand) {
            (Token::Minus, Expr::Num(number)) => Expr::Num(-number),
            (_, operand) => unary(&operator, operand),
        })
    }

    /// Parses a power, which is right associative; the exponent may have a sign.
    fn parse_power(&mut self) -> Parsed<Expr> {
        let base = self.parse_increment()?;
        if self.token != Token::Caret {
            return Ok(base);
        }
        let depth = self.enter()?;
        self.advance()?;
        let exponent = self.parse_unary()?;
        self.leave(depth);
        Ok(Expr::Binary(BinOp::Pow, Box::new(base), Box::new(exponent)))
    }

    /// Parses an operand with `++` or `--` in front or behind.
    pub(super) fn parse_increment(&mut self) -> Parsed<Expr> {
        if let Some(increment) = self.parse_prefix_increment()? {
            return Ok(increment);
        }
        let operand = self.parse_operand()?;
        match increment_step(&self.token) {
            Some(step) if operand.is_lvalue() => {
                self.advance()?;
                Ok(Expr::IncDec(Box::new(operand), step, false))
            }
            _ => Ok(operand),
        }
    }

    /// Parses `++target` or `--target`, if that stands here.
    fn parse_prefix_increment(&mut self) -> Parsed<Option<Expr>> {
        let Some(step) = increment_step(&self.token) else {
            return Ok(None);
        };
        self.advance()?;
        let target = self.parse_target()?;
        Ok(Some(Expr::IncDec(Box::new(target), step, true)))
    }

    /// Parses what stands behind `$`, which binds tightly: `$NF-1` is `($NF)-1`, `$i++` is `($i)++`, `$++i` increments
    /// `i`. Behind a sign or another `$` it is looser: `$-i++` is `$(-(i++))`, `$$i++` is `$(($i)++)`.
    pub(super) fn parse_field_index(&mut self) -> Parsed<Expr> {
        if let Some(increment) = self.parse_prefix_increment()? {
            return Ok(increment);
        }
        if !matches!(self.token, Token::Minus | Token::Plus | Token::Not) {
            return if self.token == Token::Dollar { self.parse_increment() } else { self.parse_operand() };
        }
        let operator = self.token.clone();
        let depth = self.enter()?;
        self.advance()?;
        let operand = match self.token {
            Token::Minus | Token::Plus | Token::Not => self.parse_field_index()?,
            _ => self.parse_increment()?,
        };
        self.leave(depth);
        Ok(unary(&operator, operand))
    }
}

/// Returns the operator that an assignment applies, if the token is one: `=` applies none.
fn assignment_operator(token: &Token) -> Option<Option<BinOp>> {
    Some(match token {
        Token::Assign => None,
        Token::AddAssign => Some(BinOp::Add),
        Token::SubAssign => Some(BinOp::Sub),
        Token::MulAssign => Some(BinOp::Mul),
        Token::DivAssign => Some(BinOp::Div),
        Token::ModAssign => Some(BinOp::Mod),
        Token::PowAssign => Some(BinOp::Pow),
        _ => return None,
    })
}

/// Returns what `++` and `--` add.
fn increment_step(token: &Token) -> Option<f64> {
    match token {
        Token::Incr => Some(1.0),
        Token::Decr => Some(-1.0),
        _ => None,
    }
}

/// Applies a unary operator: `-`, `+` or `!`.
fn unary(operator: &Token, operand: Expr) -> Expr {
    match operator {
        Token::Minus => Expr::Neg(Box::new(operand)),
        Token::Plus => Expr::Plus(Box::new(operand)),
        _ => Expr::Not(Box::new(operand)),
    }
}
