//! Grants: what may be called, with which arguments, how often; and how one becomes a narrower one.

use std::sync::Arc;
use std::time::SystemTime;

use super::clause::{Clause, Param, Scalar, Test};
use super::imply::{implies, may_hold_whenever};
use super::number::{Amount, Number};
use super::path::{ParamPath, PathError};
use super::pattern::{Pattern, PatternError};
use super::span::Span;

/// One entry of a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// What errors, budgets and the audit call it. Empty: the policy names it `METHOD#INDEX`.
    pub name: String,
    /// Which methods it covers.
    pub method: Pattern,
    /// What must hold of the arguments: all of these.
    pub clauses: Vec<Clause>,
    /// How many calls it is good for; none if it does not say.
    pub calls: Option<u64>,
    /// How much of an argument it is good for, summed over all calls.
    pub spend: Option<Spend>,
    /// When a human is asked first.
    pub approve: Approve,
    /// When it ends. Checked at every call.
    pub expires: Option<SystemTime>,
    /// The grant that this one narrows: its clauses are among these, and its budgets are debited too.
    pub parent: Option<Arc<Self>>,
    /// Where it stands in its policy.
    pub span: Span,
}

/// A budget on the sum of a numeric argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Spend {
    /// Which argument.
    pub param: ParamPath,
    /// The most that all calls may come to.
    pub limit: Amount,
    /// As [`Param::wide`].
    pub wide: bool,
    /// Where it stands in its policy.
    pub span: Span,
}

/// When a human is asked before a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Approve {
    /// Never.
    #[default]
    Never,
    /// Before every call.
    Always,
    /// Before a call unless this is known not to hold of its arguments.
    When(Clause),
}

/// Why a grant is no narrower one of another.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AttenuateError {
    /// It covers methods that the other does not.
    #[error("`{child}` covers methods that `{parent}` does not")]
    Method {
        /// What is asked for.
        child: String,
        /// What there is.
        parent: String,
    },
    /// Its budget is greater.
    #[error("`{name}`: a budget of {child} {kind} is more than the {parent} of the grant that it narrows")]
    Budget {
        /// The narrower grant.
        name: String,
        /// `calls` or `spend`.
        kind: &'static str,
        /// What is asked for.
        child: String,
        /// What there is.
        parent: String,
    },
    /// A tool could touch more.
    #[error("the tool `{alias}` may not touch {what}: the wider policy does not let it")]
    Permission {
        /// The tool.
        alias: String,
        /// What is asked for.
        what: String,
    },
    /// It would let calls pass of which a human is asked today: grants are tried in order, and it leaves out an earlier
    /// one.
    #[error(
        "grant `{grant}` passes by `{asker}`, which comes first and asks a human: it must ask too and end no later, or \
         come after a grant that narrows `{asker}` in nothing and ends no sooner"
    )]
    Unasked {
        /// The grant that would not ask.
        grant: String,
        /// The grant above that does.
        asker: String,
    },
}

impl Grant {
    /// A grant without clauses and budgets for every method that `pattern` covers, as `--allow` makes it.
    ///
    /// # Errors
    /// If the pattern is none.
    pub fn allow(pattern: &str) -> Result<Self, PatternError> {
        Ok(Self {
            name: String::new(),
            method: pattern.parse()?,
            clauses: Vec::new(),
            calls: None,
            spend: None,
            approve: Approve::Never,
            expires: None,
            parent: None,
            span: Span::default(),
        })
    }

    /// Names it.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// Adds a clause. All must hold.
    #[must_use]
    pub fn when(mut self, clause: Clause) -> Self {
        self.clauses.push(clause);
        self
    }

    /// Limits the number of calls.
    #[must_use]
    pub fn calls(mut self, calls: u64) -> Self {
        self.calls = Some(calls);
        self
    }

    /// Limits the sum of an argument.
    ///
    /// # Errors
    /// If the path is none.
    pub fn spend(mut self, param: &str, limit: Amount) -> Result<Self, PathError> {
        self.spend = Some(Spend { param: param.parse()?, limit, wide: false, span: Span::default() });
        Ok(self)
    }

    /// Asks a human first.
    #[must_use]
    pub fn approve(mut self, approve: Approve) -> Self {
        self.approve = approve;
        self
    }

    /// Ends it.
    #[must_use]
    pub fn until(mut self, expires: SystemTime) -> Self {
        self.expires = Some(expires);
        self
    }

    /// Narrows this grant by another: the result covers what `narrower` covers, asks for what both ask, has the smaller
    /// budgets, ends when the first of both ends; and a call debits the budgets of both.
    ///
    /// # Errors
    /// If `narrower` covers more methods, or has a greater budget.
    pub fn attenuate(self: &Arc<Self>, narrower: Self) -> Result<Self, AttenuateError> {
        if !narrower.method.is_subset_of(&self.method) {
            let (child, parent) = (narrower.method.to_string(), self.method.to_string());
            return Err(AttenuateError::Method { child, parent });
        }
        let greater = |kind, child: String, parent: String| {
            let name = if narrower.name.is_empty() { narrower.method.to_string() } else { narrower.name.clone() };
            Err(AttenuateError::Budget { name, kind, child, parent })
        };
        if let (Some(child), Some(parent)) = (narrower.calls, self.calls)
            && child > parent
        {
            return greater("calls", child.to_string(), parent.to_string());
        }
        if let (Some(child), Some(parent)) = (&narrower.spend, &self.spend)
            && child.param == parent.param
            && child.limit > parent.limit
        {
            return greater("spend", child.limit.to_string(), parent.limit.to_string());
        }
        let mut clauses = self.clauses.clone();
        clauses.extend(narrower.clauses.iter().filter(|clause| !self.clauses.contains(clause)).cloned());
        Ok(Self {
            clauses,
            calls: narrower.calls.or(self.calls),
            spend: narrower.spend.or_else(|| self.spend.clone()),
            approve: self.approve.clone().or(narrower.approve),
            expires: [self.expires, narrower.expires].into_iter().flatten().min(),
            parent: Some(Arc::clone(self)),
            ..narrower
        })
    }

    /// Whether this grant allows nothing that `other` does not: method, clauses, budgets, approval, end. Sound: it may
    /// say no to a grant that is one, never yes to one that is not.
    #[must_use]
    pub fn is_subset_of(&self, other: &Self) -> bool {
        // What `attenuate` made of it, however many times.
        if self.parent.as_deref().is_some_and(|parent| parent == other || parent.is_subset_of(other)) {
            return true;
        }
        let within =
            |own: Option<u64>, other: Option<u64>| other.is_none_or(|other| own.is_some_and(|own| own <= other));
        let spends = other.spend.as_ref().is_none_or(|other| {
            let own = self.spend.as_ref();
            own.is_some_and(|own| own.param == other.param && own.wide == other.wide && own.limit <= other.limit)
        });
        let ends = other.expires.is_none_or(|other| self.expires.is_some_and(|own| own <= other));
        self.method.is_subset_of(&other.method)
            && other.clauses.iter().all(|clause| implies(&self.clauses, clause))
            && within(self.calls, other.calls)
            && spends
            && self.approve.asks_whenever(&other.approve)
            && ends
    }
}

impl Approve {
    /// Returns true if a human is asked before a call with these arguments: unless the clause is known not to hold
    /// ([`Clause::judge`]).
    #[must_use]
    pub fn asks(&self, arguments: &serde_json::Value) -> bool {
        match self {
            Self::Never => false,
            Self::Always => true,
            Self::When(clause) => clause.judge(arguments).may_hold(),
        }
    }

    /// Asks when one of the two asks.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Never, other) => other,
            (own, Self::Never) => own,
            (Self::When(own), Self::When(other)) => Self::When(Clause::Any(vec![own, other])),
            _ => Self::Always,
        }
    }

    /// Returns true if this asks whenever `other` does. Sound as [`implies`] is.
    pub(super) fn asks_whenever(&self, other: &Self) -> bool {
        match (self, other) {
            (_, Self::Never) | (Self::Always, _) => true,
            (Self::When(own), Self::When(other)) => may_hold_whenever(own, other),
            _ => false,
        }
    }
}

/// Begins a clause on a parameter: `param("amount")?.test(Test::Le(Number::Integer(500)))`.
///
/// # Errors
/// If the path is none.
pub fn param(path: &str) -> Result<Param, PathError> {
    Ok(Param { path: path.parse()?, tests: Vec::new(), wide: false, span: Span::default() })
}

impl Param {
    /// Adds a test. All must hold.
    #[must_use]
    pub fn test(mut self, test: Test) -> Self {
        self.tests.push(test);
        self
    }

    /// Not above this.
    #[must_use]
    pub fn at_most(self, limit: i64) -> Self {
        self.test(Test::Le(Number::Integer(limit.into())))
    }

    /// Not below this.
    #[must_use]
    pub fn at_least(self, limit: i64) -> Self {
        self.test(Test::Ge(Number::Integer(limit.into())))
    }

    /// One of these texts.
    #[must_use]
    pub fn one_of<T: Into<String>>(self, texts: impl IntoIterator<Item = T>) -> Self {
        self.test(Test::In(texts.into_iter().map(|text| Scalar::String(text.into())).collect()))
    }

    /// A text that begins so.
    #[must_use]
    pub fn starting_with(self, text: &str) -> Self {
        self.test(Test::StartsWith(text.to_owned()))
    }
}

impl From<Param> for Clause {
    fn from(param: Param) -> Self {
        Self::Param(param)
    }
}
