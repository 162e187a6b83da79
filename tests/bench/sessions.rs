//! Sessions on disk: with 100,000 files, with budgeted calls, with a script that writes a gigabyte, and idle.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tollhouse::capability::{Approve, Grant, Limits, Policy};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{
    CallListing, HeapUse, Host, OpenOptions, Point, RunOptions, Session, SessionId, SessionOptions, Sessions, Status,
    Waiting,
};
use tollhouse::store::{Backend, Batch, Store};
use tollhouse::vfs::{Tree, WriteMode};
use tollhouse_tests::Home;

use crate::calls::host;
use crate::files::{DiskStore, LIMITS, PIECE_BYTES, PIECES, Shape};
use crate::table::{bytes, figure, median, median_of, rate, row, taken, time};

/// Argument that makes this binary report the memory of idle sessions. A home, a directory and a session follow.
pub(crate) const IDLE: &str = "idle-sessions";

/// Number of idle sessions.
const IDLERS: u32 = 100;

/// Number of sessions that make calls at once.
const AT_ONCE: u32 = 64;

/// Measures sessions and runs.
pub(crate) fn measure() {
    let home = Home::with_tools(&["stats"]);
    let host = host(home.path());
    println!("sessions on disk");
    resumed_runs(&host);
    // Removed at the end: after many files were removed, an ext4 without a journal creates new ones many times slower
    // for minutes.
    let _large = large(&host);
    debits(&host);
    throughput(&host);
    idle_sessions(&home, &host);
}

/// Measures a session with 100,000 files. Returns the directory of its store.
fn large(host: &Host) -> TempDir {
    let disk = DiskStore::new();
    let (sessions, id) = (disk.sessions(), name("large"));
    let options = OpenOptions { files: Some(Shape::Deep.tree()), ..OpenOptions::default() };
    drop(host.open(&sessions, &id, options).expect("it is made"));
    let head: Point = "large".parse().expect("a point");
    let mut forks = 0;
    let forked = median(50, || {
        forks += 1;
        sessions.fork(&head, &name(&format!("fork-{forks}"))).expect("it is made");
    });
    row("  fork of a session of 100,000 files", forked, "", None, None);
    let mut changes = 0;
    let changed = median(50, || {
        changes += 1;
        let write = |tree: &mut Tree| {
            let path = Shape::Deep.path(changes * 97);
            tree.write(&path, &[7; 256], WriteMode::Replace, changes as u64).expect("there is room");
            Ok(())
        };
        sessions.change(&id, "put", waiting(), write).expect("it is committed");
    });
    row("  one file put into it (`session put`)", changed, "", None, None);
    let ran = median(50, || {
        let session = host.open(&sessions, &id, OpenOptions::default()).expect("it is there");
        let path = Shape::Deep.path(1);
        run(&session, &format!("await fs.writeFile('{path}', 'changed')"));
    });
    row("  open it, and run a script that writes a file", ran, "", None, None);
    drop(sessions);
    let place = disk.close();
    let opened = median(7, || drop(Sessions::open(place.path(), Backend::Sled).expect("it is there")));
    row("  open a store, with recovery, and close it", opened, "", None, None);
    let opened = median_of(7, || {
        let sessions = Sessions::open(place.path(), Backend::Sled).expect("it is there");
        taken(|| {
            let session = host.open(&sessions, &id, OpenOptions::default()).expect("it is there");
            let files = sessions.reader().files(&head).expect("they are there");
            assert!(files.read_file(&Shape::Deep.path(2)).is_ok());
            drop(session);
        })
    });
    row("  open the session in an open store, and read a file", opened, "5 ms", None, None);
    place
}

/// Measures budgeted calls, each of which is durable before it is made.
fn debits(host: &Host) {
    let disk = DiskStore::new();
    for threads in [1, AT_ONCE] {
        let each = if threads == 1 { 500 } else { 100 };
        let time = together(threads, |thread| (0..each).for_each(|call| debit(&*disk.records, thread, call)));
        let what = format!("  durable debits a second, {threads} at once, by the store");
        figure(&what, &format!("{:.0} /s", f64::from(threads * each) / time.as_secs_f64()), "");
    }
    let sessions = disk.sessions();
    for threads in [1, 8, AT_ONCE] {
        let calls = if threads == 1 { 500 } else { 50 };
        let open = |thread| {
            let grant = Grant::allow("stats/*").expect("a pattern").named("all").calls(1 << 40);
            let options = OpenOptions {
                policy: Some(Policy::default().with(grant)),
                tools: vec![("stats".to_owned(), "tollhouse:stats".to_owned())],
                ..OpenOptions::default()
            };
            host.open(&sessions, &name(&format!("debits-{threads}-{thread}")), options).expect("it is made")
        };
        let open: Vec<Session> = (0..threads).map(open).collect();
        let script = format!("for (let i = 0; i < {calls}; i++) await stats.describe({{values: [1, 2, 3]}})");
        let commits = || {
            let head = |thread| sessions.show(&name(&format!("debits-{threads}-{thread}"))).expect("it is there").head;
            (0..threads).map(|thread| head(thread).commits).sum::<u64>()
        };
        let before = commits();
        let time = together(threads, |thread| run(&open[thread as usize], &script));
        let what = format!("  the same, calls of a tool by {threads} scripts at once");
        let each = (commits() - before) as f64 / f64::from(threads * calls);
        let rate = f64::from(threads * calls) / time.as_secs_f64();
        figure(&what, &format!("{rate:.0} /s, {each:.2} commits each"), "");
    }
}

/// Measures runs that are resumed, repeat no call, and are suspended at the same call again; then measures listing the
/// waiting calls of many sessions.
fn resumed_runs(host: &Host) {
    let disk = DiskStore::new();
    let sessions = disk.sessions();
    let open = |id: &SessionId| {
        let free = Grant::allow("stats/quantiles").expect("a pattern").named("free").calls(1 << 40);
        let asks = Grant::allow("stats/describe").expect("a pattern").named("asks").approve(Approve::Always);
        let options = OpenOptions {
            policy: Some(Policy::default().with(free).with(asks)),
            tools: vec![("stats".to_owned(), "tollhouse:stats".to_owned())],
            ..OpenOptions::default()
        };
        host.open(&sessions, id, options).expect("it is made")
    };
    let monty = monty(&[1, 100, 1000]);
    for (calls, aim) in [(1, "2 ms"), (100, "5 ms"), (1000, "30 ms")] {
        let session = open(&name(&format!("resumed-{calls}")));
        let source = format!(
            "for (let i = 0; i < {calls}; i++) await stats.quantiles({{values: [1, 2, 3], probabilities: [0.5]}});
            await stats.describe({{values: [1]}})"
        );
        let script = Script { source, ..Script::default() };
        let options = RunOptions { heap: HeapUse::Never, ..RunOptions::default() };
        let run = session.start(Language::JavaScript, script, options).expect("it starts");
        let result = run.finish();
        assert_eq!(result.status, Status::Suspended, "{:?}", result.error);
        let resume = |heap, listed| resume_until_suspended(&session, heap, listed);
        let (all, since) = (CallListing::All, CallListing::SinceHeap);
        let replayed = median(20, || assert!(!resume(HeapUse::Never, all)));
        let what = format!("  resume a run of {calls} calls by replay, until it is suspended again");
        row(&what, replayed, aim, None, None);
        assert!(!resume(HeapUse::Always, all), "the first run was too short for a heap, or was suspended without one");
        let from_heap = median(20, || assert!(resume(HeapUse::Always, since)));
        let what = format!("  resume a run of {calls} calls from its heap, until it is suspended again");
        row(&what, from_heap, "2 ms", None, None);
        let listed = median(20, || assert!(resume(HeapUse::Always, all)));
        row("    the same, with a list of all its calls", listed, "", None, None);
        if let Some(seconds) = monty[calls.to_string()].as_f64() {
            let what = format!("  Monty: load a run of {calls} calls from a file, dump it and write it again");
            figure(&what, &time(Duration::from_secs_f64(seconds)), "");
        }
    }
    for number in 0..WAITING {
        let session = open(&name(&format!("waits-{number}")));
        let source = "await stats.describe({values: [1]})".to_owned();
        let script = Script { source, ..Script::default() };
        let run = session.start(Language::JavaScript, script, RunOptions::default()).expect("it starts");
        assert_eq!(run.finish().status, Status::Suspended);
    }
    let listed = median(5, || {
        let calls = sessions.call_decisions().calls_for_humans(None).expect("they are read");
        assert_eq!(calls.pending.len() as u32, WAITING + 3);
    });
    row(&format!("  list the calls that wait, of {WAITING} suspended runs"), listed, "50 ms", None, None);
}

/// Returns the seconds that Monty takes to resume and suspend runs of so many calls, by their number; null if `cargo xtask
/// bench` could not install it.
fn monty(calls: &[u32]) -> Value {
    let measured = std::env::var_os("TOLLHOUSE_BENCH_MONTY").and_then(|python| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/monty.py");
        let out = Command::new(python).arg(script).args(calls.iter().map(u32::to_string)).output().ok()?;
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        serde_json::from_slice(&out.stdout).ok()
    });
    measured.unwrap_or_default()
}

/// Resumes a run until it is suspended again. Returns true if it continued from its heap.
fn resume_until_suspended(session: &Session, heap: HeapUse, calls: CallListing) -> bool {
    let run = session.resume(RunOptions { heap, calls, ..RunOptions::default() }).expect("it is suspended");
    let is_from_heap = run.is_from_heap();
    let result = run.finish();
    assert_eq!(result.status, Status::Suspended, "{:?}", result.error);
    is_from_heap
}

/// Number of runs that are suspended at once.
const WAITING: u32 = 10_000;

/// Commits the records that a session commits before a call: two lines of the log, an entry and a balance of the
/// ledger, and the head.
fn debit(records: &dyn Store, session: u32, call: u32) {
    let mut batch = Batch::default();
    let record = |kind: char, number: u32| format!("{kind}session-{session}-{number:08}").into_bytes();
    for (kind, number, length) in [('A', 2 * call, 300), ('A', 2 * call + 1, 300), ('E', call, 120), ('L', 0, 80)] {
        batch.put(record(kind, number), vec![b'x'; length]);
    }
    batch.put(record('H', 0), vec![b'x'; 400]);
    records.commit(batch).expect("it is committed");
}

/// Runs `work` on `threads` threads, and returns the time until all are done.
fn together(threads: u32, work: impl Fn(u32) + Sync) -> Duration {
    taken(|| {
        thread::scope(|scope| {
            for thread in 0..threads {
                let work = &work;
                scope.spawn(move || work(thread));
            }
        });
    })
}

/// Measures a script that writes a gigabyte, in memory and in a session on disk.
fn throughput(host: &Host) {
    let script = format!(
        "const piece = crypto.getRandomValues(new Uint8Array({PIECE_BYTES})), stamp = new DataView(piece.buffer);
        for (let i = 0; i < {PIECES}; i++) {{ stamp.setUint32(0, i); await fs.appendFile('/workspace/large', piece); }}"
    );
    let limits = Limits { files: LIMITS.bytes, fuel: u64::MAX, wall: Duration::from_secs(600), ..Limits::default() };
    let policy = Policy { limits, ..Policy::default() };
    let total = (PIECES * PIECE_BYTES) as u64;
    let time = taken(|| {
        let options = SessionOptions { policy: policy.clone(), ..SessionOptions::default() };
        run(&host.session(options).expect("a session"), &script);
    });
    figure("  1 GB in 64 KiB pieces, `fs.appendFile` in JavaScript", &rate(total, time), "300 MB/s");
    let disk = DiskStore::new();
    let options = OpenOptions { policy: Some(policy), ..OpenOptions::default() };
    let session = host.open(&disk.sessions(), &name("large"), options).expect("it is made");
    figure("    in a session on disk, to its end", &rate(total, taken(|| run(&session, &script))), "");
}

/// Measures the memory of idle sessions, in a process that has done nothing else.
fn idle_sessions(home: &Home, host: &Host) {
    let disk = DiskStore::new();
    for (id, files, what) in [
        ("empty", None, "an empty session"),
        ("deep", Some(Shape::Deep.tree()), "a session of 100 directories of 1,000 files"),
        ("flat", Some(Shape::Flat.tree()), "a session of 100,000 files in one directory"),
    ] {
        let options = OpenOptions { files, ..OpenOptions::default() };
        drop(host.open(&disk.sessions(), &name(id), options).expect("it is made"));
        for index in 0..IDLERS + WARM {
            let fork = name(&format!("{id}-{index}"));
            disk.sessions().fork(&id.parse().expect("a point"), &fork).expect("it is made");
        }
        let itself = std::env::current_exe().expect("it runs");
        let arguments = [IDLE.as_ref(), home.path().as_os_str(), disk.path().as_os_str(), id.as_ref()];
        let asked = Command::new(itself).args(arguments).stderr(Stdio::inherit()).output();
        let answer = String::from_utf8(asked.expect("it runs").stdout).expect("numbers");
        let mut sizes = answer.split_whitespace().map(|size| size.parse::<f64>().expect("a number"));
        for (when, aim) in [("opened", "50 KB"), ("after a run that wrote a file", "50 KB")] {
            let size = sizes.next().map_or_else(|| "unknown".to_owned(), bytes);
            figure(&format!("  {what}, {when}"), &size, aim);
        }
    }
}

/// Number of sessions that are opened first, so that everything shared is in memory.
const WARM: u32 = 20;

/// Opens idle sessions and prints the memory of each; then runs a script in each, and prints it again.
pub(crate) fn idle(home: &Path, directory: &Path, id: &str) {
    let host = host(home);
    let sessions = Sessions::open(directory, Backend::Sled).expect("it is there");
    let open = |index| {
        let id = name(&format!("{id}-{index}"));
        host.open(&sessions, &id, OpenOptions::default()).expect("it is there")
    };
    let write = |session: &Session| run(session, "await fs.writeFile('/workspace/own', 'x')");
    let mut all: Vec<Session> = (IDLERS..IDLERS + WARM).map(open).collect();
    let before = resident();
    all.extend((0..IDLERS).map(open));
    println!("{}", (resident() - before) / f64::from(IDLERS));
    let (idlers, warm) = (all.split_off(WARM as usize), all);
    warm.iter().for_each(write);
    let before = resident();
    idlers.iter().for_each(write);
    println!("{}", (resident() - before) / f64::from(IDLERS));
}

/// Returns the resident memory of this process, in bytes.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let size = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    size.map_or(f64::NAN, |size| size * 1024.0)
}

fn run(session: &Session, source: &str) {
    let script = Script { source: source.to_owned(), name: "bench".to_owned(), ..Script::default() };
    let result = session.start(Language::JavaScript, script, RunOptions::default()).expect("a run").finish();
    assert_eq!(result.status, Status::Completed, "{:?}", result.error);
}

fn name(name: &str) -> SessionId {
    name.parse().expect("a name")
}

fn waiting() -> Waiting {
    Arc::new(|| true)
}
