//! The limit `log`: a run cannot fill the disk with its audit log, whatever it calls and whether it may or not.

use std::path::Path;

use serde_json::{Value, json};
use tollhouse_tests::Home;

/// Bytes of a log behind the limit: the line that says so, that of the run's end, and those of calls that go on.
const BEHIND: u64 = 1000;

const JAVASCRIPT: &str = "for (;;) await probe.length({ text: 'x'.repeat(8000) }).catch(() => {})";
const BASH: &str =
    "text=$(head -c 8000 /dev/zero | tr '\\0' x); while :; do probe length --text \"$text\" 2> /dev/null; done";

fn events(log: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(log).expect("it was written");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn kind(event: &Value) -> &str {
    event["event"].as_str().expect("every line has one")
}

/// The run ended by the limit, said so, and left a log that is whole.
fn is_limited(home: &Home, ran: &Value, log: &str, limit: u64) {
    assert_eq!((&ran["status"], &ran["error"]["kind"]), (&json!("limited"), &json!("limit")), "{ran}");
    let (message, hint) = (ran["error"]["message"].as_str(), ran["error"]["hint"].as_str());
    assert!(message.is_some_and(|told| told.contains("limit `log`") && told.contains(&limit.to_string())), "{ran}");
    assert!(hint.is_some_and(|told| told.contains("raise `log`")), "{ran}");
    let path = home.path().join(log);
    let bytes = std::fs::metadata(&path).expect("it was written").len();
    assert!(bytes > limit / 2 && bytes <= limit + BEHIND, "{bytes} bytes");
    let events = events(&path);
    let at = events.iter().position(|event| kind(event) == "full").expect("the log says that it is full");
    let (full, behind) = (&events[at], &events[at + 1..]);
    // Behind it is only how that ends which had begun.
    let (ended, settled) = behind.split_last().expect("the run ended");
    assert_eq!((kind(ended), &ended["status"]), ("ended", &json!("limited")));
    assert!(settled.len() <= 1 && settled.iter().all(|event| kind(event) == "settled"), "{settled:?}");
    assert_eq!(full["limit"], limit);
    assert!(ended["error"].as_str().is_some_and(|told| told.contains("limit `log`")), "{ended}");
    let checked = home.run(["policy", "audit", log]);
    assert_eq!(checked.status, 0, "{checked:?}");
}

#[test]
fn denied_calls_in_javascript_do_not_fill_the_log() {
    let home = Home::with_fixture();
    let ran = home.js(JAVASCRIPT, &["--audit", "log.jsonl", "--limit", "log=256KiB"]);
    is_limited(&home, &ran, "log.jsonl", 256 << 10);
}

#[test]
fn denied_calls_in_bash_do_not_fill_the_log() {
    let home = Home::with_fixture();
    let ran = home.sh(BASH, &["--audit", "log.jsonl", "--limit", "log=256KiB"]);
    is_limited(&home, &ran, "log.jsonl", 256 << 10);
}

#[test]
fn session_survives_a_run_that_fills_its_log() {
    let home = Home::with_fixture();
    let limited = ["--session", "s", "--allow", "probe/*", "--audit", "log.jsonl", "--limit", "log=64KiB"];
    let script = "await fs.writeFile('kept', 'x'); for (;;) await probe.length({ text: 'x'.repeat(2000) })";
    is_limited(&home, &home.js(script, &limited), "log.jsonl", 64 << 10);
    let code = "return [await fs.readFile('kept', 'utf8'), await probe.length({ text: 'four' })]";
    assert_eq!(home.js(code, &["--session", "s"])["value"], json!(["x", 4]));
    // In the store too.
    let log = home.run(["session", "log", "s", "--run", "1", "--json"]);
    let kinds: Vec<Value> = log.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let last: Vec<&str> = kinds.iter().rev().take(2).map(kind).collect();
    assert_eq!(last, ["ended", "full"], "{log:?}");
    assert_eq!(home.run(["store", "verify"]).status, 0);
}

/// A call without a script.
#[test]
fn call_that_fills_the_log_ends() {
    let home = Home::with_fixture();
    let call = ["call", "probe/length", r#"{"text": "four"}"#, "--allow", "probe/*", "--audit", "log.jsonl"];
    let limited = home.run(call.iter().chain(&["--limit", "log=300B"]));
    assert_eq!(limited.status, 4, "{limited:?}");
    assert!(limited.stderr.contains("limit `log`"), "{limited:?}");
    assert_eq!(home.run(call).stdout.trim(), "4");
    assert_eq!(home.run(["policy", "audit", "log.jsonl"]).status, 0);
}

/// The output of a tool is in the log, so it counts.
#[test]
fn audit_log_limit_counts_output_of_tools() {
    let home = Home::with_fixture();
    let script = "for (;;) await probe.print({ bytes: 4000 })";
    let ran = home.js(script, &["--allow", "probe/*", "--audit", "log.jsonl", "--limit", "log=64KiB"]);
    is_limited(&home, &ran, "log.jsonl", 64 << 10);
}

/// Calls beside each other, in a batch of which one fills its log: the others go on.
#[test]
fn runs_beside_one_that_fills_the_log_go_on() {
    let home = Home::with_fixture();
    let fills = json!({ "id": "fills", "script": "await Promise.all(Array.from({ length: 300 },
        () => probe.length({ text: 'x'.repeat(2000) })))" });
    let goes_on = json!({ "id": "goes on", "script": "return await probe.length({ text: 'four' })" });
    let lines = format!("{fills}\n{goes_on}\n{goes_on}\n");
    let options = ["--jobs", "2", "--allow", "probe/*", "--audit", "log.jsonl", "--limit", "log=128KiB"];
    for answer in home.batch(&lines, &options) {
        match answer["id"].as_str() {
            Some("fills") => assert_eq!(answer["status"], "limited", "{answer}"),
            _ => assert_eq!((&answer["status"], &answer["value"]), (&json!("completed"), &json!(4)), "{answer}"),
        }
    }
    assert_eq!(home.run(["policy", "audit", "log.jsonl"]).status, 0);
}

/// The log takes as much as the limit allows, and a limit that is a byte less is too little.
#[test]
fn run_just_below_the_limit_completes() {
    /// Bytes that a line counts besides its event.
    const ENVELOPE: usize = 224;
    let home = Home::with_fixture();
    let script = "for (let n = 0; n < 20; n++) await probe.length({ text: 'x'.repeat(100 * n) }).catch(() => {})";
    let run = |log: &str, limit: String| home.js(script, &["--audit", log, "--limit", &format!("log={limit}")]);
    assert_eq!(run("first.jsonl", "1MiB".to_owned())["status"], "completed");
    let text = std::fs::read_to_string(home.path().join("first.jsonl")).expect("it was written");
    let counted = |line: &str| {
        let event: Value = serde_json::from_str(line).expect("JSON");
        let envelope = format!(r#""n":{},"time":{},,"prev":{}"#, event["n"], event["time"], event["prev"]);
        line.len() - envelope.len() + ENVELOPE
    };
    let lines: Vec<&str> = text.lines().collect();
    // How a run ends is written in any case.
    let needed: usize = lines[..lines.len() - 1].iter().map(|line| counted(line)).sum();
    assert_eq!(run("enough.jsonl", format!("{needed}B"))["status"], "completed");
    let ran = run("little.jsonl", format!("{}B", needed - 1));
    is_limited(&home, &ran, "little.jsonl", needed as u64 - 1);
}

/// An agent that is a component has no script between it and the gate.
#[test]
fn agent_that_fills_the_log_ends() {
    let home = Home::with_fixture();
    let agent = tollhouse_tests::built().join("../wasm32-wasip2/guest/tollhouse-fixture-agent.wasm");
    assert!(agent.exists(), "{} is not built: run `cargo xtask build`", agent.display());
    let run = |log: &str, limit: &str| {
        let options = ["--allow", "**", "--audit", log, "--limit", limit, "--", "count"];
        home.json(std::iter::once(agent.clone().into_os_string()).chain(options.map(Into::into)))
    };
    is_limited(&home, &run("log.jsonl", "log=1200B"), "log.jsonl", 1200);
    assert_eq!(run("other.jsonl", "log=1MiB")["status"], "completed");
}
