//! Method patterns: `payments/charges/create`, `payments/*`, `payments/**`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Which methods a grant covers. `*` stands for exactly one segment, `**` for zero or more; anything else for itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern(Vec<Segment>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Exact(String),
    One,
    Any,
}

/// Why a text is no method pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// It has no text, or nothing between two slashes.
    #[error("method pattern `{0}` has an empty segment")]
    EmptySegment(String),
    /// A star within a segment: `pay*` would look as if it matched prefixes.
    #[error("method pattern `{pattern}` has `{segment}`: a star stands for whole segments, as in `payments/*`")]
    PartialStar {
        /// The whole pattern.
        pattern: String,
        /// The segment at fault.
        segment: String,
    },
    /// White space, a control character, or a dot where a slash belongs.
    #[error(
        "method pattern `{pattern}` has `{character}`: segments are joined by `/`, as in `payments/charges/create`"
    )]
    Character {
        /// The whole pattern.
        pattern: String,
        /// The character at fault.
        character: char,
    },
}

impl Pattern {
    /// Whether the pattern covers a method.
    #[must_use]
    pub fn matches(&self, method: &str) -> bool {
        let names: Vec<&str> = method.split('/').collect();
        matches(&self.0, &names)
    }
}

/// Greedy matching with one point to come back to: linear in pattern times method, whatever the stars.
fn matches(pattern: &[Segment], names: &[&str]) -> bool {
    let (mut at, mut name) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while name < names.len() {
        match pattern.get(at) {
            Some(Segment::Any) => {
                retry = Some((at + 1, name));
                at += 1;
                continue;
            }
            Some(Segment::One) => {
                (at, name) = (at + 1, name + 1);
                continue;
            }
            Some(Segment::Exact(exact)) if exact == names[name] => {
                (at, name) = (at + 1, name + 1);
                continue;
            }
            _ => {}
        }
        let Some((after, start)) = retry else { return false };
        retry = Some((after, start + 1));
        (at, name) = (after, start + 1);
    }
    pattern[at..].iter().all(|segment| *segment == Segment::Any)
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let segments = text.split('/').map(|segment| match segment {
            "" => Err(PatternError::EmptySegment(text.to_owned())),
            "*" => Ok(Segment::One),
            "**" => Ok(Segment::Any),
            _ if segment.contains('*') => {
                Err(PatternError::PartialStar { pattern: text.to_owned(), segment: segment.to_owned() })
            }
            _ => match segment.chars().find(|c| c.is_whitespace() || c.is_control()) {
                Some(character) => Err(PatternError::Character { pattern: text.to_owned(), character }),
                None => Ok(Segment::Exact(segment.to_owned())),
            },
        });
        segments.collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, segment) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("/")?;
            }
            f.write_str(match segment {
                Segment::Exact(name) => name,
                Segment::One => "*",
                Segment::Any => "**",
            })?;
        }
        Ok(())
    }
}

impl TryFrom<String> for Pattern {
    type Error = PatternError;

    fn try_from(text: String) -> Result<Self, PatternError> {
        text.parse()
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn covers(pattern: &str, method: &str) -> bool {
        pattern.parse::<Pattern>().expect("the test's pattern is one").matches(method)
    }

    #[test]
    fn stars_stand_for_whole_segments() {
        assert!(covers("stats/*", "stats/describe"));
        assert!(!covers("stats/*", "stats"));
        assert!(!covers("stats/*", "stats/a/b"));
        assert!(covers("stats/**", "stats"));
        assert!(covers("stats/**", "stats/a/b"));
        assert!(covers("**/create", "payments/charges/create"));
        assert!(covers("**", "anything/at/all"));
        assert!(!covers("stats/describe", "stats/Describe"));
        assert!(!covers("*", "a/b"));
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for text in ["", "/", "a//b", "a/", "pay*", "a/**b", "a b", "a\n"] {
            assert!(text.parse::<Pattern>().is_err(), "{text:?} passed");
        }
    }

    /// The definition, by recursion: what `matches` must agree with.
    fn reference(pattern: &[Segment], names: &[&str]) -> bool {
        match (pattern.split_first(), names.split_first()) {
            (None, None) => true,
            (Some((Segment::Any, rest)), _) => {
                reference(rest, names) || (!names.is_empty() && reference(pattern, &names[1..]))
            }
            (Some((Segment::One, rest)), Some((_, names))) => reference(rest, names),
            (Some((Segment::Exact(exact), rest)), Some((name, names))) => exact == name && reference(rest, names),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(
            pattern in proptest::collection::vec(prop_oneof!["a", "b", "[*]", "[*][*]"], 1..7),
            method in proptest::collection::vec("[ab]", 1..7),
        ) {
            let pattern: Pattern = pattern.join("/").parse().expect("made of segments");
            let names: Vec<&str> = method.iter().map(String::as_str).collect();
            prop_assert_eq!(pattern.matches(&method.join("/")), reference(&pattern.0, &names));
            prop_assert_eq!(pattern.to_string().parse::<Pattern>().expect("prints itself"), pattern);
        }
    }
}
