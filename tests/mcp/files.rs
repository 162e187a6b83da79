//! Files and sessions, as tools and as resources.

use serde_json::{Value, json};
use tollhouse_tests::Home;

use super::client::{Client, error, text};

#[test]
fn files_are_written_listed_and_read_as_scripts_see_them() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    let written = client.call("write_file", json!({ "path": "data/a.txt", "content": "one\n" }));
    assert_eq!(written["structuredContent"], json!({ "path": "/workspace/data/a.txt", "size": 4, "session": "main" }));
    client.call("write_file", json!({ "path": "/tmp/b", "content": "AP8=", "encoding": "base64" }));
    assert_eq!(
        client.js(
            "return (await fs.readFile('data/a.txt', 'utf8')) + (await fs.readFile('/tmp/b', {encoding: null}))[1]"
        )["value"],
        "one\n255"
    );
    let listed = client.call("list_files", json!({ "path": "data" }));
    assert_eq!(
        listed["structuredContent"]["entries"],
        json!([{ "name": "a.txt", "kind": "file", "size": 4 }]),
        "{listed:#}"
    );
    let read = client.call("read_file", json!({ "path": "data/a.txt", "offset": 1, "limit": 2 }));
    assert_eq!(
        (text(&read), &read["structuredContent"]["next"]),
        ("ne\n[4 bytes; go on with \"offset\": 3]", &json!(3))
    );
    let bytes = client.call("read_file", json!({ "path": "/tmp/b" }));
    assert_eq!(bytes["structuredContent"]["base64"], "AP8=", "{bytes:#}");

    let typo = client.call("read_file", json!({ "path": "data/a.tx" }));
    assert!(error(&typo).contains("did you mean `/workspace/data/a.txt`?"), "{typo:#}");
    for path in ["/etc/passwd", "/usr/x", "../../etc/x", "/workspace/../bin/x"] {
        let refused = client.call("write_file", json!({ "path": path, "content": "x" }));
        assert!(
            error(&refused).contains("/workspace and /tmp can be written") || error(&refused).contains("read-only"),
            "{refused:#}"
        );
    }
    let wrong = client.call("write_file", json!({ "path": "x", "content": "!", "encoding": "base64" }));
    assert!(error(&wrong).contains("not base64"), "{wrong:#}");
}

#[test]
fn mounted_files_stay_read_only() {
    let home = Home::new();
    home.file("fixed.txt", "fixed");
    let mut client = Client::start(&home, &["--mount", "fixed.txt:/workspace/fixed.txt:ro"]);
    let refused = client.call("write_file", json!({ "path": "fixed.txt", "content": "x" }));
    assert!(error(&refused).contains("read-only"), "{refused:#}");
    assert_eq!(text(&client.call("read_file", json!({ "path": "fixed.txt" }))), "fixed");
}

#[test]
fn sessions_are_forked_compared_and_rolled_back_and_share_budgets() {
    let home = Home::with_tools(&["stats"]);
    home.file("p.toml", "[[grant]]\nname = 'few'\nmethod = 'stats/describe'\ncalls = 2\n");
    let mut client = Client::start(&home, &["--policy", "p.toml"]);
    client.js("await fs.writeFile('a', '1')");
    client.js("await fs.writeFile('a', '2'); await fs.writeFile('b', '2')");
    let diff = client.call("sessions", json!({ "action": "diff" }));
    assert_eq!(
        diff["structuredContent"]["changes"],
        json!([{ "path": "/workspace/a", "change": "modified" }, { "path": "/workspace/b", "change": "added" }])
    );
    client.call("sessions", json!({ "action": "fork", "to": "copy", "run": 1 }));
    client.call("sessions", json!({ "action": "create", "to": "empty" }));
    let read = |client: &mut Client, session: &str| {
        let script = "return await fs.readFile('a', 'utf8').catch(error => error.code)";
        client.call("run_javascript", json!({ "script": script, "session": session }))["structuredContent"]["value"]
            .clone()
    };
    assert_eq!(
        [read(&mut client, "copy"), read(&mut client, "empty"), read(&mut client, "main")],
        ["1", "ENOENT", "2"]
    );
    client.call("sessions", json!({ "action": "rollback", "run": 1 }));
    assert_eq!(read(&mut client, "main"), "1");
    let listed = client.call("sessions", json!({ "action": "list" }));
    let names: Vec<&Value> =
        listed["structuredContent"]["sessions"].as_array().expect("a list").iter().map(|s| &s["session"]).collect();
    assert_eq!(names, ["main", "copy", "empty"], "{listed:#}");

    // No session that a client makes renews a budget.
    let call = "return (await stats.describe({values: [1]})).mean";
    for session in ["empty", "copy"] {
        let ran = client.call("run_javascript", json!({ "script": call, "session": session }));
        assert_eq!(ran["structuredContent"]["value"], 1, "{ran:#}");
    }
    client.call("sessions", json!({ "action": "create", "to": "fresh" }));
    for session in ["fresh", "main"] {
        let denied = client.call("run_javascript", json!({ "script": call, "session": session }));
        assert_eq!(denied["structuredContent"]["status"], "denied", "{denied:#}");
    }

    let taken = client.call("sessions", json!({ "action": "create", "to": "copy" }));
    assert!(error(&taken).contains("already exists"), "{taken:#}");
    let unnamed = client.call("sessions", json!({ "action": "fork" }));
    assert!(error(&unnamed).contains("needs `to`"), "{unnamed:#}");
    let none = client.call("sessions", json!({ "action": "rollback", "run": 99 }));
    assert!(error(&none).contains("has no run 99"), "{none:#}");
    for number in 0..40 {
        let made = client.call("sessions", json!({ "action": "create", "to": format!("s{number}") }));
        if made["isError"] == true {
            return assert!(error(&made).contains("at most 32 sessions"), "{made:#}");
        }
    }
    panic!("there is no limit on sessions");
}

/// An agent reaches its own session and the forks of that; other sessions of the store have other grants.
#[test]
fn session_of_another_agent_is_out_of_reach() {
    let home = Home::with_tools(&["stats"]);
    let secret = ["run", "--session", "agent.payroll", "--allow", "stats/*", "-e", "await fs.writeFile('s', 'secret')"];
    assert_eq!(home.run(secret).status, 0);
    assert_eq!(home.run(["run", "--session", "other", "-e", "await fs.writeFile('s', 'secret')"]).status, 0);
    let mut client = Client::start(&home, &["--session", "agent"]);
    for name in ["payroll", "other", "agent.payroll", "agent", "../other", "", "main.x"] {
        let refused = client.call("run_javascript", json!({ "script": "return 1", "session": name }));
        assert_eq!(refused["isError"], true, "{name}: {refused:#}");
        assert!(refused["structuredContent"].is_null(), "{name}: {refused:#}");
        let fork = client.call("sessions", json!({ "action": "fork", "session": name, "to": "mine" }));
        assert_eq!(fork["isError"], true, "{name}: {fork:#}");
        let read = client.request("resources/read", json!({ "uri": format!("tollhouse://{name}/workspace/s") }));
        assert!(read["error"].is_object(), "{name}: {read:#}");
    }
    let listed = client.call("sessions", json!({ "action": "list" }));
    assert_eq!(listed["structuredContent"]["sessions"].as_array().map(Vec::len), Some(1), "{listed:#}");
}

#[test]
fn sessions_on_disk_are_there_for_the_next_server() {
    let home = Home::new();
    let arguments = ["--session", "agent"];
    let mut client = Client::start(&home, &arguments);
    client.js("await fs.writeFile('kept', 'yes')");
    client.call("sessions", json!({ "action": "fork", "to": "side" }));
    let (status, stderr) = client.end();
    assert!(status.success(), "{stderr}");
    let mut client = Client::start(&home, &arguments);
    let read = client.call("read_file", json!({ "path": "kept", "session": "side" }));
    assert_eq!(text(&read), "yes");
    assert_eq!(home.run(["session", "cat", "agent.side", "/workspace/kept"]).stdout, "yes");
    // What another process does is seen.
    assert_eq!(home.run(["run", "--session", "agent", "-e", "await fs.writeFile('kept', 'more')"]).status, 0);
    assert_eq!(text(&client.call("read_file", json!({ "path": "kept" }))), "more");
    assert_eq!(client.js("return await fs.readFile('kept', 'utf8')")["value"], "more");
}

#[test]
fn files_are_resources_with_pages_and_subscriptions() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    client.js("for (let i = 0; i < 250; i++) fs.writeFileSync(`f${i}`, 'x'); await fs.writeFile('ü 1.md', '# hi')");
    let first = client.request("resources/list", json!({}));
    let next = first["result"]["nextCursor"].as_str().expect("there are more").to_owned();
    let second = client.request("resources/list", json!({ "cursor": next }));
    let count = |page: &Value| page["result"]["resources"].as_array().map(Vec::len);
    assert_eq!((count(&first), count(&second)), (Some(200), Some(51)), "{second:#}");
    let uri = "tollhouse://main/workspace/%C3%BC%201.md";
    let read = client.request("resources/read", json!({ "uri": uri }));
    assert_eq!(
        read["result"]["contents"],
        json!([{ "uri": uri, "mimeType": "text/markdown", "text": "# hi" }]),
        "{read:#}"
    );
    let templates = client.request("resources/templates/list", json!({}));
    assert_eq!(templates["result"]["resourceTemplates"][0]["uriTemplate"], "tollhouse://{session}/{+path}");

    client.notifications.clear();
    client.request("resources/subscribe", json!({ "uri": uri }));
    let long = format!("tollhouse://main/workspace/{}", "x".repeat(10_000));
    assert_eq!(client.request("resources/subscribe", json!({ "uri": long }))["error"]["code"], -32602);
    // However often a client says that it is ready, it is told once.
    (0..5).for_each(|_| client.notify("notifications/initialized", json!({})));
    client.js("await fs.writeFile('f1', 'other')");
    client.js("await fs.writeFile('ü 1.md', 'new'); await fs.writeFile('new', 'x')");
    assert_eq!(client.notification("notifications/resources/updated")["params"]["uri"], uri);
    client.js("return 1");
    assert!(client.notifications.iter().all(|message| message["method"] != "notifications/resources/updated"));
    client.notification("notifications/resources/list_changed");
    client.request("resources/unsubscribe", json!({ "uri": uri }));
    client.call("write_file", json!({ "path": "ü 1.md", "content": "newer" }));
    client.js("return 1");
    assert!(client.notifications.iter().all(|message| message["method"] != "notifications/resources/updated"));

    for wrong in [
        "tollhouse://main/workspace/../../etc/passwd",
        "tollhouse://main/workspace/%2e%2e/%2e%2e/etc/passwd",
        "file:///etc/passwd",
        "tollhouse://main//etc/passwd",
        "tollhouse://main/workspace/none",
    ] {
        let read = client.request("resources/read", json!({ "uri": wrong }));
        assert_eq!(read["error"]["code"], -32002, "{wrong}: {read:#}");
    }
    // A link leads to no file of the machine.
    client.js("await fs.symlink('/../../../../etc/hostname', 'link')");
    let read = client.request("resources/read", json!({ "uri": "tollhouse://main/workspace/link" }));
    assert_eq!(read["error"]["code"], -32002, "{read:#}");
}

#[test]
fn arguments_of_templates_are_completed_with_sessions_and_their_files() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    for path in ["/workspace/report.md", "/workspace/raw/a.csv"] {
        client.call("write_file", json!({ "path": path, "content": "x" }));
    }
    client.call("sessions", json!({ "action": "create", "to": "trial" }));
    let mut complete = |reference: Value, name: &str, value: &str, session: Option<&str>| {
        let context = json!({ "arguments": session.map(|session| json!({ "session": session })).unwrap_or(json!({})) });
        let argument = json!({ "name": name, "value": value });
        let params = json!({ "ref": reference, "argument": argument, "context": context });
        let answered = client.request("completion/complete", params);
        if answered["error"].is_null() {
            answered["result"]["completion"]["values"].clone()
        } else {
            answered["error"]["code"].clone()
        }
    };
    let file = || json!({ "type": "ref/resource", "uri": "tollhouse://{session}/{+path}" });
    assert_eq!(complete(file(), "session", "", None), json!(["main", "trial"]));
    assert_eq!(complete(file(), "session", "t", None), json!(["trial"]));
    assert_eq!(complete(file(), "path", "workspace/r", None), json!(["workspace/raw/", "workspace/report.md"]));
    assert_eq!(complete(file(), "path", "workspace/raw/", Some("main")), json!(["workspace/raw/a.csv"]));
    assert_eq!(complete(file(), "path", "workspace/r", Some("trial")), json!([]), "it has its own files");
    assert_eq!(complete(file(), "path", "../../etc/pass", None), json!([]));
    assert_eq!(complete(file(), "path", "workspace/r", Some("other")), json!(-32602));
    assert_eq!(complete(file(), "other", "", None), json!(-32602));
    assert_eq!(complete(json!({ "type": "ref/prompt", "name": "task" }), "task", "s", None), json!([]));
    assert_eq!(complete(json!({ "type": "ref/prompt", "name": "tusk" }), "task", "s", None), json!(-32602));
    assert_eq!(complete(json!({ "type": "ref/resource", "uri": "file:///{path}" }), "path", "", None), json!(-32602));
}
