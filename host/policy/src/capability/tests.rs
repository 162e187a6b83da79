//! Property tests of the whole module: policies survive being written and read, entailment is correct, narrower
//! policies allow less.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use serde_json::{Value, json};
use unicode_normalization::UnicodeNormalization as _;

use super::*;

fn scalar() -> impl Strategy<Value = Scalar> {
    prop_oneof![
        any::<bool>().prop_map(Scalar::Bool),
        number().prop_map(Scalar::Number),
        "[ab\u{e9}]{0,3}".prop_map(Scalar::String),
        Just(Scalar::String("e\u{301}".to_owned())),
        Just(Scalar::String("\u{e9}".to_owned())),
        "/?(a|b|\\.\\.)(/(a|b|\\.|))?".prop_map(Scalar::String),
    ]
}

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![
        (-4_i128..5).prop_map(Number::Integer),
        Just(Number::Integer(1 << 53)),
        Just(Number::Integer((1 << 53) + 1)),
        Just(Number::Integer(u64::MAX.into())),
        prop_oneof![Just(0.5), Just(-0.5), Just(2.5)].prop_map(|float| Number::from_f64(float).expect("finite")),
    ]
}

fn test() -> impl Strategy<Value = Test> {
    prop_oneof![
        number().prop_map(Test::Lt),
        number().prop_map(Test::Le),
        number().prop_map(Test::Gt),
        number().prop_map(Test::Ge),
        scalar().prop_map(Test::Eq),
        scalar().prop_map(Test::Ne),
        proptest::collection::vec(scalar(), 1..3).prop_map(Test::In),
        proptest::collection::vec(scalar(), 1..3).prop_map(Test::NotIn),
        "[ab]{0,2}".prop_map(Test::StartsWith),
        "[ab]{0,2}".prop_map(Test::EndsWith),
        prop_oneof![Just("a"), Just("a/b"), Just("/"), Just("/a"), Just("/a/b")]
            .prop_map(|to| Test::Within(to.to_owned())),
        scalar().prop_map(Test::Contains),
        Just(Test::Exists),
        Just(Test::NotExists),
    ]
}

fn clause() -> impl Strategy<Value = Clause> {
    let path = prop_oneof![Just("a"), Just("b"), Just("l/*"), Just("l/0"), Just("l/*/p")];
    let leaf = (path, proptest::collection::vec(test(), 1..3)).prop_map(|(path, tests)| {
        let param = param(path).expect("a path");
        Clause::Param(tests.into_iter().fold(param, Param::test))
    });
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 1..3).prop_map(Clause::All),
            proptest::collection::vec(inner, 1..3).prop_map(Clause::Any),
        ]
    })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        scalar().prop_map(|scalar| scalar.to_json()),
        number().prop_map(Number::to_json),
    ];
    prop_oneof![3 => leaf.clone(), 1 => proptest::collection::vec(leaf, 0..3).prop_map(Value::Array)]
}

fn arguments() -> impl Strategy<Value = Value> {
    (value(), value(), value()).prop_map(|(a, b, l)| json!({"a": a, "b": b, "l": l}))
}

/// A clause that tests neither existence nor a position in a list: omitted or reordered values can only make its result
/// unknown.
fn clause_on_values() -> impl Strategy<Value = Clause> {
    let is_of_values = |param: &&Param| {
        !param.tests.iter().any(|test| matches!(test, Test::Exists | Test::NotExists))
            && param.path.to_string() != "l/0"
    };
    clause().prop_filter("it is of values", move |clause| clause.params().iter().all(is_of_values))
}

/// Other forms of the same arguments, or fewer of them, or with more elements in their lists.
fn otherwise() -> impl Strategy<Value = ArgumentVariation> {
    let key = prop_oneof![Just("a"), Just("b"), Just("l"), Just("p")];
    prop_oneof![
        Just(ArgumentVariation::Composed),
        Just(ArgumentVariation::Decomposed),
        Just(ArgumentVariation::Floats),
        key.clone().prop_map(ArgumentVariation::LeftOut),
        key.prop_map(ArgumentVariation::Null),
        (any::<prop::sample::Index>(), value()).prop_map(|(at, value)| ArgumentVariation::Among(at, value)),
    ]
}

#[derive(Clone, Debug)]
enum ArgumentVariation {
    Composed,
    Decomposed,
    Floats,
    LeftOut(&'static str),
    Null(&'static str),
    Among(prop::sample::Index, Value),
}

impl ArgumentVariation {
    fn of(&self, value: &Value) -> Value {
        match (self, value) {
            (Self::Composed, Value::String(text)) => text.nfc().collect::<String>().into(),
            (Self::Decomposed, Value::String(text)) => text.nfd().collect::<String>().into(),
            // Whole numbers as floats, as scripts write them.
            (Self::Floats, Value::Number(number)) => match number.as_i64() {
                Some(whole) if whole.abs() < 1 << 53 => json!(whole as f64),
                _ => value.clone(),
            },
            (Self::Among(at, other), Value::Array(items)) => {
                let mut items: Vec<Value> = items.iter().map(|item| self.of(item)).collect();
                items.insert(at.index(items.len() + 1), other.clone());
                items.into()
            }
            (_, Value::Array(items)) => items.iter().map(|item| self.of(item)).collect(),
            (_, Value::Object(object)) => {
                let others = object.iter().filter_map(|(key, value)| match self {
                    Self::LeftOut(name) if name == key => None,
                    Self::Null(name) if name == key => Some((key.clone(), Value::Null)),
                    _ => Some((key.clone(), self.of(value))),
                });
                others.collect::<serde_json::Map<_, _>>().into()
            }
            (_, value) => value.clone(),
        }
    }
}

/// The decision of a policy about a call at some time, with all budgets unused. Ordered by how much it allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CallDecision {
    Denied,
    Asked,
    Allowed,
}

fn decide(policy: &Policy, method: &str, arguments: &Value, now: SystemTime) -> CallDecision {
    for grant in &policy.grants {
        if !grant.method.matches(method) || !grant.clauses.iter().all(|clause| clause.holds(arguments)) {
            continue;
        }
        let chain: Vec<&Grant> = std::iter::successors(Some(grant), |grant| grant.parent.as_deref()).collect();
        if chain.iter().any(|grant| grant.expires.is_some_and(|end| now >= end)) {
            if grant.approve == Approve::Never {
                continue;
            }
            return CallDecision::Denied;
        }
        let lasts = |grant: &&Grant| {
            let amount = |spend: &Spend| {
                let mut amount = None;
                spend.param.every(arguments, |value| {
                    amount = value.and_then(|value| Amount::new(Number::from_json(value, false)?));
                    true
                });
                amount
            };
            grant.calls != Some(0)
                && grant.spend.as_ref().is_none_or(|spend| amount(spend).is_some_and(|amount| amount <= spend.limit))
        };
        if chain.iter().all(lasts) {
            return if grant.approve.asks(arguments) { CallDecision::Asked } else { CallDecision::Allowed };
        }
    }
    CallDecision::Denied
}

fn at(hours: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(hours * 3600)
}

/// Grants that are similar enough to be subsets of each other.
fn similar_grant() -> impl Strategy<Value = Grant> {
    let method = prop_oneof![Just("m/f"), Just("m/*"), Just("m/**")];
    let small = || (0_i64..3).prop_map(|limit| Clause::from(param("a").expect("a path").at_most(limit)));
    let over =
        (0_i128..3).prop_map(|limit| Clause::from(param("a").expect("a path").test(Test::Gt(Number::Integer(limit)))));
    let approve = prop_oneof![2 => Just(Approve::Never), 1 => Just(Approve::Always), 2 => over.prop_map(Approve::When)];
    let calls = prop_oneof![3 => Just(None), 1 => (0_u64..2).prop_map(Some)];
    let expires = prop_oneof![2 => Just(None), 1 => (1_u64..3).prop_map(Some)];
    (method, proptest::option::of(small()), calls, approve, expires).prop_map(
        |(method, clause, calls, approve, expires)| {
            let mut grant = Grant::allow(method).expect("a pattern").approve(approve);
            grant.clauses.extend(clause);
            grant.calls = calls;
            grant.expires = expires.map(at);
            grant
        },
    )
}

fn similar_policy() -> impl Strategy<Value = Policy> {
    proptest::collection::vec(similar_grant(), 1..4)
        .prop_map(|grants| grants.into_iter().fold(Policy::default(), Policy::with))
}

fn grant() -> impl Strategy<Value = Grant> {
    let method = prop_oneof![Just("m/f"), Just("m/*"), Just("m/**"), Just("**")];
    let spend = proptest::option::of((prop_oneof![Just("a"), Just("b")], 0_u64..9));
    let approve = prop_oneof![Just(Approve::Never), Just(Approve::Always), clause().prop_map(Approve::When)];
    (method, proptest::collection::vec(clause(), 0..3), proptest::option::of(0_u64..9), spend, approve).prop_map(
        |(method, clauses, calls, spend, approve)| {
            let mut grant = Grant::allow(method).expect("a pattern").approve(approve);
            grant.clauses = clauses;
            grant.calls = calls;
            match spend {
                Some((param, limit)) => grant.spend(param, Amount::whole(limit)).expect("a path"),
                None => grant,
            }
        },
    )
}

fn nested_arguments() -> impl Strategy<Value = Value> {
    let items = proptest::collection::vec(value().prop_map(|p| json!({ "p": p })), 0..3).prop_map(Value::Array);
    (value(), value(), prop_oneof![value(), items]).prop_map(|(a, b, l)| json!({"a": a, "b": b, "l": l}))
}

fn no_more(own: &Policy, other: &Policy, arguments: &Value) -> Result<(), TestCaseError> {
    for method in ["m/f", "m/g", "m/g/h", "m"] {
        for now in [at(0), at(1), at(2)] {
            let (own_does, other_does) = (decide(own, method, arguments, now), decide(other, method, arguments, now));
            prop_assert!(
                own_does <= other_does,
                "{own_does:?}, not {other_does:?}, of {method} {arguments} at {now:?}: {own:#?} within {other:#?}"
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn clause_implied_by_clauses_that_hold_also_holds(given in proptest::collection::vec(clause(), 1..3), wanted in clause(), arguments in arguments()) {
        if implies(&given, &wanted) && given.iter().all(|clause| clause.holds(&arguments)) {
            prop_assert!(wanted.holds(&arguments), "{given:?} implies {wanted:?}, but not for {arguments}");
        }
    }

    #[test]
    fn clause_implies_itself_and_weaker_forms(first in clause(), second in clause()) {
        prop_assert!(implies(std::slice::from_ref(&first), &first));
        prop_assert!(implies(&[first.clone(), second.clone()], &first));
        prop_assert!(implies(std::slice::from_ref(&first), &Clause::Any(vec![second.clone(), first.clone()])));
        prop_assert!(implies(&[Clause::All(vec![second, first.clone()])], &first));
    }

    #[test]
    fn clause_failure_is_reported_exactly_when_clause_fails(clause in clause(), arguments in arguments()) {
        prop_assert_eq!(clause.failed(&arguments).is_none(), clause.holds(&arguments));
    }

    #[test]
    fn grant_that_is_a_subset_allows_less(child in grant(), parent in grant(), arguments in arguments()) {
        if child.is_subset_of(&parent) {
            let allows = |grant: &Grant| grant.clauses.iter().all(|clause| clause.holds(&arguments));
            prop_assert!(!allows(&child) || allows(&parent));
            prop_assert!(child.approve.asks(&arguments) || !parent.approve.asks(&arguments));
            prop_assert!(parent.calls.is_none_or(|parent| child.calls.is_some_and(|child| child <= parent)));
            for method in ["m", "m/f", "m/g", "n/f", "m/f/g"] {
                prop_assert!(!child.method.matches(method) || parent.method.matches(method));
            }
        }
    }

    /// Arguments that are missing, null, spelled differently, or among other elements: doubt never prevents approval
    /// from being required.
    #[test]
    fn approval_is_asked_in_every_form(
        clause in clause_on_values(),
        arguments in nested_arguments(),
        forms in proptest::collection::vec(otherwise(), 1..4),
    ) {
        // For these tests exactly one spelling does not ask; every other spelling does.
        let is_exact = |test: &Test| matches!(test, Test::Ne(_) | Test::NotIn(_));
        let is_exact = clause.params().iter().any(|param| param.tests.iter().any(is_exact));
        let approve = Approve::When(clause);
        if approve.asks(&arguments) {
            let composes =
                |form: &&ArgumentVariation| matches!(form, ArgumentVariation::Composed | ArgumentVariation::Decomposed);
            let forms = forms.iter().filter(|form| !is_exact || !composes(form));
            let other = forms.fold(arguments.clone(), |arguments, form| form.of(&arguments));
            prop_assert!(approve.asks(&other), "{approve:?} asks about {arguments}, but not about {other}");
        }
    }

    /// If a clause holds by `holds`, with `*` as every element, it may hold by `judge`, with `*` as any.
    #[test]
    fn approval_asks_wherever_the_clause_holds(clause in clause(), arguments in nested_arguments()) {
        if clause.holds(&arguments) {
            prop_assert!(clause.judge(&arguments).may_hold(), "{clause} of {arguments}");
        }
        prop_assert_eq!(clause.reason(&arguments).is_some() || !clause.judge(&arguments).may_hold(), true);
    }

    #[test]
    fn approval_that_covers_another_asks_whenever_it_does(own in clause(), other in clause(), arguments in nested_arguments()) {
        let (own, other) = (Approve::When(own), Approve::When(other));
        if own.asks_whenever(&other) && other.asks(&arguments) {
            prop_assert!(own.asks(&arguments), "{own:?} covers {other:?}, but not of {arguments}");
        }
        prop_assert!(own.asks_whenever(&own));
    }

    #[test]
    fn subset_of_a_policy_allows_no_more_and_asks_no_less(
        own in similar_policy(),
        other in similar_policy(),
        arguments in arguments(),
    ) {
        if own.is_subset_of(&other) {
            no_more(&own, &other, &arguments)?;
        }
        prop_assert!(own.is_subset_of(&own));
    }

    #[test]
    fn attenuated_policy_is_a_subset(above in similar_policy(), narrower in similar_policy(), arguments in arguments()) {
        if let Ok(narrowed) = above.attenuate(narrower) {
            prop_assert!(narrowed.is_subset_of(&above), "{narrowed:#?} of {above:#?}");
            no_more(&narrowed, &above, &arguments)?;
        }
    }

    #[test]
    fn grants_that_are_kept_of_a_policy_are_a_subset(above in similar_policy(), kept in any::<u8>(), arguments in arguments()) {
        let is_kept = |name: &str| {
            above.grants.iter().position(|grant| grant.name == name).is_some_and(|at| kept & (1 << (at % 8)) != 0)
        };
        if let Ok(narrowed) = above.subset(is_kept) {
            prop_assert!(narrowed.is_subset_of(&above), "{narrowed:#?} of {above:#?}");
            prop_assert!(narrowed.grants.iter().all(|grant| is_kept(&grant.name)));
            no_more(&narrowed, &above, &arguments)?;
        }
    }

    #[test]
    fn grant_attenuated_is_a_subset_of_its_parent(parent in grant(), narrower in grant()) {
        let parent = Arc::new(parent);
        if let Ok(child) = parent.attenuate(narrower.clone()) {
            prop_assert!(child.is_subset_of(&parent));
            prop_assert!(child.clauses.iter().all(|clause| parent.clauses.contains(clause) || narrower.clauses.contains(clause)));
            prop_assert!(parent.clauses.iter().all(|clause| child.clauses.contains(clause)));
            // The same holds for any number of steps.
            let child = Arc::new(child);
            if let Ok(grandchild) = child.attenuate(narrower) {
                prop_assert!(grandchild.is_subset_of(&parent));
            }
        }
    }

    #[test]
    fn policy_written_is_read_back_equal(grants in proptest::collection::vec(grant(), 0..4)) {
        let policy = grants.into_iter().fold(Policy::default(), Policy::with);
        let json = policy.to_json().to_string();
        let (read, again) = (Policy::parse_json(&json), Policy::parse(&policy.to_toml()));
        // Contradictory tests can be built, but are rejected by the parser.
        if let Err(error) = &read {
            prop_assert!(error.message.contains("can pass"), "{error}: {json}");
            prop_assert!(again.is_err());
            return Ok(());
        }
        let (read, again) = (read.expect("it was read"), again.expect("the other form too"));
        // TOML does not preserve the order of keys; it has no meaning either.
        prop_assert_eq!(again.to_json().to_string(), json.as_str());
        prop_assert_eq!(read.to_json().to_string(), json);
    }

    #[test]
    fn policy_parser_with_arbitrary_text_does_not_panic(text in "[\\[\\]{}=\"a-e.,é0-9_\n ]{0,80}") {
        let _ = Policy::parse(&text);
        let _ = Policy::parse_json(&text);
        let _ = Policy::parse(&format!("[[grant]]\nmethod = 'a'\nwhere = [{text}]"));
    }
}

#[test]
fn approval_wait_of_narrower_grant_is_no_longer() {
    let grant = |within: &str| {
        let text = format!("[[grant]]\nmethod = 'a'\napprove = true\n{within}");
        let policy = Policy::parse(&text).expect("it is a policy");
        assert_eq!(Policy::parse(&policy.to_toml()).expect("what was written"), policy);
        policy.grants[0].clone()
    };
    let (hour, day, ever) = (grant("approve_within = '1h'"), grant("approve_within = '1d'"), grant(""));
    assert_eq!(hour.approve_within, Some(std::time::Duration::from_secs(3600)));
    assert!(hour.is_subset_of(&day) && day.is_subset_of(&ever) && hour.is_subset_of(&hour));
    assert!(!day.is_subset_of(&hour) && !ever.is_subset_of(&day));
    let narrowed = Arc::new(hour.clone()).attenuate(day).expect("it is narrower");
    assert_eq!(narrowed.approve_within, hour.approve_within);
    let alone = Policy::parse("[[grant]]\nmethod = 'a'\napprove_within = '1h'").expect_err("it asks nobody");
    assert!(alone.to_string().contains("needs none"), "{alone}");
}

#[test]
fn narrower_grant_has_no_other_approvers() {
    let policy = |approvers: &str| {
        let policy = Policy::parse(&format!("[[grant]]\nmethod = 'a'\napprove = true\n{approvers}")).expect("a policy");
        assert_eq!(Policy::parse(&policy.to_toml()).expect("what was written"), policy);
        policy
    };
    let grant = |approvers: &str| policy(approvers).grants[0].clone();
    let (one, both, other) =
        (grant("approved_by = ['cfo']"), grant("approved_by = ['cfo', 'ceo']"), grant("approved_by = ['ceo']"));
    let anyone = grant("");
    assert!(one.is_subset_of(&both) && both.is_subset_of(&anyone) && one.is_subset_of(&one));
    assert!(!both.is_subset_of(&one) && !anyone.is_subset_of(&both) && !other.is_subset_of(&one));
    let narrowed = |wider: &Grant, narrower: &Grant| {
        let narrowed = Arc::new(wider.clone()).attenuate(narrower.clone()).expect("it is narrower");
        narrowed.approved_by.map(|approvers| approvers.into_iter().collect::<Vec<_>>())
    };
    assert_eq!(narrowed(&both, &one), Some(vec!["cfo".to_owned()]));
    assert_eq!(narrowed(&one, &anyone), Some(vec!["cfo".to_owned()]));
    assert_eq!(narrowed(&one, &other), Some(Vec::new()), "nobody is both");

    // A grant that asks, but is satisfied with anyone's answer, must not take the place of one that is not.
    let wider = policy("approved_by = ['cfo']").with(Grant::allow("**").expect("a pattern"));
    let bypass = Policy::parse("[[grant]]\nmethod = 'a'\napprove = true").expect("a policy");
    assert!(!bypass.is_subset_of(&wider) && policy("approved_by = ['cfo']").is_subset_of(&wider));
    for (text, wanted) in [
        ("approved_by = ['cfo']", "needs no approval"),
        ("approve = true\napproved_by = ['the cfo']", "name of a key"),
        ("approve = true\napproved_by = 'cfo'", "list"),
    ] {
        let refused =
            Policy::parse(&format!("[[grant]]\nmethod = 'a'\n{text}")).expect_err("it is refused").to_string();
        assert!(refused.contains(wanted), "{refused}");
    }
}

#[test]
fn choices_within_choices_are_compared_in_time() {
    let nested = |offset: i64| {
        let leaf = |at: i64| Clause::from(param("x").expect("a path").at_least(at).at_most(at));
        (1..18).fold(leaf(offset), |inner, at| Clause::Any(vec![inner, Clause::All(vec![leaf(offset + at), leaf(at)])]))
    };
    let (one, other) = (nested(0), nested(100));
    let started = std::time::Instant::now();
    assert!(implies(std::slice::from_ref(&one), &one));
    assert!(!implies(std::slice::from_ref(&one), &other));
    assert!(!implies(&[one.clone(), other.clone()], &Clause::All(vec![nested(200), one])));
    assert!(started.elapsed().as_secs() < 30, "{:?}: a tenth of a second would be much", started.elapsed());
}

#[test]
fn policy_attenuation_that_is_wider_is_refused() {
    let parent = Policy::default().with(Grant::allow("pay/*").expect("a pattern").calls(5));
    let wider = |grant: Grant| parent.attenuate(Policy::default().with(grant)).expect_err("it is wider").to_string();
    assert!(wider(Grant::allow("pay/**").expect("a pattern")).contains("covers methods that"));
    assert!(wider(Grant::allow("other/x").expect("a pattern")).contains("`pay/*`"));
    assert!(wider(Grant::allow("pay/x").expect("a pattern").calls(6)).contains("a budget of 6 calls"));
    let child = parent.attenuate(Policy::default().with(Grant::allow("pay/x").expect("a pattern"))).expect("narrower");
    assert_eq!(child.grants[0].calls, Some(5));
    assert!(child.is_subset_of(&parent) && !parent.is_subset_of(&child));
}
