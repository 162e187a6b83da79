//! Clients and scripts that do what they should not, and processes that die.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tollhouse_tests::server::Server;
use tollhouse_tests::{Home, root};

use super::client::{Client, error};

#[test]
fn garbage_on_standard_input_ends_nothing() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    for line in [
        "",
        "garbage",
        "{",
        "[]",
        "null",
        "{\"jsonrpc\":\"2.0\"}",
        "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}",
        "\u{0}\u{1}\u{feff}",
    ] {
        client.send_line(line);
    }
    client.send_line(&"[".repeat(1 << 20));
    client.send_line(&format!("{{\"a\":\"{}\"}}", "x".repeat(17 << 20)));
    // Well-formed nonsense is answered without a number.
    let mut answered = |method: &str, params: Value| {
        let id = client.send(method, params);
        let mut messages = std::iter::repeat_with(|| client.receive().expect("it runs"));
        messages.find(|message| message["id"] == id).expect("it is answered")
    };
    let answer = answered("tools/call", json!({ "name": "run_javascript", "arguments": { "script": "return 1" } }));
    assert_eq!(answer["result"]["structuredContent"]["value"], 1, "{answer:#}");
    let unknown = answered("tools/explode", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown:#}");
}

#[test]
fn arguments_of_wrong_types_are_errors_of_the_tool() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    for tool in [
        "run_javascript",
        "run_bash",
        "resume",
        "search_tools",
        "describe_tools",
        "list_files",
        "read_file",
        "write_file",
        "sessions",
        "pending",
    ] {
        for arguments in [
            json!({ "script": 1, "session": [], "path": {}, "query": 1, "methods": 5, "action": 1 }),
            json!({ "\u{0}": 1 }),
        ] {
            let result = client.call(tool, arguments);
            error(&result);
        }
    }
    assert_eq!(client.js("return 1")["value"], 1);
}

#[test]
fn scripts_that_exhaust_a_limit_leave_the_server_as_it_was() {
    let home = Home::new();
    for (options, script, limit) in [
        (["--timeout", "1s"], "await new Promise((done) => setTimeout(done, 60000))", "time limit"),
        (["--fuel", "50000000"], "for (;;) {}", "fuel"),
        (["--memory", "32MiB"], "const all = []; for (;;) all.push(new Array(1e6).fill(1))", "memory"),
        (["--limit", "output=100000"], "for (;;) console.log('x'.repeat(1000))", "output limit"),
    ] {
        let mut client = Client::start(&home, &options);
        let result = client.call("run_javascript", json!({ "script": script }));
        assert!(error(&result).contains(limit), "{script}: {result:#}");
        assert_eq!(result["structuredContent"]["status"], "limited", "{script}: {result:#}");
        assert!(result.to_string().len() < 100_000, "{}", result.to_string().len());
        assert_eq!(client.js("return 1")["value"], 1, "{script}");
    }
}

#[test]
fn client_that_vanishes_during_run_leaves_a_usable_session() {
    let home = Home::new();
    let arguments = ["--session", "agent"];
    let mut client = Client::start(&home, &arguments);
    client.js("await fs.writeFile('a', 'before')");
    let script = "console.log('begun'); fs.writeFileSync('a', 'half'); for (;;) {}";
    client.send("tools/call", json!({ "name": "run_javascript", "arguments": { "script": script } }));
    client.notification("notifications/message");
    let begun = Instant::now();
    let (status, stderr) = client.end();
    assert!(status.success() && begun.elapsed() < Duration::from_secs(30), "{status:?} {stderr}");
    let shown = home.run(["session", "show", "agent", "--json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).expect("JSON");
    assert!(shown.to_string().contains("cancelled"), "{shown:#}");
    let mut client = Client::start(&home, &arguments);
    assert_eq!(client.js("return 1")["value"], 1);
}

#[test]
fn server_signalled_during_run_stops_run_and_ends() {
    let home = Home::new();
    let mut client = Client::start(&home, &["--session", "agent"]);
    client.send(
        "tools/call",
        json!({ "name": "run_javascript", "arguments": { "script": "console.log('begun'); for (;;) {}" } }),
    );
    client.notification("notifications/message");
    client.signal();
    assert_eq!(client.ended().code(), Some(130));
    assert_eq!(home.js("return 1", &["--session", "agent"])["value"], 1);
}

/// A server that is killed while a call is being made: the call is not made twice, and the session goes on.
#[test]
fn server_killed_during_call_leaves_a_run_to_resume() {
    let home = Home::with_tools(&["http"]);
    let server = Server::start(|_| {
        std::thread::sleep(Duration::from_secs(3));
        ("200 OK", Vec::new(), b"slow".to_vec())
    });
    let host = format!("http://127.0.0.1:{}", server.port());
    let arguments = ["--session", "agent", "--allow-net", &host];
    let mut client = Client::start(&home, &arguments);
    let script = format!("console.log('begun'); return (await fetch('{host}/')).status");
    client.send("tools/call", json!({ "name": "run_javascript", "arguments": { "script": script } }));
    client.notification("notifications/message");
    let begun = Instant::now();
    while server.seen().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no request");
        std::thread::sleep(Duration::from_millis(10));
    }
    client.kill();
    let mut client = Client::start(&home, &arguments);
    let resumed = client.call("resume", json!({}));
    assert_eq!(resumed["structuredContent"]["status"], "in_doubt", "{resumed:#}");
    assert!(error(&resumed).contains("tollhouse session resolve agent"), "{resumed:#}");
    let seq = resumed["structuredContent"]["calls"][0]["seq"].to_string();
    assert_eq!(home.run(["session", "resolve", "agent", &seq, "fail", "it is lost"]).status, 0);
    let last = client.call("resume", json!({}));
    assert!(error(&last).contains("it is lost"), "{last:#}");
    assert_eq!(client.js("return 1")["value"], 1);
    assert_eq!(server.seen().len(), 1, "the call was made once");
}

#[test]
fn server_killed_during_run_without_calls_leaves_a_run_to_resume() {
    let home = Home::new();
    home.publish(&root().join("tools/stats"));
    let arguments = ["--session", "agent", "--allow", "stats/*"];
    let mut client = Client::start(&home, &arguments);
    let script = "const mean = (await stats.describe({values: [1, 3]})).mean; console.log('begun');
        await new Promise(done => setTimeout(done, 3000)); return mean";
    client.send("tools/call", json!({ "name": "run_javascript", "arguments": { "script": script } }));
    client.notification("notifications/message");
    client.kill();
    let mut client = Client::start(&home, &arguments);
    let resumed = client.call("resume", json!({}));
    assert_eq!(resumed["structuredContent"]["value"], 2, "{resumed:#}");
}

#[test]
fn text_that_is_no_client_is_told_how_to_start_the_server() {
    let home = Home::new();
    let mut client = Client::spawn(&home, &[]);
    client.notify("hello", json!({}));
    let (status, stderr) = client.end();
    assert!(
        status.code() == Some(2) && stderr.contains("does not speak MCP") && stderr.contains("docs/mcp.md"),
        "{stderr}"
    );
    let (status, stderr) = Client::spawn(&home, &[]).end();
    assert!(status.success() && stderr.is_empty(), "{stderr}");
}

/// Calls that wait for a session take neither threads, which the run that has it needs, nor memory without bound.
#[test]
fn calls_that_wait_for_a_session_are_bounded_and_the_run_that_has_it_ends() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    let script = "await new Promise(done => setTimeout(done, 2000)); return 'ended'";
    let run = client.send("tools/call", json!({ "name": "run_javascript", "arguments": { "script": script } }));
    let write = json!({ "name": "write_file", "arguments": { "path": "a", "content": "x" } });
    let writes: Vec<u64> = (0..600).map(|_| client.send("tools/call", write.clone())).collect();
    let (mut refused, mut done) = (0, 0);
    let messages = std::iter::from_fn(|| client.receive()).filter(|message| !message["id"].is_null());
    for answer in messages.take(1 + writes.len()) {
        match answer["id"].as_u64() {
            Some(id) if id == run => assert_eq!(answer["result"]["structuredContent"]["value"], "ended", "{answer:#}"),
            _ if answer["result"]["isError"] == true => {
                assert!(error(&answer["result"]).contains("at most 64 calls"), "{answer:#}");
                refused += 1;
            }
            _ => done += 1,
        }
    }
    assert!(done >= 63 && refused > 0 && done + refused == writes.len(), "{done} {refused}");
    assert_eq!(client.js("return 1")["value"], 1);
}
