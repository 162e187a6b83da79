//! The figures that Tollhouse promises, measured: `cargo xtask bench`.
//!
//! Medians of many rounds, on whatever this machine is doing; Node.js is measured beside, in the same run.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use serde_json::json;
use tollhouse::capability::{Grant, Policy, param};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{Host, HostOptions, RunOptions, Session, SessionOptions, Status};
use tollhouse_tests::{Home, binary, root};

/// How many calls one script makes, so that what a script costs does not hide what a call costs.
const CALLS: u32 = 1_000;

fn main() {
    let home = Home::with_tools(&["stats"]);
    let options = HostOptions {
        cache: Some(home.path().join("bench-cache")),
        registry: Some(home.path().join("tollhouse/registry")),
    };
    let host = Host::new(&options).expect("the engines start");
    println!("{:<58} {:>12} {:>12}", "", "median", "aim");
    process(&home);
    let fresh = median(500, || run(&session(&host), Language::JavaScript, "return 1"));
    row("fresh JavaScript sandbox, `return 1`, in process", fresh, "0.1 ms");
    let made = median(500, || drop(session(&host)));
    row("  of that, the session: mounts, grants, accounts", made, "");
    let shell = median(200, || run(&session(&host), Language::Shell, "echo 1"));
    row("fresh shell sandbox, `echo 1`, in process", shell, "");
    let calls = calls(&host);
    row("tool call from JavaScript, fresh tool instance", calls, "40 us");
    let warm = Home::new();
    warm.publish_with(&root().join("tools/stats"), "tollhouse_tool_stats.wasm", "instance = \"session\"");
    let options = HostOptions { registry: Some(warm.path().join("tollhouse/registry")), ..options };
    let host = Host::new(&options).expect("the engines start");
    let calls = self::calls(&host);
    row("tool call from JavaScript, warm tool instance", calls, "15 us");
    gate(&host);
}

/// Check and debit of an allowed call: the last of so many grants, with ten clauses, allows it.
fn gate(host: &Host) {
    for grants in [1, 10, 1_000] {
        let mut policy = Policy::default();
        for index in 0..grants {
            // Every grant but the last fails at its last clause.
            let most = if index + 1 == grants { 100 } else { 1 };
            let clauses = (0..10).map(|clause| {
                let limit = if clause == 9 { most } else { 100 };
                param("values/0").expect("a path").at_most(limit).into()
            });
            let grant = Grant::allow("stats/*").expect("a pattern").named(&format!("grant {index}")).calls(1 << 40);
            policy.push(clauses.fold(grant, Grant::when));
        }
        let session = host.session(SessionOptions { policy, ..SessionOptions::default() }).expect("a session");
        let (gate, arguments) = (session.gate(), json!({ "values": [2.0, 3.0] }));
        let tool = gate.tools().get("stats/describe").expect("it is mounted");
        assert!(gate.would_allow(tool, &arguments, SystemTime::now()));
        let each = median(50, || {
            for _ in 0..CALLS {
                std::hint::black_box(gate.would_allow(tool, &arguments, SystemTime::now()));
            }
        }) / CALLS;
        let aim = if grants == 10 { "1 us" } else { "" };
        row(&format!("gate: check and debit, {grants} grants of ten clauses"), each, aim);
    }
}

/// Process start to the first "hi", with everything compiled before.
fn process(home: &Home) {
    let tollhouse = median(30, || {
        let status = home.command(["run", "-e", "console.log('hi')"]).stdout(Stdio::null()).status();
        assert!(status.expect("the binary is built").success());
    });
    row("process start to \"hi\": tollhouse run -e", tollhouse, "20 ms");
    let node = Path::new("node");
    if Command::new(node).arg("--version").stdout(Stdio::null()).status().is_ok() {
        let node = median(30, || {
            let status = Command::new(node).args(["-e", "console.log('hi')"]).stdout(Stdio::null()).status();
            assert!(status.expect("it ran before").success());
        });
        row("process start to \"hi\": node -e", node, "");
    }
    println!("{:<58} {:>12}", "  (the binary)", binary().display());
}

fn session(host: &Host) -> Session {
    let policy = Policy::default().with(Grant::allow("**").expect("it is a pattern"));
    host.session(SessionOptions { policy, ..SessionOptions::default() }).expect("a session")
}

fn run(session: &Session, language: Language, source: &str) {
    let script = Script { source: source.to_owned(), name: "bench".to_owned(), ..Script::default() };
    let result = session.start(language, script, RunOptions::default()).expect("a run").finish();
    assert_eq!(result.status, Status::Completed, "{:?}", result.error);
}

/// One call, from the difference between a script that makes many and one that makes none.
fn calls(host: &Host) -> Duration {
    let loop_of = |calls: u32| format!("for (let i = 0; i < {calls}; i++) await stats.describe({{values: [1, 2, 3]}})");
    let session = session(host);
    run(&session, Language::JavaScript, &loop_of(1));
    let many = median(7, || run(&session, Language::JavaScript, &loop_of(CALLS)));
    let none = median(7, || run(&session, Language::JavaScript, &loop_of(0)));
    many.saturating_sub(none) / CALLS
}

fn median(rounds: usize, mut round: impl FnMut()) -> Duration {
    round();
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let begun = Instant::now();
            round();
            begun.elapsed()
        })
        .collect();
    times.sort();
    times[rounds / 2]
}

fn row(what: &str, time: Duration, aim: &str) {
    let micros = time.as_secs_f64() * 1e6;
    let shown = if micros < 10.0 {
        format!("{micros:.3} us")
    } else if micros < 1_000.0 {
        format!("{micros:.1} us")
    } else {
        format!("{:.2} ms", micros / 1e3)
    };
    println!("{what:<58} {shown:>12} {aim:>12}");
}
