//! Cost of safety: the second wall at each start, a process for each job of a batch, and the audit log for each call.

use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

use tollhouse_tests::Home;

use crate::table::{median, row};

/// Measures the cost of isolation.
pub(crate) fn measure() {
    let home = Home::with_fixture();
    let bare = ["--no-landlock", "--no-seccomp"];
    row("run, start to output, behind the second wall", start(&home, &[]), "", None, None);
    row("run, start to output, without it", start(&home, &bare), "", None, None);
    for (what, line) in [("a job", ECHO), ("a job that calls a tool", CALL)] {
        for isolation in ["sandbox", "process"] {
            row(&format!("batch, {what}, --isolate {isolation}"), job(&home, isolation, line), "", None, None);
        }
    }
    assert_eq!(home.run(["policy", "keygen", "--audit", "key"]).status, 0);
    row("a call, without a log", call(&home, &[]), "", None, None);
    row("a call, --audit", call(&home, &["--audit", "log"]), "", None, None);
    row("a call, --audit --audit-key", call(&home, &["--audit", "keyed", "--audit-key", "key"]), "", None, None);
}

fn start(home: &Home, options: &[&str]) -> Duration {
    median(30, || assert_eq!(home.run(["run", "-e", "1"].iter().chain(options)).status, 0))
}

/// Jobs of a batch: one that computes nothing, and one that calls a tool.
const ECHO: &str = "{\"lang\": \"sh\", \"script\": \"echo hi\"}\n";
const CALL: &str = "{\"script\": \"await probe.remember({})\"}\n";

/// Returns the time of one job in a batch of many.
fn job(home: &Home, isolation: &str, line: &str) -> Duration {
    const JOBS: u32 = 100;
    let lines = line.repeat(JOBS as usize);
    let batch = || {
        let mut command = home.command(["batch", "--jobs", "1", "--isolate", isolation, "--allow", "**"]);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
        let mut child = child.expect("the binary is built");
        // `batch` reads a line only when it is free for the next job; the pipe holds the rest.
        child.stdin.take().expect("it is piped").write_all(lines.as_bytes()).expect("it reads");
        assert!(child.wait().expect("it ends").success());
    };
    median(5, batch) / JOBS
}

/// Returns the time of a call, from the difference between a script that makes many calls and one that makes none.
fn call(home: &Home, options: &[&str]) -> Duration {
    const CALLS: u32 = 1_000;
    let run = |calls: u32| {
        let script = format!("for (let i = 0; i < {calls}; i++) await probe.remember({{}})");
        let arguments = ["run", "--allow", "**", "-e", &script];
        assert_eq!(home.run(arguments.iter().chain(options)).status, 0);
    };
    let many = median(7, || run(CALLS));
    many.saturating_sub(median(7, || run(0))) / CALLS
}
