//! The examples, as `cargo xtask demo` runs them.

use serde_json::Value;
use tollhouse_tests::{Home, root};

fn run(script: &str, policy: &str) -> Value {
    let home = Home::with_tools(&["csv", "stats", "text", "markdown"]);
    let examples = root().join("examples");
    let mount = format!("{}:/workspace/data:ro", examples.join("data").display());
    let (script, policy) = (examples.join(script), examples.join(policy));
    home.json([script.as_os_str(), "--policy".as_ref(), policy.as_os_str(), "--mount".as_ref(), mount.as_ref()])
}

#[test]
fn demo_report_is_written_from_real_data() {
    let ran = run("report.js", "report.policy.toml");
    assert_eq!(ran["status"], "completed", "{}", ran["error"]);
    let calls = ran["calls"].as_array().expect("an array");
    assert!(calls.len() >= 10, "{} calls", calls.len());
    assert!(calls.iter().all(|call| call["outcome"] == "ok"));
    assert_eq!(ran["value"]["days"], 1_461);
    assert!(ran["usage"]["file_bytes"].as_u64().is_some_and(|bytes| bytes > 50_000), "the report was written");
    assert!(ran["budgets"].as_array().is_some_and(|budgets| !budgets.is_empty()));
}

#[test]
fn demo_of_a_denied_call_is_caught_and_completes() {
    let ran = run("denied.js", "denied.policy.toml");
    assert_eq!(ran["status"], "completed", "{}", ran["error"]);
    let outcomes: Vec<&str> =
        ran["calls"].as_array().expect("an array").iter().filter_map(|call| call["outcome"].as_str()).collect();
    assert!(outcomes.contains(&"denied") && outcomes.contains(&"ok"), "{outcomes:?}");
}
