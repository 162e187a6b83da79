//! Whole sessions on a disk of their own: the power is cut while they run, and the disk is full.
//!
//! A few cycles; `TOLLHOUSE_CRASH_CYCLES` says how many.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use tollhouse::capability::{Grant, Policy};
use tollhouse::guest::{Language, OutputSink, Script, Stream};
use tollhouse::session::{Host, HostOptions, OpenOptions, RunOptions, SessionId, Sessions, Status};
use tollhouse::store::Backend;
use tollhouse_tests::disk::Disk;
use tollhouse_tests::{Home, slow_cycles};

use super::{CYCLES, ask, done, random, refused};

/// Variables of the environment that the child reads.
const DIRECTORY: &str = "TOLLHOUSE_TEST_SESSIONS";
const BACKEND: &str = "TOLLHOUSE_TEST_BACKEND";
const REGISTRY: &str = "TOLLHOUSE_TEST_REGISTRY";

/// The sessions that run at once.
const NAMES: [&str; 2] = ["one", "two"];

/// Time within which something must have been acknowledged, on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(120);

/// Says what was acknowledged: a line that begins so, since the test harness prints too.
fn say(line: &str) {
    std::io::stdout().lock().write_all(format!("\nacknowledged {line}\n").as_bytes()).expect("the parent listens");
}

/// Says each call that has returned.
struct Called(&'static str);

impl OutputSink for Called {
    fn write(&mut self, _: Stream, bytes: &[u8]) -> io::Result<()> {
        bytes.iter().filter(|byte| **byte == b'\n').for_each(|_| say(&format!("call {}", self.0)));
        Ok(())
    }
}

/// The process that is killed: this test, run by the others in a process of its own.
#[test]
fn child() {
    let Some(directory) = std::env::var_os(DIRECTORY).map(PathBuf::from) else { return };
    let backend = std::env::var(BACKEND).expect("it is set with the directory").parse().expect("a backend");
    let registry = std::env::var_os(REGISTRY).map(PathBuf::from);
    let host = Host::new(&HostOptions { registry, ..HostOptions::default() }).expect("the engines start");
    let sessions = Sessions::open(&directory, backend).expect("it opens");
    std::thread::scope(|scope| {
        for name in NAMES {
            let (host, sessions) = (&host, &sessions);
            scope.spawn(move || runs(host, sessions, name));
        }
    });
}

/// Runs scripts for ever: each run calls, and leaves its number in a file that grows; now and then there is a fork.
fn runs(host: &Host, sessions: &Sessions, name: &'static str) {
    let id: SessionId = name.parse().expect("a name");
    let grant = Grant::allow("stats/*").expect("a pattern").named("many").calls(1_000_000);
    let policy = Some(Policy::default().with(grant));
    let session = host.open(sessions, &id, OpenOptions { policy, ..OpenOptions::default() }).expect("it opens");
    let source = "for (let n = 0; n < 4; n++) { await stats.describe({values: [n]}); console.log('called'); }
        const old = await fs.readFile('/workspace/runs', 'utf8').catch(() => '');
        await fs.writeFile('/workspace/runs', old + `${budgets()[0].used} `.repeat(500) + '\\n');";
    loop {
        let script = Script { source: source.to_owned(), ..Script::default() };
        let options = RunOptions { output: Some(Box::new(Called(name))), ..RunOptions::default() };
        let result = session.start(Language::JavaScript, script, options).expect("it starts").finish();
        assert_eq!(result.status, Status::Completed, "{result:?}");
        let run = result.run.expect("it has a number");
        say(&format!("run {name} {run} {}", result.snapshot.expect("it left one")));
        if run.is_multiple_of(5) {
            let fork: SessionId = format!("{name}-{run}").parse().expect("a name");
            sessions.fork(&format!("{name}@{run}").parse().expect("a point"), &fork).expect("it is free");
            say(&format!("fork {fork}"));
        }
    }
}

/// Acknowledgements that a child has printed.
#[derive(Default)]
struct Acknowledged {
    calls: BTreeMap<String, u64>,
    /// Session and run, and the snapshot that it left.
    runs: BTreeMap<(String, u64), String>,
    forks: Vec<String>,
}

impl Acknowledged {
    fn take(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["call", name] => *self.calls.entry(name.to_owned()).or_default() += 1,
            ["run", name, run, snapshot] => {
                drop(self.runs.insert((name.to_owned(), run.parse().expect("a number")), snapshot.to_owned()));
            }
            ["fork", name] => self.forks.push(name.to_owned()),
            _ => panic!("{line}"),
        }
    }

    /// Checks that all of it is there.
    fn check(&self, sessions: &Sessions) {
        let names = sessions.list().expect("they are read");
        for id in &names {
            sessions.verifier().verify_session(id).unwrap_or_else(|error| panic!("{id}: {error:?}"));
        }
        let faults = sessions.verifier().verify_blobs().expect("they are read").faults;
        assert!(faults.is_empty(), "{faults:?}");
        for ((name, run), snapshot) in &self.runs {
            let point = format!("{name}@{run}").parse().expect("a point");
            assert_eq!(sessions.reader().snapshot(&point).expect("it is there").0.to_string(), *snapshot);
            let file = sessions
                .reader()
                .files(&point)
                .expect("it is there")
                .read_file("/workspace/runs")
                .expect("it is whole");
            assert!(file.iter().filter(|byte| **byte == b'\n').count() as u64 <= *run);
        }
        for (name, calls) in &self.calls {
            let spent =
                sessions.reader().balances(&name.parse().expect("a name")).expect("they are read")["many"].calls;
            assert!(spent >= *calls, "{name}: {calls} calls have returned, and {spent} are paid for");
        }
        let missing = self.forks.iter().find(|fork| !names.iter().any(|id| id.as_str() == *fork));
        assert_eq!(missing, None);
    }
}

/// A child, and what it says.
struct Running {
    process: Child,
    lines: Receiver<String>,
}

impl Running {
    fn start(directory: &Path, backend: Backend, registry: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this test"));
        command.args(["--exact", "sessions::on_disk::disk::child", "--nocapture", "--test-threads=1"]);
        command.env(DIRECTORY, directory).env(BACKEND, backend.to_string()).env(REGISTRY, registry);
        let mut process = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let output = BufReader::new(process.stdout.take().expect("it is piped"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            // A line that the kill has cut was seen by nobody; it is followed by none.
            let whole = output.split(b'\n').map_while(Result::ok).filter_map(|line| String::from_utf8(line).ok());
            let mut said = whole.filter_map(|line| line.strip_prefix("acknowledged ").map(str::to_owned));
            said.try_for_each(|line| sender.send(line))
        });
        Self { process, lines }
    }

    /// Waits until a run has ended, and then some.
    fn kill_soon(&mut self, acknowledged: &mut Acknowledged) {
        loop {
            let line = self.lines.recv_timeout(PATIENCE).expect("something is acknowledged");
            acknowledged.take(&line);
            if line.starts_with("run") {
                break;
            }
        }
        std::thread::sleep(Duration::from_millis(random(800)));
        assert!(self.process.try_wait().expect("it is ours").is_none(), "it ended by itself");
        self.process.kill().expect("it is ours");
        self.process.wait().expect("it is ours");
        self.lines.iter().for_each(|line| acknowledged.take(&line));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

fn survive_a_power_cut(backend: Backend) {
    let mut disk = Disk::new(512 << 20);
    let home = Home::with_tools(&["stats"]);
    let (directory, registry) = (disk.path().join("store"), home.path().join("tollhouse/registry"));
    let mut acknowledged = Acknowledged::default();
    let cuts = slow_cycles(CYCLES);
    for _ in 0..cuts {
        Running::start(&directory, backend, &registry).kill_soon(&mut acknowledged);
        disk.cut_the_power().expect("the image can be copied and mounted");
        acknowledged.check(&Sessions::open(&directory, backend).expect("it opens"));
    }
    let (calls, runs) = (acknowledged.calls.values().sum::<u64>(), acknowledged.runs.len());
    println!(
        "{backend}: {} power cuts, {calls} calls, {runs} runs, {} forks: none lost",
        cuts,
        acknowledged.forks.len()
    );
}

#[test]
#[ignore = "mounts a file system: takes root and loop devices"]
fn sessions_survive_a_power_cut() {
    survive_a_power_cut(Backend::Sled);
}

#[cfg(feature = "redb")]
#[test]
#[ignore = "mounts a file system: takes root and loop devices"]
fn sessions_in_redb_survive_a_power_cut() {
    survive_a_power_cut(Backend::Redb);
}

#[test]
#[ignore = "mounts a file system: takes root and loop devices"]
fn session_on_a_full_disk_is_not_damaged() {
    let disk = Disk::new(96 << 20);
    let (home, store) = (Home::with_tools(&["stats"]), disk.path().join("store"));
    home.file("p.toml", "[[grant]]\nname = 'many'\nmethod = 'stats/*'\ncalls = 1000\n");
    let store = ["--store", store.to_str().expect("UTF-8")];
    let run = |code: &str| home.js(code, &["--session", "s", store[0], store[1]]);
    let first = "await fs.writeFile('/workspace/kept', 'yes'); await stats.describe({values: [1]})";
    let made = home.js(first, &["--session", "s", "--policy", "p.toml", store[0], store[1]]);
    assert_eq!(made["status"], "completed", "{made}");
    done(&home, &["session", "fork", "s", "other", store[0], store[1]]);
    let too_much = "const bytes = new Uint8Array(1 << 20); let state = 1;
        for (let n = 0; n < bytes.length; n++) { state = Math.imul(state, 1103515245) + 12345 | 0; bytes[n] = state >>> 16; }
        for (let n = 0; n < 90; n++) {
            for (let at = n; at < bytes.length; at += 500) bytes[at] ^= n * 7 + at;
            await fs.writeFile(`/workspace/${n}`, bytes);
        }
        await stats.describe({values: [2]})";
    let full = run(too_much);
    let message = full["error"]["message"].as_str().unwrap_or_else(|| panic!("{full}"));
    assert!(message.contains("cannot be kept") && message.contains("no space is left"), "{full}");
    assert!(full["error"]["hint"].as_str().expect("it is told").contains("spent amounts stay spent"), "{full}");
    assert_eq!(full["status"], "failed");
    // What it had put is gone, and a run that leaves less goes on.
    let next = run("return [await fs.readdir('/workspace'), (await stats.describe({values: [3]})).mean]");
    assert_eq!(next["value"], serde_json::json!([["kept"], 3]), "{next}");
    // Now there is no room for anything.
    let mut ballast = std::fs::File::create(disk.path().join("ballast")).expect("it is made");
    while ballast.write_all(&[7; 4096]).is_ok() {}
    drop(ballast);
    let more = "await fs.writeFile('/workspace/x', Math.random() + 'x')";
    let told = refused(&home, &["run", "--session", "s", store[0], store[1], "-e", more], 1);
    assert!(told.contains("no space is left"), "{told}");
    // A session can be removed all the same, by the room that the store keeps for that, and then what it had.
    done(&home, &["session", "rm", "other", store[0], store[1]]);
    done(&home, &["session", "gc", store[0], store[1]]);
    std::fs::remove_file(disk.path().join("ballast")).expect("it is there");
    let again = run("await fs.writeFile('/workspace/again', 'yes'); return (await stats.describe({values: [4]})).mean");
    assert_eq!(again["value"], 4, "{again}");
    done(&home, &["store", "verify", store[0], store[1]]);
    done(&home, &["session", "gc", store[0], store[1]]);
    assert_eq!(done(&home, &["session", "cat", "s", "/workspace/kept", store[0], store[1]]).stdout, "yes");
    let used = &ask(&home, &["session", "show", "s", store[0], store[1]])["budgets"][0]["used"];
    assert_eq!(*used, 4, "each call is paid for, and none twice");
    let listed = done(&home, &["session", "ls", store[0], store[1]]).stdout;
    assert!(!listed.contains("other"), "{listed}");
}
