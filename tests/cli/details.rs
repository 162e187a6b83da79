//! Commands that answer in the user's terms: publishing without cargo, short names, clipped logs, a store that is whole.

use std::fs;

use serde_json::Value;
use tollhouse_tests::{Home, Ran, built, root};

/// Words, wherever the lines are broken.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn publish_needs_no_cargo_where_the_component_is_built() {
    let home = Home::new();
    let package = home.path().join("stats");
    let places = package.join("target/wasm32-wasip2/release");
    fs::create_dir_all(&places).expect("the home can be written");
    fs::create_dir_all(package.join("wit")).expect("the home can be written");
    let source = root().join("tools/stats");
    for file in ["Cargo.toml", "tool.toml"] {
        fs::copy(source.join(file), package.join(file)).expect("it is there");
    }
    for entry in fs::read_dir(source.join("wit")).expect("it has WIT") {
        let wit = entry.expect("it can be read");
        fs::copy(wit.path(), package.join("wit").join(wit.file_name())).expect("it can be copied");
    }
    // Without PATH there is no cargo.
    let missing = home.run(["publish", "stats"]);
    assert_eq!(missing.status, 2, "{missing:?}");
    let said = words(&missing.stderr);
    assert!(said.contains("no built component of") && said.contains("cargo is not installed"), "{said}");
    let name = "tollhouse_tool_stats.wasm";
    fs::copy(built().join("../wasm32-wasip2/guest").join(name), places.join(name)).expect("it is built");
    let published = home.run(["publish", "stats"]);
    assert_eq!(published.status, 0, "{published:?}");
    // With its docs.
    assert!(words(&home.run(["registry", "show", "stats"]).stdout).contains("///"), "the WIT has comments");
}

#[test]
fn publish_of_a_bare_component_says_what_it_blocks() {
    let home = Home::new();
    let component = built().join("../wasm32-wasip2/guest/tollhouse_tool_stats.wasm");
    let published = home.run(["publish", &component.display().to_string()]);
    assert_eq!(published.status, 0, "{published:?}");
    let said = words(&published.stderr);
    assert!(said.contains("without docs, manifest and examples") && said.contains("another version"), "{said}");
}

#[test]
fn registry_show_takes_a_short_name() {
    let home = Home::with_fixture();
    let shown = home.run(["registry", "show", "probe", "--json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).expect("JSON");
    assert_eq!(shown["name"], "test:probe");
    assert_eq!(home.run(["registry", "show", "probe@^0.1"]).status, 0);
    let unknown = home.run(["registry", "show", "nope"]);
    assert!(unknown.status == 1 && unknown.stderr.contains("no package `nope`"), "{unknown:?}");
    let listed = home.run(["registry", "ls"]).stdout;
    assert!(listed.starts_with("PACKAGE"), "{listed}");
}

#[test]
fn log_clips_long_values_unless_they_are_to_be_whole() {
    let home = Home::with_fixture();
    let long = "x".repeat(5_000);
    let script = format!("await probe.length({{text: '{long}'}})");
    assert_eq!(home.js(&script, &["--allow", "**", "--session", "s"])["status"], "completed");
    let clipped = home.run(["session", "log", "s"]).stdout;
    assert!(clipped.lines().all(|line| line.len() < 2_000) && clipped.contains("bytes)"), "{clipped}");
    assert!(home.run(["session", "log", "s", "--whole"]).stdout.contains(&long));
    assert!(home.run(["session", "log", "s", "--json"]).stdout.contains(&long));
}

#[test]
fn repair_of_a_whole_store_changes_nothing() {
    let home = Home::new();
    home.js("await fs.writeFile('a', 'b')", &["--session", "s"]);
    let repaired = home.run(["store", "repair"]);
    assert_eq!((repaired.status, repaired.stdout.as_str()), (0, "the store is whole: there is nothing to repair\n"));
    let kept = fs::read_dir(home.path().join("tollhouse/store/records")).expect("the store is there");
    let names: Vec<String> = kept.map(|entry| entry.expect("it lists").file_name().to_string_lossy().into()).collect();
    assert!(!names.iter().any(|name| name.starts_with("damaged")), "{names:?}");
    assert_eq!(home.run(["session", "cat", "s", "/workspace/a"]).stdout, "b");
}

#[test]
fn keys_of_both_kinds_are_read_by_both() {
    let home = Home::with_fixture();
    assert_eq!(home.run(["policy", "keygen", "policy.key"]).status, 0);
    assert_eq!(home.run(["registry", "keygen", "--out", "registry.key"]).status, 0);
    assert!(home.path().join("registry.key.pub").exists());
    // The registry signs with a key of policies, and trusts it.
    assert_eq!(home.run(["registry", "sign", "test:probe@0.1.0", "--key", "policy.key"]).status, 0);
    // A token is sealed with a key of the registry.
    home.file("p.toml", "[[grant]]\nmethod = 'probe/**'\n");
    let sealed = home.run(["policy", "seal", "p.toml", "--key", "registry.key"]);
    assert_eq!(sealed.status, 0, "{sealed:?}");
    home.file("token", &sealed.stdout);
    let call = "return await probe.length({text: 'four'})";
    let ran = home.run(["run", "--token", "token", "--trust", "registry.key.pub", "-e", call]);
    assert_eq!(ran.stdout, "4\n", "{ran:?}");
}

#[test]
fn doctor_reports_an_unusable_cache() {
    let home = Home::new();
    let file = home.file("no-directory", "");
    let mut command = home.command(["doctor"]);
    let ran = tollhouse_tests::Ran::of(&command.env("XDG_CACHE_HOME", file).output().expect("it runs"));
    assert!(ran.stdout.contains("FAIL cache") && !ran.stdout.contains("ok   cache"), "{ran:?}");
}

#[test]
fn tools_describe_in_whole_sentences() {
    let home = Home::with_tools(&["stats"]);
    let listed = home.run(["tools"]).stdout;
    assert!(listed.lines().all(|line| line.trim_end().ends_with(['.', '-'])), "{listed}");
}

#[test]
fn diagnostics_tell_the_life_of_a_call_and_nothing_of_its_data() {
    let home = Home::with_fixture();
    let script = home.file("a\u{9b}2J\u{202e}.sh", "probe length --text sesame; probe spin");
    let run = |level: &str| {
        let script = script.to_str().expect("a text");
        let mut command = home.command(["run", script, "--allow", "probe/length", "--session", "s"]);
        Ran::of(&command.env("TOLLHOUSE_LOG", level).output().expect("it runs"))
    };
    let ran = run("debug");
    for expected in [
        "tollhouse::run: started run=1",
        "run{session=s number=1 language=Shell}: tollhouse::call: admitted run=1 seq=1",
        "method=\"probe/length\"",
        "tollhouse::call: settled run=1 seq=1 outcome=Ok micros=",
        "tollhouse::call: denied run=1 seq=2",
        "tollhouse::store: committed batches=",
        "tollhouse::run: ended run=1 status=\"failed\"",
    ] {
        assert!(ran.stderr.contains(expected), "{expected}: {ran:?}");
    }
    assert!(!ran.stderr.contains("sesame"), "{ran:?}");
    assert!(!ran.stderr.contains(['\u{9b}', '\u{202e}']), "{ran:?}");
    let ran = run("tollhouse::store=debug");
    assert!(ran.stderr.contains("tollhouse::store: ") && !ran.stderr.contains("tollhouse::call: "), "{ran:?}");
    let ran = run("loud=very");
    assert!(ran.status == 2 && ran.stderr.contains("such as `TOLLHOUSE_LOG=debug`"), "{ran:?}");
}
