//! The current token, and what comes next.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::lexer::Token;
use super::Parser;
use super::failure::Parsed;

/// Place in the program to which a parser goes back that has looked ahead.
pub(super) struct Bookmark {
    lexer_position: usize,
    token: Token,
    token_start: usize,
}

impl Parser<'_> {
    /// Goes to the next token.
    pub(super) fn advance(&mut self) -> Parsed<()> {
        (self.token, self.token_start) = self.lexer.next()?;
        Ok(())
    }

    pub(super) fn bookmark(&self) -> Bookmark {
        Bookmark { lexer_position: self.lexer.pos(), token: self.token.clone(), token_start: self.token_start }
    }

    pub(super) fn go_back_to(&mut self, bookmark: Bookmark) {
        self.lexer.reset(bookmark.lexer_position);
        self.token = bookmark.token;
        self.token_start = bookmark.token_start;
    }

    /// Goes past a token that must stand here.
    pub(super) fn expect(&mut self, token: Token) -> Parsed<()> {
        if self.token == token { self.advance() } else { self.unexpected() }
    }

    /// Goes past a token if it stands here; returns true if it did.
    pub(super) fn accept(&mut self, token: Token) -> Parsed<bool> {
        let stands_here = self.token == token;
        if stands_here {
            self.advance()?;
        }
        Ok(stands_here)
    }

    pub(super) fn skip_newlines(&mut self) -> Parsed<()> {
        while self.accept(Token::Newline)? {}
        Ok(())
    }

    /// Goes past newlines and semicolons.
    pub(super) fn skip_terminators(&mut self) -> Parsed<()> {
        while matches!(self.token, Token::Newline | Token::Semi) {
            self.advance()?;
        }
        Ok(())
    }

    /// Goes past the current token, and past newlines behind it.
    pub(super) fn advance_past_newlines(&mut self) -> Parsed<()> {
        self.advance()?;
        self.skip_newlines()
    }

    /// Goes past the regular expression that the current token, a slash, begins.
    pub(super) fn take_regex(&mut self) -> Parsed<u32> {
        let start = self.token_start;
        let Token::Regex(pattern) = self.lexer.read_regex(start)? else {
            return self.unexpected();
        };
        self.advance()?;
        self.add_regex(pattern, start)
    }
}
