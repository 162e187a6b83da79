//! Policy files in TOML and JSON.

use std::ops::Range;

use tollhouse::capability::{Approve, Clause, Policy, PolicyError};

/// Largest number of grants in a policy that are compared with each other.
const COMPARED: usize = 4;

/// Parses a policy. Written as text and parsed again, it must be the same policy; an error must name a position within
/// the text.
///
/// # Panics
///
/// Panics if that does not hold.
pub fn policy(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    check(text, Policy::parse(text));
    check(text, Policy::parse_json(text));
}

fn check(text: &str, read: Result<Policy, PolicyError>) {
    let policy = match read {
        Ok(policy) => policy,
        Err(error) => {
            assert!(!error.message.is_empty(), "an error says something");
            error.span.iter().for_each(|span| within(text, span));
            return;
        }
    };
    for grant in &policy.grants {
        grant.span.0.iter().for_each(|span| within(text, span));
    }
    let toml = policy.to_toml();
    let again = Policy::parse(&toml).unwrap_or_else(|error| panic!("{error}: it was written\n{toml}"));
    assert_eq!(normal(again), normal(policy.clone()), "what was written:\n{toml}");
    let json = policy.to_json().to_string();
    let again = Policy::parse_json(&json).unwrap_or_else(|error| panic!("{error}: it was written\n{json}"));
    assert_eq!(normal(again), normal(policy.clone()), "what was written:\n{json}");
    for grant in policy.grants.iter().take(COMPARED) {
        assert!(grant.is_subset_of(grant), "a grant is within itself");
        for other in policy.grants.iter().take(COMPARED).filter(|other| grant.is_subset_of(other)) {
            assert!(grant.method.is_subset_of(&other.method) && grant.method.overlaps(&other.method));
        }
    }
}

fn within(text: &str, span: &Range<usize>) {
    assert!(text.get(span.clone()).is_some(), "{span:?} is no part of the text, which has {} bytes", text.len());
}

/// Returns the same policy with the tests of each parameter sorted, because the keys of a table have no order.
fn normal(mut policy: Policy) -> Policy {
    let tools = policy.permissions.values_mut().flat_map(|permissions| &mut permissions.tools);
    for grant in policy.grants.iter_mut().chain(tools) {
        grant.clauses.iter_mut().for_each(sort);
        if let Approve::When(clause) = &mut grant.approve {
            sort(clause);
        }
    }
    policy
}

fn sort(clause: &mut Clause) {
    match clause {
        Clause::Param(param) => param.tests.sort_by_key(|test| test.operator()),
        Clause::All(clauses) | Clause::Any(clauses) => clauses.iter_mut().for_each(sort),
    }
}
