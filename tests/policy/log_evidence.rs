//! The log as evidence: kept with a key that the process forgets, checked with it or against a head that was kept elsewhere.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;

use serde_json::{Value, json};
use tollhouse::capability::Policy;
use tollhouse::gate::{Audit, AuditError, Event};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{RunOptions, SessionOptions, Status};
use tollhouse_tests::{Home, Ran};

const LENGTH: &str = "return await probe.length({ text: 'four' })";

/// A home with the fixture and a key.
fn home() -> Home {
    let home = Home::with_fixture();
    let made = home.run(["policy", "keygen", "--audit", "audit.key"]);
    assert_eq!((made.status, made.stdout.as_str()), (0, ""), "{made:?}");
    home
}

fn keyed(home: &Home, more: &[&str]) -> Ran {
    let run = ["run", "-e", LENGTH, "--allow", "probe/*", "--audit", "log.jsonl", "--audit-key", "audit.key"];
    home.run(run.iter().chain(more))
}

fn checked(home: &Home, more: &[&str]) -> (i32, Value) {
    let ran = home.run(["policy", "audit", "log.jsonl", "--json"].iter().chain(more));
    (ran.status, serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no JSON: {ran:?}")))
}

fn text(home: &Home, name: &str) -> String {
    std::fs::read_to_string(home.path().join(name)).expect("it was written")
}

/// Forges a log as anybody can who can write the file, and as `forge.py` of the security review did: changes lines,
/// counts them anew, and makes the chain anew.
fn forged(log: &str, keep: impl Fn(&Value) -> bool) -> String {
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")).filter(keep);
    let (mut previous, mut made) = ("0".repeat(64), String::new());
    for (at, mut line) in lines.enumerate() {
        line["n"] = json!(at + 1);
        line["prev"] = json!(previous);
        let line = line.to_string();
        previous = blake3::hash(line.as_bytes()).to_string();
        made += &line;
        made.push('\n');
    }
    made
}

#[test]
fn log_that_is_kept_with_a_key_is_proven_by_it() {
    let home = home();
    for _ in 0..2 {
        let ran = keyed(&home, &[]);
        assert_eq!((ran.status, ran.stdout.trim()), (0, "4"), "{ran:?}");
    }
    let (status, with) = checked(&home, &["--key", "audit.key"]);
    assert_eq!(
        (status, &with["lines"], &with["proven_from"], &with["proven_lines"]),
        (0, &json!(8), &json!(1), &json!(8))
    );
    let (status, without) = checked(&home, &[]);
    assert_eq!((status, &without["keyed_from"], &without["proven_from"]), (0, &json!(1), &Value::Null), "{without}");
    let told = home.run(["policy", "audit", "log.jsonl", "--key", "audit.key"]).stdout;
    assert!(told.contains("proven from line 1 on"), "{told}");
    // The key shows in neither file.
    let key = text(&home, "audit.key").trim().trim_start_matches("audit-key/").to_owned();
    assert_eq!(key.len(), 64);
    assert!(!text(&home, "log.jsonl").contains(&key) && !text(&home, "log.jsonl.head").contains(&key));
    assert_eq!(home.run(["session", "log", "--audit", "log.jsonl", "--event", "ended"]).stdout.lines().count(), 2);
    // Without the key, or with another, nothing is added.
    for more in [&["--audit", "log.jsonl"][..], &["--audit", "log.jsonl", "--audit-key", "other.key"]] {
        home.run(["policy", "keygen", "--audit", "other.key"]);
        let refused = home.run(["run", "-e", "1"].iter().chain(more));
        assert_eq!(refused.status, 2, "{refused:?}");
    }
    assert_eq!(checked(&home, &["--key", "audit.key"]).1["lines"], 8);
}

#[test]
fn forgery_of_a_whole_log_shows_by_its_key() {
    let home = home();
    keyed(&home, &[]);
    let log = text(&home, "log.jsonl");
    let without_the_call = forged(&log, |line| !matches!(line["event"].as_str(), Some("admitted" | "settled")));
    home.file("log.jsonl", without_the_call);
    std::fs::remove_file(home.path().join("log.jsonl.head")).expect("it is there");
    // As the review saw it: unaltered, says who has no key.
    let (status, seen) = checked(&home, &[]);
    assert_eq!((status, &seen["lines"], &seen["proven_from"]), (0, &json!(2), &Value::Null), "{seen}");
    let (status, seen) = checked(&home, &["--key", "audit.key"]);
    assert_eq!((status, &seen["wrong"]["line"]), (1, &json!(2)), "{seen}");
    assert_eq!(keyed(&home, &[]).status, 2, "and nothing is added to it");
}

#[test]
fn log_that_was_cut_off_is_noticed_and_not_written_on() {
    let home = home();
    keyed(&home, &[]);
    let log = text(&home, "log.jsonl");
    for left in 0..4 {
        let lines: String = log.lines().take(left).map(|line| format!("{line}\n")).collect();
        home.file("log.jsonl", lines);
        for key in [&["--key", "audit.key"][..], &[]] {
            let (status, seen) = checked(&home, key);
            assert_eq!((status, &seen["wrong"]["line"]), (1, &json!(left + 1)), "{seen}");
        }
        let refused = keyed(&home, &[]);
        assert!(refused.status == 2 && refused.stderr.contains("was truncated"), "{refused:?}");
    }
    home.file("log.jsonl", &log);
    assert_eq!(keyed(&home, &[]).status, 0);
}

#[test]
fn heads_that_were_kept_elsewhere_are_expected() {
    let home = home();
    let run = || home.js(LENGTH, &["--allow", "probe/*", "--audit", "log.jsonl"]);
    run();
    let head = checked(&home, &[]).1["head"].as_str().expect("a hash").to_owned();
    run();
    let (status, seen) = checked(&home, &["--expect", &head]);
    assert_eq!((status, &seen["expected"]), (0, &json!([{ "head": head, "line": 4 }])), "{seen}");
    let forged = forged(&text(&home, "log.jsonl"), |line| line["event"] != "settled");
    home.file("log.jsonl", forged);
    assert_eq!(checked(&home, &[]).0, 0, "the chain is whole");
    let refused = home.run(["policy", "audit", "log.jsonl", "--expect", &head]);
    assert!(refused.status == 1 && refused.stderr.contains(&head), "{refused:?}");
    assert_eq!(home.run(["policy", "audit", "log.jsonl", "--expect", "abc"]).status, 2);
}

/// The log of a session has no key; its heads can be kept elsewhere all the same.
#[test]
fn heads_of_a_session_that_were_kept_elsewhere_are_expected() {
    let home = home();
    let run = || home.js(LENGTH, &["--allow", "probe/*", "--session", "s"]);
    let audit = |more: &[&str]| home.run(["policy", "audit", "--session", "s", "--json"].iter().chain(more));
    let seen = |ran: Ran| serde_json::from_str::<Value>(&ran.stdout).unwrap_or_else(|_| panic!("no JSON: {ran:?}"));
    run();
    let before = seen(audit(&[]));
    let head = before["head"].as_str().expect("a hash").to_owned();
    run();
    let after = seen(audit(&["--expect", &head]));
    assert_eq!(after["expected"], json!([{ "head": head, "line": before["lines"] }]), "{after}");
    assert!(after["lines"].as_u64() > before["lines"].as_u64() && after["proven_from"].is_null(), "{after}");
    // A session of the same name that was made anew has another log.
    assert_eq!(home.run(["session", "rm", "s"]).status, 0);
    run();
    let refused = audit(&["--expect", &head]);
    assert_eq!(refused.status, 1);
    assert!(seen(refused)["wrong"]["message"].as_str().is_some_and(|told| told.contains(&head)));
    assert_eq!(home.run(["policy", "audit", "--session", "s"]).status, 0);
    assert_ne!(home.run(["policy", "audit", "--session", "absent"]).status, 0);
    assert_eq!(home.run(["policy", "audit", "--session", "s", "--key", "audit.key"]).status, 2);
}

#[test]
fn log_that_began_without_a_key_is_proven_from_where_it_got_one() {
    let home = home();
    home.js(LENGTH, &["--allow", "probe/*", "--audit", "log.jsonl"]);
    let unproven = home.run(["policy", "audit", "log.jsonl", "--key", "audit.key"]);
    assert!(unproven.status == 1 && unproven.stderr.contains("no line"), "{unproven:?}");
    keyed(&home, &[]);
    let (status, seen) = checked(&home, &["--key", "audit.key"]);
    assert_eq!((status, &seen["lines"], &seen["proven_from"]), (0, &json!(8), &json!(5)), "{seen}");
}

/// The events that a killed process had acknowledged are proven, and the next process continues the log.
#[test]
fn log_with_a_key_survives_the_process_that_writes_it() {
    let home = home();
    let log = home.path().join("log.jsonl");
    let size = || std::fs::metadata(&log).map_or(0, |metadata| metadata.len());
    for _ in 0..tollhouse_tests::cycles(5) {
        let before = size();
        let script = "for (let n = 0;; n++) console.log((await probe.length({ text: 'x'.repeat(n) })))";
        let mut run =
            home.command(["run", "--allow", "**", "--audit", "log.jsonl", "--audit-key", "audit.key", "-e", script]);
        let mut child = run.stdout(Stdio::piped()).spawn().expect("the binary is built");
        while size() < before + 20_000 && child.try_wait().expect("it can be asked").is_none() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        child.kill().expect("it runs");
        let output = child.wait_with_output().expect("it ends");
        let (status, seen) = match checked(&home, &["--key", "audit.key"]) {
            // A line that was not finished is removed by who opens the log next.
            (1, seen) if seen["wrong"]["message"].as_str().is_some_and(|told| told.contains("is incomplete")) => {
                assert_eq!(keyed(&home, &[]).status, 0);
                checked(&home, &["--key", "audit.key"])
            }
            seen => seen,
        };
        assert_eq!(status, 0, "{seen}");
        // Each call whose result was printed had been admitted in a line that is proven.
        let printed = String::from_utf8_lossy(&output.stdout).lines().count();
        let proven = usize::try_from(seen["proven_lines"].as_u64().expect("a number")).expect("it is small");
        let text = text(&home, "log.jsonl");
        let from = text[..usize::try_from(before).expect("it is small")].lines().count();
        let admitted =
            text.lines().take(proven).skip(from).filter(|line| line.contains("\"event\":\"admitted\"")).count();
        assert!(admitted >= printed, "{admitted} of {printed}");
        let ran = keyed(&home, &[]);
        assert_eq!(ran.status, 0, "{ran:?}");
        assert_eq!(checked(&home, &["--key", "audit.key"]).0, 0);
    }
}

#[test]
fn batch_and_call_keep_the_log_with_a_key() {
    let home = home();
    let options = ["--jobs", "2", "--allow", "probe/*", "--audit", "log.jsonl", "--audit-key", "audit.key"];
    let line = json!({ "script": LENGTH });
    let answers = home.batch(&format!("{line}\n{line}\n{line}\n"), &options);
    assert!(answers.iter().all(|answer| answer["value"] == 4), "{answers:?}");
    let call = ["call", "probe/length", r#"{"text": "four"}"#];
    assert_eq!(home.run(call.iter().chain(&options[2..])).status, 0);
    assert_eq!(home.run(call.iter().chain(&["--session", "s"]).chain(&options[2..])).status, 0);
    let (status, seen) = checked(&home, &["--key", "audit.key"]);
    assert_eq!((status, &seen["lines"], &seen["proven_lines"]), (0, &json!(20), &json!(20)), "{seen}");
}

#[test]
fn repl_keeps_the_log_with_a_key() {
    let home = home();
    let repl = |more: &[&str]| {
        let options = ["repl", "--allow", "probe/*", "--audit", "log.jsonl"];
        let mut command = home.command(options.iter().chain(more));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary is built");
        let inputs = b"await probe.length({ text: 'four' })\n1 + 1\n";
        // One that is refused ends without reading.
        let _ = child.stdin.take().expect("it is piped").write_all(inputs);
        Ran::of(&child.wait_with_output().expect("it ends"))
    };
    let key = ["--audit-key", "audit.key"];
    for lines in [6, 12] {
        let ran = repl(&key);
        assert_eq!((ran.status, ran.stdout.as_str()), (0, "4\n2\n"), "{ran:?}");
        // Two runs: beginnings, ends, and a call that was admitted and settled.
        let (status, seen) = checked(&home, &["--key", "audit.key"]);
        assert_eq!((status, &seen["lines"], &seen["proven_lines"]), (0, &json!(lines), &json!(lines)), "{seen}");
    }
    let log = text(&home, "log.jsonl");
    home.file("log.jsonl", log.replacen("\"four\"", "\"five\"", 1));
    for more in [&key[..], &[]] {
        let refused = repl(more);
        assert_eq!((refused.status, refused.stdout.as_str()), (2, ""), "{refused:?}");
    }
    home.file("log.jsonl", log);
    assert_eq!(repl(&[]).status, 2, "without the key nothing is added");
    assert_eq!(repl(&key).status, 0);
}

#[test]
fn audit_key_that_is_invalid_is_refused() {
    let home = home();
    home.file("bad.key", "audit-key/12\n");
    for (more, told) in [
        (&["--audit", "log.jsonl", "--audit-key", "bad.key"][..], "64 hex digits"),
        (&["--audit", "log.jsonl", "--audit-key", "none.key"], "none.key"),
        (&["--audit-key", "audit.key"], "--audit"),
    ] {
        let refused = home.run(["run", "-e", "1"].iter().chain(more));
        assert!(refused.status == 2 && refused.stderr.contains(told), "{refused:?}");
    }
    assert_eq!(home.run(["policy", "keygen", "--audit", "audit.key"]).status, 1, "none is overwritten");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(home.path().join("audit.key")).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

/// No thread of a run holds the key's file open, and none can open it: it was read before the walls stood.
#[cfg(target_os = "linux")]
#[test]
fn key_of_a_log_is_out_of_reach_while_a_run_goes_on() {
    let home = home();
    let digits = text(&home, "audit.key").trim().trim_start_matches("audit-key/").to_owned();
    let raw: Vec<u8> = digits
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16).expect("hex digits"))
        .collect();
    let script = "console.log(await probe.length({ text: 'four' })); await new Promise((go) => setTimeout(go, 1e6))";
    let mut run =
        home.command(["run", "--allow", "**", "--audit", "log.jsonl", "--audit-key", "audit.key", "-e", script]);
    let mut child = run.stdout(Stdio::piped()).spawn().expect("the binary is built");
    let mut said = [0; 2];
    std::io::Read::read_exact(child.stdout.as_mut().expect("it is piped"), &mut said).expect("it says something");
    // What is there for certain shows that the memory is read.
    let found = memory_holds(child.id(), &[digits.as_bytes(), &raw, b"setTimeout(go, 1e6)"]);
    let open = std::fs::read_dir(format!("/proc/{}/fd", child.id()))
        .map(|files| files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok()).collect::<Vec<PathBuf>>());
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert!(open.expect("it is a process of ours").iter().all(|path| !path.ends_with("audit.key")));
    // Where another process may not look, there is nothing to see.
    if let Ok(found) = found {
        assert_eq!(found, [false, false, true], "the key's text, its bytes, and the script");
    }
}

/// Returns true for each of these that is in the memory of a process, as far as it can be read.
#[cfg(target_os = "linux")]
fn memory_holds(process: u32, wanted: &[&[u8]]) -> std::io::Result<Vec<bool>> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps"))?;
    let mut memory = std::fs::File::open(format!("/proc/{process}/mem"))?;
    let mut found = vec![false; wanted.len()];
    for line in maps.lines().filter(|line| line.contains(" rw-p ")) {
        let Some((begin, rest)) = line.split_once('-') else { continue };
        let end = rest.split(' ').next().unwrap_or_default();
        let (Ok(begin), Ok(end)) = (u64::from_str_radix(begin, 16), u64::from_str_radix(end, 16)) else { continue };
        // Reserved for guests, and mostly empty.
        if end - begin > 64 << 20 || memory.seek(SeekFrom::Start(begin)).is_err() {
            continue;
        }
        let mut bytes = vec![0; usize::try_from(end - begin).expect("it is small")];
        if memory.read_exact(&mut bytes).is_ok() {
            for (found, wanted) in found.iter_mut().zip(wanted) {
                *found |= memmem(&bytes, wanted);
            }
        }
    }
    Ok(found)
}

/// Returns true if these bytes are among the others. Goes from one first byte to the next: there are many megabytes.
#[cfg(target_os = "linux")]
fn memmem(bytes: &[u8], wanted: &[u8]) -> bool {
    use std::io::BufRead as _;
    let mut rest = bytes;
    while rest.skip_until(wanted[0]).is_ok_and(|skipped| skipped > 0) {
        if rest.starts_with(&wanted[1..]) {
            return true;
        }
    }
    false
}

/// An audit log on a disk that has no room for the lines of one kind.
struct Full(&'static str);

impl Audit for Full {
    fn write(&self, event: &Event<'_>) -> Result<(), AuditError> {
        let kind = serde_json::to_value(event).expect("an event is plain data")["event"].take();
        if kind == self.0 {
            Err(AuditError::Io { path: "log".into(), source: std::io::ErrorKind::StorageFull.into() })
        } else {
            Ok(())
        }
    }

    fn sync(&self) -> Result<(), AuditError> {
        Ok(())
    }
}

#[test]
fn run_whose_log_lacks_what_happened_fails() {
    let home = Home::with_tools(&["stats"]);
    for (missing, status) in [
        ("none", Status::Completed),
        ("settled", Status::Failed),
        ("denied", Status::Failed),
        ("ended", Status::Failed),
    ] {
        let policy = Policy::parse("[[grant]]\nmethod = 'stats/describe'").expect("it is one");
        let audit: Option<Arc<dyn Audit>> = Some(Arc::new(Full(missing)));
        let session =
            home.host().session(SessionOptions { policy, audit, ..SessionOptions::default() }).expect("it opens");
        let source = "await stats.describe({values: [1]});
            await stats.quantiles({values: [1], probabilities: [0]}).catch(() => {}); return 1";
        let script = Script { source: source.to_owned(), ..Script::default() };
        let run = session.start(Language::JavaScript, script, RunOptions::default()).expect("it starts");
        let result = run.finish();
        assert_eq!(result.status, status, "{missing}: {result:?}");
        let told = result.error.map(|error| error.message).unwrap_or_default();
        assert_eq!(told.contains("the audit log is not complete"), missing != "none", "{missing}: {told}");
    }
}
