//! Compiler of bc: items, and recovery from errors.
//!
//! An item, which is a line of statements or a definition, is parsed as a whole, and an item with an error is not run.
//! Which tokens belong to a faulty item follows the error recovery of GNU's generated parser: it returns to the
//! innermost place where a statement may begin, a line or the inside of braces, and drops tokens until one begins a
//! statement.

use std::collections::{HashMap, HashSet};
use std::mem;

use super::lexer::{Lexed, Lexer, Token, Word};
use super::program::{Instruction, Item, NameId, Names};

/// Largest depth of statements and expressions, within what the stack of the parser holds.
const DEPTH: usize = 500;

/// Dialect of the language that is accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Whole language with GNU's extensions.
    #[default]
    Gnu,
    /// Whole language, with a warning for each extension of POSIX (`-w`).
    Warn,
    /// Language of POSIX only (`-s`).
    Standard,
}

/// Reason to leave the rules of the grammar.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// A syntax error, which was already reported.
    Error,
    /// The available text ends within the item.
    More,
    /// The keyword `quit`.
    Quit,
    /// The input ended while the parser recovered from an error.
    End,
}

pub(super) type Parsed<T> = Result<T, Stop>;

/// Names and declarations that persist beyond one item.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    /// Names that occurred so far.
    pub(crate) names: Names,
    /// Functions that return no value.
    pub(crate) void: HashSet<NameId>,
}

/// Jumps out of a loop, which are completed when its end is known.
#[derive(Default)]
pub(super) struct Loop {
    pub(super) breaks: Vec<usize>,
    pub(super) continues: Vec<usize>,
}

/// Function that is being defined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Inside {
    Nothing,
    Function,
    VoidFunction,
}

/// Parser of one item.
pub(crate) struct Parser<'a> {
    pub(super) lexer: &'a mut Lexer,
    pub(super) declared: &'a mut Declared,
    pub(super) dialect: Dialect,
    /// Next token, once it was peeked at.
    pub(super) ahead: Option<Token>,
    pub(super) code: Vec<Instruction>,
    pub(super) loops: Vec<Loop>,
    pub(super) inside: Inside,
    /// Messages for standard error.
    pub(super) reports: String,
    pub(super) failed: bool,
    /// Number of tokens to accept before another syntax error is reported.
    pub(super) quiet: u8,
    pub(super) depth: usize,
    /// Output of `print limits` and the like, which takes effect while parsing.
    pub(super) notices: String,
    pub(super) voids: HashMap<NameId, bool>,
}

/// Parsed item with the messages about it.
pub(crate) struct Parse {
    /// The item; `None` if the text ends within it.
    pub(crate) item: Option<Item>,
    /// Text for standard error.
    pub(crate) reports: String,
    /// Text for standard output.
    pub(crate) notices: String,
}

impl<'a> Parser<'a> {
    /// Parses the next item from the available text. If it is incomplete, the lexer stays where it was.
    pub(crate) fn item(lexer: &'a mut Lexer, declared: &'a mut Declared, dialect: Dialect) -> Parse {
        let place = lexer.place();
        let mut parser = Self {
            lexer,
            declared,
            dialect,
            ahead: None,
            code: Vec::new(),
            loops: Vec::new(),
            inside: Inside::Nothing,
            reports: String::new(),
            failed: false,
            quiet: 0,
            depth: 0,
            notices: String::new(),
            voids: HashMap::new(),
        };
        let end = parser.whole_item();
        let (reports, notices) = (mem::take(&mut parser.reports), mem::take(&mut parser.notices));
        let item = match end {
            Err(Stop::More) => {
                for (name, was) in mem::take(&mut parser.voids) {
                    parser.set_void(name, was);
                }
                parser.lexer.return_to(place);
                return Parse { item: None, reports: String::new(), notices: String::new() };
            }
            Err(Stop::Quit) => Item::Quit,
            Err(Stop::End | Stop::Error) => Item::End,
            Ok(_) if parser.failed => Item::Nothing,
            Ok(item) => item,
        };
        Parse { item: Some(item), reports, notices }
    }

    pub(super) fn peek(&mut self) -> Parsed<&Token> {
        while self.ahead.is_none() {
            match self.lexer.next() {
                Lexed::Token(token) => self.ahead = Some(token),
                Lexed::Illegal(byte) => {
                    let shown = match byte {
                        0..=31 => format!("^{}", char::from(byte + 64)),
                        _ => char::from(byte).to_string(),
                    };
                    self.report(&format!("illegal character: {shown}"));
                }
                Lexed::More => return Err(Stop::More),
            }
            self.judge_token();
        }
        self.ahead.as_ref().ok_or(Stop::More)
    }

    /// Reports a token that is an extension, as the dialect requires.
    pub(super) fn judge_token(&mut self) {
        /// The digits of POSIX end with `F`.
        const DIGITS: u8 = 16;
        match &self.ahead {
            Some(Token::Number(digits)) if digits.largest() >= DIGITS => {
                self.extension("Non-standard base in numeric constant");
            }
            Some(Token::Name(name)) if name.len() > 1 => {
                let text = format!("multiple letter name - {name}");
                self.extension(&text);
            }
            Some(Token::Word(Word::Last)) => self.extension("Last variable"),
            Some(Token::Word(Word::History)) => self.extension("History variable"),
            _ => {}
        }
    }

    pub(super) fn take(&mut self) -> Parsed<Token> {
        self.peek()?;
        self.quiet = self.quiet.saturating_sub(1);
        self.ahead.take().ok_or(Stop::More)
    }

    pub(super) fn is(&mut self, mark: &str) -> Parsed<bool> {
        Ok(matches!(self.peek()?, Token::Mark(found) if *found == mark))
    }

    pub(super) fn is_word(&mut self, word: Word) -> Parsed<bool> {
        Ok(*self.peek()? == Token::Word(word))
    }

    /// Consumes an operator or punctuation if it comes next.
    pub(super) fn accept(&mut self, mark: &str) -> Parsed<bool> {
        let found = self.is(mark)?;
        if found {
            self.take()?;
        }
        Ok(found)
    }

    pub(super) fn expect(&mut self, mark: &str) -> Parsed<()> {
        if self.accept(mark)? { Ok(()) } else { self.syntax_error() }
    }

    /// Consumes a line end between the head of a statement and its body.
    pub(super) fn optional_line(&mut self) -> Parsed<()> {
        if self.accept_line()? {
            self.extension("newline not allowed");
        }
        Ok(())
    }

    pub(super) fn accept_line(&mut self) -> Parsed<bool> {
        let found = *self.peek()? == Token::Line;
        if found {
            self.take()?;
        }
        Ok(found)
    }

    /// Reports an error, after which the item will not run.
    pub(super) fn report(&mut self, what: &str) {
        self.failed = true;
        self.reports.push_str(&format!("(standard_in) {}: {what}\n", self.lexer.line()));
    }

    pub(super) fn syntax_error<T>(&mut self) -> Parsed<T> {
        self.failed = true;
        if self.quiet == 0 {
            self.report("syntax error");
        }
        self.quiet = 3;
        Err(Stop::Error)
    }

    /// Reports an extension, as the dialect requires.
    pub(super) fn extension(&mut self, what: &str) {
        match self.dialect {
            Dialect::Gnu => {}
            Dialect::Warn => {
                self.reports.push_str(&format!("(standard_in) {}: (Warning) {what}\n", self.lexer.line()));
            }
            Dialect::Standard => self.report(&format!("Error: {what}")),
        }
    }

    /// Parses a rule one nesting level deeper.
    pub(super) fn deeper<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEPTH {
            return self.syntax_error();
        }
        self.depth += 1;
        let result = rule(self);
        self.depth -= 1;
        result
    }

    pub(super) fn whole_item(&mut self) -> Parsed<Item> {
        if *self.peek()? == Token::End {
            return Ok(Item::End);
        }
        if self.is_word(Word::Define)? {
            match self.definition() {
                Err(Stop::Error) => {}
                other => return other.map(|(name, function)| Item::Definition(name, function)),
            }
            self.inside = Inside::Nothing;
            if self.recover(true)? {
                return Ok(Item::Nothing);
            }
        }
        self.statement_line()?;
        Ok(Item::Statements(mem::take(&mut self.code).into()))
    }

    /// Parses statements up to the end of a line.
    pub(super) fn statement_line(&mut self) -> Parsed<()> {
        let mut fresh = true;
        // After a semicolon, GNU's parser only recovers to that semicolon, where a line end is not allowed.
        let mut behind_semicolon = false;
        loop {
            if self.accept_line()? {
                return Ok(());
            }
            if self.accept(";")? {
                behind_semicolon = true;
                fresh = true;
                continue;
            }
            let begins = fresh && self.begins_statement()?;
            let attempt = if begins { self.statement() } else { self.syntax_error() };
            match attempt {
                Ok(()) => {
                    fresh = false;
                    behind_semicolon = false;
                }
                Err(Stop::Error) => {
                    behind_semicolon &= begins;
                    if self.recover(!behind_semicolon)? {
                        return Ok(());
                    }
                    fresh = true;
                }
                Err(stop) => return Err(stop),
            }
        }
    }

    /// Drops tokens until one begins a statement. At the start of a line, a line end or `quit` also suffices; then
    /// returns true.
    pub(super) fn recover(&mut self, at_start: bool) -> Parsed<bool> {
        loop {
            let token = self.peek()?;
            if *token == Token::End {
                return Err(Stop::End);
            }
            if at_start && matches!(token, Token::Line | Token::Word(Word::Quit)) {
                self.take()?;
                return Ok(true);
            }
            if self.begins_statement()? {
                return Ok(false);
            }
            self.ahead = None;
        }
    }

    pub(super) fn begins_statement(&mut self) -> Parsed<bool> {
        Ok(match self.peek()? {
            Token::Number(_) | Token::Text(_) | Token::Name(_) => true,
            Token::Mark(mark) => matches!(*mark, "(" | "-" | "!" | "++" | "--" | "{"),
            Token::Word(word) => !matches!(word, Word::Auto | Word::Define | Word::Else | Word::Void),
            Token::Line | Token::End | Token::Assign(_) => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &str) -> Vec<String> {
        let mut lexer = Lexer::default();
        lexer.feed(text.as_bytes());
        lexer.end();
        let mut declared = Declared::default();
        let mut found = Vec::new();
        loop {
            let parse = Parser::item(&mut lexer, &mut declared, Dialect::Gnu);
            let name = match parse.item {
                Some(Item::End) | None => return found,
                Some(Item::Statements(code)) => format!("{} instructions", code.len()),
                Some(Item::Definition(name, _)) => format!("define {}", declared.names.name(name)),
                Some(Item::Nothing) => "error".to_owned(),
                Some(Item::Quit) => "quit".to_owned(),
            };
            found.push(name);
        }
    }

    #[test]
    fn item_with_a_syntax_error_ends_with_its_line() {
        assert_eq!(items("1+;2\n3\n"), ["error", "2 instructions"]);
    }

    #[test]
    fn item_with_an_error_behind_a_semicolon_takes_the_next_line() {
        assert_eq!(items("1; 2+\n3\n4\n"), ["error", "2 instructions"]);
    }

    #[test]
    fn item_with_an_error_within_braces_extends_to_a_later_brace() {
        assert_eq!(items("{ 1+ }\n3\n4\n}\n5\n"), ["error", "2 instructions"]);
    }

    #[test]
    fn item_that_is_not_complete_waits_for_more() {
        let mut lexer = Lexer::default();
        lexer.feed(b"if (1) {\n");
        let mut declared = Declared::default();
        assert!(Parser::item(&mut lexer, &mut declared, Dialect::Gnu).item.is_none());
        lexer.feed(b"5 }\n");
        assert!(matches!(Parser::item(&mut lexer, &mut declared, Dialect::Gnu).item, Some(Item::Statements(_))));
    }
}
