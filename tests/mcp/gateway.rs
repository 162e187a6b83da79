//! The gateway: mounted tools as the tools of the protocol, each call behind the gate, and no scripts.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Value, json};
use tollhouse_tests::mcp_server::policy_of;
use tollhouse_tests::{Home, root};

use super::client::{Client, error, text};
use super::http::{HttpServer, bearer, seal};

/// Grant that `policy_of` makes of all tools of the server `fix`.
const ALL: &str = "[[grant]]\nmethod = \"fix/**\"\n";

const GATEWAY: [&str; 5] = ["--proxy", "--policy", "policy.toml", "--allow-exec", "fix"];

/// Home whose policy mounts the fixture as `fix` with these grants, and pins it.
fn home(grants: &str) -> Home {
    let home = Home::new();
    home.file("policy.toml", policy_of("fix", "normal", "").replace(ALL, grants));
    lock(&home, &["--allow-exec", "fix"]);
    home
}

fn lock(home: &Home, servers: &[&str]) {
    let ran = home.run(["mcp", "lock", "--policy", "policy.toml"].iter().chain(servers));
    assert_eq!(ran.status, 0, "{ran:?}");
}

fn listed(client: &mut Client) -> Vec<Value> {
    let answered = client.request("tools/list", json!({}));
    answered["result"]["tools"].as_array().unwrap_or_else(|| panic!("no tools: {answered:#}")).clone()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

fn accept(allow: bool) -> Value {
    json!({ "action": "accept", "content": { "allow": allow } })
}

/// Asking grant of one tool, with a budget.
const ASKS: &str = "[[grant]]\nname = \"asked\"\nmethod = \"fix/add\"\ncalls = 2\napprove = true\n\
    [[grant]]\nmethod = \"fix/echo\"\n";

#[test]
fn gateway_offers_exactly_the_granted_tools_as_their_server_declares_them() {
    let home = home("[[grant]]\nmethod = \"fix/add\"\n[[grant]]\nmethod = \"fix/git_status\"\n");
    let mut client = Client::start(&home, &GATEWAY);
    let tools = listed(&mut client);
    assert_eq!(names(&tools), ["add", "git_status"], "{tools:#?}");
    let declared = json!({ "type": "object", "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } },
        "required": ["a", "b"] });
    assert_eq!(tools[0]["inputSchema"], declared, "{tools:#?}");
    assert_eq!(tools[0]["outputSchema"]["properties"]["sum"]["type"], "integer", "{tools:#?}");
    assert_eq!(
        (&tools[1]["description"], &tools[1]["outputSchema"]),
        (&json!("Shows the status of a repository."), &Value::Null)
    );
    for code_tool in ["run_javascript", "run_bash", "search_tools", "write_file", "sessions"] {
        let refused = client.call(code_tool, json!({ "script": "return 1" }));
        assert!(error(&refused).contains("there is no tool"), "{refused:#}");
    }
    let misspelt = client.call("git_staus", json!({}));
    assert!(error(&misspelt).contains("did you mean `git_status`?"), "{misspelt:#}");
    for method in ["prompts/list", "resources/list", "resources/templates/list"] {
        let answered = client.request(method, json!({}));
        assert_eq!(answered["error"]["code"], -32601, "{answered:#}");
    }
    let read = client.request("resources/read", json!({ "uri": "tollhouse://main/workspace" }));
    assert_eq!(read["error"]["code"], -32601, "{read:#}");
}

/// Each client has the pages of its own grants, and the same ones each time that it asks.
#[test]
fn gateway_lists_all_granted_tools_in_pages() {
    let home = Home::with_tools(&[]);
    let grants = "[[grant]]\nmethod = 'one/*'\n[[grant]]\nmethod = 'two/tool_7'\n";
    let policies = ["one", "two"].map(|name| policy_of(name, "thousand", "").replace("[tools]\n", ""));
    let servers: Vec<&str> = policies.iter().filter_map(|policy| policy.split("[[grant]]").next()).collect();
    home.file("policy.toml", format!("[tools]\n{}", servers.concat()));
    let starts = ["--allow-exec", "one", "--allow-exec", "two"];
    lock(&home, &starts);
    assert_eq!(home.run(["policy", "keygen", "k"]).status, 0);
    let tokens = [seal(&home, grants), seal(&home, "[[grant]]\nmethod = 'two/tool_9'\n")];
    let options = [&["--proxy", "--policy", "policy.toml", "--issuer", "k.pub"], &starts[..]].concat();
    let server = HttpServer::start(&home, &options);
    let list = |token: &str, params: &Value| {
        let token = bearer(token);
        let session = server.initialize(&[("authorization", &token)]);
        let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params });
        server.post(&list, &[("authorization", &token), ("mcp-session-id", &session)]).message()
    };
    let pages = |token: &str| {
        let (mut pages, mut params) = (Vec::new(), json!({}));
        loop {
            let page = list(token, &params)["result"].take();
            pages.push(
                names(page["tools"].as_array().expect("a list")).into_iter().map(str::to_owned).collect::<Vec<_>>(),
            );
            match page["nextCursor"].as_str() {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => return pages,
            }
        }
    };
    let first = pages(&tokens[0]);
    assert_eq!(first.iter().map(Vec::len).collect::<Vec<_>>(), [1000, 1], "{first:?}");
    let all = first.concat();
    assert!(all.is_sorted() && all.contains(&"two_tool_7".to_owned()), "{all:?}");
    assert_eq!(pages(&tokens[0]), first);
    let others = pages(&tokens[1]).concat();
    assert_eq!(others, ["two_tool_9"]);
    let wrong = list(&tokens[0], &json!({ "cursor": "x" }));
    assert_eq!(wrong["error"]["code"], -32602, "{wrong:#}");
}

#[test]
fn gateway_returns_what_the_server_sent() {
    let home = home(ALL);
    let mut client = Client::start(&home, &GATEWAY);
    let sum = client.call("add", json!({ "a": 2, "b": 3 }));
    assert_eq!((&sum["structuredContent"], &sum["isError"]), (&json!({ "sum": 5 }), &json!(false)), "{sum:#}");
    // A long text comes whole, and a picture is a picture.
    let long = "x".repeat(200_000);
    let echoed = client.call("echo", json!({ "text": long }));
    assert_eq!(text(&echoed), long);
    let image = client.call("image", json!({}));
    assert_eq!(
        image["content"],
        json!([
            { "type": "text", "text": "see" },
            { "type": "image", "mimeType": "image/png", "data": "AAEC" },
        ])
    );
    let failed = client.call("fail", json!({}));
    assert!(error(&failed).contains("there is no such ticket"), "{failed:#}");
    // A server that misbehaves fails its call and leaves the gateway as it was.
    let lied = client.call("lie", json!({}));
    error(&lied);
    let died = client.call("die", json!({}));
    assert!(error(&died).contains("has ended"), "{died:#}");
    assert!(!listed(&mut client).is_empty());
    drop(client);
    let mut client = Client::start(&home, &[&GATEWAY[..], &["--max-text", "500"]].concat());
    let short = client.call("echo", json!({ "text": "x".repeat(1000) }));
    assert!(text(&short).contains("500 characters left out"), "{short:#}");
}

#[test]
fn gateway_denies_calls_that_no_grant_allows() {
    let home = home("[[grant]]\nmethod = \"fix/echo\"\nwhere = [{ param = \"text\", starts_with = \"ok\" }]\n");
    let mut client = Client::start(&home, &GATEWAY);
    assert_eq!(text(&client.call("echo", json!({ "text": "ok" }))), "ok");
    let denied = client.call("echo", json!({ "text": "no" }));
    assert!(error(&denied).contains("CapabilityError"), "{denied:#}");
    // Not listed, and not callable either.
    let ungranted = client.call("read", json!({ "path": "/etc/passwd" }));
    assert!(error(&ungranted).contains("CapabilityError"), "{ungranted:#}");
    let wrong = client.call("echo", json!({ "txet": "ok" }));
    assert!(error(&wrong).contains("ArgumentError"), "{wrong:#}");
}

#[test]
fn gateway_call_beyond_the_budget_is_denied_and_all_is_on_record() {
    let home = home("[[grant]]\nname = \"few\"\nmethod = \"fix/echo\"\ncalls = 2\n");
    let arguments = [&GATEWAY[..], &["--session", "team"]].concat();
    let mut client = Client::start(&home, &arguments);
    for text in ["one", "two"] {
        let echoed = client.call("echo", json!({ "text": text }));
        assert_eq!(echoed["isError"], false, "{echoed:#}");
    }
    let spent = client.call("echo", json!({ "text": "three" }));
    assert!(error(&spent).contains("CapabilityError"), "{spent:#}");
    drop(client);
    // A server that starts later has nothing anew.
    let mut client = Client::start(&home, &arguments);
    error(&client.call("echo", json!({ "text": "four" })));
    drop(client);
    let log = home.run(["session", "log", "team"]);
    assert!(log.status == 0 && log.stdout.contains("fix/echo") && log.stdout.contains("few"), "{log:?}");
}

#[test]
fn gateway_asks_the_user_of_a_client_of_2025() {
    let home = home(ASKS);
    let questions = Rc::<RefCell<Vec<String>>>::default();
    let seen = Rc::clone(&questions);
    let mut answers = vec![accept(false), accept(true)];
    let mut client =
        Client::start_as(&home, &GATEWAY, "2025-11-25", json!({ "elicitation": {} })).answering(move |asked| {
            seen.borrow_mut().push(asked["params"]["message"].as_str().unwrap_or_default().to_owned());
            answers.pop().expect("two questions")
        });
    assert_eq!(names(&listed(&mut client)), ["resume", "pending", "add", "echo"]);
    // A number that JavaScript would round arrives as it was sent.
    let sum = client.call("add", json!({ "a": 9_007_199_254_740_993_u64, "b": 0 }));
    assert_eq!(sum["structuredContent"]["sum"], 9_007_199_254_740_993_u64, "{sum:#}");
    let refused = client.call("add", json!({ "a": 1, "b": 2 }));
    assert!(error(&refused).contains("the user refused the call"), "{refused:#}");
    assert_eq!(text(&client.call("echo", json!({ "text": "unasked" }))), "unasked");
    let questions = questions.borrow();
    assert!(questions[0].contains("`fix/add`") && questions[0].contains("9007199254740993"), "{questions:?}");
    assert_eq!(questions.len(), 2, "{questions:?}");
}

#[test]
fn gateway_asks_the_user_of_a_client_of_2026() {
    let home = home(ASKS);
    let mut client = Client::start_as(&home, &GATEWAY, "2026-07-28", json!({ "elicitation": {} }));
    let call = json!({ "name": "add", "arguments": { "a": 1, "b": 2 } });
    let asked = client.request("tools/call", call.clone());
    let requests = asked["result"]["inputRequests"].as_object().unwrap_or_else(|| panic!("no question: {asked:#}"));
    let key = requests.keys().next().expect("one call waits").clone();
    let mut retry = call;
    retry["requestState"] = asked["result"]["requestState"].clone();
    retry["inputResponses"] = json!({ key: accept(true) });
    let answered = client.request("tools/call", retry);
    assert_eq!(answered["result"]["structuredContent"], json!({ "sum": 3 }), "{answered:#}");
}

#[test]
fn gateway_call_that_nobody_can_be_asked_about_waits_for_the_command_line() {
    let home = home(ASKS);
    let arguments = [&GATEWAY[..], &["--session", "team"]].concat();
    let mut client = Client::start(&home, &arguments);
    let suspended = client.call("add", json!({ "a": 1, "b": 2 }));
    assert!(error(&suspended).contains("tollhouse session approve team"), "{suspended:#}");
    let pending = client.call("pending", json!({}));
    assert_eq!(pending["structuredContent"]["pending"][0]["method"], "fix/add", "{pending:#}");
    let waiting = client.call("resume", json!({}));
    assert!(error(&waiting).contains("suspended"), "nobody has decided: {waiting:#}");
    assert_eq!(home.run(["session", "approve", "team"]).status, 0);
    let resumed = client.call("resume", json!({}));
    assert_eq!(resumed["structuredContent"], json!({ "sum": 3 }), "{resumed:#}");
    drop(client);
    // In memory nobody could decide later.
    let mut client = Client::start(&home, &GATEWAY);
    let refused = client.call("add", json!({ "a": 1, "b": 2 }));
    assert!(error(&refused).contains("does not ask its user"), "{refused:#}");
}

#[test]
fn gateway_gives_tools_of_one_name_the_names_of_their_servers() {
    let home = Home::new();
    let (fix, other) = (policy_of("fix", "normal", ""), policy_of("other", "normal", ""));
    let other = other.trim_start_matches("[tools]\n");
    home.file("policy.toml", format!("{fix}{other}"));
    let servers = ["--allow-exec", "fix", "--allow-exec", "other"];
    lock(&home, &servers);
    let exposed = ["--expose", "fix/echo", "--expose", "other/echo", "--expose", "fix/add"];
    let arguments = [&["--proxy", "--policy", "policy.toml"][..], &servers, &exposed].concat();
    let mut client = Client::start(&home, &arguments);
    assert_eq!(names(&listed(&mut client)), ["add", "fix_echo", "other_echo"]);
    assert_eq!(text(&client.call("other_echo", json!({ "text": "here" }))), "here");
    let ambiguous = client.call("echo", json!({ "text": "where?" }));
    assert!(error(&ambiguous).contains("there is no tool `echo`"), "{ambiguous:#}");
}

#[test]
fn gateway_offers_tools_of_packages_by_their_methods() {
    let home = Home::with_tools(&["stats", "http"]);
    let mut client = Client::start(&home, &["--proxy", "--allow", "stats/*"]);
    let tools = listed(&mut client);
    assert!(names(&tools).contains(&"stats_describe"), "{tools:#?}");
    assert!(names(&tools).iter().all(|name| name.starts_with("stats_")), "{tools:#?}");
    let described = client.call("stats_describe", json!({ "values": [1, 3] }));
    assert_eq!(described["structuredContent"]["mean"], 2, "{described:#}");
}

/// A client can write any `requestState`.
#[test]
fn gateway_takes_no_answer_to_a_question_that_it_did_not_ask() {
    let home = home(ASKS);
    let arguments = [&GATEWAY[..], &["--session", "team", "--no-wait"]].concat();
    let mut client = Client::start_as(&home, &arguments, "2026-07-28", json!({ "elicitation": {} }));
    let call = json!({ "name": "add", "arguments": { "a": 1, "b": 2 } });
    let suspended = client.request("tools/call", call.clone());
    error(&suspended["result"]);
    let pending = home.run(["session", "pending", "team", "--json"]);
    let pending: Value = serde_json::from_str(&pending.stdout).expect("JSON");
    let mut forged = call;
    forged["requestState"] = json!("{\"session\":\"main\"}");
    forged["inputResponses"] = json!({ pending[0]["digest"].as_str().expect("a digest"): accept(true) });
    let refused = client.request("tools/call", forged);
    assert!(error(&refused["result"]).contains("suspended"), "{refused:#}");
}

#[test]
fn gateway_by_http_shares_budgets_among_its_clients() {
    let home = home("[[grant]]\nname = \"few\"\nmethod = \"fix/echo\"\ncalls = 2\n");
    let server = HttpServer::start(&home, &GATEWAY);
    let session = server.initialize(&[]);
    let own = [("mcp-session-id", session.as_str())];
    let listed = server.post(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }), &own).result();
    assert_eq!(listed["tools"][0]["name"], "echo", "{listed:#}");
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "echo", "arguments": { "text": "one" } } });
    assert_eq!(text(&server.post(&call, &own).result()), "one");
    assert_eq!(text(&server.modern("echo", json!({ "text": "two" }), &[])), "two");
    error(&server.modern("echo", json!({ "text": "three" }), &[]));
    error(&server.post(&call, &own).result());
}

#[test]
fn gateway_with_tokens_mounts_by_policy_and_grants_by_token() {
    let home = home("");
    assert_eq!(home.run(["policy", "keygen", "k"]).status, 0);
    let few = bearer(&seal(&home, "[[grant]]\nname = 'few'\nmethod = 'fix/echo'\ncalls = 1\n"));
    let none = bearer(&seal(&home, ""));
    let sum = bearer(&seal(&home, "[[grant]]\nmethod = 'fix/add'\n"));
    // A token cannot name programs of its own.
    home.file("evil.toml", "[mcp.evil]\ncommand = ['/bin/sh']\n");
    let sealed = home.run(["policy", "seal", "evil.toml", "--key", "k"]);
    assert!(sealed.status == 2 && sealed.stderr.contains("not allowed in a token"), "{sealed:?}");
    let server = HttpServer::start(&home, &[&GATEWAY[..], &["--issuer", "k.pub"]].concat());
    let with = |token: &str, tool: &str, arguments: Value| server.modern(tool, arguments, &[("authorization", token)]);
    error(&with(&none, "echo", json!({ "text": "mine" })));
    assert_eq!(text(&with(&few, "echo", json!({ "text": "mine" }))), "mine");
    error(&with(&few, "echo", json!({ "text": "again" })));
    error(&with(&few, "add", json!({ "a": 1, "b": 1 })));
    assert_eq!(with(&sum, "add", json!({ "a": 1, "b": 1 }))["structuredContent"]["sum"], 2);
    drop(server);
    home.file("policy.toml", policy_of("fix", "normal", ""));
    let ran = home.run(["mcp", "--http", "127.0.0.1:0", "--issuer", "k.pub"].iter().chain(&GATEWAY));
    assert!(ran.status == 2 && ran.stderr.contains("seal them into tokens"), "{ran:?}");
}

#[test]
fn gateway_call_that_needs_consent_passes_the_gate_of_a_package_too() {
    let home = Home::new();
    home.publish(&root().join("tests/fixtures/payments"));
    home.file(
        "p.toml",
        "[tools]\npay = 'test:payments@^0.1'\n[[grant]]\nmethod = 'pay/charges/create'\napprove = true\n",
    );
    let mut client =
        Client::start_as(&home, &["--proxy", "--policy", "p.toml"], "2025-06-18", json!({ "elicitation": {} }))
            .answering(|_| accept(true));
    let paid = client.call("pay_charges_create", json!({ "amount": 4, "currency": "EUR" }));
    assert_eq!(paid["structuredContent"]["total"], 4, "{paid:#}");
    let wrong = client.call("pay_charges_create", json!({ "amount": "much" }));
    assert!(error(&wrong).contains("ArgumentError"), "{wrong:#}");
}

#[test]
fn gateway_in_memory_is_left_with_no_suspended_call() {
    let home = home(ASKS);
    let cancel = || json!({ "action": "cancel" });
    let boom = json!({ "error": { "code": -32603, "message": "boom" } });
    for (answer, told) in [(cancel(), "the user dismissed the question"), (boom, "boom")] {
        let mut client = Client::start_as(&home, &GATEWAY, "2025-11-25", json!({ "elicitation": {} }))
            .answering(move |_| answer.clone());
        let refused = client.call("add", json!({ "a": 1, "b": 2 }));
        assert!(error(&refused).contains(told), "{refused:#}");
        assert_eq!(text(&client.call("echo", json!({ "text": "next" }))), "next");
    }
    let mut client = Client::start_as(&home, &GATEWAY, "2026-07-28", json!({ "elicitation": {} }));
    let call = json!({ "name": "add", "arguments": { "a": 1, "b": 2 } });
    let asked = client.request("tools/call", call.clone());
    let requests = asked["result"]["inputRequests"].as_object().unwrap_or_else(|| panic!("no question: {asked:#}"));
    let key = requests.keys().next().expect("one call waits").clone();
    let mut retry = call;
    retry["requestState"] = asked["result"]["requestState"].clone();
    retry["inputResponses"] = json!({ key: cancel() });
    let refused = client.request("tools/call", retry);
    assert!(error(&refused["result"]).contains("the user dismissed the question"), "{refused:#}");
    assert_eq!(text(&client.call("echo", json!({ "text": "next" }))), "next");
    // What it says names the agent's session, and no tool that a gateway lacks.
    let nothing = client.call("resume", json!({}));
    assert_eq!(error(&nothing), "the session `main` has no run to resume", "{nothing:#}");
}

/// Home with two servers, which are pinned in the normal mode; `other` then is in this mode.
fn two_servers(mode: &str) -> Home {
    let home = Home::new();
    let policy = |mode: &str| {
        let other = policy_of("other", mode, "");
        format!("{}{}", policy_of("fix", "normal", ""), other.trim_start_matches("[tools]\n"))
    };
    home.file("policy.toml", policy("normal"));
    lock(&home, &["--allow-exec", "fix", "--allow-exec", "other"]);
    home.file("policy.toml", policy(mode));
    home
}

#[test]
fn server_that_cannot_be_used_leaves_the_others_alone() {
    for (mode, why) in [("poisoned", "its tools differ from the pinned ones"), ("exit", "it does not start")] {
        let home = two_servers(mode);
        let arguments = [&GATEWAY[..], &["--allow-exec", "other"]].concat();
        let mut client = Client::start(&home, &arguments);
        assert!(names(&listed(&mut client)).contains(&"other_echo"), "{mode}");
        assert_eq!(text(&client.call("fix_echo", json!({ "text": "here" }))), "here", "{mode}");
        let failed = client.call("other_echo", json!({ "text": "here" }));
        assert!(error(&failed).contains(why) && error(&failed).contains("tollhouse mcp test other"), "{failed:#}");
        // Not the words that nobody has accepted, which are on standard error.
        assert!(!failed.to_string().contains("id_rsa") && !failed.to_string().contains("licence"), "{failed:#}");
        let (status, told) = client.end();
        assert!(status.success() && (told.contains("id_rsa") || told.contains("no licence")), "{mode}: {told}");
        assert!(!told.contains('\u{1b}'), "{told}");
    }
}

#[test]
fn server_that_says_nothing_keeps_no_client_waiting() {
    let home = two_servers("mute");
    let arguments = [&GATEWAY[..], &["--allow-exec", "other", "--timeout", "3s"]].concat();
    let begun = std::time::Instant::now();
    let mut client = Client::start(&home, &arguments);
    assert_eq!(text(&client.call("fix_echo", json!({ "text": "here" }))), "here");
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
    let late = client.call("other_echo", json!({ "text": "here" }));
    assert!(error(&late).contains("has not started within the time of the run"), "{late:#}");
}

#[test]
fn server_that_ends_is_started_again_for_a_later_call() {
    let home = home(ALL);
    let mut client = Client::start(&home, &GATEWAY);
    for _ in 0..2 {
        assert_eq!(text(&client.call("echo", json!({ "text": "here" }))), "here");
        let died = client.call("die", json!({}));
        assert!(error(&died).contains("has ended") && error(&died).contains("for a later call"), "{died:#}");
        // Not at once: one that ends again and again would take all that was prepared.
        std::thread::sleep(std::time::Duration::from_millis(1100));
    }
    assert_eq!(text(&client.call("echo", json!({ "text": "again" }))), "again");
}
