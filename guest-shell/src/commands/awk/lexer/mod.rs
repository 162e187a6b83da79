//! Tokens of a program's text.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`token`] | tokens, keywords, names of built-in functions |
//! | [`literal`] | numbers, strings and regular expressions |
//! | [`escape`] | escapes in strings, and in text of the command line |
//!
//! Decisions:
//! - Lazy, parser-driven: `/` is lexed as division; the parser asks for a
//!   regex literal (`read_regex`) when it expects an operand and sees `/` or
//!   `/=`. That is the only way to tell `a / b / c` from `/re/`.
//! - Newlines are tokens (statement terminators); the parser skips them
//!   where the grammar allows (`opt_nls`). Comments and backslash-newline
//!   continuations are skipped here.
//! - An identifier immediately followed by `(` is a `FuncName` token: user
//!   function calls must not have a space before `(` (POSIX), which is what
//!   tells `f (x)` (concatenation) from `f(x)`.
//! - Numeric literals in source accept gawk's hex (`0x1A`) and octal (`011`)
//!   forms; strings converted at runtime never do (see `value.rs`).
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod escape;
mod literal;
#[cfg(test)]
mod tests;
mod token;

pub(super) use self::escape::unescape;
pub(super) use self::token::{BUILTIN_FUNCS, Token};

use crate::commands::character_locale::CharacterSet;

/// Reader of a program's tokens.
pub(super) struct Lexer<'a> {
    src: &'a str,
    characters: CharacterSet,
    pos: usize,
    /// Escapes that mean nothing, of each the first one.
    unknown_escapes: Vec<UnknownEscape>,
}

/// Error of a text that is no token, with the offset of the byte where it is told.
pub(super) struct LexError {
    pub(super) msg: String,
    pub(super) pos: usize,
}

/// Escape of a program that means nothing, of which gawk warns.
#[derive(Debug, Clone)]
pub(super) struct UnknownEscape {
    /// Offset in the program of a place in the line of the escape.
    pub(super) offset: usize,
    pub(super) letter: char,
    /// True for an escape in a regular expression, false for one in a string.
    pub(super) is_regex: bool,
}

impl UnknownEscape {
    /// Returns the warning that gawk writes about the escape.
    pub(super) fn warning(&self) -> String {
        let letter = self.letter;
        match self.is_regex {
            true => unknown_regex_escape(letter),
            false => format!("escape sequence `\\{letter}' treated as plain `{letter}'"),
        }
    }
}

/// Returns gawk's warning of an escape that means nothing in a regular expression.
pub(super) fn unknown_regex_escape(letter: char) -> String {
    format!("regexp escape sequence `\\{letter}' is not a known regexp operator")
}

/// Returns true if gawk does not warn of a character behind a backslash in a regular expression.
pub(super) fn is_regex_escape(letter: char) -> bool {
    "$'()*+-./0123456789<>?BSW[\\]^`abfnrstvwxy{|}".contains(letter) || !letter.is_ascii_graphic()
}

impl<'a> Lexer<'a> {
    /// Creates a lexer of a text, whose strings and regular expressions consist of characters of a set.
    pub(super) fn new(src: &'a str, characters: CharacterSet) -> Self {
        Self { src, characters, pos: 0, unknown_escapes: Vec::new() }
    }

    pub(super) fn pos(&self) -> usize {
        self.pos
    }

    /// Returns the escapes that mean nothing in what was read.
    pub(super) fn take_unknown_escapes(&mut self) -> Vec<UnknownEscape> {
        std::mem::take(&mut self.unknown_escapes)
    }

    fn note_unknown_escape(&mut self, offset: usize, letter: char, is_regex: bool) {
        let is_known = |other: &UnknownEscape| other.letter == letter && other.is_regex == is_regex;
        if !self.unknown_escapes.iter().any(is_known) {
            self.unknown_escapes.push(UnknownEscape { offset, letter, is_regex });
        }
    }

    pub(super) fn reset(&mut self, pos: usize) {
        self.pos = pos;
    }

    fn peek_byte(&self) -> Option<u8> {
        self.src.as_bytes().get(self.pos).copied()
    }

    fn byte_at(&self, i: usize) -> Option<u8> {
        self.src.as_bytes().get(i).copied()
    }

    /// Skips blanks, comments, and line ends behind a backslash.
    fn skip_blank(&mut self) {
        while let Some(b) = self.peek_byte() {
            match b {
                b' ' | b'\t' | b'\r' => self.pos += 1,
                b'\\' if self.byte_at(self.pos + 1) == Some(b'\n') => self.pos += 2,
                b'\\' if self.byte_at(self.pos + 1) == Some(b'\r') && self.byte_at(self.pos + 2) == Some(b'\n') => {
                    self.pos += 3
                }
                b'#' => {
                    while let Some(c) = self.peek_byte() {
                        if c == b'\n' {
                            break;
                        }
                        self.pos += 1;
                    }
                }
                _ => break,
            }
        }
    }

    /// Reads the next token. Returns it and the offset of its first byte.
    pub(super) fn next(&mut self) -> Result<(Token, usize), LexError> {
        self.skip_blank();
        let start = self.pos;
        let token = match self.peek_byte() {
            None => Token::Eof,
            Some(b'"') => self.string()?,
            Some(b'0'..=b'9' | b'.') => self.number()?,
            Some(letter) if letter.is_ascii_alphabetic() || letter == b'_' => self.word(),
            Some(first) => match self.operator(first) {
                Some((token, length)) => {
                    self.pos += length;
                    token
                }
                None => {
                    let invalid = self.src[self.pos..].chars().next().unwrap_or('?');
                    return Err(LexError { msg: format!("invalid char '{invalid}' in expression"), pos: start });
                }
            },
        };
        Ok((token, start))
    }

    /// Returns the operator, the parenthesis or the separator that starts with `first`, and its length.
    fn operator(&self, first: u8) -> Option<(Token, usize)> {
        self.long_operator(first).or_else(|| short_operator(first).map(|token| (token, 1)))
    }

    /// Returns the operator of two or more bytes that starts with `first`, and its length.
    fn long_operator(&self, first: u8) -> Option<(Token, usize)> {
        let token = match (first, self.byte_at(self.pos + 1)?) {
            (b'*', b'*') if self.byte_at(self.pos + 2) == Some(b'=') => return Some((Token::PowAssign, 3)),
            (b'*', b'*') => Token::Caret,
            (b'+', b'+') => Token::Incr,
            (b'-', b'-') => Token::Decr,
            (b'+', b'=') => Token::AddAssign,
            (b'-', b'=') => Token::SubAssign,
            (b'*', b'=') => Token::MulAssign,
            (b'/', b'=') => Token::DivAssign,
            (b'%', b'=') => Token::ModAssign,
            (b'^', b'=') => Token::PowAssign,
            (b'!', b'=') => Token::Ne,
            (b'!', b'~') => Token::NoMatch,
            (b'>', b'=') => Token::Ge,
            (b'>', b'>') => Token::Append,
            (b'<', b'=') => Token::Le,
            (b'=', b'=') => Token::Eq,
            (b'|', b'|') => Token::Or,
            (b'|', b'&') => Token::PipeAmp,
            (b'&', b'&') => Token::And,
            _ => return None,
        };
        Some((token, 2))
    }

    /// Reads a keyword, or a name and what it names.
    fn word(&mut self) -> Token {
        let rest = &self.src[self.pos..];
        let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let word = &rest[..length];
        self.pos += length;
        if let Some(keyword) = Token::keyword(word) {
            return keyword;
        }
        let word_token = match self.peek_byte() {
            _ if BUILTIN_FUNCS.contains(&word) => Token::Builtin,
            Some(b'(') => Token::FuncName,
            _ => Token::Name,
        };
        word_token(word.to_string())
    }
}

fn short_operator(byte: u8) -> Option<Token> {
    Some(match byte {
        b'\n' => Token::Newline,
        b'{' => Token::LBrace,
        b'}' => Token::RBrace,
        b'(' => Token::LParen,
        b')' => Token::RParen,
        b'[' => Token::LBracket,
        b']' => Token::RBracket,
        b';' => Token::Semi,
        b',' => Token::Comma,
        b'?' => Token::Question,
        b':' => Token::Colon,
        b'~' => Token::Tilde,
        b'$' => Token::Dollar,
        b'@' => Token::At,
        b'+' => Token::Plus,
        b'-' => Token::Minus,
        b'*' => Token::Star,
        b'/' => Token::Slash,
        b'%' => Token::Percent,
        b'^' => Token::Caret,
        b'!' => Token::Not,
        b'>' => Token::Gt,
        b'<' => Token::Lt,
        b'=' => Token::Assign,
        b'|' => Token::Pipe,
        _ => return None,
    })
}
