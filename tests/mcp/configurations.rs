//! The configurations of clients in `docs/mcp.md`: each is parsed, and the server that it starts answers.

use serde_json::{Value, json};
use tollhouse_tests::{Home, root};

use super::client::Client;

/// The blocks of one language in the guide.
fn blocks(language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join("docs/mcp.md")).expect("the guide is there");
    let fence = format!("```{language}\n");
    let after = text.split(fence.as_str()).skip(1);
    after.map(|rest| rest.split("```").next().unwrap_or_default().to_owned()).collect()
}

/// Collects the servers of a configuration, wherever they are in it.
fn servers(value: &Value, found: &mut Vec<Value>) {
    match value {
        Value::Object(map) if map.contains_key("command") || map.contains_key("url") => found.push(value.clone()),
        Value::Object(map) => map.values().for_each(|value| servers(value, found)),
        _ => {}
    }
}

#[test]
fn documented_configurations_are_valid_and_start_a_server() {
    let json = blocks("json").into_iter().map(|text| serde_json::from_str::<Value>(&text).expect("it is JSON"));
    let toml = blocks("toml").into_iter().map(|text| toml::from_str::<Value>(&text).expect("it is TOML"));
    let all: Vec<Value> = json.chain(toml).collect();
    assert!(all.len() >= 6, "{all:#?}");
    let home = Home::with_tools(&["stats"]);
    let policy = home.file("agent.toml", "[[grant]]\nmethod = 'stats/*'\n");
    for configuration in all {
        let mut found = Vec::new();
        servers(&configuration, &mut found);
        assert_eq!(found.len(), 1, "{configuration:#}");
        let server = &found[0];
        if server["url"].is_string() {
            assert!(server["headers"]["Authorization"].as_str().is_some_and(|header| header.starts_with("Bearer ")));
            continue;
        }
        assert_eq!(server["command"], "tollhouse", "{configuration:#}");
        let arguments = server["args"].as_array().expect("arguments").iter().map(|argument| match argument.as_str() {
            Some("/home/me/agent.toml") => policy.display().to_string(),
            argument => argument.expect("a text").to_owned(),
        });
        let arguments: Vec<String> = arguments.collect();
        let (first, rest) = arguments.split_first().expect("a command");
        assert_eq!(first, "mcp", "{configuration:#}");
        let mut client = Client::start(&home, &rest.iter().map(String::as_str).collect::<Vec<_>>());
        if rest.iter().any(|argument| argument == "--proxy") {
            let result = client.call("stats_describe", json!({ "values": [4] }));
            assert_eq!(result["structuredContent"]["mean"], 4, "{configuration:#}: {result:#}");
            continue;
        }
        let result =
            client.call("run_javascript", json!({ "script": "return (await stats.describe({values: [4]})).mean" }));
        assert_eq!(result["structuredContent"]["value"], 4, "{configuration:#}: {result:#}");
    }
}
