//! Decisions of the gate on data alone: no tool, no log, no engine.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tollhouse_methods::{Catalog, HostMethod};
use tollhouse_policy::capability::Policy;
use tollhouse_types::error::{ErrorKind, Failure};
use tollhouse_types::memory::MemoryAccount;

use super::*;

/// The gate of a session with the methods `pay` and `look`, and this policy.
fn gate(policy: &str) -> Gate {
    let number = json!({ "type": "object", "properties": { "amount": { "type": "integer" } }, "required": ["amount"] });
    let pay = HostMethod::new("pay", "Pays.", number).expect("it is one");
    let look = HostMethod::new("look", "Looks.", json!({ "type": "object" })).expect("it is one");
    let catalog = Catalog::new(Vec::new(), vec![Arc::new(pay), Arc::new(look)], Arc::default());
    let policy = Policy::parse(policy).expect("it is a policy");
    Gate::new(Arc::new(catalog.expect("the names differ")), policy).expect("it fits")
}

fn judge(gate: &Gate, record: &CallRecord, method: &str, arguments: &str) -> Judgement {
    let request = CallRequest { seq: None, method, arguments, location: None, now: SystemTime::now() };
    gate.judge(record, &request, &MemoryAccount::new(1 << 20))
}

fn admitted(judgement: Judgement) -> Admission {
    match judgement {
        Judgement::Admitted(admission) => *admission,
        Judgement::NeedsConsent(_) => panic!("it needs consent"),
        Judgement::Refused(refusal) => panic!("{:?}", refusal.into_failure()),
    }
}

fn refused(judgement: Judgement) -> Refusal {
    match judgement {
        Judgement::Refused(refusal) => refusal,
        _ => panic!("it is not refused"),
    }
}

fn asked(gate: &Gate, record: &CallRecord, arguments: &str) -> ConsentRequest {
    match judge(gate, record, "pay", arguments) {
        Judgement::NeedsConsent(unapproved) => gate.ask(record, *unapproved).expect("the run goes on"),
        _ => panic!("it needs no consent"),
    }
}

fn left(gate: &Gate) -> Vec<String> {
    gate.budgets().iter().map(|budget| budget.remaining.to_string()).collect()
}

fn outcomes(record: &CallRecord) -> Vec<CallOutcome> {
    record.take().as_slice().iter().map(|call| call.outcome).collect()
}

#[test]
fn admission_has_what_was_judged_and_says_so() {
    let (gate, record) = (gate("[[grant]]\nmethod = 'pay'\ncalls = 2"), CallRecord::of_run(7));
    let admission = admitted(judge(&gate, &record, "pay", r#"{ "amount": 5 }"#));
    assert_eq!((admission.seq(), admission.method(), admission.arguments()), (1, "pay", &json!({ "amount": 5 })));
    let event = serde_json::to_value(admission.event()).expect("plain data");
    let debits = json!([{ "account": "pay#0" }]);
    let told = json!({ "event": "admitted", "run": 7, "seq": 1, "method": "pay", "arguments": { "amount": 5 },
        "grant": "pay#0", "debits": debits });
    assert_eq!(event, told);
    assert_eq!(left(&gate), ["1"]);
}

#[test]
fn reservation_is_given_back_once() {
    let (gate, record) =
        (gate("[[grant]]\nmethod = 'pay'\ncalls = 2\nspend = { param = 'amount', limit = 10 }"), CallRecord::of_run(1));
    let kept = admitted(judge(&gate, &record, "pay", r#"{ "amount": 3 }"#));
    let released = admitted(judge(&gate, &record, "pay", r#"{ "amount": 4 }"#));
    assert_eq!(left(&gate), ["0", "3"]);
    released.release();
    released.release();
    assert_eq!(left(&gate), ["1", "7"], "the other call stays reserved");
    drop(kept);
    assert_eq!(left(&gate), ["1", "7"], "a call that is made is spent");
}

#[test]
fn call_that_is_judged_again_keeps_its_number_and_is_reserved_once() {
    let (gate, record) = (gate("[[grant]]\nmethod = 'pay'\ncalls = 1"), CallRecord::of_run(1));
    let admission = admitted(judge(&gate, &record, "pay", r#"{ "amount": 3 }"#));
    let again = admitted(gate.judge_again(&record, admission, SystemTime::now()));
    assert_eq!((again.seq(), left(&gate)), (1, vec!["0".to_owned()]));
    let refusal = Gate::refuse_exhausted(&record, again);
    assert!(refusal.event().is_some(), "it is logged");
    assert_eq!((left(&gate), outcomes(&record)), (vec!["1".to_owned()], vec![CallOutcome::Denied]));
}

#[test]
fn refused_call_is_recorded_and_spends_nothing() {
    let policy = "[[grant]]\nmethod = 'pay'\ncalls = 3\nwhere = [{ param = 'amount', le = 10 }]";
    for (method, arguments, kind) in [
        ("steal", "{}", ErrorKind::Argument),
        ("look", "{}", ErrorKind::Capability),
        ("pay", r#"{ "amount": 11 }"#, ErrorKind::Capability),
        ("pay", r#"{ "amount": "x" }"#, ErrorKind::Argument),
        ("pay", "{", ErrorKind::Argument),
    ] {
        let (gate, record) = (gate(policy), CallRecord::of_run(1));
        let refusal = refused(judge(&gate, &record, method, arguments));
        let event = serde_json::to_value(refusal.event().expect("it is logged")).expect("plain data");
        assert_eq!((&event["event"], &event["method"]), (&json!("denied"), &json!(method)));
        assert_eq!(refusal.into_failure().kind, kind, "{method} {arguments}");
        assert_eq!((left(&gate), outcomes(&record)), (vec!["3".to_owned()], vec![CallOutcome::Denied]));
    }
}

#[test]
fn call_in_a_run_that_has_ended_is_cancelled_and_given_back() {
    let (gate, record) = (gate("[[grant]]\nmethod = 'pay'\ncalls = 1"), CallRecord::of_run(1));
    assert_eq!(record.close(), []);
    let refusal = refused(judge(&gate, &record, "pay", r#"{ "amount": 1 }"#));
    assert!(refusal.event().is_none(), "nothing happened");
    assert_eq!((refusal.into_failure().kind, left(&gate)), (ErrorKind::Cancelled, vec!["1".to_owned()]));
}

#[test]
fn calls_beyond_the_limit_are_recorded_once() {
    let (gate, record) = (gate("[limits]\ncalls = 1\n[[grant]]\nmethod = 'pay'"), CallRecord::of_run(1));
    gate.count(&record, "pay").expect("the first");
    let logged: Vec<bool> =
        (0..3).map(|_| gate.count(&record, "pay").expect_err("one is allowed").event().is_some()).collect();
    assert_eq!(logged, [true, false, false]);
}

const ASKS: &str = "[[grant]]\nmethod = 'pay'\ncalls = 1\napprove = true";

#[test]
fn approved_call_is_admitted_with_the_number_that_was_asked_about() {
    let (gate, record) = (gate(ASKS), CallRecord::of_run(1));
    let request = asked(&gate, &record, r#"{ "amount": 1 }"#);
    assert_eq!((request.seq(), left(&gate)), (1, vec!["0".to_owned()]), "it is reserved while it is asked about");
    let admission = admitted(gate.approve(&record, request, SystemTime::now()));
    assert_eq!((admission.seq(), outcomes(&record)), (1, vec![CallOutcome::Pending]));
}

#[test]
fn call_without_consent_is_given_back() {
    let (gate, record) = (gate(ASKS), CallRecord::of_run(1));
    let request = asked(&gate, &record, r#"{ "amount": 1 }"#);
    let refusal = Gate::refuse_asked(&record, request, Failure::approval("no"));
    assert!(refusal.event().is_some() && left(&gate) == ["1"]);
    let Judgement::NeedsConsent(unapproved) = judge(&gate, &record, "pay", r#"{ "amount": 1 }"#) else { panic!() };
    let refusal = Gate::refuse_unasked(&record, *unapproved);
    assert_eq!((refusal.into_failure().kind, left(&gate)), (ErrorKind::Approval, vec!["1".to_owned()]));
}

#[test]
fn grant_that_ends_while_a_human_decides_admits_nothing() {
    let (gate, record) = (gate(ASKS), CallRecord::of_run(1));
    let request = asked(&gate, &record, r#"{ "amount": 1 }"#);
    assert!(gate.revoke("pay#0"));
    let refusal = refused(gate.approve(&record, request, SystemTime::now()));
    assert_eq!(refusal.into_failure().kind, ErrorKind::Capability);
    assert_eq!(outcomes(&record), [CallOutcome::Denied]);
}

#[test]
fn admission_ends_with_the_end_or_revocation_of_its_grant() {
    let (gate, record) = (gate("[[grant]]\nmethod = 'pay'"), CallRecord::of_run(1));
    let admission = admitted(judge(&gate, &record, "pay", r#"{ "amount": 1 }"#));
    assert!(admission.ended(SystemTime::now() + Duration::from_secs(60)).is_none());
    assert!(gate.revoke("pay#0"));
    assert!(admission.ended(SystemTime::now()).is_some());
}

/// A decision that was moved to another call, run or grant, or to other arguments, decides nothing.
#[test]
fn decision_holds_for_exactly_the_call_that_it_was_made_about() {
    let request = |policy: &str, run, before: u32, arguments: &str| {
        let (gate, record) = (gate(policy), CallRecord::of_run(run));
        for _ in 0..before {
            drop(refused(judge(&gate, &record, "look", "{}")));
        }
        asked(&gate, &record, arguments)
    };
    let (given, other) = (r#"{ "amount": 1 }"#, r#"{ "amount": 2 }"#);
    let deferred = request(ASKS, 1, 0, given).deferred(0);
    assert_eq!((deferred.seq, &deferred.arguments), (1, &json!({ "amount": 1 })));
    assert_eq!(deferred.expires, None);
    let decision = Decision::new(true, "me".to_owned(), None, 1, deferred.digest.clone());
    assert!(request(ASKS, 1, 0, given).is_decided_by(&decision));
    let named = format!("{ASKS}\nname = 'other'");
    let narrower = "[[grant]]\nmethod = 'pay'\ncalls = 1\napprove = { param = 'amount', gt = 0 }";
    for moved in [
        request(ASKS, 2, 0, given),
        request(ASKS, 1, 1, given),
        request(ASKS, 1, 0, other),
        request(&named, 1, 0, given),
        request(narrower, 1, 0, given),
    ] {
        assert!(!moved.is_decided_by(&decision));
    }
    let edited = Decision::edited(&deferred, 1, json!({ "amount": 2 }), "me".to_owned(), 1);
    assert!(request(ASKS, 1, 0, other).is_decided_by(&edited));
    for moved in [
        request(ASKS, 1, 0, given),
        request(ASKS, 2, 0, other),
        request(ASKS, 1, 1, other),
        request(&named, 1, 0, other),
    ] {
        assert!(!moved.is_decided_by(&edited));
    }
    let within = request(&format!("{ASKS}\napprove_within = '1s'"), 1, 0, given).deferred(5);
    assert_eq!(within.expires, Some(1_000_000_005));
    assert!(within.has_expired(1_000_000_006) && !within.has_expired(1_000_000_005));
}

#[test]
fn gate_derived_from_another_spends_its_budget() {
    let above = gate("[[grant]]\nname = 'few'\nmethod = 'pay'\ncalls = 1");
    let below = above.attenuate(Policy::parse("[[grant]]\nmethod = 'pay'").expect("it is a policy")).expect("narrower");
    drop(admitted(judge(&below, &CallRecord::of_run(1), "pay", r#"{ "amount": 1 }"#)));
    assert_eq!(left(&above), ["0"]);
    assert!(!above.explain("pay", r#"{ "amount": 1 }"#, SystemTime::now()).expect("it fits")[0].allows);
    let arguments: Value = json!({ "amount": 1 });
    let declared = above.catalog().get("pay").expect("it is declared");
    assert!(!above.would_allow(&declared, &arguments, SystemTime::now()));
}
