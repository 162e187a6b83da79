//! Clauses: what a grant asks of the arguments of a call.
//!
//! They judge canonical arguments: one object, keys in their one spelling, every value of its type. Missing and null are
//! the same. They are judged in two ways, since what is not known must be refused by one and asked about by the other:
//!
//! - [`Clause::holds`], for `where`: whatever a test was not made for (missing, another type, NaN, a list where a number
//!   belongs) fails it, and `*` is every element;
//! - [`Clause::judge`], for `approve`: the same is [`Truth::Unknown`], and `*` is any element.

use std::fmt;

use serde_json::Value;

use super::number::Number;
use super::path::{Found, ParamPath};
use super::span::Span;
use super::text::{Part, are_equivalent};
use super::truth::Truth;

/// A condition on arguments.
#[derive(Clone, Debug, PartialEq)]
pub enum Clause {
    /// Every test holds for the value at a path.
    Param(Param),
    /// Every one of these holds.
    All(Vec<Clause>),
    /// One of these holds.
    Any(Vec<Clause>),
}

/// Tests of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Where it is.
    pub path: ParamPath,
    /// What must hold of it: all of these.
    pub tests: Vec<Test>,
    /// Whether its type is a 64-bit integer, which beyond ±(2^53 - 1) is written as a decimal string. Known when the
    /// clause was bound to a method.
    pub wide: bool,
    /// Where it stands in its policy.
    pub span: Span,
}

/// One operator and what it compares with.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// A number below this.
    Lt(Number),
    /// A number not above this.
    Le(Number),
    /// A number above this.
    Gt(Number),
    /// A number not below this.
    Ge(Number),
    /// This value, exactly.
    Eq(Scalar),
    /// Another value of the same type. Two texts that Unicode calls equivalent are not another.
    Ne(Scalar),
    /// One of these values, exactly.
    In(Vec<Scalar>),
    /// Of the type of one of these values, and none of them. Unicode as in [`Test::Ne`].
    NotIn(Vec<Scalar>),
    /// A string that begins so.
    StartsWith(String),
    /// A string that ends so.
    EndsWith(String),
    /// A string that holds this one, or a list with this element.
    Contains(Scalar),
    /// There and not null.
    Exists,
    /// Missing or null.
    NotExists,
}

/// A value to compare with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(String),
}

impl Clause {
    /// Whether the arguments satisfy it. Allocates nothing.
    #[must_use]
    pub fn holds(&self, arguments: &Value) -> bool {
        match self {
            Self::Param(param) => param.holds(arguments),
            Self::All(clauses) => clauses.iter().all(|clause| clause.holds(arguments)),
            Self::Any(clauses) => clauses.iter().any(|clause| clause.holds(arguments)),
        }
    }

    /// The innermost clause that the arguments fail, for a message; none if they satisfy it.
    #[must_use]
    pub fn failed(&self, arguments: &Value) -> Option<&Self> {
        match self {
            Self::All(clauses) => clauses.iter().find_map(|clause| clause.failed(arguments)),
            _ => (!self.holds(arguments)).then_some(self),
        }
    }

    /// What the arguments have where the clause looks first, for a message.
    #[must_use]
    pub fn actual<'v>(&self, arguments: &'v Value) -> Option<&'v Value> {
        match self {
            Self::Param(param) => param.actual(arguments),
            Self::All(clauses) | Self::Any(clauses) => clauses.first()?.actual(arguments),
        }
    }

    /// What is known of it when `*` means any element: the judgement of `approve`. What is missing, null or of another
    /// type is unknown to every test but those of existence. Texts are compared by code points; one that is only
    /// canonically equivalent to what is looked for is unknown too.
    #[must_use]
    pub fn judge(&self, arguments: &Value) -> Truth {
        match self {
            Self::Param(param) => param.judge(arguments),
            Self::All(clauses) => Truth::all(clauses.iter().map(|clause| clause.judge(arguments))),
            Self::Any(clauses) => Truth::any(clauses.iter().map(|clause| clause.judge(arguments))),
        }
    }

    /// The first clause of one parameter that is not known to fail, for a message; none if all fail.
    #[must_use]
    pub fn reason(&self, arguments: &Value) -> Option<&Param> {
        self.params().into_iter().find(|param| param.judge(arguments).may_hold())
    }

    /// The paths that it looks at.
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
            // Read once, however many tests compare it.
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

    /// As [`Clause::judge`].
    fn judge(&self, arguments: &Value) -> Truth {
        self.path.any(arguments, |found| match found {
            Found::NoList => Truth::Unknown,
            Found::Value(value) => Truth::all(self.tests.iter().map(|test| test.judge(value, self.wide))),
        })
    }

    /// What [`Clause::judge`] says where it is missing.
    #[must_use]
    pub fn judge_missing(&self) -> Truth {
        Truth::all(self.tests.iter().map(|test| test.judge(None, self.wide)))
    }

    /// What may be so of it, in words: "`amount` may be above 5000".
    #[must_use]
    pub fn possibility(&self) -> String {
        let tests: Vec<String> = self.tests.iter().map(ToString::to_string).collect();
        format!("`{}` may {}", self.path, tests.join(" and "))
    }

    /// The first value for which [`Clause::judge`] is not known to fail; none if it is missing, or all fail.
    #[must_use]
    pub fn suspect<'v>(&self, arguments: &'v Value) -> Option<&'v Value> {
        let mut first = None;
        self.path.any(arguments, |found| {
            let truth = match found {
                Found::NoList => Truth::Fails,
                Found::Value(value) => Truth::all(self.tests.iter().map(|test| test.judge(value, self.wide))),
            };
            if truth.may_hold() && first.is_none() {
                first = found.value();
            }
            // The first is enough, whether it holds or not.
            if truth.may_hold() { Truth::Holds } else { Truth::Fails }
        });
        first
    }

    /// The first value that fails a test; none if it is missing, or nothing fails.
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
    /// What is known of it for one value; none stands for missing and null.
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
        let part = |part: Part, text: &str| value.as_str().map_or(Truth::Unknown, |value| text_has(part, value, text));
        match self {
            Self::Lt(limit) => number(&|number| number < *limit),
            Self::Le(limit) => number(&|number| number <= *limit),
            Self::Gt(limit) => number(&|number| number > *limit),
            Self::Ge(limit) => number(&|number| number >= *limit),
            Self::Eq(scalar) => scalar.judge(value, wide),
            Self::In(scalars) => Truth::any(scalars.iter().map(|scalar| scalar.judge(value, wide))),
            Self::Ne(scalar) => scalar.judge(value, wide).not(),
            Self::NotIn(scalars) => Truth::any(scalars.iter().map(|scalar| scalar.judge(value, wide))).not(),
            Self::StartsWith(text) => part(Part::Start, text),
            Self::EndsWith(text) => part(Part::End, text),
            Self::Contains(scalar) => match (value, scalar) {
                (Value::String(value), Scalar::String(text)) => text_has(Part::Anywhere, value, text),
                (Value::Array(items), _) => Truth::any(items.iter().map(|item| scalar.judge(item, wide))),
                _ => Truth::Unknown,
            },
            Self::Exists => Truth::Holds,
            Self::NotExists => Truth::Fails,
        }
    }

    /// Whether it holds of a value; none stands for missing and null.
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
            Self::Contains(scalar) => match (value, scalar) {
                (Value::String(value), Scalar::String(text)) => value.contains(text),
                (Value::Array(items), _) => items.iter().any(|item| scalar.equals(item, wide)),
                _ => false,
            },
            Self::Exists => true,
            Self::NotExists => false,
        }
    }

    /// The operator, as policies spell it.
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
            Self::Contains(_) => "contains",
            Self::Exists => "exists",
            Self::NotExists => "not_exists",
        }
    }
}

impl Scalar {
    /// Whether the value is this one. Strings: the same code points.
    #[must_use]
    pub fn equals(&self, value: &Value, wide: bool) -> bool {
        match (self, value) {
            (Self::Bool(own), Value::Bool(value)) => own == value,
            (Self::Number(own), _) => Number::from_json(value, wide).is_some_and(|number| number == *own),
            (Self::String(own), Value::String(value)) => own == value,
            _ => false,
        }
    }

    /// As [`Scalar::equals`], but for strings that are canonically equivalent too (Unicode, UAX #15): a forbidden text
    /// stays forbidden however it is composed.
    fn resembles(&self, value: &Value, wide: bool) -> bool {
        match (self, value) {
            (Self::String(own), Value::String(value)) => are_equivalent(own, value),
            _ => self.equals(value, wide),
        }
    }

    /// What is known of a value's being this one: unknown of one of another type, and of a text that is another spelling
    /// of this one.
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

    /// As JSON. A number that JSON cannot hold exactly is a string.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Self::Bool(truth) => (*truth).into(),
            Self::String(text) => text.clone().into(),
            Self::Number(number) => number.to_json(),
        }
    }
}

/// What is known of a text's having another at its start, at its end, or anywhere.
fn text_has(part: Part, value: &str, text: &str) -> Truth {
    if part.has(value, text) {
        Truth::Holds
    } else if part.may_have(value, text) {
        Truth::Unknown
    } else {
        Truth::Fails
    }
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
