//! Calls that wait for consent: the client's user is asked, or the run stays suspended until somebody decides elsewhere.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Value, json};
use tollhouse_tests::{Home, damage, root};

use super::client::{Client, error, text};

const POLICY: &str = "[tools]\npay = 'test:payments@^0.1'\n\
    [[grant]]\nname = 'charges'\nmethod = 'pay/charges/create'\ncalls = 3\napprove = true\n";

const SCRIPT: &str = "console.log('begins');
    const first = await pay.charges.create({amount: 1, currency: 'EUR'});
    await fs.writeFile('/workspace/paid', 'once');
    const second = await pay.charges.create({amount: 2, currency: 'EUR'});
    return first.total + second.total;";

fn home() -> Home {
    let home = Home::new();
    home.publish(&root().join("tests/fixtures/payments"));
    home.file("p.toml", POLICY);
    home
}

fn elicitation() -> Value {
    json!({ "elicitation": {} })
}

fn accept(allow: bool) -> Value {
    json!({ "action": "accept", "content": { "allow": allow } })
}

#[test]
fn client_of_2025_asks_its_user_within_the_request() {
    let home = home();
    let questions = Rc::<RefCell<Vec<Value>>>::default();
    let seen = Rc::clone(&questions);
    let mut client =
        Client::start_as(&home, &["--policy", "p.toml"], "2025-06-18", elicitation()).answering(move |asked| {
            seen.borrow_mut().push(asked.clone());
            accept(true)
        });
    let result = client.call("run_javascript", json!({ "script": SCRIPT }));
    assert_eq!(text(&result), "begins\nreturned: 3", "{result:#}");
    let questions = questions.borrow();
    assert_eq!(questions.len(), 2);
    let asked = &questions[0];
    assert_eq!(asked["method"], "elicitation/create");
    let message = asked["params"]["message"].as_str().expect("a message");
    assert!(message.contains("`pay/charges/create`") && message.contains("\"amount\": 1"), "{message}");
    assert_eq!(asked["params"]["requestedSchema"]["required"], json!(["allow"]), "{asked:#}");
    // Exactly what a call costs was spent.
    let budgets = &result["structuredContent"]["budgets"];
    assert_eq!(budgets[0]["used"], 2, "{budgets}");
}

#[test]
fn refusals_and_strange_answers_allow_nothing() {
    for answer in [
        json!({ "action": "decline" }),
        accept(false),
        json!({ "action": "accept" }),
        json!({ "action": "accept", "content": { "allow": "true" } }),
        json!({ "action": "accept", "content": { "approve": true } }),
    ] {
        let home = home();
        let given = answer.clone();
        let mut client = Client::start_as(&home, &["--policy", "p.toml"], "2025-11-25", elicitation())
            .answering(move |_| given.clone());
        let result = client.call("run_javascript", json!({ "script": SCRIPT }));
        assert!(error(&result).contains("the user refused the call"), "{answer}: {result:#}");
        assert_eq!(result["structuredContent"]["budgets"][0]["used"], 0, "{answer}: {result:#}");
    }
}

#[test]
fn question_dismissed_suspends_the_run_and_resume_asks_again() {
    let home = home();
    let mut answers = vec![accept(true), accept(true), json!({ "action": "cancel" })];
    let mut client = Client::start_as(&home, &["--policy", "p.toml"], "2025-11-25", elicitation())
        .answering(move |_| answers.pop().expect("three questions"));
    let result = client.call("run_javascript", json!({ "script": SCRIPT }));
    assert_eq!(
        (&result["isError"], &result["structuredContent"]["status"]),
        (&json!(false), &json!("suspended")),
        "{result:#}"
    );
    assert!(text(&result).contains("`resume` continues the run"), "{result:#}");
    let busy = client.call("run_javascript", json!({ "script": "return 1" }));
    assert!(error(&busy).contains("is suspended"), "{busy:#}");
    let pending = client.call("pending", json!({}));
    assert_eq!(pending["structuredContent"]["pending"][0]["arguments"]["amount"], 1, "{pending:#}");
    let wrong = client.call("resume", json!({ "replay_output": "yes" }));
    assert!(error(&wrong).contains("`replay_output` must be true or false"), "{wrong:#}");
    let resumed = client.call("resume", json!({}));
    assert_eq!(resumed["structuredContent"]["value"], 3, "{resumed:#}");
}

#[test]
fn resumed_run_returns_its_earlier_output_if_asked() {
    let script = "console.log('before');
        await pay.charges.create({amount: 1, currency: 'EUR'}).catch(() => null);
        console.log('after');";
    for (replay_output, expected) in [(false, "after\n"), (true, "before\nafter\n")] {
        let home = home();
        let mut client = Client::start(&home, &["--policy", "p.toml", "--session", "agent"]);
        let result = client.call("run_javascript", json!({ "script": script }));
        assert_eq!(result["structuredContent"]["stdout"], "before\n", "{result:#}");
        assert_eq!(home.run(["session", "deny", "agent"]).status, 0);
        let resumed = client.call("resume", json!({ "replay_output": replay_output }));
        assert_eq!(resumed["structuredContent"]["stdout"], expected, "{resumed:#}");
    }
}

#[test]
fn call_in_memory_without_anyone_to_ask_is_refused() {
    let home = home();
    for (capabilities, arguments) in
        [(json!({}), vec!["--policy", "p.toml"]), (elicitation(), vec!["--policy", "p.toml", "--no-wait"])]
    {
        let mut client = Client::start_as(&home, &arguments, "2025-11-25", capabilities);
        let result = client.call("run_javascript", json!({ "script": SCRIPT }));
        assert_eq!(result["structuredContent"]["status"], "denied", "{result:#}");
        assert!(error(&result).contains("does not ask its user"), "{result:#}");
        assert_eq!(client.js("return 1")["value"], 1);
    }
}

#[test]
fn run_on_disk_awaiting_approval_is_decided_on_the_command_line_only() {
    let home = home();
    let arguments = ["--policy", "p.toml", "--session", "agent"];
    let mut client = Client::start(&home, &arguments);
    let result = client.call("run_javascript", json!({ "script": SCRIPT }));
    assert_eq!(result["structuredContent"]["status"], "suspended", "{result:#}");
    assert!(text(&result).contains("tollhouse session approve agent"), "{result:#}");
    let waiting = client.call("resume", json!({}));
    assert_eq!(waiting["structuredContent"]["status"], "suspended", "nobody has decided: {waiting:#}");
    assert_eq!(home.run(["session", "approve", "agent"]).status, 0);
    let second = client.call("resume", json!({}));
    assert_eq!(second["structuredContent"]["pending"][0]["arguments"]["amount"], 2, "{second:#}");
    drop(client);
    // Another server, another day.
    assert_eq!(home.run(["session", "approve", "agent"]).status, 0);
    let mut client = Client::start(&home, &arguments);
    let last = client.call("resume", json!({}));
    assert_eq!(last["structuredContent"]["value"], 3, "{last:#}");
    assert_eq!(last["structuredContent"]["budgets"][0]["used"], 2, "{last:#}");
}

#[test]
fn client_of_2026_answers_question_in_another_request() {
    let home = home();
    let mut client = Client::start_as(&home, &["--policy", "p.toml"], "2026-07-28", elicitation());
    let call = json!({ "name": "run_javascript", "arguments": { "script": SCRIPT } });
    let mut answered = client.request("tools/call", call.clone());
    for amount in [1, 2] {
        let result = &answered["result"];
        assert_eq!(result["resultType"], "input_required", "{answered:#}");
        let requests = result["inputRequests"].as_object().expect("requests");
        let (key, request) = requests.iter().next().expect("one call waits");
        let message = request["params"]["message"].as_str().expect("a message");
        assert!(message.contains(&format!("\"amount\": {amount}")), "{message}");
        let mut retry = call.clone();
        retry["requestState"] = result["requestState"].clone();
        // An answer about another call decides nothing.
        retry["inputResponses"] = json!({ "0".repeat(64): accept(true) });
        let same = client.request("tools/call", retry.clone());
        assert_eq!(same["result"]["resultType"], "input_required", "{same:#}");
        retry["inputResponses"] = json!({ key.clone(): accept(true) });
        answered = client.request("tools/call", retry);
    }
    assert_eq!(answered["result"]["structuredContent"]["value"], 3, "{answered:#}");
    assert_eq!(answered["result"]["structuredContent"]["budgets"][0]["used"], 2, "{answered:#}");
}

#[test]
fn answers_decide_nothing_where_the_client_was_not_to_be_asked() {
    let home = home();
    let arguments = ["--policy", "p.toml", "--session", "agent", "--no-wait"];
    let mut client = Client::start_as(&home, &arguments, "2026-07-28", elicitation());
    let call = json!({ "name": "run_javascript", "arguments": { "script": SCRIPT } });
    let suspended = client.request("tools/call", call.clone());
    assert_eq!(suspended["result"]["structuredContent"]["status"], "suspended", "{suspended:#}");
    let pending = home.run(["session", "pending", "agent", "--json"]);
    let pending: Value = serde_json::from_str(&pending.stdout).expect("JSON");
    let digest = pending[0]["digest"].as_str().expect("a digest");
    let forged = json!({
        "name": "resume", "arguments": {}, "requestState": "{\"session\":\"main\"}",
        "inputResponses": { digest: accept(true) },
    });
    let resumed = client.request("tools/call", forged);
    assert_eq!(resumed["result"]["structuredContent"]["status"], "suspended", "{resumed:#}");
    // Nor can a state name a session of somebody else.
    let other = json!({ "name": "resume", "arguments": {}, "requestState": "{\"session\":\"../agent\"}" });
    let refused = client.request("tools/call", other);
    error(&refused["result"]);
    let garbage = json!({ "name": "resume", "arguments": {}, "requestState": "[]" });
    let refused = client.request("tools/call", garbage);
    assert!(error(&refused["result"]).contains("requestState"), "{refused:#}");
}

/// A client can write any `requestState`, and compute the digest of a call that another connection has left.
#[test]
fn answers_count_for_calls_that_the_client_was_asked_about_alone() {
    let home = home();
    let mut quiet = Client::start(&home, &["--policy", "p.toml", "--session", "agent", "--no-wait"]);
    let suspended = quiet.call("run_javascript", json!({ "script": SCRIPT }));
    assert_eq!(suspended["structuredContent"]["status"], "suspended", "{suspended:#}");
    drop(quiet);
    let pending = home.run(["session", "pending", "agent", "--json"]);
    let pending: Value = serde_json::from_str(&pending.stdout).expect("JSON");
    let digest = pending[0]["digest"].as_str().expect("a digest");
    let arguments = ["--policy", "p.toml", "--session", "agent"];
    let mut client = Client::start_as(&home, &arguments, "2026-07-28", elicitation());
    let forged = json!({
        "name": "resume", "arguments": {}, "requestState": "{\"session\":\"main\"}",
        "inputResponses": { digest: accept(true) },
    });
    let asked = client.request("tools/call", forged.clone());
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked:#}");
    // Now it was asked.
    let second = client.request("tools/call", forged);
    let questions = second["result"]["inputRequests"].as_object().expect("the next call waits");
    assert!(!questions.contains_key(digest), "{second:#}");
}

/// Script whose call cannot be shown in full.
const LONG: &str = "return await pay.charges.create({amount: 1, currency: 'E'.repeat(7000)})";

fn boom() -> Value {
    json!({ "error": { "code": -32603, "message": "boom" } })
}

#[test]
fn call_in_memory_with_failing_question_is_refused_and_session_continues() {
    for version in ["2025-11-25", "2026-07-28"] {
        let home = home();
        let mut client = Client::start_as(&home, &["--policy", "p.toml"], version, elicitation());
        let refused = client.call("run_javascript", json!({ "script": LONG }));
        assert_eq!(refused["structuredContent"]["status"], "denied", "{refused:#}");
        let told = error(&refused);
        assert!(told.contains("the question would have 7") && told.contains("at most 6000"), "{told}");
        assert!(told.contains("hint: ask whoever runs this server to keep its session"), "{told}");
        assert_eq!(client.js("return 1")["value"], 1, "{version}");
    }
    let home = home();
    let mut client =
        Client::start_as(&home, &["--policy", "p.toml"], "2025-11-25", elicitation()).answering(|_| boom());
    let refused = client.call("run_javascript", json!({ "script": SCRIPT }));
    assert_eq!(refused["structuredContent"]["status"], "denied", "{refused:#}");
    assert!(error(&refused).contains("the client was asked and did not answer") && error(&refused).contains("boom"));
    assert!(!error(&refused).contains("a human refused"), "{refused:#}");
    assert_eq!(client.js("return 1")["value"], 1);
}

#[test]
fn call_on_disk_with_failing_question_waits_for_the_command_line() {
    let home = home();
    let arguments = ["--policy", "p.toml", "--session", "agent"];
    let mut client = Client::start_as(&home, &arguments, "2025-11-25", elicitation()).answering(|_| boom());
    for script in [LONG, SCRIPT] {
        let waiting = client.call("run_javascript", json!({ "script": script }));
        assert_eq!(waiting["structuredContent"]["status"], "suspended", "{waiting:#}");
        assert!(text(&waiting).contains("tollhouse session approve agent"), "{waiting:#}");
        assert_eq!(home.run(["session", "deny", "agent"]).status, 0);
        let denied = client.call("resume", json!({}));
        assert!(error(&denied).contains("a human refused"), "{denied:#}");
    }
}

#[test]
fn request_cancelled_during_question_ends_its_run() {
    for arguments in [vec!["--policy", "p.toml"], vec!["--policy", "p.toml", "--session", "agent"]] {
        let home = home();
        let mut client = Client::start_as(&home, &arguments, "2025-11-25", elicitation());
        let call = json!({ "name": "run_javascript", "arguments": { "script": SCRIPT } });
        let id = client.send("tools/call", call);
        loop {
            let message = client.receive().expect("a question");
            if message["method"] == "elicitation/create" {
                break;
            }
        }
        client.notify("notifications/cancelled", json!({ "requestId": id }));
        assert_eq!(client.js("return 1")["value"], 1, "{arguments:?}");
        let pending = client.call("pending", json!({}));
        assert_eq!(pending["structuredContent"]["pending"], json!([]), "{pending:#}");
    }
}

#[test]
fn texts_about_a_session_in_memory_name_no_command_that_cannot_reach_it() {
    let home = home();
    let mut client = Client::start_as(&home, &["--policy", "p.toml"], "2025-11-25", elicitation())
        .answering(|_| json!({ "action": "cancel" }));
    let waiting = client.call("run_javascript", json!({ "script": SCRIPT }));
    let other = client.call("run_javascript", json!({ "script": "return 1" }));
    for told in [waiting.to_string(), other.to_string()] {
        assert!(told.contains("resume") && !told.contains("tollhouse session") && !told.contains("`mcp`"), "{told}");
    }
}

#[test]
fn long_arguments_of_a_call_that_waits_are_shortened() {
    let home = home();
    let mut client = Client::start(&home, &["--policy", "p.toml", "--session", "agent", "--max-text", "1000"]);
    let script = "return await pay.charges.create({amount: 1, currency: 'E'.repeat(100_000)})";
    let waiting = client.call("run_javascript", json!({ "script": script }));
    let pending = client.call("pending", json!({}));
    for result in [&waiting, &pending] {
        let structured = result["structuredContent"].clone();
        assert!(structured.to_string().len() < 6000, "{}", structured.to_string().len());
        let item = &structured["pending"][0];
        assert!(item["arguments_characters"].as_u64().is_some_and(|all| all > 100_000), "{item:#}");
        assert!(item["arguments"].as_str().is_some_and(|shown| shown.contains("characters left out")), "{item:#}");
    }
    assert!(text(&waiting).contains("`tollhouse session pending agent` shows a human all"), "{waiting:#}");
}

#[test]
fn pending_lists_calls_of_readable_sessions_and_names_the_damaged_one() {
    let home = home();
    let arguments = ["--policy", "p.toml", "--session", "agent"];
    let mut client = Client::start(&home, &arguments);
    client.call("sessions", json!({ "action": "create", "to": "work" }));
    let waits = client.call("run_javascript", json!({ "script": SCRIPT }));
    assert_eq!(waits["structuredContent"]["status"], "suspended", "{waits:#}");
    let whole = home.blobs();
    let long = format!("// {}\n{SCRIPT}", "x".repeat(10_000));
    let waits = client.call("run_javascript", json!({ "script": long, "session": "work" }));
    assert_eq!(waits["structuredContent"]["status"], "suspended", "{waits:#}");
    drop(client);
    home.blobs().iter().filter(|blob| !whole.contains(blob)).for_each(|blob| damage(blob));
    let mut client = Client::start(&home, &arguments);
    let listed = client.call("pending", json!({}));
    let shown = &listed["structuredContent"];
    assert_eq!((&shown["pending"][0]["session"], &shown["pending"][1]), (&json!("main"), &Value::Null), "{listed:#}");
    assert_eq!(shown["unreadable"][0]["session"], "work", "{listed:#}");
    assert!(text(&listed).contains("warning: session work cannot be read"), "{listed:#}");
    assert_eq!(shown["unreadable"][1], Value::Null, "{listed:#}");
    // The twin: a client that asks about the damaged one alone gets an error, without the name in the store.
    let named = client.call("pending", json!({ "session": "work" }));
    assert!(!error(&named).contains("agent.work"), "{named:#}");
}
