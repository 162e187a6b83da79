//! Clients with a token that decides about calls of others: they can do that, and nothing else; others cannot.

use serde_json::{Value, json};
use tollhouse_tests::{Home, root};

use super::client::{error, text};
use super::http::{HttpServer, bearer};

const SCRIPT: &str = "const first = await pay.charges.create({amount: 1, currency: 'EUR'});
    return first.total + (await pay.charges.create({amount: 2, currency: 'EUR'})).total;";

/// Home with a key of those who decide, and a policy that asks.
fn home() -> Home {
    let home = Home::new();
    home.publish(&root().join("tests/fixtures/payments"));
    let policy =
        "[tools]\npay = 'test:payments@^0.1'\n[[grant]]\nmethod = 'pay/charges/create'\ncalls = 3\napprove = true\n";
    home.file("p.toml", policy);
    assert_eq!(home.run(["policy", "keygen", "deciders"]).status, 0);
    home
}

pub(super) fn sealed(home: &Home, policy: &str, key: &str) -> String {
    home.file("sealed.toml", policy);
    let sealed = home.run(["policy", "seal", "sealed.toml", "--key", key]);
    assert_eq!(sealed.status, 0, "{sealed:?}");
    sealed.stdout.trim().to_owned()
}

/// Sends a request of another kind than a call, as a client of 2026-07-28.
pub(super) fn ask(server: &HttpServer, method: &str, mut params: Value, headers: &[(&str, &str)]) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let own = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
    server.post(&message, &[headers, &own].concat()).message()
}

#[test]
fn token_that_decides_approves_a_run_of_another_client_and_is_in_the_log() {
    for stored in [&["--session", "agent"][..], &[]] {
        let home = home();
        let token = bearer(&sealed(&home, "", "deciders"));
        let decider = [("authorization", token.as_str())];
        let arguments = [&["--policy", "p.toml", "--approvers", "deciders.pub"], stored].concat();
        let server = HttpServer::start(&home, &arguments);
        let waits = server.modern_js(SCRIPT, &[]);
        assert_eq!(waits["structuredContent"]["status"], "suspended", "{waits:#}");
        for amount in [1, 2] {
            let pending = server.modern("pending", json!({}), &decider);
            assert!(text(&pending).contains(&format!("\"amount\": {amount}")), "{pending:#}");
            let call = &pending["structuredContent"]["pending"][0];
            let decision = json!({ "session": call["session"], "call": call["digest"], "decision": "allow" });
            let decided = server.modern("decide", decision.clone(), &decider);
            assert_eq!(decided["structuredContent"]["allowed"], true, "{decided:#}");
            assert!(error(&server.modern("decide", decision, &decider)).contains("no such call"), "it is decided");
            let resumed = server.modern("resume", json!({}), &[]);
            let status = if amount == 1 { "suspended" } else { "completed" };
            assert_eq!(resumed["structuredContent"]["status"], status, "{resumed:#}");
        }
        drop(server);
        if !stored.is_empty() {
            let log = home.run(["session", "log", "agent", "--json", "--event", "answered"]).stdout;
            let first: Value = serde_json::from_str(log.lines().next().expect("a line")).expect("JSON");
            let by = first["by"].as_str().unwrap_or_default();
            assert!(by.starts_with("the token ") && by.ends_with(" of the MCP client t"), "{log}");
        }
    }
}

#[test]
fn refusal_by_a_token_reaches_the_script_with_its_reason() {
    let home = home();
    let token = bearer(&sealed(&home, "", "deciders"));
    let decider = [("authorization", token.as_str())];
    let server = HttpServer::start(&home, &["--policy", "p.toml", "--approvers", "deciders.pub"]);
    server.modern_js(SCRIPT, &[]);
    let pending = server.modern("pending", json!({}), &decider);
    let call = &pending["structuredContent"]["pending"][0];
    let refusal = json!({
        "session": call["session"], "call": call["digest"], "decision": "deny", "reason": "too dear today",
    });
    assert_eq!(server.modern("decide", refusal, &decider)["structuredContent"]["allowed"], false);
    let resumed = server.modern("resume", json!({}), &[]);
    assert!(error(&resumed).contains("too dear today"), "{resumed:#}");
    assert_eq!(resumed["structuredContent"]["budgets"][0]["used"], 0, "{resumed:#}");
}

#[test]
fn client_without_such_a_token_cannot_decide_and_one_with_it_can_do_nothing_else() {
    let home = home();
    let token = bearer(&sealed(&home, "", "deciders"));
    let decider = [("authorization", token.as_str())];
    let server = HttpServer::start(&home, &["--policy", "p.toml", "--approvers", "deciders.pub", "--session", "agent"]);
    let names = |headers: &[(&str, &str)]| {
        let listed = ask(&server, "tools/list", json!({}), headers);
        let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed:#}")).clone();
        tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&decider), ["pending", "decide"]);
    assert!(!names(&[]).contains(&"decide".to_owned()));
    server.modern_js(SCRIPT, &[]);
    let pending = server.modern("pending", json!({}), &decider);
    let call = &pending["structuredContent"]["pending"][0];
    let decision = json!({ "session": call["session"], "call": call["digest"], "decision": "allow" });
    assert!(error(&server.modern("decide", decision.clone(), &[])).contains("there is no tool `decide`"));
    for (tool, arguments) in [
        ("run_javascript", json!({ "script": "return 1" })),
        ("resume", json!({})),
        ("read_file", json!({ "path": "/workspace/x" })),
        ("write_file", json!({ "path": "/workspace/x", "content": "x" })),
        ("sessions", json!({ "action": "list" })),
        ("search_tools", json!({})),
    ] {
        assert!(error(&server.modern(tool, arguments, &decider)).contains("there is no tool"), "{tool}");
    }
    for method in ["resources/list", "resources/templates/list", "resources/read", "prompts/list", "prompts/get"] {
        let refused =
            ask(&server, method, json!({ "name": "sandbox", "uri": "tollhouse://main/workspace/x" }), &decider);
        assert!(refused["error"].is_object(), "{method}: {refused:#}");
    }
    // Nor in the protocol session of the other, or the other way.
    let (theirs, own) = (server.initialize(&[]), server.initialize(&decider));
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    assert_eq!(server.post(&list, &[decider[0], ("mcp-session-id", &theirs)]).status, 404);
    assert_eq!(server.post(&list, &[("mcp-session-id", &own)]).status, 404);
    // What was not shown is not decided about.
    for wrong in [
        json!({ "session": "other", "call": call["digest"], "decision": "allow" }),
        json!({ "session": call["session"], "call": "0".repeat(64), "decision": "allow" }),
    ] {
        assert!(error(&server.modern("decide", wrong, &decider)).contains("no such call"));
    }
    assert!(
        error(&server.modern(
            "decide",
            json!({ "session": call["session"], "call": call["digest"], "decision": "yes" }),
            &decider
        ))
        .contains("`allow`")
    );
}

#[test]
fn tokens_that_do_not_decide_are_refused() {
    let home = home();
    assert_eq!(home.run(["policy", "keygen", "other"]).status, 0);
    let revoked = sealed(&home, "", "deciders");
    home.file("revoked.token", &revoked);
    let inspected = home.run(["policy", "inspect", "revoked.token"]);
    let inspected: Value = serde_json::from_str(&inspected.stdout).expect("JSON");
    home.file("revoked", format!("{}\n", inspected["blocks"][0]["revocation_id"].as_str().expect("an id")));
    let tokens = [
        sealed(&home, "", "other"),
        sealed(&home, "[[grant]]\nmethod = 'pay/charges/create'\n", "deciders"),
        revoked,
        "x".to_owned(),
    ];
    let arguments = ["--policy", "p.toml", "--approvers", "deciders.pub", "--approvers-revoked", "revoked"];
    let server = HttpServer::start(&home, &arguments);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    for token in tokens {
        let refused = server.post(&list, &[("authorization", &bearer(&token))]);
        assert_eq!(refused.status, 401, "{token}: {refused:?}");
    }
    assert_eq!(home.run(["mcp", "--approvers", "deciders.pub"]).status, 2, "it is for `--http`");
}
