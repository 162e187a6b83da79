//! Construction of objects, and of strings with queries in them.

use super::{Parsed, Parser, boxed};
use crate::commands::jq::ast::{Ast, Piece};
use crate::commands::jq::lexer::{Part, Token};

impl Parser<'_> {
    pub(super) fn string_term(&mut self) -> Parsed<Ast> {
        let mut format = None;
        if let Some(Token::Format(name)) = self.peek() {
            self.at += 1;
            format = Some(name.clone());
        }
        match (self.peek(), format) {
            (Some(Token::Text(parts)), format) => {
                self.at += 1;
                let pieces = parts.iter().map(|part| self.piece(part)).collect::<Parsed<_>>()?;
                Ok(Ast::Text(format, pieces))
            }
            (_, Some(name)) => Ok(Ast::Format(name)),
            _ => Err(self.unexpected("")),
        }
    }

    fn piece(&self, part: &Part) -> Parsed<Piece> {
        Ok(match part {
            Part::Text(text) => Piece::Text(text.clone()),
            Part::Query(tokens) => {
                let mut inner = Parser { tokens, at: 0, depth: self.depth, mentions: self.mentions, wrong: None };
                let query = inner.query()?;
                if inner.at < tokens.len() {
                    return Err(inner.unexpected(""));
                }
                Piece::Query(query)
            }
        })
    }

    /// Parses the rest of an object after `{`.
    pub(super) fn object(&mut self) -> Parsed<Ast> {
        let mut members = Vec::new();
        if self.accept("}") {
            return Ok(Ast::Object(members));
        }
        loop {
            members.push(self.member()?);
            if self.accept("}") {
                return Ok(Ast::Object(members));
            }
            if !self.accept(",") {
                return Err(self.unexpected(", expecting '}'"));
            }
            // A comma may stand behind the last member, not alone.
            if self.accept("}") {
                return Ok(Ast::Object(members));
            }
        }
    }

    fn member(&mut self) -> Parsed<(Ast, Ast)> {
        let text = |name: &str| Ast::Text(None, vec![Piece::Text(name.to_owned())]);
        let Some(placed) = self.tokens.get(self.at) else { return Err(self.unexpected("")) };
        let key = match &placed.token {
            Token::Variable(name) if name == "__loc__" => {
                self.at += 1;
                return Ok((text(name), Ast::Location(placed.line)));
            }
            Token::Variable(name) => {
                self.at += 1;
                let key = self.variable_use(name);
                if self.accept(":") {
                    return Ok((key, self.member_value()?));
                }
                return Ok((text(name), key));
            }
            Token::Word(word) if !word.contains(':') => {
                self.at += 1;
                text(word)
            }
            Token::Format(_) if !matches!(self.tokens.get(self.at + 1).map(|it| &it.token), Some(Token::Text(_))) => {
                self.at += 1;
                return Err(self.unexpected(", expecting QQSTRING_START"));
            }
            Token::Text(_) | Token::Format(_) => self.string_term()?,
            Token::Mark("(") => {
                let key = self.computed_key()?;
                self.expect(":")?;
                return Ok((key, self.member_value()?));
            }
            _ => return Err(self.unexpected("")),
        };
        if self.accept(":") {
            return Ok((key, self.member_value()?));
        }
        let value = Ast::Index(boxed(Ast::Identity), boxed(key.clone()));
        Ok((key, value))
    }

    /// Parses the key of an object in parentheses.
    pub(super) fn computed_key(&mut self) -> Parsed<Ast> {
        self.at += 1;
        let first = self.at;
        let key = self.query()?;
        let key = self.placed(first, key);
        self.expect(")")?;
        Ok(key)
    }

    fn member_value(&mut self) -> Parsed<Ast> {
        self.nested(|it| it.pipeline(false))
    }
}
