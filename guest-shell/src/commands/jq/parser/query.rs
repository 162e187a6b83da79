//! Queries: pipes, commas, bindings with their patterns, and operators by precedence.

use super::{Parsed, Parser, boxed};
use crate::commands::jq::ast::{Assignment, Ast, Member, Operator, Pattern, Piece};
use crate::commands::jq::lexer::Token;

impl Parser<'_> {
    /// Parses a query of definitions, pipes, commas and bindings.
    pub(super) fn query(&mut self) -> Parsed<Ast> {
        self.nested(|it| it.pipeline(true))
    }

    /// Parses a pipe of items. Although pipes are right-associative, they are parsed from left to right, so that long
    /// ones need no recursion.
    pub(super) fn pipeline(&mut self, commas: bool) -> Parsed<Ast> {
        let mut stages = vec![self.items(commas)?];
        while self.accept("|") {
            stages.push(self.items(commas)?);
        }
        let last = stages.pop().unwrap_or(Ast::Identity);
        Ok(stages.into_iter().rev().fold(last, |after, before| Ast::Pipe(boxed(before), boxed(after))))
    }

    fn items(&mut self, commas: bool) -> Parsed<Ast> {
        let mut items = self.item(commas)?;
        while commas && self.accept(",") {
            let next = self.item(commas)?;
            items = Ast::Comma(boxed(items), boxed(next));
        }
        Ok(items)
    }

    fn item(&mut self, commas: bool) -> Parsed<Ast> {
        if self.is_word("def") {
            let definition = self.definition()?;
            let body = self.nested(|it| it.pipeline(commas))?;
            return Ok(Ast::Define(Box::new(definition), boxed(body)));
        }
        if self.accept_word("label") {
            let name = self.variable()?;
            self.expect("|")?;
            let body = self.nested(|it| it.pipeline(commas))?;
            return Ok(Ast::Label(name, boxed(body)));
        }
        let source = self.expression(0)?;
        if !self.accept_word("as") {
            return Ok(source);
        }
        let patterns = self.patterns()?;
        self.expect("|")?;
        let body = self.nested(|it| it.pipeline(commas))?;
        Ok(Ast::Bind(boxed(source), patterns, boxed(body)))
    }

    pub(super) fn variable(&mut self) -> Parsed<String> {
        match self.peek() {
            Some(Token::Variable(name)) if name != "__loc__" => {
                self.at += 1;
                Ok(name.clone())
            }
            _ => Err(self.unexpected(", expecting BINDING")),
        }
    }

    pub(super) fn patterns(&mut self) -> Parsed<Vec<Pattern>> {
        let mut patterns = vec![self.pattern()?];
        while self.accept("?//") {
            patterns.push(self.pattern()?);
        }
        Ok(patterns)
    }

    fn pattern(&mut self) -> Parsed<Pattern> {
        if self.accept("[") {
            let mut elements = vec![self.nested(Self::pattern)?];
            while self.accept(",") {
                elements.push(self.nested(Self::pattern)?);
            }
            self.expect("]")?;
            return Ok(Pattern::Array(elements));
        }
        if self.accept("{") {
            let mut members = vec![self.pattern_member()?];
            while self.accept(",") {
                members.push(self.pattern_member()?);
            }
            self.expect("}")?;
            return Ok(Pattern::Object(members));
        }
        match self.variable() {
            Ok(name) => Ok(Pattern::Variable(name)),
            Err(_) => Err(self.unexpected(", expecting BINDING or '[' or '{'")),
        }
    }

    fn pattern_member(&mut self) -> Parsed<Member> {
        let (mut variable, mut key) = (None, None);
        match self.peek() {
            Some(Token::Variable(name)) => {
                self.at += 1;
                variable = Some(name.clone());
                key = Some(Ast::Text(None, vec![Piece::Text(name.clone())]));
            }
            Some(Token::Word(word)) => {
                self.at += 1;
                key = Some(Ast::Text(None, vec![Piece::Text(word.clone())]));
            }
            Some(Token::Text(_) | Token::Format(_)) => key = Some(self.string_term()?),
            Some(Token::Mark("(")) => key = Some(self.computed_key()?),
            _ => {}
        }
        let key = key.ok_or_else(|| self.unexpected(""))?;
        let mut value = None;
        if variable.is_none() || self.is_mark(":") {
            self.expect(":")?;
            value = Some(self.nested(Self::pattern)?);
        }
        Ok(Member { variable, key: Some(key), value })
    }

    /// Parses operators that bind at least as tightly as `least`.
    pub(super) fn expression(&mut self, least: u8) -> Parsed<Ast> {
        let mut left = self.unary()?;
        loop {
            let Some((level, right_level, build)) = self.operator() else { return Ok(left) };
            if level < least {
                return Ok(left);
            }
            self.at += 1;
            let right = self.nested(|it| it.expression(right_level))?;
            left = build.apply(left, right);
            // Comparisons and assignments are not associative.
            if matches!(level, 1 | 4) && self.operator().is_some_and(|(next, ..)| next == level) {
                return Err(self.unexpected(""));
            }
        }
    }

    /// Returns the operator at this position: its level, the smallest level of its right operand, and its meaning.
    fn operator(&self) -> Option<(u8, u8, Infix)> {
        use Operator as O;
        let left_associative = |level, operator| Some((level, level + 1, Infix::Binary(operator)));
        let assign = |assignment| Some((1, 2, Infix::Assign(assignment)));
        match self.peek()? {
            Token::Mark("//") => Some((0, 0, Infix::Alternative)),
            Token::Mark("=") => assign(Assignment::Set),
            Token::Mark("|=") => assign(Assignment::Update),
            Token::Mark("//=") => assign(Assignment::Default),
            Token::Mark("+=") => assign(Assignment::Compute(O::Add)),
            Token::Mark("-=") => assign(Assignment::Compute(O::Subtract)),
            Token::Mark("*=") => assign(Assignment::Compute(O::Multiply)),
            Token::Mark("/=") => assign(Assignment::Compute(O::Divide)),
            Token::Mark("%=") => assign(Assignment::Compute(O::Remainder)),
            Token::Word(word) if word == "or" => Some((2, 3, Infix::Or)),
            Token::Word(word) if word == "and" => Some((3, 4, Infix::And)),
            Token::Mark("==") => left_associative(4, O::Equal),
            Token::Mark("!=") => left_associative(4, O::NotEqual),
            Token::Mark("<") => left_associative(4, O::Less),
            Token::Mark("<=") => left_associative(4, O::LessEqual),
            Token::Mark(">") => left_associative(4, O::Greater),
            Token::Mark(">=") => left_associative(4, O::GreaterEqual),
            Token::Mark("+") => left_associative(5, O::Add),
            Token::Mark("-") => left_associative(5, O::Subtract),
            Token::Mark("*") => left_associative(6, O::Multiply),
            Token::Mark("/") => left_associative(6, O::Divide),
            Token::Mark("%") => left_associative(6, O::Remainder),
            _ => None,
        }
    }

    pub(super) fn unary(&mut self) -> Parsed<Ast> {
        if self.accept("-") {
            let operand = self.nested(Self::unary)?;
            return Ok(Ast::Negate(boxed(operand)));
        }
        self.nested(Self::postfix)
    }
}

/// Meaning of a binary operator.
enum Infix {
    Binary(Operator),
    Assign(Assignment),
    And,
    Or,
    Alternative,
}

impl Infix {
    fn apply(self, left: Ast, right: Ast) -> Ast {
        let (left, right) = (boxed(left), boxed(right));
        match self {
            Self::Binary(operator) => Ast::Binary(operator, left, right),
            Self::Assign(assignment) => Ast::Assign(assignment, left, right),
            Self::And => Ast::And(left, right),
            Self::Or => Ast::Or(left, right),
            Self::Alternative => Ast::Alternative(left, right),
        }
    }
}
