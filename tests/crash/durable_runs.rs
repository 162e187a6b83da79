//! Processes that are killed at random moments of runs in sessions, and runs that are resumed until they complete: what
//! takes effect outside takes effect once, what was durable is not lost, and each call is paid for once. Runs that wait for
//! approvals have heaps, and are also killed while these are written, resumed from and removed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tollhouse_tests::disk::Disk;
use tollhouse_tests::server::Server;
use tollhouse_tests::{Home, Ran, cycles, slow_cycles};

/// Number of processes that are killed.
fn kills() -> u32 {
    if cfg!(feature = "full") { 1000 } else { cycles(50) }
}

/// Calls of a server that counts, some of which have to be approved, programs, and budgets that count as well.
const POLICY: &str = "[tools]\nhttp = 'tollhouse:http@*'\nprog = 'test:prog'\n\
    [tool.http]\nhttp = ['AT']\n[tool.prog]\nfiles = ['/workspace']\n\
    [[grant]]\nname = 'asked'\nmethod = 'http/**'\ncalls = 100\napprove = { param = 'url', contains = '/ask' }\n\
    where = [{ param = 'url', contains = '/ask' }]\n\
    [[grant]]\nname = 'requests'\nmethod = 'http/**'\ncalls = 100\n\
    [[grant]]\nname = 'programs'\nmethod = 'prog'\ncalls = 100\n";

/// JavaScript: requests one after the other and at once, files, timers.
const JAVASCRIPT: &str = "
    const fs = require('node:fs');
    const get = async path => {
        const answer = await fetch('AT' + path).then(got => got.text(), () => 'lost');
        fs.appendFileSync('out', `${path} ${answer}\\n`);
    };
    for (let at = 0; at < 3; at++) {
        await get(`/a${at}`);
        await Promise.all([get(`/b${at}`), get(`/c${at}`), new Promise(done => setTimeout(done, 5))]);
        console.log(at);
    }";

/// bash: requests one after the other, in a pipeline with a program, and in the background.
const SHELL: &str = "
    get() { echo \"$1 $(curl -sf AT$1 || echo lost)\" >> out; }
    for at in 0 1; do get /a$at; done
    { curl -sf AT/b0 || echo lost; } | prog upper | sed 's,^,/b0 ,' >> out
    get /c0 & wait
    prog write file text; prog cat file > copy; get /c1";

/// JavaScript that runs bash that runs JavaScript, and programs that talk.
const NESTED: &str = "
    const fs = require('node:fs');
    const run = async script => { const ran = await shell(script); if (ran.stderr) throw new Error(ran.stderr) };
    await run(`echo \"/a0 $(curl -sf AT/a0 || echo lost)\" >> out`);
    await run(`node -e \"fetch('AT/a1').then(got => got.text(), () => 'lost').then(text => console.log('/a1 ' + text))\" >> out`);
    const both = await Promise.all(['/b0', '/b1'].map(path => fetch('AT' + path).then(got => got.text(), () => 'lost')));
    fs.appendFileSync('out', both.map((text, at) => `/b${at} ${text}\\n`).join(''));
    await run(`printf '/c0 ' >> out; { curl -sf AT/c0 || echo lost; } | prog cat | prog cat >> out`);";

/// JavaScript that waits for approvals, alone and two at once, after so many timers that it has a heap. What it was
/// answered is in its memory until its end.
const JAVASCRIPT_ASKING: &str = "
    const fs = require('node:fs'), seen = new Map();
    const get = async path => seen.set(path, await fetch('AT' + path).then(got => got.text(), () => 'lost'));
    const work = async () => { for (let at = 0; at < 210; at++) await new Promise(done => setTimeout(done, 0)) };
    await work();
    for (let at = 0; at < 2; at++) {
        await get(`/a${at}`);
        fs.writeFileSync('made', `${at}`);
        await get(`/ask${at}`);
        await Promise.all([get(`/ask-b${at}`), get(`/ask-c${at}`), get(`/d${at}`)]);
    }
    if (fs.readFileSync('made', 'utf8') !== '1') throw new Error('another file');
    for (const [path, answer] of seen) fs.appendFileSync('out', `${path} ${answer}\n`);";

/// bash that does the same, with functions and arrays.
const SHELL_ASKING: &str = "
    seen=(); get() { seen+=(\"$1 $(curl -sf AT$1 || echo lost)\"); }
    work() { for at in $(seq 210); do sleep 0; done; }
    work; get /a0; get /ask0; work; get /a1; get /ask1
    curl -sf AT/ask-b > b & curl -sf AT/ask-c > c & wait
    seen+=(\"/ask-b $(grep . b || echo lost)\" \"/ask-c $(grep . c || echo lost)\")
    printf '%s\\n' \"${seen[@]}\" > out";

/// JavaScript that runs bash and JavaScript before it waits and afterwards.
const NESTED_ASKING: &str = "
    const fs = require('node:fs'), seen = [];
    const run = async script => { const ran = await shell(script); if (ran.stderr) throw new Error(ran.stderr); return ran.stdout };
    const get = async path => seen.push(`${path} ${await fetch('AT' + path).then(got => got.text(), () => 'lost')}\n`);
    const nested = async path => seen.push(await run(
        `node -e \"fetch('AT${path}').then(got => got.text(), () => 'lost').then(text => console.log('${path} ' + text))\"`));
    for (let at = 0; at < 210; at++) await new Promise(done => setTimeout(done, 0));
    await nested('/a0'); await get('/ask0'); await nested('/a1'); await get('/ask1');
    fs.writeFileSync('out', seen.join(''));";

/// Scripts, each with its language and the requests that it makes.
const SCRIPTS: [(&str, &str, &[&str]); 6] = [
    ("js", JAVASCRIPT, &["/a0", "/b0", "/c0", "/a1", "/b1", "/c1", "/a2", "/b2", "/c2"]),
    (
        "js",
        JAVASCRIPT_ASKING,
        &["/a0", "/ask0", "/ask-b0", "/ask-c0", "/d0", "/a1", "/ask1", "/ask-b1", "/ask-c1", "/d1"],
    ),
    ("sh", SHELL, &["/a0", "/a1", "/b0", "/c0", "/c1"]),
    ("sh", SHELL_ASKING, &["/a0", "/ask0", "/a1", "/ask1", "/ask-b", "/ask-c"]),
    ("js", NESTED, &["/a0", "/a1", "/b0", "/b1", "/c0"]),
    ("js", NESTED_ASKING, &["/a0", "/ask0", "/a1", "/ask1"]),
];

/// Moment at which a process is killed.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// So long after its start.
    Time(Duration),
    /// So long after it has said this in its diagnostics.
    Event(&'static str, Duration),
    /// So long after the server has been asked for this path of the run, its last one.
    Request(&'static str, Duration),
}

/// Diagnostic of a process that continues a run from its heap.
const FROM_HEAP: &str = "from_heap=true";

/// Diagnostic of a process that is about to commit a heap.
const WRITES_HEAP: &str = "the run is suspended with a heap";

/// Numbers of processes that were killed.
#[derive(Debug, Default)]
struct Kills {
    /// All of them.
    all: u32,
    /// Those that had continued from a heap.
    from_heap: u32,
    /// Those that had begun to commit a heap.
    writing_heap: u32,
    /// Those that recorded a decision.
    deciding: u32,
    /// Processes that continued from a heap, killed or not.
    resumed_from_heap: u32,
}

/// Small generator of numbers, so that a failure names its seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Server that answers each request with its number, and knows which answer each path was given.
struct Counter {
    server: Server,
    answers: Arc<Mutex<BTreeMap<String, Vec<String>>>>,
}

impl Counter {
    fn start() -> Self {
        let answers = Arc::<Mutex<BTreeMap<String, Vec<String>>>>::default();
        let given = Arc::clone(&answers);
        let server = Server::start(move |head: &str| {
            let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
            let mut given = given.lock().expect("no thread panics with it");
            let number = given.values().map(Vec::len).sum::<usize>();
            let answer = format!("N{number}");
            given.entry(path).or_default().push(answer.clone());
            ("200 OK", Vec::new(), format!("{answer}\n").into())
        });
        Self { server, answers }
    }

    fn at(&self) -> String {
        format!("http://127.0.0.1:{}", self.server.port())
    }

    fn answers(&self) -> BTreeMap<String, Vec<String>> {
        self.answers.lock().expect("no thread panics with it").clone()
    }
}

/// Runs of one session that are killed and resumed.
struct Victim<'a> {
    home: &'a Home,
    /// Options of the store.
    store: Vec<String>,
    /// Policy and script.
    begin: Vec<String>,
    counter: &'a Counter,
    /// Address of the session's requests: a directory of the server.
    at: String,
    /// Paths of requests of which a human said that they failed.
    lost: BTreeSet<String>,
}

impl<'a> Victim<'a> {
    fn new(home: &'a Home, store: &[String], counter: &'a Counter, round: usize, script: (&str, &str)) -> Self {
        let (language, source) = script;
        let at = format!("{}/{round}", counter.at());
        let policy = home.file("policy.toml", POLICY.replace("AT", &counter.at()));
        let begin = ["run", "--lang", language, "-e", &source.replace("AT", &at), "--policy"];
        let begin = begin.into_iter().map(str::to_owned).chain([policy.display().to_string()]).collect();
        Self { home, store: store.to_vec(), begin, counter, at, lost: BTreeSet::new() }
    }

    fn name(&self) -> String {
        format!("s{}", self.at.rsplit('/').next().unwrap_or_default())
    }

    fn ran(&self, arguments: &[&str]) -> Ran {
        self.home.run(arguments.iter().copied().chain(self.store.iter().map(String::as_str)))
    }

    /// Returns the command line that begins the run, or continues it.
    fn next(&self) -> Option<Vec<String>> {
        let show = self.ran(&["session", "show", &self.name(), "--json"]);
        let show: Value = serde_json::from_str(&show.stdout).unwrap_or_default();
        let mut arguments = match show["runs"][1]["status"].as_str().unwrap_or_default() {
            "" => [self.begin.as_slice(), &["--session".to_owned(), self.name()]].concat(),
            "completed" => return None,
            _ => ["session", "resume", &self.name()].map(str::to_owned).to_vec(),
        };
        arguments.push("--json".to_owned());
        arguments.extend_from_slice(&self.store);
        Some(arguments)
    }

    /// Runs until the end, or until the process is killed, and returns the result of one that was not.
    fn attempt(&mut self, arguments: &[String], moment: Moment, kills: &mut Kills) -> Option<Value> {
        let mut command = self.home.command(arguments);
        command.env("TOLLHOUSE_LOG", "tollhouse::run=debug").stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it is built");
        let is_seen = Arc::new(AtomicBool::new(false));
        let lines = BufReader::new(child.stderr.take().expect("it is piped"));
        let (phrase, seen) =
            (if let Moment::Event(phrase, _) = moment { Some(phrase) } else { None }, Arc::clone(&is_seen));
        let said = thread::spawn(move || {
            let lines = lines.lines().map_while(Result::ok);
            lines
                .inspect(|line| {
                    if phrase.is_some_and(|phrase| line.contains(phrase)) {
                        seen.store(true, Ordering::Release);
                    }
                })
                .collect::<String>()
        });
        let mut stdout = child.stdout.take().expect("it is piped");
        let result = thread::spawn(move || {
            let mut text = Vec::new();
            stdout.read_to_end(&mut text).expect("it is read");
            serde_json::from_slice(&text).ok()
        });
        self.kill_at(&mut child, moment, &is_seen);
        child.wait().expect("it ends");
        let said = said.join().expect("it reads lines");
        let result: Option<Value> = result.join().expect("it reads JSON");
        let is_killed = u32::from(result.is_none());
        kills.all += is_killed;
        kills.resumed_from_heap += u32::from(said.contains(FROM_HEAP));
        kills.from_heap += is_killed * u32::from(said.contains(FROM_HEAP));
        kills.writing_heap += is_killed * u32::from(said.contains(WRITES_HEAP));
        result
    }

    /// Kills a process at a moment, unless it ends before.
    fn kill_at(&self, child: &mut Child, moment: Moment, is_seen: &AtomicBool) {
        let begun = Instant::now();
        let is_reached = || match moment {
            Moment::Time(time) => begun.elapsed() >= time,
            Moment::Event(..) => is_seen.load(Ordering::Acquire),
            Moment::Request(path, _) => self.counter.answers().contains_key(&self.path(path)),
        };
        while !is_reached() {
            if child.try_wait().expect("it is ours").is_some() {
                return;
            }
            thread::sleep(Duration::from_micros(200));
        }
        if let Moment::Event(_, time) | Moment::Request(_, time) = moment {
            thread::sleep(time);
        }
        let _ = child.kill();
    }

    /// Returns the path of one of the run's requests, as the server sees it.
    fn path(&self, path: &str) -> String {
        format!("{}{path}", self.at.strip_prefix(&self.counter.at()).unwrap_or_default())
    }

    /// Approves the calls that wait, in processes that are killed as well, until none waits.
    fn approve(&self, numbers: &mut Numbers, kills: &mut Kills) {
        loop {
            let pending = self.ran(&["session", "pending", &self.name(), "--json"]);
            let pending: Vec<Value> = serde_json::from_str(&pending.stdout).unwrap_or_else(|_| panic!("{pending:?}"));
            let Some(call) = pending.iter().find(|call| call["state"] == "waits") else { return };
            let (name, seq) = (self.name(), call["seq"].to_string());
            let approve = ["session", "approve", &name, &seq, "--json"].into_iter();
            let approve = approve.chain(self.store.iter().map(String::as_str));
            let mut command = self.home.command(approve);
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it is built");
            let time = if numbers.below(2) == 0 { 60_000 } else { numbers.below(150) };
            self.kill_at(&mut child, Moment::Time(Duration::from_millis(time)), &AtomicBool::default());
            let is_killed = u32::from(child.wait().expect("it ends").code().is_none());
            kills.all += is_killed;
            kills.deciding += is_killed;
        }
    }

    /// Says what became of the calls in doubt, as whoever asks the server would.
    fn resolve(&mut self, result: &Value) {
        let answers = self.counter.answers();
        for call in result["calls"].as_array().expect("calls").iter().filter(|call| call["outcome"] == "pending") {
            let Some(path) = call["arguments"]["url"].as_str().and_then(|url| url.strip_prefix(&self.counter.at()))
            else {
                continue;
            };
            let (seq, is_made) = (call["seq"].to_string(), answers.contains_key(path));
            let fate: &[&str] = if is_made { &["fail", "its answer is lost"] } else { &["retry"] };
            let name = self.name();
            let resolved = self.ran(&[&["session", "resolve", &name, &seq], fate].concat());
            // A call that has not started is not in doubt.
            assert!(resolved.status == 0 || resolved.stderr.contains("in doubt"), "{resolved:?}");
            if is_made && resolved.status == 0 {
                self.lost.insert(path.to_owned());
            }
        }
    }

    /// Checks what the run has left, and what it has done.
    fn check(&self, result: Option<&Value>, paths: &[&str], seed: u64) {
        let name = self.name();
        let answers = self.counter.answers();
        let out = self.ran(&["session", "cat", &name, "/workspace/out"]).stdout;
        let mut seen: Vec<&str> = Vec::new();
        for line in out.lines().filter(|line| !line.is_empty()) {
            let (path, answer) = line.split_once(' ').unwrap_or_else(|| panic!("seed {seed}: {out}"));
            let given = answers.get(&self.path(path)).map(Vec::as_slice).unwrap_or_default();
            assert_eq!(given.len(), 1, "seed {seed}: `{path}` is requested once: {given:?}\n{out}");
            let is_lost = answer.eq_ignore_ascii_case("lost") && self.lost.contains(&self.path(path));
            assert!(is_lost || answer == given[0], "seed {seed}: `{path}` was answered {given:?}, not {answer}\n{out}");
            seen.push(path);
        }
        seen.sort_unstable();
        let mut all = paths.to_vec();
        all.sort_unstable();
        assert_eq!(seen, all, "seed {seed}: {out}");
        let shown = self.ran(&["session", "show", &name, "--json"]).stdout;
        let shown: Value = serde_json::from_str(&shown).unwrap_or_else(|_| panic!("seed {seed}: {shown}"));
        let budgets = shown["budgets"].as_array().expect("budgets");
        let used = |grant: &str| {
            let budget = budgets.iter().find(|budget| budget["grant"] == grant).expect("a budget");
            budget["used"].as_u64().expect("a number of calls")
        };
        let asked = paths.iter().filter(|path| path.starts_with("/ask")).count();
        assert_eq!(used("asked"), asked as u64, "seed {seed}: {shown:#} {result:#?}");
        assert_eq!(used("requests"), (paths.len() - asked) as u64, "seed {seed}: {shown:#} {result:#?}");
        let programs = self.begin.iter().map(|text| text.matches("prog ").count()).sum::<usize>();
        assert_eq!(used("programs"), programs as u64, "seed {seed}: {shown:#}");
        let verified = self.ran(&["store", "verify"]);
        assert_eq!(verified.status, 0, "seed {seed}: {verified:?}");
    }
}

/// Returns the moment of the next kill.
fn moment(numbers: &mut Numbers, attempts: u64, last: &'static str) -> Moment {
    match numbers.below(6) {
        0 => Moment::Event(WRITES_HEAP, Duration::from_micros(numbers.below(15_000))),
        1 => Moment::Event(FROM_HEAP, Duration::from_micros(numbers.below(60_000))),
        2 => Moment::Request(last, Duration::from_micros(numbers.below(60_000))),
        // Long enough for a whole run, in the end.
        _ => Moment::Time(Duration::from_millis(20 + numbers.below(300 + 50 * attempts))),
    }
}

/// Kills runs of all scripts in a store, `crash` after each, until so many were killed.
fn survive(store: &[String], most: u32, mut crash: impl FnMut()) -> Kills {
    let home = Home::with_tools(&["http"]);
    home.publish_program("wasm32-wasip1");
    let counter = Counter::start();
    let seed = std::env::var("TOLLHOUSE_CRASH_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
    println!("seed {seed}");
    let (mut numbers, mut kills) = (Numbers(seed), Kills::default());
    for round in 0.. {
        // Each script once, however many are killed.
        if kills.all >= most && round >= SCRIPTS.len() {
            break;
        }
        let (language, source, paths) = SCRIPTS[round % SCRIPTS.len()];
        let mut victim = Victim::new(&home, store, &counter, round, (language, source));
        let (mut last, mut attempts) = (None, 0);
        while let Some(arguments) = victim.next() {
            attempts += 1;
            assert!(attempts < 100, "seed {seed}: {last:#?}");
            let at = moment(&mut numbers, attempts, paths[paths.len() - 1]);
            last = victim.attempt(&arguments, at, &mut kills);
            match &last {
                None => crash(),
                Some(result) if result["status"] == "in_doubt" => victim.resolve(result),
                Some(result) if result["status"] == "suspended" => victim.approve(&mut numbers, &mut kills),
                Some(result) => assert_eq!(result["status"], "completed", "seed {seed}: {result:#}"),
            }
        }
        victim.check(last.as_ref(), paths, seed);
    }
    kills
}

#[test]
fn durable_effects_happen_once_despite_kills() {
    let kills = survive(&[], kills(), || {});
    println!("{kills:?}");
    assert!(kills.resumed_from_heap > 0, "no run continued from a heap: {kills:?}");
}

/// The same where the machine loses its power: what was acknowledged is durable, and not only in a cache.
#[test]
#[ignore = "mounts a file system: takes root and loop devices"]
fn durable_effects_happen_once_despite_power_cuts() {
    let disk = Disk::new(256 << 20);
    let store = disk.path().join("store");
    let disk = std::cell::RefCell::new(disk);
    let store = ["--store".to_owned(), store.display().to_string()];
    let cut = || disk.borrow_mut().cut_the_power().expect("the image can be copied and mounted");
    let kills = survive(&store, slow_cycles(if cfg!(feature = "full") { 60 } else { 6 }), cut);
    println!("power cuts: {kills:?}");
}
