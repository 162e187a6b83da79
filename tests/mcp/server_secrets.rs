//! Secrets of mounted servers: nothing that a server says shows the value that it was given, and each use is on record.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Value, json};
use tollhouse_tests::Home;
use tollhouse_tests::mcp_server::policy_of;

use super::client::{Client, text};

const VALUE: &str = "s3cr3t-Value-0123456789";
const WITH_KEY: [&str; 6] = ["--policy", "policy.toml", "--allow-exec", "fix", "--secret", "KEY=file:key"];

/// Home whose policy mounts the fixture in a mode, with a secret in its environment.
fn home(mode: &str) -> Home {
    let home = Home::new();
    home.file("policy.toml", policy_of("fix", mode, "env = { KEY = \"secret:KEY\" }"));
    home.file("key", VALUE);
    home
}

/// Home whose server's tools are pinned.
fn pinned(mode: &str) -> Home {
    let home = home(mode);
    let ran = home.run(["mcp", "lock"].iter().chain(&WITH_KEY));
    assert_eq!(ran.status, 0, "{ran:?}");
    home
}

/// Returns true if a text has the value, in one of its encodings too.
fn tells(told: &str) -> bool {
    [VALUE, "czNjcjN0LVZhbHVlLTAxMjM0NTY3O", "7333637233742d56616c75652d"].iter().any(|form| told.contains(form))
}

#[test]
fn gateway_hands_on_no_value_of_a_secret_that_a_server_says() {
    let home = pinned("key");
    let asked = Rc::<RefCell<Vec<Value>>>::default();
    let seen = Rc::clone(&asked);
    let answers = move |request: &Value| {
        seen.borrow_mut().push(request.clone());
        json!({ "action": "accept", "content": { "branch": "main" } })
    };
    let options = [&["--proxy"], &WITH_KEY[..]].concat();
    let mut client = Client::start_as(&home, &options, "2025-11-25", json!({ "elicitation": {} })).answering(answers);
    let mut call = |tool: &str| {
        let params = json!({ "name": tool, "arguments": {}, "_meta": { "progressToken": "mine" } });
        let answered = client.request("tools/call", params);
        (answered["result"].clone(), client.notifications.drain(..).collect::<Vec<Value>>())
    };
    let (result, told) = call("tell_key");
    assert_eq!(text(&result), "told", "{result:#}");
    assert_eq!(told.len(), 2, "a message and progress: {told:#?}");
    let said = json!(told).to_string();
    assert!(!tells(&said) && said.contains("with {{secret:KEY}}"), "{said}");
    let value = json!({ "{{secret:KEY}}": ["{{secret:KEY}}", "{{secret:KEY}}=", "{{secret:KEY}}"] });
    assert_eq!(told[0]["params"]["data"], value, "{told:#?}");
    assert!(!said.contains("s3cr3t"), "nor a part of it, where the text is cut: {said}");

    let (result, _) = call("ask_key");
    assert_eq!(result["structuredContent"]["result"]["action"], "accept", "{result:#}");
    let question = asked.borrow()[0]["params"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(question.ends_with("Is {{secret:KEY}} right?"), "{question}");

    // An answer repeats what the form has, so a form is not shown in another way.
    let (result, _) = call("ask_key_form");
    let why = result["structuredContent"]["error"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(why.contains("the form of the question has the value of a secret"), "{result:#}");
    assert_eq!(asked.borrow().len(), 1, "nobody was asked");
}

#[test]
fn server_whose_definition_has_the_value_of_a_secret_is_refused_and_not_pinned() {
    let home = pinned("key");
    home.file("policy.toml", policy_of("fix", "key-definition", "env = { KEY = \"secret:KEY\" }"));
    for command in [&["mcp", "lock"][..], &["mcp", "test", "fix"], &["run", "-e", "return 1"]] {
        let words = if command[1] == "test" { &WITH_KEY[..2] } else { &WITH_KEY[..4] };
        let ran = home.run(command.iter().chain(words).chain(&WITH_KEY[4..]));
        assert_ne!(ran.status, 0, "{ran:?}");
        let told = format!("{ran:?}");
        assert!(told.contains("its tool `ask_key` contains the value of a secret"), "{told}");
        assert!(!tells(&told), "{told}");
    }
    let lock = std::fs::read_to_string(home.path().join("tollhouse.lock")).expect("it was pinned before");
    assert!(!tells(&lock) && lock.contains("ask_key"), "{lock}");

    // The twin: another value is none of its secrets.
    home.file("key", "another-value-0123");
    home.file("policy.toml", policy_of("fix", "key", "env = { KEY = \"secret:KEY\" }"));
    let ran = home.run(["mcp", "lock"].iter().chain(&WITH_KEY));
    assert_eq!(ran.status, 0, "{ran:?}");
}

#[test]
fn last_words_of_a_server_that_does_not_start_have_no_value_of_a_secret() {
    let home = pinned("key");
    home.file("policy.toml", policy_of("fix", "key-exit", "env = { KEY = \"secret:KEY\" }"));
    for command in [&["mcp", "lock"][..], &["run", "-e", "return 1"]] {
        let ran = home.run(command.iter().chain(&WITH_KEY));
        assert_ne!(ran.status, 0, "{ran:?}");
        assert!(ran.stderr.contains("cannot start with key={{secret:KEY}}"), "{ran:?}");
        assert!(!tells(&format!("{ran:?}")), "{ran:?}");
    }
}

#[test]
fn start_of_a_server_and_each_call_of_it_log_the_use_of_its_secret() {
    let home = pinned("key");
    let used = |home: &Home, arguments: &[&str]| -> Vec<Value> {
        let _ = std::fs::remove_file(home.path().join("audit.jsonl"));
        let ran = home.run(arguments.iter().chain(&["--audit", "audit.jsonl"]).chain(&WITH_KEY));
        assert_eq!(ran.status, 0, "{ran:?}");
        let log = std::fs::read_to_string(home.path().join("audit.jsonl")).expect("it was written");
        assert!(!tells(&log), "{log}");
        let whole = home.run(["policy", "audit", "audit.jsonl"]);
        assert!(whole.status == 0 && whole.stdout.contains("unaltered"), "{whole:?}");
        let events = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line is JSON"));
        let uses = events.filter(|event| event["event"] == "secret_used");
        uses.map(|event| json!([event["run"], event["seq"], event["secret"], event["tool"], event["to"]])).collect()
    };
    let start = json!([0, 0, "KEY", "fix", null]);
    assert_eq!(used(&home, &["run", "-e", "return 1"]), std::slice::from_ref(&start), "before its program starts");
    let called = used(&home, &["run", "-e", "return await fix.tell_key({})"]);
    assert_eq!(called, [start.clone(), json!([1, 1, "KEY", "fix", null])]);
    // A session on disk has the calls in its own log too.
    used(&home, &["run", "--session", "kept", "-e", "return await fix.tell_key({})"]);
    let told = home.run(["session", "log", "kept", "--event", "secret_used"]);
    assert_eq!(told.stdout.lines().count(), 1, "{told:?}");
    // Without a secret there is nothing to log.
    home.file("policy.toml", policy_of("fix", "key", ""));
    assert_eq!(used(&home, &["run", "-e", "return await fix.tell_key({})"]), Vec::<Value>::new());
}
