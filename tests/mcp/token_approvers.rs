//! Calls of clients with tokens that wait: decided about by clients that can do nothing else, and about no calls of their own.

use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tollhouse_tests::{Home, root};

use super::approvers::{ask, sealed};
use super::client::{error, text};
use super::http::{HttpServer, bearer, modern_call};
use super::oauth::{ISSUER, Key, RESOURCE, challenge};

const SCRIPT: &str = "return (await pay.charges.create({amount: 7, currency: 'EUR'})).total";
const ASKS: &str = "[[grant]]\nname = 'pays'\nmethod = 'pay/charges/create'\ncalls = 3\napprove = true\n";

/// Home with keys of an issuer and of those who decide, and a tool whose calls are asked about.
fn home() -> Home {
    let home = Home::new();
    home.publish(&root().join("tests/fixtures/payments"));
    home.file("mounts.toml", "[tools]\npay = 'test:payments@^0.1'\n");
    home.file("pays.toml", ASKS);
    for key in ["k", "deciders"] {
        assert_eq!(home.run(["policy", "keygen", key]).status, 0);
    }
    home
}

const SEALED: [&str; 6] = ["--policy", "mounts.toml", "--issuer", "k.pub", "--approvers", "deciders.pub"];

/// Writes the configuration of an authorization server, one of whose scopes is for those who decide.
fn configure(home: &Home, key: &Key, approve: &str) {
    home.file("keys.json", key.set());
    home.file(
        "oauth.toml",
        format!(
            "issuer = '{ISSUER}'\nresource = '{RESOURCE}'\njwks = 'keys.json'\napprove = '{approve}'\n[scopes]\npay = 'pays.toml'\n"
        ),
    );
}

/// Waits until a call is in the list of one who decides, and returns it.
fn waiting(server: &HttpServer, decider: &str) -> Value {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let listed = server.modern("pending", json!({}), &[("authorization", decider)]);
        let calls = &listed["structuredContent"]["pending"];
        if let Some(call) = calls.get(0) {
            assert!(text(&listed).contains("`pay/charges/create`"), "{listed:#}");
            return call.clone();
        }
        assert!(Instant::now() < deadline, "nothing waits: {listed:#}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Runs the script as one client, has another one decide about its call, and returns what came of the run.
fn decided(server: &HttpServer, client: &str, decide: impl FnOnce()) -> Value {
    thread::scope(|scope| {
        let run = scope.spawn(|| server.modern_js(SCRIPT, &[("authorization", client)]));
        decide();
        run.join().expect("it is answered")
    })
}

fn decision(call: &Value, decision: &str) -> Value {
    json!({ "session": call["session"], "call": call["digest"], "decision": decision, "reason": "too dear today" })
}

#[test]
fn call_of_a_sealed_token_waits_until_another_token_allows_it_and_the_log_has_both() {
    let home = home();
    let (client, decider) = (bearer(&sealed(&home, ASKS, "k")), bearer(&sealed(&home, "", "deciders")));
    let server = HttpServer::start(&home, &[&SEALED[..], &["--audit", "log"]].concat());
    let ran = decided(&server, &client, || {
        let call = waiting(&server, &decider);
        assert!(call["question"].as_str().is_some_and(|asked| asked.contains("\"amount\": 7")), "{call:#}");
        let allowed = server.modern("decide", decision(&call, "allow"), &[("authorization", &decider)]);
        assert_eq!(allowed["structuredContent"]["allowed"], true, "{allowed:#}");
        let again = server.modern("decide", decision(&call, "deny"), &[("authorization", &decider)]);
        assert!(error(&again).contains("no such call"), "{again:#}");
    });
    assert_eq!(ran["structuredContent"]["status"], "completed", "{ran:#}");
    drop(server);
    let log = std::fs::read_to_string(home.path().join("log")).expect("it is there");
    let event = |name: &str| log.lines().find(|line| line.contains(&format!("\"{name}\""))).map(str::to_owned);
    let (asked, answered) = (event("asked").expect(&log), event("answered").expect(&log));
    let parsed = |line: &str| serde_json::from_str::<Value>(line).expect("JSON");
    assert_eq!(parsed(&asked)["shown"], parsed(&answered)["shown"], "{log}");
    assert!(answered.contains("the token ") && answered.contains(" of the MCP client t"), "{answered}");
}

#[test]
fn refusal_reaches_the_script_of_a_token_with_its_reason() {
    let home = home();
    let (client, decider) = (bearer(&sealed(&home, ASKS, "k")), bearer(&sealed(&home, "", "deciders")));
    let server = HttpServer::start(&home, &SEALED);
    let ran = decided(&server, &client, || {
        let call = waiting(&server, &decider);
        server.modern("decide", decision(&call, "deny"), &[("authorization", &decider)]);
    });
    assert!(error(&ran).contains("too dear today"), "{ran:#}");
    assert_eq!(ran["structuredContent"]["budgets"][0]["used"], 0, "{ran:#}");
}

#[test]
fn access_token_with_the_scope_for_it_decides_and_does_nothing_else() {
    let (home, key) = (home(), Key::new("k1"));
    configure(&home, &key, "calls:approve");
    let server = HttpServer::start(&home, &["--policy", "mounts.toml", "--oauth", "oauth.toml"]);
    let token = |subject: &str, scope: &str| bearer(&key.token(subject, scope, &json!({})));
    let (ann, boss) = (token("ann", "pay"), token("boss", "calls:approve other"));
    let ran = decided(&server, &ann, || {
        let call = waiting(&server, &boss);
        assert_eq!(call["session"], "subject ann", "{call:#}");
        // Neither the client whose call it is, nor its subject with another token.
        let allow = decision(&call, "allow");
        let own = server.modern("decide", allow.clone(), &[("authorization", &ann)]);
        assert!(error(&own).contains("there is no tool `decide`"), "{own:#}");
        let same = token("ann", "calls:approve");
        assert_eq!(waiting(&server, &same)["digest"], Value::Null);
        let own = server.modern("decide", allow.clone(), &[("authorization", &same)]);
        assert!(error(&own).contains("no call of its own"), "{own:#}");
        // What was not shown is not decided about.
        for (name, value) in [("session", "subject bob"), ("call", "0")] {
            let mut wrong = allow.clone();
            wrong[name] = value.into();
            assert!(error(&server.modern("decide", wrong, &[("authorization", &boss)])).contains("no such call"));
        }
        let allowed = server.modern("decide", allow, &[("authorization", &boss)]);
        let by = &allowed["structuredContent"]["by"];
        assert_eq!(by, "the subject boss of the MCP client t", "{allowed:#}");
    });
    assert_eq!(ran["structuredContent"]["status"], "completed", "{ran:#}");
    let listed = ask(&server, "tools/list", json!({}), &[("authorization", &boss)]);
    let tools = listed["result"]["tools"].as_array().expect("a list").iter();
    assert_eq!(tools.map(|tool| tool["name"].as_str().expect("a name")).collect::<Vec<_>>(), ["pending", "decide"]);
    for (tool, arguments) in [
        ("run_javascript", json!({ "script": "return 1" })),
        ("resume", json!({})),
        ("write_file", json!({ "path": "/workspace/x", "content": "x" })),
    ] {
        let refused = server.modern(tool, arguments, &[("authorization", &boss)]);
        assert!(error(&refused).contains("there is no tool"), "{tool}: {refused:#}");
    }
    for method in ["resources/list", "prompts/list", "tasks/get"] {
        let refused = ask(&server, method, json!({ "taskId": "x" }), &[("authorization", &boss)]);
        let is_empty = method == "prompts/list";
        assert!(refused["error"].is_object() || is_empty, "{method}: {refused:#}");
    }
}

#[test]
fn access_tokens_that_would_decide_and_run_or_are_not_for_this_server_are_refused() {
    let (home, key) = (home(), Key::new("k1"));
    configure(&home, &key, "calls:approve");
    let server = HttpServer::start(
        &home,
        &["--policy", "mounts.toml", "--oauth", "oauth.toml", "--issuer", "k.pub", "--approvers", "deciders.pub"],
    );
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let post = |token: &str| server.post(&list, &[("authorization", &bearer(token))]);
    let both = post(&key.token("ann", "pay calls:approve", &json!({})));
    assert!(both.status == 401 && both.body.contains("two tokens"), "{both:?}");
    for others in
        [json!({ "aud": "https://other.example" }), json!({ "exp": 1 }), json!({ "iss": "https://x.example" })]
    {
        let refused = post(&key.token("boss", "calls:approve", &others));
        assert_eq!(refused.status, 401, "{others}: {refused:?}");
    }
    assert_eq!(post(&Key::new("k1").token("boss", "calls:approve", &json!({}))).status, 401, "another key");
    for scope in ["calls:approves", "CALLS:APPROVE", "approve"] {
        assert_eq!(post(&key.token("boss", scope, &json!({}))).status, 403, "{scope}");
    }
    // A client does not ask for the scope of those who decide because it is told of it.
    let told = server.post(&list, &[]);
    assert!(challenge(&told).contains("scope=\"pay\""), "{told:?}");
    // Sealed tokens decide only by the key for that, and only if they grant nothing.
    let names = |token: &str| {
        let listed = ask(&server, "tools/list", json!({}), &[("authorization", &bearer(token))]);
        listed["result"]["tools"][0]["name"].clone()
    };
    assert_eq!(names(&sealed(&home, "", "deciders")), "pending");
    assert_ne!(names(&sealed(&home, "", "k")), "pending");
    assert_eq!(post(&sealed(&home, ASKS, "deciders")).status, 401);
}

/// Nobody waits for it, and it would take the place of others.
#[test]
fn call_whose_client_leaves_waits_no_longer() {
    let home = home();
    let (client, decider) = (bearer(&sealed(&home, ASKS, "k")), bearer(&sealed(&home, "", "deciders")));
    let server = HttpServer::start(&home, &SEALED);
    let (call, own) = modern_call("run_javascript", json!({ "script": SCRIPT }));
    let (head, body) = server.request(&call, &[&[("authorization", client.as_str())], &own[..]].concat());
    let mut stream = TcpStream::connect(&server.address).expect("it listens");
    std::io::Write::write_all(&mut stream, format!("{head}{body}").as_bytes()).expect("it reads");
    waiting(&server, &decider);
    drop(stream);
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let listed = server.modern("pending", json!({}), &[("authorization", &decider)]);
        if listed["structuredContent"]["pending"] == json!([]) {
            break;
        }
        assert!(Instant::now() < deadline, "{listed:#}");
        thread::sleep(Duration::from_millis(50));
    }
    let ran = server.modern_js("return 1", &[("authorization", &client)]);
    assert_eq!(ran["structuredContent"]["value"], 1, "{ran:#}");
}

#[test]
fn call_that_nobody_decides_about_in_the_time_of_its_grant_is_refused() {
    let (home, key) = (home(), Key::new("k1"));
    configure(&home, &key, "calls:approve");
    home.file("pays.toml", format!("{ASKS}approve_within = '1s'\n"));
    let server = HttpServer::start(&home, &["--policy", "mounts.toml", "--oauth", "oauth.toml"]);
    let client = bearer(&key.token("ann", "pay", &json!({})));
    let ran = server.modern_js(SCRIPT, &[("authorization", &client)]);
    assert!(error(&ran).contains("nobody decided in time"), "{ran:#}");
}

/// Without anybody who decides, a call does not wait for nothing.
#[test]
fn call_of_a_token_that_nobody_can_decide_about_is_refused_at_once() {
    let home = home();
    let client = bearer(&sealed(&home, ASKS, "k"));
    let server = HttpServer::start(&home, &SEALED[..4]);
    let ran = server.modern_js(SCRIPT, &[("authorization", &client)]);
    assert!(error(&ran).contains("nobody can be asked"), "{ran:#}");
}

#[test]
fn deciders_that_could_run_scripts_or_see_no_calls_are_usage_errors() {
    let (home, key) = (home(), Key::new("k1"));
    configure(&home, &key, "pay");
    let serve = ["mcp", "--http", "127.0.0.1:0", "--policy", "mounts.toml"];
    let fails = |options: &[&str], told: &str| {
        let ran = home.run(serve.iter().chain(options));
        assert!(ran.status == 2 && ran.stderr.contains(told), "{options:?}: {ran:?}");
    };
    fails(&["--issuer", "k.pub", "--approvers", "k.pub"], "are one key");
    fails(&["--oauth", "oauth.toml"], "a scope of its own");
    configure(&home, &key, "two scopes");
    fails(&["--oauth", "oauth.toml"], "no space");
    configure(&home, &key, "calls:approve");
    fails(&["--oauth", "oauth.toml", "--isolate", "process"], "clients that decide");
    fails(&["--issuer", "k.pub", "--approvers", "deciders.pub", "--isolate", "process"], "clients that decide");
}
