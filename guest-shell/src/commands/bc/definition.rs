//! Compiler of bc: definitions of functions.

use std::collections::HashSet;
use std::mem;

use super::lexer::{Token, Word};
use super::parser::{Inside, Parsed, Parser};
use super::program::{Function, Instruction, Local, LocalKind, NameId, Place};

impl Parser<'_> {
    pub(super) fn definition(&mut self) -> Parsed<(NameId, Function)> {
        self.take()?;
        let void = self.is_word(Word::Void)?;
        if void {
            self.take()?;
            self.extension("void functions");
        }
        let name = self.name()?;
        self.expect("(")?;
        let parameters = self.parameters()?;
        self.expect(")")?;
        self.optional_line()?;
        self.expect("{")?;
        if !self.accept_line()? {
            self.extension("End of line required");
        }
        self.inside = if void { Inside::VoidFunction } else { Inside::Function };
        if !self.voids.contains_key(&name) {
            let was = self.declared.void.contains(&name);
            self.voids.insert(name, was);
        }
        self.set_void(name, void);
        let automatic = self.automatic()?;
        self.check_names(&parameters, &automatic);
        self.block()?;
        self.code.push(Instruction::Truth(false));
        self.code.push(Instruction::Return);
        let code = mem::take(&mut self.code).into();
        Ok((name, Function { parameters: parameters.into(), automatic: automatic.into(), code }))
    }

    pub(super) fn set_void(&mut self, name: NameId, void: bool) {
        if void {
            self.declared.void.insert(name);
        } else {
            self.declared.void.remove(&name);
        }
    }

    pub(super) fn name(&mut self) -> Parsed<NameId> {
        match self.peek()?.clone() {
            Token::Name(name) => {
                self.take()?;
                Ok(self.declared.names.id(&name))
            }
            _ => self.syntax_error(),
        }
    }

    pub(super) fn parameters(&mut self) -> Parsed<Vec<Local>> {
        let mut list = Vec::new();
        if self.is(")")? {
            return Ok(list);
        }
        loop {
            list.push(self.local(true)?);
            if !self.accept(",")? {
                return Ok(list);
            }
        }
    }

    /// Parses a parameter or an `auto` variable.
    pub(super) fn local(&mut self, parameter: bool) -> Parsed<Local> {
        let reference = parameter && (self.accept("*")? || self.accept("&")?);
        let name = self.name()?;
        let array = self.accept("[")?;
        if array {
            self.expect("]")?;
        } else if reference {
            return self.syntax_error();
        }
        if reference {
            self.extension("Call by reference arrays");
        }
        let kind = match (array, reference) {
            (true, true) => LocalKind::Reference,
            (true, false) => LocalKind::Array,
            (false, _) => LocalKind::Simple,
        };
        Ok(Local { name, kind })
    }

    pub(super) fn automatic(&mut self) -> Parsed<Vec<Local>> {
        let mut list = Vec::new();
        if !self.is_word(Word::Auto)? {
            return Ok(list);
        }
        self.take()?;
        loop {
            list.push(self.local(false)?);
            if !self.accept(",")? {
                break;
            }
        }
        if self.accept_line()? || self.accept(";")? { Ok(list) } else { self.syntax_error() }
    }

    /// Reports duplicate names among parameters and `auto` variables.
    pub(super) fn check_names(&mut self, parameters: &[Local], automatic: &[Local]) {
        let mut seen = HashSet::new();
        let key = |local: &Local| (local.name, local.kind == LocalKind::Simple);
        let duplicate = parameters.iter().any(|local| !seen.insert(key(local)));
        if duplicate {
            self.report("duplicate parameter names");
        }
        let both = automatic.iter().any(|local| !seen.insert(key(local)));
        if both {
            self.report("duplicate auto variable names");
        }
    }

    /// Returns the setting or special variable that a keyword names.
    pub(super) fn special(word: Word) -> Option<Place> {
        match word {
            Word::Ibase => Some(Place::Ibase),
            Word::Obase => Some(Place::Obase),
            Word::Scale => Some(Place::Scale),
            Word::Last => Some(Place::Last),
            Word::History => Some(Place::History),
            _ => None,
        }
    }

    /// Returns a copy of the next token.
    pub(super) fn peeked(&mut self) -> Parsed<Token> {
        self.peek().cloned()
    }
}
