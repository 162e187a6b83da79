//! Where a script makes a call that waits for approval: a hint for whoever decides, in a list of calls and in a question.

use serde_json::{Value, json};
use tollhouse_tests::Home;
use tollhouse_tests::screen::TerminalScreen;

const POLICY: &str = "[tools]\nstats = 'tollhouse:stats@*'\nhttp = 'tollhouse:http@*'\n\
    [[grant]]\nmethod = 'stats/**'\napprove = true\n[[grant]]\nmethod = 'http/**'\napprove = true\n\
    [tool.http]\nhttp = ['example.test']\n";

fn home() -> Home {
    let home = Home::with_tools(&["stats", "http"]);
    home.file("policy.toml", POLICY);
    home
}

/// Runs a file in a session, and returns the calls that wait: file, line and method.
fn waiting(home: &Home, name: &str, script: &str) -> Vec<Value> {
    home.file(name, script);
    let session = name.replace('.', "-");
    let ran = home.run(["run", name, "--policy", "policy.toml", "--session", &session]);
    assert_eq!(ran.status, 5, "{name}: {ran:?}");
    let listed = home.run(["session", "pending", &session, "--json"]);
    let calls: Vec<Value> = serde_json::from_str(&listed.stdout).unwrap_or_else(|_| panic!("{listed:?}"));
    calls.into_iter().map(|call| json!([call["file"], call["line"], call["method"]])).collect()
}

#[test]
fn pending_call_of_javascript_has_the_line_of_the_script() {
    let home = home();
    let direct = "const one = 1;\nfunction mean(values) {\n  return stats.describe({ values });\n}\n\
        await Promise.all([mean([one]),\n  stats.describe({ values: [2] }, {}),\n  fetch('https://example.test/x')]);";
    let expected = [
        json!(["direct.js", 3, "stats/describe"]),
        json!(["direct.js", 6, "stats/describe"]),
        json!(["direct.js", 7, "http/fetch"]),
    ];
    assert_eq!(waiting(&home, "direct.js", direct), expected);
    // After an `await`, in a type-stripped file, and in a file that the script imports.
    let later = "type N = number;\nawait new Promise((done) => setTimeout(done, 1));\n\nconst n: N = 3;\n\
        await stats.describe({ values: [n] });";
    assert_eq!(waiting(&home, "later.ts", later), [json!(["later.ts", 5, "stats/describe"])]);
    let imports = "const fs = require('fs');\nfs.writeFileSync('/workspace/lib.js', '\\n\\nmodule.exports = () => stats.describe({ values: [1] });');\n\
        await require('/workspace/lib.js')();";
    assert_eq!(waiting(&home, "imports.js", imports), [json!(["/workspace/lib.js", 3, "stats/describe"])]);
}

#[test]
fn pending_call_of_bash_has_the_line_of_the_command() {
    let home = home();
    let direct = "x=1\nf() {\n  stats describe --values \"[$1]\"\n}\nf $x";
    assert_eq!(waiting(&home, "direct.sh", direct), [json!(["direct.sh", 3, "stats/describe"])]);
    let jobs =
        "for i in 1 2; do\n  stats describe --values \"[$i]\" &\ndone\n\ncurl -s https://example.test/x | cat\nwait";
    let mut calls = waiting(&home, "jobs.sh", jobs);
    calls.sort_by_key(|call| call[1].as_u64());
    let expected = [2, 2].map(|line| json!(["jobs.sh", line, "stats/describe"]));
    assert_eq!(calls, [&expected[..], &[json!(["jobs.sh", 5, "http/fetch"])]].concat());
    let sourced = "echo '\n' > /dev/null\nprintf '\\nstats describe --values \"[1]\"\\n' > lib.sh\n. ./lib.sh";
    assert_eq!(waiting(&home, "sourced.sh", sourced), [json!(["./lib.sh", 2, "stats/describe"])]);
}

/// A place is foreign text: it is cut, and its control characters are shown.
#[test]
fn place_of_a_call_is_escaped_and_cut() {
    let home = home();
    let long = format!("{}/{}.js", "d".repeat(200), "x".repeat(200));
    std::fs::create_dir(home.path().join("d".repeat(200))).expect("the home can be written");
    let calls = "const f = new Function('return stats.describe({values: [1]})'); await f();";
    for (name, session) in [(long.as_str(), "s"), ("a\u{1b}[31m.js", "t")] {
        home.file(name, calls);
        let ran = home.run(["run", name, "--policy", "policy.toml", "--session", session]);
        assert_eq!(ran.status, 5, "{ran:?}");
    }
    for session in ["s", "t"] {
        let shown = home.run(["session", "pending", session]);
        assert!(!shown.stdout.contains('\u{1b}') && shown.stdout.lines().all(|line| line.len() < 400), "{shown:?}");
        let calls: Vec<Value> =
            serde_json::from_str(&home.run(["session", "pending", session, "--json"]).stdout).expect("JSON");
        assert!(calls[0]["file"].as_str().is_some_and(|file| file.len() <= 256), "{calls:?}");
    }
    assert!(home.run(["session", "pending", "t"]).stdout.contains("  at a\\u{1b}[31m.js:1\n"));
}

/// The decision is about the call, wherever it is made.
#[test]
fn place_of_a_call_is_shown_and_no_part_of_the_decision() {
    let home = home();
    home.file("pay.js", "\n\nreturn (await stats.describe({ values: [1, 3] })).mean;");
    assert_eq!(home.run(["run", "pay.js", "--policy", "policy.toml", "--session", "s"]).status, 5);
    let shown = home.run(["session", "pending", "s"]).stdout;
    assert_eq!(shown.lines().nth(1), Some("  at pay.js:3"), "{shown}");
    // Resumed without a decision, it waits as before.
    assert_eq!(home.run(["session", "resume", "s"]).status, 5);
    assert_eq!(home.run(["session", "pending", "s"]).stdout, shown);
    assert_eq!(home.run(["session", "approve", "s"]).status, 0);
    assert_eq!(home.run(["session", "resume", "s"]).stdout, "2\n");
}

#[test]
fn question_on_the_terminal_says_where_the_script_calls() {
    let home = home();
    home.file("pay.js", "\nreturn (await stats.describe({ values: [1, 3] })).mean;");
    let mut screen = TerminalScreen::start(&home, &["run", "pay.js", "--policy", "policy.toml"], 30, 90);
    let question = screen.asks();
    assert_eq!(question[1], "  caller   the script, at pay.js:2", "{question:?}");
    screen.types("n\n");
    let _ = screen.ends();
}
