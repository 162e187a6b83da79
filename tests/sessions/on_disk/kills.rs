//! `kill -9` in the midst of what changes a place of sessions, and looking at it beside a run.
//!
//! A few moments each; `TOLLHOUSE_CRASH_CYCLES` says how many.

use std::io::BufRead as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tollhouse_tests::{Home, slow_cycles};

use super::{CYCLES, ask, budget, calling, done, random};

/// Number of a session's entries: making the session takes some commits.
const ENTRIES: u64 = 1200;

/// A home with a session that is large enough to be caught in the midst of, and one that nobody touches.
fn home() -> Home {
    let home = Home::with_tools(&["kv"]);
    home.file("p.toml", "[[grant]]\nname = 'all'\nmethod = 'kv/**'\ncalls = 50\n[tool.kv]\nkeyvalue = ['default']\n");
    let code = format!(
        "for (let from = 0; from < {ENTRIES}; from += 400) {{
            const entries = Array.from({{length: 400}}, (_, n) => [`k${{from + n}}`, 'v'.repeat(from + n)]);
            await kv.setMany({{entries}});
        }}
        for (let n = 0; n < 50; n++) await fs.writeFile(`/workspace/${{n}}`, String(n).repeat(2000));"
    );
    for (session, code) in [("big", code.as_str()), ("quiet", "await kv.set({key: 'k', value: 'v'})")] {
        let made = home.js(code, &["--session", session, "--policy", "p.toml"]);
        assert_eq!(made["status"], "completed", "{made}");
    }
    home
}

/// Runs a command and kills it at some moment of the time that it takes, past its start; false if it was done by then.
fn killed(home: &Home, arguments: &[&str], takes: Duration) -> bool {
    let mut command = home.command(arguments);
    let mut child = command.stdout(Stdio::null()).spawn().expect("the binary is built");
    let takes = u64::try_from(takes.as_micros()).expect("it takes seconds");
    std::thread::sleep(Duration::from_micros(takes / 4 + random(takes.max(1))));
    child.kill().expect("it is ours");
    let status = child.wait().expect("it is ours");
    assert!(status.success() || status.signal().is_some(), "{arguments:?} failed by itself: {status}");
    !status.success()
}

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Returns true if the session exists, and checks that it then is all that the large one is.
fn is_whole(home: &Home, session: &str) -> bool {
    let listed = ask(home, &["session", "ls"]);
    let names: Vec<&Value> = listed.as_array().expect("a list").iter().map(|seen| &seen["session"]).collect();
    if !names.contains(&&json!(session)) {
        return false;
    }
    assert_eq!(budget(home, session, "all"), budget(home, "big", "all"));
    assert_eq!(
        ask(home, &["session", "show", session])["snapshot"],
        ask(home, &["session", "show", "big"])["snapshot"]
    );
    true
}

/// Kills what makes or removes the session `other`, again and again. `before` makes what it needs.
fn survives(home: &Home, before: &[&[&str]], command: &[&str]) {
    let prepare = || before.iter().for_each(|arguments| drop(done(home, arguments)));
    prepare();
    let quiet = ask(home, &["session", "show", "quiet"]);
    let begun = Instant::now();
    done(home, command);
    let takes = begun.elapsed();
    let mut there = 0;
    for _ in 0..slow_cycles(CYCLES) {
        let mut within = takes;
        loop {
            if is_whole(home, "other") {
                done(home, &["session", "rm", "other"]);
            }
            prepare();
            if killed(home, command, within) {
                break;
            }
            // It was done before its kill: that one comes earlier, until it comes in time.
            within /= 2;
        }
        done(home, &["store", "verify"]);
        there += u64::from(is_whole(home, "other"));
        assert_eq!(ask(home, &["session", "show", "quiet"]), quiet);
    }
    println!("{command:?}: killed {} times, {there} times it is there", slow_cycles(CYCLES));
    // Whatever was left of it, it is in nobody's way.
    if !is_whole(home, "other") {
        done(home, &["session", "fork", "big", "other"]);
    }
    let records = |session: &str| ask(home, &["session", "rm", session])[0]["records"].clone();
    done(home, &["session", "fork", "big", "new"]);
    assert!(records("other").as_u64() >= records("new").as_u64(), "nothing of it is missing");
    done(home, &["session", "gc"]);
    done(home, &["store", "verify"]);
}

#[test]
fn fork_killed_exists_whole_or_not_at_all() {
    survives(&home(), &[], &["session", "fork", "big", "other"]);
}

#[test]
fn import_killed_exists_whole_or_not_at_all() {
    let home = home();
    done(&home, &["session", "export", "big", "big.tlh"]);
    survives(&home, &[], &["session", "import", "big.tlh", "other"]);
}

#[test]
fn removal_killed_removes_all_or_nothing() {
    survives(&home(), &[&["session", "fork", "big", "other"]], &["session", "rm", "other"]);
}

#[test]
fn gc_killed_frees_nothing_referenced() {
    let home = home();
    // Each time other files, that then nobody names.
    let waste = "for (let n = 0; n < 400; n++) await fs.writeFile(`/workspace/${n}`, `${Math.random()} `.repeat(300))";
    let waste = ["run", "--session", "waste", "-e", waste];
    survives(&home, &[&waste, &["session", "rm", "waste"]], &["session", "gc"]);
    assert_eq!(ask(&home, &["session", "gc"])["removed"]["files"], 0);
    assert_eq!(home.js("return (await kv.get({key: 'k1199'})).length", &["--session", "big"])["value"], 1199);
}

/// A run that spends is in the way of no command that reads, frees or copies the session.
#[test]
fn session_with_running_calls_can_be_read_copied_and_collected() {
    let home = Home::with_tools(&["stats"]);
    home.file("p.toml", "[[grant]]\nname = 'many'\nmethod = 'stats/*'\ncalls = 10000000\n");
    done(&home, &["run", "--session", "s", "--policy", "p.toml", "-e", "await fs.writeFile('/workspace/kept', 'yes')"]);
    let (child, stdout) = calling(&home);
    let mut child = Running(child);
    let mut lines = stdout.lines();
    lines.next().expect("it calls").expect("text");
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
    let mut spent = 0;
    for round in 0..slow_cycles(CYCLES) {
        let fork = format!("fork-{round}");
        done(&home, &["store", "verify"]);
        done(&home, &["session", "fork", "s", &fork]);
        let now = budget(&home, &fork, "many").0;
        assert!(now > spent, "it goes on meanwhile: {spent} and {now}");
        spent = now;
        let shown = ask(&home, &["session", "show", "s"]);
        assert_eq!((&shown["running"], &shown["runs"][2]["status"]), (&json!(true), &json!("running")), "{shown}");
        assert_eq!(done(&home, &["session", "cat", &fork, "/workspace/kept"]).stdout, "yes");
        if round % 2 == 0 {
            done(&home, &["session", "rm", &fork]);
        }
        assert_eq!(ask(&home, &["session", "gc"])["interrupted"], false);
    }
    assert!(child.0.try_wait().expect("it is ours").is_none(), "and it still runs");
    drop(child);
    assert!(budget(&home, "s", "many").0 >= spent);
    done(&home, &["store", "verify"]);
}
