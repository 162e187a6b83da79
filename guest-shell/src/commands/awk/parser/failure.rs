//! Errors of the parser, and limits of nesting.
//!
//! THREAT[TM-DOS-027]: nesting of syntax is capped at `MAX_PARSER_DEPTH`. Chains of operators (`a+b+c...`, long
//! concatenations) make the tree deep, too, so they count towards a larger cap of its depth. The evaluator recurses over
//! the tree, so that both bound its stack.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::lexer::{LexError, Token};
use super::Parser;
use crate::commands::awk::bounds::{MAX_MULTI_SUBSCRIPTS, MAX_PARSER_DEPTH};

/// Deepest syntax tree, chains of operators included.
const MAX_TREE_DEPTH: usize = 1000;

/// Error in a program.
#[derive(Debug)]
pub(crate) struct ParseError {
    pub(crate) message: String,
    /// Offset in the program.
    pub(crate) position: usize,
    pub(crate) kind: ParseErrorKind,
}

/// Kind of an error in a program, which says how it is told.
#[derive(Debug, PartialEq)]
pub(crate) enum ParseErrorKind {
    /// gawk's "syntax error", with the line of the program and a caret.
    Syntax,
    /// gawk's `error:`, without the line (a division by a constant zero).
    Error,
    /// gawk's `fatal:` (a function that is not defined).
    Fatal,
    /// Limit of the sandbox.
    Limit,
}

/// Result of parsing a part of a program.
pub(super) type Parsed<T> = Result<T, ParseError>;

impl From<LexError> for ParseError {
    fn from(error: LexError) -> Self {
        ParseError { message: error.msg, position: error.pos, kind: ParseErrorKind::Syntax }
    }
}

/// Depth to which a parser returns.
pub(super) struct Depth {
    nesting: usize,
    tree_depth: usize,
}

impl Parser<'_> {
    /// Fails at the current token.
    pub(super) fn fail<T>(&self, kind: ParseErrorKind, message: impl Into<String>) -> Parsed<T> {
        self.fail_at(self.token_start, kind, message)
    }

    /// Fails at an offset.
    pub(super) fn fail_at<T>(&self, position: usize, kind: ParseErrorKind, message: impl Into<String>) -> Parsed<T> {
        Err(ParseError { message: message.into(), position, kind })
    }

    /// Fails because the current token may not stand here.
    pub(super) fn unexpected<T>(&self) -> Parsed<T> {
        let message = match self.token {
            Token::Eof | Token::Newline => "unexpected newline or end of string",
            _ => "syntax error",
        };
        self.fail(ParseErrorKind::Syntax, message)
    }

    /// Goes one level deeper; the caller comes back up with [`Self::leave`].
    pub(super) fn enter(&mut self) -> Parsed<Depth> {
        let depth = Depth { nesting: self.nesting, tree_depth: self.tree_depth };
        self.nesting += 1;
        self.tree_depth += 1;
        if self.nesting > MAX_PARSER_DEPTH || self.tree_depth > MAX_TREE_DEPTH {
            let levels = self.nesting.max(self.tree_depth);
            let message = format!("expression nesting too deep ({levels} levels, max {MAX_PARSER_DEPTH})");
            return self.fail(ParseErrorKind::Limit, message);
        }
        Ok(depth)
    }

    pub(super) fn leave(&mut self, depth: Depth) {
        self.nesting = depth.nesting;
        self.tree_depth = depth.tree_depth;
    }

    /// Counts one more link in a chain of operators.
    pub(super) fn count_link(&mut self) -> Parsed<()> {
        self.tree_depth += 1;
        if self.tree_depth > MAX_TREE_DEPTH {
            let message = format!("expression nesting too deep (max {MAX_TREE_DEPTH} operators)");
            return self.fail(ParseErrorKind::Limit, message);
        }
        Ok(())
    }

    /// Fails if there are more subscripts than there may be.
    pub(super) fn check_subscript_count(&self, count: usize) -> Parsed<()> {
        if count > MAX_MULTI_SUBSCRIPTS {
            let message = format!("too many array subscripts (max {MAX_MULTI_SUBSCRIPTS})");
            return self.fail(ParseErrorKind::Limit, message);
        }
        Ok(())
    }
}
