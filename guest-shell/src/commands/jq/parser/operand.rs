//! Operands: terms with their suffixes, calls, conditionals and folds.

use super::{Parsed, Parser, boxed, is_keyword};
use crate::commands::jq::ast::{Ast, Pattern, Piece};
use crate::commands::jq::lexer::Token;

/// Returns a term followed by `?`. After an access, this only catches the errors of that access, and not those of the
/// indexed value or the index: in `.a.b?`, not those of `.a`.
fn optional(term: Ast) -> Ast {
    /// Names that a program cannot contain.
    const INDEX: &str = "index of ?";
    const FROM: &str = "start of ?";
    const UPTO: &str = "end of ?";
    let attempt = |target: Ast, access: Ast| match target {
        Ast::Identity => Ast::Attempt(boxed(access)),
        target => Ast::Pipe(boxed(target), boxed(Ast::Attempt(boxed(access)))),
    };
    // Constants are used as indices directly.
    let is_plain = |index: &Ast| match index {
        Ast::Number(_) => true,
        Ast::Text(None, pieces) => pieces.iter().all(|piece| matches!(piece, Piece::Text(_))),
        _ => false,
    };
    let named = |index: &Ast, name: &str| if is_plain(index) { index.clone() } else { Ast::Variable(name.to_owned()) };
    let bound = |index: Ast, name: &str, body: Ast| match is_plain(&index) {
        true => body,
        false => Ast::Bind(boxed(index), vec![Pattern::Variable(name.to_owned())], boxed(body)),
    };
    match term {
        Ast::Iterate(target) => attempt(*target, Ast::Iterate(boxed(Ast::Identity))),
        Ast::Index(target, index) => {
            let access = Ast::Index(boxed(Ast::Identity), boxed(named(&index, INDEX)));
            bound(*index, INDEX, attempt(*target, access))
        }
        Ast::Slice(target, from, upto) => {
            let bounds = [(&from, FROM), (&upto, UPTO)];
            let [start, end] = bounds.map(|(bound, name)| bound.as_ref().map(|bound| boxed(named(bound, name))));
            let body = attempt(*target, Ast::Slice(boxed(Ast::Identity), start, end));
            [(upto, UPTO), (from, FROM)].into_iter().fold(body, |body, (index, name)| match index {
                Some(index) => bound(*index, name, body),
                None => body,
            })
        }
        term => Ast::Try(boxed(term), None),
    }
}

impl Parser<'_> {
    /// Parses a term with its suffixes.
    pub(super) fn postfix(&mut self) -> Parsed<Ast> {
        if self.accept_word("try") {
            let body = self.nested(Self::unary)?;
            let catch = if self.accept_word("catch") { Some(boxed(self.nested(Self::unary)?)) } else { None };
            return Ok(Ast::Try(boxed(body), catch));
        }
        self.term()
    }

    pub(super) fn term(&mut self) -> Parsed<Ast> {
        // `(.a.b)?` catches all errors inside the parentheses.
        let mut is_access = !matches!(self.peek(), Some(Token::Mark("(")));
        let mut term = self.primary()?;
        loop {
            if self.accept("?") {
                term = if is_access { optional(term) } else { Ast::Try(boxed(term), None) };
                is_access = false;
                continue;
            }
            term = match self.peek() {
                Some(Token::Field(name)) => {
                    self.at += 1;
                    Ast::Index(boxed(term), boxed(Ast::Text(None, vec![Piece::Text(name.clone())])))
                }
                Some(Token::Mark(".")) => match self.tokens.get(self.at + 1).map(|it| &it.token) {
                    Some(Token::Text(_) | Token::Format(_)) => {
                        self.at += 1;
                        Ast::Index(boxed(term), boxed(self.string_term()?))
                    }
                    Some(Token::Mark("[")) => {
                        self.at += 2;
                        self.bracket(term)?
                    }
                    _ => return Err(self.unexpected("")),
                },
                Some(Token::Mark("[")) => {
                    self.at += 1;
                    self.bracket(term)?
                }
                _ => return Ok(term),
            };
            is_access = true;
        }
    }

    /// Parses the suffix after `[`.
    fn bracket(&mut self, term: Ast) -> Parsed<Ast> {
        if self.accept("]") {
            return Ok(Ast::Iterate(boxed(term)));
        }
        if self.accept(":") {
            let upto = self.query()?;
            self.expect("]")?;
            return Ok(Ast::Slice(boxed(term), None, Some(boxed(upto))));
        }
        let from = self.query()?;
        if self.accept("]") {
            return Ok(Ast::Index(boxed(term), boxed(from)));
        }
        self.expect(":")?;
        if self.accept("]") {
            return Ok(Ast::Slice(boxed(term), Some(boxed(from)), None));
        }
        let upto = self.query()?;
        self.expect("]")?;
        Ok(Ast::Slice(boxed(term), Some(boxed(from)), Some(boxed(upto))))
    }

    fn primary(&mut self) -> Parsed<Ast> {
        let Some(placed) = self.tokens.get(self.at) else { return Err(self.unexpected("")) };
        match &placed.token {
            Token::Number(text) => {
                self.at += 1;
                Ok(Ast::Number(text.clone()))
            }
            Token::Text(_) | Token::Format(_) => self.string_term(),
            Token::Field(name) => {
                self.at += 1;
                Ok(Ast::Index(boxed(Ast::Identity), boxed(Ast::Text(None, vec![Piece::Text(name.clone())]))))
            }
            Token::Variable(name) => {
                self.at += 1;
                Ok(if name == "__loc__" { Ast::Location(placed.line) } else { self.variable_use(name) })
            }
            Token::Mark(mark) => self.marked(mark),
            Token::Word(word) => self.word(word),
            Token::Invalid => Err(self.unexpected("")),
        }
    }

    fn marked(&mut self, mark: &str) -> Parsed<Ast> {
        if !matches!(mark, "." | ".." | "(" | "[" | "{") {
            return Err(self.unexpected(""));
        }
        self.at += 1;
        match mark {
            "." if matches!(self.peek(), Some(Token::Text(_) | Token::Format(_))) => {
                let key = self.string_term()?;
                Ok(Ast::Index(boxed(Ast::Identity), boxed(key)))
            }
            "." => Ok(Ast::Identity),
            ".." if matches!(self.peek(), Some(Token::Word(word)) if !is_keyword(word)) => {
                Err(self.unexpected(", expecting end of file"))
            }
            ".." => Ok(Ast::Recurse),
            "(" => {
                let query = self.query()?;
                self.expect(")")?;
                Ok(query)
            }
            "[" if self.accept("]") => Ok(Ast::Array(None)),
            "[" => {
                let query = self.query()?;
                self.expect("]")?;
                Ok(Ast::Array(Some(boxed(query))))
            }
            _ => self.object(),
        }
    }

    fn word(&mut self, word: &str) -> Parsed<Ast> {
        match word {
            "if" => {
                self.at += 1;
                self.conditional()
            }
            "reduce" | "foreach" => {
                self.at += 1;
                self.fold(word == "reduce")
            }
            "break" => {
                let first = self.at;
                self.at += 1;
                match self.variable() {
                    Ok(name) => Ok(self.placed(first, Ast::Break(name))),
                    Err(_) => Err("break requires a label to break to".to_owned()),
                }
            }
            "def" | "label" => Err(self.unexpected("")),
            _ if is_keyword(word) => Err(self.unexpected("")),
            _ => {
                self.at += 1;
                match word {
                    "input" | "inputs" => self.mentions.inputs.set(true),
                    "modulemeta" => self.mentions.modules.set(true),
                    _ => {}
                }
                let place = self.place(self.at - 1);
                let mut arguments = Vec::new();
                if self.accept("(") {
                    arguments.push(self.query()?);
                    while self.accept(";") {
                        arguments.push(self.query()?);
                    }
                    self.expect(")")?;
                }
                let call = Ast::Call(word.to_owned(), arguments);
                Ok(if matches!(word, "null" | "true" | "false") { call } else { Ast::Placed(place, boxed(call)) })
            }
        }
    }

    /// Parses the rest of a conditional after `if` or `elif`.
    fn conditional(&mut self) -> Parsed<Ast> {
        let condition = self.query()?;
        self.expect_word("then")?;
        let then = self.query()?;
        let other = if self.accept_word("elif") {
            return Ok(Ast::If(boxed(condition), boxed(then), Some(boxed(self.nested(Self::conditional)?))));
        } else if self.accept_word("else") {
            Some(boxed(self.query()?))
        } else {
            None
        };
        self.expect_word("end")?;
        Ok(Ast::If(boxed(condition), boxed(then), other))
    }

    fn fold(&mut self, reduce: bool) -> Parsed<Ast> {
        let source = boxed(self.nested(|it| it.expression(0))?);
        self.expect_word("as")?;
        let patterns = self.patterns()?;
        self.expect("(")?;
        let start = boxed(self.query()?);
        self.expect(";")?;
        let update = boxed(self.query()?);
        let extract = if !reduce && self.accept(";") { Some(boxed(self.query()?)) } else { None };
        self.expect(")")?;
        Ok(if reduce {
            Ast::Reduce(source, patterns, start, update)
        } else {
            Ast::Foreach(source, patterns, start, update, extract)
        })
    }
}
