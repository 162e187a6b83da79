//! Revisions of the protocol.

use serde_json::{Value, json};
use tollhouse_tests::Home;

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
fn a_client_with_an_unknown_revision_is_offered_a_known_one() {
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
