//! Clauses: the conditions of a grant on the arguments of a call.
//!
//! Clauses evaluate canonical arguments: one object, each key in its only spelling, every value of its type. Missing
//! and null are the same. There are two kinds of evaluation, since an unknown condition must be refused in one case,
//! and requires approval in the other:
//!
//! - [`Clause::holds`], for `where`: a test fails for any value that it is not defined for (missing, another type, NaN,
//!   a list in place of a number), and `*` means every element;
//! - [`Clause::judge`], for `approve`: the same cases are [`Truth::Unknown`], and `*` means any element.

use std::fmt;

use serde_json::Value;

use super::number::Number;
use super::path::{ParamPath, PathTarget};
use super::span::Span;
use super::three_valued_logic::Truth;
use super::unicode_equivalence::{TextPosition, are_equivalent};

/// A condition on arguments.
#[derive(Clone, Debug, PartialEq)]
pub enum Clause {
    /// True if all tests hold for the value at a path.
    Param(Param),
    /// True if all of these hold.
    All(Vec<Clause>),
    /// True if at least one of these holds.
    Any(Vec<Clause>),
}

/// Tests of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Path of the parameter.
    pub path: ParamPath,
    /// Tests of the value, all of which must hold.
    pub tests: Vec<Test>,
    /// Set if its type is a 64-bit integer, which beyond ±(2^53 - 1) is written as a decimal string. Known once the
    /// clause is bound to a method.
    pub wide: bool,
    /// Position in the policy's text.
    pub span: Span,
}

/// A test: an operator and its operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// A number less than this.
    Lt(Number),
    /// A number less than or equal to this.
    Le(Number),
    /// A number greater than this.
    Gt(Number),
    /// A number greater than or equal to this.
    Ge(Number),
    /// Exactly this value.
    Eq(Scalar),
    /// Another value of the same type. Texts that are canonically equivalent in Unicode are not different.
    Ne(Scalar),
    /// Exactly one of these values.
    In(Vec<Scalar>),
    /// A value of the type of one of these, and different from all of them. Unicode as in [`Test::Ne`].
    NotIn(Vec<Scalar>),
    /// A string with this prefix.
    StartsWith(String),
    /// A string with this suffix.
    EndsWith(String),
    /// A path that is this directory, or below it, and has no segment that leads elsewhere (`.`, `..`, an empty one).
    Within(String),
    /// A string that contains this one, or a list that contains this element.
    Contains(Scalar),
    /// Present and not null.
    Exists,
    /// Missing or null.
    NotExists,
}

/// An operand of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// The value `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(String),
}

impl Clause {
    /// Returns true if the arguments satisfy the clause. Allocates nothing.
    #[must_use]
    pub fn holds(&self, arguments: &Value) -> bool {
        match self {
            Self::Param(param) => param.holds(arguments),
            Self::All(clauses) => clauses.iter().all(|clause| clause.holds(arguments)),
            Self::Any(clauses) => clauses.iter().any(|clause| clause.holds(arguments)),
        }
    }

    /// Returns the innermost clause that the arguments fail, for a message; `None` if they satisfy the clause.
    #[must_use]
    pub fn failed(&self, arguments: &Value) -> Option<&Self> {
        match self {
            Self::All(clauses) => clauses.iter().find_map(|clause| clause.failed(arguments)),
            _ => (!self.holds(arguments)).then_some(self),
        }
    }

    /// Returns the value of the parameter that the clause reads first, for a message.
    #[must_use]
    pub fn actual<'v>(&self, arguments: &'v Value) -> Option<&'v Value> {
        match self {
            Self::Param(param) => param.actual(arguments),
            Self::All(clauses) | Self::Any(clauses) => clauses.first()?.actual(arguments),
        }
    }

    /// Evaluates the clause for `approve`, where `*` means any element. A value that is missing, null or of another
    /// type is unknown to every test except those of existence. Texts are compared by code points; a text that is
    /// canonically equivalent to the operand but not equal is unknown too.
    #[must_use]
    pub fn judge(&self, arguments: &Value) -> Truth {
        match self {
            Self::Param(param) => param.judge(arguments),
            Self::All(clauses) => Truth::all(clauses.iter().map(|clause| clause.judge(arguments))),
            Self::Any(clauses) => Truth::any(clauses.iter().map(|clause| clause.judge(arguments))),
        }
    }

    /// Returns the first clause of a parameter that is not known to fail, for a message; `None` if all fail.
    #[must_use]
    pub fn reason(&self, arguments: &Value) -> Option<&Param> {
        self.params().into_iter().find(|param| param.judge(arguments).may_hold())
    }

    /// The parameters that the clause reads.
    pub fn params(&self) -> Vec<&Param> {
        match self {
            Self::Param(param) => vec![param],
            Self::All(clauses) | Self::Any(clauses) => clauses.iter().flat_map(Self::params).collect(),
        }
    }
}

impl Param {
    fn holds(&self, arguments: &Value) -> bool {
        self.path.every(arguments, |value| {
            // The number is read once, however many tests compare it.
            let number = value.and_then(|value| Number::from_json(value, self.wide));
            self.tests.iter().all(|test| match (test, number) {
                (Test::Lt(limit), Some(number)) => number < *limit,
                (Test::Le(limit), Some(number)) => number <= *limit,
                (Test::Gt(limit), Some(number)) => number > *limit,
                (Test::Ge(limit), Some(number)) => number >= *limit,
                _ => test.holds(value, self.wide),
            })
        })
    }

    /// Evaluates the tests like [`Clause::judge`].
    fn judge(&self, arguments: &Value) -> Truth {
        self.path.any(arguments, |found| match found {
            PathTarget::NoList => Truth::Unknown,
            PathTarget::Value(value) => Truth::all(self.tests.iter().map(|test| test.judge(value, self.wide))),
        })
    }

    /// Result of [`Clause::judge`] if the parameter is missing.
    #[must_use]
    pub fn judge_missing(&self) -> Truth {
        Truth::all(self.tests.iter().map(|test| test.judge(None, self.wide)))
    }

    /// Describes the condition as a possibility: "`amount` may be above 5000".
    #[must_use]
    pub fn possibility(&self) -> String {
        let tests: Vec<String> = self.tests.iter().map(ToString::to_string).collect();
        format!("`{}` may {}", self.path, tests.join(" and "))
    }

    /// Returns the first value that [`Clause::judge`] does not know to fail; `None` if it is missing, or all fail.
    #[must_use]
    pub fn suspect<'v>(&self, arguments: &'v Value) -> Option<&'v Value> {
        let mut first = None;
        self.path.any(arguments, |found| {
            let truth = match found {
                PathTarget::NoList => Truth::Fails,
                PathTarget::Value(value) => Truth::all(self.tests.iter().map(|test| test.judge(value, self.wide))),
            };
            if truth.may_hold() && first.is_none() {
                first = found.value();
            }
            // The first value ends the search, whether it holds or not.
            if truth.may_hold() { Truth::Holds } else { Truth::Fails }
        });
        first
    }

    /// Returns the first value that fails a test; `None` if it is missing, or nothing fails.
    fn actual<'v>(&self, arguments: &'v Value) -> Option<&'v Value> {
        let mut first = None;
        self.path.every(arguments, |value| {
            let holds = self.tests.iter().all(|test| test.holds(value, self.wide));
            if !holds {
                first = value;
            }
            holds
        });
        first
    }
}

impl Test {
    /// Evaluates the test for one value; `None` means missing or null.
    pub(super) fn judge(&self, value: Option<&Value>, wide: bool) -> Truth {
        let Some(value) = value else {
            return match self {
                Self::Exists => Truth::Fails,
                Self::NotExists => Truth::Holds,
                _ => Truth::Unknown,
            };
        };
        let number = |holds: &dyn Fn(Number) -> bool| {
            Number::from_json(value, wide).map_or(Truth::Unknown, |number| holds(number).into())
        };
        let part =
            |part: TextPosition, text: &str| value.as_str().map_or(Truth::Unknown, |value| text_has(part, value, text));
        match self {
            Self::Lt(limit) => number(&|number| number < *limit),
            Self::Le(limit) => number(&|number| number <= *limit),
            Self::Gt(limit) => number(&|number| number > *limit),
            Self::Ge(limit) => number(&|number| number >= *limit),
            Self::Eq(scalar) => scalar.judge(value, wide),
            Self::In(scalars) => Truth::any(scalars.iter().map(|scalar| scalar.judge(value, wide))),
            Self::Ne(scalar) => scalar.judge(value, wide).not(),
            Self::NotIn(scalars) => Truth::any(scalars.iter().map(|scalar| scalar.judge(value, wide))).not(),
            Self::StartsWith(text) => part(TextPosition::Start, text),
            Self::EndsWith(text) => part(TextPosition::End, text),
            Self::Within(directory) => value.as_str().map_or(Truth::Unknown, |path| path_within(path, directory)),
            Self::Contains(scalar) => match (value, scalar) {
                (Value::String(value), Scalar::String(text)) => text_has(TextPosition::Anywhere, value, text),
                (Value::Array(items), _) => Truth::any(items.iter().map(|item| scalar.judge(item, wide))),
                _ => Truth::Unknown,
            },
            Self::Exists => Truth::Holds,
            Self::NotExists => Truth::Fails,
        }
    }

    /// Returns true if the test holds for a value; `None` means missing or null.
    #[must_use]
    pub fn holds(&self, value: Option<&Value>, wide: bool) -> bool {
        let Some(value) = value else { return matches!(self, Self::NotExists) };
        let number = || Number::from_json(value, wide);
        match self {
            Self::Lt(limit) => number().is_some_and(|number| number < *limit),
            Self::Le(limit) => number().is_some_and(|number| number <= *limit),
            Self::Gt(limit) => number().is_some_and(|number| number > *limit),
            Self::Ge(limit) => number().is_some_and(|number| number >= *limit),
            Self::Eq(scalar) => scalar.equals(value, wide),
            Self::In(scalars) => scalars.iter().any(|scalar| scalar.equals(value, wide)),
            Self::Ne(scalar) => scalar.is_type_of(value, wide) && !scalar.resembles(value, wide),
            Self::NotIn(scalars) => {
                scalars.iter().any(|scalar| scalar.is_type_of(value, wide))
                    && !scalars.iter().any(|scalar| scalar.resembles(value, wide))
            }
            Self::StartsWith(text) => value.as_str().is_some_and(|value| value.starts_with(text)),
            Self::EndsWith(text) => value.as_str().is_some_and(|value| value.ends_with(text)),
            Self::Within(directory) => value.as_str().is_some_and(|path| is_within(path, directory)),
            Self::Contains(scalar) => match (value, scalar) {
                (Value::String(value), Scalar::String(text)) => value.contains(text),
                (Value::Array(items), _) => items.iter().any(|item| scalar.equals(item, wide)),
                _ => false,
            },
            Self::Exists => true,
            Self::NotExists => false,
        }
    }

    /// The operator in the spelling of policies.
    #[must_use]
    pub fn operator(&self) -> &'static str {
        match self {
            Self::Lt(_) => "lt",
            Self::Le(_) => "le",
            Self::Gt(_) => "gt",
            Self::Ge(_) => "ge",
            Self::Eq(_) => "eq",
            Self::Ne(_) => "ne",
            Self::In(_) => "in",
            Self::NotIn(_) => "not_in",
            Self::StartsWith(_) => "starts_with",
            Self::EndsWith(_) => "ends_with",
            Self::Within(_) => "within",
            Self::Contains(_) => "contains",
            Self::Exists => "exists",
            Self::NotExists => "not_exists",
        }
    }
}

impl Scalar {
    /// Returns true if the value equals this one. Strings are compared by code points.
    #[must_use]
    pub fn equals(&self, value: &Value, wide: bool) -> bool {
        match (self, value) {
            (Self::Bool(own), Value::Bool(value)) => own == value,
            (Self::Number(own), _) => Number::from_json(value, wide).is_some_and(|number| number == *own),
            (Self::String(own), Value::String(value)) => own == value,
            _ => false,
        }
    }

    /// Returns true if the value equals this one, or is a canonically equivalent string (Unicode, UAX #15): a forbidden
    /// text remains forbidden however it is composed.
    fn resembles(&self, value: &Value, wide: bool) -> bool {
        match (self, value) {
            (Self::String(own), Value::String(value)) => are_equivalent(own, value),
            _ => self.equals(value, wide),
        }
    }

    /// Evaluates equality: unknown for a value of another type, and for another spelling of an equivalent text.
    fn judge(&self, value: &Value, wide: bool) -> Truth {
        if self.equals(value, wide) {
            Truth::Holds
        } else if self.is_type_of(value, wide) && !self.resembles(value, wide) {
            Truth::Fails
        } else {
            Truth::Unknown
        }
    }

    fn is_type_of(&self, value: &Value, wide: bool) -> bool {
        match self {
            Self::Bool(_) => value.is_boolean(),
            Self::Number(_) => Number::from_json(value, wide).is_some(),
            Self::String(_) => value.is_string(),
        }
    }

    /// Converts the value to JSON. A number that JSON cannot represent exactly becomes a string.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Self::Bool(truth) => (*truth).into(),
            Self::String(text) => text.clone().into(),
            Self::Number(number) => number.to_json(),
        }
    }
}

/// Evaluates whether a text has another one as a prefix, as a suffix, or anywhere.
fn text_has(part: TextPosition, value: &str, text: &str) -> Truth {
    if part.has(value, text) {
        Truth::Holds
    } else if part.may_have(value, text) {
        Truth::Unknown
    } else {
        Truth::Fails
    }
}

/// Evaluates whether a path is within a directory. It is known not to be only if both are in normal form and both are
/// absolute, or neither: what `/tmp/../etc` or `etc` is depends on who resolves it.
fn path_within(path: &str, directory: &str) -> Truth {
    if is_within(path, directory) {
        Truth::Holds
    } else if is_normal_path(path) && path.starts_with('/') == directory.starts_with('/') {
        // Another spelling of an equivalent directory is unknown.
        let is_plain = path.is_ascii() && directory.is_ascii();
        if !is_plain && TextPosition::Start.may_have(path, directory) { Truth::Unknown } else { Truth::Fails }
    } else {
        Truth::Unknown
    }
}

/// Returns true if a path is a directory or below it, whoever resolves it: it begins with the directory, and has no
/// segment that leads elsewhere ([`is_normal_path`]). Nothing is looked up, so that symbolic links are the tool's affair.
fn is_within(path: &str, directory: &str) -> bool {
    let below = path.strip_prefix(directory.trim_end_matches('/'));
    below.is_some_and(|below| below.is_empty() || below.starts_with('/')) && is_normal_path(path)
}

/// Returns true for a path without `.`, `..` and empty segments, but for a `/` at its end; without NUL and backslash,
/// which some systems take for the end or a separator.
pub(super) fn is_normal_path(path: &str) -> bool {
    let relative = path.strip_prefix('/').unwrap_or(path);
    let relative = relative.strip_suffix('/').unwrap_or(relative);
    let is_root = relative.is_empty() && path == "/";
    is_root || !path.contains(['\\', '\0']) && relative.split('/').all(|segment| !matches!(segment, "" | "." | ".."))
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(truth) => truth.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::String(text) => write!(f, "{text:?}"),
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, scalars: &[Scalar]| {
            let texts: Vec<String> = scalars.iter().take(8).map(ToString::to_string).collect();
            write!(f, "{}{}", texts.join(", "), if scalars.len() > 8 { ", …" } else { "" })
        };
        match self {
            Self::Lt(limit) => write!(f, "be below {limit}"),
            Self::Le(limit) => write!(f, "be at most {limit}"),
            Self::Gt(limit) => write!(f, "be above {limit}"),
            Self::Ge(limit) => write!(f, "be at least {limit}"),
            Self::Eq(scalar) => write!(f, "be {scalar}"),
            Self::Ne(scalar) => write!(f, "not be {scalar}"),
            Self::In(scalars) => write!(f, "be one of ").and_then(|()| list(f, scalars)),
            Self::NotIn(scalars) => write!(f, "be none of ").and_then(|()| list(f, scalars)),
            Self::StartsWith(text) => write!(f, "start with {text:?}"),
            Self::EndsWith(text) => write!(f, "end with {text:?}"),
            Self::Within(directory) => write!(f, "be a path within {directory:?}"),
            Self::Contains(scalar) => write!(f, "contain {scalar}"),
            Self::Exists => f.write_str("be there"),
            Self::NotExists => f.write_str("not be there"),
        }
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |f: &mut fmt::Formatter<'_>, clauses: &[Self], word: &str| {
            for (at, clause) in clauses.iter().enumerate() {
                if at > 0 {
                    write!(f, " {word} ")?;
                }
                match clause {
                    Self::Param(_) => clause.fmt(f)?,
                    _ => write!(f, "({clause})")?,
                }
            }
            Ok(())
        };
        match self {
            Self::Param(Param { path, tests, .. }) => {
                write!(f, "`{path}` must ")?;
                for (at, test) in tests.iter().enumerate() {
                    write!(f, "{}{test}", if at > 0 { " and " } else { "" })?;
                }
                Ok(())
            }
            Self::All(clauses) => joined(f, clauses, "and"),
            Self::Any(clauses) => joined(f, clauses, "or"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::capability::Policy;

    #[test]
    fn within_test_holds_only_for_paths_in_the_directory() {
        let test = |directory: &str, path: &str| Test::Within(directory.to_owned()).holds(Some(&json!(path)), false);
        for (directory, path) in [
            ("/data", "/data"),
            ("/data", "/data/"),
            ("/data/", "/data/a/b.txt"),
            ("/data", "/data/..a/...b"),
            ("/", "/"),
            ("/", "/etc/passwd"),
            ("public", "public/a"),
            ("/dätä", "/dätä/a"),
        ] {
            assert!(test(directory, path), "{path} is within {directory}");
        }
        for (directory, path) in [
            ("/data", "/database"),
            ("/data", "/data/../etc"),
            ("/data", "/data/a/.."),
            ("/data", "/data/./a"),
            ("/data", "/data//a"),
            ("/data", "//data/a"),
            ("/data", "/data\\..\\etc"),
            ("/data", "/data/a\0b"),
            ("/data", "data/a"),
            ("/data", "/DATA/a"),
            ("/data", ""),
            ("/", ""),
            ("/", "etc"),
            ("public", "/public/a"),
            ("public", "./public/a"),
            ("/dätä", "/da\u{308}ta\u{308}/a"),
        ] {
            assert!(!test(directory, path), "{path} is not within {directory}");
        }
        assert!(!Test::Within("/".to_owned()).holds(Some(&json!(["/"])), false), "a list is no path");
    }

    #[test]
    fn within_test_of_ambiguous_path_asks() {
        let judge = |path: Value| Test::Within("/étc".to_owned()).judge(Some(&path), false);
        assert_eq!(judge(json!("/étc/passwd")), Truth::Holds);
        for path in [
            json!("/tmp/../étc"),
            json!("étc"),
            json!("//étc"),
            json!("/e\u{301}tc/a"),
            json!("\\étc"),
            json!(1),
            json!(""),
        ] {
            assert_eq!(judge(path.clone()), Truth::Unknown, "{path}");
        }
        for path in ["/tmp", "/tmp/étc", "/étcetera/a"] {
            let expected = if path.starts_with("/étc") { Truth::Unknown } else { Truth::Fails };
            assert_eq!(judge(json!(path)), expected, "{path}");
        }
        let plain = Test::Within("/etc".to_owned());
        assert_eq!(plain.judge(Some(&json!("/etcetera")), false), Truth::Fails);
    }

    #[test]
    fn within_test_with_directory_that_leads_elsewhere_is_a_policy_error() {
        for directory in ["", "/data/../x", "/data//x", ".", "./x", "a\\\\b"] {
            let policy =
                format!("[[grant]]\nmethod = \"a/b\"\nwhere = [{{ param = \"p\", within = \"{directory}\" }}]\n");
            let error = Policy::parse(&policy).expect_err(directory);
            assert!(error.to_string().contains("no path is within"), "{directory}: {error}");
        }
    }
}
