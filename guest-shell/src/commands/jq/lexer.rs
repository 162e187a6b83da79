//! Tokens of programs.

use std::ops::Range;

use super::literal::unescape;

/// Token of the jq language.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// Name, optionally with modules before it (`a::b`), or keyword.
    Word(String),
    /// Field of an object, `.name`
    Field(String),
    /// Variable with its mark, `$name`
    Variable(String),
    Number(String),
    /// Format with its mark, `@name`
    Format(String),
    /// String: texts, and the tokens of interpolated queries.
    Text(Vec<Part>),
    /// An operator or a bracket.
    Mark(&'static str),
    /// Character that begins no token, or a bracket that closes none.
    Invalid,
}

/// A part of a string.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    Text(String),
    Query(Vec<Placed>),
}

/// Token with its position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Placed {
    pub(crate) token: Token,
    pub(crate) line: usize,
    pub(crate) at: usize,
    /// Position at which the token ends.
    pub(crate) end: usize,
}

/// Operators and brackets, longer ones first.
const MARKS: [&str; 38] = [
    "?//=", "?//", "//=", "!=", "==", "//", "|=", "+=", "-=", "*=", "/=", "%=", "<=", ">=", "..", "::", ".", "?", "=",
    ";", ",", ":", "|", "+", "-", "*", "/", "%", "(", ")", "[", "]", "{", "}", "<", ">", "$", "!",
];

/// Tokenizer of a text.
struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

/// Message about a part of the text that is no token.
type Mistake = (String, Range<usize>);

/// Splits a program into tokens.
pub(crate) fn tokens(text: &str) -> Result<Vec<Placed>, Mistake> {
    let mut lexer = Lexer { text, at: 0 };
    let tokens = lexer.run(false)?;
    Ok(tokens)
}

fn begins_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn line(&self) -> usize {
        self.text[..self.at].matches('\n').count() + 1
    }

    /// Reads tokens up to the end, or up to the bracket that ends an interpolation.
    fn run(&mut self, nested: bool) -> Result<Vec<Placed>, Mistake> {
        let mut tokens: Vec<Placed> = Vec::new();
        let mut open = Vec::new();
        loop {
            self.skip_blanks();
            let (line, at) = (self.line(), self.at);
            if self.rest().is_empty() {
                let unfinished = "syntax error, unexpected end of file, expecting QQSTRING_INTERP_END or '|' or ','";
                let last = tokens.last().map_or(at..at, |last| last.at..last.end);
                return if nested { Err((unfinished.to_owned(), last)) } else { Ok(tokens) };
            }
            let mut token = self.token()?;
            match token {
                Token::Mark("(") => open.push(")"),
                Token::Mark("[") => open.push("]"),
                Token::Mark("{") => open.push("}"),
                Token::Mark(")") if open.is_empty() && nested => return Ok(tokens),
                Token::Mark(mark @ (")" | "]" | "}")) if open.pop() != Some(mark) => token = Token::Invalid,
                _ => {}
            }
            tokens.push(Placed { token, line, at, end: self.at });
        }
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            if !self.rest().starts_with('#') {
                return;
            }
            self.skip_comment();
        }
    }

    /// Skips a comment to the end of the line, unless an odd number of backslashes stands before it.
    fn skip_comment(&mut self) {
        while let Some(end) = self.rest().find('\n') {
            let line = self.rest()[..end].trim_end_matches('\r');
            let backslashes = line.len() - line.trim_end_matches('\\').len();
            self.at += end + 1;
            if backslashes.is_multiple_of(2) {
                return;
            }
        }
        self.at = self.text.len();
    }

    fn take(&mut self, length: usize) -> String {
        let taken = self.rest()[..length].to_owned();
        self.at += length;
        taken
    }

    /// Returns the length of a name with modules before it, which begins `from` bytes ahead.
    fn name_length(&self, from: usize) -> usize {
        let mut length = 0;
        while is_word(self.byte(from + length)) {
            length += 1;
        }
        while self.rest()[from + length..].starts_with("::") && begins_word(self.byte(from + length + 2)) {
            length += 2;
            while is_word(self.byte(from + length)) {
                length += 1;
            }
        }
        length
    }

    fn token(&mut self) -> Result<Token, Mistake> {
        match self.byte(0) {
            b'"' => return self.string(),
            b'.' if begins_word(self.byte(1)) => {
                let length = (1..).take_while(|ahead| is_word(self.byte(*ahead))).count();
                return Ok(Token::Field(self.take(length + 1).split_off(1)));
            }
            b'$' if begins_word(self.byte(1)) => {
                let length = self.name_length(1);
                return Ok(Token::Variable(self.take(length + 1).split_off(1)));
            }
            b'@' if is_word(self.byte(1)) => {
                let length = (1..).take_while(|ahead| is_word(self.byte(*ahead))).count();
                return Ok(Token::Format(self.take(length + 1).split_off(1)));
            }
            byte if begins_word(byte) => {
                let length = self.name_length(0);
                return Ok(Token::Word(self.take(length)));
            }
            byte if byte.is_ascii_digit() || (byte == b'.' && self.byte(1).is_ascii_digit()) => {
                return Ok(self.number());
            }
            _ => {}
        }
        let mark = MARKS.iter().find(|mark| self.rest().starts_with(**mark));
        let mark = mark.filter(|mark| **mark != "?//=" && **mark != "$" && **mark != "!");
        match mark {
            Some(mark) => {
                self.at += mark.len();
                Ok(Token::Mark(mark))
            }
            None if self.rest().starts_with("?//") => {
                self.at += 3;
                Ok(Token::Mark("?//"))
            }
            None => {
                self.at += self.rest().chars().next().map_or(0, char::len_utf8);
                Ok(Token::Invalid)
            }
        }
    }

    fn number(&mut self) -> Token {
        let digits = |lexer: &Self, from: usize| (from..).take_while(|at| lexer.byte(*at).is_ascii_digit()).count();
        let mut length = digits(self, 0);
        if self.byte(length) == b'.' {
            length += 1;
            length += digits(self, length);
        }
        if matches!(self.byte(length), b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(length + 1), b'+' | b'-'));
            let exponent = digits(self, length + 1 + sign);
            if exponent > 0 {
                length += 1 + sign + exponent;
            }
        }
        Token::Number(self.take(length))
    }

    fn string(&mut self) -> Result<Token, Mistake> {
        self.at += 1;
        let mut parts = Vec::new();
        let mut from = self.at;
        loop {
            match self.byte(0) {
                b'\\' if self.byte(1) == b'(' => {
                    self.push_text(&mut parts, from)?;
                    self.at += 2;
                    parts.push(Part::Query(self.run(true)?));
                    from = self.at;
                }
                b'\\' if self.at + 1 < self.text.len() => {
                    // The escaped character may be longer than one byte.
                    self.at += 1;
                    self.at += self.rest().chars().next().map_or(0, char::len_utf8);
                }
                b'"' => {
                    self.push_text(&mut parts, from)?;
                    self.at += 1;
                    return Ok(Token::Text(parts));
                }
                _ if self.at >= self.text.len() => {
                    let message = "syntax error, unexpected end of file, expecting QQSTRING_TEXT or \
                                   QQSTRING_INTERP_START or QQSTRING_END";
                    return Err((message.to_owned(), from..self.at));
                }
                _ => self.at += 1,
            }
        }
    }

    /// Returns the message about the first run of escapes in the text from a position to the current one that is
    /// invalid. jq reads each run as a JSON string of its own.
    fn escape_mistake(&self, message: &str, from: usize) -> Mistake {
        let mut at = from;
        while let Some(found) = self.text[at..self.at].find('\\') {
            let first = at + found;
            at = first;
            while at < self.at && self.text[at..].starts_with('\\') {
                let rest = &self.text[at + 1..self.at];
                let letter = rest.chars().next();
                at += 1 + letter.map_or(0, char::len_utf8);
                if letter == Some('u') {
                    at += rest[1..].bytes().take(4).take_while(u8::is_ascii_alphanumeric).count();
                }
            }
            let run = &self.text[first..at];
            if unescape(run).is_err() {
                let column = run.len() + 2;
                return (format!("{message} at line 1, column {column} (while parsing '\"{run}\"')"), first..at);
            }
        }
        (message.to_owned(), from..self.at)
    }

    /// Adds the text from a position to the current one, without its escapes, to the parts of a string.
    fn push_text(&self, parts: &mut Vec<Part>, from: usize) -> Result<(), Mistake> {
        let raw = &self.text[from..self.at];
        if !raw.is_empty() {
            parts.push(Part::Text(unescape(raw).map_err(|message| self.escape_mistake(&message, from))?));
        }
        Ok(())
    }
}
