//! Tools: their definitions, the catalogue that scripts call, and those that are exposed.

use serde_json::{Value, json};
use tollhouse_tests::Home;

use super::client::{Client, error, text};

/// Characters a token, at the least, of English prose and of JSON in the tokenizers of current models.
const CHARACTERS_A_TOKEN: usize = 3;

fn tools(client: &mut Client) -> Vec<Value> {
    let listed = client.request("tools/list", json!({}));
    listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("no tools: {listed:#}")).clone()
}

fn named<'t>(tools: &'t [Value], name: &str) -> &'t Value {
    tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("no `{name}`: {tools:#?}"))
}

#[test]
fn definitions_have_schemas_and_annotations_that_the_grants_justify() {
    let home = Home::with_tools(&["stats", "http"]);
    let mut client = Client::start(&home, &["--allow", "stats/*"]);
    let listed = tools(&mut client);
    for tool in &listed {
        for key in ["inputSchema", "outputSchema"] {
            assert_eq!(
                (&tool[key]["type"], &tool[key]["additionalProperties"]),
                (&json!("object"), &json!(false)),
                "{tool:#}"
            );
        }
        assert!(tool["annotations"]["title"].is_string() && tool["description"].is_string(), "{tool:#}");
    }
    for name in ["search_tools", "describe_tools", "list_files", "read_file", "pending"] {
        assert_eq!(named(&listed, name)["annotations"]["readOnlyHint"], true, "{name}");
    }
    for name in ["run_javascript", "run_bash", "resume", "write_file", "sessions"] {
        assert_eq!(named(&listed, name)["annotations"]["readOnlyHint"], false, "{name}");
    }
    // Tools without effects cannot destroy anything, and without the network there is no open world.
    let run = &named(&listed, "run_javascript")["annotations"];
    assert_eq!((&run["destructiveHint"], &run["openWorldHint"]), (&json!(false), &json!(false)), "{run:#}");
    drop(client);
    let mut client = Client::start(&home, &["--allow-net", "api.example"]);
    let listed = tools(&mut client);
    let run = &named(&listed, "run_bash")["annotations"];
    assert_eq!((&run["destructiveHint"], &run["openWorldHint"]), (&json!(true), &json!(true)), "{run:#}");
}

#[test]
fn mcp_tools_cannot_decide_waiting_calls() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    let names: Vec<String> = tools(&mut client).iter().map(|tool| tool["name"].to_string()).collect();
    assert_eq!(names.len(), 10, "{names:?}");
    for word in ["approve", "deny", "decide", "grant", "resolve", "abandon"] {
        assert!(names.iter().all(|name| !name.contains(word)), "{names:?}");
        let result = client.call(word, json!({}));
        assert!(error(&result).contains("there is no tool"), "{result:#}");
    }
    let refused = client.call("pending", json!({ "approve": true }));
    assert!(error(&refused).contains("there is no argument `approve`"), "{refused:#}");
    let refused = client.call("resume", json!({ "approve": 1 }));
    assert!(error(&refused).contains("there is no argument `approve`"), "{refused:#}");
}

/// A catalogue of any size costs the same: what every conversation pays are the instructions and the definitions.
#[test]
fn server_prompt_cost_is_bounded_for_any_catalogue() {
    let home = Home::with_tools(&["stats", "http", "markdown"]);
    let mut client = Client::spawn(&home, &["--allow", "**"]);
    let initialized = client.request(
        "initialize",
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } }),
    );
    let instructions = initialized["result"]["instructions"].as_str().expect("instructions");
    assert!(instructions.len() / CHARACTERS_A_TOKEN < 300, "{}", instructions.len());
    // What a client puts before its model: name, description and input schema.
    let shown: usize = tools(&mut client)
        .iter()
        .map(|tool| {
            tool["name"].to_string().len()
                + tool["description"].to_string().len()
                + tool["inputSchema"].to_string().len()
        })
        .sum();
    assert!(shown / CHARACTERS_A_TOKEN < 1500, "{shown}");
}

#[test]
fn tools_of_scripts_are_found_and_described_on_demand() {
    let home = Home::with_tools(&["stats", "http"]);
    let mut client = Client::start(&home, &["--allow", "stats/*"]);
    let found = client.call("search_tools", json!({ "query": "mean of some values" }));
    let first = &found["structuredContent"]["tools"][0];
    assert_eq!((&first["method"], &first["granted"]), (&json!("stats/describe"), &json!(true)), "{found:#}");
    assert_eq!((&first["javascript"], &first["bash"]), (&json!("stats.describe"), &json!("stats describe")));
    let all = client.call("search_tools", json!({}));
    assert!(text(&all).contains("http/fetch (not granted)"), "{all:#}");
    let one = client.call("search_tools", json!({ "limit": 1 }));
    assert!(text(&one).contains("more: narrow the query"), "{one:#}");

    let declared = client.call("describe_tools", json!({ "methods": ["stats.describe"] }));
    let declarations = declared["structuredContent"]["declarations"].as_str().expect("declarations");
    assert!(declarations.contains("declare const stats") && declarations.contains("describe("), "{declarations}");
    assert!(!declarations.contains("declare const http"), "{declarations}");
    let part = client.call("describe_tools", json!({ "methods": ["stats"] }));
    assert!(text(&part).contains("describe("), "{part:#}");
    let typo = client.call("describe_tools", json!({ "methods": ["stats/descibe"] }));
    assert!(error(&typo).contains("did you mean `stats/describe`?"), "{typo:#}");
}

#[test]
fn exposed_tools_pass_the_same_gate_and_share_its_budgets() {
    let home = Home::with_tools(&["stats", "http"]);
    home.file(
        "p.toml",
        "[[grant]]\nname = 'few'\nmethod = 'stats/describe'\ncalls = 2\nwhere = [{ param = 'values/*', le = 10 }]\n",
    );
    let mut client = Client::start(&home, &["--policy", "p.toml", "--expose", "stats", "--expose", "http/fetch"]);
    let listed = tools(&mut client);
    let describe = named(&listed, "stats_describe");
    assert_eq!(describe["inputSchema"]["properties"]["values"]["type"], "array", "{describe:#}");
    assert_eq!(describe["annotations"]["destructiveHint"], false, "{describe:#}");
    assert!(listed.iter().all(|tool| tool["name"] != "http_fetch"), "it is not granted: {listed:#?}");

    let done = client.call("stats_describe", json!({ "values": [1, 3] }));
    assert_eq!(done["structuredContent"]["mean"], 2, "{done:#}");
    let long = client.call("stats_describe", json!({ "values": [1, 11] }));
    assert!(error(&long).contains("CapabilityError"), "{long:#}");
    let wrong = client.call("stats_describe", json!({ "valeus": [1] }));
    assert!(error(&wrong).contains("ArgumentError"), "{wrong:#}");
    // One budget, whoever calls.
    assert_eq!(client.js("return (await stats.describe({values: [5]})).mean")["value"], 5);
    let spent = client.call("stats_describe", json!({ "values": [1] }));
    assert!(error(&spent).contains("CapabilityError"), "{spent:#}");
    let ungranted = client.call("http_fetch", json!({ "url": "http://localhost/" }));
    error(&ungranted);

    let ran = home.run(["mcp", "--expose", "stats/descibe"]);
    assert!(ran.status == 2 && ran.stderr.contains("did you mean `stats"), "{ran:?}");
}

#[test]
fn annotations_of_exposed_tools_follow_from_what_each_was_granted() {
    let home = Home::with_tools(&["stats", "http", "kv"]);
    let policy =
        "[tool.http]\nhttp = ['https://api.example/']\n[tool.kv]\nkeyvalue = ['default']\n[[grant]]\nmethod = '**'\n";
    home.file("p.toml", policy);
    let mut client =
        Client::start(&home, &["--policy", "p.toml", "--expose", "stats", "--expose", "http", "--expose", "kv"]);
    let listed = tools(&mut client);
    let hints = |name: &str| {
        let annotations = &named(&listed, name)["annotations"];
        ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]
            .map(|hint| annotations[hint].as_bool().unwrap_or_else(|| panic!("{annotations:#}")))
    };
    assert_eq!(hints("stats_describe"), [true, false, true, false]);
    assert_eq!(hints("http_fetch"), [false, true, false, true]);
    // Another tool's network is not its own.
    assert_eq!(hints("kv_set"), [false, true, false, false]);
}

/// What a server says of its tools decides nothing, be it pinned.
#[test]
fn annotations_of_a_mounted_server_are_not_its_own() {
    let home = Home::new();
    home.file("policy.toml", tollhouse_tests::mcp_server::policy_of("fix", "annotated", ""));
    let lock = home.run(["mcp", "lock", "--policy", "policy.toml", "--allow-exec", "fix"]);
    assert_eq!(lock.status, 0, "{lock:?}");
    let mut client = Client::start(&home, &["--proxy", "--policy", "policy.toml", "--allow-exec", "fix"]);
    let listed = tools(&mut client);
    let echo = &named(&listed, "echo")["annotations"];
    assert_eq!(
        (&echo["readOnlyHint"], &echo["destructiveHint"], &echo["openWorldHint"]),
        (&json!(false), &json!(true), &json!(true)),
        "{echo:#}"
    );
}

#[test]
fn prompts_teach_the_sandbox() {
    let home = Home::with_tools(&["stats"]);
    let mut client = Client::start(&home, &["--allow", "stats/*"]);
    let listed = client.request("prompts/list", json!({}));
    assert_eq!(listed["result"]["prompts"].as_array().map(Vec::len), Some(2), "{listed:#}");
    let got = client.request("prompts/get", json!({ "name": "task", "arguments": { "task": "count" } }));
    let prompt = got["result"]["messages"][0]["content"]["text"].as_str().expect("text");
    assert!(prompt.contains("`stats.describe`") && prompt.ends_with("The task:\ncount"), "{prompt}");
    let wrong = client.request("prompts/get", json!({ "name": "tsak" }));
    assert!(wrong["error"]["message"].as_str().is_some_and(|text| text.contains("did you mean `task`")), "{wrong:#}");
}
