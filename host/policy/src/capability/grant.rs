//! Grants: the methods that may be called, with which arguments and how often; and how a grant is narrowed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::clause::{Clause, Param, Scalar, Test};
use super::entailment::{implies, may_hold_whenever};
use super::number::{Amount, Number};
use super::path::{ParamPath, PathError};
use super::pattern::{Pattern, PatternError};
use super::span::Span;

/// A permission to call methods, one entry of a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// Name of the grant in errors, budgets and the audit log. If it is empty, the policy names it `METHOD#INDEX`.
    pub name: String,
    /// Pattern of the methods that it covers.
    pub method: Pattern,
    /// Conditions on the arguments, all of which must hold.
    pub clauses: Vec<Clause>,
    /// Maximum number of calls; `None` if unlimited.
    pub calls: Option<u64>,
    /// Maximum sum of an argument over all calls.
    pub spend: Option<Spend>,
    /// Condition for asking a human first.
    pub approve: Approve,
    /// Time within which a human has to answer a question that waits beyond the life of its process; `None` if unlimited.
    pub approve_within: Option<Duration>,
    /// Names of those who can approve, by a signature: one of them has to. With `None`, anyone can, without a signature.
    pub approved_by: Option<BTreeSet<String>>,
    /// Time when the grant ends, checked at every call.
    pub expires: Option<SystemTime>,
    /// Grant that this one narrows: its clauses are included in these, and its budgets are debited too.
    pub parent: Option<Arc<Self>>,
    /// Position in the policy's text.
    pub span: Span,
}

/// A budget on the sum of a numeric argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Spend {
    /// Path of the argument.
    pub param: ParamPath,
    /// Maximum sum over all calls.
    pub limit: Amount,
    /// Set if the argument is a 64-bit integer, see [`Param::wide`].
    pub wide: bool,
    /// Position in the policy's text.
    pub span: Span,
}

/// The condition for asking a human before a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Approve {
    /// Never asks.
    #[default]
    Never,
    /// Asks before every call.
    Always,
    /// Asks unless this clause is known not to hold for the arguments.
    When(Clause),
}

/// The reason why a grant or policy is not narrower than another.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AttenuateError {
    /// The grant covers methods that the other does not.
    #[error("`{child}` covers methods that `{parent}` does not")]
    Method {
        /// Pattern of the narrower grant.
        child: String,
        /// Pattern of the wider grant.
        parent: String,
    },
    /// The budget of the grant is larger.
    #[error("`{name}`: a budget of {child} {kind} is more than the {parent} of the grant that it narrows")]
    Budget {
        /// Name of the narrower grant.
        name: String,
        /// Kind of budget: `calls` or `spend`.
        kind: &'static str,
        /// Budget of the narrower grant.
        child: String,
        /// Budget of the wider grant.
        parent: String,
    },
    /// A tool would have more permissions.
    #[error("the tool `{alias}` may not use {what}: the wider policy does not allow it")]
    Permission {
        /// Alias of the tool.
        alias: String,
        /// The permission in question.
        what: String,
    },
    /// Calls that require approval today would be allowed without it: grants are tried in order, and an earlier grant
    /// is omitted.
    #[error(
        "grant `{grant}` bypasses `{asker}`, which comes first and requires approval: it must require it too \
         and end no later, or come after a grant that covers all that `{asker}` covers, requires approval whenever it \
         does, and ends no sooner"
    )]
    Unasked {
        /// Name of the grant without the approval.
        grant: String,
        /// Name of the wider grant that requires it.
        asker: String,
    },
}

impl Grant {
    /// Creates a grant without clauses and budgets for every method that `pattern` covers, like `--allow`.
    ///
    /// # Errors
    /// If the pattern is invalid.
    pub fn allow(pattern: &str) -> Result<Self, PatternError> {
        Ok(Self {
            name: String::new(),
            method: pattern.parse()?,
            clauses: Vec::new(),
            calls: None,
            spend: None,
            approve: Approve::Never,
            approve_within: None,
            approved_by: None,
            expires: None,
            parent: None,
            span: Span::default(),
        })
    }

    /// Sets the name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// Adds a clause; all clauses must hold.
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
    /// If the path is invalid.
    pub fn spend(mut self, param: &str, limit: Amount) -> Result<Self, PathError> {
        self.spend = Some(Spend { param: param.parse()?, limit, wide: false, span: Span::default() });
        Ok(self)
    }

    /// Sets the condition for asking a human first.
    #[must_use]
    pub fn approve(mut self, approve: Approve) -> Self {
        self.approve = approve;
        self
    }

    /// Limits the time in which a question that waits can be answered.
    #[must_use]
    pub fn approve_within(mut self, within: Duration) -> Self {
        self.approve_within = Some(within);
        self
    }

    /// Names those who can approve, by a signature: one of them has to.
    #[must_use]
    pub fn approved_by<'n>(mut self, approvers: impl IntoIterator<Item = &'n str>) -> Self {
        self.approved_by = Some(approvers.into_iter().map(str::to_owned).collect());
        self
    }

    /// Sets the time when the grant ends.
    #[must_use]
    pub fn until(mut self, expires: SystemTime) -> Self {
        self.expires = Some(expires);
        self
    }

    /// Narrows this grant by another one: the result covers the methods of `narrower`, has the conditions of both, the
    /// smaller budgets, and the earlier end; calls debit the budgets of both.
    ///
    /// # Errors
    /// If `narrower` covers more methods, or has a larger budget.
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
            approve_within: [self.approve_within, narrower.approve_within].into_iter().flatten().min(),
            approved_by: approvers_of_both(self.approved_by.as_ref(), narrower.approved_by.as_ref()),
            expires: [self.expires, narrower.expires].into_iter().flatten().min(),
            parent: Some(Arc::clone(self)),
            ..narrower
        })
    }

    /// Returns true if this grant allows nothing that `other` does not, considering method, clauses, budgets, approval
    /// and end. Sound but not complete: it may return false for a subset, but never true for a grant that is not one.
    #[must_use]
    pub fn is_subset_of(&self, other: &Self) -> bool {
        // A grant that `attenuate` derived from it, in any number of steps.
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
            && self.waits_no_longer(other)
            && self.has_no_other_approvers(other)
            && ends
    }
}

impl Grant {
    /// Returns true if a question of this grant waits no longer for its answer than one of `other`.
    pub(super) fn waits_no_longer(&self, other: &Self) -> bool {
        other.approve_within.is_none_or(|other| self.approve_within.is_some_and(|own| own <= other))
    }

    /// Returns true if whoever can approve a call of this grant can approve one of `other`.
    pub(super) fn has_no_other_approvers(&self, other: &Self) -> bool {
        let within = |other: &BTreeSet<String>| self.approved_by.as_ref().is_some_and(|own| own.is_subset(other));
        other.approved_by.as_ref().is_none_or(within)
    }
}

/// Returns those who are approvers of both grants: maybe nobody.
fn approvers_of_both(
    wider: Option<&BTreeSet<String>>,
    narrower: Option<&BTreeSet<String>>,
) -> Option<BTreeSet<String>> {
    match (wider, narrower) {
        (Some(wider), Some(narrower)) => Some(wider & narrower),
        (only, None) | (None, only) => only.cloned(),
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

    /// Combines two conditions: asks if either of them asks.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Never, other) => other,
            (own, Self::Never) => own,
            (Self::When(own), Self::When(other)) => Self::When(Clause::Any(vec![own, other])),
            _ => Self::Always,
        }
    }

    /// Returns true if this asks whenever `other` does. Sound like [`implies`].
    pub(super) fn asks_whenever(&self, other: &Self) -> bool {
        match (self, other) {
            (_, Self::Never) | (Self::Always, _) => true,
            (Self::When(own), Self::When(other)) => may_hold_whenever(own, other),
            _ => false,
        }
    }
}

/// Starts a clause on a parameter: `param("amount")?.test(Test::Le(Number::Integer(500)))`.
///
/// # Errors
/// If the path is invalid.
pub fn param(path: &str) -> Result<Param, PathError> {
    Ok(Param { path: path.parse()?, tests: Vec::new(), wide: false, span: Span::default() })
}

impl Param {
    /// Adds a test; all tests must hold.
    #[must_use]
    pub fn test(mut self, test: Test) -> Self {
        self.tests.push(test);
        self
    }

    /// Adds the test that the number is at most `limit`.
    #[must_use]
    pub fn at_most(self, limit: i64) -> Self {
        self.test(Test::Le(Number::Integer(limit.into())))
    }

    /// Adds the test that the number is at least `limit`.
    #[must_use]
    pub fn at_least(self, limit: i64) -> Self {
        self.test(Test::Ge(Number::Integer(limit.into())))
    }

    /// Adds the test that the text is one of these.
    #[must_use]
    pub fn one_of<T: Into<String>>(self, texts: impl IntoIterator<Item = T>) -> Self {
        self.test(Test::In(texts.into_iter().map(|text| Scalar::String(text.into())).collect()))
    }

    /// Adds the test that the text starts with `text`.
    #[must_use]
    pub fn starting_with(self, text: &str) -> Self {
        self.test(Test::StartsWith(text.to_owned()))
    }

    /// Adds the test that the text is the path of this directory, or one below it.
    #[must_use]
    pub fn within(self, directory: &str) -> Self {
        self.test(Test::Within(directory.to_owned()))
    }
}

impl From<Param> for Clause {
    fn from(param: Param) -> Self {
        Self::Param(param)
    }
}
