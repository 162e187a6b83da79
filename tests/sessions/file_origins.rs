//! `session why`: the run that left a file as it is, and the calls that its content can come from.

use serde_json::Value;
use tollhouse_tests::{Home, root};

const POLICY: &str = "[tools]\nstats = 'tollhouse:stats@*'\nfiler = 'test:filer@*'\n[[grant]]\nmethod = '**'\n\
    [tool.filer]\nfiles = ['/workspace']\n[journal]\nkeep = 'all'\n";

/// Permissions that the manifest of the tool requests.
const FILES: &str = "[permissions]\nfiles = ['/workspace']";

fn why(home: &Home, point: &str, path: &str) -> Value {
    let ran = home.run(["session", "why", point, path, "--json"]);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
}

fn run(home: &Home, script: &str) {
    let ran = home.run(["run", "-e", script, "--policy", "policy.toml", "--session", "s"]);
    assert_eq!(ran.status, 0, "{ran:?}");
}

fn numbers(calls: &Value) -> Vec<u64> {
    calls.as_array().expect("calls").iter().map(|call| call["seq"].as_u64().expect("a number")).collect()
}

/// A script writes one file before it has any result, one after the first and one after the second, and changes one of them in
/// a second run.
#[test]
fn file_of_a_script_comes_from_the_calls_whose_results_it_had() {
    let home = Home::with_tools(&["stats"]);
    home.publish_with(&root().join("tests/fixtures/filer"), "tollhouse_fixture_filer.wasm", FILES);
    home.file("policy.toml", POLICY);
    run(
        &home,
        "const fs = require('node:fs'); const put = name => fs.writeFileSync(`/workspace/${name}`, name);
         put('zero'); await stats.describe({values: [1]});
         put('one'); await new Promise(done => setTimeout(done, 20)); await stats.describe({values: [2]});
         put('two')",
    );
    run(&home, "require('node:fs').appendFileSync('/workspace/one', 'more')");
    for (point, path, run, after) in
        [("s", "zero", 1, vec![]), ("s@1", "one", 1, vec![1]), ("s", "one", 2, vec![]), ("s", "two", 1, vec![1, 2])]
    {
        let origin = why(&home, point, &format!("/workspace/{path}"));
        assert_eq!(origin["run"], run, "{point} {path}: {origin}");
        assert_eq!(origin["written_by"]["by"], "script", "{point} {path}: {origin}");
        assert_eq!(numbers(&origin["after"]), after, "{point} {path}: {origin}");
    }
    let text = home.run("session why s /workspace/two".split(' ')).stdout;
    assert!(text.contains("left by the script in s@1") && text.contains("stats/describe  {\"values\":[2]}"), "{text}");
}

/// The tool that wrote a file last is named, until the script writes the file itself.
#[test]
fn file_of_a_tool_comes_from_its_call() {
    let home = Home::with_tools(&["stats"]);
    home.publish_with(&root().join("tests/fixtures/filer"), "tollhouse_fixture_filer.wasm", FILES);
    home.file("policy.toml", POLICY);
    run(
        &home,
        "const fs = require('node:fs');
         for (const name of ['a', 'b']) await filer.write({path: `/workspace/${name}`, text: 'by a tool'});
         await new Promise(done => setTimeout(done, 20)); fs.writeFileSync('/workspace/b', 'by the script')",
    );
    let by_tool = why(&home, "s", "/workspace/a");
    assert_eq!((&by_tool["written_by"]["by"], &by_tool["written_by"]["seq"]), (&"call".into(), &1.into()), "{by_tool}");
    assert_eq!(by_tool["written_by"]["arguments"]["text"], "by a tool");
    let by_script = why(&home, "s", "/workspace/b");
    assert_eq!(by_script["written_by"]["by"], "script", "{by_script}");
    assert_eq!(numbers(&by_script["after"]), [1, 2]);
}

/// What was there when the session was created, what a person put there, and what never was.
#[test]
fn file_that_no_run_wrote_says_so() {
    let home = Home::with_tools(&["stats"]);
    home.publish_with(&root().join("tests/fixtures/filer"), "tollhouse_fixture_filer.wasm", FILES);
    home.file("policy.toml", POLICY);
    run(&home, "return 1");
    let ran = home.run("session put s policy.toml /workspace/p".split(' '));
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(why(&home, "s", "/workspace/p")["written_by"]["by"], "change");
    let none = home.run("session why s /workspace/none".split(' '));
    assert!(none.status == 1 && none.stderr.contains("there was never a file"), "{none:?}");
    let relative = home.run("session why s workspace/p".split(' '));
    assert_eq!(relative.status, 2, "{relative:?}");
    assert!(relative.stderr.contains("`/workspace/workspace/p`"), "{relative:?}");
}
