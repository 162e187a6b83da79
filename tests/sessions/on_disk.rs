//! Sessions on disk: what they keep, who may use them, and what happens when a process dies.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tollhouse::capability::{Amount, Grant, Policy};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{
    Host, HostOptions, ImportOptions, OpenOptions, RunOptions, Session, SessionId, Sessions, SessionsError, Status,
};
use tollhouse::store::Backend;
use tollhouse_tests::{Home, Ran, cycles, damage};

mod accounts;
pub(crate) mod archives;
mod disk;
mod kills;
mod library;

/// Runs a command that prints JSON.
fn ask(home: &Home, arguments: &[&str]) -> Value {
    let ran = home.run(arguments.iter().copied().chain(["--json"]));
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no JSON of {arguments:?}: {ran:?}"))
}

/// Runs a command that must work.
fn done(home: &Home, arguments: &[&str]) -> Ran {
    let ran = home.run(arguments);
    assert_eq!(ran.status, 0, "{arguments:?}: {ran:?}");
    ran
}

/// Runs a command that must not, and gives what it says.
fn refused(home: &Home, arguments: &[&str], status: i32) -> String {
    let ran = home.run(arguments);
    assert_eq!(ran.status, status, "{arguments:?}: {ran:?}");
    ran.stderr
}

fn budget(home: &Home, session: &str, grant: &str) -> (u64, u64) {
    let shown = ask(home, &["session", "show", session]);
    let budgets = shown["budgets"].as_array().expect("a list");
    let found = budgets.iter().find(|budget| budget["grant"] == grant).unwrap_or_else(|| panic!("none in {shown}"));
    (found["used"].as_u64().expect("a number"), found["remaining"].as_u64().expect("a number"))
}

#[test]
fn run_finds_what_the_previous_run_left() {
    let home = Home::new();
    let first = home.js("await fs.writeFile('/workspace/a', 'one')", &["--session", "s"]);
    assert_eq!((&first["session"], &first["run"]), (&json!("s"), &json!(1)), "{first}");
    let second = home.sh("cat a; echo two > b; ln -s a l; chmod 600 b; mkdir -p d/e", &["--session", "s"]);
    assert_eq!((&second["stdout"], &second["run"]), (&json!("one"), &json!(2)));
    assert_ne!(first["snapshot"], second["snapshot"]);
    let third = home.js(
        "return [await fs.readFile('/workspace/l', 'utf8'), (await fs.stat('/workspace/b')).mode & 0o777]",
        &["--session", "s"],
    );
    assert_eq!(third["value"], json!(["one", 0o600]));
    assert_eq!(third["snapshot"], second["snapshot"], "nothing changed, so it is the same snapshot");
    assert_eq!(home.js("return await fs.exists('/workspace/a')", &["--session", "other"])["value"], false);
}

#[test]
fn run_that_fails_leaves_its_files() {
    let home = Home::new();
    let failed = home.js("await fs.writeFile('/workspace/a', 'x'); throw new Error('no')", &["--session", "s"]);
    assert_eq!(failed["status"], "failed");
    assert!(failed["snapshot"].is_string());
    let limited =
        home.js("await fs.writeFile('/workspace/b', 'x'); for (;;);", &["--session", "s", "--timeout", "300ms"]);
    assert_eq!(limited["status"], "limited");
    assert_eq!(done(&home, &["session", "cat", "s", "/workspace/b"]).stdout, "x");
    let runs = ask(&home, &["session", "show", "s"])["runs"].clone();
    let status: Vec<&Value> = runs.as_array().expect("a list").iter().map(|run| &run["status"]).collect();
    assert_eq!(status, ["created", "failed", "limited"]);
}

#[test]
fn budgets_of_sessions_outlive_their_processes() {
    let home = Home::with_tools(&["stats"]);
    home.file("p.toml", "[[grant]]\nname = 'few'\nmethod = 'stats/*'\ncalls = 3\n");
    let call = "return (await stats.describe({values: [1, 2, 3]})).mean";
    let run = |code| home.js(code, &["--session", "s"]);
    assert_eq!(home.js(call, &["--session", "s", "--policy", "p.toml"])["value"], 2.0);
    assert_eq!(budget(&home, "s", "few"), (1, 2));
    assert_eq!(run(call)["budgets"][0]["remaining"], 1);
    done(&home, &["session", "fork", "s", "child"]);
    assert_eq!(run(call)["status"], "completed");
    let denied = run(call);
    assert_eq!((&denied["status"], &denied["error"]["kind"]), (&json!("denied"), &json!("capability")), "{denied}");
    done(&home, &["session", "rollback", "s@0"]);
    assert_eq!(run(call)["status"], "denied", "going back in time gives nothing back");
    assert_eq!(budget(&home, "child", "few"), (3, 0), "a fork is no way to a new budget");
    assert_eq!(home.js(call, &["--session", "child"])["status"], "denied");
    done(&home, &["store", "verify"]);
}

#[test]
fn session_with_other_grants_is_refused() {
    let home = Home::with_tools(&["stats", "text"]);
    home.file("p.toml", "[[grant]]\nmethod = 'stats/*'\ncalls = 3\n");
    home.file("q.toml", "[[grant]]\nmethod = 'stats/*'\ncalls = 4\n");
    done(&home, &["run", "--session", "s", "--policy", "p.toml", "-e", "1"]);
    done(&home, &["run", "--session", "s", "--policy", "p.toml", "-e", "1"]);
    for other in [["--policy", "q.toml"], ["--allow", "**"], ["--tool", "x=tollhouse:text"]] {
        let told = refused(&home, &[&["run", "--session", "s", "-e", "1"], other.as_slice()].concat(), 2);
        assert!(told.contains("was created with different"), "{told}");
    }
    let told = refused(&home, &["run", "--session", "s", "--mount", ".:/workspace/m", "-e", "1"], 2);
    assert!(told.contains("session put"), "{told}");
    // Another registry does not have what it was made with.
    let told = refused(&home, &["run", "--registry", "none", "--session", "s", "-e", "1"], 2);
    assert!(told.contains("the registry no longer has the pinned tollhouse:stats@"), "{told}");
}

#[test]
fn limits_of_another_policy_apply_to_the_runs_that_are_given_it() {
    let home = Home::with_tools(&["stats"]);
    let grant = "[[grant]]\nmethod = 'stats/*'\ncalls = 3\n";
    home.file("made.toml", format!("{grant}[limits]\nwall = '300ms'\n"));
    home.file("short.toml", format!("{grant}[limits]\nwall = '100ms'\n"));
    done(&home, &["run", "--session", "s", "--policy", "made.toml", "-e", "1"]);
    let run = ["run", "--session", "s", "-e", "while (true) {}"];
    for (options, limit) in [
        (&["--policy", "short.toml"][..], "100 ms"),
        (&["--policy", "short.toml", "--timeout", "200ms"], "200 ms"),
        (&[], "300 ms"),
    ] {
        let told = refused(&home, &[&run[..], options].concat(), 4);
        assert!(told.contains(limit), "{options:?}: {told}");
    }
}

#[test]
fn session_name_invalid_or_missing_is_refused() {
    let home = Home::new();
    for bad in ["", "../x", "a b", "-x"] {
        let told = refused(&home, &["run", &format!("--session={bad}"), "-e", "1"], 2);
        assert!(told.contains("is not a session name"), "{told}");
    }
    done(&home, &["session", "new", "report"]);
    assert!(refused(&home, &["session", "show", "reprot"], 1).contains("did you mean `report`?"));
    assert!(refused(&home, &["session", "new", "report"], 2).contains("already"));
    assert!(refused(&home, &["session", "cat", "report@7", "/workspace"], 1).contains("no run 7"));
    assert!(refused(&home, &["session", "cat", "report@good", "/workspace"], 1).contains("no label `good`"));
    assert!(refused(&home, &["session", "cat", "report", "/workspace/x"], 1).contains("no such file"));
    assert!(refused(&home, &["session", "rollback", "report"], 2).contains("report@3"));
    done(&home, &["session", "rm", "report"]);
    refused(&home, &["session", "rm", "report"], 1);
    assert_eq!(ask(&home, &["session", "ls"]), json!([]));
    let new = done(&home, &["session", "new"]).stdout;
    assert_eq!(ask(&home, &["session", "ls"])[0]["session"], new.trim());
}

#[test]
fn runs_of_one_session_queue_and_of_two_do_not() {
    let home = Home::new();
    done(&home, &["session", "new", "one"]);
    let add = "const n = Number(await fs.readFile('/workspace/n', 'utf8').catch(() => 0));
        await new Promise((resolve) => setTimeout(resolve, 100));
        await fs.writeFile('/workspace/n', String(n + 1))";
    let start = |session: &str, code: &str| {
        let mut run = home.command(["run", "--session", session, "-e", code]);
        run.stdout(Stdio::null()).spawn().expect("the binary is built")
    };
    let mut runs: Vec<Child> = (0..4).map(|_| start("one", add)).collect();
    // Two that make the same session at once.
    runs.extend((0..2).map(|_| start("new", add)));
    for mut run in runs {
        assert!(run.wait().expect("it ends").success());
    }
    assert_eq!(done(&home, &["session", "cat", "one", "/workspace/n"]).stdout, "4");
    assert_eq!(done(&home, &["session", "cat", "new", "/workspace/n"]).stdout, "2");
    // One that waits for input does not hold up another session.
    let mut slow = home.command(["run", "--session", "one", "--lang", "sh", "-e", "read x; echo $x > got"]);
    let mut slow = slow.stdin(Stdio::piped()).spawn().expect("the binary is built");
    assert_eq!(home.js("return 1", &["--session", "new"])["value"], 1);
    assert_eq!(ask(&home, &["session", "show", "one"])["session"], "one");
    drop(slow.stdin.take());
    slow.wait().expect("it ends");
    done(&home, &["store", "verify"]);
}

/// Number of times that a run is killed, unless `TOLLHOUSE_CRASH_CYCLES` says otherwise.
const CYCLES: u32 = 4;

/// Numbers that differ from run to run: what fails by the moment of a kill, no seed brings back.
fn random(below: u64) -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0) % below
}

/// A run that calls a tool again and again, and says each time when the call has returned.
fn calling(home: &Home) -> (Child, BufReader<std::process::ChildStdout>) {
    let script = "for (let n = 1; ; n++) {
        await fs.writeFile('/workspace/half', String(n));
        await Promise.all([1, 2].map((v) => stats.describe({ values: [v] })));
        console.log(n);
    }";
    let mut run = home.command(["run", "--session", "s", "--timeout", "1h", "-e", script]);
    let mut child = run.stdout(Stdio::piped()).spawn().expect("the binary is built");
    let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
    (child, stdout)
}

/// Everything that was acknowledged survives `kill -9`: no call is forgotten, no budget given back, no half of a run
/// kept.
#[test]
fn run_killed_forgets_no_call_and_leaves_no_partial_run() {
    let home = Home::with_tools(&["stats"]);
    home.file("p.toml", "[[grant]]\nname = 'many'\nmethod = 'stats/*'\ncalls = 100000\n");
    done(&home, &["run", "--session", "s", "--policy", "p.toml", "-e", "await fs.writeFile('/workspace/kept', 'yes')"]);
    let (mut acknowledged, mut used) = (0, 0);
    for cycle in 0..cycles(CYCLES) {
        let (mut child, stdout) = calling(&home);
        let mut lines = stdout.lines();
        for _ in 0..=cycle * 7 % 23 {
            lines.next().expect("it goes on").expect("text");
            acknowledged += 2;
        }
        child.kill().expect("it runs");
        // What it had said and was not read yet counts, too.
        acknowledged += 2 * lines.map_while(Result::ok).filter(|line| !line.is_empty()).count() as u64;
        child.wait().expect("it ends");
        let now = budget(&home, "s", "many").0;
        // At most the two that were under way had not returned.
        assert!(
            now >= acknowledged && now <= acknowledged + 2 * u64::from(cycle + 1),
            "{acknowledged} returned, {now} spent"
        );
        assert!(now > used);
        let shown = ask(&home, &["session", "show", "s"]);
        let run = shown["runs"].as_array().expect("a list").last().expect("one");
        assert_eq!((&run["status"], &run["calls"]), (&json!("interrupted"), &json!(now - used)), "{run}");
        used = now;
        let files = ask(&home, &["session", "files", "s"]);
        assert_eq!(files.as_array().expect("a list").len(), 1, "the files are as they were: {files}");
        let admitted = done(&home, &["session", "log", "s", "--event", "admitted", "--json"]);
        assert_eq!(admitted.stdout.lines().count() as u64, now, "each call that was paid for is in the log");
        done(&home, &["store", "verify"]);
    }
    assert_eq!(home.js("return await fs.readFile('/workspace/kept', 'utf8')", &["--session", "s"])["value"], "yes");
}

#[test]
fn tool_keyvalue_entries_are_persisted() {
    let home = Home::with_tools(&["kv"]);
    home.file("p.toml", "[[grant]]\nmethod = 'kv/**'\n[tool.kv]\nkeyvalue = ['default']\n");
    let set = "await kv.set({key: 'a', value: 'x'.repeat(100000)}); await kv.increment({key: 'n', by: 2}); console.log('stored'); for (;;);";
    let mut run = home.command(["run", "--session", "s", "--policy", "p.toml", "-e", set]);
    let mut child = run.stdout(Stdio::piped()).spawn().expect("the binary is built");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("it is piped")).read_line(&mut line).expect("it says so");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let get = "return [(await kv.get({key: 'a'})).length, await kv.increment({key: 'n', by: 1})]";
    assert_eq!(home.js(get, &["--session", "s"])["value"], json!([100_000, 3]));
    done(&home, &["session", "fork", "s", "t"]);
    assert_eq!(home.js(get, &["--session", "t"])["value"], json!([100_000, 4]));
    assert_eq!(home.js(get, &["--session", "s"])["value"], json!([100_000, 4]));
    done(&home, &["store", "verify"]);
}

#[test]
fn forks_are_independent_and_can_be_compared() {
    let home = Home::new();
    let write = |session: &str, text: &str| {
        let code = format!("await fs.writeFile('/workspace/a', {})", json!(text));
        assert_eq!(home.js(&code, &["--session", session])["status"], "completed");
    };
    write("s", "one\ntwo\n");
    write("s", "one\nthree\n");
    done(&home, &["session", "fork", "s@1", "t"]);
    write("t", "zero\none\ntwo\n");
    assert_eq!(done(&home, &["session", "cat", "s", "/workspace/a"]).stdout, "one\nthree\n");
    assert_eq!(ask(&home, &["session", "diff", "s", "t"]), json!([{ "path": "/workspace/a", "change": "modified" }]));
    let unified = done(&home, &["session", "diff", "s@1", "s", "--unified"]).stdout;
    assert!(unified.contains("-two\n+three\n"), "{unified}");
    assert_eq!(done(&home, &["session", "diff", "t"]).stdout, "M /workspace/a\n", "what its last run changed");
    let malformed = home.run(["session", "label", "s@1", "very good"]);
    assert!(
        malformed.status == 2 && malformed.stderr.contains("`very good` is not a label: use 1 to 64"),
        "{malformed:?}"
    );
    done(&home, &["session", "label", "s@1", "good"]);
    done(&home, &["session", "rollback", "s@good"]);
    assert_eq!(done(&home, &["session", "cat", "s", "/workspace/a"]).stdout, "one\ntwo\n");
    let shown = ask(&home, &["session", "show", "s"]);
    assert_eq!(shown["labels"], json!({ "good": 1 }));
    assert_eq!(shown["snapshot"], shown["runs"][1]["snapshot"], "equal files have equal names");
    done(&home, &["session", "rollback", "s@2"]);
    assert_eq!(done(&home, &["session", "cat", "s", "/workspace/a"]).stdout, "one\nthree\n");
    let from = &ask(&home, &["session", "show", "t"])["from"];
    assert_eq!(*from, json!({ "session": "s", "run": 1 }));
    let drawn = done(&home, &["session", "ls"]).stdout;
    assert!(drawn.lines().any(|line| line.starts_with("└ t")), "{drawn}");
}

#[test]
fn session_files_are_put_and_got() {
    let home = Home::new();
    done(&home, &["session", "new", "s"]);
    home.file("in.txt", "from here");
    done(&home, &["session", "put", "s", "in.txt", "/workspace/d/in.txt"]);
    assert_eq!(home.sh("cat d/in.txt", &["--session", "s"])["stdout"], "from here");
    done(&home, &["session", "get", "s", "/workspace/d", "out"]);
    assert_eq!(std::fs::read(home.path().join("out/in.txt")).expect("it was copied"), b"from here");
    assert!(refused(&home, &["session", "get", "s", "/workspace/d", "out"], 1).contains("cannot write"));
    let told = refused(&home, &["session", "put", "s", "in.txt", "/workspace/d"], 1);
    assert!(told.contains("is a directory"), "{told}");
    let runs = ask(&home, &["session", "show", "s"])["runs"].clone();
    let status: Vec<&Value> = runs.as_array().expect("a list").iter().map(|run| &run["status"]).collect();
    assert_eq!(status, ["created", "changed", "completed", "failed"]);
    // What a script made leads nowhere outside.
    home.sh("ln -s /etc/passwd d/link", &["--session", "s"]);
    let ran = done(&home, &["session", "get", "s", "/workspace/d", "again"]);
    assert!(ran.stderr.contains("is left out") && !home.path().join("again/link").exists(), "{ran:?}");
}

#[test]
fn session_get_leaves_no_part_of_a_damaged_file() {
    let home = Home::new();
    home.js("await fs.writeFile('x', crypto.getRandomValues(new Uint8Array(50_000)))", &["--session", "s"]);
    let size = |path: &std::path::PathBuf| path.metadata().map_or(0, |file| file.len());
    damage(&home.blobs().into_iter().max_by_key(size).expect("there are some"));
    let told = refused(&home, &["session", "get", "s", "/workspace/x", "out"], 1);
    assert!(told.contains("/workspace/x") && !home.path().join("out").exists(), "{told}");
}

#[test]
fn session_exported_is_imported_on_another_machine() {
    let (home, other) = (Home::with_tools(&["stats"]), Home::with_tools(&["stats"]));
    home.file("p.toml", "[[grant]]\nname = 'few'\nmethod = 'stats/*'\ncalls = 2\n");
    let call =
        "await fs.writeFile('/workspace/big', 'x'.repeat(400000)); return (await stats.describe({values: [1]})).mean";
    assert_eq!(home.js(call, &["--session", "s", "--policy", "p.toml"])["value"], 1.0);
    done(&home, &["session", "export", "s", "s.tlh"]);
    assert!(refused(&home, &["session", "export", "s", "s.tlh"], 2).contains("already exists"));
    let file = home.path().join("s.tlh");
    let path = file.to_str().expect("UTF-8");
    assert!(refused(&home, &["session", "import", path], 2).contains("already"));
    done(&other, &["session", "import", path, "--budget", "keep"]);
    assert_eq!(ask(&other, &["session", "show", "s"])["snapshot"], ask(&home, &["session", "show", "s"])["snapshot"]);
    assert_eq!(other.js(call, &["--session", "s"])["value"], 1.0, "and goes on there");
    assert_eq!(other.js(call, &["--session", "s"])["status"], "denied", "with what was left");
    done(&other, &["session", "import", path, "twin"]);
    done(&other, &["store", "verify"]);
    // Whatever byte of the file is another, it is refused, and nothing is there. (zstd does not use every bit: then what is
    // read is the same.)
    let bytes = std::fs::read(&file).expect("it is there");
    let mut unused = 0;
    for at in (0..bytes.len()).step_by(bytes.len() / 40) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x20;
        other.file("damaged", &damaged);
        let ran = other.run(["session", "import", "damaged", "damaged"]);
        if ran.status == 0 {
            let [damaged, whole] = ["damaged", "twin"].map(|id| {
                let mut runs = ask(&other, &["session", "show", id])["runs"].as_array().expect("a list").clone();
                let import = runs.pop().expect("at least the import itself, which has its own time");
                (runs, import["snapshot"].clone())
            });
            assert_eq!(damaged, whole, "byte {at}");
            done(&other, &["session", "rm", "damaged"]);
            unused += 1;
        } else {
            assert_eq!(ran.status, 1, "byte {at}: {ran:?}");
        }
    }
    assert!(unused < 5, "{unused} of 40 were not noticed");
    let half = other.file("half", &bytes[..bytes.len() / 2]);
    refused(&other, &["session", "import", half.to_str().expect("UTF-8"), "damaged"], 1);
    assert_eq!(ask(&other, &["session", "ls"]).as_array().expect("a list").len(), 2);
}

#[test]
fn session_gc_frees_only_unreferenced_blobs() {
    let home = Home::new();
    let write = |session: &str, name: &str| {
        let code = format!("await fs.writeFile('/workspace/{name}', '{name}'.repeat(100000))");
        assert_eq!(home.js(&code, &["--session", session])["status"], "completed");
    };
    write("s", "a");
    write("t", "b");
    done(&home, &["session", "fork", "t", "u"]);
    assert_eq!(ask(&home, &["session", "gc"])["removed"]["files"], 0);
    done(&home, &["session", "rm", "s"]);
    done(&home, &["session", "rm", "t"]);
    let would = ask(&home, &["session", "gc", "--dry-run"]);
    assert!(would["removed"]["bytes"].as_u64().expect("a number") > 0);
    assert_eq!(ask(&home, &["session", "gc"])["removed"], would["removed"]);
    assert_eq!(ask(&home, &["session", "gc"])["removed"]["files"], 0);
    assert_eq!(done(&home, &["session", "cat", "u", "/workspace/b"]).stdout.len(), 100_000);
    done(&home, &["store", "verify"]);
    let compacted = ask(&home, &["store", "compact"]);
    assert!(compacted["after"].is_u64(), "{compacted}");
    assert_eq!(done(&home, &["session", "cat", "u", "/workspace/b"]).stdout.len(), 100_000);
}

#[test]
fn session_blob_with_byte_flipped_is_reported_and_not_served() {
    let home = Home::new();
    let code =
        "await fs.writeFile('/workspace/a', 'x'.repeat(1000)); await fs.writeFile('/workspace/b', 'y'.repeat(1000))";
    home.js(code, &["--session", "s"]);
    for blob in home.blobs() {
        let whole = std::fs::read(&blob).expect("it is there");
        let mut damaged = whole.clone();
        *damaged.last_mut().expect("not empty") ^= 1;
        std::fs::write(&blob, &damaged).expect("it can be written");
        let told = refused(&home, &["store", "verify"], 1);
        let name = |path: Option<&std::path::Path>| {
            path.and_then(|path| path.file_name()?.to_str()).expect("UTF-8").to_owned()
        };
        let name = name(blob.parent()) + &name(Some(&blob));
        assert!(told.contains(&name), "{name} is not in {told}");
        for file in ["a", "b"] {
            let ran = home.run(["session", "cat", "s", &format!("/workspace/{file}")]);
            assert!(ran.status != 0 || ran.stdout == (if file == "a" { "x" } else { "y" }).repeat(1000), "{ran:?}");
        }
        std::fs::write(&blob, &whole).expect("it can be written");
    }
    done(&home, &["store", "verify"]);
}

#[test]
fn ctrl_c_keeps_what_was_done() {
    let home = Home::new();
    done(&home, &["session", "new", "s"]);
    let script = "await fs.writeFile('/workspace/a', 'x'); console.log('now'); for (;;);";
    let mut run = home.command(["run", "--session", "s", "--timeout", "1h", "-e", script]);
    let mut child = run.stdout(Stdio::piped()).spawn().expect("the binary is built");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("it is piped")).read_line(&mut line).expect("it says so");
    let interrupt = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupt.expect("there is `kill`").success());
    let begun = Instant::now();
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert!(begun.elapsed() < Duration::from_secs(20), "it ends soon");
    assert_eq!(done(&home, &["session", "cat", "s", "/workspace/a"]).stdout, "x");
    assert_eq!(ask(&home, &["session", "show", "s"])["runs"][1]["status"], "cancelled");
}

#[test]
fn fork_under_a_taken_name_is_refused() {
    let home = Home::with_tools(&["kv"]);
    home.file("p.toml", "[[grant]]\nname = 'all'\nmethod = 'kv/**'\ncalls = 5\n[tool.kv]\nkeyvalue = ['default']\n");
    let entries = "const entries = Array.from({length: 700}, (_, n) => [`k${n}`, 'v']);
        await kv.setMany({entries}); await fs.writeFile('/workspace/a', 'x')";
    let made = home.js(entries, &["--session", "big", "--policy", "p.toml"]);
    assert_eq!(made["status"], "completed", "{made}");
    home.js(
        "await fs.writeFile('/workspace/mine', 'x'); await kv.get({key: 'k'})",
        &["--session", "victim", "--policy", "p.toml"],
    );
    for other in ["victim", "big"] {
        assert!(refused(&home, &["session", "fork", "big", other], 2).contains("already"));
        assert_eq!(budget(&home, other, "all"), (1, 4));
    }
    assert_eq!(done(&home, &["session", "cat", "victim", "/workspace/mine"]).stdout, "x");
    done(&home, &["session", "fork", "big", "other"]);
    assert_eq!(home.js("return await kv.get({key: 'k699'})", &["--session", "other"])["value"], "v");
    // What a removed session had, the next of its name has not.
    done(&home, &["session", "rm", "other"]);
    home.js("1", &["--session", "other", "--policy", "p.toml"]);
    assert_eq!(home.js("return await kv.get({key: 'k699'})", &["--session", "other"])["value"], json!(null));
    assert_eq!(budget(&home, "other", "all"), (1, 4));
    done(&home, &["store", "verify"]);
}

#[test]
fn run_that_throws_hostile_text_keeps_its_files() {
    let home = Home::new();
    let code = "await fs.writeFile('/workspace/a', 'x'); throw new Error('\\u0001\\u001b[31m\"\\\\'.repeat(2000))";
    let ran = home.js(code, &["--session", "s"]);
    assert_eq!((&ran["status"], ran["snapshot"].is_string()), (&json!("failed"), true), "{ran}");
    let shown = done(&home, &["session", "show", "s"]).stdout;
    assert!(!shown.contains('\u{1b}') && shown.contains("failed"), "{shown}");
    assert_eq!(done(&home, &["session", "cat", "s", "/workspace/a"]).stdout, "x");
}

#[test]
fn session_under_a_token_is_refused() {
    let home = Home::with_tools(&["stats"]);
    home.file("p.toml", "[[grant]]\nmethod = 'stats/*'\n");
    done(&home, &["policy", "keygen", "key"]);
    home.file("token", done(&home, &["policy", "seal", "p.toml", "--key", "key"]).stdout);
    let run = ["run", "--session", "s", "--token", "token", "--trust", "key.pub", "-e", "1"];
    assert!(refused(&home, &run, 2).contains("a session does not keep the grants of a token"));
    assert_eq!(ask(&home, &["session", "ls"]), json!([]));
}

/// A session that is made from one on disk, for a sub-agent, spends there, and takes nothing from it.
#[test]
fn session_derived_from_one_on_disk_spends_there() {
    let home = Home::with_tools(&["stats"]);
    let options = HostOptions { registry: Some(home.path().join("tollhouse/registry")), ..HostOptions::default() };
    let host = Host::new(&options).expect("the engines start");
    let sessions = Sessions::open(&home.path().join("store"), Backend::Sled).expect("it opens");
    let id: SessionId = "s".parse().expect("a name");
    let grant = || Grant::allow("stats/*").expect("a pattern").named("few");
    let open = || {
        let policy = Some(Policy::default().with(grant().calls(10)));
        host.open(&sessions, &id, OpenOptions { policy, ..OpenOptions::default() }).expect("it opens")
    };
    let run = |session: &Session, code: &str| {
        let script = Script { source: code.to_owned(), ..Script::default() };
        session.start(Language::JavaScript, script, RunOptions::default()).expect("it starts").finish()
    };
    let call = "return (await stats.describe({values: [1]})).mean";
    assert_eq!(run(&open(), "await fs.writeFile('/workspace/a', 'kept')").status, Status::Completed);
    let main = open();
    assert_eq!(main.files().read_file("/workspace/a").as_deref(), Ok(b"kept".as_slice()), "before its first run");
    let other = open();
    assert_eq!(run(&other, call).status, Status::Completed);
    drop(other);
    let sub = main.delegate(Policy::default().with(grant().calls(4))).expect("it is narrower");
    assert_eq!(run(&sub, "return await fs.readFile('/workspace/a', 'utf8')").value, Some("kept".into()));
    // The sub-agent is first to have the turn since the other spent, and does not end before the main one runs.
    let waiting = Script { source: "await new Promise(() => {})".to_owned(), ..Script::default() };
    let mut long = sub.start(Language::JavaScript, waiting, RunOptions::default()).expect("it starts");
    long.step();
    assert_eq!(run(&main, "return await fs.readFile('/workspace/a', 'utf8')").value, Some("kept".into()));
    assert_eq!(run(&main, call).value, Some(1.into()));
    drop(long);
    assert_eq!(run(&sub, call).value, Some(1.into()));
    let left = |session: &Session| session.gate().budgets()[0].remaining;
    assert_eq!(
        (left(&main), left(&sub)),
        (Amount::whole(7), Amount::whole(3)),
        "one, and one, and one through the other"
    );
    drop((main, sub));
    assert_eq!(sessions.reader().balances(&id).expect("they are read")["few"].calls, 3);
    sessions.verifier().verify_session(&id).expect("it is whole");
    assert_eq!(left(&open()), Amount::whole(7));
}

#[test]
fn session_in_memory_is_kept_exported_and_imported() {
    let (host, sessions) = (Host::new(&HostOptions::default()).expect("the engines start"), Sessions::in_memory());
    let id: SessionId = "s".parse().expect("a name");
    let run = |code: &str| {
        let session = host.open(&sessions, &id, OpenOptions::default()).expect("it opens");
        let script = Script { source: code.to_owned(), ..Script::default() };
        session.start(Language::JavaScript, script, RunOptions::default()).expect("it starts").finish()
    };
    assert_eq!(run("await fs.writeFile('/workspace/a', 'x'.repeat(500000))").run, Some(1));
    assert_eq!(run("return (await fs.readFile('/workspace/a', 'utf8')).length").value, Some(500_000.into()));
    let file = sessions.transfer().export(&id, Vec::new()).expect("it is written").0;
    let other = Sessions::in_memory();
    assert_eq!(other.transfer().import(file.as_slice(), &ImportOptions::default()).expect("it is read").session, id);
    assert_eq!(
        other.show(&id).expect("it is there").head.snapshot,
        sessions.show(&id).expect("so is this").head.snapshot
    );
    assert!(matches!(
        other.transfer().import(file.as_slice(), &ImportOptions::default()),
        Err(SessionsError::Exists(_))
    ));
}

#[test]
fn store_made_under_any_umask_is_used_again() {
    let home = Home::new();
    let run = || {
        let program = home.command(["run", "--session", "s", "-e", "return 1"]);
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", r#"umask 000; exec "$0" "$@""#]).arg(program.get_program()).args(program.get_args());
        shell.current_dir(home.path());
        shell.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Ran::of(&shell.output().expect("a shell starts"))
    };
    for _ in 0..2 {
        let ran = run();
        assert_eq!((ran.status, ran.stdout.as_str()), (0, "1\n"), "{ran:?}");
    }
}
