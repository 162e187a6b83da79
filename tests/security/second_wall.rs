//! The second wall, as it stands around the real binary while it runs. What it refuses is tested where it is built
//! (`host/cli/src/confine`).

use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use tollhouse_tests::Home;

/// Restrictions on one thread: whether it can gain privileges, and how many filters hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Held {
    bound: bool,
    filters: u32,
}

fn held(status: &Path) -> Option<Held> {
    let text = std::fs::read_to_string(status).ok()?;
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u32>().ok());
    Some(Held { bound: field("NoNewPrivs:")? == 1, filters: field("Seccomp_filters:")? })
}

/// Returns the number of filters by which each thread of a process is held, and this one is not.
fn filters(child: &Child) -> Vec<u32> {
    let own = held(Path::new("/proc/self/status")).expect("this kernel says so").filters;
    let threads = std::fs::read_dir(format!("/proc/{}/task", child.id())).expect("it runs");
    let held = threads.filter_map(|thread| held(&thread.ok()?.path().join("status")));
    held.map(|held| held.filters - own).collect()
}

/// Starts what sleeps, and waits until it does.
fn sleeping(home: &Home, arguments: &[&str]) -> Child {
    let mut command = home.command(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
    let mut first = [0; 5];
    child.stdout.as_mut().expect("it is piped").read_exact(&mut first).expect("it begins");
    child
}

fn ended(mut child: Child) {
    child.kill().and_then(|()| child.wait()).expect("it is killed");
}

const SLEEPS: &str = "console.log('begun'); await new Promise((go) => setTimeout(go, 1e9))";

/// A policy by which a tool may reach a host.
const ONLINE: &str = "[[grant]]\nmethod = '**'\n[tool.http]\nhttp = ['example.com']\n";

#[test]
fn run_threads_all_have_the_syscall_filter() {
    let home = Home::with_tools(&["http"]);
    home.file("online.toml", ONLINE);
    for (arguments, count) in [
        (&["run", "-e", SLEEPS][..], 4),
        (&["run", "--session", "kept", "-e", SLEEPS], 4),
        (&["run", "--policy", "online.toml", "-e", SLEEPS], 4),
        (&["run", "--no-seccomp", "-e", SLEEPS], 0),
    ] {
        let child = sleeping(&home, arguments);
        let seen = filters(&child);
        assert!(seen.len() > 1 && seen.iter().all(|filters| *filters == count), "{arguments:?}: {seen:?}");
        ended(child);
    }
}

/// Landlock shows in that nobody gains privileges any more; without the other wall, it is what did that.
#[test]
fn commands_that_run_code_have_both_walls() {
    let home = Home::with_fixture();
    let doctor = home.run(["doctor"]).stdout;
    let has = |wall: &str| doctor.lines().any(|line| line.contains(wall) && !line.contains("not on this system"));
    let call: &[&str] = &["call", "probe/sleep", "{\"millis\": 1000000}", "--allow", "**"];
    for command in [call, &["run", "-e", SLEEPS], &["batch"], &["repl"]] {
        for (flags, landlock, seccomp) in [
            (&[][..], true, true),
            (&["--no-seccomp"], true, false),
            (&["--no-landlock"], false, true),
            (&["--no-landlock", "--no-seccomp"], false, false),
        ] {
            let mut child = home.command([command, flags].concat());
            let child = child.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it runs");
            let expected = Held {
                bound: landlock && has("landlock") || seccomp && has("seccomp"),
                filters: if seccomp && has("seccomp") { 4 } else { 0 },
            };
            let status = format!("/proc/{}/status", child.id());
            let (begun, own) = (Instant::now(), held(Path::new("/proc/self/status")).expect("this kernel says so"));
            let expected = Held { bound: expected.bound || own.bound, filters: expected.filters + own.filters };
            // It takes a moment to get there, and nothing is to come after it.
            while held(Path::new(&status)) != Some(expected) && begun.elapsed() < Duration::from_secs(60) {
                std::thread::sleep(Duration::from_millis(5));
            }
            std::thread::sleep(Duration::from_millis(100));
            assert_eq!(held(Path::new(&status)), Some(expected), "{command:?} {flags:?}");
            ended(child);
        }
    }
}

/// A store writes its files beside their place, and moves them there.
#[test]
fn session_behind_the_walls_is_persisted() {
    let home = Home::new();
    for number in 1..=2 {
        let code = format!("await fs.writeFile('large', '{number}'.repeat(1e6)); return (await fs.stat('large')).size");
        let ran = home.js(&code, &["--session", "s"]);
        assert_eq!((&ran["status"], &ran["value"]), (&"completed".into(), &1_000_000.into()), "{ran}");
    }
    assert_eq!(home.run(["store", "verify"]).status, 0);
}

#[test]
fn doctor_reports_whether_the_walls_stand() {
    let home = Home::new();
    let seen = home.run(["doctor"]);
    assert_eq!(seen.status, 0, "{seen:?}");
    for wall in ["landlock", "seccomp"] {
        assert!(seen.stdout.lines().any(|line| line.starts_with("ok") && line.contains(wall)), "{seen:?}");
    }
}
