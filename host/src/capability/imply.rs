//! Whether one condition follows from others: what makes attenuation checkable.
//!
//! Sound, not complete: it may say no where yes is true, never yes where no is.

use super::clause::{Clause, Param, Scalar, Test};

/// The most pairs of clauses that are compared, a hundredth of a second's worth. Comparing choices within choices takes
/// time that doubles with each; a policy has a few.
const MAX_COMPARED: u32 = 100_000;

/// Whether every arguments' object that satisfies all of `given` satisfies `wanted`. What takes too long to find out counts
/// as no.
#[must_use]
pub fn implies(given: &[Clause], wanted: &Clause) -> bool {
    given.contains(wanted) || Search { left: MAX_COMPARED }.implies(given, wanted)
}

/// Returns true if `own` is not known to fail whenever `other` is not: what asks by `own` asks whenever `other` would
/// ([`Clause::judge`]). What takes too long to find out counts as no.
pub(super) fn may_hold_whenever(own: &Clause, other: &Clause) -> bool {
    own == other || Search { left: MAX_COMPARED }.may_hold_whenever(own, other)
}

/// One question, and how many pairs of clauses may still be compared to answer it. Nothing here negates an answer, so
/// giving up with no is sound.
struct Search {
    left: u32,
}

impl Search {
    fn gives_up(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left == 0
    }

    fn implies(&mut self, given: &[Clause], wanted: &Clause) -> bool {
        if self.gives_up() {
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
            // A choice: whichever alternative holds, it must follow.
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

    /// "All" may hold where each of its clauses may, "any" where one of its clauses may, and a parameter where all tests
    /// of one and the same element may.
    fn may_hold_whenever(&mut self, own: &Clause, other: &Clause) -> bool {
        if self.gives_up() {
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

    /// Whether a clause alone gives one test of a parameter.
    fn gives(&mut self, given: &Clause, wanted: &Param, test: &Test) -> bool {
        if self.gives_up() {
            return false;
        }
        match given {
            Clause::Param(given) => {
                given.path == wanted.path
                    && given.wide == wanted.wide
                    && given.tests.iter().any(|given| test_gives(given, test, wanted.wide))
            }
            Clause::All(given) => given.iter().any(|given| self.gives(given, wanted, test)),
            Clause::Any(given) => !given.is_empty() && given.iter().all(|given| self.gives(given, wanted, test)),
        }
    }
}

/// Whether every value that passes `given` passes `wanted`.
fn test_gives(given: &Test, wanted: &Test, wide: bool) -> bool {
    if given == wanted {
        return true;
    }
    let passes = |scalar: &Scalar| wanted.holds(Some(&scalar.to_json()), wide);
    match (given, wanted) {
        (Test::NotExists, _) => false,
        (_, Test::Exists) => true,
        // The finitely many values that pass are tried; those are scalars, so they are JSON.
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
        (Test::StartsWith(a) | Test::EndsWith(a), Test::Contains(Scalar::String(b))) => a.contains(b),
        _ => false,
    }
}

/// Returns true if every value, and none at all, of which `other` is not known to fail is one of which `own` is not.
fn test_may_hold_whenever(own: &Test, other: &Test, wide: bool) -> bool {
    if own == other {
        return true;
    }
    // The finitely many values of which `own` is known to fail are tried.
    let fails = |scalar: &Scalar| exact(scalar, wide) && !other.judge(Some(&scalar.to_json()), wide).may_hold();
    let may_hold = |scalar: &Scalar| exact(scalar, wide) && own.judge(Some(&scalar.to_json()), wide).may_hold();
    match (own, other) {
        // Each fails of whatever is there, or of whatever is missing.
        (Test::Exists | Test::NotExists, _) => false,
        // What is missing is unknown to every test but those two.
        (_, Test::NotExists) => true,
        (Test::Ne(own), _) => fails(own),
        (Test::NotIn(own), _) => own.iter().all(fails),
        (Test::Eq(own), Test::Eq(other)) => own == other,
        (Test::Eq(own), Test::In(others)) => others.iter().all(|other| other == own),
        (Test::In(own), Test::Eq(other)) => own.contains(other),
        (Test::In(own), Test::In(others)) => others.iter().all(|other| own.contains(other)),
        // Values of every other type are unknown to both.
        (Test::Lt(_) | Test::Le(_) | Test::Gt(_) | Test::Ge(_), Test::Eq(scalar @ Scalar::Number(_)))
        | (Test::StartsWith(_) | Test::EndsWith(_), Test::Eq(scalar @ Scalar::String(_))) => may_hold(scalar),
        (
            Test::Lt(_) | Test::Le(_) | Test::Gt(_) | Test::Ge(_),
            Test::Lt(_) | Test::Le(_) | Test::Gt(_) | Test::Ge(_),
        )
        | (Test::StartsWith(_), Test::StartsWith(_))
        | (Test::EndsWith(_), Test::EndsWith(_)) => test_gives(other, own, wide),
        _ => false,
    }
}

/// Whether the JSON of a scalar is the scalar: false of an integer that no JSON number holds, unless the type is written
/// as a string anyway.
fn exact(scalar: &Scalar, wide: bool) -> bool {
    scalar.equals(&scalar.to_json(), wide)
}

/// Whether "none of `given`" means "none of `wanted`": each is among them, and no value passes for being of a type that
/// `wanted` does not know.
fn excludes(given: &[Scalar], wanted: &[Scalar]) -> bool {
    let kind = |scalar: &Scalar| std::mem::discriminant(scalar);
    wanted.iter().all(|scalar| given.contains(scalar))
        && given.iter().all(|scalar| wanted.iter().any(|wanted| kind(wanted) == kind(scalar)))
}
