//! Parser of programs, by jq's grammar: recursive descent over the tokens of the lexer.
//!
//! | module | contents |
//! | --- | --- |
//! | [`unit`] | programs and modules: metadata, imports, definitions |
//! | [`query`] | pipes, commas, bindings with their patterns, and operators |
//! | [`operand`] | terms with their suffixes, conditionals and folds |
//! | [`construction`] | objects, and strings with queries in them |

mod construction;
mod operand;
mod query;
mod unit;

use std::cell::Cell;
use std::ops::Range;

use super::ast::{Ast, Unit};
use super::lexer::{Placed, Token, tokens};

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

/// Functions that a text calls, of those for which something must be read before the program runs.
#[derive(Default)]
struct Mentions {
    /// True if `input` or `inputs` is called.
    inputs: Cell<bool>,
    /// True if `modulemeta` is called.
    modules: Cell<bool>,
}

struct Parser<'a> {
    tokens: &'a [Placed],
    at: usize,
    depth: usize,
    /// Calls in the text, including those in strings.
    mentions: &'a Mentions,
    /// Part of the text that an error refers to, if it is not the current token.
    wrong: Option<Range<usize>>,
}

/// Parses a program or a module. `name` is its name in messages.
pub(crate) fn parse(text: &str, name: &str) -> Parsed<Unit> {
    let tokens = tokens(text).map_err(|(message, part)| located(&message, name, text, part))?;
    let mentions = Mentions::default();
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0, mentions: &mentions, wrong: None };
    let unit = parser.unit().map(|unit| Unit {
        reads_inputs: mentions.inputs.get(),
        describes_modules: mentions.modules.get(),
        ..unit
    });
    unit.map_err(|message| {
        let end = text.trim_end().len();
        let range = parser.wrong.take().unwrap_or_else(|| match tokens.get(parser.at).or(tokens.last()) {
            // The end of the file is reported at the last token, or at white space after it.
            Some(_) if parser.at >= tokens.len() && end < text.len() => end..text.len(),
            Some(placed) => placed.at..placed.end,
            None => end..end,
        });
        located(&message, name, text, range)
    })
}

/// Returns a message with the position of the part of the text that it is about. `name` is the name of the text.
pub(crate) fn located(message: &str, name: &str, text: &str, part: Range<usize>) -> String {
    format!("{message} at {name}, {}", pointer(text, part))
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

fn boxed(ast: Ast) -> Box<Ast> {
    Box::new(ast)
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at).map(|it| &it.token)
    }

    /// Returns the part of the text that a token is.
    fn place(&self, at: usize) -> Range<usize> {
        self.tokens.get(at).map_or(0..0, |placed| placed.at..placed.end)
    }

    /// Returns a query with its place: from the token `first` to the one before the current token.
    fn placed(&self, first: usize, query: Ast) -> Ast {
        Ast::Placed(self.place(first).start..self.place(self.at - 1).end, boxed(query))
    }

    /// Returns the use of a variable whose name was the last token.
    fn variable_use(&self, name: &str) -> Ast {
        self.placed(self.at - 1, Ast::Variable(name.to_owned()))
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
            Some(Token::Mark(mark)) if mark.len() > 1 => (*mark).to_owned(),
            Some(Token::Mark(mark)) => format!("'{mark}'"),
            Some(Token::Invalid) => "INVALID_CHARACTER".to_owned(),
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
}
