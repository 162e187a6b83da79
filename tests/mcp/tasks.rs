//! Long calls as tasks, for clients that can poll them.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tollhouse_tests::{Home, root};

use super::client::{Client, error};

const VERSION: &str = "2026-07-28";

fn capabilities() -> Value {
    json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

fn call(script: &str) -> Value {
    json!({ "name": "run_javascript", "arguments": { "script": script } })
}

fn sleeping(milliseconds: u64, rest: &str) -> String {
    format!("await new Promise(done => setTimeout(done, {milliseconds})); {rest}")
}

/// Sends a call that becomes a task, and returns the task's id.
fn begin(client: &mut Client, script: &str) -> String {
    let answered = client.request("tools/call", call(script));
    let task = &answered["result"];
    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")), "{answered:#}");
    assert!(task["ttlMs"].as_u64().is_some_and(|ttl| ttl > 60_000) && task["pollIntervalMs"].is_u64(), "{answered:#}");
    task["taskId"].as_str().expect("an id").to_owned()
}

fn state(client: &mut Client, task: &str) -> Value {
    let answered = client.request("tasks/get", json!({ "taskId": task }));
    assert!(answered["error"].is_null(), "{answered:#}");
    answered["result"].clone()
}

/// Polls until the task has another status than this one.
fn beyond(client: &mut Client, task: &str, status: &str) -> Value {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let found = state(client, task);
        if found["status"] != status {
            return found;
        }
        assert!(Instant::now() < deadline, "{found:#}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn long_call_becomes_a_task_with_status_progress_and_result() {
    let home = Home::new();
    let mut client = Client::start_as(&home, &[], VERSION, capabilities());
    let short = client.request("tools/call", call("return 1"));
    assert_eq!(short["result"]["structuredContent"]["value"], 1, "a short call needs no task: {short:#}");
    let task = begin(&mut client, &sleeping(7500, "console.log('late'); return 42"));
    std::thread::sleep(Duration::from_millis(1200));
    let working = state(&mut client, &task);
    assert_eq!(working["status"], "working", "{working:#}");
    assert!(
        working["statusMessage"].as_str().is_some_and(|told| told.contains("of at most 60 seconds")),
        "{working:#}"
    );
    let done = beyond(&mut client, &task, "working");
    assert_eq!(done["status"], "completed", "{done:#}");
    assert_eq!(done["result"]["structuredContent"]["value"], 42, "{done:#}");
    assert_eq!(state(&mut client, &task)["result"], done["result"], "the result stays");
    // A failure of the script is its result.
    let task = begin(&mut client, &sleeping(5500, "throw new Error('oh')"));
    let failed = beyond(&mut client, &task, "working");
    assert!(error(&failed["result"]).contains("Error: oh"), "{failed:#}");
}

#[test]
fn task_cancelled_stops_its_run_and_session_continues() {
    let home = Home::new();
    let mut client = Client::start_as(&home, &["--session", "agent", "--timeout", "300s"], VERSION, capabilities());
    let task = begin(&mut client, "for (;;) {}");
    let acknowledged = client.request("tasks/cancel", json!({ "taskId": task }));
    assert!(acknowledged["error"].is_null(), "{acknowledged:#}");
    assert_eq!(beyond(&mut client, &task, "working")["status"], "cancelled");
    assert_eq!(client.js("return 1")["value"], 1);
}

#[test]
fn server_signalled_during_a_task_stops_its_run() {
    let home = Home::new();
    let mut client = Client::start_as(&home, &["--session", "agent", "--timeout", "300s"], VERSION, capabilities());
    begin(&mut client, "for (;;) {}");
    client.signal();
    assert_eq!(client.ended().code(), Some(130));
    let shown = home.run(["session", "show", "agent", "--json"]);
    assert!(shown.stdout.contains("cancelled"), "{shown:?}");
    assert_eq!(home.js("return 1", &["--session", "agent"])["value"], 1);
}

#[test]
fn task_that_needs_consent_is_answered_by_an_update() {
    let home = Home::new();
    home.publish(&root().join("tests/fixtures/payments"));
    home.file(
        "p.toml",
        "[tools]\npay = 'test:payments@^0.1'\n[[grant]]\nmethod = 'pay/charges/create'\ncalls = 3\napprove = true\n",
    );
    let mut client = Client::start_as(&home, &["--policy", "p.toml"], VERSION, capabilities());
    let script = sleeping(5500, "return (await pay.charges.create({amount: 2, currency: 'EUR'})).total");
    let task = begin(&mut client, &script);
    let waiting = beyond(&mut client, &task, "working");
    assert_eq!(waiting["status"], "input_required", "{waiting:#}");
    let (key, request) = waiting["inputRequests"].as_object().and_then(|all| all.iter().next()).expect("a question");
    assert!(request["params"]["message"].as_str().is_some_and(|told| told.contains("\"amount\": 2")), "{waiting:#}");
    let update = |responses: Value| json!({ "taskId": task, "inputResponses": responses });
    let accepted = json!({ "action": "accept", "content": { "allow": true } });
    // An answer to nothing decides nothing.
    client.request("tasks/update", update(json!({ "0".repeat(64): accepted.clone() })));
    assert_eq!(state(&mut client, &task)["status"], "input_required");
    let key = key.clone();
    client.request("tasks/update", update(json!({ key: accepted })));
    let deadline = Instant::now() + Duration::from_secs(60);
    let done = loop {
        let found = state(&mut client, &task);
        if found["status"] == "completed" {
            break found;
        }
        assert!(Instant::now() < deadline, "{found:#}");
        std::thread::sleep(Duration::from_millis(100));
    };
    assert_eq!(done["result"]["structuredContent"]["value"], 2, "{done:#}");
    assert_eq!(done["result"]["structuredContent"]["budgets"][0]["used"], 1, "{done:#}");
}

#[test]
fn call_of_a_client_that_polls_no_tasks_is_answered_when_it_ends() {
    let home = Home::new();
    let script = sleeping(5500, "return 3");
    for (version, declared) in [(VERSION, json!({})), ("2025-11-25", capabilities())] {
        let mut client = Client::start_as(&home, &[], version, declared);
        let answered = client.request("tools/call", call(&script));
        assert_eq!(answered["result"]["structuredContent"]["value"], 3, "{answered:#}");
    }
    let mut client = Client::start_as(&home, &[], VERSION, json!({}));
    let refused = client.request("tasks/get", json!({ "taskId": "x" }));
    assert_eq!(refused["error"]["code"], -32021, "{refused:#}");
    let mut client = Client::start_as(&home, &[], VERSION, capabilities());
    let unknown = client.request("tasks/get", json!({ "taskId": "x" }));
    assert!(unknown["error"].is_object(), "{unknown:#}");
}

#[test]
fn task_of_another_client_is_unknown() {
    check_tasks_of_clients(&[]);
}

/// Checks that, with these options.
pub(super) fn check_tasks_of_clients(options: &[&str]) {
    use super::http::{HttpServer, bearer, seal};
    let home = Home::with_tools(&["stats"]);
    assert_eq!(home.run(["policy", "keygen", "k"]).status, 0);
    let [mine, other] = ["a", "b"].map(|name| {
        let policy = format!("[[grant]]\nname = '{name}'\nmethod = 'stats/describe'\n");
        bearer(&seal(&home, &policy))
    });
    let server = HttpServer::start(&home, &[&["--issuer", "k.pub"], options].concat());
    let send = |method: &str, name: &str, mut params: Value, token: &str| {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": capabilities(),
        });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let headers = [("mcp-protocol-version", VERSION), ("mcp-method", method), ("mcp-name", name)];
        server.post(&message, &[&headers[..], &[("authorization", token)]].concat()).message()
    };
    let begun = send("tools/call", "run_javascript", call(&sleeping(6000, "return 5")), &mine);
    let task = begun["result"]["taskId"].as_str().unwrap_or_else(|| panic!("{begun:#}")).to_owned();
    for method in ["tasks/get", "tasks/cancel"] {
        let refused = send(method, &task, json!({ "taskId": task }), &other);
        assert!(refused["error"].is_object(), "{method}: {refused:#}");
    }
    // A client of 2025-11-25 lists the tasks of its own token, and no others.
    let listed = |token: &str, params: Value| {
        let session = server.initialize(&[("authorization", token)]);
        let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tasks/list", "params": params });
        server.post(&list, &[("authorization", token), ("mcp-session-id", &session)]).message()
    };
    let own = listed(&mine, json!({}));
    let tasks = own["result"]["tasks"].as_array().unwrap_or_else(|| panic!("{own:#}"));
    assert_eq!((tasks.len(), &tasks[0]["taskId"]), (1, &task.as_str().into()), "{own:#}");
    assert!(
        tasks[0]["status"] == "working" && tasks[0]["ttl"].is_u64() && tasks[0]["createdAt"].is_string(),
        "{own:#}"
    );
    assert_eq!(listed(&other, json!({}))["result"], json!({ "tasks": [] }));
    assert_eq!(listed(&mine, json!({ "cursor": "x" }))["error"]["code"], -32602);
    let modern = send("tasks/list", "", json!({}), &mine);
    assert_eq!(modern["error"]["code"], -32601, "later revisions have no such request: {modern:#}");
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let found = send("tasks/get", &task, json!({ "taskId": task }), &mine);
        if found["result"]["status"] == "completed" {
            assert_eq!(found["result"]["result"]["structuredContent"]["value"], 5, "{found:#}");
            return;
        }
        assert!(Instant::now() < deadline, "{found:#}");
        std::thread::sleep(Duration::from_millis(200));
    }
}
