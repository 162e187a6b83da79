//! Tools that call tools: through the gate, within the session's grants, so deep and never in a circle.

use serde_json::{Value, json};
use tollhouse_tests::{Home, components, root};

/// A home with a tool that calls tools, and one that is called.
fn home() -> Home {
    let home = Home::with_tools(&["stats"]);
    home.publish(&root().join("tests/fixtures/relay"));
    home
}

/// Calls one method from a script that lets every error out.
fn call(home: &Home, policy: &str, method: &str, arguments: &Value) -> Value {
    home.file("policy.toml", policy);
    home.js(&format!("return await {method}({arguments})"), &["--policy", "policy.toml"])
}

fn message(ran: &Value) -> &str {
    ran["error"]["message"].as_str().unwrap_or_default()
}

/// Aliases of one package, each of which may call the next.
fn chain(aliases: &[&str], last_calls: &str) -> String {
    let mut policy = "[[grant]]\nmethod = \"**\"\n[tools]\nstats = \"tollhouse:stats\"\n".to_owned();
    for alias in aliases {
        policy += &format!("{alias} = \"test:relay\"\n");
    }
    for (at, alias) in aliases.iter().enumerate() {
        let next = aliases.get(at + 1).map_or_else(|| last_calls.to_owned(), |next| format!("{next}/*"));
        if !next.is_empty() {
            policy += &format!("[tool.{alias}]\ntools = [\"{next}\"]\n");
        }
    }
    policy
}

#[test]
fn tool_call_of_another_tool_is_recorded_with_its_caller() {
    let home = home();
    home.file("policy.toml", chain(&["relay"], "stats/describe"));
    let script = "return await relay.mean({ values: [1, 2, 6] })";
    let ran = home.js(script, &["--policy", "policy.toml", "--audit", "audit.jsonl"]);
    assert_eq!(ran["value"], 3, "{ran}");
    let calls: Vec<_> = ran["calls"]
        .as_array()
        .expect("calls")
        .iter()
        .map(|call| (&call["seq"], &call["method"], &call["outcome"]))
        .collect();
    assert_eq!(
        calls,
        [(&json!(1), &json!("relay/mean"), &json!("ok")), (&json!(2), &json!("stats/describe"), &json!("ok"))]
    );
    let log = std::fs::read_to_string(home.path().join("audit.jsonl")).expect("it was written");
    let inner =
        log.lines().find(|line| line.contains("\"admitted\"") && line.contains("stats/describe")).expect("it is there");
    let inner: Value = serde_json::from_str(inner).expect("JSON");
    assert_eq!(inner["caller"], 1, "{inner}");
}

#[test]
fn tool_without_tool_grant_calls_no_other() {
    let ran = call(&home(), &chain(&["relay"], ""), "relay.mean", &json!({ "values": [1] }));
    assert_eq!(ran["error"]["kind"], "tool", "{ran}");
    assert!(
        message(&ran).contains("it called `tollhouse:stats/stats@0.1.0#describe`, but may not call any other tool"),
        "{ran}"
    );
    assert_eq!(ran["calls"].as_array().map(Vec::len), Some(1), "{ran}");
}

#[test]
fn tool_calls_only_granted_tools() {
    let ran = call(&home(), &chain(&["relay"], "stats/quantiles"), "relay.mean", &json!({ "values": [1] }));
    assert!(message(&ran).contains("the tool `relay` may not call `stats/describe`"), "{ran}");
    assert!(ran["error"]["hint"].as_str().is_some_and(|hint| hint.contains("[tool.relay]")), "{ran}");
    assert_eq!(ran["calls"][1]["outcome"], "denied", "{ran}");
}

#[test]
fn tool_calls_no_tool_beyond_grants_of_the_session() {
    let home = home();
    let relay_only = "[[grant]]\nmethod = \"relay/*\"\n[tool.relay]\ntools = [\"stats/*\"]\n";
    home.file("policy.toml", relay_only);
    let ran = home.run(["run", "--policy", "policy.toml", "-e", "1"]);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(
        ran.stderr.contains("`tool.relay` cannot call that") && ran.stderr.contains("policy.toml:3"),
        "{}",
        ran.stderr
    );
    // The clauses and budgets of the session's grant hold for the tool's calls too.
    let bounded = "[[grant]]\nmethod = \"relay/*\"\n[[grant]]\nname = \"one\"\nmethod = \"stats/*\"\n\
        where = [{ param = \"values/*\", le = 10 }]\ncalls = 1\n[tool.relay]\ntools = [\"stats/*\"]\n";
    let ran = call(&home, bounded, "relay.mean", &json!({ "values": [11] }));
    assert!(message(&ran).contains("values/*"), "{ran}");
    home.file("policy.toml", bounded);
    let script = "const first = await relay.mean({ values: [4] });
        try { await stats.describe({ values: [1] }) } catch (error) { return [first, error.message, budgets()] }";
    let ran = home.js(script, &["--policy", "policy.toml"]);
    assert_eq!(ran["value"][0], 4, "{ran}");
    assert!(ran["value"][1].as_str().is_some_and(|told| told.contains("budget")), "{ran}");
    assert_eq!(ran["budgets"][0]["remaining"], 0, "{ran}");
}

#[test]
fn tool_calls_by_name_only_granted_tools() {
    let home = home();
    let ask = |method: &str, arguments: &str| json!({ "method": method, "arguments": arguments });
    let policy = chain(&["relay"], "stats/describe");
    let ran = call(&home, &policy, "relay.ask", &ask("stats/describe", r#"{"values": [1, 2, 6]}"#));
    let given = ran["value"].as_str().and_then(|json| serde_json::from_str::<Value>(json).ok());
    assert_eq!(given.expect("JSON")["mean"], 3, "{ran}");
    assert_eq!((&ran["calls"][1]["method"], &ran["calls"][1]["outcome"]), (&json!("stats/describe"), &json!("ok")));
    let told = |method: &str, arguments: &str, policy: &str| {
        call(&home, policy, "relay.ask", &ask(method, arguments))["error"]["payload"].clone()
    };
    let failed = told("stats/describe", r#"{"values": []}"#, &policy);
    assert_eq!(failed[0], "tool", "{failed}");
    assert!(failed[2].as_str().is_some_and(|payload| payload.contains("\"kind\":\"empty\"")), "{failed}");
    for (method, arguments, kind, part) in [
        ("stats/quantiles", r#"{"values": [1], "probabilities": [0]}"#, "capability", "may not call `stats/quantiles`"),
        ("relay/catalog", "{}", "capability", "a tool may not call itself"),
        ("nosuch/tool", "{}", "argument", "there is no tool"),
        ("stats/describe", "{", "argument", "not valid JSON"),
        ("stats/describe", r#"{"values": "x"}"#, "argument", "values"),
    ] {
        let failed = told(method, arguments, &policy);
        assert_eq!(failed[0], kind, "{method} {failed}");
        assert!(failed[1].as_str().is_some_and(|message| message.contains(part)), "{method} {failed}");
    }
    let none = told("stats/describe", r#"{"values": [1]}"#, &chain(&["relay"], ""));
    assert_eq!(none[0], "capability", "without a gate of its own: {none}");
}

#[test]
fn tool_catalog_lists_only_granted_tools() {
    let home = home();
    for (granted, methods) in
        [("stats/describe", vec!["stats/describe"]), ("stats/quantiles", vec!["stats/quantiles"]), ("", vec![])]
    {
        let ran = call(&home, &chain(&["relay"], granted), "relay.catalog", &json!({}));
        let catalog: Vec<Value> = ran["value"].as_str().and_then(|json| serde_json::from_str(json).ok()).expect("JSON");
        let named: Vec<&str> = catalog.iter().filter_map(|about| about["method"].as_str()).collect();
        assert_eq!(named, methods, "{granted}: {ran}");
        assert!(catalog.iter().all(|about| about["parameters"].is_object() && about["granted"] == true), "{ran}");
    }
}

#[test]
fn tool_that_calls_itself_in_a_circle_is_denied() {
    let home = home();
    let circle = chain(&["a", "b"], "a/*");
    assert_eq!(call(&home, &circle, "a.again", &json!({ "hops": 1 }))["value"], 1);
    let ran = call(&home, &circle, "a.again", &json!({ "hops": 2 }));
    assert!(message(&ran).contains("a tool may not call itself"), "{ran}");
    let itself = call(&home, &chain(&["a"], "a/*"), "a.again", &json!({ "hops": 1 }));
    assert!(message(&itself).contains("a tool may not call itself"), "{itself}");
    // The session goes on, and each call that was refused is on record as such.
    assert_eq!(itself["calls"][1]["outcome"], "denied", "{itself}");
}

#[test]
fn tool_calls_nested_beyond_the_limit_are_refused() {
    let home = home();
    let names: Vec<String> = (0..12).map(|number| format!("r{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let policy = chain(&names, "");
    assert_eq!(call(&home, &policy, "r0.again", &json!({ "hops": 7 }))["value"], 7);
    let ran = call(&home, &policy, "r0.again", &json!({ "hops": 8 }));
    assert!(message(&ran).contains("at most 8 deep"), "{ran}");
}

#[test]
fn tool_import_is_resolved_by_grants_and_refused_if_ambiguous() {
    let home = home();
    let two = "[tools]\none = \"tollhouse:stats\"\ntwo = \"tollhouse:stats\"\nrelay = \"test:relay\"\n[[grant]]\nmethod = \"**\"\n";
    let ran =
        call(&home, &format!("{two}[tool.relay]\ntools = [\"two/*\"]\n"), "relay.mean", &json!({ "values": [5] }));
    assert_eq!((&ran["value"], &ran["calls"][1]["method"]), (&json!(5), &json!("two/describe")), "{ran}");
    let ran = call(&home, &format!("{two}[tool.relay]\ntools = [\"*/*\"]\n"), "relay.mean", &json!({ "values": [5] }));
    assert!(message(&ran).contains("it is mounted as `one` and `two`"), "{ran}");
}

/// A tool that names what it imports does not thereby choose whose package a grant of the script means.
#[test]
fn tool_import_is_named_by_policy_and_pinned_by_lock() {
    let home = home();
    let named = |tools: &str, granted: &str| {
        format!(
            "[tools]\nrelay = \"test:relay\"\n{tools}[[grant]]\nmethod = \"relay/*\"\n[[grant]]\nmethod = \"stats/*\"\n\
             [tool.relay]\ntools = [{granted}]\n"
        )
    };
    home.file("policy.toml", named("", "\"stats/*\""));
    for verb in [["run", "-e", "1"].as_slice(), &["policy", "check"], &["lock"]] {
        let ran = home.run(verb.iter().chain(&["--policy", "policy.toml"]));
        let told: String = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(told.contains("`relay` imports `tollhouse:stats/stats@0.1.0`"), "{told}");
        assert!(told.contains("add `stats = \"tollhouse:stats@^0.1.0\"` to `[tools]`"), "{told}");
    }
    let stats = "stats = \"tollhouse:stats@^0.1.0\"\n";
    let policy = |granted: &str| named(if granted.is_empty() { "" } else { stats }, granted);
    let four = json!({ "values": [4] });
    assert_eq!(call(&home, &policy("\"stats/*\""), "relay.mean", &four)["value"], 4);
    let lock = || std::fs::read_to_string(home.path().join("tollhouse.lock")).expect("it is written");
    assert_eq!(home.run(["lock", "--policy", "policy.toml"]).status, 0);
    let pins = |text: &str| -> Vec<String> {
        text.lines().filter_map(|line| Some(line.strip_prefix("[tool.")?.trim_end_matches(']').to_owned())).collect()
    };
    assert_eq!(pins(&lock()), ["relay", "stats"], "the filer may not be called");
    assert_eq!(call(&home, &policy("\"stats/*\""), "relay.mean", &four)["value"], 4, "as it is pinned");
    home.file("policy.toml", policy(""));
    let ran = home.run(["run", "--policy", "policy.toml", "-e", "1"]);
    assert!(ran.status == 2 && ran.stderr.contains("`stats`: the lock pins it, but nothing mounts it"), "{ran:?}");
    assert_eq!(home.run(["lock", "--policy", "policy.toml"]).status, 0);
    assert_eq!(pins(&lock()), ["relay"]);
}

#[test]
fn tool_import_is_not_served_by_incompatible_mount() {
    let home = Home::new();
    home.publish(&root().join("tests/fixtures/relay"));
    let other = home.file("other.wasm", components::echo("", "string"));
    let other = other.to_str().expect("it is text");
    let ran = home.run(["publish", other, "--name", "tollhouse:stats", "--version", "0.1.0"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let grants = "[[grant]]\nmethod = \"**\"\n[tool.relay]\ntools = [\"**\"]\n";
    home.file("policy.toml", format!("[tools]\nrelay = \"test:relay\"\n{grants}"));
    let ran = home.run(["lock", "--policy", "policy.toml"]);
    assert!(ran.status == 0 && !ran.stdout.contains("tollhouse:stats"), "{ran:?}");
    assert_eq!(home.run(["run", "--policy", "policy.toml", "-e", "return 1"]).stdout, "1\n");
}

#[test]
fn tool_permissions_that_make_no_sense_are_refused() {
    let home = home();
    for (table, expected) in [
        ("[tool.relais]\ntools = []", "did you mean `tool.relay`?"),
        ("[tool.relay]\nhttp = [\"https://evil.example\"]", "does not request it"),
        ("[tool.relay]\nsecrets = [{ name = \"QUIET\", expose = true }]", "`QUIET` without `expose`"),
        ("[tool.relay]\nsecrets = [{ name = \"OTHER\", expose = true }]", "the secret `OTHER`"),
        ("[tool.relay]\nfiles = [\"/workspace\"]", "files of `/workspace`"),
        ("[tool.relay]\nkeyvalue = [\"default\"]", "the bucket `default`"),
        ("[tool.stats]\ntools = [\"relay/*\"]", "does not request it"),
    ] {
        home.file("policy.toml", format!("[[grant]]\nmethod = \"**\"\n{table}\n"));
        for verb in [["run", "-e", "1"].as_slice(), &["policy", "check"]] {
            let ran = home.run(verb.iter().chain(&["--policy", "policy.toml"]));
            assert_eq!(ran.status, 2, "{table}: {ran:?}");
            let told: String = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(told.contains(expected), "{table}: {}", ran.stderr);
        }
    }
}

const SECRETS: &str = "[[grant]]\nmethod = \"**\"\n[tool.relay]\nhttp = [\"https://api.example\"]\n\
    secrets = [\"QUIET\", { name = \"LOUD\", expose = true }]\n";

#[test]
fn tool_secrets_are_visible_to_their_tool_only() {
    let home = home();
    home.file("policy.toml", SECRETS);
    home.file("loud", "loud-value-1\n");
    let script = "const said = [await relay.environment({})];
        try { await relay.blurt({ name: 'LOUD' }) } catch (error) { said.push(error.message, error.payload) }
        return said";
    let mut run = home.command(["run", "--json", "--policy", "policy.toml", "--audit", "audit.jsonl", "-e", script]);
    run.env("Q", "quiet-value-1").args(["--secret", "QUIET=env:Q", "--secret", "LOUD=file:loud"]);
    let output = run.output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let ran: Value = serde_json::from_slice(&output.stdout).expect("a result");
    assert_eq!(ran["value"][0], json!([["QUIET", "{{secret:QUIET}}"], ["LOUD", "{{secret:LOUD}}"]]), "{ran}");
    assert_eq!(ran["value"][1], "`relay/blurt` failed: it is {{secret:LOUD}}", "what it says is redacted");
    let log = std::fs::read_to_string(home.path().join("audit.jsonl")).expect("it was written");
    assert!(log.contains("out: {{secret:LOUD}}") && log.contains("err: {{secret:LOUD}}"), "{log}");
    for value in ["loud-value-1", "quiet-value-1"] {
        assert!(!text.contains(value) && !log.contains(value), "{value}");
    }
}

#[test]
fn secret_without_source_is_an_error_before_the_run() {
    let home = home();
    home.file("policy.toml", SECRETS);
    let run = |more: &[&str]| {
        let words = ["run", "-e", "console.log('ran')", "--policy", "policy.toml"];
        let ran = home.run(words.iter().chain(more));
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
        ran.stderr
    };
    assert!(run(&[]).contains("--secret LOUD=env:VARIABLE"));
    assert!(run(&["--secret", "LOUD=value"]).contains("has no source"));
    assert!(run(&["--secret", "LOUD=env:NOT_SET_ANYWHERE"]).contains("NOT_SET_ANYWHERE"));
    assert!(run(&["--secret", "LOUD=file:/nowhere"]).contains("/nowhere"));
    home.file("empty", "\n");
    assert!(run(&["--secret", "LOUD=file:empty"]).contains("is empty"));
}
