//! Paths to a part of a call's arguments: `amount`, `items/0/price`, `items/*/price`.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use super::truth::Truth;

/// The most segments of a path. WIT types nest less than a hundred deep; a policy that looks deeper than this is a slip.
const MAX_STEPS: usize = 32;

/// A path from the arguments' object to a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ParamPath(Vec<Step>);

/// One segment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A key of an object, or an index of a list.
    Name(String),
    /// A field of a record, whose canonical form has all fields in the order of their definition: where it stands there,
    /// so that it need not be searched.
    Field {
        /// Its key.
        name: String,
        /// Its place among the fields, from 0.
        at: usize,
    },
    /// An element of a list.
    Index(usize),
    /// Every element of a list.
    Each,
}

/// What a path leads to in some arguments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Found<'v> {
    /// A value; none where nothing is, or null.
    Value(Option<&'v Value>),
    /// Something that is no list, where the path goes into each element of one.
    NoList,
}

impl<'v> Found<'v> {
    /// The value that is there.
    pub(super) fn value(self) -> Option<&'v Value> {
        match self {
            Self::Value(value) => value,
            Self::NoList => None,
        }
    }
}

/// Why a text is no path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// It has no text, or nothing between two slashes.
    #[error("parameter path `{0}` has an empty segment")]
    EmptySegment(String),
    /// A star within a segment.
    #[error(
        "parameter path `{0}` has a star within a segment: `*` stands for every element of a list, as in `items/*/price`"
    )]
    PartialStar(String),
    /// It is too long.
    #[error("parameter path `{0}…` has more than {MAX_STEPS} segments")]
    TooLong(String),
}

impl ParamPath {
    /// From steps that were resolved against types.
    #[must_use]
    pub fn from_steps(steps: Vec<Step>) -> Self {
        Self(steps)
    }

    /// The index that a segment is: digits without leading zeros.
    #[must_use]
    pub fn index(segment: &str) -> Option<usize> {
        let digits = segment.bytes().all(|byte| byte.is_ascii_digit());
        (digits && (segment == "0" || !segment.starts_with('0'))).then(|| segment.parse().ok()).flatten()
    }

    /// Its segments.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Whether `holds` is true of the value at the path; with `*`, of each there is, and there is one. It is given none
    /// where nothing is, or null.
    pub fn every<'v>(&self, arguments: &'v Value, mut holds: impl FnMut(Option<&'v Value>) -> bool) -> bool {
        walk(&self.0, Some(arguments), &mut holds)
    }

    /// The greatest truth of what `judge` says of the value at the path; with `*`, of each there is. A list that is
    /// missing is judged as a missing value, and an empty one fails.
    pub(super) fn any<'v>(&self, arguments: &'v Value, mut judge: impl FnMut(Found<'v>) -> Truth) -> Truth {
        walk_any(&self.0, Some(arguments), &mut judge)
    }
}

fn walk_any<'v>(steps: &[Step], mut value: Option<&'v Value>, judge: &mut impl FnMut(Found<'v>) -> Truth) -> Truth {
    for (at, step) in steps.iter().enumerate() {
        value = match (step, value) {
            (Step::Each, Some(Value::Array(items))) => {
                return Truth::any(items.iter().map(|item| walk_any(&steps[at + 1..], Some(item), judge)));
            }
            (Step::Each, None | Some(Value::Null)) => return judge(Found::Value(None)),
            (Step::Each, Some(_)) => return judge(Found::NoList),
            (_, value) => enter(value, step),
        };
    }
    judge(Found::Value(value.filter(|value| !value.is_null())))
}

/// One step on, to a member or an element.
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
        // A list that is missing or empty satisfies nothing: else an empty list would pass every clause on its elements.
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
        // It is not in its canonical form; then what counts is the name.
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
    fn what_is_no_path_is_refused() {
        for text in ["", "/", "a//b", "a/", "a/b*"] {
            assert!(text.parse::<ParamPath>().is_err(), "{text:?} passed");
        }
        assert!("a/".repeat(40).parse::<ParamPath>().is_err());
        assert_eq!("items/*/price".parse::<ParamPath>().expect("a path").to_string(), "items/*/price");
    }
}
