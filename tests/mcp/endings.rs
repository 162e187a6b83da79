//! Ends of the server: by a signal, and by the end of its input. Runs are cancelled or stay suspended, what was answered is
//! kept, and programs of mounted servers end.

use std::io::Read as _;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};
use tollhouse_tests::mcp_server::policy_of;
use tollhouse_tests::{Home, root};

use super::client::{Client, error};
use super::http::HttpServer;

const ENDLESS: &str = "console.log('begun'); await new Promise(done => setTimeout(done, 50000))";

fn script(script: &str) -> Value {
    json!({ "name": "run_javascript", "arguments": { "script": script } })
}

/// Returns true if a process exists, and is not one that has ended and was not waited for.
fn is_alive(process: u64) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    status.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

fn assert_gone(process: u64) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while is_alive(process) {
        assert!(Instant::now() < deadline, "{process} is still there");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn server_signalled_during_run_answers_that_it_was_cancelled() {
    for signal in [Signal::TERM, Signal::INT] {
        let home = Home::new();
        let mut client = Client::start(&home, &["--session", "agent"]);
        let id = client.send("tools/call", script(ENDLESS));
        client.notification("notifications/message");
        client.signal_by(signal);
        let answered = client.wait(id);
        assert_eq!(answered["result"]["structuredContent"]["status"], "cancelled", "{answered:#}");
        assert_eq!(client.ended().code(), Some(130));
        // The run has ended, and the session takes the next one.
        let shown = home.run(["session", "show", "agent", "--json"]);
        assert!(shown.stdout.contains("cancelled"), "{shown:?}");
        assert_eq!(home.js("return 1", &["--session", "agent"])["value"], 1);
    }
}

#[test]
fn run_going_on_after_the_end_of_input_is_cancelled_and_answered() {
    let home = Home::new();
    let mut client = Client::start(&home, &["--session", "agent"]);
    let short = client.send("tools/call", script("await new Promise(done => setTimeout(done, 1000)); return 7"));
    client.close();
    assert_eq!(client.wait(short)["result"]["structuredContent"]["value"], 7, "it had time to end");
    assert_eq!(client.ended().code(), Some(0));
    let mut client = Client::start(&home, &["--session", "agent"]);
    let long = client.send("tools/call", script(ENDLESS));
    client.notification("notifications/message");
    client.close();
    let answered = client.wait(long);
    assert_eq!(answered["result"]["structuredContent"]["status"], "cancelled", "{answered:#}");
    assert_eq!(client.ended().code(), Some(0));
    assert_eq!(home.js("return 1", &["--session", "agent"])["value"], 1);
}

/// Home whose policy asks before each charge.
fn asking_home() -> Home {
    let home = Home::new();
    home.publish(&root().join("tests/fixtures/payments"));
    let policy =
        "[tools]\npay = 'test:payments@^0.1'\n[[grant]]\nmethod = 'pay/charges/create'\ncalls = 3\napprove = true\n";
    home.file("p.toml", policy);
    home
}

#[test]
fn run_with_an_open_question_stays_suspended_when_the_server_ends() {
    let arguments = ["--policy", "p.toml", "--session", "agent"];
    let ends: [fn(&mut Client); 2] = [|client| client.signal(), Client::close];
    for end in ends {
        let home = asking_home();
        let elicitation = json!({ "elicitation": {} });
        let mut client = Client::start_as(&home, &arguments, "2025-11-25", elicitation);
        client.send("tools/call", script("return (await pay.charges.create({amount: 1, currency: 'EUR'})).total"));
        while client.receive().expect("a question")["method"] != "elicitation/create" {}
        end(&mut client);
        client.ended();
        let pending = home.run(["session", "pending", "agent", "--json"]);
        let pending: Value = serde_json::from_str(&pending.stdout).expect("JSON");
        assert_eq!(pending[0]["arguments"]["amount"], 1, "{pending:#}");
        assert_eq!(home.run(["session", "approve", "agent"]).status, 0);
        let mut client = Client::start(&home, &arguments);
        let resumed = client.call("resume", json!({}));
        assert_eq!(resumed["structuredContent"]["value"], 1, "{resumed:#}");
        assert_eq!(resumed["structuredContent"]["budgets"][0]["used"], 1, "{resumed:#}");
    }
}

#[test]
fn gateway_signalled_during_call_ends_its_servers_with_what_they_have_started() {
    let home = Home::new();
    home.file("policy.toml", policy_of("fix", "normal", ""));
    let lock = home.run(["mcp", "lock", "--policy", "policy.toml", "--allow-exec", "fix"]);
    assert_eq!(lock.status, 0, "{lock:?}");
    let arguments = ["--proxy", "--policy", "policy.toml", "--allow-exec", "fix", "--session", "agent"];
    let mut client = Client::start(&home, &arguments);
    let started = client.call("start", json!({}))["structuredContent"].clone();
    let processes = ["own", "pid"].map(|name| started[name].as_u64().expect("a process"));
    assert!(processes.iter().all(|process| is_alive(*process)), "{started}");
    let id = client.send("tools/call", json!({ "name": "hang", "arguments": {} }));
    thread::sleep(Duration::from_millis(500));
    client.signal();
    let answered = client.wait(id);
    assert!(error(&answered["result"]).contains("cancelled"), "{answered:#}");
    assert_eq!(client.ended().code(), Some(130));
    processes.into_iter().for_each(assert_gone);
}

#[test]
fn http_server_signalled_during_run_answers_and_keeps_what_it_acknowledged() {
    let home = Home::new();
    let mut server = HttpServer::start(&home, &["--session", "agent"]);
    let address = server.address.clone();
    // A stream that waits for messages does not keep the server.
    let listening = server.initialize(&[]);
    let mut stream = TcpStream::connect(&address).expect("it listens");
    let head = format!(
        "GET /mcp HTTP/1.1\r\nhost: {address}\r\naccept: text/event-stream\r\nmcp-session-id: {listening}\r\n\r\n"
    );
    std::io::Write::write_all(&mut stream, head.as_bytes()).expect("it reads");
    let (mut acknowledged, mut answered) = (0, Value::Null);
    thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let mut acknowledged = 0;
            loop {
                let arguments = json!({ "path": format!("/workspace/{acknowledged}"), "content": "kept" });
                match server.try_modern("write_file", arguments) {
                    Some(result) if result["isError"] != true => acknowledged += 1,
                    _ => return acknowledged,
                }
            }
        });
        thread::sleep(Duration::from_millis(300));
        let running = scope.spawn(|| server.try_modern("run_javascript", json!({ "script": ENDLESS })));
        thread::sleep(Duration::from_millis(700));
        server.signal(Signal::TERM);
        acknowledged = writing.join().expect("it writes");
        answered = running.join().expect("it runs").expect("an answer");
    });
    assert_eq!(answered["structuredContent"]["status"], "cancelled", "{answered:#}");
    assert_eq!(server.ended().code(), Some(130));
    // It ends; how it ends is not said by all systems.
    let _ = stream.read_to_end(&mut Vec::new());
    assert!(acknowledged > 0);
    let count = format!(
        "let kept = 0; for (let i = 0; i < {acknowledged}; i++) kept += fs.existsSync('/workspace/' + i); return kept"
    );
    assert_eq!(home.js(&count, &["--session", "agent"])["value"], acknowledged);
}
