//! Cancelled is cancelled: wherever a script is, the run ends soon, its tools end with it, and nothing runs on afterwards.
//!
//! How soon is printed; what is asserted is that it is long before any limit.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tollhouse::capability::{Grant, Limits, Policy};
use tollhouse::error::ErrorKind;
use tollhouse::gate::{Audit, CallOutcome};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{Host, RunOptions, Session, SessionOptions, Status};
use tollhouse_tests::{AdmissionCount, Home, run};

/// Time after which a script is cancelled: the script is in the middle of its work.
const BEFORE: Duration = Duration::from_millis(300);

/// Time that no cancellation may take, on a machine that does other things: far below the limit of the runs.
const SOON: Duration = Duration::from_secs(30);

/// Limit on the time of a run.
const WALL: Duration = Duration::from_secs(120);

/// Places where a script can be when it is cancelled.
const PLACES: [(Language, &str); 16] = [
    (Language::JavaScript, "while (true) {}"),
    (Language::JavaScript, "return /^(a+)+$/.test('a'.repeat(40) + 'b')"),
    (
        Language::JavaScript,
        "const all = Array.from({ length: 1e5 }, (_, n) => n); for (;;) all.sort(() => Math.random() - 0.5)",
    ),
    (Language::JavaScript, "for (;;) await null"),
    (Language::JavaScript, "for (;;) await new Promise((go) => setTimeout(go, 0))"),
    (Language::JavaScript, "await new Promise((go) => setTimeout(go, 1e9))"),
    (Language::JavaScript, "await probe.spin({})"),
    (Language::JavaScript, "await Promise.all([probe.spin({}), probe.spin({}), probe.sleep({ millis: 1e9 })])"),
    (Language::JavaScript, "await probe.sleep({ millis: 1e9 })"),
    (Language::JavaScript, "for (;;) await probe.remember({})"),
    (Language::JavaScript, "await shell('while :; do :; done')"),
    (Language::Shell, "while :; do :; done"),
    (Language::Shell, "jq -n 'def f: f; f'"),
    (Language::Shell, "jq -n 'reduce range(1e12) as $n (0; . + $n)'"),
    (Language::Shell, "sleep 1000"),
    (Language::Shell, "yes | while read x; do :; done"),
];

fn session(host: &Host, audit: Option<Arc<dyn Audit>>) -> Session {
    let limits = Limits { wall: WALL, fuel: u64::MAX, ..Limits::default() };
    let policy = Policy { limits, ..Policy::default().with(Grant::allow("probe/**").expect("a pattern")) };
    host.session(SessionOptions { policy, audit, ..SessionOptions::default() }).expect("a session")
}

/// Runs a script, cancels it in the middle, and says how long that took.
fn cancelled(session: &Session, language: Language, source: &str) -> Duration {
    let script = Script { source: source.to_owned(), name: "cancelled".to_owned(), ..Script::default() };
    let run = session.start(language, script, RunOptions::default()).expect("a run");
    let cancel = run.cancel_handle();
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(BEFORE);
        cancel.cancel();
        Instant::now()
    });
    let result = run.finish();
    let ended = Instant::now();
    assert_eq!(result.status, Status::Cancelled, "{source}: {:?}", result.error);
    assert_eq!(result.exit_code, 130, "{source}");
    assert!(result.calls.as_slice().iter().all(|call| call.outcome != CallOutcome::Pending), "{source}");
    ended.saturating_duration_since(canceller.join().expect("it cancelled"))
}

#[test]
fn run_cancelled_in_any_state_ends_and_session_continues() {
    let home = Home::with_fixture();
    let session = session(&home.host(), None);
    // Compiled, so that no run is cancelled while it waits for that.
    assert_eq!(
        run(&session, Language::JavaScript, "return await probe.length({ text: 'four' })").value,
        Some(json!(4))
    );
    for (language, source) in PLACES {
        let taken = cancelled(&session, language, source);
        println!("{:>9.1} ms  {source}", taken.as_secs_f64() * 1e3);
        assert!(taken < SOON, "{source}: {taken:?}");
        // The session is free, and works.
        assert_eq!(run(&session, Language::JavaScript, "return 'works'").value, Some(json!("works")), "{source}");
    }
}

#[test]
fn run_cancelled_makes_no_further_calls() {
    let home = Home::with_fixture();
    let admitted = Arc::new(AdmissionCount::default());
    let session = session(&home.host(), Some(Arc::clone(&admitted) as Arc<dyn Audit>));
    assert_eq!(
        run(&session, Language::JavaScript, "return await probe.length({ text: 'four' })").value,
        Some(json!(4))
    );
    for (language, source) in [
        (Language::JavaScript, "for (;;) await probe.remember({})"),
        (Language::JavaScript, "for (;;) await Promise.allSettled([1, 2, 3].map(() => probe.remember({})))"),
        (Language::JavaScript, "setInterval(() => probe.remember({}).catch(() => {}), 1); await new Promise(() => {})"),
        (
            Language::JavaScript,
            "for (;;) try { await probe.remember({}) } catch {} finally { await probe.remember({}) }",
        ),
        (Language::Shell, "trap 'probe remember' EXIT INT TERM; while :; do probe remember > /dev/null; done"),
        (Language::JavaScript, "await shell('while :; do probe remember > /dev/null; done')"),
    ] {
        let before = admitted.count();
        let taken = cancelled(&session, language, source);
        let after = admitted.count();
        std::thread::sleep(BEFORE);
        println!("{:>9.1} ms  {} calls  {source}", taken.as_secs_f64() * 1e3, after - before);
        assert!(after > before, "{source}: it made calls");
        assert_eq!(admitted.count(), after, "{source}");
    }
}

#[test]
fn run_dropped_is_cancelled() {
    let home = Home::with_fixture();
    let session = session(&home.host(), None);
    let script = Script { source: "await probe.sleep({ millis: 1e9 })".to_owned(), ..Script::default() };
    let mut run_ = session.start(Language::JavaScript, script, RunOptions::default()).expect("a run");
    let _ = run_.step();
    drop(run_);
    assert_eq!(run(&session, Language::JavaScript, "return 1").value, Some(json!(1)));
}

/// Removing a session does not wait for the session's run, wherever that is.
#[test]
fn removing_a_session_stops_its_run() {
    let home = Home::with_fixture();
    for (source, others) in [
        ("while (true) {}", 0),
        ("await probe.sleep({ millis: 1e9 })", 0),
        ("await new Promise(() => setTimeout(() => {}, 1e9))", 2),
    ] {
        let start = |code: &str| {
            let mut run = home.command(["run", "--allow", "**", "--timeout", "120s", "--session", "gone", "-e", code]);
            run.args(["--fuel", "9000000000000"])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("it runs")
        };
        let mut child = start(&format!("console.log('begun'); {source}"));
        let mut first = [0; 6];
        std::io::Read::read_exact(child.stdout.as_mut().expect("it is piped"), &mut first).expect("it begins");
        let waiting: Vec<_> = (0..others).map(|_| start(source)).collect();
        std::thread::sleep(BEFORE);
        let begun = Instant::now();
        let removed = home.run(["session", "rm", "gone", "--force"]);
        println!("{:>9.1} ms  {source}", begun.elapsed().as_secs_f64() * 1e3);
        assert_eq!(removed.status, 0, "{source}: {removed:?}");
        assert!(begun.elapsed() < SOON, "{source}");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(130), "{source}: {}", String::from_utf8_lossy(&output.stderr));
        // Those that waited for it were stopped too, or found it gone.
        for run in waiting {
            assert_ne!(run.wait_with_output().expect("it ends").status.code(), Some(0), "{source}");
        }
        assert_ne!(home.run(["session", "show", "gone"]).status, 0, "{source}");
    }
}

/// A call without a script is stopped by its switch as well.
#[test]
fn call_interrupted_ends() {
    let home = Home::with_fixture();
    let session = session(&home.host(), None);
    session.call("probe/length", r#"{"text": ""}"#).expect("it is compiled");
    for (method, arguments) in [("probe/spin", "{}"), ("probe/sleep", r#"{"millis": 1000000}"#)] {
        let call = session.start_call(method, arguments).expect("the session is free");
        let interrupt = call.interrupt();
        let canceller = std::thread::spawn(move || {
            std::thread::sleep(BEFORE);
            interrupt.cancel();
            Instant::now()
        });
        let failure = call.finish().expect_err("it is stopped");
        let taken = Instant::now().saturating_duration_since(canceller.join().expect("it cancelled"));
        println!("{:>9.1} ms  {method}", taken.as_secs_f64() * 1e3);
        assert_eq!(failure.kind, ErrorKind::Cancelled, "{failure}");
        assert!(taken < SOON, "{method}: {taken:?}");
        session.call("probe/length", r#"{"text": ""}"#).expect("the session is free");
    }
    drop(session.start_call("probe/spin", "{}").expect("the session is free"));
    session.call("probe/length", r#"{"text": ""}"#).expect("a call that is never made holds nothing up");
}

/// A call that is cancelled before the tool starts is not made, and what was reserved for the call is given back.
#[test]
fn call_cancelled_before_it_starts_is_not_made_or_charged() {
    let home = Home::with_fixture();
    let policy = Policy::default().with(Grant::allow("probe/**").expect("a pattern").calls(2));
    let session = home.host().session(SessionOptions { policy, ..SessionOptions::default() }).expect("a session");
    for _ in 0..5 {
        let call = session.start_call("probe/length", r#"{"text": ""}"#).expect("the session is free");
        call.interrupt().cancel();
        assert_eq!(call.finish().expect_err("it is stopped").kind, ErrorKind::Cancelled);
    }
    assert_eq!(session.gate().budgets()[0].used.to_string(), "0");
    session.call("probe/length", r#"{"text": ""}"#).expect("nothing was spent");
}

/// Starts `tollhouse call` of a tool that does not return, and waits until it is called.
fn calling(home: &Home, method: &str, arguments: &str, more: &[&str]) -> Child {
    let log = home.path().join("calls.jsonl");
    let _ = std::fs::remove_file(&log);
    let mut call = home.command(["call", method, arguments, "--allow", "**", "--timeout", "120s", "--audit"]);
    let child = call.arg(&log).args(more).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let begun = Instant::now();
    while !std::fs::read_to_string(&log).unwrap_or_default().contains("\"admitted\"") {
        assert!(begun.elapsed() < WALL, "it is never called");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(BEFORE);
    child
}

#[test]
fn removing_a_session_stops_its_call() {
    let home = Home::with_fixture();
    for (method, arguments) in [("probe/spin", "{}"), ("probe/sleep", r#"{"millis": 1000000}"#)] {
        let child = calling(&home, method, arguments, &["--session", "gone"]);
        let begun = Instant::now();
        let removed = home.run(["session", "rm", "gone", "--force"]);
        println!("{:>9.1} ms  {method}", begun.elapsed().as_secs_f64() * 1e3);
        assert_eq!(removed.status, 0, "{method}: {removed:?}");
        assert!(begun.elapsed() < SOON, "{method}");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(130), "{method}: {}", String::from_utf8_lossy(&output.stderr));
        assert_ne!(home.run(["session", "show", "gone"]).status, 0, "{method}");
    }
}

#[test]
fn ctrl_c_ends_a_call() {
    let home = Home::with_fixture();
    for (method, arguments) in [("probe/spin", "{}"), ("probe/sleep", r#"{"millis": 1000000}"#)] {
        let child = calling(&home, method, arguments, &["--session", "s"]);
        let interrupted =
            Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("there is `kill`");
        let begun = Instant::now();
        let output = child.wait_with_output().expect("it ends");
        println!("{:>9.1} ms  {method}", begun.elapsed().as_secs_f64() * 1e3);
        assert!(interrupted.success(), "{method}: it was still there");
        assert_eq!(output.status.code(), Some(130), "{method}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(begun.elapsed() < SOON, "{method}");
        // It ended in order: what it spent is kept, and it is no run that was interrupted.
        let shown = home.run(["session", "show", "s", "--json"]);
        assert!(shown.stdout.contains("\"cancelled\"") && !shown.stdout.contains("interrupted"), "{shown:?}");
    }
}

/// A terminal's interrupt ends the binary.
#[test]
fn ctrl_c_ends_the_binary() {
    let home = Home::with_fixture();
    for (language, source) in PLACES {
        let lang = if language == Language::Shell { "sh" } else { "js" };
        let mut run =
            home.command(["run", "--allow", "**", "--timeout", "120s", "--fuel", "9000000000000", "--lang", lang]);
        // It says when it is there: only then can it be interrupted in the middle.
        let begins = if lang == "sh" { "echo begun; " } else { "console.log('begun'); " };
        let child = run.args(["-e", &format!("{begins}{source}")]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().expect("it runs");
        let mut first = [0; 6];
        std::io::Read::read_exact(child.stdout.as_mut().expect("it is piped"), &mut first).expect("it begins");
        std::thread::sleep(BEFORE);
        let interrupted =
            Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("there is `kill`");
        let begun = Instant::now();
        let output = child.wait_with_output().expect("it ends");
        println!("{:>9.1} ms  {source}", begun.elapsed().as_secs_f64() * 1e3);
        assert!(interrupted.success(), "{source}: it was still there");
        assert_eq!(output.status.code(), Some(130), "{source}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(begun.elapsed() < SOON, "{source}");
    }
}
