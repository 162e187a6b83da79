//! The figures that Tollhouse promises, measured: `cargo xtask bench`.
//!
//! Medians of many rounds, on whatever this machine is doing; Node.js is measured beside, in the same run.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tollhouse::capability::{Grant, Policy};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{Host, HostOptions, RunOptions, Session, SessionOptions, Status};
use tollhouse_tests::{Home, binary};

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
    let shell = median(200, || run(&session(&host), Language::Shell, "echo 1"));
    row("fresh shell sandbox, `echo 1`, in process", shell, "");
    let calls = calls(&host);
    row("tool call from JavaScript, fresh tool instance", calls, "40 us");
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
    let shown = if micros < 1_000.0 { format!("{micros:.1} us") } else { format!("{:.2} ms", micros / 1e3) };
    println!("{what:<58} {shown:>12} {aim:>12}");
}
