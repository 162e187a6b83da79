//! Regular expressions of `sed`.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`translator`], [`bracket`], [`escape`] | translation to the syntax of the engine |
//! | [`regex`] | compiled expressions and their matches |
//!
//! Decisions:
//!
//! - BRE and ERE are translated by a single [`Translator`] used for **both**
//!   `s///` patterns and address regexes, and every character goes through it:
//!   nothing of the `regex` crate's own syntax (`(?#`, lazy `*?`, `\10`) can be
//!   written in a sed script.
//! - Whether `+ ? | * ^ $` are operators or literals is positional in BRE, so
//!   the translator remembers what it could repeat rather than doing string
//!   replacements. `s/a+b/`, `s/a?b/`, `s/a|b/`, `/a^b/` and `s/*a/` are all
//!   literal matches in BRE, exactly as GNU sed treats them.
//! - What GNU sed refuses is refused here with the same words (`b**` in BRE,
//!   `(*b)` in ERE, `a{b`, `[[:no:]]`), before the engine sees it.
//! - `.` and `[^x]` match a newline, which `N` and `G` bring in; with the flag
//!   `M` they do not.
//! - Matches are POSIX's leftmost-longest ones, found by awk's engine.
//!   Back-references need `fancy_regex`, which is leftmost-first.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod bracket;
mod escape;
mod regex;
mod translator;

pub(super) use self::escape::numeric_escape;
pub(super) use self::regex::FANCY_BACKTRACK_LIMIT;
pub(in crate::commands) use self::regex::{MatchSpan, SedRegex};
use self::translator::Translator;

/// Error of a bracket expression that was meant to be a class. Unlike other mistakes it has status 4 and names no place.
pub(super) const CLASS_SYNTAX: Mistake = Mistake("character class syntax is [[:space:]], not [:space:]");

/// Mistake in an expression, in the words of the library of C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) struct Mistake(pub(in crate::commands) &'static str);

/// Reason for which an expression is refused.
#[derive(Debug)]
pub(in crate::commands) enum PatternError {
    Mistake(Mistake),
    /// Refusal of the engine, such as of an expression that grows too large.
    Engine(String),
}

impl From<Mistake> for PatternError {
    fn from(mistake: Mistake) -> Self {
        Self::Mistake(mistake)
    }
}

/// Dialect and flags of an expression.
#[derive(Clone, Copy, Default)]
pub(in crate::commands) struct Syntax {
    pub(super) extended: bool,
    pub(super) case_insensitive: bool,
    /// Flag `M`: `^` and `$` match at every line, and `.` no newline.
    pub(super) multi_line: bool,
    /// Option `-z`: the lines of `M` end with NUL.
    pub(super) null_data: bool,
    /// True in the locale C, in which `.` matches a byte that is no UTF-8, too.
    pub(super) bytes_match: bool,
}

impl Syntax {
    /// Returns the syntax of a dialect, without flags.
    pub(in crate::commands) fn of_dialect(extended: bool) -> Self {
        Self { extended, ..Self::default() }
    }

    /// Returns true if lines end with NUL, which the engine does not know.
    fn null_lines(&self) -> bool {
        self.multi_line && self.null_data
    }
}

/// Translates a basic or an extended expression to the syntax of the crate `regex`, for other commands. Text that is no
/// expression becomes one that does not compile.
pub(crate) fn translate(pattern: &str, extended: bool) -> String {
    let syntax = Syntax { extended, ..Syntax::default() };
    match Translator::new(pattern, syntax, false).run() {
        Ok(translated) => translated.text,
        Err(_) => "[".to_string(),
    }
}
