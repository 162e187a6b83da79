//! Compiled patterns and their matches.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use crate::commands::awk::regex::AwkRegex;

/// Compiled patterns of a call.
pub(crate) enum PatternMatcher {
    /// Patterns of POSIX or fixed strings, with leftmost-longest matches, and those of `-P` that need no backtracking.
    Posix(Box<AwkRegex>),
    /// Patterns that need backtracking: with back-references, or of `-P` with lookarounds and the like.
    Fancy(fancy_regex::Regex),
    /// No pattern at all (`-f /dev/null`): nothing matches.
    Nothing,
}

impl PatternMatcher {
    /// Returns true if the text matches. The error is the message of a search that was given up.
    pub(crate) fn is_match(&self, s: &str) -> Result<bool, String> {
        match self {
            PatternMatcher::Posix(re) => Ok(re.is_match(s)),
            PatternMatcher::Fancy(re) => re.is_match(s).map_err(|e| given_up(&e)),
            PatternMatcher::Nothing => Ok(false),
        }
    }

    /// Returns the first match at or behind the byte `start`. The text before it still counts for anchors and word
    /// boundaries.
    pub(crate) fn find_at(&self, s: &str, start: usize) -> Result<Option<(usize, usize)>, String> {
        match self {
            PatternMatcher::Posix(re) => Ok(re.find_at(s, start)),
            PatternMatcher::Fancy(re) => {
                re.find_from_pos(s, start).map(|found| found.map(|m| (m.start(), m.end()))).map_err(|e| given_up(&e))
            }
            PatternMatcher::Nothing => Ok(None),
        }
    }
}

/// Returns the message of a search that took too many steps, as PCRE's, or of another error.
fn given_up(error: &fancy_regex::Error) -> String {
    match error {
        fancy_regex::Error::RuntimeError(_) => "exceeded PCRE's backtracking limit".to_string(),
        other => other.to_string(),
    }
}
