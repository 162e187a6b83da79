//! What a mounted server says besides answers, behind a gateway: log messages, progress, and questions for the user.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use serde_json::{Value, json};
use tollhouse_tests::Home;
use tollhouse_tests::mcp_server::policy_of;

use super::client::{Client, text};

const MOUNTED: [&str; 4] = ["--policy", "policy.toml", "--allow-exec", "fix"];

/// Home whose policy mounts the fixture that speaks unasked, and grants all of its tools.
fn home() -> Home {
    let home = Home::new();
    home.file("policy.toml", policy_of("fix", "talk", ""));
    let ran = home.run(["mcp", "lock"].iter().chain(&MOUNTED));
    assert_eq!(ran.status, 0, "{ran:?}");
    home
}

fn gateway(home: &Home, more: &[&str], capabilities: Value) -> Client {
    Client::start_as(home, &[&["--proxy"], &MOUNTED[..], more].concat(), "2025-11-25", capabilities)
}

/// Calls a tool with a token for progress, and returns the result and the notifications that came before it.
fn call(client: &mut Client, tool: &str) -> (Value, Vec<Value>) {
    let params = json!({ "name": tool, "arguments": {}, "_meta": { "progressToken": "mine" } });
    let answered = client.request("tools/call", params);
    (answered["result"].clone(), client.notifications.drain(..).collect())
}

fn of<'n>(notifications: &'n [Value], method: &str) -> Vec<&'n Value> {
    notifications.iter().filter(|told| told["method"] == method).map(|told| &told["params"]).collect()
}

#[test]
fn gateway_relays_log_messages_and_progress_of_a_server_within_bounds() {
    let home = home();
    let mut client = gateway(&home, &[], json!({}));
    let (result, told) = call(&mut client, "tell");
    assert_eq!(text(&result), "told");
    let logged = of(&told, "notifications/message");
    assert_eq!(
        logged,
        [
            &json!({ "level": "info", "logger": "fix", "data": "one" }),
            &json!({ "level": "error", "logger": "fix/app\\u{1b}", "data": { "text": "\\u{1b}[2J\\u{202e}two" } }),
        ],
        "the long message is dropped, and what is hidden is shown"
    );
    let progress: Vec<_> = of(&told, "notifications/progress")
        .iter()
        .map(|told| (told["progress"].as_f64(), told["message"].clone()))
        .collect();
    assert!(of(&told, "notifications/progress").iter().all(|told| told["progressToken"] == "mine"), "{told:#?}");
    assert!(progress.windows(2).all(|pair| pair[0].0 < pair[1].0), "{progress:?}");
    assert_eq!(progress.iter().filter(|(_, message)| *message == "halfway").count(), 1, "{progress:?}");

    // A flood is thinned out, and the call goes on.
    let (result, told) = call(&mut client, "chatter");
    assert_eq!(text(&result), "told");
    let logged = of(&told, "notifications/message").len();
    assert!((1..=200).contains(&logged), "{logged} of 500");

    client.request("logging/setLevel", json!({ "level": "error" }));
    // The flood has used up what a server may say, which refills with time.
    std::thread::sleep(Duration::from_millis(500));
    let (_, told) = call(&mut client, "tell");
    assert_eq!(of(&told, "notifications/message").len(), 1, "{told:#?}");
}

#[test]
fn server_behind_scripts_tells_the_client_nothing() {
    let home = home();
    let mut client = Client::start(&home, &MOUNTED);
    let script = json!({ "script": "return [await fix.tell({}), await fix.ask_user({})]" });
    let ran = client.call("run_javascript", script);
    let value = ran["structuredContent"]["value"].to_string();
    assert!(value.contains("told") && value.contains("error"), "{ran:#}");
    let told: Vec<Value> = client.notifications.drain(..).collect();
    assert!(of(&told, "notifications/message").is_empty(), "{told:#?}");
}

#[test]
fn gateway_asks_the_user_what_a_server_wants_to_know_in_its_name() {
    let home = home();
    let asked = Rc::<RefCell<Vec<Value>>>::default();
    let seen = Rc::clone(&asked);
    let answers = move |request: &Value| {
        seen.borrow_mut().push(request.clone());
        json!({ "action": "accept", "content": { "branch": "main" } })
    };
    let mut client = gateway(&home, &[], json!({ "elicitation": {} })).answering(answers);
    let (result, _) = call(&mut client, "ask_user");
    assert_eq!(
        result["structuredContent"]["result"],
        json!({ "action": "accept", "content": { "branch": "main" } }),
        "{result:#}"
    );
    let asked = asked.borrow();
    assert_eq!(asked.len(), 1, "{asked:#?}");
    assert_eq!(asked[0]["method"], "elicitation/create");
    assert_eq!(
        asked[0]["params"]["message"],
        "The MCP server `fix` asks (this is its text, not Tollhouse's):\nWhich branch?\\u{202e}"
    );
    let schema = &asked[0]["params"]["requestedSchema"];
    assert_eq!((&schema["properties"]["branch"]["type"], &schema["required"]), (&json!("string"), &json!(["branch"])));
}

#[test]
fn question_of_a_server_is_refused_where_no_user_can_be_asked() {
    let home = home();
    let refused = |client: &mut Client, tool: &str| {
        let (result, _) = call(client, tool);
        result["structuredContent"]["error"]["message"].as_str().unwrap_or_else(|| panic!("{result:#}")).to_owned()
    };
    let never = |_: &Value| panic!("nobody is to be asked");
    let mut client = gateway(&home, &[], json!({}));
    assert!(refused(&mut client, "ask_user").contains("cannot be asked"));
    drop(client);
    let mut client = gateway(&home, &["--no-wait"], json!({ "elicitation": {} })).answering(never);
    assert!(refused(&mut client, "ask_user").contains("elicitation/create"));
    drop(client);
    let mut client = gateway(&home, &[], json!({ "elicitation": {} })).answering(never);
    assert!(refused(&mut client, "ask_at_length").contains("too long"));
    assert!(refused(&mut client, "ask_by_address").contains("addresses are not handed on"));
    assert!(refused(&mut client, "sample_model").contains("sampling is not granted"));
}
