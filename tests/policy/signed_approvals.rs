//! Approvals that certain people have to sign: whoever can write to the store can record a decision, and approves nothing.

use serde_json::Value;
use tollhouse_tests::{Home, Ran, root};

use crate::sessions::on_disk::archives::Archive;

/// Charges that the head of finance has to approve.
const POLICY: &str = "[tools]\npay = 'test:payments@^0.1'\n\
    [[grant]]\nname = 'charges'\nmethod = 'pay/charges/create'\ncalls = 5\n\
    spend = { param = 'amount', limit = 100 }\napprove = true\napproved_by = ['cfo']\n";

const SCRIPT: &str = "
    const totals = [];
    for (const amount of [10, 20]) {
        try { totals.push((await pay.charges.create({amount, currency: 'EUR'})).total) }
        catch (error) { totals.push(`${error.name}: ${error.message}`) }
    }
    return totals;";

/// Makes a home in which the key in `cfo.key` is trusted as `cfo`, and the key in `thief.key` is not.
fn home() -> Home {
    let home = Home::new();
    home.publish(&root().join("tests/fixtures/payments"));
    home.file("policy.toml", POLICY);
    home.file("script.js", SCRIPT);
    for name in ["cfo", "thief"] {
        done(&home, &format!("registry keygen --out {name}.key"));
    }
    let key = std::fs::read_to_string(home.path().join("cfo.key.pub")).expect("a key");
    done(&home, &format!("registry trust add cfo {}", key.trim()));
    home
}

/// Runs a command that has to succeed.
fn done(home: &Home, command: &str) -> String {
    let ran = home.run(command.split(' '));
    assert_eq!(ran.status, 0, "{command}: {ran:?}");
    ran.stdout
}

/// Runs a command that has to fail, and returns what it said.
fn refused(home: &Home, command: &str, status: i32) -> String {
    let ran = home.run(command.split(' '));
    assert_eq!(ran.status, status, "{command}: {ran:?}");
    ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn parsed(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
}

fn start(home: &Home) {
    let ran = home.run("run script.js --policy policy.toml --session s --json".split(' '));
    assert_eq!(parsed(&ran)["status"], "suspended", "{ran:?}");
}

fn resume(home: &Home, session: &str) -> Value {
    parsed(&home.run(format!("session resume {session} --policy policy.toml --json").split(' ')))
}

fn pending(home: &Home, session: &str) -> Value {
    parsed(&home.run(["session", "pending", session, "--json"]))[0].clone()
}

fn paid(result: &Value) -> u64 {
    let budgets = result["budgets"].as_array().expect("budgets");
    let spent = budgets.iter().find(|budget| budget["kind"] == "spend").expect("a budget");
    spent["used"].as_u64().expect("an amount")
}

#[test]
fn call_is_made_once_its_approver_has_signed() {
    let home = home();
    start(&home);
    assert_eq!(pending(&home, "s")["approved_by"][0], "cfo");
    let said = refused(&home, "session approve s", 1);
    assert!(said.contains("approved with a signature") && said.contains("private key of cfo"), "{said}");

    let approved = done(&home, "session approve s --key cfo.key");
    assert!(approved.contains("has to be signed by cfo"), "{approved}");
    let second = resume(&home, "s");
    assert_eq!((&second["status"], paid(&second)), (&Value::from("suspended"), 10), "{second:#}");
    let log = done(&home, "session log s --json --event answered");
    assert!(log.contains("\"signature\":\""), "{log}");

    // Nobody has to sign that something is not done; and other arguments are signed as they are.
    done(&home, "session deny s");
    assert_eq!(resume(&home, "s")["status"], "completed");
    start(&home);
    done(&home, "session edit s {\"amount\":7,\"currency\":\"EUR\"} --key cfo.key");
    assert_eq!(paid(&resume(&home, "s")), 17);
}

#[test]
fn approval_with_another_key_does_not_count() {
    let home = home();
    start(&home);
    done(&home, "session approve s --key thief.key --by cfo");
    let again = resume(&home, "s");
    assert_eq!((&again["status"], paid(&again)), (&Value::from("suspended"), 0), "{again:#}");
    let waiting = pending(&home, "s");
    let why = waiting["rejected"].as_str().unwrap_or_default();
    assert!(waiting["decision"].is_null() && why.contains("not signed by one of its approvers"), "{waiting:#}");
    // Looking again changes nothing, and the right one can still sign.
    assert_eq!(resume(&home, "s")["status"], "suspended");
    assert_eq!(pending(&home, "s")["rejected"], waiting["rejected"]);
    assert!(done(&home, "session replay s").contains("by cfo, and did not count"));
    done(&home, "session approve s --key cfo.key");
    assert_eq!(paid(&resume(&home, "s")), 10);
    let answers = &parsed(&home.run(["session", "replay", "s", "--json"]))["calls"][0]["answers"];
    assert_eq!(
        (&answers[0]["counted"], &answers[1]["counted"]),
        (&Value::from(false), &Value::from(true)),
        "{answers:#}"
    );

    // A machine that does not know the approver takes nobody's word.
    done(&home, "registry trust rm cfo");
    done(&home, "session approve s --key cfo.key");
    assert_eq!(paid(&resume(&home, "s")), 10);
    let why = pending(&home, "s")["rejected"].to_string();
    assert!(why.contains("knows the key of none of its approvers"), "{why}");
}

/// Other arguments are an approval too, also those that the policy lets a script pass unasked: the script is told that its own
/// call was made.
#[test]
fn arguments_changed_by_another_key_do_not_count() {
    let home = home();
    home.file("policy.toml", POLICY.replace("approve = true", "approve = { param = 'amount', gt = 5 }"));
    start(&home);
    done(&home, "session edit s {\"amount\":3,\"currency\":\"EUR\"} --key thief.key");
    let again = resume(&home, "s");
    assert_eq!((&again["status"], paid(&again)), (&Value::from("suspended"), 0), "{again:#}");
    let waiting = pending(&home, "s");
    let why = waiting["rejected"].as_str().unwrap_or_default();
    assert!(waiting["decision"].is_null() && why.contains("not signed by one of its approvers"), "{waiting:#}");
    assert_eq!(waiting["arguments"]["amount"], 10, "{waiting:#}");
    done(&home, "session edit s {\"amount\":3,\"currency\":\"EUR\"} --key cfo.key");
    assert_eq!(paid(&resume(&home, "s")), 3);
}

/// `approve_within` limits how long a question waits, whatever approvals come meanwhile that do not count.
#[test]
fn approval_that_does_not_count_gives_no_more_time() {
    let home = home();
    home.file("policy.toml", POLICY.replace("approve = true", "approve = true\napprove_within = '1h'"));
    start(&home);
    let first = pending(&home, "s")["expires"].as_u64().expect("a time");
    done(&home, "session approve s --key thief.key");
    assert_eq!(resume(&home, "s")["status"], "suspended");
    let again = pending(&home, "s");
    assert!(!again["rejected"].is_null(), "{again:#}");
    assert_eq!(again["expires"], first, "{again:#}");
    done(&home, "session approve s --key cfo.key");
    assert_eq!(paid(&resume(&home, "s")), 10);
}

/// Whoever can write a store or a hand-over cannot show one call to the approver and have another one made: arguments, grant
/// and reason are compared with the digest that is signed, before there is a session.
#[test]
fn call_that_was_altered_where_it_waits_is_neither_shown_nor_approved() {
    let home = home();
    start(&home);
    done(&home, "session export s s.tlh --hand-over");
    let handed_over = std::fs::read(home.path().join("s.tlh")).expect("an archive");
    for (number, (old, new)) in [
        ("\"arguments\":{\"amount\":10,", "\"arguments\":{\"amount\":1,"),
        ("\"grant\":\"charges\",\"reason\"", "\"grant\":\"gifts\",\"reason\""),
        ("\"reason\":\"it asks about every call\"", "\"reason\":\"it asks about nothing\""),
        ("\"call\":{\"seq\":1,", "\"call\":{\"seq\":2,"),
    ]
    .into_iter()
    .enumerate()
    {
        let mut archive = Archive::read(&handed_over);
        archive.replace_text(b'J', old, new);
        home.file("altered.tlh", archive.write());
        let elsewhere = format!("--store store{number}");
        let said = refused(&home, &format!("{elsewhere} session import altered.tlh v --budget keep"), 1);
        assert!(said.contains("is not the one that was asked about"), "{old}: {said}");
        assert_eq!(done(&home, &format!("{elsewhere} session ls --json")).trim(), "[]", "{old}");
    }
    // The twin: what was not altered is imported, and approved.
    done(&home, "--store store0 session import s.tlh v --budget keep");
    done(&home, "--store store0 session approve v --key cfo.key");
}

/// What `--allow` added to a policy is in no file: the error says how to write down what the session has.
#[test]
fn resumption_with_incomplete_policy_says_how_to_export_that_of_the_session() {
    let home = home();
    let run = "run script.js --policy policy.toml --allow pay/charges/list --session s --json";
    assert_eq!(parsed(&home.run(run.split(' ')))["status"], "suspended");
    done(&home, "session approve s --key cfo.key");
    let said = refused(&home, "session resume s --policy policy.toml", 2);
    assert!(said.contains("session show s --json | jq .policy > s.json"), "{said}");
    let shown: Value = serde_json::from_str(&done(&home, "session show s --json")).expect("JSON");
    home.file("s.json", shown["policy"].to_string());
    assert_eq!(paid(&parsed(&home.run("session resume s --policy s.json --json".split(' ')))), 10);
}

/// What the store says about who can approve proves nothing: the policy comes from whoever resumes the run.
#[test]
fn run_is_resumed_only_with_the_policy_that_says_who_approves() {
    let home = home();
    start(&home);
    done(&home, "session approve s --key cfo.key");
    let said = refused(&home, "session resume s", 2);
    assert!(said.contains("cannot be checked here") && said.contains("--policy FILE"), "{said}");
    home.file("other.toml", POLICY.replace("'cfo'", "'thief'"));
    let said = refused(&home, "session resume s --policy other.toml", 2);
    assert!(said.contains("other grants") || said.contains("grants"), "{said}");
    assert_eq!(paid(&resume(&home, "s")), 10);
}

/// A signature is for one session: neither a copy of the store nor an import takes it along.
#[test]
fn signature_does_not_move_to_an_import() {
    let home = home();
    start(&home);
    done(&home, "session approve s --key cfo.key");
    done(&home, "session export s s.tlh --hand-over");
    done(&home, "session import s.tlh moved");
    let waiting = resume(&home, "moved");
    assert_eq!((&waiting["status"], paid(&waiting)), (&Value::from("suspended"), 0), "{waiting:#}");
    done(&home, "session approve moved --key cfo.key");
    assert_eq!(paid(&resume(&home, "moved")), 10);
}

/// Where nobody can sign, the call is refused: neither a terminal nor a default answers for the approver.
#[test]
fn call_that_cannot_wait_for_a_signature_is_denied() {
    let home = home();
    let ran = home.run("run script.js --policy policy.toml --json".split(' '));
    let result = parsed(&ran);
    let told = result["value"][0].as_str().unwrap_or_default();
    assert!(told.contains("needs an approval signed by `cfo`"), "{result:#}");
    assert_eq!(paid(&result), 0);
}
