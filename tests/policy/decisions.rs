//! One gate, and every face of it decides alike: each row of `fixtures/decisions*.toml`, asked through every face.
//!
//! A row is judged in a session of its own by each face. What a face's caller is told must be what the table says, and
//! what the faces have in common (decision, grant, canonical arguments, reason, value, budgets) must be the same in all.

mod faces;
mod table;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tollhouse::capability::Policy;
use tollhouse::gate::{Audit, AuditError, Event};
use tollhouse::session::{Host, HostOptions, SessionOptions};
use tollhouse_tests::{Home, root};

use self::faces::{FACES, Face, Told};
use self::table::{Call, Expected, Row};

/// Decision of the gate about one call, as the audit log has it.
#[derive(Clone, Debug, PartialEq)]
struct Judged {
    /// The grant that was debited, or the nearest one.
    grant: Option<String>,
    /// Arguments as the tool receives them.
    arguments: Value,
    /// Reason for the refusal; `None` if the call was admitted.
    reason: Option<String>,
}

/// An audit log that keeps what is said of calls. This is how a test sees which grant paid, whoever called.
#[derive(Default)]
struct Log(Mutex<Vec<Judged>>);

impl Audit for Log {
    fn write(&self, event: &Event<'_>) -> Result<(), AuditError> {
        let judged = match *event {
            Event::Admitted { arguments, grant, .. } => {
                Judged { grant: Some(grant.to_owned()), arguments: arguments.clone(), reason: None }
            }
            Event::Denied { arguments, grant, reason, .. } => Judged {
                grant: grant.map(str::to_owned),
                arguments: arguments.clone(),
                reason: Some(reason.to_owned()),
            },
            _ => return Ok(()),
        };
        self.0.lock().expect("no writer panics").push(judged);
        Ok(())
    }

    fn sync(&self) -> Result<(), AuditError> {
        Ok(())
    }
}

impl Log {
    /// Returns the decisions that were written since the last call.
    fn take(&self) -> Vec<Judged> {
        std::mem::take(&mut self.0.lock().expect("no writer panics"))
    }
}

/// Outcome of one call through one face.
#[derive(Debug)]
struct Decided {
    told: Told,
    /// Decision of the gate; `None` if the call was refused before it reached the gate.
    judged: Option<Judged>,
}

/// Outcome of a row through one face.
struct Outcome {
    calls: Vec<Decided>,
    /// The session's budgets in the end, as JSON.
    budgets: String,
}

/// A host in whose registry the fixture is published. The home must outlive it.
fn host() -> (Home, Host) {
    let home = Home::new();
    home.publish(&root().join("tests/fixtures/payments"));
    let options = HostOptions { registry: Some(home.path().join("tollhouse/registry")), ..HostOptions::default() };
    let host = Host::new(&options).expect("the engines start");
    (home, host)
}

#[test]
fn policy_decisions_match_the_table_on_every_face() {
    let (_home, host) = host();
    let mut problems = String::new();
    for row in table::read() {
        let outcomes: Vec<Outcome> = FACES.iter().map(|face| play(&host, &row, face)).collect();
        for problem in check(&row, &outcomes) {
            writeln!(problems, "{}: {problem}", row.name).expect("a string takes everything");
        }
    }
    assert!(problems.is_empty(), "\n{problems}");
}

/// The table covers every operator and answer: no slip of the pen may leave one without a row.
#[test]
fn decision_table_covers_every_operator_and_answer() {
    let rows = table::read();
    let names: BTreeSet<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names.len(), rows.len(), "two rows have one name");
    assert!(rows.len() >= 150, "{} rows", rows.len());
    let operators = [
        "lt",
        "le",
        "gt",
        "ge",
        "eq",
        "ne",
        "in",
        "not_in",
        "starts_with",
        "ends_with",
        "within",
        "contains",
        "exists",
        "not_exists",
    ];
    for operator in operators {
        let word = format!(" {operator} = ");
        let with: Vec<&Row> = rows.iter().filter(|row| row.grants.contains(&word)).collect();
        let answers =
            |wanted: fn(&Expected) -> bool| with.iter().any(|row| row.calls.iter().any(|call| wanted(&call.expected)));
        assert!(answers(|expected| matches!(expected, Expected::Ok { .. })), "no row passes `{operator}`");
        assert!(answers(|expected| matches!(expected, Expected::Denied { .. })), "no row fails `{operator}`");
    }
}

/// A test that no value can pass is an error when the session is made, within payloads of variants as well.
#[test]
fn policy_with_clause_that_can_never_hold_is_refused() {
    let (_home, host) = host();
    for (clause, told) in [
        (r#"{ param = "amuont", le = 5 }"#, "there is no parameter `amuont`"),
        (r#"{ param = "amount", le = -1 }"#, "it can never be at most -1"),
        (r#"{ param = "amount", eq = "ten" }"#, r#"it can never be "ten""#),
        (r#"{ param = "to/tag", ne = "cash" }"#, "and never \"cash\""),
        (r#"{ param = "to/val/holder", not_exists = true }"#, "there is no parameter `holder`"),
        (r#"{ param = "to/val", starts_with = "DE" }"#, "`starts_with` compares texts"),
        (r#"{ param = "to/vals", exists = true }"#, "has no part `vals`"),
        (r#"{ param = "window/2", exists = true }"#, "`window` has elements 0 to 1"),
    ] {
        let policy = format!("grant = [{{ method = 'payments/payouts/send', where = [{clause}] }}]");
        let policy = Policy::parse(&policy).expect("it is a policy");
        let refused = host.session(SessionOptions { policy, ..SessionOptions::default() }).err();
        let message = refused.map_or_else(String::new, |error| error.to_string());
        assert!(message.contains(told), "{clause}: {message}");
    }
}

/// Makes the calls of a row through one face, in a session of its own.
fn play(host: &Host, row: &Row, face: &Face) -> Outcome {
    let log = Arc::new(Log::default());
    let policy = Policy::parse(&row.grants).unwrap_or_else(|error| panic!("{}: {error}: {}", row.name, row.grants));
    let audit = Some(Arc::clone(&log) as Arc<dyn Audit>);
    let session = host.session(SessionOptions { policy, audit, ..SessionOptions::default() });
    let session = session.unwrap_or_else(|error| panic!("{}: {error}", row.name));
    let decide = |call: &Call| {
        let told = (face.call)(&session, &call.method, &call.arguments);
        let mut judged = log.take();
        assert!(judged.len() <= 1, "{}: {} decisions for one call: {judged:?}", row.name, judged.len());
        Decided { told, judged: judged.pop() }
    };
    let calls = row.calls.iter().map(decide).collect();
    let budgets = serde_json::to_string(&session.gate().budgets()).expect("budgets are plain data");
    Outcome { calls, budgets }
}

/// Returns the problems with the outcomes of a row.
fn check(row: &Row, outcomes: &[Outcome]) -> Vec<String> {
    let mut problems = Vec::new();
    for (face, outcome) in FACES.iter().zip(outcomes) {
        for (number, (call, decided)) in row.calls.iter().zip(&outcome.calls).enumerate() {
            let place = || format!("{}, call {} {}", face.name, number + 1, call.arguments);
            problems.extend(differs(&call.expected, decided).map(|problem| format!("{}: {problem}", place())));
            let other = &outcomes[0].calls[number];
            problems.extend(disagrees(decided, other).map(|problem| format!("{}: {problem}", place())));
        }
        if outcome.budgets != outcomes[0].budgets {
            let (first, own) = (&outcomes[0].budgets, &outcome.budgets);
            problems.push(format!("{}: budgets {own}, but in {} {first}", face.name, FACES[0].name));
        }
    }
    problems
}

/// Part of the error about a grant that can allow no call of a method.
const UNFIT: &str = "does not fit the method";

/// Returns the difference between a decision and the table.
fn differs(expected: &Expected, decided: &Decided) -> Option<String> {
    let grant = decided.judged.as_ref().and_then(|judged| judged.grant.as_deref());
    let reason = decided.judged.as_ref().and_then(|judged| judged.reason.as_deref());
    let fits = match (expected, &decided.told) {
        (Expected::Ok { grant: debited }, Told::Ok(_)) => grant == Some(debited) && reason.is_none(),
        // What the script is told is what the log has.
        // A component whose import no grant can allow is not run, so no call is ever judged.
        (Expected::Denied { nearest, why }, Told::Denied(told)) if decided.judged.is_none() => {
            told.contains("no grant allows") && (nearest.is_none() || why.contains(UNFIT))
        }
        (Expected::Denied { nearest, why }, Told::Denied(told)) => {
            grant == nearest.as_deref() && reason == Some(told) && told.contains(why)
        }
        // A face may refuse arguments in its own words, before the gate does; what is wrong with them is the same.
        (Expected::Refused { why }, Told::Refused(told)) => {
            told.contains(why) && grant.is_none() && reason.is_none_or(|reason| reason.contains(why))
        }
        _ => false,
    };
    (!fits).then(|| format!("expected {expected:?}, got {decided:?}"))
}

/// Returns the difference between a decision and that of another face.
fn disagrees(own: &Decided, other: &Decided) -> Option<String> {
    let same = match (&own.told, &other.told) {
        (Told::Refused(_), Told::Refused(_)) => true,
        // Not linked, for want of a grant.
        (Told::Denied(_), Told::Denied(_)) if own.judged.is_none() => {
            let unfit = |judged: &Judged| judged.reason.as_ref().is_some_and(|reason| reason.contains(UNFIT));
            other.judged.as_ref().is_some_and(|judged| judged.grant.is_none() || unfit(judged))
        }
        (own_told, other_told) => own_told == other_told && own.judged == other.judged,
    };
    (!same).then(|| format!("{own:?}, but in {} {other:?}", FACES[0].name))
}
