//! Programs and modules: their metadata, imports and definitions.

use super::{Parsed, Parser, is_keyword};
use crate::commands::jq::ast::{Ast, Definition, Import, Piece, Unit};
use crate::commands::jq::lexer::{Part, Token};

/// Returns true if a query is constant, as the metadata of a module must be.
fn is_constant(ast: &Ast) -> bool {
    let is_text = |pieces: &[Piece]| pieces.iter().all(|piece| matches!(piece, Piece::Text(_)));
    match ast {
        Ast::Number(_) | Ast::Array(None) => true,
        Ast::Text(None, pieces) => is_text(pieces),
        Ast::Array(Some(inner)) | Ast::Negate(inner) | Ast::Placed(_, inner) => is_constant(inner),
        Ast::Comma(left, right) | Ast::Binary(_, left, right) => is_constant(left) && is_constant(right),
        Ast::Object(members) => members.iter().all(|(key, value)| is_constant(key) && is_constant(value)),
        Ast::Call(name, arguments) => arguments.is_empty() && matches!(name.as_str(), "null" | "true" | "false"),
        _ => false,
    }
}

impl Parser<'_> {
    pub(super) fn unit(&mut self) -> Parsed<Unit> {
        let mut unit = Unit::default();
        if self.accept_word("module") {
            unit.meta = Some(self.metadata()?);
            self.expect(";")?;
        }
        while self.is_word("import") || self.is_word("include") {
            unit.imports.push(self.import()?);
        }
        while self.is_word("def") {
            unit.definitions.push(self.definition()?);
        }
        if self.at < self.tokens.len() {
            unit.body = Some(self.query()?);
        }
        if self.at < self.tokens.len() { Err(self.unexpected(", expecting end of file")) } else { Ok(unit) }
    }

    fn import(&mut self) -> Parsed<Import> {
        let include = self.accept_word("include");
        self.at += usize::from(!include);
        let path = self.constant_text()?;
        let (mut name, mut data) = (None, false);
        if !include {
            self.expect_word("as")?;
            match self.peek() {
                Some(Token::Word(word)) if !is_keyword(word) => name = Some(word.clone()),
                Some(Token::Variable(word)) => (name, data) = (Some(word.clone()), true),
                _ => return Err(self.unexpected(", expecting IDENT or BINDING")),
            }
            self.at += 1;
        }
        let meta = if self.is_mark(";") { None } else { Some(self.metadata()?) };
        self.expect(";")?;
        Ok(Import { path, name, data, meta })
    }

    /// Parses the metadata of a module or an import: a constant object.
    fn metadata(&mut self) -> Parsed<Ast> {
        let first = self.at;
        let meta = self.term()?;
        let message = match &meta {
            meta if !is_constant(meta) => "Module metadata must be constant",
            Ast::Object(_) => return Ok(meta),
            _ => "Module metadata must be an object",
        };
        self.wrong = Some(self.place(first).start..self.place(self.at - 1).end);
        Err(message.to_owned())
    }

    fn constant_text(&mut self) -> Parsed<String> {
        match self.peek() {
            Some(Token::Text(parts)) if parts.len() < 2 => match parts.first() {
                None => {
                    self.at += 1;
                    Ok(String::new())
                }
                Some(Part::Text(text)) => {
                    self.at += 1;
                    Ok(text.clone())
                }
                Some(Part::Query(_)) => Err("Import path must be constant".to_owned()),
            },
            Some(Token::Text(_)) => Err("Import path must be constant".to_owned()),
            _ => Err(self.unexpected(", expecting QQSTRING_START")),
        }
    }

    pub(super) fn definition(&mut self) -> Parsed<Definition> {
        self.expect_word("def")?;
        let name = self.name()?;
        let mut parameters = Vec::new();
        if self.accept("(") {
            loop {
                match self.peek() {
                    Some(Token::Word(word)) if !word.contains(':') => parameters.push(word.clone()),
                    Some(Token::Variable(word)) => parameters.push(format!("${word}")),
                    _ => return Err(self.unexpected("")),
                }
                self.at += 1;
                if !self.accept(";") {
                    break;
                }
            }
            self.expect(")")?;
        }
        self.expect(":")?;
        let body = self.query()?;
        self.expect(";")?;
        Ok(Definition { name, parameters, body })
    }
}
