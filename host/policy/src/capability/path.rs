//! Paths to a part of a call's arguments: `amount`, `items/0/price`, `items/*/price`.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use super::three_valued_logic::Truth;

/// Maximum number of segments of a path. WIT types nest less than a hundred levels deep; a longer path in a policy is a
/// mistake.
const MAX_STEPS: usize = 32;

/// A path from the object of arguments to a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ParamPath(Vec<Step>);

/// One segment of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A key of an object, or an index of a list.
    Name(String),
    /// A field of a record, whose canonical form has all fields in the order of their definition: its position there
    /// avoids a search.
    Field {
        /// Key of the field.
        name: String,
        /// Position among the fields, from 0.
        at: usize,
    },
    /// An element of a list.
    Index(usize),
    /// Every element of a list.
    Each,
}

/// The result of following a path in some arguments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PathTarget<'v> {
    /// The value; `None` if it is missing or null.
    Value(Option<&'v Value>),
    /// A value that is not a list, although the path continues into each element.
    NoList,
}

impl<'v> PathTarget<'v> {
    /// Returns the value, if there is one.
    pub(super) fn value(self) -> Option<&'v Value> {
        match self {
            Self::Value(value) => value,
            Self::NoList => None,
        }
    }
}

/// The reason why a text is not a valid path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// The text is empty, or has nothing between two slashes.
    #[error("parameter path `{0}` has an empty segment")]
    EmptySegment(String),
    /// The text has a star within a segment.
    #[error(
        "parameter path `{0}` has a star within a segment: `*` stands for every element of a list, as in `items/*/price`"
    )]
    PartialStar(String),
    /// The path has too many segments.
    #[error("parameter path `{0}…` has more than {MAX_STEPS} segments")]
    TooLong(String),
}

impl ParamPath {
    /// Creates a path from steps that were resolved against types.
    #[must_use]
    pub fn from_steps(steps: Vec<Step>) -> Self {
        Self(steps)
    }

    /// Parses a segment as an index: digits without leading zeros.
    #[must_use]
    pub fn index(segment: &str) -> Option<usize> {
        let digits = segment.bytes().all(|byte| byte.is_ascii_digit());
        (digits && (segment == "0" || !segment.starts_with('0'))).then(|| segment.parse().ok()).flatten()
    }

    /// The segments of the path.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Returns true if `holds` is true for the value at the path; with `*`, for each existing value, of which there
    /// must be one. `holds` is given `None` for a missing or null value.
    pub fn every<'v>(&self, arguments: &'v Value, mut holds: impl FnMut(Option<&'v Value>) -> bool) -> bool {
        walk(&self.0, Some(arguments), &mut holds)
    }

    /// Returns the greatest result of `judge` for the value at the path; with `*`, for each existing value. A missing
    /// list is judged as a missing value, and an empty one fails.
    pub(super) fn any<'v>(&self, arguments: &'v Value, mut judge: impl FnMut(PathTarget<'v>) -> Truth) -> Truth {
        walk_any(&self.0, Some(arguments), &mut judge)
    }
}

fn walk_any<'v>(
    steps: &[Step],
    mut value: Option<&'v Value>,
    judge: &mut impl FnMut(PathTarget<'v>) -> Truth,
) -> Truth {
    for (at, step) in steps.iter().enumerate() {
        value = match (step, value) {
            (Step::Each, Some(Value::Array(items))) => {
                return Truth::any(items.iter().map(|item| walk_any(&steps[at + 1..], Some(item), judge)));
            }
            (Step::Each, None | Some(Value::Null)) => return judge(PathTarget::Value(None)),
            (Step::Each, Some(_)) => return judge(PathTarget::NoList),
            (_, value) => enter(value, step),
        };
    }
    judge(PathTarget::Value(value.filter(|value| !value.is_null())))
}

/// Follows one step, to a member or an element.
fn enter<'v>(value: Option<&'v Value>, step: &Step) -> Option<&'v Value> {
    match step {
        Step::Name(name) => member(value?, name),
        Step::Field { name, at } => field(value?, name, *at),
        Step::Index(at) => value?.as_array()?.get(*at),
        Step::Each => None,
    }
}

fn walk<'v>(steps: &[Step], mut value: Option<&'v Value>, holds: &mut impl FnMut(Option<&'v Value>) -> bool) -> bool {
    for (at, step) in steps.iter().enumerate() {
        // A missing or empty list satisfies nothing: otherwise an empty list would pass every clause on its elements.
        if *step == Step::Each {
            let Some(items) = value.and_then(Value::as_array) else { return false };
            return !items.is_empty() && items.iter().all(|item| walk(&steps[at + 1..], Some(item), holds));
        }
        value = enter(value, step);
    }
    holds(value.filter(|value| !value.is_null()))
}

fn field<'v>(value: &'v Value, name: &str, at: usize) -> Option<&'v Value> {
    match value.as_object()?.iter().nth(at) {
        Some((key, value)) if key == name => Some(value),
        // The value is not in canonical form; then the name decides.
        _ => member(value, name),
    }
}

fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Object(object) => object.get(name),
        Value::Array(items) => items.get(ParamPath::index(name)?),
        _ => None,
    }
}

impl FromStr for ParamPath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let shown = || text.chars().take(80).collect();
        if text.split('/').count() > MAX_STEPS {
            return Err(PathError::TooLong(shown()));
        }
        let steps = text.split('/').map(|segment| match segment {
            "" => Err(PathError::EmptySegment(shown())),
            "*" => Ok(Step::Each),
            _ if segment.contains('*') => Err(PathError::PartialStar(shown())),
            _ => Ok(Step::Name(segment.to_owned())),
        });
        steps.collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for ParamPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            let slash = if at > 0 { "/" } else { "" };
            match step {
                Step::Name(name) | Step::Field { name, .. } => write!(f, "{slash}{name}")?,
                Step::Index(at) => write!(f, "{slash}{at}")?,
                Step::Each => write!(f, "{slash}*")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(path: &str, value: &Value) -> Option<Vec<Option<Value>>> {
        let path: ParamPath = path.parse().expect("a path");
        let mut seen = Vec::new();
        path.every(value, |value| {
            seen.push(value.cloned());
            true
        })
        .then_some(seen)
    }

    #[test]
    fn paths_walk_objects_and_lists() {
        let value = json!({"a": {"b": 1}, "items": [{"p": 1}, {"p": null}], "none": null, "empty": []});
        assert_eq!(found("a/b", &value), Some(vec![Some(json!(1))]));
        assert_eq!(found("items/0/p", &value), Some(vec![Some(json!(1))]));
        assert_eq!(found("items/*/p", &value), Some(vec![Some(json!(1)), None]));
        for nothing in
            ["none", "a/c", "items/2", "items/00", "a/b/c", "a/0", "__proto__", "a/constructor", "items/length"]
        {
            assert_eq!(found(nothing, &value), Some(vec![None]), "{nothing}");
        }
        for never in ["empty/*", "none/*", "a/*", "missing/*/p"] {
            assert_eq!(found(never, &value), None, "{never}");
        }
    }

    #[test]
    fn parameter_path_that_is_malformed_is_refused() {
        for text in ["", "/", "a//b", "a/", "a/b*"] {
            assert!(text.parse::<ParamPath>().is_err(), "{text:?} passed");
        }
        assert!("a/".repeat(40).parse::<ParamPath>().is_err());
        assert_eq!("items/*/price".parse::<ParamPath>().expect("a path").to_string(), "items/*/price");
    }
}
