//! Starts and calls, measured in the same run as Node.js and the seed system (amla-sandbox).

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tollhouse::capability::{Grant, Policy, param};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{Host, HostOptions, RunOptions, Session, SessionOptions, Status};
use tollhouse_tests::{Home, root};

use crate::table::{median, row};

/// Number of calls that one script makes, so that the cost of a script does not hide that of a call.
const CALLS: u32 = 1_000;

/// Measures calls of tools.
pub(crate) fn measure() {
    let seed = seed();
    let seed = |figure: &str| seed[figure].as_f64().map(Duration::from_secs_f64);
    let home = Home::with_tools(&["stats"]);
    row("process start to \"hi\"", process(&home), "20 ms", node(), seed("process"));
    let host = host(home.path());
    let fresh = median(500, || run(&session(&host), Language::JavaScript, "return 1"));
    row("fresh JavaScript sandbox, `return 1`, in process", fresh, "0.1 ms", None, seed("sandbox"));
    let made = median(500, || drop(session(&host)));
    row("  of that, the session: mounts, grants, accounts", made, "", None, None);
    let shell = median(200, || run(&session(&host), Language::Shell, "echo 1"));
    row("fresh shell sandbox, `echo 1`, in process", shell, "", None, None);
    row("tool call from JavaScript, fresh tool instance", calls(&host), "40 us", None, seed("call"));
    let warm = Home::new();
    warm.publish_with(&root().join("tools/stats"), "tollhouse_tool_stats.wasm", "instance = \"session\"");
    let host = self::host(warm.path());
    row("tool call from JavaScript, warm tool instance", calls(&host), "15 us", None, None);
    for grants in [1, 10, 1_000] {
        let aim = if grants == 10 { "1 us" } else { "" };
        row(&format!("gate: check and debit, {grants} grants of ten clauses"), gate(&host, grants), aim, None, None);
    }
}

/// Creates a host with the registry of a home.
pub(crate) fn host(home: &Path) -> Host {
    let options = HostOptions {
        cache: Some(home.join("bench-cache")),
        registry: Some(home.join("tollhouse/registry")),
        ..HostOptions::default()
    };
    Host::new(&options).expect("the engines start")
}

/// Measures the time from the start of the process to the output "hi", with everything compiled before.
fn process(home: &Home) -> Duration {
    median(30, || {
        let status = home.command(["run", "-e", "console.log('hi')"]).stdout(Stdio::null()).status();
        assert!(status.expect("the binary is built").success());
    })
}

/// Returns the time in which Node.js starts and prints a word, or `None` if it is not installed.
fn node() -> Option<Duration> {
    let start = || Command::new("node").args(["-e", "console.log('hi')"]).stdout(Stdio::null()).status();
    start().ok().filter(std::process::ExitStatus::success)?;
    Some(median(30, || assert!(start().expect("it ran before").success())))
}

/// Returns the figures of the seed system, or null if `cargo xtask bench` could not install it.
fn seed() -> Value {
    let measured = std::env::var_os("TOLLHOUSE_BENCH_PYTHON").and_then(|python| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/seed.py");
        Command::new(python).arg(script).stderr(Stdio::inherit()).output().ok()
    });
    measured.and_then(|output| serde_json::from_slice(&output.stdout).ok()).unwrap_or_default()
}

pub(crate) fn session(host: &Host) -> Session {
    let policy = Policy::default().with(Grant::allow("**").expect("it is a pattern"));
    host.session(SessionOptions { policy, ..SessionOptions::default() }).expect("a session")
}

pub(crate) fn run(session: &Session, language: Language, source: &str) {
    let script = Script { source: source.to_owned(), name: "bench".to_owned(), ..Script::default() };
    let result = session.start(language, script, RunOptions::default()).expect("a run").finish();
    assert_eq!(result.status, Status::Completed, "{:?}", result.error);
}

/// Returns the time of a call, from the difference between a script that makes many calls and one that makes none.
fn calls(host: &Host) -> Duration {
    let loop_of = |calls: u32| format!("for (let i = 0; i < {calls}; i++) await stats.describe({{values: [1, 2, 3]}})");
    let session = session(host);
    run(&session, Language::JavaScript, &loop_of(1));
    let many = median(7, || run(&session, Language::JavaScript, &loop_of(CALLS)));
    let none = median(7, || run(&session, Language::JavaScript, &loop_of(0)));
    many.saturating_sub(none) / CALLS
}

/// Measures the check and the debit of an allowed call, and the refund of that debit. Only the last of `grants` grants
/// allows the call; every other one fails at the last of its ten clauses.
fn gate(host: &Host, grants: u32) -> Duration {
    let mut policy = Policy::default();
    for index in 0..grants {
        let most = if index + 1 == grants { 100 } else { 1 };
        let clauses = (0..10).map(|clause| {
            let limit = if clause == 9 { most } else { 100 };
            param("values/0").expect("a path").at_most(limit).into()
        });
        let grant = Grant::allow("stats/*").expect("a pattern").named(&format!("grant {index}")).calls(1 << 40);
        policy.push(clauses.fold(grant, Grant::when));
    }
    let session = host.session(SessionOptions { policy, ..SessionOptions::default() }).expect("a session");
    let (gate, arguments) = (session.gate(), json!({ "values": [2, 3] }));
    let tool = gate.tools().get("stats/describe").expect("it is mounted");
    assert!(gate.would_allow(&tool, &arguments, SystemTime::now()));
    let many = median(50, || {
        for _ in 0..CALLS {
            std::hint::black_box(gate.would_allow(&tool, &arguments, SystemTime::now()));
        }
    });
    many / CALLS
}
