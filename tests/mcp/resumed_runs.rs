//! Runs that call tools of MCP servers, and are resumed with or without these servers.

use serde_json::{Value, json};
use tollhouse_tests::Home;
use tollhouse_tests::mcp_server::policy_of;

const ALLOWED: [&str; 4] = ["--policy", "policy.toml", "--allow-exec", "fix"];

/// Home whose policy mounts the fixture and asks before sums from 10 on.
fn asking_home() -> Home {
    let home = Home::new();
    let asks = "method = \"fix/add\"\napprove = { param = \"a\", ge = 10 }\n[[grant]]\nmethod = \"fix/echo\"";
    home.file("policy.toml", policy_of("fix", "normal", "").replace("method = \"fix/**\"", asks));
    let ran = home.run(["mcp", "lock", "--policy", "policy.toml", "--allow-exec", "fix"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    home
}

fn resume(home: &Home, options: &[&str]) -> (i32, String, Value) {
    let ran = home.run(["session", "resume", "s", "--json"].iter().chain(options));
    (ran.status, ran.stderr, serde_json::from_str(&ran.stdout).unwrap_or_default())
}

#[test]
fn run_that_waits_for_a_call_of_a_server_is_not_resumed_without_it_and_is_not_lost() {
    for first in ["", "await fix.echo({text: 'x'});"] {
        let home = asking_home();
        let script = format!("{first} return (await fix.add({{a: 40, b: 2}})).sum");
        let waits = home.js(&script, &[&["--session", "s"], &ALLOWED[..]].concat());
        assert_eq!(waits["status"], "suspended", "{waits}");
        assert_eq!(home.run(["session", "approve", "s"]).status, 0);
        for options in [&[][..], &ALLOWED[..2]] {
            let (status, told, _) = resume(&home, options);
            assert_eq!(status, 2, "{told}");
            assert!(told.contains("the MCP server `fix` is not started"), "{told}");
            assert!(told.contains("--allow-exec fix"), "{told}");
        }
        let (status, told, result) = resume(&home, &ALLOWED);
        assert_eq!((status, &result["value"]), (0, &json!(42)), "{told} {result}");
    }
}
