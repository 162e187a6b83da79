//! The shell, measured in the same run as native bashkit, just-bash, and GNU bash with coreutils, all with the same
//! scripts.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tollhouse::guest::Language;
use tollhouse::session::{Host, Session, SessionOptions};
use tollhouse::vfs::{Limits, Tree, WriteMode};
use tollhouse_tests::{Home, root};

use crate::calls::{host, run, session};
use crate::table::{median, time};

const PIPE: &str = "echo hi | tr a-z A-Z";
const LOOP: &str = "n=0; for ((i = 0; i < 1000; i++)); do n=$((n + i)); done; echo $n";
const SORT: &str = "sort words | uniq -c | sort -rn | head";

/// Default size of the file that is sorted, in bytes; `TOLLHOUSE_BENCH_BYTES` overrides it.
const SORTED: usize = 10_000_000;

/// Shell of another project.
struct RivalShell(Option<Command>);

/// Script that is measured in each shell.
struct ShellTask<'a> {
    script: &'a str,
    rounds: usize,
    /// True if all rounds run in one process of the shell.
    warm: bool,
    words: Option<&'a str>,
}

/// Measures the shell's scripts.
pub(crate) fn measure() {
    println!("{:<58} {:>11} {:>15} {:>11} {:>11} {:>11}", "shell", "tollhouse", "aim", "bashkit", "just-bash", "GNU");
    let home = Home::new();
    let host = host(home.path());
    let size = std::env::var("TOLLHOUSE_BENCH_BYTES").ok().and_then(|bytes| bytes.parse().ok()).unwrap_or(SORTED);
    let words = words(size);
    let fresh = median(2_000, || run(&session(&host), Language::Shell, PIPE));
    line("fresh shell, `echo hi | tr a-z A-Z`", fresh, "0.5 ms", &ShellTask::of(PIPE, 200), None);
    let one = session(&host);
    let warm = median(2_000, || run(&one, Language::Shell, PIPE));
    line("  the session is there already", warm, "0.1 ms", &ShellTask { warm: true, ..ShellTask::of(PIPE, 200) }, None);
    let looped = median(50, || run(&one, Language::Shell, LOOP));
    line("loop of 1,000 turns", looped, "2 x bashkit", &ShellTask::of(LOOP, 50), gnu(LOOP, None, 20));
    let files = with(&host, &words);
    let sorted = median(3, || run(&files, Language::Shell, SORT));
    let what = format!("`{SORT}` of {} MB", size / 1_000_000);
    let work = ShellTask { words: Some(&words), ..ShellTask::of(SORT, 3) };
    line(&what, sorted, "3 x GNU", &work, gnu(SORT, Some(&words), 3));
}

impl<'a> ShellTask<'a> {
    fn of(script: &'a str, rounds: usize) -> Self {
        Self { script, rounds, warm: false, words: None }
    }
}

fn line(what: &str, own: Duration, aim: &str, work: &ShellTask<'_>, gnu: Option<Duration>) {
    let [bashkit, just_bash] =
        [RivalShell::bashkit(), RivalShell::just_bash()].map(|rival| rival.measure(work).map(time).unwrap_or_default());
    let gnu = gnu.map(time).unwrap_or_default();
    println!("{what:<58} {:>11} {aim:>15} {bashkit:>11} {just_bash:>11} {gnu:>11}", time(own));
}

/// Generates lines of words, some of them frequent. The result is always the same.
fn words(size: usize) -> String {
    let mut words = String::with_capacity(size + 16);
    let mut state = 1_u64;
    while words.len() < size {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        words.push_str(&format!("word{}\n", (state >> 40) % 5_000));
    }
    words
}

/// Creates a session with the words in a file.
fn with(host: &Host, words: &str) -> Session {
    let mut files = Tree::new(Limits::default(), 0);
    files.write("/workspace/words", words.as_bytes(), WriteMode::Create, 0).expect("there is room");
    host.session(SessionOptions { files: Some(files), ..SessionOptions::default() }).expect("a session")
}

/// Measures a script in GNU bash and coreutils, from the start of the process. Returns `None` if they are not
/// installed.
fn gnu(script: &str, words: Option<&str>, rounds: usize) -> Option<Duration> {
    let place = tempfile::tempdir().expect("a temporary directory");
    if let Some(words) = words {
        std::fs::write(place.path().join("words"), words).expect("there is room");
    }
    let once = || {
        let mut bash = Command::new("bash");
        bash.args(["-c", script]).current_dir(place.path()).env("LC_ALL", "C");
        bash.stdout(Stdio::null()).stderr(Stdio::null()).status()
    };
    once().ok().filter(std::process::ExitStatus::success)?;
    Some(median(rounds, || drop(once())))
}

impl RivalShell {
    /// Returns bashkit, if `cargo xtask bench` could build it.
    fn bashkit() -> Self {
        Self(std::env::var_os("TOLLHOUSE_BENCH_BASHKIT").map(Command::new))
    }

    /// Returns just-bash, if `cargo xtask bench` could install it.
    fn just_bash() -> Self {
        Self(std::env::var_os("TOLLHOUSE_BENCH_JUST_BASH").map(|modules| {
            let mut node = Command::new("node");
            node.arg(root().join("tests/conformance/rivals/just-bash.mjs")).env("NODE_PATH", modules);
            node
        }))
    }

    /// Returns the time that the rival reports, which excludes its own start; `None` if the rival is not installed or
    /// fails.
    fn measure(self, work: &ShellTask<'_>) -> Option<Duration> {
        let mut job = json!({ "id": "bench", "script": work.script, "rounds": work.rounds, "warm": work.warm });
        if let Some(words) = work.words {
            job["files"] = json!({ "words": words });
        }
        let mut child = self.0?.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        writeln!(child.stdin.take()?, "{job}").ok()?;
        let output = child.wait_with_output().ok()?;
        let answer: Value = serde_json::from_slice(&output.stdout).ok()?;
        (answer["exit_code"] == 0)
            .then(|| answer["micros"].as_f64().map(|micros| Duration::from_secs_f64(micros / 1e6)))?
    }
}
