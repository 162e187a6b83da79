//! Calls that wait for a human, as they are listed; and runs that go on with `run --resume`, with or without their earlier output.

use std::time::Duration;

use serde_json::{Value, json};
use tollhouse_tests::{Home, Ran, damage, root};

const POLICY: &str = "[tools]\npay = 'test:payments@^0.1'\n\
    [[grant]]\nname = 'charges'\nmethod = 'pay/charges/create'\ncalls = 3\n\
    spend = { param = 'amount', limit = 1000 }\napprove = true\n";

const SCRIPT: &str = "console.log('begins'); const paid = await pay.charges.create({amount: 30, currency: 'EUR'}); \
    console.log('paid'); return paid.total";

/// Creates a home with a suspended run, whose grant has these further lines.
fn suspended(lines: &str) -> Home {
    let home = Home::new();
    home.publish(&root().join("tests/fixtures/payments"));
    home.file("policy.toml", format!("{POLICY}{lines}"));
    home.file("pay.js", SCRIPT);
    let ran = home.run(["run", "pay.js", "--policy", "policy.toml", "--session", "s"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (5, "begins\n"), "{ran:?}");
    home
}

fn parsed(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
}

fn pending(home: &Home) -> (Value, String) {
    let shown = home.run(["session", "pending", "s"]);
    assert_eq!(shown.status, 0, "{shown:?}");
    (parsed(&home.run(["session", "pending", "s", "--json"])), shown.stdout)
}

/// Returns the cost of a listed call in one kind of budget.
fn cost<'c>(call: &'c Value, kind: &str) -> &'c Value {
    call["cost"].as_array().and_then(|costs| costs.iter().find(|cost| cost["kind"] == kind)).expect("a cost")
}

#[test]
fn pending_call_edited_shows_the_new_arguments_and_what_they_cost() {
    let home = suspended("");
    let (listed, text) = pending(&home);
    assert_eq!((&listed[0]["kind"], &listed[0]["state"]), (&json!("approval"), &json!("waits")), "{listed:#}");
    assert_eq!(
        (&cost(&listed[0], "spend")["amount"], &cost(&listed[0], "spend")["remaining"]),
        (&json!(30), &json!(970))
    );
    assert!(text.contains("takes 30 of the spending of `charges`, and leaves 970"), "{text}");
    let edited = home.run(["session", "edit", "s", r#"{"amount": 7, "currency": "EUR"}"#]);
    assert!(edited.stdout.contains("takes 7 of the spending of `charges`, and leaves 993"), "{edited:?}");
    let (listed, text) = pending(&home);
    assert_eq!((&listed[0]["state"], &listed[0]["decision"]["arguments"]["amount"]), (&json!("edited"), &json!(7)));
    assert_eq!(
        (&cost(&listed[0], "spend")["amount"], &cost(&listed[0], "spend")["remaining"]),
        (&json!(7), &json!(993))
    );
    assert_eq!(cost(&listed[0], "calls")["amount"], 1, "{listed:#}");
    assert!(text.contains("instead: amount = 7") && text.contains("takes 7 of the spending"), "{text}");
    let resumed = parsed(&home.run(["session", "resume", "s", "--json"]));
    let used = resumed["budgets"].as_array().expect("budgets").iter().find(|budget| budget["kind"] == "spend");
    assert_eq!(used.expect("a budget")["remaining"], 993, "it was the truth: {resumed:#}");
}

/// Of two values of one argument nobody knows which one is meant.
#[test]
fn edit_with_a_key_that_is_there_twice_is_refused() {
    let home = suspended("");
    let twice = home.run(["session", "edit", "s", r#"{"amount": 7, "currency": "EUR", "amount": 900}"#]);
    assert!(twice.status == 2 && twice.stderr.contains("\"amount\" is there twice"), "{twice:?}");
    let (listed, _) = pending(&home);
    assert_eq!(listed[0]["state"], "waits", "{listed:#}");
}

#[test]
fn pending_call_edited_beyond_its_budget_says_so() {
    let home = suspended("");
    let edited = home.run(["session", "edit", "s", r#"{"amount": 1001, "currency": "EUR"}"#]);
    assert!(edited.stdout.contains("more than is left"), "{edited:?}");
    let (listed, _) = pending(&home);
    assert_eq!(cost(&listed[0], "spend")["exceeds"], true, "{listed:#}");
    assert_eq!(home.run(["session", "resume", "s"]).status, 3, "it is refused");
}

#[test]
fn question_out_of_time_is_listed_as_expired_and_not_as_waiting() {
    let home = suspended("approve_within = '1s'\n");
    std::thread::sleep(Duration::from_millis(1100));
    let (listed, text) = pending(&home);
    assert_eq!(listed[0]["state"], "expired", "{listed:#}");
    assert!(text.contains("expired") && !text.contains("  waits  "), "{text}");
    let refused = home.run(["session", "approve", "s"]);
    assert!(refused.status != 0 && refused.stdout.is_empty(), "{refused:?}");
    assert_eq!(home.run(["session", "resume", "s"]).status, 3, "it is denied");
}

#[test]
fn run_resume_continues_as_session_resume_does() {
    let home = suspended("");
    assert_eq!(home.run(["session", "approve", "s"]).status, 0);
    let resumed = home.run(["run", "--session", "s", "--resume", "--policy", "policy.toml", "--json"]);
    let result = parsed(&resumed);
    assert_eq!((&result["status"], &result["stdout"]), (&json!("completed"), &json!("paid\n")), "{result:#}");
    let nothing = home.run(["run", "--session", "s", "--resume"]);
    assert!(nothing.status != 0 && nothing.stderr.contains("run to resume"), "{nothing:?}");
}

#[test]
fn run_resume_refuses_what_belongs_to_a_start() {
    let home = suspended("");
    for wrong in [
        &["run", "--resume"][..],
        &["run", "--session", "s", "--resume", "pay.js"],
        &["run", "--session", "s", "--resume", "-e", "return 1"],
        &["run", "--session", "s", "--resume", "--allow", "pay/**"],
        &["run", "--session", "s", "--resume", "--env", "A=b"],
        &["run", "--session", "s", "--replay-output", "pay.js"],
    ] {
        let refused = home.run(wrong);
        assert_eq!(refused.status, 2, "{wrong:?}: {refused:?}");
    }
    let (listed, _) = pending(&home);
    assert_eq!(listed[0]["state"], "waits", "the run is as it was: {listed:#}");
}

#[test]
fn earlier_output_is_printed_again_only_if_it_is_wanted() {
    for (arguments, expected) in [
        (&["session", "resume", "s"][..], "paid\n30\n"),
        (&["session", "resume", "s", "--replay-output"], "begins\npaid\n30\n"),
        (&["run", "--session", "s", "--resume", "--replay-output"], "begins\npaid\n30\n"),
    ] {
        let home = suspended("");
        // A run that is suspended again replays as often as it is resumed.
        assert_eq!(home.run(["session", "resume", "s", "--replay-output"]).stdout, "begins\n");
        assert_eq!(home.run(["session", "approve", "s"]).status, 0);
        let resumed = home.run(arguments);
        assert_eq!((resumed.status, resumed.stdout.as_str()), (0, expected), "{arguments:?}: {resumed:?}");
    }
}

/// A journal is read from the store of this machine, where disks fail and other programs write.
#[test]
fn damaged_session_hides_no_waiting_calls_of_others() {
    let home = suspended("");
    let whole = home.blobs();
    // The journal of a long script is in a blob.
    home.file("long.js", format!("// {}\n{SCRIPT}", "x".repeat(10_000)));
    assert_eq!(home.run(["run", "long.js", "--policy", "policy.toml", "--session", "broken"]).status, 5);
    assert_eq!(parsed(&home.run(["session", "pending", "--json"])).as_array().map(Vec::len), Some(2));
    home.blobs().iter().filter(|blob| !whole.contains(blob)).for_each(|blob| damage(blob));
    let listed = home.run(["session", "pending", "--json"]);
    assert_eq!(listed.status, 1, "{listed:?}");
    let calls = parsed(&listed);
    assert!(calls.as_array().map(Vec::len) == Some(1) && calls[0]["session"] == "s", "{calls:#}");
    assert!(listed.stderr.contains("warning: the calls of `broken` are not listed"), "{listed:?}");
    let shown = home.run(["session", "pending"]);
    assert!(shown.status == 1 && shown.stdout.contains("s@1 call 1") && shown.stderr.contains("`broken`"), "{shown:?}");
    // The damaged session alone is an error, and the others are decided about as before.
    let named = home.run(["session", "pending", "broken"]);
    assert!(named.status == 1 && named.stdout.is_empty() && named.stderr.contains("store verify"), "{named:?}");
    assert_eq!(home.run(["session", "approve", "s"]).status, 0);
    assert_eq!(home.run(["session", "resume", "s"]).status, 0);
}

/// Whoever imports a file takes over what others decided: it is said, and how much it is.
#[test]
fn import_says_that_a_file_is_a_hand_over_and_what_came_with_it() {
    let home = suspended("");
    assert_eq!(home.run(["session", "export", "s", "copy.tlh"]).status, 0);
    let copied = home.run(["session", "import", "copy.tlh", "copy", "--json"]);
    assert!(parsed(&copied)["hand_over"].is_null() && !copied.stderr.contains("hand-over"), "{copied:?}");
    assert_eq!(home.run(["session", "approve", "s"]).status, 0);
    assert_eq!(home.run(["session", "export", "s", "s.tlh", "--hand-over"]).status, 0);
    let imported = home.run(["session", "import", "s.tlh", "moved", "--json"]);
    let arrived = parsed(&imported)["hand_over"].clone();
    assert_eq!(arrived, json!({ "runs": 1, "unfinished": 1, "waiting": 0, "decisions": 1 }), "{imported:?}");
    assert!(
        imported.stderr.contains("the file is a hand-over") && imported.stderr.contains("1 decision"),
        "{imported:?}"
    );
}
