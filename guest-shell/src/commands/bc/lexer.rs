//! Tokens of a bc program, read from text that may still be arriving.

use super::super::decimal::Digits;

/// Token of the language bc.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// End of a line.
    Line,
    /// End of all input.
    End,
    /// Number as it is written.
    Number(Digits),
    /// String without its quotes.
    Text(Vec<u8>),
    /// Name of a variable, an array or a function.
    Name(String),
    /// Keyword.
    Word(Word),
    /// Operator or punctuation of one or two characters.
    Mark(&'static str),
    /// Assignment operator: `=`, or for example `+=` with the character of the operation.
    Assign(u8),
}

/// Keywords of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Auto,
    Break,
    Continue,
    Define,
    Else,
    For,
    Halt,
    History,
    Ibase,
    If,
    Last,
    Length,
    Limits,
    Obase,
    Print,
    Quit,
    Random,
    Read,
    Return,
    Scale,
    Sqrt,
    Void,
    Warranty,
    While,
}

const WORDS: [(&str, Word); 24] = [
    ("auto", Word::Auto),
    ("break", Word::Break),
    ("continue", Word::Continue),
    ("define", Word::Define),
    ("else", Word::Else),
    ("for", Word::For),
    ("halt", Word::Halt),
    ("history", Word::History),
    ("ibase", Word::Ibase),
    ("if", Word::If),
    ("last", Word::Last),
    ("length", Word::Length),
    ("limits", Word::Limits),
    ("obase", Word::Obase),
    ("print", Word::Print),
    ("quit", Word::Quit),
    ("random", Word::Random),
    ("read", Word::Read),
    ("return", Word::Return),
    ("scale", Word::Scale),
    ("sqrt", Word::Sqrt),
    ("void", Word::Void),
    ("warranty", Word::Warranty),
    ("while", Word::While),
];

/// Operators and punctuation, the longer ones first.
const MARKS: [&str; 26] = [
    "++", "--", "==", "<=", ">=", "!=", "&&", "||", "+", "-", "*", "/", "%", "^", "<", ">", "!", "(", ")", "[", "]",
    "{", "}", ",", ";", "&",
];

/// Characters of operators that may precede `=`.
const ASSIGNING: &[u8] = b"+-*/%^";

/// Result of reading one token from the text at hand.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Lexed {
    /// Token that is complete.
    Token(Token),
    /// A character that begins no token; it was skipped.
    Illegal(u8),
    /// A comment that begins with `#`, or a name of several letters, which are extensions that `-w` and `-s` report.
    More,
}

/// Text of a program, and the position up to which it was read.
#[derive(Debug, Default)]
pub(crate) struct Lexer {
    text: Vec<u8>,
    at: usize,
    /// Number of the line, from 1.
    line: usize,
    ended: bool,
}

impl Lexer {
    /// Adds text that has arrived.
    pub(crate) fn feed(&mut self, text: &[u8]) {
        self.text.drain(..self.at);
        self.at = 0;
        self.text.extend_from_slice(text);
    }

    /// Records that no more text will arrive.
    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    /// Returns the number of lines that were read.
    pub(crate) fn line(&self) -> usize {
        self.line + 1
    }

    /// Returns a position to return to.
    pub(crate) fn place(&self) -> (usize, usize) {
        (self.at, self.line)
    }

    /// Returns to an earlier position, which is valid until further text is added.
    pub(crate) fn return_to(&mut self, (at, line): (usize, usize)) {
        self.at = at;
        self.line = line;
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    /// Reads the next token. [`Lexed::More`] means that the token is not complete and more text must arrive first.
    pub(crate) fn next(&mut self) -> Lexed {
        loop {
            let Some(byte) = self.peek(0) else {
                return if self.ended { Lexed::Token(Token::End) } else { Lexed::More };
            };
            if !self.ended && self.peek(1).is_none() && byte != b'\n' {
                return Lexed::More;
            }
            match (byte, self.peek(1)) {
                (b' ' | b'\t', _) => self.at += 1,
                (b'\\', Some(b'\n')) => {
                    self.at += 2;
                    self.line += 1;
                }
                (b'#', _) => match self.text[self.at..].iter().position(|byte| *byte == b'\n') {
                    Some(length) => self.at += length,
                    None if self.ended => self.at = self.text.len(),
                    None => return Lexed::More,
                },
                (b'/', Some(b'*')) => {
                    if !self.skip_comment() {
                        return Lexed::More;
                    }
                }
                _ => return self.token(byte),
            }
        }
    }

    /// Skips a comment, and returns false if more text must arrive first. An open comment extends to the end of the
    /// input.
    fn skip_comment(&mut self) -> bool {
        let rest = &self.text[self.at + 2..];
        let length = match rest.windows(2).position(|pair| pair == b"*/") {
            Some(at) => at + 2,
            None if self.ended => rest.len(),
            None => return false,
        };
        self.pass(2 + length);
        true
    }

    /// Skips a number of bytes, and counts the lines in them.
    fn pass(&mut self, length: usize) {
        let end = self.at + length;
        self.line += self.text[self.at..end].iter().filter(|byte| **byte == b'\n').count();
        self.at = end;
    }

    fn token(&mut self, byte: u8) -> Lexed {
        match byte {
            b'\n' => {
                self.pass(1);
                Lexed::Token(Token::Line)
            }
            b'a'..=b'z' => self.name(),
            b'0'..=b'9' | b'A'..=b'Z' | b'.' => self.number(),
            b'"' => self.string(),
            _ => self.mark(byte),
        }
    }

    fn name(&mut self) -> Lexed {
        let rest = &self.text[self.at..];
        let is_part = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_';
        let length = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        if length == rest.len() && !self.ended {
            return Lexed::More;
        }
        let name = String::from_utf8_lossy(&rest[..length]).into_owned();
        self.at += length;
        match WORDS.iter().find(|(word, _)| *word == name) {
            Some((_, word)) => Lexed::Token(Token::Word(*word)),
            None => Lexed::Token(Token::Name(name)),
        }
    }

    /// Reads a number, which continues after a backslash at the end of a line. A point alone is the keyword `last`.
    fn number(&mut self) -> Lexed {
        let mut digits = Digits::default();
        let (mut point, mut any) = (false, false);
        let mut length = 0;
        loop {
            match (self.peek(length), self.peek(length + 1)) {
                (None, _) if !self.ended => return Lexed::More,
                (Some(b'\\'), None) if !self.ended => return Lexed::More,
                (Some(b'\\'), Some(b'\n')) => length += 1,
                (Some(b'.'), _) if !point => point = true,
                (Some(byte), _) => match digit(byte) {
                    Some(digit) => {
                        any = true;
                        digits.push(digit, point);
                    }
                    None => break,
                },
                (None, _) => break,
            }
            length += 1;
        }
        self.pass(length);
        if !any {
            return Lexed::Token(Token::Word(Word::Last));
        }
        Lexed::Token(Token::Number(digits))
    }

    fn string(&mut self) -> Lexed {
        match self.text[self.at + 1..].iter().position(|byte| *byte == b'"') {
            Some(length) => {
                let text = self.text[self.at + 1..self.at + 1 + length].to_vec();
                self.pass(length + 2);
                Lexed::Token(Token::Text(text))
            }
            None if self.ended => self.illegal(b'"'),
            None => Lexed::More,
        }
    }

    fn mark(&mut self, byte: u8) -> Lexed {
        if ASSIGNING.contains(&byte) && self.peek(1) == Some(b'=') {
            self.at += 2;
            return Lexed::Token(Token::Assign(byte));
        }
        if byte == b'=' && self.peek(1) != Some(b'=') {
            self.at += 1;
            return Lexed::Token(Token::Assign(b'='));
        }
        match MARKS.iter().find(|mark| self.text[self.at..].starts_with(mark.as_bytes())) {
            Some(mark) => {
                self.at += mark.len();
                Lexed::Token(Token::Mark(mark))
            }
            None => self.illegal(byte),
        }
    }

    fn illegal(&mut self, byte: u8) -> Lexed {
        self.at += 1;
        Lexed::Illegal(byte)
    }
}

/// Returns the value of a digit.
fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'Z' => Some(byte - b'A' + 10),
        _ => None,
    }
}
