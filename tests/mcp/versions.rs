//! Revisions of the protocol.

use std::thread;

use serde_json::{Value, json};
use tollhouse_tests::Home;
use tollhouse_tests::mcp_server::policy_of;

use super::client::{Client, text};

#[test]
fn clients_of_earlier_revisions_are_served_in_theirs() {
    let home = Home::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::start_as(&home, &[], version, json!({}));
        let result = client.call("run_javascript", json!({ "script": "return 1" }));
        assert_eq!(text(&result), "returned: 1", "{version}");
        assert!(result["resultType"].is_null(), "{version}: {result:#}");
        assert_eq!(client.request("ping", json!({}))["result"], json!({}), "{version}");
    }
}

#[test]
fn client_with_unknown_revision_is_offered_a_known_one() {
    let home = Home::new();
    let mut client = Client::spawn(&home, &[]);
    let hello =
        json!({ "protocolVersion": "2020-01-01", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let answered = client.request("initialize", hello);
    assert_eq!(answered["result"]["protocolVersion"], "2025-11-25", "{answered:#}");
    assert_eq!(answered["result"]["serverInfo"]["name"], "tollhouse");
}

#[test]
fn clients_of_2026_discover_call_and_listen_without_a_handshake() {
    let home = Home::new();
    let mut client = Client::start_as(&home, &[], "2026-07-28", json!({}));
    let discovered = client.request("server/discover", json!({}));
    let versions = discovered["result"]["supportedVersions"].as_array().expect("versions");
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-06-18")), "{discovered:#}");
    let result = client.call("run_javascript", json!({ "script": "console.log('x'); return 1" }));
    assert_eq!(
        (&result["resultType"], &result["structuredContent"]["value"]),
        (&json!("complete"), &json!(1)),
        "{result:#}"
    );
    // Such a client gets log messages only where it asks for them.
    assert!(client.notifications.is_empty(), "{:?}", client.notifications);
    let call = json!({
        "name": "run_javascript", "arguments": { "script": "console.log('told')" },
        "_meta": { "io.modelcontextprotocol/logLevel": "info" },
    });
    client.request("tools/call", call);
    assert_eq!(client.notification("notifications/message")["params"]["data"], "told");

    let uri = "tollhouse://main/workspace/a";
    let listening = client.send(
        "subscriptions/listen",
        json!({ "notifications": { "resourceSubscriptions": [uri], "resourcesListChanged": true } }),
    );
    client.notification("notifications/subscriptions/acknowledged");
    client.js("await fs.writeFile('a', 'x')");
    assert_eq!(client.notification("notifications/resources/updated")["params"]["uri"], uri);
    client.notification("notifications/resources/list_changed");
    client.notify("notifications/cancelled", json!({ "requestId": listening }));
    assert_eq!(client.js("return 2")["value"], 2);
    let wrong: Value = client.request("resources/read", json!({ "uri": "tollhouse://main/workspace/none" }));
    assert_eq!(wrong["error"]["code"], -32602, "{wrong:#}");
}

#[test]
fn messages_that_cannot_be_read_are_answered() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    let call = |id: u64, arguments: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"run_javascript\",\"arguments\":{arguments}}}}}"
        )
    };
    // As a string of JavaScript that was cut in the middle of a character.
    client.send_line(&call(100, r#"{"script":"return '\ud83d'.codePointAt(0)"}"#));
    assert_eq!(client.wait(100)["result"]["structuredContent"]["value"], 0xfffd);
    let deep = format!("{{\"script\":\"return 1\",\"stdin\":{}{}}}", "[".repeat(200), "]".repeat(200));
    let long = format!("{{\"script\":\"{}\"}}", "x".repeat(17 << 20));
    for (id, line, code) in
        [(101, call(101, &deep), -32700), (102, call(102, "{oh}"), -32700), (103, call(103, &long), -32600)]
    {
        client.send_line(&line);
        let answered = client.wait(id);
        assert_eq!(answered["error"]["code"], code, "{answered:#}");
    }
    client.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":104,\"method\":\"ping\",\"params\":{\"x\":\"\xff\"}}\n");
    assert_eq!(client.wait(104)["error"]["code"], -32700);
    // The last line has no end.
    client.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":105,\"method\":\"ping\"}");
    client.close();
    assert_eq!(client.wait(105)["result"], json!({}));
}

#[test]
fn server_given_plain_text_explains_what_it_is() {
    let home = Home::new();
    let mut client = Client::spawn(&home, &[]);
    client.send_line("hello");
    client.send_line("help");
    for _ in 0..2 {
        let answered = client.receive().expect("an answer");
        assert_eq!((&answered["id"], &answered["error"]["code"]), (&Value::Null, &json!(-32700)), "{answered:#}");
    }
    let (_, told) = client.end();
    assert_eq!(told.matches("this is an MCP server").count(), 1, "{told}");
}

#[test]
fn request_with_invalid_parameters_is_told_so() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    for (method, params, code) in [
        ("resources/read", json!({ "uri": 5 }), -32602),
        ("tools/call", json!({ "name": "run_bash", "arguments": [1] }), -32602),
        ("tasks/result", json!({}), -32601),
    ] {
        let answered = client.request(method, params);
        assert_eq!(answered["error"]["code"], code, "{answered:#}");
    }
}

#[test]
fn server_that_takes_long_to_start_is_mounted_in_its_revision() {
    // As `npx` and `uvx` do, which download what they start.
    let mounted = ["slow", "slow-latest"].map(|mode| {
        thread::spawn(move || {
            let home = Home::new();
            home.file("policy.toml", policy_of("fix", mode, ""));
            home.run(["mcp", "lock", "--policy", "policy.toml", "--allow-exec", "fix"])
        })
    });
    for mounted in mounted {
        let ran = mounted.join().expect("it does not panic");
        assert_eq!(ran.status, 0, "{ran:?}");
        assert!(ran.stdout.starts_with("pinned   fix "), "{ran:?}");
    }
}
