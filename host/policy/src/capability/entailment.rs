//! Entailment: whether one condition follows from others, which makes attenuation checkable.
//!
//! Sound but not complete: it may return false although a condition follows, but never true if it does not.

use super::clause::{Clause, Param, Scalar, Test};

/// Maximum number of pairs of clauses that are compared, which takes about a hundredth of a second. The time doubles
/// with each nested choice; a policy has few of them.
const MAX_COMPARED: u32 = 100_000;

/// Returns true if all arguments that satisfy all of `given` satisfy `wanted`. Returns false if that would take too
/// long to determine.
#[must_use]
pub fn implies(given: &[Clause], wanted: &Clause) -> bool {
    given.contains(wanted) || EntailmentSearch { left: MAX_COMPARED }.implies(given, wanted)
}

/// Returns true if `own` is not known to fail whenever `other` is not: approval by `own` is required whenever `other`
/// would require it ([`Clause::judge`]). Returns false if that would take too long to determine.
pub(super) fn may_hold_whenever(own: &Clause, other: &Clause) -> bool {
    own == other || EntailmentSearch { left: MAX_COMPARED }.may_hold_whenever(own, other)
}

/// A search, with the number of pairs of clauses that may still be compared. No result is negated here, so giving up
/// with false is sound.
struct EntailmentSearch {
    left: u32,
}

impl EntailmentSearch {
    fn is_exhausted(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left == 0
    }

    fn implies(&mut self, given: &[Clause], wanted: &Clause) -> bool {
        if self.is_exhausted() {
            return false;
        }
        match wanted {
            Clause::All(wanted) => wanted.iter().all(|wanted| self.implies(given, wanted)),
            Clause::Any(alternatives) if alternatives.iter().any(|wanted| self.implies(given, wanted)) => true,
            Clause::Param(wanted)
                if wanted.tests.iter().all(|test| given.iter().any(|given| self.gives(given, wanted, test))) =>
            {
                true
            }
            // A choice: `wanted` must follow from every alternative.
            _ => given.iter().any(|given| match given {
                Clause::Any(alternatives) => {
                    !alternatives.is_empty()
                        && alternatives.iter().all(|given| self.implies(std::slice::from_ref(given), wanted))
                }
                Clause::All(given) => self.implies(given, wanted),
                Clause::Param(_) => false,
            }),
        }
    }

    /// Returns true if `own` may hold whenever `other` may: "all" if each of its clauses may hold, "any" if one of them
    /// may, and a parameter if all its tests may hold for the same element.
    fn may_hold_whenever(&mut self, own: &Clause, other: &Clause) -> bool {
        if self.is_exhausted() {
            return false;
        }
        match (own, other) {
            (Clause::Param(own), Clause::Param(other)) => {
                own.path == other.path
                    && own.wide == other.wide
                    && own
                        .tests
                        .iter()
                        .all(|own_test| other.tests.iter().any(|test| test_may_hold_whenever(own_test, test, own.wide)))
            }
            (_, Clause::Any(others)) => others.iter().all(|other| self.may_hold_whenever(own, other)),
            (Clause::All(all), _) => all.iter().all(|own| self.may_hold_whenever(own, other)),
            (Clause::Any(any), other) if any.iter().any(|own| self.may_hold_whenever(own, other)) => true,
            (own, Clause::All(others)) => others.iter().any(|other| self.may_hold_whenever(own, other)),
            _ => false,
        }
    }

    /// Returns true if one test of a parameter follows from a single clause.
    fn gives(&mut self, given: &Clause, wanted: &Param, test: &Test) -> bool {
        if self.is_exhausted() {
            return false;
        }
        match given {
            Clause::Param(given) => {
                given.path == wanted.path
                    && given.wide == wanted.wide
                    && given.tests.iter().any(|given| test_implies(given, test, wanted.wide))
            }
            Clause::All(given) => given.iter().any(|given| self.gives(given, wanted, test)),
            Clause::Any(given) => !given.is_empty() && given.iter().all(|given| self.gives(given, wanted, test)),
        }
    }
}

/// Returns true if every value that passes `given` passes `wanted`.
fn test_implies(given: &Test, wanted: &Test, wide: bool) -> bool {
    if given == wanted {
        return true;
    }
    let passes = |scalar: &Scalar| wanted.holds(Some(&scalar.to_json()), wide);
    match (given, wanted) {
        (Test::NotExists, _) => false,
        (_, Test::Exists) => true,
        // The finitely many values that pass are tried; they are scalars, so they can be represented in JSON.
        (Test::Eq(scalar), _) => exact(scalar, wide) && passes(scalar),
        (Test::In(scalars), _) => scalars.iter().all(|scalar| exact(scalar, wide) && passes(scalar)),
        (Test::Lt(a) | Test::Le(a), Test::Le(b)) | (Test::Lt(a), Test::Lt(b)) => a <= b,
        (Test::Le(a), Test::Lt(b)) => a < b,
        (Test::Gt(a) | Test::Ge(a), Test::Ge(b)) | (Test::Gt(a), Test::Gt(b)) => a >= b,
        (Test::Ge(a), Test::Gt(b)) => a > b,
        (Test::Ne(a), Test::NotIn(b)) => excludes(std::slice::from_ref(a), b),
        (Test::NotIn(a), Test::Ne(b)) => excludes(a, std::slice::from_ref(b)),
        (Test::NotIn(a), Test::NotIn(b)) => excludes(a, b),
        (Test::StartsWith(a), Test::StartsWith(b)) => a.starts_with(b),
        (Test::EndsWith(a), Test::EndsWith(b)) => a.ends_with(b),
        // Each path within `a` begins with it.
        (Test::Within(a), Test::StartsWith(b)) => a.trim_end_matches('/').starts_with(b),
        (Test::Within(a), Test::Within(_)) => passes(&Scalar::String(a.clone())),
        (Test::StartsWith(a) | Test::EndsWith(a), Test::Contains(Scalar::String(b))) => a.contains(b),
        _ => false,
    }
}

/// Returns true if `own` is not known to fail for any value, present or missing, for which `other` is not known to
/// fail.
fn test_may_hold_whenever(own: &Test, other: &Test, wide: bool) -> bool {
    if own == other {
        return true;
    }
    // The finitely many values for which `own` is known to fail are tried.
    let fails = |scalar: &Scalar| exact(scalar, wide) && !other.judge(Some(&scalar.to_json()), wide).may_hold();
    let may_hold = |scalar: &Scalar| exact(scalar, wide) && own.judge(Some(&scalar.to_json()), wide).may_hold();
    match (own, other) {
        // Each of these fails for every present value, or for a missing one.
        (Test::Exists | Test::NotExists, _) => false,
        // A missing value is unknown to every test but those two.
        (_, Test::NotExists) => true,
        (Test::Ne(own), _) => fails(own),
        (Test::NotIn(own), _) => own.iter().all(fails),
        (Test::Eq(own), Test::Eq(other)) => own == other,
        (Test::Eq(own), Test::In(others)) => others.iter().all(|other| other == own),
        (Test::In(own), Test::Eq(other)) => own.contains(other),
        (Test::In(own), Test::In(others)) => others.iter().all(|other| own.contains(other)),
        // Values of every other type are unknown to both.
        (Test::Lt(_) | Test::Le(_) | Test::Gt(_) | Test::Ge(_), Test::Eq(scalar @ Scalar::Number(_)))
        | (Test::StartsWith(_) | Test::EndsWith(_) | Test::Within(_), Test::Eq(scalar @ Scalar::String(_))) => {
            may_hold(scalar)
        }
        (
            Test::Lt(_) | Test::Le(_) | Test::Gt(_) | Test::Ge(_),
            Test::Lt(_) | Test::Le(_) | Test::Gt(_) | Test::Ge(_),
        )
        | (Test::StartsWith(_), Test::StartsWith(_))
        | (Test::EndsWith(_), Test::EndsWith(_)) => test_implies(other, own, wide),
        _ => false,
    }
}

/// Returns true if the JSON form of a scalar equals it: false for an integer that no JSON number can represent, unless
/// the type is written as a string anyway.
fn exact(scalar: &Scalar, wide: bool) -> bool {
    scalar.equals(&scalar.to_json(), wide)
}

/// Returns true if "none of `given`" implies "none of `wanted`": each of `wanted` is among `given`, and no value counts
/// as being of a type that `wanted` does not contain.
fn excludes(given: &[Scalar], wanted: &[Scalar]) -> bool {
    let kind = |scalar: &Scalar| std::mem::discriminant(scalar);
    wanted.iter().all(|scalar| given.contains(scalar))
        && given.iter().all(|scalar| wanted.iter().any(|wanted| kind(wanted) == kind(scalar)))
}
