//! Extended regular expressions of POSIX, as gawk reads them, on top of the crate `regex`, with POSIX's
//! leftmost-longest matches.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`translate`], [`bracket`] | translation to the syntax of the crate |
//! | [`engine`] | leftmost matches, and their longest end |
//! | [`cache`] | expressions that a run has compiled |
//!
//! Decisions:
//! - Patterns are translated, not passed through: `.` matches newline,
//!   `\y`/`\<`/`\>` are word boundaries, `{` that does not start a valid
//!   interval is literal, a leading `*`/`+`/`?` is literal, bracket
//!   expressions follow POSIX (`]` first is literal, backslash escapes,
//!   `[:class:]`), unknown escapes like `\d` are the literal letter (gawk).
//! - Leftmost-longest: the `regex` crate is leftmost-first. Both agree on
//!   where the leftmost match starts; from that start an anchored lazy DFA
//!   with `MatchKind::All` finds the longest end. Patterns whose
//!   leftmost-first and leftmost-longest results cannot differ (no
//!   alternation, no quantifier followed by more pattern) skip the DFA.
//! - THREAT[TM-DOS-023]: both engines are built with the shared regex size
//!   limits; compiled regexes (and failures) are cached per run with a
//!   bounded entry count and pattern bytes.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod bracket;
mod cache;
mod engine;
#[cfg(test)]
mod tests;
mod translate;

use std::sync::OnceLock;

pub(crate) use self::cache::RegexCache;
use self::engine::{Engine, without_raw_bytes};
use self::translate::translate;

/// Compiled regular expression with leftmost-longest matches.
pub(crate) struct AwkRegex {
    engine: Engine,
    /// Built for the first match that holds a byte that is no UTF-8.
    characters_only: OnceLock<Option<Box<Engine>>>,
    bytes_match: bool,
    /// Translated pattern, for the engines that are built later.
    rust: String,
}

impl std::fmt::Debug for AwkRegex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.engine.re.as_str())
    }
}

/// Error of an expression that cannot be compiled, as a short message.
pub(crate) struct RegexError(pub(crate) String);

/// Spans of the groups of a match, the whole first.
type Spans = Vec<Option<(usize, usize)>>;

impl AwkRegex {
    /// Compiles a regular expression, which ignores case with `icase`.
    pub(crate) fn new(ere: &str, icase: bool) -> Result<AwkRegex, RegexError> {
        let translated = translate(ere).map_err(RegexError)?;
        let mut pat = String::with_capacity(translated.pattern.len() + 8);
        pat.push_str(if icase { "(?si)" } else { "(?s)" });
        pat.push_str(&translated.pattern);
        Self::from_translated(pat, translated.needs_longest)
    }

    /// Compiles an expression in the syntax of the crate `regex`, flags included. Other dialects of POSIX (of grep and
    /// sed) translate by their own rules.
    pub(crate) fn from_translated(pat: String, needs_longest: bool) -> Result<AwkRegex, RegexError> {
        Ok(AwkRegex {
            engine: Engine::new(&pat, needs_longest)?,
            characters_only: OnceLock::new(),
            bytes_match: false,
            rust: pat,
        })
    }

    /// Lets `.`, `[^x]` and the like match a byte that is no UTF-8, as in the locale C, if `bytes_match` is true.
    pub(crate) fn matching_bytes(self, bytes_match: bool) -> AwkRegex {
        AwkRegex { bytes_match, ..self }
    }

    pub(crate) fn is_match(&self, s: &str) -> bool {
        self.engine.re.is_match(s)
            && match self.characters_only(s) {
                Some(engine) => engine.re.is_match(s),
                None => true,
            }
    }

    /// Returns the leftmost-longest match at or behind the byte `start`.
    pub(crate) fn find_at(&self, s: &str, start: usize) -> Option<(usize, usize)> {
        let found = self.engine.find_at(s, start)?;
        match self.characters_only(&s[found.0..found.1]) {
            Some(engine) => engine.find_at(s, start),
            None => Some(found),
        }
    }

    /// Returns the spans of the leftmost-longest match and of its groups.
    pub(crate) fn captures_at(&self, s: &str, start: usize) -> Option<Spans> {
        let groups = self.engine.captures_at(s, start, &self.rust)?;
        let (from, to) = groups.first().copied().flatten()?;
        match self.characters_only(&s[from..to]) {
            Some(engine) => engine.captures_at(s, start, engine.re.as_str()),
            None => Some(groups),
        }
    }

    /// Returns the engine that decides about `matched`, where that is not the usual one: a byte that is no UTF-8 is no
    /// character, and nothing but itself matches it. Both engines match alike what holds no such byte, and the usual
    /// one is smaller.
    fn characters_only(&self, matched: &str) -> Option<&Engine> {
        if self.bytes_match || !bashkit::stream::has_raw_bytes(matched) {
            return None;
        }
        let build = || {
            let pattern = regex_syntax::parse(&self.rust).ok()?;
            let pattern = without_raw_bytes(pattern).to_string();
            Engine::new(&pattern, self.engine.longest.is_some()).ok().map(Box::new)
        };
        self.characters_only.get_or_init(build).as_deref()
    }
}

/// Returns what gawk says against an expression, if it has an error.
pub(super) fn check(expression: &str) -> Result<(), String> {
    translate(expression).map(|_| ())
}
