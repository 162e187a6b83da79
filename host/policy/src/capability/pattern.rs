//! Method patterns: `payments/charges/create`, `payments/*`, `payments/**`.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Maximum number of segments of a pattern. Methods have five at most; the time to decide inclusion grows with this
/// number.
const MAX_SEGMENTS: usize = 8;

/// A pattern of the methods that a grant covers. `*` matches exactly one segment, `**` zero or more; any other segment
/// matches itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern(Vec<PatternSegment>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternSegment {
    Exact(String),
    One,
    Any,
}

/// The reason why a text is not a valid method pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// The text is empty, or has nothing between two slashes.
    #[error("method pattern `{0}` has an empty segment")]
    EmptySegment(String),
    /// The pattern has a star within a segment: `pay*` would look as if it matched prefixes.
    #[error("method pattern `{pattern}` has `{segment}`: a star stands for whole segments, as in `payments/*`")]
    PartialStar {
        /// The whole pattern.
        pattern: String,
        /// The invalid segment.
        segment: String,
    },
    /// The pattern has too many segments.
    #[error("method pattern `{0}…` has more than {MAX_SEGMENTS} segments")]
    TooLong(String),
    /// The pattern contains white space, a control character, or a dot in place of a slash.
    #[error(
        "method pattern `{pattern}` has `{character}`: segments are joined by `/`, as in `payments/charges/create`"
    )]
    Character {
        /// The whole pattern.
        pattern: String,
        /// The invalid character.
        character: char,
    },
}

impl Pattern {
    /// Returns true if the pattern matches a method.
    #[must_use]
    pub fn matches(&self, method: &str) -> bool {
        let names: Vec<&str> = method.split('/').collect();
        matches(&self.0, &names)
    }

    /// Returns the only method that the pattern matches, if it has no stars.
    #[must_use]
    pub fn exact(&self) -> Option<String> {
        self.0.iter().all(|segment| matches!(segment, PatternSegment::Exact(_))).then(|| self.to_string())
    }

    /// Returns true if `other` matches every method that this pattern matches. Exact.
    #[must_use]
    pub fn is_subset_of(&self, other: &Self) -> bool {
        // Both patterns are treated as automata over segments, advanced side by side through every set of positions
        // that some method reaches. Names that occur in neither pattern behave alike, so `None` represents them all.
        let names = self.0.iter().chain(&other.0).filter_map(|segment| match segment {
            PatternSegment::Exact(name) => Some(name.as_str()),
            _ => None,
        });
        let letters: BTreeSet<Option<&str>> = names.map(Some).chain([None]).collect();
        let start = (closure(&self.0, 1), closure(&other.0, 1));
        let mut seen = HashSet::from([start]);
        let mut open = vec![start];
        while let Some((own, others)) = open.pop() {
            for letter in &letters {
                let next = (step(&self.0, own, *letter), step(&other.0, others, *letter));
                if accepts(&self.0, next.0) && !accepts(&other.0, next.1) {
                    return false;
                }
                // States that this pattern cannot reach any more are irrelevant.
                if next.0 != 0 && seen.insert(next) {
                    open.push(next);
                }
            }
        }
        true
    }
}

impl Pattern {
    /// Returns true if some method matches both patterns.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let (one, other) = (&self.0, &other.0);
        // meets[i][j]: some names match the rests of both patterns after i and j segments. Computed from the ends
        // backwards.
        let mut meets = vec![vec![false; other.len() + 1]; one.len() + 1];
        for i in (0..=one.len()).rev() {
            for j in (0..=other.len()).rev() {
                let (left, right) = (one.get(i), other.get(j));
                meets[i][j] = match (left, right) {
                    (None, None) => true,
                    // `**` ends here, or matches the name of the other pattern's next segment.
                    (Some(PatternSegment::Any), _) => meets[i + 1][j] || (right.is_some() && meets[i][j + 1]),
                    (_, Some(PatternSegment::Any)) => meets[i][j + 1] || (left.is_some() && meets[i + 1][j]),
                    (Some(left), Some(right)) => {
                        let meet = left == right || *left == PatternSegment::One || *right == PatternSegment::One;
                        meet && meets[i + 1][j + 1]
                    }
                    _ => false,
                };
            }
        }
        meets[0][0]
    }
}

/// Positions in a pattern, as bits: bit n means "the first n segments are matched".
type Positions = u32;

/// Adds positions that are reached without a segment: `**` may match none.
fn closure(pattern: &[PatternSegment], mut positions: Positions) -> Positions {
    for (at, segment) in pattern.iter().enumerate() {
        if positions & (1 << at) != 0 && *segment == PatternSegment::Any {
            positions |= 1 << (at + 1);
        }
    }
    positions
}

fn step(pattern: &[PatternSegment], positions: Positions, letter: Option<&str>) -> Positions {
    let mut next = 0;
    for (at, segment) in pattern.iter().enumerate() {
        if positions & (1 << at) != 0 {
            next |= match segment {
                PatternSegment::Any => 1 << at,
                PatternSegment::One => 1 << (at + 1),
                PatternSegment::Exact(name) if Some(name.as_str()) == letter => 1 << (at + 1),
                PatternSegment::Exact(_) => 0,
            };
        }
    }
    closure(pattern, next)
}

fn accepts(pattern: &[PatternSegment], positions: Positions) -> bool {
    positions & (1 << pattern.len()) != 0
}

/// Greedy matching with one backtracking point: linear in pattern times method, whatever the stars.
fn matches(pattern: &[PatternSegment], names: &[&str]) -> bool {
    let (mut at, mut name) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while name < names.len() {
        match pattern.get(at) {
            Some(PatternSegment::Any) => {
                retry = Some((at + 1, name));
                at += 1;
                continue;
            }
            Some(PatternSegment::One) => {
                (at, name) = (at + 1, name + 1);
                continue;
            }
            Some(PatternSegment::Exact(exact)) if exact == names[name] => {
                (at, name) = (at + 1, name + 1);
                continue;
            }
            _ => {}
        }
        let Some((after, start)) = retry else { return false };
        retry = Some((after, start + 1));
        (at, name) = (after, start + 1);
    }
    pattern[at..].iter().all(|segment| *segment == PatternSegment::Any)
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        if text.split('/').count() > MAX_SEGMENTS {
            return Err(PatternError::TooLong(text.chars().take(80).collect()));
        }
        let segments = text.split('/').map(|segment| match segment {
            "" => Err(PatternError::EmptySegment(text.to_owned())),
            "*" => Ok(PatternSegment::One),
            "**" => Ok(PatternSegment::Any),
            _ if segment.contains('*') => {
                Err(PatternError::PartialStar { pattern: text.to_owned(), segment: segment.to_owned() })
            }
            _ => match segment.chars().find(|c| c.is_whitespace() || c.is_control()) {
                Some(character) => Err(PatternError::Character { pattern: text.to_owned(), character }),
                None => Ok(PatternSegment::Exact(segment.to_owned())),
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
                PatternSegment::Exact(name) => name,
                PatternSegment::One => "*",
                PatternSegment::Any => "**",
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
    fn method_pattern_that_is_malformed_is_refused() {
        for text in ["", "/", "a//b", "a/", "pay*", "a/**b", "a b", "a\n"] {
            assert!(text.parse::<Pattern>().is_err(), "{text:?} passed");
        }
    }

    /// The recursive definition that `matches` must agree with.
    fn reference(pattern: &[PatternSegment], names: &[&str]) -> bool {
        match (pattern.split_first(), names.split_first()) {
            (None, None) => true,
            (Some((PatternSegment::Any, rest)), _) => {
                reference(rest, names) || (!names.is_empty() && reference(pattern, &names[1..]))
            }
            (Some((PatternSegment::One, rest)), Some((_, names))) => reference(rest, names),
            (Some((PatternSegment::Exact(exact), rest)), Some((name, names))) => {
                exact == name && reference(rest, names)
            }
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn method_pattern_matches_as_defined(
            pattern in proptest::collection::vec(prop_oneof!["a", "b", "[*]", "[*][*]"], 1..7),
            method in proptest::collection::vec("[ab]", 1..7),
        ) {
            let pattern: Pattern = pattern.join("/").parse().expect("made of segments");
            let names: Vec<&str> = method.iter().map(String::as_str).collect();
            prop_assert_eq!(pattern.matches(&method.join("/")), reference(&pattern.0, &names));
            prop_assert!(pattern.exact().is_none_or(|exact| pattern.matches(&exact)));
            prop_assert_eq!(pattern.to_string().parse::<Pattern>().expect("prints itself"), pattern);
        }

        #[test]
        fn inclusion_agrees_with_enumeration(
            own in proptest::collection::vec(prop_oneof!["a", "b", "[*]", "[*][*]"], 1..5),
            other in proptest::collection::vec(prop_oneof!["a", "b", "[*]", "[*][*]"], 1..5),
        ) {
            let own: Pattern = own.join("/").parse().expect("made of segments");
            let other: Pattern = other.join("/").parse().expect("made of segments");
            // If two patterns of four segments differ at all, they differ for a method of six segments of three names.
            let counterexample = methods(6).into_iter().find(|method| own.matches(method) && !other.matches(method));
            let both = methods(6).into_iter().any(|method| own.matches(&method) && other.matches(&method));
            prop_assert_eq!(own.overlaps(&other), both, "{} {}", own, other);
            prop_assert_eq!(own.is_subset_of(&other), counterexample.is_none(), "{} {} {:?}", own, other, counterexample);
        }
    }

    /// All methods of at most this many segments `a`, `b`, `c`.
    fn methods(segments: usize) -> Vec<String> {
        let mut all: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
        let mut last = all.clone();
        for _ in 1..segments {
            last = last.iter().flat_map(|method| ["a", "b", "c"].map(|name| format!("{method}/{name}"))).collect();
            all.extend_from_slice(&last);
        }
        all
    }

    #[test]
    fn inclusion_of_hostile_patterns_ends() {
        let many: Pattern = format!("**/a{}", "/*".repeat(MAX_SEGMENTS - 2)).parse().expect("a pattern");
        let other: Pattern = format!("**/b{}", "/*".repeat(MAX_SEGMENTS - 2)).parse().expect("a pattern");
        assert!(!many.is_subset_of(&other));
        assert!(many.is_subset_of(&many));
        assert!("a/".repeat(20).parse::<Pattern>().is_err());
    }
}
