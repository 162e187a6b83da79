//! Agents that are components: their imports lead to the gate, or to an error that names them.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};
use tollhouse_tests::{Home, built, components};

fn built_agent(name: &str) -> PathBuf {
    let path = built().join("../wasm32-wasip2/guest").join(name);
    assert!(path.exists(), "{} is not built: run `cargo xtask build`", path.display());
    path
}

/// Runs the fixture in one of its modes.
fn agent(home: &Home, arguments: &[&str], mode: &[&str]) -> Value {
    let agent = built_agent("tollhouse-fixture-agent.wasm");
    let words = arguments.iter().copied().chain(["--"]).chain(mode.iter().copied());
    home.json(std::iter::once(agent.into_os_string()).chain(words.map(Into::into)))
}

#[test]
fn agent_calls_a_tool_that_it_imports() {
    let home = Home::with_tools(&["stats"]);
    let mut run = home.command(["run", "--json", "--allow", "stats/*"]);
    run.arg(built_agent("tollhouse-example-agent.wasm")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = run.spawn().expect("the binary is built");
    child.stdin.take().expect("it is piped").write_all(b"1\n2\n3.5\n").expect("it reads");
    let ran: Value = serde_json::from_slice(&child.wait_with_output().expect("it ends").stdout).expect("a result");
    assert_eq!(ran["stdout"], "3 values, mean 2.1666666666666665, from 1 to 3.5\n", "{ran}");
    assert_eq!((&ran["status"], &ran["exit_code"]), (&json!("completed"), &json!(0)));
    let call = &ran["calls"][0];
    assert_eq!((&call["method"], &call["outcome"]), (&json!("stats/describe"), &json!("ok")));
    assert_eq!(call["arguments"], json!({ "values": [1, 2, 3.5] }));
}

#[test]
fn agent_import_without_grant_is_denied_by_name() {
    let home = Home::with_fixture();
    let ran = agent(&home, &[], &["echo"]);
    assert_eq!((&ran["status"], &ran["error"]["kind"]), (&json!("denied"), &json!("capability")), "{ran}");
    assert!(ran["error"]["message"].as_str().is_some_and(|told| told.contains("test:probe/probe@0.1.0")), "{ran}");
    assert_eq!((&ran["stdout"], &ran["calls"]), (&json!(""), &json!([])), "nothing ran");
    let path = built_agent("tollhouse-fixture-agent.wasm");
    assert_eq!(home.run(["run".into(), path.into_os_string()]).status, 3);
}

#[test]
fn agent_import_without_exporting_tool_fails_by_name() {
    let ran = agent(&Home::new(), &["--allow", "**"], &["echo"]);
    assert_eq!((&ran["status"], &ran["error"]["kind"]), (&json!("failed"), &json!("policy")), "{ran}");
    assert!(ran["error"]["message"].as_str().is_some_and(|told| told.contains("test:probe/probe@0.1.0")), "{ran}");
    assert_eq!(ran["exit_code"], 2);
}

#[test]
fn agent_import_of_other_types_is_refused() {
    let home = Home::with_tools(&["stats"]);
    let wit = "package a:b;
        world w { import tollhouse:stats/stats@0.1.0; }
        package tollhouse:stats@0.1.0 { interface stats { describe: func(values: list<u8>) -> u32; } }";
    let module = r#"(module (import "tollhouse:stats/stats@0.1.0" "describe" (func (param i32 i32) (result i32)))
        (memory (export "memory") 1)
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) unreachable))"#;
    let path = home.file("agent.wasm", components::encode(wit, "w", module));
    let ran = home.json([path.into_os_string(), "--allow".into(), "**".into()]);
    assert_eq!(ran["error"]["kind"], "policy", "{ran}");
    assert!(ran["error"]["message"].as_str().is_some_and(|told| told.contains("`values` is a list of f64")), "{ran}");
}

#[test]
fn agent_holds_resources_of_tools() {
    let home = Home::with_fixture();
    let ran = agent(&home, &["--allow", "**"], &["count"]);
    assert_eq!((&ran["stdout"], &ran["status"]), (&json!("7 101 10\n102\n"), &json!("completed")), "{ran}");
    let methods: Vec<&str> =
        ran["calls"].as_array().expect("calls").iter().filter_map(|c| c["method"].as_str()).collect();
    let count = |name: &str| methods.iter().filter(|method| method.ends_with(name)).count();
    assert_eq!((count("counter/new"), count("counter/increment"), count("counter/drop")), (2, 4, 2), "{methods:?}");
    // Each of its functions is granted by itself; one that may not be dropped ends with the run.
    let some = ["--allow", "probe/*", "--allow", "probe/counter/new", "--allow", "probe/counter/increment"];
    let ran = agent(&home, &some, &["count"]);
    assert_eq!((&ran["stdout"], ran["calls"].as_array().map(Vec::len)), (&json!("7 101 10\n102\n"), Some(6)), "{ran}");
    let ran = agent(&home, &["--allow", "probe/*", "--allow", "probe/counter/new"], &["count"]);
    assert_eq!((&ran["status"], &ran["stdout"]), (&json!("denied"), &json!("")), "{ran}");
}

#[test]
fn agent_has_input_arguments_environment_and_status() {
    let home = Home::with_fixture();
    let ran = agent(&home, &["--allow", "**", "--env", "GREETING=hello"], &["echo", "a", "b c"]);
    assert_eq!((&ran["stdout"], &ran["stderr"]), (&json!("hello"), &json!("[\"a\", \"b c\"]")), "{ran}");
    let ran = agent(&home, &["--allow", "**"], &["exit"]);
    assert_eq!((&ran["status"], &ran["error"]["kind"]), (&json!("failed"), &json!("exit")), "{ran}");
    let ran = agent(&home, &["--allow", "**"], &["panic"]);
    assert_eq!((&ran["status"], &ran["error"]["name"]), (&json!("failed"), &json!("Trap")), "{ran}");
    assert!(ran["stderr"].as_str().is_some_and(|told| told.contains("the reason")), "{ran}");
}

#[test]
fn failures_reach_the_agent_as_far_as_its_types_go() {
    let home = Home::with_fixture();
    // The tool's own error, with its payload.
    assert_eq!(agent(&home, &["--allow", "**"], &["fail"])["stdout"], "Err(\"problem 7\")\n");
    // A denial, where the error is a text; the agent goes on.
    home.file("none.toml", "[[grant]]\nname = 'none'\nmethod = 'probe/**'\ncalls = 0\n");
    let ran = agent(&home, &["--policy", "none.toml"], &["text"]);
    assert!(ran["stdout"].as_str().is_some_and(|told| told.starts_with("Err(\"CapabilityError: ")), "{ran}");
    assert_eq!((&ran["status"], &ran["calls"][0]["outcome"]), (&json!("completed"), &json!("denied")), "{ran}");
    // A denial that its types have no word for ends it.
    let ran = agent(&home, &["--policy", "none.toml"], &["length"]);
    assert_eq!((&ran["status"], &ran["error"]["kind"]), (&json!("denied"), &json!("capability")), "{ran}");
}

#[test]
fn agent_beyond_limits_is_stopped_and_the_next_run_works() {
    let home = Home::with_fixture();
    home.file("limits.toml", "[[grant]]\nmethod = '**'\n[limits]\nwall = '400ms'\nmemory = '64MiB'\noutput = '1MiB'\n");
    for (mode, told) in [("spin", "400 ms"), ("sleep", "400 ms"), ("print", "1048576 bytes"), ("allocate", "67108864")]
    {
        let ran = agent(&home, &["--policy", "limits.toml"], &[mode]);
        assert_eq!((&ran["status"], &ran["error"]["kind"]), (&json!("limited"), &json!("limit")), "{mode}: {ran}");
        assert!(
            ran["error"]["message"].as_str().is_some_and(|message| message.contains(told)),
            "{mode}: {}",
            ran["error"]
        );
    }
    assert_eq!(agent(&home, &["--policy", "limits.toml"], &["length"])["stdout"], "4\n");
}

#[test]
fn agent_input_without_end_blocks_only_agents_that_read_it() {
    let home = Home::with_fixture();
    let run = |mode: &str| {
        let mut run = home.command(["run", "--json", "--allow", "**", "--timeout", "500ms"]);
        run.arg(built_agent("tollhouse-fixture-agent.wasm")).args(["--", mode]);
        let mut child = run.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary is built");
        // Held open until the run has ended.
        let input = child.stdin.take();
        let output = child.wait_with_output().expect("it ends");
        drop(input);
        serde_json::from_slice::<Value>(&output.stdout).expect("a result")
    };
    assert_eq!(run("length")["stdout"], "4\n");
    assert_eq!(run("echo")["status"], "limited");
}

#[test]
fn file_that_is_no_agent_is_refused_with_reason() {
    let home = Home::with_tools(&["stats"]);
    let tool = built_agent("tollhouse_tool_stats.wasm");
    let ran = home.json([tool.into_os_string()]);
    assert_eq!(ran["status"], "failed", "{ran}");
    assert!(ran["error"]["message"].as_str().is_some_and(|told| told.contains("wasi:cli/run")), "{ran}");
    for bytes in [&b"\0asm\x01\0\0\0"[..], b"\0asm\x0d\0\x01\0garbage"] {
        let path = home.file("bad.wasm", bytes);
        let ran = home.json([path.into_os_string()]);
        assert_eq!((&ran["status"], &ran["error"]["kind"]), (&json!("failed"), &json!("argument")), "{ran}");
    }
}
