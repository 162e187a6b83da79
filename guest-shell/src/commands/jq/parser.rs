//! Parser of programs, by jq's grammar.

use std::cell::Cell;
use std::ops::Range;

use super::ast::{Assignment, Ast, Definition, Import, Member, Operator, Pattern, Piece, Unit};
use super::lexer::{Part, Placed, Token, tokens};

type Parsed<T> = Result<T, String>;

/// Largest nesting depth of queries. The parser is recursive.
const MAX_DEPTH: usize = 400;

const KEYWORDS: [&str; 19] = [
    "def", "module", "import", "include", "if", "then", "elif", "else", "as", "reduce", "foreach", "end", "and", "or",
    "label", "try", "catch", "break", "__loc__",
];

fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

struct Parser<'a> {
    tokens: &'a [Placed],
    at: usize,
    depth: usize,
    /// Set once `input` or `inputs` is called, including in strings.
    reads_inputs: &'a Cell<bool>,
    /// Part of the text that an error refers to, if it is not the current token.
    wrong: Option<Range<usize>>,
}

/// Parses a program or a module. `name` is its name in messages.
pub(crate) fn parse(text: &str, name: &str) -> Parsed<Unit> {
    let tokens = tokens(text).map_err(|message| format!("{message} at {name}"))?;
    let reads_inputs = Cell::new(false);
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0, reads_inputs: &reads_inputs, wrong: None };
    parser.unit().map(|unit| Unit { reads_inputs: reads_inputs.get(), ..unit }).map_err(|message| {
        let end = text.trim_end().len();
        let range = parser.wrong.take().unwrap_or_else(|| match tokens.get(parser.at).or(tokens.last()) {
            // The end of the file is reported at the last token, or at white space after it.
            Some(_) if parser.at >= tokens.len() && end < text.len() => end..text.len(),
            Some(placed) => placed.at..placed.end,
            None => end..end,
        });
        format!("{message} at {name}, {}", pointer(text, range))
    })
}

/// Shows the position of a part of the text: its line, and a mark below.
fn pointer(text: &str, part: Range<usize>) -> String {
    let begin = text[..part.start].rfind('\n').map_or(0, |at| at + 1);
    let line = text[begin..].lines().next().unwrap_or_default();
    let number = text[..begin].matches('\n').count() + 1;
    let column = part.start - begin;
    // The mark stays within the line.
    let width = part.len().min(line.len().saturating_sub(column)).max(1);
    format!("line {number}, column {}:\n    {line}\n    {}{}", column + 1, " ".repeat(column), "^".repeat(width))
}

/// Returns true if a query is constant, as the metadata of a module must be.
fn is_constant(ast: &Ast) -> bool {
    let is_text = |pieces: &[Piece]| pieces.iter().all(|piece| matches!(piece, Piece::Text(_)));
    match ast {
        Ast::Number(_) | Ast::Array(None) => true,
        Ast::Text(None, pieces) => is_text(pieces),
        Ast::Array(Some(inner)) | Ast::Negate(inner) => is_constant(inner),
        Ast::Comma(left, right) | Ast::Binary(_, left, right) => is_constant(left) && is_constant(right),
        Ast::Object(members) => members.iter().all(|(key, value)| is_constant(key) && is_constant(value)),
        Ast::Call(name, arguments) => arguments.is_empty() && matches!(name.as_str(), "null" | "true" | "false"),
        _ => false,
    }
}

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

fn boxed(ast: Ast) -> Box<Ast> {
    Box::new(ast)
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at).map(|it| &it.token)
    }

    fn is_mark(&self, mark: &str) -> bool {
        matches!(self.peek(), Some(Token::Mark(it)) if *it == mark)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(it)) if it == word)
    }

    fn accept(&mut self, mark: &str) -> bool {
        let found = self.is_mark(mark);
        self.at += usize::from(found);
        found
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, mark: &str) -> Parsed<()> {
        if self.accept(mark) { Ok(()) } else { Err(self.unexpected(&format!(", expecting '{mark}'"))) }
    }

    fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.accept_word(word) { Ok(()) } else { Err(self.unexpected(&format!(", expecting {word}"))) }
    }

    fn unexpected(&self, expected: &str) -> String {
        let found = match self.peek() {
            None => "end of file".to_owned(),
            Some(Token::Mark(mark)) => format!("'{mark}'"),
            Some(Token::Word(word)) if is_keyword(word) => word.clone(),
            Some(Token::Word(_)) => "IDENT".to_owned(),
            Some(Token::Field(_)) => "FIELD".to_owned(),
            Some(Token::Variable(_)) => "BINDING".to_owned(),
            Some(Token::Number(_)) => "LITERAL".to_owned(),
            Some(Token::Format(_)) => "FORMAT".to_owned(),
            Some(Token::Text(_)) => "QQSTRING_START".to_owned(),
        };
        format!("syntax error, unexpected {found}{expected}")
    }

    fn unit(&mut self) -> Parsed<Unit> {
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
        let place = |at: usize| self.tokens.get(at).map_or(0..0, |placed| placed.at..placed.end);
        self.wrong = Some(place(first).start..place(self.at - 1).end);
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

    fn definition(&mut self) -> Parsed<Definition> {
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

    fn name(&mut self) -> Parsed<String> {
        match self.peek() {
            Some(Token::Word(word)) => {
                self.at += 1;
                Ok(word.clone())
            }
            _ => Err(self.unexpected("")),
        }
    }

    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("syntax error: memory exhausted".to_owned());
        }
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// Parses a query of definitions, pipes, commas and bindings.
    fn query(&mut self) -> Parsed<Ast> {
        self.nested(|it| it.pipeline(true))
    }

    /// Parses a pipe of items. Although pipes are right-associative, they are parsed from left to right, so that long
    /// ones need no recursion.
    fn pipeline(&mut self, commas: bool) -> Parsed<Ast> {
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

    fn variable(&mut self) -> Parsed<String> {
        match self.peek() {
            Some(Token::Variable(name)) if name != "__loc__" => {
                self.at += 1;
                Ok(name.clone())
            }
            _ => Err(self.unexpected(", expecting BINDING")),
        }
    }

    fn patterns(&mut self) -> Parsed<Vec<Pattern>> {
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
            Some(Token::Mark("(")) => {
                self.at += 1;
                key = Some(self.query()?);
                self.expect(")")?;
            }
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
    fn expression(&mut self, least: u8) -> Parsed<Ast> {
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

    fn unary(&mut self) -> Parsed<Ast> {
        if self.accept("-") {
            let operand = self.nested(Self::unary)?;
            return Ok(Ast::Negate(boxed(operand)));
        }
        self.nested(Self::postfix)
    }

    /// Parses a term with its suffixes.
    fn postfix(&mut self) -> Parsed<Ast> {
        if self.accept_word("try") {
            let body = self.nested(Self::unary)?;
            let catch = if self.accept_word("catch") { Some(boxed(self.nested(Self::unary)?)) } else { None };
            return Ok(Ast::Try(boxed(body), catch));
        }
        self.term()
    }

    fn term(&mut self) -> Parsed<Ast> {
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
                Ok(if name == "__loc__" { Ast::Location(placed.line) } else { Ast::Variable(name.clone()) })
            }
            Token::Mark(mark) => self.marked(mark),
            Token::Word(word) => self.word(word),
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
                self.at += 1;
                match self.variable() {
                    Ok(name) => Ok(Ast::Break(name)),
                    Err(_) => Err("break requires a label to break to".to_owned()),
                }
            }
            "def" | "label" => Err(self.unexpected("")),
            _ if is_keyword(word) => Err(self.unexpected("")),
            _ => {
                self.at += 1;
                if matches!(word, "input" | "inputs") {
                    self.reads_inputs.set(true);
                }
                let mut arguments = Vec::new();
                if self.accept("(") {
                    arguments.push(self.query()?);
                    while self.accept(";") {
                        arguments.push(self.query()?);
                    }
                    self.expect(")")?;
                }
                Ok(Ast::Call(word.to_owned(), arguments))
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

    fn string_term(&mut self) -> Parsed<Ast> {
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
                let mut inner =
                    Parser { tokens, at: 0, depth: self.depth, reads_inputs: self.reads_inputs, wrong: None };
                let query = inner.query()?;
                if inner.at < tokens.len() {
                    return Err(inner.unexpected(""));
                }
                Piece::Query(query)
            }
        })
    }

    /// Parses the rest of an object after `{`.
    fn object(&mut self) -> Parsed<Ast> {
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
                if self.accept(":") {
                    return Ok((Ast::Variable(name.clone()), self.member_value()?));
                }
                return Ok((text(name), Ast::Variable(name.clone())));
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
                self.at += 1;
                let key = self.query()?;
                self.expect(")")?;
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

    fn member_value(&mut self) -> Parsed<Ast> {
        self.nested(|it| it.pipeline(false))
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
