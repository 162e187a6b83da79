//! Scripts of `sed` as programs.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`reader`] | the characters of a script, and what its parts have in common |
//! | [`parser`] | order of commands, blocks, labels |
//! | [`address`] | addresses and regular expressions |
//! | [`command`] | what each command takes |
//! | [`substitution`], [`replacement`] | `s` and `y`, and their replacements |
//!
//! - A script (each `-e`, each `-f`, the operand) is joined with newlines and parsed once, so that the text of `a\` may
//!   have more lines, and comments and `#n` work as GNU sed defines them.
//! - A program is a flat list: `{` and jumps hold the index of the command where it goes on. A jump can go into a block
//!   and out of it, which a tree of blocks cannot express.
//! - Errors are told as GNU sed tells them (`-e expression #1, char N: ...`).
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod address;
mod command;
mod parser;
mod reader;
mod replacement;
mod substitution;

use std::sync::Arc;

use super::pattern::SedRegex;

#[cfg(test)]
pub(super) use parser::MAX_GROUP_DEPTH;
pub(super) use parser::parse;

/// Error of a script. GNU's status is 1 for an error in an expression, and 4 for one of the whole script.
pub(super) struct ParseError {
    pub(super) message: String,
    pub(super) status: i32,
}

/// Result of parsing a part of a script.
type Parsed<T> = Result<T, ParseError>;

/// Options that change what a script means.
#[derive(Clone, Copy, Default)]
pub(super) struct Mode {
    /// Option `-E`: extended regular expressions.
    pub(super) extended: bool,
    /// Option `-z`: in `M` mode `^` and `$` also match around NUL, which separates lines.
    pub(super) null_data: bool,
    /// The locale is C: a byte that is no UTF-8 is a character, too.
    pub(super) bytes_match: bool,
    /// Option `--posix`: without GNU's extensions.
    pub(super) posix: bool,
    /// Option `--sandbox`: without commands on files.
    pub(super) sandbox: bool,
}

/// Script that was parsed.
pub(super) struct Program {
    pub(super) commands: Vec<Command>,
    /// `#n` on the first line, which means `-n`.
    pub(super) quiet: bool,
    /// Files that `r` and `R` name, which are read before the program starts.
    pub(super) read_files: Vec<String>,
}

/// Command with its address.
pub(super) struct Command {
    pub(super) address: Option<Address>,
    pub(super) is_negated: bool,
    pub(super) action: Action,
}

/// Regular expression; `None` is the empty one, which means the last that was used.
pub(super) type RegexUse = Option<Arc<SedRegex>>;

/// Lines that a command is for: one kind of line, or a range.
pub(super) struct Address {
    pub(super) start: Start,
    pub(super) end: Option<End>,
}

/// First line of a range, or the only address.
pub(super) enum Start {
    Line(usize),
    Last,
    Regex(RegexUse),
    Step {
        first: usize,
        step: usize,
    },
    /// `0`, which only `0,/regex/` may begin with.
    Zero,
}

/// Last line of a range.
pub(super) enum End {
    Line(usize),
    Last,
    Regex(RegexUse),
    /// End some lines behind the start (`address,+N`).
    Plus(usize),
    /// End at a multiple (`address,~N`).
    Multiple(usize),
}

/// Action of a command.
pub(super) enum Action {
    /// Start of a group (`{`): goes on at an index if the lines are others.
    Block {
        end: usize,
    },
    Jump {
        condition: JumpCondition,
        target: usize,
    },
    Substitute(Box<Substitution>),
    Transliterate(Vec<(char, char)>),
    Delete,
    DeleteFirstLine,
    Print,
    PrintFirstLine,
    Next,
    AppendNext,
    Quit(i32),
    QuitSilently(i32),
    /// Text with the end of its last line; empty if it only ends a line that has no end.
    Append(String),
    Insert(String),
    /// Text in place of lines; none if they are only deleted.
    Change(Option<String>),
    CopyToHold,
    AppendToHold,
    CopyFromHold,
    AppendFromHold,
    Exchange,
    PrintLineNumber,
    List(Option<usize>),
    ReadFile(String),
    ReadLine(String),
    WriteFile(String),
    WriteFirstLine(String),
    Empty,
    PrintFileName,
    /// A label, the end of a block, or a command without effect.
    Nothing,
}

/// Condition of a jump: whether something was substituted since a line was read.
#[derive(Clone, Copy)]
pub(super) enum JumpCondition {
    Always,
    IfSubstituted,
    UnlessSubstituted,
}

/// Parts of the command `s`.
pub(super) struct Substitution {
    pub(super) regex: RegexUse,
    pub(super) parts: Vec<ReplacementPart>,
    /// Number of the first match that is replaced, from 1.
    pub(super) occurrence: usize,
    /// Matches behind the first one are replaced, too.
    pub(super) global: bool,
    pub(super) print: bool,
    pub(super) file: Option<String>,
}

/// Part of the replacement of `s`.
pub(super) enum ReplacementPart {
    Literal(String),
    /// Group of the match; 0 is all of it.
    Group(usize),
    Case(CaseChange),
}

/// Change of the case of a replacement: `\U`, `\L`, `\u`, `\l`, `\E`.
#[derive(Clone, Copy)]
pub(super) enum CaseChange {
    Upper,
    Lower,
    UpperOne,
    LowerOne,
    End,
}
